//! What operations of PTX compute.

use half::{bf16, f16};

/// A function of one to three values. A register holds its bits in the low end, zeros above; a predicate is 0 or 1.
#[derive(Debug, Clone, Copy)]
pub(super) enum Apply {
    One(fn(u64) -> u64),
    Two(fn(u64, u64) -> u64),
    Three(fn(u64, u64, u64) -> u64),
}

/// Bits of a NaN that an f32 operation gives: "0x7fffffff".
const NAN: u32 = 0x7FFF_FFFF;
/// Of f64 PTX says only that it is one.
const WIDE_NAN: u64 = 0xFFF8_0000_0000_0000;

fn float(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn of(value: f32) -> u64 {
    u64::from(if value.is_nan() { NAN } else { value.to_bits() })
}

fn of_double(value: f64) -> u64 {
    if value.is_nan() { WIDE_NAN } else { value.to_bits() }
}

fn signed(bits: u64) -> i32 {
    (bits as u32).cast_signed()
}

fn word(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

/// Bytes of a type.
pub(super) fn bytes_of(ty: &str) -> Result<usize, String> {
    Ok(match ty {
        "u8" | "b8" | "s8" => 1,
        "u16" | "b16" | "s16" | "f16" | "bf16" => 2,
        "u32" | "b32" | "s32" | "f32" => 4,
        "u64" | "b64" | "s64" | "f64" => 8,
        "pred" => 1,
        _ => return Err(format!("no type {ty}")),
    })
}

/// The value as a register of a type has it.
pub(super) fn identity(ty: &str) -> fn(u64) -> u64 {
    match ty {
        "b16" | "u16" | "s16" | "f16" => |a| a & 0xFFFF,
        "b64" | "u64" | "s64" | "f64" => |a| a,
        _ => |a| a & 0xFFFF_FFFF,
    }
}

/// An f32 to the integers between two bounds, towards zero; a NaN gives 0.
fn integer(a: u64, least: f64, most: f64) -> f64 {
    let value = f64::from(float(a));
    if value.is_nan() { 0.0 } else { value.trunc().clamp(least, most) }
}

/// Minimum or maximum of f32: a number before a NaN, -0 before +0.
fn extreme(a: u64, b: u64, is_max: bool) -> u64 {
    let (x, y) = (float(a), float(b));
    match (x.is_nan(), y.is_nan()) {
        (true, _) => of(y),
        (_, true) => of(x),
        _ => of(if (x.total_cmp(&y) == std::cmp::Ordering::Less) != is_max { x } else { y }),
    }
}

/// A shift by at most the width.
fn shifted(a: u64, b: u64, bits: u32, f: impl Fn(u64, u32) -> u64) -> u64 {
    f(a, (b as u32).min(bits))
}

/// The operation of this name.
pub(super) fn apply(name: &str) -> Result<Apply, String> {
    use Apply::{One, Three, Two};
    Ok(match name {
        "add.u32" | "add.s32" => Two(|a, b| u64::from((a as u32).wrapping_add(b as u32))),
        "sub.u32" | "sub.s32" => Two(|a, b| u64::from((a as u32).wrapping_sub(b as u32))),
        "add.u64" => Two(u64::wrapping_add),
        "sub.u64" => Two(u64::wrapping_sub),
        "mul.lo.u32" => Two(|a, b| u64::from((a as u32).wrapping_mul(b as u32))),
        "mul.hi.u32" => Two(|a, b| ((a & 0xFFFF_FFFF) * (b & 0xFFFF_FFFF)) >> 32),
        "mul.wide.u32" => Two(|a, b| (a & 0xFFFF_FFFF) * (b & 0xFFFF_FFFF)),
        "mul.wide.s32" => Two(|a, b| (i64::from(signed(a)) * i64::from(signed(b))).cast_unsigned()),
        "mad.lo.u32" => Three(|a, b, c| u64::from((a as u32).wrapping_mul(b as u32).wrapping_add(c as u32))),
        // Nothing is said of a division by zero, nor of a quotient that does not fit: these are no results of WAVE.
        "div.s32" => Two(|a, b| word(signed(a).checked_div(signed(b)).unwrap_or(0x5A5A_5A5A))),
        "rem.s32" => Two(|a, b| word(signed(a).checked_rem(signed(b)).unwrap_or(0x5A5A_5A5A))),
        "div.u32" => Two(|a, b| u64::from((a as u32).checked_div(b as u32).unwrap_or(0x5A5A_5A5A))),
        "rem.u32" => Two(|a, b| u64::from((a as u32).checked_rem(b as u32).unwrap_or(0x5A5A_5A5A))),
        "neg.s32" => One(|a| word(signed(a).wrapping_neg())),
        "neg.s64" => One(u64::wrapping_neg),
        "min.s32" => Two(|a, b| word(signed(a).min(signed(b)))),
        "max.s32" => Two(|a, b| word(signed(a).max(signed(b)))),
        "min.u32" => Two(|a, b| u64::from((a as u32).min(b as u32))),
        "max.u32" => Two(|a, b| u64::from((a as u32).max(b as u32))),
        "and.b32" => Two(|a, b| a & b & 0xFFFF_FFFF),
        "or.b32" => Two(|a, b| (a | b) & 0xFFFF_FFFF),
        "xor.b32" => Two(|a, b| (a ^ b) & 0xFFFF_FFFF),
        "not.b32" => One(|a| !a & 0xFFFF_FFFF),
        "and.b64" => Two(|a, b| a & b),
        "or.b64" => Two(|a, b| a | b),
        "not.b64" => One(|a| !a),
        "and.pred" => Two(|a, b| a & b & 1),
        "or.pred" => Two(|a, b| (a | b) & 1),
        "xor.pred" => Two(|a, b| (a ^ b) & 1),
        "not.pred" => One(|a| a & 1 ^ 1),
        "shl.b32" => Two(|a, b| shifted(a, b, 32, |a, b| (a << b) & 0xFFFF_FFFF)),
        "shr.u32" => Two(|a, b| shifted(a & 0xFFFF_FFFF, b, 32, |a, b| a >> b)),
        "shr.s32" => Two(|a, b| shifted(a, b, 31, |a, b| word(signed(a) >> b))),
        "shl.b64" => Two(|a, b| a.checked_shl(b as u32).unwrap_or(0)),
        "shr.u64" => Two(|a, b| a.checked_shr(b as u32).unwrap_or(0)),
        "shr.s64" => Two(|a, b| (a.cast_signed() >> (b as u32).min(63)).cast_unsigned()),
        "shf.l.wrap.b32" => Three(|low, high, n| {
            let both = high << 32 | low & 0xFFFF_FFFF;
            (both << (n & 31)) >> 32
        }),
        "popc.b32" => One(|a| u64::from((a as u32).count_ones())),
        "clz.b32" => One(|a| u64::from((a as u32).leading_zeros())),
        "clz.b64" => One(|a| u64::from(a.leading_zeros())),
        "brev.b32" => One(|a| u64::from((a as u32).reverse_bits())),
        "add.rn.f32" => Two(|a, b| of(float(a) + float(b))),
        "sub.rn.f32" => Two(|a, b| of(float(a) - float(b))),
        "mul.rn.f32" => Two(|a, b| of(float(a) * float(b))),
        "div.rn.f32" => Two(|a, b| of(float(a) / float(b))),
        "fma.rn.f32" => Three(|a, b, c| of(float(a).mul_add(float(b), float(c)))),
        "sqrt.rn.f32" => One(|a| of(float(a).sqrt())),
        "rcp.rn.f32" => One(|a| of(1.0 / float(a))),
        // The hardware's approximations are near these.
        "sin.approx.f32" => One(|a| of(float(a).sin())),
        "cos.approx.f32" => One(|a| of(float(a).cos())),
        "ex2.approx.f32" => One(|a| of(float(a).exp2())),
        "lg2.approx.f32" => One(|a| of(float(a).log2())),
        "min.f32" => Two(|a, b| extreme(a, b, false)),
        "max.f32" => Two(|a, b| extreme(a, b, true)),
        "cvt.rmi.f32.f32" => One(|a| of(float(a).floor())),
        "cvt.rpi.f32.f32" => One(|a| of(float(a).ceil())),
        "cvt.rni.f32.f32" => One(|a| of(float(a).round_ties_even())),
        "cvt.rzi.f32.f32" => One(|a| of(float(a).trunc())),
        "add.rn.f64" => Two(|a, b| of_double(double(a) + double(b))),
        "sub.rn.f64" => Two(|a, b| of_double(double(a) - double(b))),
        "mul.rn.f64" => Two(|a, b| of_double(double(a) * double(b))),
        "div.rn.f64" => Two(|a, b| of_double(double(a) / double(b))),
        "fma.rn.f64" => Three(|a, b, c| of_double(double(a).mul_add(double(b), double(c)))),
        "sqrt.rn.f64" => One(|a| of_double(double(a).sqrt())),
        "cvt.rn.f32.s32" => One(|a| of(signed(a) as f32)),
        "cvt.rn.f32.u32" => One(|a| of(a as u32 as f32)),
        "cvt.rzi.s32.f32" => One(|a| word(integer(a, i32::MIN.into(), i32::MAX.into()) as i32)),
        "cvt.rzi.u32.f32" => One(|a| u64::from(integer(a, 0.0, u32::MAX.into()) as u32)),
        "cvt.f32.f16" => One(|a| of(f16::from_bits(a as u16).to_f32())),
        "cvt.rn.f16.f32" => One(|a| match float(a).is_nan() {
            true => 0x7FFF,
            false => f16::from_f32(float(a)).to_bits().into(),
        }),
        "cvt.rn.bf16.f32" => One(|a| match float(a).is_nan() {
            true => 0x7FFF,
            false => bf16::from_f32(float(a)).to_bits().into(),
        }),
        "cvt.rn.f32.f64" => One(|a| of(double(a) as f32)),
        "cvt.f64.f32" => One(|a| of_double(float(a).into())),
        "cvt.u32.u16" => One(|a| a & 0xFFFF),
        "cvt.u64.u32" | "cvt.u32.u64" => One(|a| a & 0xFFFF_FFFF),
        "cvt.s64.s32" => One(|a| i64::from(signed(a)).cast_unsigned()),
        "cvta.to.global.u64" | "cvta.global.u64" => One(|a| a),
        "cvta.shared.u64" => One(|a| a.wrapping_add(super::code::SHARED_WINDOW)),
        "cvta.to.shared.u64" => One(|a| a.wrapping_sub(super::code::SHARED_WINDOW)),
        _ => return Err(format!("no operation {name}")),
    })
}

/// A comparison of values of a type.
pub(super) fn compare(how: &str, ty: &str) -> Result<fn(u64, u64) -> bool, String> {
    Ok(match (how, ty) {
        ("eq", "u32" | "b32" | "s32") => |a, b| a as u32 == b as u32,
        ("ne", "u32" | "b32" | "s32") => |a, b| a as u32 != b as u32,
        ("lt", "u32") => |a, b| (a as u32) < b as u32,
        ("le", "u32") => |a, b| a as u32 <= b as u32,
        ("gt", "u32") => |a, b| a as u32 > b as u32,
        ("ge", "u32") => |a, b| a as u32 >= b as u32,
        ("lt", "s32") => |a, b| signed(a) < signed(b),
        ("le", "s32") => |a, b| signed(a) <= signed(b),
        ("gt", "s32") => |a, b| signed(a) > signed(b),
        ("ge", "s32") => |a, b| signed(a) >= signed(b),
        ("eq", "u64" | "s64") => |a, b| a == b,
        ("gt", "u64") => |a, b| a > b,
        ("lt", "s64") => |a, b| a.cast_signed() < b.cast_signed(),
        ("le", "s64") => |a, b| a.cast_signed() <= b.cast_signed(),
        ("ge", "s64") => |a, b| a.cast_signed() >= b.cast_signed(),
        ("eq", "f32") => |a, b| float(a) == float(b),
        ("neu", "f32") => |a, b| float(a) != float(b),
        ("lt", "f32") => |a, b| float(a) < float(b),
        ("le", "f32") => |a, b| float(a) <= float(b),
        ("gt", "f32") => |a, b| float(a) > float(b),
        ("ge", "f32") => |a, b| float(a) >= float(b),
        ("num", "f32") => |a, b| !float(a).is_nan() && !float(b).is_nan(),
        ("nan", "f32") => |a, b| float(a).is_nan() || float(b).is_nan(),
        ("nan", "f64") => |a, b| double(a).is_nan() || double(b).is_nan(),
        _ => return Err(format!("no comparison {how}.{ty}")),
    })
}

/// What an atomic makes of the old bits and its operands.
pub(super) fn atomic(name: &str, ty: &str) -> Result<fn(u64, u64, u64) -> u64, String> {
    Ok(match (name, ty) {
        ("add", "u32" | "s32") => |old, b, _| u64::from((old as u32).wrapping_add(b as u32)),
        ("add", "u64") => |old, b, _| old.wrapping_add(b),
        ("add", "s64") => |old, b, _| old.wrapping_add(b),
        ("add", "f32") => |old, b, _| of(float(old) + float(b)),
        ("add", "f64") => |old, b, _| of_double(double(old) + double(b)),
        ("min", "s32") => |old, b, _| word(signed(old).min(signed(b))),
        ("max", "s32") => |old, b, _| word(signed(old).max(signed(b))),
        ("min", "s64") => |old, b, _| old.cast_signed().min(b.cast_signed()).cast_unsigned(),
        ("max", "s64") => |old, b, _| old.cast_signed().max(b.cast_signed()).cast_unsigned(),
        ("inc", "u32") => |old, b, _| if old >= b { 0 } else { old + 1 },
        ("dec", "u32") => |old, b, _| if old == 0 || old > b { b } else { old - 1 },
        ("min", "u32" | "u64") => |old, b, _| old.min(b),
        ("max", "u32" | "u64") => |old, b, _| old.max(b),
        ("and", "b32" | "b64") => |old, b, _| old & b,
        ("or", "b32" | "b64") => |old, b, _| old | b,
        ("xor", "b32" | "b64") => |old, b, _| old ^ b,
        ("exch", "b32" | "b64") => |_, b, _| b,
        ("cas", "b16" | "b32" | "b64") => |old, b, c| if old == b { c } else { old },
        _ => return Err(format!("no atomic {name}.{ty}")),
    })
}
