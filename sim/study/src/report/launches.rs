//! The launches of a run, with duration and limit of each.

use super::facts::Facts;
use maud::{Markup, html};
use wave_observe::figures::Step;
use wave_observe::limits::by_launch::{Group, groups};
use wave_observe::numbers::{integer, percent};

/// Maximum number of rows in the list.
const LISTED: usize = 20;

const HEADS: [&str; 9] = [
    "launch",
    "kernel",
    "grid",
    "workgroup",
    "registers",
    "local memory",
    "cycles",
    "of which release",
    "of the run",
];

/// The list with similar launches grouped, and advice for launches whose limit differs from the run's.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let steps = &facts.run.steps;
    let limits = &facts.gathered.by_launch;
    let all: u64 = steps.iter().map(|step| step.report.cycles).sum();
    let rows = match limits.is_empty() {
        true => (0..steps.len()).map(|n| alone(steps, n)).collect(),
        false => groups(limits, |n| (steps[n].launch.registers, steps[n].launch.local_memory_bytes)),
    };
    html! {
        @if steps.is_empty() { p { "No launch came to its end, so there is none to list: the figures go as far as the run did." } }
        @else { div.scroll tabindex="0" role="region" aria-label="Launches" { table.launches {
            caption {
                "Launches, one after the other"
                @if !facts.gathered.scope.is_whole() { ", in the whole run" }
                @if rows.len() < steps.len() { "; those that are alike share a row, with the cycles of all of them" }
            }
            thead { tr {
                @for name in HEADS { th scope="col" { (name) } }
                @if !limits.is_empty() { th scope="col" { "limited by" } }
            } }
            tbody {
                @for row in rows.iter().take(LISTED) { (line(facts, row, all)) }
                @if rows.len() > LISTED { tr { td colspan="10" { "… and " (rows.len() - LISTED) " more rows" } } }
            }
        } } }
        @for row in &rows { (advice(facts, row)) }
    }
}

fn alone(steps: &[Step], n: usize) -> Group {
    let cycles = steps[n].report.cycles;
    Group { launches: vec![n], cycles, range: (cycles, cycles), longest: n }
}

fn share(cycles: u64, all: u64) -> f64 {
    cycles as f64 / all.max(1) as f64
}

fn line(facts: &Facts<'_>, row: &Group, all: u64) -> Markup {
    let step = &facts.run.steps[row.longest];
    let ([gx, gy, gz], [wx, wy, wz]) = (step.launch.grid, step.launch.workgroup);
    let release: u64 = row.launches.iter().map(|&n| facts.run.steps[n].report.release_cycles).sum();
    let top = facts.gathered.by_launch.get(row.longest).map(|one| (one, one.top()));
    html! { tr {
        th scope="row" { (row.spans()) }
        td { code { (step.kernel) } }
        td { (gx) ", " (gy) ", " (gz) } td { (wx) ", " (wy) ", " (wz) }
        td.number { (step.launch.registers) } td.number { (integer(step.launch.local_memory_bytes.into())) }
        td.number { (integer(row.cycles)) } td.number { (integer(release)) }
        td.number { (percent(share(row.cycles, all))) }
        @match top {
            Some((one, Some(top))) => { td { (one.limits.title(top, facts.config)) } }
            Some(_) => { td { "-" } }
            None => {}
        }
    } }
}

/// Advice for significant launches whose limit differs from the run's.
fn advice(facts: &Facts<'_>, row: &Group) -> Markup {
    html! { @if let Some((one, top)) = row.differs(&facts.gathered.by_launch, &facts.limits) {
        h3 {
            @if row.launches.len() > 1 { "Launches " (row.spans()) ", of which " (row.longest + 1) " is the longest: " }
            @else { "Launch " (row.spans()) ": " }
            (one.limits.title(top, facts.config))
        }
        p { (top.meaning()) " " (top.advice()) }
        @let places: Vec<_> = top.at(&facts.instructions).collect();
        @if !places.is_empty() {
            ul { @for (i, words) in &places { li { a href={ "#" (i.anchor()) } { (words) } } } }
        }
    } }
}
