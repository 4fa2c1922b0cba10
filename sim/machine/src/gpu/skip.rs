//! Workgroups that run without timing in the middle of a launch: between two cycles, another executor runs those that the
//! dispatcher would send next, and the machine goes on with the one behind them.
//!
//! So a launch can be simulated in part and still has its exact result. All that is in flight stays as it is. Memory has
//! what the skipped workgroups have written, and the L2 the lines that they have touched last. The L1s stay as they are:
//! they may hold older bytes, as if those workgroups had run on other cores, and the memory model allows that.

use super::machine::Machine;
use super::{Progress, RunError};
use crate::core::occupancy::LaunchError;
use crate::functional::{self, Execution, Limits, Until};
use crate::stats::CoreCounters;

/// What came of workgroups that were to be skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// They have run. Holds what was counted, in which counters that only timing gives are 0.
    Done(Box<CoreCounters>),
    /// They wait for workgroups that have not ended. Nothing has changed.
    Waits,
}

impl Machine {
    /// Runs the next workgroups of the launch without timing, at most so many. Nothing of the machine moves meanwhile.
    /// Without a launch nothing happens.
    ///
    /// `tries` is true for the first time in a launch. Only then device memory is copied, to put it back if the
    /// workgroups wait for others. `progress` is called now and then.
    ///
    /// # Errors
    /// [`RunError::Fault`], without a cycle; [`RunError::Interrupted`]; [`RunError::Launch`] if the workgroups wait for
    /// others and this was not tried. The launch cannot go on then.
    pub fn skip(
        &mut self,
        workgroups: u64,
        tries: bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Skip, RunError> {
        let Some((run, memory, (config, program))) = self.running_mut() else {
            return Ok(Skip::Done(Box::default()));
        };
        let (first, total) = (run.dispatcher.sent(), run.dispatcher.total());
        let range = first..total.min(first.saturating_add(workgroups));
        let mut execution = Execution::of_workgroups(config, program, run.launch(), range.clone())
            .map_err(RunError::Launch)?;
        let limits = Limits { max_instructions: None, stop: run.options().stop };
        let (cycles, instructions) = (run.now() - run.start, run.instructions());
        let mut show = |now: functional::Progress| {
            progress(Progress {
                cycles,
                instructions: instructions + now.instructions,
                workgroups: now.workgroups,
                total_workgroups: total,
            });
        };
        let ended = memory.lend(|memory| {
            let kept = tries.then(|| memory.clone());
            let ended = execution.advance(memory, Until::End, &limits, &mut show);
            if let (Err(functional::RunError::NoProgress(_)), Some(kept)) = (&ended, kept) {
                *memory = kept;
            }
            let trail = ended.is_ok().then(|| execution.take_trail()).flatten();
            (ended, trail)
        });
        match ended {
            Ok(_) => {
                run.dispatcher.pass(range.end - range.start);
                Ok(Skip::Done(Box::new(execution.report().counters)))
            }
            Err(functional::RunError::Fault(fault)) => Err(RunError::Fault(fault)),
            Err(functional::RunError::NoProgress(_)) if tries => Ok(Skip::Waits),
            Err(functional::RunError::NoProgress(_)) => Err(RunError::Launch(LaunchError {
                message: "workgroups that were to be left out wait for others".to_owned(),
                hint: "simulate the launch as a whole".to_owned(),
            })),
            Err(_) => Err(RunError::Interrupted(run.no_progress(run.now()))),
        }
    }
}
