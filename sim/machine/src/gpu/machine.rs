//! The machine as a value: it owns what it needs, and can be advanced, looked at, saved and put back.

use super::blocks::Blocks;
use super::occupancy::LaunchError;
use super::outcome::{KernelReport, Progress, RunError, RunOptions};
use super::run::Run;
use crate::clock::{Cycle, NEVER};
use crate::config::Config;
use crate::core::context::{Context, Contexts};
use crate::core::probe::{Observer, Off, Sample, Watched};
use crate::functional::Execution;
use crate::memory::{L1, L1Counters, MemorySystem, Pages};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use wave_capture::{Capture, Misfit, Reader, Writer};
use wave_isa::guard::guarded;
use wave_isa::program::{Launch, Program};

/// A machine with its device memory. It runs kernels of one program, one after the other.
///
/// ```
/// use wave_machine::config::Config;
/// use wave_machine::gpu::{Machine, RunOptions, Stop};
/// use wave_isa::program::{Launch, assemble};
///
/// let source = ".kernel k\n.registers 4\n.workgroup_size 32, 1, 1\nmov_imm r0, 7\nmov_imm r1, 0\ndevice_store_u32 r1, r0\nhalt\n.end\n";
/// let (program, _warnings) = assemble(source, "k.wave").unwrap();
/// let launch = Launch::of(&program, 0, [1, 1, 1]);
/// let mut machine = Machine::new(Config::example(), program, vec![0; 64]);
/// machine.begin(&launch, &RunOptions::UNBOUNDED).unwrap();
/// assert!(matches!(machine.advance(20, None).unwrap(), Stop::Cycle));
/// let early = machine.snapshot();
/// assert!(matches!(machine.advance(u64::MAX, None).unwrap(), Stop::Ended(_)));
/// assert_eq!(machine.memory()[0], 7);
/// machine.restore(&early).unwrap();
/// assert_eq!(machine.now(), 20);
/// ```
#[derive(Debug)]
pub struct Machine {
    config: Arc<Config>,
    program: Arc<Program>,
    state: State,
    /// The state was put back from a file. A damage that its checks do not find ends the launch, not the program.
    is_foreign: bool,
}

/// What the simulation changes.
#[derive(Debug, Capture)]
struct State {
    memory: MemorySystem,
    /// Cores and dispatcher, while no kernel runs.
    blocks: Option<Box<Blocks>>,
    /// The cycle in which the next kernel starts.
    now: Cycle,
    /// The run of a launch, which has the blocks.
    run: Option<Box<Run>>,
}

impl State {
    /// Refuses a state that a machine cannot go on from.
    fn check(&self, config: &Config) -> Result<(), Misfit> {
        match (&self.run, &self.blocks) {
            (Some(run), None) => run.check(config, &self.memory).map_err(|misfit| misfit.within("run")),
            (None, Some(blocks)) => blocks.check(config, &self.memory, self.now),
            _ => Misfit::agrees(false, "blocks"),
        }
    }

    fn new(config: &Config, program: &Program, memory: Vec<u8>) -> State {
        let (memory, ports) = MemorySystem::new(config, memory, &program.code);
        State { memory, blocks: Some(Box::new(Blocks::new(config, ports))), now: 0, run: None }
    }
}

/// The state of a machine at the end of a cycle. It can be put back into any machine that was made from the same
/// configuration and program.
#[derive(Debug, Clone, PartialEq, Eq, Capture)]
pub struct Snapshot {
    /// Cycles simulated.
    now: Cycle,
    /// Bytes of device memory.
    device_bytes: usize,
    /// The launches of the contexts that run.
    launches: Vec<Launch>,
    state: Vec<u8>,
}

impl Snapshot {
    /// Cycles simulated: the first cycle that has not been.
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// The launch that runs.
    pub fn launch(&self) -> Option<&Launch> {
        self.launches.first()
    }

    /// Describes what a snapshot holds, field by field. Another program can put it back if this is the same there.
    pub fn layout() -> String {
        let mut to = String::new();
        Snapshot::describe(&mut to);
        State::describe(&mut to);
        to
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.state.len()
    }
}

/// A snapshot that shares the pages of device memory with others of the same machine, as long as nothing has written
/// them between: for many snapshots of one run. It does not go into files.
#[derive(Debug, Clone)]
pub struct SharedSnapshot {
    /// The state without device memory.
    rest: Snapshot,
    pages: Pages,
}

impl SharedSnapshot {
    /// Bytes that it takes by itself, without pages.
    pub fn bytes(&self) -> usize {
        self.rest.bytes() + self.pages.list_bytes()
    }

    /// Bytes of the pages of all such snapshots of the machine, each counted once.
    pub fn page_bytes(&self) -> usize {
        self.pages.bytes()
    }
}

/// Why [`Machine::advance`] stopped, other than by an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The cycle that was asked for is reached. All cycles before it are simulated.
    Cycle,
    /// The observer asked to stop: a breakpoint.
    Observer,
    /// The launch has ended.
    Ended(Box<KernelReport>),
}

impl Machine {
    /// A machine with this device memory, for the kernels of one program.
    pub fn new(config: impl Into<Arc<Config>>, program: impl Into<Arc<Program>>, memory: Vec<u8>) -> Machine {
        let (config, program) = (config.into(), program.into());
        let state = State::new(&config, &program, memory);
        Machine { config, program, state, is_foreign: false }
    }

    fn with(config: &Arc<Config>, program: &Arc<Program>, state: State) -> Machine {
        Machine { config: Arc::clone(config), program: Arc::clone(program), state, is_foreign: false }
    }

    /// Begins a launch. A launch that is still running is [abandoned](Self::abandon).
    ///
    /// # Errors
    /// [`RunError::Launch`] if the kernel cannot run on this machine. A launch that is still running goes on then.
    pub fn begin(&mut self, launch: &Launch, options: &RunOptions) -> Result<(), RunError> {
        let context = Context::new(&self.config, &self.program, launch).map_err(RunError::Launch)?;
        self.abandon();
        let State { memory, blocks, now, run } = &mut self.state;
        let blocks = blocks.take().expect("a machine without a launch has its blocks");
        let contexts = Contexts::of_one(context);
        *run = Some(Box::new(Run::new(&self.config, contexts, options, (memory, blocks, *now))));
        Ok(())
    }

    /// Begins with a launch part-way: every workgroup that is resident in `execution` stands in the core and slot of its
    /// place, with all that its waves hold, and the dispatcher goes on with the workgroup after the last that has
    /// started. Device memory has to be as the execution has left it. Nothing is in flight and caches are empty, as at
    /// the beginning of a launch; the report and its counters are about what follows.
    ///
    /// A launch that is still running is [abandoned](Self::abandon).
    ///
    /// # Errors
    /// [`RunError::Launch`] if the execution was made for another machine or another program. A launch that is still
    /// running goes on then.
    pub fn begin_from(&mut self, execution: &Execution, options: &RunOptions) -> Result<(), RunError> {
        execution.check(&self.config, &self.program).map_err(RunError::Launch)?;
        self.begin(execution.launch(), options)?;
        if let Some(run) = &mut self.state.run {
            run.take_over(execution);
        }
        Ok(())
    }

    /// Simulates up to cycle `until`, or until the launch has ended. `observer` gets the events of these cycles.
    /// Without a launch nothing happens.
    ///
    /// # Errors
    /// See [`RunError`]. [`RunError::Launch`] if the state came from a file, and is one that no run reaches: the machine
    /// has no launch then, and its memory is empty. The machine can be looked at, restored and given another launch. After a bound it can be
    /// advanced again; after a fault or without progress it stays where it is and gives the same error.
    pub fn advance(&mut self, until: Cycle, observer: Option<&mut dyn Observer>) -> Result<Stop, RunError> {
        self.advance_reporting(until, observer, &mut |_| {})
    }

    /// As [`advance`](Self::advance); calls `progress` now and then.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn advance_reporting(
        &mut self,
        until: Cycle,
        observer: Option<&mut dyn Observer>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Stop, RunError> {
        if !self.is_foreign {
            return self.advance_trusting(until, observer, progress);
        }
        let now = self.now();
        let advanced = guarded(AssertUnwindSafe(|| self.advance_trusting(until, observer, progress)));
        advanced.unwrap_or_else(|panic| {
            let bytes = self.state.memory.device_bytes() as usize;
            self.state = State::new(&self.config, &self.program, vec![0; bytes]);
            self.is_foreign = false;
            Err(RunError::Launch(LaunchError {
                message: format!("the state that it goes on from, of cycle {now}, is damaged ({panic})"),
                hint: "go on from another checkpoint, or run from the beginning".to_owned(),
            }))
        })
    }

    /// [`advance_reporting`](Self::advance_reporting) of a state that this process has simulated.
    fn advance_trusting(
        &mut self,
        until: Cycle,
        observer: Option<&mut dyn Observer>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Stop, RunError> {
        let State { memory, run, .. } = &mut self.state;
        let Some(running) = run else { return Ok(Stop::Cycle) };
        let stop = match observer {
            None => running.advance(memory, until, &mut Off, progress),
            Some(observer) => running.advance(memory, until, &mut Watched::by(observer), progress),
        }?;
        if let Stop::Ended(_) = stop {
            self.state.now = running.now();
            self.end_run();
        }
        Ok(stop)
    }

    /// Runs a kernel to its end. `observer` gets its events; `progress` is called now and then.
    ///
    /// # Errors
    /// See [`RunError`]. Afterwards the machine is as [`advance`](Self::advance) leaves it.
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
        self.begin(launch, options)?;
        match self.advance_reporting(NEVER, observer, progress)? {
            Stop::Ended(report) => Ok(*report),
            // No cycle is asked for.
            Stop::Cycle | Stop::Observer => Err(RunError::Interrupted(self.standing())),
        }
    }

    /// What the waves of the running launch wait for.
    fn standing(&self) -> Box<super::NoProgress> {
        self.state.run.as_ref().map(|run| run.no_progress(run.now())).unwrap_or_default()
    }

    /// Takes the blocks back from a run that has ended.
    fn end_run(&mut self) {
        self.state.blocks = self.state.run.take().map(|run| run.into_blocks());
    }

    /// Gives up the launch that runs, if one does. What its waves have stored stays, down to the dirty lines of the
    /// L1s; what was on its way is lost, and all caches are empty. After a fault, dirty lines of the L1s are lost too:
    /// the cores have stopped in different cycles, by the length of the quantum.
    pub fn abandon(&mut self) {
        let Some(run) = self.state.run.take() else { return };
        let now = self.state.memory.now().max(run.now());
        let mut memory = self.state.memory.host_memory().to_vec();
        if !run.has_faulted() {
            run.cores.iter().for_each(|core| core.l1().copy_dirty_to(&mut memory));
        }
        self.state = State::new(&self.config, &self.program, memory);
        self.state.memory.run(0, now);
        self.state.now = now;
    }

    /// True while a launch runs.
    pub fn is_running(&self) -> bool {
        self.state.run.is_some()
    }

    /// The first cycle that has not been simulated.
    pub fn now(&self) -> Cycle {
        self.state.run.as_ref().map_or(self.state.now, |run| run.now())
    }

    /// The configuration.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    pub(super) fn running(&self) -> Option<&Run> {
        self.state.run.as_deref()
    }

    /// The launch that runs, with what it runs on.
    pub(super) fn running_mut(&mut self) -> Option<(&mut Run, &mut MemorySystem, (&Config, &Program))> {
        let run = self.state.run.as_deref_mut()?;
        Some((run, &mut self.state.memory, (&self.config, &self.program)))
    }

    pub(super) fn memory_side(&self) -> &MemorySystem {
        &self.state.memory
    }

    /// The values of [`queues`](Self::queues).
    pub(super) fn look_at_queues(&mut self) -> Vec<u64> {
        let State { memory, run, .. } = &mut self.state;
        let mut state = crate::memory::state::State::default();
        if let Some(run) = run.as_mut().filter(|run| run.now > 0) {
            run.look(run.now - 1, memory, &mut state);
        }
        state.values
    }

    /// Counters of the launch that runs, up to now.
    pub fn totals(&mut self) -> Option<Sample> {
        let State { memory, run, .. } = &mut self.state;
        run.as_mut().map(|run| run.sample(memory, false))
    }

    /// The memory side, for what it records and counts by itself.
    pub fn memory_system(&mut self) -> &mut MemorySystem {
        &mut self.state.memory
    }

    /// Device memory as the host sees it between launches. While a launch runs, what its L1s have not written back
    /// is not there.
    pub fn memory(&mut self) -> &[u8] {
        self.state.memory.host_memory()
    }

    /// Lets the host change device memory between launches. The L2 has what is written, at no cost in time: that of copies is
    /// not simulated.
    ///
    /// # Panics
    /// While a launch runs.
    pub fn with_memory<T>(&mut self, act: impl FnOnce(&mut [u8]) -> T) -> T {
        assert!(!self.is_running(), "the host accesses memory between launches");
        self.state.memory.lend(|memory| (act(memory), None))
    }

    /// Empties the caches between launches, at no cost in time. Profilers do so before each kernel, so that it takes the same
    /// time whatever ran before. (L1s and instruction caches are empty at the beginning of every launch.)
    ///
    /// # Panics
    /// While a launch runs.
    pub fn empty_caches(&mut self) {
        assert!(!self.is_running(), "caches are emptied between launches");
        self.state.memory.empty_caches();
    }

    /// Adds kernels to the program, between launches. The new program has to begin with the code and the kernels of the
    /// old one, which may be in the caches.
    ///
    /// # Panics
    /// While a launch runs, and if the new program begins with something else.
    pub fn extend(&mut self, program: impl Into<Arc<Program>>) {
        let program = program.into();
        assert!(!self.is_running(), "kernels are added between launches");
        assert!(program.code.starts_with(&self.program.code), "the old code stays where it is");
        self.state.memory.put_code(&program.code);
        self.program = program;
    }

    /// Gives up the launch that runs, if one does, and returns device memory as the host sees it then.
    pub fn into_memory(mut self) -> Vec<u8> {
        self.abandon();
        self.state.memory.into_memory()
    }

    /// The state now.
    pub fn snapshot(&self) -> Snapshot {
        let mut to = Writer::default();
        self.state.save(&mut to);
        Snapshot {
            now: self.now(),
            device_bytes: self.state.memory.device_bytes() as usize,
            launches: self.state.run.as_ref().map_or_else(Vec::new, |run| run.launches()),
            state: to.into_bytes(),
        }
    }

    /// Puts a state back. `options` apply from here on to a launch that runs in it.
    ///
    /// # Errors
    /// If it does not fit this machine, or is no state that a machine can go on from. The machine stays as it is then.
    pub fn restore_with(&mut self, snapshot: &Snapshot, options: &RunOptions) -> Result<(), Misfit> {
        // The bytes of device memory are among those of the state, so a damaged size allocates nothing.
        Misfit::agrees(snapshot.device_bytes <= snapshot.state.len(), "device_bytes")?;
        let made = guarded(AssertUnwindSafe(|| {
            let state = State::new(&self.config, &self.program, vec![0; snapshot.device_bytes]);
            let mut other = Machine::with(&self.config, &self.program, state);
            other.fit(snapshot, options)?;
            other.restore_state(snapshot, options)?;
            other.state.check(&other.config)?;
            Misfit::agrees(other.now() == snapshot.now, "now")?;
            Ok(other)
        }));
        let mut other = made.unwrap_or_else(|_| Err(Misfit::new("contradicts itself")))?;
        other.state.memory.image().replaced();
        other.is_foreign = true;
        *self = other;
        Ok(())
    }

    /// As [`snapshot`](Self::snapshot), sharing pages of device memory with other such snapshots. The first one copies
    /// all that is not zero, those after it what has been written since.
    pub fn snapshot_shared(&mut self) -> SharedSnapshot {
        let (pages, mut memory) = (self.state.memory.image().pages(), Vec::new());
        self.state.memory.image().swap_memory(&mut memory);
        let mut rest = self.snapshot();
        rest.device_bytes = memory.len();
        self.state.memory.image().swap_memory(&mut memory);
        SharedSnapshot { rest, pages }
    }

    /// As [`restore_with`](Self::restore_with), of a snapshot that shares pages.
    ///
    /// # Errors
    /// As [`restore_with`](Self::restore_with).
    pub fn restore_shared(&mut self, snapshot: &SharedSnapshot, options: &RunOptions) -> Result<(), Misfit> {
        let SharedSnapshot { rest, pages } = snapshot;
        self.fit(rest, options)?;
        let mut memory = Vec::new();
        self.state.memory.image().swap_memory(&mut memory);
        self.restore_state(rest, options)?;
        self.state.memory.image().swap_memory(&mut memory);
        self.state.memory.image().put_pages(pages);
        Ok(())
    }

    /// Makes this machine one into which a snapshot can be put back: with its launch, and as much device memory.
    fn fit(&mut self, snapshot: &Snapshot, options: &RunOptions) -> Result<(), Misfit> {
        let running = self.state.run.as_ref();
        let fits = running.is_some_and(|run| snapshot.launches == run.launches() && run.is_like(options))
            || running.is_none() && snapshot.launches.is_empty();
        if !fits || self.state.memory.device_bytes() as usize != snapshot.device_bytes {
            self.state = State::new(&self.config, &self.program, vec![0; snapshot.device_bytes]);
            Misfit::in_range(snapshot.launches.len() <= 1, "launches")?;
            for launch in &snapshot.launches {
                Misfit::in_range(launch.kernel < self.program.kernels.len(), "kernel")?;
                self.begin(launch, options)
                    .map_err(|_| Misfit::new("has a launch that this machine cannot run"))?;
            }
        }
        Ok(())
    }

    fn restore_state(&mut self, snapshot: &Snapshot, options: &RunOptions) -> Result<(), Misfit> {
        let mut from = Reader::new(&snapshot.state);
        let restored = self.state.restore(&mut from).and_then(|()| match from.is_empty() {
            true => Ok(()),
            false => Err(Misfit::new("has more than this machine")),
        });
        if let Some(run) = &mut self.state.run {
            run.go_on(options);
        }
        if restored.is_err() {
            self.state = State::new(&self.config, &self.program, vec![0; snapshot.device_bytes]);
        }
        restored
    }

    /// As [`restore_with`](Self::restore_with), with the options of the launch that runs now, or without bounds.
    ///
    /// # Errors
    /// As [`restore_with`](Self::restore_with).
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), Misfit> {
        let options = self.state.run.as_ref().map_or(RunOptions::UNBOUNDED, |run| *run.options());
        self.restore_with(snapshot, &options)
    }
}

/// The sum of the counters of some L1s.
pub(super) fn sum_of<'l>(caches: impl Iterator<Item = &'l L1>) -> L1Counters {
    let mut sum = L1Counters::default();
    caches.for_each(|l1| sum += l1.counters());
    sum
}
