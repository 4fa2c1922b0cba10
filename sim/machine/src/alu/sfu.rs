//! Special functions of one lane: sine, cosine, 2^x and log2 in fixed point, integer arithmetic only.
//!
//! The algorithm, its widths and its errors are in `docs/special-functions.md`; the RTL computes the same bits.
//! All four functions share one interpolator (128 segments, quadratic) and one final rounding, to nearest even.

mod rom;

pub use rom::system_verilog;
pub use wave_isa::special_functions::{EXP2, LOG2, SINE, TWO_OVER_PI};
pub(crate) use wave_isa::special_functions::{SEGMENTS, Segment};

use super::f32::NAN;

const SIGN: u32 = 0x8000_0000;
const ONE: u32 = 0x3F80_0000;
const INFINITY: u32 = 0x7F80_0000;
const NEGATIVE_INFINITY: u32 = 0xFF80_0000;

/// Biased exponent and 24-bit significand: |a| = significand × 2^(exponent - 150). Subnormals have the
/// exponent 1 and no leading one.
#[inline(always)]
fn unpack(a: u32) -> (u32, u32) {
    let exponent = a >> 23 & 0xFF;
    let hidden = u32::from(exponent != 0) << 23;
    (exponent.max(1), a & 0x7F_FFFF | hidden)
}

/// The quadratic of segment `x[29:23]` at the 23-bit position `x[22:0]`; `x` is 30 bits, the result has 30
/// fraction bits. Both products are truncated towards minus infinity.
#[inline(always)]
fn interpolate(table: &[Segment; SEGMENTS], x: u32) -> u32 {
    let segment = &table[(x >> 23) as usize % SEGMENTS];
    let t = i64::from(x & 0x7F_FFFF);
    let slope = i64::from(segment.c1) + ((i64::from(segment.c2) * t) >> 23);
    (i64::from(segment.c0) + ((slope * t) >> 23)) as u32
}

/// `significand` × 2^(`leading` - 62) as f32, to nearest even, subnormal where it must be. The significand is
/// 2^62 to 2^63; the value is above 2^-150 and below 2^128.
#[inline(always)]
fn round(sign: u32, significand: u64, leading: i32) -> u32 {
    // A normal number keeps 24 bits, a subnormal what lies above 2^-149.
    let dropped = if leading >= -126 { 39 } else { (-87 - leading) as u32 };
    // The leading one adds 1 to the exponent field, and so does a carry out of the rounding.
    let field = if leading >= -126 { (leading + 126) as u32 } else { 0 };
    let odd = significand >> dropped & 1;
    let kept = (significand + (1 << (dropped - 1)) - 1 + odd) >> dropped;
    sign | ((field << 23) + kept as u32)
}

/// 2^a
#[inline(always)]
pub fn fexp2(a: u32) -> u32 {
    let (exponent, significand) = unpack(a);
    let negative = a & SIGN != 0;
    // |a| with 30 fraction bits, truncated. From 2^8 on the result is 0 or infinity whatever this holds.
    let magnitude = (u64::from(significand) << 14) >> (134 - exponent.min(134) as i32).min(63);
    let minus = i64::from(a as i32) >> 63;
    let x = (magnitude as i64 ^ minus) - minus;
    if a & !SIGN > INFINITY {
        NAN
    } else if exponent > 134 || x >= 128 << 30 || x <= -150 << 30 {
        if negative { 0 } else { INFINITY }
    } else {
        let power = interpolate(&EXP2, (x & 0x3FFF_FFFF) as u32);
        round(0, u64::from(power) << 32, (x >> 30) as i32)
    }
}

/// Logarithm of a to base 2.
#[inline(always)]
pub fn flog2(a: u32) -> u32 {
    if a & !SIGN == 0 {
        return NEGATIVE_INFINITY;
    }
    if a >= INFINITY {
        return if a == INFINITY { INFINITY } else { NAN };
    }
    let (exponent, significand) = unpack(a);
    let shift = significand.leading_zeros() - 8;
    let fraction = (significand << shift) & 0x7F_FFFF;
    // a = 2^power × (1 + x) with x in [-1/4, 1/2), so that power and log2(1 + x) do not cancel.
    let above = fraction >= 1 << 22;
    let power = exponent as i32 - shift as i32 - 127 + i32::from(above);
    // |x|, 24 fraction bits.
    let x = if above { (1 << 23) - fraction } else { fraction << 1 };
    // log2(1 + x) / x has no zero, so the product keeps its relative precision near a = 1.
    let quotient = interpolate(&LOG2, fraction << 7);
    let product = (u64::from(x) * u64::from(quotient)) as i64;
    let sum = (i64::from(power) << 54) + if above { -product } else { product };
    if sum == 0 {
        return 0;
    }
    let magnitude = sum.unsigned_abs();
    let shift = magnitude.leading_zeros() - 1;
    round((sum >> 63) as u32 & SIGN, magnitude << shift, 8 - shift as i32)
}

/// Sine of a, in radians.
#[inline(always)]
pub fn fsin(a: u32) -> u32 {
    // Below 2^-12 the sine equals a within a relative error of 2^-26.
    if a & !SIGN < (127 - 12) << 23 { a } else { circular(a, 0, a & SIGN) }
}

/// Cosine of a, in radians.
#[inline(always)]
pub fn fcos(a: u32) -> u32 {
    if a & !SIGN < (127 - 12) << 23 { ONE } else { circular(a, 1, 0) }
}

/// sin(|a| + quarter × π/2), negated where `sign` is set, for |a| ≥ 2^-12.
#[inline(always)]
fn circular(a: u32, quarter: u32, sign: u32) -> u32 {
    let (exponent, significand) = unpack(a);
    if exponent == 255 {
        return NAN;
    }
    // |a| × 2/π modulo 4, with 94 fraction bits. Only the 96 bits of 2/π matter whose product with the
    // significand reaches below 4. The first of them weighs 2^(151 - exponent); TWO_OVER_PI starts at 2^63.
    let first = exponent as usize - 88;
    let words = &TWO_OVER_PI[first / 32..][..4];
    let window = |i: usize| {
        let pair = u64::from(words[i]) << 32 | u64::from(words[i + 1]);
        pair << (first % 32) >> 32
    };
    let low = u64::from(significand) * window(2);
    let middle = u64::from(significand) * window(1) + (low >> 32);
    let high = u64::from(significand) * window(0) + (middle >> 32);
    let quadrant = (high >> 30) as u32 + quarter;
    // sin(π/2 u) with u in [0, 1), 64 fraction bits. Odd quadrants run backwards; the complement differs from
    // 1 - u by 2^-64.
    let u = high << 34 | (middle & 0xFFFF_FFFF) << 2 | (low & 0xFFFF_FFFF) >> 30;
    let u = u ^ u64::from(quadrant & 1).wrapping_neg();
    // sin(π/2 u) / u has no zero, so the product with the normalized u keeps its relative precision.
    let quotient = interpolate(&SINE, (u >> 34) as u32);
    let shift = (u | 1).leading_zeros();
    let product = (u << shift >> 32) * u64::from(quotient);
    // The product is 2^61 to 2^63.
    let below_one = (product >> 62 ^ 1) as u32;
    round(sign ^ (quadrant & 2) << 30, product << below_one, -((shift + below_one) as i32))
}
