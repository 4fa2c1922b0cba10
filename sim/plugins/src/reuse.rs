//! Reuse distances: R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger, "Evaluation techniques for storage hierarchies",
//! IBM Systems Journal, 1970.
//!
//! The distance of an access is the number of other lines that its core has accessed since it accessed the line before. A
//! fully associative LRU cache of n lines hits where the distance is below n, so one run gives the hits of all sizes.

use std::fmt::Write;
use wave_capture::Capture;
use wave_sim::plugin::{Event, EventKind, LineAccess, ObserverSetup, Registry, RunObserver, Wants};

/// Registers it as `reuse`.
pub(crate) fn register(registry: &mut Registry) {
    registry
        .observer("reuse", Reuse::new)
        .doc("Reuse distances of the lines that the cores access (LRU stack distances, 1970).")
        .parameter("lines", 1024, 1..=65_536, "lines", "Lines of a core that are remembered: distances below this number are known.")
        .counter("accesses", "accesses", "Accesses that the L1s have taken.")
        .counter("near", "accesses", "Accesses whose distance is below `lines`: hits of a fully associative LRU cache of so many lines in each core.");
}

#[derive(Debug, Capture)]
struct Reuse {
    #[spec]
    lines: usize,
    /// Lines of each core, the one accessed last at the end.
    #[fixed]
    stacks: Vec<Vec<u64>>,
    /// Accesses by distance: 0, 1, 2 and 3, 4 to 7, and so on.
    #[fixed]
    histogram: Vec<u64>,
    accesses: u64,
    near: u64,
}

impl Reuse {
    fn new(setup: &ObserverSetup) -> Reuse {
        let lines = setup.parameter("lines") as usize;
        Reuse {
            lines,
            stacks: vec![Vec::new(); setup.cores as usize],
            histogram: vec![0; class_of(lines) + 1],
            accesses: 0,
            near: 0,
        }
    }

    fn accesses(&mut self, access: &LineAccess<'_>) {
        let counted = access.counted;
        // An access that the L1 refuses comes again.
        if counted.loads + counted.stores + counted.atomics + counted.remote_atomics == 0 {
            return;
        }
        self.accesses += 1;
        let stack = &mut self.stacks[access.core as usize];
        match stack.iter().rposition(|&line| line == access.access.line) {
            Some(place) => {
                let distance = stack.len() - 1 - place;
                self.near += 1;
                self.histogram[class_of(distance)] += 1;
                stack[place..].rotate_left(1);
            }
            None => {
                if stack.len() == self.lines {
                    stack.remove(0);
                }
                stack.push(access.access.line);
            }
        }
    }
}

/// The class of a distance: its number of bits.
fn class_of(distance: usize) -> usize {
    (usize::BITS - distance.leading_zeros()) as usize
}

impl RunObserver for Reuse {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::LineAccess])
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::LineAccess(access) = event {
            self.accesses(access);
        }
    }

    fn counters(&self) -> Vec<u64> {
        vec![self.accesses, self.near]
    }

    fn text(&self) -> Option<String> {
        let mut text = "distance_from,distance_to,accesses\n".to_owned();
        for (class, count) in self.histogram.iter().enumerate() {
            let from = if class == 0 { 0 } else { 1 << (class - 1) };
            let to = ((1_usize << class) - 1).min(self.lines - 1);
            if from <= to {
                _ = writeln!(text, "{from},{to},{count}");
            }
        }
        _ = writeln!(text, "{},,{}", self.lines, self.accesses - self.near);
        Some(text)
    }
}
