//! A second way to find the outcomes of a scenario: a small machine of cores with caches, explored through
//! all its choices. It does not know the axioms, and the axioms have to allow everything that it shows.
//!
//! A core has a cache of words, which may hold anything that was in memory, and a queue per word of what is
//! on its way to memory. Queues advance independently. A store goes to the cache, if the word is there, and
//! to its queue. A load takes the word from the cache, or drops it and asks behind what is queued.

use super::{SUITE, parsed};
use crate::litmus::campaign::Checker;
use crate::litmus::test::{Action, Observable, Statement};
use crate::litmus::variant::{Place, Scenario, variants};
use std::collections::{BTreeSet, HashSet};
use wave_isa::special::Scope;
use wave_isa::table::{AtomicOp, CacheHint};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Queued {
    Store(u32),
    Load { thread: usize, register: usize, install: bool },
    Atomic { thread: usize, register: Option<usize>, op: AtomicOp, value: u32, swap: u32 },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Core {
    cache: Vec<Option<u32>>,
    queues: Vec<Vec<Queued>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    memory: Vec<u32>,
    cores: Vec<Core>,
    /// Per wave: the next statement, and whether it waits at the barrier before it.
    next: Vec<usize>,
    at_barrier: Vec<bool>,
    /// Per thread and register; `None` while the value is on its way.
    registers: Vec<Vec<Option<u32>>>,
}

struct Machine<'a> {
    scenario: &'a Scenario<'a>,
    waves: Vec<(Place, Vec<(usize, &'a Statement)>)>,
    /// A planted bug, to see that the comparison finds it.
    bug: Bug,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bug {
    None,
    /// A release does not wait for stores.
    Release,
    /// An acquire drops nothing.
    Acquire,
    /// A load that asks memory leaves an older word in the cache.
    Coherence,
    /// An atomic of device scope is performed in the cache.
    Atomic,
    /// A release waits only for its own wave's stores; here, for none.
    Barrier,
}

impl<'a> Machine<'a> {
    fn new(scenario: &'a Scenario<'a>, bug: Bug) -> Machine<'a> {
        let mut waves: Vec<(Place, Vec<(usize, &Statement)>)> = Vec::new();
        for (thread, placed) in scenario.threads.iter().enumerate() {
            if waves.iter().any(|(place, _)| *place == placed.place) {
                continue;
            }
            let mut all: Vec<(usize, usize, &Statement)> = Vec::new();
            for (t, other) in scenario.threads.iter().enumerate().skip(thread) {
                if other.place == placed.place {
                    all.extend(other.body.iter().zip(&other.steps).map(|(s, &step)| (step, t, s)));
                }
            }
            all.sort_by_key(|&(step, t, _)| (step, t));
            all.dedup_by_key(|entry| entry.0);
            waves.push((placed.place, all.into_iter().map(|(_, t, s)| (t, s)).collect()));
        }
        Machine { scenario, waves, bug }
    }

    /// Every outcome that the machine can show.
    fn outcomes(&self) -> BTreeSet<Vec<u32>> {
        let test = self.scenario.test;
        let memory: Vec<u32> = test.locations.iter().map(|l| l.initial).collect();
        let count = memory.len();
        let cores = 1 + self.waves.iter().map(|(place, _)| place.core).max().unwrap_or(0);
        let start = State {
            cores: vec![Core { cache: vec![None; count], queues: vec![Vec::new(); count] }; cores],
            next: vec![0; self.waves.len()],
            at_barrier: vec![false; self.waves.len()],
            registers: test.threads.iter().map(|t| vec![Some(0); t.registers.len()]).collect(),
            memory,
        };
        // At the start, every cache may hold every word that some thread of its core loads.
        let mut work = vec![start];
        for (place, statements) in &self.waves {
            for (_, statement) in statements {
                if let Action::Load { location, hint: CacheHint::Cached, .. } = statement.action
                    && !test.locations[location].local
                {
                    let mut warm = work.clone();
                    for state in &mut warm {
                        state.cores[place.core].cache[location] = Some(state.memory[location]);
                    }
                    work.extend(warm);
                }
            }
        }
        let mut seen: HashSet<State> = work.iter().cloned().collect();
        let mut outcomes = BTreeSet::new();
        while let Some(state) = work.pop() {
            let mut successors = Vec::new();
            self.step(&state, &mut successors);
            if successors.is_empty() {
                outcomes.insert(self.outcome(&state));
            }
            for next in successors {
                if seen.insert(next.clone()) {
                    work.push(next);
                }
            }
        }
        outcomes
    }

    fn outcome(&self, state: &State) -> Vec<u32> {
        for (wave, (_, statements)) in self.waves.iter().enumerate() {
            assert_eq!(state.next[wave], statements.len(), "the abstract machine stands still");
        }
        let value = |observable| match observable {
            Observable::Register { thread, register } => state.registers[thread][register].unwrap(),
            Observable::Location(location) => state.memory[location],
        };
        self.scenario.test.observables().into_iter().map(value).collect()
    }

    /// All successor states.
    fn step(&self, state: &State, into: &mut Vec<State>) {
        for core in 0..state.cores.len() {
            for location in 0..state.memory.len() {
                if !state.cores[core].queues[location].is_empty() {
                    let mut next = state.clone();
                    next.serve(core, location);
                    into.push(next);
                }
            }
        }
        for (wave, (place, statements)) in self.waves.iter().enumerate() {
            if let Some(&(thread, statement)) = statements.get(state.next[wave])
                && !state.at_barrier[wave]
            {
                self.execute(state, wave, *place, thread, statement, into);
            }
        }
    }

    fn execute(
        &self,
        state: &State,
        wave: usize,
        place: Place,
        thread: usize,
        statement: &Statement,
        into: &mut Vec<State>,
    ) {
        let mut next = state.clone();
        next.next[wave] += 1;
        if let Some(guard) = statement.guard {
            let Some(value) = state.registers[thread][guard.register] else { return };
            if (value == guard.value) != guard.equal {
                into.push(next);
                return;
            }
        }
        let known: Vec<u32> = state.registers[thread].iter().map(|r| r.unwrap_or(0)).collect();
        let on_its_way = |register: &usize| state.registers[thread][*register].is_none();
        let local = |location: usize| self.scenario.test.locations[location].local;
        match &statement.action {
            Action::Load { register, location, .. } if local(*location) => {
                next.registers[thread][*register] = Some(state.memory[*location]);
                into.push(next);
            }
            Action::Load { register, location, hint, dependency } => {
                if dependency.iter().any(on_its_way) {
                    return;
                }
                let core = &mut next.cores[place.core];
                if let Some(value) = core.cache[*location]
                    && *hint != CacheHint::Uncached
                {
                    let mut hit = next.clone();
                    hit.registers[thread][*register] = Some(value);
                    into.push(hit);
                }
                let core = &mut next.cores[place.core];
                if self.bug != Bug::Coherence {
                    core.cache[*location] = None;
                }
                let install = *hint != CacheHint::Uncached && self.bug != Bug::Coherence;
                core.queues[*location].push(Queued::Load { thread, register: *register, install });
                next.registers[thread][*register] = None;
                into.push(next);
            }
            Action::Store { location, value, hint, dependency } => {
                if value.registers().chain(*dependency).any(|r| on_its_way(&r)) {
                    return;
                }
                let value = value.value(&known);
                if local(*location) {
                    next.memory[*location] = value;
                } else {
                    next.write(place.core, *location, value, *hint == CacheHint::Uncached);
                }
                into.push(next);
            }
            Action::Atomic { register, op, location, value, swap, scope } => {
                if value.registers().chain(swap.registers()).any(|r| on_its_way(&r)) {
                    return;
                }
                let (value, swap) = (value.value(&known), swap.value(&known));
                let in_core = self.bug == Bug::Atomic || scope.is_some_and(|s| s <= Scope::Workgroup);
                let core = &mut next.cores[place.core];
                if local(*location) {
                    let old = state.memory[*location];
                    next.memory[*location] = op.apply(old, value, swap);
                    register.iter().for_each(|&r| next.registers[thread][r] = Some(old));
                } else if in_core {
                    let old = match core.cache[*location] {
                        Some(old) => old,
                        None if core.queues[*location].is_empty() => state.memory[*location],
                        None => return,
                    };
                    core.cache[*location] = Some(old);
                    if *op != AtomicOp::Cas || old == value {
                        next.write(place.core, *location, op.apply(old, value, swap), false);
                    }
                    register.iter().for_each(|&r| next.registers[thread][r] = Some(old));
                } else {
                    core.cache[*location] = None;
                    core.make_stale(*location);
                    let queued = Queued::Atomic { thread, register: *register, op: *op, value, swap };
                    core.queues[*location].push(queued);
                    register.iter().for_each(|&r| next.registers[thread][r] = None);
                }
                into.push(next);
            }
            Action::Fence { release, acquire, scope } => {
                let scope = scope.unwrap();
                if scope >= Scope::Workgroup && self.waits(state, place) {
                    return;
                }
                if scope >= Scope::Device {
                    let core = &mut next.cores[place.core];
                    let stores = core.queues.iter().flatten().any(|q| !matches!(q, Queued::Load { .. }));
                    if *release && stores && !matches!(self.bug, Bug::Release | Bug::Barrier) {
                        return;
                    }
                    if *acquire && self.bug != Bug::Acquire {
                        core.cache.fill(None);
                        (0..core.queues.len()).for_each(|l| core.make_stale(l));
                    }
                }
                into.push(next);
            }
            Action::Barrier => {
                if self.waits(state, place) {
                    return;
                }
                next.at_barrier[wave] = true;
                let mates = |w: &usize| {
                    let other = self.waves[*w].0;
                    (other.core, other.workgroup) == (place.core, place.workgroup)
                };
                let all: Vec<usize> = (0..self.waves.len()).filter(mates).collect();
                if all.iter().all(|&w| next.at_barrier[w]) {
                    all.iter().for_each(|&w| next.at_barrier[w] = false);
                }
                into.push(next);
            }
        }
    }

    /// True if a wave has loads or returning atomics on their way.
    fn waits(&self, state: &State, place: Place) -> bool {
        let threads = self.scenario.threads.iter().zip(&state.registers);
        threads.filter(|(placed, _)| placed.place == place).any(|(_, r)| r.contains(&None))
    }
}

impl State {
    fn write(&mut self, core: usize, location: usize, value: u32, uncached: bool) {
        let core = &mut self.cores[core];
        core.make_stale(location);
        if uncached {
            core.cache[location] = None;
        } else if let Some(word) = &mut core.cache[location] {
            *word = value;
        }
        core.queues[location].push(Queued::Store(value));
    }

    /// The oldest entry of a queue reaches memory.
    fn serve(&mut self, core: usize, location: usize) {
        let memory = &mut self.memory[location];
        match self.cores[core].queues[location].remove(0) {
            Queued::Store(value) => *memory = value,
            Queued::Load { thread, register, install } => {
                self.registers[thread][register] = Some(*memory);
                if install {
                    self.cores[core].cache[location] = Some(*memory);
                }
            }
            Queued::Atomic { thread, register, op, value, swap } => {
                if let Some(register) = register {
                    self.registers[thread][register] = Some(*memory);
                }
                *memory = op.apply(*memory, value, swap);
            }
        }
    }
}

impl Core {
    /// Loads of the word that are on their way will not install it in the cache.
    fn make_stale(&mut self, location: usize) {
        for queued in &mut self.queues[location] {
            if let Queued::Load { install, .. } = queued {
                *install = false;
            }
        }
    }
}

/// The scenarios of the suite with an outcome that the axioms do not allow, and the first such outcome. Only
/// tests and variants that `wanted` accepts.
fn disagreements(bug: Bug, wanted: impl Fn(&str, &str) -> bool) -> (usize, Vec<String>) {
    let mut compared = 0;
    let mut wrong = Vec::new();
    for builtin in SUITE {
        let test = parsed(builtin.text);
        let mut checker = Checker::default();
        for variant in variants(&test) {
            if variant.has("system") || !wanted(&test.name, &variant.to_string()) {
                continue;
            }
            let scenario = Scenario::new(&test, &variant);
            let allowed = checker.allowed(&scenario);
            compared += 1;
            if let Some(outcome) = Machine::new(&scenario, bug).outcomes().difference(&allowed).next() {
                wrong.push(format!("{} {variant}: {}", test.name, test.outcome_text(outcome)));
            }
        }
    }
    (compared, wrong)
}

#[test]
fn the_axioms_allow_all_that_the_abstract_machine_shows() {
    // To save time, variants with fences of one kind only are left out if there are many threads.
    let (compared, wrong) = disagreements(Bug::None, |name, variant| {
        ["MP", "S", "LB", "SB", "R", "2+2W"].contains(&name) || !variant.contains("only")
    });
    assert!(compared > 800, "{compared}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_bug_of_the_abstract_machine_is_noticed() {
    let small = |name: &str, variant: &str| {
        ["CoRR", "MP", "ADD", "WRC", "SB-rmw"].contains(&name)
            && !variant.contains("wave")
            && !variant.contains("only")
    };
    for bug in [Bug::Release, Bug::Acquire, Bug::Coherence, Bug::Atomic, Bug::Barrier] {
        let (_, wrong) = disagreements(bug, small);
        assert!(!wrong.is_empty(), "{bug:?} goes unnoticed");
    }
}
