//! The loops over the lanes of a wave. Every elementwise operation runs one scalar function through one of
//! these. They compute all lanes and ignore the mask, so that they vectorise.

use super::{HostVectors, f64};
use pulp::{Simd, WithSimd};

/// Cuts the `N` source rows to the lanes of a destination row, which removes the bounds checks from the loops.
///
/// # Panics
/// If a row is missing or shorter than `lanes`.
#[inline(always)]
pub(super) fn sources<'a, const N: usize>(rows: &[&'a [u32]], lanes: usize) -> [&'a [u32]; N] {
    let mut cut = [&[][..]; N];
    for (to, row) in cut.iter_mut().zip(&rows[..N]) {
        *to = &row[..lanes];
    }
    cut
}

/// Where an operation finds its operands, and where its result goes. Operands are a, b, c, e.
pub(super) trait Rows: Sized {
    /// `out[lane] = f(a[lane])`
    fn map1(self, f: impl Fn(u32) -> u32);

    /// `out[lane] = f(a[lane], b[lane])`
    fn map2(self, f: impl Fn(u32, u32) -> u32);

    /// `out[lane] = f(a[lane], b[lane], c[lane])`
    fn map3(self, f: impl Fn(u32, u32, u32) -> u32);

    /// `out[lane] = f(a[lane], b[lane], c[lane], e[lane])`
    fn map4(self, f: impl Fn(u32, u32, u32, u32) -> u32);

    /// `out[lane] = value`
    fn fill(self, value: u32);

    /// `out[lane] = a[lane]` in the lanes of `mask`, `b[lane]` in the others.
    fn select(self, mask: u64);

    /// `out[lane] = f(a[lane], b[lane], …)` in f64; rows are pairs.
    fn pairs<const N: usize>(self, f: impl Fn([f64; N]) -> f64);

    /// Lanes where `f(a[lane], b[lane])` holds; bit i is lane i.
    fn lanes_where(self, f: impl Fn(u32, u32) -> bool) -> u64;

    /// An operation on whole rows with `R` rows of a result: `f(source rows, destination rows)`. A ballot of 64 lanes has
    /// a row more.
    fn whole<const R: usize>(self, f: impl FnOnce(&[&[u32]], &mut [u32]));
}

/// Rows that lie apart: source rows of W lanes, and the destination rows, concatenated.
pub(super) struct Apart<'a> {
    pub(super) rows: &'a [&'a [u32]],
    pub(super) out: &'a mut [u32],
}

impl Rows for Apart<'_> {
    #[inline(always)]
    fn map1(self, f: impl Fn(u32) -> u32) {
        let [a] = sources(self.rows, self.out.len());
        for (d, &a) in self.out.iter_mut().zip(a) {
            *d = f(a);
        }
    }

    #[inline(always)]
    fn map2(self, f: impl Fn(u32, u32) -> u32) {
        let [a, b] = sources(self.rows, self.out.len());
        for ((d, &a), &b) in self.out.iter_mut().zip(a).zip(b) {
            *d = f(a, b);
        }
    }

    #[inline(always)]
    fn map3(self, f: impl Fn(u32, u32, u32) -> u32) {
        let [a, b, c] = sources(self.rows, self.out.len());
        for (((d, &a), &b), &c) in self.out.iter_mut().zip(a).zip(b).zip(c) {
            *d = f(a, b, c);
        }
    }

    #[inline(always)]
    fn map4(self, f: impl Fn(u32, u32, u32, u32) -> u32) {
        let [a, b, c, e] = sources(self.rows, self.out.len());
        for ((((d, &a), &b), &c), &e) in self.out.iter_mut().zip(a).zip(b).zip(c).zip(e) {
            *d = f(a, b, c, e);
        }
    }

    #[inline(always)]
    fn fill(self, value: u32) {
        self.out.fill(value);
    }

    #[inline(always)]
    fn select(self, mask: u64) {
        let [a, b] = sources(self.rows, self.out.len());
        self.out.copy_from_slice(b);
        merge_row(mask, a, self.out);
    }

    #[inline(always)]
    fn pairs<const N: usize>(self, f: impl Fn([f64; N]) -> f64) {
        let lanes = self.out.len() / 2;
        let (low, high) = self.out.split_at_mut(lanes);
        let mut pairs = [[&[][..]; 2]; N];
        for (cut, pair) in pairs.iter_mut().zip(self.rows.as_chunks::<2>().0) {
            *cut = sources(pair, lanes);
        }
        f64::map(lanes, pairs, [low, high], f);
    }

    #[inline(always)]
    fn lanes_where(self, f: impl Fn(u32, u32) -> bool) -> u64 {
        let [a, b] = sources(self.rows, self.rows[0].len());
        lanes_where(a, b, f)
    }

    #[inline(always)]
    fn whole<const R: usize>(self, f: impl FnOnce(&[&[u32]], &mut [u32])) {
        f(self.rows, self.out);
    }
}

/// Lanes where `f(a[lane], b[lane])` holds; bit i is lane i. Both rows have W lanes.
#[inline(always)]
fn lanes_where(a: &[u32], b: &[u32], f: impl Fn(u32, u32) -> bool) -> u64 {
    let ((a32, a_rest), (b32, b_rest)) = (a.as_chunks::<32>(), b.as_chunks::<32>());
    let mut mask = 0;
    for (chunk, (a, b)) in a32.iter().zip(b32).enumerate() {
        // Each lane sets its own bit of a word, so that the loop is an OR of vectors.
        let mut bits = 0;
        for (lane, (&a, &b)) in a.iter().zip(b).enumerate() {
            bits |= u32::from(f(a, b)) << lane;
        }
        mask |= u64::from(bits) << (32 * chunk);
    }
    for (lane, (&a, &b)) in a_rest.iter().zip(b_rest).enumerate() {
        mask |= u64::from(f(a, b)) << (32 * a32.len() + lane);
    }
    mask
}

/// Lanes of the divisor that are 0; a division gives 0 in them.
#[inline(always)]
pub(crate) fn zero_lanes(row: &[u32]) -> u64 {
    lanes_where(row, row, |value, _| value == 0)
}

/// For each value of 8 bits of a mask: all ones in the lanes whose bit is set. It is a table because the compiler would
/// turn a merge by what it can see to be a mask into masked stores, which some hosts execute very slowly.
static SELECT: [[i8; 8]; 256] = {
    let mut select = [[0; 8]; 256];
    let mut entry = 0;
    while entry < 8 * 256 {
        let (mask, lane) = (entry / 8, entry % 8);
        select[mask][lane] = -((mask >> lane & 1) as i8);
        entry += 1;
    }
    select
};

/// b in the lanes of the lowest 8 bits of `mask`, c in the others, for one chunk of lanes.
#[inline(always)]
fn blend(mask: u64, b: [u32; 8], c: [u32; 8]) -> [u32; 8] {
    let select = &SELECT[usize::from(mask as u8)];
    std::array::from_fn(|lane| {
        let select = i32::from(select[lane]) as u32;
        b[lane] & select | c[lane] & !select
    })
}

/// Copies `from` to `into` in the lanes of `mask`; the other lanes of `into` keep their value. Both rows
/// have W lanes.
#[inline]
pub fn merge(host: HostVectors, mask: u64, from: &[u32], into: &mut [u32]) {
    if mask == u64::MAX >> (64 - into.len()) {
        into.copy_from_slice(from);
    } else {
        host.dispatch(Merge { mask, from, into });
    }
}

struct Merge<'a> {
    mask: u64,
    from: &'a [u32],
    into: &'a mut [u32],
}

impl WithSimd for Merge<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        merge_row(self.mask, self.from, self.into);
    }
}

/// [`merge`] to be inlined into loops that are compiled per kind of host.
#[inline(always)]
pub(super) fn merge_row(mask: u64, from: &[u32], into: &mut [u32]) {
    let (from8, from_rest) = from.as_chunks();
    let (into8, into_rest) = into.as_chunks_mut();
    let rest_mask = mask.wrapping_shr(8 * into8.len() as u32);
    for (chunk, (into, from)) in into8.iter_mut().zip(from8).enumerate() {
        *into = blend(mask >> (8 * chunk), *from, *into);
    }
    for (lane, (into, &from)) in into_rest.iter_mut().zip(from_rest).enumerate() {
        if rest_mask >> lane & 1 != 0 {
            *into = from;
        }
    }
}

/// Combines the values of the lanes of `mask` into one. `f` is associative and commutative with the neutral
/// element `identity`.
#[inline(always)]
pub(super) fn fold(mask: u64, row: &[u32], identity: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    let (row8, rest) = row.as_chunks::<8>();
    let mut sums = [identity; 8];
    for (chunk, values) in row8.iter().enumerate() {
        let values = blend(mask >> (8 * chunk), *values, [identity; 8]);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = f(*sum, value);
        }
    }
    for (lane, &value) in rest.iter().enumerate() {
        if mask >> (8 * row8.len() + lane) & 1 != 0 {
            sums[lane] = f(sums[lane], value);
        }
    }
    sums.into_iter().fold(identity, f)
}
