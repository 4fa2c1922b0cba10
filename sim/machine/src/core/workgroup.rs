//! Workgroups resident on a core: the stage of their arrival, barriers and their end.

use super::context::{Context, Contexts};
use super::grid::{ContextId, Start, Workgroup};
use super::latches::Shadows;
use super::lsu::local::LocalMemory;
use super::registers::RegisterFile;
use super::scheduler::Scheduler;
use super::scheduling::{tell_arrival, tell_end};
use super::shared::Shared;
use super::slot::{Slot, lanes_of};
use super::wave::Member;
use crate::alu::FRAGMENT_ROWS;
use crate::clock::{Cycle, LinkRx, LinkTx};
use wave_isa::MMA_FRAGMENTS;

/// The stage in which workgroups arrive.
pub(super) struct Arrival<'c> {
    pub shared: &'c mut Shared,
    pub schedulers: &'c mut [Scheduler],
    pub file: &'c mut RegisterFile,
    pub local: &'c mut LocalMemory,
    /// From the dispatcher.
    pub starts: &'c mut LinkRx<Start>,
}

impl Arrival<'_> {
    /// Takes the workgroups that arrive now and starts their waves.
    #[inline]
    pub(super) fn tick(&mut self, now: Cycle, contexts: &Contexts) {
        while let Some(start) = self.starts.pop(now) {
            self.shared.account.settle_residents(now, self.shared.waves.resident);
            self.start(now, start, contexts);
        }
    }

    fn start(&mut self, now: Cycle, start: Start, contexts: &Contexts) {
        let index = self.shared.workgroups.iter().position(|w| !w.resident);
        let index = index.expect("the dispatcher counts workgroup slots");
        let Start { id, context } = start;
        let of = contexts.of(context);
        let mut slots = 0;
        for wave_id in 0..of.shape.waves {
            let Shared { spec, waves, .. } = &mut *self.shared;
            let free = !waves.resident & of.usable_slots;
            assert!(free != 0, "the dispatcher counts wave slots");
            let slot = free.trailing_zeros() as Slot;
            slots |= 1 << slot;
            let lanes = of.shape.lanes(wave_id, spec.width as u32);
            waves.start(slot, lanes, Member { context, workgroup: index, wave_id });
            tell_arrival(now, slot, self.shared, self.schedulers);
            let first_row = self.shared.waves.waves[slot].first_row;
            self.file.start_wave(slot, first_row, of, self.shared.spec.width);
        }
        self.local.poison(index);
        self.shared.workgroups[index] = Workgroup { id, context, slots, resident: true, since: now };
    }
}

impl RegisterFile {
    /// The registers of a wave that starts.
    fn start_wave(&mut self, slot: Slot, first_row: usize, context: &Context, width: usize) {
        if self.journal.is_kept() {
            self.journal.starts_wave(slot);
        }
        let words = context.rows_per_wave() * width;
        context.shape.start_values(&mut self.registers[first_row * width..][..words], width);
        if !self.fragments.is_empty() {
            let words = 3 * MMA_FRAGMENTS * FRAGMENT_ROWS * width;
            self.fragments[slot * words..][..words].fill(0);
        }
    }
}

/// What the end of a wave changes.
pub(super) struct Departure<'c> {
    pub shared: &'c mut Shared,
    pub schedulers: &'c mut [Scheduler],
    /// To the dispatcher.
    pub done: &'c mut LinkTx<ContextId>,
}

impl Departure<'_> {
    /// Frees the slot of a wave that has ended and has nothing in flight. The last slot ends the workgroup (R3).
    pub(super) fn release_wave(&mut self, now: Cycle, slot: Slot) {
        let Shared { waves, workgroups, account, .. } = &mut *self.shared;
        account.settle_residents(now, waves.resident);
        let workgroup = &mut workgroups[waves.waves[slot].workgroup];
        waves.release(slot);
        workgroup.slots &= !(1 << slot);
        if workgroup.slots == 0 {
            workgroup.resident = false;
            account.counters.workgroups += 1;
            self.done.push(now, workgroup.context);
        }
        tell_end(now, slot, self.shared, self.schedulers);
    }
}

impl Shared {
    /// Releases the barrier of a workgroup if all its live waves are at it since the cycle before (B4).
    pub(super) fn pass_barrier(&mut self, now: Cycle, workgroup: usize, shadows: &mut Shadows) {
        let live = self.workgroups[workgroup].slots & !self.waves.ended;
        if live == 0 || live & !self.waves.at_barrier != 0 {
            return;
        }
        self.account.counters.barriers += 1;
        self.waves.at_barrier &= !live;
        for slot in lanes_of(live) {
            self.start_shadow(now - 1, slot, shadows);
        }
    }

    /// Writes the lane values of a special register into `result`, for `mov_sr`.
    pub(super) fn special_row(&self, slot: Slot, code: u8, contexts: &Contexts, result: &mut [u32]) {
        let wave = &self.waves.waves[slot];
        let group = self.workgroups[wave.workgroup].id;
        contexts.of(wave.context).shape.special_row(code, group, wave.wave_id, result);
    }
}
