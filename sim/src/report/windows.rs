//! What a run did over time, in windows of equal length whose number is bounded.
//!
//! The axis has the cycles of the machine: the launches one behind the other, each with the release at its end, so that
//! it ends where `kernel.cycles` says. It begins with 0, or with the cycle with which a part of the run begins. Samples
//! are kept as sums since the start of the run; two windows become one by forgetting the sample between them, and no
//! figure is ever added up twice.

use crate::clock::Cycle;
use crate::core::probe::{Level, Sample};
use crate::gpu::KernelReport;
use crate::memory::{L1Counters, MemoryCounters};
use crate::stats::{CoreCounters, SlotUse};

/// Most whole windows; where there would be more, every second edge is forgotten and windows become twice as long. What
/// is left at the end is one more.
pub const MAX_WINDOWS: usize = 256;

/// Longest time between two looks at how full things are, cycles.
const LOOK_EVERY: Cycle = 64;

/// What is counted, since the start of a run or in a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The cores.
    pub core: CoreCounters,
    /// Issue slots by use.
    pub slots: [u64; SlotUse::COUNT],
    /// The L1s.
    pub l1: L1Counters,
    /// The memory side.
    pub memory: MemoryCounters,
    /// Entries in use, summed over the looks at them.
    pub levels: [u64; Level::COUNT],
    /// Looks at them.
    pub looks: u64,
}

impl Counts {
    /// What a sample has counted; how full things are is summed up elsewhere.
    fn of(sample: &Sample) -> Counts {
        let &Sample { core, slots, l1, memory, .. } = sample;
        Counts { core, slots, l1, memory, ..Counts::default() }
    }

    /// What was counted since `before`.
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

    /// Entries of something that are in use, on average.
    pub fn level(&self, level: Level) -> f64 {
        self.levels[level as usize] as f64 / self.looks.max(1) as f64
    }
}

/// A part of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its first cycle.
    pub from: Cycle,
    /// The cycle after its last.
    pub to: Cycle,
    /// What was counted in it.
    pub counts: Counts,
}

/// Gathers the windows of a run.
#[derive(Debug)]
pub struct Windows {
    /// Cycles of a window.
    interval: Cycle,
    /// Where windows end, with what was counted until then; the first edge is at 0.
    edges: Vec<(Cycle, Counts)>,
    /// The launches that are over: cycles and counts.
    cycles: Cycle,
    before: Counts,
    /// The cycle of the machine with which the axis begins.
    origin: Cycle,
    /// The cycle of the machine in which the launch began.
    launch: Cycle,
    /// And from which on it is counted: later only if the windows begin in the middle of it, and then what it had
    /// counted before.
    start: Cycle,
    uncounted: Counts,
    /// The launch so far.
    last: Counts,
    last_at: Cycle,
}

impl Windows {
    /// No windows yet, on an axis that begins with this cycle of the machine.
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

    /// Windows that begin with this sample of a launch that began in cycle `launch`.
    pub fn within(launch: Cycle, sample: &Sample) -> Windows {
        let mut windows = Windows::new(sample.cycle);
        windows.start(sample.cycle);
        windows.launch = launch;
        windows.uncounted = Counts::of(sample);
        windows
    }

    /// A launch begins in this cycle of the machine.
    pub fn start(&mut self, start: Cycle) {
        (self.launch, self.start) = (start, start);
        self.uncounted = Counts::default();
        self.last = Counts::default();
        self.last_at = start;
    }

    /// The cycle of the machine in which the next sample is due.
    pub fn sample_at(&self) -> Cycle {
        let step = self.interval.min(LOOK_EVERY);
        let now = self.cycles + (self.last_at - self.start);
        self.start + (now / step + 1) * step - self.cycles
    }

    /// Takes a sample of the launch that is on its way.
    pub fn sample(&mut self, sample: &Sample) {
        let &Sample { cycle, levels, .. } = sample;
        let levels = std::array::from_fn(|i| self.last.levels[i] + levels[i]);
        let counted = Counts::of(sample).since(&self.uncounted);
        self.last = Counts { levels, looks: self.last.looks + 1, ..counted };
        self.last_at = cycle;
        self.edge(self.cycles + (cycle - self.start));
    }

    /// Remembers what was counted until now, if a window ends here.
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

    /// The launch has ended.
    pub fn end(&mut self, report: &KernelReport) {
        let &KernelReport { core, slots, l1, memory, .. } = report;
        let counted = Counts { core, slots, l1, memory, ..Counts::default() }.since(&self.uncounted);
        self.last = Counts { levels: self.last.levels, looks: self.last.looks, ..counted };
        self.finish(self.cycles + (self.launch + report.cycles - self.start));
    }

    /// The launch did not end, or the windows end before it: what the last sample has is what there is.
    pub fn abandon(&mut self) {
        self.finish(self.cycles + (self.last_at - self.start));
    }

    fn finish(&mut self, end: Cycle) {
        // The sample that saw the end may have been an edge.
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

    /// Where the axis begins.
    pub fn origin(&self) -> Cycle {
        self.origin
    }

    /// Everything counted in the launches, as the statistics have it.
    pub fn total(&self) -> Counts {
        self.before
    }

    /// The windows, in order, the last perhaps shorter than the others.
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
