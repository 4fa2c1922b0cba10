//! `wave-sim sweep`: kernels on many machines.
//!
//! The starter names the result of each run before it runs: by everything that decides it. What the store has does not
//! run. Other processes run the rest and put results into the store; what they say of them is progress only. The table
//! is made from the store, in the order of the plan, so it has the same bytes however the runs went.

mod args;
pub(crate) mod cases;
mod dask;
mod output;
mod pool;
pub(crate) mod simulate;
mod worker;

pub(crate) use args::{PlanArgs, SweepArgs};

use super::files;
use super::host_memory::{self, Copies};
use super::progress;
use super::terminal::Terminal;
use super::{Ended, Exit, interrupt};
use args::Backend;
use cases::{Kernels, Sweep};
use pool::{Pooled, Task};
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::Command;
use std::time::Instant;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::config_hash;
use wave_observe::numbers::{counted, integer};
use wave_study::sweep::{Found, Heading, Row, State, Store, Table};

/// What a run holds beside its machine: device memory as it began, for other machines.
const IMAGE: Copies = Copies { images: 1, states: 0 };
/// Runs above which a sweep asks.
const ASKS_ABOVE: u64 = 10_000;

/// Runs a sweep and writes its tables.
///
/// # Errors
/// Whatever is wrong with the input, and files that cannot be written.
pub(crate) fn run(args: &SweepArgs, terminal: &Terminal) -> Ended {
    if args.worker {
        return worker::run(args);
    }
    if let (Some(scheduler), Backend::Local) = (&args.scheduler, args.backend) {
        let message = format!("--scheduler {scheduler} is for --backend dask");
        return Err(vec![Diagnostic::error(message)]);
    }
    let mut sweep = Sweep::read(&args.plan, args.draft()?)?;
    terminal.diagnostics(&sweep.warnings);
    output::check(&args.out)?;
    if !agreed(sweep.plan.runs(), args, terminal)? {
        return Ok(Exit::Success);
    }
    sweep.make_points()?;
    if sweep.points.is_empty() {
        let message = "no point of the plan fulfils its constraints";
        return Err(vec![Diagnostic::error(message)]);
    }
    let mut kernels = Kernels::default();
    terminal.diagnostics(&kernels.check(&sweep, &args.plan)?);
    let store = Store::open(&args.plan.store).map_err(|error| vec![error])?;
    terminal.diagnostics(&Vec::from_iter(store.warning()));
    interrupt::stop();
    let mut rows = rows(&mut sweep, args, &mut kernels);
    let there = fill(&mut rows, &store, terminal);
    refuse_large(&mut sweep, &mut rows);
    let start = Instant::now();
    let mut pooled = Pooled::default();
    // What is missing is seen from the store, not from what those say who ran it; so it may take several rounds.
    loop {
        let tasks = tasks(&rows);
        let wanted = tasks.len();
        if wanted == 0 || interrupt::is_asked() {
            break;
        }
        pooled.add(execute(args, tasks, terminal));
        fill(&mut rows, &store, terminal);
        lose(&mut rows, &pooled);
        if pooled.error.is_some() || self::tasks(&rows).len() == wanted {
            break;
        }
    }
    let elapsed = start.elapsed().as_secs_f64();
    let axes = sweep.plan.axes.iter().map(|axis| Heading { key: axis.key.clone(), unit: axis.unit });
    let table = Table { axes: axes.collect(), rows };
    let there_now = table.rows.iter().filter(|row| row.state != State::Missing).count();
    let missing = sweep.len() - there_now;
    if let Some(error) = pooled.error {
        terminal.diagnostics(&kept(missing, args));
        return Err(vec![error]);
    }
    if missing > 0 {
        terminal.diagnostics(&kept(missing, args));
        return Ok(Exit::Fault);
    }
    output::write(&args.out, &table, &sweep.base)?;
    terminal.out(&output::text(&table, &sweep.base, args))?;
    let seconds = pooled.seconds;
    terminal.err(&format!(
        "host: {} of {} ran, {} were in {}; seconds={elapsed:.3} simulated={seconds:.3}\n",
        pooled.done,
        counted(table.rows.len() as u64, "run"),
        there,
        args.plan.store.display()
    ));
    Ok(output::exit(&table))
}

/// Whether so many runs are wanted. If there are many, the user has to say so.
fn agreed(runs: u64, args: &SweepArgs, terminal: &Terminal) -> Result<bool, Vec<Diagnostic>> {
    if runs <= ASKS_ABOVE || args.yes {
        return Ok(true);
    }
    let many = if runs == u64::MAX { "more than 18 quintillion".to_owned() } else { integer(runs) };
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        terminal.err(&format!("The plan means {many} runs. Run them? [y/N] "));
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        return Ok(read.is_ok() && matches!(answer.trim(), "y" | "yes"));
    }
    let hint = "--latin-hypercube N takes a sample of them; --yes runs them all";
    Err(vec![Diagnostic::error(format!("the plan means {many} runs")).hint(hint)])
}

/// A row for each run. Those that cannot run say why, the others have the names of their results.
fn rows(sweep: &mut Sweep, args: &SweepArgs, kernels: &mut Kernels) -> Vec<Row> {
    let mut rows = Vec::with_capacity(sweep.len());
    let each = sweep.workloads.len() * sweep.plan.seeds.len();
    for point in 0..sweep.points.len() {
        if interrupt::is_asked() {
            break;
        }
        let config = sweep.machine(point);
        for number in point * each..(point + 1) * each {
            let case = sweep.case(number);
            let mut row = Row {
                point: point as u64 + 1,
                values: sweep.points[point].values.clone(),
                kernel: sweep.workloads[case.kernel].name(),
                seed: case.seed,
                config: None,
                core_clock_mhz: None,
                result: None,
                state: State::Missing,
            };
            match &config {
                Err(why) => row.state = State::Invalid(why.clone()),
                Ok(config) => {
                    row.config = Some(config_hash(config));
                    row.core_clock_mhz = Some(config.core_clock_mhz);
                    match kernels.key(sweep, &args.plan, case, config) {
                        Err(why) => row.state = State::Refused(why),
                        Ok(key) => row.result = Some(key),
                    }
                }
            }
            rows.push(row);
        }
    }
    rows
}

/// Takes what the store has. Returns the number of rows that it has.
fn fill(rows: &mut [Row], store: &Store, terminal: &Terminal) -> usize {
    let mut found = 0;
    for row in rows.iter_mut().filter(|row| row.state == State::Missing) {
        match store.get(row.result.as_deref().unwrap_or_default()) {
            Found::Result(measured) => {
                row.state = State::Measured(measured);
                found += 1;
            }
            Found::Nothing => {}
            Found::Broken(why) => {
                let warning = Diagnostic::warning(format!("--store: {why}; it runs again"));
                terminal.diagnostics(&[warning]);
            }
        }
    }
    found
}

/// Marks the rows that have no result and whose machine needs more memory than the host has. What the store has of such a
/// machine, from another host, counts.
fn refuse_large(sweep: &mut Sweep, rows: &mut [Row]) {
    let mut known: Option<(u64, Option<String>)> = None;
    for row in rows.iter_mut().filter(|row| row.state == State::Missing) {
        if known.as_ref().is_none_or(|(point, _)| *point != row.point) {
            let why = sweep.machine(row.point as usize - 1).ok().and_then(|config| {
                host_memory::check(&config, config.device_memory_bytes, IMAGE)
                    .err()
                    .map(|error| error.message)
            });
            known = Some((row.point, why));
        }
        if let Some((_, Some(why))) = &known {
            row.state = State::Invalid(why.clone());
        }
    }
}

/// What has to run, each result once.
fn tasks(rows: &[Row]) -> Vec<Task> {
    let mut seen = HashSet::new();
    let missing = rows.iter().enumerate().filter(|(_, row)| row.state == State::Missing);
    missing
        .filter_map(|(number, row)| Some(Task { number, key: row.result.clone()? }))
        .filter(|task| seen.insert(task.key.clone()))
        .collect()
}

fn execute(args: &SweepArgs, tasks: Vec<Task>, terminal: &Terminal) -> Pooled {
    let jobs = args.plan.jobs();
    let Some(words) = worker_words() else {
        let error = Diagnostic::error("the program does not find itself, to start processes");
        return Pooled { error: Some(error), ..Pooled::default() };
    };
    let bar = progress::counting_down("runs", tasks.len() as u64);
    let pooled = match args.backend {
        Backend::Local => {
            let command = || {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                command
            };
            pool::run(tasks, jobs, &command, &bar)
        }
        Backend::Dask => dask::run(&tasks, jobs, &words, args.scheduler.as_deref(), &bar, terminal),
    };
    bar.finish_and_clear();
    for (task, why) in &pooled.lost {
        terminal.diagnostics(&[Diagnostic::error(format!("run {}: {why}", task.number + 1))]);
    }
    pooled
}

/// The command line of a process that runs points of this sweep: this one's own, with one flag more.
fn worker_words() -> Option<Vec<OsString>> {
    let (mut words, command_line) = super::own_words()?;
    let (sweep, rest) = command_line.split_first()?;
    // In front of the others: after `--` it would be a flag of clang.
    words.extend([sweep.clone(), "--worker".into()]);
    words.extend_from_slice(rest);
    Some(words)
}

/// Marks the rows whose processes died.
fn lose(rows: &mut [Row], pooled: &Pooled) {
    let lost: HashMap<&str, &str> =
        pooled.lost.iter().map(|(task, why)| (task.key.as_str(), why.as_str())).collect();
    for row in rows.iter_mut().filter(|row| row.state == State::Missing) {
        if let Some(why) = row.result.as_deref().and_then(|key| lost.get(key)) {
            row.state = State::Lost((*why).to_owned());
        }
    }
}

/// What is said when runs are missing.
fn kept(missing: usize, args: &SweepArgs) -> Vec<Diagnostic> {
    let message = format!(
        "{} did not run; what is done is in `{}`, and the same command goes on from there",
        counted(missing as u64, "run"),
        args.plan.store.display()
    );
    vec![Diagnostic::warning(message)]
}

/// The name of an output file: the stem that `--out` gives, and an extension.
fn named(out: &std::path::Path, extension: &str) -> std::path::PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

/// As [`files::write`], for an output of `--out`.
fn write_file(out: &std::path::Path, extension: &str, bytes: &[u8]) -> Result<(), Vec<Diagnostic>> {
    files::write(&named(out, extension), bytes, "--out")
}
