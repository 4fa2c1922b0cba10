//! What can limit a kernel, in words: what it is called, and what it means.

use wave_isa::ExecClass;
use wave_machine::config::Config;
use wave_machine::stats::SlotUse;

/// A cause of lost cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Too few issue slots.
    IssueSlots,
    /// Instructions that issue with no active lane.
    Squashed,
    /// Register bank conflicts and free collectors.
    Operands,
    /// A busy execution unit, by its index in the configuration.
    Unit(usize),
    /// Register write ports.
    WritePorts,
    /// Latency of instructions of a class.
    Results(ExecClass),
    /// Local memory: latency and bank conflicts.
    Local,
    /// A load/store unit that accepts no more device accesses.
    LoadStore,
    /// L1 hit latency.
    L1,
    /// Interconnect.
    Interconnect,
    /// L2.
    L2,
    /// L3.
    L3,
    /// Memory channels and devices.
    Dram,
    /// Shadows of control instructions.
    Branch,
    /// Empty instruction buffers.
    Fetch,
    /// Waves waiting for others of their workgroup.
    Barrier,
    /// Waves that already issued in the cycle, or are outside the active set of `two_level`.
    WaveLimit,
    /// Releases at the ends of launches.
    Release,
}

impl Cause {
    /// Its name.
    pub fn name(self, config: &Config) -> String {
        match self {
            Cause::IssueSlots => "issue slots".into(),
            Cause::Squashed => "squashed instructions".into(),
            Cause::Operands => "operand read".into(),
            Cause::Unit(unit) => format!("unit {}", config.core.units[unit].name),
            Cause::WritePorts => "register write ports".into(),
            Cause::Results(class) => format!("latency of {}", class.name()),
            Cause::Local => "local memory".into(),
            Cause::LoadStore => "load/store unit".into(),
            Cause::L1 => "L1".into(),
            Cause::Interconnect => "interconnect".into(),
            Cause::L2 => "L2".into(),
            Cause::L3 => "L3".into(),
            Cause::Dram => "DRAM".into(),
            Cause::Branch => "branch shadow".into(),
            Cause::Fetch => "fetch".into(),
            Cause::Barrier => "barriers".into(),
            Cause::WaveLimit => "wave limit".into(),
            Cause::Release => "release at the end".into(),
        }
    }

    /// The use that most of its issue slots are charged to.
    pub fn slot_use(self) -> SlotUse {
        match self {
            Cause::IssueSlots => SlotUse::Issued,
            Cause::Squashed => SlotUse::Squashed,
            Cause::Operands => SlotUse::Operand,
            Cause::Unit(_) | Cause::WritePorts => SlotUse::Unit,
            Cause::Results(_) => SlotUse::Scoreboard,
            Cause::LoadStore => SlotUse::Lsu,
            Cause::Local | Cause::L1 | Cause::Interconnect | Cause::L2 | Cause::L3 | Cause::Dram => {
                SlotUse::Memory
            }
            Cause::Branch => SlotUse::Branch,
            Cause::Fetch => SlotUse::Fetch,
            Cause::Barrier => SlotUse::Barrier,
            Cause::WaveLimit => SlotUse::WaveLimit,
            Cause::Release => SlotUse::Release,
        }
    }

    /// What it means, for somebody who has not met it.
    pub fn meaning(self) -> &'static str {
        match self {
            Cause::IssueSlots => "waves were ready, and another one had the issue slot",
            Cause::Squashed => {
                "instructions went through the pipeline with no lane active, because of divergence"
            }
            Cause::Operands => "instructions waited for register banks, or for a free operand collector",
            Cause::Unit(_) => {
                "instructions had their operands and waited for this execution unit, which was busy"
            }
            Cause::WritePorts => "results waited for a port into the register file",
            Cause::Results(_) => {
                "the next instruction needed the result of one of this class, and no other wave could issue"
            }
            Cause::Local => "waves waited for values from local memory, or for its banks",
            Cause::LoadStore => {
                "device accesses waited because earlier ones were still in the load/store unit"
            }
            Cause::L1 => "waves waited for loads as they passed through the first-level cache",
            Cause::Interconnect => "waves waited while requests and replies travelled between core and L2",
            Cause::L2 => "waves waited for the second-level cache",
            Cause::L3 => "waves waited for the third-level cache",
            Cause::Dram => "waves waited for device memory itself",
            Cause::Branch => "waves could not issue behind a control instruction",
            Cause::Fetch => "waves had no decoded instruction",
            Cause::Barrier => "waves waited at a barrier for others of their workgroup",
            Cause::WaveLimit => {
                "the waves that could issue were not in the active set, or had issued already"
            }
            Cause::Release => {
                "the kernel had ended, and the next one could not start before what it wrote was visible"
            }
        }
    }
}
