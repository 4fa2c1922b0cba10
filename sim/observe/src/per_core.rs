//! Logs of single cores: the threads that run the cores write them, and an observer reads them in the order of cycles.
//!
//! What is made from them is therefore the same whatever the number of threads, and however many cycles a core runs by
//! itself.

use std::sync::{Mutex, MutexGuard, PoisonError};
use wave_machine::clock::Cycle;

/// Bytes of all logs at which they are read. Waking a reading thread takes time, and so does overflowing the caches.
const ALL: usize = 1 << 20;
/// Least such size of one log.
const LEAST: usize = 1 << 12;

/// Bytes of one log from which on all should be read, on a machine of so many cores.
pub(crate) fn most(cores: u32) -> usize {
    (ALL / cores.max(1) as usize).max(LEAST)
}

/// Locks a log. A thread that panicked while it held the log ends the run anyway.
pub(crate) fn lock<T: ?Sized>(log: &Mutex<T>) -> MutexGuard<'_, T> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where to read next: the cycle, the core, and the place of the entry in the log of that core.
pub(crate) type Place = (Cycle, u32, usize);

/// The places of all entries in the order of cycles; in a cycle, in the order of cores. `logs` has the cycles of each
/// core's entries, which ascend.
pub(crate) fn in_order<L: IntoIterator<Item = Cycle>>(logs: impl IntoIterator<Item = L>) -> Vec<Place> {
    let of_core = |(core, log): (usize, L)| {
        log.into_iter().enumerate().map(move |(entry, cycle)| (cycle, core as u32, entry))
    };
    let mut places: Vec<Place> = logs.into_iter().enumerate().flat_map(of_core).collect();
    // Each log is a sorted run, and a stable sort merges such runs.
    places.sort();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_by_cycle_and_then_by_core() {
        let places = in_order([vec![3, 3, 7], vec![], vec![1, 3, 9]]);
        assert_eq!(places, [(1, 2, 0), (3, 0, 0), (3, 0, 1), (3, 2, 1), (7, 0, 2), (9, 2, 2)]);
    }
}
