//! Several observers of one run.

use super::{Event, EventKind, Observer, OfCore, Wants};
use crate::clock::{Cycle, NEVER};
use std::ops::ControlFlow;

/// Observers of one run. Each is told what it wants as if it were the only one, an event first to the first of them.
pub struct Listeners<'o> {
    listeners: Vec<Listener<'o>>,
}

struct Listener<'o> {
    observer: &'o mut dyn Observer,
    wants: Wants,
}

impl<'o> Listeners<'o> {
    /// These observers, for one launch: what each wants is asked now.
    pub fn new(observers: impl IntoIterator<Item = &'o mut dyn Observer>) -> Listeners<'o> {
        let listener = |observer: &'o mut dyn Observer| Listener { wants: observer.wants(), observer };
        Listeners { listeners: observers.into_iter().map(listener).collect() }
    }
}

impl Observer for Listeners<'_> {
    fn wants(&self) -> Wants {
        self.listeners.iter().fold(Wants::NONE, |wants, listener| wants.and(listener.wants))
    }

    fn event(&mut self, event: &Event<'_>) {
        let kind = event.kind();
        for Listener { observer, wants } in &mut self.listeners {
            // Not a sample that another has asked for.
            let is_its_own = match event {
                Event::Sample(sample, _) => sample.is_last || observer.sample_at() == sample.cycle,
                _ => true,
            };
            if wants.has(kind) && is_its_own {
                observer.event(event);
            }
        }
    }

    /// Those of all listeners. Empty if one of them needs the cores in order.
    fn of_core(&self, core: u32) -> Vec<OfCore> {
        let mut all = Vec::new();
        for Listener { observer, wants } in &self.listeners {
            let its = observer.of_core(core);
            if its.is_empty() && wants.has_any(Wants::OF_CORES) {
                return Vec::new();
            }
            all.extend(its);
        }
        all
    }

    fn sample_at(&self) -> Cycle {
        let sampled = self.listeners.iter().filter(|listener| listener.wants.has(EventKind::Sample));
        sampled.map(|listener| listener.observer.sample_at()).min().unwrap_or(NEVER)
    }

    fn advanced(&mut self, cycle: Cycle) -> ControlFlow<()> {
        let mut flow = ControlFlow::Continue(());
        for Listener { observer, .. } in &mut self.listeners {
            // All of them hear of it, even if one stops the run.
            if observer.advanced(cycle).is_break() {
                flow = ControlFlow::Break(());
            }
        }
        flow
    }
}
