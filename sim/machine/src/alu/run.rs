//! A run of instructions: lane arithmetic, one after the other, without timing.

use super::HostVectors;
use super::lanes::zero_lanes;
use super::registers::{LANES, RowOp, as_rows, update, update_rows};
use pulp::{Simd, WithSimd};
use wave_isa::{Op, PREDICATES};

/// Lanes in which a predicate is true, or false.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Condition {
    /// [`PREDICATES`] is one that is true in all lanes.
    predicate: u8,
    flip: u64,
}

impl Condition {
    /// All lanes.
    pub(crate) const ALWAYS: Condition = Condition { predicate: PREDICATES as u8, flip: 0 };

    /// The lanes in which a predicate is true, or if `negated` those in which it is false.
    pub(crate) fn of(predicate: u8, negated: bool) -> Condition {
        Condition { predicate, flip: if negated { !0 } else { 0 } }
    }

    #[inline(always)]
    fn lanes(self, predicates: &[u64; PREDICATES + 1]) -> u64 {
        predicates[usize::from(self.predicate)] ^ self.flip
    }
}

/// What a run does at a word of a kernel.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Words of the instruction. 0: it is none that a run executes.
    pub(crate) words: u32,
    /// What it does in the lanes that take part.
    pub(crate) row_op: RowOp,
    /// The active lanes that take part.
    pub(crate) guard: Condition,
    /// Its predicate operand.
    pub(crate) condition: Condition,
    /// The predicate that it writes; none if there is no such predicate.
    pub(crate) predicate: u8,
}

/// The registers and predicates of a wave, and where it stands.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    /// The kernel, a step for each word.
    pub(crate) steps: &'a [Step],
    /// The word of the next instruction.
    pub(crate) word: u32,
    /// Instructions that it may execute at most.
    pub(crate) most: u64,
    /// Lanes of the wave that are active.
    pub(crate) active: u64,
    /// Rows of `width` lanes, concatenated.
    pub(crate) registers: &'a mut [u32],
    pub(crate) width: usize,
    pub(crate) predicates: &'a mut [u64; PREDICATES],
    /// Scratch space for two rows.
    pub(crate) result: &'a mut [u32],
}

/// What a run has executed.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// The word of the next instruction.
    pub(crate) word: u32,
    /// Instructions, and those of them in which a lane took part.
    pub(crate) steps: u64,
    pub(crate) effective: u64,
    /// The latter times the lanes that took part.
    pub(crate) lanes: u64,
    /// Lanes that have divided an integer by 0.
    pub(crate) divisions_by_zero: u64,
}

impl Run<'_> {
    /// Executes instructions up to the first that is not lane arithmetic.
    #[inline]
    pub(crate) fn execute(mut self, host: HostVectors) -> Ran {
        if self.width == LANES {
            return host.dispatch(self);
        }
        let width = self.width;
        self.each(|op, registers, lanes, result| update(host, op, registers, width, lanes, result))
    }

    /// `update` runs one instruction on the registers, in the lanes that take part; with the lanes in which its condition
    /// holds, and scratch space.
    #[inline(always)]
    fn each(&mut self, update: impl Fn(&RowOp, &mut [u32], (u64, u64), &mut [u32]) -> u64) -> Ran {
        let mut ran = Ran { word: self.word, ..Ran::default() };
        let mut predicates = [!0; PREDICATES + 1];
        predicates[..PREDICATES].copy_from_slice(self.predicates);
        while let Some(step) = self.steps.get(ran.word as usize)
            && step.words != 0
            && ran.steps < self.most
        {
            ran.word += step.words;
            ran.steps += 1;
            let lanes = self.active & step.guard.lanes(&predicates);
            if lanes == 0 {
                continue;
            }
            ran.effective += 1;
            ran.lanes += u64::from(lanes.count_ones());
            if matches!(step.row_op.op, Op::IDiv | Op::IMod) {
                let divisor = usize::from(step.row_op.sources[1]) * self.width;
                let zeros = zero_lanes(&self.registers[divisor..][..self.width]) & lanes;
                ran.divisions_by_zero += u64::from(zeros.count_ones());
            }
            let condition = step.condition.lanes(&predicates);
            let result = update(&step.row_op, self.registers, (lanes, condition), self.result);
            if step.predicate < PREDICATES as u8 {
                let written = &mut predicates[usize::from(step.predicate)];
                *written = *written & !lanes | result & lanes;
            }
        }
        self.predicates.copy_from_slice(&predicates[..PREDICATES]);
        ran
    }
}

impl WithSimd for Run<'_> {
    type Output = Ran;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> Ran {
        self.each(
            #[inline(always)]
            |op, registers, lanes, result| update_rows(simd, op, as_rows(registers), lanes, as_rows(result)),
        )
    }
}
