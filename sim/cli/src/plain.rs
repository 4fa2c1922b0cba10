//! Runs a kernel from beginning to end, with nothing written: what comparisons and explanations need.

use super::execute::{outcome, verify};
use super::progress::Progress;
use super::work::Work;
use wave_machine::config::Config;
use wave_machine::gpu::{Machine, RunOptions};
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
    for (number, launch) in work.steps.iter().enumerate() {
        progress.start_launch();
        let mut show = |now| progress.show(now);
        let ended = match &mut watch {
            Some(watch) => {
                watch.start(launch, gpu.now());
                let ended = gpu.run(launch, options, Some(&mut **watch), &mut show);
                watch.end(ended.as_ref());
                ended
            }
            None => gpu.run(launch, options, None, &mut show),
        };
        match ended {
            Ok(report) => {
                let kernel = work.program.kernels[launch.kernel].name.clone();
                run.steps.push(Step { kernel, launch: launch.clone(), report });
            }
            Err(error) => {
                run.outcome =
                    outcome(&error, launch, &work.program, options).of_launch(number, work.steps.len());
                return run;
            }
        }
    }
    run.outcome = verify(work.expected.as_ref(), &gpu.into_memory());
    run
}
