//! Roundings in a direction, against exact arithmetic in 64 bits.

use crate::values::{FLOATS, check};

#[derive(Clone, Copy)]
enum To {
    Down,
    Up,
    Zero,
}

/// What no comparison is made for: numbers that are not finite, and those so small that their exact product has more bits
/// than fit.
const ANY: u64 = u64::MAX;

/// `a × b + c`, rounded. A product of two numbers of 24 bits is exact in 53, and the error of the sum is a number too.
fn exact(a: u64, b: u64, c: u64, to: To) -> u64 {
    let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
    let product = f64::from(a) * f64::from(b);
    let c = f64::from(c);
    let sum = product + c;
    let of_c = sum - product;
    let error = (product - (sum - of_c)) + (c - of_c);
    let nearest = sum as f32;
    let is_small = product != 0.0 && product.abs() < 2f64.powi(-100);
    if ![a, b].iter().all(|value| value.is_finite()) || !c.is_finite() || !nearest.is_finite() || is_small {
        return ANY;
    }
    // The exact sum less the nearest number: the first difference is exact.
    let left = (sum - f64::from(nearest), error);
    let sign = if left.0 != 0.0 && left.0.abs() > left.1.abs() { left.0 } else { left.0 + left.1 };
    let rounded = match to {
        To::Down if sign < 0.0 => nearest.next_down(),
        To::Up if sign > 0.0 => nearest.next_up(),
        To::Zero if sign < 0.0 && nearest > 0.0 => nearest.next_down(),
        To::Zero if sign > 0.0 && nearest < 0.0 => nearest.next_up(),
        _ => nearest,
    };
    // A sum that is exactly zero has the sign of the rounding; which one the hardware gives is not compared.
    if rounded == 0.0 { ANY } else { u64::from(rounded.to_bits()) }
}

const ONE: u64 = 0x3F80_0000;

#[test]
fn results_are_rounded_in_the_direction_that_is_stated() {
    let same = |got: u64, wanted: u64| wanted == ANY || got == wanted;
    check("fma.rm.f32 %f0, %f1, %f2, %f3;", &FLOATS, same, |a, b, c| exact(a, b, c, To::Down));
    check("fma.rp.f32 %f0, %f1, %f2, %f3;", &FLOATS, same, |a, b, c| exact(a, b, c, To::Up));
    check("fma.rz.f32 %f0, %f1, %f2, %f3;", &FLOATS, same, |a, b, c| exact(a, b, c, To::Zero));
    check("add.rm.f32 %f0, %f1, %f2;", &FLOATS, same, |a, b, _| exact(a, ONE, b, To::Down));
    check("sub.rz.f32 %f0, %f1, %f2;", &FLOATS, same, |a, b, _| exact(a, ONE, b ^ 0x8000_0000, To::Zero));
    check("mul.rp.f32 %f0, %f1, %f2;", &FLOATS, same, |a, b, _| exact(a, b, 0, To::Up));
    check("mul.rz.f32 %f0, %f1, %f2;", &FLOATS, same, |a, b, _| exact(a, b, 0, To::Zero));
}

#[test]
fn numbers_of_64_bits_are_rounded_too() {
    // An eighth of a last place more or less than a number: the direction says which of its neighbours it is.
    let edges = [1.0f64, -1.0, 3.5, -1e300, 1e-200].map(f64::to_bits);
    const ANY_NUMBER: fn(u64, u64) -> bool = |got, wanted| wanted == ANY || got == wanted;
    fn is_edge(bits: u64) -> bool {
        let value = f64::from_bits(bits);
        value.is_normal() && (1e-250..1e301).contains(&value.abs())
    }
    check(
        "mul.f64 %d4, %d1, 0d3C80000000000000; add.rp.f64 %d0, %d1, %d4;",
        &edges,
        ANY_NUMBER,
        |a, _, _| {
            let value = f64::from_bits(a);
            if !is_edge(a) {
                ANY
            } else if value > 0.0 {
                value.next_up().to_bits()
            } else {
                a
            }
        },
    );
    check(
        "mul.f64 %d4, %d1, 0d3C80000000000000; add.rm.f64 %d0, %d1, %d4;",
        &edges,
        ANY_NUMBER,
        |a, _, _| {
            let value = f64::from_bits(a);
            if !is_edge(a) {
                ANY
            } else if value > 0.0 {
                a
            } else {
                value.next_down().to_bits()
            }
        },
    );
    check(
        "mul.f64 %d4, %d1, 0d3C80000000000000; fma.rz.f64 %d0, %d1, 0d3FF0000000000000, %d4;",
        &edges,
        ANY_NUMBER,
        |a, _, _| {
            if is_edge(a) { a } else { ANY }
        },
    );
}
