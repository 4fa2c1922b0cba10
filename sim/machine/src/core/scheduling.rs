//! Warp schedulers of plug-ins: how they are asked and told.

use super::context::Contexts;
use super::scheduler::Scheduler;
use super::shared::Shared;
use super::slot::{Slot, SlotMask, lanes_of};
use super::uop::Kind;
use super::wave::Waves;
use crate::clock::{Cycle, NEVER};
use crate::memory::L1;
use crate::registry::{Choice, WarpScheduler};
use wave_isa::table::{AccessKind, Space};

/// The first cycle in which a registered scheduler may choose otherwise by itself; [`NEVER`] if none.
#[inline]
pub(super) fn next_choice(shared: &Shared, schedulers: &[Scheduler]) -> Cycle {
    if !shared.spec.is_registered {
        return NEVER;
    }
    schedulers.iter().map(|scheduler| scheduler.changes_at).min().unwrap_or(NEVER)
}

/// Makes the registered schedulers look again that may choose otherwise from this cycle on.
#[inline]
pub(super) fn look_at_choices(now: Cycle, shared: &mut Shared, schedulers: &[Scheduler]) {
    if !shared.spec.is_registered {
        return;
    }
    for (number, scheduler) in schedulers.iter().enumerate() {
        if scheduler.changes_at <= now {
            shared.waves.look_again(1 << number);
        }
    }
}

impl Scheduler {
    /// The wave that a registered scheduler picks among ready ones, if it picks one.
    ///
    /// # Panics
    /// If it picks another wave, or names a cycle that has passed.
    pub(super) fn ask(
        &mut self,
        now: Cycle,
        ready: SlotMask,
        waves: &Waves,
        contexts: &Contexts,
    ) -> Option<Slot> {
        let loads = lanes_of(ready).filter(|&slot| loads_next(slot, waves, contexts));
        let loads = loads.fold(0, |loads, slot| loads | 1 << slot);
        let choice = Choice {
            now,
            ready,
            loads,
            resident: self.slots & waves.resident & !waves.ended,
            last_issued: self.last_issued,
            older: waves.older(),
        };
        let (picked, changes_at) = self.registered.as_mut()?.tell(|policy| {
            let picked = policy.pick(&choice);
            if let Some(slot) = picked {
                assert!(slot < 64 && ready >> slot & 1 != 0, "wave slot {slot} is not ready");
            }
            let changes_at = policy.next_change(now);
            assert!(changes_at > now, "the next change is in cycle {changes_at}, which has passed");
            (picked, changes_at)
        });
        self.changes_at = changes_at;
        picked
    }

    /// Tells a registered scheduler that a wave issues its next instruction.
    #[inline]
    pub(super) fn tell_issue(&mut self, now: Cycle, slot: Slot, waves: &Waves, contexts: &Contexts) {
        if let Some(policy) = &mut self.registered {
            let is_load = loads_next(slot, waves, contexts);
            policy.tell(|policy| policy.issued(now, slot, is_load));
        }
    }
}

/// True if the next instruction of a wave loads from device memory.
fn loads_next(slot: Slot, waves: &Waves, contexts: &Contexts) -> bool {
    waves.head(slot, contexts).is_some_and(|op| match op.kind {
        Kind::Memory(memory) => {
            memory.space == Space::Device && matches!(memory.kind, AccessKind::Load | AccessKind::Tile)
        }
        _ => false,
    })
}

/// Tells registered schedulers that a wave has arrived in a slot.
#[inline]
pub(super) fn tell_arrival(now: Cycle, slot: Slot, shared: &mut Shared, schedulers: &mut [Scheduler]) {
    if shared.spec.is_registered {
        tell_all(shared, schedulers, |policy| policy.arrived(now, slot));
    }
}

/// Tells registered schedulers that the wave of a slot has ended.
#[inline]
pub(super) fn tell_end(now: Cycle, slot: Slot, shared: &mut Shared, schedulers: &mut [Scheduler]) {
    if shared.spec.is_registered {
        tell_all(shared, schedulers, |policy| policy.ended(now, slot));
    }
}

/// Tells registered schedulers what has happened in the L1. They look again in this cycle.
#[inline]
pub(super) fn tell_events(l1: &mut L1, shared: &mut Shared, schedulers: &mut [Scheduler]) {
    if !shared.spec.is_registered {
        return;
    }
    let Some(events) = l1.events().map(std::mem::take) else { return };
    for event in &events {
        tell_all(shared, schedulers, |policy| policy.l1(event));
    }
}

/// Tells all registered schedulers of the core, which look again: each may follow the waves of the others.
fn tell_all(
    shared: &mut Shared,
    schedulers: &mut [Scheduler],
    mut hook: impl FnMut(&mut (dyn WarpScheduler + 'static)),
) {
    for policy in schedulers.iter_mut().filter_map(|scheduler| scheduler.registered.as_mut()) {
        policy.tell(&mut hook);
    }
    shared.waves.look_again((1 << schedulers.len()) - 1);
}
