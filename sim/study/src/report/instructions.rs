//! The profile: disassembly of each kernel with the cost of each instruction.

use super::facts::Facts;
use super::findings::hit_rate;
use super::over_time::STACK;
use maud::{Markup, html};
use wave_isa::table::Op;
use wave_machine::stats::SlotUse;
use wave_observe::figures::ratio;
use wave_observe::limits::listing::{Instruction, MANY};
use wave_observe::numbers::{at, integer, percent, short};

/// The section, with a table per kernel that ran.
pub(super) fn section(facts: &Facts<'_>) -> Markup {
    let most = facts.instructions.iter().map(slots).max().unwrap_or(1).max(1);
    html! {
        p {
            "Each issue slot is charged to the instruction that issued in it, or to the one that kept it from being used: \
             where a wave waits for a result, that is the instruction that needs it, and “waits for” names the one that it \
             needs. Where several waves wait for one reason, the oldest stands for all of them."
        }
        @for (kernel, profile) in facts.gathered.profiles().iter().enumerate().filter(|(_, p)| p.launches > 0) {
            @let rows: Vec<&Instruction> = facts.instructions.iter().filter(|i| i.kernel == kernel).collect();
            @let name = &facts.program.kernels[kernel].name;
            @let nobody: u64 = profile.nobody.iter().sum();
            h3 id={ "kernel-" (kernel) } { "Kernel " code { (name) } }
            p {
                (wave_observe::numbers::counted(profile.launches, "launch")) ". "
                (percent(ratio(nobody, facts.slots()))) " of all issue slots are no instruction’s: a scheduler had no wave, or \
                 no further one."
            }
            div.scroll tabindex="0" role="region" aria-label={ "Profile of " (name) } {
                table.profile data-sortable="" {
                    caption { "Instructions of " (name) ", with the issue slots charged to each" }
                    (head(facts))
                    tbody { @for i in &rows { (row(facts, i, most)) } }
                }
            }
            (numbers(name, &rows, &profile.nobody))
        }
    }
}

fn slots(i: &Instruction) -> u64 {
    i.line.slots.iter().sum()
}

fn head(facts: &Facts<'_>) -> Markup {
    let sourced = facts.program.source.is_some();
    let column =
        |name: &str, title: &str| html! { th scope="col" { button type="button" title=(title) { (name) } } };
    html! {
        thead { tr {
            (column(if sourced { "line" } else { "pc" }, "Order of the code"))
            th scope="col" { "instruction" }
            (column("issued", "Times that it issued and took effect, in all waves"))
            (column("slots", "Part of all issue slots that is charged to it; the bar has them by use, beside those of the dearest"))
            th scope="col" { "most for" }
            th scope="col" { "waits for" }
            (column("lanes", "Lanes that took part, of those of a wave"))
            (column("lines", "L1 accesses each time, or passes over the banks of local memory; best is what neighbouring addresses would take"))
            (column("L1 hits", "Of its cached loads and atomics, those that found everything in the L1"))
            (column("cycles", "From issue to result, on average"))
        } }
    }
}

fn row(facts: &Facts<'_>, i: &Instruction, most: u64) -> Markup {
    let line = &i.line;
    let all = slots(i);
    let width = u64::from(facts.config.core.wave_width);
    let share = ratio(all, facts.slots());
    let top = STACK.into_iter().filter(|u| !matches!(u, SlotUse::Issued | SlotUse::Squashed));
    let top = top.max_by_key(|&u| line.slots[u as usize]).filter(|&u| line.slots[u as usize] > 0);
    let lanes = (line.issues() > 0).then(|| ratio(line.lanes, line.issues() * width));
    let lines = i.lines_each().zip(i.least_lines(facts.config));
    let hits = hit_rate(line);
    let cycles = (line.results > 0).then(|| ratio(line.latency, line.results));
    let memory = i.op.and_then(Op::memory).is_some();
    let number = i.source.as_ref().map_or_else(|| format!("{:04x}", i.pc), |(number, _)| number.to_string());
    let indent = "\u{2003}".repeat(i.depth as usize);
    html! {
        tr id=(i.anchor()) .hot[share >= 0.05] {
            th scope="row" data-value=(i.pc) title={ "pc 0x" (format!("{:04x}", i.pc)) } { (number) }
            td.code {
                code { (indent) (i.text) }
                @if let Some(remark) = i.remark() { small { (indent) (remark) } }
            }
            td.number data-value=(line.issues()) { (integer(line.issues())) }
            td.number data-value=(all) { (percent(share)) (stack(i, most)) }
            td { @if let Some(top) = top { span.swatch.(top.name()) {} (top.name()) } }
            td { @if let Some((producer, n)) = producer(facts, i) {
                a href={ "#" (producer.anchor()) } title={ (producer.text) ": " (integer(n)) " slots" } { (producer.place()) }
            } }
            // An instruction without participating lanes was squashed; it wastes no lanes.
            td.number data-value=(lanes.unwrap_or(-1.0)) .low[lanes.is_some_and(|l| l > 0.0 && l < 0.7)] {
                @if let Some(lanes) = lanes { (percent(lanes)) }
            }
            td.number data-value=(lines.map_or(-1.0, |(lines, _)| lines)) .low[lines.is_some_and(|(n, least)| n > MANY * least)] {
                @if let Some((lines, least)) = lines { (short(lines)) small { "best " (short(least)) } }
            }
            td.number data-value=(hits.unwrap_or(-1.0)) { @if let Some(hits) = hits { (percent(hits)) } }
            td.number data-value=(cycles.unwrap_or(-1.0)) {
                @if let Some(cycles) = cycles { (short(cycles)) @if memory { small { "most " (integer(line.longest)) } } }
            }
        }
    }
}

/// The producer that this instruction waited for most, and the number of slots.
fn producer<'f>(facts: &'f Facts<'_>, i: &Instruction) -> Option<(&'f Instruction, u64)> {
    let waits = &facts.gathered.profiles()[i.kernel].waits;
    let mine = waits.range((i.word, 0)..=(i.word, u32::MAX));
    let (&(_, word), &slots) = mine.max_by_key(|&(_, &slots)| slots)?;
    facts.instruction(i.kernel, word).map(|producer| (producer, slots))
}

/// Issue slots of an instruction by use, as a bar relative to the longest.
fn stack(i: &Instruction, most: u64) -> Markup {
    let mut x = 0.0;
    let parts: Vec<(SlotUse, f64, f64)> = STACK
        .into_iter()
        .filter(|&u| i.line.slots[u as usize] > 0)
        .map(|slot_use| {
            let width = 100.0 * ratio(i.line.slots[slot_use as usize], most);
            let from = x;
            x += width;
            (slot_use, from, width)
        })
        .collect();
    let words: Vec<String> =
        parts.iter().map(|&(u, ..)| format!("{} {}", u.name(), integer(i.line.slots[u as usize]))).collect();
    html! {
        @if !parts.is_empty() {
            svg.stack viewBox="0 0 100 10" preserveAspectRatio="none" role="img" {
                title { (words.join(", ")) }
                @for (slot_use, x, width) in &parts {
                    rect.(slot_use.name()) x=(at(*x)) width=(format!("{width:.2}")) height="10" {}
                }
            }
        }
    }
}

/// All counters of the profile.
fn numbers(name: &str, rows: &[&Instruction], nobody: &[u64; SlotUse::COUNT]) -> Markup {
    html! {
        details.data {
            summary { "All counters of " (name) " by instruction" }
            div.scroll tabindex="0" role="region" aria-label={ "Counters of " (name) } {
                table.counters {
                    caption { "Counters of " (name) ": issue slots by use, lanes, accesses and what came of them, times" }
                    thead { tr {
                        th scope="col" { "pc" } th scope="col" { "instruction" }
                        @for slot_use in STACK { th scope="col" { (slot_use.name()) } }
                        @for name in [
                            "lanes", "line accesses", "L1 hits", "L1 MSHR hits", "L1 sector misses", "L1 misses",
                            "L1 rejections", "cycles rejected", "local accesses", "local passes", "operand reads",
                            "operand cycles", "results", "cycles to results", "longest",
                        ] { th scope="col" { (name) } }
                    } }
                    tbody {
                        @for i in rows {
                            @let line = &i.line;
                            tr {
                                th scope="row" { (format!("{:04x}", i.pc)) } td.code { (i.text) }
                                @for slot_use in STACK { td { (line.slots[slot_use as usize]) } }
                                @for n in [
                                    line.lanes, line.line_accesses(), line.l1.hits, line.l1.mshr_hits,
                                    line.l1.sector_misses, line.l1.misses, line.l1.reservation_fails,
                                    line.l1.reservation_fail_cycles, line.local_accesses, line.local_passes,
                                    line.operand_reads, line.operand_cycles, line.results, line.latency, line.longest,
                                ] { td { (n) } }
                            }
                        }
                        tr {
                            th scope="row" { "–" } td { "no instruction" }
                            @for slot_use in STACK { td { (nobody[slot_use as usize]) } }
                            @for _ in 0..15 { td {} }
                        }
                    }
                }
            }
        }
    }
}
