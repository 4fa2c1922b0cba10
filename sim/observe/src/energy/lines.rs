//! Energy of a run by instruction.

use super::model::{Activity, Block, Energy, Model};
use crate::limits::profile::{Line, Profile};
use wave_isa::program::Program;
use wave_machine::config::Config;
use wave_machine::core::uop::{Kind, MicroOps};
use wave_machine::memory::L1Counters;
use wave_machine::stats::SlotUse;

/// Energy of an instruction, over all its instances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineEnergy {
    /// Index of the kernel in the program.
    pub kernel: usize,
    /// Word of the kernel.
    pub word: u32,
    /// What it costs in the core, in joules.
    pub core_joules: f64,
    /// Its part of what the memory side costs, in joules.
    pub memory_joules: f64,
}

impl LineEnergy {
    /// The sum, in joules.
    pub fn joules(&self) -> f64 {
        self.core_joules + self.memory_joules
    }
}

/// Energy of a run by instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// Instructions that cost something, in the order of the code.
    pub lines: Vec<LineEnergy>,
    /// What no instruction is charged with, in joules: leakage, standby and refresh of memory, instruction fetch, what
    /// releases write.
    pub rest_joules: f64,
    /// What is counted of all instructions.
    pub counted: Activity,
}

impl Lines {
    /// Charges the energy of a run or a part of it, of which `total` was counted, to its instructions.
    ///
    /// An instruction is charged with what it does in the core. What the memory side costs is shared among them in
    /// proportion to the sectors that they request from the L2, and the stores and atomics that leave the L1.
    pub fn of(
        model: &Model,
        (config, program): (&Config, &Program),
        total: &Activity,
        profiles: &[Profile],
    ) -> Lines {
        let mut lines = Vec::new();
        let mut weights = Vec::new();
        let mut counted = Activity::default();
        for (number, (kernel, profile)) in program.kernels.iter().zip(profiles).enumerate() {
            let ops = MicroOps::decode(program, kernel, config.core.max_registers, config);
            for (word, line) in (0..ops.end()).zip(&profile.lines) {
                let activity = activity(line, &ops, word);
                if activity == Activity::default() {
                    continue;
                }
                counted.core += &activity.core;
                counted.l1 += &activity.l1;
                let core_joules = model.energy(&activity).total_joules();
                lines.push(LineEnergy { kernel: number, word, core_joules, memory_joules: 0.0 });
                weights.push(leaving(&line.l1));
            }
        }
        let all: u64 = weights.iter().sum();
        let memory = memory_side(model, total);
        if all > 0 {
            for (line, weight) in lines.iter_mut().zip(weights) {
                line.memory_joules = memory * weight as f64 / all as f64;
            }
        }
        let charged: f64 = lines.iter().map(LineEnergy::joules).sum();
        Lines { lines, rest_joules: model.energy(total).total_joules() - charged, counted }
    }

    /// The instructions that cost most, dearest first; of equal ones the first.
    pub fn dearest(&self) -> Vec<LineEnergy> {
        let mut lines = self.lines.clone();
        lines.sort_by(|a, b| b.joules().total_cmp(&a.joules()));
        lines
    }
}

/// What is counted of an instruction in the cores.
fn activity(line: &Line, ops: &MicroOps, word: u32) -> Activity {
    let op = ops.get(word);
    if op.kind == Kind::End {
        return Activity::default();
    }
    let mut activity = Activity { l1: line.l1, ..Activity::default() };
    activity.core.wave_instructions = line.issues();
    activity.core.squashed_instructions = line.slots[SlotUse::Squashed as usize];
    op.count_lanes(line.lanes, &mut activity.core);
    activity
}

/// Accesses and sectors of an instruction that go beyond the L1.
fn leaving(l1: &L1Counters) -> u64 {
    l1.requested_sectors + l1.uncached_loads + l1.stores + l1.remote_atomics
}

/// What happens on the memory side costs this, in joules: without what time alone costs.
fn memory_side(model: &Model, total: &Activity) -> f64 {
    let whole: Energy = model.energy(total);
    let time: Energy = model.energy(&Activity { cycles: total.cycles, ..Activity::default() });
    let refresh = {
        let mut only = Activity::default();
        only.memory.dram.refreshes = total.memory.dram.refreshes;
        model.energy(&only).block(Block::Dram)
    };
    let blocks = [Block::Interconnect, Block::L2, Block::L3, Block::Controllers, Block::Dram];
    blocks.iter().map(|&block| whole.block(block) - time.block(block)).sum::<f64>() - refresh
}
