//! One run of a kernel: its context on the cores, the dispatcher and the memory side, and the loop over quanta.

use super::blocks::Blocks;
use super::dispatcher::Dispatcher;
use super::machine::{Stop, sum_of};
use super::release::Phase;
use super::standstill::Looks;
use super::team::{Cores, Quantum, Team, useful_threads};
use super::telling::{begin_telling, tell_memory_side, tell_rest};
use super::{Progress, RunError, RunOptions};
use crate::clock::{Cycle, NEVER};
use crate::config::{Config, ReleaseScope};
use crate::core::context::{Context, Contexts};
use crate::core::grid::index_of;
use crate::core::handover::{Handed, Handover};
use crate::core::probe::{Event, EventKind, Probe, Wants};
use crate::core::view::CoreView;
use crate::core::{Core, CoreRun};
use crate::functional::Execution;
use crate::memory::state::State;
use crate::memory::{BitSet, L1Counters, LinkCounters, MemoryCounters, MemorySystem};
use crate::registry::Sums;
use std::sync::Arc;
use wave_capture::Capture;
use wave_isa::program::Launch;

/// Cycles between two reports of progress, at least.
const PROGRESS: Cycle = 4096;

/// What a run needs and does not change.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) contexts: Arc<Contexts>,
    pub(super) options: RunOptions,
    /// Latency of the links between the dispatcher and the cores.
    pub(super) dispatcher_latency: Cycle,
    pub(super) release_scope: ReleaseScope,
    /// Latency of the links between the cores and the memory side.
    pub(super) memory_latency: Cycle,
    /// Issue slots of the machine in a cycle.
    pub(super) slots_per_cycle: u64,
    pub(super) wave_slots: u64,
}

/// One run of a kernel.
#[derive(Debug, Capture)]
pub(super) struct Run {
    #[spec]
    pub(super) spec: Spec,
    pub(super) cores: Cores,
    pub(super) dispatcher: Dispatcher,
    /// Counters before the kernel: of the memory side, of the L1s, of the links.
    pub(super) before: (MemoryCounters, L1Counters, Vec<LinkCounters>),
    /// Counters of the plug-ins in caches before the kernel.
    pub(super) plug_ins_before: Vec<u64>,
    /// Cores that have sent something that is not exchanged yet.
    pub(super) senders: BitSet,
    pub(super) start: Cycle,
    /// Cycles before this one are simulated.
    pub(super) now: Cycle,
    /// The end of the quantum in progress. A stop inside a quantum leaves it, so that the later quanta are those of
    /// a run without the stop.
    pub(super) quantum_ends: Cycle,
    /// Nothing happens before this cycle, if it lies ahead.
    pub(super) idle_until: Cycle,
    pub(super) phase: Phase,
    pub(super) looks: Looks,
    /// The error after which the run cannot go on.
    #[scratch]
    dead: Option<RunError>,
}

/// How far a part of the run came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// The bound of the part, in cycles of the launch.
    Bound,
    /// The cycle at which the machine was to stop.
    Until,
    /// The observer stopped it.
    Observer,
    /// The grid is done, and every store is acknowledged. Nothing of it happened in this cycle or later.
    End(Cycle),
}

impl Run {
    /// A run of contexts that begins in cycle `now`.
    pub(super) fn new(
        config: &Config,
        contexts: Contexts,
        options: &RunOptions,
        (memory, mut blocks, now): (&mut MemorySystem, Box<Blocks>, Cycle),
    ) -> Run {
        let before = (memory.counters(), sum_of(blocks.cores.iter().map(Core::l1)), memory.links());
        let mut plug_ins = Sums::new();
        blocks.cores.iter().for_each(|core| {
            core.l1().plug_in_counters(&mut |plug_in, values| plug_ins.add(plug_in, &values));
        });
        memory.plug_in_counters(&mut |plug_in, values| plug_ins.add(plug_in, &values));
        memory.set_skip_idle_cycles(!options.every_cycle);
        memory.set_jitter(options.jitter);
        let (device_bytes, keeps_journal) = (memory.end_of_addresses(), options.inspect);
        let of_cores = CoreRun { start: now, device_bytes, keeps_journal, every_cycle: options.every_cycle };
        blocks.begin(config, &contexts, &of_cores, options.threads);
        let per_cycle = config.cores * config.core.schedulers * config.core.issue.width;
        Run {
            before,
            plug_ins_before: plug_ins.values(),
            senders: BitSet::new(blocks.cores.len()),
            cores: blocks.cores,
            dispatcher: blocks.dispatcher,
            start: now,
            now,
            quantum_ends: now,
            idle_until: now,
            phase: Phase::Running,
            looks: Looks::new(options.looks_after),
            dead: None,
            spec: Spec {
                contexts: Arc::new(contexts),
                options: *options,
                dispatcher_latency: Cycle::from(config.dispatcher.latency_cycles),
                release_scope: config.dispatcher.release_scope,
                memory_latency: Cycle::from(config.interconnect.latency_cycles),
                slots_per_cycle: u64::from(per_cycle),
                wave_slots: u64::from(config.cores) * u64::from(config.core.max_waves),
            },
        }
    }

    /// Puts a launch part-way into the cores of a run that has not begun.
    pub(super) fn take_over(&mut self, execution: &Execution) {
        let (start, contexts, cores) = (self.start, Arc::clone(&self.spec.contexts), self.cores.len());
        // In the order in which they have started: some policies prefer the oldest wave.
        let grid = self.launch().grid;
        let mut residents: Vec<_> = execution.residents().collect();
        residents.sort_by_key(|(_, it)| index_of(it.id, grid));
        for &(place, workgroup) in &residents {
            let core = self.cores.get_mut(place % cores).0;
            let (index, id, local) = (place / cores, workgroup.id, &workgroup.local);
            let handed = Handed { index, id, context: 0, local };
            Handover::to(core, &contexts).take_over(start, handed, workgroup.standing());
        }
        self.dispatcher.take_over(execution.started().0, residents.iter().map(|(place, _)| place % cores));
    }

    /// Simulates up to cycle `until` or to the end.
    pub(super) fn advance<P: Probe>(
        &mut self,
        memory: &mut MemorySystem,
        until: Cycle,
        probe: &mut P,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Stop, RunError> {
        if let Some(error) = &self.dead {
            return Err(error.clone());
        }
        begin_telling(memory, probe);
        let advanced = self.advance_recording(memory, until, probe, progress);
        tell_rest(memory, probe);
        advanced
    }

    /// [`advance`](Self::advance), while the memory side records what observers want.
    fn advance_recording<P: Probe>(
        &mut self,
        memory: &mut MemorySystem,
        until: Cycle,
        probe: &mut P,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Stop, RunError> {
        if self.phase == Phase::Running {
            let reached = if P::ON {
                self.run_watched(memory, until, probe, progress)
            } else {
                self.run_looking(memory, until, progress)
            };
            match reached {
                Ok(Reached::End(end)) => self.phase = Phase::Telling { end },
                Ok(Reached::Until) => return Ok(Stop::Cycle),
                Ok(Reached::Observer) => return Ok(Stop::Observer),
                Ok(Reached::Bound) => {
                    let error = RunError::CycleLimit(self.no_progress(self.now));
                    return Err(self.failed(error, memory, probe));
                }
                Err(error) => return Err(self.failed(error, memory, probe)),
            }
        }
        match self.release(memory, until, probe) {
            None => Ok(Stop::Cycle),
            Some(end) => Ok(Stop::Ended(Box::new(self.report(memory, end)))),
        }
    }

    /// The first part of [`advance`](Self::advance), with an observer.
    fn run_watched<P: Probe>(
        &mut self,
        memory: &mut MemorySystem,
        until: Cycle,
        probe: &mut P,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Reached, RunError> {
        let observers = probe.observer().map_or_else(Vec::new, |observer| observer.of_cores());
        // One observer of all cores needs their events in order. A quantum of one cycle is too short to share.
        let alone = probe.wants_any(Wants::OF_CORES) || probe.wants(EventKind::State);
        let threads = if alone { 1 } else { self.threads() };
        self.cores.watch(&observers);
        let (bound, contexts) = (self.bound(), Arc::clone(&self.spec.contexts));
        let reached = Team::with(threads, &contexts, |team| {
            self.run_part(memory, (bound, until), team, probe, progress)
        });
        self.cores.watch(&[]);
        reached
    }

    /// Threads for which there is work.
    pub(super) fn threads(&self) -> usize {
        useful_threads(self.spec.options.threads, self.cores.len() as u32)
    }

    /// The first cycle past the bound of the launch.
    pub(super) fn bound(&self) -> Cycle {
        self.spec.options.max_cycles.map_or(NEVER, |cycles| self.start.saturating_add(cycles))
    }

    /// Simulates the running phase up to a cycle: `bound` ends a part of the run, `until` interrupts it and leaves
    /// no trace.
    pub(super) fn run_part<P: Probe>(
        &mut self,
        memory: &mut MemorySystem,
        (bound, until): (Cycle, Cycle),
        team: &Team<'_>,
        probe: &mut P,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Reached, RunError> {
        let options = self.spec.options;
        let mut next_progress = self.now;
        let mut state = State::default();
        loop {
            self.pass_idle(memory, (bound, until), probe, &mut state);
            let now = self.now;
            if now >= bound {
                return Ok(Reached::Bound);
            }
            if now >= until {
                return Ok(Reached::Until);
            }
            // Asked here, so that an interruption leaves no trace, as a stop leaves none.
            if options.is_stopped() {
                return Err(RunError::Interrupted(self.no_progress(now)));
            }
            if now >= next_progress {
                progress(Progress {
                    cycles: now - self.start,
                    instructions: self.instructions(),
                    workgroups: self.dispatcher.finished(),
                    total_workgroups: self.dispatcher.total(),
                });
                next_progress = now + PROGRESS;
            }
            if now >= self.quantum_ends {
                let most = options.max_instructions.map_or(NEVER, |limit| self.cycles_within(limit));
                let quantum = if probe.wants(EventKind::State) { 1 } else { self.quantum() };
                self.quantum_ends = now + quantum.min(most);
            }
            let ends = self.next_stop(memory, self.quantum_ends.min(bound), probe);
            let to = ends.min(until);
            // What the dispatcher does up to here depends on nothing that a core does in this quantum. So the cores
            // can have its messages first, and the quantum can be longer than its links.
            let ahead = to.min(now + self.spec.dispatcher_latency);
            self.dispatch(now, ahead, now);
            let part = Quantum { from: now, to, everything: options.every_cycle };
            let fault = self.cores.run(part, team, probe, || memory.run(now, to));
            self.cores.take_senders(&mut self.senders);
            if let Some(fault) = fault {
                // The memory side continues to a cycle that does not depend on quantum boundaries. Messages
                // that cores send after the fault would arrive later.
                self.exchange(memory, to);
                self.now = fault.cycle.unwrap_or(now) + self.spec.memory_latency;
                memory.run(to, self.now);
                tell_memory_side(memory, probe);
                return Err(RunError::Fault(fault));
            }
            tell_memory_side(memory, probe);
            self.exchange(memory, to);
            self.dispatch(ahead, to, to);
            self.now = to;
            if probe.wants(EventKind::State) {
                self.look(now, memory, &mut state);
                probe.tell(EventKind::State, || Event::State(now, &state.values));
            }
            if let Some(observer) = probe.observer()
                && observer.advanced(to).is_break()
            {
                return Ok(Reached::Observer);
            }
            if to < ends {
                // What follows is asked at the ends of whole quanta only.
                return Ok(Reached::Until);
            }
            if self.dispatcher.is_done() && self.cores.iter().all(Core::is_idle) {
                let active = self.cores.iter().map(Core::last_activity).max().unwrap_or(now);
                return Ok(Reached::End(active.max(self.dispatcher.last_done()) + 1));
            }
            if options.max_instructions.is_some_and(|limit| self.instructions() > limit) {
                return Err(RunError::InstructionLimit(self.no_progress(to)));
            }
            if to >= bound {
                return Ok(Reached::Bound);
            }
            let next = self.next_event(memory, to);
            if next == NEVER {
                return Err(RunError::NoProgress(self.no_progress(to)));
            }
            self.idle_until = if options.every_cycle { to } else { next };
        }
    }

    /// Passes the cycles in which nothing happens, up to a bound, a stop or the next sample.
    fn pass_idle<P: Probe>(
        &mut self,
        memory: &mut MemorySystem,
        (bound, until): (Cycle, Cycle),
        probe: &mut P,
        state: &mut State,
    ) {
        let mut to = self.idle_until.min(bound).min(until);
        if let Some(observer) = probe.observer() {
            to = to.min(observer.sample_at());
        }
        if probe.wants(EventKind::State) {
            // Ports that are held become free even in cycles in which nothing else happens.
            for cycle in self.now..to {
                self.look(cycle, memory, state);
                probe.tell(EventKind::State, || Event::State(cycle, &state.values));
            }
        }
        self.now = self.now.max(to);
    }

    /// Makes the error of a run that does not go on. It tells what the waves do that make no progress.
    fn failed<P: Probe>(
        &mut self,
        mut error: RunError,
        memory: &mut MemorySystem,
        probe: &mut P,
    ) -> RunError {
        if probe.wants(EventKind::Sample) && !matches!(error, RunError::Fault(_)) {
            let sample = self.sample(memory, true);
            probe.tell(EventKind::Sample, || Event::Sample(&sample, memory));
        }
        if let RunError::NoProgress(stuck)
        | RunError::CycleLimit(stuck)
        | RunError::InstructionLimit(stuck)
        | RunError::Interrupted(stuck) = &mut error
        {
            stuck.doing = self.doing(memory);
        }
        if matches!(error, RunError::Fault(_) | RunError::NoProgress(_)) {
            self.dead = Some(error.clone());
        }
        error
    }

    /// The context of the launch, which runs alone.
    pub(super) fn context(&self) -> &Arc<Context> {
        self.spec.contexts.alone()
    }

    /// The launch.
    pub(super) fn launch(&self) -> &Launch {
        self.context().launch()
    }

    /// The launches of its contexts.
    pub(super) fn launches(&self) -> Vec<Launch> {
        self.spec.contexts.iter().map(|(_, context)| context.launch().clone()).collect()
    }

    /// True if a fault has ended it.
    pub(super) fn has_faulted(&self) -> bool {
        matches!(self.dead, Some(RunError::Fault(_)))
    }

    /// How it is run.
    pub(super) fn options(&self) -> &RunOptions {
        &self.spec.options
    }

    /// Applies other options from here on. They may not change how many cycles are visited or shared.
    pub(super) fn go_on(&mut self, options: &RunOptions) {
        self.spec.options = *options;
        self.dead = None;
    }

    /// True if these options visit and share the same cycles as those of this run.
    pub(super) fn is_like(&self, options: &RunOptions) -> bool {
        let key =
            |options: &RunOptions| (options.every_cycle, options.jitter, options.threads, options.inspect);
        key(&self.spec.options) == key(options)
    }

    /// The first cycle that has not been simulated.
    pub(super) fn now(&self) -> Cycle {
        self.now
    }

    /// Counters of the L1s since the creation of the machine, summed.
    pub(super) fn l1_counters(&self) -> L1Counters {
        sum_of(self.cores.iter().map(Core::l1))
    }

    /// The blocks, for the next run.
    pub(super) fn into_blocks(self) -> Box<Blocks> {
        Box::new(Blocks { cores: self.cores, dispatcher: self.dispatcher })
    }

    /// Takes a sample if one is due. Returns the cycle of the next, at most `to`.
    pub(super) fn next_stop<P: Probe>(
        &mut self,
        memory: &mut MemorySystem,
        to: Cycle,
        probe: &mut P,
    ) -> Cycle {
        let mut stop = to;
        if probe.wants(EventKind::Sample) {
            if probe.observer().is_some_and(|observer| observer.sample_at() == self.now) {
                let sample = self.sample(memory, false);
                probe.tell(EventKind::Sample, || Event::Sample(&sample, memory));
            }
            stop = probe.observer().map_or(to, |observer| to.min(observer.sample_at()));
        }
        stop
    }

    /// Reads what the machine holds at the end of a cycle, up to which it has run.
    pub(super) fn look(&mut self, cycle: Cycle, memory: &mut MemorySystem, state: &mut State) {
        state.values.clear();
        self.cores.iter().for_each(|core| CoreView::of(core).look(cycle, &mut state.values));
        memory.look(cycle, state);
    }

    pub(super) fn instructions(&self) -> u64 {
        self.cores.iter().map(|core| core.instructions()).sum()
    }
}
