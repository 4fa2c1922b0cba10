//! What is counted for each region.

use super::directory::Class;
use serde::Serialize;
use std::ops::AddAssign;
use wave_machine::core::probe::SliceOutcome;
use wave_machine::memory::L1Counters;

/// Misses by class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Split {
    /// See [`Class::Compulsory`].
    pub compulsory: u64,
    /// See [`Class::Capacity`].
    pub capacity: u64,
    /// See [`Class::Conflict`].
    pub conflict: u64,
    /// See [`Class::Coherence`].
    pub coherence: u64,
}

impl Split {
    /// Misses of a class.
    pub fn of(&self, class: Class) -> u64 {
        match class {
            Class::Compulsory => self.compulsory,
            Class::Capacity => self.capacity,
            Class::Conflict => self.conflict,
            Class::Coherence => self.coherence,
        }
    }

    /// Misses of all classes.
    pub fn total(&self) -> u64 {
        Class::ALL.iter().map(|&class| self.of(class)).sum()
    }

    pub(super) fn count(&mut self, class: Class) {
        *match class {
            Class::Compulsory => &mut self.compulsory,
            Class::Capacity => &mut self.capacity,
            Class::Conflict => &mut self.conflict,
            Class::Coherence => &mut self.coherence,
        } += 1;
    }
}

impl AddAssign<&Split> for Split {
    fn add_assign(&mut self, other: &Split) {
        self.compulsory += other.compulsory;
        self.capacity += other.capacity;
        self.conflict += other.conflict;
        self.coherence += other.coherence;
    }
}

/// Outcomes of requests in the L2, as its counters of the same names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct L2Share {
    /// Hits.
    pub hits: u64,
    /// Hits on lines that were on their way.
    pub mshr_hits: u64,
    /// Misses of sectors of a line that was there.
    pub sector_misses: u64,
    /// Misses of lines.
    pub misses: u64,
}

impl L2Share {
    /// Requests that looked for a line.
    pub fn requests(&self) -> u64 {
        self.hits + self.mshr_hits + self.all_misses()
    }

    /// Misses of lines and of sectors.
    pub fn all_misses(&self) -> u64 {
        self.sector_misses + self.misses
    }

    pub(super) fn count(&mut self, outcome: SliceOutcome) {
        *match outcome {
            SliceOutcome::Hit => &mut self.hits,
            SliceOutcome::MshrHit => &mut self.mshr_hits,
            SliceOutcome::SectorMiss => &mut self.sector_misses,
            SliceOutcome::Miss => &mut self.misses,
            SliceOutcome::Release => return,
        } += 1;
    }
}

/// What a region had of the accesses of a launch or of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Wave instructions that load, by the region of their first lane.
    pub loads: u64,
    /// Wave instructions that store.
    pub stores: u64,
    /// Atomic wave instructions.
    pub atomics: u64,
    /// Bytes that lanes asked for, by the region of each lane's address.
    pub loaded_bytes: u64,
    /// Bytes that lanes stored.
    pub stored_bytes: u64,
    /// Bytes of the words that lanes gave to atomics.
    pub atomic_bytes: u64,
    /// What the accesses of lines added to the counters of the L1s.
    pub l1: L1Counters,
    /// Misses of the L1s: `sector_misses` and `misses`.
    pub l1_split: Split,
    /// Requests in the L2.
    pub l2: L2Share,
    /// Misses of the L2: `sector_misses` and `misses`.
    pub l2_split: Split,
    /// Bytes that memory channels read.
    pub dram_read_bytes: u64,
    /// Bytes that memory channels wrote.
    pub dram_written_bytes: u64,
}

impl Tally {
    /// Bytes that lanes asked for or sent.
    pub fn requested_bytes(&self) -> u64 {
        self.loaded_bytes + self.stored_bytes + self.atomic_bytes
    }

    /// Accesses of lines that the L1s took.
    pub fn l1_accesses(&self) -> u64 {
        self.l1.loads + self.l1.stores + self.l1.atomics + self.l1.remote_atomics
    }

    /// Those of them for which the L1s looked for bytes: loads and atomics that do not go on to the L2 at once.
    pub fn l1_lookups(&self) -> u64 {
        self.l1.hits + self.l1.mshr_hits + self.l1_misses()
    }

    /// Misses of lines and of sectors in the L1s.
    pub fn l1_misses(&self) -> u64 {
        self.l1.sector_misses + self.l1.misses
    }

    /// Bytes between the L2 and memory.
    pub fn dram_bytes(&self) -> u64 {
        self.dram_read_bytes + self.dram_written_bytes
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Tally::default()
    }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        self.loads += other.loads;
        self.stores += other.stores;
        self.atomics += other.atomics;
        self.loaded_bytes += other.loaded_bytes;
        self.stored_bytes += other.stored_bytes;
        self.atomic_bytes += other.atomic_bytes;
        self.l1 += &other.l1;
        self.l1_split += &other.l1_split;
        self.l2.hits += other.l2.hits;
        self.l2.mshr_hits += other.l2.mshr_hits;
        self.l2.sector_misses += other.l2.sector_misses;
        self.l2.misses += other.l2.misses;
        self.l2_split += &other.l2_split;
        self.dram_read_bytes += other.dram_read_bytes;
        self.dram_written_bytes += other.dram_written_bytes;
    }
}
