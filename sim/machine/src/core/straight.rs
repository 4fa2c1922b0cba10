//! Instructions that nothing can delay. Their dispatch, unit, write ports, result and retirement are all
//! settled when they issue.
//!
//! An instruction leaves its collector in the cycle after its last read if its unit and write ports are free
//! then. That depends only on instructions that leave before it, or in the same cycle and are older. Later
//! instructions read their operands two cycles after this issue at the earliest, so for an instruction that has
//! finished its reads by then, and before all older ones that are not settled, everything is known at issue.
//! Only what others observe remains: its wave cannot issue until the operands are read (I4), and a collector is occupied until
//! the dispatch stage after that.
//!
//! Runs that visit every cycle do not use this shortcut, nor do those with an observer that is told of stages in
//! their cycles or of what holds up an issue slot: each stage decides in its own cycle. Tests compare the two.

use super::slot::{Slot, SlotMask};
use crate::clock::Cycle;
use wave_capture::{Capture, Misfit};

/// Most cycles from issue to the last operand read.
pub(crate) const READ_WITHIN: Cycle = 2;

/// Entries of the ring of coming cycles, indexed by cycle modulo their number.
const AHEAD: usize = 4;

/// Bits of one scheduler's counter. It counts at most three instructions: one for each of three cycles.
const COUNT_BITS: usize = 4;

/// A number of instructions per scheduler.
#[derive(Debug, Clone, Copy, Default, Capture)]
struct Counts {
    /// Counters of [`COUNT_BITS`] bits, one per scheduler.
    counts: u64,
    /// Bit s: the counter of scheduler s is not 0.
    schedulers: u32,
}

/// The settled-at-issue instructions of a core that still occupy a collector.
#[derive(Debug, Clone, Default, Capture)]
#[sound]
pub(crate) struct Straight {
    /// Collectors occupied, per scheduler; packed as in [`Counts`].
    present: u64,
    /// Per coming cycle: the instructions whose last read is in it, and the slots of their waves.
    reads: [(Counts, SlotMask); AHEAD],
    /// Instructions that have read their operands and leave in the next dispatch stage.
    leaving: Counts,
}

/// The last instructions of a scheduler that were settled at issue, latest first: (age, cycle of the last
/// read).
pub(crate) type Recent = [(u64, Cycle); READ_WITHIN as usize + 1];

impl Straight {
    fn sound(&self) -> Result<(), Misfit> {
        // Each scheduler's counter is the sum of its instructions that read and that leave.
        let counter =
            |counts: u64, scheduler: usize| counts >> (scheduler * COUNT_BITS) & ((1 << COUNT_BITS) - 1);
        let schedulers = u64::BITS as usize / COUNT_BITS;
        let agrees = (0..schedulers).all(|scheduler| {
            let reads = self.reads.iter().map(|(counts, _)| counter(counts.counts, scheduler)).sum::<u64>();
            let sum = reads + counter(self.leaving.counts, scheduler);
            sum == counter(self.present, scheduler) && sum <= READ_WITHIN + 1
        });
        Misfit::agrees(agrees, "present")
    }

    /// True if it has no other schedulers and wave slots than these (bits).
    pub(super) fn is_within(&self, schedulers: u32, slots: SlotMask) -> bool {
        let within =
            |(counts, of): &(Counts, SlotMask)| counts.schedulers & !schedulers == 0 && of & !slots == 0;
        self.reads.iter().all(within) && self.leaving.schedulers & !schedulers == 0
    }

    /// Adds an instruction that issues now; its last row is read in the cycle `read`.
    #[inline]
    pub(super) fn issue(&mut self, scheduler: usize, slot: Slot, read: Cycle) {
        let one = 1 << (scheduler * COUNT_BITS);
        self.present += one;
        let (counts, slots) = &mut self.reads[read as usize % AHEAD];
        counts.counts += one;
        counts.schedulers |= 1 << scheduler;
        *slots |= 1 << slot;
    }

    /// Collectors of a scheduler that these instructions occupy.
    #[inline]
    pub(super) fn collectors(&self, scheduler: usize) -> usize {
        (self.present >> (scheduler * COUNT_BITS)) as usize % (1 << COUNT_BITS)
    }

    /// The dispatch stage: frees the collectors of the leaving instructions. Returns their schedulers as
    /// bits.
    #[inline]
    pub(super) fn leave(&mut self) -> u32 {
        let Counts { counts, schedulers } = std::mem::take(&mut self.leaving);
        self.present -= counts;
        schedulers
    }

    /// The operand read stage: returns the schedulers, as bits, and the wave slots whose instruction reads
    /// its last row.
    #[inline]
    pub(super) fn read(&mut self, now: Cycle) -> (u32, SlotMask) {
        let (counts, slots) = std::mem::take(&mut self.reads[now as usize % AHEAD]);
        self.leaving = counts;
        (counts.schedulers, slots)
    }

    /// True if no collector is occupied.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.present == 0
    }
}
