//! Waves that begin part-way: the state in which another executor left them, put into the slots of a core.
//!
//! What such a wave holds stands in the registers and in memory, and nothing of it is in flight. Its core finds it
//! in the first cycle of the launch, with an empty instruction buffer, as after a redirect.

use super::Core;
use super::divergence::Divergence;
use super::uop::MicroOps;
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

impl Waves {
    /// Starts a wave in a free slot where it stands.
    fn start_at(&mut self, slot: Slot, workgroup: usize, standing: &Standing<'_>, ops: &MicroOps) {
        self.start(slot, standing.control.live, workgroup, standing.id);
        let wave = &mut self.waves[slot];
        wave.control.clone_from(standing.control);
        wave.predicates = standing.predicates;
        let mut next = standing.word;
        if standing.at_barrier {
            // The barrier has issued.
            wave.last_word = next;
            next += ops.get(next).words;
            self.at_barrier |= 1 << slot;
        }
        wave.buffer.clear(next);
        wave.fetch_word = next;
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
        let words = self.spec.rows_per_wave * self.spec.width;
        let fragment_words = 3 * MMA_FRAGMENTS * FRAGMENT_ROWS * self.spec.width;
        for standing in waves {
            let slot = index * self.spec.shape.waves as usize + standing.id as usize;
            assert!(self.spec.usable_slots >> slot & 1 != 0, "the occupancy counts wave slots");
            slots |= 1 << slot;
            self.waves.start_at(slot, index, &standing, ops);
            self.touch(slot);
            if self.file.journal.is_kept() {
                self.file.journal.starts_wave(slot);
            }
            self.file.registers[slot * words..][..words].copy_from_slice(standing.registers);
            if !self.file.fragments.is_empty() {
                self.file.fragments[slot * fragment_words..][..fragment_words]
                    .copy_from_slice(standing.fragments);
            }
        }
        self.local.fill(index, local);
        self.workgroups[index] = Workgroup { id, slots, resident: true };
        self.activity.wake = start;
    }
}
