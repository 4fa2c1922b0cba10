//! Values that depend only on a thread's position in its workgroup, computed for every thread.
//!
//! For example, `thread_id_x < 64` is known to be the same in all lanes of a wave of 32. A barrier that only
//! some lanes of a wave can reach is known to fault.

use super::CheckOptions;
use crate::program::Kernel;
use crate::{Inst, Op, Special};
use std::rc::Rc;

/// For workgroups with more threads the size is treated as unknown.
const MOST_THREADS: u64 = 4096;

/// The threads of one workgroup, as far as they are known before the launch.
#[derive(Debug, Clone)]
pub(super) struct Threads {
    /// Lanes of a wave.
    width: usize,
    /// Threads of the workgroup, or of one wave if the size is unknown.
    count: usize,
    size: Option<[u32; 3]>,
}

/// One value for each thread; predicates are 0 or 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub values: Rc<[u32]>,
    /// The value is the same in all lanes of each wave.
    pub uniform: bool,
}

impl Threads {
    /// The threads of a launch with these options, or of the kernel's own workgroup size.
    pub(super) fn new(kernel: &Kernel, options: &CheckOptions) -> Threads {
        let width = options.wave_width.max(1);
        let size = options.workgroup.unwrap_or(kernel.workgroup_size);
        let count = size.iter().fold(1u64, |n, &s| n.saturating_mul(u64::from(s)));
        match count {
            1..=MOST_THREADS => Threads { width: width as usize, count: count as usize, size: Some(size) },
            _ => Threads { width: width as usize, count: width as usize, size: None },
        }
    }

    /// A value, computed for each thread.
    fn each(&self, value: impl Fn(u32) -> u32) -> Known {
        let values: Rc<[u32]> = (0..self.count as u32).map(value).collect();
        let uniform = values.chunks(self.width).all(|wave| wave.iter().all(|v| *v == wave[0]));
        Known { values, uniform }
    }

    /// The same value in every thread.
    pub(super) fn constant(&self, value: u32) -> Known {
        self.each(|_| value)
    }

    fn special(&self, special: Special) -> Option<Known> {
        use Special::*;
        let width = self.width as u32;
        let size = self.size;
        Some(match special {
            ThreadIdX => size.map(|[x, ..]| self.each(|t| t % x))?,
            ThreadIdY => size.map(|[x, y, _]| self.each(|t| t / x % y))?,
            ThreadIdZ => size.map(|[x, y, _]| self.each(|t| t / x / y))?,
            WaveId => size.map(|_| self.each(|t| t / width))?,
            LaneId => self.each(|t| t % width),
            WorkgroupSizeX => self.constant(size?[0]),
            WorkgroupSizeY => self.constant(size?[1]),
            WorkgroupSizeZ => self.constant(size?[2]),
            WaveWidth => self.constant(width),
            NumWaves => size.map(|_| self.constant((self.count as u32).div_ceil(width)))?,
            _ => return None,
        })
    }

    /// The result of an instruction in participating lanes, if it follows from known operands. `operand`
    /// gives the value of each register source in operand order, then of the predicate source.
    pub(super) fn result(&self, inst: &Inst, operand: impl Fn(usize) -> Option<Known>) -> Option<Known> {
        match inst.op {
            Op::MovImm => return Some(self.constant(inst.imm)),
            Op::MovSr => return self.special(Special::from_code(inst.rs1)?),
            _ => {}
        }
        let sources = inst.sources().count() + usize::from(inst.predicate_source().is_some());
        compute(inst.op, [0; 3])?;
        let operands: Vec<Known> = (0..sources).map(operand).collect::<Option<_>>()?;
        let at = |thread: u32, i: usize| operands.get(i).map_or(0, |known| known.values[thread as usize]);
        Some(self.each(|t| compute(inst.op, [at(t, 0), at(t, 1), at(t, 2)]).unwrap_or(0)))
    }

    /// `then` in threads where the guard holds, else `otherwise`.
    pub(super) fn choose(&self, guard: &Known, negated: bool, then: &Known, otherwise: &Known) -> Known {
        self.each(|t| {
            let t = t as usize;
            if (guard.values[t] != 0) != negated { then.values[t] } else { otherwise.values[t] }
        })
    }

    /// The first wave with threads inside and outside of a set: its index, and which are inside.
    pub(crate) fn split_wave<'a>(&self, inside: &'a [bool]) -> Option<(usize, &'a [bool])> {
        let mixed = |wave: &[bool]| wave.contains(&true) && wave.contains(&false);
        inside.chunks(self.width).enumerate().find(|(_, wave)| mixed(wave))
    }

    /// Every thread.
    pub(super) fn all(&self) -> Vec<bool> {
        vec![true; self.count]
    }
}

/// Integer operations that thread numbers pass through; `None` for all others. Operands are in text order, a
/// predicate last.
fn compute(op: Op, [a, b, c]: [u32; 3]) -> Option<u32> {
    let (x, y) = (a.cast_signed(), b.cast_signed());
    Some(match op {
        Op::Mov => a,
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::IMad => a.wrapping_mul(b).wrapping_add(c),
        Op::IDiv => x.checked_div(y).map_or(if b == 0 { 0 } else { a }, i32::cast_unsigned),
        Op::IMod => x.checked_rem(y).map_or(0, i32::cast_unsigned),
        Op::INeg => a.wrapping_neg(),
        Op::IMin => x.min(y).cast_unsigned(),
        Op::IMax => x.max(y).cast_unsigned(),
        Op::UMin => a.min(b),
        Op::UMax => a.max(b),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Not => !a,
        Op::Shl => a << (b & 31),
        Op::Shr => a >> (b & 31),
        Op::Sar => (x >> (b & 31)).cast_unsigned(),
        Op::ICmpEq | Op::UCmpEq => u32::from(a == b),
        Op::ICmpNe | Op::UCmpNe => u32::from(a != b),
        Op::ICmpLt => u32::from(x < y),
        Op::ICmpLe => u32::from(x <= y),
        Op::ICmpGt => u32::from(x > y),
        Op::ICmpGe => u32::from(x >= y),
        Op::UCmpLt => u32::from(a < b),
        Op::UCmpLe => u32::from(a <= b),
        Op::UCmpGt => u32::from(a > b),
        Op::UCmpGe => u32::from(a >= b),
        Op::Select => {
            if c != 0 {
                a
            } else {
                b
            }
        }
        _ => return None,
    })
}
