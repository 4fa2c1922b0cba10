//! Workgroups that run without timing in the middle of a launch: between two cycles, another executor runs those that the
//! dispatcher would send next, and the machine goes on with the one behind them.
//!
//! So a launch can be simulated in part and still has its exact result. All that is in flight stays as it is. Memory has
//! what the skipped workgroups have written, and the L2 the lines that they have touched last. The L1s stay as they are:
//! they may hold older bytes, as if those workgroups had run on other cores, and the memory model allows that.

use super::machine::Machine;
use super::{Progress, RunError};
use crate::functional::{self, Execution, Footprint, Limits, Until};
use crate::stats::CoreCounters;
use std::sync::Arc;

/// What came of workgroups that were to be skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// They have run. Holds what was counted, in which counters that only timing gives are 0.
    Done(Box<CoreCounters>),
    /// They wait for workgroups that have not ended. Nothing has changed.
    Waits,
    /// What was counted was not accepted. Nothing has changed.
    Refused,
}

impl Machine {
    /// Runs the next workgroups of the launch without timing, at most so many. Nothing of the machine moves meanwhile.
    /// Without a launch nothing happens.
    ///
    /// When they have run, `accepts` gets what was counted: if it returns false, they have not run. `progress` is called
    /// now and then.
    ///
    /// # Errors
    /// [`RunError::Fault`], without a cycle; [`RunError::Interrupted`]. The launch cannot go on then.
    pub fn skip(
        &mut self,
        workgroups: u64,
        accepts: &mut dyn FnMut(&CoreCounters) -> bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Skip, RunError> {
        let Some((run, memory, (config, program))) = self.running_mut() else {
            return Ok(Skip::Done(Box::default()));
        };
        let (first, total) = (run.dispatcher.sent(), run.dispatcher.total());
        let range = first..total.min(first.saturating_add(workgroups));
        let bytes = memory.device_bytes() as usize;
        let mut execution = Execution::of(config, program, Arc::clone(run.context()));
        execution.confine(config, range.clone(), bytes);
        let limits = Limits { max_instructions: None, stop: run.options().stop };
        let (cycles, instructions) = (run.now() - run.start, run.instructions());
        let mut show = |now: functional::ExecutionProgress| {
            progress(Progress {
                cycles,
                instructions: instructions + now.instructions,
                workgroups: now.workgroups,
                total_workgroups: total,
            });
        };
        memory.lend(|memory| {
            let ended = execution.advance(memory, Until::End, &limits, &mut show);
            let counters = execution.report().counters;
            let skip = match ended {
                Ok(_) if accepts(&counters) => Skip::Done(Box::new(counters)),
                Ok(_) => Skip::Refused,
                Err(functional::ExecutionError::NoProgress(_)) => Skip::Waits,
                Err(functional::ExecutionError::Fault(fault)) => return (Err(RunError::Fault(fault)), None),
                Err(_) => return (Err(RunError::Interrupted(run.no_progress(run.now()))), None),
            };
            let footprint = execution.take_footprint();
            if let Skip::Done(_) = skip {
                run.dispatcher.pass(range.end - range.start);
                return (Ok(skip), footprint.map(Footprint::into_trail));
            }
            if let Some(footprint) = footprint {
                footprint.undo(memory);
            }
            (Ok(skip), None)
        })
    }
}
