//! What the operations without effects compute, on bit patterns: WebAssembly's results, every computed NaN canonical.
//!
//! A value is its bits in the low end of a word, zeros above them, as [`Constant::bits`](super::Constant::bits) gives
//! them. The types must be ones that the operation takes, which the verifier has checked.

use super::{Binary, Compare, Convert, Double, Half, Trap, Type, Unary};
use half::f16;

/// The canonical NaN of binary32.
pub const NAN_F32: u32 = 0x7FC0_0000;
/// The canonical NaN of binary16.
pub const NAN_F16: u16 = 0x7E00;
/// The canonical NaN of binary64.
pub const NAN_F64: u64 = 0x7FF8_0000_0000_0000;

/// What is left for a caller: the functions of the special-function unit (`FSin`, `FCos`, `FExp2`, `FLog2`), from bits
/// of binary32 to bits of binary32.
pub type SpecialFunctions = fn(Unary, u32) -> u32;

/// The special functions through those of the host in binary64, rounded. They are near those of the machine, whose
/// results may differ in the last bits.
pub fn host_special_functions(unary: Unary, bits: u32) -> u32 {
    let value = f64::from(f32::from_bits(bits));
    f32_bits(match unary {
        Unary::FSin => value.sin() as f32,
        Unary::FCos => value.cos() as f32,
        Unary::FExp2 => value.exp2() as f32,
        Unary::FLog2 => value.log2() as f32,
        other => unreachable!("{} is no special function", other.name()),
    })
}

/// Bits of a result: a NaN as the canonical one.
fn f32_bits(value: f32) -> u32 {
    if value.is_nan() { NAN_F32 } else { value.to_bits() }
}

/// Bits of a result: a NaN as the canonical one.
fn f64_bits(value: f64) -> u64 {
    if value.is_nan() { NAN_F64 } else { value.to_bits() }
}

/// The low half of a word as an `f32`.
fn as_f32(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// The sign bit of a float type.
fn sign(ty: Type) -> u64 {
    1 << (ty.bytes() * 8 - 1)
}

/// An operation on one value of a type.
pub fn unary(operation: Unary, ty: Type, a: u64, special: SpecialFunctions) -> u64 {
    let wide = ty.bytes() == 8;
    match operation {
        Unary::Not => a ^ 1,
        Unary::Clz if wide => a.leading_zeros().into(),
        Unary::Clz => (a as u32).leading_zeros().into(),
        Unary::Ctz if wide => a.trailing_zeros().into(),
        Unary::Ctz => (a as u32).trailing_zeros().into(),
        Unary::Popcnt => a.count_ones().into(),
        Unary::Extend8 => signed(a as i8, wide),
        Unary::Extend16 => signed(a as i16, wide),
        Unary::Extend32 => signed(a as i32, wide),
        Unary::FNeg => a ^ sign(ty),
        Unary::FAbs => a & !sign(ty),
        Unary::FCeil => float(wide, a, f32::ceil, f64::ceil),
        Unary::FFloor => float(wide, a, f32::floor, f64::floor),
        Unary::FTrunc => float(wide, a, f32::trunc, f64::trunc),
        Unary::FNearest => float(wide, a, f32::round_ties_even, f64::round_ties_even),
        Unary::FSqrt => float(wide, a, f32::sqrt, f64::sqrt),
        Unary::FSin | Unary::FCos | Unary::FExp2 | Unary::FLog2 => special(operation, a as u32).into(),
        Unary::FRsqrt => f32_bits(1.0 / as_f32(a).sqrt()).into(),
        Unary::FRcp => f32_bits(1.0 / as_f32(a)).into(),
        Unary::Reverse => (a as u32).reverse_bits().into(),
    }
}

/// An integer extended with its sign to 32 or 64 bits.
fn signed(value: impl Into<i64>, wide: bool) -> u64 {
    let value: i64 = value.into();
    if wide { value as u64 } else { u64::from(value as u32) }
}

fn float(wide: bool, a: u64, f32: fn(f32) -> f32, f64: fn(f64) -> f64) -> u64 {
    if wide { f64_bits(f64(f64::from_bits(a))) } else { f32_bits(f32(as_f32(a))).into() }
}

/// Declares what an operation on two integers of a width does.
macro_rules! integers {
    ($name:ident, $unsigned:ty, $signed:ty) => {
        fn $name(operation: Binary, a: $unsigned, b: $unsigned) -> Result<$unsigned, Trap> {
            let (sa, sb) = (a as $signed, b as $signed);
            // Shifts take the amount modulo the width.
            let amount = b as u32;
            Ok(match operation {
                Binary::Add => a.wrapping_add(b),
                Binary::Sub => a.wrapping_sub(b),
                Binary::Mul => a.wrapping_mul(b),
                Binary::MulHigh => ((u128::from(a) * u128::from(b)) >> <$unsigned>::BITS) as $unsigned,
                Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU if b == 0 => {
                    return Err(Trap::DivideByZero);
                }
                Binary::DivS => sa.checked_div(sb).ok_or(Trap::IntegerOverflow)? as $unsigned,
                Binary::DivU => a / b,
                Binary::RemS => sa.wrapping_rem(sb) as $unsigned,
                Binary::RemU => a % b,
                Binary::TotalDivS | Binary::TotalDivU if b == 0 => a,
                Binary::TotalDivS => sa.wrapping_div(sb) as $unsigned,
                Binary::TotalDivU => a / b,
                Binary::TotalRemS | Binary::TotalRemU if b == 0 => 0,
                Binary::TotalRemS => sa.wrapping_rem(sb) as $unsigned,
                Binary::TotalRemU => a % b,
                Binary::And => a & b,
                Binary::Or => a | b,
                Binary::Xor => a ^ b,
                Binary::Shl => a.wrapping_shl(amount),
                Binary::ShrS => sa.wrapping_shr(amount) as $unsigned,
                Binary::ShrU => a.wrapping_shr(amount),
                Binary::Rotl => a.rotate_left(amount % <$unsigned>::BITS),
                Binary::Rotr => a.rotate_right(amount % <$unsigned>::BITS),
                Binary::MinS => sa.min(sb) as $unsigned,
                Binary::MaxS => sa.max(sb) as $unsigned,
                Binary::MinU => a.min(b),
                Binary::MaxU => a.max(b),
                other => unreachable!("{} takes floats", other.name()),
            })
        }
    };
}

integers!(integers_32, u32, i32);
integers!(integers_64, u64, i64);

/// Declares what an operation on two floats of a width does. The result may be any NaN.
macro_rules! floats {
    ($name:ident, $float:ty) => {
        fn $name(operation: Binary, a: $float, b: $float) -> $float {
            let is_less = a < b || a == b && a.is_sign_negative();
            let (least, greatest) = if is_less { (a, b) } else { (b, a) };
            match operation {
                Binary::FAdd => a + b,
                Binary::FSub => a - b,
                Binary::FMul => a * b,
                Binary::FDiv => a / b,
                Binary::FMinNumber | Binary::FMaxNumber if a.is_nan() => b,
                Binary::FMinNumber | Binary::FMaxNumber if b.is_nan() => a,
                Binary::FMin | Binary::FMax if a.is_nan() || b.is_nan() => <$float>::NAN,
                Binary::FMin | Binary::FMinNumber => least,
                Binary::FMax | Binary::FMaxNumber => greatest,
                other => unreachable!("{} takes integers", other.name()),
            }
        }
    };
}

floats!(floats_32, f32);
floats!(floats_64, f64);

/// An operation on two values of a type.
///
/// # Errors
/// The trap of a division or remainder.
pub fn binary(operation: Binary, ty: Type, a: u64, b: u64) -> Result<u64, Trap> {
    Ok(match ty {
        // Of truth values there are only these.
        Type::Bool => match operation {
            Binary::And => a & b,
            Binary::Or => a | b,
            _ => a ^ b,
        },
        Type::I32 => integers_32(operation, a as u32, b as u32)?.into(),
        Type::I64 => integers_64(operation, a, b)?,
        Type::F32 | Type::F64 if operation == Binary::FCopysign => a & !sign(ty) | b & sign(ty),
        Type::F32 => f32_bits(floats_32(operation, as_f32(a), as_f32(b))).into(),
        Type::F64 => f64_bits(floats_64(operation, f64::from_bits(a), f64::from_bits(b))),
    })
}

/// A comparison of two values of a type.
pub fn compare(operation: Compare, ty: Type, a: u64, b: u64) -> bool {
    let (sa, sb) = match ty {
        Type::I64 => (a as i64, b as i64),
        _ => (i64::from(a as i32), i64::from(b as i32)),
    };
    // Every binary32 is a binary64.
    let (fa, fb) = match ty {
        Type::F64 => (f64::from_bits(a), f64::from_bits(b)),
        _ => (f64::from(as_f32(a)), f64::from(as_f32(b))),
    };
    match operation {
        Compare::Eq => a == b,
        Compare::Ne => a != b,
        Compare::LtS => sa < sb,
        Compare::LtU => a < b,
        Compare::LeS => sa <= sb,
        Compare::LeU => a <= b,
        Compare::GtS => sa > sb,
        Compare::GtU => a > b,
        Compare::GeS => sa >= sb,
        Compare::GeU => a >= b,
        Compare::FEq => fa == fb,
        Compare::FNe => fa != fb,
        Compare::FLt => fa < fb,
        Compare::FLe => fa <= fb,
        Compare::FGt => fa > fb,
        Compare::FGe => fa >= fb,
    }
}

/// A conversion of a value of type `from`.
///
/// # Errors
/// The trap of a truncation.
pub fn convert(operation: Convert, from: Type, a: u64) -> Result<u64, Trap> {
    let float = || if from == Type::F64 { f64::from_bits(a) } else { f64::from(as_f32(a)) };
    let integer = || if from == Type::I64 { a as i64 } else { i64::from(a as i32) };
    Ok(match operation {
        Convert::BoolToI32 | Convert::ExtendU | Convert::Reinterpret => a,
        Convert::Wrap => u64::from(a as u32),
        Convert::ExtendS => i64::from(a as i32) as u64,
        Convert::Promote => f64_bits(as_f32(a).into()),
        Convert::Demote => f32_bits(f64::from_bits(a) as f32).into(),
        Convert::TruncI32S => u64::from(truncated(float(), -(2f64.powi(31)), 2f64.powi(31))? as i32 as u32),
        Convert::TruncI32U => u64::from(truncated(float(), 0.0, 2f64.powi(32))? as u32),
        Convert::TruncI64S => truncated(float(), -(2f64.powi(63)), 2f64.powi(63))? as i64 as u64,
        Convert::TruncI64U => truncated(float(), 0.0, 2f64.powi(64))? as u64,
        // Rust's conversions saturate, and give 0 for a NaN.
        Convert::TruncSatI32S => u64::from(float() as i32 as u32),
        Convert::TruncSatI32U => u64::from(float() as u32),
        Convert::TruncSatI64S => float() as i64 as u64,
        Convert::TruncSatI64U => float() as u64,
        Convert::F32S => u64::from((integer() as f32).to_bits()),
        Convert::F32U => u64::from((a as f32).to_bits()),
        Convert::F64S => (integer() as f64).to_bits(),
        Convert::F64U => (a as f64).to_bits(),
    })
}

/// The integral part of a float, if it is in `[least, end)`. Every binary32 is a binary64, so one function serves both.
fn truncated(value: f64, least: f64, end: f64) -> Result<f64, Trap> {
    if value.is_nan() {
        return Err(Trap::InvalidConversion);
    }
    let whole = value.trunc();
    if whole < least || whole >= end { Err(Trap::IntegerOverflow) } else { Ok(whole) }
}

/// `a * b + c` of a float type, rounded once.
pub fn fma(ty: Type, a: u64, b: u64, c: u64) -> u64 {
    if ty == Type::F64 {
        f64_bits(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)))
    } else {
        f32_bits(as_f32(a).mul_add(as_f32(b), as_f32(c))).into()
    }
}

/// An instruction on halves of `f64`. Bits of the result; an `f64` is not split.
pub fn double(operation: Double, operands: &[u64]) -> u64 {
    let bits: Vec<u64> =
        operands.chunks(2).map(|pair| pair[0] | pair.get(1).map_or(0, |high| high << 32)).collect();
    let two =
        |operation| binary(operation, Type::F64, bits[0], bits[1]).expect("float operations do not trap");
    let special = |_, _| unreachable!("it is none of the special functions");
    let converted = |operation, from| convert(operation, from, bits[0]).expect("it is no truncation");
    match operation {
        Double::Add => two(Binary::FAdd),
        Double::Sub => two(Binary::FSub),
        Double::Mul => two(Binary::FMul),
        Double::Div => two(Binary::FDiv),
        Double::Fma => fma(Type::F64, bits[0], bits[1], bits[2]),
        Double::Sqrt => unary(Unary::FSqrt, Type::F64, bits[0], special),
        Double::Promote => converted(Convert::Promote, Type::F32),
        Double::Demote => converted(Convert::Demote, Type::F64),
    }
}

/// The `f32` that the low half of a word is.
fn widened(bits: u64) -> f32 {
    f16::from_bits(bits as u16).to_f32()
}

/// Bits of a result rounded to binary16: a NaN as the canonical one.
fn narrowed(value: f32) -> u64 {
    let bits = if value.is_nan() { NAN_F16 } else { f16::from_f32(value).to_bits() };
    bits.into()
}

/// An instruction on binary16. Bits of the result.
pub fn half(operation: Half, operands: &[u64]) -> u64 {
    let numbers: Vec<f32> = operands.iter().map(|&bits| widened(bits)).collect();
    let high = || operands.iter().map(|&bits| bits >> 16).collect::<Vec<_>>();
    let both = |one: Half| half(one, operands) | half(one, &high()) << 16;
    match operation {
        Half::Add => narrowed(numbers[0] + numbers[1]),
        Half::Sub => narrowed(numbers[0] - numbers[1]),
        Half::Mul => narrowed(numbers[0] * numbers[1]),
        Half::Fma => narrowed(numbers[0].mul_add(numbers[1], numbers[2])),
        Half::Add2 => both(Half::Add),
        Half::Mul2 => both(Half::Mul),
        Half::Fma2 => both(Half::Fma),
        Half::Widen => f32_bits(numbers[0]).into(),
        Half::Narrow => narrowed(as_f32(operands[0])),
    }
}
