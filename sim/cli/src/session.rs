//! Runs kernels, launch files or the suite, and prints the results.

use super::args::{Format, LaunchArgs, RunArgs, SuiteName};
use super::bindings;
use super::execute::{Executed, execute, exit_of};
use super::host_memory::{self, Copies};
use super::inputs::{self, Input};
use super::machine::{device_memory, machine};
use super::outputs::{self, Outputs};
use super::progress::Progress;
use super::stored::Stored;
use super::terminal::Terminal;
use super::work;
use super::{Ended, Exit, functional, interrupt, observers};
use std::time::{Duration, Instant};
use wave_compile::lower::instance::Ended::Returned;
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_machine::config::Config;
use wave_machine::gpu::KernelReport;
use wave_observe::energy::Prices;
use wave_study::launch::{self, Verification};
use wave_study::summary::table::Table;
use wave_study::summary::{Outcome, Run, Session, energy, json, text, untimed};

/// Runs what the command line says and reports it.
///
/// # Errors
/// The errors of the input. If several inputs run, each is reported by itself.
pub(crate) fn run(args: &RunArgs, terminal: &Terminal) -> Ended {
    interrupt::stop();
    let inputs = inputs(args)?;
    let config = machine(args.config.as_deref(), &args.set, &args.machine.bounds, terminal)?;
    let config = observers::enabled(config, &args.output.observe)?;
    observers::check_timing(args, &config)?;
    check_memory(args, &config)?;
    outputs::check(&args.output, device_memory(&args.machine.bounds, &config))?;
    let stored = Stored::read(&args.traces, &inputs).map_err(|error| vec![error])?;
    if args.output.dump_regs {
        let message = "--dump-regs prints nothing, as in the reference emulator";
        let hint = "--wvfi FILE.txt has the value of every register that is written, with its cycle";
        terminal.diagnostics(&[Diagnostic::warning(message).hint(hint)]);
    }
    match inputs.as_slice() {
        [input] => one(input, args, &stored, &config, terminal),
        inputs => several(inputs, args, &stored, &config, terminal),
    }
}

/// Refuses a run for which the host lacks memory.
///
/// # Errors
/// What it needs.
pub(crate) fn check_memory(args: &RunArgs, config: &Config) -> Result<(), Vec<Diagnostic>> {
    if args.untimed.functional {
        return Ok(());
    }
    // The state that goes into a file is there as bytes, and compressed.
    let states = if args.checkpoints.flag().is_some() { 2 } else { 0 };
    // The trigger of a report is found by a run of its own.
    let images = u64::from(args.traces.report.is_some() && args.traces.trigger().is_some());
    let device_memory = device_memory(&args.machine.bounds, config);
    host_memory::check(config, device_memory, Copies { images, states }).map_err(|error| vec![error])
}

/// Runs one input: a full report, dumps and saves.
fn one(input: &Input, args: &RunArgs, stored: &Stored, config: &Config, terminal: &Terminal) -> Ended {
    let prices = prices(args)?;
    let mut work = work::work(input, &args.launch, args.machine.data(), config)?;
    if let Some(lack) = work.lack(config) {
        return Err(vec![Diagnostic::error(format!("`{}` cannot run: {lack}", work.name))]);
    }
    let outputs = Outputs::of(&args.output, &work.map(), work.memory.len() as u64)?;
    terminal.diagnostics(&work.warnings);
    let mut progress = Progress::new(1, !args.output.trace);
    let instances = work.instances.take();
    let bound = std::mem::take(&mut work.bound);
    bindings::check(&args.output, &bound)?;
    let start = Instant::now();
    let executed = execute(work, (args, stored), config, &mut progress);
    let time = start.elapsed();
    progress.finish();
    let Executed { run, mut memory, missed, .. } = executed?;
    if args.output.format == Format::Text {
        printed(&run, args, terminal)?;
    }
    terminal.diagnostics(&run.warnings());
    match &run.outcome {
        Outcome::Refused(wrong) => return Err(wrong.clone()),
        Outcome::Fault(why) | Outcome::Stopped(why) => {
            terminal.diagnostics(std::slice::from_ref(why));
            terminal.diagnostics(missed.map(|missed| without_file(&run.name, missed)).as_slice());
        }
        _ if missed.is_some() => return Err(missed.into_iter().collect()),
        Outcome::Ended(_) => {
            outputs.write(&memory, terminal)?;
            instances.iter().try_for_each(|instances| instances.save(&mut memory))?;
            bindings::save(&args.output, &bound, &memory)?;
        }
        Outcome::Skipped(_) => {}
    }
    let mut exit = exit_of(&run);
    let untimed = args.untimed.functional;
    let ended = matches!(run.outcome, Outcome::Ended(_));
    let cycles = run.total().map_or(0, |total| total.cycles);
    let calls = instances.filter(|_| ended).map(|instances| (instances.calls(&mut memory), instances));
    let mut text = match &calls {
        Some((calls, instances)) => instances.text(cycles, calls, args.launch.instances.bits),
        None if untimed => untimed::report(&run, config),
        None => text::report(&run, config),
    };
    if args.output.stats
        && let Some(statistics) = statistics(&run, untimed, config)
    {
        text += &format!("\n{statistics}\n");
    }
    text += &race_text(&run);
    text += &buffer_text(&run);
    text += &observed_text(&run);
    if let Some(prices) = &prices
        && let Some(total) = run.total()
    {
        text += &energy::report(&total, config, prices);
    }
    let session = Session { config, untimed, prices, runs: vec![run] };
    let is_json = args.output.format == Format::Json;
    match &calls {
        Some((calls, instances)) if is_json => text = instances.json(cycles, calls),
        Some(_) => {}
        None if is_json => text = json::document(&session),
        None => text += &text::perf_line(&session),
    }
    if calls.is_some_and(|(calls, _)| calls.iter().any(|call| call.ended != Returned)) {
        exit = exit.max(Exit::Fault);
    }
    match args.output.dumps.0.is_empty() {
        true => terminal.out(&text).map(drop)?,
        false => terminal.err(&text),
    }
    terminal.err(&speed(&session, time));
    Ok(exit)
}

/// Runs several inputs, or the suite: a table whose rows appear as they are known.
fn several(inputs: &[Input], args: &RunArgs, stored: &Stored, config: &Config, terminal: &Terminal) -> Ended {
    let names: Vec<String> = inputs.iter().map(Input::name).collect();
    let untimed = args.untimed.functional;
    let table = Table::new(names.iter().map(String::as_str), untimed);
    let is_text = args.output.format == Format::Text;
    let mut progress = Progress::new(inputs.len(), true);
    let mut session = Session { config, untimed, prices: prices(args)?, runs: Vec::new() };
    let mut time = Duration::ZERO;
    // Whether requested files have been written, and whether some are missing.
    let (mut wrote, mut missed) = (false, false);
    if is_text {
        terminal.out(&(text::machine(config) + &table.header()))?;
    }
    for (input, name) in inputs.iter().zip(names) {
        progress.start_run(&name);
        let run = match work::work(input, &args.launch, args.machine.data(), config) {
            Err(wrong) => Run::new(&name, Outcome::Refused(wrong)),
            Ok(work) if work.lack(config).is_some() => {
                let lack = work.lack(config).unwrap_or_default();
                let outcome = match args.inputs.is_empty() {
                    true => Outcome::Skipped(lack),
                    false => {
                        Outcome::Refused(vec![Diagnostic::error(format!("`{name}` cannot run: {lack}"))])
                    }
                };
                Run::new(&name, outcome)
            }
            Ok(work) => {
                progress.aside(|| terminal.diagnostics(&work.warnings));
                let start = Instant::now();
                let executed = execute(work, (args, stored), config, &mut progress)?;
                time += start.elapsed();
                wrote |= executed.missed.is_none();
                missed |= executed.missed.is_some();
                let warning = executed.missed.map(|why| without_file(&name, why));
                progress.aside(|| terminal.diagnostics(warning.as_slice()));
                executed.run
            }
        };
        progress.end_run();
        progress.aside(|| {
            complain(&run, terminal);
            terminal.diagnostics(&run.warnings());
            if is_text { terminal.out(&table.row(&run, config)) } else { Ok(Exit::Success) }
        })?;
        session.runs.push(run);
        if interrupt::is_asked() {
            break;
        }
    }
    progress.finish();
    let mut text = String::new();
    if is_text {
        for run in &session.runs {
            let printed = run.printed_text();
            if !printed.is_empty() {
                text += &format!("\n{} printed\n{printed}", run.name);
            }
            text += &race_text(run);
            text += &buffer_text(run);
            text += &observed_text(run);
        }
        for run in session.runs.iter().filter(|_| args.output.stats) {
            let Some(statistics) = statistics(run, untimed, config) else { continue };
            text += &format!("\n{}\n{statistics}\n", run.name);
        }
        for run in &session.runs {
            if let (Some(prices), Some(total)) = (&session.prices, run.total()) {
                text += &format!("\n{}{}", run.name, energy::report(&total, config, prices));
            }
        }
        text += &text::perf_line(&session);
    } else {
        text = json::document(&session);
    }
    terminal.out(&text)?;
    terminal.err(&speed(&session, time));
    let left = inputs.len() - session.runs.len();
    if left > 0 {
        terminal.diagnostics(&[interrupt::left_out(left)]);
    }
    let exit = session.runs.iter().map(exit_of).max().unwrap_or(Exit::Success);
    let exit = if left > 0 { exit.max(Exit::Fault) } else { exit };
    if missed && !wrote {
        let message = "no file was written: the window or trigger has nothing of any of these kernels";
        terminal.diagnostics(&[Diagnostic::error(message)]);
        return Ok(exit.max(Exit::WrongInput));
    }
    Ok(exit)
}

/// Shows what threads have printed: where the report goes.
fn printed(run: &Run, args: &RunArgs, terminal: &Terminal) -> Result<(), Vec<Diagnostic>> {
    let text = run.printed_text();
    match args.output.dumps.0.is_empty() {
        _ if text.is_empty() => {}
        true => _ = terminal.out(&text)?,
        false => terminal.err(&text),
    }
    Ok(())
}

/// The prices that are asked for.
pub(crate) fn prices(args: &RunArgs) -> Result<Option<Prices>, Vec<Diagnostic>> {
    args.output.energy.as_deref().map(Prices::load).transpose()
}

/// The message about one of several kernels with nothing in the window: only its files are missing.
fn without_file(kernel: &str, why: Diagnostic) -> Diagnostic {
    let message = format!("`{kernel}`: {}", why.message);
    Diagnostic { severity: Severity::Warning, message, ..why }
}

/// The inputs of the command line, all checked before anything runs; the suite if there are none.
fn inputs(args: &RunArgs) -> Result<Vec<Input>, Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    let mut inputs = Vec::new();
    for word in &args.inputs {
        match inputs::input(word) {
            Ok(input) => inputs.push(input),
            Err(error) => wrong.push(error),
        }
    }
    if args.inputs.is_empty() {
        let names: Vec<&str> = match args.suite {
            Some(SuiteName::C) => launch::c_suite().collect(),
            Some(SuiteName::Wgsl) => launch::wgsl_suite().collect(),
            Some(SuiteName::Cuda) => launch::cuda_suite().collect(),
            Some(SuiteName::Wave) | None => launch::suite().collect(),
        };
        inputs.extend(names.into_iter().map(|name| Input::Launch(name.to_owned())));
    }
    wrong.extend(misplaced_flags(args, &inputs));
    if wrong.is_empty() { Ok(inputs) } else { Err(wrong) }
}

/// Flags without an effect, or with an ambiguous one.
pub(crate) fn misplaced_flags(args: &RunArgs, inputs: &[Input]) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    let kernels = inputs.iter().find(|i| matches!(i, Input::Kernel(_)));
    wrong.extend(launch_flags(&args.launch, inputs, args.inputs.is_empty()));
    wrong.extend(functional::check(args));
    wrong.extend(args.traces.check());
    wrong.extend(args.checkpoints.check(args, inputs));
    let names: Vec<String> = inputs.iter().map(Input::name).collect();
    wrong.extend(args.traces.check_names(&names));
    wrong.extend(observers::check(args, &names));
    if let (Some(kernel), Some(_)) = (kernels, args.machine.seed) {
        let message = format!("--seed is for launch files: `{}` has no random data", kernel.name());
        wrong.push(Diagnostic::error(message));
    }
    if inputs.len() > 1 {
        let first_dump = args.output.dumps.0.first().map(|dump| dump.flag());
        let save = match (args.output.save.is_empty(), args.output.save_binding.is_empty()) {
            (true, true) => None,
            (false, _) => Some("--save".to_owned()),
            (true, false) => Some("--save-binding".to_owned()),
        };
        let trace = args.output.trace.then(|| "--trace".to_owned());
        if let Some(flag) = first_dump.or(save).or(trace) {
            let message = format!("{flag} is for one kernel, and {} are to run", inputs.len());
            wrong.push(Diagnostic::error(message).hint("name one kernel or launch file"));
        }
    }
    wrong
}

/// The error about flags for a kernel file if a launch file runs, the `suite`, or nothing is named.
pub(crate) fn launch_flags(args: &LaunchArgs, inputs: &[Input], suite: bool) -> Option<Diagnostic> {
    let flag = *args.given().first()?;
    let launch = inputs.iter().find(|i| matches!(i, Input::Launch(_)));
    let (message, hint) = match launch {
        Some(launch) if !suite => (
            format!("{flag} is for a kernel file, and `{}` states its own", launch.name()),
            "name its .wave or .wbin file instead, or change the launch file",
        ),
        None if !inputs.is_empty() => return None,
        _ => (format!("{flag} is for a kernel file, and none is named"), "name a .wave or .wbin file"),
    };
    Some(Diagnostic::error(message).hint(hint))
}

/// The findings of --check-races; empty without it.
fn race_text(run: &Run) -> String {
    run.races.as_ref().map_or_else(String::new, |races| format!("\n{}\n{}", run.name, races.text()))
}

/// The tables of --by-buffer; empty without it.
fn buffer_text(run: &Run) -> String {
    run.by_buffer.as_ref().map_or_else(String::new, |share| format!("\n{}\n{}", run.name, share.text()))
}

/// What observers of plug-ins have written, if not to a file.
fn observed_text(run: &Run) -> String {
    let section = |(name, text): &(String, String)| {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        format!("\n{}: {name}\n{text}{end}", run.name)
    };
    run.observed.iter().map(section).collect()
}

/// Reports on standard error what went wrong with one of several runs, as soon as it is known.
pub(crate) fn complain(run: &Run, terminal: &Terminal) {
    match &run.outcome {
        Outcome::Ended(verification @ Verification::Failed { .. }) => {
            terminal.diagnostics(&[Diagnostic::error(format!("`{}`: {verification}", run.name))]);
        }
        Outcome::Ended(_) | Outcome::Skipped(_) => {}
        Outcome::Refused(wrong) => terminal.diagnostics(wrong),
        Outcome::Fault(why) | Outcome::Stopped(why) => terminal.diagnostics(std::slice::from_ref(why)),
    }
}

/// Every statistic of a run; `None` if no launch has ended. `untimed`: those that have a meaning without timing.
pub(crate) fn statistics(run: &Run, untimed: bool, config: &Config) -> Option<String> {
    match untimed {
        true => untimed::total(&run.untimed).map(|total| untimed::statistics(&total, config)),
        false => run.total().map(|total| text::statistics(&total, config)),
    }
}

/// Speed of the host. It differs from run to run, so it is no result.
fn speed(session: &Session<'_>, time: Duration) -> String {
    let ahead = session.runs.iter().filter_map(|run| untimed::total(&run.untimed));
    let parts = session.runs.iter().filter_map(|run| run.part.as_ref());
    let ahead: u64 = ahead.map(|total| total.counters.wave_instructions).sum::<u64>()
        + parts.map(|part| part.report.counters.wave_instructions).sum::<u64>();
    let totals: Vec<KernelReport> = session.runs.iter().filter_map(Run::total).collect();
    let per_second = |n: u64| n as f64 / time.as_secs_f64().max(1e-9);
    let instructions = per_second(ahead + totals.iter().map(|t| t.core.wave_instructions).sum::<u64>());
    let seconds = time.as_secs_f64();
    let mut text = format!("host: seconds={seconds:.3} wave_instructions/s={instructions:.0}");
    if !session.untimed {
        text += &format!(" cycles/s={:.0}", per_second(totals.iter().map(|t| t.cycles).sum()));
    }
    text + "\n"
}
