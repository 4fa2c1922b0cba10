//! Runs that are stepped.

use super::{Buffer, Finished, Task, finished};
use crate::execute::{outcome, output, run_options, verify};
use crate::{checkpoints, files, observers};
use std::path::Path;
use std::sync::Arc;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Fault, Launch, Program};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::{Observer, RegisteredObservers, Sample};
use wave_machine::gpu::{Machine, RunError, RunOptions, Stop};
use wave_observe::batches::Batches;
use wave_observe::energy::Prices;
use wave_observe::figures::Step;
use wave_study::checkpoint::{Checkpoint, Identity};
use wave_study::launch::{Job, Verification};
use wave_study::summary::{Data, Outcome, Run, Session};

/// The run of a task, at some cycle.
#[derive(Debug)]
pub struct Simulation {
    machine: Machine,
    config: Config,
    program: Arc<Program>,
    name: String,
    launches: Vec<Launch>,
    expected: Option<Job>,
    data: Option<Data>,
    prices: Option<Prices>,
    buffers: Vec<Buffer>,
    options: RunOptions,
    identity: Identity,
    /// Launches that have ended.
    steps: Vec<Step>,
    /// How much threads had printed at the end of each of them.
    marks: Vec<u32>,
    registered: RegisteredObservers,
    batches: Vec<Batches>,
    /// The receivers of batches know of the launch that runs.
    is_told: bool,
}

/// Why a simulation does not go on.
#[derive(Debug)]
pub struct Ended {
    /// The outcome.
    pub outcome: Outcome,
    /// The fault, if it is one.
    pub fault: Option<Box<Fault>>,
}

impl Simulation {
    pub(super) fn new(task: Task) -> Result<Simulation, Vec<Diagnostic>> {
        let Task { args, config, prices, work, buffers, batches, .. } = task;
        let whole = [
            args.untimed.functional.then_some("--functional"),
            args.untimed.detail_from.as_ref().map(|_| "--detail-from"),
            args.untimed.sample.then_some("--sample"),
            args.output.check_races.then_some("--check-races"),
            args.output.by_buffer.then_some("--by-buffer"),
            args.output.trace.then_some("--trace"),
            (!args.output.observe.is_empty()).then_some("--observe"),
            args.traces.flag(),
        ];
        if let Some(flag) = whole.into_iter().flatten().next() {
            let message = format!("{flag} is for a run as a whole, and this one is stepped");
            return Err(vec![Diagnostic::error(message)]);
        }
        let options = RunOptions { stop: None, ..run_options(&args.machine.bounds) };
        let identity = Identity::of(&config, &work.program, &work.steps, &work.memory);
        let program = Arc::new(work.program);
        let mut simulation = Simulation {
            machine: Machine::new(config.clone(), Arc::clone(&program), work.memory),
            registered: RegisteredObservers::of(&config),
            batches,
            is_told: false,
            config,
            program,
            name: work.name,
            launches: work.steps,
            expected: work.expected,
            data: work.data,
            prices,
            buffers,
            options,
            identity,
            steps: Vec::new(),
            marks: Vec::new(),
        };
        match simulation.begin() {
            Ok(()) => Ok(simulation),
            Err(error) => match simulation.ended(&error).outcome {
                Outcome::Refused(wrong) => Err(wrong),
                _ => Err(vec![Diagnostic::error("the first launch does not begin")]),
            },
        }
    }

    /// Begins the next launch, if there is one.
    fn begin(&mut self) -> Result<(), RunError> {
        let Some(launch) = self.launches.get(self.steps.len()) else { return Ok(()) };
        self.machine.begin(launch, &self.options)?;
        self.registered.begin(launch);
        self.is_told = false;
        Ok(())
    }

    /// Tells the receivers of batches of the launch that runs, which may be under way.
    fn tell_launch(&mut self) {
        let ended = self.steps.len();
        if self.batches.is_empty() || std::mem::replace(&mut self.is_told, true) {
            return;
        }
        let start = self.steps.iter().map(|step| step.report.cycles).sum();
        let waves = self.machine.waves();
        for batches in &mut self.batches {
            batches.start(&self.program, &self.launches[ended], ended + 1, start, &waves);
        }
    }

    /// True if a receiver of batches has ended the run.
    fn is_over(&self) -> bool {
        self.batches.iter().any(Batches::is_over)
    }

    /// The machine.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The first cycle that has not been simulated.
    pub fn now(&self) -> Cycle {
        self.machine.now()
    }

    /// True if all launches have ended.
    pub fn is_done(&self) -> bool {
        self.steps.len() == self.launches.len()
    }

    /// Number of launches that have ended, and of all.
    pub fn launches(&self) -> (usize, usize) {
        (self.steps.len(), self.launches.len())
    }

    /// Parts of device memory that have names.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Simulates up to a cycle, or to the end. Stops before that if a receiver of batches ends the run.
    ///
    /// # Errors
    /// A fault, a standstill or a bound. After a bound it can go on.
    pub fn advance(&mut self, until: Cycle) -> Result<(), Box<Ended>> {
        while !self.is_done() && self.machine.now() < until {
            self.tell_launch();
            if self.is_over() {
                break;
            }
            let Simulation { machine, registered, batches, .. } = self;
            let batches = batches.iter_mut().map(|batches| batches as &mut dyn Observer);
            let all = registered.observers().chain(batches);
            let advanced = observers::as_one(all, |observer| machine.advance(until, observer));
            match advanced {
                Ok(Stop::Ended(mut report)) => {
                    self.registered.count(&mut report.plug_ins);
                    self.batches.iter_mut().for_each(|batches| batches.end(Ok(&report)));
                    let output = output(&self.program);
                    if output.printed.is_some() {
                        self.marks.push(output.mark(self.machine.memory()));
                    }
                    let launch = self.launches[self.steps.len()].clone();
                    let kernel = self.program.kernels[launch.kernel].name.clone();
                    self.steps.push(Step { kernel, launch, report: *report });
                    self.begin().map_err(|error| self.ended(&error))?;
                }
                Ok(Stop::Cycle | Stop::Observer) => break,
                Err(error) => {
                    self.batches.iter_mut().for_each(|batches| batches.end(Err(&error)));
                    return Err(self.ended(&error));
                }
            }
        }
        Ok(())
    }

    /// Gives the receivers of batches all rows so far.
    pub fn give_rest(&mut self) {
        self.batches.iter_mut().for_each(Batches::give_rest);
    }

    /// Lets the receivers of batches that have ended the run have it again.
    pub fn go_on(&mut self) {
        self.batches.iter_mut().for_each(Batches::go_on);
    }

    fn ended(&self, error: &RunError) -> Box<Ended> {
        let number = self.steps.len();
        let outcome = outcome(error, &self.launches[number], &self.program, &self.options);
        let fault = match error {
            RunError::Fault(fault) => Some(fault.clone()),
            _ => None,
        };
        Box::new(Ended { outcome: outcome.of_launch(number, self.launches.len()), fault })
    }

    /// Device memory as the host sees it. While a launch runs, what the L1s have not written back is not there.
    pub fn memory(&mut self) -> &[u8] {
        self.machine.memory()
    }

    /// What the launch that runs has counted so far; `None` once all have ended.
    pub fn totals(&mut self) -> Option<Sample> {
        self.machine.totals()
    }

    /// The run so far, as a result: with the launches that have ended. Device memory is copied.
    pub fn result(&mut self) -> Finished {
        let memory = self.machine.memory().to_vec();
        let nothing = Outcome::Ended(Verification::Nothing);
        let mut run = Run { data: self.data, ..Run::new(&self.name, nothing) };
        run.steps.clone_from(&self.steps);
        run.printed = output(&self.program).read(&memory, &self.marks);
        if self.is_done() {
            run.outcome = verify(self.expected.as_ref(), &memory);
        }
        let texts = self.registered.texts().into_iter();
        run.observed = texts.map(|(name, text)| (name.to_owned(), text)).collect();
        let prices = self.prices.clone();
        let session = Session { config: &self.config, untimed: false, prices, runs: vec![run] };
        finished(session, None, memory, self.buffers.clone())
    }

    /// Writes a checkpoint, as `--checkpoint` does.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Vec<Diagnostic>> {
        let ended = self.steps.iter().map(|step| step.report.clone()).collect();
        let observers = checkpoints::of_marks(&self.marks).into_iter();
        let observers = observers.chain(checkpoints::of_observers(&self.registered)).collect();
        let checkpoint = Checkpoint { ended, snapshot: self.machine.snapshot(), observers };
        files::write_durably(path, &checkpoint.encode(self.identity), "checkpoint")
    }

    /// Goes to the state of a checkpoint of the same run, as `--resume` does.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or is no checkpoint of this run; the simulation stays as it is then.
    pub fn restore(&mut self, path: &Path) -> Result<(), Vec<Diagnostic>> {
        let checkpoint = checkpoints::read(path, self.identity, &self.launches)?;
        self.machine
            .restore_with(&checkpoint.snapshot, &self.options)
            .and_then(|()| checkpoints::restore_observers(&mut self.registered, &checkpoint.observers))
            .map_err(|misfit| vec![checkpoints::damaged(&format!("`{}`", path.display()), &misfit)])?;
        self.marks = checkpoints::marks(&checkpoint.observers);
        self.is_told = false;
        let step = |(launch, report): (&Launch, _)| Step {
            kernel: self.program.kernels[launch.kernel].name.clone(),
            launch: launch.clone(),
            report,
        };
        self.steps = self.launches.iter().zip(checkpoint.ended).map(step).collect();
        Ok(())
    }
}
