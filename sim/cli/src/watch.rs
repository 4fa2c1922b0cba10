//! Those who watch a run.

use super::args::OutputArgs;
use super::observers::as_one;
use super::terminal::Pieces;
use wave_isa::program::{Launch, Program};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::{Observer, RegisteredObservers};
use wave_machine::functional::Execution;
use wave_machine::gpu::{KernelReport, Machine, RunError};
use wave_observe::attribution::Attribution;
use wave_observe::batches::Batches;
use wave_observe::issue_trace::IssueTrace;
use wave_observe::races::RaceCheck;
use wave_observe::trace::Recorder;
use wave_study::report::Collector;

/// The observers of a run. All of them watch the same run, and none knows of the others.
#[derive(Default)]
pub(crate) struct Watch<'a> {
    /// `--trace`.
    pub issues: Option<IssueTrace<Pieces>>,
    /// `--check-races`.
    pub races: Option<RaceCheck<'a>>,
    /// `--by-buffer`.
    pub by_buffer: Option<Attribution>,
    /// The same for `--report`, of the part of the run that it is about.
    pub reported_by_buffer: Option<Attribution>,
    /// `--report`.
    pub report: Option<Collector<'a>>,
    /// Trace files and the report's pipeline view, or the search for the cycle in which a trigger fires.
    pub recorder: Option<Recorder<'static>>,
    /// Observers of plug-ins.
    pub registered: RegisteredObservers,
    /// Those of the program that has this one inside.
    pub batches: Vec<Batches>,
    /// Launches that have begun.
    begun: usize,
}

impl<'a> Watch<'a> {
    /// Those that the flags ask for, without files.
    pub(crate) fn new(flags: &OutputArgs, config: &Config, program: &'a Program) -> Watch<'a> {
        let issues = || IssueTrace::new(Pieces::new(), config);
        let races = || RaceCheck::new(program, config);
        Watch { issues: flags.trace.then(issues), races: flags.check_races.then(races), ..Watch::default() }
    }

    /// With those that make files.
    pub(crate) fn with(
        self,
        report: Option<Collector<'a>>,
        recorder: Option<Recorder<'static>>,
    ) -> Watch<'a> {
        Watch { report, recorder, ..self }
    }

    /// Called when a launch begins in cycle `start`, or goes on in detail from where it is under way. It is the only
    /// one, or one of several.
    pub(crate) fn start(
        &mut self,
        program: &Program,
        (launch, is_only): (&Launch, bool),
        under_way: Option<&Execution>,
        start: Cycle,
        machine: &mut Machine,
    ) {
        if let Some(issues) = &mut self.issues {
            let kernel = &program.kernels[launch.kernel];
            let [x, y, z] = launch.grid;
            let heading = format!("kernel {} grid {x},{y},{z}", kernel.name);
            issues.start(kernel.code.start, (!is_only).then_some(&heading));
        }
        if let Some(races) = &mut self.races {
            races.start(launch);
            under_way.into_iter().for_each(|execution| races.begin_from(execution));
        }
        self.attributions().for_each(|attribution| attribution.start(launch));
        if let Some(report) = &mut self.report {
            report.start(launch, machine);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.start(program, launch, start);
        }
        self.registered.begin(launch);
        self.begun += 1;
        self.batches.iter_mut().for_each(|batches| batches.start(program, launch, self.begun, start, &[]));
    }

    /// Called when a launch ends, or fails.
    pub(crate) fn end(&mut self, launch: &Launch, ended: Result<&KernelReport, &RunError>) {
        if let Some(issues) = &mut self.issues {
            issues.end(ended);
        }
        if let Some(races) = &mut self.races {
            races.end(launch, ended);
        }
        self.attributions().for_each(|attribution| attribution.end(ended));
        if let Some(report) = &mut self.report {
            report.end(ended);
        }
        self.batches.iter_mut().for_each(|batches| batches.end(ended));
    }

    fn attributions(&mut self) -> impl Iterator<Item = &mut Attribution> {
        self.by_buffer.iter_mut().chain(&mut self.reported_by_buffer)
    }

    /// Calls `act` with all of them as one observer, or with none if nobody watches.
    pub(crate) fn during<R>(&mut self, act: impl FnOnce(Option<&mut dyn Observer>) -> R) -> R {
        let Watch {
            issues,
            races,
            by_buffer,
            reported_by_buffer,
            report,
            recorder,
            registered,
            batches,
            begun: _,
        } = self;
        let issues = issues.as_mut().map(|issues| issues as &mut dyn Observer);
        let races = races.as_mut().map(|races| races as &mut dyn Observer);
        let by_buffer = by_buffer.as_mut().map(|share| share as &mut dyn Observer);
        let reported = reported_by_buffer.as_mut().map(|share| share as &mut dyn Observer);
        let report = report.as_mut().map(|report| report as &mut dyn Observer);
        let recorder = recorder.as_mut().map(|recorder| recorder as &mut dyn Observer);
        let built_in = [issues, races, by_buffer, reported, report, recorder].into_iter().flatten();
        let batches = batches.iter_mut().map(|batches| batches as &mut dyn Observer);
        as_one(built_in.chain(registered.observers()).chain(batches), act)
    }
}
