//! Conversions of one lane that read and write one row (isa section 4, "Compare, select, convert").

use super::f32::canonical;
use super::half::{from_bf16, from_f16, to_bf16, to_f16};
use super::int::low_bits_of;

#[inline(always)]
pub(super) fn f32_from_i32(a: u32) -> u32 {
    (a as i32 as f32).to_bits()
}

#[inline(always)]
pub(super) fn f32_from_u32(a: u32) -> u32 {
    (a as f32).to_bits()
}

/// Truncates and saturates; a NaN gives 0.
#[inline(always)]
pub(super) fn i32_from_f32(a: u32) -> u32 {
    saturated(a, f64::from(i32::MIN), f64::from(i32::MAX))
}

/// Truncates and saturates; a NaN gives 0.
#[inline(always)]
pub(super) fn u32_from_f32(a: u32) -> u32 {
    saturated(a, 0.0, f64::from(u32::MAX))
}

#[inline(always)]
fn saturated(a: u32, low: f64, high: f64) -> u32 {
    // By compares and not by `clamp`, whose way with a NaN takes more instructions.
    let value = f64::from(f32::from_bits(a));
    let value_or_low = if value > low { value } else { low };
    let within = if value_or_low < high { value_or_low } else { high };
    if value.is_nan() { 0 } else { low_bits_of(within.trunc()) }
}

#[inline(always)]
pub(super) fn f32_from_f16(a: u32) -> u32 {
    canonical(from_f16(a))
}

#[inline(always)]
pub(super) fn f16_from_f32(a: u32) -> u32 {
    to_f16(f32::from_bits(a))
}

#[inline(always)]
pub(super) fn f32_from_bf16(a: u32) -> u32 {
    canonical(from_bf16(a))
}

#[inline(always)]
pub(super) fn bf16_from_f32(a: u32) -> u32 {
    to_bf16(f32::from_bits(a))
}
