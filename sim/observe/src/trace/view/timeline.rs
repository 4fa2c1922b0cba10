//! Events in the order of time, although records come in the order of retirement.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wave_machine::clock::Cycle;

/// Keeps events until no earlier one can come.
#[derive(Debug)]
pub(crate) struct Timeline<E> {
    events: BinaryHeap<Reverse<(Cycle, u64, E)>>,
    added: u64,
}

impl<E: Ord> Default for Timeline<E> {
    fn default() -> Timeline<E> {
        Timeline { events: BinaryHeap::new(), added: 0 }
    }
}

impl<E: Ord> Timeline<E> {
    /// Adds an event. Events of the same cycle keep the order in which they were added.
    pub(crate) fn add(&mut self, cycle: Cycle, event: E) {
        self.events.push(Reverse((cycle, self.added, event)));
        self.added += 1;
    }

    /// Takes the first event if it is before cycle `before`.
    pub(crate) fn next(&mut self, before: Cycle) -> Option<(Cycle, E)> {
        let Reverse((cycle, ..)) = self.events.peek()?;
        if *cycle >= before {
            return None;
        }
        self.events.pop().map(|Reverse((cycle, _, event))| (cycle, event))
    }
}
