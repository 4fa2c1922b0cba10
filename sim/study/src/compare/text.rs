//! Comparisons as text: one row in full, several as a table.

use super::{By, Comparison, RATES, Row, differences, microseconds};
use crate::columns::aligned;
use crate::results::Measured;
use std::fmt::Write;
use wave_observe::numbers::{self, counted};

/// The text of a comparison: the table where there are several kernels, and each of them in full if there is one, or `all`.
pub fn text(comparison: &Comparison, all: bool) -> String {
    let mut text = machines(comparison);
    if comparison.rows.len() > 1 {
        text += &table(comparison);
    }
    if comparison.rows.len() == 1 || all {
        for row in &comparison.rows {
            text += &in_full(comparison, row);
        }
    }
    text
}

/// What the columns are.
fn machines(comparison: &Comparison) -> String {
    let mut text = String::new();
    let width = comparison.columns.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (number, name) in comparison.columns.iter().enumerate() {
        let run = comparison.rows.iter().find_map(|row| row.runs[number].as_ref());
        let Some(run) = run else { continue };
        let machine = &run.machine;
        let set = if machine.set.is_empty() { String::new() } else { format!("; {}", machine.set.join(" ")) };
        _ = writeln!(
            text,
            "{name:width$}  {} (config {}): {} of {} lanes, {} MHz{set}",
            machine.name,
            machine.hash,
            counted(machine.cores.into(), "core"),
            machine.wave_width,
            machine.core_clock_mhz
        );
    }
    text + "\n"
}

/// A line for each row: the cost in each column, and how it differs from the baseline.
fn table(comparison: &Comparison) -> String {
    let mut grid = Grid::new(comparison, what(comparison));
    for row in &comparison.rows {
        let costs: Vec<Option<f64>> =
            row.runs.iter().map(|run| run.as_ref().and_then(|run| comparison.cost(run))).collect();
        let digits = if comparison.has_clocks() { 2 } else { 0 };
        let cells = row.runs.iter().zip(&costs).map(|(run, cost)| match (run, cost) {
            (_, Some(cost)) => format!("{cost:.digits$}"),
            (Some(run), None) => run.outcome.clone(),
            (None, None) => "-".to_owned(),
        });
        grid.row(&row.name, cells.collect(), |column| in_percent(costs[0]?, costs[column]?));
    }
    let means: Vec<_> =
        (0..comparison.columns.len()).map(|column| comparison.geometric_mean(column)).collect();
    let cells = means.iter().enumerate().map(|(column, mean)| match mean {
        Some((mean, _)) if column > 0 => format!("{mean:.3}"),
        _ => String::new(),
    });
    grid.row("geometric mean", cells.collect(), |_| None);
    grid.text()
}

/// Everything about a row.
fn in_full(comparison: &Comparison, row: &Row) -> String {
    let mut text = String::new();
    if comparison.rows.len() > 1 {
        _ = writeln!(text, "\n{}", row.name);
    }
    let of = |value: fn(&Measured) -> Option<f64>| -> Vec<Option<f64>> {
        row.runs.iter().map(|run| run.as_ref().and_then(value)).collect()
    };
    let title = if row.name.is_empty() { "kernel" } else { row.name.as_str() };
    let mut grid = Grid::new(comparison, title);
    let outcomes = row.runs.iter().map(|run| run.as_ref().map_or("-".to_owned(), |run| run.outcome.clone()));
    grid.row("result", outcomes.collect(), |_| None);
    let cycles = of(|run| run.cycles().map(|cycles| cycles as f64));
    grid.values("cycles", &cycles, 0);
    if comparison.has_clocks() {
        grid.values("time in us", &of(microseconds), 2);
    }
    grid.heading("where the cycles go, what differs most first");
    for (name, parts) in differences(row) {
        let cells = parts.iter().map(|part| part.map_or("-".to_owned(), |part| format!("{part:.0}")));
        grid.row(&format!("  {name}"), cells.collect(), |column| {
            let difference = (parts[column]? - parts[0]?).round();
            Some(if difference == 0.0 { "0".to_owned() } else { format!("{difference:+.0}") })
        });
    }
    grid.heading("figures");
    for rate in RATES {
        let values: Vec<Option<f64>> =
            row.runs.iter().map(|run| run.as_ref().and_then(|run| rate.of(run))).collect();
        if values.iter().all(|value| value.is_none_or(|value| value == 0.0)) {
            continue;
        }
        let name = format!("  {}{}", rate.name, unit(rate.unit));
        match rate.unit {
            "%" => {
                let cells =
                    values.iter().map(|value| value.map_or("-".to_owned(), |value| format!("{value:.1}")));
                // Percents differ by points.
                grid.row(&name, cells.collect(), |column| {
                    Some(format!("{:+.1}", values[column]? - values[0]?))
                });
            }
            _ => grid.values(&name, &values, rate.digits),
        }
    }
    text + &grid.text()
}

fn unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(", {}", numbers::unit(unit)) }
}

/// What the table compares.
fn what(comparison: &Comparison) -> &'static str {
    match (comparison.by, comparison.has_clocks()) {
        (_, true) => "time in us",
        (By::Machine | By::Kernel, false) => "cycles",
    }
}

/// How a value differs from another, in percent of it.
fn in_percent(before: f64, now: f64) -> Option<String> {
    (before != 0.0).then(|| format!("{:+.1} %", 100.0 * (now / before - 1.0)))
}

/// Text in columns: of the baseline the values, of the others values and differences.
struct Grid {
    header: Vec<String>,
    /// `None` in place of the cells is a heading.
    rows: Vec<(String, Option<Vec<String>>)>,
}

impl Grid {
    fn new(comparison: &Comparison, title: &str) -> Grid {
        let mut header = vec![title.to_owned()];
        for (number, name) in comparison.columns.iter().enumerate() {
            header.push(name.clone());
            header.extend((number > 0).then(String::new));
        }
        Grid { header, rows: Vec::new() }
    }

    fn heading(&mut self, words: &str) {
        self.rows.push((words.to_owned(), None));
    }

    /// A row of cells; `difference` says how one differs from the first.
    fn row(&mut self, name: &str, cells: Vec<String>, difference: impl Fn(usize) -> Option<String>) {
        let mut all = Vec::new();
        for (number, cell) in cells.into_iter().enumerate() {
            all.push(cell);
            if number > 0 {
                all.push(difference(number).unwrap_or_default());
            }
        }
        self.rows.push((name.to_owned(), Some(all)));
    }

    /// A row of numbers that differ by percents.
    fn values(&mut self, name: &str, values: &[Option<f64>], digits: usize) {
        let cells =
            values.iter().map(|value| value.map_or("-".to_owned(), |value| format!("{value:.digits$}")));
        self.row(name, cells.collect(), |column| in_percent(values[0]?, values[column]?));
    }

    fn text(&self) -> String {
        let cells = self.rows.iter().filter_map(|(name, cells)| {
            let name = std::iter::once(name.clone());
            Some(name.chain(cells.as_ref()?.iter().cloned()).collect())
        });
        let cells: Vec<Vec<String>> = std::iter::once(self.header.clone()).chain(cells).collect();
        let mut lines = aligned(&cells, |column| column > 0).into_iter();
        let mut text = lines.next().unwrap_or_default() + "\n";
        for (name, cells) in &self.rows {
            // A heading takes no part in the widths.
            text += &if cells.is_some() { lines.next().unwrap_or_default() } else { name.clone() };
            text.push('\n');
        }
        text
    }
}
