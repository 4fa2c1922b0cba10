//! Microbenchmarks: kernels that say one figure each, in WAVE assembly, for the GPU and for the simulator.
//!
//! A figure comes from kernels that differ in a count, such as how often an instruction is repeated. The difference of the
//! times of two has nothing of what both do: start, loop, the first touch of a line. A longer kernel has more code to fetch,
//! which a GPU that has run it before has in its caches and the simulator has not. So there are four: the difference of the
//! same two with twice the rounds has as much of that, and the difference of the differences has none. Compilers for GPUs leave out
//! what has no effect and join what is alike. So every result goes on into another instruction, and what the compiler could
//! know comes in registers.

mod memory;
mod units;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};
use wave_driver::Properties;
use wave_isa::ExecClass;
use wave_machine::config::Config;
use wave_ptx::WAVE_WIDTH;

/// What a microbenchmark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// Execution units: from an instruction to one that needs its result, and instructions a cycle.
    Units,
    /// Latency of every level of memory.
    Latency,
    /// Bandwidth of every level of memory.
    Bandwidth,
    /// Banks of local memory, and lines of device memory.
    Patterns,
    /// Atomics.
    Atomics,
    /// Barriers, loops, workgroups.
    Control,
}

impl Topic {
    /// Every topic, in the order of a report.
    pub const ALL: [Topic; 6] =
        [Topic::Units, Topic::Latency, Topic::Bandwidth, Topic::Patterns, Topic::Atomics, Topic::Control];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Topic::Units => "units",
            Topic::Latency => "latency",
            Topic::Bandwidth => "bandwidth",
            Topic::Patterns => "patterns",
            Topic::Atomics => "atomics",
            Topic::Control => "control",
        }
    }
}

/// What of a machine the kernels depend on. Both sides have to run the same kernels, so that it is stored with what was
/// measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Cores that kernels on all cores use.
    pub cores: u32,
    /// Waves of a workgroup that fills a core.
    pub waves: u32,
    /// Local memory of a core, bytes.
    pub local_bytes: u32,
    /// Most device memory of a kernel, bytes: a power of two.
    pub memory_bytes: u32,
    /// True if there is f64.
    pub f64: bool,
}

/// Registers of a lane of every kernel.
const REGISTERS: u32 = 32;
/// Device memory where there is no reason for less.
const MEMORY_BYTES: u32 = 64 << 20;

impl Shape {
    /// That of a GPU.
    pub fn of(properties: &Properties) -> Shape {
        let waves = properties.registers / (REGISTERS * WAVE_WIDTH);
        let waves = waves.min(properties.cta_threads / WAVE_WIDTH).min(properties.threads / WAVE_WIDTH);
        Shape {
            cores: properties.multiprocessors.max(1),
            waves: waves.clamp(1, 32),
            local_bytes: properties.shared_bytes,
            memory_bytes: MEMORY_BYTES,
            f64: true,
        }
    }

    /// That of a simulated machine.
    pub fn of_config(config: &Config) -> Shape {
        let core = &config.core;
        let waves = core.register_file_bytes / core.schedulers / (REGISTERS * 4 * core.wave_width);
        let waves =
            (waves * core.schedulers).min(core.max_workgroup_size / core.wave_width).min(core.max_waves);
        let memory = config.device_memory_bytes.clamp(1 << 16, MEMORY_BYTES.into());
        Shape {
            cores: config.cores,
            waves: waves.clamp(1, 32),
            local_bytes: core.local_memory_bytes,
            memory_bytes: 1 << memory.ilog2(),
            f64: config.capabilities.f64,
        }
    }
}

/// One of the kernels of a microbenchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// WAVE assembly.
    pub text: String,
    /// Workgroups.
    pub groups: u32,
    /// Threads of a workgroup.
    pub threads: u32,
    /// Local memory of a workgroup, bytes.
    pub local_memory_bytes: u32,
    /// Start values of r0, r1 and so on.
    pub arguments: Vec<u32>,
}

/// Device memory of a microbenchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// So many bytes, zeros.
    Zeros(u32),
    /// Lines of so many bytes in a footprint, each with the address of the next in a random cyclic order.
    Chase {
        /// Bytes of all lines.
        footprint: u32,
        /// Bytes from line to line.
        line: u32,
    },
}

impl Memory {
    /// Its bytes.
    pub fn contents(self) -> Vec<u8> {
        match self {
            Memory::Zeros(bytes) => vec![0; bytes as usize],
            Memory::Chase { footprint, line } => {
                let mut bytes = vec![0; footprint as usize + OUT_BYTES as usize];
                for (at, to) in successors(footprint / line).into_iter().enumerate() {
                    let at = at * line as usize;
                    bytes[at..at + 4].copy_from_slice(&(to * line).to_le_bytes());
                }
                bytes
            }
        }
    }
}

/// Bytes behind a chase, where its last address is stored.
const OUT_BYTES: u32 = 256;

/// A cyclic order, drawn with Sattolo's algorithm: the successor of each number.
fn successors(count: u32) -> Vec<u32> {
    let mut random = Pcg32::seed_from_u64(u64::from(count));
    let mut next: Vec<u32> = (0..count).collect();
    for i in (1..count).rev() {
        next.swap(i as usize, random.random_range(0..i) as usize);
    }
    next
}

/// What becomes of the two times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// Cycles for each of so many things by which the kernels differ, in r0 rounds.
    CyclesPer(f64),
    /// Things a cycle, if they differ by so many.
    PerCycle(f64),
    /// The quotient of the times of two.
    Ratio,
}

/// A parameter of the machine that a figure can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// `latency_cycles` of a class.
    ClassLatency(ExecClass),
    /// `passes` of a class.
    ClassPasses(ExecClass),
    /// A parameter by its key.
    Key(&'static str),
}

/// A microbenchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct Micro {
    /// What it is about.
    pub topic: Topic,
    /// What the figure is.
    pub name: String,
    /// The kernels: two that differ in a count, and where their code differs too the same with twice the rounds.
    pub kernels: Vec<Kernel>,
    /// Their device memory.
    pub memory: Memory,
    /// What the figure is made of.
    pub figure: Figure,
    /// The parameter that it says, if it says one.
    pub says: Option<Says>,
    /// Unit of the figure.
    pub unit: &'static str,
}

impl Micro {
    /// The figure for the cycles of the kernels, in their order.
    pub fn value(&self, cycles: &[f64]) -> f64 {
        let more = match *cycles {
            [a, b] => b - a,
            [a, b, c, d] => (d - c) - (b - a),
            _ => f64::NAN,
        };
        match self.figure {
            Figure::CyclesPer(count) => more / count,
            Figure::PerCycle(count) => count / more.max(1e-9),
            Figure::Ratio => cycles[1] / cycles[0].max(1e-9),
        }
    }
}

/// A text with the head that every kernel has.
fn kernel_text(body: &str) -> String {
    format!(".kernel micro\n.registers {REGISTERS}\n{body}halt\n.end\n")
}

/// A loop with r0 rounds; r30 is one and r31 zero.
fn rounds(body: &str) -> String {
    format!(
        "mov_imm r30, 1\nmov_imm r31, 0\nloop\n{body}isub r0, r0, r30\nucmp_eq p1, r0, r31\nbreak p1\nendloop\n"
    )
}

/// Two kernels with r0 rounds, and the same with twice as many.
fn four(kernels: [Kernel; 2]) -> Vec<Kernel> {
    let twice = kernels.clone().map(|kernel| {
        let mut arguments = kernel.arguments;
        arguments[0] *= 2;
        Kernel { arguments, ..kernel }
    });
    kernels.into_iter().chain(twice).collect()
}

/// All microbenchmarks for machines of a shape, in the order of a report.
pub fn all(shape: &Shape) -> Vec<Micro> {
    let mut all = units::all(shape);
    all.extend(memory::all(shape));
    all.sort_by_key(|micro| Topic::ALL.iter().position(|topic| *topic == micro.topic));
    all
}
