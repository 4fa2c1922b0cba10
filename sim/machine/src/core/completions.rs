//! The latch between dispatch and write-back: the instructions in the execution units until they retire.

use super::slot::InFlight;
use crate::clock::{Cycle, NEVER};
use wave_capture::{Capture, Misfit};

/// Instructions in the execution units: a timing wheel indexed by the cycle of their last row.
///
/// Their results are in the register file already, which no one can observe: until an instruction retires,
/// the scoreboard blocks all later readers and writers of its destinations, and all earlier instructions have
/// read their operands.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(crate) struct Completions {
    #[fixed]
    wheel: Vec<Vec<InFlight>>,
    #[fixed]
    occupied: Vec<u64>,
    #[spec]
    mask: u64,
}

impl Completions {
    /// A wheel of `horizon` cycles: a power of two, at least 64.
    pub(crate) fn new(horizon: usize) -> Completions {
        Completions {
            wheel: vec![Vec::with_capacity(4); horizon],
            occupied: vec![0; horizon / 64],
            mask: horizon as u64 - 1,
        }
    }

    fn sound(&self) -> Result<(), Misfit> {
        let is_occupied = |at: usize| self.occupied[at / 64] >> (at % 64) & 1 != 0;
        let mut lists = self.wheel.iter().enumerate();
        Misfit::agrees(lists.all(|(at, list)| is_occupied(at) != list.is_empty()), "occupied")
    }

    /// All instructions, in no particular order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &InFlight> {
        self.wheel.iter().flatten()
    }

    /// Schedules a retirement in `cycle`, less than the horizon ahead.
    #[inline]
    pub(crate) fn schedule(&mut self, cycle: Cycle, retired: InFlight) {
        let at = (cycle & self.mask) as usize;
        self.wheel[at].push(retired);
        self.occupied[at / 64] |= 1 << (at % 64);
    }

    /// Takes the instructions that retire in this cycle. Give the list back with [`Completions::recycle`].
    #[inline]
    pub(crate) fn due(&mut self, now: Cycle) -> Option<Vec<InFlight>> {
        let at = (now & self.mask) as usize;
        if self.occupied[at / 64] >> (at % 64) & 1 == 0 {
            return None;
        }
        self.occupied[at / 64] &= !(1 << (at % 64));
        Some(std::mem::take(&mut self.wheel[at]))
    }

    /// Gives back the storage of a list from [`Completions::due`].
    #[inline]
    pub(crate) fn recycle(&mut self, now: Cycle, mut list: Vec<InFlight>) {
        list.clear();
        self.wheel[(now & self.mask) as usize] = list;
    }

    /// Instructions and the cycles in which they retire, in no particular order. `now` is the next cycle.
    pub(crate) fn iter(&self, now: Cycle) -> impl Iterator<Item = (Cycle, &InFlight)> {
        let ahead =
            (now..now + self.mask + 1).map(|cycle| (cycle, &self.wheel[(cycle & self.mask) as usize]));
        ahead.flat_map(|(cycle, list)| list.iter().map(move |it| (cycle, it)))
    }

    /// The first cycle after `now` in which something retires, or [`NEVER`].
    pub(crate) fn next_due(&self, now: Cycle) -> Cycle {
        let horizon = self.mask + 1;
        let mut ahead = 1;
        while ahead < horizon {
            let at = ((now + ahead) & self.mask) as usize;
            let rest = self.occupied[at / 64] >> (at % 64);
            if rest != 0 {
                let hit = ahead + u64::from(rest.trailing_zeros());
                return if hit < horizon { now + hit } else { NEVER };
            }
            ahead += 64 - (at % 64) as u64;
        }
        NEVER
    }
}
