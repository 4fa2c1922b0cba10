//! Comparison with the reference functional emulator `wave-emu` 0.1.2 on a tiled sgemm and on those kernels
//! of the suite that it executes with the same work. Its results deviate in places (docs/deviations.md); ours
//! are verified. It has one thread and no timing.

use crate::run::{Timed, fastest, mean, run_job};
use std::thread::available_parallelism;
use std::time::Instant;
use wave_machine::config::{self, Config};
use wave_machine::gpu::RunOptions;
use wave_study::launch::{self, Job, Size};

/// Not in the suite: the sgemm of the suite uses more registers than the older assembler supports.
pub(crate) const SGEMM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/speed/sgemm_tile.ron");
/// Compute-bound kernels: an ALU loop, a tiled sgemm, and one each of floating point from local memory, loads
/// with reuse, and divergence. The other kernels mostly wait for memory, which a functional emulator does not
/// simulate.
const COMPUTE: [&str; 5] = ["alu_loop", "sgemm_tile", "nbody", "stencil2d", "lcm"];
/// Comparisons that the older assembler lacks, with equivalents for the values of these kernels, which are
/// below 2³¹.
const OLDER_NAMES: [(&str, &str); 3] =
    [("ucmp_ge", "icmp_ge"), ("ucmp_gt", "icmp_gt"), ("ucmp_eq", "icmp_eq")];
const MACHINES: [&str; 2] = ["gpu", "large"];
const TURNS: usize = 3;

/// Wave instructions and seconds of the emulator, or why it cannot run the kernel.
fn emulate(config: &Config, job: &Job) -> Result<(u64, f64), String> {
    let text = &job.program.source.as_ref().expect("the suite is assembly").text;
    let text = OLDER_NAMES.iter().fold(text.clone(), |text, (new, old)| text.replace(new, old));
    let assembled = wave_asm::assemble(&text, &job.name);
    let binary = assembled.map_err(|_| "its assembler lacks an instruction or a register")?.binary;
    let mut memory = job.memory.clone();
    let (mut instructions, mut seconds) = (0, 0.0);
    for launch in &job.steps {
        let mut emulator = wave_emu::Emulator::new(wave_emu::EmulatorConfig {
            grid_dim: launch.grid,
            workgroup_dim: launch.workgroup,
            register_count: launch.registers,
            local_memory_size: launch.local_memory_bytes as usize,
            device_memory_size: memory.len(),
            wave_width: config.core.wave_width,
            max_instructions: 0,
            initial_registers: launch.initial_registers.clone(),
            ..Default::default()
        });
        emulator.load_binary(&binary).map_err(|e| e.to_string())?;
        emulator.load_device_memory(0, &memory).map_err(|e| e.to_string())?;
        let start = Instant::now();
        let result = emulator.run_kernel(launch.kernel).map_err(|e| e.to_string())?;
        seconds += start.elapsed().as_secs_f64();
        instructions += result.stats.instructions_executed;
        memory = emulator.read_device_memory(0, memory.len()).map_err(|e| e.to_string())?;
    }
    Ok((instructions, seconds))
}

/// Seconds that the emulator takes for the work of this many wave instructions of ours, or why the two cannot
/// be compared.
pub(crate) fn emulator_seconds(config: &Config, job: &Job, instructions: u64) -> Result<f64, String> {
    let (their_count, first) = emulate(config, job)?;
    // The emulator counts skipped instructions slightly differently.
    if instructions.abs_diff(their_count) * 10 > instructions {
        return Err(format!("it counts {their_count} wave instructions, not {instructions}"));
    }
    let again = || emulate(config, job).expect("it ran before").1;
    Ok((1..TURNS).map(|_| again()).fold(first, f64::min))
}

fn row(name: &str, machine: &str, config: &Config, threads: usize, timed: &Timed, theirs: Option<f64>) {
    let ratio = theirs.map_or("-".to_owned(), |seconds| format!("{:.2}", seconds / timed.seconds));
    let core_cycles = timed.cycles as f64 * f64::from(config.cores) / timed.seconds / 1e6;
    let memory = timed.bytes as f64 / 1e6;
    let rate = timed.rate();
    println!("| {name} | {machine} | {threads} | {ratio} | {core_cycles:.1} | {rate:.2} | {memory:.1} |");
}

pub(crate) fn part() {
    let most = available_parallelism().map_or(1, usize::from).min(2);
    println!(
        "| kernel | machine | threads | ratio to wave-emu | M core-cycles/s | M wave instructions/s | MB |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut ratios = Vec::new();
    let mut left_out = Vec::new();
    for name in launch::suite().chain([SGEMM]) {
        let job = launch::load(name, Size::Full).expect("a kernel of the suite");
        let mut theirs: Option<Option<f64>> = None;
        for machine in MACHINES {
            let config = config::load(machine).expect("a preset");
            for threads in 1..=most {
                let options = RunOptions { threads, ..RunOptions::UNBOUNDED };
                let ours = fastest(TURNS, || run_job(&config, &job, &options));
                let theirs =
                    *theirs.get_or_insert_with(|| match emulator_seconds(&config, &job, ours.instructions) {
                        Ok(seconds) => Some(seconds),
                        Err(reason) => {
                            left_out.push((job.name.clone(), reason));
                            None
                        }
                    });
                row(&job.name, machine, &config, threads, &ours, theirs);
                if let (Some(theirs), "gpu", 1) = (theirs, machine, threads) {
                    ratios.push((job.name.clone(), theirs / ours.seconds));
                }
            }
        }
    }
    let of = |chosen: &dyn Fn(&str) -> bool| -> Vec<f64> {
        ratios.iter().filter(|(name, _)| chosen(name)).map(|&(_, ratio)| ratio).collect()
    };
    for name in COMPUTE {
        assert!(ratios.iter().any(|(compared, _)| compared == name), "{name} is not compared: {left_out:?}");
    }
    println!("\ngeometric means of the ratio to wave-emu, gpu.ron, one thread");
    println!(
        "{:<42} {:>8.2}",
        format!("  {}", COMPUTE.join(", ")),
        mean(&of(&|name| COMPUTE.contains(&name)))
    );
    println!("{:<42} {:>8.2}", "  all of these", mean(&of(&|_| true)));
    println!("\nKernels that wave-emu does not run:");
    left_out.iter().for_each(|(name, reason)| println!("{name:<16} {reason}"));
}
