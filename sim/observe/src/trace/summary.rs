//! Summary of a trace: counts, waves, time in each stage, stalls by reason and by instruction.

use super::record::{Launched, Record, Stage, Wait};
use super::text::instruction;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use wave_machine::clock::Cycle;

/// Rows of the table of stalled instructions.
const SHOWN: usize = 10;

/// One launch of a trace.
#[derive(Debug, Default)]
pub struct Summary {
    records: u64,
    squashed: u64,
    lanes: u64,
    cycles: Option<(Cycle, Cycle)>,
    waves: HashSet<([u32; 3], u32)>,
    /// Per step: the instructions that took it, and the sum of their cycles.
    steps: [(u64, Cycle); STEPS.len()],
    stalls: BTreeMap<Wait, Cycle>,
    /// By pc: the instruction, its retirements, its stalled cycles.
    hot: BTreeMap<u32, (String, u64, Cycle)>,
}

/// Steps from one stage to another; `None` is retirement.
const STEPS: [(&str, Stage, Option<Stage>); 5] = [
    ("fetch to decode", Stage::Fetch, Some(Stage::Decode)),
    ("decode to issue", Stage::Decode, Some(Stage::Issue)),
    ("issue to operands", Stage::Issue, Some(Stage::Operands)),
    ("operands to execute", Stage::Operands, Some(Stage::Execute)),
    ("execute to retire", Stage::Execute, None),
];

impl Summary {
    /// Adds a record.
    pub fn add(&mut self, record: &Record) {
        self.records += 1;
        self.squashed += u64::from(record.effective == 0);
        self.lanes += u64::from(record.effective.count_ones());
        let (first, last) = self.cycles.unwrap_or((record.cycle, record.cycle));
        self.cycles = Some((first.min(record.cycle), last.max(record.cycle)));
        self.waves.insert((record.workgroup, record.wave));
        for ((count, cycles), (_, from, to)) in self.steps.iter_mut().zip(STEPS) {
            let (from, to) = (record.stage(from), to.map_or(record.cycle, |stage| record.stage(stage)));
            // A cycle of 0 means that the record lacks the stage.
            if from != 0 && to >= from {
                *count += 1;
                *cycles += to - from;
            }
        }
        let mut stalled = 0;
        for stall in &record.stalls {
            *self.stalls.entry(stall.reason).or_default() += stall.to - stall.from;
            stalled += stall.to - stall.from;
        }
        let (_, retired, cycles) = self.hot.entry(record.pc).or_insert_with(|| (instruction(record), 0, 0));
        *retired += 1;
        *cycles += stalled;
    }

    /// The summary as text.
    pub fn text(&self, launch: &Launched) -> String {
        let mut text = String::new();
        let [x, y, z] = launch.grid;
        let [a, b, c] = launch.workgroup;
        _ = writeln!(
            text,
            "launch `{}` ({:016x}) grid {x},{y},{z} workgroup {a},{b},{c} from cycle {}",
            launch.kernel, launch.kernel_hash, launch.start
        );
        let Some((first, last)) = self.cycles else {
            return text + "  no records\n";
        };
        let executed = (self.records - self.squashed).max(1);
        _ = writeln!(
            text,
            "  records      {} of {} waves, {} squashed",
            self.records,
            self.waves.len(),
            self.squashed
        );
        _ = writeln!(text, "  retirement   from cycle {first} to {last}");
        _ = writeln!(text, "  lanes        {:.1} take part on average", self.lanes as f64 / executed as f64);
        _ = writeln!(text, "  stages       cycles on average");
        for ((count, cycles), (name, ..)) in self.steps.iter().zip(STEPS) {
            if *count > 0 {
                let mean = *cycles as f64 / *count as f64;
                _ = writeln!(text, "    {name:<20} {mean:>10.1}  of {count} instructions");
            }
        }
        let total: Cycle = self.stalls.values().sum();
        if total > 0 {
            _ = writeln!(text, "  stalls       {total} wave cycles");
            let mut reasons: Vec<_> = self.stalls.iter().collect();
            reasons.sort_by_key(|&(_, cycles)| std::cmp::Reverse(cycles));
            for (reason, cycles) in reasons {
                let share = 100.0 * *cycles as f64 / total as f64;
                _ = writeln!(text, "    {:<20} {cycles:>10}  {share:.1} %", reason.name());
            }
            _ = writeln!(text, "  waited most  wave cycles, times retired");
            let mut hot: Vec<_> = self.hot.iter().collect();
            hot.sort_by_key(|(_, (_, _, cycles))| std::cmp::Reverse(*cycles));
            for (pc, (instruction, retired, cycles)) in hot.into_iter().take(SHOWN) {
                _ = writeln!(text, "    0x{pc:04x} {cycles:>12} {retired:>8}  {instruction}");
            }
        }
        text
    }
}
