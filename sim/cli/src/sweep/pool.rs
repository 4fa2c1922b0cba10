//! Processes on this host that run the points of a sweep.
//!
//! Each process is fed by a thread and has one run at a time. A run whose process dies is given to another process once
//! more; so a killed process loses nothing, and a run that kills its process does not do so for ever.

use crate::{host_memory, interrupt};
use indicatif::ProgressBar;
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wave_isa::diagnostic::Diagnostic;

/// Signals of processes that lack memory.
const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
/// How often a run is begun.
const ATTEMPTS: u32 = 2;
/// How often the main thread looks for signals.
const PATIENCE: Duration = Duration::from_millis(30);

/// A run to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    /// Its number in the sweep.
    pub number: usize,
    /// The name of its result.
    pub key: String,
}

/// What became of the tasks. Those that are not named here have results in the store.
#[derive(Debug, Default)]
pub(crate) struct Pooled {
    /// Runs whose processes died each time, with the reason.
    pub lost: Vec<(Task, String)>,
    /// What ended all of it.
    pub error: Option<Diagnostic>,
    /// Time that the machines of all runs took.
    pub seconds: f64,
    /// Runs that ended.
    pub done: usize,
}

impl Pooled {
    /// Adds what became of further tasks.
    pub(crate) fn add(&mut self, other: Pooled) {
        self.lost.extend(other.lost);
        self.error = self.error.take().or(other.error);
        self.seconds += other.seconds;
        self.done += other.done;
    }
}

/// What the threads share.
struct Shared {
    tasks: Mutex<VecDeque<(Task, u32)>>,
    /// Where each process reads. Closing it ends the process.
    inputs: Vec<Mutex<Option<ChildStdin>>>,
}

/// What threads tell.
enum Told {
    Done(f64),
    Lost(Task, String),
    Failed(Diagnostic),
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs tasks on so many processes of `command`.
pub(crate) fn run(
    tasks: Vec<Task>,
    jobs: usize,
    command: &(dyn Fn() -> Command + Sync),
    bar: &ProgressBar,
) -> Pooled {
    let jobs = jobs.min(tasks.len()).max(1);
    let shared = Shared {
        tasks: Mutex::new(tasks.into_iter().map(|task| (task, 1)).collect()),
        inputs: (0..jobs).map(|_| Mutex::new(None)).collect(),
    };
    let mut pooled = Pooled::default();
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for slot in 0..jobs {
            let (shared, sender) = (&shared, sender.clone());
            scope.spawn(move || shared.feed(slot, command, &sender));
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(Told::Done(seconds)) => {
                    pooled.done += 1;
                    pooled.seconds += seconds;
                    bar.inc(1);
                }
                Ok(Told::Lost(task, why)) => {
                    pooled.lost.push((task, why));
                    bar.inc(1);
                }
                Ok(Told::Failed(error)) => {
                    pooled.error.get_or_insert(error);
                    shared.close();
                }
                Err(RecvTimeoutError::Timeout) => bar.tick(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if interrupt::is_asked() {
                shared.close();
            }
        }
    });
    pooled.lost.sort_by_key(|(task, _)| task.number);
    pooled
}

impl Shared {
    /// Takes all tasks away, and ends the processes.
    fn close(&self) {
        locked(&self.tasks).clear();
        self.inputs.iter().for_each(|input| drop(locked(input).take()));
    }

    fn next(&self) -> Option<(Task, u32)> {
        locked(&self.tasks).pop_front()
    }

    /// Feeds a process with tasks until there are none, and starts another when it dies.
    fn feed(&self, slot: usize, command: &(dyn Fn() -> Command + Sync), told: &Sender<Told>) {
        // If nobody listens any more, there is nobody to tell.
        let tell = |what| _ = told.send(what);
        let mut next = self.next();
        while next.is_some() && !interrupt::is_asked() {
            let (mut child, mut answers) = match self.start(slot, command) {
                Ok(started) => started,
                Err(error) => return tell(Told::Failed(error)),
            };
            while let Some((task, attempt)) = next.take() {
                match self.ask(slot, &task, &mut answers) {
                    Some(Ok(seconds)) => {
                        tell(Told::Done(seconds));
                        next = self.next();
                    }
                    Some(Err(error)) => {
                        tell(Told::Failed(error));
                    }
                    None => {
                        let status = child.wait();
                        if interrupt::is_asked() || locked(&self.inputs[slot]).is_none() {
                            break;
                        }
                        next = if attempt < ATTEMPTS {
                            Some((task, attempt + 1))
                        } else {
                            tell(Told::Lost(task, died(status.ok())));
                            self.next()
                        };
                        break;
                    }
                }
            }
            drop(locked(&self.inputs[slot]).take());
            _ = child.wait();
        }
    }

    fn start(
        &self,
        slot: usize,
        command: &(dyn Fn() -> Command + Sync),
    ) -> Result<(Child, BufReader<ChildStdout>), Diagnostic> {
        let started = command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started
            .map_err(|error| Diagnostic::error(format!("a process of the sweep cannot start: {error}")))?;
        *locked(&self.inputs[slot]) = child.stdin.take();
        match child.stdout.take() {
            Some(answers) => Ok((child, BufReader::new(answers))),
            None => Err(Diagnostic::error("a process of the sweep has no output")),
        }
    }

    /// Has a process do a task. `None` if the process has died.
    fn ask(
        &self,
        slot: usize,
        task: &Task,
        answers: &mut BufReader<ChildStdout>,
    ) -> Option<Result<f64, Diagnostic>> {
        let line = format!("{} {}\n", task.number, task.key);
        // A process that does not read has died, and its answers end too.
        _ = locked(&self.inputs[slot]).as_mut()?.write_all(line.as_bytes());
        let mut answer = String::new();
        answers.read_line(&mut answer).ok().filter(|&bytes| bytes > 0)?;
        let answer: Value = serde_json::from_str(&answer).ok()?;
        match &answer["error"] {
            Value::String(message) => {
                let error = Diagnostic::error(message.as_str());
                let hint = answer["hint"].as_str();
                Some(Err(Diagnostic { hint: hint.map(str::to_owned), ..error }))
            }
            _ => Some(Ok(answer["seconds"].as_f64().unwrap_or_default())),
        }
    }
}

/// How a process died, in words.
fn died(status: Option<ExitStatus>) -> String {
    // Nothing else in this program aborts, and of what kills a process, want of memory is what happens unasked.
    let memory = match status.and_then(signal) {
        Some(SIGABRT) => Some("an allocation failed"),
        Some(SIGKILL) => Some("killed, most likely by the kernel of the host"),
        _ => None,
    };
    if let Some(how) = memory {
        let there_is = host_memory::there_is();
        return format!("it ran out of memory {ATTEMPTS} times ({how}){there_is}; fewer --jobs need less");
    }
    match status {
        Some(status) => format!("its process died {ATTEMPTS} times: {status}"),
        None => format!("its process died {ATTEMPTS} times"),
    }
}

/// The signal that ended a process.
#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// The signal that ended a process: elsewhere there are none.
#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}
