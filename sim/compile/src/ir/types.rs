//! Types and constants.

use std::fmt;

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A truth value: what a comparison gives and a branch takes. In WAVE a predicate.
    Bool,
    /// 32 bits, without a sign of their own.
    I32,
    /// 64 bits, without a sign of their own.
    I64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl Type {
    /// Its name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Type::Bool => "bool",
            Type::I32 => "i32",
            Type::I64 => "i64",
            Type::F32 => "f32",
            Type::F64 => "f64",
        }
    }

    /// Bytes in memory; 1 for a truth value, which memory does not hold.
    pub const fn bytes(self) -> u32 {
        match self {
            Type::Bool => 1,
            Type::I32 | Type::F32 => 4,
            Type::I64 | Type::F64 => 8,
        }
    }

    /// True for `I32` and `I64`.
    pub const fn is_integer(self) -> bool {
        matches!(self, Type::I32 | Type::I64)
    }

    /// True for `F32` and `F64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value known when the module is made. Floats are bit patterns, so that every NaN is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Constant {
    /// A truth value.
    Bool(bool),
    /// A 32-bit integer.
    I32(u32),
    /// A 64-bit integer.
    I64(u64),
    /// The bits of a binary32.
    F32(u32),
    /// The bits of a binary64.
    F64(u64),
}

impl Constant {
    /// Its type.
    pub const fn ty(self) -> Type {
        match self {
            Constant::Bool(_) => Type::Bool,
            Constant::I32(_) => Type::I32,
            Constant::I64(_) => Type::I64,
            Constant::F32(_) => Type::F32,
            Constant::F64(_) => Type::F64,
        }
    }

    /// Its bits, in the low end of a word.
    pub const fn bits(self) -> u64 {
        match self {
            Constant::Bool(value) => value as u64,
            Constant::I32(bits) | Constant::F32(bits) => bits as u64,
            Constant::I64(bits) | Constant::F64(bits) => bits,
        }
    }

    /// The constant of a type with these bits; bits that the type has not are dropped.
    pub const fn from_bits(ty: Type, bits: u64) -> Constant {
        match ty {
            Type::Bool => Constant::Bool(bits & 1 != 0),
            Type::I32 => Constant::I32(bits as u32),
            Type::I64 => Constant::I64(bits),
            Type::F32 => Constant::F32(bits as u32),
            Type::F64 => Constant::F64(bits),
        }
    }

    /// The zero of a type: the value of what nobody has written.
    pub const fn zero(ty: Type) -> Constant {
        Constant::from_bits(ty, 0)
    }
}

/// Parameters and results of a function.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Signature {
    /// Types of the parameters.
    pub parameters: Vec<Type>,
    /// Types of the results.
    pub results: Vec<Type>,
}
