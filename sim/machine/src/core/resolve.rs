//! The stage in which an instruction that is done at issue acts, a cycle after its issue: redirects, ends of waves,
//! barriers, invalidations (rules B1 and B4). What retirements of the cycle before change for other waves is seen from
//! here on too: freed wave slots, accesses that are performed, room in the instruction buffers.

use super::Core;
use super::lsu::lanes_of;
use super::probe::{Event, EventKind, Invalidated, Probe};
use super::uop::MicroOps;
use super::wave::{Slot, SlotMask};
use crate::clock::Cycle;
use wave_capture::Capture;

/// What an instruction does in the cycle after its issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub(crate) enum Act {
    /// Its wave goes on at this word of the kernel.
    Redirect(u32),
    /// Its wave has no live lane any more.
    End,
    /// Its wave is at a barrier, perhaps as the last one.
    Barrier,
    /// It is an acquire that invalidates the L1.
    Invalidate,
}

/// From issue and retirement to the stage of the next cycle.
#[derive(Debug, Clone, Default, Capture)]
pub(crate) struct IssueToResolve {
    /// Wave slots and what their instructions do, in the order of issue.
    acts: Vec<(Slot, Act)>,
    /// Ended waves of which nothing is in flight any more.
    drained: SlotMask,
}

impl IssueToResolve {
    /// True if it acts on no other slots than these (bits), and sends no wave behind the word `end`.
    pub(super) fn is_within(&self, slots: SlotMask, end: u32) -> bool {
        let within = |&(slot, act): &(Slot, Act)| {
            slot < 64 && slots >> slot & 1 != 0 && !matches!(act, Act::Redirect(word) if word > end)
        };
        self.drained & !slots == 0 && self.acts.iter().all(within)
    }

    /// The instruction of a wave that issues now acts in the next cycle.
    pub(super) fn act(&mut self, slot: Slot, act: Act) {
        self.acts.push((slot, act));
    }

    /// The last instruction in flight of an ended wave retires now.
    pub(super) fn drained(&mut self, slot: Slot) {
        self.drained |= 1 << slot;
    }

    /// Neither the last instruction of a wave nor its end acts.
    pub(super) fn forget(&mut self, slot: Slot) {
        self.acts.retain(|&(other, _)| other != slot);
        self.drained &= !(1 << slot);
    }

    /// What the last instruction of a wave will do in the next cycle.
    pub(super) fn of(&self, slot: Slot) -> Option<Act> {
        self.acts.iter().find(|(other, _)| *other == slot).map(|&(_, act)| act)
    }
}

impl Core {
    /// Lets the instructions act that issued in the cycle before, and frees the slots of waves that are over.
    pub(super) fn resolve<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) {
        for slot in lanes_of(self.waves.begin_cycle()) {
            self.waves.refresh(slot, ops);
            self.touch(slot);
        }
        let mut acts = std::mem::take(&mut self.latches.issue_to_resolve.acts);
        for &(slot, act) in &acts {
            self.activity.progress = true;
            match act {
                Act::Redirect(target) => self.redirect(slot, target),
                Act::End => self.end_wave(now, slot),
                Act::Barrier => self.pass_barrier(now, self.waves.waves[slot].workgroup),
                Act::Invalidate => {
                    self.l1.invalidate();
                    let invalidated = Invalidated { cycle: now, core: self.spec.index };
                    probe.tell(EventKind::Invalidated, || Event::Invalidated(invalidated));
                }
            }
        }
        acts.clear();
        self.latches.issue_to_resolve.acts = acts;
        for slot in lanes_of(std::mem::take(&mut self.latches.issue_to_resolve.drained)) {
            self.activity.progress = true;
            self.release_wave(now, slot);
        }
    }

    /// Decides which release fences may issue in this cycle (B6).
    pub(super) fn look_at_releases(&mut self) {
        let waves = &mut self.waves;
        let fences = waves.release_fences & waves.buffered & waves.resident;
        if fences == 0 {
            return;
        }
        let here = fences & !(waves.ended | waves.at_barrier | waves.shadow);
        let performed = |&slot: &Slot| waves.waves[slot].accesses == 0;
        let reached = lanes_of(here).filter(performed).fold(0, |reached, slot| reached | 1 << slot);
        let passing = waves.releases.look(reached, waves.system_fences);
        let draining = waves.draining & !fences | fences & !passing;
        for slot in lanes_of(draining ^ waves.draining) {
            self.activity.stale |= 1 << self.waves.waves[slot].scheduler;
        }
        self.waves.draining = draining;
    }
}
