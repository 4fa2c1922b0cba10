//! Conversions against Berkeley SoftFloat. Conversions of f16 and bf16 are tested with their formats.

use super::double::{self, DOUBLES};
use super::execute;
use super::single::{self, SINGLES};
use super::{ALL, LONG, Operands, QUICK, check_lanes};
use rand::{Rng, RngExt};
use softfloat_wrapper::{F32, Float, RoundingMode};
use wave_isa::Op;

const EVEN: RoundingMode = RoundingMode::TiesToEven;

const INTEGERS: Operands = Operands {
    special: &[
        0,
        1,
        0xFF_FFFF,
        0x100_0000,
        0x100_0001,
        0x100_0003,
        0x7FFF_FF80,
        0x7FFF_FFC0,
        0x7FFF_FFFF,
        0x8000_0000,
        0x8000_0080,
        0xFFFF_FF7F,
        0xFFFF_FF80,
        0xFFFF_FFFF,
    ],
    random: |rng| [(); 4].map(|()| u64::from(rng.next_u32() >> rng.random_range(0..32))),
};

/// SoftFloat's RISC-V conversions saturate like ours, but turn a NaN into the greatest integer.
fn to_i32(a: u64) -> u64 {
    let value = single::soft(a);
    if value.is_nan() { 0 } else { u64::from(value.to_i32(RoundingMode::TowardZero, false) as u32) }
}

fn to_u32(a: u64) -> u64 {
    let value = single::soft(a);
    if value.is_nan() { 0 } else { u64::from(value.to_u32(RoundingMode::TowardZero, false)) }
}

fn check_all(random: usize) {
    let integers = INTEGERS.cases(1, random, 1);
    check_lanes(Op::CvtF32I32, &integers, false, |[a, ..]| single::bits(F32::from_i32(a as i32, EVEN)));
    check_lanes(Op::CvtF32U32, &integers, false, |[a, ..]| single::bits(F32::from_u32(a as u32, EVEN)));
    let singles = SINGLES.cases(1, random, 2);
    check_lanes(Op::CvtI32F32, &singles, false, |[a, ..]| to_i32(a));
    check_lanes(Op::CvtU32F32, &singles, false, |[a, ..]| to_u32(a));
    check_lanes(Op::CvtF16F32, &singles, false, |[a, ..]| super::half::f16_of_single(single::soft(a)));
    check_lanes(Op::CvtBf16F32, &singles, false, |[a, ..]| super::half::bf16_of_single(single::soft(a)));
    // f32 to a pair: check_lanes writes pairs only where it also reads pairs, and it reads the low row.
    for cases in singles.chunks(64) {
        let row = super::lane_row(cases, |case| case[0] as u32);
        let mut out = [0; 128];
        execute(Op::CvtF64F32, &[&row], ALL, &mut out);
        for (lane, case) in cases.iter().enumerate() {
            let got = u64::from(out[lane]) | u64::from(out[64 + lane]) << 32;
            assert_eq!(got, double::bits(single::soft(case[0]).to_f64(EVEN)), "of {:x}", case[0]);
        }
    }
    // A pair to f32, including exponents in the range of f32.
    let mut doubles = DOUBLES.cases(1, random, 3);
    doubles.extend(DOUBLES.cases(1, random, 4).iter().map(|case| {
        let exponent = 0x380 - 30 + (case[0] >> 52 & 0x7FF) % 320;
        [case[0] & 0x800F_FFFF_FFFF_FFFF | exponent << 52, 0, 0, 0]
    }));
    for cases in doubles.chunks(64) {
        let rows = [0, 32].map(|shift| super::lane_row(cases, |case| (case[0] >> shift) as u32));
        let mut out = [0; 64];
        execute(Op::CvtF32F64, &[&rows[0], &rows[1]], ALL, &mut out);
        for (lane, case) in cases.iter().enumerate() {
            let expected = single::bits(double::soft(case[0]).to_f32(EVEN));
            assert_eq!(u64::from(out[lane]), expected, "of {:x}", case[0]);
        }
    }
}

#[test]
fn conversions_match_softfloat() {
    check_all(QUICK);
}

#[test]
#[ignore = "a million cases an operation"]
fn conversions_match_softfloat_long() {
    check_all(LONG);
}
