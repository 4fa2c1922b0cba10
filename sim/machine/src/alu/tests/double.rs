//! f64 operations on register pairs against Berkeley SoftFloat.

use super::{LONG, Operands, QUICK, check_lanes, related_floats};
use softfloat_wrapper::{F64, Float, RoundingMode};
use wave_isa::Op;

pub(super) const DOUBLES: Operands = Operands {
    special: &[
        0x0000_0000_0000_0000,
        0x8000_0000_0000_0000,
        0x0000_0000_0000_0001,
        0x8000_0000_0000_0001,
        0x000F_FFFF_FFFF_FFFF,
        0x0010_0000_0000_0000,
        0x8010_0000_0000_0001,
        0x3690_0000_0000_0000, // 2^-150: a tie between 0 and the least f32
        0x3690_0000_0000_0001,
        0x36A0_0000_0000_0000,
        0x380F_FFFF_FFFF_FFFF, // below the least normal f32
        0x3810_0000_0000_0000,
        0x3CA0_0000_0000_0000,
        0x3FE0_0000_0000_0000,
        0x3FEF_FFFF_FFFF_FFFF,
        0x3FF0_0000_0000_0000,
        0xBFF0_0000_0000_0000,
        0x3FF0_0000_0000_0001,
        0x3FF0_0000_1000_0000, // 1 + 2^-24: a tie of f32
        0x3FF0_0000_3000_0000,
        0x3FF8_0000_0000_0000,
        0x4340_0000_0000_0000,
        0x47EF_FFFF_E000_0000, // the greatest f32
        0x47EF_FFFF_F000_0000, // where f32 overflows
        0x47EF_FFFF_EFFF_FFFF,
        0x7FEF_FFFF_FFFF_FFFF,
        0xFFEF_FFFF_FFFF_FFFF,
        0x7FF0_0000_0000_0000,
        0xFFF0_0000_0000_0000,
        0x7FF0_0000_0000_0001,
        0x7FF8_0000_0000_0000,
        0xFFF8_0000_1234_5678,
    ],
    random: |rng| related_floats(rng, 11, 52),
};

const EVEN: RoundingMode = RoundingMode::TiesToEven;

pub(super) fn soft(a: u64) -> F64 {
    F64::from_bits(a)
}

pub(super) fn bits(value: F64) -> u64 {
    if value.is_nan() { 0x7FF8_0000_0000_0000 } else { value.to_bits() }
}

type Oracle = fn([u64; 4]) -> u64;

const OPERATIONS: &[(Op, usize, Oracle)] = &[
    (Op::DAdd, 2, |[a, b, ..]| bits(soft(a).add(soft(b), EVEN))),
    (Op::DSub, 2, |[a, b, ..]| bits(soft(a).sub(soft(b), EVEN))),
    (Op::DMul, 2, |[a, b, ..]| bits(soft(a).mul(soft(b), EVEN))),
    (Op::DMa, 3, |[a, b, c, _]| bits(soft(a).fused_mul_add(soft(b), soft(c), EVEN))),
    (Op::DDiv, 2, |[a, b, ..]| bits(soft(a).div(soft(b), EVEN))),
    (Op::DSqrt, 1, |[a, ..]| bits(soft(a).sqrt(EVEN))),
];

fn check_all(random: usize) {
    for &(op, arity, oracle) in OPERATIONS {
        check_lanes(op, &DOUBLES.cases(arity, random, arity as u64), true, oracle);
    }
}

#[test]
fn f64_operations_match_softfloat() {
    check_all(QUICK);
}

#[test]
#[ignore = "a million cases an operation"]
fn f64_operations_match_softfloat_long() {
    check_all(LONG);
}
