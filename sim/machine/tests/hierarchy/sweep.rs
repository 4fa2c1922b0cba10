//! Changes each parameter of the hierarchy alone and checks which statistics change.

use super::machine::machine;
use super::table::{Move, SMALL, Sweep, sweeps};
use std::collections::BTreeSet;
use wave_machine::config::manual;
use wave_machine::gpu::KernelReport;
use wave_study::summary::statistics::values;

/// Configuration sections of the memory hierarchy.
const SECTIONS: [&str; 7] = ["core.l1.", "core.local.", "core.lsu.", "interconnect.", "l2.", "l3.", "dram."];

/// Statistics that only measure durations, or how often something waited or retried.
fn counts_time(name: &str, unit: &str) -> bool {
    let waiting = ["fails", "conflicts", "icache_misses", "stall"];
    let rows = name.starts_with("dram.");
    ["cycles", "issue slots", "wave cycles"].contains(&unit) && name != "core.local_passes"
        || !rows && waiting.iter().any(|word| name.contains(word))
}

/// Statistics that may trade counts when timing changes: a line may be present or still in flight, and memory
/// may open rows in another order. Their sums must stay the same.
const TRADES: [&[&str]; 4] = [
    &["l1.hits", "l1.mshr_hits"],
    &["l2.hits", "l2.mshr_hits"],
    &["l3.hits", "l3.mshr_hits"],
    &["dram.row_hits", "dram.row_empties", "dram.row_conflicts"],
];
/// Statistics that change with them.
const FOLLOW: [&str; 5] =
    ["core.fetches_discarded", "dram.activates", "dram.precharges", "core.fetches", "core.icache_hits"];

/// All statistics that differ, with their direction.
fn moved(before: &KernelReport, after: &KernelReport) -> Vec<(&'static str, &'static str, Move)> {
    let pairs = values(before).into_iter().zip(values(after));
    let moved = pairs.filter(|((_, a), (_, b))| a != b);
    moved.map(|((d, a), (_, b))| (d.name, d.unit, if b > a { Move::Up } else { Move::Down })).collect()
}

/// What is wrong with a sweep, if anything.
fn objection(sweep: &Sweep) -> Option<String> {
    let key = sweep.key.split_once("[]").map_or(sweep.key, |(list, _)| list);
    let with = |value| machine(&[SMALL, sweep.machine, &[(key, value)]]);
    let (before, memory) = sweep.work.run(&with(sweep.before));
    let (after, memory_after) = sweep.work.run(&with(sweep.after));
    let moved = moved(&before, &after);
    let mut wrong = Vec::new();
    if memory != memory_after {
        wrong.push("results".to_owned());
    }
    for &(name, expected) in sweep.moves {
        let found = moved.iter().find(|(moved, _, _)| *moved == name).map(|m| m.2);
        if expected != Move::May && (found.is_none() || expected != Move::Any && found != Some(expected)) {
            wrong.push(format!("{name} should go {expected:?}: {found:?}"));
        }
    }
    let time = |name: &str| ["kernel.cycles", "kernel.release_cycles"].contains(&name);
    let time_moves = sweep.moves.iter().any(|m| time(m.0));
    let listed = |name: &str| sweep.moves.iter().any(|m| m.0 == name);
    let sum = |report: &KernelReport, names: &[&str]| -> u64 {
        values(report).iter().filter(|(d, _)| names.contains(&d.name)).map(|(_, value)| value).sum()
    };
    let traded = |name: &str| {
        let of = TRADES.iter().find(|names| names.contains(&name));
        of.is_some_and(|names| names.iter().any(|n| listed(n)) || sum(&before, names) == sum(&after, names))
            || FOLLOW.contains(&name)
    };
    for (name, unit, way) in &moved {
        let said = listed(name) || time_moves && (counts_time(name, unit) || traded(name));
        if !said {
            wrong.push(format!("{name} goes {way:?}"));
        }
    }
    let cycles = (before.cycles, after.cycles);
    (!wrong.is_empty()).then(|| {
        format!("{} {} → {} {cycles:?}: {}\n", sweep.key, sweep.before, sweep.after, wrong.join(", "))
    })
}

#[test]
fn each_parameter_moves_what_it_should_and_nothing_else() {
    let wrong: String = sweeps().iter().filter_map(objection).collect();
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_parameter_of_the_hierarchy_is_swept() {
    // The manual has a heading per section, with a table row per parameter.
    let (manual, mut section, mut wanted) = (manual(), "", BTreeSet::new());
    for line in manual.lines() {
        if line.starts_with('#') {
            section = line.strip_prefix("### `").and_then(|rest| rest.strip_suffix('`')).unwrap_or("");
        } else if let Some((key, _)) = line.strip_prefix("| `").and_then(|rest| rest.split_once('`')) {
            let key = format!("{section}.{key}");
            wanted.extend((SECTIONS.iter().any(|s| key.starts_with(s)) && key != "dram.part").then_some(key));
        }
    }
    assert!(wanted.len() > 50, "{wanted:?}");
    let sweeps = sweeps();
    let swept: BTreeSet<String> = sweeps.iter().map(|sweep| sweep.key.to_owned()).collect();
    // The path has no other built-in choice, a chain of loads fills no queue of prefetches (`l1/prefetch_tests.rs`), and the
    // writes of one wave do not go on while a batch is drained (`dram/tests.rs`).
    for key in ["core.l1.path", "core.l1.prefetch_entries", "dram.drain_low"] {
        assert!(wanted.remove(key), "{key}");
    }
    let missing: Vec<_> = wanted.symmetric_difference(&swept).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
