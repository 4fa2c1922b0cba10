//! Operands at which an operation is likely to go wrong: zeros of both signs, subnormals, infinities, NaNs with a payload,
//! the limits of divisions, shifts and conversions, ties, and sums that cancel.

use super::Node;
use super::grow::Grower;
use wave_isa::{ExecClass, Guard, Inst, Op, Role};

/// f32: zeros, ones, subnormals, the least normal, the greatest, infinities, quiet and signalling NaNs with a payload.
const F32: &[u32] = &[
    0x0000_0000,
    0x8000_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x0000_0001,
    0x8000_0001,
    0x007F_FFFF,
    0x807F_FFFF,
    0x0080_0000,
    0x8080_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC1_2345,
    0x7F80_0001,
    0xFFBF_FFFF,
];
/// f16, and bf16, in the same order.
const F16: &[u16] = &[
    0x0000, 0x8000, 0x3C00, 0xBC00, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x8400, 0x7BFF, 0xFBFF, 0x7C00,
    0xFC00, 0x7E00, 0xFE12, 0x7C01, 0xFDFF,
];
const BF16: &[u16] = &[
    0x0000, 0x8000, 0x3F80, 0xBF80, 0x0001, 0x8001, 0x007F, 0x807F, 0x0080, 0x8080, 0x7F7F, 0xFF7F, 0x7F80,
    0xFF80, 0x7FC0, 0xFFC5, 0x7F81, 0xFFBF,
];
/// Dividends and divisors: INT_MIN, -1, 0, 1, INT_MAX.
const INTEGERS: &[u32] = &[0x8000_0000, 0xFFFF_FFFF, 0, 1, 2, 0x7FFF_FFFF, 0x8000_0001, 0xFFFF_FFFE];
/// Shifts, and positions and widths of bit fields.
const SHIFTS: &[u32] = &[0, 1, 30, 31, 32, 33, 63, 64, 0xFFFF_FFFF, 0x8000_001F];
/// Integers that round to f32: ties, the next ones, and the greatest.
const TO_F32: &[u32] = &[
    0x0100_0001,
    0x0100_0002,
    0x0100_0003,
    0x0200_0002,
    0x0200_0006,
    0x7FFF_FFFF,
    0x7FFF_FFC0,
    0x7FFF_FFBF,
    0x8000_0000,
    0x8000_0001,
    0x8000_0040,
    0xFFFF_FFFF,
    0xFFFF_FF80,
    0xFFFF_FF7F,
    0xFEFF_FFFF,
    0,
];
/// f32 at the limits of the integers, halves, and those that round to f16 or bf16 half way or overflow there.
const FROM_F32: &[u32] = &[
    0x4EFF_FFFF,
    0x4F00_0000,
    0x4F7F_FFFF,
    0x4F80_0000,
    0xCEFF_FFFF,
    0xCF00_0000,
    0xCF00_0001,
    0x3F00_0000,
    0xBF00_0000,
    0x3FC0_0000,
    0x4020_0000,
    0x3F7F_FFFF,
    0xBF7F_FFFF,
    0x4B00_0001,
    0x477F_EFFF,
    0x477F_F000,
    0x3380_0000,
    0x3380_0001,
    0x3300_0000,
    0x3300_0001,
    0x387F_E000,
    0x3880_1000,
    0x3F80_1000,
    0x3F80_3000,
    0x3F80_8000,
    0x3F81_8000,
    0x7F7F_7FFF,
    0x7F7F_8000,
    0x0000_8000,
    0x0001_8000,
];
/// f32 with a sum that is a tie or just beside one: 2^24 and 1, 1 and 2^-24, and their neighbours.
const TIES: &[[u32; 2]] = &[
    [0x4B80_0000, 0x3F80_0000],
    [0x4B80_0001, 0x3F80_0000],
    [0x3F80_0000, 0x3380_0000],
    [0x3F80_0001, 0x3380_0000],
    [0x3F80_0000, 0x3380_0001],
    [0x3F80_0000, 0xB300_0000],
    [0x0080_0000, 0x8000_0001],
    [0x7F7F_FFFF, 0x7300_0000],
];
/// 1 as an f32, the sign of an f32, and the signs of both f16 in a word.
const ONE: u32 = 0x3F80_0000;
const SIGN: u32 = 1 << 31;
const SIGNS_OF_16: u32 = 0x8000_8000;
/// Instructions that are drawn at most to find one whose operation has special operands.
const DRAWS: u32 = 4;

/// The operands of an operation, by what is special for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integers,
    Shift,
    F32,
    F16,
    Bf16,
    ToF32,
    FromF32,
}

impl Kind {
    fn of(op: Op) -> Option<Kind> {
        let name = op.info().mnemonic;
        match (op, op.info().class) {
            (_, ExecClass::IntDiv) => Some(Kind::Integers),
            (Op::CvtF32I32 | Op::CvtF32U32, _) => Some(Kind::ToF32),
            (Op::CvtI32F32 | Op::CvtU32F32 | Op::CvtF16F32 | Op::CvtBf16F32, _) => Some(Kind::FromF32),
            (Op::CvtF32F16, _) => Some(Kind::F16),
            (Op::CvtF32Bf16, _) => Some(Kind::Bf16),
            (Op::FFloor | Op::FCeil | Op::FRound | Op::FTrunc | Op::FFract, _) => Some(Kind::FromF32),
            (_, ExecClass::Fp32 | ExecClass::Fp32Div | ExecClass::Sfu) => Some(Kind::F32),
            (_, ExecClass::Fp16) if name.starts_with('b') => Some(Kind::Bf16),
            (_, ExecClass::Fp16) => Some(Kind::F16),
            (Op::Shl | Op::Shr | Op::Sar, _) => Some(Kind::Shift),
            _ => None,
        }
    }
}

impl Grower {
    /// An instruction and, before it, immediates that it reads: values that are special for its operation, most of them in
    /// some lanes only. The instruction alone if its operation has none.
    pub(super) fn special(&mut self) -> Vec<Node> {
        let mut inst = self.plain();
        for _ in 0..DRAWS {
            if Kind::of(inst.op).is_none() {
                inst = self.plain();
            }
        }
        let Some(kind) = Kind::of(inst.op) else { return vec![Node::Inst(inst)] };
        let fields: Vec<u8> = inst
            .op
            .info()
            .operands
            .iter()
            .filter(|o| o.role == Role::Src(1))
            .map(|o| inst.field(o.field))
            .collect();
        let values = self.values(kind, fields.len());
        let mut nodes = Vec::new();
        for (rd, imm) in fields.into_iter().zip(values) {
            let guard = if self.one_in(2) { self.guard() } else { Guard::NONE };
            nodes.push(Node::Inst(Inst { guard, rd, imm, ..Inst::new(Op::MovImm) }));
        }
        nodes.push(Node::Inst(inst));
        nodes
    }

    /// Values for the operands of an operation.
    fn values(&mut self, kind: Kind, count: usize) -> Vec<u32> {
        let mut values: Vec<u32> = (0..count).map(|operand| self.value(kind, operand)).collect();
        match (kind, self.below(4)) {
            // A sum that is a tie, or nearly so.
            (Kind::F32, 0) if count >= 2 => {
                let [one, other] = self.choose(TIES);
                let swapped = self.one_in(2);
                (values[0], values[1]) = if swapped { (other, one) } else { (one, other) };
            }
            // A sum that cancels, but for the last bit or not at all. Of a product with 1, too.
            (Kind::F32, 1) if count >= 2 => {
                let last = self.below(3);
                values[1] = (values[0] ^ SIGN).wrapping_add(last).wrapping_sub(1);
                if count == 3 {
                    (values[1], values[2]) = (ONE, values[1]);
                }
            }
            (Kind::F16 | Kind::Bf16, 1) if count == 2 => {
                let last = self.below(3);
                values[1] = (values[0] ^ SIGNS_OF_16).wrapping_add(last).wrapping_sub(1);
            }
            _ => {}
        }
        values
    }

    /// A value for one operand.
    fn value(&mut self, kind: Kind, operand: usize) -> u32 {
        match kind {
            Kind::Integers => self.choose(INTEGERS),
            Kind::Shift if operand == 0 => self.choose(INTEGERS),
            Kind::Shift => self.choose(SHIFTS),
            Kind::F32 => self.choose(F32),
            Kind::ToF32 => self.choose(TO_F32),
            Kind::FromF32 if self.one_in(4) => self.choose(F32),
            Kind::FromF32 => self.choose(FROM_F32),
            Kind::F16 => u32::from(self.choose(F16)) | u32::from(self.choose(F16)) << 16,
            Kind::Bf16 => u32::from(self.choose(BF16)) | u32::from(self.choose(BF16)) << 16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Node, Options, grow};
    use super::*;
    use std::collections::HashMap;

    /// Every special value of every kind comes to an operation for which it is special.
    #[test]
    fn random_programs_have_every_special_value() {
        let options = Options { f64: false, mma: false, ..Options::default() };
        let mut met: HashMap<&str, u32> = HashMap::new();
        for seed in 0..400 {
            for nodes in grow(seed, &options).functions {
                for (place, node) in nodes.iter().enumerate() {
                    let Node::Inst(inst) = node else { continue };
                    let read = |register| {
                        inst.op
                            .info()
                            .operands
                            .iter()
                            .any(|o| o.role == Role::Src(1) && inst.field(o.field) == register)
                    };
                    for before in &nodes[place.saturating_sub(3)..place] {
                        match before {
                            Node::Inst(mov) if mov.op == Op::MovImm && read(mov.rd) => {
                                let name = match (Kind::of(inst.op), mov.imm) {
                                    (Some(Kind::Integers), 0x8000_0000) => "INT_MIN of a division",
                                    (Some(Kind::Integers), u32::MAX) => "-1 of a division",
                                    (Some(Kind::Shift), 31..=33) => "a shift by 31 to 33",
                                    (Some(Kind::F32), 0x8000_0000) => "-0",
                                    (Some(Kind::F32), 1 | 0x8000_0001) => "a subnormal",
                                    (Some(Kind::F32), 0x7F80_0000 | 0xFF80_0000) => "an infinity",
                                    (Some(Kind::F32), 0xFFC1_2345 | 0x7F80_0001) => "a NaN with a payload",
                                    (Some(Kind::F32), 0x4B80_0001 | 0x3380_0001) => "a tie",
                                    (Some(Kind::FromF32), 0x4F00_0000 | 0xCF00_0001) => {
                                        "a limit of a conversion"
                                    }
                                    (Some(Kind::ToF32), 0x0100_0001) => "an integer between two floats",
                                    (Some(Kind::F16), _) => "f16",
                                    (Some(Kind::Bf16), _) => "bf16",
                                    _ => continue,
                                };
                                *met.entry(name).or_default() += 1;
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
        println!("{met:?}");
        assert_eq!(met.len(), 12, "{met:?}");
        assert!(met.values().all(|&times| times >= 3), "{met:?}");
    }
}
