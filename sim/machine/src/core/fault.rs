//! Faults of instructions at issue (rule I8): a fault waits for the older accesses of its wave, so that the fault of a
//! wave is the first one in program order.

use super::context::Contexts;
use super::probe::{Event, EventKind, Going, Probe};
use super::shared::Shared;
use super::slot::{Slot, lanes_of};
use super::uop::Kind;
use super::wave::Wave;
use crate::clock::Cycle;
use wave_isa::program::fault::{Fault, FaultKind};

impl Shared {
    /// The instruction that issues now faults. If accesses of its wave are outstanding, the fault waits for them, and the
    /// wave is in a shadow without an end.
    ///
    /// # Errors
    /// The fault, if no access was outstanding at the end of the cycle before.
    #[cold]
    pub(super) fn fault_at_issue<P: Probe>(
        &mut self,
        now: Cycle,
        going: Going,
        lanes: u64,
        kind: FaultKind,
        contexts: &Contexts,
        probe: &mut P,
    ) -> Result<(), Box<Fault>> {
        let slot = going.event.slot;
        if !self.waves.is_accessing(slot) {
            return Err(self.fault(now, slot, going.event.word, lanes, contexts, kind));
        }
        self.waves.faulting |= 1 << slot;
        self.waves.shadow |= 1 << slot;
        self.waves.refresh(slot, contexts);
        self.waves.buffer_shrinks(slot);
        probe.tell(EventKind::Going, || Event::Going(Going { next: None, done: false, ..going }));
        Ok(())
    }

    /// Looks at the faults that wait.
    ///
    /// # Errors
    /// The fault of the lowest slot whose wave had no access outstanding at the end of the cycle before.
    #[cold]
    pub(super) fn look_at_faults(&self, now: Cycle, contexts: &Contexts) -> Result<(), Box<Fault>> {
        for slot in lanes_of(self.waves.faulting & self.waves.resident) {
            if !self.waves.is_accessing(slot)
                && let Some(kind) = self.fault_of(slot, contexts)
            {
                let Wave { last_word, control, .. } = &self.waves.waves[slot];
                return Err(self.fault(now, slot, *last_word, control.active, contexts, kind));
            }
        }
        Ok(())
    }

    /// The fault of the last instruction of a wave, which is in a shadow without an end. Nothing that the instruction depends
    /// on has changed since its issue.
    fn fault_of(&self, slot: Slot, contexts: &Contexts) -> Option<FaultKind> {
        let wave = &self.waves.waves[slot];
        let op = contexts.op(wave.context, wave.last_word);
        match op.kind {
            Kind::Illegal(error) => Some(FaultKind::IllegalInstruction(error)),
            Kind::Control => {
                let guard = op.guard_lanes(&wave.predicates);
                let step = op.control_step(wave.last_word, guard, &wave.predicates);
                wave.control.clone().step(&step).err()
            }
            _ => None,
        }
    }

    /// A fault of the wave in a slot.
    pub(super) fn fault(
        &self,
        now: Cycle,
        slot: Slot,
        word: u32,
        lanes: u64,
        contexts: &Contexts,
        kind: FaultKind,
    ) -> Box<Fault> {
        let wave = &self.waves.waves[slot];
        let context = contexts.of(wave.context);
        Box::new(Fault {
            kind,
            kernel: context.launch().kernel,
            workgroup: self.workgroups[wave.workgroup].id,
            wave: wave.wave_id,
            lanes,
            pc: context.ops.pc(word),
            cycle: Some(now),
        })
    }
}
