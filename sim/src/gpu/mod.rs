//! The whole machine: cores, dispatcher and memory side. Kernels are launched on it.

pub mod dispatcher;
pub mod occupancy;
mod run;
pub mod spin;
mod team;

use crate::clock::Cycle;
use crate::config::Config;
use crate::core::probe::{Observer, Off, Watched};
use crate::core::report::WaveReport;
use crate::memory::{Jitter, L1, L1Counters, LinkCounters, MemoryCounters, MemoryPort, MemorySystem};
use crate::program::{Fault, Launch, Program};
use crate::stats::{CoreCounters, SlotUse};
use occupancy::{LaunchError, Occupancy};
use spin::Doing;

/// A machine with its device memory; kernels are launched on it one after the other.
#[derive(Debug)]
pub struct Gpu<'a> {
    config: &'a Config,
    program: &'a Program,
    memory: MemorySystem,
    /// The L1 and the port of each core, while no kernel runs.
    caches: Vec<(L1, MemoryPort)>,
    now: Cycle,
}

/// Bounds of a run and how to simulate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    /// Stop with [`RunError::CycleLimit`] after this many cycles of a kernel.
    pub max_cycles: Option<Cycle>,
    /// Stop with [`RunError::InstructionLimit`] after this many wave instructions of a kernel.
    pub max_instructions: Option<u64>,
    /// Visit every cycle, one by one, instead of skipping those in which nothing can happen. Slower, and
    /// the same result: the tests' other way of computing it.
    pub every_cycle: bool,
    /// Random delays in the L2, for tests of what depends on timing.
    pub jitter: Option<Jitter>,
    /// Threads that run cores at the same time, at least one; those that a kernel has no use for are not used. The
    /// result does not depend on it. An observed run takes one, but for observers of [single cores](Observer::of_core).
    pub threads: usize,
}

impl RunOptions {
    /// No bounds, idle cycles skipped, one thread.
    pub const UNBOUNDED: RunOptions =
        RunOptions { max_cycles: None, max_instructions: None, every_cycle: false, jitter: None, threads: 1 };
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Cycles simulated.
    pub cycles: Cycle,
    /// Wave instructions issued.
    pub instructions: u64,
    /// Workgroups done.
    pub workgroups: u64,
    /// Workgroups of the grid.
    pub total_workgroups: u64,
}

/// What a kernel did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelReport {
    /// Cycles from the launch until the last workgroup was done and the last store acknowledged.
    pub cycles: Cycle,
    /// Cycles that it took after that until everything that was dirty in the L1s and the L2 was in memory, where the
    /// host and the next kernel find it.
    pub release_cycles: Cycle,
    /// Counters, summed over the cores.
    pub core: CoreCounters,
    /// Issue slots by use, summed over cores and schedulers; the sum is
    /// cycles × cores × schedulers × issue width.
    pub slots: [u64; SlotUse::COUNT],
    /// Counters of the L1s, summed over the cores.
    pub l1: L1Counters,
    /// Counters of the memory side during the kernel.
    pub memory: MemoryCounters,
    /// Of each link of the interconnect, as in [`MemorySystem::links`].
    pub links: Vec<LinkCounters>,
    /// Occupancy of a core.
    pub occupancy: Occupancy,
    /// Waves that fit on the machine by wave slots alone.
    pub wave_slots: u64,
}

/// A machine that stopped moving: nothing is on its way and the grid is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoProgress {
    /// The cycle after which nothing happened.
    pub cycle: Cycle,
    /// Workgroups done, and of the grid.
    pub workgroups: (u64, u64),
    /// Every wave that has not ended.
    pub waves: Vec<WaveReport>,
    /// What waves went on to do when the run was stopped at a bound; nothing if nothing moves.
    pub doing: Vec<Doing>,
}

/// Why a kernel did not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// It cannot run on this machine.
    Launch(LaunchError),
    /// It did what a kernel may not do.
    Fault(Box<Fault>),
    /// Nothing moves any more.
    NoProgress(Box<NoProgress>),
    /// The cycle limit, with where every wave was.
    CycleLimit(Box<NoProgress>),
    /// The instruction limit, with where every wave was.
    InstructionLimit(Box<NoProgress>),
    /// The observer stopped the run, with where every wave was.
    Interrupted(Box<NoProgress>),
}

impl<'a> Gpu<'a> {
    /// A machine with this device memory, for the kernels of one program.
    pub fn new(config: &'a Config, program: &'a Program, memory: Vec<u8>) -> Gpu<'a> {
        let (memory, ports) = MemorySystem::new(config, memory, &program.code);
        let caches = ports.into_iter().map(|port| (L1::new(config), port)).collect();
        Gpu { config, program, memory, caches, now: 0 }
    }

    /// Runs a kernel to its end, and tells an observer. `progress` is called now and then.
    ///
    /// # Errors
    /// See [`RunError`]. After an error the machine runs no other kernel.
    pub fn run(
        &mut self,
        launch: &Launch,
        options: &RunOptions,
        observer: Option<&mut dyn Observer>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<KernelReport, RunError> {
        match observer {
            None => self.run_probed(launch, options, &mut Off, progress),
            Some(observer) => self.run_probed(launch, options, &mut Watched::by(observer), progress),
        }
    }

    fn l1_counters(&self) -> L1Counters {
        let mut sum = L1Counters::default();
        self.caches.iter().for_each(|(l1, _)| sum += l1.counters());
        sum
    }

    /// The cycle in which the next kernel starts.
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// The memory side, for what it can record and count by itself.
    pub fn memory_system(&mut self) -> &mut MemorySystem {
        &mut self.memory
    }

    /// Device memory as the host sees it.
    pub fn memory(&self) -> &[u8] {
        self.memory.memory()
    }

    /// Gives device memory back.
    pub fn into_memory(self) -> Vec<u8> {
        self.memory.into_memory()
    }
}
