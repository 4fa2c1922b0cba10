//! Waves in the state in which another executor left them, put into the slots of a core.
//!
//! Those that begin part-way have nothing in flight. Their core finds them in the first cycle of the launch, with an empty
//! instruction buffer, as after a redirect.
//!
//! Those that are resident already go on at the word at which they stood, so their instruction buffers fit. What they have
//! in flight passes on through the machine as it would have, and takes the time that it takes, but writes nothing into
//! registers and local memory: what these hold is newer.

use super::collector::{Collector, Waiting};
use super::context::Contexts;
use super::cycle::Core;
use super::execute::Execute;
use super::grid::{ContextId, Workgroup};
use super::latches::Act;
use super::scheduling::{tell_arrival, tell_end};
use super::slot::{Slot, SlotMask, lanes_of};
use super::standing::Standing;
use super::uop::Kind;
use super::wave::{Member, Waves};
use crate::alu::FRAGMENT_ROWS;
use crate::clock::Cycle;
use wave_isa::MMA_FRAGMENTS;

impl Waves {
    /// Starts a wave in a free slot where it stands.
    fn start_at(&mut self, slot: Slot, member: Member, standing: &Standing<'_>, contexts: &Contexts) {
        self.start(slot, standing.control.live, member);
        let wave = &mut self.waves[slot];
        wave.control.clone_from(standing.control);
        wave.predicates = standing.predicates;
        let next = standing.next_word(&contexts.of(member.context).ops);
        if standing.at_barrier {
            wave.last_word = standing.word;
            self.at_barrier |= 1 << slot;
        }
        wave.buffer.clear(next);
        wave.fetch_word = next;
    }

    /// Starts a wave in a slot, which may be taken.
    fn replace(&mut self, slot: Slot, member: Member) {
        self.waves[slot].belongs_to(member);
        self.arrive(slot);
        self.ended &= !(1 << slot);
    }
}

/// A workgroup that another executor hands over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handed<'a> {
    /// The workgroup slot for it.
    pub index: usize,
    /// Position in the grid.
    pub id: [u32; 3],
    /// Whose workgroup it is.
    pub context: ContextId,
    /// Its local memory.
    pub local: &'a [u8],
}

impl Handed<'_> {
    /// Its wave with this index.
    fn member(&self, wave_id: u32) -> Member {
        Member { context: self.context, workgroup: self.index, wave_id }
    }
}

/// A core whose waves another executor hands over.
pub(crate) struct Handover<'c> {
    core: &'c mut Core,
    contexts: &'c Contexts,
}

impl<'c> Handover<'c> {
    /// To this core.
    pub(crate) fn to(core: &'c mut Core, contexts: &'c Contexts) -> Handover<'c> {
        Handover { core, contexts }
    }

    /// Puts a workgroup part-way into a free workgroup slot before the first cycle of a launch, which is `start`. Its
    /// waves that have not ended take the wave slots that it would have if the core had been filled in the order of
    /// the workgroup slots.
    pub(crate) fn take_over<'a>(
        &mut self,
        start: Cycle,
        workgroup: Handed<'_>,
        waves: impl Iterator<Item = Standing<'a>>,
    ) {
        let Handed { index, id, context, local } = workgroup;
        let of = self.contexts.of(context);
        let mut slots: SlotMask = 0;
        for standing in waves {
            let slot = index * of.shape.waves as usize + standing.id as usize;
            assert!(of.usable_slots >> slot & 1 != 0, "the occupancy counts wave slots");
            slots |= 1 << slot;
            self.core.shared.waves.start_at(slot, workgroup.member(standing.id), &standing, self.contexts);
            tell_arrival(start, slot, &mut self.core.shared, &mut self.core.schedulers);
            if self.core.file.journal.is_kept() {
                self.core.file.journal.starts_wave(slot);
            }
            self.put_registers(slot, &standing);
        }
        self.core.local.fill(index, local);
        self.core.shared.workgroups[index] = Workgroup { id, context, slots, resident: true, since: start };
        self.core.wake = start;
    }

    fn put_registers(&mut self, slot: Slot, standing: &Standing<'_>) {
        let first = self.core.shared.waves.waves[slot].first_row * self.core.shared.spec.width;
        let registers = &mut self.core.file.registers[first..][..standing.registers.len()];
        registers.copy_from_slice(standing.registers);
        if !self.core.file.fragments.is_empty() {
            let words = 3 * MMA_FRAGMENTS * FRAGMENT_ROWS * self.core.shared.spec.width;
            self.core.file.fragments[slot * words..][..words].copy_from_slice(standing.fragments);
        }
    }

    /// Puts a workgroup into a workgroup slot that is taken, by the same one or by another: what its waves hold that have not
    /// ended. What is in flight is [forgotten](Self::forget_in_flight).
    pub(crate) fn put<'a>(
        &mut self,
        now: Cycle,
        workgroup: Handed<'_>,
        waves: impl Iterator<Item = Standing<'a>>,
    ) {
        let Handed { index, id, context, local } = workgroup;
        let Workgroup { id: before, slots, since, .. } = self.core.shared.workgroups[index];
        let is_other = before != id;
        // A barrier at which all have arrived is passed elsewhere.
        let live = slots & !self.core.shared.waves.ended;
        self.core.shared.account.counters.barriers +=
            u64::from(live != 0 && live & !self.core.shared.waves.at_barrier == 0);
        let resident = self.core.shared.waves.resident;
        self.core.shared.account.settle_residents(now.saturating_sub(1), resident);
        let mut free = if is_other {
            slots | !self.core.shared.waves.resident & self.contexts.of(context).usable_slots
        } else {
            slots
        };
        let mut taken: SlotMask = 0;
        for standing in waves {
            let mine = |slot: &Slot| is_other || self.core.shared.waves.waves[*slot].wave_id == standing.id;
            let slot = lanes_of(free & slots).find(mine).or_else(|| lanes_of(free).find(mine));
            let Some(slot) = slot else { continue };
            free &= !(1 << slot);
            taken |= 1 << slot;
            if is_other {
                self.core.shared.waves.replace(slot, workgroup.member(standing.id));
                tell_end(now, slot, &mut self.core.shared, &mut self.core.schedulers);
                tell_arrival(now, slot, &mut self.core.shared, &mut self.core.schedulers);
            }
            self.put_wave(slot, &standing, is_other);
        }
        for slot in lanes_of(slots & !taken & !self.core.shared.waves.ended) {
            self.core.shared.waves.waves[slot].control.end();
            self.clear_front(slot, self.core.shared.waves.waves[slot].last_word);
            self.core.shared.waves.ended |= 1 << slot;
            if self.core.shared.waves.waves[slot].in_flight == 0 {
                self.core.latches.issued.to_resolve.drained(slot);
            }
        }
        self.core.local.fill(index, local);
        let since = if is_other { now } else { since };
        self.core.shared.workgroups[index] =
            Workgroup { id, context, slots: slots | taken, resident: true, since };
        self.core.shared.waves.look_again((1 << self.core.schedulers.len()) - 1);
        self.core.wake = now;
    }

    /// Gives a wave what another holds.
    fn put_wave(&mut self, slot: Slot, standing: &Standing<'_>, is_other: bool) {
        let bit: SlotMask = 1 << slot;
        let context = self.core.shared.waves.waves[slot].context;
        let next = standing.next_word(&self.contexts.of(context).ops);
        let stays = !is_other
            && self.core.shared.waves.faulting & bit == 0
            && self.core.latches.issued.next_word(slot, &self.core.shared.waves) == next
            && (self.core.shared.waves.at_barrier & bit != 0) == standing.at_barrier;
        if !stays {
            self.clear_front(slot, next);
            if standing.at_barrier {
                self.core.shared.waves.waves[slot].last_word = standing.word;
                self.core.shared.waves.at_barrier |= bit;
            }
        }
        let wave = &mut self.core.shared.waves.waves[slot];
        wave.control.clone_from(standing.control);
        wave.predicates = standing.predicates;
        wave.issued = standing.issued;
        self.put_registers(slot, standing);
    }

    /// Empties the instruction buffer of a wave, which goes on at `next`, and all that fetch and issue have to do with
    /// it.
    fn clear_front(&mut self, slot: Slot, next: u32) {
        let bit: SlotMask = 1 << slot;
        if let Some(Act::Redirect(_)) = self.core.latches.issued.to_resolve.of(slot) {
            self.core.shared.account.counters.taken_redirects += 1;
        }
        self.core.latches.issued.to_resolve.forget(slot);
        self.core.latches.issued.shadows.forget(slot);
        let Core { shared, fetch, latches, .. } = &mut *self.core;
        fetch.refetch(slot, next, &mut shared.waves, &mut latches.fetch_to_decode);
        self.core.shared.waves.shadow &= !bit;
        self.core.shared.waves.faulting &= !bit;
        self.core.shared.waves.at_barrier &= !bit;
        self.core.shared.waves.releases.issue(slot);
    }

    /// What is in flight writes no register and no local memory any more. Stores and atomics still go to memory.
    pub(crate) fn forget_in_flight(&mut self) {
        for index in 0..self.core.schedulers.len() {
            let places: Vec<u8> = self.core.schedulers[index].collectors.places().collect();
            for place in places {
                let collector = &self.core.schedulers[index].collectors[place];
                let wave = &self.core.shared.waves.waves[collector.slot()];
                let (base, op) = (wave.first_row, self.contexts.op(wave.context, collector.word));
                let collectors = &mut self.core.schedulers[index].collectors;
                if op.kind != Kind::Compute {
                    collectors.keep(place, op, &self.core.file.registers, base);
                    collectors[place].forgotten = true;
                    continue;
                }
                // It takes the same time without lanes.
                let Collector { waiting, condition, mask, .. } = collectors[place];
                collectors[place].mask = 0;
                if let Waiting::Banks(_) = waiting {
                    // So that all that it counts is counted.
                    let it = collectors[place].in_flight();
                    let Core { shared, file, .. } = &mut *self.core;
                    Execute { shared, file, contexts: self.contexts }.compute(it, mask, condition, op);
                }
            }
        }
        self.core.lsu.forget();
    }
}
