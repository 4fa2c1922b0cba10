//! What the calls of instances came to, as text and as a document.

use super::Instances;
use serde_json::{Value, json};
use wave_compile::batch::Called;
use wave_compile::ir::{Constant, Module, Place};
use wave_compile::lower::instance::Ended;
use wave_compile::source::Source;
use wave_observe::numbers::counted;

impl Instances {
    /// A line for each instance, or for each call if there are several; `bits` in hexadecimal.
    pub(crate) fn text(&self, cycles: u64, calls: &[Called], bits: bool) -> String {
        let (source, names) = (self.batch.source(), &self.functions);
        let instances = counted(calls.len() as u64, "instance");
        let mut text = format!("{}: {instances}, {}\n\n", names.join(", "), counted(cycles, "cycle"));
        let width = calls.len().saturating_sub(1).to_string().len().max("thread".len());
        let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("call".len());
        let row = |thread: &str, call: &str, what: &str| {
            let row = match names.as_slice() {
                [_] => format!("{thread:>width$}  {what}"),
                _ => format!("{thread:>width$}  {call:<name_width$}  {what}"),
            };
            format!("{}\n", row.trim_end())
        };
        text += &row("thread", "call", "result");
        for (thread, call) in calls.iter().enumerate() {
            let thread = thread.to_string();
            let fuel = call.fuel.map(|fuel| format!("fuel left: {fuel}"));
            for (number, (name, results)) in names.iter().zip(&call.results).enumerate() {
                let is_last = number + 1 == names.len() && call.ended == Ended::Returned;
                let results = results.iter().map(|&value| shown(value, bits));
                let shown: Vec<String> = results.chain(fuel.clone().filter(|_| is_last)).collect();
                text += &row(&thread, name, &shown.join("  "));
            }
            if call.ended != Ended::Returned {
                let name = names.get(call.results.len()).map_or("", String::as_str);
                text += &row(&thread, name, &trapped(source, call.ended));
            }
        }
        let count = calls.iter().filter(|call| call.ended != Ended::Returned).count();
        if count > 0 {
            text += &format!("\n{} of {} trapped\n", count, calls.len());
        }
        text
    }

    /// The calls as a document for programs.
    pub(crate) fn json(&self, cycles: u64, calls: &[Called]) -> String {
        let (source, names) = (self.batch.source(), &self.functions);
        let value = |&value: &Constant| {
            let plain = match value {
                Constant::Bool(value) => json!(value),
                Constant::I32(bits) => json!(bits.cast_signed()),
                Constant::I64(bits) => json!(bits.cast_signed()),
                // Infinities and NaNs are no numbers of JSON: they are null, and the bits say what they are.
                Constant::F32(bits) => json!(f32::from_bits(bits)),
                Constant::F64(bits) => json!(f64::from_bits(bits)),
            };
            json!({ "type": value.ty().name(), "value": plain, "bits": shown(value, true) })
        };
        let results = |results: &Vec<Constant>| results.iter().map(value).collect::<Vec<Value>>();
        let instance = |(thread, call): (usize, &Called)| {
            let mut instance = json!({ "thread": thread });
            match call.ended {
                Ended::Returned if names.len() == 1 => {
                    instance["results"] = call.results.first().map(results).into();
                }
                Ended::Returned => {}
                Ended::Trapped(trap, place) => {
                    instance["trap"] = json!({
                        "kind": trap.name(),
                        "function": function_of(&source.module, place),
                        "offset": place.0,
                        "line": source.line(place),
                    });
                }
                Ended::Not => instance["trap"] = Value::Null,
            }
            if names.len() > 1 {
                let returned = names.iter().zip(&call.results);
                let returned: Vec<Value> = returned
                    .map(|(name, values)| json!({ "function": name, "results": results(values) }))
                    .collect();
                instance["calls"] = returned.into();
            }
            if let (Some(fuel), Ended::Returned) = (call.fuel, call.ended) {
                instance["fuel_left"] = fuel.into();
            }
            instance
        };
        let all: Vec<Value> = calls.iter().enumerate().map(instance).collect();
        let mut document = json!({ "module": source.file });
        match names.as_slice() {
            [name] => document["function"] = name.as_str().into(),
            names => document["functions"] = names.into(),
        }
        document["cycles"] = cycles.into();
        document["instances"] = all.into();
        format!("{document:#}\n")
    }
}

/// The function that a place is in: the last one that begins before it.
fn function_of(module: &Module, place: Place) -> String {
    let before = module.functions.iter().filter(|(_, function)| function.at <= place);
    let found = before.max_by_key(|(_, function)| function.at);
    match found {
        Some((_, function)) if function.name.is_some() => function.name.clone().unwrap_or_default(),
        Some((id, _)) => id.to_string(),
        None => "the start".to_owned(),
    }
}

/// Where a trap was: the line of the source, or the byte of the module.
fn located(source: &Source, place: Place) -> String {
    source.line(place).unwrap_or_else(|| format!("byte 0x{:x}", place.0))
}

fn trapped(source: &Source, ended: Ended) -> String {
    match ended {
        Ended::Trapped(trap, place) => {
            let function = function_of(&source.module, place);
            format!("trap: {trap}, in `{function}`, {}", located(source, place))
        }
        _ => "has not ended".to_owned(),
    }
}

/// A number as users read it, or its bits.
fn shown(value: Constant, bits: bool) -> String {
    let digits = 2 * value.ty().bytes() as usize;
    match value {
        _ if bits => format!("0x{:0digits$x}", value.bits()),
        Constant::Bool(value) => value.to_string(),
        Constant::I32(bits) => bits.cast_signed().to_string(),
        Constant::I64(bits) => bits.cast_signed().to_string(),
        Constant::F32(bits) => format!("{:?}", f32::from_bits(bits)),
        Constant::F64(bits) => format!("{:?}", f64::from_bits(bits)),
    }
}
