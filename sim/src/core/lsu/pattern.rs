//! How the addresses of a wave lie to one another: what most accesses look like is served as a whole, and what they do
//! is the same as lane by lane.

use crate::isa::table::{AccessKind, MemoryOp};
use std::ops::{Range, RangeInclusive};

/// The addresses of the lanes that take part in an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Every lane of the wave loads or stores an aligned word, or two or four of them, those behind those of the lane
    /// before it.
    Consecutive {
        /// Address of lane 0.
        first: u32,
    },
    /// Every lane of the wave loads from one address.
    Uniform {
        /// That address.
        address: u32,
    },
    /// Anything else.
    Scattered,
}

impl Pattern {
    /// The pattern of an access with these addresses, one a lane of the wave.
    pub fn of(memory: MemoryOp, mask: u64, addresses: &[u32]) -> Pattern {
        let (lanes, first) = (addresses.len(), addresses[0]);
        if mask != u64::MAX >> (64 - lanes) {
            return Pattern::Scattered;
        }
        // Both without a branch in the loop, so that it works on several lanes at a time.
        if memory.bytes >= 4 && matches!(memory.kind, AccessKind::Load | AccessKind::Store) {
            let bytes = u32::from(memory.bytes);
            let expected = (0..lanes as u32).map(|lane| first.wrapping_add(bytes * lane));
            let differ = addresses.iter().zip(expected).fold(0, |differ, (a, b)| differ | (a ^ b));
            if differ | (first & (bytes - 1)) == 0 && first.checked_add(bytes * lanes as u32).is_some() {
                return Pattern::Consecutive { first };
            }
        }
        if memory.kind == AccessKind::Load
            && addresses.iter().fold(0, |differ, address| differ | (address ^ first)) == 0
        {
            return Pattern::Uniform { address: first };
        }
        Pattern::Scattered
    }

    /// The first and last byte that is accessed; `None` if that says nothing of the bytes between.
    pub fn span(self, memory: MemoryOp, lanes: usize) -> Option<RangeInclusive<u64>> {
        let (start, bytes) = match self {
            Pattern::Consecutive { first } => (first, u64::from(memory.bytes) * lanes as u64),
            Pattern::Uniform { address } => (address, u64::from(memory.bytes)),
            Pattern::Scattered => return None,
        };
        Some(u64::from(start)..=u64::from(start) + bytes - 1)
    }
}

/// Values of some lanes that lie side by side in memory, each of so many words, and the rows of a wave that they belong to:
/// word k of a lane is in row k.
#[derive(Debug, Clone)]
pub struct Side {
    /// Words of each value.
    pub words: usize,
    /// Lanes of a row.
    pub width: usize,
    /// The lanes that are meant.
    pub lanes: Range<usize>,
}

impl Side {
    /// Copies the values out of memory into the rows.
    pub fn copy_from(&self, memory: &[u8], rows: &mut [u32]) {
        let (words, _) = memory.as_chunks();
        for (k, row) in rows.chunks_exact_mut(self.width).enumerate().take(self.words) {
            for (value, &word) in
                row[self.lanes.clone()].iter_mut().zip(words[k..].iter().step_by(self.words))
            {
                *value = u32::from_le_bytes(word);
            }
        }
    }

    /// Copies them from the rows into memory.
    pub fn copy_to(&self, rows: &[u32], memory: &mut [u8]) {
        let (words, _) = memory.as_chunks_mut();
        for (k, row) in rows.chunks_exact(self.width).enumerate().take(self.words) {
            for (word, value) in words[k..].iter_mut().step_by(self.words).zip(&row[self.lanes.clone()]) {
                *word = value.to_le_bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Op;

    #[test]
    fn patterns_are_of_whole_waves() {
        let (load, store) = (Op::DeviceLoadU32.memory().unwrap(), Op::DeviceStoreU32.memory().unwrap());
        let row: [u32; 8] = std::array::from_fn(|lane| 0x104 + 4 * lane as u32);
        let first = 0x104;
        assert_eq!(Pattern::of(load, 0xFF, &row), Pattern::Consecutive { first });
        assert_eq!(Pattern::of(store, 0xFF, &row), Pattern::Consecutive { first });
        assert_eq!(Pattern::of(load, 0x7F, &row), Pattern::Scattered, "a lane is missing");
        assert_eq!(Pattern::of(Op::DeviceLoadU8.memory().unwrap(), 0xFF, &row), Pattern::Scattered);
        let mut other = row;
        other[7] += 4;
        assert_eq!(Pattern::of(load, 0xFF, &other), Pattern::Scattered);
        assert_eq!(Pattern::of(load, 0xFF, &row.map(|a| a + 1)), Pattern::Scattered, "not aligned");
        let wraps: [u32; 8] = std::array::from_fn(|lane| (4 * lane as u32).wrapping_sub(16));
        assert_eq!(Pattern::of(load, 0xFF, &wraps), Pattern::Scattered, "past the last address");
        assert_eq!(Pattern::of(load, 0xFF, &[9; 8]), Pattern::Uniform { address: 9 });
        assert_eq!(Pattern::of(store, 0xFF, &[9; 8]), Pattern::Scattered, "the highest lane wins");
        let (wide, first) = (Op::DeviceLoadU128.memory().unwrap(), 0x110);
        let wide_row: [u32; 8] = std::array::from_fn(|lane| first + 16 * lane as u32);
        assert_eq!(Pattern::of(wide, 0xFF, &wide_row), Pattern::Consecutive { first });
        assert_eq!(Pattern::of(wide, 0xFF, &wide_row.map(|a| a + 4)), Pattern::Scattered, "not aligned");
        assert_eq!(Pattern::of(wide, 0xFF, &row), Pattern::Scattered);
    }
}
