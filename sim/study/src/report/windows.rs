//! Counters of a run over time, in windows of equal length. The number of windows is bounded.
//!
//! The time axis is in machine cycles. Launches follow one another, each with the release at its end, so the
//! axis ends at `kernel.cycles`. It begins at 0, or at the first cycle of the part of the run that the report
//! covers. Samples are stored as sums since the start of the run. Two windows merge by dropping the sample
//! between them, so nothing is counted twice.

use wave_machine::clock::Cycle;
use wave_machine::core::probe::{Level, Sample};
use wave_machine::gpu::KernelReport;
use wave_machine::memory::{L1Counters, MemoryCounters};
use wave_machine::stats::{CoreCounters, SlotUse};

/// Maximum number of full windows. When it is exceeded, every second edge is dropped and the windows become
/// twice as long. A shorter window at the end comes on top.
pub(crate) const MAX_WINDOWS: usize = 256;

/// Maximum distance between two samples of queue and buffer occupancy, in cycles.
const LOOK_EVERY: Cycle = 64;

/// Counters, either since the start of the run or of a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All cores.
    pub core: CoreCounters,
    /// Issue slots by use.
    pub slots: [u64; SlotUse::COUNT],
    /// All L1s.
    pub l1: L1Counters,
    /// Memory side.
    pub memory: MemoryCounters,
    /// Entries in use by level, summed over the occupancy samples.
    pub levels: [u64; Level::COUNT],
    /// Number of occupancy samples.
    pub looks: u64,
}

impl Counts {
    /// Counters of a sample. Occupancy is summed separately.
    fn of(sample: &Sample) -> Counts {
        let &Sample { core, slots, l1, memory, .. } = sample;
        Counts { core, slots, l1, memory, ..Counts::default() }
    }

    /// Difference to `before`.
    fn since(&self, before: &Counts) -> Counts {
        Counts {
            core: self.core.since(&before.core),
            slots: std::array::from_fn(|i| self.slots[i] - before.slots[i]),
            l1: self.l1.since(&before.l1),
            memory: self.memory.since(&before.memory),
            levels: std::array::from_fn(|i| self.levels[i] - before.levels[i]),
            looks: self.looks - before.looks,
        }
    }

    fn plus(mut self, other: &Counts) -> Counts {
        self.core += &other.core;
        self.slots.iter_mut().zip(other.slots).for_each(|(sum, n)| *sum += n);
        self.l1 += &other.l1;
        self.memory += &other.memory;
        self.levels.iter_mut().zip(other.levels).for_each(|(sum, n)| *sum += n);
        self.looks += other.looks;
        self
    }

    /// Mean number of entries in use at a level.
    pub fn level(&self, level: Level) -> f64 {
        self.levels[level as usize] as f64 / self.looks.max(1) as f64
    }
}

/// A window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First cycle.
    pub from: Cycle,
    /// Cycle after the last.
    pub to: Cycle,
    /// Counters of its cycles.
    pub counts: Counts,
}

/// Collects the windows of a run.
#[derive(Debug)]
pub struct Windows {
    /// Length of a window in cycles.
    interval: Cycle,
    /// Ends of windows with the counters up to there. The first edge is at 0.
    edges: Vec<(Cycle, Counts)>,
    /// Cycles and counters of the launches that are over.
    cycles: Cycle,
    before: Counts,
    /// Machine cycle at which the axis begins.
    origin: Cycle,
    /// Machine cycle in which the current launch began.
    launch: Cycle,
    /// Machine cycle from which the current launch is counted. It is later than `launch` only if the windows
    /// begin within the launch; `uncounted` then holds its counters before that cycle.
    start: Cycle,
    uncounted: Counts,
    /// Counters of the current launch up to its last sample.
    last: Counts,
    last_at: Cycle,
}

impl Windows {
    /// No windows, on an axis that begins at machine cycle `origin`.
    pub fn new(origin: Cycle) -> Windows {
        Windows {
            origin,
            launch: 0,
            uncounted: Counts::default(),
            interval: 1,
            edges: vec![(0, Counts::default())],
            cycles: 0,
            before: Counts::default(),
            start: 0,
            last: Counts::default(),
            last_at: 0,
        }
    }

    /// Windows that begin with this sample of the launch that began in cycle `launch`.
    pub fn within(launch: Cycle, sample: &Sample) -> Windows {
        let mut windows = Windows::new(sample.cycle);
        windows.start(sample.cycle);
        windows.launch = launch;
        windows.uncounted = Counts::of(sample);
        windows
    }

    /// Called when a launch begins in machine cycle `start`.
    pub fn start(&mut self, start: Cycle) {
        (self.launch, self.start) = (start, start);
        self.uncounted = Counts::default();
        self.last = Counts::default();
        self.last_at = start;
    }

    /// Machine cycle in which the next sample is due.
    pub fn sample_at(&self) -> Cycle {
        let step = self.interval.min(LOOK_EVERY);
        let now = self.cycles + (self.last_at - self.start);
        self.start + (now / step + 1) * step - self.cycles
    }

    /// Adds a sample of the current launch.
    pub fn sample(&mut self, sample: &Sample) {
        let &Sample { cycle, levels, .. } = sample;
        let levels = std::array::from_fn(|i| self.last.levels[i] + levels[i]);
        let counted = Counts::of(sample).since(&self.uncounted);
        self.last = Counts { levels, looks: self.last.looks + 1, ..counted };
        self.last_at = cycle;
        self.edge(self.cycles + (cycle - self.start));
    }

    /// Stores an edge if a window ends at `now`.
    fn edge(&mut self, now: Cycle) {
        if !now.is_multiple_of(self.interval) {
            return;
        }
        self.edges.push((now, self.before.plus(&self.last)));
        if self.edges.len() > MAX_WINDOWS + 1 {
            self.interval *= 2;
            let interval = self.interval;
            self.edges.retain(|(at, _)| at.is_multiple_of(interval));
        }
    }

    /// Called when the launch ends.
    pub fn end(&mut self, report: &KernelReport) {
        let &KernelReport { core, slots, l1, memory, .. } = report;
        let counted = Counts { core, slots, l1, memory, ..Counts::default() }.since(&self.uncounted);
        self.last = Counts { levels: self.last.levels, looks: self.last.looks, ..counted };
        self.finish(self.cycles + (self.launch + report.cycles - self.start));
    }

    /// Called when the launch did not end, or the windows end before it. The last sample is the end.
    pub fn abandon(&mut self) {
        self.finish(self.cycles + (self.last_at - self.start));
    }

    fn finish(&mut self, end: Cycle) {
        // The last sample may have stored an edge at or after the end.
        while self.edges.len() > 1 && self.edges.last().is_some_and(|&(at, _)| at >= end) {
            self.edges.pop();
        }
        if end > 0 {
            self.edge(end);
        }
        self.before = self.before.plus(&self.last);
        self.last = Counts::default();
        self.cycles = end;
    }

    /// Cycles of all launches.
    pub fn cycles(&self) -> Cycle {
        self.cycles
    }

    /// Machine cycle at which the axis begins.
    pub fn origin(&self) -> Cycle {
        self.origin
    }

    /// Counters of all launches, as in the statistics.
    pub fn total(&self) -> Counts {
        self.before
    }

    /// The windows in order. The last may be shorter than the others.
    pub fn windows(&self) -> Vec<Window> {
        let mut edges = self.edges.clone();
        if edges.last().is_some_and(|&(at, _)| at < self.cycles) {
            edges.push((self.cycles, self.before));
        }
        let window = |pair: &[(Cycle, Counts)]| {
            let [(from, before), (to, after)] = [pair[0], pair[1]];
            Window { from: self.origin + from, to: self.origin + to, counts: after.since(&before) }
        };
        edges.windows(2).map(window).collect()
    }
}
