//! Device memory that a program allocates.

use std::collections::BTreeMap;

/// Allocations begin at multiples of so many bytes, as CUDA promises.
pub(super) const ALIGNMENT_BYTES: u64 = 256;

/// The first address that is given away. Below it is no address of a program, which Linux reserves too: memory that host and
/// device share has the same address on both sides.
const FIRST: u64 = 1 << 16;

/// The allocations of a device memory.
#[derive(Debug)]
pub(super) struct Allocator {
    end: u64,
    /// Bytes of each allocation, by its address.
    taken: BTreeMap<u64, u64>,
}

impl Allocator {
    /// An allocator for a device memory of so many bytes.
    pub(super) fn new(bytes: u64) -> Allocator {
        Allocator { end: bytes, taken: BTreeMap::new() }
    }

    /// Allocates at the lowest address where there is room.
    pub(super) fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.max(1).checked_next_multiple_of(ALIGNMENT_BYTES)?;
        let mut at = FIRST;
        for (&address, &taken) in &self.taken {
            if address - at >= bytes {
                break;
            }
            at = address + taken;
        }
        if at.checked_add(bytes)? > self.end {
            return None;
        }
        self.taken.insert(at, bytes);
        Some(at)
    }

    /// Gives an allocation back; false if none begins there.
    pub(super) fn release(&mut self, address: u64) -> bool {
        self.taken.remove(&address).is_some()
    }

    /// Bytes that are free.
    pub(super) fn free(&self) -> u64 {
        self.end.saturating_sub(FIRST).saturating_sub(self.taken.values().sum())
    }

    /// The end of the last allocation.
    pub(super) fn used(&self) -> u64 {
        self.taken.last_key_value().map_or(FIRST, |(address, bytes)| address + bytes)
    }

    /// True if all these bytes are inside of one allocation.
    pub(super) fn contains(&self, address: u64, bytes: u64) -> bool {
        let before = self.taken.range(..=address).next_back();
        before
            .is_some_and(|(start, taken)| address.checked_add(bytes).is_some_and(|end| end <= start + taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_used_again_and_nothing_overlaps() {
        let mut memory = Allocator::new(FIRST + 4 * ALIGNMENT_BYTES);
        let all = [1, ALIGNMENT_BYTES, 2 * ALIGNMENT_BYTES].map(|bytes| memory.allocate(bytes));
        assert_eq!(all, [0, 1, 2].map(|n| Some(FIRST + n * ALIGNMENT_BYTES)));
        assert_eq!((memory.allocate(1), memory.free()), (None, 0));
        assert!(memory.release(FIRST + ALIGNMENT_BYTES) && !memory.release(FIRST + ALIGNMENT_BYTES));
        assert_eq!((memory.free(), memory.used()), (ALIGNMENT_BYTES, FIRST + 4 * ALIGNMENT_BYTES));
        assert_eq!(memory.allocate(2 * ALIGNMENT_BYTES), None);
        assert_eq!(memory.allocate(3), Some(FIRST + ALIGNMENT_BYTES));
        assert!(
            memory.contains(FIRST + 1, ALIGNMENT_BYTES - 1) && !memory.contains(FIRST + 1, ALIGNMENT_BYTES)
        );
        assert!(!memory.contains(0, 1) && !memory.contains(FIRST, u64::MAX));
        assert_eq!(memory.allocate(u64::MAX), None);
    }
}
