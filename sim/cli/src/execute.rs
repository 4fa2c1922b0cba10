//! Runs the launches of one input on a machine.

use super::args::{BoundArgs, RunArgs, TraceArgs};
use super::checkpoints::Checkpoints;
use super::functional::{self, Ahead, Before};
use super::progress::Progress;
use super::stored::Stored;
use super::traces::{self, Finished, TraceFiles};
use super::watch::Watch;
use super::work::Work;
use super::{Exit, interrupt, observers};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Fault, Launch, Output, Program};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::RegisteredObservers;
use wave_machine::functional::Execution;
use wave_machine::gpu::occupancy::LaunchError;
use wave_machine::gpu::{KernelReport, Machine, NoProgress, RunError, RunOptions, Stop};
use wave_observe::attribution::Attribution;
use wave_observe::batches::Batches;
use wave_observe::figures::Step;
use wave_observe::races::RaceCheck;
use wave_observe::trace::How;
use wave_study::launch::{Job, Verification};
use wave_study::report::{Collector, page::page, scope::Scope};
use wave_study::sample::Sampler;
use wave_study::summary::{Outcome, Run, stuck};

/// Cycles of a launch before the first look at whether it can still end: more than most take.
const LOOKS_AFTER: Cycle = 1 << 18;

/// The bound that a flag states; 0 states none.
pub(crate) fn bound(flag: Option<u64>) -> Option<u64> {
    flag.filter(|&n| n > 0)
}

/// The number that a flag states of things that run at the same time; 0 and none state as many as the host has processors.
pub(crate) fn parallel(flag: Option<u32>) -> usize {
    match flag {
        None | Some(0) => std::thread::available_parallelism().map_or(1, usize::from),
        Some(count) => count as usize,
    }
}

/// Bounds and threads from the flags.
pub(crate) fn run_options(args: &BoundArgs) -> RunOptions {
    RunOptions {
        max_cycles: bound(args.max_cycles),
        max_instructions: bound(args.max_instructions),
        threads: parallel(args.threads),
        looks_after: Some(LOOKS_AFTER),
        stop: Some(interrupt::stop()),
        ..RunOptions::UNBOUNDED
    }
}

/// Result of a run.
pub(crate) struct Executed {
    /// Its launches, and how it ended.
    pub run: Run,
    /// Device memory.
    pub memory: Vec<u8>,
    /// Why the requested files do not exist: the window contains nothing of the run.
    pub missed: Option<Diagnostic>,
    /// The fault that ended it.
    pub fault: Option<Box<Fault>>,
}

/// Runs every launch.
///
/// # Errors
/// If a trace file cannot be written.
pub(crate) fn execute(
    work: Work,
    given: (&RunArgs, &Stored),
    config: &Config,
    progress: &mut Progress,
) -> Result<Executed, Vec<Diagnostic>> {
    execute_watched(work, given, config, Vec::new(), progress)
}

/// [`execute`], watched by observers of the program that has this one inside.
///
/// # Errors
/// As [`execute`].
pub(crate) fn execute_watched(
    mut work: Work,
    (args, stored): (&RunArgs, &Stored),
    config: &Config,
    batches: Vec<Batches>,
    progress: &mut Progress,
) -> Result<Executed, Vec<Diagnostic>> {
    let (before, all) =
        match functional::run_ahead(&mut work, (&args.untimed, &args.machine.bounds), config, progress) {
            Ahead::Continues(before, all) => (before, all),
            Ahead::Over(executed) => return Ok(*executed),
        };
    in_detail(work, (before, all), (args, stored), config, batches, progress)
}

/// Runs launches cycle by cycle: the last of `all` of the run, behind what ran without timing.
fn in_detail(
    work: Work,
    (before, all): (Before, usize),
    (args, stored): (&RunArgs, &Stored),
    config: &Config,
    batches: Vec<Batches>,
    progress: &mut Progress,
) -> Result<Executed, Vec<Diagnostic>> {
    let mut options = run_options(&args.machine.bounds);
    let under_way = before.under_way.as_deref();
    let mut checkpoints = Checkpoints::new(args, config, &work, under_way)?;
    if checkpoints.marks.is_empty() {
        checkpoints.marks.clone_from(&before.marks);
    }
    let output = output(&work.program);
    let traces = args.traces.of_kernel(&work.name);
    if traces.files().next().is_some() {
        // One of the threads makes the records.
        options.threads = (options.threads - 1).max(1);
    }
    let (scope, mut missed) = match scope((&work, &before, all), &traces, config, &options, progress) {
        Sought::Found(scope) => (scope, None),
        Sought::Missed(missed) => (None, Some(missed)),
        Sought::Interrupted(executed) => return Ok(*executed),
    };
    let regions = work.regions();
    let reported_by_buffer = scope.as_ref().map(|scope| {
        let attribution = Attribution::new(config, regions.clone());
        attribution.within(scope.cycles.clone())
    });
    let by_buffer = args.output.by_buffer.then(|| Attribution::new(config, regions));
    let collector =
        scope.map(|scope| Collector::new(config, &work.program, scope).by_launch(work.steps.len()));
    let (sink, captured) = collector.as_ref().map(Collector::capture).unzip();
    let mut gpu = Machine::new(config.clone(), work.program.clone(), work.memory);
    let mut registered = RegisteredObservers::of(config);
    let ended = checkpoints.resume(&mut gpu, &options, &mut registered)?;
    let (recorder, mut files) = traces::open(&traces, config, sink, checkpoints.trace())?.unzip();
    let mut watch = Watch::new(&args.output, config, &work.program).with(collector, recorder);
    (watch.by_buffer, watch.reported_by_buffer) = (by_buffer, reported_by_buffer);
    (watch.registered, watch.batches) = (registered, batches);
    let sample = args.untimed.sample;
    let input = Input {
        name: &work.name,
        program: &work.program,
        launches: &work.steps,
        before: &before,
        all,
        sample,
    };
    let Walked { mut run, how, cycle, fault } =
        walk(&mut gpu, &input, ended, &options, (&mut watch, files.as_mut()), &mut checkpoints, progress);
    let Watch {
        issues, races, by_buffer, reported_by_buffer, report: collector, recorder, registered, ..
    } = watch;
    if let Some(issues) = issues {
        // If it cannot be written, there is no one to tell.
        _ = issues.finish();
    }
    run.data = work.data;
    run.races = races.map(RaceCheck::finish);
    run.by_buffer = by_buffer.map(Attribution::finish);
    if !matches!(run.outcome, Outcome::Refused(_)) {
        run.observed = observers::deliver(registered.texts(), &args.output.observe, &run.name)?;
    }
    let mut report = None;
    match recorder.zip(files) {
        // A refused run has no trace: its files are dropped.
        Some((_, files)) if matches!(run.outcome, Outcome::Refused(_)) => files.discard(),
        Some((recorder, files)) => {
            let is_reported = collector.as_ref().is_some_and(|collector| !collector.is_empty());
            match files.finish(recorder, how, cycle, &reason(&run.outcome), is_reported)? {
                Finished::Missed(why) => missed = Some(why),
                Finished::Written(file) => {
                    if let (Some(file), Some(collector), Some(captured)) = (file, collector, captured) {
                        let mut gathered = collector.finish(&mut gpu, &captured);
                        gathered.attributed = reported_by_buffer.map(Attribution::finish);
                        report = Some((file, gathered));
                    }
                }
            }
        }
        None => {}
    }
    let memory = gpu.into_memory();
    run.printed = output.read(&memory, &checkpoints.marks);
    if matches!(run.outcome, Outcome::Ended(_)) {
        run.outcome = verify(work.expected.as_ref(), &memory);
    }
    if let Some((file, gathered)) = report
        && !matches!(run.outcome, Outcome::Refused(_))
    {
        traces::write_report(
            file,
            &page(config, &work.program, &run, &gathered, &stored.of_kernel(&run.name)),
        )?;
    }
    Ok(Executed { run, memory, missed, fault })
}

/// Where the threads of a program leave what they print.
pub(crate) fn output(program: &Program) -> Output {
    program.module.as_ref().map_or_else(Output::default, |module| module.output)
}

/// The outcome of a run that ended with this device memory.
pub(crate) fn verify(expected: Option<&Job>, memory: &[u8]) -> Outcome {
    Outcome::Ended(expected.map_or(Verification::Nothing, |job| job.verify(memory)))
}

/// What runs in detail: the last launches of a run.
struct Input<'a> {
    name: &'a str,
    program: &'a Program,
    launches: &'a [Launch],
    /// What ran without timing.
    before: &'a Before,
    /// Launches of the run.
    all: usize,
    /// The launches are sampled.
    sample: bool,
}

/// How far the launches of a run got.
struct Walked {
    run: Run,
    /// How it ended, for its trace, and in which cycle of the machine.
    how: How,
    cycle: Cycle,
    fault: Option<Box<Fault>>,
}

/// Runs launches until one of them does not end. The first of them have `ended`, with these reports, and the next one
/// may be running.
fn walk(
    gpu: &mut Machine,
    input: &Input<'_>,
    ended: Vec<KernelReport>,
    options: &RunOptions,
    (watch, mut files): (&mut Watch<'_>, Option<&mut TraceFiles>),
    checkpoints: &mut Checkpoints,
    progress: &mut Progress,
) -> Walked {
    let nothing = Outcome::Ended(Verification::Nothing);
    let &Input { name, program, launches, before: untimed, all, sample } = input;
    let mut walked = Walked { run: Run::new(name, nothing), how: How::Complete, cycle: 0, fault: None };
    (walked.run.untimed, walked.run.part) = (untimed.launches.clone(), untimed.part());
    let mut before = ended.into_iter();
    let mut sampler = Sampler::default();
    // The cycle in which the next launch begins.
    let mut next_start = 0;
    for (number, launch) in launches.iter().enumerate() {
        progress.start_launch();
        let start = next_start;
        let under_way = untimed.under_way.as_deref().filter(|_| number == 0);
        if before.len() == 0 && !gpu.is_running() {
            watch.start(program, (launch, launches.len() == 1), under_way, start, gpu);
        }
        let steps = &walked.run.steps;
        let ended = match before.next() {
            Some(report) => Ok(report),
            None if sample => {
                let sampled = sampler.run(gpu, launch, options, &mut |now| progress.show(now));
                sampled.map(|(report, sampling)| {
                    walked.run.sampled.push(sampling);
                    report
                })
            }
            None => {
                let files = files.as_deref_mut();
                let ended =
                    step(gpu, (launch, under_way, steps), options, (watch, files), checkpoints, progress);
                ended.map(|mut report| {
                    watch.registered.count(&mut report.plug_ins);
                    report
                })
            }
        };
        watch.end(launch, ended.as_ref());
        match ended {
            Ok(report) => {
                walked.cycle = start + report.running_cycles();
                next_start += report.cycles;
                let output = output(program);
                // A checkpoint has brought those of the launches before it.
                let is_new = checkpoints.marks.len() == untimed.launches.len() + number;
                if is_new && output.printed.is_some() {
                    checkpoints.marks.push(output.mark(gpu.memory()));
                }
                let kernel = program.kernels[launch.kernel].name.clone();
                walked.run.steps.push(Step { kernel, launch: launch.clone(), report });
            }
            Err(error) => {
                let number = all - launches.len() + number;
                let outcome = outcome(&error, launch, program, options).of_launch(number, all);
                walked.run.outcome = checkpoints.with_hint(outcome);
                (walked.how, walked.cycle) = ending(&error, start);
                if let RunError::Fault(fault) = error {
                    walked.fault = Some(fault);
                }
                break;
            }
        }
    }
    walked
}

/// Runs a launch, or goes on with it, also where it is under way without timing. `before` are the launches that have
/// ended.
fn step(
    gpu: &mut Machine,
    (launch, under_way, before): (&Launch, Option<&Execution>, &[Step]),
    options: &RunOptions,
    (watch, mut files): (&mut Watch<'_>, Option<&mut TraceFiles>),
    checkpoints: &mut Checkpoints,
    progress: &Progress,
) -> Result<KernelReport, RunError> {
    let mut show = |now| progress.show(now);
    if !gpu.is_running() {
        match under_way {
            Some(execution) => gpu.begin_from(execution, options)?,
            None if checkpoints.are_off() => {
                return watch.during(|observer| gpu.run(launch, options, observer, &mut show));
            }
            None => gpu.begin(launch, options)?,
        }
    }
    loop {
        let until = checkpoints.next(gpu.now());
        match watch.during(|observer| gpu.advance_reporting(until, observer, &mut show)) {
            Ok(Stop::Ended(report)) => return Ok(*report),
            // Its files cannot be written, and the run is given up.
            Ok(Stop::Observer) => return Err(RunError::Interrupted(Box::default())),
            Ok(Stop::Cycle) => save(gpu, before, (watch, files.as_deref_mut()), checkpoints, progress),
            Err(error) => {
                if checkpoints.are_asked_for(&error) {
                    save(gpu, before, (watch, files), checkpoints, progress);
                }
                return Err(error);
            }
        }
    }
}

/// Writes a checkpoint, with the retirement trace up to the cycle of the machine if there is one.
fn save(
    gpu: &Machine,
    before: &[Step],
    (watch, mut files): (&mut Watch<'_>, Option<&mut TraceFiles>),
    checkpoints: &mut Checkpoints,
    progress: &Progress,
) {
    let traced = watch.recorder.as_mut().zip(files.as_deref_mut());
    let trace = traced.map(|(recorder, files)| files.save(recorder, gpu.now())).transpose();
    let is_saved = checkpoints.save(gpu, before, trace, &watch.registered, progress);
    if let Some(files) = files.filter(|_| is_saved) {
        files.mark_needed();
    }
}

/// The part of the run that a report covers.
enum Sought {
    /// It is known; `None` if there is no report.
    Found(Option<Scope>),
    /// The trigger does not fire, so there is none.
    Missed(Diagnostic),
    /// A signal arrived before the trigger fired. Holds the run so far.
    Interrupted(Box<Executed>),
}

/// Finds the part of the run that a report covers. The cycles around a trigger are known only after it has
/// fired, so the run, which is the same every time, is simulated twice up to there.
fn scope(
    (work, before, all): (&Work, &Before, usize),
    traces: &TraceArgs,
    config: &Config,
    options: &RunOptions,
    progress: &mut Progress,
) -> Sought {
    if traces.report.is_none() {
        return Sought::Found(None);
    }
    let Some(trigger) = traces.trigger() else { return Sought::Found(Some(traces.scope())) };
    let mut watch = Watch::default().with(None, Some(traces::scout(traces, trigger, config)));
    let mut gpu = Machine::new(config.clone(), work.program.clone(), work.memory.clone());
    let input =
        Input { name: &work.name, program: &work.program, launches: &work.steps, before, all, sample: false };
    let mut none = Checkpoints::default();
    let Walked { run, how, cycle, fault } =
        walk(&mut gpu, &input, Vec::new(), options, (&mut watch, None), &mut none, progress);
    let recorded = watch.recorder.and_then(|recorder| recorder.finish(how, cycle, "").ok());
    match recorded.and_then(|recorded| recorded.triggered) {
        Some(fired) => Sought::Found(Some(traces.scope().around(&trigger, fired))),
        None if how == How::Interrupted => {
            let missed = Some(traces::not_fired(trigger, cycle));
            Sought::Interrupted(Box::new(Executed { run, memory: gpu.into_memory(), missed, fault }))
        }
        None => Sought::Missed(traces::not_fired(trigger, cycle)),
    }
}

/// The first line of the reason why a run did not complete, for its trace.
fn reason(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Fault(why) | Outcome::Stopped(why) => why.message.lines().next().unwrap_or("").to_owned(),
        _ => String::new(),
    }
}

/// How and in which cycle an incomplete run ended.
fn ending(error: &RunError, start: Cycle) -> (How, Cycle) {
    match error {
        RunError::Fault(fault) => (How::Fault, fault.cycle.unwrap_or(start)),
        RunError::Interrupted(stuck) => (How::Interrupted, start + stuck.cycle),
        RunError::Launch(_) => (How::Stopped, start),
        RunError::NoProgress(stuck) | RunError::CycleLimit(stuck) | RunError::InstructionLimit(stuck) => {
            (How::Stopped, start + stuck.cycle)
        }
    }
}

/// What a kernel does whose waves poll for ever.
pub(crate) const REPEATS: &str =
    "stands still: every wave repeats what it does, or waits for one that does, and no value changes";

/// Describes why a launch did not end.
pub(crate) fn outcome(error: &RunError, launch: &Launch, program: &Program, options: &RunOptions) -> Outcome {
    let code = &program.kernels[launch.kernel];
    let kernel = &code.name;
    let stopped = |what: String, stuck: &NoProgress| {
        let waves = stuck::waves(stuck, program, code);
        Outcome::Stopped(Diagnostic::error(format!("kernel `{kernel}` {what}\n{waves}")))
    };
    match error {
        RunError::Launch(error) => refused(kernel, error),
        RunError::Fault(fault) => Outcome::Fault(fault.diagnostic(program)),
        RunError::NoProgress(stuck) if !stuck.doing.is_empty() => {
            stopped(format!("{REPEATS}; known in cycle {}", stuck.cycle), stuck)
        }
        RunError::NoProgress(stuck) => {
            stopped(format!("stands still: nothing happens after cycle {}", stuck.cycle), stuck)
        }
        RunError::CycleLimit(stuck) => {
            let bound = options.max_cycles.unwrap_or_default();
            stopped(format!("has not ended after {bound} cycles, the bound of --max-cycles"), stuck)
        }
        RunError::Interrupted(stuck) => stopped(format!("was interrupted in cycle {}", stuck.cycle), stuck),
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

/// The outcome of a launch of this kernel that the machine cannot run.
pub(crate) fn refused(kernel: &str, error: &LaunchError) -> Outcome {
    let message = format!("kernel `{kernel}` cannot run on this machine: {}", error.message);
    Outcome::Refused(vec![Diagnostic::error(message).hint(error.hint.as_str())])
}

/// The exit code of a run.
pub(crate) fn exit_of(run: &Run) -> Exit {
    let raced = run.races.as_ref().is_some_and(|races| !races.is_clean());
    let found = if raced { Exit::WrongResult } else { Exit::Success };
    found.max(match &run.outcome {
        Outcome::Ended(Verification::Failed { .. }) => Exit::WrongResult,
        Outcome::Ended(_) | Outcome::Skipped(_) => Exit::Success,
        Outcome::Refused(_) => Exit::WrongInput,
        Outcome::Fault(_) | Outcome::Stopped(_) => Exit::Fault,
    })
}
