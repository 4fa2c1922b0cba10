//! The private memory of a lane, where its spilled values and frames are.
//!
//! A launch brings one address, as an argument behind those of the user: that of the private memory of all waves. Wave
//! `i` has the bytes from `i` times those of a wave, `i` counted through the workgroups. In there word `k` of lane `l`
//! is at `(64 * k + l) * 4`. The *private base* of a lane is the address of its first word behind its spilled values.

use super::code::{Code, Literal, Register, Selected, Slot, Virtual};
use crate::ir::Place;
use wave_isa::{Op, Special};

/// Bytes from a word of private memory of a lane to its next word: 64 lanes lie side by side, whatever the width.
pub(super) const WORD_DISTANCE: u32 = 256;

/// The register that has the private base. A called function gets it from its caller; a kernel computes it.
pub(super) fn base(selected: &mut Selected) -> Register {
    if let Some([_, kept]) = selected.private_base {
        return kept;
    }
    let [given, kept] = registers(&mut selected.registers);
    selected.private_base = Some([given, kept]);
    prologue(selected);
    kept
}

/// New registers for the base: as it comes, and as it is kept.
pub(super) fn registers(registers: &mut Vec<Virtual>) -> [Register; 2] {
    [(); 2].map(|()| {
        registers.push(Virtual { rows: 1, stays: true, ..Virtual::default() });
        Register { number: registers.len() as u32 - 1, row: 0 }
    })
}

/// Puts the instructions that set the base in front of all others, if there is one.
pub(super) fn prologue(selected: &mut Selected) {
    let Some([given, kept]) = selected.private_base else { return };
    let at = Place::default();
    let mut code = Vec::new();
    if selected.is_kernel {
        selected.registers[given.number as usize].fixed = Some(selected.parameters.len() as u8);
        let mut prologue = Prologue { selected, code: &mut code };
        prologue.kernel(given, kept);
    } else {
        code.push(Code::with(Op::Mov, &[kept, given].map(Slot::Register), at));
    }
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
