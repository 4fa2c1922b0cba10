//! Runs scenarios on the simulator and counts their outcomes.

use super::lower::{Arguments, LOCATION_BYTES, Lowered, RUN_BYTES, result_address};
use super::test::Observable;
use super::variant::Scenario;
use crate::summary::stuck;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_machine::gpu::{Machine, RunError, RunOptions};
use wave_machine::memory::Jitter;

/// Most cycles of a run: far more than any needs, unless something never ends.
const MAX_CYCLES: u64 = 1_000_000;

/// Outcomes with their counts.
pub(crate) type Counts = BTreeMap<Vec<u32>, u64>;

/// Most runs on one machine. Each run has its own device memory there.
const BATCH: u32 = 128;

/// Runs a scenario `runs` times (may be 0), with timing drawn from a seed. `None` if the machine cannot place
/// its threads.
///
/// # Errors
/// If the kernel does not end, which is an error in every litmus test.
pub(crate) fn run(
    scenario: &Scenario<'_>,
    config: &Config,
    runs: u32,
    seed: u64,
    stop: Option<&'static AtomicBool>,
) -> Option<Result<Counts, Diagnostic>> {
    let bytes = u64::from(RUN_BYTES * BATCH.min(runs));
    let config = &Config { device_memory_bytes: bytes, ..config.clone() };
    let lowered = Lowered::new(scenario, config)?;
    let bounds = RunOptions { max_cycles: Some(MAX_CYCLES), stop, ..RunOptions::UNBOUNDED };
    let mut generator = Pcg32::seed_from_u64(seed);
    let mut counts = Counts::new();
    for first in (0..runs).step_by(BATCH as usize) {
        let batch = BATCH.min(runs - first);
        if let Err(error) =
            run_batch(scenario, config, (&lowered, &bounds), batch, &mut generator, &mut counts)
        {
            return Some(Err(failure(error, &lowered)));
        }
    }
    Some(Ok(counts))
}

/// Performs runs one after the other on one machine. Each run finds the caches as the previous one left them.
fn run_batch(
    scenario: &Scenario<'_>,
    config: &Config,
    (lowered, bounds): (&Lowered, &RunOptions),
    runs: u32,
    generator: &mut Pcg32,
    counts: &mut Counts,
) -> Result<(), RunError> {
    let arguments: Vec<Arguments> =
        (0..runs).map(|run| draw(scenario, config, run * RUN_BYTES, generator)).collect();
    let mut memory = vec![0; config.device_memory_bytes as usize];
    for run in &arguments {
        for (location, &address) in scenario.test.locations.iter().zip(&run.addresses) {
            if !location.local {
                for address in [address, address + LOCATION_BYTES] {
                    memory[address as usize..][..4].copy_from_slice(&location.initial.to_le_bytes());
                }
            }
        }
    }
    let mut gpu = Machine::new(config.clone(), lowered.program.clone(), memory);
    for run in &arguments {
        let cycles = [0, 32, 256, 1024][generator.next_u32() as usize % 4];
        let jitter = (cycles > 0).then(|| Jitter { seed: u64::from(generator.next_u32()), cycles });
        let options = RunOptions { jitter, ..*bounds };
        gpu.run(&lowered.launch(run), &options, None, &mut |_| {})?;
    }
    for run in &arguments {
        *counts.entry(outcome(scenario, run, gpu.memory())).or_default() += 1;
    }
    Ok(())
}

/// Describes why a kernel stopped that should have ended.
fn failure(error: RunError, lowered: &Lowered) -> Diagnostic {
    let program = &lowered.program;
    match error {
        RunError::Fault(fault) => fault.diagnostic(program),
        RunError::Launch(error) => Diagnostic::error(error.message).hint(error.hint),
        RunError::Interrupted(_) => Diagnostic::error("interrupted"),
        RunError::NoProgress(stuck) | RunError::CycleLimit(stuck) | RunError::InstructionLimit(stuck) => {
            let waves = stuck::waves(&stuck, program, &program.kernels[0]);
            Diagnostic::error("the kernel does not end").hint(waves)
        }
    }
}

/// Draws what may differ between runs: the places of locations, the start of threads, the contents of their
/// caches.
fn draw(scenario: &Scenario<'_>, config: &Config, base: u32, generator: &mut Pcg32) -> Arguments {
    let locations = &scenario.test.locations;
    let (line, sector) = (config.core.l1.line_bytes, config.core.l1.sector_bytes);
    let lines = LOCATION_BYTES / line;
    let layout = generator.next_u32() % 8;
    let first = generator.next_u32() % lines;
    let addresses = (0..locations.len() as u32).map(|i| {
        // Neighbours in a sector, in a line, or in lines of their own, close together or not.
        let offset = match layout {
            0 => first * line + 4 * i,
            1 => first * line + sector * i % line + 4 * i,
            2 | 3 => (first + i) % lines * line,
            _ => {
                (first + i * (1 + generator.next_u32() % (lines / locations.len() as u32).max(1))) % lines
                    * line
                    + 4 * i
            }
        };
        if locations[i as usize].local { 4 * i } else { base + offset }
    });
    let addresses = addresses.collect();
    let longest = [1, 2, 6, 24][generator.next_u32() as usize % 4];
    let threads = scenario.threads.len();
    // In some runs the threads begin roughly one after the other, as chains such as WRC and ISA2 need it.
    let stagger = [0, 0, 2, 6][generator.next_u32() as usize % 4];
    let delays = (0..threads as u32).map(|t| t * stagger + generator.next_u32() % longest).collect();
    let looks = (0..threads).map(|_| generator.next_u32()).collect();
    Arguments { base, addresses, delays, looks }
}

/// The values of the test's observables after a run.
fn outcome(scenario: &Scenario<'_>, run: &Arguments, memory: &[u8]) -> Vec<u32> {
    let word = |address: u32| {
        let bytes = &memory[address as usize..][..4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    let values = scenario.test.observables().into_iter().map(|observable| match observable {
        Observable::Register { thread, register } => word(result_address(run.base, thread, register)),
        Observable::Location(location) => word(run.addresses[location]),
    });
    values.collect()
}
