//! A run of a kernel at a point.

use super::cases::Loaded;
use crate::execute::verify;
use crate::{interrupt, observers, plain};
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_machine::core::probe::RegisteredObservers;
use wave_machine::gpu::{Machine, RunOptions};
use wave_study::launch::Verification;
use wave_study::results::Measured;
use wave_study::summary::{Outcome, Run};
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

/// Runs every launch of a kernel or of a program.
///
/// # Errors
/// It was interrupted, or is a program that cannot start.
pub(crate) fn run(loaded: &Loaded, config: &Config, options: &RunOptions) -> Result<Measured, Diagnostic> {
    let kernel = match loaded {
        Loaded::Kernel(kernel) => kernel,
        Loaded::Program(program, _) => {
            let bounds =
                Bounds { max_cycles: options.max_cycles, max_instructions: options.max_instructions };
            return Ok(Measured::of(config, &program.run(config, bounds)?));
        }
    };
    let mut run = Run::new(&kernel.name, Outcome::Ended(Verification::Nothing));
    let missing = kernel.expected.as_ref().map_or_else(Vec::new, |job| job.missing(&config.capabilities));
    if !missing.is_empty() {
        run.outcome = Outcome::Skipped(format!("the machine has no {}", missing.join(" and no ")));
        return Ok(Measured::of(config, &run));
    }
    let mut gpu = Machine::new(config.clone(), kernel.program.clone(), kernel.memory());
    let mut registered = RegisteredObservers::of(config);
    let ended = plain::launches(&mut run, &kernel.program, &kernel.launches, options, |launch| {
        observers::run(&mut gpu, launch, options, &mut registered, None, &mut |_| {})
    });
    if ended {
        run.outcome = verify(kernel.expected.as_ref(), &gpu.into_memory());
    } else if interrupt::is_asked() {
        return Err(Diagnostic::error(format!("`{}` was interrupted", kernel.name)));
    }
    Ok(Measured::of(config, &run))
}
