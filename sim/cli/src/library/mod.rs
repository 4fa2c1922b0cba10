//! Runs of the command line for other programs: the Python package is made of this.
//!
//! A [`Task`] is a kernel with its machine, its data and its flags. It runs to its end with [`Task::run`], as the command
//! would run it, or becomes a [`Simulation`], which is stepped. Nothing is printed, and warnings are returned.

mod flags;
mod given;
mod simulation;
mod unnamed;

pub use given::{Buffer, Contents, Target};
pub use simulation::{Ended, Simulation};

use super::args::RunArgs;
use super::execute::{Executed, execute_watched};
use super::inputs::{self, Input};
use super::machine::{device_memory, overridden};
use super::outputs::{self, Outputs};
use super::progress::Progress;
use super::stored::Stored;
use super::terminal::Terminal;
use super::work::{Work, work};
use super::{bindings, interrupt, observers, session};
use std::sync::atomic::AtomicBool;
use unnamed::Unnamed;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::Fault;
use wave_machine::config::Config;
use wave_observe::batches::Batches;
use wave_observe::energy::Prices;
use wave_study::launch::Verification;
use wave_study::summary::{Outcome, Session, json};

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

/// A kernel with all that its run needs.
#[derive(Debug)]
pub struct Task {
    args: RunArgs,
    config: Config,
    prices: Option<Prices>,
    stored: Stored,
    work: Work,
    outputs: Outputs,
    buffers: Vec<Buffer>,
    batches: Vec<Batches>,
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
    /// The fault that ended it, if one did.
    pub fault: Option<Box<Fault>>,
    /// Device memory.
    pub memory: Vec<u8>,
    /// Parts of it that have names.
    pub buffers: Vec<Buffer>,
}

impl Task {
    /// A kernel on a machine. `words` are flags of `wave-sim`: those of the launch, the machine and the results. `data` goes
    /// into device memory. For a buffer of a launch file it takes the place of what the file states, and then the results
    /// that the file expects do not count.
    ///
    /// # Errors
    /// Everything that is wrong with the kernel, the flags and the data.
    pub fn new(
        kernel: &Kernel,
        config: &Config,
        words: &[String],
        data: &[(Target, Contents)],
    ) -> Result<Task, Vec<Diagnostic>> {
        match kernel {
            Kernel::Named(word) => Task::of_word(word, config, words, data),
            Kernel::Text { name, extension, bytes } => {
                let file = Unnamed::new(name, extension, bytes).map_err(|error| vec![error])?;
                let task = Task::of_word(&file.word(), config, words, data);
                let mut task = task.map_err(|wrong| file.forget_all(wrong))?;
                file.forget_in(&mut task.work.program);
                task.warnings = file.forget_all(std::mem::take(&mut task.warnings));
                Ok(task)
            }
        }
    }

    fn of_word(
        word: &str,
        config: &Config,
        words: &[String],
        data: &[(Target, Contents)],
    ) -> Result<Task, Vec<Diagnostic>> {
        let one = |error: Diagnostic| vec![error];
        let mut args = flags::parse(words).map_err(one)?;
        let input = inputs::input(word).map_err(one)?;
        if let Input::Kernel(_) = input {
            given::make_room(&mut args, data)?;
        }
        args.inputs = vec![word.to_owned()];
        let wrong = session::misplaced_flags(&args, std::slice::from_ref(&input));
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let (config, mut warnings) = overridden(config.clone(), &args.machine.bounds)?;
        let config = observers::enabled(config, &args.output.observe)?;
        observers::check_timing(&args, &config)?;
        outputs::check(&args.output, device_memory(&args.machine.bounds, &config))?;
        session::check_memory(&args, &config)?;
        let prices = session::prices(&args)?;
        let stored = Stored::read(&args.traces, std::slice::from_ref(&input)).map_err(one)?;
        let mut work = work(&input, &args.launch, args.machine.data(), &config)?;
        if let Some(lack) = work.lack(&config) {
            return Err(vec![Diagnostic::error(format!("`{}` cannot run: {lack}", work.name))]);
        }
        bindings::check(&args.output, &work.bound)?;
        let outputs = Outputs::of(&args.output, &work.map(), work.memory.len() as u64)?;
        let buffers = given::buffers(&work);
        given::fill(&mut work, &buffers, data)?;
        warnings.append(&mut work.warnings);
        let batches = Vec::new();
        Ok(Task { args, config, prices, stored, work, outputs, buffers, batches, warnings })
    }

    /// The same, watched by observers; they may have to know the [machine](Self::config).
    ///
    /// # Errors
    /// A flag of a run that observers cannot watch from beginning to end.
    pub fn watched_by(self, batches: Vec<Batches>) -> Result<Task, Vec<Diagnostic>> {
        let partly = [
            self.args.untimed.functional.then_some("--functional"),
            self.args.untimed.detail_from.as_ref().map(|_| "--detail-from"),
            self.args.untimed.sample.then_some("--sample"),
            self.args.checkpoints.flag(),
        ];
        match partly.into_iter().flatten().next() {
            Some(flag) if !batches.is_empty() => {
                let message = format!("{flag} leaves out a part of the run, and observers watch all of it");
                Err(vec![Diagnostic::error(message).hint("run without it, or without observers")])
            }
            _ => Ok(Task { batches, ..self }),
        }
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
        let Task { args, config, prices, stored, mut work, outputs, buffers, batches, .. } = self;
        let instances = work.instances.take();
        let bound = std::mem::take(&mut work.bound);
        let mut progress = Progress::new(1, false);
        let executed = execute_watched(work, (&args, &stored), &config, batches, &mut progress)?;
        let Executed { run, mut memory, missed, fault } = executed;
        let ended = match &run.outcome {
            Outcome::Refused(wrong) => return Err(wrong.clone()),
            Outcome::Ended(_) => true,
            _ => false,
        };
        if let (Some(missed), true) = (missed, ended) {
            return Err(vec![missed]);
        }
        if ended {
            outputs.write(&memory, &Terminal::of_environment())?;
            instances.iter().try_for_each(|instances| instances.save(&mut memory))?;
            bindings::save(&args.output, &bound, &memory)?;
        }
        let cycles = run.total().map_or(0, |total| total.cycles);
        let calls = instances
            .filter(|_| ended)
            .map(|instances| instances.json(cycles, &instances.calls(&mut memory)));
        let session = Session { config: &config, untimed: args.untimed.functional, prices, runs: vec![run] };
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
