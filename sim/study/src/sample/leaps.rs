//! Launches of few generations, or of long ones: windows of detail take turns with
//! [leaps](wave_machine::gpu::Machine::leap) of all waves.

use super::estimate::{Estimator, Why, instructions};
use super::{AIM, GROWTH, Walk};
use wave_machine::clock::Cycle;
use wave_machine::gpu::{Companion, KernelReport, Leapt, RunError, Stop};
use wave_machine::stats::CoreCounters;

/// Cycles of a window.
const WINDOW: Cycle = 8192;

/// Cycles of the warm-up behind a leap: a part of those that it leaves out, within these bounds.
const WARM_UP: (Cycle, Cycle) = (4096, 16384);
const PART: f64 = 4.0;

/// A leap leaves out at most this part of what is left of the launch, as far as that is known: the end, in which there are
/// fewer and fewer waves, is to be seen.
const END: f64 = 3.0;

/// At most this part of the instructions of each window are atomics on device memory. Their order decides what others find in memory, and
/// a companion has them in another order than the machine: in the queues of bfs vertices come then in an order in which
/// the lanes of a wave touch more lines.
const ATOMICS: f64 = 0.02;

/// Windows in front of the first leap: in those at the beginning of a launch there may be few atomics, and how much windows
/// differ is to be known.
const BEFORE: usize = 8;

/// True if there are so many atomics between two moments that a leap may change what comes behind it.
pub(super) fn may_have_another_order(begin: &CoreCounters, end: &CoreCounters) -> bool {
    let atomics = end.device_atomics - begin.device_atomics;
    atomics as f64 > ATOMICS * (instructions(end) - instructions(begin)) as f64
}

impl Walk<'_> {
    /// Goes on with the launch, which has this companion.
    pub(super) fn leap(
        &mut self,
        estimator: &mut Estimator,
        mut companion: Companion,
    ) -> Result<Box<KernelReport>, RunError> {
        let ended = self.windows(&mut companion, estimator);
        if !estimator.has_gaps() {
            return ended;
        }
        match ended {
            Ok(report) => {
                let counted = self.machine.part_from(companion, self.options, self.progress)?;
                estimator.counted(&counted);
                Ok(report)
            }
            // What was late behind a leap may have led a wave astray; the companion has gone through.
            Err(RunError::Fault(fault)) if fault.cycle.is_none() => Err(RunError::Fault(fault)),
            Err(RunError::Fault(_) | RunError::NoProgress(_)) => {
                *estimator = Estimator::default();
                estimator.in_full(Why::Waits);
                self.machine.begin_again(companion, self.options)?;
                self.rest()
            }
            Err(error) => Err(error),
        }
    }

    /// Windows and leaps to the end of the launch.
    fn windows(
        &mut self,
        companion: &mut Companion,
        estimator: &mut Estimator,
    ) -> Result<Box<KernelReport>, RunError> {
        // Windows until the next try, and how many there are behind one in vain.
        let (mut patience, mut wait) = (0, 1);
        let (mut leapt, mut by_order) = (0, false);
        loop {
            self.machine.look_at_waves(companion);
            let begin = self.totals();
            if let Some(report) = self.for_cycles(WINDOW)? {
                return Ok(report);
            }
            let end = self.totals();
            estimator.window(&begin, &end);
            let in_window = (instructions(&end.core) - instructions(&begin.core)).max(1) as f64;
            by_order |= may_have_another_order(&begin.core, &end.core);
            if by_order {
                estimator.in_full(Why::Atomics);
                continue;
            }
            if patience > 0 {
                patience -= 1;
                continue;
            }
            if estimator.windows() < BEFORE {
                continue;
            }
            let done = (instructions(&end.core) + leapt) as f64;
            let left = companion.expected_instructions().map_or(f64::INFINITY, |all| all - done);
            let most = (done * (AIM / estimator.deviation()).min(1.0 / GROWTH as f64)).min(left / END);
            let cycles = most * WINDOW as f64 / in_window;
            // It should leave out more than its warm-up takes.
            if cycles < WARM_UP.0 as f64 {
                continue;
            }
            let counted = match self.machine.leap(companion, cycles, self.progress)? {
                Leapt::Counted(counted) => counted,
                Leapt::NotNow => continue,
                Leapt::Astray => {
                    estimator.in_full(Why::Waits);
                    (patience, wait) = (wait, 2 * wait);
                    continue;
                }
            };
            wait = 1;
            leapt += instructions(&counted);
            estimator.skip(&counted);
            let begin = self.totals();
            let warm_up = ((cycles / PART) as Cycle).clamp(WARM_UP.0, WARM_UP.1);
            if let Some(report) = self.for_cycles(warm_up)? {
                return Ok(report);
            }
            estimator.warm_up(&begin, &self.totals());
        }
    }

    /// Simulates so many cycles. `Some` if the launch has ended.
    fn for_cycles(&mut self, cycles: Cycle) -> Result<Option<Box<KernelReport>>, RunError> {
        let until = self.machine.now() + cycles;
        while self.machine.now() < until {
            if let Stop::Ended(report) = self.machine.advance_reporting(until, None, self.progress)? {
                return Ok(Some(report));
            }
        }
        Ok(None)
    }
}
