//! Compares of one lane: signed, unsigned and f32 (quiet: every ordering is false on a NaN, `ne` is true).

#[inline(always)]
pub(super) fn ilt(a: u32, b: u32) -> bool {
    (a as i32) < b as i32
}

#[inline(always)]
pub(super) fn ile(a: u32, b: u32) -> bool {
    a as i32 <= b as i32
}

#[inline(always)]
pub(super) fn feq(a: u32, b: u32) -> bool {
    f32::from_bits(a) == f32::from_bits(b)
}

#[inline(always)]
pub(super) fn flt(a: u32, b: u32) -> bool {
    f32::from_bits(a) < f32::from_bits(b)
}

#[inline(always)]
pub(super) fn fle(a: u32, b: u32) -> bool {
    f32::from_bits(a) <= f32::from_bits(b)
}

#[inline(always)]
pub(super) fn unordered(a: u32, b: u32) -> bool {
    f32::from_bits(a).is_nan() | f32::from_bits(b).is_nan()
}
