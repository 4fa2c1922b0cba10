//! The whole machine: cores, dispatcher and memory side. It runs kernels one after the other.

pub mod dispatcher;
pub mod occupancy;
mod run;
pub mod spin;
mod standstill;
mod team;

use crate::clock::Cycle;
use crate::config::Config;
use crate::core::probe::{Observer, Off, Watched};
use crate::core::report::WaveReport;
use crate::memory::{Jitter, L1, L1Counters, LinkCounters, MemoryCounters, MemoryPort, MemorySystem};
use crate::stats::{CoreCounters, SlotUse};
use occupancy::{LaunchError, Occupancy};
use spin::Doing;
use std::sync::atomic::{AtomicBool, Ordering};
use wave_isa::program::{Fault, Launch, Program};

/// A machine with its device memory. It runs kernels one after the other.
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
#[derive(Debug, Clone, Copy)]
pub struct RunOptions {
    /// Stop with [`RunError::CycleLimit`] after this many cycles of a kernel. The release at its end is not
    /// limited.
    pub max_cycles: Option<Cycle>,
    /// Stop with [`RunError::InstructionLimit`] after this many wave instructions of a kernel.
    pub max_instructions: Option<u64>,
    /// Visit every cycle instead of skipping those in which nothing can happen. Slower; the result is the
    /// same. Tests compare the two.
    pub every_cycle: bool,
    /// Random delays in the L2, for tests of behaviour that depends on timing (M20a).
    pub jitter: Option<Jitter>,
    /// Threads that run cores at the same time, at least one. Threads for which a kernel has no work are not
    /// started. The result does not depend on the number. An observed run takes one thread, except with
    /// observers of [single cores](Observer::of_core).
    pub threads: usize,
    /// Number of cycles after which an unobserved launch is checked for whether it can still end; repeated
    /// each time it has run twice as long. If it cannot end, the run stops with [`RunError::NoProgress`]. If
    /// `None`, only a machine in which nothing happens stops this way.
    pub looks_after: Option<Cycle>,
    /// Stop with [`RunError::Interrupted`] once this is true.
    pub stop: Option<&'static AtomicBool>,
}

impl RunOptions {
    /// No bounds, idle cycles skipped, one thread, no stop flag.
    pub const UNBOUNDED: RunOptions = RunOptions {
        max_cycles: None,
        max_instructions: None,
        every_cycle: false,
        jitter: None,
        threads: 1,
        looks_after: None,
        stop: None,
    };

    /// True if the run must stop now.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Cycles simulated.
    pub cycles: Cycle,
    /// Wave instructions issued.
    pub instructions: u64,
    /// Workgroups ended.
    pub workgroups: u64,
    /// Workgroups of the grid.
    pub total_workgroups: u64,
}

/// Totals of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelReport {
    /// Cycles from the one in which the dispatcher may send the first workgroup until the next launch can start.
    pub cycles: Cycle,
    /// Release cycles among them (M32). The release begins when the last workgroup has ended and the last
    /// store is acknowledged.
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
    /// Counters of each link of the interconnect during the kernel, as in [`MemorySystem::links`].
    pub links: Vec<LinkCounters>,
    /// Occupancy of a core.
    pub occupancy: Occupancy,
    /// Waves that fit on the machine by wave slots alone.
    pub wave_slots: u64,
}

impl KernelReport {
    /// Cycles until the last workgroup has ended and the last store is acknowledged: `cycles` without the release.
    pub fn running_cycles(&self) -> Cycle {
        self.cycles - self.release_cycles
    }
}

/// State of a machine that stopped before the grid was complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoProgress {
    /// The cycle after which nothing happened, or in which the repetition was proved.
    pub cycle: Cycle,
    /// Workgroups that have ended, and workgroups of the grid.
    pub workgroups: (u64, u64),
    /// Every wave that has not ended.
    pub waves: Vec<WaveReport>,
    /// Activity of waves after the run was stopped. Empty if nothing moves.
    pub doing: Vec<Doing>,
}

/// Why a kernel did not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// The kernel cannot run on this machine.
    Launch(LaunchError),
    /// The kernel did something illegal.
    Fault(Box<Fault>),
    /// Nothing happens any more, or everything repeats for ever.
    NoProgress(Box<NoProgress>),
    /// The cycle limit was reached; with the state of every wave.
    CycleLimit(Box<NoProgress>),
    /// The instruction limit was reached; with the state of every wave.
    InstructionLimit(Box<NoProgress>),
    /// [`RunOptions::stop`] or the observer stopped the run; with the state of every wave.
    Interrupted(Box<NoProgress>),
}

impl<'a> Gpu<'a> {
    /// A machine with this device memory, for the kernels of one program.
    pub fn new(config: &'a Config, program: &'a Program, memory: Vec<u8>) -> Gpu<'a> {
        let (memory, ports) = MemorySystem::new(config, memory, &program.code);
        let caches = ports.into_iter().map(|port| (L1::new(config), port)).collect();
        Gpu { config, program, memory, caches, now: 0 }
    }

    /// Runs a kernel to its end. `observer` gets its events; `progress` is called now and then.
    ///
    /// # Errors
    /// See [`RunError`]. After an error the machine runs no other kernel.
    // Never inlined: callgrind counts the host's instructions between its entry and its end
    // (`sim/cli/tests/host_instructions.rs`, `scripts/profile.py`), and finds it by its symbol.
    #[inline(never)]
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

    /// The memory side, for what it records and counts by itself.
    pub fn memory_system(&mut self) -> &mut MemorySystem {
        &mut self.memory
    }

    /// Device memory as the host sees it between launches.
    pub fn memory(&mut self) -> &[u8] {
        self.memory.host_memory()
    }

    /// Returns device memory as the host sees it.
    pub fn into_memory(self) -> Vec<u8> {
        self.memory.into_memory()
    }
}
