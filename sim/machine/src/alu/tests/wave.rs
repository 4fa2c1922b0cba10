//! Wave operations, select, merge and the matrix operation against their definitions, lane by lane.

use super::super::{FRAGMENT_ROWS, HostVectors, LaneContext, merge, mma_compute, zero_lanes};
use super::execute;
use super::single::{bits, soft};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use softfloat_wrapper::{Float, RoundingMode};
use wave_isa::Op;

const WIDTHS: [usize; 5] = [4, 8, 16, 32, 64];

/// A row of W lanes: small values, so that they are lane numbers inside and outside the wave, or random bits.
fn row(rng: &mut Pcg64Mcg, lanes: usize) -> Vec<u32> {
    let small = rng.random::<bool>();
    let mut value = || {
        let bits = rng.next_u32();
        if small { (bits % (lanes as u32 + 4)).wrapping_sub(2) } else { bits }
    };
    (0..lanes).map(|_| value()).collect()
}

/// A mask of some, all or one of the lanes; never empty.
fn mask(rng: &mut Pcg64Mcg, lanes: usize) -> u64 {
    let all = u64::MAX >> (64 - lanes);
    match rng.random_range(0..4) {
        0 => all,
        1 => 1 << rng.random_range(0..lanes),
        _ => rng.next_u64() & all | 1 << rng.random_range(0..lanes),
    }
}

type Reference = fn(&[u32], &[u32], &LaneContext, usize) -> u32;

/// The values of `row` in the participating lanes.
fn taking_part<'a>(row: &'a [u32], context: &'a LaneContext) -> impl Iterator<Item = u32> + 'a {
    row.iter().enumerate().filter(|&(lane, _)| context.mask >> lane & 1 == 1).map(|(_, &value)| value)
}

/// The value of lane `source`, 0 outside the wave.
fn lane_or_0(row: &[u32], source: u32) -> u32 {
    if (source as usize) < row.len() { row[source as usize] } else { 0 }
}

const OPERATIONS: &[(Op, Reference)] = &[
    (Op::WaveShuffle, |a, b, _, lane| lane_or_0(a, b[lane])),
    (Op::WaveShuffleUp, |a, b, _, lane| lane_or_0(a, (lane as u32).wrapping_sub(b[lane]))),
    (Op::WaveShuffleDown, |a, b, _, lane| lane_or_0(a, (lane as u32).wrapping_add(b[lane]))),
    (Op::WaveShuffleXor, |a, b, _, lane| lane_or_0(a, lane as u32 ^ b[lane])),
    (Op::WaveBroadcast, |a, b, context, _| lane_or_0(a, taking_part(b, context).next().unwrap())),
    (Op::WavePrefixSum, |a, _, context, lane| {
        taking_part(&a[..lane], context).fold(0, |sum, x| sum.wrapping_add(x))
    }),
    (Op::WaveReduceAdd, |a, _, context, _| taking_part(a, context).fold(0, |sum, x| sum.wrapping_add(x))),
    (Op::WaveReduceMin, |a, _, context, _| taking_part(a, context).min().unwrap()),
    (Op::WaveReduceMax, |a, _, context, _| taking_part(a, context).max().unwrap()),
    (Op::WaveReduceAnd, |a, _, context, _| taking_part(a, context).reduce(|x, y| x & y).unwrap()),
    (Op::WaveReduceOr, |a, _, context, _| taking_part(a, context).reduce(|x, y| x | y).unwrap()),
    (Op::WaveReduceXor, |a, _, context, _| taking_part(a, context).reduce(|x, y| x ^ y).unwrap()),
    (Op::Select, |b, c, context, lane| if context.pred >> lane & 1 == 1 { b[lane] } else { c[lane] }),
    (Op::MovImm, |_, _, context, _| context.imm),
];

#[test]
fn every_participating_lane_gets_what_the_definition_says() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for lanes in WIDTHS {
        for _ in 0..500 {
            let (a, b) = (row(&mut rng, lanes), row(&mut rng, lanes));
            let context =
                LaneContext { mask: mask(&mut rng, lanes), pred: rng.next_u64(), imm: rng.next_u32() };
            for (op, reference) in OPERATIONS {
                let mut out = vec![0xDEAD_BEEF; lanes];
                assert_eq!(execute(*op, &[&a, &b], context, &mut out), 0);
                for (lane, &value) in out.iter().enumerate() {
                    if context.mask >> lane & 1 == 1 {
                        let expected = reference(&a, &b, &context, lane);
                        assert_eq!(
                            value, expected,
                            "{op:?} lane {lane} of {lanes}, {a:x?} {b:x?} {context:x?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn votes_count_participating_lanes_only() {
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    for lanes in WIDTHS {
        for _ in 0..500 {
            let mask = mask(&mut rng, lanes);
            let pred = match rng.random_range(0..3) {
                0 => rng.next_u64(),
                1 => mask | rng.next_u64(),
                _ => !mask & rng.next_u64(),
            };
            let context = LaneContext { mask, pred, imm: 0 };
            let votes: Vec<bool> =
                (0..lanes).filter(|lane| mask >> lane & 1 == 1).map(|lane| pred >> lane & 1 == 1).collect();
            let (any, all) = (votes.contains(&true), !votes.contains(&false));
            assert_eq!(execute(Op::WaveAny, &[], context, &mut []) & mask, if any { mask } else { 0 });
            assert_eq!(execute(Op::WaveAll, &[], context, &mut []) & mask, if all { mask } else { 0 });
            let rows = if lanes > 32 { 2 } else { 1 };
            let mut out = vec![0; rows * lanes];
            execute(Op::WaveBallot, &[], context, &mut out);
            let ballot =
                (0..lanes).filter(|lane| mask & pred & 1 << lane != 0).map(|lane| 1u64 << lane).sum::<u64>();
            for (index, &word) in out.iter().enumerate() {
                assert_eq!(word, (ballot >> (32 * (index / lanes))) as u32, "word {index} of {lanes} lanes");
            }
        }
    }
}

#[test]
fn merge_writes_the_lanes_of_the_mask() {
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    for lanes in WIDTHS {
        for _ in 0..100 {
            let (from, into, mask) = (row(&mut rng, lanes), row(&mut rng, lanes), rng.next_u64());
            let mut merged = into.clone();
            merge(HostVectors::new(), mask, &from, &mut merged);
            for lane in 0..lanes {
                assert_eq!(merged[lane], if mask >> lane & 1 == 1 { from[lane] } else { into[lane] });
            }
        }
    }
}

#[test]
fn zero_lanes_are_those_that_hold_0() {
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    for lanes in WIDTHS {
        let row: Vec<u32> =
            (0..lanes).map(|_| rng.random_range(0..3) << 31 >> rng.random_range(0..32)).collect();
        for lane in 0..64 {
            assert_eq!(
                zero_lanes(&row) >> lane & 1 == 1,
                row.get(lane) == Some(&0),
                "lane {lane} of {row:x?}"
            );
        }
    }
}

#[test]
fn matrix_tiles_accumulate_in_order_of_k() {
    let mut rng = Pcg64Mcg::seed_from_u64(4);
    for lanes in WIDTHS {
        for round in 0..40 {
            let mut fragment = || -> Vec<u32> {
                (0..FRAGMENT_ROWS * lanes)
                    .map(|_| match round % 4 {
                        0 => rng.next_u32(),
                        _ => {
                            (rng.random_range(-8.0f32..8.0) * 2f32.powi(rng.random_range(-20..20))).to_bits()
                        }
                    })
                    .collect()
            };
            let (a, b, before) = (fragment(), fragment(), fragment());
            let mask = mask(&mut rng, lanes);
            let mut c = before.clone();
            mma_compute(HostVectors::new(), mask, &a, &b, &mut c);
            for lane in 0..lanes {
                let at = |tile: &[u32], i: usize, j: usize| u64::from(tile[(4 * i + j) * lanes + lane]);
                for (i, j) in (0..16).map(|index| (index / 4, index % 4)) {
                    let mut expected = at(&before, i, j);
                    if mask >> lane & 1 == 1 {
                        for k in 0..4 {
                            let product =
                                soft(at(&a, i, k)).mul(soft(at(&b, k, j)), RoundingMode::TiesToEven);
                            expected = bits(soft(expected).add(product, RoundingMode::TiesToEven));
                        }
                    }
                    assert_eq!(at(&c, i, j), expected, "lane {lane} of {lanes}, element {i}, {j}");
                }
            }
        }
    }
}
