//! Waves in the state in which another executor left them, put into the slots of a core.
//!
//! Those that begin part-way have nothing in flight. Their core finds them in the first cycle of the launch, with an empty
//! instruction buffer, as after a redirect.
//!
//! Those that are resident already go on at the word at which they stood, so their instruction buffers fit. What they have
//! in flight passes on through the machine as it would have, and takes the time that it takes, but writes nothing into
//! registers and local memory: what these hold is newer.

use super::Core;
use super::collector::{Collector, Waiting};
use super::divergence::Divergence;
use super::lsu::lanes_of;
use super::resolve::Act;
use super::uop::{Kind, MicroOps};
use super::wave::{Slot, SlotMask, Waves};
use super::workgroup::Workgroup;
use crate::alu::FRAGMENT_ROWS;
use crate::clock::Cycle;
use wave_isa::{MMA_FRAGMENTS, PREDICATES};

/// A wave part-way that has not ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing<'a> {
    /// Its index in its workgroup.
    pub(crate) id: u32,
    /// Instructions that it has executed.
    pub(crate) issued: u64,
    /// Active mask, divergence stack and call stack.
    pub(crate) control: &'a Divergence,
    /// Lanes in which each predicate is true.
    pub(crate) predicates: [u64; PREDICATES],
    /// The word of the kernel that it executes next, or the barrier at which it waits.
    pub(crate) word: u32,
    /// It has executed the barrier at its word, and waits for the others of its workgroup.
    pub(crate) at_barrier: bool,
    /// Rows of as many words as a wave has lanes, one for each register.
    pub(crate) registers: &'a [u32],
    /// Matrix fragments by kind (A, B, C), fragment and element; empty if the kernel uses none.
    pub(crate) fragments: &'a [u32],
}

/// Where a resident wave of a core stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stand {
    /// Place of its workgroup among those of the machine; place p is in core p mod cores.
    pub(crate) place: usize,
    /// Its workgroup, and its index there.
    pub(crate) group: [u32; 3],
    pub(crate) wave: u32,
    /// The cycle in which it has started.
    pub(crate) since: Cycle,
    /// Instructions that it has issued.
    pub(crate) issued: u64,
    /// The word of the kernel that it issues next.
    pub(crate) word: u32,
    /// Its scheduler among those of the machine, and how many of the waves there are older.
    pub(crate) scheduler: usize,
    pub(crate) rank: usize,
}

impl Standing<'_> {
    /// The word that it issues next: a barrier at which it waits has issued.
    fn next_word(&self, ops: &MicroOps) -> u32 {
        self.word + if self.at_barrier { ops.get(self.word).words } else { 0 }
    }
}

impl Waves {
    /// Starts a wave in a free slot where it stands.
    fn start_at(&mut self, slot: Slot, workgroup: usize, standing: &Standing<'_>, ops: &MicroOps) {
        self.start(slot, standing.control.live, workgroup, standing.id);
        let wave = &mut self.waves[slot];
        wave.control.clone_from(standing.control);
        wave.predicates = standing.predicates;
        let next = standing.next_word(ops);
        if standing.at_barrier {
            wave.last_word = standing.word;
            self.at_barrier |= 1 << slot;
        }
        wave.buffer.clear(next);
        wave.fetch_word = next;
    }

    /// Starts a wave in a slot, which may be taken.
    fn replace(&mut self, slot: Slot, workgroup: usize, wave_id: u32) {
        (self.waves[slot].workgroup, self.waves[slot].wave_id) = (workgroup, wave_id);
        self.arrive(slot);
        self.ended &= !(1 << slot);
    }
}

impl Core {
    /// Puts a workgroup part-way into a free workgroup slot before the first cycle of a launch, which is `start`. Its
    /// waves that have not ended take the wave slots that it would have if the core had been filled in the order of
    /// the workgroup slots.
    pub(crate) fn take_over<'a>(
        &mut self,
        start: Cycle,
        (index, id): (usize, [u32; 3]),
        local: &[u8],
        waves: impl Iterator<Item = Standing<'a>>,
        ops: &MicroOps,
    ) {
        let mut slots: SlotMask = 0;
        for standing in waves {
            let slot = index * self.spec.shape.waves as usize + standing.id as usize;
            assert!(self.spec.usable_slots >> slot & 1 != 0, "the occupancy counts wave slots");
            slots |= 1 << slot;
            self.waves.start_at(slot, index, &standing, ops);
            self.touch(slot);
            self.tell_arrival(start, slot);
            if self.file.journal.is_kept() {
                self.file.journal.starts_wave(slot);
            }
            self.put_registers(slot, &standing);
        }
        self.local.fill(index, local);
        self.workgroups[index] = Workgroup { id, slots, resident: true, since: start };
        self.activity.wake = start;
    }

    fn put_registers(&mut self, slot: Slot, standing: &Standing<'_>) {
        let words = self.spec.rows_per_wave * self.spec.width;
        self.file.registers[slot * words..][..words].copy_from_slice(standing.registers);
        if !self.file.fragments.is_empty() {
            let words = 3 * MMA_FRAGMENTS * FRAGMENT_ROWS * self.spec.width;
            self.file.fragments[slot * words..][..words].copy_from_slice(standing.fragments);
        }
    }

    /// The slots of its waves that have not issued their last instruction.
    fn going_on(&self) -> SlotMask {
        let acts = &self.latches.issue_to_resolve;
        let live = lanes_of(self.waves.resident & !self.waves.ended);
        live.filter(|&slot| acts.of(slot) != Some(Act::End)).fold(0, |slots, slot| slots | 1 << slot)
    }

    /// The word that a wave issues next.
    pub(super) fn next_word(&self, slot: Slot) -> u32 {
        match self.latches.issue_to_resolve.of(slot) {
            Some(Act::Redirect(target)) => target,
            _ => self.waves.waves[slot].buffer.next(),
        }
    }

    /// Where its waves stand, without those that have issued their last instruction. The machine has so many `cores`. `None`
    /// if a workgroup is on its way to the core.
    pub(crate) fn stands(&self, cores: usize) -> Option<impl Iterator<Item = Stand>> {
        let going_on = self.going_on();
        let stand = move |slot: Slot| {
            let wave = &self.waves.waves[slot];
            let scheduler = usize::from(wave.scheduler);
            let others = going_on & self.schedulers[scheduler].slots;
            Stand {
                place: wave.workgroup * cores + self.spec.index as usize,
                group: self.workgroups[wave.workgroup].id,
                since: self.workgroups[wave.workgroup].since,
                wave: wave.wave_id,
                issued: wave.issued,
                word: self.next_word(slot),
                scheduler: self.spec.index as usize * self.schedulers.len() + scheduler,
                rank: (self.waves.older_than(slot) & others).count_ones() as usize,
            }
        };
        self.links.starts.next_arrival().is_none().then(|| lanes_of(going_on).map(stand))
    }

    /// Puts a workgroup into a workgroup slot that is taken, by the same one or by another: what its waves hold that have not
    /// ended. What is in flight is [forgotten](Self::forget_in_flight).
    pub(crate) fn put<'a>(
        &mut self,
        now: Cycle,
        (index, id): (usize, [u32; 3]),
        local: &[u8],
        waves: impl Iterator<Item = Standing<'a>>,
        ops: &MicroOps,
    ) {
        let Workgroup { id: before, slots, since, .. } = self.workgroups[index];
        let is_other = before != id;
        // A barrier at which all have arrived is passed elsewhere.
        let live = slots & !self.waves.ended;
        self.account.counters.barriers += u64::from(live != 0 && live & !self.waves.at_barrier == 0);
        self.settle_residents(now.saturating_sub(1));
        let mut free = if is_other { slots | !self.waves.resident & self.spec.usable_slots } else { slots };
        let mut taken: SlotMask = 0;
        for standing in waves {
            let mine = |slot: &Slot| is_other || self.waves.waves[*slot].wave_id == standing.id;
            let slot = lanes_of(free & slots).find(mine).or_else(|| lanes_of(free).find(mine));
            let Some(slot) = slot else { continue };
            free &= !(1 << slot);
            taken |= 1 << slot;
            if is_other {
                self.waves.replace(slot, index, standing.id);
                self.tell_end(now, slot);
                self.tell_arrival(now, slot);
            }
            self.put_wave(slot, &standing, is_other, ops);
        }
        for slot in lanes_of(slots & !taken & !self.waves.ended) {
            self.waves.waves[slot].control.end();
            self.clear_front(slot, self.waves.waves[slot].last_word);
            self.waves.ended |= 1 << slot;
            if self.waves.waves[slot].in_flight == 0 {
                self.latches.issue_to_resolve.drained(slot);
            }
        }
        self.local.fill(index, local);
        self.workgroups[index] =
            Workgroup { id, slots: slots | taken, resident: true, since: if is_other { now } else { since } };
        self.activity.wake = now;
    }

    /// Gives a wave what another holds.
    fn put_wave(&mut self, slot: Slot, standing: &Standing<'_>, is_other: bool, ops: &MicroOps) {
        let bit: SlotMask = 1 << slot;
        let next = standing.next_word(ops);
        let stays = !is_other
            && self.waves.faulting & bit == 0
            && self.next_word(slot) == next
            && (self.waves.at_barrier & bit != 0) == standing.at_barrier;
        if !stays {
            self.clear_front(slot, next);
            if standing.at_barrier {
                self.waves.waves[slot].last_word = standing.word;
                self.waves.at_barrier |= bit;
            }
        }
        let wave = &mut self.waves.waves[slot];
        wave.control.clone_from(standing.control);
        wave.predicates = standing.predicates;
        wave.issued = standing.issued;
        self.put_registers(slot, standing);
        self.touch(slot);
    }

    /// Empties the instruction buffer of a wave, which goes on at `next`, and all that fetch and issue have to do with
    /// it.
    fn clear_front(&mut self, slot: Slot, next: u32) {
        let bit: SlotMask = 1 << slot;
        if let Some(Act::Redirect(_)) = self.latches.issue_to_resolve.of(slot) {
            self.account.counters.taken_redirects += 1;
        }
        self.latches.issue_to_resolve.forget(slot);
        self.latches.shadows.retain(|&(_, other)| other != slot);
        self.refetch(slot, next);
        self.waves.shadow &= !bit;
        self.waves.faulting &= !bit;
        self.waves.at_barrier &= !bit;
        self.waves.releases.issue(slot);
        self.touch(slot);
    }

    /// What is in flight writes no register and no local memory any more. Stores and atomics still go to memory.
    pub(crate) fn forget_in_flight(&mut self, ops: &MicroOps) {
        for index in 0..self.schedulers.len() {
            let places: Vec<u8> = self.schedulers[index].collectors.places().collect();
            for place in places {
                let collector = &self.schedulers[index].collectors[place];
                let (slot, op) = (collector.slot(), ops.get(collector.word));
                let base = self.slot_rows(slot);
                let collectors = &mut self.schedulers[index].collectors;
                if op.kind != Kind::Compute {
                    collectors.keep(place, op, &self.file.registers, base);
                    collectors[place].forgotten = true;
                    continue;
                }
                // It takes the same time without lanes.
                let Collector { waiting, condition, mask, .. } = collectors[place];
                collectors[place].mask = 0;
                if let Waiting::Banks(_) = waiting {
                    // So that all that it counts is counted.
                    let it = collectors[place].in_flight();
                    self.compute(it, mask, condition, op);
                }
            }
        }
        self.lsu.forget();
    }
}
