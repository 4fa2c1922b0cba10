//! A process that runs points of a sweep. Standard input names them, a line each: the number of the run and the name of its
//! result. Standard output has a line of JSON for each that is done. The process ends when its input does.

use super::args::{PlanArgs, SweepArgs};
use super::cases::{Kernels, Sweep};
use super::simulate;
use crate::{Ended, Exit, interrupt};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;
use wave_files::read;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::gpu::RunOptions;
use wave_study::sweep::{Found, Store};

/// Runs what standard input names.
///
/// # Errors
/// Only those of the plan. Others go to standard output.
pub(crate) fn run(args: &SweepArgs) -> Ended {
    interrupt::stop();
    let mut sweep = Sweep::read(&args.plan, args.draft()?)?;
    sweep.make_points()?;
    let store = Store::open(&args.plan.store).map_err(|error| vec![error])?;
    let options = simulate::options(sweep.bounds);
    let mut kernels = Kernels::default();
    for line in lines() {
        let Some((number, key)) = line.split_once(' ').and_then(|(n, key)| Some((n.parse().ok()?, key)))
        else {
            say(&failed(&Diagnostic::error(format!("`{line}` names no run of the sweep"))));
            continue;
        };
        let reply = match one(&mut sweep, &args.plan, &mut kernels, (number, key), &store, &options) {
            Ok(seconds) => json!({"run": number, "seconds": seconds}),
            Err(_) if interrupt::is_asked() => return Ok(Exit::Fault),
            Err(error) => failed(&error),
        };
        say(&reply);
    }
    Ok(Exit::Success)
}

/// Lines of standard input. When it ends, the starter has ended or wants no more, so a run under way stops too.
fn lines() -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in read::lines(io::stdin().lock()).map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
        interrupt::ask();
    });
    receiver
}

/// Says something to the starter. If that has gone, standard input ends too.
fn say(reply: &Value) {
    let mut out = io::stdout().lock();
    _ = writeln!(out, "{reply}").and_then(|()| out.flush());
}

fn failed(error: &Diagnostic) -> Value {
    json!({"error": error.message, "hint": error.hint})
}

/// Runs the run with this number unless the store has its result. Returns the time that the machine took.
fn one(
    sweep: &mut Sweep,
    args: &PlanArgs,
    kernels: &mut Kernels,
    (number, name): (usize, &str),
    store: &Store,
    options: &RunOptions,
) -> Result<f64, Diagnostic> {
    let changed = || {
        Diagnostic::error(format!(
            "the inputs of the sweep have changed since it began: run {} is another",
            number + 1
        ))
        .hint("the same command begins with the new ones; what is done is kept")
    };
    if number >= sweep.len() {
        return Err(changed());
    }
    let case = sweep.case(number);
    let config = sweep.machine(case.point).map_err(|_| changed())?;
    let kernel = kernels.load(sweep, args, case, &config).map_err(|_| changed())?;
    if wave_study::sweep::key(&config, kernel.digest(), sweep.bounds) != name {
        return Err(changed());
    }
    if let Found::Result(_) = store.get(name) {
        return Ok(0.0);
    }
    let start = Instant::now();
    let measured = simulate::run(&kernel, &config, options)?;
    let seconds = start.elapsed().as_secs_f64();
    store.put(name, &measured)?;
    Ok(seconds)
}
