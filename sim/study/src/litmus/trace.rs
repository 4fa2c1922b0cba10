//! The possible executions of a thread, for every combination of values that its reads could return: events
//! with their dependencies, and final registers.

use super::test::Action;
use super::variant::Scenario;
use wave_isa::special::Scope;
use wave_isa::table::AtomicOp;

/// Kind of an event (rules V2 and V4 of docs/memory-model.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A read of a location.
    Read {
        /// Location.
        location: usize,
        /// Value returned.
        value: u32,
    },
    /// A write of a location.
    Write {
        /// Location.
        location: usize,
        /// Value written.
        value: u32,
    },
    /// A fence.
    Fence {
        /// It releases.
        release: bool,
        /// It acquires.
        acquire: bool,
        /// Its scope.
        scope: Scope,
    },
    /// A barrier, by its number in the workgroup, from 0.
    Barrier(usize),
}

/// An event of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// Kind of the event.
    pub kind: EventKind,
    /// Position of its instruction in the wave's program order.
    pub step: usize,
    /// For the halves of an atomic: its scope. The write half, if any, directly follows the read half.
    pub atomic: Option<Scope>,
    /// Reads of the thread on which its address, value or existence depends: bit i is event i.
    pub depends: u64,
}

/// One execution of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trace {
    /// Its events in program order.
    pub events: Vec<Event>,
    /// Final register values.
    pub registers: Vec<u32>,
}

/// Per location, the values that its reads could return: a superset, from which the axioms choose.
pub(crate) type Domains = Vec<Vec<u32>>;

/// All traces of each thread, where reads return whatever some trace writes.
pub(crate) fn traces(scenario: &Scenario<'_>) -> Vec<Vec<Trace>> {
    let mut domains: Domains = scenario.test.locations.iter().map(|l| vec![l.initial]).collect();
    // The chain of writes that makes a value is no longer than the number of writes (axiom A3). More rounds
    // would only add values that nothing can read.
    let writes = scenario.threads.iter().flat_map(|t| &t.body).filter(|s| s.action.writes()).count();
    for _ in 0..=writes {
        let found: Vec<Vec<Trace>> =
            (0..scenario.threads.len()).map(|thread| traces_of(scenario, thread, &domains)).collect();
        let mut grown = domains.clone();
        for event in found.iter().flatten().flat_map(|trace| &trace.events) {
            if let EventKind::Write { location, value } = event.kind
                && !grown[location].contains(&value)
            {
                grown[location].push(value);
            }
        }
        if grown == domains {
            return found;
        }
        domains = grown;
    }
    (0..scenario.threads.len()).map(|thread| traces_of(scenario, thread, &domains)).collect()
}

/// A thread being executed.
#[derive(Clone)]
struct Walk {
    trace: Trace,
    /// Per register, the reads that it depends on.
    taints: Vec<u64>,
    barriers: usize,
}

fn traces_of(scenario: &Scenario<'_>, thread: usize, domains: &Domains) -> Vec<Trace> {
    let registers = scenario.test.threads[thread].registers.len();
    let trace = Trace { events: Vec::new(), registers: vec![0; registers] };
    let mut walks = vec![Walk { trace, taints: vec![0; registers], barriers: 0 }];
    let placed = &scenario.threads[thread];
    for (statement, &step) in placed.body.iter().zip(&placed.steps) {
        let mut next = Vec::new();
        for walk in walks {
            let taken =
                statement.guard.is_none_or(|g| (walk.trace.registers[g.register] == g.value) == g.equal);
            if !taken {
                next.push(walk);
                continue;
            }
            let control = statement.guard.map_or(0, |g| walk.taints[g.register]);
            walk.execute(&statement.action, step, control, domains, &mut next);
        }
        walks = next;
    }
    walks.into_iter().map(|walk| walk.trace).collect()
}

impl Walk {
    /// Executes an action in every possible way.
    fn execute(
        mut self,
        action: &Action,
        step: usize,
        control: u64,
        domains: &Domains,
        into: &mut Vec<Walk>,
    ) {
        let on = |taints: &[u64], registers: &mut dyn Iterator<Item = usize>| {
            registers.fold(control, |sum, r| sum | taints[r])
        };
        match action {
            Action::Load { register, location, dependency, .. } => {
                let depends = on(&self.taints, &mut dependency.iter().copied());
                for &value in &domains[*location] {
                    let mut walk = self.clone();
                    let read = walk.push(EventKind::Read { location: *location, value }, step, None, depends);
                    walk.assign(Some(*register), value, 1 << read);
                    into.push(walk);
                }
            }
            Action::Store { location, value, dependency, .. } => {
                let depends = on(&self.taints, &mut value.registers().chain(*dependency));
                let value = value.value(&self.trace.registers);
                self.push(EventKind::Write { location: *location, value }, step, None, depends);
                into.push(self);
            }
            Action::Atomic { register, op, location, value, swap, scope } => {
                let depends = on(&self.taints, &mut value.registers().chain(swap.registers()));
                let (operand, swap) = (value.value(&self.trace.registers), swap.value(&self.trace.registers));
                let location = *location;
                for &old in &domains[location] {
                    let mut walk = self.clone();
                    let read = walk.push(EventKind::Read { location, value: old }, step, *scope, depends);
                    if *op != AtomicOp::Cas || old == operand {
                        let value = op.apply(old, operand, swap);
                        // The value written by an exchange does not depend on the value read.
                        let on_old = if *op == AtomicOp::Exchange { 0 } else { 1 << read };
                        walk.push(EventKind::Write { location, value }, step, *scope, depends | on_old);
                    }
                    walk.assign(*register, old, 1 << read);
                    into.push(walk);
                }
            }
            Action::Fence { release, acquire, scope } => {
                let scope = scope.unwrap_or(Scope::Wave);
                self.push(
                    EventKind::Fence { release: *release, acquire: *acquire, scope },
                    step,
                    None,
                    control,
                );
                into.push(self);
            }
            Action::Barrier => {
                self.push(EventKind::Barrier(self.barriers), step, None, control);
                self.barriers += 1;
                into.push(self);
            }
        }
    }

    fn push(&mut self, kind: EventKind, step: usize, atomic: Option<Scope>, depends: u64) -> usize {
        self.trace.events.push(Event { kind, step, atomic, depends });
        self.trace.events.len() - 1
    }

    fn assign(&mut self, register: Option<usize>, value: u32, taint: u64) {
        if let Some(register) = register {
            self.trace.registers[register] = value;
            self.taints[register] = taint;
        }
    }
}

impl Action {
    /// True if it may write.
    fn writes(&self) -> bool {
        matches!(self, Action::Store { .. } | Action::Atomic { .. })
    }
}
