//! Sampled runs: launches of which parts are simulated cycle by cycle, and the others run without timing.
//!
//! Results in memory are exact, and so are the counts of instructions. Cycles, and all that takes them, are estimates.
//! Windows of detail take turns with parts that are left out, which the machine passes over standing still: what is in
//! flight stays as it is, and the L2 gets the lines that it would have. What is left out takes as many cycles for each
//! wave instruction as the windows around it. The beginning of a launch and its end are simulated. How many windows there
//! are follows from how much they differ, as in SMARTS (Wunderlich et al., ISCA 2003).
//!
//! A *generation* is as many workgroups as are resident together. Of a launch with many generations workgroups are left
//! out, as in TBPoint (Huang et al., IPDPS 2014). In one with few or long generations, all waves [leap](leaps). Of launches
//! in which as much happens, some are left out as a whole.

mod estimate;
mod launches;
mod leaps;

use std::collections::BTreeSet;
use wave_isa::program::Launch;
use wave_machine::clock::{Cycle, NEVER};
use wave_machine::core::probe::Sample;
use wave_machine::gpu::{KernelReport, Machine, Progress, RunError, RunOptions, Skip, Stop};
use wave_machine::stats::CoreCounters;

use estimate::Estimator;
pub use estimate::{Interval, Sampling, Why};
use launches::Launches;

/// Generations of a window.
const WINDOW: u64 = 2;

/// Generations in front of a window, behind workgroups that were left out: while they pass, others from before are still
/// in flight. They do not count.
const WARM_UP: u64 = 1;

/// What is left out at a time is at most this part of the workgroups before it, so that the beginning of a launch, in
/// which caches fill, does not stand for what follows.
const GROWTH: u64 = 4;

/// Half the width of the confidence interval that decides how many windows there are, as a part of the cycles.
const AIM: f64 = 0.02;

/// Generations that a launch has at least, if workgroups are to be left out: so many before the first, a window, and the
/// end. In one with fewer all waves leap.
const LEAST: u64 = GROWTH + LAST + 1;

/// Generations that are simulated at the end: a window with its warm-up, and until the last workgroup has ended.
const LAST: u64 = WARM_UP + WINDOW + 1;

/// A launch whose first generation takes longer than so many cycles has long workgroups: to see many generations of it would
/// take most of the launch, so all waves leap.
const LONG: Cycle = 1 << 20;

/// Cycles of a window at least: several times the longest latency, so that what is in flight at its ends counts little.
const SHORTEST: Cycle = 4096;

/// Looks at how far the launch has come, in a generation.
const LOOKS: u64 = 16;

/// Samples the launches of a run, one after the other.
#[derive(Debug, Default)]
pub struct Sampler {
    launches: Launches,
    /// Kernels that have many atomics, whose order matters.
    by_order: BTreeSet<usize>,
}

impl Sampler {
    /// Runs a launch to its end, sampled. Gives its report, of which some is estimated.
    ///
    /// # Errors
    /// As [`Machine::run`].
    pub fn run(
        &mut self,
        machine: &mut Machine,
        launch: &Launch,
        options: &RunOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(KernelReport, Sampling), RunError> {
        machine.begin(launch, options)?;
        let launches = &mut self.launches;
        if launches.may_leave_out(launch) {
            let mut knows = |counted: &CoreCounters| launches.know(launch, counted, AIM);
            if let Skip::Done(counted) = machine.skip(u64::MAX, &mut knows, progress)? {
                let report = Walk { machine, progress, options, look: 256 }.rest()?;
                return Ok(launches.left_out(launch, &counted, *report));
            }
        }
        let mut estimator = Estimator::default();
        let by_order = self.by_order.contains(&launch.kernel);
        let report = Walk { machine, progress, options, look: 256 }.walk(&mut estimator, by_order)?;
        if estimator.is_by_order() {
            self.by_order.insert(launch.kernel);
        }
        let (report, sampling) = estimator.finish(*report);
        launches.simulated(launch, &report, &sampling);
        Ok((report, sampling))
    }
}

/// What came of a part of a launch.
enum Part {
    /// So many workgroups have ended.
    Done,
    /// Its first generation is [`LONG`].
    Long,
    /// The launch has ended.
    Ended(Box<KernelReport>),
}

/// A launch on its way.
struct Walk<'a> {
    machine: &'a mut Machine,
    progress: &'a mut dyn FnMut(Progress),
    options: &'a RunOptions,
    /// Cycles between two looks at how far it has come.
    look: Cycle,
}

impl Walk<'_> {
    /// Goes through the launch, and leaves out what can be left out. `by_order`: the order of its kernel's atomics matters.
    fn walk(&mut self, estimator: &mut Estimator, by_order: bool) -> Result<Box<KernelReport>, RunError> {
        // Nothing has run, so this is the launch as it begins.
        let Some((_, all)) = self.machine.workgroups() else { return self.rest() };
        let generation = self.machine.places().min(all);
        let mut companion = if by_order { None } else { self.machine.companion()? };
        if all < LEAST * generation {
            let Some(companion) = companion else {
                estimator.in_full(Why::Atomics);
                return self.rest();
            };
            return self.leap(estimator, companion);
        }
        loop {
            let longest = if companion.is_some() { LONG } else { NEVER };
            let begin = self.totals();
            match self.on(WINDOW * generation, longest)? {
                Part::Done => {}
                Part::Long => {
                    let by_order = leaps::may_have_another_order(&begin.core, &self.totals().core);
                    match companion.take().filter(|_| !by_order) {
                        Some(companion) => return self.leap(estimator, companion),
                        None => continue,
                    }
                }
                Part::Ended(report) => return Ok(report),
            }
            companion = None;
            estimator.window(&begin, &self.totals());
            let done = self.finished();
            let left = all.saturating_sub(done + LAST * generation);
            let leaves_out = estimator.between_windows(all, AIM).min(done / GROWTH).min(left);
            if leaves_out < generation {
                continue;
            }
            match self.machine.skip(leaves_out, &mut |_| true, self.progress)? {
                Skip::Done(counters) => estimator.skip(&counters),
                Skip::Waits | Skip::Refused => {
                    estimator.in_full(Why::Waits);
                    return self.rest();
                }
            }
            let begin = self.totals();
            if let Part::Ended(report) = self.on(WARM_UP * generation, NEVER)? {
                return Ok(report);
            }
            estimator.warm_up(&begin, &self.totals());
        }
    }

    /// Simulates until about so many workgroups more have ended, and for some cycles at least; no further if after `longest`
    /// cycles not half of them have.
    fn on(&mut self, workgroups: u64, longest: Cycle) -> Result<Part, RunError> {
        let (from, begin) = (self.machine.now(), self.finished());
        loop {
            let until = self.machine.now() + self.look;
            if let Stop::Ended(report) = self.machine.advance_reporting(until, None, self.progress)? {
                return Ok(Part::Ended(report));
            }
            let cycles = self.machine.now() - from;
            let ended = self.finished() - begin;
            if ended >= workgroups && cycles >= SHORTEST {
                self.look = (cycles * workgroups / ended / LOOKS).max(64);
                return Ok(Part::Done);
            }
            if cycles >= longest && ended < workgroups / 2 {
                return Ok(Part::Long);
            }
        }
    }

    /// Simulates what is left of the launch.
    fn rest(&mut self) -> Result<Box<KernelReport>, RunError> {
        loop {
            if let Stop::Ended(report) = self.machine.advance_reporting(NEVER, None, self.progress)? {
                return Ok(report);
            }
        }
    }

    /// Workgroups that have ended.
    fn finished(&self) -> u64 {
        self.machine.workgroups().map_or(0, |(ended, _)| ended)
    }

    fn totals(&mut self) -> Sample {
        self.machine.totals().expect("a launch runs")
    }
}
