//! Runs of the command line for other programs: the Python package is made of this.
//!
//! A [`Task`] is a kernel with its machine, its data and its flags. It runs to its end with [`Task::run`], as the command
//! would run it, or becomes a [`Simulation`], which is stepped. Nothing is printed, and warnings are returned.

use super::args::{Cli, RunArgs};
use super::execute::{Executed, execute, outcome, run_options, verify};
use super::inputs::{self, Input};
use super::machine::{device_memory, overridden};
use super::progress::Progress;
use super::terminal::{Terminal, reason};
use super::work::{Work, work};
use super::{bindings, checkpoints, files, interrupt, session, values};
use clap::Parser;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;
use wave_isa::diagnostic::{Diagnostic, Place};
use wave_isa::program::{Fault, Launch, Program};
use wave_isa::suggest::did_you_mean;
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::Sample;
use wave_machine::gpu::{Machine, RunError, RunOptions, Stop};
use wave_observe::energy::Prices;
use wave_observe::figures::Step;
use wave_study::checkpoint::{Checkpoint, Identity};
use wave_study::launch::{ElementType, Job, Verification};
use wave_study::summary::{Outcome, Run, Session, json};

/// What runs.
#[derive(Debug, Clone)]
pub enum Kernel {
    /// A kernel file or a launch file by its path, or a name of the suite.
    Named(String),
    /// A kernel file that is not on disk.
    Text {
        /// Its name for reports and messages, without extension.
        name: String,
        /// Its extension, which tells the formats of text: `wave`, `wgsl`, `c`.
        extension: String,
        /// What it holds.
        bytes: Vec<u8>,
    },
}

/// Where data goes.
#[derive(Debug, Clone)]
pub enum Target {
    /// A buffer: that of a launch file by its name, that of a shader by its binding, such as `0.1`.
    Buffer(String),
    /// Device memory from this byte on. It is for kernel files.
    Address(u64),
}

/// Data for a kernel.
#[derive(Debug, Clone)]
pub enum Contents {
    /// These bytes.
    Bytes(Vec<u8>),
    /// So many zeros.
    Zeros(u64),
}

impl Contents {
    fn len(&self) -> u64 {
        match self {
            Contents::Bytes(bytes) => bytes.len() as u64,
            Contents::Zeros(bytes) => *bytes,
        }
    }

    fn write(&self, memory: &mut [u8]) {
        match self {
            Contents::Bytes(bytes) => memory.copy_from_slice(bytes),
            Contents::Zeros(_) => memory.fill(0),
        }
    }
}

/// A named part of device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// Its name; the binding of a buffer of a shader.
    pub name: String,
    /// Its bytes.
    pub range: Range<usize>,
    /// The type of its elements, if a launch file says it.
    pub element: Option<ElementType>,
}

/// A kernel with all that its run needs.
#[derive(Debug)]
pub struct Task {
    args: RunArgs,
    config: Config,
    prices: Option<Prices>,
    work: Work,
    buffers: Vec<Buffer>,
    warnings: Vec<Diagnostic>,
}

/// A run that has ended, one way or another.
#[derive(Debug)]
pub struct Finished {
    /// What `--format json` prints of it.
    pub document: String,
    /// For instances of a module: what `--format json` prints of their calls.
    pub calls: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The fault that ended it, and its message, if one did.
    pub fault: Option<Box<Fault>>,
    /// Device memory.
    pub memory: Vec<u8>,
    /// Parts of it that have names.
    pub buffers: Vec<Buffer>,
}

impl Task {
    /// A kernel on a machine. `words` are flags of `wave-sim`: those of the launch, the machine and the results. `given`
    /// is data. Data for a buffer of a launch file takes the place of what the file states, and then the results that it
    /// expects do not count.
    ///
    /// # Errors
    /// Everything that is wrong with the kernel, the flags and the data.
    pub fn new(
        kernel: &Kernel,
        config: &Config,
        words: &[String],
        given: &[(Target, Contents)],
    ) -> Result<Task, Vec<Diagnostic>> {
        match kernel {
            Kernel::Named(word) => Task::of_word(word, config, words, given),
            Kernel::Text { name, extension, bytes } => {
                let folder = folder_of(name, extension, bytes).map_err(|error| vec![error])?;
                let place = Unnamed { prefix: format!("{}/", folder.path().display()) };
                let file = folder.path().join(format!("{name}.{extension}"));
                let task = Task::of_word(&file.to_string_lossy(), config, words, given);
                let mut task = task.map_err(|wrong| place.forget_all(wrong))?;
                place.forget_in(&mut task.work.program);
                task.warnings = place.forget_all(std::mem::take(&mut task.warnings));
                Ok(task)
            }
        }
    }

    fn of_word(
        word: &str,
        config: &Config,
        words: &[String],
        given: &[(Target, Contents)],
    ) -> Result<Task, Vec<Diagnostic>> {
        let one = |error: Diagnostic| vec![error];
        let mut args = parse(words).map_err(one)?;
        let input = inputs::input(word).map_err(one)?;
        if let Input::Kernel(_) = input {
            make_room(&mut args, given)?;
        }
        args.inputs = vec![word.to_owned()];
        let wrong = session::misplaced_flags(&args, std::slice::from_ref(&input));
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let (config, mut warnings) = overridden(config.clone(), &args.machine)?;
        session::check_outputs(&args, device_memory(&args.machine, &config))?;
        let prices = session::prices(&args)?;
        let mut work = work(&input, &args.launch, args.machine.data(), &config)?;
        if let Some(lack) = work.lack(&config) {
            return Err(vec![Diagnostic::error(format!("`{}` cannot run: {lack}", work.name))]);
        }
        bindings::check(&args.output, &work.bound)?;
        let buffers = buffers(&work);
        fill(&mut work, &buffers, given)?;
        warnings.append(&mut work.warnings);
        Ok(Task { args, config, prices, work, buffers, warnings })
    }

    /// The machine, with what flags have changed.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What there is to say about the kernel and the flags.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Runs it to its end, or until `stop` is true.
    ///
    /// # Errors
    /// The machine cannot run the kernel, and files that flags name cannot be read or written.
    pub fn run(self, stop: &'static AtomicBool) -> Result<Finished, Vec<Diagnostic>> {
        interrupt::stopped_by(stop, || self.run_here())
    }

    fn run_here(self) -> Result<Finished, Vec<Diagnostic>> {
        let Task { args, config, prices, mut work, buffers, .. } = self;
        let instances = work.instances.take();
        let bound = std::mem::take(&mut work.bound);
        let mut progress = Progress::new(1, false);
        let Executed { run, mut memory, missed, fault } = execute(work, &args, &config, &mut progress)?;
        let ended = match &run.outcome {
            Outcome::Refused(wrong) => return Err(wrong.clone()),
            Outcome::Ended(_) => true,
            _ => false,
        };
        if let (Some(missed), true) = (missed, ended) {
            return Err(vec![missed]);
        }
        if ended {
            session::write_results(&args, &memory, &Terminal::of_environment())?;
            bindings::save(&args.output, &bound, &memory)?;
        }
        let cycles = run.total().map_or(0, |total| total.cycles);
        let calls = instances
            .filter(|_| ended)
            .map(|instances| instances.json(cycles, &instances.calls(&mut memory)));
        let session =
            Session { config: &config, untimed: args.untimed.functional, prices, runs: vec![run] };
        Ok(Finished { calls, ..finished(session, fault, memory, buffers) })
    }

    /// The machine at the beginning of the run, to be stepped.
    ///
    /// # Errors
    /// The machine cannot run the kernel, and flags that are for runs as a whole.
    pub fn start(self) -> Result<Simulation, Vec<Diagnostic>> {
        Simulation::new(self)
    }
}

/// The run of a task, at some cycle.
#[derive(Debug)]
pub struct Simulation {
    machine: Machine,
    config: Config,
    program: Arc<Program>,
    name: String,
    launches: Vec<Launch>,
    expected: Option<Job>,
    prices: Option<Prices>,
    buffers: Vec<Buffer>,
    options: RunOptions,
    identity: Identity,
    /// Launches that have ended.
    steps: Vec<Step>,
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
    fn new(task: Task) -> Result<Simulation, Vec<Diagnostic>> {
        let Task { args, config, prices, work, buffers, .. } = task;
        let whole = [
            args.untimed.functional.then_some("--functional"),
            args.untimed.detail_from.as_ref().map(|_| "--detail-from"),
            args.output.check_races.then_some("--check-races"),
            args.output.by_buffer.then_some("--by-buffer"),
            args.output.trace.then_some("--trace"),
            args.traces.flag(),
        ];
        if let Some(flag) = whole.into_iter().flatten().next() {
            let message = format!("{flag} is for a run as a whole, and this one is stepped");
            return Err(vec![Diagnostic::error(message)]);
        }
        let options = RunOptions { stop: None, ..run_options(&args.machine) };
        let identity = Identity::of(&config, &work.program, &work.steps, &work.memory);
        let program = Arc::new(work.program);
        let mut simulation = Simulation {
            machine: Machine::new(config.clone(), Arc::clone(&program), work.memory),
            config,
            program,
            name: work.name,
            launches: work.steps,
            expected: work.expected,
            prices,
            buffers,
            options,
            identity,
            steps: Vec::new(),
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
        match self.launches.get(self.steps.len()) {
            Some(launch) => self.machine.begin(launch, &self.options),
            None => Ok(()),
        }
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

    /// Simulates up to a cycle, or to the end.
    ///
    /// # Errors
    /// A fault, a standstill or a bound. After a bound it can go on.
    pub fn advance(&mut self, until: Cycle) -> Result<(), Ended> {
        while !self.is_done() && self.machine.now() < until {
            match self.machine.advance(until, None) {
                Ok(Stop::Ended(report)) => {
                    let launch = self.launches[self.steps.len()].clone();
                    let kernel = self.program.kernels[launch.kernel].name.clone();
                    self.steps.push(Step { kernel, launch, report: *report });
                    self.begin().map_err(|error| self.ended(&error))?;
                }
                Ok(Stop::Cycle | Stop::Observer) => break,
                Err(error) => return Err(self.ended(&error)),
            }
        }
        Ok(())
    }

    fn ended(&self, error: &RunError) -> Ended {
        let number = self.steps.len();
        let outcome = outcome(error, &self.launches[number], &self.program, &self.options);
        let fault = match error {
            RunError::Fault(fault) => Some(fault.clone()),
            _ => None,
        };
        Ended { outcome: outcome.of_launch(number, self.launches.len()), fault }
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
        let mut run = Run::new(&self.name, Outcome::Ended(Verification::Nothing));
        run.steps.clone_from(&self.steps);
        if self.is_done() {
            run.outcome = verify(self.expected.as_ref(), &memory);
        }
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
        let checkpoint = Checkpoint { ended, snapshot: self.machine.snapshot(), observers: Vec::new() };
        files::write_durably(path, &checkpoint.encode(self.identity), "checkpoint")
    }

    /// Goes to the state of a checkpoint of the same run, as `--resume` does.
    ///
    /// # Errors
    /// The file cannot be read, or is no checkpoint of this run. The simulation stays as it is then.
    pub fn restore(&mut self, path: &Path) -> Result<(), Vec<Diagnostic>> {
        let checkpoint = checkpoints::read(path, self.identity)?;
        self.machine.restore_with(&checkpoint.snapshot, &self.options).map_err(|misfit| {
            vec![Diagnostic::error(format!("`{}` does not fit this machine: {misfit}", path.display()))]
        })?;
        let step = |(launch, report): (&Launch, _)| Step {
            kernel: self.program.kernels[launch.kernel].name.clone(),
            launch: launch.clone(),
            report,
        };
        self.steps = self.launches.iter().zip(checkpoint.ended).map(step).collect();
        Ok(())
    }
}

/// The result of the one run of a session.
fn finished(
    session: Session<'_>,
    fault: Option<Box<Fault>>,
    memory: Vec<u8>,
    buffers: Vec<Buffer>,
) -> Finished {
    let document = json::document(&session);
    let outcome = session.runs.into_iter().next().map(|run| run.outcome);
    let outcome = outcome.unwrap_or(Outcome::Ended(Verification::Nothing));
    Finished { document, calls: None, outcome, fault, memory, buffers }
}

/// The flags of a run without its kernel and configuration.
fn parse(words: &[String]) -> Result<RunArgs, Diagnostic> {
    let words = std::iter::once("wave-sim").chain(words.iter().map(String::as_str));
    let Cli { command, run } = Cli::try_parse_from(words).map_err(|error| of_clap(&error))?;
    let own = "the kernel and the configuration are arguments of their own";
    let wrong = match &run {
        _ if command.is_some() => Some(("a command is no flag of a run".to_owned(), own)),
        RunArgs { inputs, .. } if !inputs.is_empty() => Some((format!("`{}` is no flag", inputs[0]), own)),
        RunArgs { config: Some(_), .. } => Some(("--config is no flag of this run".to_owned(), own)),
        RunArgs { set, .. } if !set.set.is_empty() => Some(("--set is no flag of this run".to_owned(), own)),
        RunArgs { suite: Some(_), .. } => Some(("--suite is no flag of this run".to_owned(), own)),
        RunArgs { output, .. } if !output.dumps.0.is_empty() => {
            let message = format!("{} prints, and this run does not", output.dumps.0[0].flag());
            Some((message, "the memory of its result has these bytes"))
        }
        _ => None,
    };
    match wrong {
        Some((message, hint)) => Err(Diagnostic::error(message).hint(hint)),
        None => Ok(run),
    }
}

/// The message about flags that cannot be read.
fn of_clap(error: &clap::Error) -> Diagnostic {
    let text = error.render().to_string();
    let message = text.split("\n\n").next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message).trim();
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    let error = Diagnostic::error(message);
    tip.into_iter().fold(error, |error, tip| error.hint(tip))
}

/// Adds the flags that make room for data of a kernel file.
fn make_room(args: &mut RunArgs, given: &[(Target, Contents)]) -> Result<(), Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    for (target, contents) in given {
        let bytes = contents.len();
        let added = match target {
            Target::Address(address) => values::fill_zero(&format!("{address}:u8:{bytes}"))
                .map(|fill| args.launch.fill_zero.push(fill)),
            Target::Buffer(name) => {
                values::bind(&format!("{name}=bytes:{bytes}")).map(|bind| args.launch.bind.push(bind))
            }
        };
        if let Err(why) = added {
            let hint = "a buffer of a shader is named by its binding, such as \"0.1\"; other kernel files have \
                        device memory, by address";
            wrong.push(Diagnostic::error(format!("buffers: {why}")).hint(hint));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// The parts of device memory that flags and launch files name.
fn buffers(work: &Work) -> Vec<Buffer> {
    let stated = work.expected.iter().flat_map(|job| &job.buffers).map(|buffer| Buffer {
        name: buffer.name.clone(),
        range: buffer.range(),
        element: Some(buffer.element),
    });
    let bound = work.bound.iter().map(|bound| {
        let region = bound.region();
        Buffer { name: region.name, range: region.start as usize..region.end as usize, element: None }
    });
    stated.chain(bound).collect()
}

/// Writes data into device memory, where there is room for it.
fn fill(
    work: &mut Work,
    buffers: &[Buffer],
    given: &[(Target, Contents)],
) -> Result<(), Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    for (target, contents) in given {
        let range = match target {
            Target::Address(start) if work.expected.is_none() => {
                let start = *start as usize;
                Ok(start..start + contents.len() as usize)
            }
            Target::Address(_) => {
                let message = format!("buffers: `{}` is a launch file, whose buffers have names", work.name);
                Err(Diagnostic::error(message).hint(all_names(buffers)))
            }
            Target::Buffer(name) => named(buffers, name, contents.len()),
        };
        match range {
            Ok(range) => contents.write(&mut work.memory[range]),
            Err(error) => wrong.push(error),
        }
    }
    if let Some(job) = &mut work.expected
        && !given.is_empty()
    {
        job.checks.clear();
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// The bytes of the buffer of this name, which has so many.
fn named(buffers: &[Buffer], name: &str, bytes: u64) -> Result<Range<usize>, Diagnostic> {
    let names = || buffers.iter().map(|buffer| buffer.name.as_str());
    let Some(buffer) = buffers.iter().find(|buffer| buffer.name == name) else {
        let hint = did_you_mean(name, names()).unwrap_or_else(|| all_names(buffers));
        return Err(Diagnostic::error(format!("buffers: there is no buffer `{name}`")).hint(hint));
    };
    if buffer.range.len() as u64 != bytes {
        let has = buffer.range.len();
        let message = format!("buffers: `{name}` has {has} bytes, and {bytes} are given");
        return Err(Diagnostic::error(message));
    }
    Ok(buffer.range.clone())
}

fn all_names(buffers: &[Buffer]) -> String {
    let names: Vec<&str> = buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    format!("its buffers: {}", names.join(", "))
}

/// A folder with a text as a file.
fn folder_of(name: &str, extension: &str, bytes: &[u8]) -> Result<TempDir, Diagnostic> {
    let plain = |part: &str| !part.is_empty() && !part.contains(['/', '\\', '\0']) && !part.starts_with('.');
    if !plain(name) || !plain(extension) {
        return Err(Diagnostic::error(format!("`{name}.{extension}` is no file name")));
    }
    let made = tempfile::Builder::new().prefix("wave-sim-").tempdir();
    let written = made.and_then(|folder| {
        std::fs::write(folder.path().join(format!("{name}.{extension}")), bytes)?;
        Ok(folder)
    });
    written.map_err(|error| {
        Diagnostic::error(format!("the text of `{name}` cannot be written to a file: {}", reason(&error)))
    })
}

/// The folder of a file that the user does not know of: messages leave it out.
struct Unnamed {
    prefix: String,
}

impl Unnamed {
    fn forget(&self, text: &str) -> String {
        text.replace(&self.prefix, "")
    }

    fn forget_all(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let forget = |diagnostic: Diagnostic| Diagnostic {
            message: self.forget(&diagnostic.message),
            place: diagnostic.place.map(|place| Place { file: self.forget(&place.file), ..place }),
            hint: diagnostic.hint.map(|hint| self.forget(&hint)),
            ..diagnostic
        };
        diagnostics.into_iter().map(forget).collect()
    }

    fn forget_in(&self, program: &mut Program) {
        if let Some(source) = &mut program.source {
            source.file = self.forget(&source.file);
        }
        if let Some(module) = &mut program.module {
            module.file = self.forget(&module.file);
        }
    }
}
