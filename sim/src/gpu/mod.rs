//! The whole machine: cores, dispatcher and memory side, wired with registered links, and the run loop.

pub mod dispatcher;
pub mod occupancy;

use crate::clock::{Cycle, NEVER, exchange, link};
use crate::config::Config;
use crate::core::probe::Probe;
use crate::core::report::WaveReport;
use crate::core::uop::MicroOps;
use crate::core::workgroup::Shape;
use crate::core::{Core, CoreLaunch, Links};
use crate::memory::l1::L1;
use crate::memory::{MemoryCounters, MemorySystem, core_port};
use crate::program::{Fault, Launch, Program};
use crate::stats::{CoreCounters, SlotUse};
use dispatcher::{CoreLinks, Dispatcher};
use occupancy::{LaunchError, Occupancy};

/// A machine with its device memory; kernels are launched on it one after the other.
#[derive(Debug)]
pub struct Gpu<'a> {
    config: &'a Config,
    program: &'a Program,
    memory: MemorySystem,
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
}

impl RunOptions {
    /// No bounds, idle cycles skipped.
    pub const UNBOUNDED: RunOptions =
        RunOptions { max_cycles: None, max_instructions: None, every_cycle: false };
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
    /// Counters, summed over the cores.
    pub core: CoreCounters,
    /// Issue slots by use, summed over cores and schedulers; the sum is
    /// cycles × cores × schedulers × issue width.
    pub slots: [u64; SlotUse::COUNT],
    /// Counters of the memory side and the L1s during the kernel.
    pub memory: MemoryCounters,
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
}

impl<'a> Gpu<'a> {
    /// A machine with this device memory, for the kernels of one program.
    pub fn new(config: &'a Config, program: &'a Program, memory: Vec<u8>) -> Gpu<'a> {
        Gpu { config, program, memory: MemorySystem::new(config, memory, &program.code), now: 0 }
    }

    /// Runs a kernel to its end. `progress` is called now and then.
    ///
    /// # Errors
    /// See [`RunError`]. After an error the machine is good for looking at its memory only.
    pub fn run<P: Probe>(
        &mut self,
        launch: &Launch,
        options: &RunOptions,
        probe: &mut P,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<KernelReport, RunError> {
        let occupancy = Occupancy::of(self.config, launch).map_err(RunError::Launch)?;
        let kernel = &self.program.kernels[launch.kernel];
        let ops = MicroOps::decode(self.program, kernel, launch.registers, self.config);
        let config = self.config;
        let mut run = Run::new(self, launch, options, &ops, occupancy);
        let before = run.memory.counters();
        let end = run.to_the_end(options, &ops, probe, progress)?;
        let mut report = KernelReport {
            cycles: end - run.start,
            core: CoreCounters::default(),
            slots: [0; SlotUse::COUNT],
            memory: run.memory.counters().since(&before),
            occupancy,
            wave_slots: u64::from(config.cores) * u64::from(config.core.max_waves),
        };
        for mut core in run.cores {
            core.finish(end);
            report.core.add(&core.counters);
            report.slots.iter_mut().zip(core.slots).for_each(|(sum, n)| *sum += n);
        }
        let per_cycle = config.cores * config.core.schedulers * config.core.issue.width;
        assert_eq!(
            report.slots.iter().sum::<u64>(),
            report.cycles * u64::from(per_cycle),
            "every issue slot of every cycle is charged once"
        );
        self.memory.flush();
        self.now = end;
        Ok(report)
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

/// One kernel on its way.
struct Run<'m> {
    cores: Vec<Core>,
    dispatcher: Dispatcher,
    memory: &'m mut MemorySystem,
    start: Cycle,
    /// Cycles that every block may run before messages are carried across: the shortest link.
    quantum: Cycle,
}

impl<'m> Run<'m> {
    fn new(
        gpu: &'m mut Gpu<'_>,
        launch: &Launch,
        options: &RunOptions,
        ops: &MicroOps,
        occupancy: Occupancy,
    ) -> Run<'m> {
        let config = gpu.config;
        let start = gpu.now;
        let core_launch = CoreLaunch {
            kernel: launch.kernel,
            shape: Shape {
                launch: launch.clone(),
                waves: occupancy.waves_per_workgroup,
                threads: launch.threads() as u32,
                mma: config.capabilities.mma,
            },
            max_workgroups: occupancy.workgroups as usize,
            slots_per_scheduler: occupancy.slots_per_scheduler,
            device_bytes: gpu.memory.memory().len() as u64,
            uses_mma: ops.uses_mma,
        };
        let latency = Cycle::from(config.dispatcher.latency_cycles);
        let resident = occupancy.workgroups as usize;
        let mut ports = Vec::with_capacity(config.cores as usize);
        let mut core_links = Vec::with_capacity(config.cores as usize);
        let cores = (0..config.cores)
            .map(|index| {
                let (port, memory_end) = core_port(index as u16, config);
                ports.push(memory_end);
                // The dispatcher never sends more than are free, so these queues cannot fill up.
                let (starts_tx, starts) = link(resident + latency as usize, latency);
                let (done, done_rx) = link(resident + 2 * latency as usize, latency);
                core_links.push(CoreLinks { starts: starts_tx, done: done_rx });
                let mut core = Core::new(
                    config,
                    index,
                    &core_launch,
                    L1::new(config),
                    Links { port, starts, done },
                    start,
                );
                if options.every_cycle {
                    core.visit_every_cycle();
                }
                core
            })
            .collect();
        gpu.memory.connect(ports);
        let quantum = latency.min(Cycle::from(config.interconnect.latency_cycles));
        Run {
            cores,
            dispatcher: Dispatcher::new(config, launch.grid, occupancy.workgroups, core_links, start),
            memory: &mut gpu.memory,
            start,
            quantum: if options.every_cycle { 1 } else { quantum },
        }
    }

    /// Runs until the grid is done and every store is acknowledged. Returns the cycle after the last in
    /// which a core or the dispatcher did something.
    fn to_the_end<P: Probe>(
        &mut self,
        options: &RunOptions,
        ops: &MicroOps,
        probe: &mut P,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Cycle, RunError> {
        let last = options.max_cycles.map_or(NEVER, |n| self.start.saturating_add(n));
        let mut now = self.start;
        let mut next_progress = now;
        loop {
            let to = (now + self.quantum).min(last);
            let mut fault: Option<Box<Fault>> = None;
            for core in &mut self.cores {
                if let Err(found) = core.run(now, to, ops, probe) {
                    // The first in time, then by core: what a run cycle by cycle would meet first.
                    if fault.as_ref().is_none_or(|f| found.cycle < f.cycle) {
                        fault = Some(found);
                    }
                }
            }
            if let Some(fault) = fault {
                return Err(RunError::Fault(fault));
            }
            self.dispatcher.run(now, to);
            self.memory.run(now, to);
            for (index, core) in self.cores.iter_mut().enumerate() {
                let links = self.dispatcher.links_mut(index);
                exchange(&mut links.starts, &mut core.links.starts);
                exchange(&mut core.links.done, &mut links.done);
                self.memory.exchange(index, &mut core.links.port);
            }
            if self.dispatcher.is_done() && self.cores.iter().all(Core::is_idle) {
                let active = self.cores.iter().map(Core::last_activity).max().unwrap_or(now);
                return Ok(active.max(self.dispatcher.last_done()) + 1);
            }
            let instructions = self.cores.iter().map(|c| c.instructions).sum();
            if options.max_instructions.is_some_and(|limit| instructions > limit) {
                return Err(RunError::InstructionLimit(self.no_progress(to, ops)));
            }
            if to >= last {
                return Err(RunError::CycleLimit(self.no_progress(to, ops)));
            }
            let next = self.next_event(to);
            if next == NEVER {
                return Err(RunError::NoProgress(self.no_progress(to, ops)));
            }
            now = if options.every_cycle { to } else { next };
            if now >= next_progress {
                progress(Progress {
                    cycles: now - self.start,
                    instructions,
                    workgroups: self.dispatcher.finished(),
                    total_workgroups: self.dispatcher.total(),
                });
                next_progress = now + 4096;
            }
        }
    }

    /// The first cycle from `from` on in which any block has something to do.
    fn next_event(&mut self, from: Cycle) -> Cycle {
        let rest = self.dispatcher.next_event(from).min(self.memory.next_event(from));
        let mut next = rest.max(from);
        for core in &mut self.cores {
            if next == from {
                break;
            }
            next = next.min(core.next_wake(from));
        }
        next
    }

    fn no_progress(&self, cycle: Cycle, ops: &MicroOps) -> Box<NoProgress> {
        Box::new(NoProgress {
            cycle: cycle - self.start,
            workgroups: (self.dispatcher.finished(), self.dispatcher.total()),
            waves: self.cores.iter().flat_map(|core| core.wave_reports(ops)).collect(),
        })
    }
}
