//! What parameters are worth, as text and as JSON.

use super::{Effect, NOTHING, Parameter, Sensitivity};
use crate::results::Machine;
use crate::summary::json::{SCHEMA, pretty};
use serde::Serialize;
use std::fmt::Write;
use wave_machine::config::wrap;
use wave_observe::numbers::counted;

/// Width of the text in columns.
const WIDTH: usize = 100;

/// The text: parameters with an effect, those without, and changes that no machine has.
pub fn text(sensitivity: &Sensitivity) -> String {
    let cycles = sensitivity.cycles();
    let baseline = &sensitivity.baseline;
    let mut text = format!(
        "{} takes {} on {} (config {}); {} of the machine, each halved and doubled\n\n",
        baseline.kernel,
        counted(cycles, "cycle"),
        baseline.machine.name,
        baseline.machine.hash,
        counted(sensitivity.parameters.len() as u64, "parameter")
    );
    let (some, none): (Vec<&Parameter>, Vec<&Parameter>) =
        sensitivity.parameters.iter().partition(|parameter| parameter.weight(cycles) >= NOTHING);
    table(&mut text, &some, cycles);
    let is_tried =
        |parameter: &&&Parameter| parameter.effects.iter().flatten().any(|effect| effect.cycles.is_ok());
    let names: Vec<&str> = none.iter().filter(is_tried).map(|parameter| parameter.key.as_str()).collect();
    if !names.is_empty() {
        list(&mut text, "No effect", &names.join(", "));
    }
    let refused = refused(sensitivity);
    if !refused.is_empty() {
        _ = writeln!(text, "\nNot run:");
        for (setting, why) in refused {
            _ = writeln!(text, "  {}", wrap(&format!("{setting}: {why}"), WIDTH - 2).join("\n    "));
        }
    }
    text
}

fn list(text: &mut String, heading: &str, words: &str) {
    _ = writeln!(text, "\n{heading}:\n  {}", wrap(words, WIDTH - 2).join("\n  "));
}

/// A line for each parameter: its value, and the cycles when it is halved and when it is doubled.
fn table(text: &mut String, parameters: &[&Parameter], cycles: u64) {
    if parameters.is_empty() {
        text.push_str("No parameter changes the cycles by 0.1 %.\n");
        return;
    }
    let heads = ["parameter", "value", "halved", "", "doubled", ""].map(str::to_owned);
    let mut rows = vec![heads.to_vec()];
    for parameter in parameters {
        let mut row = vec![parameter.key.clone(), parameter.now.to_string()];
        for (number, effect) in parameter.effects.iter().enumerate() {
            let then = effect.as_ref().map_or(String::new(), |effect| effect.then.to_string());
            let change = parameter.change(number, cycles);
            row.extend([then, change.map_or("-".to_owned(), |change| format!("{:+.1} %", 100.0 * change))]);
        }
        rows.push(row);
    }
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    for row in rows {
        let cells = row.iter().zip(&widths).skip(1).map(|(cell, &width)| format!("  {cell:>width$}"));
        let line = format!("{:width$}{}", row[0], cells.collect::<String>(), width = widths[0]);
        _ = writeln!(text, "{}", line.trim_end());
    }
}

/// The changes that did not run, and why.
fn refused(sensitivity: &Sensitivity) -> Vec<(String, &str)> {
    let of = |parameter: &'_ Parameter, effect: &'_ Effect| format!("{}={}", parameter.key, effect.then);
    let mut all = Vec::new();
    for parameter in &sensitivity.parameters {
        for effect in parameter.effects.iter().flatten() {
            if let Err(why) = &effect.cycles {
                all.push((of(parameter, effect), why.as_str()));
            }
        }
    }
    all
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    wave_sim: &'static str,
    config: &'a Machine,
    kernel: &'a str,
    cycles: u64,
    parameters: Vec<ParameterJson<'a>>,
}

#[derive(Serialize)]
struct ParameterJson<'a> {
    key: &'a str,
    value: u64,
    halved: Option<EffectJson<'a>>,
    doubled: Option<EffectJson<'a>>,
}

#[derive(Serialize)]
struct EffectJson<'a> {
    value: u64,
    cycles: Option<u64>,
    /// Cycles over those of the machine as it is, less 1.
    change: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

/// The document of `wave-sim sensitivity`.
pub fn json(sensitivity: &Sensitivity) -> String {
    let cycles = sensitivity.cycles();
    let effect = |parameter: &'_ Parameter, number: usize| -> Option<(u64, Option<u64>, Option<f64>)> {
        let effect = parameter.effects[number].as_ref()?;
        Some((effect.then, effect.cycles.as_ref().ok().copied(), parameter.change(number, cycles)))
    };
    let parameters = sensitivity.parameters.iter().map(|parameter| {
        let [halved, doubled] = [0, 1].map(|number| {
            let (value, cycles, change) = effect(parameter, number)?;
            let message = parameter.effects[number].as_ref()?.cycles.as_ref().err();
            Some(EffectJson { value, cycles, change, message: message.map(String::as_str) })
        });
        ParameterJson { key: &parameter.key, value: parameter.now, halved, doubled }
    });
    pretty(&Document {
        schema: SCHEMA,
        wave_sim: env!("CARGO_PKG_VERSION"),
        config: &sensitivity.baseline.machine,
        kernel: &sensitivity.baseline.kernel,
        cycles,
        parameters: parameters.collect(),
    })
}
