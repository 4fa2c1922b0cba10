//! A run of a kernel at a point.

use super::cases::Loaded;
use crate::execute::{outcome, verify};
use crate::interrupt;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_machine::gpu::{Machine, RunOptions};
use wave_observe::energy::Prices;
use wave_observe::figures::Step;
use wave_study::launch::Verification;
use wave_study::results::Measured;
use wave_study::summary::{Outcome, Run, Session};
use wave_study::sweep::Bounds;

/// Cycles of a launch before the first look at whether it can still end, as for other runs.
const LOOKS_AFTER: u64 = 1 << 18;

/// How the points run: each on one thread, up to the bounds, or until the user wants no more.
pub(crate) fn options(bounds: Bounds) -> RunOptions {
    RunOptions {
        max_cycles: bounds.max_cycles,
        max_instructions: bounds.max_instructions,
        looks_after: Some(LOOKS_AFTER),
        stop: Some(interrupt::stop()),
        ..RunOptions::UNBOUNDED
    }
}

/// Runs every launch of a kernel.
///
/// # Errors
/// It was interrupted.
pub(crate) fn run(kernel: &Loaded, config: &Config, options: &RunOptions) -> Result<Measured, Diagnostic> {
    let mut run = Run::new(&kernel.name, Outcome::Ended(Verification::Nothing));
    let missing = kernel.expected.as_ref().map_or_else(Vec::new, |job| job.missing(&config.capabilities));
    if !missing.is_empty() {
        run.outcome = Outcome::Skipped(format!("the machine has no {}", missing.join(" and no ")));
        return Ok(measured(config, run));
    }
    let mut gpu = Machine::new(config.clone(), kernel.program.clone(), kernel.memory());
    for (number, launch) in kernel.launches.iter().enumerate() {
        match gpu.run(launch, options, None, &mut |_| {}) {
            Ok(report) => run.steps.push(Step {
                kernel: kernel.program.kernels[launch.kernel].name.clone(),
                launch: launch.clone(),
                report,
            }),
            Err(_) if interrupt::is_asked() => {
                return Err(Diagnostic::error(format!("`{}` was interrupted", kernel.name)));
            }
            Err(error) => {
                let outcome = outcome(&error, launch, &kernel.program, options);
                run.outcome = outcome.of_launch(number, kernel.launches.len());
                return Ok(measured(config, run));
            }
        }
    }
    run.outcome = verify(kernel.expected.as_ref(), &gpu.into_memory());
    Ok(measured(config, run))
}

fn measured(config: &Config, run: Run) -> Measured {
    let session = Session { config, untimed: false, prices: Some(Prices::built_in()), runs: Vec::new() };
    Measured::of(&session, &run)
}
