//! Trace files and the report of what a program launches.

use crate::args::TraceArgs;
use crate::stored::Stored;
use crate::traces::{self, Finished, Outlives, TraceFiles};
use crate::watch::Watch;
use std::sync::{Arc, Mutex, PoisonError};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};
use wave_machine::config::Config;
use wave_machine::core::probe::Observer;
use wave_machine::gpu::{KernelReport, Machine, RunError};
use wave_observe::trace::How;
use wave_study::report::page::page;
use wave_study::report::{Captured, Collector};
use wave_study::summary::{Outcome, Run};

/// The files that the user wants. The first process that launches a kernel takes them.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) traces: TraceArgs,
    pub(super) stored: Stored,
}

/// The observers of a process.
pub(super) struct Watching {
    watch: Watch<'static>,
    files: Option<TraceFiles>,
    captured: Option<Arc<Mutex<Captured>>>,
    /// The kernels so far.
    program: &'static Program,
    config: &'static Config,
    stored: Stored,
}

impl std::fmt::Debug for Watching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watching").finish_non_exhaustive()
    }
}

/// Observers borrow programs and configurations, and a process adds kernels while they watch. What they borrow stays until
/// wave-sim ends, which is soon: a program has few modules.
fn lasting<T: Clone>(value: &T) -> &'static T {
    Box::leak(Box::new(value.clone()))
}

impl Watching {
    /// Begins to watch a process of this name.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn new(
        wanted: Wanted,
        name: &str,
        config: &Config,
        program: &Program,
    ) -> Result<Watching, Vec<Diagnostic>> {
        let (config, program) = (lasting(config), lasting(program));
        let traces = wanted.traces.of_kernel(name);
        // More than one launch, so that each is watched by itself too.
        const SEVERAL: usize = 2;
        let collector = traces
            .report
            .is_some()
            .then(|| Collector::new(config, program, traces.scope()).by_launch(SEVERAL));
        let (sink, captured) = collector.as_ref().map(Collector::capture).unzip();
        let (recorder, files) = traces::open(&traces, config, sink, Outlives::No)?.unzip();
        let watch = Watch::default().with(collector, recorder);
        Ok(Watching { watch, files, captured, program, config, stored: wanted.stored })
    }

    /// Kernels are added to the program.
    pub(super) fn extend(&mut self, program: &Program) {
        if program.kernels.len() > self.program.kernels.len() {
            self.program = lasting(program);
            if let Some(report) = &mut self.watch.report {
                report.extend(self.program);
            }
        }
    }

    /// Runs a launch that is watched.
    pub(super) fn launch(
        &mut self,
        (launch, start): (&Launch, u64),
        machine: &mut Machine,
        run: impl FnOnce(&mut Machine, Option<&mut dyn Observer>) -> Result<KernelReport, RunError>,
    ) -> Result<KernelReport, RunError> {
        self.watch.start(self.program, (launch, false), None, start, machine);
        let ended = self.watch.during(|observer| run(machine, observer));
        self.watch.end(launch, ended.as_ref());
        ended
    }

    /// Writes the files.
    ///
    /// # Errors
    /// One that cannot be written.
    pub(super) fn finish(self, machine: &mut Machine, run: &Run, cycles: u64) -> Result<(), Vec<Diagnostic>> {
        let Watch { report: collector, recorder, .. } = self.watch;
        let Some((recorder, files)) = recorder.zip(self.files) else { return Ok(()) };
        let (how, message) = match &run.outcome {
            Outcome::Fault(why) => (How::Fault, why.message.lines().next().unwrap_or("")),
            Outcome::Stopped(why) => (How::Stopped, why.message.lines().next().unwrap_or("")),
            _ => (How::Complete, ""),
        };
        let is_reported = collector.as_ref().is_some_and(|collector| !collector.is_empty());
        match files.finish(recorder, how, cycles, message, is_reported)? {
            Finished::Missed(why) => Err(vec![why]),
            Finished::Written(file) => {
                let (Some(file), Some(collector), Some(captured)) = (file, collector, self.captured) else {
                    return Ok(());
                };
                let gathered = collector.finish(machine, &captured);
                let beside = self.stored.of_kernel(&run.name);
                traces::write_report(file, &page(self.config, self.program, run, &gathered, &beside))
            }
        }
    }
}

/// The wanted files, shared by all processes until one takes them.
pub(super) type Shared = Mutex<Option<Wanted>>;

/// Takes what is asked for, if nobody has.
pub(super) fn take(shared: &Shared) -> Option<Wanted> {
    shared.lock().unwrap_or_else(PoisonError::into_inner).take()
}
