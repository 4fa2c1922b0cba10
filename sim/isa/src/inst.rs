//! One instruction: decoding from words, encoding to words, and the checks that need the machine.

use super::operand::{Field, Role};
use super::special::{Scope, Special};
use super::table::Op;
use super::{MMA_FRAGMENTS, PREDICATES};
use std::fmt;

/// The predicate that guards an instruction. The encoding (0, false) means "no guard", so `@p0` does
/// not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Guard {
    /// Predicate register, 0 to 3.
    pub predicate: u8,
    /// Participate where the predicate is false.
    pub negated: bool,
}

impl Guard {
    /// No guard: every active lane participates.
    pub const NONE: Guard = Guard { predicate: 0, negated: false };

    /// True unless this is [`Guard::NONE`].
    #[inline]
    pub fn is_some(self) -> bool {
        self != Guard::NONE
    }
}

/// A decoded instruction. Fields that the operation does not use are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// The lanes that participate.
    pub guard: Guard,
    /// word0\[23:16\]
    pub rd: u8,
    /// word0\[15:8\]
    pub rs1: u8,
    /// word1\[31:24\]
    pub rs2: u8,
    /// word1\[23:16\]
    pub rs3: u8,
    /// word1\[15:8\]
    pub rs4: u8,
    /// word1\[1:0\] as a scope; `Scope::Wave` where unused.
    pub scope: Scope,
    /// word1 as a literal; 0 where unused.
    pub imm: u32,
}

/// Why words are not an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// No row of the table has this opcode with any modifier.
    Opcode(u8),
    /// The opcode exists, but not with this modifier.
    Modifier(u8, u8),
    /// A reserved bit of word0 or word1 is set.
    ReservedBit,
    /// The operation takes no guard.
    Guard(Op),
    /// A predicate index above p3.
    Predicate(u8),
    /// A special register that is not assigned.
    Special(u8),
    /// A matrix fragment that does not exist.
    Fragment(u8),
    /// word1 is needed, but the code ends.
    Truncated,
    /// A register operand passes the last register that the kernel declared.
    Register {
        /// Highest register that the operand touches.
        last: u16,
        /// Registers declared.
        declared: u16,
    },
    /// The configuration lacks the capability.
    Capability(&'static str),
    /// A call target that is not an instruction of the kernel.
    CallTarget(u32),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::Opcode(op) => write!(f, "opcode 0x{op:02X} is not assigned"),
            DecodeError::Modifier(op, m) => write!(f, "opcode 0x{op:02X} has no modifier {m}"),
            DecodeError::ReservedBit => write!(f, "a reserved bit is set"),
            DecodeError::Guard(op) => write!(f, "`{}` takes no guard", op.info().mnemonic),
            DecodeError::Predicate(p) => write!(f, "predicate p{p} does not exist (p0 to p3)"),
            DecodeError::Special(s) => write!(f, "special register {s} does not exist (0 to 19)"),
            DecodeError::Fragment(x) => {
                write!(f, "matrix fragment {x} does not exist (0 to {})", MMA_FRAGMENTS - 1)
            }
            DecodeError::Truncated => write!(f, "the code ends before the second word"),
            DecodeError::Register { last, declared } => {
                write!(f, "r{last} is past the {declared} registers that the kernel declares")
            }
            DecodeError::Capability(cap) => write!(f, "this machine has no {cap}"),
            DecodeError::CallTarget(t) => {
                write!(f, "call target 0x{t:x} is not an instruction of this kernel")
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// Bits 7:2 of word1 are reserved where word1 is not an immediate.
const WORD1_RESERVED: u32 = 0xFC;
/// Bit 3 of word0 is reserved.
const WORD0_RESERVED: u32 = 0x8;

impl Inst {
    /// An instruction with every operand field 0 and no guard.
    pub fn new(op: Op) -> Inst {
        Inst { op, guard: Guard::NONE, rd: 0, rs1: 0, rs2: 0, rs3: 0, rs4: 0, scope: Scope::Wave, imm: 0 }
    }

    /// Words of its encoding, 1 or 2.
    pub fn words(&self) -> u32 {
        self.op.info().words()
    }

    /// Decodes the instruction at the start of `code`.
    ///
    /// # Errors
    /// Whatever isa sections 2 and 3 call an illegal instruction, as far as it shows without the kernel's
    /// metadata; [`Inst::check_registers`] checks the rest.
    pub fn decode(code: &[u32]) -> Result<Inst, DecodeError> {
        let word0 = *code.first().ok_or(DecodeError::Truncated)?;
        let (opcode, modifier) = ((word0 >> 24) as u8, (word0 >> 4) as u8 & 15);
        let Some(op) = Op::from_key(opcode, modifier) else {
            let assigned = (0..16).any(|m| Op::from_key(opcode, m).is_some());
            return Err(if assigned {
                DecodeError::Modifier(opcode, modifier)
            } else {
                DecodeError::Opcode(opcode)
            });
        };
        if word0 & WORD0_RESERVED != 0 {
            return Err(DecodeError::ReservedBit);
        }
        let info = op.info();
        let word1 = match info.words() {
            2 => *code.get(1).ok_or(DecodeError::Truncated)?,
            _ => 0,
        };
        if !info.has_imm() && word1 & WORD1_RESERVED != 0 {
            return Err(DecodeError::ReservedBit);
        }
        let guard = Guard { predicate: word0 as u8 & 3, negated: word0 & 4 != 0 };
        if guard.is_some() && op.rejects_guard() {
            return Err(DecodeError::Guard(op));
        }
        let mut inst = Inst { guard, ..Inst::new(op) };
        for operand in info.operands {
            match operand.field {
                Field::Rd => inst.rd = (word0 >> 16) as u8,
                Field::Rs1 => inst.rs1 = (word0 >> 8) as u8,
                Field::Rs2 => inst.rs2 = (word1 >> 24) as u8,
                Field::Rs3 => inst.rs3 = (word1 >> 16) as u8,
                Field::Rs4 => inst.rs4 = (word1 >> 8) as u8,
                Field::Imm => inst.imm = word1,
                Field::Scope => inst.scope = Scope::ALL[word1 as usize & 3],
            }
            let value = inst.field(operand.field);
            match operand.role {
                Role::PredDst | Role::PredSrc if usize::from(value) >= PREDICATES => {
                    return Err(DecodeError::Predicate(value));
                }
                Role::PredSrcNeg if value >= 8 => return Err(DecodeError::Predicate(value)),
                Role::Special if Special::from_code(value).is_none() => {
                    return Err(DecodeError::Special(value));
                }
                Role::FragA | Role::FragB | Role::FragC if usize::from(value) >= MMA_FRAGMENTS => {
                    return Err(DecodeError::Fragment(value));
                }
                _ => {}
            }
        }
        Ok(inst)
    }

    /// Encodes to one or two words. The second is 0 if the instruction has one word.
    pub fn encode(&self) -> [u32; 2] {
        let info = self.op.info();
        let mut word0 = u32::from(info.opcode) << 24
            | u32::from(info.modifier) << 4
            | u32::from(self.guard.negated) << 2
            | u32::from(self.guard.predicate & 3);
        let mut word1 = 0;
        for operand in info.operands {
            match operand.field {
                Field::Rd => word0 |= u32::from(self.rd) << 16,
                Field::Rs1 => word0 |= u32::from(self.rs1) << 8,
                Field::Rs2 => word1 |= u32::from(self.rs2) << 24,
                Field::Rs3 => word1 |= u32::from(self.rs3) << 16,
                Field::Rs4 => word1 |= u32::from(self.rs4) << 8,
                Field::Imm => word1 = self.imm,
                Field::Scope => word1 |= self.scope as u32,
            }
        }
        [word0, word1]
    }

    /// The 8-bit field. 0 for the immediate and the scope, which are public fields.
    pub fn field(&self, field: Field) -> u8 {
        match field {
            Field::Rd => self.rd,
            Field::Rs1 => self.rs1,
            Field::Rs2 => self.rs2,
            Field::Rs3 => self.rs3,
            Field::Rs4 => self.rs4,
            Field::Imm | Field::Scope => 0,
        }
    }

    /// Sets an 8-bit field; the immediate and the scope are public fields.
    pub fn set_field(&mut self, field: Field, value: u8) {
        match field {
            Field::Rd => self.rd = value,
            Field::Rs1 => self.rs1 = value,
            Field::Rs2 => self.rs2 = value,
            Field::Rs3 => self.rs3 = value,
            Field::Rs4 => self.rs4 = value,
            Field::Imm | Field::Scope => {}
        }
    }

    /// General registers read, in operand order, as (first register, rows).
    pub fn sources(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        self.op.info().operands.iter().filter_map(|o| match o.role {
            Role::Src(rows) => Some((self.field(o.field), rows)),
            _ => None,
        })
    }

    /// General registers written, as (first register, rows). The rows of a ballot depend on `wave_width`.
    pub fn destination(&self, wave_width: usize) -> Option<(u8, u8)> {
        self.op.info().operands.iter().find_map(|o| match o.role {
            Role::Dst(rows) => Some((self.field(o.field), rows)),
            Role::DstBallot => Some((self.rd, if wave_width > 32 { 2 } else { 1 })),
            Role::DstOptional if self.rd != 0 => Some((self.rd, 1)),
            _ => None,
        })
    }

    /// The predicate written, if any.
    pub fn predicate_destination(&self) -> Option<u8> {
        self.op.info().operands.iter().any(|o| o.role == Role::PredDst).then_some(self.rd)
    }

    /// The predicate operand read (not the guard), as (index, negated).
    pub fn predicate_source(&self) -> Option<(u8, bool)> {
        self.op.info().operands.iter().find_map(|o| match o.role {
            Role::PredSrc => Some((self.rs1 & 3, false)),
            Role::PredSrcNeg => Some((self.rs1 & 3, self.rs1 & 4 != 0)),
            _ => None,
        })
    }

    /// Checks that every register operand lies below `declared`.
    ///
    /// # Errors
    /// [`DecodeError::Register`] with the highest register touched.
    pub fn check_registers(&self, declared: u16, wave_width: usize) -> Result<(), DecodeError> {
        for (first, rows) in self.sources().chain(self.destination(wave_width)) {
            let last = u16::from(first) + u16::from(rows) - 1;
            if last >= declared {
                return Err(DecodeError::Register { last, declared });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TABLE;

    #[test]
    fn reserved_bits_are_illegal() {
        for info in TABLE {
            let [w0, w1] = Inst::new(info.op).encode();
            assert!(Inst::decode(&[w0, w1]).is_ok(), "{}", info.mnemonic);
            assert_eq!(Inst::decode(&[w0 | 8, w1]), Err(DecodeError::ReservedBit));
            if info.words() == 2 && !info.has_imm() {
                for bit in 2..8 {
                    assert_eq!(Inst::decode(&[w0, w1 | 1 << bit]), Err(DecodeError::ReservedBit));
                }
            }
        }
    }

    #[test]
    fn unused_fields_are_ignored_when_decoding() {
        // nop uses neither rd nor rs1.
        let inst = Inst::decode(&[0x3F12_34F0]).unwrap();
        assert_eq!(inst, Inst::new(Op::Nop));
    }

    #[test]
    fn a_missing_second_word_is_an_error() {
        let [w0, _] = Inst::new(Op::IAdd).encode();
        assert_eq!(Inst::decode(&[w0]), Err(DecodeError::Truncated));
    }
}
