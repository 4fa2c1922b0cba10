//! Runs a kernel from beginning to end, with nothing written: what comparisons and explanations need.

use super::execute::{outcome, verify};
use super::observers;
use super::progress::Progress;
use super::work::Work;
use wave_isa::program::{Launch, Program};
use wave_machine::config::Config;
use wave_machine::core::probe::{Observer, RegisteredObservers};
use wave_machine::gpu::{KernelReport, Machine, RunError, RunOptions};
use wave_observe::figures::Step;
use wave_observe::limits::by_launch::ByLaunch;
use wave_study::launch::Verification;
use wave_study::summary::{Outcome, Run};

/// Runs all launches until one does not end, and compares the result with the expected one.
pub(crate) fn run(
    work: Work,
    config: &Config,
    options: &RunOptions,
    mut watch: Option<&mut ByLaunch<'_>>,
    progress: &mut Progress,
) -> Run {
    let nothing = Outcome::Ended(Verification::Nothing);
    let mut run = Run { data: work.data, ..Run::new(&work.name, nothing) };
    let mut gpu = Machine::new(config.clone(), work.program.clone(), work.memory);
    let mut registered = RegisteredObservers::of(config);
    let ended = launches(&mut run, &work.program, &work.steps, options, |launch| {
        progress.start_launch();
        let mut show = |now| progress.show(now);
        match &mut watch {
            Some(watch) => {
                watch.start(launch, gpu.now());
                let other = Some(&mut **watch as &mut dyn Observer);
                let ended = observers::run(&mut gpu, launch, options, &mut registered, other, &mut show);
                watch.end(ended.as_ref());
                ended
            }
            None => observers::run(&mut gpu, launch, options, &mut registered, None, &mut show),
        }
    });
    if ended {
        run.outcome = verify(work.expected.as_ref(), &gpu.into_memory());
    }
    run
}

/// Runs launches with `one` until one does not end, and adds them to the run. False if one did not.
pub(crate) fn launches(
    run: &mut Run,
    program: &Program,
    launches: &[Launch],
    options: &RunOptions,
    mut one: impl FnMut(&Launch) -> Result<KernelReport, RunError>,
) -> bool {
    for (number, launch) in launches.iter().enumerate() {
        match one(launch) {
            Ok(report) => {
                let kernel = program.kernels[launch.kernel].name.clone();
                run.steps.push(Step { kernel, launch: launch.clone(), report });
            }
            Err(error) => {
                run.outcome = outcome(&error, launch, program, options).of_launch(number, launches.len());
                return false;
            }
        }
    }
    true
}
