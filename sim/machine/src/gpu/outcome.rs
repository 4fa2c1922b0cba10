//! How a launch is run, and what comes of it.

use super::occupancy::{LaunchError, Occupancy};
use super::run::Run;
use super::spin::SpinReport;
use crate::clock::Cycle;
use crate::core::probe::{Level, Sample};
use crate::core::report::WaveReport;
use crate::core::view::CoreView;
use crate::memory::{Jitter, L1Counters, LinkCounters, MemoryCounters, MemorySystem};
use crate::registry::{PlugIn, Sums};
use crate::stats::{CoreCounters, SlotUse};
use std::sync::atomic::{AtomicBool, Ordering};
use wave_capture::Capture;
use wave_isa::program::Fault;

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
    /// observers of [single cores](Observer::of_cores).
    pub threads: usize,
    /// Number of cycles after which an unobserved launch is checked for whether it can still end; repeated
    /// each time it has run twice as long. If it cannot end, the run stops with [`RunError::NoProgress`]. If
    /// `None`, only a machine in which nothing happens stops this way.
    pub looks_after: Option<Cycle>,
    /// Go stage by stage, and keep what results overwrite before their time, so that
    /// [`Machine::registers`](super::Machine::registers) and the like give what is so in a cycle. Slower; the result
    /// is the same.
    pub inspect: bool,
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
        inspect: false,
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
#[derive(Debug, Clone, PartialEq, Eq, Capture)]
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
    /// Counters of each link of the interconnect during the kernel, as in [`MemorySystem::links`](crate::memory::MemorySystem::links).
    pub links: Vec<LinkCounters>,
    /// Counters of the plug-ins of this process, in the order of [`statistics`](crate::registry::statistics).
    pub plug_ins: Vec<u64>,
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoProgress {
    /// The cycle after which nothing happened, or in which the repetition was proved.
    pub cycle: Cycle,
    /// Workgroups that have ended, and workgroups of the grid.
    pub workgroups: (u64, u64),
    /// Every wave that has not ended.
    pub waves: Vec<WaveReport>,
    /// Activity of waves after the run was stopped. Empty if nothing moves.
    pub doing: Vec<SpinReport>,
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

impl Run {
    /// The report of a launch that ended in the cycle before `end`; the next launch can start now.
    pub(super) fn report(&mut self, memory: &mut MemorySystem, end: Cycle) -> KernelReport {
        let next_start = self.now;
        let (memory_before, l1_before, links_before) = &self.before;
        let mut report = KernelReport {
            cycles: next_start - self.start,
            release_cycles: next_start - end,
            core: CoreCounters::default(),
            slots: [0; SlotUse::COUNT],
            l1: self.l1_counters().since(l1_before),
            memory: memory.counters().since(memory_before),
            links: memory.links().iter().zip(links_before).map(|(l, b)| l.since(b)).collect(),
            plug_ins: self.plug_in_counters(memory),
            occupancy: self.context().occupancy,
            wave_slots: self.spec.wave_slots,
        };
        for core in self.cores.iter_mut() {
            core.close(next_start);
            let (counters, slots) = CoreView::of(core).counted();
            report.core += &counters;
            report.slots.iter_mut().zip(slots).for_each(|(sum, n)| *sum += n);
        }
        assert_eq!(
            report.slots.iter().sum::<u64>(),
            report.cycles * self.spec.slots_per_cycle,
            "every issue slot of every cycle is charged once"
        );
        report
    }

    /// Counters of the plug-ins during the kernel.
    fn plug_in_counters(&self, memory: &MemorySystem) -> Vec<u64> {
        let mut sums = Sums::new();
        let mut add = |plug_in: &'static PlugIn, values: Vec<u64>| sums.add(plug_in, &values);
        self.cores.iter().for_each(|core| CoreView::of(core).plug_in_counters(&mut add));
        self.dispatcher.plug_in_counters(&mut add);
        memory.plug_in_counters(&mut add);
        let since = |(now, before): (u64, &u64)| now.saturating_sub(*before);
        sums.values().into_iter().zip(&self.plug_ins_before).map(since).collect()
    }

    /// Totals of the launch in the cycles before this one; `is_last` if the launch ends.
    pub(super) fn sample(&mut self, memory: &mut MemorySystem, is_last: bool) -> Sample {
        memory.run(self.now, self.now);
        let mut sample = Sample {
            cycle: self.now,
            is_last,
            core: CoreCounters::default(),
            slots: [0; SlotUse::COUNT],
            l1: L1Counters::default(),
            memory: memory.counters().since(&self.before.0),
            levels: [0; Level::COUNT],
        };
        let levels = &mut sample.levels;
        (levels[Level::L2Mshrs as usize], levels[Level::DramQueue as usize]) = memory.levels();
        for core in self.cores.iter() {
            let (counters, slots, l1) = CoreView::of(core).account(self.now);
            sample.core += &counters;
            sample.slots.iter_mut().zip(slots).for_each(|(sum, n)| *sum += n);
            sample.l1 += l1;
            CoreView::of(core).add_levels(&mut sample.levels);
        }
        sample.l1 = sample.l1.since(&self.before.1);
        sample
    }

    pub(super) fn no_progress(&self, cycle: Cycle) -> Box<NoProgress> {
        Box::new(NoProgress {
            cycle: cycle - self.start,
            workgroups: (self.dispatcher.finished(), self.dispatcher.total()),
            waves: self
                .cores
                .iter()
                .flat_map(|core| CoreView::of(core).wave_reports(&self.spec.contexts))
                .collect(),
            doing: Vec::new(),
        })
    }
}
