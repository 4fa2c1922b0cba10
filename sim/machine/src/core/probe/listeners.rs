//! Several observers of one run.

use super::{Event, EventKind, Observer, OfCore, Wants};
use crate::clock::{Cycle, NEVER};
use std::ops::ControlFlow;
use std::sync::PoisonError;

/// Observers of one run. Each is told what it wants as if it were the only one, an event first to the first of them.
///
/// If none of them needs an order between cores, all together need none. Otherwise the run takes one thread.
pub struct Listeners<'o> {
    listeners: Vec<Listener<'o>>,
    /// As of [`Observer::of_cores`], with what the observers of cores want.
    of_cores: Vec<(Wants, Vec<OfCore>)>,
    /// A listener needs an order between cores.
    ordered: bool,
}

struct Listener<'o> {
    observer: &'o mut dyn Observer,
    wants: Wants,
}

impl<'o> Listeners<'o> {
    /// These observers, for one launch: what each wants is asked now.
    pub fn new(observers: impl IntoIterator<Item = &'o mut dyn Observer>) -> Listeners<'o> {
        let mut all = Listeners { listeners: Vec::new(), of_cores: Vec::new(), ordered: false };
        for observer in observers {
            let (wants, of_cores) = (observer.wants(), observer.of_cores());
            all.ordered |= of_cores.is_empty() && wants.has_any(Wants::OF_CORES);
            all.of_cores.extend(of_cores.into_iter().map(|cores| (wanted_by(&cores), cores)));
            all.listeners.push(Listener { observer, wants });
        }
        all
    }
}

/// What the observers of cores want. Each wants the same.
fn wanted_by(cores: &[OfCore]) -> Wants {
    cores.first().map_or(Wants::NONE, |core| core.lock().unwrap_or_else(PoisonError::into_inner).wants())
}

impl Observer for Listeners<'_> {
    fn wants(&self) -> Wants {
        let of_cores = self.of_cores.iter().filter(|_| self.ordered).map(|(wants, _)| *wants);
        self.listeners.iter().map(|listener| listener.wants).chain(of_cores).fold(Wants::NONE, Wants::and)
    }

    fn event(&mut self, event: &Event<'_>) {
        let kind = event.kind();
        for Listener { observer, wants } in &mut self.listeners {
            if !wants.has(kind) {
                continue;
            }
            match event {
                // One that another has asked for.
                Event::Sample(sample, _) if !sample.is_last && observer.sample_at() != sample.cycle => {}
                _ => observer.event(event),
            }
        }
        // Observers of cores are told here only if a listener needs an order between cores.
        if let Some(core) = event.core() {
            for (wants, cores) in &self.of_cores {
                if wants.has(kind) {
                    cores[core as usize].lock().unwrap_or_else(PoisonError::into_inner).event(event);
                }
            }
        }
    }

    fn of_cores(&self) -> Vec<Vec<OfCore>> {
        self.of_cores.iter().filter(|_| !self.ordered).map(|(_, cores)| cores.clone()).collect()
    }

    fn takes_stages_early(&self) -> bool {
        let mut told = self.listeners.iter().filter(|listener| listener.wants.has(EventKind::Stage));
        let ordered = self.ordered && self.of_cores.iter().any(|(wants, _)| wants.has(EventKind::Stage));
        !ordered && told.all(|listener| listener.observer.takes_stages_early())
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
