//! Results that stand in the registers before their time.
//!
//! The core computes an instruction when its operands are read or earlier, and writes the result at once: until the
//! instruction retires, the scoreboard hides it from the kernel (see [`Completions`](super::completions::Completions)).
//! Who looks at the registers from outside wants what the machine has in that cycle. The journal keeps the values
//! that are overwritten too soon, until their time has come. It is kept on request only.

use super::slot::{InFlight, Slot};
use crate::clock::{Cycle, NEVER};
use wave_capture::{Capture, Misfit};
use wave_isa::PREDICATES;

/// The journal of a core.
#[derive(Debug, Clone, Default, Capture)]
pub(crate) struct Journal {
    #[spec]
    is_kept: bool,
    early: Vec<Early>,
    /// Per wave slot, the cycle in which it last issued; [`NEVER`] if it has not.
    issued: Vec<Cycle>,
}

/// What an instruction in flight has overwritten.
#[derive(Debug, Clone, Capture)]
struct Early {
    slot: Slot,
    sequence: u64,
    /// The cycle in which the first row of its result is written, and what has no rows; [`NEVER`] while not known.
    written: Cycle,
    /// First register, and the rows that stood there.
    registers: (u8, Vec<u32>),
    /// Predicate, and the lanes in which it was true.
    predicate: Option<(u8, u64)>,
    /// First word in the core's fragments, and what stood there.
    fragment: Option<(usize, Vec<u32>)>,
}

impl Journal {
    /// An empty journal; `is_kept` if it is to be kept.
    pub(super) fn new(is_kept: bool) -> Journal {
        Journal { is_kept, ..Journal::default() }
    }

    /// True if the core has to tell what it overwrites.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// A wave issues.
    pub(super) fn issues(&mut self, slot: Slot, now: Cycle) {
        self.issued_of(slot, now);
    }

    /// A wave starts.
    pub(crate) fn starts_wave(&mut self, slot: Slot) {
        self.issued_of(slot, NEVER);
    }

    /// Refuses instructions of other slots, and rows that are not in the register file. `rows` tells those of the wave in
    /// a slot, of `width` lanes each; `fragments` are the words of the core's fragments.
    pub(super) fn check(
        &self,
        (slots, width): (usize, usize),
        rows: impl Fn(Slot) -> usize,
        fragments: usize,
    ) -> Result<(), Misfit> {
        Misfit::in_range(self.issued.len() <= 64, "issued")?;
        let fits = |early: &Early| {
            let (first, old) = &early.registers;
            let fragment = early.fragment.as_ref();
            early.slot < slots
                && old.len() % width == 0
                && usize::from(*first) + old.len() / width <= rows(early.slot)
                && early.predicate.is_none_or(|(index, _)| usize::from(index) < PREDICATES)
                && fragment.is_none_or(|(at, old)| at.saturating_add(old.len()) <= fragments)
        };
        Misfit::in_range(self.early.iter().all(fits), "early")
    }

    fn issued_of(&mut self, slot: Slot, cycle: Cycle) {
        // A state from a run without a journal knows of no issue.
        self.issued.resize(self.issued.len().max(slot + 1), NEVER);
        self.issued[slot] = cycle;
    }

    /// The cycle in which a wave last issued; `None` if it has not, or if no journal is kept.
    pub(super) fn last_issue(&self, slot: Slot) -> Option<Cycle> {
        self.issued.get(slot).copied().filter(|&cycle| cycle != NEVER)
    }

    fn of(&mut self, it: InFlight) -> &mut Early {
        let InFlight { slot, sequence, .. } = it;
        let known = self.early.iter().position(|early| (early.slot, early.sequence) == (slot, sequence));
        let place = known.unwrap_or_else(|| {
            let (registers, predicate, fragment) = ((0, Vec::new()), None, None);
            self.early.push(Early { slot, sequence, written: NEVER, registers, predicate, fragment });
            self.early.len() - 1
        });
        &mut self.early[place]
    }

    /// The first row of an instruction's result is written in this cycle.
    pub(crate) fn is_written(&mut self, it: InFlight, cycle: Cycle) {
        self.of(it).written = cycle;
    }

    /// An instruction is about to overwrite these registers and this predicate.
    pub(crate) fn overwrites(&mut self, it: InFlight, registers: (u8, &[u32]), predicate: Option<(u8, u64)>) {
        let early = self.of(it);
        early.registers = (registers.0, registers.1.to_vec());
        early.predicate = predicate;
    }

    /// An instruction is about to overwrite this fragment, which begins at word `at` of the core's fragments.
    pub(crate) fn overwrites_fragment(&mut self, it: InFlight, at: usize, fragment: &[u32]) {
        self.of(it).fragment = Some((at, fragment.to_vec()));
    }

    /// An instruction retires: its whole result is there.
    pub(super) fn retires(&mut self, it: InFlight) {
        self.early.retain(|early| (early.slot, early.sequence) != (it.slot, it.sequence));
    }

    /// Puts what a wave's registers held at the end of the cycle before `now` over what they hold. `rows` has all
    /// registers of the wave, each of `width` lanes.
    pub(crate) fn correct_registers(&self, now: Cycle, slot: Slot, width: usize, rows: &mut [u32]) {
        for early in self.early.iter().filter(|early| early.slot == slot) {
            let (first, old) = &early.registers;
            for (k, old) in old.chunks_exact(width).enumerate() {
                if early.written.saturating_add(k as Cycle) >= now {
                    rows[(usize::from(*first) + k) * width..][..width].copy_from_slice(old);
                }
            }
        }
    }

    /// As [`correct_registers`](Self::correct_registers), for the predicates.
    pub(crate) fn correct_predicates(&self, now: Cycle, slot: Slot, predicates: &mut [u64]) {
        for early in self.early.iter().filter(|early| early.slot == slot && early.written >= now) {
            if let Some((index, lanes)) = early.predicate {
                predicates[usize::from(index)] = lanes;
            }
        }
    }

    /// As [`correct_registers`](Self::correct_registers), for fragments: `words` are those of the core from `at` on.
    pub(crate) fn correct_fragments(&self, now: Cycle, at: usize, words: &mut [u32]) {
        for early in self.early.iter().filter(|early| early.written >= now) {
            let Some((first, old)) = &early.fragment else { continue };
            if let Some(place) = first.checked_sub(at).filter(|place| place + old.len() <= words.len()) {
                words[place..][..old.len()].copy_from_slice(old);
            }
        }
    }
}
