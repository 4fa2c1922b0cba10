//! f32 arithmetic of one lane, on bit patterns. Rounding is to nearest even, subnormals are kept, and a NaN
//! result is [`NAN`], so the bits are the same on every host.
//!
//! All functions are written so that loops over them vectorise, even with SSE2 alone: no library calls, no
//! branches.

/// The canonical NaN of f32.
pub(crate) const NAN: u32 = 0x7FC0_0000;
const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7F80_0000;

/// The bits of `value`, a NaN as the canonical one.
#[inline(always)]
pub(super) fn canonical(value: f32) -> u32 {
    if value.is_nan() { NAN } else { value.to_bits() }
}

#[inline(always)]
fn is_nan(a: u32) -> bool {
    a & !SIGN > INFINITY
}

#[inline(always)]
pub(super) fn fadd(a: u32, b: u32) -> u32 {
    canonical(f32::from_bits(a) + f32::from_bits(b))
}

#[inline(always)]
pub(super) fn fsub(a: u32, b: u32) -> u32 {
    canonical(f32::from_bits(a) - f32::from_bits(b))
}

#[inline(always)]
pub(super) fn fmul(a: u32, b: u32) -> u32 {
    canonical(f32::from_bits(a) * f32::from_bits(b))
}

#[inline(always)]
pub(super) fn fdiv(a: u32, b: u32) -> u32 {
    canonical(f32::from_bits(a) / f32::from_bits(b))
}

/// a * b + c, rounded once.
#[inline(always)]
pub(super) fn fma<const FMA: bool>(a: u32, b: u32, c: u32) -> u32 {
    canonical(fused_multiply_add::<FMA>(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)))
}

/// a * b + c, rounded once. With `FMA` it is the host's instruction. Without, it avoids the library call per
/// lane that `f32::mul_add` would be.
///
/// In f64 the product is exact (48 bits) and nothing overflows or underflows. The sum is rounded to odd,
/// using the rounding error from Knuth's TwoSum. 53 bits rounded to odd suffice for a second, correct
/// rounding to 24 bits or, in the subnormal range, fewer (Boldo and Melquiond, "Emulation of FMA and
/// correctly rounded sums: proved algorithms using rounding to odd", 2008).
#[inline(always)]
pub(super) fn fused_multiply_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA {
        return a.mul_add(b, c);
    }
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    let c_part = sum - product;
    let error = (product - (sum - c_part)) + (c - c_part);
    // Infinities and NaN make the error NaN, which is not above 0: they pass through.
    let inexact = error.abs() > 0.0;
    let towards_zero = (error.to_bits() ^ sum.to_bits()) >> 63;
    let odd = sum.to_bits().wrapping_sub(towards_zero) | 1;
    f64::from_bits(if inexact { odd } else { sum.to_bits() }) as f32
}

#[inline(always)]
pub(super) fn fsqrt(a: u32) -> u32 {
    canonical(f32::from_bits(a).sqrt())
}

/// fdiv(1, fsqrt(a)): rounded twice.
#[inline(always)]
pub(super) fn frsqrt(a: u32) -> u32 {
    canonical(1.0 / f32::from_bits(a).sqrt())
}

#[inline(always)]
pub(super) fn frcp(a: u32) -> u32 {
    canonical(1.0 / f32::from_bits(a))
}

#[inline(always)]
pub(super) fn fneg(a: u32) -> u32 {
    a ^ SIGN
}

#[inline(always)]
pub(super) fn fabs(a: u32) -> u32 {
    a & !SIGN
}

/// A signed key that orders numbers as IEEE 754 does, with -0 below +0.
#[inline(always)]
fn order(a: u32) -> i32 {
    (a ^ (((a as i32) >> 31) as u32 >> 1)) as i32
}

/// minimumNumber: a number beats a NaN, -0 < +0.
#[inline(always)]
pub(super) fn fmin(a: u32, b: u32) -> u32 {
    let least = if order(a) < order(b) { a } else { b };
    number(a, b, least)
}

/// maximumNumber: a number beats a NaN, -0 < +0.
#[inline(always)]
pub(super) fn fmax(a: u32, b: u32) -> u32 {
    let greatest = if order(a) > order(b) { a } else { b };
    number(a, b, greatest)
}

/// `chosen` if both operands are numbers, else the operand that is a number, else the canonical NaN.
#[inline(always)]
fn number(a: u32, b: u32, chosen: u32) -> u32 {
    let without_a = if is_nan(b) { NAN } else { b };
    let with_a = if is_nan(b) { a } else { chosen };
    if is_nan(a) { without_a } else { with_a }
}

/// fmin(fmax(a, b), c)
#[inline(always)]
pub(super) fn fclamp(a: u32, b: u32, c: u32) -> u32 {
    fmin(fmax(a, b), c)
}

/// Clamped to \[0, 1\]; NaN and -0 give +0.
#[inline(always)]
pub(super) fn fsat(a: u32) -> u32 {
    let value = f32::from_bits(a);
    let above = if value < 1.0 { value } else { 1.0 };
    (if value > 0.0 { above } else { 0.0 }).to_bits()
}

/// From this magnitude on every f32 is an integer.
const INTEGERS: f32 = (1 << 23) as f32;

/// The magnitude of `a` rounded to nearest even, for |a| < 2^23: adding 2^23 shifts the fraction out.
#[inline(always)]
fn nearest(a: f32) -> f32 {
    (a.abs() + INTEGERS) - INTEGERS
}

/// `rounded` with the sign of `a`; `a` itself, canonical, if it is too large to have a fraction.
#[inline(always)]
fn integral(a: u32, rounded: f32) -> u32 {
    let value = f32::from_bits(a);
    let small = value.abs() < INTEGERS;
    let rounded = rounded.to_bits() & !SIGN | a & SIGN;
    if small { rounded } else { canonical(value) }
}

#[inline(always)]
pub(super) fn ffloor(a: u32) -> u32 {
    let value = f32::from_bits(a);
    let near = nearest(value).copysign(value);
    integral(a, if near > value { near - 1.0 } else { near })
}

#[inline(always)]
pub(super) fn fceil(a: u32) -> u32 {
    let value = f32::from_bits(a);
    let near = nearest(value).copysign(value);
    integral(a, if near < value { near + 1.0 } else { near })
}

/// To nearest, ties to even.
#[inline(always)]
pub(super) fn fround(a: u32) -> u32 {
    integral(a, nearest(f32::from_bits(a)))
}

#[inline(always)]
pub(super) fn ftrunc(a: u32) -> u32 {
    let value = f32::from_bits(a);
    let near = nearest(value);
    integral(a, if near > value.abs() { near - 1.0 } else { near })
}

/// min(a - floor(a), 0x1.fffffep-1)
#[inline(always)]
pub(super) fn ffract(a: u32) -> u32 {
    let below_one = f32::from_bits(0x3F7F_FFFF);
    let fraction = f32::from_bits(a) - f32::from_bits(ffloor(a));
    canonical(if fraction > below_one { below_one } else { fraction })
}
