//! The cores of a machine, divided into groups, and the threads that run them.
//!
//! Between the boundaries of a quantum no block sees what another does; messages are exchanged at the
//! boundaries. So the groups can run in any order, or at the same time, beside the dispatcher and the memory
//! side: the result is the same.

use crate::clock::{Cycle, NEVER};
use crate::core::Core;
use crate::core::probe::{Listeners, Observer, OfCore, Off, Probe, Wants, Watched};
use crate::core::uop::MicroOps;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use wave_capture::{Capture, Misfit, Reader, Writer};
use wave_isa::program::Fault;

/// Cores that must have something to do in a quantum to make sharing worth while. Fewer are done before
/// another thread has noticed them.
const WORTH_SHARING: usize = 4;
/// Groups for each thread. There are several because they differ in how long they take.
const GROUPS_PER_THREAD: usize = 8;

/// The number of threads, at most `threads` and at least one, for which a machine of `cores` cores has work.
pub(crate) fn useful_threads(threads: usize, cores: u32) -> usize {
    threads.min(cores as usize / WORTH_SHARING).max(1)
}

/// Cores that one thread runs at a time.
struct Group {
    cores: Vec<Core>,
    /// Per core: the first cycle in which it has something to do, as far as it knows.
    wakes: Vec<Cycle>,
    /// Per core: its observers, if single cores are observed.
    observers: Vec<Vec<OfCore>>,
}

/// What was found in a quantum: the fault that a run cycle by cycle would meet first, in time, then by core.
type Ended = Option<Box<Fault>>;

impl Group {
    /// Runs the cores that have something to do before `to`, or all, each for the whole quantum.
    fn run<P: Probe>(&mut self, quantum: &Quantum, ops: &MicroOps, probe: &mut P) -> Ended {
        let mut first: Ended = None;
        for (index, (core, &wake)) in self.cores.iter_mut().zip(&self.wakes).enumerate() {
            if wake >= quantum.to && !quantum.everything {
                continue;
            }
            let Quantum { from, to, .. } = *quantum;
            let ended = match self.observers.get(index).map_or(&[][..], Vec::as_slice) {
                [] => core.run(from, to, ops, probe),
                [observer] => core.run(from, to, ops, &mut Watched::by(&mut *lock(observer))),
                observers => {
                    let mut locked: Vec<_> = observers.iter().map(|observer| lock(observer)).collect();
                    let each = locked.iter_mut().map(|observer| &mut **observer as &mut dyn Observer);
                    core.run(from, to, ops, &mut Watched::by(&mut Listeners::new(each)))
                }
            };
            if let Err(found) = ended {
                first = earlier(first, Some(found));
            }
        }
        first
    }

    /// Runs the cores that have something to do in a cycle, or all, for this cycle.
    fn step<P: Probe>(&mut self, cycle: Cycle, everything: bool, ops: &MicroOps, probe: &mut P) -> Ended {
        let mut first: Ended = None;
        for (core, wake) in self.cores.iter_mut().zip(&mut self.wakes) {
            if *wake <= cycle || everything {
                first = earlier(first, core.run(cycle, cycle + 1, ops, probe).err());
                *wake = core.next_wake(cycle + 1);
            }
        }
        first
    }
}

fn earlier(a: Ended, b: Ended) -> Ended {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.cycle < a.cycle { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// The cycles that every block runs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quantum {
    /// The first cycle.
    pub from: Cycle,
    /// The cycle after the last.
    pub to: Cycle,
    /// Run all cores, whether they have something to do or not.
    pub everything: bool,
}

/// The cores of a machine.
pub(super) struct Cores {
    /// All groups but the last have the same number of cores, a power of two.
    groups: Vec<Group>,
    shift: u32,
}

impl fmt::Debug for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The cores in their order: how they are grouped is up to the host.
impl Capture for Cores {
    fn save(&self, to: &mut Writer) {
        for group in &self.groups {
            Core::save_all(&group.cores, to);
        }
        self.groups.iter().flat_map(|group| &group.wakes).for_each(|wake| wake.save(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        for group in &mut self.groups {
            Core::restore_all(&mut group.cores, from)?;
        }
        self.groups.iter_mut().flat_map(|group| &mut group.wakes).try_for_each(|wake| wake.restore(from))
    }

    fn blank() -> Option<Self> {
        None
    }

    fn describe(to: &mut String) {
        to.push_str("Cores{");
        Core::describe(to);
        Cycle::describe(to);
        to.push('}');
    }
}

impl Cores {
    /// Cores in the order of their numbers, to be run by `threads` threads. All have something to do in cycle
    /// `start`.
    pub(super) fn new(cores: Vec<Core>, threads: usize, start: Cycle) -> Cores {
        let groups = if threads > 1 { threads * GROUPS_PER_THREAD } else { 1 };
        let size = cores.len().div_ceil(groups).next_power_of_two();
        let mut rest = cores.into_iter().peekable();
        let mut groups = Vec::with_capacity(groups);
        while rest.peek().is_some() {
            let cores: Vec<Core> = rest.by_ref().take(size).collect();
            groups.push(Group { wakes: vec![start; cores.len()], cores, observers: Vec::new() });
        }
        Cores { groups, shift: size.trailing_zeros() }
    }

    /// Sets the observers of single cores, as of [`Observer::of_cores`].
    pub(super) fn watch(&mut self, observers: &[Vec<OfCore>]) {
        let places = if observers.is_empty() { 0 } else { self.len() };
        let mut rest = (0..places).map(|core| observers.iter().map(|cores| cores[core].clone()).collect());
        for group in &mut self.groups {
            group.observers = rest.by_ref().take(group.cores.len()).collect();
        }
    }

    /// Number of cores.
    pub(super) fn len(&self) -> usize {
        self.groups.iter().map(|group| group.cores.len()).sum()
    }

    /// The cores in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Core> {
        self.groups.iter().flat_map(|group| &group.cores)
    }

    /// The cores in order.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Core> {
        self.groups.iter_mut().flat_map(|group| &mut group.cores)
    }

    /// The cores, in order.
    pub(crate) fn into_vec(self) -> Vec<Core> {
        self.groups.into_iter().flat_map(|group| group.cores).collect()
    }

    /// A core, and the cycle in which it has something to do.
    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> (&mut Core, &mut Cycle) {
        let group = &mut self.groups[index >> self.shift];
        let place = index & ((1 << self.shift) - 1);
        (&mut group.cores[place], &mut group.wakes[place])
    }

    /// First cycle in which a core has something to do, as far as the cores know.
    pub(crate) fn next_wake(&self) -> Cycle {
        self.groups.iter().flat_map(|group| &group.wakes).fold(NEVER, |next, &wake| next.min(wake))
    }

    /// Indices of the cores that a quantum runs.
    pub(super) fn due(&self, quantum: &Quantum) -> impl Iterator<Item = usize> {
        let (to, everything) = (quantum.to, quantum.everything);
        let wakes = self.groups.iter().flat_map(|group| &group.wakes).enumerate();
        wakes.filter(move |&(_, &wake)| everything || wake < to).map(|(index, _)| index)
    }

    /// Runs a quantum of all cores, `due` of which have something to do, and calls `beside` meanwhile. Uses
    /// the threads of the team if that is worth while.
    pub(super) fn run<P: Probe>(
        &mut self,
        quantum: Quantum,
        due: usize,
        team: &Team<'_>,
        probe: &mut P,
        beside: impl FnOnce(),
    ) -> Ended {
        if !team.is_alone() && due >= WORTH_SHARING {
            return team.run(&mut self.groups, quantum, beside);
        }
        let found = match probe.wants_any(Wants::OF_CORES) {
            true => self.run_in_order(&quantum, team.ops, probe),
            false => self
                .groups
                .iter_mut()
                .fold(None, |found, group| earlier(found, group.run(&quantum, team.ops, probe))),
        };
        beside();
        found
    }

    /// Runs a quantum cycle by cycle, for an observer that needs the events of all cores in this order. Stops at the
    /// end of the cycle of a fault.
    fn run_in_order<P: Probe>(&mut self, quantum: &Quantum, ops: &MicroOps, probe: &mut P) -> Ended {
        let mut cycle = quantum.from;
        while cycle < quantum.to {
            let mut found = None;
            for group in &mut self.groups {
                found = earlier(found, group.step(cycle, quantum.everything, ops, probe));
            }
            if found.is_some() {
                return found;
            }
            cycle = if quantum.everything { cycle + 1 } else { self.next_wake().max(cycle + 1) };
        }
        None
    }
}

/// A group to run, later with the result.
struct Job {
    place: usize,
    group: Group,
    quantum: Quantum,
    fault: Ended,
}

/// State that the threads of a team share.
#[derive(Default)]
struct Desk {
    /// The caller takes jobs from the back, the others from the front, so that a group tends to stay with the
    /// processor that has it in its cache.
    open: Mutex<VecDeque<Job>>,
    /// Number of jobs in `open`, readable without the lock.
    offered: AtomicUsize,
    done: Mutex<Vec<Job>>,
    finished: AtomicUsize,
    /// The run has ended, or a thread has panicked.
    closed: AtomicBool,
}

/// Locks a mutex even if a thread panicked while it held it: the panic reaches the caller anyway.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Closes the desk when its thread panics.
struct Alarm<'a>(&'a Desk);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.closed.store(true, Ordering::Release);
        }
    }
}

impl Desk {
    /// Takes a job with `take` and runs it. False if there is none.
    fn run_one(&self, ops: &MicroOps, take: fn(&mut VecDeque<Job>) -> Option<Job>) -> bool {
        if self.offered.load(Ordering::Acquire) == 0 {
            return false;
        }
        let Some(mut job) = take(&mut lock(&self.open)) else { return false };
        self.offered.fetch_sub(1, Ordering::Relaxed);
        job.fault = job.group.run(&job.quantum, ops, &mut Off);
        lock(&self.done).push(job);
        self.finished.fetch_add(1, Ordering::Release);
        true
    }

    /// The loop of a thread of the team until the run has ended.
    fn work(&self, ops: &MicroOps) {
        let _alarm = Alarm(self);
        let mut idle = 0;
        while !self.closed.load(Ordering::Acquire) {
            if self.run_one(ops, VecDeque::pop_front) {
                idle = 0;
            } else {
                idle += 1;
                wait(idle);
            }
        }
    }
}

/// Calls of [`wait`] before a thread sleeps: some milliseconds. Waking a thread takes longer than a quantum.
const PATIENCE: u32 = 20_000;

/// Waits after `idle` unsuccessful tries. Quanta follow one another within microseconds, so it spins first.
/// It yields and sleeps later, because a host may have fewer free processors than threads, and a kernel may
/// have phases in which few cores run.
fn wait(idle: u32) {
    match idle {
        0..1000 => std::hint::spin_loop(),
        1000..PATIENCE => thread::yield_now(),
        _ => thread::park(),
    }
}

/// The threads that run the cores of a machine during a kernel: the caller's and others beside it.
pub(crate) struct Team<'a> {
    desk: &'a Desk,
    ops: &'a MicroOps,
    others: Vec<Thread>,
}

impl Team<'_> {
    /// Calls `act` with a team of `threads` threads, at least one.
    pub(super) fn with<R>(threads: usize, ops: &MicroOps, act: impl FnOnce(&Team<'_>) -> R) -> R {
        let desk = Desk::default();
        thread::scope(|scope| {
            let spawn = |_| scope.spawn(|| desk.work(ops)).thread().clone();
            let team = Team { desk: &desk, ops, others: (1..threads).map(spawn).collect() };
            act(&team)
        })
    }

    fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    fn run(&self, groups: &mut Vec<Group>, quantum: Quantum, beside: impl FnOnce()) -> Ended {
        let (desk, count) = (self.desk, groups.len());
        desk.finished.store(0, Ordering::Relaxed);
        let jobs =
            groups.drain(..).enumerate().map(|(place, group)| Job { place, group, quantum, fault: None });
        lock(&desk.open).extend(jobs);
        desk.offered.store(count, Ordering::Release);
        self.others.iter().for_each(Thread::unpark);
        beside();
        while desk.run_one(self.ops, VecDeque::pop_back) {}
        let mut idle = 0;
        while desk.finished.load(Ordering::Acquire) < count {
            assert!(!desk.closed.load(Ordering::Acquire), "a thread of the team has panicked");
            idle += 1;
            // Never parked: no one would wake this thread.
            wait(idle.min(PATIENCE - 1));
        }
        let mut done = lock(&desk.done);
        done.sort_unstable_by_key(|job| job.place);
        let mut first = None;
        for job in done.drain(..) {
            groups.push(job.group);
            first = earlier(first, job.fault);
        }
        first
    }
}

impl Drop for Team<'_> {
    fn drop(&mut self) {
        self.desk.closed.store(true, Ordering::Release);
        self.others.iter().for_each(Thread::unpark);
    }
}
