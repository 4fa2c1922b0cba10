//! Types of PTX, and the types of the representation that hold their values.

use crate::ir::Type;

/// How the bits of a type are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bits without a meaning.
    Bits,
    /// An integer without a sign.
    Unsigned,
    /// An integer with a sign.
    Signed,
    /// A binary floating-point number of IEEE 754.
    Float,
    /// A number with the exponent of a binary32 and 16 bits.
    Brain,
    /// Two numbers of 16 bits in a word.
    Pair,
    /// Two such numbers with the exponent of a binary32.
    BrainPair,
    /// A binary32 of which the last 13 bits do not count.
    Tensor,
    /// A truth value.
    Predicate,
}

/// A type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PtxType {
    /// How its bits are read.
    pub(super) kind: Kind,
    /// Bits in memory.
    pub(super) bits: u32,
}

/// Names of the types that are taken.
const NAMES: [(&str, Kind, u32); 21] = [
    ("b8", Kind::Bits, 8),
    ("b16", Kind::Bits, 16),
    ("b32", Kind::Bits, 32),
    ("b64", Kind::Bits, 64),
    ("u8", Kind::Unsigned, 8),
    ("u16", Kind::Unsigned, 16),
    ("u32", Kind::Unsigned, 32),
    ("u64", Kind::Unsigned, 64),
    ("s8", Kind::Signed, 8),
    ("s16", Kind::Signed, 16),
    ("s32", Kind::Signed, 32),
    ("s64", Kind::Signed, 64),
    ("f16", Kind::Float, 16),
    ("f32", Kind::Float, 32),
    ("f64", Kind::Float, 64),
    ("bf16", Kind::Brain, 16),
    ("f16x2", Kind::Pair, 32),
    ("bf16x2", Kind::BrainPair, 32),
    ("tf32", Kind::Tensor, 32),
    ("pred", Kind::Predicate, 1),
    ("b128", Kind::Bits, 128),
];

/// Types that exist and are not taken.
const OTHERS: &[&str] = &[
    "e4m3",
    "e5m2",
    "e4m3x2",
    "e5m2x2",
    "e2m1",
    "e2m1x2",
    "e3m2",
    "e2m3",
    "e3m2x2",
    "e2m3x2",
    "ue8m0x2",
    "u4",
    "s4",
    "b1",
    "u16x2",
    "s16x2",
    "texref",
    "samplerref",
    "surfref",
    "b6x16_p32",
    "b4x16_p64",
];

impl PtxType {
    pub(super) const U16: PtxType = PtxType { kind: Kind::Unsigned, bits: 16 };
    pub(super) const B32: PtxType = PtxType { kind: Kind::Bits, bits: 32 };
    pub(super) const U32: PtxType = PtxType { kind: Kind::Unsigned, bits: 32 };
    pub(super) const B64: PtxType = PtxType { kind: Kind::Bits, bits: 64 };
    pub(super) const F32: PtxType = PtxType { kind: Kind::Float, bits: 32 };
    pub(super) const PRED: PtxType = PtxType { kind: Kind::Predicate, bits: 1 };

    /// The type with this name, without a dot.
    pub(super) fn from_name(name: &str) -> Option<PtxType> {
        NAMES.iter().find(|row| row.0 == name).map(|&(_, kind, bits)| PtxType { kind, bits })
    }

    /// Its name, without a dot.
    pub(super) fn name(self) -> &'static str {
        NAMES.iter().find(|row| row.1 == self.kind && row.2 == self.bits).map_or("b32", |row| row.0)
    }

    /// The type of the representation for its values. A number of 8 or 16 bits lies in the low bits of an `i32` whose
    /// other bits are anything.
    pub(super) const fn ir(self) -> Type {
        match (self.kind, self.bits) {
            (Kind::Predicate, _) => Type::Bool,
            (Kind::Float, 32) => Type::F32,
            (Kind::Float, 64) => Type::F64,
            (_, 64) => Type::I64,
            _ => Type::I32,
        }
    }

    /// True for integers and bits.
    pub(super) const fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Bits | Kind::Unsigned | Kind::Signed)
    }

    /// True for integers with a sign.
    pub(super) const fn is_signed(self) -> bool {
        matches!(self.kind, Kind::Signed)
    }

    /// True for a binary32 or a binary64.
    pub(super) const fn is_float(self) -> bool {
        matches!(self.kind, Kind::Float) && self.bits >= 32
    }

    /// Bytes in memory.
    pub(super) const fn bytes(self) -> u32 {
        self.bits.div_ceil(8)
    }
}

/// True for the name of a type that exists and is not taken.
pub(super) fn is_other_type(name: &str) -> bool {
    OTHERS.contains(&name)
}
