//! Launch files without timing.

use wave_machine::config;
use wave_machine::functional::{self, Limits};
use wave_study::launch::{self, Size, Verification};

/// Device memory that kernels have beside their buffers at least, bytes: for stacks.
const MEMORY_BYTES: usize = 64 << 20;

/// Runs a launch file of a suite or of a path with waves of so many lanes, and verifies it.
///
/// # Errors
/// What is wrong with it.
pub fn verified(name: &str, size: Size, wave_width: u32) -> Result<(), String> {
    let mut config = config::load("gpu").expect("a preset");
    config.core.wave_width = wave_width;
    let job = launch::load(name, size)
        .map_err(|errors| errors.iter().map(|error| error.render(false)).collect::<Vec<_>>().join("\n"))?;
    let used = job.memory.len();
    let mut memory = job.memory.clone();
    memory.resize(used + MEMORY_BYTES, 0);
    for mut launch in job.steps.iter().cloned() {
        launch
            .place_private(&job.program, wave_width, memory.len() as u64, used as u64)
            .map_err(|error| error.render(false))?;
        functional::run(&config, &job.program, &launch, &mut memory, &Limits::default(), &mut |_| {})
            .map_err(|error| format!("{error:?}"))?;
    }
    match job.verify(&memory[..used]) {
        Verification::Passed { .. } => Ok(()),
        other => Err(other.to_string()),
    }
}
