//! Checkpoints of a run: when they are written, and how a run goes on from one.

use super::args::{CheckpointArgs, RunArgs};
use super::inputs::{self, Input};
use super::progress::Progress;
use super::terminal::Terminal;
use super::traces::{Outlives, RETIREMENT};
use super::work::Work;
use super::{files, interrupt};
use std::path::{Path, PathBuf};
use wave_capture::Misfit;
use wave_files::read;
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_isa::program::Launch;
use wave_machine::clock::{Cycle, NEVER};
use wave_machine::config::Config;
use wave_machine::core::probe::RegisteredObservers;
use wave_machine::functional::Execution;
use wave_machine::gpu::{KernelReport, Machine, RunError, RunOptions};
use wave_observe::figures::Step;
use wave_study::checkpoint::{Checkpoint, HEAD_BYTES, Identity, Refused};
use wave_study::summary::Outcome;

/// Name of the flag in messages.
const CHECKPOINT: &str = "--checkpoint";
const RESUME: &str = "--resume";
/// Most bytes of a checkpoint: four times the largest device memory.
const MOST_BYTES: u64 = 16 << 30;
/// Name of the marks in the buffer of printed text, among the states of observers.
const PRINTED: &str = "printed";
/// What the names of the states of plug-ins begin with there.
const PLUG_IN: &str = "plugins.";

/// The checkpoints of one run.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    writes: Option<Writes>,
    /// The checkpoint to go on from, until the machine has its state.
    resumes: Option<Resumes>,
    /// The retirement trace in it.
    trace: Option<Vec<u8>>,
    /// The states of observers of plug-ins in it.
    registered: Vec<(String, Vec<u8>)>,
    /// What an earlier run has left may be replaced.
    overwrites: bool,
    /// How much threads had printed at the end of each launch.
    pub(crate) marks: Vec<u32>,
}

/// What is written.
#[derive(Debug)]
struct Writes {
    path: PathBuf,
    /// A checkpoint in each cycle that is a multiple of this number.
    every: Option<Cycle>,
    on_signal: bool,
    identity: Identity,
    /// The cycle of the last one.
    last: Option<Cycle>,
}

#[derive(Debug)]
struct Resumes {
    path: PathBuf,
    checkpoint: Checkpoint,
}

impl CheckpointArgs {
    /// The first flag that was given.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        let flags = [
            (CHECKPOINT, self.checkpoint.is_some()),
            ("--checkpoint-every", self.checkpoint_every.is_some()),
            ("--checkpoint-on-signal", self.checkpoint_on_signal),
            (RESUME, self.resume.is_some()),
        ];
        flags.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// What is wrong with the flags.
    pub(crate) fn check(&self, args: &RunArgs, inputs: &[Input]) -> Vec<Diagnostic> {
        let mut wrong = Vec::new();
        let Some(flag) = self.flag() else { return wrong };
        if self.checkpoint.is_none() && flag != RESUME {
            let message = format!("{flag} says when to write a checkpoint, and none is written");
            wrong.push(Diagnostic::error(message).hint("--checkpoint FILE writes one"));
        }
        if self.checkpoint.is_some() && self.checkpoint_every.is_none() && !self.checkpoint_on_signal {
            let message = "--checkpoint: nothing says when to write it";
            let hint = "--checkpoint-every CYCLES, --checkpoint-on-signal, or both";
            wrong.push(Diagnostic::error(message).hint(hint));
        }
        if self.checkpoint_every == Some(0) {
            wrong.push(Diagnostic::error("--checkpoint-every: 0 cycles are no distance"));
        }
        if inputs.len() != 1 {
            let message = format!("{flag} is for one kernel, and {} are to run", inputs.len());
            wrong.push(Diagnostic::error(message).hint("name one kernel or launch file"));
        }
        let watching = [
            args.output.trace.then_some("--trace"),
            args.output.check_races.then_some("--check-races"),
            args.output.by_buffer.then_some("--by-buffer"),
            args.traces.files().map(|(flag, _)| flag).find(|flag| *flag != RETIREMENT),
        ];
        for watching in watching.into_iter().flatten() {
            let message =
                format!("{watching} watches the run, and a checkpoint does not hold what it has seen");
            let hint = format!("run once more without checkpoints for {watching}: both runs are the same");
            wrong.push(Diagnostic::error(message).hint(hint));
        }
        wrong
    }
}

impl Checkpoints {
    /// What the flags ask for. Reads the checkpoint to go on from, and makes sure that one can be written. `under_way` is
    /// the first launch, if its detail begins part-way.
    ///
    /// # Errors
    /// The file cannot be read or written, or is no checkpoint of this run.
    pub(crate) fn new(
        run: &RunArgs,
        config: &Config,
        work: &Work,
        under_way: Option<&Execution>,
    ) -> Result<Checkpoints, Vec<Diagnostic>> {
        let args = &run.checkpoints;
        if args.flag().is_none() {
            return Ok(Checkpoints::default());
        }
        let identity = Identity::of(config, &work.program, &work.steps, &work.memory);
        let identity = under_way.map_or(identity, |execution| identity.begun_at(execution.cycle()));
        let (mut trace, mut marks, mut registered) = (None, Vec::new(), Vec::new());
        let resumes = match &args.resume {
            Some(path) => {
                let mut checkpoint = read(path, identity, &work.steps)?;
                let observers = std::mem::take(&mut checkpoint.observers);
                marks = self::marks(&observers);
                let (of_plug_ins, others): (Vec<_>, Vec<_>) =
                    observers.into_iter().partition(|(name, _)| name.starts_with(PLUG_IN));
                registered = of_plug_ins;
                trace = others.into_iter().find(|(name, _)| name == RETIREMENT).map(|(_, saved)| saved);
                same_trace(path, trace.is_some(), run.traces.wvfi.is_some())?;
                Some(Resumes { path: path.clone(), checkpoint })
            }
            None => None,
        };
        let writes = match &args.checkpoint {
            Some(path) => {
                if args.resume.is_none() && !args.overwrite {
                    keep_checkpoint(path)?;
                }
                files::check_writable(path, CHECKPOINT)?;
                let (every, on_signal) = (args.checkpoint_every, args.checkpoint_on_signal);
                Some(Writes { path: path.clone(), every, on_signal, identity, last: None })
            }
            None => None,
        };
        Ok(Checkpoints { writes, resumes, trace, registered, overwrites: args.overwrite, marks })
    }

    /// Puts the machine and the observers of plug-ins into the state of the checkpoint to go on from, if there is one.
    /// Returns the reports of the launches that had ended.
    ///
    /// # Errors
    /// The state does not fit the machine.
    pub(crate) fn resume(
        &mut self,
        machine: &mut Machine,
        options: &RunOptions,
        registered: &mut RegisteredObservers,
    ) -> Result<Vec<KernelReport>, Vec<Diagnostic>> {
        let Some(Resumes { path, checkpoint }) = self.resumes.take() else { return Ok(Vec::new()) };
        machine
            .restore_with(&checkpoint.snapshot, options)
            .and_then(|()| restore_observers(registered, &self.registered))
            .map_err(|misfit| vec![damaged(&format!("{RESUME}: `{}`", path.display()), &misfit)])?;
        if let Some(writes) = self.writes.as_mut().filter(|writes| writes.path == path) {
            writes.last = Some(checkpoint.snapshot.now());
        }
        Ok(checkpoint.ended)
    }

    /// Whether the retirement trace has to outlive this process.
    pub(crate) fn trace(&self) -> Outlives<'_> {
        match &self.trace {
            Some(saved) => Outlives::GoesOn(saved),
            None if self.writes.is_some() => Outlives::Yes { overwrites: self.overwrites },
            None => Outlives::No,
        }
    }

    /// True if none is written.
    pub(crate) fn are_off(&self) -> bool {
        self.writes.is_none()
    }

    /// The cycle of the next checkpoint, after cycle `now`.
    pub(crate) fn next(&self, now: Cycle) -> Cycle {
        let every = self.writes.as_ref().and_then(|writes| writes.every);
        every.map_or(NEVER, |every| (now / every + 1).saturating_mul(every))
    }

    /// Writes a checkpoint; `before` are the launches that have ended, and `trace` is the retirement trace so far. If
    /// that fails, the run goes on, and the checkpoint before stays. Returns whether it is written.
    pub(crate) fn save(
        &mut self,
        machine: &Machine,
        before: &[Step],
        trace: Result<Option<Vec<u8>>, Vec<Diagnostic>>,
        registered: &RegisteredObservers,
        progress: &Progress,
    ) -> bool {
        let Some(writes) = &mut self.writes else { return false };
        let written = trace.and_then(|trace| {
            let ended = before.iter().map(|step| step.report.clone()).collect();
            let trace = trace.map(|saved| (RETIREMENT.to_owned(), saved));
            let observers = trace.into_iter().chain(of_marks(&self.marks));
            let observers = observers.chain(of_observers(registered)).collect();
            let checkpoint = Checkpoint { ended, snapshot: machine.snapshot(), observers };
            files::write_durably(&writes.path, &checkpoint.encode(writes.identity), CHECKPOINT)
        });
        match written {
            Ok(()) => writes.last = Some(machine.now()),
            Err(wrong) => {
                let warn = |why: Diagnostic| Diagnostic { severity: Severity::Warning, ..why };
                let wrong: Vec<Diagnostic> = wrong.into_iter().map(warn).collect();
                progress.aside(|| Terminal::of_environment().diagnostics(&wrong));
                return false;
            }
        }
        true
    }

    /// True if a signal has ended the run with this error and the flags ask for a checkpoint then.
    pub(crate) fn are_asked_for(&self, error: &RunError) -> bool {
        let on_signal = self.writes.as_ref().is_some_and(|writes| writes.on_signal);
        on_signal && interrupt::is_asked() && matches!(error, RunError::Interrupted(_))
    }

    /// Says in the message of an interrupted run how to go on from its last checkpoint.
    pub(crate) fn with_hint(&self, outcome: Outcome) -> Outcome {
        let Some(Writes { path, last: Some(cycle), .. }) = &self.writes else { return outcome };
        match outcome {
            Outcome::Stopped(why) if interrupt::is_asked() => {
                Outcome::Stopped(why.hint(format!("{RESUME} {} goes on from cycle {cycle}", path.display())))
            }
            outcome => outcome,
        }
    }
}

/// Refuses to replace a checkpoint by those of a run that begins anew: hours of simulation may be in it.
fn keep_checkpoint(path: &Path) -> Result<(), Vec<Diagnostic>> {
    // No more than the head is read. Nothing is lost of a file that cannot be read.
    let head = || read::sized(path, MOST_BYTES, HEAD_BYTES, |_| None);
    if !path.is_file() || !head().is_ok_and(|head| Checkpoint::is_begun_by(&head)) {
        return Ok(());
    }
    let shown = path.display();
    let message = format!("{CHECKPOINT}: `{shown}` is the checkpoint of an earlier run");
    let hint = format!("{RESUME} {shown} goes on from it; --overwrite begins anew and replaces it");
    Err(vec![Diagnostic::error(message).hint(hint)])
}

/// How much threads had printed at the end of each launch, as a state of a checkpoint.
pub(crate) fn of_marks(marks: &[u32]) -> Option<(String, Vec<u8>)> {
    let bytes = marks.iter().flat_map(|mark| mark.to_le_bytes()).collect();
    (!marks.is_empty()).then(|| (PRINTED.to_owned(), bytes))
}

/// The states of observers of plug-ins, as states of a checkpoint.
pub(crate) fn of_observers(registered: &RegisteredObservers) -> impl Iterator<Item = (String, Vec<u8>)> {
    registered.save().into_iter().map(|(name, state)| (format!("{PLUG_IN}{name}"), state))
}

/// Gives observers of plug-ins their states among those of a checkpoint.
///
/// # Errors
/// A state is missing, or does not fit.
pub(crate) fn restore_observers(
    registered: &mut RegisteredObservers,
    states: &[(String, Vec<u8>)],
) -> Result<(), Misfit> {
    registered.restore(|name| {
        let of_name = |saved: &str| saved.strip_prefix(PLUG_IN) == Some(name);
        states.iter().find(|(saved, _)| of_name(saved)).map(|(_, state)| state.as_slice())
    })
}

/// The marks among the states of a checkpoint, as [`of_marks`] has written them.
pub(crate) fn marks(observers: &[(String, Vec<u8>)]) -> Vec<u32> {
    let saved =
        observers.iter().find(|(name, _)| name == PRINTED).map_or(&[][..], |(_, saved)| saved.as_slice());
    saved.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

/// Refuses to go on without a trace that the run has begun, or with one that it has not.
fn same_trace(path: &Path, had: bool, asked: bool) -> Result<(), Vec<Diagnostic>> {
    let (what, hint) = match (had, asked) {
        (true, false) => ("is of a run that writes a trace", "give --wvfi FILE as before"),
        (false, true) => ("is of a run that writes no trace", "run from the beginning for --wvfi"),
        _ => return Ok(()),
    };
    Err(vec![Diagnostic::error(format!("{RESUME}: `{}` {what}", path.display())).hint(hint)])
}

/// What to do without this checkpoint.
const ANOTHER: &str = "go on from another checkpoint, or run from the beginning";

/// A state that no run reaches, or that does not fit its machine. The file is one of this run, so it is damaged.
pub(crate) fn damaged(file: &str, misfit: &Misfit) -> Diagnostic {
    Diagnostic::error(format!("{file} is damaged: {misfit}")).hint(ANOTHER)
}

/// Reads a checkpoint of this run.
///
/// # Errors
/// The file cannot be read, or is no checkpoint of it.
pub(crate) fn read(
    path: &Path,
    identity: Identity,
    launches: &[Launch],
) -> Result<Checkpoint, Vec<Diagnostic>> {
    let file = read::sized(path, MOST_BYTES, HEAD_BYTES, Checkpoint::length);
    let file = file.map_err(|error| vec![inputs::unreadable(path, &error, RESUME)])?;
    let checkpoint = Checkpoint::decode(&file, identity);
    let checkpoint =
        checkpoint.and_then(|it| if it.is_of(launches) { Ok(it) } else { Err(Refused::Damaged) });
    checkpoint.map_err(|refused| {
        let hint = match refused {
            Refused::Other => "--checkpoint FILE with --checkpoint-every CYCLES writes one",
            Refused::Version(_) | Refused::Layout => {
                "go on with the wave-sim that wrote it, or run from the beginning"
            }
            Refused::Config => "--config, --set and what else changes the machine have to be as they were",
            Refused::Program => "name the kernel that it was written for, as it was then",
            Refused::Launches => "the launch file, or --grid and the like, have to be as they were",
            Refused::Memory => "--seed, --size, --arg and what else fills memory have to be as they were",
            Refused::Short { .. } | Refused::Damaged => ANOTHER,
        };
        vec![Diagnostic::error(format!("{RESUME}: `{}` {refused}", path.display())).hint(hint)]
    })
}
