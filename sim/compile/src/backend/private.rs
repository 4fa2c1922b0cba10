//! The private memory of a lane, where its spilled values and frames are.
//!
//! A launch brings one address, as an argument behind those of the user: that of the private memory of all waves. Wave
//! `i` has the bytes from `i` times those of a wave, `i` counted through the workgroups. In there word `k` of lane `l`
//! is at `(lanes * k + l) * 4`. The *private base* of a lane is the address of its first word behind its spilled values. It
//! stays in the register of that argument all through the program, in called functions too.

use super::code::{Code, Literal, Register, Selected, Slot, Virtual};
use crate::ir::Place;
use wave_isa::{Op, Special};

/// The register that has the private base: in all functions the same machine register, which is nobody else's. `None`
/// if the program has no private base so far.
pub(super) fn base(selected: &mut Selected) -> Option<Register> {
    let fixed = selected.base_register?;
    let registers = &mut selected.registers;
    Some(*selected.private_base.get_or_insert_with(|| register(registers, fixed)))
}

/// A new register that is this machine register.
pub(super) fn register(registers: &mut Vec<Virtual>, fixed: u8) -> Register {
    registers.push(Virtual { rows: 1, fixed: Some(fixed), stays: true, ..Virtual::default() });
    Register { number: registers.len() as u32 - 1, row: 0 }
}

/// Puts the instructions that compute the base in front of all others of a kernel, if the program has one. The address
/// of all private memory comes in the same register.
pub(super) fn prologue(selected: &mut Selected) {
    if !selected.is_kernel {
        return;
    }
    let Some(kept) = base(selected) else { return };
    let given = register(&mut selected.registers, selected.base_register.expect("it has one"));
    let mut code = Vec::new();
    Prologue { selected, code: &mut code }.kernel(given, kept);
    selected.code.splice(0..0, code);
}

struct Prologue<'a> {
    selected: &'a mut Selected,
    code: &'a mut Vec<Code>,
}

impl Prologue<'_> {
    /// Base of the wave, then of the lane, then behind the spilled values.
    fn kernel(&mut self, given: Register, kept: Register) {
        use Special::*;
        let [y, z, grid_y] = [WorkgroupIdY, WorkgroupIdZ, GridSizeY].map(|special| self.special(special));
        let mut number = self.sum(z, grid_y, y);
        for (size, part) in [(GridSizeX, WorkgroupIdX), (NumWaves, WaveId)] {
            let (size, part) = (self.special(size), self.special(part));
            number = self.sum(number, size, part);
        }
        let bytes = self.literal(0, Some(Literal::BytesPerWave));
        let wave = self.sum(number, bytes, given);
        let (lane, word) = (self.special(LaneId), self.literal(4, None));
        let first = self.sum(lane, word, wave);
        let spilled = self.literal(0, Some(Literal::SpillBytesPerWave));
        self.push(Op::IAdd, &[kept, first, spilled].map(Slot::Register));
    }

    fn push(&mut self, op: Op, operands: &[Slot]) {
        self.code.push(Code::with(op, operands, Place::default()));
    }

    /// None of these goes to memory: without the base there is none.
    fn register(&mut self) -> Register {
        let register = self.selected.rows(1);
        self.selected.registers[register.number as usize].stays = true;
        register
    }

    fn special(&mut self, special: Special) -> Register {
        let to = self.register();
        self.push(Op::MovSr, &[Slot::Register(to), Slot::Number(special as u8)]);
        to
    }

    fn literal(&mut self, imm: u32, literal: Option<Literal>) -> Register {
        let to = self.register();
        let code = Code::with(Op::MovImm, &[Slot::Register(to)], Place::default());
        self.code.push(Code { imm, literal, ..code });
        to
    }

    /// `a * b + c`
    fn sum(&mut self, a: Register, b: Register, c: Register) -> Register {
        let to = self.register();
        self.push(Op::IMad, &[to, a, b, c].map(Slot::Register));
        to
    }
}
