//! f64 arithmetic on register pairs: the low row, then the high row. A NaN result is [`NAN`].

use super::lanes::sources;
use std::ops::IndexMut;

/// The canonical NaN of f64.
pub(crate) const NAN: u64 = 0x7FF8_0000_0000_0000;

#[inline(always)]
fn join(low: u32, high: u32) -> f64 {
    f64::from_bits(u64::from(low) | u64::from(high) << 32)
}

/// Runs `f` over the lanes of `N` pairs of rows; the result is a pair too. Rows are slices, or arrays where their length
/// is known to the compiler.
#[inline(always)]
pub(super) fn map<const N: usize, Row>(
    lanes: usize,
    pairs: [[&Row; 2]; N],
    [low_out, high_out]: [&mut Row; 2],
    f: impl Fn([f64; N]) -> f64,
) where
    Row: IndexMut<usize, Output = u32> + ?Sized,
{
    for lane in 0..lanes {
        let mut operands = [0.0; N];
        for (operand, [low, high]) in operands.iter_mut().zip(&pairs) {
            *operand = join(low[lane], high[lane]);
        }
        let value = f(operands);
        let bits = if value.is_nan() { NAN } else { value.to_bits() };
        low_out[lane] = bits as u32;
        high_out[lane] = (bits >> 32) as u32;
    }
}

/// f64 pair to f32, to nearest even. `out` is one row.
#[inline(always)]
pub(super) fn to_f32(rows: &[&[u32]], out: &mut [u32]) {
    let [low, high] = sources(rows, out.len());
    for (lane, d) in out.iter_mut().enumerate() {
        *d = super::f32::canonical(join(low[lane], high[lane]) as f32);
    }
}

/// f32 to f64, exact. `out` is one pair.
#[inline(always)]
pub(super) fn from_f32(rows: &[&[u32]], out: &mut [u32]) {
    let lanes = out.len() / 2;
    let (low_out, high_out) = out.split_at_mut(lanes);
    let [a] = sources(rows, lanes);
    for (lane, (low, high)) in low_out.iter_mut().zip(high_out).enumerate() {
        let value = f64::from(f32::from_bits(a[lane]));
        let bits = if value.is_nan() { NAN } else { value.to_bits() };
        *low = bits as u32;
        *high = (bits >> 32) as u32;
    }
}
