//! What one stage of the core leaves for a later one. The instruction buffers are in the waves, the operand collectors
//! in the schedulers, the groups on their way to the decoder in [`Fetch`](super::fetch::Fetch), and the queues of the
//! load/store unit in [`Lsu`](super::lsu::Lsu).

use super::collector::Looks;
use super::dispatch::Accesses;
use super::execute::UnitTiming;
use super::resolve::IssueToResolve;
use super::straight::Straight;
use super::wave::{Slot, SlotMask};
use super::writeback::Completions;
use crate::clock::Cycle;
use std::collections::VecDeque;
use wave_capture::Capture;
use wave_isa::ExecClass;

/// The latches between the stages of a core.
#[derive(Debug, Capture)]
pub(crate) struct Latches {
    /// Issue to fetch and issue: (end, slot) of the running shadows, in order of their end.
    pub shadows: VecDeque<(Cycle, Slot)>,
    /// Issue and retirement to the first stage of the next cycle.
    pub issue_to_resolve: IssueToResolve,
    /// Issue to operand read: when that stage next completes the reads of an instruction or decides about one that was
    /// kept back.
    pub issue_to_operands: Looks,
    /// Issue to dispatch: instructions that are settled at issue and only occupy a collector.
    pub issue_to_dispatch: Straight,
    /// Operand read to dispatch: when that stage next has to look at the collectors that are not settled.
    pub operands_to_dispatch: Looks,
    /// Operand read to dispatch: what waits for the load/store unit.
    pub operands_to_lsu: Accesses,
    /// Operand read to dispatch. Bit s: scheduler s frees a settled collector in the next dispatch stage.
    pub settled_to_dispatch: u32,
    /// Operand read to dispatch: wave slots of which a matrix multiplication is settled and leaves in the next dispatch
    /// stage.
    pub fragments_to_dispatch: SlotMask,
    /// Dispatch to write-back: instructions in the execution units.
    pub execute_to_write_back: Completions,
}

impl Latches {
    /// Empty latches of a core with so many schedulers and wave slots.
    pub(super) fn new(
        schedulers: usize,
        slots: usize,
        units: &[UnitTiming; ExecClass::ALL.len()],
    ) -> Latches {
        Latches {
            shadows: VecDeque::with_capacity(slots),
            issue_to_resolve: IssueToResolve::default(),
            issue_to_operands: Looks::new(schedulers),
            issue_to_dispatch: Straight::default(),
            operands_to_dispatch: Looks::new(schedulers),
            operands_to_lsu: Accesses::new(),
            settled_to_dispatch: 0,
            fragments_to_dispatch: 0,
            execute_to_write_back: Completions::new(UnitTiming::horizon(units)),
        }
    }
}
