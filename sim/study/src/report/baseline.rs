//! The run beside an earlier one: what differs, with its sign.

use super::chart::{bar, scroll};
use super::facts::Facts;
use crate::compare::{Comparison, RATES, differences, microseconds};
use crate::results::Measured;
use maud::{Markup, html};
use wave_observe::numbers::integer;

/// An earlier run of the kernel.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// Where it comes from: a file, or a file in a commit.
    pub name: String,
    /// What it measured.
    pub run: Measured,
}

/// The section. `run` is what this run measured.
pub(super) fn section(facts: &Facts<'_>, baseline: &Baseline, run: Measured) -> Markup {
    let cycles = [&baseline.run, &run].map(Measured::cycles);
    let data = [baseline.run.data, run.data];
    let same = baseline.run.machine.hash == run.machine.hash;
    let machine = baseline.run.machine.clone();
    let comparison = Comparison::of_machines(vec![
        (baseline.name.clone(), vec![baseline.run.clone()]),
        ("this run".to_owned(), vec![run]),
    ]);
    // Runs are matched by their names, and these have the same.
    let row = &comparison.rows[0];
    let parts = differences(row);
    let largest =
        parts.iter().filter_map(|(_, parts)| Some((parts[1]? - parts[0]?).abs())).fold(0.0, f64::max);
    html! {
        p {
            "The baseline is " code { (baseline.name) } ", on "
            @if same { "the same machine." } @else {
                "another machine: " code { (machine.name) } ", configuration " code { (machine.hash) }
                @if !machine.set.is_empty() { ", with " code { (machine.set.join(" ")) } }
                "."
            }
            @if let [Some(before), Some(now)] = cycles {
                " It took " (integer(before)) " cycles, and this run " strong { (integer(now)) } ", which is "
                strong { (signed_percent(before as f64, now as f64)) }
                @if comparison.has_clocks() {
                    "; the clocks differ, and in time it is "
                    (signed_percent(micros(&baseline.run), row.runs[1].as_ref().map_or(0.0, micros)))
                }
                "."
            } @else { " One of the two did not come to its end, so their cycles cannot be compared." }
            @if let [Some(before), Some(now)] = data && before != now {
                strong { " Its data are others: it ran with " code { (before) } ", and this run with " code { (now) } "." }
            }
            @if !facts.gathered.scope.is_whole() { " This section is about the whole run, not the part that the others are about." }
        }
        (scroll("Where the cycles go, beside the baseline", html! { table.beside {
            caption { "Where the cycles go: uses of issue slots as cycles; they sum to those of the run. What differs most is first" }
            thead { tr {
                th scope="col" { "use" } th scope="col" { "baseline" } th scope="col" { "this run" } th scope="col" { "difference" }
            } }
            tbody { @for (name, parts) in &parts { tr {
                @let difference = parts[0].zip(parts[1]).map(|(before, now)| now - before);
                th scope="row" { (name) }
                td.number { (whole(parts[0])) } td.number { (whole(parts[1])) }
                td.number {
                    @if let Some(difference) = difference {
                        (format!("{difference:+.0}"))
                        (bar(difference.abs() / largest, if difference > 0.0 { "limit" } else { "good" }))
                    }
                }
            } } }
        } }))
        (scroll("Figures beside the baseline", html! { table.beside {
            caption { "Figures beside the baseline" }
            thead { tr {
                th scope="col" { "figure" } th scope="col" { "baseline" } th scope="col" { "this run" } th scope="col" { "difference" }
            } }
            tbody { @for rate in RATES {
                @let values = [0, 1].map(|column: usize| row.runs[column].as_ref().and_then(|run| rate.of(run)));
                @if let [Some(before), Some(now)] = values { @if before != 0.0 || now != 0.0 { tr {
                    th scope="row" { (rate.name) @if !rate.unit.is_empty() { ", " (rate.unit) } }
                    td.number { (value(before, rate.digits)) } td.number { (value(now, rate.digits)) }
                    td.number { @match rate.unit {
                        "%" => (format!("{:+.1} points", now - before)),
                        _ => (signed_percent(before, now)),
                    } }
                } } }
            } }
        } }))
    }
}

fn micros(run: &Measured) -> f64 {
    microseconds(run).unwrap_or(0.0)
}

fn signed_percent(before: f64, now: f64) -> String {
    if before == 0.0 { "–".to_owned() } else { format!("{:+.1} %", 100.0 * (now / before - 1.0)) }
}

fn whole(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| integer(value.round() as u64))
}

fn value(value: f64, digits: usize) -> String {
    if digits == 0 { integer(value.round() as u64) } else { format!("{value:.digits$}") }
}
