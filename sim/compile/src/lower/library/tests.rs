//! The functions of the library against Berkeley SoftFloat and arithmetic on wide integers.

use super::*;
use crate::ir::Constant;
use crate::ir::interpret::{Instance, Limits};
use crate::ir::verify::verify;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use softfloat_wrapper::{F32, F64, Float, RoundingMode};
use std::sync::Arc;
use wave_testing::environment;

const EVEN: RoundingMode = RoundingMode::TiesToEven;
const ZERO: RoundingMode = RoundingMode::TowardZero;

#[test]
fn the_library_is_valid_and_names_are_single() {
    let mut names = std::collections::BTreeSet::new();
    for module in modules() {
        verify(module).unwrap_or_else(|error| panic!("{error}"));
        module.functions.values().for_each(|function| {
            let name = function.name.as_deref().expect("all have names");
            assert!(names.insert(name), "{name} is there twice");
        });
    }
}

/// Numbers that operations treat in a way of their own, of either sign.
fn specials() -> Vec<u64> {
    let positive = [
        0,
        1,
        2,
        0x000F_FFFF_FFFF_FFFF,
        0x0010_0000_0000_0000,
        0x0010_0000_0000_0001,
        0x001F_FFFF_FFFF_FFFF,
        0x3690_0000_0000_0000, // 2^-150: half of the least subnormal f32
        0x3690_0000_0000_0001,
        0x380F_FFFF_F000_0000,
        0x3810_0000_0000_0000,
        0x3FDF_FFFF_FFFF_FFFF,
        0x3FE0_0000_0000_0000,
        0x3FE0_0000_0000_0001,
        0x3FEF_FFFF_FFFF_FFFF,
        0x3FF0_0000_0000_0000,
        0x3FF0_0000_0000_0001,
        0x3FF8_0000_0000_0000,
        0x4000_0000_0000_0000,
        0x4004_0000_0000_0000,
        0x41DF_FFFF_FFC0_0000, // 2^31 - 1
        0x41E0_0000_0000_0000,
        0x41E0_0000_0010_0000,
        0x41EF_FFFF_FFE0_0000,
        0x41F0_0000_0000_0000,
        0x4330_0000_0000_0001, // 2^52 + 1
        0x432F_FFFF_FFFF_FFFF,
        0x43DF_FFFF_FFFF_FFFF,
        0x43E0_0000_0000_0000, // 2^63
        0x43EF_FFFF_FFFF_FFFF,
        0x43F0_0000_0000_0000,
        0x47EF_FFFF_EFFF_FFFF, // about the greatest f32
        0x47EF_FFFF_F000_0000,
        0x7FE0_0000_0000_0000,
        0x7FEF_FFFF_FFFF_FFFF,
        0x7FF0_0000_0000_0000,
        0x7FF0_0000_0000_0001,
        0x7FF8_0000_0000_0000,
        0x7FFF_FFFF_FFFF_FFFF,
    ];
    positive.into_iter().flat_map(|bits| [bits, bits | 1 << 63]).collect()
}

/// A random number: any bits, few ones in its fraction, or near another one.
fn random_number(random: &mut Pcg64Mcg, other: u64) -> u64 {
    match random.random_range(0..6) {
        0 => random.random(),
        // Exponents near 1, so that results are neither 0 nor infinite.
        1 => random.random_range(0x3F00..0x40F0u64) << 48 | random.random::<u64>() >> 16,
        2 => other ^ 1 << random.random_range(0..64),
        3 => other.wrapping_add(random.random_range(0..8)).wrapping_sub(4),
        // Few ones or zeros next to one another: ties, and long carries.
        4 => {
            let ones = u64::MAX << random.random_range(0..64) ^ u64::MAX << random.random_range(0..64);
            ones & 0x800F_FFFF_FFFF_FFFF | random.random_range(0x3E0..0x420u64) << 52
        }
        _ => u64::from(random.random::<u32>()) << random.random_range(0..33),
    }
}

/// Calls functions of the library in the interpreter.
struct Library(Vec<Instance>);

impl Library {
    fn new() -> Library {
        let instance = |module: &Module| Instance::new(Arc::new(module.clone())).expect("it has no segments");
        Library(modules().iter().map(instance).collect())
    }

    fn call(&self, name: &str, arguments: &[u64]) -> Vec<u64> {
        let (module, id) = find(name);
        let place =
            modules().iter().position(|other| std::ptr::eq(other, module)).expect("it is one of them");
        let types = &module.functions[id].signature.parameters;
        let arguments: Vec<Constant> =
            types.iter().zip(arguments).map(|(&ty, &bits)| Constant::from_bits(ty, bits)).collect();
        let results = self.0[place].call(id, &arguments, &Limits::default());
        let results = results.unwrap_or_else(|trapped| panic!("{name} {arguments:x?}: {trapped}"));
        results.into_iter().map(Constant::bits).collect()
    }
}

fn double(bits: u64) -> F64 {
    F64::from_bits(bits)
}

fn bits_64(value: F64) -> u64 {
    if value.is_nan() { 0x7FF8_0000_0000_0000 } else { value.to_bits() }
}

fn bits_32(value: F32) -> u64 {
    u64::from(if value.is_nan() { 0x7FC0_0000 } else { value.to_bits() })
}

fn is_nan(a: u64) -> bool {
    a & !(1 << 63) > 0x7FF << 52
}

/// The lesser one, -0 below +0.
fn lesser(a: u64, b: u64) -> bool {
    let key = |bits: u64| if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    key(a) < key(b)
}

/// The result of a truncation that saturates.
fn saturated(a: u64, exact: impl Fn(F64) -> u64, [least, greatest]: [f64; 2], limits: [u64; 2]) -> u64 {
    let value = f64::from_bits(a);
    if value.is_nan() {
        0
    } else if value <= least {
        limits[0]
    } else if value >= greatest {
        limits[1]
    } else {
        exact(double(a))
    }
}

type One = fn(u64) -> u64;
type Two = fn(u64, u64) -> u64;

/// Functions of one number, and what they give.
const UNARY: &[(&str, One)] = &[
    ("f64_sqrt", |a| bits_64(double(a).sqrt(EVEN))),
    ("f64_floor", |a| bits_64(double(a).round_to_integral(RoundingMode::TowardNegative))),
    ("f64_ceil", |a| bits_64(double(a).round_to_integral(RoundingMode::TowardPositive))),
    ("f64_trunc", |a| bits_64(double(a).round_to_integral(ZERO))),
    ("f64_nearest", |a| bits_64(double(a).round_to_integral(EVEN))),
    ("f64_demote", |a| bits_32(double(a).to_f32(EVEN))),
    ("f64_promote", |a| bits_64(F32::from_bits(a as u32).to_f64(EVEN))),
    ("f64_to_i32", |a| {
        let limits = [1 << 31, (1 << 31) - 1];
        saturated(a, |a| u64::from(a.to_i32(ZERO, false) as u32), [-(2f64.powi(31)), 2f64.powi(31)], limits)
    }),
    ("f64_to_u32", |a| {
        saturated(a, |a| u64::from(a.to_u32(ZERO, false)), [-1.0, 2f64.powi(32)], [0, (1 << 32) - 1])
    }),
    ("f64_to_i64", |a| {
        let limits = [1 << 63, (1 << 63) - 1];
        saturated(a, |a| a.to_i64(ZERO, false) as u64, [-(2f64.powi(63)), 2f64.powi(63)], limits)
    }),
    ("f64_to_u64", |a| saturated(a, |a| a.to_u64(ZERO, false), [-1.0, 2f64.powi(64)], [0, u64::MAX])),
    ("f64_from_i32", |a| F64::from_i32(a as i32, EVEN).to_bits()),
    ("f64_from_u32", |a| F64::from_u32(a as u32, EVEN).to_bits()),
    ("f64_from_i64", |a| F64::from_i64(a as i64, EVEN).to_bits()),
    ("f64_from_u64", |a| F64::from_u64(a, EVEN).to_bits()),
];

/// Functions of two numbers, and what they give.
const BINARY: &[(&str, Two)] = &[
    ("f64_add", |a, b| bits_64(double(a).add(double(b), EVEN))),
    ("f64_mul", |a, b| bits_64(double(a).mul(double(b), EVEN))),
    ("f64_div", |a, b| bits_64(double(a).div(double(b), EVEN))),
    ("f64_eq", |a, b| double(a).eq(double(b)).into()),
    ("f64_lt", |a, b| double(a).lt_quiet(double(b)).into()),
    ("f64_le", |a, b| double(a).le_quiet(double(b)).into()),
    ("f64_min", |a, b| {
        let number = if lesser(a, b) { a } else { b };
        if is_nan(a) || is_nan(b) { 0x7FF8 << 48 } else { number }
    }),
    ("f64_max", |a, b| {
        let number = if lesser(a, b) { b } else { a };
        if is_nan(a) || is_nan(b) { 0x7FF8 << 48 } else { number }
    }),
    ("f64_min_number", |a, b| match (is_nan(a), is_nan(b)) {
        (true, true) => 0x7FF8 << 48,
        (true, false) => b,
        (false, true) => a,
        _ if lesser(a, b) => a,
        _ => b,
    }),
    ("f64_max_number", |a, b| match (is_nan(a), is_nan(b)) {
        (true, true) => 0x7FF8 << 48,
        (true, false) => b,
        (false, true) => a,
        _ if lesser(a, b) => b,
        _ => a,
    }),
];

/// Holds all functions against their definitions, on so many random numbers each and on the special ones.
fn hold(seed: u64, count: u64) {
    let library = Library::new();
    let specials = specials();
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let special = |random: &mut Pcg64Mcg| specials[random.random_range(0..specials.len())];
    for &(name, wanted) in UNARY {
        let mut check = |a: u64| {
            assert_eq!(library.call(name, &[a]), [wanted(a)], "{name} {a:#x}");
        };
        specials.iter().copied().for_each(&mut check);
        (0..64).for_each(|bit| [1 << bit, (1 << bit) - 1, !0 << bit].into_iter().for_each(&mut check));
        for _ in 0..count {
            let near = special(&mut random);
            check(random_number(&mut random, near));
        }
    }
    for &(name, wanted) in BINARY {
        let check = |a: u64, b: u64| {
            assert_eq!(library.call(name, &[a, b]), [wanted(a, b)], "{name} {a:#x} {b:#x}");
        };
        specials.iter().for_each(|&a| specials.iter().for_each(|&b| check(a, b)));
        for _ in 0..count {
            let near = special(&mut random);
            let a = random_number(&mut random, near);
            let b = if random.random_bool(0.1) { near } else { random_number(&mut random, a) };
            check(a, b);
        }
    }
    let check = |a: u64, b: u64, c: u64| {
        let wanted = bits_64(double(a).fused_mul_add(double(b), double(c), EVEN));
        assert_eq!(library.call("f64_fma", &[a, b, c]), [wanted], "f64_fma {a:#x} {b:#x} {c:#x}");
    };
    for _ in 0..4 * count {
        let near = special(&mut random);
        let [mut a, mut b, mut c] = [near, special(&mut random), special(&mut random)];
        if random.random_bool(0.8) {
            a = random_number(&mut random, near);
            b = random_number(&mut random, a);
            // Often near the product with the other sign, so that most of it goes.
            let product = double(a).mul(double(b), EVEN).to_bits();
            c = match random.random_range(0..4) {
                0 => random_number(&mut random, product),
                1 => product ^ 1 << 63,
                2 => (product ^ 1 << 63).wrapping_add(random.random_range(0..4) << 52).wrapping_sub(1 << 53),
                _ => random_number(&mut random, a),
            };
        }
        check(a, b, c);
    }
    hold_divisions(&library, &mut random, count);
}

fn hold_divisions(library: &Library, random: &mut Pcg64Mcg, count: u64) {
    let check = |a: u64, b: u64| {
        if b != 0 {
            assert_eq!(library.call("divide_u64", &[a, b]), [a / b, a % b], "{a:#x} / {b:#x}");
            let (x, y) = (a as i64, b as i64);
            let wanted = [x.wrapping_div(y) as u64, x.wrapping_rem(y) as u64];
            assert_eq!(library.call("divide_i64", &[a, b]), wanted, "{x} / {y}");
        }
    };
    let mut limits: Vec<u64> = (0..64).flat_map(|bit| [1 << bit, (1 << bit) - 1, !0 << bit]).collect();
    limits.push(u64::MAX);
    limits.iter().for_each(|&a| limits.iter().for_each(|&b| check(a, b)));
    for _ in 0..count {
        let [a, b] = [0; 2].map(|_: u64| random.random::<u64>() >> random.random_range(0..64));
        check(a, b);
        // Just below and above a multiple.
        check(a.wrapping_mul(b).wrapping_sub(1), b);
        check(a.wrapping_mul(b), b);
    }
}

#[test]
fn functions_give_what_softfloat_gives() {
    hold(1, 2000);
}

/// `WAVE_SIM_LIBRARY` times as many numbers, with another seed each time.
#[test]
#[ignore = "a campaign"]
fn campaign() {
    for seed in 0..environment::count("WAVE_SIM_LIBRARY", 10) {
        hold(100 + seed, 20_000);
    }
}
