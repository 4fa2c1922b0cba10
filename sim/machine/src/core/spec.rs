//! What a core is made from: parameters of the configuration, which the simulation only reads.

use super::probe::Probe;
use super::timing::UnitTiming;
use crate::alu::{FRAGMENT_ROWS, HostVectors};
use crate::clock::Cycle;
use crate::config::{Config, IssuePolicy};
use wave_isa::{ExecClass, MMA_FRAGMENTS};

/// How a core runs the contexts that it is given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CoreRun {
    /// The first cycle.
    pub start: Cycle,
    /// Bytes of device memory.
    pub device_bytes: u64,
    /// Registers are to be read as of a cycle.
    pub keeps_journal: bool,
    /// Visits every cycle instead of skipping those in which nothing can happen.
    pub every_cycle: bool,
}

/// The specification of a core.
#[derive(Debug)]
pub(crate) struct Spec {
    /// Index of the core.
    pub index: u32,
    /// Lanes of a wave.
    pub width: usize,
    /// Issue slots of a scheduler in a cycle.
    pub issue_width: usize,
    /// Issue policy.
    pub policy: IssuePolicy,
    /// The issue policy is one of a plug-in.
    pub is_registered: bool,
    /// Size of the active set of `two_level`.
    pub two_level_active: u32,
    /// Cycles of a shadow (B1).
    pub branch_latency: Cycle,
    /// Operand collectors of a scheduler.
    pub collectors_per_scheduler: usize,
    /// Register banks of a scheduler less one. The bank count is a power of two, so this masks a bank number.
    pub bank_mask: u32,
    /// Timing by execution class.
    pub units: [UnitTiming; ExecClass::ALL.len()],
    /// Vector instructions of the host.
    pub host: HostVectors,
    /// Bytes of a line of the L1.
    pub line_bytes: u64,
    /// Cycles in which nothing can happen are skipped.
    pub skip_idle: bool,
    /// Instructions may be settled before their stages come.
    pub settles_early: bool,
}

impl Spec {
    /// The specification of the core with this index.
    pub(super) fn new(config: &Config, index: u32) -> Spec {
        let c = &config.core;
        Spec {
            index,
            width: c.wave_width as usize,
            issue_width: c.issue.width as usize,
            policy: c.issue.policy,
            is_registered: matches!(c.issue.policy, IssuePolicy::PlugIn(_)),
            two_level_active: c.issue.two_level_active,
            branch_latency: Cycle::from(c.branch_latency_cycles),
            collectors_per_scheduler: c.registers.collectors as usize,
            bank_mask: c.registers.banks - 1,
            units: UnitTiming::table(config),
            host: HostVectors::new(),
            line_bytes: u64::from(c.l1.line_bytes),
            skip_idle: true,
            settles_early: true,
        }
    }

    /// Goes on as a run asks for.
    pub(super) fn begin(&mut self, run: &CoreRun) {
        self.skip_idle = !run.every_cycle;
        self.settles_early = !run.keeps_journal && !run.every_cycle;
    }

    /// True if instructions are settled before the stages that would decide about them.
    #[inline]
    pub(super) fn settles_early<P: Probe>(&self, probe: &P) -> bool {
        probe.settles_early() && self.settles_early
    }

    /// First word of a fragment in `fragments`; kind 0 is A, 1 is B, 2 is C.
    #[inline]
    pub(super) fn fragment_at(&self, slot: usize, kind: usize, index: u8) -> usize {
        ((slot * 3 + kind) * MMA_FRAGMENTS + usize::from(index)) * FRAGMENT_ROWS * self.width
    }
}
