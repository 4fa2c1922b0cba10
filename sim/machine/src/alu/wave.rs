//! Operations across the lanes of a wave, over the participating lanes. A source lane outside the wave gives
//! 0; a source lane that does not take part gives its register.

use super::LaneContext;
use super::lanes::{fold, sources};

/// `out[lane] = a[source(lane, b[lane])]`, 0 where that lane does not exist.
#[inline(always)]
pub(super) fn shuffle(rows: &[&[u32]], out: &mut [u32], source: impl Fn(u32, u32) -> u32) {
    let [a, b] = sources(rows, out.len());
    for (lane, d) in out.iter_mut().enumerate() {
        *d = a.get(source(lane as u32, b[lane]) as usize).copied().unwrap_or(0);
    }
}

/// Every lane gets a of the lane that b of the lowest participating lane names.
#[inline(always)]
pub(super) fn broadcast(rows: &[&[u32]], context: LaneContext, out: &mut [u32]) {
    let [a, b] = sources(rows, out.len());
    let source = b.get(context.mask.trailing_zeros() as usize);
    out.fill(source.and_then(|&s| a.get(s as usize)).copied().unwrap_or(0));
}

/// The predicate of the participating lanes as a mask: one row, or for 64 lanes the low and the high word.
#[inline(always)]
pub(super) fn ballot(context: LaneContext, out: &mut [u32]) {
    let votes = context.pred & context.mask;
    if out.len() > 64 {
        let (low, high) = out.split_at_mut(64);
        low.fill(votes as u32);
        high.fill((votes >> 32) as u32);
    } else {
        out.fill(votes as u32);
    }
}

/// Exclusive sum over the participating lanes below, wrapping.
#[inline(always)]
pub(super) fn prefix_sum(rows: &[&[u32]], context: LaneContext, out: &mut [u32]) {
    let [a] = sources(rows, out.len());
    let mut sum = 0u32;
    for (lane, d) in out.iter_mut().enumerate() {
        *d = sum;
        let takes_part = (context.mask >> lane & 1) as u32;
        sum = sum.wrapping_add(a[lane] & takes_part.wrapping_neg());
    }
}

/// The fold of `f` over the participating lanes, to every lane.
#[inline(always)]
pub(super) fn reduce(
    rows: &[&[u32]],
    context: LaneContext,
    out: &mut [u32],
    identity: u32,
    f: impl Fn(u32, u32) -> u32,
) {
    let [a] = sources(rows, out.len());
    out.fill(fold(context.mask, a, identity, f));
}
