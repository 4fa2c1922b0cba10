//! Errors in a file of prices, with their places.

use super::declare::{File, Price};
use ron::error::{Error, SpannedError};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::ron_text::{Located, Noun, Source, is_syntax_error, locate, parse, syntax_error};

/// Technology nodes that the rules of scaling are for, in nm.
pub(super) const NODES: std::ops::RangeInclusive<f64> = 2.0..=180.0;

/// What such a file is called.
const NOUN: Noun = Noun {
    word: "file of prices",
    smallest: "begin with a copy of configs/parts/prices.ron",
    units: "numbers are written out, without units: the name of a price ends with its unit",
};

/// Reads a file of prices and checks it.
pub(super) fn read(source: &Source) -> Result<File, Vec<Diagnostic>> {
    let located = locate(&source.text);
    let file: File = parse(&source.text).map_err(|error| vec![of_ron(source, &located, &error)])?;
    let wrong = problems(&file);
    if wrong.is_empty() {
        return Ok(file);
    }
    let place = |(path, message): (String, String)| {
        let error = Diagnostic::error(message);
        match located.find(&path) {
            Some(entry) => error.at(source.place(entry.value.clone())),
            None => error,
        }
    };
    Err(wrong.into_iter().map(place).collect())
}

/// The message about what does not have the form of such a file.
fn of_ron(source: &Source, located: &Located, error: &SpannedError) -> Diagnostic {
    if is_syntax_error(&error.code) {
        return syntax_error(source, located, error, NOUN);
    }
    let at = source.offset(error.span.start);
    // The smallest value around the place where ron stopped.
    let around = located.entries.iter().filter(|e| e.value.start <= at && at <= e.value.end);
    let path = around.min_by_key(|e| e.value.len()).map_or("", |e| e.path.as_str());
    let of = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
    let place = source.place(at..source.offset(error.span.end).max(at + 1));
    let (message, hint) = match &error.code {
        Error::NoSuchStructField { expected, found, .. } => {
            (format!("{of}there is no `{found}`"), format!("there are {}", expected.join(", ")))
        }
        Error::MissingStructField { field, .. } => {
            (format!("{of}its `{field}` is missing"), NOUN.smallest.to_owned())
        }
        other => (format!("{of}{other}"), NOUN.units.to_owned()),
    };
    Diagnostic::error(message).at(place).hint(hint)
}

/// What is wrong with values, with the paths of their entries.
fn problems(file: &File) -> Vec<(String, String)> {
    let mut wrong = Vec::new();
    let mut node = |path: String, node: f64| {
        if !NODES.contains(&node) {
            let (first, last) = (NODES.start(), NODES.end());
            wrong.push((
                path.clone(),
                format!("`{path}` is {node} nm; the rules are for {first} to {last} nm"),
            ));
        }
    };
    node("node_nm".to_owned(), file.node_nm);
    let sections =
        [("scaling", file.scaling.list()), ("energy", file.energy.list()), ("area", file.area.list())];
    let mut prices: Vec<(String, &Price)> = Vec::new();
    for (section, list) in &sections {
        prices.extend(list.iter().map(|(name, price, _)| (format!("{section}.{name}"), *price)));
    }
    for (i, device) in file.dram.iter().enumerate() {
        prices.extend(device.list().into_iter().map(|(name, price)| (format!("dram[{i}].{name}"), price)));
    }
    for (path, price) in &prices {
        if let Some(nm) = price.node_nm {
            node(format!("{path}.node_nm"), nm);
        }
    }
    for (path, price) in prices {
        if !(price.value.is_finite() && price.value >= 0.0) {
            wrong.push((
                format!("{path}.value"),
                format!("`{path}` is {}; a price is 0 or more", price.value),
            ));
        }
        if price.uncertainty.is_some_and(|factor| !(1.0..=1000.0).contains(&factor)) {
            let message = format!("the uncertainty of `{path}` is a factor of 1 to 1000");
            wrong.push((format!("{path}.uncertainty"), message));
        }
        if price.source.trim().is_empty() {
            let message = format!("`{path}` says nothing of its source; a guess says \"guess\"");
            wrong.push((format!("{path}.source"), message));
        }
    }
    if file.dram.is_empty() {
        wrong.push(("dram".to_owned(), "`dram` lists at least one memory device".to_owned()));
    }
    for (i, device) in file.dram.iter().enumerate() {
        for (name, value) in [("bus_bits", device.bus_bits), ("pin_mbps", device.pin_mbps)] {
            if !(value.is_finite() && value > 0.0) {
                let path = format!("dram[{i}].{name}");
                wrong.push((path.clone(), format!("`{path}` is {value}; it is more than 0")));
            }
        }
    }
    wrong
}
