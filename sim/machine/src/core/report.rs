//! Where each wave of a core is and what it waits for, for the report of a run without progress.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;
use wave_isa::table::Space;

/// Locations reported for a wave, of each kind.
const KEPT: usize = 4;

/// One wave that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaveReport {
    /// Core.
    pub core: u32,
    /// Wave slot.
    pub slot: usize,
    /// Workgroup.
    pub workgroup: [u32; 3],
    /// Wave of the workgroup.
    pub wave: u32,
    /// Active lanes.
    pub active: u64,
    /// Byte offset in the code section of the instruction at which it waits.
    pub pc: u32,
    /// What it waits for.
    pub waits_for: WaitsFor,
}

/// What a wave waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitsFor {
    /// Instructions in flight, this many; all lanes have halted.
    Flights(u64),
    /// A barrier that these waves of its workgroup have not reached.
    Barrier(Vec<u32>),
    /// Its operands.
    Operands,
    /// Its next instruction.
    Fetch,
    /// Accesses of the wave and acknowledgements of its core's stores.
    Accesses {
        /// Accesses of the wave that are not performed.
        own: u64,
        /// Stores of the core that the L2 has not acknowledged.
        stores: u64,
    },
    /// A register or predicate.
    Result {
        /// A load or atomic will write it.
        memory: bool,
    },
    /// Its turn to issue.
    Turn,
}

/// A location in device memory, or in the local memory of a workgroup.
pub type Location = (Space, u32);

/// What a wave did in the cycles after the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpinReport {
    /// Core.
    pub core: u32,
    /// Wave slot.
    pub slot: usize,
    /// True if it issued some instruction more than once.
    pub again: bool,
    /// Words of the kernel, from the first one issued to the last.
    pub words: RangeInclusive<u32>,
    /// Locations that it read, atomics included: the first few by address.
    pub reads: Vec<Location>,
    /// Locations that it wrote: the first few by address.
    pub writes: Vec<Location>,
}

impl SpinReport {
    /// The first few of a set of (local, address).
    pub fn locations(set: BTreeSet<(bool, u32)>) -> Vec<Location> {
        let space = |local| if local { Space::Local } else { Space::Device };
        set.into_iter().take(KEPT).map(|(local, address)| (space(local), address)).collect()
    }
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitsFor::Flights(count) => {
                write!(f, "its {count} instructions in flight; its lanes have halted")
            }
            WaitsFor::Barrier(missing) => {
                let missing: Vec<String> = missing.iter().map(u32::to_string).collect();
                write!(f, "a barrier that wave {} of its workgroup has not reached", missing.join(", "))
            }
            WaitsFor::Operands => f.write_str("its operands"),
            WaitsFor::Fetch => f.write_str("its next instruction to be fetched"),
            WaitsFor::Accesses { own, stores } => {
                write!(f, "{own} accesses of its own and {stores} acknowledgements of its core's stores")
            }
            WaitsFor::Result { memory: true } => {
                f.write_str("a register or predicate that a load or atomic has not written")
            }
            WaitsFor::Result { memory: false } => {
                f.write_str("a register or predicate that an execution unit has not written")
            }
            WaitsFor::Turn => f.write_str("its turn to issue"),
        }
    }
}
