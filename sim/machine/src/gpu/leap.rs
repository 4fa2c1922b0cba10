//! Leaps: the machine stands still between two cycles, another executor runs its waves on, and the machine goes on with
//! them from where they have come to.
//!
//! The machine keeps all that is in flight. It takes its time as it would have, but writes no register and no local
//! memory, because these are newer. Workgroups that have ended on the way are replaced by those that have started in their
//! places. Device memory, the L2 and the L1s get the values of then, and the L2 the lines that were touched last.
//!
//! The executor, the [`Companion`], has all of the launch from its beginning, so what it has in memory in the end is exact.
//! What the machine has in between is not: stores and atomics that were in flight at a leap come late. So a leap gives it the
//! companion's bytes, its counts of instructions are not used, and at the end of the launch it gets the companion's
//! memory.

use super::machine::Machine;
use super::{Progress, RunError, RunOptions};
use crate::clock::Cycle;
use crate::core::handover::{Handed, Handover};
use crate::core::view::CoreView;
use crate::functional::{self, Execution, Issued, Leap, Limits, Until};
use crate::memory::Pages;
use crate::stats::CoreCounters;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A launch beside the machine that simulates it, executed without timing on device memory of its own.
#[derive(Debug)]
pub struct Companion {
    execution: Execution,
    /// None before the first leap.
    memory: Option<Vec<u8>>,
    /// Device memory at the beginning.
    before: Pages,
    /// A cycle since the last leap, and what the waves had issued then.
    looked: (Cycle, Issued),
    /// Lines that it has stored to on the way to the last leap and in it.
    stored: Vec<u32>,
}

/// What became of a leap.
#[derive(Debug)]
pub enum Leapt {
    /// The waves have gone on. Counters that only timing gives are 0.
    Counted(Box<CoreCounters>),
    /// Nothing has changed: a workgroup is on its way to a core.
    NotNow,
    /// Nothing has changed: the companion does not come to where the machine stands, because waves wait for others.
    Astray,
}

impl Companion {
    /// Wave instructions of the whole launch, if the workgroups that have not ended have as many as those that have; `None`
    /// if none has. As of the last leap.
    pub fn expected_instructions(&self) -> Option<f64> {
        self.execution.expected_steps()
    }
}

impl Machine {
    /// A companion of the launch, of which nothing has been simulated yet; `None` without a launch.
    ///
    /// # Errors
    /// [`RunError::Launch`] if the kernel cannot run on this machine.
    pub fn companion(&mut self) -> Result<Option<Companion>, RunError> {
        let Some((run, memory, (config, program))) = self.running_mut() else { return Ok(None) };
        let execution = Execution::of(config, program, Arc::clone(run.context()));
        memory.host_memory();
        let before = memory.image().pages();
        let looked = (run.now(), Issued::new());
        Ok(Some(Companion { execution, memory: None, before, looked, stored: Vec::new() }))
    }

    /// Notes how far the waves have come since the last leap, for the next one: about halfway between them. Whether a wave
    /// is faster than others shows before and behind it.
    pub fn look_at_waves(&mut self, companion: &mut Companion) {
        if let Some((run, ..)) = self.running_mut() {
            let stands =
                run.cores.iter().filter_map(|core| CoreView::of(core).stands(run.cores.len())).flatten();
            companion.looked = (run.now(), stands.map(|it| ((it.group, it.wave), it.issued)).collect());
        }
    }

    /// Lets every wave go on without timing, about as far as it would come in so many cycles. No cycle passes. It goes less
    /// far if the launch nears its end. Without a launch nothing happens.
    ///
    /// # Errors
    /// [`RunError::Fault`], without a cycle; [`RunError::Interrupted`]. The launch cannot go on then.
    pub fn leap(
        &mut self,
        companion: &mut Companion,
        cycles: f64,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Leapt, RunError> {
        let Some((run, memory, (config, _))) = self.running_mut() else { return Ok(Leapt::NotNow) };
        let cores = run.cores.len();
        let mut stands = Vec::new();
        for core in run.cores.iter() {
            let Some(of_core) = CoreView::of(core).stands(cores) else { return Ok(Leapt::NotNow) };
            stands.extend(of_core);
        }
        let (now, limits) = (run.now(), Limits { max_instructions: None, stop: run.options().stop });
        let (at, issued) = &companion.looked;
        let leap =
            Leap { config, now, sent: run.dispatcher.sent(), stands: &stands, looked: (*at, issued), cycles };
        let mut show = |it: functional::ExecutionProgress| progress(shown(now - run.start, it));
        let stored = companion.memory.get_or_insert_with(|| companion.before.memory());
        let leapt = companion.execution.leap(stored, &leap, &limits, &mut show);
        let leapt = match leapt {
            Ok(leapt) => leapt,
            Err(functional::ExecutionError::Fault(fault)) => return Err(RunError::Fault(fault)),
            Err(_) => return Err(RunError::Interrupted(run.no_progress(now))),
        };
        let Some(footprint) = companion.execution.take_footprint() else { return Ok(Leapt::Astray) };
        let Some(counters) = leapt else {
            companion.stored.extend(footprint.lines());
            return Ok(Leapt::Astray);
        };
        let line_bytes = footprint.geometry().0 as usize;
        memory.lend(|memory| {
            // What the machine has stored by itself is among these, also if it was in flight at the last leap.
            for &line in companion.stored.iter().chain(footprint.lines()) {
                let bytes = line as usize..memory.len().min(line as usize + line_bytes);
                memory[bytes.clone()].copy_from_slice(&stored[bytes]);
            }
            companion.stored.clear();
            companion.stored.extend(footprint.lines());
            ((), Some(footprint.into_trail()))
        });
        let contexts = Arc::clone(&run.spec.contexts);
        for index in 0..cores {
            let core = run.cores.get_mut(index).0;
            Handover::to(core, &contexts).forget_in_flight();
            core.refresh_l1(|address| memory.line(address));
        }
        let places: BTreeSet<usize> = stands.iter().map(|stand| stand.place).collect();
        for place in places {
            let workgroup = companion.execution.workgroup(place);
            let core = run.cores.get_mut(place % cores).0;
            let (index, id, local) = (place / cores, workgroup.id, &workgroup.local);
            let handed = Handed { index, id, context: 0, local };
            Handover::to(core, &contexts).put(now, handed, workgroup.standing());
        }
        run.dispatcher.pass(companion.execution.started().0 - run.dispatcher.sent());
        Ok(Leapt::Counted(Box::new(counters)))
    }

    /// Ends a launch with leaps that has ended in the machine: device memory becomes
    /// the companion's at the end of the launch. Gives what the companion has counted.
    ///
    /// # Errors
    /// [`RunError::Fault`], without a cycle; [`RunError::NoProgress`]; [`RunError::Interrupted`].
    pub fn part_from(
        &mut self,
        mut companion: Companion,
        options: &RunOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<CoreCounters, RunError> {
        let limits = Limits { max_instructions: None, stop: options.stop };
        companion.execution.open();
        let mut show = |it: functional::ExecutionProgress| progress(shown(0, it));
        let mut stored = companion.memory.take().unwrap_or_else(|| companion.before.memory());
        match companion.execution.advance(&mut stored, Until::End, &limits, &mut show) {
            Ok(_) => {}
            Err(functional::ExecutionError::Fault(fault)) => return Err(RunError::Fault(fault)),
            Err(functional::ExecutionError::NoProgress(_)) => {
                return Err(RunError::NoProgress(Box::default()));
            }
            Err(_) => return Err(RunError::Interrupted(Box::default())),
        }
        self.memory_system().lend(|memory| {
            *memory = stored;
            ((), None)
        });
        Ok(companion.execution.report().counters)
    }

    /// Begins a launch with leaps anew that has gone astray in the machine: with device memory as it was, and empty caches.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn begin_again(&mut self, companion: Companion, options: &RunOptions) -> Result<(), RunError> {
        self.abandon();
        self.memory_system().lend(|memory| {
            *memory = companion.before.memory();
            ((), None)
        });
        self.begin(companion.execution.launch(), options)
    }
}

fn shown(cycles: Cycle, it: functional::ExecutionProgress) -> Progress {
    Progress {
        cycles,
        instructions: it.instructions,
        workgroups: it.workgroups,
        total_workgroups: it.total_workgroups,
    }
}
