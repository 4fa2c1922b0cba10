//! What runs without timing: `--functional` for all of a run, `--detail-from` for what is in front of a place, `--sample`
//! for chosen workgroups.

use super::args::{BoundArgs, RunArgs, UntimedArgs};
use super::detail::{DETAIL_FROM, DetailFrom, Place};
use super::execute::{Executed, REPEATS, bound, output, run_options, verify};
use super::place;
use super::progress::Progress;
use super::work::Work;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Printed, Program};
use wave_machine::config::Config;
use wave_machine::functional::{Execution, ExecutionError, Limits, Standstill, Until};
use wave_machine::gpu::NoProgress;
use wave_study::summary::{Outcome, Run, UntimedPart, UntimedStep, stuck};

/// The flag for a run without timing.
const FUNCTIONAL: &str = "--functional";

/// The flag for a run of which some workgroups have no timing.
const SAMPLE: &str = "--sample";

/// Flags that make no sense without timing, or with the timing of a part.
pub(crate) fn check(args: &RunArgs) -> Option<Diagnostic> {
    let (output, bounds) = (&args.output, &args.machine.bounds);
    let of_cycles = [
        args.untimed.detail_from.as_ref().map(|_| DETAIL_FROM),
        output.trace.then_some("--trace"),
        output.check_races.then_some("--check-races"),
        output.by_buffer.then_some("--by-buffer"),
        (!output.observe.is_empty()).then_some("--observe"),
        args.traces.flag(),
        bound(bounds.max_cycles).map(|_| "--max-cycles"),
    ];
    let of_cycles = of_cycles.into_iter().flatten().next();
    let message = if args.untimed.functional {
        let flag = args.untimed.sample.then_some(SAMPLE).or(of_cycles);
        let flag = flag.or(output.energy.as_ref().map(|_| "--energy"))?;
        format!("{FUNCTIONAL} has no timing, and {flag} needs it")
    } else if args.untimed.sample {
        let flag = of_cycles.or(args.checkpoints.flag());
        let flag = flag.or(bound(bounds.max_instructions).map(|_| "--max-instructions"))?;
        format!("{SAMPLE} simulates a part of the run, and {flag} is about all of it")
    } else {
        return None;
    };
    Some(Diagnostic::error(message).hint("leave one of them out"))
}

/// Where a run passes to the machine with timing: from launch `first` on, counted from 0.
struct Detail {
    first: usize,
    /// The place in that launch or a later one; its beginning if there is none.
    place: Option<Place>,
    /// The place is in that launch only.
    is_named: bool,
}

impl Detail {
    /// What the flags ask for.
    ///
    /// # Errors
    /// If `--detail-from` names a launch or an instruction that the run does not have.
    fn of(args: &UntimedArgs, work: &Work) -> Result<Detail, Diagnostic> {
        let all = work.steps.len();
        let Some(DetailFrom { launch, place }) = &args.detail_from else {
            let first = if args.functional { all } else { 0 };
            return Ok(Detail { first, place: None, is_named: false });
        };
        let first = launch.map_or(0, |launch| launch as usize - 1);
        if first >= all {
            let message = match all {
                1 => format!("`{}` has one launch, and {DETAIL_FROM} names launch {}", work.name, first + 1),
                _ => format!(
                    "`{}` has {all} launches, and {DETAIL_FROM} names launch {}",
                    work.name,
                    first + 1
                ),
            };
            return Err(Diagnostic::error(message).hint(NO_DETAIL));
        }
        let is_named = launch.is_some();
        let among = if is_named { &work.steps[first..=first] } else { &work.steps[..] };
        let place = place.as_ref().map(|place| place.find(&work.program, among)).transpose()?;
        Ok(Detail { first, place, is_named })
    }

    /// The error about a place to which the run does not come. `cycles`: nominal cycles of the launches from the first
    /// of the detail on, as far as they count.
    fn missed(&self, work: &Work, cycles: u64) -> Diagnostic {
        let whose = match self.is_named {
            true => format!("launch {} of `{}`", self.first + 1, work.name),
            false => format!("`{}`", work.name),
        };
        let message = match self.place {
            Some(Place::Pc(pc)) => {
                format!("{DETAIL_FROM}: no wave of {whose} comes to {}", place::at(&work.program, pc))
            }
            Some(Place::Cycle(cycle)) => {
                format!("{whose} ends after {cycles} nominal cycles, and {DETAIL_FROM} names cycle {cycle}")
            }
            None => format!("{whose} has no detail"),
        };
        Diagnostic::error(message).hint(NO_DETAIL)
    }
}

/// What a run without detail is called for.
const NO_DETAIL: &str = "--functional runs all launches without timing";

/// What ran without timing, in front of launches with timing.
#[derive(Debug)]
pub(crate) struct Before {
    /// Launches that have ended.
    pub(crate) launches: Vec<UntimedStep>,
    /// The launch whose detail begins part-way.
    pub(crate) under_way: Option<Box<Execution>>,
    /// How much threads had printed at the end of each launch.
    pub(crate) marks: Vec<u32>,
}

impl Before {
    /// The part without timing of the launch under way.
    pub(crate) fn part(&self) -> Option<UntimedPart> {
        let execution = self.under_way.as_ref()?;
        Some(UntimedPart {
            nominal_cycles: execution.cycle(),
            resident: (execution.residents().count() as u64, execution.started().1),
            report: execution.report(),
        })
    }
}

/// Launches without timing in front of those with timing.
pub(crate) enum Ahead {
    /// They have ended, and the launches of `work` follow, of so many in all.
    Continues(Before, usize),
    /// There is nothing more to run.
    Over(Box<Executed>),
}

/// Runs what of a run has no timing. The launches with timing are left in `work`.
pub(crate) fn run_ahead(
    work: &mut Work,
    (untimed, args): (&UntimedArgs, &BoundArgs),
    config: &Config,
    progress: &mut Progress,
) -> Ahead {
    let all = work.steps.len();
    let refused = |work: &mut Work, wrong| {
        Ahead::Over(Box::new(executed(work, (Outcome::Refused(vec![wrong]), None), Vec::new())))
    };
    let detail = match Detail::of(untimed, work) {
        Ok(detail) => detail,
        Err(wrong) => return refused(work, wrong),
    };
    let mut launches = Vec::new();
    let output = output(&work.program);
    let mut marks = Vec::new();
    // Nominal cycles of launches that the place is behind.
    let mut cycles = 0;
    while launches.len() < all {
        let (number, launch) = (launches.len(), work.steps[launches.len()].clone());
        let place = detail.place.filter(|_| number >= detail.first);
        if number >= detail.first && (detail.place.is_none() || place == Some(Place::Cycle(cycles))) {
            work.steps.drain(..number);
            return Ahead::Continues(Before { launches, under_way: None, marks }, all);
        }
        if detail.is_named && number > detail.first {
            break;
        }
        progress.start_launch();
        let place = match place {
            Some(Place::Cycle(cycle)) => Some(Place::Cycle(cycle - cycles)),
            place => place,
        };
        match step(&work.program, &launch, &mut work.memory, place, args, config, progress) {
            Ok(execution) if !execution.is_over() => {
                // A launch of which nothing has run begins like any other.
                work.steps.drain(..number);
                let under_way = (execution.started().0 > 0).then(|| Box::new(execution));
                return Ahead::Continues(Before { launches, under_way, marks }, all);
            }
            Ok(execution) => {
                cycles += if number >= detail.first { execution.cycle() } else { 0 };
                marks.push(output.mark(&work.memory));
                let kernel = work.program.kernels[launch.kernel].name.clone();
                launches.push(UntimedStep { kernel, launch, report: execution.report() });
            }
            Err(error) => {
                let fault = match &error {
                    ExecutionError::Fault(fault) => Some(fault.clone()),
                    _ => None,
                };
                let outcome = untimed_outcome(error, &launch, &work.program, args).of_launch(number, all);
                let printed = output.read(&work.memory, &marks);
                let executed = executed(work, (outcome, printed), launches);
                return Ahead::Over(Box::new(Executed { fault, ..executed }));
            }
        }
    }
    if detail.place.is_some() {
        let wrong = detail.missed(work, cycles);
        return refused(work, wrong);
    }
    let outcome = verify(work.expected.as_ref(), &work.memory);
    let printed = output.read(&work.memory, &marks);
    Ahead::Over(Box::new(executed(work, (outcome, printed), launches)))
}

fn executed(
    work: &mut Work,
    (outcome, printed): (Outcome, Option<Printed>),
    untimed: Vec<UntimedStep>,
) -> Executed {
    let run = Run { untimed, data: work.data, printed, ..Run::new(&work.name, outcome) };
    Executed { run, memory: std::mem::take(&mut work.memory), missed: None, fault: None }
}

/// Runs a launch to a place in it, or to its end.
fn step(
    program: &Program,
    launch: &Launch,
    memory: &mut [u8],
    place: Option<Place>,
    args: &BoundArgs,
    config: &Config,
    progress: &Progress,
) -> Result<Execution, ExecutionError> {
    let options = run_options(args);
    let limits = Limits { max_instructions: options.max_instructions, stop: options.stop };
    let mut show = |now| progress.show_untimed(now);
    let mut execution = Execution::new(config, program, launch).map_err(ExecutionError::Launch)?;
    match place {
        None => execution.advance(memory, Until::End, &limits, &mut show),
        Some(Place::Cycle(cycle)) => execution.advance(memory, Until::Cycle(cycle), &limits, &mut show),
        Some(Place::Pc(pc)) => execution.reach(memory, pc, &limits, &mut show),
    }?;
    Ok(execution)
}

/// Describes why a launch did not end.
pub(crate) fn untimed_outcome(
    error: ExecutionError,
    launch: &Launch,
    program: &Program,
    args: &BoundArgs,
) -> Outcome {
    let code = &program.kernels[launch.kernel];
    let kernel = &code.name;
    let stopped = |what: &str, standstill: Standstill| {
        let Standstill { workgroups, waves, doing, .. } = standstill;
        let waves = stuck::waves(&NoProgress { cycle: 0, workgroups, waves, doing }, program, code);
        Outcome::Stopped(Diagnostic::error(format!("kernel `{kernel}` {what}\n{waves}")))
    };
    match error {
        ExecutionError::Launch(error) => super::execute::refused(kernel, &error),
        ExecutionError::Fault(fault) => Outcome::Fault(fault.diagnostic(program)),
        ExecutionError::NoProgress(at) => stopped(REPEATS, *at),
        ExecutionError::InstructionLimit(at) => {
            let bound = args.max_instructions.unwrap_or_default();
            let what =
                format!("has not ended after {bound} wave instructions, the bound of --max-instructions");
            stopped(&what, *at)
        }
        ExecutionError::Interrupted(at) => {
            stopped(&format!("was interrupted after {} wave instructions", at.instructions), *at)
        }
    }
}
