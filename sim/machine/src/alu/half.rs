//! f16 and bf16: conversions from and to f32, and arithmetic, which is done in f32 and rounded (isa section 4).

use super::f32 as single;

/// The canonical NaN of f16.
pub(crate) const F16_NAN: u32 = 0x7E00;
/// The canonical NaN of bf16.
pub(crate) const BF16_NAN: u32 = 0x7FC0;

/// The f16 in the low half as f32, exactly. A NaN stays a NaN, not a canonical one.
#[inline(always)]
pub(super) fn from_f16(a: u32) -> f32 {
    let magnitude = a & 0x7FFF;
    // With the bits moved to the fields of f32, the exponent is 112 too small, also for a subnormal.
    let scaled = f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23);
    let bits = scaled.to_bits() | if magnitude < 0x7C00 { 0 } else { 0x7F80_0000 };
    f32::from_bits(bits | (a & 0x8000) << 16)
}

/// f32 rounded to f16, to nearest even; the high half is 0.
#[inline(always)]
pub(super) fn to_f16(value: f32) -> u32 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7FFF_FFFF;
    // Subnormal: adding 0.5 leaves units of 2^-24, the subnormal f16 unit, so the addition rounds.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    // Normal: add half a unit less one, and one more if the result would be odd (ties to even). A carry
    // increments the exponent, at the top to infinity.
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_sub((127 - 15) << 23).wrapping_add(0xFFF + odd) >> 13;
    // Signed compares, because SSE2 has no unsigned ones; magnitudes are below 2^31.
    let magnitude = magnitude as i32;
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let number = if magnitude < 0x4780_0000 { finite } else { 0x7C00 };
    let rounded = number | bits >> 16 & 0x8000;
    if value.is_nan() { F16_NAN } else { rounded }
}

/// The bf16 in the low half as f32, exactly. A NaN stays a NaN, not a canonical one.
#[inline(always)]
pub(super) fn from_bf16(a: u32) -> f32 {
    f32::from_bits(a << 16)
}

/// f32 rounded to bf16, to nearest even; the high half is 0.
#[inline(always)]
pub(super) fn to_bf16(value: f32) -> u32 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
    if value.is_nan() { BF16_NAN } else { rounded }
}

#[inline(always)]
pub(super) fn hadd(a: u32, b: u32) -> u32 {
    to_f16(from_f16(a) + from_f16(b))
}

#[inline(always)]
pub(super) fn hsub(a: u32, b: u32) -> u32 {
    to_f16(from_f16(a) - from_f16(b))
}

#[inline(always)]
pub(super) fn hmul(a: u32, b: u32) -> u32 {
    to_f16(from_f16(a) * from_f16(b))
}

/// a * b + c by an f32 fma. The product of two f16 is exact in f32, so a multiply and an add are that fma.
#[inline(always)]
pub(super) fn hma(a: u32, b: u32, c: u32) -> u32 {
    to_f16(from_f16(a) * from_f16(b) + from_f16(c))
}

#[inline(always)]
pub(super) fn hadd2(a: u32, b: u32) -> u32 {
    hadd(a, b) | hadd(a >> 16, b >> 16) << 16
}

#[inline(always)]
pub(super) fn hmul2(a: u32, b: u32) -> u32 {
    hmul(a, b) | hmul(a >> 16, b >> 16) << 16
}

#[inline(always)]
pub(super) fn hma2(a: u32, b: u32, c: u32) -> u32 {
    hma(a, b, c) | hma(a >> 16, b >> 16, c >> 16) << 16
}

#[inline(always)]
pub(super) fn badd(a: u32, b: u32) -> u32 {
    to_bf16(from_bf16(a) + from_bf16(b))
}

#[inline(always)]
pub(super) fn bsub(a: u32, b: u32) -> u32 {
    to_bf16(from_bf16(a) - from_bf16(b))
}

#[inline(always)]
pub(super) fn bmul(a: u32, b: u32) -> u32 {
    to_bf16(from_bf16(a) * from_bf16(b))
}

/// a * b + c by an f32 fma: the product can overflow or underflow where the sum does not.
#[inline(always)]
pub(super) fn bma<const FMA: bool>(a: u32, b: u32, c: u32) -> u32 {
    to_bf16(single::fused_multiply_add::<FMA>(from_bf16(a), from_bf16(b), from_bf16(c)))
}

#[inline(always)]
pub(super) fn badd2(a: u32, b: u32) -> u32 {
    badd(a, b) | badd(a >> 16, b >> 16) << 16
}

#[inline(always)]
pub(super) fn bmul2(a: u32, b: u32) -> u32 {
    bmul(a, b) | bmul(a >> 16, b >> 16) << 16
}

#[inline(always)]
pub(super) fn bma2<const FMA: bool>(a: u32, b: u32, c: u32) -> u32 {
    bma::<FMA>(a, b, c) | bma::<FMA>(a >> 16, b >> 16, c >> 16) << 16
}
