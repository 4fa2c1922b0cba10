//! What parameters are worth, as text.

use super::{Effect, NOTHING, Parameter, Saving, Sensitivity};
use crate::columns::aligned;
use std::fmt::Write;
use wave_machine::config::wrap;
use wave_observe::numbers::counted;

/// Width of the text in columns.
const WIDTH: usize = 100;
/// Most changes in the list by area.
const LISTED: usize = 10;

/// The text: parameters with an effect, those without, and changes that no machine has.
pub fn text(sensitivity: &Sensitivity) -> String {
    let cycles = sensitivity.cycles;
    let mut text = format!(
        "{} takes {} on {} (config {}); {} of the machine, each halved and doubled\n\n",
        sensitivity.kernel,
        counted(cycles, "cycle"),
        sensitivity.machine.name,
        sensitivity.machine.hash,
        counted(sensitivity.parameters.len() as u64, "parameter")
    );
    let (some, none): (Vec<&Parameter>, Vec<&Parameter>) =
        sensitivity.parameters.iter().partition(|parameter| parameter.weight(cycles) >= NOTHING);
    table(&mut text, &some, cycles);
    for_area(&mut text, sensitivity);
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
    let heads = ["parameter", "value", "halved", "", "mm²", "doubled", "", "mm²"].map(str::to_owned);
    let mut rows = vec![heads.to_vec()];
    for parameter in parameters {
        let mut row = vec![parameter.key.clone(), parameter.now.to_string()];
        for (number, effect) in parameter.effects.iter().enumerate() {
            let then = effect.as_ref().map_or(String::new(), |effect| effect.then.to_string());
            let change = parameter.change(number, cycles);
            let area = effect.as_ref().filter(|_| change.is_some());
            row.extend([
                then,
                change.map_or("-".to_owned(), |change| format!("{:+.1} %", 100.0 * change)),
                area.map_or(String::new(), |effect| millimetres(effect.area_mm2)),
            ]);
        }
        rows.push(row);
    }
    lines(text, &rows);
}

/// The changes that save, those first that save most for their area.
fn for_area(text: &mut String, sensitivity: &Sensitivity) {
    let Some(area) = sensitivity.area_mm2 else { return };
    let savings = sensitivity.savings_for_area();
    if savings.is_empty() {
        return;
    }
    _ = writeln!(text, "\nWhat saves most for its area; the machine has about {area:.1} mm²:");
    let heads = ["  setting", "saves", "mm²", "for each mm²"].map(str::to_owned);
    let mut rows = vec![heads.to_vec()];
    rows.extend(savings.iter().take(LISTED).map(|saving| {
        let saved = format!("{:.1} %", 100.0 * saving.saved);
        vec![format!("  {}", saving.setting()), saved, millimetres(saving.area_mm2), for_each_mm2(saving)]
    }));
    lines(text, &rows);
    text.push_str("  Latencies and clocks have no price in area.\n");
}

/// A difference of areas; empty where there is none.
pub(crate) fn millimetres(mm2: f64) -> String {
    match mm2.abs() {
        x if x < 0.000_5 => String::new(),
        x if x < 0.1 => format!("{mm2:+.3}"),
        _ => format!("{mm2:+.2}"),
    }
}

/// What a square millimetre saves, in words.
pub(crate) fn for_each_mm2(saving: &Saving<'_>) -> String {
    let each = saving.per_mm2();
    if each.is_finite() { format!("{:.2} %", 100.0 * each) } else { "needs no area".to_owned() }
}

/// Rows in columns: the first begins at the left, the others end at the right.
fn lines(text: &mut String, rows: &[Vec<String>]) {
    for line in aligned(rows, |column| column > 0) {
        _ = writeln!(text, "{line}");
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
