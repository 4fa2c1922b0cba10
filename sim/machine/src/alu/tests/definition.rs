//! The special functions against a second implementation of `docs/special-functions.md`. It gives the same
//! bits from exact products, floor divisions and comparisons in i128 instead of shifts and masks.

use crate::alu::sfu::{EXP2, LOG2, SINE, Segment, TWO_OVER_PI, fcos, fexp2, flog2, fsin};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const NAN: u32 = 0x7FC0_0000;
const INFINITY: u32 = 0x7F80_0000;

fn power_of_two(exponent: i64) -> i128 {
    1 << exponent
}

/// (sign, E, M) in the notation of that page.
fn fields(a: u32) -> (bool, i64, i128) {
    let (exponent, fraction) = (i64::from(a / 0x80_0000 % 256), i128::from(a % 0x80_0000));
    (a >= 0x8000_0000, exponent.max(1), if exponent > 0 { fraction + 0x80_0000 } else { fraction })
}

fn interpolate(table: &[Segment; 128], x: i128) -> i128 {
    let scale = power_of_two(23);
    let (segment, t) = (table[(x / scale) as usize], x % scale);
    let slope = i128::from(segment.c1) + (i128::from(segment.c2) * t).div_euclid(scale);
    i128::from(segment.c0) + (slope * t).div_euclid(scale)
}

/// `value` × 2^-`scale` as f32: the integer multiple of the format's unit that is nearest, ties to even.
fn round(negative: bool, value: i128, scale: i64) -> u32 {
    let digits = i64::from(value.ilog2());
    let unit = (digits - scale - 23).max(-149);
    let unit_value = power_of_two(unit + scale);
    let (below, rest) = (value.div_euclid(unit_value), value.rem_euclid(unit_value));
    let up = 2 * rest > unit_value || 2 * rest == unit_value && below % 2 == 1;
    // The bits of a positive f32 count its units from 0 up: 2^23 for each binade except the first.
    let bits = (unit + 149) as i128 * power_of_two(23) + below + i128::from(up);
    bits as u32 + if negative { 0x8000_0000 } else { 0 }
}

fn exp2(a: u32) -> u32 {
    let (negative, exponent, significand) = fields(a);
    if f32::from_bits(a).is_nan() {
        return NAN;
    }
    let limit = if negative { 0 } else { INFINITY };
    if exponent > 134 {
        return limit;
    }
    let magnitude = significand * power_of_two(14) / power_of_two((134 - exponent).min(63));
    let x = if negative { -magnitude } else { magnitude };
    let unit = power_of_two(30);
    if x >= 128 * unit || x <= -150 * unit {
        return limit;
    }
    let whole = x.div_euclid(unit) as i64;
    // Scaled up so that the scale stays above the least unit of f32.
    round(false, interpolate(&EXP2, x.rem_euclid(unit)) * power_of_two(80), 110 - whole.max(-150))
}

fn log2(a: u32) -> u32 {
    let (negative, exponent, mut significand) = fields(a);
    if significand == 0 {
        return 0xFF80_0000;
    }
    if negative || f32::from_bits(a).is_nan() {
        return NAN;
    }
    if a == INFINITY {
        return INFINITY;
    }
    let mut power = exponent - 127;
    while significand < power_of_two(23) {
        (significand, power) = (2 * significand, power - 1);
    }
    let fraction = significand - power_of_two(23);
    let quotient = interpolate(&LOG2, fraction * 128);
    let product = if fraction >= power_of_two(22) {
        power += 1;
        (fraction - power_of_two(23)) * quotient
    } else {
        2 * fraction * quotient
    };
    let sum = i128::from(power) * power_of_two(54) + product;
    if sum == 0 { 0 } else { round(sum < 0, sum.abs() * power_of_two(30), 84) }
}

fn circular(a: u32, quarter: i128) -> u32 {
    let (negative, exponent, significand) = fields(a);
    if exponent == 255 {
        return NAN;
    }
    if exponent < 115 {
        return if quarter == 0 { a } else { 0x3F80_0000 };
    }
    let window: i128 = (0..96)
        .map(|i| {
            let bit = (exponent - 88 + i) as usize;
            i128::from(TWO_OVER_PI[bit / 32] / (1 << (31 - bit % 32)) % 2) * power_of_two(95 - i)
        })
        .sum();
    let turns = significand * window % power_of_two(96);
    let quadrant = turns / power_of_two(94) + quarter;
    let mut u = turns % power_of_two(94) / power_of_two(30);
    if quadrant % 2 == 1 {
        u = power_of_two(64) - 1 - u;
    }
    let quotient = interpolate(&SINE, u / power_of_two(34));
    let (mut top, mut scale) = (u, 94);
    while top < power_of_two(63) {
        (top, scale) = (2 * top, scale + 1);
    }
    let minus = quadrant / 2 % 2 == 1;
    let flip = quarter == 0 && negative;
    round(minus != flip, top / power_of_two(32) * quotient, scale - 32)
}

#[test]
fn special_functions_are_the_documented_steps() {
    type Function = fn(u32) -> u32;
    let pairs: [(&str, Function, Function); 4] = [
        ("fsin", fsin, |a| circular(a, 0)),
        ("fcos", fcos, |a| circular(a, 1)),
        ("fexp2", fexp2, exp2),
        ("flog2", flog2, log2),
    ];
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for (name, function, definition) in pairs {
        let check = |a: u32| assert_eq!(function(a), definition(a), "{name} of 0x{a:08X}");
        for _ in 0..100_000 {
            let bits = rng.next_u32();
            check(bits);
            // Exponents from 2^-26 to 2^9, where the results vary.
            check(bits & 0x807F_FFFF | (101 + (bits >> 23 & 0xFF) % 36) << 23);
        }
        // Both sides of every change of exponent, sign and class.
        for exponent in 0..512u32 {
            (0..4).for_each(|d| check((exponent << 23).wrapping_add(d).wrapping_sub(2)));
        }
        // Near multiples of π/2, where the low bits of the reduction matter. The last one is the closest of
        // all.
        for k in 1..2000 {
            check(((f64::from(k) * std::f64::consts::FRAC_PI_2) as f32).to_bits());
        }
        check(0x6F79_BE45);
    }
}
