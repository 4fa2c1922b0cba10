//! Two observers of one run.

use crate::clock::Cycle;
use crate::core::collector::Waiting;
use crate::core::probe::{AtomicEvent, Event, Going, IssueStall, Issued, MemoryEvent, Probe, Results};
use crate::core::wave::SlotMask;
use std::ops::ControlFlow;

/// Tells both of everything, the first before the second. The run stops if one of them says so.
pub struct Both<'a, A, B>(pub &'a mut A, pub &'a mut B);

impl<A: Probe, B: Probe> Probe for Both<'_, A, B> {
    const ON: bool = A::ON || B::ON;
    const STALLS: bool = A::STALLS || B::STALLS;

    fn step(&mut self, event: Event) {
        self.0.step(event);
        self.1.step(event);
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        self.0.issued(issued);
        self.1.issued(issued);
    }

    fn goes_on(&mut self, going: &Going) {
        self.0.goes_on(going);
        self.1.goes_on(going);
    }

    fn results(&mut self, results: &Results<'_>) {
        self.0.results(results);
        self.1.results(results);
    }

    fn stalls(&mut self, core: u32, cycle: Cycle, waves: &[SlotMask; IssueStall::COUNT]) {
        self.0.stalls(core, cycle, waves);
        self.1.stalls(core, cycle, waves);
    }

    fn waits(&mut self, event: Event, why: Waiting) {
        self.0.waits(event, why);
        self.1.waits(event, why);
    }

    fn accesses(&mut self, access: &MemoryEvent<'_>) {
        self.0.accesses(access);
        self.1.accesses(access);
    }

    fn performed(&mut self, atomic: &AtomicEvent) {
        self.0.performed(atomic);
        self.1.performed(atomic);
    }

    fn advanced(&mut self, cycle: Cycle) -> ControlFlow<()> {
        self.0.advanced(cycle)?;
        self.1.advanced(cycle)
    }
}
