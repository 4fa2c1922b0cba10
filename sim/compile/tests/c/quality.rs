//! Compiled C against the hand-written assembly of the same kernels: the same data, the same launches.

use crate::clang;
use wave_compile::c::{self, CompileOptions};
use wave_compile::{Compiled, Options, compile, wasm};
use wave_isa::program::{Launch, Program};
use wave_machine::config::{self, Config};
use wave_machine::gpu::{Machine, RunOptions};
use wave_study::launch::{self, Job, Size};
use wave_testing::golden::root;

/// The kernels that are there in both.
const BOTH: [&str; 9] =
    ["sgemm", "saxpy", "stencil2d", "nbody", "mandelbrot", "spmv", "histogram", "crc32", "softmax"];

/// All kernels of a source, each as a program.
fn kernels(name: &str) -> Vec<(wasm::ExportedKernel, Compiled)> {
    let path = root().join(format!("sim/kernels/c/{name}.c"));
    let built =
        c::compile(&path, &CompileOptions::default()).unwrap_or_else(|e| panic!("{}", e.render(false)));
    let decoded = wasm::decode(&built.wasm).unwrap_or_else(|error| panic!("{error}"));
    let compiled = |kernel: wasm::ExportedKernel| {
        let options = Options {
            name: Some(kernel.name.clone()),
            workgroup_size: kernel.workgroup_size.unwrap_or_default(),
            local_memory_bytes: Some(kernel.local_memory_bytes.unwrap_or(0)),
            ..Options::default()
        };
        let made = compile(&decoded.module, kernel.function, &options);
        (kernel, made.unwrap_or_else(|error| panic!("{name}: {error}")))
    };
    wasm::kernels(&decoded.module).into_iter().map(compiled).collect()
}

/// Cycles and instructions of the launches of a job; verified.
fn run(name: &str, config: &Config, job: &Job, steps: &[(Program, Launch)]) -> (u64, u64) {
    let mut memory = job.memory.clone();
    memory.resize(config.device_memory_bytes as usize, 0);
    let (mut cycles, mut instructions) = (0, 0);
    for (program, launch) in steps {
        let mut machine = Machine::new(config.clone(), program.clone(), memory);
        let report = machine.run(
            launch,
            &RunOptions { max_cycles: Some(50_000_000), ..RunOptions::UNBOUNDED },
            None,
            &mut |_| {},
        );
        let report = report.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        cycles += report.cycles;
        instructions += report.core.wave_instructions;
        memory = machine.into_memory();
    }
    let verified = job.verify(&memory);
    assert!(verified.is_ok(), "{name}: {verified}");
    (cycles, instructions)
}

#[test]
fn cycles_against_the_hand_written_kernels() {
    if !clang() {
        return;
    }
    let size = if std::env::var("FULL").is_ok() { Size::Full } else { Size::Small };
    let only = std::env::var("ONLY").ok();
    let config = config::load("gpu").expect("a preset");
    let mut product = 1f64;
    println!("kernel       C cycles  asm cycles  ratio   C instr. asm instr.  C regs asm regs");
    for name in BOTH.iter().filter(|name| only.as_deref().is_none_or(|only| only == **name)) {
        let job = launch::load(name, size).unwrap_or_else(|errors| panic!("{errors:?}"));
        let hand: Vec<(Program, Launch)> =
            job.steps.iter().map(|step| (job.program.clone(), step.clone())).collect();
        let made = kernels(name);
        let ours: Vec<(Program, Launch)> = job
            .steps
            .iter()
            .map(|step| {
                let wanted = &job.program.kernels[step.kernel].name;
                let wanted = if wanted == "bfs_level" { "bfs" } else { wanted.as_str() };
                let (kernel, compiled) =
                    made.iter().find(|(kernel, _)| kernel.name == wanted).expect("it is there");
                assert!(compiled.program.kernels[0].private.is_none(), "{name}: it needs private memory");
                let launch = Launch {
                    kernel: 0,
                    registers: compiled.statistics.registers,
                    local_memory_bytes: kernel.local_memory_bytes.unwrap_or(0),
                    ..step.clone()
                };
                (compiled.program.clone(), launch)
            })
            .collect();
        if std::env::var("LISTING").is_ok() {
            for (_, compiled) in &made {
                println!("{}", wave_isa::program::disassemble(&compiled.program));
            }
        }
        let (hand_cycles, hand_instructions) = run(name, &config, &job, &hand);
        let (cycles, instructions) = run(name, &config, &job, &ours);
        let registers = |steps: &[(Program, Launch)]| steps.iter().map(|(_, launch)| launch.registers).max();
        let ratio = cycles as f64 / hand_cycles as f64;
        product *= ratio;
        println!(
            "{name:12} {cycles:8} {hand_cycles:11} {ratio:6.2} {instructions:10} {hand_instructions:10} {:7} {:8}",
            registers(&ours).unwrap_or(0),
            registers(&hand).unwrap_or(0)
        );
    }
    println!("geometric mean {:.3}", product.powf(1.0 / BOTH.len() as f64));
}
