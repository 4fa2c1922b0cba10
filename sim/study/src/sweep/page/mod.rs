//! The page of a sweep: one HTML file that needs nothing beside itself. Pictures are drawn here; the script lets one
//! choose in them, and puts tables in another order.

mod effects;
mod front;
mod parallel;
mod runs;

use super::table::{Row, State, Table};
use crate::report::page::STYLE;
use crate::report::policy::policy;
use crate::results::{AREA, ENERGY};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use wave_machine::config::{Config, config_hash};
use wave_observe::numbers::{integer, prefix, size};

const OWN_STYLE: &str = include_str!("../assets/sweep.css");
const SCRIPT: &str = include_str!("../assets/sweep.js");

/// Most runs that are drawn and listed.
const MOST_SHOWN: usize = 4000;

/// A table with what its pictures share.
pub(super) struct Facts<'a> {
    table: &'a Table,
    /// Kernels with the rows that ended, by their places in the table.
    kernels: Vec<(&'a str, Vec<usize>)>,
    /// Of each row that ended, its cycles over the least of its kernel.
    relative: Vec<Option<f64>>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(table: &'a Table) -> Facts<'a> {
        let mut kernels: Vec<(&str, Vec<usize>)> = Vec::new();
        for (number, row) in table.rows.iter().enumerate() {
            let at = kernels.iter().position(|(name, _)| *name == row.kernel).unwrap_or_else(|| {
                kernels.push((&row.kernel, Vec::new()));
                kernels.len() - 1
            });
            if row.cycles().is_some() {
                kernels[at].1.push(number);
            }
        }
        let mut relative = vec![None; table.rows.len()];
        for (_, rows) in &kernels {
            let cycles = |&row: &usize| table.rows[row].cycles();
            let least = rows.iter().filter_map(cycles).min().unwrap_or(1).max(1);
            for row in rows {
                relative[*row] = cycles(row).map(|cycles| cycles as f64 / least as f64);
            }
        }
        Facts { table, kernels, relative }
    }

    /// The name of a figure for a heading, its unit, and what its values are multiplied by: energy has the prefix that suits
    /// the run that takes most.
    fn unit(&self, figure: &str) -> (&'static str, String, f64) {
        match figure {
            ENERGY => {
                let rows = self.table.rows.iter().filter_map(|row| row.figure(ENERGY));
                let (size, prefix) = prefix(rows.fold(0.0, f64::max));
                ("energy", format!("{prefix}J"), 1.0 / size)
            }
            AREA => ("area", "mm²".to_owned(), 1.0),
            "figure.occupancy" => ("occupancy", "%".to_owned(), 1.0),
            _ => ("IPC", String::new(), 1.0),
        }
    }

    /// The same as one word: `energy, mJ`.
    fn heading(&self, figure: &str) -> String {
        let (name, unit, _) = self.unit(figure);
        if unit.is_empty() { name.to_owned() } else { format!("{name}, {unit}") }
    }

    fn row(&self, number: usize) -> &'a Row {
        &self.table.rows[number]
    }

    /// The colour of a row: how near it is to the best of its kernel.
    fn class(&self, number: usize) -> &'static str {
        match self.relative[number] {
            Some(ratio) if ratio < 1.1 => "good",
            Some(ratio) if ratio < 1.5 => "fair",
            Some(ratio) if ratio < 2.5 => "poor",
            _ => "bad",
        }
    }

    /// What a row is, in words.
    fn name(&self, number: usize) -> String {
        let row = self.row(number);
        let values = self.table.axes.iter().zip(&row.values);
        let values: Vec<String> = values.map(|(axis, value)| format!("{} = {value}", axis.key)).collect();
        let seed = row.seed.map_or(String::new(), |seed| format!(", seed {seed}"));
        let cycles =
            row.cycles().map_or_else(|| row.outcome().to_owned(), |n| format!("{} cycles", integer(n)));
        format!("{}{seed}: {cycles}; {}", row.kernel, values.join(", "))
    }
}

/// The page of a sweep on this machine.
pub fn page(table: &Table, base: &Config) -> String {
    let facts = Facts::new(table);
    let sections: [(&str, &str, Markup); 5] = [
        ("parallel", "All runs at once", parallel::section(&facts)),
        ("front", "What nothing beats", front::section(&facts)),
        ("effects", "What each parameter does", effects::section(&facts)),
        ("runs", "Runs", runs::section(&facts)),
        ("left-out", "What did not run", runs::left_out(&facts)),
    ];
    let names: Vec<&str> = facts.kernels.iter().map(|(name, _)| *name).collect();
    let title = match names.as_slice() {
        [] => format!("A sweep of {}", base.name),
        [first, _, _, _, ..] => format!("{first} and {} more on variants of {}", names.len() - 1, base.name),
        names => format!("{} on variants of {}", names.join(", "), base.name),
    };
    let style = [STYLE, OWN_STYLE].concat();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy(&style, SCRIPT));
                title { (title) ": wave-sim sweep" }
                style { (PreEscaped(&style)) }
            }
            body {
                a.skip href="#main" { "Skip to the sweep" }
                header {
                    p.kind { "wave-sim sweep" }
                    h1 { (title) }
                    (figures(&facts))
                }
                nav aria-label="Sections" { ul {
                    @for (id, title, _) in &sections { li { a href={ "#" (id) } { (title) } } }
                } }
                main id="main" tabindex="-1" {
                    @for (id, title, content) in &sections {
                        section id=(id) aria-labelledby={ (id) "-h" } { h2 id={ (id) "-h" } { (title) } (content) }
                    }
                }
                p.chosen role="status" {}
                footer { p {
                    "Written by wave-sim " (env!("CARGO_PKG_VERSION")) " for " code { (base.name) } ", configuration "
                    code { (config_hash(base)) } ". The same sweep gives the same file."
                } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}

/// The head: how many of what.
fn figures(facts: &Facts<'_>) -> Markup {
    let rows = &facts.table.rows;
    let count = |is: &dyn Fn(&Row) -> bool| integer(rows.iter().filter(|row| is(row)).count() as u64);
    let points = rows.iter().map(|row| row.point).max().unwrap_or(0);
    let worst = facts.relative.iter().flatten().fold(1.0, |most: f64, &ratio| most.max(ratio));
    let figures = [
        ("parameters", integer(facts.table.axes.len() as u64), "that change".to_owned()),
        ("points", integer(points), "machines, also such as cannot be".to_owned()),
        ("kernels", integer(facts.kernels.len() as u64), "on each".to_owned()),
        (
            "runs",
            integer(rows.len() as u64),
            format!("{} of them ended", count(&|row| row.cycles().is_some())),
        ),
        (
            "did not run",
            count(&|row| matches!(row.state, State::Invalid(_) | State::Refused(_))),
            "no such machine, or too small".to_owned(),
        ),
        ("spread", format!("{worst:.2}"), "most cycles of a kernel over its least".to_owned()),
    ];
    html! {
        dl.figures { @for (name, value, note) in figures { div { dt { (name) } dd { (value) small { (note) } } } } }
    }
}

/// A short number for an axis of a picture.
fn tick(value: f64) -> String {
    let scaled = |value: f64, unit: &str| {
        let text = format!("{value:.1}");
        format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match value.abs() {
        v if v >= 1e9 => scaled(value / 1e9, " G"),
        v if v >= 1e6 => scaled(value / 1e6, " M"),
        v if v >= 1e4 => scaled(value / 1e3, " k"),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 || value.fract() == 0.0 => scaled(value, ""),
        _ => format!("{value:.2}"),
    }
}

/// A value of a parameter: bytes with a unit, where that is shorter.
fn value(text: &str, unit: &str) -> String {
    let bytes = text.parse::<u64>().ok().filter(|&bytes| unit == "bytes" && bytes > 0);
    bytes.map_or_else(|| text.to_owned(), size)
}

#[cfg(test)]
mod tests;
