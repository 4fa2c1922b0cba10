//! Timed runs of the simulator.

use crate::MEMORY;
use std::time::Instant;
use wave_isa::program::{Launch, Program, assemble};
use wave_machine::config::Config;
use wave_machine::gpu::{Machine, RunError, RunOptions};
use wave_study::launch::{Job, Verification};

/// Cost and work of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Timed {
    pub seconds: f64,
    pub instructions: u64,
    pub cycles: u64,
    /// Peak of allocated memory above the level before the run.
    pub bytes: usize,
}

impl Timed {
    /// Wave instructions per second, in millions.
    pub(crate) fn rate(&self) -> f64 {
        self.instructions as f64 / self.seconds / 1e6
    }
}

/// The fastest of several runs. Disturbances only make a run slower.
pub(crate) fn fastest(turns: usize, run: impl Fn() -> Timed) -> Timed {
    let runs = (0..turns).map(|_| run());
    runs.reduce(|a, b| if b.seconds < a.seconds { b } else { a }).expect("at least one turn")
}

/// Runs launches on a new machine. A launch may end at a cycle limit.
pub(crate) fn simulate(
    config: &Config,
    program: &Program,
    steps: &[Launch],
    memory: Vec<u8>,
    options: &RunOptions,
) -> (Timed, Vec<u8>) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let mut gpu = Machine::new(config.clone(), program.clone(), memory);
    let start = Instant::now();
    let mut timed = Timed { seconds: 0.0, instructions: 0, cycles: 0, bytes: 0 };
    for launch in steps {
        match gpu.run(launch, options, None, &mut |_| ()) {
            Ok(report) => {
                timed.instructions += report.core.wave_instructions;
                timed.cycles += report.cycles;
            }
            Err(RunError::CycleLimit(_)) => {}
            Err(error) => panic!("a launch of a benchmark ends: {error:?}"),
        }
    }
    timed.seconds = start.elapsed().as_secs_f64();
    timed.bytes = MEMORY.peak_usage().saturating_sub(before);
    (timed, gpu.into_memory())
}

/// Runs a job and checks its result.
pub(crate) fn run_job(config: &Config, job: &Job, options: &RunOptions) -> Timed {
    let (timed, memory) = simulate(config, &job.program, &job.steps, job.memory.clone(), options);
    assert!(matches!(job.verify(&memory), Verification::Passed { .. }), "{} is verified", job.name);
    timed
}

/// One launch of a kernel given as text, on a one-dimensional grid.
pub(crate) fn launch_of(text: &str, workgroups: u32, registers: &[(u8, u32)]) -> (Program, Launch) {
    let (program, _) = assemble(text, "bench.wave").expect("a kernel of a benchmark is well-formed");
    let kernel = &program.kernels[0];
    let launch = Launch {
        kernel: 0,
        grid: [workgroups, 1, 1],
        workgroup: kernel.workgroup_size,
        registers: kernel.registers,
        local_memory_bytes: kernel.local_memory_bytes,
        initial_registers: registers.to_vec(),
    };
    (program, launch)
}

/// A loop of r3 multiply-adds and one store: cores are busy and memory is idle. A workgroup has eight waves
/// of 32 lanes.
pub(crate) const BUSY: &str = "\
.kernel busy
.registers 16
.workgroup_size 256, 1, 1
    mov_sr  r0, sr_thread_id_x
    mov_imm r1, 2
    shl     r0, r0, r1
    mov_imm r4, 0
    mov_imm r5, 1.5
    mov_imm r6, 0.25
    mov_imm r7, 1
    loop
        fma     r8, r5, r6, r8
        fma     r9, r5, r6, r9
        fma     r10, r8, r6, r5
        iadd    r4, r4, r7
        xor     r11, r4, r0
        ucmp_ge p0, r4, r3
        break   p0
    endloop
    device_store_u32 r0, r8
    halt
.end
";

/// The geometric mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().product::<f64>().powf(1.0 / values.len() as f64)
}
