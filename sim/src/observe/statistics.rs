//! Every declared statistic, with its value in a report.

use super::figures::FIGURES;
use crate::config::wrap;
use crate::gpu::KernelReport;
use crate::memory::{DramCounters, InterconnectCounters, L1Counters, L2Counters};
use crate::stats::{CoreCounters, Declared, SlotUse};
use std::fmt::Write;

/// Columns of the listing.
const WIDTH: usize = 90;

/// Cycles of a kernel, which no counter of a block has.
const CYCLES: Declared = Declared {
    name: "kernel.cycles",
    unit: "cycles",
    doc: "Cycles from the launch until the last workgroup was done and the last store acknowledged.",
};

/// The counters, in the order of reports.
pub fn counters() -> Vec<Declared> {
    let mut declared = vec![CYCLES];
    declared.extend_from_slice(CoreCounters::DECLARED);
    declared.extend(SlotUse::ALL.iter().map(|u| u.declared()));
    for block in
        [L1Counters::DECLARED, InterconnectCounters::DECLARED, L2Counters::DECLARED, DramCounters::DECLARED]
    {
        declared.extend_from_slice(block);
    }
    declared
}

/// Every counter with its value.
pub fn values(report: &KernelReport) -> Vec<(Declared, u64)> {
    let mut values = vec![report.cycles];
    values.extend(report.core.values());
    values.extend(report.slots);
    values.extend(report.l1.values());
    values.extend(report.memory.interconnect.values());
    values.extend(report.memory.l2.values());
    values.extend(report.memory.dram.values());
    counters().into_iter().zip(values).collect()
}

/// Everything that is declared: figures, then counters.
pub fn declared() -> Vec<Declared> {
    FIGURES.iter().map(|figure| figure.declared).chain(counters()).collect()
}

/// The listing for people: name and unit, and the meaning below.
pub fn listing() -> String {
    let mut text = String::new();
    for Declared { name, unit, doc } in declared() {
        _ = writeln!(text, "{name} ({unit})");
        for line in wrap(doc.trim(), WIDTH) {
            _ = writeln!(text, "    {line}");
        }
    }
    text
}
