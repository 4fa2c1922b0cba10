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

/// When each block of one kind is to be simulated next. A block that is simulated without need does
/// nothing, so being early is harmless; each works out its next cycle again whenever it is simulated.
#[derive(Debug, Clone)]
pub struct Agenda {
    cycle: Cycle,
    due: BitSet,
    soon: BitSet,
    planned: Vec<Cycle>,
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
            later: BinaryHeap::with_capacity(4 * blocks),
        }
    }

    /// Starts a cycle: what was planned for it, or before it, is due.
    #[inline]
    pub fn begin(&mut self, now: Cycle) {
        self.cycle = now;
        std::mem::swap(&mut self.due, &mut self.soon);
        while let Some(&Reverse((at, block))) = self.later.peek()
            && at <= now
        {
            self.later.pop();
            let planned = &mut self.planned[block as usize];
            if *planned == at {
                *planned = NEVER;
                self.due.insert(block as usize);
            }
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
            self.later.push(Reverse((cycle, block as u32)));
        }
    }

    /// Takes the next block that is due in this cycle, lowest first.
    #[inline]
    pub fn take_due(&mut self) -> Option<usize> {
        self.due.pop()
    }

    /// The next cycle in which a block is due.
    #[inline]
    pub fn next(&self) -> Cycle {
        if !self.soon.is_empty() {
            return self.cycle + 1;
        }
        self.later.peek().map_or(NEVER, |Reverse((at, _))| *at)
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
