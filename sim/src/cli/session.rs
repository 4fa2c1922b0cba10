//! Running kernels, launch files or the suite, and what is printed of them.

use super::args::{Format, RunArgs};
use super::inputs::{self, Input};
use super::machine::machine;
use super::progress::Progress;
use super::terminal::Terminal;
use super::work::{self, Work, region};
use super::{Ended, Exit, files};
use crate::config::Config;
use crate::core::probe::Off;
use crate::diagnostic::Diagnostic;
use crate::gpu::{Gpu, KernelReport, NoProgress, RunError, RunOptions};
use crate::launch;
use crate::launch::Verification;
use crate::observe::trace::IssueTrace;
use crate::observe::{Outcome, Run, Session, Step, json, stuck, table, text};
use crate::program::{Launch, Program};
use std::io::{BufWriter, Stderr};
use std::time::{Duration, Instant};

/// The trace, where one is asked for.
type Trace = Option<IssueTrace<BufWriter<Stderr>>>;

/// Runs what the command line says and reports it.
///
/// # Errors
/// Whatever is wrong with the input, unless several things run: then each is reported by itself.
pub fn run(args: &RunArgs, terminal: &Terminal) -> Ended {
    let inputs = inputs(args)?;
    let config = machine(args, terminal)?;
    check_outputs(args, config.device_memory_bytes)?;
    let alone = inputs.len() == 1;
    let mut progress = Progress::new(inputs.len(), !args.output.trace);
    let mut session = Session { config: &config, runs: Vec::new() };
    let mut memory = Vec::new();
    let mut time = Duration::ZERO;
    for input in &inputs {
        let name = input.name();
        progress.start_run(&name);
        let prepared = work::work(input, args, &config);
        let (run, result) = match prepared {
            Err(wrong) if alone => return Err(wrong),
            Err(wrong) => (Run { name, steps: Vec::new(), outcome: Outcome::Refused(wrong) }, Vec::new()),
            Ok(mut work) => {
                progress.aside(|| terminal.diagnostics(&work.warnings));
                let start = Instant::now();
                let (run, result) = execute(&mut work, args, &config, &mut progress);
                time += start.elapsed();
                (run, result)
            }
        };
        if let Outcome::Skipped(why) = &run.outcome
            && !args.inputs.is_empty()
        {
            let why = vec![Diagnostic::error(format!("`{}`: {why}", run.name))];
            session.runs.push(Run { outcome: Outcome::Refused(why), ..run });
        } else {
            session.runs.push(run);
        }
        if let Some(run) = session.runs.last() {
            progress.aside(|| complain(run, alone, terminal));
        }
        memory = result;
        progress.end_run();
    }
    progress.finish();
    let exit = session.runs.iter().map(|run| exit_code(&run.outcome)).max().unwrap_or(Exit::Success);
    let ended = matches!(session.runs.as_slice(), [Run { outcome: Outcome::Ended(_), .. }]);
    if alone && ended {
        write_results(args, &memory, terminal)?;
    }
    if !(alone && exit == Exit::WrongInput) {
        report(&session, args, alone, terminal)?;
        terminal.err(&speed(&session.runs, time));
    }
    Ok(exit)
}

/// What the words stand for, all checked before anything runs; the suite if there are none.
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
        inputs.extend(launch::suite().map(|name| Input::Launch(name.to_owned())));
    }
    wrong.extend(misplaced_flags(args, &inputs));
    if wrong.is_empty() { Ok(inputs) } else { Err(wrong) }
}

/// Flags that would have no effect, or none that could be told apart.
fn misplaced_flags(args: &RunArgs, inputs: &[Input]) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    let launch_files = inputs.iter().find(|i| matches!(i, Input::Launch(_)));
    let kernels = inputs.iter().find(|i| matches!(i, Input::Kernel(_)));
    let given = args.launch.given();
    if let (Some(launch), [flag, ..]) = (launch_files, given.as_slice()) {
        let message = match args.inputs.is_empty() {
            true => format!("{flag} is for a kernel file, and none is named"),
            false => format!("{flag} is for a kernel file, and `{}` states its own", launch.name()),
        };
        let hint = match args.inputs.is_empty() {
            true => "name a .wave or .wbin file",
            false => "name its .wave or .wbin file instead, or change the launch file",
        };
        wrong.push(Diagnostic::error(message).hint(hint));
    }
    if let (Some(kernel), Some(_)) = (kernels, args.machine.seed) {
        let message = format!("--seed is for launch files: `{}` has no random data", kernel.name());
        wrong.push(Diagnostic::error(message));
    }
    if inputs.len() > 1 {
        let first_dump = args.output.dumps.0.first().map(|dump| dump.flag());
        let save = (!args.output.save.is_empty()).then(|| "--save".to_owned());
        let trace = args.output.trace.then(|| "--trace".to_owned());
        if let Some(flag) = first_dump.or(save).or(trace) {
            let message = format!("{flag} is for one kernel, and {} are to run", inputs.len());
            wrong.push(Diagnostic::error(message).hint("name one kernel or launch file"));
        }
    }
    wrong
}

/// Dumps and saves that could not work are refused before the run, not after it.
fn check_outputs(args: &RunArgs, device_memory: u64) -> Result<(), Vec<Diagnostic>> {
    let dumps = args.output.dumps.0.iter().filter_map(|dump| {
        let range = dump.range();
        region(&dump.flag(), range.start, range.end - range.start, device_memory).err()
    });
    let saves = args.output.save.iter().flat_map(|save| {
        let folder = files::folder(&save.file);
        let file = save.file.display();
        [
            region("--save", save.offset, save.bytes, device_memory).err(),
            (!folder.is_dir())
                .then(|| Diagnostic::error(format!("--save: there is no folder `{}`", folder.display()))),
            save.file.is_dir().then(|| Diagnostic::error(format!("--save: `{file}` is a directory"))),
        ]
    });
    let wrong: Vec<Diagnostic> = dumps.chain(saves.flatten()).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Runs every launch; gives what became of them and device memory.
fn execute(work: &mut Work, args: &RunArgs, config: &Config, progress: &mut Progress) -> (Run, Vec<u8>) {
    let mut run =
        Run { name: work.name.clone(), steps: Vec::new(), outcome: Outcome::Ended(Verification::Nothing) };
    let missing = work.missing(config);
    if !missing.is_empty() {
        run.outcome = Outcome::Skipped(format!("the machine has no {}", missing.join(" and no ")));
        return (run, Vec::new());
    }
    let bound = |n: Option<u64>| n.filter(|&n| n > 0);
    let options = RunOptions {
        max_cycles: bound(args.machine.max_cycles),
        max_instructions: bound(args.machine.max_instructions),
        // A trace is in the order of cycles only if all cores keep step.
        every_cycle: args.output.trace,
    };
    let mut trace: Trace =
        args.output.trace.then(|| IssueTrace::new(BufWriter::new(std::io::stderr()), config.core.wave_width));
    let mut gpu = Gpu::new(config, &work.program, std::mem::take(&mut work.memory));
    for launch in &work.steps {
        progress.start_launch();
        if let Some(trace) = &mut trace {
            let kernel = &work.program.kernels[launch.kernel];
            let [x, y, z] = launch.grid;
            let heading = format!("kernel {} grid {x},{y},{z}", kernel.name);
            trace.start(kernel.code.start, (work.steps.len() > 1).then_some(&heading));
        }
        match step(&mut gpu, launch, &options, &mut trace, progress) {
            Ok(report) => run.steps.push(Step {
                kernel: work.program.kernels[launch.kernel].name.clone(),
                launch: launch.clone(),
                report,
            }),
            Err(error) => {
                run.outcome = outcome(&error, launch, &work.program, &options);
                break;
            }
        }
    }
    // Nobody is left to tell if the trace cannot be written.
    _ = trace.map(IssueTrace::finish);
    let memory = gpu.into_memory();
    if matches!(run.outcome, Outcome::Ended(_)) {
        run.outcome = Outcome::Ended(work.verify(&memory));
    }
    (run, memory)
}

fn step(
    gpu: &mut Gpu<'_>,
    launch: &Launch,
    options: &RunOptions,
    trace: &mut Trace,
    progress: &Progress,
) -> Result<KernelReport, RunError> {
    let mut show = |now| progress.show(now);
    match trace {
        None => gpu.run(launch, options, &mut Off, &mut show),
        Some(trace) => gpu.run(launch, options, trace, &mut show),
    }
}

/// Why a launch did not end, in words.
fn outcome(error: &RunError, launch: &Launch, program: &Program, options: &RunOptions) -> Outcome {
    let code = &program.kernels[launch.kernel];
    let kernel = &code.name;
    let stopped = |what: String, stuck: &NoProgress| {
        let waves = stuck::waves(stuck, program, code);
        Outcome::Stopped(Diagnostic::error(format!("kernel `{kernel}` {what}\n{waves}")))
    };
    match error {
        RunError::Launch(error) => {
            let message = format!("kernel `{kernel}` cannot run on this machine: {}", error.message);
            Outcome::Refused(vec![Diagnostic::error(message).hint(error.hint.as_str())])
        }
        RunError::Fault(fault) => Outcome::Fault(fault.diagnostic(program)),
        RunError::NoProgress(stuck) => {
            stopped(format!("stands still: nothing happens after cycle {}", stuck.cycle), stuck)
        }
        RunError::CycleLimit(stuck) => {
            let bound = options.max_cycles.unwrap_or_default();
            stopped(format!("has not ended after {bound} cycles, the bound of --max-cycles"), stuck)
        }
        RunError::InstructionLimit(stuck) => {
            let bound = options.max_instructions.unwrap_or_default();
            let what = format!(
                "has not ended after {bound} wave instructions, the bound of --max-instructions, in cycle {}",
                stuck.cycle
            );
            stopped(what, stuck)
        }
    }
}

fn exit_code(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Ended(Verification::Failed { .. }) => Exit::WrongResult,
        Outcome::Ended(_) | Outcome::Skipped(_) => Exit::Success,
        Outcome::Refused(_) => Exit::WrongInput,
        Outcome::Fault(_) | Outcome::Stopped(_) => Exit::Fault,
    }
}

/// Says on standard error what went wrong, as soon as it is known.
fn complain(run: &Run, alone: bool, terminal: &Terminal) {
    match &run.outcome {
        Outcome::Ended(verification @ Verification::Failed { .. }) if !alone => {
            terminal.diagnostics(&[Diagnostic::error(format!("`{}`: {verification}", run.name))]);
        }
        Outcome::Ended(_) | Outcome::Skipped(_) => {}
        Outcome::Refused(wrong) => terminal.diagnostics(wrong),
        Outcome::Fault(why) | Outcome::Stopped(why) => terminal.diagnostics(std::slice::from_ref(why)),
    }
}

/// Dumps to standard output, saves to files.
fn write_results(args: &RunArgs, memory: &[u8], terminal: &Terminal) -> Result<(), Vec<Diagnostic>> {
    for dump in &args.output.dumps.0 {
        terminal.out(&dump.text(memory))?;
    }
    for save in &args.output.save {
        let bytes = &memory[save.offset as usize..(save.offset + save.bytes) as usize];
        files::write(&save.file, bytes, "--save")?;
    }
    Ok(())
}

/// The report: on standard output, or on standard error if a dump has that.
fn report(session: &Session<'_>, args: &RunArgs, alone: bool, terminal: &Terminal) -> Ended {
    let mut text = String::new();
    match (args.output.format, session.runs.as_slice()) {
        (Format::Json, _) => text = json::document(session),
        (Format::Text, [run]) if alone => text += &text::report(run, session.config),
        (Format::Text, _) => text += &table::table(session),
    }
    if args.output.format == Format::Text {
        if args.output.stats {
            for run in &session.runs {
                let Some(total) = run.total() else { continue };
                let heading = if alone { String::new() } else { format!("{}\n", run.name) };
                text += &format!("\n{heading}{}", text::statistics(&total, session.config));
            }
            text.push('\n');
        }
        text += &text::perf_line(&session.runs);
    }
    if args.output.dumps.0.is_empty() {
        terminal.out(&text)
    } else {
        terminal.err(&text);
        Ok(Exit::Success)
    }
}

/// How fast the host was. It differs from run to run, so it is no result.
fn speed(runs: &[Run], time: Duration) -> String {
    let totals: Vec<KernelReport> = runs.iter().filter_map(Run::total).collect();
    let per_second = |n: u64| n as f64 / time.as_secs_f64().max(1e-9);
    let instructions = per_second(totals.iter().map(|t| t.core.wave_instructions).sum());
    let cycles = per_second(totals.iter().map(|t| t.cycles).sum());
    let seconds = time.as_secs_f64();
    format!("host: seconds={seconds:.3} wave_instructions/s={instructions:.0} cycles/s={cycles:.0}\n")
}
