//! Launches without timing: `--functional` for all of a run, `--detail-from` for those in front.

use super::args::RunArgs;
use super::execute::{Executed, run_options, verify};
use super::progress::Progress;
use super::work::Work;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};
use wave_machine::config::Config;
use wave_machine::functional::{self, Limits, RunError, Standstill};
use wave_machine::gpu::NoProgress;
use wave_study::summary::{Outcome, Run, UntimedStep, stuck};

/// The flag for a run without timing.
const FUNCTIONAL: &str = "--functional";

/// Flags that make no sense without timing.
pub(crate) fn check(args: &RunArgs) -> Option<Diagnostic> {
    if !args.untimed.functional {
        return None;
    }
    let needs_timing = [
        args.untimed.detail_from.map(|_| "--detail-from"),
        args.output.trace.then_some("--trace"),
        args.output.check_races.then_some("--check-races"),
        args.traces.flag(),
        args.machine.max_cycles.filter(|&cycles| cycles > 0).map(|_| "--max-cycles"),
    ];
    let flag = needs_timing.into_iter().flatten().next()?;
    let message = format!("{FUNCTIONAL} has no timing, and {flag} needs it");
    Some(Diagnostic::error(message).hint("leave one of them out"))
}

/// How many of a run's launches have no timing.
///
/// # Errors
/// If `--detail-from` names a launch that the run does not have.
fn launches_ahead(args: &RunArgs, work: &Work) -> Result<usize, Diagnostic> {
    let all = work.steps.len();
    match args.untimed.detail_from {
        _ if args.untimed.functional => Ok(all),
        None => Ok(0),
        Some(first) if u64::from(first) <= all as u64 => Ok(first as usize - 1),
        Some(first) => {
            let message = match all {
                1 => format!("`{}` has one launch, and --detail-from names launch {first}", work.name),
                _ => format!("`{}` has {all} launches, and --detail-from names launch {first}", work.name),
            };
            Err(Diagnostic::error(message).hint("--functional runs all launches without timing"))
        }
    }
}

/// Launches without timing in front of those with timing.
pub(crate) enum Ahead {
    /// They have ended, and these launches follow, of so many.
    Continues(Vec<UntimedStep>, Vec<Launch>, usize),
    /// There is nothing more to run.
    Over(Box<Executed>),
}

/// Runs the launches of a run that have no timing.
pub(crate) fn run_ahead(work: &mut Work, args: &RunArgs, config: &Config, progress: &mut Progress) -> Ahead {
    let all = work.steps.len();
    let ahead = match launches_ahead(args, work) {
        Ok(ahead) => ahead,
        Err(wrong) => {
            return Ahead::Over(Box::new(executed(work, Outcome::Refused(vec![wrong]), Vec::new())));
        }
    };
    let later = work.steps.split_off(ahead);
    let mut steps = Vec::new();
    for (number, launch) in std::mem::take(&mut work.steps).into_iter().enumerate() {
        progress.start_launch();
        match step(&work.program, &launch, &mut work.memory, args, config, progress) {
            Ok(report) => {
                let kernel = work.program.kernels[launch.kernel].name.clone();
                steps.push(UntimedStep { kernel, launch, report });
            }
            Err(error) => {
                let outcome = outcome(error, &launch, &work.program, args).of_launch(number, all);
                return Ahead::Over(Box::new(executed(work, outcome, steps)));
            }
        }
    }
    if later.is_empty() {
        let outcome = verify(work.expected.as_ref(), &work.memory);
        return Ahead::Over(Box::new(executed(work, outcome, steps)));
    }
    Ahead::Continues(steps, later, all)
}

fn executed(work: &mut Work, outcome: Outcome, untimed: Vec<UntimedStep>) -> Executed {
    let run = Run { untimed, ..Run::new(&work.name, outcome) };
    Executed { run, memory: std::mem::take(&mut work.memory), missed: None }
}

fn step(
    program: &Program,
    launch: &Launch,
    memory: &mut [u8],
    args: &RunArgs,
    config: &Config,
    progress: &Progress,
) -> Result<functional::Report, RunError> {
    let options = run_options(&args.machine);
    let limits = Limits { max_instructions: options.max_instructions, stop: options.stop };
    functional::run(config, program, launch, memory, &limits, &mut |now| progress.show_untimed(now))
}

/// Describes why a launch did not end.
fn outcome(error: RunError, launch: &Launch, program: &Program, args: &RunArgs) -> Outcome {
    let code = &program.kernels[launch.kernel];
    let kernel = &code.name;
    let stopped = |what: &str, standstill: Standstill| {
        let Standstill { workgroups, waves, doing, .. } = standstill;
        let waves = stuck::waves(&NoProgress { cycle: 0, workgroups, waves, doing }, program, code);
        Outcome::Stopped(Diagnostic::error(format!("kernel `{kernel}` {what}\n{waves}")))
    };
    match error {
        RunError::Launch(error) => super::execute::refused(kernel, &error),
        RunError::Fault(fault) => Outcome::Fault(fault.diagnostic(program)),
        RunError::NoProgress(at) => stopped(
            "stands still: every wave repeats what it does, or waits for one that does, and no value changes",
            *at,
        ),
        RunError::InstructionLimit(at) => {
            let bound = args.machine.max_instructions.unwrap_or_default();
            let what =
                format!("has not ended after {bound} wave instructions, the bound of --max-instructions");
            stopped(&what, *at)
        }
        RunError::Interrupted(at) => {
            stopped(&format!("was interrupted after {} wave instructions", at.instructions), *at)
        }
    }
}
