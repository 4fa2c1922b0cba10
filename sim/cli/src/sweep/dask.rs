//! Workers of Dask that run the points of a sweep, through a program in Python that is part of this one.

use super::pool::{Pooled, Task};
use crate::interrupt;
use crate::terminal::Terminal;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use wave_isa::diagnostic::Diagnostic;

const PROGRAM: &str = include_str!("dask.py");
/// How often the main thread looks for signals.
const PATIENCE: Duration = Duration::from_millis(30);

/// Runs tasks on the workers of a scheduler, or on so many of a cluster on this host. `words` is the command of a process
/// that runs points.
pub(crate) fn run(
    tasks: &[Task],
    jobs: usize,
    words: &[OsString],
    scheduler: Option<&str>,
    bar: &ProgressBar,
    terminal: &Terminal,
) -> Pooled {
    match start(tasks, jobs, words, scheduler, bar, terminal) {
        Ok(pooled) => pooled,
        Err(error) => Pooled { error: Some(error), ..Pooled::default() },
    }
}

fn start(
    tasks: &[Task],
    jobs: usize,
    words: &[OsString],
    scheduler: Option<&str>,
    bar: &ProgressBar,
    terminal: &Terminal,
) -> Result<Pooled, Diagnostic> {
    let folder = std::env::current_dir()
        .map_err(|error| Diagnostic::error(format!("the working folder is not known: {error}")))?;
    // A file of a scheduler is named by its whole path, since Dask may look for it from elsewhere.
    let scheduler = scheduler.map(|name| match Path::new(name).canonicalize() {
        Ok(path) => path.to_string_lossy().into_owned(),
        Err(_) => name.to_owned(),
    });
    let plan = json!({
        "command": words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>(),
        "folder": folder.to_string_lossy(),
        "tasks": tasks.iter().map(|task| json!([task.number, task.key])).collect::<Vec<_>>(),
        "scheduler": scheduler,
        "jobs": jobs,
    });
    let mut child = Command::new("python3")
        .args(["-c", PROGRAM])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| {
            Diagnostic::error(format!("--backend dask: python3 cannot start: {error}"))
                .hint("it needs Python with the packages `distributed` and `cryptography`")
        })?;
    let mut input = child.stdin.take();
    // A program that does not read has ended, and so does its output.
    _ = input.as_mut().map(|input| writeln!(input, "{plan}"));
    let output = child.stdout.take();
    let pooled = std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        scope.spawn(move || {
            for line in
                output.into_iter().flat_map(|output| BufReader::new(output).lines()).map_while(Result::ok)
            {
                if let Ok(told) = serde_json::from_str::<Value>(&line)
                    && sender.send(told).is_err()
                {
                    return;
                }
            }
        });
        let mut pooled = Pooled::default();
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(told) => take(&mut pooled, &told, tasks, &mut input, bar, terminal),
                Err(RecvTimeoutError::Timeout) => bar.tick(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if interrupt::is_asked() {
                drop(input.take());
            }
        }
        pooled
    });
    drop(input);
    _ = child.wait();
    Ok(pooled)
}

/// Takes what the program says.
fn take(
    pooled: &mut Pooled,
    told: &Value,
    tasks: &[Task],
    input: &mut Option<ChildStdin>,
    bar: &ProgressBar,
    terminal: &Terminal,
) {
    let hint = || told["hint"].as_str().map(str::to_owned);
    if let Some(message) = told["warning"].as_str() {
        let warning = Diagnostic { hint: hint(), ..Diagnostic::warning(message) };
        return bar.suspend(|| terminal.diagnostics(&[warning]));
    }
    if let Some(message) = told["error"].as_str() {
        let error = Diagnostic { hint: hint(), ..Diagnostic::error(message) };
        pooled.error.get_or_insert(error);
        // The other runs are given up: the program ends when its input does.
        drop(input.take());
        return;
    }
    bar.inc(1);
    match told["lost"].as_u64() {
        Some(number) => {
            let why = told["why"].as_str().unwrap_or("its worker was lost").to_owned();
            let task = tasks.iter().find(|task| task.number as u64 == number);
            pooled.lost.extend(task.map(|task| (task.clone(), why)));
        }
        None => {
            pooled.done += 1;
            pooled.seconds += told["seconds"].as_f64().unwrap_or_default();
        }
    }
}
