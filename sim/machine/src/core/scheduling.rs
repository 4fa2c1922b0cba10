//! Warp schedulers of plug-ins: how they are made, asked and told.

use super::Core;
use super::lsu::lanes_of;
use super::uop::{Kind, MicroOps};
use super::wave::{Slot, SlotMask};
use crate::clock::{Cycle, NEVER};
use crate::config::{Config, IssuePolicy};
use crate::registry::{Choice, Maker, PlugIn, Plugged, SchedulerSetup, WarpScheduler};
use wave_isa::table::{AccessKind, Space};

/// The warp scheduler that a configuration chooses, if it is one of a plug-in.
pub(super) fn registered(
    config: &Config,
    core: u32,
    scheduler: u32,
    slots: SlotMask,
) -> Option<Plugged<dyn WarpScheduler>> {
    let IssuePolicy::PlugIn(chosen) = config.core.issue.policy else { return None };
    let plug_in = chosen.plug_in();
    let Maker::Scheduler(make) = &plug_in.maker else {
        unreachable!("a configuration chooses among the plug-ins of a role");
    };
    let l1 = &config.core.l1;
    let setup = SchedulerSetup {
        values: config.plugins.of(plug_in),
        core,
        scheduler,
        slots,
        wave_slots: config.core.max_waves as usize,
        l1_sets: (l1.bytes / l1.line_bytes / l1.ways).max(1),
        l1_ways: l1.ways,
        line_bytes: l1.line_bytes,
    };
    Some(Plugged::new(plug_in, || make(&setup)))
}

impl Core {
    /// The first cycle in which a registered scheduler may choose otherwise by itself; [`NEVER`] if none.
    #[inline]
    pub(super) fn next_choice(&self) -> Cycle {
        if !self.spec.is_registered {
            return NEVER;
        }
        self.schedulers.iter().map(|scheduler| scheduler.changes_at).min().unwrap_or(NEVER)
    }

    /// Makes the registered schedulers look again that may choose otherwise from this cycle on.
    #[inline]
    pub(super) fn look_at_choices(&mut self, now: Cycle) {
        if !self.spec.is_registered {
            return;
        }
        for (number, scheduler) in self.schedulers.iter().enumerate() {
            if scheduler.changes_at <= now {
                self.activity.stale |= 1 << number;
            }
        }
    }

    /// The wave that a registered scheduler picks among ready ones, if it picks one.
    ///
    /// # Panics
    /// If it picks another wave, or names a cycle that has passed.
    pub(super) fn ask(
        &mut self,
        now: Cycle,
        scheduler: usize,
        ready: SlotMask,
        ops: &MicroOps,
    ) -> Option<Slot> {
        let loads = lanes_of(ready).filter(|&slot| self.loads_next(slot, ops));
        let loads = loads.fold(0, |loads, slot| loads | 1 << slot);
        let waves = &self.waves;
        let asked = &mut self.schedulers[scheduler];
        let choice = Choice {
            now,
            ready,
            loads,
            resident: asked.slots & waves.resident & !waves.ended,
            last_issued: asked.last_issued,
            older: waves.older(),
        };
        let (picked, changes_at) = asked.registered.as_mut()?.tell(|policy| {
            let picked = policy.pick(&choice);
            if let Some(slot) = picked {
                assert!(slot < 64 && ready >> slot & 1 != 0, "wave slot {slot} is not ready");
            }
            let changes_at = policy.next_change(now);
            assert!(changes_at > now, "the next change is in cycle {changes_at}, which has passed");
            (picked, changes_at)
        });
        asked.changes_at = changes_at;
        picked
    }

    /// True if the next instruction of a wave loads from device memory.
    fn loads_next(&self, slot: Slot, ops: &MicroOps) -> bool {
        self.waves.head(slot, ops).is_some_and(|op| match op.kind {
            Kind::Memory(memory) => {
                memory.space == Space::Device && matches!(memory.kind, AccessKind::Load | AccessKind::Tile)
            }
            _ => false,
        })
    }

    /// Tells a registered scheduler that a wave issues its next instruction.
    #[inline]
    pub(super) fn tell_issue(&mut self, now: Cycle, scheduler: usize, slot: Slot, ops: &MicroOps) {
        if self.spec.is_registered {
            let is_load = self.loads_next(slot, ops);
            if let Some(policy) = &mut self.schedulers[scheduler].registered {
                policy.tell(|policy| policy.issued(now, slot, is_load));
            }
        }
    }

    /// Tells registered schedulers that a wave has arrived in a slot.
    #[inline]
    pub(super) fn tell_arrival(&mut self, now: Cycle, slot: Slot) {
        if self.spec.is_registered {
            self.tell_all(|policy| policy.arrived(now, slot));
        }
    }

    /// Tells registered schedulers that the wave of a slot has ended.
    #[inline]
    pub(super) fn tell_end(&mut self, now: Cycle, slot: Slot) {
        if self.spec.is_registered {
            self.tell_all(|policy| policy.ended(now, slot));
        }
    }

    /// Tells registered schedulers what has happened in the L1. They look again in this cycle.
    #[inline]
    pub(super) fn tell_schedulers(&mut self) {
        if !self.spec.is_registered {
            return;
        }
        let Some(events) = self.l1.events().map(std::mem::take) else { return };
        for event in &events {
            self.tell_all(|policy| policy.l1(event));
        }
        self.activity.progress = true;
    }

    /// Tells all registered schedulers of the core, which look again: each may follow the waves of the others.
    fn tell_all(&mut self, mut hook: impl FnMut(&mut (dyn WarpScheduler + 'static))) {
        for policy in self.schedulers.iter_mut().filter_map(|scheduler| scheduler.registered.as_mut()) {
            policy.tell(&mut hook);
        }
        self.activity.stale = (1 << self.schedulers.len()) - 1;
    }

    /// Values of the counters of the plug-ins in this core.
    pub(crate) fn plug_in_counters(&self, add: &mut impl FnMut(&'static PlugIn, Vec<u64>)) {
        for policy in self.schedulers.iter().filter_map(|scheduler| scheduler.registered.as_ref()) {
            add(policy.plug_in, policy.ask(|policy| policy.counters()));
        }
        self.l1.plug_in_counters(add);
    }
}
