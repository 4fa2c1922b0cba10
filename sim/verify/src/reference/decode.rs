//! Decodes instruction words as laid out in sections 2 to 4 of the instruction set.

use super::Machine;
use wave_isa::{DecodeError, Op};

/// The fields of an instruction, used or not. `opcode` and `modifier` determine the operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decoded {
    pub opcode: u8,
    pub modifier: u8,
    /// Words, 1 or 2.
    pub words: u32,
    pub predicate: u8,
    pub negated: bool,
    pub rd: u8,
    pub rs1: u8,
    pub rs2: u8,
    pub rs3: u8,
    pub rs4: u8,
    pub word1: u32,
}

impl Decoded {
    /// (opcode, modifier), which names the operation.
    pub(super) fn key(&self) -> (u8, u8) {
        (self.opcode, self.modifier)
    }
}

/// The operands of an operation, or `None` for an unassigned key. One letter per operand:
///
/// - `d a b c e`: a general register in rd, rs1, rs2, rs3, rs4; a digit gives its rows if not 1
/// - `x`: register in rd, or nothing if 0; `w`: lane mask in rd, two rows if the wave has over 32 lanes
/// - `p q`: predicate in rd, rs1; `n`: predicate in rs1 with bit 2 to negate it
/// - `f g h`: fragment in rd, rs1, rs2; `s`: special register in rs1
/// - `i l`: word1 as a literal, as a code offset; `o`: scope in word1
pub fn operands(opcode: u8, modifier: u8) -> Option<&'static str> {
    let list = match (opcode, modifier) {
        (0x00..=0x03 | 0x05 | 0x06 | 0x09 | 0x0A | 0x0C | 0x0D, 0) => "d a b",
        (0x04 | 0x0B, 0) => "d a b c",
        (0x07 | 0x08, 0) => "d a",
        (0x10..=0x12 | 0x14 | 0x17 | 0x18, 0) => "d a b",
        (0x13 | 0x19, 0) => "d a b c",
        (0x15 | 0x16 | 0x1A, 0) | (0x1B, 0..=11) => "d a",
        (0x1C, 0..=2) | (0x1D, 0..=1) | (0x2D, 0..=2) | (0x2E, 0..=1) => "d a b",
        (0x1C, 3) | (0x1D, 2) | (0x2D, 3) | (0x2E, 2) => "d a b c",
        (0x1E, 0..=2) | (0x1F, 0) => "d2 a2 b2",
        (0x1E, 3) => "d2 a2 b2 c2",
        (0x1F, 1) => "d2 a2",
        (0x20..=0x22 | 0x24..=0x26, 0) => "d a b",
        (0x23, 0) | (0x27, 0..=2) => "d a",
        (0x27, 3) => "d a b c",
        (0x27, 4) => "d a b c e",
        (0x28 | 0x29, 0..=5) | (0x2A, 0..=7) => "p a b",
        (0x2B, 0) => "d q b c",
        (0x2C, 0..=5 | 8 | 9) => "d a",
        (0x2C, 6) => "d a2",
        (0x2C, 7) => "d2 a",
        (0x30, 0..=2) | (0x38, 0..=2 | 5..=7 | 10..=12) => "d a",
        (0x30, 3) | (0x38, 3 | 8 | 13) => "d2 a",
        (0x38, 4 | 9 | 14) => "d4 a",
        (0x31, 0..=2) | (0x39, 0..=2 | 5..=7 | 10..=12) => "a b",
        (0x31, 3) | (0x39, 3 | 8 | 13) => "a b2",
        (0x39, 4 | 9 | 14) => "a b4",
        (0x3C, 0..=7) => "x a b",
        (0x3C, 8) => "x a b c",
        (0x3D, 0..=7) => "x a b o",
        (0x3D, 8) => "x a b c o",
        (0x3E, 0..=4) => "d a b",
        (0x3E, 5) => "w q",
        (0x3E, 6 | 7) => "p q",
        (0x3E, 8..=14) => "d a",
        (0x3F, 0 | 4 | 5) => "n",
        (0x3F, 7) => "l",
        (0x3F, 11..=13) => "o",
        (0x3F, 1..=3 | 6 | 8..=10 | 14 | 15) => "",
        (0x40, 0 | 1) => "f a b",
        (0x40, 2) => "d a h",
        (0x40, 3) => "f g h",
        (0x41, 0) => "d a",
        (0x41, 1) => "d i",
        (0x41, 2) => "d s",
        _ => return None,
    };
    Some(list)
}

/// Words of an operation: 2 if an operand lives in word1.
fn words(operands: &str) -> u32 {
    if operands.contains(['b', 'c', 'e', 'h', 'i', 'l', 'o']) { 2 } else { 1 }
}

/// Words to advance by if nothing is executed. An unassigned key counts as one.
pub(super) fn length(word0: u32) -> u32 {
    operands((word0 >> 24) as u8, (word0 >> 4) as u8 & 15).map_or(1, words)
}

/// Decodes the instruction at the start of `code`, which ends where the kernel ends. `kernel` (in bytes)
/// bounds the targets of calls.
///
/// # Errors
/// Everything that makes an instruction illegal.
pub(super) fn decode(
    code: &[u32],
    kernel: std::ops::Range<u32>,
    registers: u32,
    machine: &Machine,
) -> Result<Decoded, DecodeError> {
    let word0 = *code.first().ok_or(DecodeError::Truncated)?;
    let (opcode, modifier) = ((word0 >> 24) as u8, (word0 >> 4) as u8 & 15);
    let Some(operands) = operands(opcode, modifier) else {
        // Every assigned opcode has a modifier 0.
        return Err(match self::operands(opcode, 0) {
            Some(_) => DecodeError::Modifier(opcode, modifier),
            None => DecodeError::Opcode(opcode),
        });
    };
    let words = words(operands);
    let word1 = if words == 2 { *code.get(1).ok_or(DecodeError::Truncated)? } else { 0 };
    let literal = operands.contains(['i', 'l']);
    if word0 & 0x8 != 0 || (!literal && word1 & 0xFC != 0) {
        return Err(DecodeError::ReservedBit);
    }
    let decoded = Decoded {
        opcode,
        modifier,
        words,
        predicate: word0 as u8 & 3,
        negated: word0 & 4 != 0,
        rd: (word0 >> 16) as u8,
        rs1: (word0 >> 8) as u8,
        rs2: (word1 >> 24) as u8,
        rs3: (word1 >> 16) as u8,
        rs4: (word1 >> 8) as u8,
        word1,
    };
    if word0 & 7 != 0 {
        let unguarded = match decoded.key() {
            (0x3F, 0) => Some(Op::If),
            (0x3F, 1) => Some(Op::Else),
            (0x3F, 2) => Some(Op::EndIf),
            (0x3F, 3) => Some(Op::Loop),
            (0x3F, 6) => Some(Op::EndLoop),
            (0x3F, 7) => Some(Op::Call),
            (0x3F, 8) => Some(Op::Return),
            _ => None,
        };
        if let Some(op) = unguarded {
            return Err(DecodeError::Guard(op));
        }
    }
    check_fields(&decoded, operands, registers, machine)?;
    match opcode {
        0x1E | 0x1F if !machine.f64 => return Err(DecodeError::Capability("CAP_F64")),
        0x2C if matches!(modifier, 6 | 7) && !machine.f64 => return Err(DecodeError::Capability("CAP_F64")),
        0x40 if !machine.mma => return Err(DecodeError::Capability("CAP_MMA")),
        _ => {}
    }
    if decoded.key() == (0x3F, 7) && (word1 % 4 != 0 || !kernel.contains(&word1)) {
        return Err(DecodeError::CallTarget(word1));
    }
    Ok(decoded)
}

/// Checks that registers, predicates, fragments and special registers exist.
fn check_fields(i: &Decoded, operands: &str, registers: u32, machine: &Machine) -> Result<(), DecodeError> {
    for operand in operands.split_whitespace() {
        let (letter, digit) = operand.split_at(1);
        let rows: u32 = match (letter, digit) {
            ("w", _) if machine.wave_width > 32 => 2,
            (_, "2") => 2,
            (_, "4") => 4,
            _ => 1,
        };
        let first = match letter {
            "x" if i.rd == 0 => continue,
            "d" | "x" | "w" => i.rd,
            "a" => i.rs1,
            "b" => i.rs2,
            "c" => i.rs3,
            "e" => i.rs4,
            "p" if i.rd > 3 => return Err(DecodeError::Predicate(i.rd)),
            "q" if i.rs1 > 3 => return Err(DecodeError::Predicate(i.rs1)),
            "n" if i.rs1 > 7 => return Err(DecodeError::Predicate(i.rs1)),
            "f" if i.rd > 7 => return Err(DecodeError::Fragment(i.rd)),
            "g" if i.rs1 > 7 => return Err(DecodeError::Fragment(i.rs1)),
            "h" if i.rs2 > 7 => return Err(DecodeError::Fragment(i.rs2)),
            "s" if i.rs1 > 19 => return Err(DecodeError::Special(i.rs1)),
            _ => continue,
        };
        let last = u32::from(first) + rows - 1;
        if last >= registers {
            return Err(DecodeError::Register { last: last as u16, declared: registers as u16 });
        }
    }
    Ok(())
}
