//! What the parts of a sampled launch say about all of it.

use wave_machine::core::probe::Sample;
use wave_machine::functional;
use wave_machine::gpu::KernelReport;
use wave_machine::memory::{L1Counters, LinkCounters, MemoryCounters};
use wave_machine::stats::{CoreCounters, SlotUse};

/// What the windows do not show, as a part of the estimated cycles: the L2 behind workgroups without timing is not quite
/// that of a whole run. The errors in docs/sampling.md are the reason for this value.
pub(super) const BIAS: f64 = 0.03;

/// Windows that decide how far a leap may go.
const RECENT: usize = 8;

/// A 95 % confidence interval around an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// The part of half the width that is by chance, independent of that of other launches.
    pub chance: f64,
    /// The part of half the width that may be the same error in all launches.
    pub common: f64,
}

impl Interval {
    /// The interval ends so far from the estimate on both sides.
    pub fn half_width(&self) -> f64 {
        self.chance + self.common
    }

    /// The half width in per cent of the estimate.
    pub fn percent(&self) -> f64 {
        if self.value == 0.0 { 0.0 } else { 100.0 * self.half_width() / self.value }
    }
}

/// How a launch was sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Its cycles. Without parts without timing they are exact.
    pub cycles: Interval,
    /// Windows of detail.
    pub windows: usize,
    /// Cycles simulated.
    pub simulated_cycles: u64,
    /// Wave instructions, those without effect included: simulated, and all of the launch.
    pub instructions: (u64, u64),
    /// Workgroups: simulated, and all of the launch.
    pub workgroups: (u64, u64),
    /// Launches that were simulated, at least in part, and all.
    pub launches: (usize, usize),
    /// All waves of some launch have leapt, so that workgroups were simulated in part.
    pub leaps: bool,
    /// Why nothing was left out, if nothing was.
    pub why: Option<Why>,
}

/// Why a launch was simulated in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Workgroups wait for others.
    Waits,
    /// It has many atomics, whose order decides what later launches find.
    Atomics,
    /// Its windows differ too much for so few workgroups.
    Unsteady,
}

impl Sampling {
    /// Two launches, one after the other.
    pub fn and(self, other: Sampling) -> Sampling {
        let cycles = Interval {
            value: self.cycles.value + other.cycles.value,
            chance: self.cycles.chance.hypot(other.cycles.chance),
            common: self.cycles.common + other.cycles.common,
        };
        let (simulated, all) = self.instructions;
        Sampling {
            cycles,
            windows: self.windows + other.windows,
            simulated_cycles: self.simulated_cycles + other.simulated_cycles,
            instructions: (simulated + other.instructions.0, all + other.instructions.1),
            workgroups: (self.workgroups.0 + other.workgroups.0, self.workgroups.1 + other.workgroups.1),
            launches: (self.launches.0 + other.launches.0, self.launches.1 + other.launches.1),
            leaps: self.leaps || other.leaps,
            why: self.why.and(other.why),
        }
    }

    /// Per cent of the wave instructions that were simulated.
    pub fn percent_simulated(&self) -> f64 {
        let (simulated, all) = self.instructions;
        100.0 * simulated as f64 / all.max(1) as f64
    }
}

/// What happened in a launch, or in a part of one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    cycles: u64,
    core: CoreCounters,
    slots: [u64; SlotUse::COUNT],
    l1: L1Counters,
    memory: MemoryCounters,
}

impl Counts {
    /// In a whole launch.
    pub(super) fn of(report: &KernelReport) -> Counts {
        Counts {
            cycles: report.cycles,
            core: report.core,
            slots: report.slots,
            l1: report.l1,
            memory: report.memory,
        }
    }

    /// Between two moments.
    fn between(begin: &Sample, end: &Sample) -> Counts {
        let mut slots = end.slots;
        slots.iter_mut().zip(begin.slots).for_each(|(slots, before)| *slots -= before);
        Counts {
            cycles: end.cycle - begin.cycle,
            core: end.core.since(&begin.core),
            slots,
            l1: end.l1.since(&begin.l1),
            memory: end.memory.since(&begin.memory),
        }
    }

    /// Takes away a part that it contains.
    fn take(&mut self, part: &Counts) {
        self.cycles -= part.cycles;
        self.core = self.core.since(&part.core);
        self.l1 = self.l1.since(&part.l1);
        self.memory = self.memory.since(&part.memory);
        self.slots.iter_mut().zip(part.slots).for_each(|(slots, part)| *slots -= part);
    }

    /// Adds so many times another part.
    pub(super) fn add(&mut self, other: &Counts, times: f64) {
        self.core.add_scaled(&other.core, times);
        self.l1.add_scaled(&other.l1, times);
        self.memory.add_scaled(&other.memory, times);
        let slots = self.slots.iter_mut().zip(other.slots);
        slots.for_each(|(sum, slots)| *sum += (slots as f64 * times).round() as u64);
        self.cycles += (other.cycles as f64 * times).round() as u64;
    }

    /// The report of a launch that takes about so many cycles. `counted` has what a run without timing counts as well.
    pub(super) fn into_report(
        mut self,
        cycles: f64,
        counted: &CoreCounters,
        links: Vec<LinkCounters>,
        report: KernelReport,
    ) -> KernelReport {
        let mut exact = *counted;
        for ((_, value), (_, exact)) in
            functional::counted(&mut self.core).zip(functional::counted(&mut exact))
        {
            *value = *exact;
        }
        KernelReport {
            cycles: cycles.round() as u64,
            core: self.core,
            slots: self.slots,
            l1: self.l1,
            memory: self.memory,
            links,
            ..report
        }
    }
}

/// Wave instructions that have left the instruction buffers.
pub(super) fn instructions(core: &CoreCounters) -> u64 {
    core.wave_instructions + core.squashed_instructions
}

/// A window of detail.
#[derive(Debug, Clone, Copy)]
struct Window {
    counts: Counts,
    /// Wave instructions; at least one, so that it can be divided by them.
    instructions: f64,
}

impl Window {
    /// Cycles for a wave instruction of the machine.
    fn rate(&self) -> f64 {
        self.counts.cycles as f64 / self.instructions
    }
}

/// Workgroups that were left out, and the warm-up behind them.
#[derive(Debug, Clone, Copy)]
struct Gap {
    /// Wave instructions of both.
    instructions: u64,
    /// Windows before it.
    windows: usize,
}

/// Gathers what a sampled launch shows.
#[derive(Debug, Default)]
pub(super) struct Estimator {
    windows: Vec<Window>,
    gaps: Vec<Gap>,
    warm_ups: Vec<Counts>,
    /// What ran without timing.
    left_out: CoreCounters,
    /// What happened in all of the launch, if something else has counted that.
    counted: Option<CoreCounters>,
    why: Option<Why>,
}

impl Estimator {
    /// A window.
    pub(super) fn window(&mut self, begin: &Sample, end: &Sample) {
        let counts = Counts::between(begin, end);
        let instructions = instructions(&counts.core).max(1) as f64;
        self.windows.push(Window { counts, instructions });
    }

    /// Workgroups were left out behind a window.
    pub(super) fn skip(&mut self, counters: &CoreCounters) {
        self.left_out += counters;
        self.gaps.push(Gap { instructions: instructions(counters), windows: self.windows.len() });
    }

    /// In a launch with leaps this was counted.
    pub(super) fn counted(&mut self, counters: &CoreCounters) {
        self.counted = Some(*counters);
    }

    /// True if nothing more is left out because of the order of atomics.
    pub(super) fn is_by_order(&self) -> bool {
        self.why == Some(Why::Atomics)
    }

    /// Windows so far.
    pub(super) fn windows(&self) -> usize {
        self.windows.len()
    }

    /// True if something was left out.
    pub(super) fn has_gaps(&self) -> bool {
        !self.gaps.is_empty()
    }

    /// Nothing more is left out, for this reason.
    pub(super) fn in_full(&mut self, why: Why) {
        self.why = Some(why);
    }

    /// The machine has warmed up behind workgroups that were left out.
    pub(super) fn warm_up(&mut self, begin: &Sample, end: &Sample) {
        let counts = Counts::between(begin, end);
        if let Some(gap) = self.gaps.last_mut() {
            gap.instructions += instructions(&counts.core);
        }
        self.warm_ups.push(counts);
    }

    /// How many of so many workgroups may lie between two windows, evenly spread, if half the interval is to be this part
    /// of the cycles: with n windows it is about twice their deviation, divided by √n.
    pub(super) fn between_windows(&self, workgroups: u64, aim: f64) -> u64 {
        (workgroups as f64 * (aim / (2.0 * self.deviation_of(self.windows.len()))).powi(2))
            .min(workgroups as f64) as u64
    }

    /// The deviation of the last windows, as [`deviation_of`](Self::deviation_of) has it.
    pub(super) fn deviation(&self) -> f64 {
        self.deviation_of(RECENT)
    }

    /// The deviation of so many last windows, as a part of their mean; without bounds as long as there are no two of them.
    fn deviation_of(&self, windows: usize) -> f64 {
        if self.windows.len() < 2 {
            return f64::INFINITY;
        }
        let recent = &self.windows[self.windows.len().saturating_sub(windows)..];
        let rates: f64 = recent.iter().map(Window::rate).sum();
        variance(recent).sqrt() * recent.len() as f64 / rates
    }

    /// The windows around a gap: the one before, and the one behind if there is one.
    fn around(&self, gap: &Gap) -> &[Window] {
        let end = (gap.windows + 1).min(self.windows.len());
        &self.windows[gap.windows - 1..end]
    }

    /// The windows that say how sure an estimate is. In a launch with leaps these are the ones from some before the first to
    /// the one behind the last: its beginning and its end are simulated, and may differ as they like.
    fn around_gaps(&self) -> &[Window] {
        if self.counted.is_none() {
            return &self.windows;
        }
        let first = self.gaps.first().map_or(1, |gap| gap.windows);
        let last = self.gaps.last().map_or(1, |gap| gap.windows);
        &self.windows[first.saturating_sub(RECENT / 2)..(last + 1).min(self.windows.len())]
    }

    /// The launch has ended with this report of what was simulated. Gives the report of all of it: exact where a run
    /// without timing counts too, else estimated.
    pub(super) fn finish(self, report: KernelReport) -> (KernelReport, Sampling) {
        let simulated = report.cycles;
        let mut all = Counts::of(&report);
        self.warm_ups.iter().for_each(|warm_up| all.take(warm_up));
        let counts_as_it_is = all.cycles as f64;
        // Instructions for which each window stands.
        let mut stands_for = vec![0.0; self.windows.len()];
        for gap in &self.gaps {
            let around = self.around(gap);
            let each = gap.instructions as f64 / around.len() as f64;
            for (index, window) in around.iter().enumerate() {
                all.add(&window.counts, each / window.instructions);
                stands_for[gap.windows - 1 + index] += each;
            }
        }
        let estimated: f64 = stands_for.iter().zip(&self.windows).map(|(n, window)| n * window.rate()).sum();
        let cycles = counts_as_it_is + estimated;
        let weight: f64 = stands_for.iter().map(|instructions| instructions.powi(2)).sum();
        let chance = match weight {
            0.0 => 0.0,
            weight => {
                let around = self.around_gaps();
                student_95(around.len() - 1) * (weight * variance(around)).sqrt()
            }
        };
        let counted = self.counted.unwrap_or_else(|| {
            let mut counted = report.core;
            counted += &self.left_out;
            counted
        });
        let sampling = Sampling {
            cycles: Interval { value: cycles, chance, common: BIAS * estimated },
            windows: self.windows.len(),
            simulated_cycles: simulated,
            instructions: (instructions(&report.core), instructions(&counted)),
            workgroups: (report.core.workgroups, counted.workgroups),
            launches: (1, 1),
            leaps: self.counted.is_some(),
            why: (!self.has_gaps()).then_some(self.why.unwrap_or(Why::Unsteady)),
        };
        let links = report.links.iter().map(|link| {
            let mut scaled = *link;
            scaled.add_scaled(link, (cycles / simulated.max(1) as f64 - 1.0).max(0.0));
            scaled
        });
        let links = links.collect();
        (all.into_report(cycles, &counted, links, report), sampling)
    }
}

/// The variance of the cycles for an instruction of a window, from the differences of one window to the next, in which a
/// slow change of the launch counts little (von Neumann, 1941).
fn variance(windows: &[Window]) -> f64 {
    let differences = windows.windows(2).map(|pair| (pair[1].rate() - pair[0].rate()).powi(2));
    differences.sum::<f64>() / (2 * (windows.len() - 1)).max(1) as f64
}

/// The factor of a two-sided 95 % interval by Student's distribution, with so many degrees of freedom.
pub(super) fn student_95(freedom: usize) -> f64 {
    const FACTORS: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    FACTORS.get(freedom.saturating_sub(1)).copied().unwrap_or(1.96)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use wave_machine::core::probe::Level;

    /// A moment at which so many cycles have passed and so many wave instructions have issued.
    fn moment(cycle: u64, instructions: u64) -> Sample {
        Sample {
            cycle,
            is_last: false,
            core: counters(instructions),
            slots: [0; SlotUse::COUNT],
            l1: L1Counters::default(),
            memory: MemoryCounters::default(),
            levels: [0; Level::COUNT],
        }
    }

    pub(in super::super) fn counters(instructions: u64) -> CoreCounters {
        CoreCounters {
            wave_instructions: instructions,
            workgroups: instructions / 10,
            ..CoreCounters::default()
        }
    }

    pub(in super::super) fn report(cycles: u64, instructions: u64) -> KernelReport {
        KernelReport {
            cycles,
            release_cycles: 0,
            core: counters(instructions),
            slots: [0; SlotUse::COUNT],
            l1: L1Counters::default(),
            memory: MemoryCounters::default(),
            links: Vec::new(),
            plug_ins: Vec::new(),
            occupancy: wave_machine::gpu::occupancy::Occupancy {
                workgroups: 1,
                waves_per_workgroup: 1,
                slots_per_scheduler: 1,
                limiter: wave_machine::gpu::occupancy::Limiter::Waves,
            },
            wave_slots: 1,
        }
    }

    #[test]
    fn what_is_left_out_takes_as_long_as_the_windows_around_it() {
        let mut estimator = Estimator::default();
        // Two cycles for an instruction before, four behind, and a warm-up that does not count.
        estimator.window(&moment(0, 0), &moment(200, 100));
        estimator.skip(&counters(1000));
        estimator.warm_up(&moment(200, 100), &moment(900, 200));
        estimator.window(&moment(900, 200), &moment(1300, 300));
        let (report, sampling) = estimator.finish(report(1400, 400));
        // The window, the second window and the rest as they are; 1,100 instructions at three cycles each.
        assert_eq!(report.cycles, 200 + 400 + 100 + 1100 * 3);
        assert_eq!((report.core.wave_instructions, report.core.workgroups), (1400, 140));
        assert_eq!((sampling.instructions, sampling.workgroups), ((400, 1400), (40, 140)));
        assert_eq!(sampling.why, None);
        // With one difference of two, the variance of a window is two. Each window stands for 550 instructions.
        let expected = 12.706 * (2.0 * 2.0 * 550f64.powi(2)).sqrt() + BIAS * 3300.0;
        let half_width = sampling.cycles.half_width();
        assert!((half_width - expected).abs() < 1e-6, "{half_width}");
    }

    #[test]
    fn windows_that_differ_more_lie_closer_together() {
        let between = |rates: &[u64]| {
            let mut estimator = Estimator::default();
            rates.iter().for_each(|&cycles| estimator.window(&moment(0, 0), &moment(cycles, 100)));
            estimator.between_windows(1_000_000, 0.02)
        };
        assert_eq!(between(&[100]), 0, "one window says nothing");
        assert_eq!(between(&[100, 100]), 1_000_000);
        let (near, far) = (between(&[100, 110, 100, 110]), between(&[100, 120, 100, 120]));
        assert!(near > 3 * far && far > 0, "{near}, {far}");
    }

    #[test]
    fn without_parts_left_out_everything_is_as_counted() {
        let mut estimator = Estimator::default();
        estimator.window(&moment(0, 0), &moment(200, 100));
        let (all, sampling) = estimator.finish(report(300, 120));
        assert_eq!(all, report(300, 120));
        assert_eq!((sampling.cycles.half_width(), sampling.why), (0.0, Some(Why::Unsteady)));
    }
}
