//! Special functions against the host's f64 functions, and their tables against a second computation.

use crate::alu::sfu::{EXP2, LOG2, SEGMENTS, SINE, Segment, TWO_OVER_PI, fcos, fexp2, flog2, fsin};
use std::sync::Mutex;

/// The error bound that the documentation states, in units in the last place of the exact result.
const MAX_ERROR_ULP: f64 = 0.6;

/// A range of f32 bit patterns and what a function is there.
struct Range {
    name: &'static str,
    function: fn(u32) -> u32,
    exact: fn(f64) -> f64,
    from: u32,
    to: u32,
}

const fn range(
    name: &'static str,
    function: fn(u32) -> u32,
    exact: fn(f64) -> f64,
    from: u32,
    to: u32,
) -> Range {
    Range { name, function, exact, from, to }
}

const GREATEST: u32 = 0x7F7F_FFFF;
const SIGN: u32 = 0x8000_0000;

/// Every finite input; for the logarithm the positive ones.
const RANGES: &[Range] = &[
    range("fsin, a >= 0", fsin, f64::sin, 0, GREATEST),
    range("fsin, a < 0", fsin, f64::sin, SIGN, SIGN | GREATEST),
    range("fcos, a >= 0", fcos, f64::cos, 0, GREATEST),
    range("fcos, a < 0", fcos, f64::cos, SIGN, SIGN | GREATEST),
    range("fexp2, a >= 0", fexp2, f64::exp2, 0, GREATEST),
    range("fexp2, a < 0", fexp2, f64::exp2, SIGN, SIGN | GREATEST),
    range("flog2", flog2, f64::log2, 1, GREATEST),
];

/// Distance from the exact result in units of its last place. Infinite for a NaN, and for an infinity that is
/// not what the exact result rounds to.
fn error_ulp(got: f32, exact: f64) -> f64 {
    let overflow = 2f64.powi(128) - 2f64.powi(103);
    if got.is_infinite() || exact.abs() >= overflow {
        return if f64::from(got) == exact || got == f32::INFINITY && exact >= overflow {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if got.is_nan() {
        return f64::INFINITY;
    }
    let exponent = if exact == 0.0 { -149 } else { (exact.abs().to_bits() >> 52) as i32 - 1023 - 23 };
    (f64::from(got) - exact).abs() / 2f64.powi(exponent.max(-149))
}

/// Greatest error over every `step`-th input of a range, and the input.
fn greatest_error(range: &Range, from: u32, to: u32, step: usize) -> (f64, u32) {
    let mut worst = (0.0, from);
    for a in (from..=to).step_by(step) {
        let exact = (range.exact)(f64::from(f32::from_bits(a)));
        let error = error_ulp(f32::from_bits((range.function)(a)), exact);
        if error > worst.0 {
            worst = (error, a);
        }
    }
    worst
}

fn assert_errors(step: usize) {
    for range in RANGES {
        let middle = range.from + (range.to - range.from) / 2;
        let worst = Mutex::new((0.0, 0));
        std::thread::scope(|scope| {
            for (from, to) in [(range.from, middle), (middle + 1, range.to)] {
                let worst = &worst;
                scope.spawn(move || {
                    let found = greatest_error(range, from, to, step);
                    let mut worst = worst.lock().unwrap();
                    if found.0 > worst.0 {
                        *worst = found;
                    }
                });
            }
        });
        let (error, at) = worst.into_inner().unwrap();
        println!("{}: at most {error:.4} ULP, at 0x{at:08X}", range.name);
        assert!(error <= MAX_ERROR_ULP, "{}: {error} ULP at 0x{at:08X}", range.name);
    }
}

#[test]
fn special_functions_are_within_their_error() {
    assert_errors(9973);
}

/// All 2^32 inputs: minutes with `--release`; `--nocapture` shows the greatest errors.
#[test]
#[ignore = "every f32"]
fn special_functions_are_within_their_error_everywhere() {
    assert_errors(1);
}

#[test]
fn inputs_that_have_no_ordinary_result() {
    const NAN: u32 = 0x7FC0_0000;
    const INFINITY: u32 = 0x7F80_0000;
    let negative = |bits: u32| bits | SIGN;
    for nan in [0x7F80_0001, 0x7FC0_0000, 0xFFFF_FFFF] {
        for f in [fsin, fcos, fexp2, flog2] {
            assert_eq!(f(nan), NAN);
        }
    }
    for zero in [0, SIGN] {
        assert_eq!(fsin(zero), zero);
        assert_eq!(fcos(zero), 1f32.to_bits());
        assert_eq!(fexp2(zero), 1f32.to_bits());
        assert_eq!(flog2(zero), negative(INFINITY));
    }
    for f in [fsin, fcos] {
        assert_eq!(f(INFINITY), NAN);
        assert_eq!(f(negative(INFINITY)), NAN);
    }
    assert_eq!(fexp2(INFINITY), INFINITY);
    assert_eq!(fexp2(negative(INFINITY)), 0);
    assert_eq!(flog2(INFINITY), INFINITY);
    for below_zero in [1, 1f32.to_bits(), GREATEST, INFINITY] {
        assert_eq!(flog2(negative(below_zero)), NAN);
    }
    assert_eq!(flog2(1f32.to_bits()), 0);
}

#[test]
fn powers_of_two_are_exact() {
    for exponent in -149..128 {
        let (argument, power) = (exponent as f32, 2f64.powi(exponent) as f32);
        assert_eq!(fexp2(argument.to_bits()), power.to_bits(), "2^{exponent}");
        assert_eq!(flog2(power.to_bits()), argument.to_bits(), "log2 of 2^{exponent}");
    }
    assert_eq!(fexp2(128f32.to_bits()), 0x7F80_0000);
    assert_eq!(fexp2((-150f32).to_bits()), 0);
    assert_eq!(fexp2((-149.999f32).to_bits()), 1);
}

/// The coefficients from f64 functions and Lagrange's form. f64 is exact enough for all but the last bit.
#[test]
fn tables_hold_the_quadratics_through_three_points() {
    type Exact = fn(f64) -> f64;
    let exp2: Exact = |k| (k / 2048.0).exp2();
    let log2: Exact = |k| {
        let x = if k < 1024.0 { k / 2048.0 } else { k / 4096.0 - 0.5 };
        x.ln_1p() / std::f64::consts::LN_2 / x
    };
    let sine: Exact = |k| (k / 2048.0 * std::f64::consts::FRAC_PI_2).sin() / (k / 2048.0);
    let functions: [(&[Segment; SEGMENTS], Exact); 3] = [(&EXP2, exp2), (&LOG2, log2), (&SINE, sine)];
    for (table, f) in functions {
        for (i, segment) in table.iter().enumerate() {
            let (mut c0, mut c1, mut c2) = (0.0, 0.0, 0.0);
            let nodes = [1.0, 8.0, 15.0];
            for (at, n) in nodes.into_iter().enumerate() {
                let [p, q] = [nodes[(at + 1) % 3], nodes[(at + 2) % 3]];
                let y = f(16.0 * i as f64 + n) / ((n - p) * (n - q));
                (c0, c1, c2) = (c0 + y * p * q, c1 - 16.0 * y * (p + q), c2 + 256.0 * y);
            }
            let got = [f64::from(segment.c0), f64::from(segment.c1), f64::from(segment.c2)];
            for (got, expected) in got.into_iter().zip([c0, c1, c2]) {
                let expected = expected * 2f64.powi(30);
                assert!((got - expected).abs() < 0.51, "segment {i}: {segment:?}, {expected}");
            }
            // The widths that the documentation gives.
            assert!(segment.c0 < 1 << 31);
            assert!((-(1 << 24)..1 << 24).contains(&segment.c1));
            assert!((-(1 << 16)..1 << 16).contains(&segment.c2));
        }
    }
}

/// Checks 2/π with π from Machin's formula π = 16 atan(1/5) - 4 atan(1/239) in fixed point: the product must
/// be 2 within the constant's last bit.
#[test]
fn two_over_pi_times_pi_is_two() {
    let fifth = arctangent_of_inverse(5, 16);
    let pi = subtract(&fifth, &arctangent_of_inverse(239, 4));
    // Two words of integer bits, 0; then whole words of fraction.
    let (integer, constant) = TWO_OVER_PI.split_at(2);
    assert_eq!(integer, [0, 0]);
    let mut next = constant.to_vec();
    *next.last_mut().unwrap() += 1;
    assert!(integer_part(constant, &pi) < 2 && integer_part(&next, &pi) >= 2);
}

/// A fixed-point number: one word of integer bits, then 320 fraction bits.
type Fixed = [u32; 11];

/// times × atan(1/x)
fn arctangent_of_inverse(x: u32, times: u32) -> Fixed {
    let mut power = [0; 11];
    power[0] = times;
    power = divide(&power, x);
    let mut sum = [0; 11];
    for n in 0.. {
        let term = divide(&power, 2 * n + 1);
        if term == [0; 11] {
            break;
        }
        sum = if n % 2 == 0 { add(&sum, &term) } else { subtract(&sum, &term) };
        power = divide(&power, x * x);
    }
    sum
}

fn divide(a: &Fixed, by: u32) -> Fixed {
    let mut rest = 0;
    a.map(|word| {
        let part = rest << 32 | u64::from(word);
        rest = part % u64::from(by);
        (part / u64::from(by)) as u32
    })
}

fn add(a: &Fixed, b: &Fixed) -> Fixed {
    let (mut sum, mut carry) = ([0; 11], 0);
    for i in (0..11).rev() {
        carry += u64::from(a[i]) + u64::from(b[i]);
        sum[i] = carry as u32;
        carry >>= 32;
    }
    sum
}

/// a + !b + 1 unit, for a above b.
fn subtract(a: &Fixed, b: &Fixed) -> Fixed {
    let mut unit = [0; 11];
    unit[10] = 1;
    add(&add(a, &b.map(|word| !word)), &unit)
}

/// The integer part of a fraction times a fixed-point number.
fn integer_part(fraction: &[u32], by: &Fixed) -> u32 {
    // Word k weighs 2^(-32 k).
    let mut product = vec![0u32; fraction.len() + by.len()];
    for (i, &x) in fraction.iter().enumerate().rev() {
        let mut carry = 0;
        for (j, &y) in by.iter().enumerate().rev() {
            carry += u64::from(product[i + j + 1]) + u64::from(x) * u64::from(y);
            product[i + j + 1] = carry as u32;
            carry >>= 32;
        }
        product[i] = carry as u32;
    }
    product[0]
}
