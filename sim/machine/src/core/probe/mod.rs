//! Observers of a run: what cores and the run loop tell them, and to how many at a time.
//!
//! Everything that is told is an [`Event`]. An observer says once, before a launch, which kinds it [wants](Wants);
//! an event that no one wants is not even made.
//!
//! Whether there is an observer is a type parameter of the run loop: a run without one ([`Off`]) compiles to
//! code without any calls to observers. All observers share the other version ([`Watched`]), several of them as
//! [`Listeners`].

mod event;
mod listeners;
mod registered;

pub use super::stage::Stage;
use crate::clock::{Cycle, NEVER};
pub use crate::memory::{Burst, Hop, HopKind, SliceAccess, SliceOutcome};
use crate::memory::{MemoryPort, Request};
pub use event::{
    AtomicEvent, Charge, Event, EventKind, Going, Invalidated, Issued, Level, LineAccess, LocalAccess,
    MemoryEvent, Packet, Results, Sample, StageEvent, Stalls, Waits, Wants,
};
pub use listeners::Listeners;
pub use registered::{ENABLED, ObserverSetup, RegisteredObservers, RunObserver};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// An observer of one core. The thread that runs the core holds it.
pub type OfCore = Arc<Mutex<dyn Observer + Send>>;

/// An observer of a run.
pub trait Observer {
    /// The kinds of events that it wants to be told in the launch that begins.
    fn wants(&self) -> Wants;

    /// An event of a kind that it wants. What the cores tell comes in the order of cycles, and in a cycle in the order
    /// of cores, but for stages that are [taken early](Observer::takes_stages_early). What the memory side tells comes
    /// some cycles late.
    fn event(&mut self, event: &Event<'_>);

    /// If this observer needs no order between cores: observers that are told what the cores tell. Each vector has one
    /// for each core. Threads can then share the cores. These observers say themselves what they want, and this one
    /// wants only what the run loop tells.
    fn of_cores(&self) -> Vec<Vec<OfCore>> {
        Vec::new()
    }

    /// True if it may be told of the stages of an instruction as soon as their cycles are known, which may be before
    /// these cycles. Then an instruction that nothing can delay costs as little as in a run without an observer.
    fn takes_stages_early(&self) -> bool {
        false
    }

    /// Cycle in which the observer wants the next [`Event::Sample`]. It is asked again after each sample.
    fn sample_at(&self) -> Cycle {
        NEVER
    }

    /// Everything before this cycle has been told. The observer may stop the run.
    fn advanced(&mut self, _: Cycle) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Sends a packet into a core's port, and tells the observer of it.
#[inline]
pub(crate) fn send<P: Probe>(now: Cycle, port: &mut MemoryPort, request: Request, probe: &mut P) {
    tell_packet(now, u32::from(port.core()), &request, probe);
    port.push(now, request);
}

/// Tells the observer of a packet that leaves its core.
#[inline]
pub(crate) fn tell_packet<P: Probe>(cycle: Cycle, core: u32, request: &Request, probe: &mut P) {
    probe.tell(EventKind::Packet, || Event::Packet(Packet { cycle, core, request }));
}

/// Whether a run is watched, as a type.
pub trait Probe {
    /// False in a run without an observer: code that only serves observers is compiled out.
    const ON: bool;

    /// True if the observer wants events of this kind. Ask before work that only such an event needs.
    fn wants(&self, kind: EventKind) -> bool;

    /// True if the observer wants events of one of these kinds.
    fn wants_any(&self, of: Wants) -> bool;

    /// Makes an event of this kind and tells it to the observer, if it wants the kind.
    fn tell<'e>(&mut self, kind: EventKind, event: impl FnOnce() -> Event<'e>);

    /// True if an instruction that nothing can delay may be settled when it issues: nobody looks at its collector, and
    /// who is told of its stages [takes them early](Observer::takes_stages_early).
    fn settles_early(&self) -> bool;

    /// The observer, if there is one.
    fn observer(&mut self) -> Option<&mut dyn Observer>;
}

/// A run without an observer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Off;

impl Probe for Off {
    const ON: bool = false;

    #[inline(always)]
    fn wants(&self, _: EventKind) -> bool {
        false
    }

    #[inline(always)]
    fn wants_any(&self, _: Wants) -> bool {
        false
    }

    #[inline(always)]
    fn tell<'e>(&mut self, _: EventKind, _: impl FnOnce() -> Event<'e>) {}

    #[inline(always)]
    fn settles_early(&self) -> bool {
        true
    }

    #[inline(always)]
    fn observer(&mut self) -> Option<&mut dyn Observer> {
        None
    }
}

/// A run with an observer. The observer states its wishes once, at the start.
pub(crate) struct Watched<'o> {
    observer: &'o mut dyn Observer,
    wants: Wants,
    settles_early: bool,
}

impl<'o> Watched<'o> {
    /// A run watched by `observer`.
    pub(crate) fn by(observer: &'o mut dyn Observer) -> Watched<'o> {
        let wants = observer.wants();
        let in_time = wants.has(EventKind::Stage) && !observer.takes_stages_early();
        // A charge names the instruction that is oldest in the collectors.
        Watched { wants, settles_early: !in_time && !wants.has(EventKind::Charge), observer }
    }
}

impl Probe for Watched<'_> {
    const ON: bool = true;

    #[inline]
    fn wants(&self, kind: EventKind) -> bool {
        self.wants.has(kind)
    }

    fn wants_any(&self, of: Wants) -> bool {
        self.wants.has_any(of)
    }

    #[inline]
    fn tell<'e>(&mut self, kind: EventKind, event: impl FnOnce() -> Event<'e>) {
        if self.wants.has(kind) {
            let event = event();
            debug_assert_eq!(event.kind(), kind);
            self.observer.event(&event);
        }
    }

    #[inline]
    fn settles_early(&self) -> bool {
        self.settles_early
    }

    #[inline]
    fn observer(&mut self) -> Option<&mut dyn Observer> {
        Some(self.observer)
    }
}
