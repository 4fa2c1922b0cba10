//! What an instruction computes: the operations without effects, each with its types.

use super::types::Type;

/// Declares an enum whose variants have names in the text form.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])+ $variant:ident $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[doc = $doc])+ $variant,)* }

        impl $name {
            /// Every one.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// Its name in the text form.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The one with this name.
            pub fn from_name(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}
pub(super) use named;

named! {
    /// An operation on one value. Float operations give a canonical NaN for a NaN result, but `FNeg` and `FAbs`,
    /// which change the sign bit only.
    Unary {
        /// Truth value: its complement.
        Not "not",
        /// Integer: number of leading zeros; all of them for 0.
        Clz "clz",
        /// Integer: number of trailing zeros; all of them for 0.
        Ctz "ctz",
        /// Integer: number of ones.
        Popcnt "popcnt",
        /// Integer: the low 8 bits, sign-extended.
        Extend8 "extend8_s",
        /// Integer: the low 16 bits, sign-extended.
        Extend16 "extend16_s",
        /// `i64`: the low 32 bits, sign-extended.
        Extend32 "extend32_s",
        /// Float: the sign bit flipped.
        FNeg "fneg",
        /// Float: the sign bit cleared.
        FAbs "fabs",
        /// Float: rounded towards plus infinity.
        FCeil "fceil",
        /// Float: rounded towards minus infinity.
        FFloor "ffloor",
        /// Float: rounded towards zero.
        FTrunc "ftrunc",
        /// Float: rounded to nearest, ties to even.
        FNearest "fnearest",
        /// Float: square root.
        FSqrt "fsqrt",
        /// `f32`: sine by the special-function unit.
        FSin "fsin",
        /// `f32`: cosine by the special-function unit.
        FCos "fcos",
        /// `f32`: power of 2 by the special-function unit.
        FExp2 "fexp2",
        /// `f32`: logarithm to base 2 by the special-function unit.
        FLog2 "flog2",
        /// `f32`: 1 / square root, rounded twice.
        FRsqrt "frsqrt",
        /// `f32`: 1 / value.
        FRcp "frcp",
        /// `i32`: the bits in reverse order.
        Reverse "reverse",
    }
}

named! {
    /// An operation on two values of one type, which its result has too. Integers wrap.
    Binary {
        /// Integer sum.
        Add "add",
        /// Integer difference.
        Sub "sub",
        /// Integer product, low half.
        Mul "mul",
        /// `i32`: the high half of the unsigned product.
        MulHigh "mul_high_u",
        /// Signed quotient, truncated. Traps on division by 0 and on overflow.
        DivS "div_s",
        /// Unsigned quotient. Traps on division by 0.
        DivU "div_u",
        /// Signed remainder with the sign of the dividend; 0 where the quotient overflows. Traps on division by 0.
        RemS "rem_s",
        /// Unsigned remainder. Traps on division by 0.
        RemU "rem_u",
        /// `i32`: as `DivS`, but the dividend where that traps.
        TotalDivS "total_div_s",
        /// `i32`: as `DivU`, but the dividend where that traps.
        TotalDivU "total_div_u",
        /// `i32`: as `RemS`, but 0 where that traps.
        TotalRemS "total_rem_s",
        /// `i32`: as `RemU`, but 0 where that traps.
        TotalRemU "total_rem_u",
        /// Bitwise and; also of truth values.
        And "and",
        /// Bitwise or; also of truth values.
        Or "or",
        /// Bitwise exclusive or; also of truth values.
        Xor "xor",
        /// Shift to the left by the second value modulo the width.
        Shl "shl",
        /// Arithmetic shift to the right by the second value modulo the width.
        ShrS "shr_s",
        /// Logical shift to the right by the second value modulo the width.
        ShrU "shr_u",
        /// Rotation to the left.
        Rotl "rotl",
        /// Rotation to the right.
        Rotr "rotr",
        /// Signed minimum.
        MinS "min_s",
        /// Signed maximum.
        MaxS "max_s",
        /// Unsigned minimum.
        MinU "min_u",
        /// Unsigned maximum.
        MaxU "max_u",
        /// Float sum.
        FAdd "fadd",
        /// Float difference.
        FSub "fsub",
        /// Float product.
        FMul "fmul",
        /// Float quotient.
        FDiv "fdiv",
        /// Float minimum; NaN if either is, and -0 below +0.
        FMin "fmin",
        /// Float maximum; NaN if either is, and -0 below +0.
        FMax "fmax",
        /// Float minimum of the numbers; NaN only if both are.
        FMinNumber "fmin_number",
        /// Float maximum of the numbers; NaN only if both are.
        FMaxNumber "fmax_number",
        /// The first value with the sign of the second.
        FCopysign "fcopysign",
    }
}

named! {
    /// A comparison of two values of one type; it gives a truth value. Floats compare quietly: on a NaN all are false
    /// but `FNe`.
    Compare {
        /// Integer: equal.
        Eq "eq",
        /// Integer: not equal.
        Ne "ne",
        /// Integer: less, signed.
        LtS "lt_s",
        /// Integer: less, unsigned.
        LtU "lt_u",
        /// Integer: at most, signed.
        LeS "le_s",
        /// Integer: at most, unsigned.
        LeU "le_u",
        /// Integer: greater, signed.
        GtS "gt_s",
        /// Integer: greater, unsigned.
        GtU "gt_u",
        /// Integer: at least, signed.
        GeS "ge_s",
        /// Integer: at least, unsigned.
        GeU "ge_u",
        /// Float: equal.
        FEq "feq",
        /// Float: not equal, or a NaN.
        FNe "fne",
        /// Float: less.
        FLt "flt",
        /// Float: at most.
        FLe "fle",
        /// Float: greater.
        FGt "fgt",
        /// Float: at least.
        FGe "fge",
    }
}

named! {
    /// A conversion. Its name says both types where they are not free: `TO_FROM`.
    Convert {
        /// Truth value to `i32`: 0 or 1.
        BoolToI32 "i32_bool",
        /// `i64` to `i32`: the low half.
        Wrap "i32_wrap",
        /// `i32` to `i64`, sign-extended.
        ExtendS "i64_extend_s",
        /// `i32` to `i64`, zero-extended.
        ExtendU "i64_extend_u",
        /// `f32` to `f64`.
        Promote "f64_promote",
        /// `f64` to `f32`, to nearest even.
        Demote "f32_demote",
        /// Float to signed `i32`, truncated. Traps on a NaN and out of range.
        TruncI32S "i32_trunc_s",
        /// Float to unsigned `i32`, truncated. Traps on a NaN and out of range.
        TruncI32U "i32_trunc_u",
        /// Float to signed `i64`, truncated. Traps on a NaN and out of range.
        TruncI64S "i64_trunc_s",
        /// Float to unsigned `i64`, truncated. Traps on a NaN and out of range.
        TruncI64U "i64_trunc_u",
        /// Float to signed `i32`, truncated and saturated; a NaN gives 0.
        TruncSatI32S "i32_trunc_sat_s",
        /// Float to unsigned `i32`, truncated and saturated; a NaN gives 0.
        TruncSatI32U "i32_trunc_sat_u",
        /// Float to signed `i64`, truncated and saturated; a NaN gives 0.
        TruncSatI64S "i64_trunc_sat_s",
        /// Float to unsigned `i64`, truncated and saturated; a NaN gives 0.
        TruncSatI64U "i64_trunc_sat_u",
        /// Signed integer to `f32`, to nearest even.
        F32S "f32_convert_s",
        /// Unsigned integer to `f32`, to nearest even.
        F32U "f32_convert_u",
        /// Signed integer to `f64`, to nearest even.
        F64S "f64_convert_s",
        /// Unsigned integer to `f64`, to nearest even.
        F64U "f64_convert_u",
        /// The same bits as a number of the other kind: `i32` and `f32`, `i64` and `f64`.
        Reinterpret "reinterpret",
    }
}

impl Unary {
    /// True if it takes a value of this type; its result has the same.
    pub const fn takes(self, ty: Type) -> bool {
        match self {
            Unary::Not => matches!(ty, Type::Bool),
            Unary::Clz | Unary::Ctz | Unary::Popcnt | Unary::Extend8 | Unary::Extend16 => ty.is_integer(),
            Unary::Extend32 => matches!(ty, Type::I64),
            Unary::FNeg
            | Unary::FAbs
            | Unary::FCeil
            | Unary::FFloor
            | Unary::FTrunc
            | Unary::FNearest
            | Unary::FSqrt => ty.is_float(),
            Unary::FSin | Unary::FCos | Unary::FExp2 | Unary::FLog2 | Unary::FRsqrt | Unary::FRcp => {
                matches!(ty, Type::F32)
            }
            Unary::Reverse => matches!(ty, Type::I32),
        }
    }
}

impl Binary {
    /// True if it takes values of this type; its result has the same.
    pub const fn takes(self, ty: Type) -> bool {
        match self {
            Binary::And | Binary::Or | Binary::Xor => ty.is_integer() || matches!(ty, Type::Bool),
            Binary::MulHigh
            | Binary::TotalDivS
            | Binary::TotalDivU
            | Binary::TotalRemS
            | Binary::TotalRemU => matches!(ty, Type::I32),
            Binary::FAdd
            | Binary::FSub
            | Binary::FMul
            | Binary::FDiv
            | Binary::FMin
            | Binary::FMax
            | Binary::FMinNumber
            | Binary::FMaxNumber
            | Binary::FCopysign => ty.is_float(),
            _ => ty.is_integer(),
        }
    }

    /// True if it traps for some values.
    pub const fn traps(self) -> bool {
        matches!(self, Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU)
    }
}

impl Compare {
    /// True if it takes values of this type.
    pub const fn takes(self, ty: Type) -> bool {
        match self {
            Compare::FEq | Compare::FNe | Compare::FLt | Compare::FLe | Compare::FGt | Compare::FGe => {
                ty.is_float()
            }
            _ => ty.is_integer(),
        }
    }
}

impl Convert {
    /// Type of the result for a value of type `from`; `None` if it does not take that type.
    pub const fn result(self, from: Type) -> Option<Type> {
        let (takes, to) = match self {
            Convert::BoolToI32 => (matches!(from, Type::Bool), Type::I32),
            Convert::Wrap => (matches!(from, Type::I64), Type::I32),
            Convert::ExtendS | Convert::ExtendU => (matches!(from, Type::I32), Type::I64),
            Convert::Promote => (matches!(from, Type::F32), Type::F64),
            Convert::Demote => (matches!(from, Type::F64), Type::F32),
            Convert::TruncI32S | Convert::TruncI32U | Convert::TruncSatI32S | Convert::TruncSatI32U => {
                (from.is_float(), Type::I32)
            }
            Convert::TruncI64S | Convert::TruncI64U | Convert::TruncSatI64S | Convert::TruncSatI64U => {
                (from.is_float(), Type::I64)
            }
            Convert::F32S | Convert::F32U => (from.is_integer(), Type::F32),
            Convert::F64S | Convert::F64U => (from.is_integer(), Type::F64),
            Convert::Reinterpret => match from {
                Type::I32 => (true, Type::F32),
                Type::F32 => (true, Type::I32),
                Type::I64 => (true, Type::F64),
                Type::F64 => (true, Type::I64),
                Type::Bool => (false, Type::Bool),
            },
        };
        if takes { Some(to) } else { None }
    }

    /// True if it traps for some values.
    pub const fn traps(self) -> bool {
        matches!(self, Convert::TruncI32S | Convert::TruncI32U | Convert::TruncI64S | Convert::TruncI64U)
    }
}
