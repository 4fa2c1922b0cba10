//! The cores of a machine, divided into groups, and the threads that run them.
//!
//! Between the boundaries of a quantum no block sees what another does; messages are exchanged at the
//! boundaries. So the groups can run in any order, or at the same time, beside the memory side: the result is
//! the same.

use crate::clock::{Cycle, NEVER};
use crate::core::Core;
use crate::core::context::Contexts;
use crate::core::probe::{Listeners, Observer, OfCore, Off, Probe, Wants, Watched};
use crate::memory::BitSet;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use wave_capture::{Capture, Misfit, Reader, Writer};
use wave_isa::guard;
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
    /// Per core: it has sent something since [`Cores::take_senders`] was called.
    has_sent: Vec<bool>,
    /// Per core: its observers, if single cores are observed.
    observers: Vec<Vec<OfCore>>,
}

/// What was found in a quantum: the fault that a run cycle by cycle would meet first, in time, then by core.
type Ended = Option<Box<Fault>>;

impl Group {
    /// True if a core has something to do before the end of a quantum, or all are to run.
    fn is_due(&self, quantum: &Quantum) -> bool {
        self.wakes.iter().any(|&wake| quantum.has(wake))
    }

    /// The cores that have something to do before the end of a quantum, or all; each with its place.
    fn due(&mut self, quantum: Quantum) -> impl Iterator<Item = (usize, Due<'_>)> {
        let places = self.cores.iter_mut().zip(&mut self.wakes).zip(&mut self.has_sent).enumerate();
        let all = places.map(|(place, ((core, wake), has_sent))| (place, Due { core, wake, has_sent }));
        all.filter(move |(_, due)| quantum.has(*due.wake))
    }

    /// Runs the cores that have something to do before `to`, or all, each for the whole quantum.
    fn run<P: Probe>(&mut self, quantum: &Quantum, contexts: &Contexts, probe: &mut P) -> Ended {
        let observers = std::mem::take(&mut self.observers);
        let mut first: Ended = None;
        for (place, due) in self.due(*quantum) {
            let ended = match observers.get(place).map_or(&[][..], Vec::as_slice) {
                [] => due.run(quantum, contexts, probe),
                [observer] => due.run(quantum, contexts, &mut Watched::by(&mut *lock(observer))),
                observers => {
                    let mut locked: Vec<_> = observers.iter().map(|observer| lock(observer)).collect();
                    let each = locked.iter_mut().map(|observer| &mut **observer as &mut dyn Observer);
                    due.run(quantum, contexts, &mut Watched::by(&mut Listeners::new(each)))
                }
            };
            first = earlier(first, ended);
        }
        self.observers = observers;
        first
    }

    /// Runs the cores that have something to do in a cycle, or all, for this cycle.
    fn step<P: Probe>(
        &mut self,
        cycle: Cycle,
        everything: bool,
        contexts: &Contexts,
        probe: &mut P,
    ) -> Ended {
        let quantum = Quantum { from: cycle, to: cycle + 1, everything };
        self.due(quantum).fold(None, |first, (_, due)| earlier(first, due.run(&quantum, contexts, probe)))
    }
}

/// A core that is to run, and what its group knows of it.
struct Due<'a> {
    core: &'a mut Core,
    wake: &'a mut Cycle,
    has_sent: &'a mut bool,
}

impl Due<'_> {
    fn run<P: Probe>(self, quantum: &Quantum, contexts: &Contexts, probe: &mut P) -> Ended {
        let ended = self.core.run(quantum.from, quantum.to, contexts, probe);
        *self.has_sent |= self.core.has_sent();
        ended.map(|wake| *self.wake = wake).err()
    }
}

fn earlier(a: Ended, b: Ended) -> Ended {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.cycle < a.cycle { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// The cycles that every block runs by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Quantum {
    /// The first cycle.
    pub from: Cycle,
    /// The cycle after the last.
    pub to: Cycle,
    /// Run all cores, whether they have something to do or not.
    pub everything: bool,
}

impl Quantum {
    /// True if it runs a core that has something to do in cycle `wake`.
    fn has(&self, wake: Cycle) -> bool {
        self.everything || wake < self.to
    }
}

/// The cores of a machine.
pub(super) struct Cores {
    /// All groups but the last have the same number of cores, a power of two. One that is absent is being run.
    groups: Vec<Option<Box<Group>>>,
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
        for group in self.groups.iter().flatten() {
            Core::save_all(&group.cores, to);
        }
        self.wakes().for_each(|wake| wake.save(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Misfit> {
        for group in self.groups.iter_mut().flatten() {
            Core::restore_all(&mut group.cores, from)?;
        }
        let groups = self.groups.iter_mut().flatten();
        groups.flat_map(|group| &mut group.wakes).try_for_each(|wake| wake.restore(from))
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
            groups.push(Some(Box::new(Group {
                wakes: vec![start; cores.len()],
                has_sent: vec![false; cores.len()],
                observers: Vec::new(),
                cores,
            })));
        }
        Cores { groups, shift: size.trailing_zeros() }
    }

    /// Begins a run that `threads` threads share. All cores have something to do in cycle `start`.
    pub(super) fn begin(&mut self, threads: usize, start: Cycle) {
        let before = std::mem::replace(self, Cores { groups: Vec::new(), shift: 0 });
        *self = Cores::new(before.into_vec(), threads, start);
    }

    /// Sets the observers of single cores, as of [`Observer::of_cores`].
    pub(super) fn watch(&mut self, observers: &[Vec<OfCore>]) {
        let places = if observers.is_empty() { 0 } else { self.len() };
        let mut rest = (0..places).map(|core| observers.iter().map(|cores| cores[core].clone()).collect());
        for group in self.groups.iter_mut().flatten() {
            group.observers = rest.by_ref().take(group.cores.len()).collect();
        }
    }

    /// Number of cores.
    pub(super) fn len(&self) -> usize {
        self.groups.iter().flatten().map(|group| group.cores.len()).sum()
    }

    /// The cores in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Core> + Clone {
        self.groups.iter().flatten().flat_map(|group| &group.cores)
    }

    /// The cores in order.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Core> {
        self.groups.iter_mut().flatten().flat_map(|group| &mut group.cores)
    }

    /// The cores, in order.
    fn into_vec(self) -> Vec<Core> {
        self.groups.into_iter().flatten().flat_map(|group| group.cores).collect()
    }

    /// A core, and the cycle in which it has something to do.
    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> (&mut Core, &mut Cycle) {
        let group = self.groups[index >> self.shift].as_mut().expect("no group is being run");
        let place = index & ((1 << self.shift) - 1);
        (&mut group.cores[place], &mut group.wakes[place])
    }

    /// First cycle in which a core has something to do, as far as the cores know.
    pub(crate) fn next_wake(&self) -> Cycle {
        self.wakes().fold(NEVER, |next, &wake| next.min(wake))
    }

    fn wakes(&self) -> impl Iterator<Item = &Cycle> {
        self.groups.iter().flatten().flat_map(|group| &group.wakes)
    }

    /// Adds the cores that have sent something since the last call.
    pub(super) fn take_senders(&mut self, senders: &mut BitSet) {
        let all = self.groups.iter_mut().flatten().flat_map(|group| &mut group.has_sent);
        for (core, has_sent) in all.enumerate() {
            if std::mem::take(has_sent) {
                senders.insert(core);
            }
        }
    }

    /// Runs a quantum of all cores that have something to do, and calls `beside` meanwhile. Uses the threads of the
    /// team if that is worth while.
    pub(super) fn run<P: Probe>(
        &mut self,
        quantum: Quantum,
        team: &Team<'_>,
        probe: &mut P,
        beside: impl FnOnce(),
    ) -> Ended {
        if !team.is_alone() && self.is_worth_sharing(&quantum) {
            return team.run(&mut self.groups, quantum, beside);
        }
        let found = match probe.wants_any(Wants::OF_CORES) {
            true => self.run_in_order(&quantum, team.contexts, probe),
            false => {
                let groups = self.groups.iter_mut().flatten();
                groups.fold(None, |found, group| earlier(found, group.run(&quantum, team.contexts, probe)))
            }
        };
        beside();
        found
    }

    fn is_worth_sharing(&self, quantum: &Quantum) -> bool {
        let due = self.wakes().filter(|&&wake| quantum.has(wake));
        due.take(WORTH_SHARING).count() == WORTH_SHARING
    }

    /// Runs a quantum cycle by cycle, for an observer that needs the events of all cores in this order. Stops at the
    /// end of the cycle of a fault.
    fn run_in_order<P: Probe>(&mut self, quantum: &Quantum, contexts: &Contexts, probe: &mut P) -> Ended {
        let mut cycle = quantum.from;
        while cycle < quantum.to {
            let mut found = None;
            for group in self.groups.iter_mut().flatten() {
                found = earlier(found, group.step(cycle, quantum.everything, contexts, probe));
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
    group: Box<Group>,
    fault: Ended,
}

/// Jobs that no thread has taken yet.
#[derive(Default)]
struct Open {
    /// The caller takes jobs from the back, the others from the front, so that a group tends to stay with the
    /// processor that has it in its cache.
    jobs: VecDeque<Job>,
    quantum: Quantum,
}

/// State that the threads of a team share.
#[derive(Default)]
struct Desk {
    open: Mutex<Open>,
    /// Number of open jobs, readable without the lock.
    offered: AtomicUsize,
    done: Mutex<Vec<Job>>,
    finished: AtomicUsize,
    /// The run has ended, or a thread has panicked.
    closed: AtomicBool,
}

/// An end of the open jobs.
#[derive(Clone, Copy)]
enum Side {
    Front,
    Back,
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
    /// Takes jobs from one side and runs them; `hand` holds them meanwhile. False if there is none.
    ///
    /// It takes a share of those that are left, and the last ones singly. So a thread locks seldom, and all threads end
    /// at about the same time.
    fn run_some(&self, contexts: &Contexts, threads: usize, side: Side, hand: &mut Vec<Job>) -> bool {
        if self.offered.load(Ordering::Acquire) == 0 {
            return false;
        }
        let quantum = {
            let Open { jobs, quantum } = &mut *lock(&self.open);
            let before = jobs.len();
            let count = before.div_ceil(2 * threads);
            match side {
                Side::Front => hand.extend(jobs.drain(..count)),
                Side::Back => hand.extend(jobs.drain(before - count..)),
            }
            self.offered.store(before - count, Ordering::Release);
            *quantum
        };
        for job in &mut *hand {
            job.fault = job.group.run(&quantum, contexts, &mut Off);
        }
        let count = hand.len();
        lock(&self.done).append(hand);
        self.finished.fetch_add(count, Ordering::Release);
        count > 0
    }

    /// The loop of a thread of the team, of so many threads, until the run has ended.
    fn work(&self, contexts: &Contexts, threads: usize) {
        let _alarm = Alarm(self);
        let (mut hand, mut idle) = (Vec::new(), 0);
        while !self.closed.load(Ordering::Acquire) {
            if self.run_some(contexts, threads, Side::Front, &mut hand) {
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
    contexts: &'a Contexts,
    others: Vec<Thread>,
}

impl Team<'_> {
    /// Calls `act` with a team of `threads` threads, at least one.
    pub(super) fn with<R>(threads: usize, contexts: &Contexts, act: impl FnOnce(&Team<'_>) -> R) -> R {
        let (desk, is_guarded) = (Desk::default(), guard::is_guarded());
        let work = || {
            guard::inherit(is_guarded);
            desk.work(contexts, threads);
        };
        thread::scope(|scope| {
            let spawn = |_| scope.spawn(work).thread().clone();
            let team = Team { desk: &desk, contexts, others: (1..threads).map(spawn).collect() };
            act(&team)
        })
    }

    fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    fn run(&self, groups: &mut [Option<Box<Group>>], quantum: Quantum, beside: impl FnOnce()) -> Ended {
        let (desk, mut hand) = (self.desk, Vec::new());
        desk.finished.store(0, Ordering::Relaxed);
        let count = {
            let mut open = lock(&desk.open);
            for (place, group) in groups.iter_mut().enumerate() {
                if let Some(group) = group.take_if(|group| group.is_due(&quantum)) {
                    open.jobs.push_back(Job { place, group, fault: None });
                }
            }
            open.quantum = quantum;
            desk.offered.store(open.jobs.len(), Ordering::Release);
            open.jobs.len()
        };
        self.others.iter().for_each(Thread::unpark);
        beside();
        while desk.run_some(self.contexts, self.others.len() + 1, Side::Back, &mut hand) {}
        let mut idle = 0;
        while desk.finished.load(Ordering::Acquire) < count {
            assert!(!desk.closed.load(Ordering::Acquire), "a thread of the team has panicked");
            idle += 1;
            // Never parked: no one would wake this thread.
            wait(idle.min(PATIENCE - 1));
        }
        let mut done = lock(&desk.done);
        // Of faults in one cycle, that of the lower core counts.
        done.sort_unstable_by_key(|job| job.place);
        let mut first = None;
        for job in done.drain(..) {
            groups[job.place] = Some(job.group);
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
