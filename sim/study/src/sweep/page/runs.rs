//! The runs as a table that sorts, and what did not run.

use super::super::table::State;
use super::{Facts, MOST_SHOWN, value};
use crate::results::{AREA, ENERGY};
use maud::{Markup, html};
use wave_observe::numbers::{integer, short};

/// The table of runs that are measured.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let table = facts.table;
    let shown: Vec<usize> =
        (0..table.rows.len()).filter(|&row| table.rows[row].measured().is_some()).collect();
    let left_out = shown.len().saturating_sub(MOST_SHOWN);
    let seeds = table.rows.iter().any(|row| row.seed.is_some());
    let figures = [ENERGY, AREA, "figure.ipc", "figure.occupancy"];
    let shown_figure = |number: usize, name: &str| {
        let (_, _, times) = facts.unit(name);
        facts.row(number).figure(name).map(|value| (value, short(value * times)))
    };
    let heading = |name: &str| html! { th scope="col" { button type="button" { (name) } } };
    html! {
        p.count role="status" {}
        div.scroll tabindex="0" role="region" aria-label="Runs" { table.profile.runs data-sortable {
            caption { "Runs, in the order of the plan; a heading sorts" }
            thead { tr {
                (heading("point"))
                @for axis in &table.axes { (heading(&axis.key)) }
                (heading("kernel"))
                @if seeds { (heading("seed")) }
                (heading("outcome")) (heading("cycles")) (heading("over least")) (heading("µs"))
                @for name in figures { (heading(&facts.heading(name))) }
            } }
            tbody { @for &number in &shown[..shown.len() - left_out] {
                @let row = facts.row(number);
                tr data-row=(number) {
                    td.number data-value=(row.point) { (row.point) }
                    @for (text, axis) in row.values.iter().zip(&table.axes) {
                        td.number data-value=(text) { (value(text, axis.unit)) }
                    }
                    td data-value=(row.kernel) { (row.kernel) }
                    @if seeds { (number_cell(row.seed.map(|seed| (seed as f64, seed.to_string())))) }
                    td data-value=(row.outcome()) { (row.outcome()) }
                    (number_cell(row.cycles().map(|cycles| (cycles as f64, integer(cycles)))))
                    (number_cell(facts.relative[number].map(|ratio| (ratio, format!("{ratio:.2}")))))
                    (number_cell(row.microseconds().map(|time| (time, short(time)))))
                    @for name in figures { (number_cell(shown_figure(number, name))) }
                }
            } }
        } }
        @if left_out > 0 { p { (integer(left_out as u64)) " more runs are in the tables beside this page only." } }
    }
}

fn number_cell(value: Option<(f64, String)>) -> Markup {
    match value {
        Some((value, text)) => html! { td.number data-value=(value) { (text) } },
        None => html! { td.number data-value="" { "–" } },
    }
}

/// Points without a machine, and kernels that do not fit, each with its reason.
pub(super) fn left_out(facts: &Facts<'_>) -> Markup {
    let rows: Vec<(usize, &str)> = facts
        .table
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !matches!(row.state, State::Measured(_)) || row.cycles().is_none())
        .map(|(number, row)| (number, row.message().unwrap_or("")))
        .collect();
    if rows.is_empty() {
        return html! { p { "Everything ran to its end." } };
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label="What did not run" { table {
            caption { (integer(rows.len() as u64)) " runs without a measurement" }
            thead { tr {
                th scope="col" { "point" }
                @for axis in &facts.table.axes { th scope="col" { (axis.key) } }
                th scope="col" { "kernel" } th scope="col" { "outcome" } th scope="col" { "reason" }
            } }
            tbody { @for &(number, why) in rows.iter().take(MOST_SHOWN) {
                @let row = facts.row(number);
                tr {
                    td.number { (row.point) }
                    @for (text, axis) in row.values.iter().zip(&facts.table.axes) { td.number { (value(text, axis.unit)) } }
                    td { (row.kernel) } td { (row.outcome()) } td.reason { (why.lines().next().unwrap_or("")) }
                }
            } }
        } }
    }
}
