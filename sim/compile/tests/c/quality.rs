//! Compiled C, WGSL and CUDA C++ against the hand-written assembly of the same kernels with the same data.
//! `scripts/c-quality.sh` prints the tables, and with `full` those of the full size.

use crate::suite::{NINE, job};
use wave_machine::config::{self, Config};
use wave_machine::gpu::{Machine, RunOptions};
use wave_study::launch::{self, Job, Size};

/// What a job took on a machine.
struct Cost {
    cycles: u64,
    instructions: u64,
    registers: u32,
}

/// Runs a job with timing and verifies it.
fn cost(name: &str, config: &Config, mut job: Job) -> Cost {
    let used = job.memory.len() as u64;
    let mut memory = std::mem::take(&mut job.memory);
    memory.resize(config.device_memory_bytes as usize, 0);
    let bytes = memory.len() as u64;
    let mut machine = Machine::new(config.clone(), job.program.clone(), memory);
    let mut cost = Cost { cycles: 0, instructions: 0, registers: 0 };
    for launch in &mut job.steps {
        launch.place_private(&job.program, config.core.wave_width, bytes, used).expect("it fits");
        let options = RunOptions { max_cycles: Some(50_000_000), ..RunOptions::UNBOUNDED };
        let report = machine.run(launch, &options, None, &mut |_| {});
        let report = report.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        cost.cycles += report.cycles;
        cost.instructions += report.core.wave_instructions;
        cost.registers = cost.registers.max(launch.registers);
    }
    let verified = job.verify(machine.memory());
    assert!(verified.is_ok(), "{name}: {verified}");
    cost
}

#[test]
fn compiled_c_is_nearly_as_fast_as_hand_written_assembly() {
    compare("c", &NINE, [1.02, 1.2]);
}

/// Shaders that are there in assembly too.
const SHADERS: [&str; 17] = [
    "saxpy",
    "transpose_padded",
    "reduction",
    "scan",
    "compact",
    "histogram",
    "sgemm",
    "hgemm",
    "softmax",
    "stencil2d",
    "nbody",
    "mandelbrot",
    "monte_carlo_pi",
    "spmv",
    "bfs",
    "bitonic_sort",
    "crc32",
];

#[test]
fn compiled_wgsl_is_nearly_as_fast_as_hand_written_assembly() {
    compare("wgsl", &SHADERS, [1.13, 1.5]);
}

/// Kernels in CUDA C++ whose threads do what those of the assembly do, with the same data.
const IN_CUDA: [&str; 10] = [
    "saxpy",
    "reduction",
    "transpose",
    "histogram",
    "stencil2d",
    "softmax",
    "scan",
    "bfs",
    "dot_f64",
    "spmv",
];

#[test]
fn compiled_cuda_is_nearly_as_fast_as_hand_written_assembly() {
    compare("cuda", &IN_CUDA, [1.42, 2.5]);
}

/// Prints what kernels of a suite take beside those in assembly. `most` is what their geometric mean and the worst of them may
/// lose in the small size: what was reached, rounded up.
fn compare(suite: &str, names: &[&str], most: [f64; 2]) {
    let size = if std::env::var("WAVE_SIM_FULL").is_ok() { Size::Full } else { Size::Small };
    let only = std::env::var("WAVE_SIM_ONLY").ok();
    let config = config::load("gpu").expect("a preset");
    let (mut product, mut worst) = (1f64, 0f64);
    println!("{suite:16} |    cycles |  assembly | ratio |   instr. | assembly | registers | assembly");
    for name in names.iter().filter(|name| only.as_deref().is_none_or(|only| only == **name)) {
        // The assembly has two transpositions.
        let by_hand = if *name == "transpose" { "transpose_padded" } else { name };
        let hand = launch::load(by_hand, size).unwrap_or_else(|errors| panic!("{errors:?}"));
        let made = job(&format!("{suite}/{name}"), size);
        if only.is_some() {
            println!("{}", wave_isa::program::disassemble(&made.program));
        }
        let (hand, made) = (cost(name, &config, hand), cost(name, &config, made));
        let ratio = made.cycles as f64 / hand.cycles as f64;
        product *= ratio;
        worst = worst.max(ratio);
        println!(
            "{name:16} | {:9} | {:9} | {ratio:5.2} | {:8} | {:8} | {:9} | {:8}",
            made.cycles, hand.cycles, made.instructions, hand.instructions, made.registers, hand.registers
        );
    }
    let mean = product.powf(1.0 / names.len() as f64);
    println!("geometric mean {mean:.3}, worst {worst:.2}");
    assert!(
        only.is_some() || size == Size::Full || mean <= most[0] && worst <= most[1],
        "mean {mean}, worst {worst}"
    );
}
