//! Where a generated program keeps what: reserved registers and regions of memory.

use super::Tree;

/// Registers that a tree reserves, from [`Tree::reserved`] on.
pub const RESERVED: u8 = 6 + COUNTERS;
/// Loop counters among them.
pub const COUNTERS: u8 = 6;

/// The reserved registers, in order; the loop counters follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
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

/// A part of memory with one rule of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Region {
    /// Device; only read.
    Input,
    /// Device; the lane's own.
    OwnDevice,
    /// Local; the lane's own.
    OwnLocal,
    /// Device, of the workgroup: one word a thread.
    ExchangeDevice,
    /// The lane's word of it.
    SlotDevice,
    /// Local: one word a thread.
    ExchangeLocal,
    /// The lane's word of it.
    SlotLocal,
    /// Device: words for atomics of all lanes, at device or system scope.
    AtomicsDevice,
    /// Device, of the workgroup: words for atomics at workgroup scope.
    AtomicsWorkgroup,
    /// Local: words for atomics of the workgroup.
    AtomicsLocal,
    /// Address 0 plus the offset, wherever that is.
    Anywhere,
}

/// Bytes of the input region.
pub const INPUT_BYTES: u32 = 2048;
/// Bytes of its own that a lane reaches in device and in local memory.
pub const OWN_BYTES: u32 = 80;
/// Bytes from lane to lane in local memory.
const OWN_LOCAL_STRIDE: u32 = 84;
/// Words of one kind of atomic; add, min, max, and, or, xor lie one after the other.
pub const ATOMIC_WORDS: u32 = 16;
const ATOMIC_BYTES: u32 = 6 * ATOMIC_WORDS * 4;

/// Addresses and sizes of a tree's memory.
pub struct Layout {
    /// First workgroup's bytes in device memory.
    workgroups: u32,
    /// Bytes of a workgroup there: one word a thread, then words for atomics.
    pub workgroup_bytes: u32,
    /// First lane's bytes in device memory.
    own: u32,
    /// One word a thread, up to a power of two.
    pub exchange_bytes: u32,
    /// Words for atomics, then words for exchange, then the lanes' own bytes.
    pub local_bytes: u32,
    /// All of device memory.
    pub device_bytes: u32,
}

impl Layout {
    /// The layout for a tree's grid and workgroup.
    pub fn of(tree: &Tree) -> Layout {
        let threads = tree.threads();
        let groups: u32 = tree.grid.iter().product();
        // At least the 16 bytes of the widest load.
        let exchange_bytes = 4 * threads.next_power_of_two().max(4);
        let workgroups = INPUT_BYTES + ATOMIC_BYTES;
        let workgroup_bytes = exchange_bytes + ATOMIC_BYTES;
        let own = workgroups + groups * workgroup_bytes;
        Layout {
            workgroups,
            workgroup_bytes,
            own,
            exchange_bytes,
            local_bytes: ATOMIC_BYTES + exchange_bytes + threads * OWN_LOCAL_STRIDE,
            device_bytes: (own + groups * threads * tree.own_bytes).next_multiple_of(256),
        }
    }

    /// Constant and registers whose sum is the region's first address.
    pub fn base(&self, region: Region) -> (u32, &'static [Reserved]) {
        use Reserved::*;
        match region {
            Region::Input | Region::AtomicsLocal | Region::Anywhere => (0, &[]),
            Region::AtomicsDevice => (INPUT_BYTES, &[]),
            Region::OwnDevice => (0, &[OwnDevice]),
            Region::OwnLocal => (0, &[OwnLocal]),
            Region::ExchangeDevice => (0, &[Workgroup]),
            Region::SlotDevice => (0, &[Workgroup, Slot]),
            Region::AtomicsWorkgroup => (self.exchange_bytes, &[Workgroup]),
            Region::ExchangeLocal => (ATOMIC_BYTES, &[]),
            Region::SlotLocal => (ATOMIC_BYTES, &[Slot]),
        }
    }

    /// (first address, bytes from one to the next) of the lanes' own device memory, the workgroups'
    /// device memory and the lanes' own local memory.
    pub fn strides(&self, tree: &Tree) -> [(u32, u32); 3] {
        [
            (self.own, tree.own_bytes),
            (self.workgroups, self.workgroup_bytes),
            (ATOMIC_BYTES + self.exchange_bytes, OWN_LOCAL_STRIDE),
        ]
    }
}
