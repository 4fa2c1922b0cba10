//! The stage in which an instruction that is done at issue acts, a cycle after its issue: redirects, ends of waves,
//! barriers, invalidations (rules B1 and B4). What retirements of the cycle before change for other waves is seen from
//! here on too: freed wave slots, accesses that are performed, room in the instruction buffers.

use super::context::Contexts;
use super::fetch::Fetch;
use super::latches::{Act, Groups, IssueLatches};
use super::probe::{Event, EventKind, Invalidated, Probe};
use super::slot::{Slot, SlotMask, lanes_of};
use super::workgroup::Departure;
use crate::clock::Cycle;
use crate::memory::L1;

/// The resolve stage.
pub(super) struct Resolve<'c> {
    /// The waves, and the way out of those that end.
    pub departure: Departure<'c>,
    /// From issue.
    pub issued: &'c mut IssueLatches,
    /// To fetch and decode: what a redirect or an end drops.
    pub fetch: &'c mut Fetch,
    pub groups: &'c mut Groups,
    /// An acquire invalidates it.
    pub l1: &'c mut L1,
}

impl Resolve<'_> {
    /// Lets the instructions act that issued in the cycle before, and frees the slots of waves that are over.
    pub(super) fn tick<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) {
        self.departure.shared.waves.begin_cycle(contexts);
        let acts = self.issued.to_resolve.take_acts();
        for &(slot, act) in &acts {
            let shared = &mut *self.departure.shared;
            match act {
                Act::Redirect(target) => {
                    self.fetch.refetch(slot, target, &mut shared.waves, self.groups);
                    shared.account.counters.taken_redirects += 1;
                }
                Act::End => self.end_wave(now, slot),
                Act::Barrier => {
                    let workgroup = shared.waves.waves[slot].workgroup;
                    shared.pass_barrier(now, workgroup, &mut self.issued.shadows);
                }
                Act::Invalidate => {
                    self.l1.invalidate();
                    let invalidated = Invalidated { cycle: now, core: shared.spec.index };
                    probe.tell(EventKind::Invalidated, || Event::Invalidated(invalidated));
                }
            }
        }
        self.issued.to_resolve.recycle(acts);
        for slot in lanes_of(self.issued.to_resolve.take_drained()) {
            self.departure.release_wave(now, slot);
        }
    }

    /// Ends a wave whose lanes have all halted, in the cycle after the instruction that halted the last (R3).
    fn end_wave(&mut self, now: Cycle, slot: Slot) {
        let bit: SlotMask = 1 << slot;
        let shared = &mut *self.departure.shared;
        let waves = &mut shared.waves;
        let wave = &mut waves.waves[slot];
        wave.control.end();
        wave.buffer.clear(wave.last_word);
        let (workgroup, in_flight) = (wave.workgroup, wave.in_flight);
        waves.buffered &= !bit;
        waves.ended |= bit;
        waves.fetching &= !bit;
        waves.shadow &= !bit;
        self.issued.shadows.forget(slot);
        self.fetch.forget(slot, self.groups);
        // A barrier waits for live waves only, so the end of this wave may release it.
        shared.pass_barrier(now, workgroup, &mut self.issued.shadows);
        if in_flight == 0 {
            self.departure.release_wave(now, slot);
        }
    }

    /// Ends the shadows that are due.
    pub(super) fn end_shadows(&mut self, now: Cycle) {
        while let Some(slot) = self.issued.shadows.take_ended(now) {
            self.departure.shared.waves.end_shadow(slot);
        }
    }
}
