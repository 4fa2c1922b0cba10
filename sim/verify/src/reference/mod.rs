//! The reference interpreter: slow, and written from the text of the instruction set alone.
//!
//! It shares no code with the simulator except the types that describe a program and a fault. The one
//! exception are the special functions ([`wave_machine::alu::sfu`]), whose results the instruction set defines by an
//! algorithm. Waves of a workgroup take turns, and workgroups run one after the other. A program whose result
//! depends on [`Order`] has a race.

mod decode;
mod float;
mod memory;
mod scalar;
mod wave;
mod wave_ops;

#[cfg(test)]
mod tests;

use rand::{RngExt, SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg32;
use std::collections::BTreeMap;
use wave::{Turn, Wave};
use wave_isa::program::{Fault, Launch, Program};
use wave_machine::config::Config;

pub use decode::operands;
pub use wave::Lane;

/// The properties of a machine that affect results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// Lanes of a wave, 1 to 64.
    pub wave_width: u32,
    /// CAP_F64.
    pub f64: bool,
    /// CAP_MMA.
    pub mma: bool,
    /// Frames of a wave's divergence stack.
    pub divergence_depth: u32,
    /// Frames of a wave's call stack.
    pub call_depth: u32,
    /// Initial value of every byte of local memory in a workgroup.
    pub local_poison: u8,
}

impl Machine {
    /// The machine that a configuration describes.
    pub fn of(config: &Config) -> Machine {
        Machine {
            wave_width: config.core.wave_width,
            f64: config.capabilities.f64,
            mma: config.capabilities.mma,
            divergence_depth: config.core.divergence_depth,
            call_depth: config.core.call_depth,
            local_poison: config.core.local_poison,
        }
    }
}

/// Order in which waves and workgroups run. A program without races has the same result for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Waves in turn, each for up to this many instructions or until a barrier; workgroups in order.
    RoundRobin(u32),
    /// A random wave for a random 1 to 8 instructions at a time; workgroups in random order.
    Random(u64),
}

/// Limits of a run, and what to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Stop after this many wave instructions, counting those that have no effect.
    pub max_instructions: u64,
    /// Order of waves and workgroups.
    pub order: Order,
    /// Keep the registers and predicates of every wave in the [`Outcome`].
    pub keep_state: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { max_instructions: 100_000_000, order: Order::RoundRobin(u32::MAX), keep_state: false }
    }
}

/// A run that ended as the program intends.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Wave instructions executed: those with a participating lane and, of the control instructions (`if` to
    /// `halt`), all that are reached with an active lane. Instructions that a wave meets without an active
    /// lane do not count, not even the `else`, `endif` or `endloop` that reactivates lanes.
    pub instructions: u64,
    /// The same per (opcode, modifier).
    pub executed: BTreeMap<(u8, u8), u64>,
    /// The final state of every wave, in the order in which workgroups ran; empty unless requested.
    pub waves: Vec<FinalWave>,
}

/// The final state of a wave.
#[derive(Debug, Clone, PartialEq)]
pub struct FinalWave {
    /// The workgroup's position in the grid.
    pub workgroup: [u32; 3],
    /// The wave's index in its workgroup.
    pub wave: u32,
    /// Registers and predicates of each lane.
    pub lanes: Vec<Lane>,
}

/// Why a run ended early.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Stop {
    /// The kernel did something illegal. Memory is as it was before the faulting instruction.
    #[error("{0}")]
    Fault(Fault),
    /// [`Options::max_instructions`] is spent.
    #[error("the kernel still runs after {0} wave instructions")]
    InstructionLimit(u64),
    /// The launch names no kernel of the program, or has a size that no machine supports.
    #[error("{0}")]
    Launch(String),
}

/// State shared by all waves of a launch.
struct Context<'a> {
    program: &'a Program,
    launch: &'a Launch,
    machine: &'a Machine,
    workgroup: [u32; 3],
}

/// One step of a wave: an instruction executed, squashed or walked over, or the end of the code.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The workgroup's position in the grid.
    pub workgroup: [u32; 3],
    /// The wave's index in its workgroup.
    pub wave: u32,
    /// Byte offset of the instruction in the code section.
    pub pc: u32,
    /// Lanes that were active before it.
    pub active: u64,
    /// State of the lanes before it.
    pub before: &'a [Lane],
    /// Byte offset of the wave's next instruction; `None` if it has ended.
    pub next_pc: Option<u32>,
    /// Lanes that are active after it.
    pub(crate) active_after: u64,
}

/// Called for each step, with the state of the lanes after it, which it may change.
pub type Watch<'w> = &'w mut dyn FnMut(&Step<'_>, &mut [Lane]);

/// Runs one kernel to its end over `memory`, the whole device memory.
///
/// # Errors
/// [`Stop`] on a fault, at the instruction limit, and for an inconsistent launch.
pub fn run(
    program: &Program,
    launch: &Launch,
    machine: &Machine,
    options: &Options,
    memory: &mut [u8],
) -> Result<Outcome, Stop> {
    run_watched(program, launch, machine, options, memory, None)
}

/// [`run`] with a watcher of each step.
///
/// # Errors
/// As [`run`].
pub fn run_watched(
    program: &Program,
    launch: &Launch,
    machine: &Machine,
    options: &Options,
    memory: &mut [u8],
    mut watch: Option<Watch<'_>>,
) -> Result<Outcome, Stop> {
    check(program, launch, machine)?;
    let mut workgroups = Vec::new();
    for z in 0..launch.grid[2] {
        for y in 0..launch.grid[1] {
            for x in 0..launch.grid[0] {
                workgroups.push([x, y, z]);
            }
        }
    }
    let mut picker = match options.order {
        Order::RoundRobin(quantum) => Picker::RoundRobin { quantum: quantum.max(1), next: 0 },
        Order::Random(seed) => Picker::Random(Pcg32::seed_from_u64(seed)),
    };
    if let Picker::Random(rng) = &mut picker {
        workgroups.shuffle(rng);
    }
    let mut outcome = Outcome { instructions: 0, executed: BTreeMap::new(), waves: Vec::new() };
    let mut steps = 0;
    for workgroup in workgroups {
        let context = Context { program, launch, machine, workgroup };
        let waves = run_workgroup(&context, options, &mut picker, &mut steps, memory, &mut watch)?;
        for wave in waves {
            for (&key, count) in &wave.executed {
                outcome.instructions += count;
                *outcome.executed.entry(key).or_default() += count;
            }
            if options.keep_state {
                outcome.waves.push(FinalWave { workgroup, wave: wave.index, lanes: wave.lanes });
            }
        }
    }
    Ok(outcome)
}

fn check(program: &Program, launch: &Launch, machine: &Machine) -> Result<(), Stop> {
    let refuse = |why: String| Err(Stop::Launch(why));
    let Some(kernel) = program.kernels.get(launch.kernel) else {
        return refuse(format!("the program has no kernel {}", launch.kernel));
    };
    if kernel.code.end as usize > program.code.len() {
        return refuse("the kernel's code is longer than the program".into());
    }
    if launch.grid.contains(&0) || launch.workgroup.contains(&0) {
        return refuse("a grid and a workgroup have at least one element in each direction".into());
    }
    if !(1..=256).contains(&launch.registers) {
        return refuse(format!("{} registers, but a lane has 1 to 256", launch.registers));
    }
    if !(1..=64).contains(&machine.wave_width) {
        return refuse(format!("{} lanes, but a wave has 1 to 64", machine.wave_width));
    }
    match launch.initial_registers.iter().find(|(r, _)| u32::from(*r) >= launch.registers) {
        Some((r, _)) => refuse(format!("r{r} has a value, but a lane has {} registers", launch.registers)),
        None => Ok(()),
    }
}

/// Selects the wave that runs next.
enum Picker {
    RoundRobin { quantum: u32, next: usize },
    Random(Pcg32),
}

impl Picker {
    /// One of the `ready` waves (ascending, not empty), and how many instructions it may execute.
    fn pick(&mut self, ready: &[usize]) -> (usize, u32) {
        match self {
            Picker::RoundRobin { quantum, next } => {
                let wave = ready.iter().copied().find(|w| w >= next).unwrap_or(ready[0]);
                *next = wave + 1;
                (wave, *quantum)
            }
            Picker::Random(rng) => (ready[rng.random_range(0..ready.len())], rng.random_range(1..=8)),
        }
    }
}

fn run_workgroup(
    context: &Context,
    options: &Options,
    picker: &mut Picker,
    steps: &mut u64,
    memory: &mut [u8],
    watch: &mut Option<Watch<'_>>,
) -> Result<Vec<Wave>, Stop> {
    let mut local = vec![context.machine.local_poison; context.launch.local_memory_bytes as usize];
    let count = context.launch.waves_per_workgroup(context.machine.wave_width) as u32;
    let mut waves: Vec<Wave> = (0..count).map(|index| Wave::new(context, index)).collect();
    loop {
        let ready: Vec<usize> = (0..waves.len()).filter(|&w| waves[w].turn == Turn::Ready).collect();
        if ready.is_empty() {
            // No wave is ready: all have ended or are at the barrier, so all live waves have reached it.
            if waves.iter().all(|w| w.turn == Turn::Ended) {
                return Ok(waves);
            }
            waves.iter_mut().filter(|w| w.turn == Turn::Barrier).for_each(|w| w.turn = Turn::Ready);
            continue;
        }
        let (wave, quantum) = picker.pick(&ready);
        for _ in 0..quantum {
            if *steps == options.max_instructions {
                return Err(Stop::InstructionLimit(*steps));
            }
            *steps += 1;
            let wave = &mut waves[wave];
            match watch {
                None => wave.step(context, &mut local, memory).map_err(Stop::Fault)?,
                Some(watch) => {
                    wave.watched_step(context, &mut local, memory, *watch).map_err(Stop::Fault)?;
                }
            }
            if wave.turn != Turn::Ready {
                break;
            }
        }
    }
}
