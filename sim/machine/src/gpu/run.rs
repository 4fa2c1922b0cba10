//! One run of a kernel: cores, dispatcher and memory side wired with registered links, and the loop over
//! quanta.

use super::dispatcher::{CoreLinks, Dispatcher};
use super::occupancy::Occupancy;
use super::spin::Spin;
use super::team::{Cores, Quantum, Team, useful_threads};
use super::{Gpu, KernelReport, NoProgress, Progress, RunError, RunOptions};
use crate::clock::{Cycle, NEVER, link};
use crate::config::{Dispatcher as Parameters, ReleaseScope};
use crate::core::probe::{AtomicEvent, Event, EventKind, Level, OfCore, Probe, Sample, Watched};
use crate::core::uop::MicroOps;
use crate::core::workgroup::Shape;
use crate::core::{Core, CoreLaunch, Links};
use crate::memory::state::State;
use crate::memory::{BitSet, L1Counters, MemoryCounters, MemorySystem};
use crate::stats::{CoreCounters, SlotUse};
use wave_isa::program::Launch;

/// Cycles after a bound in which waves are watched for the report: some round trips to memory.
const WATCHED: Cycle = 4000;

impl Gpu<'_> {
    /// Runs a kernel to its end.
    pub(super) fn run_probed<P: Probe>(
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
        let links_before = self.memory.links();
        self.memory.set_skip_idle_cycles(!options.every_cycle);
        self.memory.set_jitter(options.jitter);
        self.memory.record_atomics(probe.wants(EventKind::Atomic));
        self.memory.record_hops(probe.wants(EventKind::Hop));
        let mut observers = Vec::new();
        if let Some(observer) = probe.observer() {
            observers = (0..config.cores).map(|core| observer.of_core(core)).collect();
        }
        // One observer of all cores needs their events in core order. A quantum of one cycle is too short to
        // share.
        let alone = P::ON && (observers.iter().any(Vec::is_empty) || probe.wants(EventKind::State));
        let threads = if alone { 1 } else { useful_threads(options.threads, config.cores) };
        let mut run = Run::new(self, launch, options, &ops, occupancy, (threads, observers));
        if probe.wants(EventKind::State) {
            run.quantum = 1;
        }
        let before = run.before;
        let ended = Team::with(threads, &ops, |team| {
            if P::ON {
                run.run_to_end(options, team, &ops, probe, progress)
            } else {
                run.run_looking(options, team, &ops, progress)
            }
        });
        let end = match ended {
            Ok(end) => end,
            Err(error) => {
                if probe.wants(EventKind::Sample) && !matches!(error, RunError::Fault(_)) {
                    let sample = run.sample(true);
                    probe.tell(EventKind::Sample, || Event::Sample(&sample, run.memory));
                }
                return Err(run.watch(error, options, &ops));
            }
        };
        let next_start = run.release(end, &config.dispatcher, &ops, probe);
        let mut report = KernelReport {
            cycles: next_start - run.start,
            release_cycles: next_start - end,
            core: CoreCounters::default(),
            slots: [0; SlotUse::COUNT],
            l1: L1Counters::default(),
            memory: run.memory.counters().since(&before.0),
            links: run.memory.links().iter().zip(&links_before).map(|(l, b)| l.since(b)).collect(),
            occupancy,
            wave_slots: u64::from(config.cores) * u64::from(config.core.max_waves),
        };
        for mut core in run.cores.into_vec() {
            core.close(next_start);
            report.core += &core.counters;
            report.slots.iter_mut().zip(core.slots).for_each(|(sum, n)| *sum += n);
            self.caches.push(core.into_parts());
        }
        report.l1 = self.l1_counters().since(&before.1);
        self.now = next_start;
        let per_cycle = config.cores * config.core.schedulers * config.core.issue.width;
        assert_eq!(
            report.slots.iter().sum::<u64>(),
            report.cycles * u64::from(per_cycle),
            "every issue slot of every cycle is charged once"
        );
        Ok(report)
    }

    /// Cycles for which every block may run by itself before messages are exchanged: the shortest link
    /// latency.
    fn quantum(&self) -> Cycle {
        Cycle::from(self.config.dispatcher.latency_cycles.min(self.config.interconnect.latency_cycles))
    }
}

/// One run of a kernel.
pub(super) struct Run<'m> {
    pub(super) cores: Cores,
    pub(super) dispatcher: Dispatcher,
    pub(super) memory: &'m mut MemorySystem,
    /// Counters of the memory side and the L1s before the kernel.
    before: (MemoryCounters, L1Counters),
    /// Cores that ran in this quantum, or that have something to exchange.
    ran: BitSet,
    start: Cycle,
    quantum: Cycle,
    /// Maximum length of a quantum.
    shortest_link: Cycle,
    /// Cycles before this one are simulated.
    pub(super) now: Cycle,
}

impl<'m> Run<'m> {
    fn new(
        gpu: &'m mut Gpu<'_>,
        launch: &Launch,
        options: &RunOptions,
        ops: &MicroOps,
        occupancy: Occupancy,
        (threads, observers): (usize, Vec<Vec<OfCore>>),
    ) -> Run<'m> {
        let config = gpu.config;
        let start = gpu.now;
        let before = (gpu.memory.counters(), gpu.l1_counters());
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
            device_bytes: gpu.memory.device_bytes(),
            uses_mma: ops.uses_mma,
        };
        let latency = Cycle::from(config.dispatcher.latency_cycles);
        let resident = occupancy.workgroups as usize;
        let shortest_link = gpu.quantum();
        let quantum = if options.every_cycle { 1 } else { shortest_link };
        let mut core_links = Vec::with_capacity(config.cores as usize);
        let caches = gpu.caches.drain(..);
        let cores = caches.enumerate().map(|(index, (mut l1, port))| {
            // The dispatcher sends no more than there are free slots, so these queues cannot fill up.
            let (starts_tx, starts) = link(resident + latency as usize, latency);
            let (done, done_rx) = link(resident + 2 * latency as usize, latency);
            core_links.push(CoreLinks { starts: starts_tx, done: done_rx });
            // A kernel starts with an acquire: the last kernel and the host may have written anything.
            l1.invalidate();
            let links = Links { port, starts, done };
            let mut core = Core::new(config, index as u32, &core_launch, l1, links, start);
            if options.every_cycle {
                core.visit_every_cycle();
            }
            core
        });
        let cores: Vec<Core> = cores.collect();
        Run {
            before,
            ran: BitSet::new(cores.len()),
            cores: Cores::new(cores, observers, threads, start),
            dispatcher: Dispatcher::new(config, launch.grid, occupancy.workgroups, core_links, start),
            memory: &mut gpu.memory,
            start,
            quantum,
            shortest_link,
            now: start,
        }
    }

    /// Runs until the grid is done and every store is acknowledged. Returns the cycle after the last one in
    /// which a core or the dispatcher did something.
    pub(super) fn run_to_end<P: Probe>(
        &mut self,
        options: &RunOptions,
        team: &Team<'_>,
        ops: &MicroOps,
        probe: &mut P,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Cycle, RunError> {
        let last = options.max_cycles.map_or(NEVER, |n| self.start.saturating_add(n));
        let mut next_progress = self.start;
        let mut state = State::default();
        loop {
            let now = self.now;
            let to = self.next_stop((now + self.quantum).min(last), probe);
            let quantum = Quantum { from: now, to, everything: options.every_cycle };
            let due = self.cores.due(&quantum).map(|core| self.ran.insert(core)).count();
            let (dispatcher, memory) = (&mut self.dispatcher, &mut *self.memory);
            let fault = self.cores.run(quantum, due, team, probe, || {
                dispatcher.run(now, to);
                memory.run(now, to);
            });
            if let Some(fault) = fault {
                // The memory side continues to a cycle that does not depend on quantum boundaries. Messages
                // that cores send after the fault would arrive later.
                self.exchange(to);
                self.memory.run(to, fault.cycle.map_or(to, |cycle| to.max(cycle + self.shortest_link)));
                return Err(RunError::Fault(fault));
            }
            if probe.wants(EventKind::Atomic) {
                for atomic in self.memory.take_atomics() {
                    let (core, line) = (u32::from(atomic.core), atomic.line as u32);
                    let (bytes, written) = (atomic.bytes, atomic.written);
                    let performed = AtomicEvent { core, line, bytes, written };
                    probe.tell(EventKind::Atomic, || Event::Atomic(performed));
                }
            }
            if probe.wants(EventKind::Hop) {
                self.memory.take_hops().for_each(|hop| probe.tell(EventKind::Hop, || Event::Hop(hop)));
            }
            self.exchange(to);
            self.now = to;
            if probe.wants(EventKind::State) {
                self.look(now, &mut state);
                probe.tell(EventKind::State, || Event::State(now, &state.values));
            }
            if let Some(observer) = probe.observer()
                && observer.advanced(to).is_break()
            {
                return Err(RunError::Interrupted(self.no_progress(to, ops)));
            }
            if self.dispatcher.is_done() && self.cores.iter().all(Core::is_idle) {
                let active = self.cores.iter().map(Core::last_activity).max().unwrap_or(now);
                return Ok(active.max(self.dispatcher.last_done()) + 1);
            }
            if options.max_instructions.is_some_and(|limit| self.instructions() > limit) {
                return Err(RunError::InstructionLimit(self.no_progress(to, ops)));
            }
            if options.is_stopped() {
                return Err(RunError::Interrupted(self.no_progress(to, ops)));
            }
            if to >= last {
                return Err(RunError::CycleLimit(self.no_progress(to, ops)));
            }
            let next = self.next_event(to);
            if next == NEVER {
                return Err(RunError::NoProgress(self.no_progress(to, ops)));
            }
            self.now = if options.every_cycle { to } else { next.min(last) };
            if let Some(observer) = probe.observer() {
                self.now = self.now.min(observer.sample_at());
            }
            if probe.wants(EventKind::State) {
                // Ports that are held become free even in cycles in which nothing else happens.
                for cycle in to..self.now {
                    self.look(cycle, &mut state);
                    probe.tell(EventKind::State, || Event::State(cycle, &state.values));
                }
            }
            if self.now >= next_progress {
                progress(Progress {
                    cycles: self.now - self.start,
                    instructions: self.instructions(),
                    workgroups: self.dispatcher.finished(),
                    total_workgroups: self.dispatcher.total(),
                });
                next_progress = self.now + 4096;
            }
        }
    }

    /// The release at the end of a kernel (M32): makes its writes visible. The kernel ended before cycle
    /// `end`. The dispatcher tells the cores to write back the dirty lines of their L1s, and they reply; each
    /// direction takes `dispatcher.latency_cycles`. At system scope, the L2 then writes its dirty lines to
    /// memory. Returns the cycle in which the next launch can start.
    fn release<P: Probe>(
        &mut self,
        end: Cycle,
        dispatcher: &Parameters,
        ops: &MicroOps,
        probe: &mut P,
    ) -> Cycle {
        let latency = Cycle::from(dispatcher.latency_cycles);
        self.cores.iter_mut().for_each(|core| core.finish(end));
        probe.tell(EventKind::Release, || Event::Release(end));
        // Blocks may have been simulated past `end`, by less than one quantum, which is at most this latency.
        let told = end + latency;
        self.pass_until(told, probe);
        if probe.wants(EventKind::Sample) {
            let sample = self.sample(true);
            probe.tell(EventKind::Sample, || Event::Sample(&sample, self.memory));
        }
        if !self.cores.iter().all(Core::is_released) {
            while !self.cores.iter().all(Core::is_released) {
                let (now, to) = (self.now, self.next_stop(self.now + self.quantum, probe));
                for (index, core) in self.cores.iter_mut().enumerate() {
                    core.run_release(now, to, ops, probe);
                    self.ran.insert(index);
                }
                self.memory.run(now, to);
                self.exchange(to);
                self.now = to;
            }
            let last = self.cores.iter().map(Core::last_activity).max().unwrap_or(told).max(told);
            self.pass_until(last + 1 + latency, probe);
        }
        if dispatcher.release_scope == ReleaseScope::System {
            self.memory.begin_release();
        }
        while !self.memory.is_released() {
            let next = self.memory.next_event(self.now);
            self.pass_until(next + 1, probe);
        }
        self.now
    }

    /// Runs the memory side up to a cycle, taking samples that are due. Its messages to the cores are not
    /// delivered.
    fn pass_until<P: Probe>(&mut self, to: Cycle, probe: &mut P) {
        while self.now < to {
            let stop = self.next_stop(to, probe);
            self.memory.run(self.now, stop);
            self.now = stop;
        }
    }

    /// Takes a sample if one is due. Returns the cycle of the next, at most `to`.
    fn next_stop<P: Probe>(&mut self, to: Cycle, probe: &mut P) -> Cycle {
        let mut stop = to;
        if probe.wants(EventKind::Sample) {
            if probe.observer().is_some_and(|observer| observer.sample_at() == self.now) {
                let sample = self.sample(false);
                probe.tell(EventKind::Sample, || Event::Sample(&sample, self.memory));
            }
            stop = probe.observer().map_or(to, |observer| to.min(observer.sample_at()));
        }
        stop
    }

    /// Totals of the launch in the cycles before this one; `is_last` if the launch ends.
    fn sample(&mut self, is_last: bool) -> Sample {
        let before = self.before;
        self.memory.run(self.now, self.now);
        let mut sample = Sample {
            cycle: self.now,
            is_last,
            core: CoreCounters::default(),
            slots: [0; SlotUse::COUNT],
            l1: L1Counters::default(),
            memory: self.memory.counters().since(&before.0),
            levels: [0; Level::COUNT],
        };
        let levels = &mut sample.levels;
        (levels[Level::L2Mshrs as usize], levels[Level::DramQueue as usize]) = self.memory.levels();
        for core in self.cores.iter() {
            let (counters, slots, l1) = core.account(self.now);
            sample.core += &counters;
            sample.slots.iter_mut().zip(slots).for_each(|(sum, n)| *sum += n);
            sample.l1 += l1;
            core.add_levels(&mut sample.levels);
        }
        sample.l1 = sample.l1.since(&before.1);
        sample
    }

    /// Reads what the machine holds at the end of a cycle, up to which it has run.
    fn look(&mut self, cycle: Cycle, state: &mut State) {
        state.values.clear();
        self.cores.iter().for_each(|core| core.look(cycle, &mut state.values));
        self.memory.look(cycle, state);
    }

    fn instructions(&self) -> u64 {
        self.cores.iter().map(|core| core.instructions).sum()
    }

    /// First cycle from `from` on in which any block has something to do.
    fn next_event(&mut self, from: Cycle) -> Cycle {
        let rest = self.dispatcher.next_event(from).min(self.memory.next_event(from));
        rest.min(self.cores.next_wake()).max(from)
    }

    /// Exchanges messages at the boundary of a quantum, where there are any. Then asks the cores concerned,
    /// and those that ran, when they have something to do next.
    fn exchange(&mut self, now: Cycle) {
        while let Some(core) = self.memory.take_touched() {
            self.ran.insert(core);
        }
        while let Some(core) = self.dispatcher.take_touched() {
            self.ran.insert(core);
        }
        while let Some(index) = self.ran.pop() {
            let (core, wake) = self.cores.get_mut(index);
            self.dispatcher.exchange(index, &mut core.links.starts, &mut core.links.done);
            self.memory.exchange(&mut core.links.port);
            *wake = core.next_wake(now);
        }
    }

    pub(super) fn no_progress(&self, cycle: Cycle, ops: &MicroOps) -> Box<NoProgress> {
        Box::new(NoProgress {
            cycle: cycle - self.start,
            workgroups: (self.dispatcher.finished(), self.dispatcher.total()),
            waves: self.cores.iter().flat_map(|core| core.wave_reports(ops)).collect(),
            doing: Vec::new(),
        })
    }

    /// Lets a run that was stopped go on for some cycles, to see what its waves do.
    fn watch(&mut self, mut error: RunError, options: &RunOptions, ops: &MicroOps) -> RunError {
        if let RunError::NoProgress(stuck)
        | RunError::CycleLimit(stuck)
        | RunError::InstructionLimit(stuck)
        | RunError::Interrupted(stuck) = &mut error
        {
            let cycles = self.now - self.start + WATCHED;
            let bounds =
                RunOptions { max_cycles: Some(cycles), max_instructions: None, stop: None, ..*options };
            let mut spin = Spin::default();
            self.cores.dismiss_observers();
            // The run is over, however these cycles end.
            _ = Team::with(1, ops, |team| {
                self.run_to_end(&bounds, team, ops, &mut Watched::by(&mut spin), &mut |_| {})
            });
            stuck.doing = spin.waves();
        }
        error
    }
}
