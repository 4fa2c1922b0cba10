//! Snapshots of a run: dense near the present, thinner the farther away.

use wave_machine::clock::Cycle;
use wave_machine::gpu::SharedSnapshot;

/// A snapshot and the launch that runs in it.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) cycle: Cycle,
    /// Number of the launch; the number of launches once all have ended.
    pub(super) launch: usize,
    pub(super) snapshot: SharedSnapshot,
}

/// Snapshots in the order of cycles, of at most so many bytes. The first one always stays.
#[derive(Debug)]
pub(super) struct Ring {
    kept: Vec<Kept>,
    /// Bytes that they take without the pages that they share.
    apart: usize,
    most_bytes: usize,
}

impl Ring {
    pub(super) fn new(most_bytes: usize) -> Ring {
        Ring { kept: Vec::new(), apart: 0, most_bytes }
    }

    /// The last snapshot of this cycle or before.
    pub(super) fn before(&self, cycle: Cycle) -> Option<&Kept> {
        self.kept[..self.kept.partition_point(|kept| kept.cycle <= cycle)].last()
    }

    /// True if there is one of this cycle.
    pub(super) fn has(&self, cycle: Cycle) -> bool {
        self.before(cycle).is_some_and(|kept| kept.cycle == cycle)
    }

    /// Number and bytes of the snapshots.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.kept.len(), self.bytes())
    }

    fn bytes(&self) -> usize {
        self.apart + self.kept.first().map_or(0, |kept| kept.snapshot.page_bytes())
    }

    /// Keeps a snapshot. Those that matter least, seen from it, make room.
    pub(super) fn insert(&mut self, kept: Kept) {
        let present = kept.cycle;
        let at = self.kept.partition_point(|other| other.cycle < present);
        self.apart += kept.snapshot.bytes();
        self.kept.insert(at, kept);
        while self.bytes() > self.most_bytes
            && let Some(least) = self.least(present)
        {
            self.apart -= self.kept.remove(least).snapshot.bytes();
        }
    }

    /// The snapshot whose removal leaves the smallest gap in proportion to its distance from the present: so gaps grow
    /// with the distance. Not the first one, and not that of the present.
    fn least(&self, present: Cycle) -> Option<usize> {
        let gap = |&at: &usize| {
            let cycle = self.kept[at].cycle;
            let next = self.kept.get(at + 1).map_or(2 * cycle - self.kept[at - 1].cycle, |next| next.cycle);
            (next - self.kept[at - 1].cycle) as f64 / (present.abs_diff(cycle) as f64 + 1.0)
        };
        let all = (1..self.kept.len()).filter(|&at| self.kept[at].cycle != present);
        all.min_by(|a, b| gap(a).total_cmp(&gap(b)))
    }
}
