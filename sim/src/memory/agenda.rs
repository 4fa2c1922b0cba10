//! Which blocks have something to do in a cycle, so that a cycle costs as much as what happens in it.

use crate::clock::{Cycle, NEVER};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A set of small numbers.
#[derive(Debug, Clone)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// The empty set of numbers below `size`.
    pub fn new(size: usize) -> BitSet {
        BitSet { words: vec![0; size.div_ceil(64)] }
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, i: usize) {
        self.words[i / 64] |= 1 << (i % 64);
    }

    /// Takes a number out.
    #[inline]
    pub fn remove(&mut self, i: usize) {
        self.words[i / 64] &= !(1 << (i % 64));
    }

    /// True if the number is in the set.
    #[inline]
    pub fn contains(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// True if there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Takes the lowest number.
    #[inline]
    pub fn pop(&mut self) -> Option<usize> {
        let (w, word) = self.words.iter_mut().enumerate().find(|(_, word)| **word != 0)?;
        let bit = word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(w * 64 + bit)
    }

    /// The lowest number that is at least `from`, else the lowest of all: a round-robin choice.
    #[inline]
    pub fn next_from(&self, from: usize) -> Option<usize> {
        let first = from / 64;
        let in_word = |w: usize, word: u64| (word != 0).then(|| w * 64 + word.trailing_zeros() as usize);
        if let Some(&word) = self.words.get(first)
            && let Some(i) = in_word(first, word & (!0 << (from % 64)))
        {
            return Some(i);
        }
        let later = (first + 1..self.words.len()).find_map(|w| in_word(w, self.words[w]));
        later.or_else(|| (0..self.words.len()).find_map(|w| in_word(w, self.words[w])))
    }
}

/// Cycles ahead that an [`Agenda`] holds by cycle; what is further ahead is in a heap.
const RING: usize = 64;

/// When each block of one kind is to be simulated next. A block that is simulated without need does
/// nothing, so being early is harmless; each works out its next cycle again whenever it is simulated.
#[derive(Debug, Clone)]
pub struct Agenda {
    cycle: Cycle,
    due: BitSet,
    soon: BitSet,
    planned: Vec<Cycle>,
    /// Blocks planned for the next cycles, by cycle mod [`RING`]. Void where `planned` says otherwise by now.
    near: Vec<BitSet>,
    /// Entries of `near` that are not empty, as bits.
    occupied: u64,
    later: BinaryHeap<Reverse<(Cycle, u32)>>,
}

impl Agenda {
    /// An agenda of `blocks` blocks with nothing to do.
    pub fn new(blocks: usize) -> Agenda {
        Agenda {
            cycle: 0,
            due: BitSet::new(blocks),
            soon: BitSet::new(blocks),
            planned: vec![NEVER; blocks],
            near: vec![BitSet::new(blocks); RING],
            occupied: 0,
            later: BinaryHeap::with_capacity(blocks),
        }
    }

    /// Starts a cycle: what was planned for it, or before it, is due.
    #[inline]
    pub fn begin(&mut self, now: Cycle) {
        let before = std::mem::replace(&mut self.cycle, now);
        std::mem::swap(&mut self.due, &mut self.soon);
        if self.occupied != 0 {
            self.take_near(before, now);
        }
        while let Some(&Reverse((at, block))) = self.later.peek()
            && at <= now
        {
            self.later.pop();
            self.take_planned(block as usize, at);
        }
    }

    /// Takes what was planned for the cycles after `before` up to `now`.
    #[inline]
    fn take_near(&mut self, before: Cycle, now: Cycle) {
        let first = (before + 1) % RING as u64;
        let cycles = now - before;
        let passed = if cycles >= RING as u64 { u64::MAX } else { (1 << cycles) - 1 };
        let mut entries = self.occupied & passed.rotate_left(first as u32);
        self.occupied &= !entries;
        while entries != 0 {
            let entry = entries.trailing_zeros() as usize;
            entries &= entries - 1;
            // The cycle after `before` that the entry is about.
            let at = before + 1 + (entry as u64).wrapping_sub(before + 1) % RING as u64;
            while let Some(block) = self.near[entry].pop() {
                self.take_planned(block, at);
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

    /// Makes every block due.
    pub fn begin_all(&mut self, now: Cycle) {
        self.begin(now);
        (0..self.planned.len()).for_each(|block| self.due.insert(block));
    }

    /// A block is to be simulated in this cycle; only before its kind has had its turn.
    #[inline]
    pub fn now(&mut self, block: usize) {
        self.due.insert(block);
    }

    /// A block is to be simulated in the next cycle.
    #[inline]
    pub fn soon(&mut self, block: usize) {
        self.soon.insert(block);
    }

    /// A block is to be simulated in a cycle after this one.
    #[inline]
    pub fn at(&mut self, block: usize, cycle: Cycle) {
        if cycle <= self.cycle + 1 {
            self.soon.insert(block);
        } else if cycle < self.planned[block] {
            self.planned[block] = cycle;
            if cycle - self.cycle < RING as u64 {
                let entry = cycle as usize % RING;
                self.near[entry].insert(block);
                self.occupied |= 1 << entry;
            } else {
                self.later.push(Reverse((cycle, block as u32)));
            }
        }
    }

    /// Takes the next block that is due in this cycle, lowest first.
    #[inline]
    pub fn take_due(&mut self) -> Option<usize> {
        self.due.pop()
    }

    /// The next cycle in which a block is due, or could be.
    #[inline]
    pub fn next(&self) -> Cycle {
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
        let mut agenda = Agenda::new(4);
        agenda.begin(10);
        agenda.at(1, 20);
        agenda.at(1, 15);
        agenda.at(2, 11);
        assert_eq!(agenda.next(), 11);
        agenda.begin(11);
        assert_eq!((agenda.take_due(), agenda.take_due()), (Some(2), None));
        assert_eq!(agenda.next(), 15);
        agenda.begin(15);
        assert_eq!((agenda.take_due(), agenda.take_due()), (Some(1), None));
        // The later plan was replaced by the earlier one; the block has to plan again.
        agenda.begin(20);
        assert_eq!((agenda.take_due(), agenda.next()), (None, NEVER));
    }
}
