//! The layout of a generated program: reserved registers and regions of memory.

use super::Tree;
use serde::{Deserialize, Serialize};

/// Number of registers that a tree reserves, from [`Tree::reserved`] on.
pub(crate) const RESERVED: u8 = 6 + COUNTERS;
/// Number of loop counters among them.
pub(super) const COUNTERS: u8 = 6;

/// The reserved registers in order. The loop counters follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reserved {
    /// 0
    Zero,
    /// 1
    One,
    /// 4 × the thread's index in the workgroup
    Slot,
    /// Device address of the lane's own bytes
    OwnDevice,
    /// Local address of the lane's own bytes
    OwnLocal,
    /// Device address of the workgroup's bytes
    Workgroup,
}

/// A region of memory with its rule of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Region {
    /// Device memory, read-only.
    Input,
    /// Device memory of the lane.
    OwnDevice,
    /// Local memory of the lane.
    OwnLocal,
    /// Device memory of the workgroup: one word per thread.
    ExchangeDevice,
    /// The lane's word in it.
    SlotDevice,
    /// Local memory: one word per thread.
    ExchangeLocal,
    /// The lane's word in it.
    SlotLocal,
    /// Device memory: words for atomics of all lanes, at device or system scope.
    AtomicsDevice,
    /// Device memory of the workgroup: words for atomics at workgroup scope.
    AtomicsWorkgroup,
    /// Local memory: words for atomics of the workgroup.
    AtomicsLocal,
    /// Address 0 plus the offset, whatever is there.
    Anywhere,
}

/// Bytes of the input region.
pub(crate) const INPUT_BYTES: u32 = 2048;
/// Bytes of its own that a lane accesses in device memory and in local memory.
pub(crate) const OWN_BYTES: u32 = 80;
/// Distance between the lanes' bytes in local memory.
const OWN_LOCAL_STRIDE: u32 = 84;
/// Words of one kind of atomic. The kinds are in the order add, min, max, and, or, xor.
pub(crate) const ATOMIC_WORDS: u32 = 16;
const ATOMIC_BYTES: u32 = 6 * ATOMIC_WORDS * 4;

/// Addresses and sizes of a tree's memory.
pub(super) struct Layout {
    /// Address of the first byte of device memory.
    first: u32,
    /// Address of the first workgroup's bytes in device memory.
    workgroups: u32,
    /// Bytes of a workgroup in device memory: one word per thread, then words for atomics.
    pub workgroup_bytes: u32,
    /// Address of the first lane's bytes in device memory.
    own: u32,
    /// Bytes of the exchange words: one word per thread, rounded up to a power of two.
    pub exchange_bytes: u32,
    /// Bytes of local memory: words for atomics, words for exchange, then the lanes' own bytes.
    pub local_bytes: u32,
    /// Bytes of device memory. Its last word is the last lane's checksum.
    pub device_bytes: u32,
}

impl Layout {
    /// The layout for a tree's grid and workgroup.
    pub(super) fn of(tree: &Tree) -> Layout {
        let threads = tree.threads();
        let groups: u32 = tree.grid.iter().product();
        // At least the 16 bytes of the widest load.
        let exchange_bytes = 4 * threads.next_power_of_two().max(4);
        let workgroups = tree.first + INPUT_BYTES + ATOMIC_BYTES;
        let workgroup_bytes = exchange_bytes + ATOMIC_BYTES;
        let own = workgroups + groups * workgroup_bytes;
        Layout {
            first: tree.first,
            workgroups,
            workgroup_bytes,
            own,
            exchange_bytes,
            local_bytes: ATOMIC_BYTES + exchange_bytes + threads * OWN_LOCAL_STRIDE,
            device_bytes: own - tree.first + groups * threads * tree.own_bytes,
        }
    }

    /// A constant and registers whose sum is the region's first address.
    pub(super) fn base(&self, region: Region) -> (u32, &'static [Reserved]) {
        use Reserved::*;
        match region {
            Region::AtomicsLocal | Region::Anywhere => (0, &[]),
            Region::Input => (self.first, &[]),
            Region::AtomicsDevice => (self.first + INPUT_BYTES, &[]),
            Region::OwnDevice => (0, &[OwnDevice]),
            Region::OwnLocal => (0, &[OwnLocal]),
            Region::ExchangeDevice => (0, &[Workgroup]),
            Region::SlotDevice => (0, &[Workgroup, Slot]),
            Region::AtomicsWorkgroup => (self.exchange_bytes, &[Workgroup]),
            Region::ExchangeLocal => (ATOMIC_BYTES, &[]),
            Region::SlotLocal => (ATOMIC_BYTES, &[Slot]),
        }
    }

    /// (first address, stride) of the lanes' device memory, the workgroups' device memory and the lanes'
    /// local memory.
    pub(super) fn strides(&self, tree: &Tree) -> [(u32, u32); 3] {
        [
            (self.own, tree.own_bytes),
            (self.workgroups, self.workgroup_bytes),
            (ATOMIC_BYTES + self.exchange_bytes, OWN_LOCAL_STRIDE),
        ]
    }
}
