//! Stride prefetching by pc and wave: J. W. C. Fu, J. H. Patel, B. L. Janssens, "Stride Directed Prefetching in Scalar
//! Processors", MICRO 1992; by wave as in J. Lee et al., "Many-Thread Aware Prefetching Mechanisms for GPGPU
//! Applications", MICRO 2010.
//!
//! Each load of each wave has an entry with its last line and the distance to the one before. Once the same distance
//! has come twice, the lines that lie ahead are requested.

use std::collections::BTreeMap;
use wave_capture::Capture;
use wave_sim::plugin::{CacheSetup, L1Event, L1EventKind, Prefetcher, ReferenceKind, Registry};

/// Registers it as `stride`.
pub(crate) fn register(registry: &mut Registry) {
    registry
        .prefetcher("stride", Stride::new)
        .doc("The lines ahead of a load that goes on by equal steps (MICRO 1992, by wave as in MICRO 2010).")
        .parameter("degree", 2, 1..=16, "lines", "Lines that are requested at once.")
        .parameter(
            "distance",
            1,
            1..=64,
            "steps",
            "Steps from the line that is accessed to the first that is requested.",
        )
        .parameter("entries", 256, 1..=65_536, "entries", "Pairs of a load and a wave that are remembered.")
        .counter("steps", "accesses", "Accesses that were an equal step after the one before.")
        .counter("late", "lines", "Lines that came too late for the access that they were meant for.");
}

/// Where a load of a wave was last.
#[derive(Debug, Clone, Copy, Default, Capture)]
struct Entry {
    line: u64,
    step: i64,
    /// The step has come this often in a row.
    times: u8,
    /// Number of the access that used the entry last.
    used: u64,
}

#[derive(Debug, Capture)]
struct Stride {
    #[spec]
    degree: i64,
    #[spec]
    distance: i64,
    #[spec]
    most: usize,
    /// By wave slot and word of the kernel.
    entries: BTreeMap<(u64, u32), Entry>,
    accesses: u64,
    steps: u64,
    late: u64,
}

impl Stride {
    fn new(setup: &CacheSetup) -> Stride {
        Stride {
            degree: setup.parameter("degree") as i64,
            distance: setup.parameter("distance") as i64,
            most: setup.parameter("entries") as usize,
            entries: BTreeMap::new(),
            accesses: 0,
            steps: 0,
            late: 0,
        }
    }
}

impl Prefetcher for Stride {
    fn observe(&mut self, event: &L1Event, lines: &mut Vec<u64>) {
        let by = event.reference.by;
        let (Some(slot), Some(word)) = (by.slot(), by.word()) else { return };
        if event.reference.kind != ReferenceKind::Load || !matches!(event.kind, L1EventKind::Access(_)) {
            return;
        }
        self.accesses += 1;
        let key = (slot as u64, word);
        if !self.entries.contains_key(&key) && self.entries.len() == self.most {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(&key, _)| key);
            oldest.map(|key| self.entries.remove(&key));
        }
        let line = event.reference.line;
        let entry = self.entries.entry(key).or_insert(Entry { line, ..Entry::default() });
        let step = line as i64 - entry.line as i64;
        entry.used = self.accesses;
        if step == 0 {
            return;
        }
        entry.times = if step == entry.step { entry.times.saturating_add(1) } else { 0 };
        (entry.line, entry.step) = (line, step);
        if entry.times > 0 {
            self.steps += 1;
            let ahead = (self.distance..self.distance + self.degree).map(|steps| line as i64 + steps * step);
            lines.extend(ahead.filter(|&address| address >= 0).map(|address| address as u64));
        }
    }

    fn settled(&mut self, _: u64, _: bool, is_late: bool) {
        self.late += u64::from(is_late);
    }

    fn counters(&self) -> Vec<u64> {
        vec![self.steps, self.late]
    }
}
