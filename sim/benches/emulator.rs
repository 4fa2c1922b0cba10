//! wave-sim beside the reference functional emulator `wave-emu` 0.1.2, on the same kernels in one run: every kernel of
//! the suite that the emulator runs with the same work, and a tiled sgemm. Its results deviate here and there
//! (docs/deviations.md); ours are verified.
//!
//! Prints wave instructions a second of both and the ratio of the times, the fastest of several turns each, and the
//! peak memory of a run on the largest machine. One thread. `scripts/bench.sh` runs it.

use std::time::Instant;
use wave_sim::config::{self, Config};
use wave_sim::core::probe::Off;
use wave_sim::gpu::{Gpu, RunOptions};
use wave_sim::launch::{self, Job, Size, Verification};

/// Beside the suite: its sgemm uses more registers than the older assembler has.
const SGEMM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/sgemm_tile.ron");
/// Kernels whose time goes to the cores: an ALU loop, a tiled sgemm, and one each of floating point out of local memory, of
/// loads with reuse, and of divergence. The others wait for memory for most of their cycles, which a functional emulator
/// does not simulate.
const COMPUTE: [&str; 5] = ["alu_loop", "sgemm_tile", "nbody", "stencil2d", "lcm"];
/// Comparisons that the older assembler does not know, and what does the same for the values that these
/// kernels compare, which are below 2³¹.
const OLDER_NAMES: [(&str, &str); 3] =
    [("ucmp_ge", "icmp_ge"), ("ucmp_gt", "icmp_gt"), ("ucmp_eq", "icmp_eq")];
const TURNS: usize = 3;

/// Wave instructions and seconds of one run.
type Run = (u64, f64);

fn simulate(config: &Config, job: &Job) -> Run {
    let mut gpu = Gpu::new(config, &job.program, job.memory.clone());
    let start = Instant::now();
    let mut instructions = 0;
    for launch in &job.steps {
        let report = gpu.run(launch, &RunOptions::UNBOUNDED, &mut Off, &mut |_| ());
        instructions += report.expect("a kernel of the suite runs").core.wave_instructions;
    }
    let seconds = start.elapsed().as_secs_f64();
    let verified = matches!(job.verify(gpu.memory()), Verification::Passed { .. });
    assert!(verified, "{} is verified", job.name);
    (instructions, seconds)
}

/// The emulator's run, or why it cannot run the kernel.
fn emulate(config: &Config, job: &Job) -> Result<Run, String> {
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

/// Wave instructions of one turn, and the seconds of the fastest.
fn fastest(run: impl Fn() -> Run) -> Run {
    (0..TURNS).map(|_| run()).fold((0, f64::INFINITY), |a, b| (b.0, a.1.min(b.1)))
}

/// Seconds of both machines for the same work and our count of it, or why they cannot be compared.
fn compare(config: &Config, job: &Job) -> Result<(u64, f64, f64), String> {
    let (their_count, first) = emulate(config, job)?;
    let again = || emulate(config, job).expect("it ran before");
    let theirs = (1..TURNS).map(|_| again().1).fold(first, f64::min);
    let (instructions, ours) = fastest(|| simulate(config, job));
    // The emulator counts what it skips a little differently.
    if instructions.abs_diff(their_count) * 10 > instructions {
        return Err(format!("it counts {their_count} wave instructions, not {instructions}"));
    }
    Ok((instructions, ours, theirs))
}

fn geometric_mean(values: &[f64]) -> f64 {
    values.iter().product::<f64>().powf(1.0 / values.len() as f64)
}

fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn memory_on_the_largest_machine() {
    let config = config::load("large.ron").expect("a preset");
    let job = launch::load("vector_add", Size::Full).expect("a kernel of the suite");
    let before = peak_memory_bytes();
    simulate(&config, &job);
    if let (Some(before), Some(after)) = (before, peak_memory_bytes()) {
        let own = job.memory.len() as u64;
        let beyond = after.saturating_sub(before).saturating_sub(own);
        println!(
            "large.ron ({} cores), vector_add: {:.1} MB beyond the kernel's own {:.1} MB",
            config.cores,
            beyond as f64 / 1e6,
            own as f64 / 1e6
        );
    }
}

fn main() {
    memory_on_the_largest_machine();
    let config = config::load("gpu.ron").expect("a preset");
    println!(
        "{:<16} {:>12} {:>12} {:>8}   (million wave instructions a second, of our count)",
        "kernel", "wave-sim", "wave-emu", "ratio"
    );
    let mut ratios = Vec::new();
    let mut left_out = Vec::new();
    for name in launch::suite().chain([SGEMM]) {
        let job = launch::load(name, Size::Full).expect("a kernel of the suite");
        match compare(&config, &job) {
            Ok((instructions, ours, theirs)) => {
                let rate = |seconds: f64| instructions as f64 / seconds / 1e6;
                let ratio = theirs / ours;
                println!("{:<16} {:>12.2} {:>12.2} {ratio:>8.2}", job.name, rate(ours), rate(theirs));
                ratios.push((job.name, ratio));
            }
            Err(reason) => left_out.push((job.name, reason)),
        }
    }
    let compute: Vec<f64> =
        ratios.iter().filter(|(name, _)| COMPUTE.contains(&name.as_str())).map(|r| r.1).collect();
    let all: Vec<f64> = ratios.iter().map(|r| r.1).collect();
    println!("geometric means");
    println!("{:<42} {:>8.2}", format!("  {}", COMPUTE.join(", ")), geometric_mean(&compute));
    println!("{:<42} {:>8.2}", "  all of these", geometric_mean(&all));
    println!("\nKernels that wave-emu does not run:");
    left_out.iter().for_each(|(name, reason)| println!("{name:<16} {reason}"));
}
