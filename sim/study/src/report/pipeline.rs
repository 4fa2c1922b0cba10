//! The pipeline view: instructions of some waves, stage by stage, on a cycle axis.

use super::capture::Row;
use super::facts::Facts;
use maud::{Markup, html};
use wave_machine::core::wait::Wait;
use wave_observe::numbers::integer;
use wave_observe::trace::record::{STAGES, Stage};

/// Height of a row, in the drawing and on the page.
const ROW: usize = 22;

/// Intervals between stages: first stage, CSS class, description.
const PARTS: [(Stage, &str, &str); STAGES.len()] = [
    (Stage::Fetch, "p-f", "fetch: its words are requested"),
    (Stage::Decode, "p-d", "decoded, in the instruction buffer"),
    (Stage::Issue, "p-i", "issued, reading operands"),
    (Stage::Operands, "p-o", "operands read, in its collector"),
    (Stage::Execute, "p-x", "in its unit, or in memory"),
    (Stage::WriteBack, "p-w", "writing its result"),
];

/// The name of the issue-slot use closest to a reason, for its colour.
fn class_of(reason: Wait) -> &'static str {
    reason.slot_use().name()
}

/// The section with both captures. The later one comes first, because it shows the kernel in steady state.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let captured = &facts.gathered.captured;
    let views = [("later", "Later in the run", &captured.later), ("first", "The beginning", &captured.first)];
    let views: Vec<_> = views.into_iter().filter(|(_, _, rows)| !rows.is_empty()).collect();
    html! {
        p {
            "Each row is a wave instruction, each column a cycle of the machine. The upper part of a row says where the \
             instruction was, the lower part what its wave waited for before it could issue. Waves of one scheduler share \
             its issue slots: where one waits, another can issue."
        }
        @if views.is_empty() { p { "No instruction retired, so there is nothing to show." } }
        @else {
            ul.legend aria-label="Legend" {
                @for (_, class, what) in PARTS { li { span.swatch.(class) {} (what) } }
                li { span.swatch.memory.thin {} "lower part: why it waited, in the colours of the issue slots" }
            }
        }
        @for (id, title, rows) in views { (view(facts, id, title, rows)) }
    }
}

/// Rows with the heading of each wave before its instructions.
enum Entry<'r> {
    Wave(&'r Row),
    Instruction(&'r Row),
}

fn entries(rows: &[Row]) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    let mut before: Option<&Row> = None;
    for row in rows {
        let wave = |row: &Row| (row.slot, row.workgroup, row.wave);
        if before.is_none_or(|before| wave(before) != wave(row)) {
            entries.push(Entry::Wave(row));
        }
        entries.push(Entry::Instruction(row));
        before = Some(row);
    }
    entries
}

fn view(facts: &Facts<'_>, id: &str, title: &str, rows: &[Row]) -> Markup {
    let to = rows.iter().map(|row| row.end).max().unwrap_or(0) + 1;
    let from = first_cycle(rows, to);
    let span = to - from;
    let entries = entries(rows);
    let step = nice_step(span);
    // A label begins at its tick, so there is space for one after the last tick.
    let last = to - span / 10;
    let ticks: Vec<u64> = (from.div_ceil(step)..).map(|i| i * step).take_while(|&tick| tick < last).collect();
    let height = entries.len() * ROW;
    let (core, slot) = rows.first().map_or((0, 0), |row| (row.core, row.slot));
    let scheduler = slot % facts.config.core.schedulers;
    let heading = format!("pipeline-{id}-h");
    html! {
        figure.pipeline id={ "pipeline-" (id) } aria-labelledby=(heading) {
            figcaption {
                h3 id=(heading) { (title) ": cycles " (integer(from)) " to " (integer(to - 1)) }
                p { "Waves of scheduler " (scheduler) " of core " (core) "." }
            }
            div.tools role="group" aria-label={ "Zoom: " (title) } {
                button type="button" data-zoom="2" { "Zoom in" }
                button type="button" data-zoom="0.5" { "Zoom out" }
                button type="button" data-zoom="0" { "Whole window" }
            }
            // Without zoom the drawing fills its container, so the whole window is visible.
            div.lanes style={ "--zoom:0;--span:" (span) ";--row:" (ROW) "px" } {
                div.names {
                    div.tick {}
                    @for entry in &entries { @match entry {
                        Entry::Wave(row) => div.wave { (wave_name(row)) },
                        Entry::Instruction(row) => {
                            button.name type="button" tabindex="-1" data-from=(row.begin().saturating_sub(from)) data-to=(row.end + 1 - from)
                                data-about=(about(facts, row)) { (text_of(facts, row)) }
                        },
                    } }
                }
                div.scroll tabindex="0" role="region" aria-label={ "Cycles: " (title) } {
                    div.time {
                        div.tick aria-hidden="true" { @for tick in ticks {
                            span style={ "left:" (format!("{:.2}", 100.0 * (tick - from) as f64 / span as f64)) "%" } { (integer(tick)) }
                        } }
                        svg viewBox={ "0 0 " (span) " " (height) } height=(height) preserveAspectRatio="none" role="img"
                            aria-labelledby={ "pipeline-" (id) "-t pipeline-" (id) "-d" } {
                            title id={ "pipeline-" (id) "-t" } { "Pipeline, cycles " (from) " to " (to - 1) }
                            desc id={ "pipeline-" (id) "-d" } {
                                (rows.len()) " instructions by stage over cycles. The table below has the cycle of each stage."
                            }
                            @for (place, entry) in entries.iter().enumerate() {
                                @if let Entry::Instruction(row) = entry { (bars(row, place * ROW, from)) }
                                @else { path.grid d={ "M0 " (place * ROW) "h" (span) } {} }
                            }
                        }
                    }
                }
            }
            output.about { "Choose an instruction, with the arrow keys or by pointing at it, to read its times here. Zooming keeps \
                 it in view." }
            (table(facts, title, rows))
        }
    }
}

/// First cycle of a view that ends before `to`. If an instruction waited in its buffer much longer than the
/// rest of the view takes, its bar is cut.
fn first_cycle(rows: &[Row], to: u64) -> u64 {
    let begin = rows.iter().map(Row::begin).min().unwrap_or(0);
    let issue = rows.iter().map(Row::issue).filter(|&at| at != 0).min().unwrap_or(begin);
    begin.max(issue.saturating_sub(to.saturating_sub(issue) / 4))
}

/// Tick distance that gives about eight ticks.
fn nice_step(span: u64) -> u64 {
    let wanted = (span / 8).max(1);
    let power = 10u64.pow(wanted.ilog10());
    [1, 2, 5, 10].into_iter().map(|n| n * power).find(|&step| step >= wanted).unwrap_or(power)
}

fn wave_name(row: &Row) -> String {
    let [x, y, z] = row.workgroup;
    format!("slot {} · workgroup {x},{y},{z} wave {}", row.slot, row.wave)
}

fn text_of(facts: &Facts<'_>, row: &Row) -> String {
    let found = facts.instructions.iter().find(|i| i.pc == row.pc);
    found.map_or_else(|| format!("pc 0x{:04x}", row.pc), |i| i.text.clone())
}

/// Intervals of an instruction: entries of [`PARTS`] with first cycle and the cycle after the last.
fn parts(row: &Row) -> Vec<(&'static str, &'static str, u64, u64)> {
    let known: Vec<_> = PARTS.iter().filter(|(stage, ..)| row.stages[*stage] != 0).collect();
    let begin = |place: usize| known.get(place).map(|(stage, ..)| row.stages[*stage]);
    known
        .iter()
        .enumerate()
        .map(|(place, (_, class, what))| {
            let from = begin(place).unwrap_or(0);
            (*class, *what, from, begin(place + 1).unwrap_or(row.end + 1))
        })
        .collect()
}

fn bars(row: &Row, y: usize, start: u64) -> Markup {
    html! {
        @for (class, _, from, to) in parts(row) {
            (bar(class, (from, to), start, (y + 2, 12)))
        }
        @for stall in &row.stalls {
            (bar(class_of(stall.reason), (stall.from, stall.to), start, (y + 15, 5)))
        }
    }
}

/// A bar over some cycles, clipped at the start of the view.
fn bar(class: &str, (from, to): (u64, u64), start: u64, (y, height): (usize, usize)) -> Markup {
    let from = from.max(start);
    html! {
        @if to > from {
            rect.(class) x=(from - start) y=(y) width=(to - from) height=(height) {}
        }
    }
}

fn waited(row: &Row) -> String {
    let stall = |s: &wave_observe::trace::record::Stall| {
        format!("{} {}–{}", s.reason.name(), s.from, s.to.max(1) - 1)
    };
    row.stalls.iter().filter(|s| s.to > s.from).map(stall).collect::<Vec<_>>().join(", ")
}

fn about(facts: &Facts<'_>, row: &Row) -> String {
    let stages: Vec<String> = parts(row)
        .into_iter()
        .map(|(_, what, from, to)| {
            let what = what.split([':', ',']).next().unwrap_or(what);
            if to > from + 1 { format!("{what} {from}–{}", to - 1) } else { format!("{what} {from}") }
        })
        .collect();
    let waited = waited(row);
    let waited = if waited.is_empty() { String::new() } else { format!("; waited for {waited}") };
    let open = if row.open { "; not finished when the run ended" } else { "" };
    format!(
        "{} of {}, instruction {}, {} lanes: {}{waited}{open}.",
        text_of(facts, row),
        wave_name(row),
        row.sequence,
        row.lanes,
        stages.join(", ")
    )
}

fn table(facts: &Facts<'_>, title: &str, rows: &[Row]) -> Markup {
    html! {
        details.data {
            summary { "Numbers of this view" }
            div.scroll tabindex="0" role="region" aria-label={ "Numbers of the pipeline: " (title) } {
                table {
                    caption { "Cycle of each stage" }
                    thead { tr {
                        @for name in ["wave", "number", "instruction", "lanes"] { th scope="col" { (name) } }
                        @for (stage, ..) in PARTS { th scope="col" { (stage.key().replace('_', " ")) } }
                        th scope="col" { "end" } th scope="col" { "waited for" }
                    } }
                    tbody { @for row in rows { tr {
                        th scope="row" { (wave_name(row)) } td { (row.sequence) } td.code { (text_of(facts, row)) } td { (row.lanes) }
                        @for at in row.stages.0 { td { @if at != 0 { (at) } } }
                        td { (row.end) @if row.open { " (not finished)" } }
                        td { (waited(row)) }
                    } } }
                }
            }
        }
    }
}
