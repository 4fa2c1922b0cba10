//! Conversions of one lane that read and write one row (isa section 4, "Compare, select, convert").

use super::f32::canonical;
use super::half::{from_bf16, from_f16, to_bf16, to_f16};

#[inline(always)]
pub(super) fn f32_from_i32(a: u32) -> u32 {
    (a as i32 as f32).to_bits()
}

#[inline(always)]
pub(super) fn f32_from_u32(a: u32) -> u32 {
    (a as f32).to_bits()
}

/// Truncates and saturates; a NaN gives 0. That is what `as` does.
#[inline(always)]
pub(super) fn i32_from_f32(a: u32) -> u32 {
    f32::from_bits(a) as i32 as u32
}

/// Truncates and saturates; a NaN gives 0.
#[inline(always)]
pub(super) fn u32_from_f32(a: u32) -> u32 {
    f32::from_bits(a) as u32
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
