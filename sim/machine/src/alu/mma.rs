//! Matrix multiply-accumulate on the fragments of a wave.

use super::HostVectors;
use super::f32::canonical;
use super::lanes::merge_row;
use pulp::{Simd, WithSimd};
use wave_isa::{MAX_WAVE_WIDTH, MMA_DIM};

/// Rows of a fragment, W lanes each: row `MMA_DIM * i + j` holds element (i, j) of every lane's tile.
pub(crate) const FRAGMENT_ROWS: usize = MMA_DIM * MMA_DIM;

/// C += A × B in each lane of `mask`; the other lanes of `c` keep their values.
///
/// A fragment is [`FRAGMENT_ROWS`] rows of W lanes, concatenated: element (i, j) of lane l is at
/// `(MMA_DIM * i + j) * W + l`. Products are accumulated over k in order, each step one f32 multiply and one
/// f32 add, with canonical NaN.
///
/// # Panics
/// If `a` or `b` is shorter than `c`, or `c` is empty or of more than 64 lanes.
pub fn mma_compute(host: HostVectors, mask: u64, a: &[u32], b: &[u32], c: &mut [u32]) {
    host.dispatch(MultiplyAccumulate { mask, a, b, c });
}

struct MultiplyAccumulate<'a> {
    mask: u64,
    a: &'a [u32],
    b: &'a [u32],
    c: &'a mut [u32],
}

impl WithSimd for MultiplyAccumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        multiply_accumulate(self.mask, self.a, self.b, self.c);
    }
}

#[inline(always)]
fn multiply_accumulate(mask: u64, a: &[u32], b: &[u32], c: &mut [u32]) {
    let lanes = c.len() / FRAGMENT_ROWS;
    let row = |index: usize| index * lanes..(index + 1) * lanes;
    let mut sums = [0; MAX_WAVE_WIDTH];
    let sums = &mut sums[..lanes];
    for (index, c) in c.chunks_exact_mut(lanes).enumerate() {
        let (i, j) = (index / MMA_DIM, index % MMA_DIM);
        let a: [&[u32]; MMA_DIM] = std::array::from_fn(|k| &a[row(MMA_DIM * i + k)]);
        let b: [&[u32]; MMA_DIM] = std::array::from_fn(|k| &b[row(MMA_DIM * k + j)]);
        for (lane, (sum, &c)) in sums.iter_mut().zip(&*c).enumerate() {
            let mut total = f32::from_bits(c);
            for k in 0..MMA_DIM {
                total += f32::from_bits(a[k][lane]) * f32::from_bits(b[k][lane]);
            }
            // A NaN stays a NaN through the sum, so it is enough to make the end result canonical.
            *sum = canonical(total);
        }
        merge_row(mask, sums, c);
    }
}
