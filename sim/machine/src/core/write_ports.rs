//! Register write ports.

use crate::clock::{Cycle, NEVER};
use wave_capture::Capture;

/// Most rows of an execution unit's result (an f64 pair, a 64-lane ballot).
pub(crate) const MAX_RESULT_ROWS: usize = 2;

/// Write ports of one scheduler's register file: which banks are written in each of the coming cycles.
///
/// A unit's latency is fixed, so the ports of a result are reserved when its instruction leaves the collector
/// (X3). Loads use free ports (W2).
#[derive(Debug, Clone, Capture)]
pub(crate) struct WritePorts {
    /// Indexed by cycle modulo the length: the cycle that the entry describes, and the banks written in it as
    /// bits.
    #[fixed]
    reserved: Vec<(Cycle, u32)>,
    #[spec]
    mask: u64,
    #[spec]
    ports: u32,
}

impl WritePorts {
    /// `ports` write ports; reservations reach less than `horizon` cycles ahead. `horizon` is a power of two.
    pub(crate) fn new(ports: u32, horizon: usize) -> WritePorts {
        WritePorts { reserved: vec![(NEVER, 0); horizon], mask: horizon as u64 - 1, ports }
    }

    /// True if a row of this bank can be written in that cycle.
    #[inline]
    pub(crate) fn free(&self, cycle: Cycle, bank: u32) -> bool {
        self.with(cycle, bank).is_some()
    }

    /// The banks that are written in a cycle if this one is too; `None` if it cannot.
    #[inline]
    fn with(&self, cycle: Cycle, bank: u32) -> Option<u32> {
        let (about, reserved) = self.reserved[(cycle & self.mask) as usize];
        let taken = if about == cycle { reserved } else { 0 };
        let is_free = taken == 0 || taken >> bank & 1 == 0 && taken.count_ones() < self.ports;
        is_free.then_some(taken | 1 << bank)
    }

    /// Reserves a port for each row of a result and its bank, for the first row in the cycle `first`, for each other one
    /// cycle later. If one is taken, reserves none and returns false.
    #[inline]
    pub(crate) fn book<const ROWS: usize>(&mut self, banks: [u32; ROWS], first: Cycle) -> bool {
        let mut entries = [(0, 0); ROWS];
        for (row, (entry, bank)) in entries.iter_mut().zip(banks).enumerate() {
            let cycle = first + row as Cycle;
            let Some(taken) = self.with(cycle, bank) else { return false };
            *entry = (cycle, taken);
        }
        for entry in entries {
            self.reserved[(entry.0 & self.mask) as usize] = entry;
        }
        true
    }
}
