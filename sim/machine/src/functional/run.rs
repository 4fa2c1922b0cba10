//! A run: instructions of a wave that need nothing but its registers, predicates and control state, one after the other.

use super::inactive::Regions;
use crate::alu::{self, HostVectors, LANES, RowOp, zero_lanes};
use crate::core::divergence::{Divergence, Next};
use crate::core::uop::{Kind, MicroOp, MicroOps};
use pulp::{Simd, WithSimd};
use wave_isa::program::fault::FaultKind;
use wave_isa::{Op, PREDICATES};

/// The lanes in which each predicate is true; behind the predicates of the wave one that is true in all lanes. A power of
/// two, so that no index is out of bounds.
type Predicates = [u64; 2 * PREDICATES];

/// Lanes in which a predicate is true, or false.
#[derive(Debug, Clone, Copy)]
struct Condition {
    predicate: u8,
    flip: u64,
}

impl Condition {
    /// The lanes in which a predicate is true, or if negated those in which it is false; all without a predicate.
    fn of(predicate: Option<(u8, bool)>) -> Condition {
        let (predicate, negated) = predicate.unwrap_or((PREDICATES as u8, false));
        Condition { predicate, flip: if negated { !0 } else { 0 } }
    }

    #[inline(always)]
    fn lanes(self, predicates: &Predicates) -> u64 {
        predicates[usize::from(self.predicate) % predicates.len()] ^ self.flip
    }
}

/// What a run does at a word of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// It computes registers or predicates from registers.
    Arithmetic,
    /// It divides integers; divisions by zero are counted.
    Division,
    /// Structured control flow.
    Control,
    /// It ends.
    Nothing,
}

/// An instruction as a run executes it.
#[derive(Debug, Clone)]
pub(super) struct Step {
    does: Does,
    words: u8,
    /// The predicate that it writes; none if there is no such predicate.
    writes: u8,
    row_op: RowOp,
    guard: Condition,
    /// Its predicate operand.
    condition: Condition,
}

impl Step {
    /// A step for each word of a kernel, and one behind its last.
    pub(super) fn all(ops: &MicroOps) -> Vec<Step> {
        (0..=ops.end()).map(|word| Step::of(ops.get(word))).collect()
    }

    fn of(op: &MicroOp) -> Step {
        let guard = op.inst.guard;
        let does = match (op.kind, op.inst.op) {
            (Kind::Control, _) => Does::Control,
            (Kind::Compute, Op::IDiv | Op::IMod) => Does::Division,
            (Kind::Compute, Op::MovSr | Op::MmaCompute) => Does::Nothing,
            (Kind::Compute, _) => Does::Arithmetic,
            _ => Does::Nothing,
        };
        Step {
            does,
            words: op.words as u8,
            // 8 or more if it writes none.
            writes: op.predicate_write.trailing_zeros() as u8,
            row_op: op.rows,
            guard: Condition::of(guard.is_some().then_some((guard.predicate, guard.negated))),
            condition: Condition::of(op.predicate_source),
        }
    }

    /// True if a run executes it.
    #[inline]
    pub(super) fn is_in_run(&self) -> bool {
        self.does != Does::Nothing
    }
}

/// What a run acts on.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// The kernel.
    pub(super) ops: &'a MicroOps,
    /// The kernel, a step for each word.
    pub(super) steps: &'a [Step],
    pub(super) regions: &'a Regions,
    /// The word of the next instruction.
    pub(super) word: u32,
    /// Instructions that it may execute at most.
    pub(super) most: u64,
    pub(super) control: &'a mut Divergence,
    /// Rows of `width` lanes, concatenated.
    pub(super) registers: &'a mut [u32],
    pub(super) width: usize,
    pub(super) predicates: &'a mut [u64; PREDICATES],
    /// Scratch space for two rows, of waves of another width than [`LANES`].
    pub(super) result: &'a mut [u32],
}

/// What a run has executed.
#[derive(Debug, Default)]
pub(super) struct Ran {
    /// The word of the next instruction; of the last one, if that was the wave's last or a fault.
    pub(super) word: u32,
    /// Instructions, and those of them without effect.
    pub(super) steps: u64,
    pub(super) squashed: u64,
    /// The lanes that took part in the others, added up.
    pub(super) lanes: u64,
    /// Lanes that have divided an integer by 0.
    pub(super) divisions_by_zero: u64,
    /// Control instructions behind which the wave did not go on with the next word.
    pub(super) redirects: u64,
    /// The last of them went back to the head of a loop.
    pub(super) looped: bool,
    /// All lanes have halted.
    pub(super) ended: bool,
    pub(super) fault: Option<FaultKind>,
}

impl Run<'_> {
    /// Executes instructions up to the first that is not in a run.
    #[inline]
    pub(super) fn execute(self, host: HostVectors) -> Ran {
        if self.width == LANES {
            return host.dispatch(self);
        }
        let width = self.width;
        self.each(|op, registers, lanes, result| alu::update(host, op, registers, width, lanes, result))
    }

    /// `update` runs one instruction on the registers, in the lanes that take part; with the lanes in which its condition
    /// holds, and scratch space.
    #[inline(always)]
    fn each(mut self, update: impl Fn(&RowOp, &mut [u32], (u64, u64), &mut [u32]) -> u64) -> Ran {
        let mut ran = Ran { word: self.word, ..Ran::default() };
        let mut predicates = [!0; 2 * PREDICATES];
        predicates[..PREDICATES].copy_from_slice(self.predicates);
        let mut active = self.control.active;
        let mut left = self.most;
        if active == 0 {
            left -= self.pass(&mut ran, left);
        }
        // Instructions left when the active mask was set.
        let mut since = left;
        while left > 0
            && let Some(step) = self.steps.get(ran.word as usize)
        {
            let guard = step.guard.lanes(&predicates);
            let lanes = active & guard;
            if step.does == Does::Control {
                let in_run = (since - left) * u64::from(active.count_ones());
                ran.lanes = ran.lanes.wrapping_add(in_run + u64::from(lanes.count_ones()));
                ran.squashed += u64::from(active == 0);
                left -= 1;
                since = left;
                let known = predicates.first_chunk().expect("one for each predicate");
                let control = self.ops.get(ran.word).control_step(ran.word, guard, known);
                match self.control.step(&control) {
                    Ok(Next::Fall) => ran.word = control.next,
                    Ok(Next::Jump(target)) => {
                        ran.looped = control.op == Op::EndLoop && target <= ran.word;
                        ran.redirects += 1;
                        ran.word = target;
                    }
                    Ok(Next::Ended) => ran.ended = true,
                    Err(kind) => ran.fault = Some(kind),
                }
                active = self.control.active;
                if ran.ended || ran.fault.is_some() {
                    break;
                }
                if active == 0 {
                    left -= self.pass(&mut ran, left);
                    since = left;
                }
                continue;
            }
            if step.does == Does::Nothing {
                break;
            }
            ran.word += u32::from(step.words);
            left -= 1;
            if lanes != active {
                // They are counted as if all active lanes took part.
                ran.lanes = ran.lanes.wrapping_sub(u64::from((active & !lanes).count_ones()));
            }
            if lanes == 0 {
                ran.squashed += 1;
                continue;
            }
            if step.does == Does::Division {
                let divisor = usize::from(step.row_op.sources[1]) * self.width;
                ran.divisions_by_zero += zeros(&self.registers[divisor..][..self.width], lanes);
            }
            let condition = step.condition.lanes(&predicates);
            let result = update(&step.row_op, self.registers, (lanes, condition), self.result);
            if step.writes < PREDICATES as u8 {
                let written = &mut predicates[usize::from(step.writes)];
                *written = *written & !lanes | result & lanes;
            }
        }
        ran.lanes = ran.lanes.wrapping_add((since - left) * u64::from(active.count_ones()));
        ran.steps = self.most - left;
        self.predicates.copy_from_slice(&predicates[..PREDICATES]);
        ran
    }

    /// Passes what no lane executes.
    fn pass(&mut self, ran: &mut Ran, most: u64) -> u64 {
        let passed = self.regions.pass(&mut ran.word, &mut self.control.skipped, most);
        ran.squashed += passed;
        passed
    }
}

/// Lanes of a divisor that are 0, of those that take part.
#[inline(never)]
fn zeros(divisor: &[u32], lanes: u64) -> u64 {
    u64::from((zero_lanes(divisor) & lanes).count_ones())
}

impl WithSimd for Run<'_> {
    type Output = Ran;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Ran {
        if S::IS_SCALAR {
            // As in `update`.
            return self.each(|op, registers, lanes, result| {
                alu::update(HostVectors::Scalar, op, registers, LANES, lanes, result)
            });
        }
        self.each(
            #[inline(always)]
            |op, registers, lanes, _| alu::update_rows(simd, op, registers, lanes),
        )
    }
}
