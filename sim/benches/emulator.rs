//! wave-sim beside the reference functional emulator `wave-emu` 0.1.2, on the same kernels in one run.
//!
//! Prints wave instructions a second of both and their ratio, the fastest of several turns each, and the peak memory of
//! a run on the largest machine. One thread. `scripts/bench.sh` runs it.

use std::time::Instant;
use wave_sim::config::{self, Config};
use wave_sim::core::probe::Off;
use wave_sim::gpu::{Gpu, RunOptions};
use wave_sim::launch::{self, Job, Size, Verification};

/// Kernels that both machines can run: ALU-bound, local memory and barriers, wave operations, cache-resident,
/// streaming. The path is a launch file beside this one: the suite's sgemm uses more registers than the older
/// assembler has.
const KERNELS: [&str; 5] = [
    "alu_loop",
    concat!(env!("CARGO_MANIFEST_DIR"), "/benches/sgemm_tile.ron"),
    "reduction",
    "stencil2d",
    "vector_add",
];
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

fn emulate(config: &Config, job: &Job) -> Run {
    let text = &job.program.source.as_ref().expect("the suite is assembly").text;
    let text = OLDER_NAMES.iter().fold(text.clone(), |text, (new, old)| text.replace(new, old));
    let binary = wave_asm::assemble(&text, &job.name).expect("the older assembler takes it").binary;
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
        emulator.load_binary(&binary).expect("its own binary");
        emulator.load_device_memory(0, &memory).expect("as large as the memory");
        let start = Instant::now();
        let result = emulator.run_kernel(launch.kernel).expect("a kernel of the suite runs");
        seconds += start.elapsed().as_secs_f64();
        instructions += result.stats.instructions_executed;
        memory = emulator.read_device_memory(0, memory.len()).expect("as large as the memory");
    }
    (instructions, seconds)
}

/// Wave instructions, and the seconds of the fastest turn.
fn fastest(run: impl Fn() -> Run) -> Run {
    (0..TURNS).map(|_| run()).fold((0, f64::INFINITY), |a, b| (b.0, a.1.min(b.1)))
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
        "{:<12} {:>16} {:>16} {:>8}   (million wave instructions a second)",
        "kernel", "wave-sim", "wave-emu", "ratio"
    );
    let mut product = 1.0;
    for name in KERNELS {
        let job = launch::load(name, Size::Full).expect("a kernel of the suite");
        let (instructions, ours) = fastest(|| simulate(&config, &job));
        let (their_count, theirs) = fastest(|| emulate(&config, &job));
        // The emulator's results deviate where docs/deviations.md says so, and it counts what it skips a little
        // differently; the work must be the same. Both rates are of our count: the ratio is that of the times.
        let same_work = instructions.abs_diff(their_count) * 10 < instructions;
        assert!(same_work, "{}: {instructions} and {their_count} wave instructions", job.name);
        let rate = |seconds: f64| instructions as f64 / seconds / 1e6;
        println!("{:<12} {:>16.2} {:>16.2} {:>8.2}", job.name, rate(ours), rate(theirs), theirs / ours);
        product *= theirs / ours;
    }
    println!("{:<12} {:>16} {:>16} {:>8.2}", "geomean", "", "", product.powf(1.0 / KERNELS.len() as f64));
}
