//! Integer and bit operations of one lane (isa section 4, "Integer"). Arithmetic wraps.

/// High 32 bits of the unsigned product.
#[inline(always)]
pub(super) fn imul_hi(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// a * b + c
#[inline(always)]
pub(super) fn imad(a: u32, b: u32, c: u32) -> u32 {
    a.wrapping_mul(b).wrapping_add(c)
}

/// The low 32 bits of an integer below 2^51, in two's complement. A conversion with `as` is a call or a loop over lanes
/// without the host's vector instructions.
#[inline(always)]
pub(super) fn low_bits_of(integer: f64) -> u32 {
    // 1.5 × 2^52: in the sum the last bit of the significand weighs 1.
    const UNITS: f64 = 6_755_399_441_055_744.0;
    (integer + UNITS).to_bits() as u32
}

/// Signed quotient, truncated. 0 where b is 0; INT_MIN / -1 is INT_MIN.
#[inline(always)]
pub(super) fn idiv(a: u32, b: u32) -> u32 {
    // The f64 quotient truncates to the right integer: where a/b is not an integer it is at least 1/|b| away
    // from one, which is 2^-31 of its size or more, and a division is off by 2^-53.
    let divisor = if b == 0 { 1.0 } else { f64::from(b as i32) };
    // INT_MIN / -1 is the only quotient past i32; its low bits are those of INT_MIN.
    let quotient = low_bits_of((f64::from(a as i32) / divisor).trunc());
    if b == 0 { 0 } else { quotient }
}

/// Signed remainder with the sign of a. 0 where b is 0; INT_MIN % -1 is 0.
#[inline(always)]
pub(super) fn imod(a: u32, b: u32) -> u32 {
    let remainder = a.wrapping_sub(idiv(a, b).wrapping_mul(b));
    if b == 0 { 0 } else { remainder }
}

#[inline(always)]
pub(super) fn imin(a: u32, b: u32) -> u32 {
    (a as i32).min(b as i32) as u32
}

#[inline(always)]
pub(super) fn imax(a: u32, b: u32) -> u32 {
    (a as i32).max(b as i32) as u32
}

/// Absolute value; of INT_MIN it is INT_MIN.
#[inline(always)]
pub(super) fn iabs(a: u32) -> u32 {
    (a as i32).wrapping_abs() as u32
}

/// min(max(a, b), c), signed.
#[inline(always)]
pub(super) fn iclamp(a: u32, b: u32, c: u32) -> u32 {
    imin(imax(a, b), c)
}

/// Arithmetic shift right by b & 31.
#[inline(always)]
pub(super) fn sar(a: u32, b: u32) -> u32 {
    (a as i32).wrapping_shr(b) as u32
}

/// Count of leading zeros, all ones for 0.
#[inline(always)]
pub(super) fn bitfind(a: u32) -> u32 {
    if a == 0 { u32::MAX } else { a.leading_zeros() }
}

/// The low `width & 31` bits set.
#[inline(always)]
fn low_bits(width: u32) -> u32 {
    1u32.wrapping_shl(width) - 1
}

/// The field of a that is c & 31 bits wide and starts at bit b & 31.
#[inline(always)]
pub(super) fn bfe(a: u32, b: u32, c: u32) -> u32 {
    a.wrapping_shr(b) & low_bits(c)
}

/// a with the low e & 31 bits of b inserted at bit c & 31; what would pass bit 31 is dropped.
#[inline(always)]
pub(super) fn bfi(a: u32, b: u32, c: u32, e: u32) -> u32 {
    let field = low_bits(e).wrapping_shl(c);
    a & !field | b.wrapping_shl(c) & field
}
