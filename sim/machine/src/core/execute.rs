//! What instructions for the execution units compute.

use super::context::Contexts;
use super::registers::RegisterFile;
use super::shared::Shared;
use super::slot::InFlight;
use super::uop::MicroOp;
use crate::alu::{self, FRAGMENT_ROWS};
use wave_isa::{ExecClass, Op};

/// The execution units.
pub(super) struct Execute<'c> {
    pub shared: &'c mut Shared,
    pub file: &'c mut RegisterFile,
    /// Of whose launches special registers tell.
    pub contexts: &'c Contexts,
}

impl Execute<'_> {
    /// Computes an instruction for an execution unit and merges the result into the lanes `mask` of its
    /// destination. [`Completions`](super::completions::Completions) says why this is not too early.
    /// `condition`: lanes in which the predicate operand is true.
    pub(super) fn compute(&mut self, it: InFlight, mask: u64, condition: u64, op: &MicroOp) {
        if self.file.journal.is_kept() {
            self.keep_overwritten(it, op);
        }
        let (slot, width) = (it.slot, self.shared.spec.width);
        let first = self.shared.waves.waves[slot].first_row * width;
        if op.inst.op == Op::MovSr {
            let result = &mut self.file.result[..width];
            self.shared.special_row(slot, op.inst.rs1, self.contexts, result);
            let register =
                &mut self.file.registers[first + usize::from(op.rows.destination) * width..][..width];
            alu::merge(self.shared.spec.host, mask, &self.file.result[..width], register);
            return;
        }
        if op.inst.op == Op::MmaCompute {
            // Fragments stay in the matrix unit, which accumulates in place. The scoreboard blocks the wave's
            // other uses of them until the instruction retires.
            let size = FRAGMENT_ROWS * width;
            let fragment = |kind: usize, index: u8| self.shared.spec.fragment_at(slot, kind, index);
            let (a, b, c) = (fragment(0, op.inst.rd), fragment(1, op.inst.rs1), fragment(2, op.inst.rs2));
            let (inputs, sums) = self.file.fragments.split_at_mut(c);
            let (a, b) = (&inputs[a..][..size], &inputs[b..][..size]);
            alu::mma_compute(self.shared.spec.host, mask, a, b, &mut sums[..size]);
            return;
        }
        let registers = &mut self.file.registers[first..];
        if op.class == ExecClass::IntDiv {
            let divisor = &registers[usize::from(op.rows.sources[1]) * width..][..width];
            let zeros = alu::zero_lanes(divisor) & mask;
            self.shared.account.counters.divisions_by_zero += u64::from(zeros.count_ones());
        }
        let (lanes, result) = ((mask, condition), &mut self.file.result);
        let predicate = alu::update(self.shared.spec.host, &op.rows, registers, width, lanes, result);
        if op.predicate_write != 0 {
            let lanes =
                &mut self.shared.waves.waves[slot].predicates[op.predicate_write.trailing_zeros() as usize];
            *lanes = *lanes & !mask | predicate & mask;
        }
    }

    /// Notes in the journal what the result of an instruction for an execution unit is about to overwrite.
    fn keep_overwritten(&mut self, it: InFlight, op: &MicroOp) {
        let first = self.shared.waves.waves[it.slot].first_row + usize::from(op.rows.destination);
        let first = first * self.shared.spec.width;
        let rows =
            &self.file.registers[first..][..usize::from(op.rows.destination_rows) * self.shared.spec.width];
        let predicate = (op.predicate_write != 0).then(|| {
            let index = op.predicate_write.trailing_zeros() as u8;
            (index, self.shared.waves.waves[it.slot].predicates[usize::from(index)])
        });
        self.file.journal.overwrites(it, (op.rows.destination, rows), predicate);
        if op.inst.op == Op::MmaCompute {
            let at = self.shared.spec.fragment_at(it.slot, 2, op.inst.rs2);
            self.file.journal.overwrites_fragment(
                it,
                at,
                &self.file.fragments[at..][..FRAGMENT_ROWS * self.shared.spec.width],
            );
        }
    }
}
