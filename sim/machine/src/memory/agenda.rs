//! Which blocks have something to do in a cycle, so that the cost of simulating a cycle grows with what
//! happens in it.

use crate::clock::{Cycle, NEVER, may_plan};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use wave_capture::{Capture, Misfit};

/// A set of small integers.
#[derive(Debug, Clone, Capture)]
pub(crate) struct BitSet {
    /// The first 64, enough for most kinds of blocks.
    first: u64,
    /// The others.
    #[fixed]
    more: Vec<u64>,
}

impl BitSet {
    /// The empty set of numbers below `size`.
    pub(crate) fn new(size: usize) -> BitSet {
        BitSet { first: 0, more: vec![0; size.div_ceil(64).saturating_sub(1)] }
    }

    /// Refuses numbers that are not below `size`.
    pub(crate) fn check_below(&self, size: usize, field: &str) -> Result<(), Misfit> {
        let words = std::iter::once(&self.first).chain(&self.more).enumerate();
        let rest = |w: usize| match size.saturating_sub(64 * w) {
            bits @ 0..64 => !0 << bits,
            _ => 0,
        };
        Misfit::in_range(words.into_iter().all(|(w, word)| word & rest(w) == 0), field)
    }

    /// Numbers in the set.
    pub(crate) fn count(&self) -> u32 {
        self.first.count_ones() + self.more.iter().map(|word| word.count_ones()).sum::<u32>()
    }

    #[inline]
    fn word(&mut self, i: usize) -> &mut u64 {
        if i < 64 { &mut self.first } else { &mut self.more[i / 64 - 1] }
    }

    /// Adds a number.
    #[inline]
    pub(crate) fn insert(&mut self, i: usize) {
        *self.word(i) |= 1 << (i % 64);
    }

    /// Removes a number.
    #[inline]
    pub(crate) fn remove(&mut self, i: usize) {
        *self.word(i) &= !(1 << (i % 64));
    }

    /// True if the number is in the set.
    #[inline]
    pub(crate) fn contains(&self, i: usize) -> bool {
        let word = if i < 64 { self.first } else { self.more[i / 64 - 1] };
        word >> (i % 64) & 1 == 1
    }

    /// True if the set is empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first == 0 && self.more.iter().all(|&word| word == 0)
    }

    /// Removes and returns the lowest number.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<usize> {
        self.pop_below(usize::MAX)
    }

    /// Removes and returns the lowest number if it is below `end`.
    #[inline]
    fn pop_below(&mut self, end: usize) -> Option<usize> {
        if self.first != 0 {
            let bit = self.first.trailing_zeros() as usize;
            if bit >= end {
                return None;
            }
            self.first &= self.first - 1;
            return Some(bit);
        }
        let (w, word) = self.more.iter_mut().enumerate().find(|(_, word)| **word != 0)?;
        let number = (w + 1) * 64 + word.trailing_zeros() as usize;
        if number >= end {
            return None;
        }
        *word &= *word - 1;
        Some(number)
    }

    /// The lowest number not below `from`, else the lowest of all: round-robin arbitration.
    #[inline]
    pub(crate) fn next_from(&self, from: usize) -> Option<usize> {
        let place = |w: usize, word: u64| (word != 0).then(|| w * 64 + word.trailing_zeros() as usize);
        let ahead = if from < 64 { self.first & !0 << from } else { 0 };
        if ahead != 0 || self.more.is_empty() {
            return place(0, if ahead != 0 { ahead } else { self.first });
        }
        let words = || self.more.iter().enumerate().map(|(w, &word)| (w + 1, word));
        let of_word = |w: usize, word: u64| match from / 64 {
            first if w < first => 0,
            first if w == first => word & !0 << (from % 64),
            _ => word,
        };
        let later = words().find_map(|(w, word)| place(w, of_word(w, word)));
        later.or_else(|| place(0, self.first)).or_else(|| words().find_map(|(w, word)| place(w, word)))
    }
}

/// Cycles ahead that the ring of an [`Agenda`] covers. Later ones are in a heap.
const RING: usize = 64;

/// Entries of the ring, as bits, for the cycles after `before` up to and including `now`.
#[inline]
fn entries_between(before: Cycle, now: Cycle) -> u64 {
    let cycles = now - before;
    let first = (before + 1) % RING as u64;
    if cycles >= RING as u64 { u64::MAX } else { ((1 << cycles) - 1u64).rotate_left(first as u32) }
}

/// The next cycle in which each block has to be simulated. Simulating a block without need changes nothing, so an
/// entry may be early. Each block plans its next cycle anew whenever it is simulated. Blocks are numbered in the order
/// in which they act in a cycle; those of one kind have adjacent numbers.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(crate) struct Agenda {
    cycle: Cycle,
    due: BitSet,
    soon: BitSet,
    #[fixed]
    planned: Vec<Cycle>,
    /// Of the first 64 blocks, those planned for the coming cycles, by cycle mod [`RING`]. An entry is void
    /// if `planned` holds another cycle.
    near: Box<[u64; RING]>,
    /// The same for the other blocks.
    #[fixed]
    near_more: Vec<BitSet>,
    /// Entries of `near` and `near_more` that are not empty, as bits.
    occupied: u64,
    later: BinaryHeap<Reverse<(Cycle, u32)>>,
}

impl Agenda {
    /// An agenda of blocks with nothing to do: so many of each kind. Also returns the numbers of each kind.
    pub(super) fn new<const KINDS: usize>(counts: [usize; KINDS]) -> (Agenda, [Range<usize>; KINDS]) {
        let mut blocks = 0;
        let kinds = counts.map(|count| {
            blocks += count;
            blocks - count..blocks
        });
        let agenda = Agenda {
            cycle: 0,
            due: BitSet::new(blocks),
            soon: BitSet::new(blocks),
            planned: vec![NEVER; blocks],
            near: Box::new([0; RING]),
            near_more: if blocks > 64 { vec![BitSet::new(blocks - 64); RING] } else { Vec::new() },
            occupied: 0,
            later: BinaryHeap::with_capacity(blocks),
        };
        (agenda, kinds)
    }

    fn sound(&self) -> Result<(), Misfit> {
        let blocks = self.planned.len();
        self.due.check_below(blocks, "due")?;
        self.soon.check_below(blocks, "soon")?;
        let first = u64::MAX.checked_shr(64 - blocks.min(64) as u32).unwrap_or(0);
        Misfit::in_range(self.near.iter().all(|blocks| blocks & !first == 0), "near")?;
        let mut more = self.near_more.iter();
        more.try_for_each(|set| set.check_below(blocks - 64, "near_more"))?;
        Misfit::in_range(self.later.iter().all(|Reverse((_, block))| (*block as usize) < blocks), "later")
    }

    /// Refuses plans that a state of cycle `now` cannot have.
    pub(super) fn check(&self, now: Cycle) -> Result<(), Misfit> {
        Misfit::in_range(self.cycle <= now, "cycle")?;
        Misfit::in_range(self.planned.iter().all(|&at| may_plan(now, at)), "planned")?;
        Misfit::in_range(self.later.iter().all(|Reverse((at, _))| may_plan(now, *at)), "later")
    }

    /// Starts a cycle: blocks planned for it or earlier become due, or with `everything` all.
    #[inline]
    pub(super) fn begin(&mut self, now: Cycle, everything: bool) {
        if everything {
            (0..self.planned.len()).for_each(|block| self.soon.insert(block));
        }
        let before = std::mem::replace(&mut self.cycle, now);
        let near = self.occupied & entries_between(before, now);
        if near != 0 || !self.soon.is_empty() || self.later.peek().is_some_and(|&Reverse((at, _))| at <= now)
        {
            self.take(before, now, near);
        }
    }

    /// Makes due the blocks planned for the cycles after `before` up to `now`. `near`: ring entries of these
    /// cycles.
    #[inline(never)]
    fn take(&mut self, before: Cycle, now: Cycle, near: u64) {
        std::mem::swap(&mut self.due, &mut self.soon);
        self.take_near(before, near);
        while let Some(&Reverse((at, block))) = self.later.peek()
            && at <= now
        {
            self.later.pop();
            self.take_planned(block as usize, at);
        }
    }

    /// Makes due the blocks of some ring entries, which belong to the cycles after `before`.
    #[inline]
    fn take_near(&mut self, before: Cycle, mut entries: u64) {
        self.occupied &= !entries;
        while entries != 0 {
            let entry = entries.trailing_zeros() as usize;
            entries &= entries - 1;
            // The cycle to which the entry belongs.
            let at = before + 1 + (entry as u64).wrapping_sub(before + 1) % RING as u64;
            let mut blocks = std::mem::take(&mut self.near[entry]);
            while blocks != 0 {
                self.take_planned(blocks.trailing_zeros() as usize, at);
                blocks &= blocks - 1;
            }
            while let Some(block) = self.near_more.get_mut(entry).and_then(BitSet::pop) {
                self.take_planned(64 + block, at);
            }
        }
    }

    #[inline]
    fn take_planned(&mut self, block: usize, at: Cycle) {
        let planned = &mut self.planned[block];
        if *planned == at {
            *planned = NEVER;
            self.due.insert(block);
        }
    }

    /// Plans a block for this cycle, before it has had its turn.
    #[inline]
    pub(super) fn now(&mut self, block: usize) {
        self.due.insert(block);
    }

    /// Plans a block for the next cycle.
    #[inline]
    pub(super) fn soon(&mut self, block: usize) {
        self.soon.insert(block);
    }

    /// Plans a block for a cycle after this one.
    #[inline]
    pub(super) fn at(&mut self, block: usize, cycle: Cycle) {
        if cycle <= self.cycle + 1 {
            self.soon.insert(block);
        } else if cycle < self.planned[block] {
            self.planned[block] = cycle;
            if cycle - self.cycle < RING as u64 {
                let entry = cycle as usize % RING;
                if block < 64 {
                    self.near[entry] |= 1 << block;
                } else {
                    self.near_more[entry].insert(block - 64);
                }
                self.occupied |= 1 << entry;
            } else {
                self.later.push(Reverse((cycle, block as u32)));
            }
        }
    }

    /// Takes the lowest block of a kind that is due in this cycle, as its place in the kind. The kinds before it must
    /// have had their turns.
    #[inline]
    pub(super) fn take_due(&mut self, kind: &Range<usize>) -> Option<usize> {
        self.due.pop_below(kind.end).map(|block| block - kind.start)
    }

    /// Lower bound of the next cycle in which a block is due.
    #[inline]
    pub(super) fn next(&self) -> Cycle {
        if !self.soon.is_empty() {
            return self.cycle + 1;
        }
        let later = self.later.peek().map_or(NEVER, |Reverse((at, _))| *at);
        if self.occupied == 0 {
            return later;
        }
        let ahead = self.occupied.rotate_right(((self.cycle + 1) % RING as u64) as u32).trailing_zeros();
        later.min(self.cycle + 1 + u64::from(ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_robin_wraps() {
        let mut set = BitSet::new(130);
        assert_eq!(set.next_from(129), None);
        [3, 64, 129].into_iter().for_each(|i| set.insert(i));
        let found: Vec<_> = [0, 3, 4, 64, 65, 129, 130].iter().map(|&i| set.next_from(i)).collect();
        assert_eq!(found, [3, 3, 64, 64, 129, 129, 3].map(Some));
        set.remove(3);
        assert_eq!(set.next_from(130), Some(64));
    }

    #[test]
    fn blocks_are_due_in_their_cycle_and_once() {
        let (mut agenda, [first, second]) = Agenda::new([2, 2]);
        agenda.begin(10, false);
        agenda.at(1, 20);
        agenda.at(1, 15);
        agenda.at(2, 11);
        assert_eq!(agenda.next(), 11);
        agenda.begin(11, false);
        assert_eq!((agenda.take_due(&first), agenda.take_due(&second)), (None, Some(0)));
        assert_eq!((agenda.take_due(&second), agenda.next()), (None, 15));
        agenda.begin(15, false);
        assert_eq!((agenda.take_due(&first), agenda.take_due(&second)), (Some(1), None));
        // The earlier plan replaced the later one. The block has to plan again.
        agenda.begin(20, false);
        assert_eq!((agenda.take_due(&first), agenda.take_due(&second), agenda.next()), (None, None, NEVER));
        agenda.begin(21, true);
        assert_eq!((agenda.take_due(&first), agenda.take_due(&first)), (Some(0), Some(1)));
    }
}
