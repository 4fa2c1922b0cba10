//! Instructions that nothing can hold up: all of their way through their unit is settled when they issue.
//!
//! Where no older instruction for a unit is held up in its scheduler, one leaves its collector in the cycle after its last row is
//! read, and whether its unit and its write ports are free then depends only on what leaves before it. What issues later reads its
//! operands two cycles after this issue at the earliest: so of an instruction that has read them until then everything is known.
//! Its unit, its ports, its values and the cycle in which it retires are settled at once; what remains is what others see of it:
//! its wave waits until its operands are read, and until the cycle after that it has a collector.
//!
//! Watched runs and those that visit every cycle let each stage find out by itself, and so test what is said here.

use super::Scheduler;
use super::collector::{Collector, Waiting};
use super::wave::{Slot, SlotMask};
use crate::clock::Cycle;

/// Cycles from issue to the last read of an operand, at most.
pub const READ_WITHIN: Cycle = 2;

/// What the next cycles do, by cycle modulo their number.
const AHEAD: usize = 4;

/// Bits of a scheduler's number of instructions: three cycles bring three at most.
const COUNT_BITS: usize = 4;

/// Some instructions of each scheduler.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    /// How many, [`COUNT_BITS`] bits for each scheduler.
    counts: u64,
    /// Schedulers that have some, as bits.
    schedulers: u32,
}

/// The instructions of a core that nothing can hold up, while they have a collector.
#[derive(Debug, Clone, Default)]
pub struct Straight {
    /// Of each scheduler, how many have a collector; as in [`Counts`].
    present: u64,
    /// Those that read their last row in a cycle, and the slots of their waves.
    reads: [(Counts, SlotMask); AHEAD],
    /// Those that have read their operands and leave in the next cycle.
    leaving: Counts,
}

/// The last instructions of a scheduler that nothing could hold up, the latest first: their age and the cycle of the last read.
pub type Recent = [(u64, Cycle); READ_WITHIN as usize + 1];

impl Straight {
    /// An instruction issues whose last row is read in the cycle `read`.
    #[inline]
    pub fn issue(&mut self, scheduler: usize, slot: Slot, read: Cycle) {
        let one = 1 << (scheduler * COUNT_BITS);
        self.present += one;
        let (counts, slots) = &mut self.reads[read as usize % AHEAD];
        counts.counts += one;
        counts.schedulers |= 1 << scheduler;
        *slots |= 1 << slot;
    }

    /// How many collectors of a scheduler they have.
    #[inline]
    pub fn collectors(&self, scheduler: usize) -> usize {
        (self.present >> (scheduler * COUNT_BITS)) as usize % (1 << COUNT_BITS)
    }

    /// The dispatch stage: schedulers of which some leave their collectors, as bits.
    #[inline]
    pub fn leave(&mut self) -> u32 {
        let Counts { counts, schedulers } = std::mem::take(&mut self.leaving);
        self.present -= counts;
        schedulers
    }

    /// The operand read stage: schedulers of which some read their last row, as bits, and the slots of the waves.
    #[inline]
    pub fn read(&mut self, now: Cycle) -> (u32, SlotMask) {
        let (counts, slots) = std::mem::take(&mut self.reads[now as usize % AHEAD]);
        self.leaving = counts;
        (counts.schedulers, slots)
    }

    /// True if none has a collector.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.present == 0
    }
}

/// What the oldest collector of a scheduler waits for; `straight` are the collectors of [`Straight`].
pub(super) fn oldest_waits(scheduler: &Scheduler, straight: usize, now: Cycle) -> Option<Waiting> {
    let first: Option<&Collector> = scheduler.collectors.oldest();
    let waiting = first.map(|c| c.waiting);
    let Some(&(age, read)) = straight.checked_sub(1).map(|i| &scheduler.recent[i]) else { return waiting };
    if first.is_some_and(|first| first.age < age) {
        return waiting;
    }
    Some(if read > now { Waiting::Banks(read) } else { Waiting::Unit(read + 1) })
}
