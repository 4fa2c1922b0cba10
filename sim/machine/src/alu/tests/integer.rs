//! Integer operations against i64, u64 and bit-by-bit arithmetic.

use super::{LONG, Operands, QUICK, check_lanes, check_predicate};
use rand::{Rng, RngExt};
use wave_isa::Op;

const INTEGERS: Operands = Operands {
    special: &[
        0,
        1,
        2,
        3,
        5,
        7,
        8,
        15,
        16,
        24,
        31,
        32,
        33,
        63,
        0xFF,
        0x100,
        0xFFFF,
        0x1_0000,
        0x5555_5555,
        0x7FFF_FFFE,
        0x7FFF_FFFF,
        0x8000_0000,
        0x8000_0001,
        0xAAAA_AAAA,
        0xFFFF_0000,
        0xFFFF_FF00,
        0xFFFF_FFE0,
        0xFFFF_FFFD,
        0xFFFF_FFFE,
        0xFFFF_FFFF,
    ],
    random: |rng| {
        [(); 4].map(|()| {
            let value = rng.next_u32() >> rng.random_range(0..32);
            u64::from(if rng.random() { value } else { value.wrapping_neg() })
        })
    },
};

fn signed(a: u64) -> i64 {
    i64::from(a as u32 as i32)
}

/// The low 32 bits.
fn low(a: i64) -> u64 {
    u64::from(a as u32)
}

fn bit(a: u64, index: u64) -> u64 {
    if index < 32 { a >> index & 1 } else { 0 }
}

/// The word whose bit i is `f(i)`.
fn from_bits(f: impl Fn(u64) -> u64) -> u64 {
    (0..32).map(|i| f(i) << i).sum()
}

type Oracle = fn([u64; 4]) -> u64;

const OPERATIONS: &[(Op, usize, Oracle)] = &[
    (Op::IAdd, 2, |[a, b, ..]| low(signed(a) + signed(b))),
    (Op::ISub, 2, |[a, b, ..]| low(signed(a) - signed(b))),
    (Op::IMul, 2, |[a, b, ..]| low(signed(a) * signed(b))),
    (Op::IMulHi, 2, |[a, b, ..]| (a * b) >> 32),
    (Op::IMad, 3, |[a, b, c, _]| low(signed(a) * signed(b) + signed(c))),
    (Op::IDiv, 2, |[a, b, ..]| low(signed(a).checked_div(signed(b)).unwrap_or(0))),
    (Op::IMod, 2, |[a, b, ..]| low(signed(a).checked_rem(signed(b)).unwrap_or(0))),
    (Op::INeg, 1, |[a, ..]| low(-signed(a))),
    (Op::IAbs, 1, |[a, ..]| low(signed(a).abs())),
    (Op::IMin, 2, |[a, b, ..]| low(signed(a).min(signed(b)))),
    (Op::IMax, 2, |[a, b, ..]| low(signed(a).max(signed(b)))),
    (Op::IClamp, 3, |[a, b, c, _]| low(signed(a).max(signed(b)).min(signed(c)))),
    (Op::UMin, 2, |[a, b, ..]| a.min(b)),
    (Op::UMax, 2, |[a, b, ..]| a.max(b)),
    (Op::And, 2, |[a, b, ..]| from_bits(|i| bit(a, i) * bit(b, i))),
    (Op::Or, 2, |[a, b, ..]| from_bits(|i| bit(a, i).max(bit(b, i)))),
    (Op::Xor, 2, |[a, b, ..]| from_bits(|i| u64::from(bit(a, i) != bit(b, i)))),
    (Op::Not, 1, |[a, ..]| from_bits(|i| 1 - bit(a, i))),
    (Op::Shl, 2, |[a, b, ..]| low((a << (b % 32)) as i64)),
    (Op::Shr, 2, |[a, b, ..]| a >> (b % 32)),
    (Op::Sar, 2, |[a, b, ..]| low(signed(a) >> (b % 32))),
    (Op::BitCount, 1, |[a, ..]| (0..32).map(|i| bit(a, i)).sum()),
    (Op::BitFind, 1, |[a, ..]| {
        (0..32).rev().position(|i| bit(a, i) == 1).map_or(0xFFFF_FFFF, |zeros| zeros as u64)
    }),
    (Op::BitRev, 1, |[a, ..]| from_bits(|i| bit(a, 31 - i))),
    (Op::Bfe, 3, |[a, b, c, _]| from_bits(|i| if i < c % 32 { bit(a, i + b % 32) } else { 0 })),
    (Op::Bfi, 4, |[a, b, c, e]| {
        let (at, width) = (c % 32, e % 32);
        from_bits(|i| if i >= at && i < at + width { bit(b, i - at) } else { bit(a, i) })
    }),
    (Op::Mov, 1, |[a, ..]| a),
];

type Compare = fn(u64, u64) -> bool;

const COMPARES: &[(Op, Compare)] = &[
    (Op::ICmpEq, |a, b| signed(a) == signed(b)),
    (Op::ICmpNe, |a, b| signed(a) != signed(b)),
    (Op::ICmpLt, |a, b| signed(a) < signed(b)),
    (Op::ICmpLe, |a, b| signed(a) <= signed(b)),
    (Op::ICmpGt, |a, b| signed(a) > signed(b)),
    (Op::ICmpGe, |a, b| signed(a) >= signed(b)),
    (Op::UCmpEq, |a, b| a == b),
    (Op::UCmpNe, |a, b| a != b),
    (Op::UCmpLt, |a, b| a < b),
    (Op::UCmpLe, |a, b| a <= b),
    (Op::UCmpGt, |a, b| a > b),
    (Op::UCmpGe, |a, b| a >= b),
];

fn check_all(random: usize) {
    for &(op, arity, oracle) in OPERATIONS {
        // Four operands: the specials alone would be 810,000 cases.
        let cases = match arity {
            4 => INTEGERS.cases(4, random, 4).split_off(INTEGERS.special.len().pow(4)),
            _ => INTEGERS.cases(arity, random, arity as u64),
        };
        check_lanes(op, &cases, false, oracle);
    }
    let cases = INTEGERS.cases(2, random, 5);
    for &(op, oracle) in COMPARES {
        check_predicate(op, &cases, oracle);
    }
}

#[test]
fn integer_operations_match_wide_arithmetic() {
    check_all(QUICK);
}

#[test]
#[ignore = "a million cases an operation"]
fn integer_operations_match_wide_arithmetic_long() {
    check_all(LONG);
}

#[test]
fn insertion_at_every_position_and_width() {
    let mut cases = Vec::new();
    for at in 0..64 {
        for width in 0..64 {
            cases.push([0x1234_5678, 0xF0E1_D2C3, at, width]);
            cases.push([0xFFFF_FFFF, 0, at, width]);
        }
    }
    for op in [Op::Bfe, Op::Bfi] {
        let &(_, _, oracle) = OPERATIONS.iter().find(|row| row.0 == op).unwrap();
        let cases: Vec<[u64; 4]> = match op {
            Op::Bfe => cases.iter().map(|&[a, _, at, width]| [a, at, width, 0]).collect(),
            _ => cases.clone(),
        };
        check_lanes(op, &cases, false, oracle);
    }
}
