//! The retirement of instructions: their destinations are no longer outstanding (I5), their accesses are performed.

use super::context::Contexts;
use super::latches::IssueToResolve;
use super::probe::{Event, EventKind, Probe, Results, Stage, StageEvent};
use super::registers::RegisterFile;
use super::shared::Shared;
use super::slot::InFlight;
use super::uop::MicroOp;
use crate::alu::FRAGMENT_ROWS;
use crate::clock::Cycle;
use wave_isa::MMA_FRAGMENTS;

/// What the retirement of an instruction changes.
pub(super) struct Retirement<'c> {
    pub shared: &'c mut Shared,
    pub file: &'c mut RegisterFile,
    /// To the first stage of the next cycle: ended waves of which nothing is in flight any more.
    pub to_resolve: &'c mut IssueToResolve,
}

impl Retirement<'_> {
    /// Retires an instruction that passed through a collector: its destinations are no longer outstanding
    /// (I5).
    pub(super) fn retire<P: Probe>(
        &mut self,
        now: Cycle,
        retired: InFlight,
        contexts: &Contexts,
        probe: &mut P,
    ) {
        let op = self.shared.waves.op(retired.slot, retired.word, contexts);
        let slot = retired.slot;
        if self.file.journal.is_kept() {
            self.file.journal.retires(retired);
        }
        let wave = &mut self.shared.waves.waves[slot];
        wave.pending.remove_all(&op.writes);
        wave.pending_predicates &= !op.predicate_write;
        wave.pending_fragments &= !op.fragment_locks;
        wave.in_flight -= 1;
        let drained = wave.in_flight == 0;
        let event = self.shared.step_of(now, retired, Stage::Retire);
        probe.tell(EventKind::Results, || Event::Results(self.results(event, op)));
        probe.tell(EventKind::Stage, || Event::Stage(event));
        if drained && self.shared.waves.ended >> slot & 1 != 0 {
            self.to_resolve.drained(slot);
        } else if self.shared.waves.waits(slot) {
            self.shared.waves.refresh(slot, contexts);
        }
    }

    /// What a retiring instruction has written. Its destinations were locked until now, so they still hold
    /// its result.
    fn results(&self, event: StageEvent, op: &MicroOp) -> Results<'_> {
        let width = self.shared.spec.width;
        let first =
            (self.shared.waves.waves[event.slot].first_row + usize::from(op.rows.destination)) * width;
        let fragment = match op.fragment_locks {
            0 => &[],
            locks => {
                let index = event.slot * 3 * MMA_FRAGMENTS + locks.trailing_zeros() as usize;
                &self.file.fragments[index * FRAGMENT_ROWS * width..][..FRAGMENT_ROWS * width]
            }
        };
        let predicate = match op.predicate_write {
            0 => 0,
            bit => self.shared.waves.waves[event.slot].predicates[bit.trailing_zeros() as usize],
        };
        let registers = &self.file.registers[first..][..usize::from(op.rows.destination_rows) * width];
        Results { event, registers, predicate, fragment }
    }

    /// Retires a memory instruction: its access is performed, or its last row is written.
    pub(super) fn retire_access<P: Probe>(
        &mut self,
        now: Cycle,
        retired: InFlight,
        contexts: &Contexts,
        probe: &mut P,
    ) {
        let op = self.shared.waves.op(retired.slot, retired.word, contexts);
        let returns = op.rows.destination_rows > 0;
        self.shared.waves.access_ends(retired.slot, returns);
        if returns {
            self.shared.waves.waves[retired.slot].pending_loads.remove_all(&op.writes);
        }
        self.retire(now, retired, contexts, probe);
    }
}
