//! Launches that are left out as a whole, because enough others of their kernel were simulated in which as much happened.
//!
//! What happens in a launch is known from a run without timing before anything of it is simulated. Principal Kernel
//! Analysis (Baddouh et al., MICRO 2021) chooses launches by such counts.

use super::estimate::{BIAS, Counts, Interval, Sampling, instructions, student_95};
use wave_isa::program::Launch;
use wave_machine::functional;
use wave_machine::gpu::KernelReport;
use wave_machine::stats::CoreCounters;

/// As much happens in two launches if each of their counts differs by at most this part of the greater one.
const ALIKE: f64 = 0.02;

/// Launches alike that are simulated at least.
const LEAST: usize = 3;

/// Launches of a kernel whose grids, workgroups, registers and local memory have the same size.
#[derive(Debug)]
struct Kind {
    launch: Launch,
    /// Those that were simulated, at least in part.
    simulated: Vec<(KernelReport, Sampling)>,
    /// Those left out since the last one that was simulated.
    left_out: usize,
}

/// The launches so far.
#[derive(Debug, Default)]
pub(super) struct Launches {
    kinds: Vec<Kind>,
}

impl Launches {
    /// The kind of a launch, by its place.
    fn kind(&mut self, launch: &Launch) -> &mut Kind {
        let size = |of: &Launch| (of.kernel, of.grid, of.workgroup, of.registers, of.local_memory_bytes);
        let known = self.kinds.iter().position(|kind| size(&kind.launch) == size(launch));
        let place = known.unwrap_or(self.kinds.len());
        if known.is_none() {
            self.kinds.push(Kind { launch: launch.clone(), simulated: Vec::new(), left_out: 0 });
        }
        &mut self.kinds[place]
    }

    /// True if a launch can be left out if as much happens in it as in others. As many launches of its kind are left out
    /// one after the other as were simulated, so that a slow change is seen.
    pub(super) fn may_leave_out(&mut self, launch: &Launch) -> bool {
        let kind = self.kind(launch);
        kind.simulated.len() >= LEAST && kind.left_out < kind.simulated.len()
    }

    /// True if enough launches were simulated in which as much happened as was counted in this one, so that their mean is
    /// known to `aim`, a part of the cycles.
    pub(super) fn know(&mut self, launch: &Launch, counted: &CoreCounters, aim: f64) -> bool {
        let alike = self.kind(launch).alike(counted);
        alike.len() >= LEAST && 2.0 * alike.deviation() / (alike.len() as f64).sqrt() <= aim * alike.mean()
    }

    /// A launch was simulated, at least in part.
    pub(super) fn simulated(&mut self, launch: &Launch, report: &KernelReport, sampling: &Sampling) {
        let kind = self.kind(launch);
        kind.simulated.push((report.clone(), *sampling));
        kind.left_out = 0;
    }

    /// A [known](Self::know) launch was left out, in which this was counted. `report` is what the machine has of it. Gives
    /// the report that it would have.
    pub(super) fn left_out(
        &mut self,
        launch: &Launch,
        counted: &CoreCounters,
        report: KernelReport,
    ) -> (KernelReport, Sampling) {
        let kind = self.kind(launch);
        kind.left_out += 1;
        let alike = kind.alike(counted);
        let (count, all) = (alike.len() as f64, instructions(counted) as f64);
        let (mut counts, mut links) = (Counts::default(), report.links.clone());
        // What is not known of the launches themselves, a part of their cycles.
        let mut unknown = 0.0;
        for &(of_launch, sampling, rate) in &alike.launches {
            let part = all * rate / of_launch.cycles.max(1) as f64 / count;
            counts.add(&Counts::of(of_launch), part);
            links.iter_mut().zip(&of_launch.links).for_each(|(link, other)| link.add_scaled(other, part));
            unknown += sampling.cycles.percent() / 100.0 / count;
        }
        let cycles = alike.mean() * all;
        let chance = student_95(alike.len() - 1) * alike.deviation() * all;
        let sampling = Sampling {
            cycles: Interval {
                value: cycles,
                chance,
                common: chance / count.sqrt() + (BIAS + unknown) * cycles,
            },
            windows: 0,
            simulated_cycles: report.cycles,
            instructions: (0, instructions(counted)),
            workgroups: (0, counted.workgroups),
            launches: (0, 1),
            leaps: false,
            why: None,
        };
        (counts.into_report(cycles, counted, links, report), sampling)
    }
}

impl Kind {
    /// The simulated launches in which as much happened as was counted.
    fn alike(&self, counted: &CoreCounters) -> Alike<'_> {
        let near = |a: u64, b: u64| a.abs_diff(b) as f64 <= ALIKE * a.max(b) as f64;
        let is_alike = |(report, _): &&(KernelReport, Sampling)| {
            let (mut ours, mut theirs) = (*counted, report.core);
            let mut pairs = functional::counted(&mut ours).zip(functional::counted(&mut theirs));
            pairs.all(|((_, ours), (_, theirs))| near(*ours, *theirs))
        };
        let rate = |of: &KernelReport| of.cycles as f64 / instructions(&of.core).max(1) as f64;
        let launches = self.simulated.iter().filter(is_alike);
        Alike { launches: launches.map(|(report, sampling)| (report, sampling, rate(report))).collect() }
    }
}

/// Simulated launches in which as much happened, with their cycles for a wave instruction.
struct Alike<'a> {
    launches: Vec<(&'a KernelReport, &'a Sampling, f64)>,
}

impl Alike<'_> {
    fn len(&self) -> usize {
        self.launches.len()
    }

    /// Cycles for a wave instruction.
    fn mean(&self) -> f64 {
        self.launches.iter().map(|(_, _, rate)| rate).sum::<f64>() / self.len() as f64
    }

    /// The deviation of a launch from this.
    fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.launches.iter().map(|(_, _, rate)| (rate - mean).powi(2)).sum();
        (squares / (self.len() - 1) as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::super::estimate::tests::{counters, report};
    use super::*;

    fn launch(grid: u32) -> Launch {
        Launch {
            kernel: 0,
            grid: [grid, 1, 1],
            workgroup: [32, 1, 1],
            registers: 8,
            local_memory_bytes: 0,
            initial_registers: Vec::new(),
        }
    }

    /// A launch that was simulated in full.
    fn simulated(launches: &mut Launches, launch: &Launch, cycles: u64, instructions: u64) {
        let interval = Interval { value: cycles as f64, chance: 0.0, common: 0.0 };
        let sampling = Sampling {
            cycles: interval,
            windows: 0,
            simulated_cycles: cycles,
            instructions: (instructions, instructions),
            workgroups: (1, 1),
            launches: (1, 1),
            leaps: false,
            why: None,
        };
        launches.simulated(launch, &report(cycles, instructions), &sampling);
    }

    #[test]
    fn a_launch_is_left_out_behind_enough_in_which_as_much_happened() {
        let mut launches = Launches::default();
        for cycles in [1000, 1010, 990] {
            assert!(!launches.may_leave_out(&launch(4)));
            simulated(&mut launches, &launch(4), cycles, 500);
        }
        assert!(launches.may_leave_out(&launch(4)) && !launches.may_leave_out(&launch(5)));
        assert!(launches.know(&launch(4), &counters(509), 0.02));
        assert!(!launches.know(&launch(4), &counters(520), 0.02), "4 % more happens in it");
        assert!(!launches.know(&launch(4), &counters(500), 0.01), "they differ too much for that");
    }

    #[test]
    fn it_takes_as_long_as_those_do() {
        let mut launches = Launches::default();
        [1000, 1010, 990].iter().for_each(|&cycles| simulated(&mut launches, &launch(4), cycles, 500));
        // Another one, in which more happened, does not count.
        simulated(&mut launches, &launch(4), 5000, 600);
        let (found, sampling) = launches.left_out(&launch(4), &counters(505), report(7, 0));
        assert_eq!((found.cycles, found.core.wave_instructions), (1010, 505));
        assert_eq!(
            (sampling.launches, sampling.instructions, sampling.simulated_cycles),
            ((0, 1), (0, 505), 7)
        );
        // A deviation of 10 cycles in 1,000, with two degrees of freedom; its mean is known to the root of a third of it.
        let chance = 4.303 * 10.0 * 1.01;
        let expected = chance * (1.0 + 1.0 / 3f64.sqrt()) + BIAS * 1010.0;
        let half_width = sampling.cycles.half_width();
        assert!((half_width - expected).abs() < 1e-6, "{half_width}, not {expected}");
    }

    #[test]
    fn now_and_then_one_is_simulated() {
        let mut launches = Launches::default();
        [1000; 3].iter().for_each(|&cycles| simulated(&mut launches, &launch(4), cycles, 500));
        let mut in_a_row = Vec::new();
        for _ in 0..2 {
            let mut left_out = 0;
            while launches.may_leave_out(&launch(4)) {
                launches.left_out(&launch(4), &counters(500), report(7, 0));
                left_out += 1;
            }
            in_a_row.push(left_out);
            simulated(&mut launches, &launch(4), 1000, 500);
        }
        assert_eq!(in_a_row, [3, 4]);
    }

    #[test]
    fn what_is_common_to_launches_adds_up_and_what_is_chance_does_not() {
        let one = |chance, common| Sampling {
            cycles: Interval { value: 100.0, chance, common },
            windows: 0,
            simulated_cycles: 0,
            instructions: (0, 0),
            workgroups: (0, 0),
            launches: (0, 1),
            leaps: false,
            why: None,
        };
        let both = one(3.0, 2.0).and(one(4.0, 2.0));
        assert_eq!((both.cycles.chance, both.cycles.common, both.cycles.half_width()), (5.0, 4.0, 9.0));
        assert_eq!((both.launches, both.cycles.value), ((0, 2), 200.0));
    }
}
