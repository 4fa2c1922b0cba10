//! What a core is made from: parameters of the configuration and of the launch, which the simulation only reads.

use super::CoreLaunch;
use super::execute::UnitTiming;
use super::wave::SlotMask;
use super::workgroup::Shape;
use crate::alu::HostVectors;
use crate::clock::Cycle;
use crate::config::{Config, IssuePolicy};
use wave_isa::ExecClass;

/// The specification of a core.
#[derive(Debug)]
pub(crate) struct Spec {
    /// Index of the core.
    pub index: u32,
    /// Index of the kernel, for faults.
    pub kernel: usize,
    /// Workgroup shape.
    pub shape: Shape,
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
    /// Registers of a wave.
    pub rows_per_wave: usize,
    /// Wave slots that have registers.
    pub usable_slots: SlotMask,
    /// Cycles in which nothing can happen are skipped.
    pub skip_idle: bool,
    /// Instructions may be settled before their stages come.
    pub settles_early: bool,
}

impl Spec {
    /// The specification of the core with this index.
    pub(super) fn new(config: &Config, index: u32, launch: &CoreLaunch) -> Spec {
        let c = &config.core;
        let usable = launch.slots_per_scheduler * c.schedulers;
        Spec {
            index,
            kernel: launch.kernel,
            shape: launch.shape.clone(),
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
            rows_per_wave: launch.shape.launch.registers as usize,
            usable_slots: u64::MAX >> (64 - usable.min(c.max_waves)),
            skip_idle: true,
            settles_early: !launch.keeps_journal,
        }
    }
}
