//! Write-back: register write ports, and results on their way to them.

use super::wave::Slot;
use crate::clock::{Cycle, NEVER};

/// Write ports of one scheduler's register file: which banks are written in which of the next cycles.
///
/// A unit's result has a fixed latency, so its port is reserved when the instruction leaves its
/// collector; loads take what is left.
#[derive(Debug, Clone)]
pub struct WritePorts {
    reserved: Vec<u32>,
    mask: u64,
    ports: u32,
}

impl WritePorts {
    /// Ports for reservations less than `horizon` cycles ahead; a power of two.
    pub fn new(ports: u32, horizon: usize) -> WritePorts {
        WritePorts { reserved: vec![0; horizon], mask: horizon as u64 - 1, ports }
    }

    /// True if a row of this bank can be written in that cycle.
    #[inline]
    pub fn free(&self, cycle: Cycle, bank: u32) -> bool {
        let taken = self.reserved[(cycle & self.mask) as usize];
        taken >> bank & 1 == 0 && taken.count_ones() < self.ports
    }

    /// Takes a port.
    #[inline]
    pub fn reserve(&mut self, cycle: Cycle, bank: u32) {
        self.reserved[(cycle & self.mask) as usize] |= 1 << bank;
    }

    /// Forgets the reservations of a cycle that is over.
    #[inline]
    pub fn clear(&mut self, cycle: Cycle) {
        self.reserved[(cycle & self.mask) as usize] = 0;
    }
}

/// A result on its way from an execution unit to write-back.
#[derive(Debug, Clone, Copy)]
pub struct Pending {
    /// Wave slot.
    pub slot: Slot,
    /// Sequence number of the instruction in its wave.
    pub sequence: u64,
    /// Word of the kernel.
    pub word: u32,
    /// Lanes to write.
    pub mask: u64,
    /// Lanes whose predicate result is true.
    pub predicate: u64,
}

/// Results in flight, by the cycle in which they are written: a timing wheel.
#[derive(Debug, Clone)]
pub struct Results {
    pending: Vec<Pending>,
    values: Vec<u32>,
    row_words: usize,
    free: Vec<u16>,
    /// For each cycle of the wheel, (entry, row).
    wheel: Vec<Vec<(u16, u8)>>,
    occupied: Vec<u64>,
    mask: u64,
}

/// Destination rows of a unit's result at most (an f64 pair, a 64-lane ballot).
pub const MAX_RESULT_ROWS: usize = 2;

impl Results {
    /// A wheel of `horizon` cycles (a power of two, at least 64) for rows of `width` lanes.
    pub fn new(horizon: usize, width: usize) -> Results {
        Results {
            pending: Vec::new(),
            values: Vec::new(),
            row_words: width,
            free: Vec::new(),
            wheel: vec![Vec::with_capacity(4); horizon],
            occupied: vec![0; horizon / 64],
            mask: horizon as u64 - 1,
        }
    }

    /// Room for one more result; its values are to be filled in with [`Results::values_mut`].
    #[inline]
    pub fn insert(&mut self, pending: Pending) -> u16 {
        if let Some(entry) = self.free.pop() {
            self.pending[usize::from(entry)] = pending;
            return entry;
        }
        self.pending.push(pending);
        self.values.resize(self.values.len() + MAX_RESULT_ROWS * self.row_words, 0);
        (self.pending.len() - 1) as u16
    }

    /// The value rows of an entry.
    #[inline]
    pub fn values_mut(&mut self, entry: u16) -> &mut [u32] {
        let rows = MAX_RESULT_ROWS * self.row_words;
        &mut self.values[usize::from(entry) * rows..][..rows]
    }

    /// Sets the predicate result of an entry.
    #[inline]
    pub fn set_predicate(&mut self, entry: u16, lanes: u64) {
        self.pending[usize::from(entry)].predicate = lanes;
    }

    /// Row `row` of the entry is written in `cycle`.
    #[inline]
    pub fn schedule(&mut self, cycle: Cycle, entry: u16, row: u8) {
        let at = (cycle & self.mask) as usize;
        self.wheel[at].push((entry, row));
        self.occupied[at / 64] |= 1 << (at % 64);
    }

    /// Takes what is written in this cycle; hand the list back with [`Results::recycle`].
    #[inline]
    pub fn due(&mut self, now: Cycle) -> Option<Vec<(u16, u8)>> {
        let at = (now & self.mask) as usize;
        if self.occupied[at / 64] >> (at % 64) & 1 == 0 {
            return None;
        }
        self.occupied[at / 64] &= !(1 << (at % 64));
        Some(std::mem::take(&mut self.wheel[at]))
    }

    /// Gives back the storage of a list from [`Results::due`].
    #[inline]
    pub fn recycle(&mut self, now: Cycle, mut list: Vec<(u16, u8)>) {
        list.clear();
        self.wheel[(now & self.mask) as usize] = list;
    }

    /// The entry and the values of one of its rows.
    #[inline]
    pub fn row(&self, entry: u16, row: u8) -> (&Pending, &[u32]) {
        let start = (usize::from(entry) * MAX_RESULT_ROWS + usize::from(row)) * self.row_words;
        (&self.pending[usize::from(entry)], &self.values[start..][..self.row_words])
    }

    /// Frees an entry whose last row is written.
    #[inline]
    pub fn remove(&mut self, entry: u16) {
        self.free.push(entry);
    }

    /// The first cycle after `now` in which something is written, or [`NEVER`].
    pub fn next_due(&self, now: Cycle) -> Cycle {
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
