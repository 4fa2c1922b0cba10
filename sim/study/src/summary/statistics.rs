//! Every declared statistic, with its value in a report.

use std::fmt::Write;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::suggest::did_you_mean;
use wave_isa::terms;
use wave_machine::config::wrap;
use wave_machine::core::probe::Sample;
use wave_machine::gpu::KernelReport;
use wave_machine::memory::{
    DramCounters, InterconnectCounters, L1Counters, L2Counters, L3Counters, MemoryCounters,
};
use wave_machine::stats::{CoreCounters, Declared, SlotUse};
use wave_observe::figures::FIGURES;

/// Columns of the listing.
const WIDTH: usize = 90;

/// Cycles of a kernel; no block counts them.
const CYCLES: Declared = Declared {
    name: "kernel.cycles",
    unit: "cycles",
    doc: "Cycles of the launch: from the one in which the first workgroup may be sent until the next launch can start.",
};

/// Part of the launch's cycles that the release at its end takes.
const RELEASE_CYCLES: Declared = Declared {
    name: "kernel.release_cycles",
    unit: "cycles",
    doc: "Of kernel.cycles, the release: from the last workgroup done and the last store acknowledged until what was \
          written is visible to the next launch.",
};

/// The counters, in the order of reports.
pub fn counters() -> Vec<Declared> {
    let mut declared = vec![CYCLES, RELEASE_CYCLES];
    declared.extend_from_slice(CoreCounters::DECLARED);
    declared.extend(SlotUse::ALL.iter().map(|u| u.declared()));
    for block in [
        L1Counters::DECLARED,
        InterconnectCounters::DECLARED,
        L2Counters::DECLARED,
        L3Counters::DECLARED,
        DramCounters::DECLARED,
    ] {
        declared.extend_from_slice(block);
    }
    declared.extend(wave_machine::registry::statistics());
    declared
}

/// Every counter with its value.
pub fn values(report: &KernelReport) -> Vec<(Declared, u64)> {
    let KernelReport { core, slots, l1, memory, plug_ins, .. } = report;
    let values = [report.cycles, report.release_cycles].into_iter().chain(of_blocks(core, slots, l1, memory));
    counters().into_iter().zip(values.chain(plug_ins.iter().copied())).collect()
}

/// Every counter of a block with its value in a launch that runs.
pub fn so_far(sample: &Sample) -> Vec<(Declared, u64)> {
    let Sample { core, slots, l1, memory, .. } = sample;
    counters().into_iter().skip(2).zip(of_blocks(core, slots, l1, memory)).collect()
}

/// The values of the blocks, in the order of [`counters`].
fn of_blocks(core: &CoreCounters, slots: &[u64], l1: &L1Counters, memory: &MemoryCounters) -> Vec<u64> {
    let mut values: Vec<u64> = core.values();
    values.extend(slots);
    values.extend(l1.values());
    values.extend(memory.interconnect.values());
    values.extend(memory.l2.values());
    values.extend(memory.l3.values());
    values.extend(memory.dram.values());
    values
}

/// All declared statistics: figures, then counters.
pub fn declared() -> Vec<Declared> {
    FIGURES.iter().map(|figure| figure.declared).chain(counters()).collect()
}

/// The statistics with `word` in their name; else those of a term with that name. All, if the word is empty.
///
/// # Errors
/// There are none; with the nearest name.
pub fn named(word: &str) -> Result<Vec<Declared>, Diagnostic> {
    let all = declared();
    let wanted = word.trim().to_lowercase();
    let with: Vec<Declared> =
        all.iter().filter(|declared| declared.name.contains(&wanted)).copied().collect();
    if !with.is_empty() {
        return Ok(with);
    }
    let terms = terms::find(word);
    let of_terms = |declared: &&Declared| terms.iter().any(|term| term.statistics.contains(&declared.name));
    let with: Vec<Declared> = all.iter().filter(of_terms).copied().collect();
    if !with.is_empty() {
        return Ok(with);
    }
    let error = Diagnostic::error(format!("no statistic has `{word}` in its name"));
    let hint =
        terms::hint_of_word(word).or_else(|| did_you_mean(&wanted, all.iter().map(|declared| declared.name)));
    Err(error.hint(hint.unwrap_or_else(|| "`wave-sim stats` lists all of them".to_owned())))
}

/// A listing as text: name and unit, and the meaning below.
pub fn listing(declared: &[Declared]) -> String {
    let mut text = String::new();
    for Declared { name, unit, doc } in declared {
        _ = writeln!(text, "{name} ({unit})");
        for line in wrap(doc.trim(), WIDTH) {
            _ = writeln!(text, "    {line}");
        }
    }
    text
}

/// Meaning of the name groups, in the order of [`declared`].
const GROUPS: &[(&str, &str)] = &[
    ("figure", "Figures: ratios of the counters below, for the launches of a run together."),
    ("kernel", "The launch as a whole."),
    ("core", "The cores, added up."),
    (
        "issue",
        "Issue slots. Each scheduler has `core.issue.width` of them a cycle, and each is charged to exactly one of\n\
         these uses, so that they add up to kernel.cycles × cores × schedulers × issue width. A slot that nothing\n\
         used is charged to the first reason below `squashed` that any of the scheduler's waves has.",
    ),
    ("l1", "The L1 caches, added up."),
    ("interconnect", "The network between cores and L2 slices."),
    ("l2", "The L2 slices, added up."),
    ("l3", "The banks of the L3, added up; zeros on a machine without one."),
    ("dram", "The memory channels, added up."),
];

/// The manual of all statistics, `docs/statistics.md`.
pub fn manual() -> String {
    let mut text = INTRODUCTION.to_owned();
    let all = declared();
    for (group, doc) in GROUPS {
        _ = write!(text, "\n## `{group}`\n\n{doc}\n\n| name | unit | meaning |\n|---|---|---|\n");
        for Declared { name, unit, doc } in &all {
            if let Some((before, after)) = name.split_once('.')
                && before == *group
            {
                _ = writeln!(text, "| `{after}` | {unit} | {} |", doc.trim());
            }
        }
    }
    text
}

const INTRODUCTION: &str = "\
# Statistics

<!-- Written by `UPDATE=1 cargo test --test cli`; do not edit. -->

What `wave-sim --stats` and `--format json` report, and `wave-sim stats` lists. Each is declared once, beside the code
that counts it. A name is its group, a point, and the name in the group's table: `core.fetches`. Counters are those of
one launch, or of all launches of a run added up.
";
