//! f32 operations against Berkeley SoftFloat.

use super::{LONG, Operands, QUICK, check_lanes, check_predicate, related_floats};
use softfloat_wrapper::{F32, Float, RoundingMode};
use std::cmp::Ordering;
use wave_isa::Op;

pub(super) const SINGLES: Operands = Operands {
    special: &[
        0x0000_0000, // 0
        0x8000_0000,
        0x0000_0001, // least subnormal
        0x8000_0001,
        0x0000_0002,
        0x0040_0000,
        0x007F_FFFF, // greatest subnormal
        0x0080_0000, // least normal
        0x8080_0000,
        0x0080_0001,
        0x2000_0000,
        0x3380_0000, // 2^-24
        0x3EFF_FFFF, // below 0.5
        0x3F00_0000, // 0.5
        0xBF00_0000,
        0x3F7F_FFFF, // below 1
        0x3F80_0000, // 1
        0xBF80_0000,
        0x3F80_0001,
        0x3FC0_0000, // 1.5
        0xC020_0000, // -2.5
        0x4AFF_FFFF, // 8388607.5
        0x4B00_0000, // 2^23
        0xCB7F_FFFF, // -(2^24 - 1)
        0x4EFF_FFFF, // below 2^31
        0x4F00_0000, // 2^31
        0xCF00_0000,
        0x4F7F_FFFF, // below 2^32
        0x4F80_0000, // 2^32
        0x7F7F_FFFF, // greatest
        0xFF7F_FFFF,
        0x7F80_0000, // infinity
        0xFF80_0000,
        0x7F80_0001, // signalling NaN
        0x7FC0_0000,
        0xFFC1_2345,
    ],
    random: |rng| related_floats(rng, 8, 23),
};

const EVEN: RoundingMode = RoundingMode::TiesToEven;

pub(super) fn soft(a: u64) -> F32 {
    F32::from_bits(a as u32)
}

pub(super) fn bits(value: F32) -> u64 {
    u64::from(if value.is_nan() { 0x7FC0_0000 } else { value.to_bits() })
}

pub(super) fn soft_fma(a: F32, b: F32, c: F32) -> F32 {
    a.fused_mul_add(b, c, EVEN)
}

fn one() -> F32 {
    F32::from_bits(0x3F80_0000)
}

/// a and b in the order of IEEE 754 minimumNumber: by value, -0 below +0.
fn in_order(a: F32, b: F32) -> Ordering {
    a.compare(b).unwrap().then(b.sign().cmp(&a.sign()))
}

fn minimum_number(a: u64, b: u64, keep: Ordering) -> u64 {
    match (soft(a).is_nan(), soft(b).is_nan()) {
        (true, true) => 0x7FC0_0000,
        (true, false) => b,
        (false, true) => a,
        (false, false) if in_order(soft(a), soft(b)) == keep => a,
        (false, false) => b,
    }
}

fn min(a: u64, b: u64) -> u64 {
    minimum_number(a, b, Ordering::Less)
}

fn max(a: u64, b: u64) -> u64 {
    minimum_number(a, b, Ordering::Greater)
}

fn integral(a: u64, mode: RoundingMode) -> u64 {
    bits(soft(a).round_to_integral(mode))
}

fn fract(a: u64) -> u64 {
    let fraction = soft(a).sub(soft(integral(a, RoundingMode::TowardNegative)), EVEN);
    if fraction.is_nan() { 0x7FC0_0000 } else { bits(fraction).min(0x3F7F_FFFF) }
}

fn saturate(a: u64) -> u64 {
    match soft(a).compare(one()) {
        Some(Ordering::Less) if soft(a).is_positive() => a,
        Some(Ordering::Equal | Ordering::Greater) => 0x3F80_0000,
        _ => 0,
    }
}

type Oracle = fn([u64; 4]) -> u64;

const OPERATIONS: &[(Op, usize, Oracle)] = &[
    (Op::FAdd, 2, |[a, b, ..]| bits(soft(a).add(soft(b), EVEN))),
    (Op::FSub, 2, |[a, b, ..]| bits(soft(a).sub(soft(b), EVEN))),
    (Op::FMul, 2, |[a, b, ..]| bits(soft(a).mul(soft(b), EVEN))),
    (Op::FDiv, 2, |[a, b, ..]| bits(soft(a).div(soft(b), EVEN))),
    (Op::Fma, 3, |[a, b, c, _]| bits(soft_fma(soft(a), soft(b), soft(c)))),
    (Op::FNeg, 1, |[a, ..]| a ^ 0x8000_0000),
    (Op::FAbs, 1, |[a, ..]| a & 0x7FFF_FFFF),
    (Op::FMin, 2, |[a, b, ..]| min(a, b)),
    (Op::FMax, 2, |[a, b, ..]| max(a, b)),
    (Op::FClamp, 3, |[a, b, c, _]| min(max(a, b), c)),
    (Op::FSqrt, 1, |[a, ..]| bits(soft(a).sqrt(EVEN))),
    (Op::FRsqrt, 1, |[a, ..]| bits(one().div(soft(a).sqrt(EVEN), EVEN))),
    (Op::FRcp, 1, |[a, ..]| bits(one().div(soft(a), EVEN))),
    (Op::FFloor, 1, |[a, ..]| integral(a, RoundingMode::TowardNegative)),
    (Op::FCeil, 1, |[a, ..]| integral(a, RoundingMode::TowardPositive)),
    (Op::FRound, 1, |[a, ..]| integral(a, RoundingMode::TiesToEven)),
    (Op::FTrunc, 1, |[a, ..]| integral(a, RoundingMode::TowardZero)),
    (Op::FFract, 1, |[a, ..]| fract(a)),
    (Op::FSat, 1, |[a, ..]| saturate(a)),
];

type Compare = fn(F32, F32) -> bool;

const COMPARES: &[(Op, Compare)] = &[
    (Op::FCmpEq, |a, b| a.eq(b)),
    (Op::FCmpNe, |a, b| !a.eq(b)),
    (Op::FCmpLt, |a, b| a.lt_quiet(b)),
    (Op::FCmpLe, |a, b| a.le_quiet(b)),
    (Op::FCmpGt, |a, b| b.lt_quiet(a)),
    (Op::FCmpGe, |a, b| b.le_quiet(a)),
    (Op::FCmpOrd, |a, b| !a.is_nan() && !b.is_nan()),
    (Op::FCmpUnord, |a, b| a.is_nan() || b.is_nan()),
];

fn check_all(random: usize) {
    for &(op, arity, oracle) in OPERATIONS {
        check_lanes(op, &SINGLES.cases(arity, random, arity as u64), false, oracle);
    }
    let cases = SINGLES.cases(2, random, 5);
    for &(op, oracle) in COMPARES {
        check_predicate(op, &cases, |a, b| oracle(soft(a), soft(b)));
    }
}

#[test]
fn f32_operations_match_softfloat() {
    check_all(QUICK);
}

#[test]
#[ignore = "a million cases an operation"]
fn f32_operations_match_softfloat_long() {
    check_all(LONG);
}

/// Sums just beside a tie of f32, normal and subnormal, where rounding twice goes wrong.
#[test]
fn fma_rounds_once_beside_ties() {
    let mut cases = Vec::new();
    for exponent in [1u64, 2, 20, 26, 60, 127, 200] {
        for fraction in [0u64, 1, 2, 0x40_0000, 0x7F_FFFE, 0x7F_FFFF] {
            for below in 0..60 {
                // a × b is half a unit of c, give or take 2^-23 or 2^-46 of it, or less than that.
                for (a, b) in [(0u64, 0u64), (1, 1), (1, 0), (0x7F_FFFF, 0x7F_FFFF), (0x7F_FFFF, 1)] {
                    let (ea, eb) = (127, (exponent + 30).saturating_sub(below));
                    let c = exponent << 23 | fraction;
                    let a = ea << 23 | a;
                    let b = eb << 23 | b;
                    for sign in 0..2u64 {
                        cases.push([a, b, c | sign << 31, 0]);
                        cases.push([a, b, (c & 0x7F_FFFF) | sign << 31, 0]);
                    }
                }
            }
        }
    }
    check_lanes(Op::Fma, &cases, false, |[a, b, c, _]| bits(soft_fma(soft(a), soft(b), soft(c))));
}
