//! f16 against SoftFloat; bf16 against SoftFloat's f32 with a rounding written here.

use super::single::{SINGLES, bits, soft, soft_fma};
use super::{LONG, Operands, QUICK, check_lanes, related_floats};
use rand::{Rng, RngExt};
use rand_pcg::Pcg64Mcg;
use softfloat_wrapper::{F16, F32, Float, RoundingMode};
use wave_isa::Op;

const EVEN: RoundingMode = RoundingMode::TiesToEven;

const F16S: Operands = Operands {
    special: &[
        0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x03FF, 0x0400, 0x8400, 0x0401, 0x1000, 0x2C00, 0x3800,
        0x3BFF, 0x3C00, 0xBC00, 0x3C01, 0x3E00, 0xC100, 0x5BFF, 0x6400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00,
        0x7C01, 0x7E00, 0xFE12,
    ],
    random: |rng| packed(rng, 5, 10),
};

const BF16S: Operands = Operands {
    special: &[
        0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x007F, 0x0080, 0x8080, 0x0081, 0x2000, 0x3380, 0x3F00,
        0x3F7F, 0x3F80, 0xBF80, 0x3F81, 0x3FC0, 0xC020, 0x4B00, 0x5F80, 0x7F00, 0x7F7F, 0xFF7F, 0x7F80,
        0xFF80, 0x7F81, 0x7FC0, 0xFFC1,
    ],
    random: |rng| packed(rng, 8, 7),
};

/// Related numbers in the low halves. The high halves have related numbers in half of the cases, else random
/// bits.
fn packed(rng: &mut Pcg64Mcg, exponent_bits: u32, fraction_bits: u32) -> [u64; 4] {
    let low = related_floats(rng, exponent_bits, fraction_bits);
    let high = if rng.random() {
        related_floats(rng, exponent_bits, fraction_bits)
    } else {
        [(); 4].map(|()| rng.next_u64() & 0xFFFF)
    };
    std::array::from_fn(|i| low[i] | high[i] << 16)
}

fn single_of_f16(a: u64) -> F32 {
    F16::from_bits(a as u16).to_f32(EVEN)
}

pub(super) fn f16_of_single(value: F32) -> u64 {
    u64::from(if value.is_nan() { 0x7E00 } else { value.to_f16(EVEN).to_bits() })
}

fn single_of_bf16(a: u64) -> F32 {
    F32::from_bits((a as u32 & 0xFFFF) << 16)
}

/// The nearer of the two bf16 around the value; distances are exact in f64, infinity counts as 2^128.
pub(super) fn bf16_of_single(value: F32) -> u64 {
    if value.is_nan() {
        return 0x7FC0;
    }
    let (sign, magnitude) = (u64::from(value.sign()) << 15, u64::from(value.to_bits() & 0x7FFF_FFFF));
    let exact = |bf16: u64| match bf16 {
        0x7F80 => 2f64.powi(128),
        _ => f64::from(f32::from_bits((bf16 as u32) << 16)),
    };
    let (below, above) = (magnitude >> 16, (magnitude >> 16) + 1);
    if below == 0x7F80 {
        return sign | below;
    }
    let value = f64::from(f32::from_bits(magnitude as u32));
    let (to_below, to_above) = (value - exact(below), exact(above) - value);
    let even = if below % 2 == 0 { below } else { above };
    let nearest = if to_below < to_above {
        below
    } else if to_above < to_below {
        above
    } else {
        even
    };
    sign | nearest
}

type Scalar = fn([F32; 3]) -> F32;

const ADD: Scalar = |[a, b, _]| a.add(b, EVEN);
const SUB: Scalar = |[a, b, _]| a.sub(b, EVEN);
const MUL: Scalar = |[a, b, _]| a.mul(b, EVEN);
const FMA: Scalar = |[a, b, c]| soft_fma(a, b, c);

/// Operation, operands, packed, function in f32.
type Row = (Op, usize, bool, Scalar);

const F16_OPERATIONS: &[Row] = &[
    (Op::HAdd, 2, false, ADD),
    (Op::HSub, 2, false, SUB),
    (Op::HMul, 2, false, MUL),
    (Op::HMa, 3, false, FMA),
    (Op::HAdd2, 2, true, ADD),
    (Op::HMul2, 2, true, MUL),
    (Op::HMa2, 3, true, FMA),
];

const BF16_OPERATIONS: &[Row] = &[
    (Op::BAdd, 2, false, ADD),
    (Op::BSub, 2, false, SUB),
    (Op::BMul, 2, false, MUL),
    (Op::BMa, 3, false, FMA),
    (Op::BAdd2, 2, true, ADD),
    (Op::BMul2, 2, true, MUL),
    (Op::BMa2, 3, true, FMA),
];

fn check_format(
    rows: &[Row],
    operands: &Operands,
    random: usize,
    widen: fn(u64) -> F32,
    narrow: fn(F32) -> u64,
) {
    for &(op, arity, is_packed, f) in rows {
        let half =
            |[a, b, c, _]: [u64; 4], shift: u32| narrow(f([a, b, c].map(|x| widen(x >> shift & 0xFFFF))));
        check_lanes(op, &operands.cases(arity, random, arity as u64), false, |case| {
            half(case, 0) | if is_packed { half(case, 16) << 16 } else { 0 }
        });
    }
}

fn check_all(random: usize) {
    check_format(F16_OPERATIONS, &F16S, random, single_of_f16, f16_of_single);
    check_format(BF16_OPERATIONS, &BF16S, random, single_of_bf16, bf16_of_single);
}

#[test]
fn half_operations_match_softfloat() {
    check_all(QUICK);
}

#[test]
#[ignore = "a million cases an operation"]
fn half_operations_match_softfloat_long() {
    check_all(LONG);
}

#[test]
fn every_half_converts_to_f32() {
    let cases: Vec<[u64; 4]> = (0..0x1_0000).map(|a| [a | (a * 77) << 16 & 0xFFFF_0000, 0, 0, 0]).collect();
    check_lanes(Op::CvtF32F16, &cases, false, |[a, ..]| bits(single_of_f16(a)));
    check_lanes(Op::CvtF32Bf16, &cases, false, |[a, ..]| bits(single_of_bf16(a)));
}

/// Each half, the midpoint between it and the next, and both neighbours of each: where rounding changes.
#[test]
fn f32_converts_to_half_around_every_tie() {
    for (op, widen, narrow) in [
        (Op::CvtF16F32, single_of_f16 as fn(u64) -> F32, f16_of_single as fn(F32) -> u64),
        (Op::CvtBf16F32, single_of_bf16, bf16_of_single),
    ] {
        let mut cases = SINGLES.cases(1, QUICK, 1);
        for half in 0..0x1_0000 {
            let (value, next) = (widen(half).to_bits(), widen((half + 1) & 0xFFFF).to_bits());
            let middle = value.wrapping_add(next.wrapping_sub(value) / 2);
            for point in [value, middle] {
                cases.extend([-1i32, 0, 1].map(|d| [u64::from(point.wrapping_add_signed(d)), 0, 0, 0]));
            }
        }
        check_lanes(op, &cases, false, |[a, ..]| narrow(soft(a)));
    }
}
