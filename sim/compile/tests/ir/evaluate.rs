//! The pure operations against Berkeley SoftFloat and against arithmetic on wide integers.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use softfloat_wrapper::{ExceptionFlags, F32, F64, Float, RoundingMode};
use wave_compile::ir::evaluate::{binary, compare, convert, fma, host_special_functions, unary};
use wave_compile::ir::random::constant;
use wave_compile::ir::{Binary, Compare, Convert, Trap, Type, Unary};

const EVEN: RoundingMode = RoundingMode::TiesToEven;
/// Cases of an operation.
const CASES: usize = 3000;

/// Random operands of a type, special ones among them, and floats near one another.
fn operands(ty: Type, seed: u64) -> impl Iterator<Item = [u64; 3]> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    (0..CASES).map(move |_| {
        let mut three = [0; 3].map(|_: u64| constant(&mut random, ty).bits());
        if ty.is_float() && random.random_bool(0.3) {
            let flipped = 1u64 << random.random_range(0..ty.bytes() * 8);
            three[1] = three[0] ^ flipped;
        }
        three
    })
}

fn soft_32(a: u64) -> F32 {
    F32::from_bits(a as u32)
}

fn soft_64(a: u64) -> F64 {
    F64::from_bits(a)
}

fn bits_32(value: F32) -> u64 {
    u64::from(if value.is_nan() { 0x7FC0_0000 } else { value.to_bits() })
}

fn bits_64(value: F64) -> u64 {
    if value.is_nan() { 0x7FF8_0000_0000_0000 } else { value.to_bits() }
}

type Single = fn(F32, F32) -> F32;
type Double = fn(F64, F64) -> F64;

#[test]
fn float_arithmetic_is_that_of_softfloat() {
    let operations: [(Binary, Single, Double); 4] = [
        (Binary::FAdd, |a, b| a.add(b, EVEN), |a, b| a.add(b, EVEN)),
        (Binary::FSub, |a, b| a.sub(b, EVEN), |a, b| a.sub(b, EVEN)),
        (Binary::FMul, |a, b| a.mul(b, EVEN), |a, b| a.mul(b, EVEN)),
        (Binary::FDiv, |a, b| a.div(b, EVEN), |a, b| a.div(b, EVEN)),
    ];
    for (operation, single, double) in operations {
        for [a, b, _] in operands(Type::F32, 1) {
            let wanted = bits_32(single(soft_32(a), soft_32(b)));
            assert_eq!(binary(operation, Type::F32, a, b), Ok(wanted), "{operation:?} {a:x} {b:x}");
        }
        for [a, b, _] in operands(Type::F64, 2) {
            let wanted = bits_64(double(soft_64(a), soft_64(b)));
            assert_eq!(binary(operation, Type::F64, a, b), Ok(wanted), "{operation:?} {a:x} {b:x}");
        }
    }
    for [a, b, c] in operands(Type::F32, 3) {
        let wanted = bits_32(soft_32(a).fused_mul_add(soft_32(b), soft_32(c), EVEN));
        assert_eq!(fma(Type::F32, a, b, c), wanted, "fma {a:x} {b:x} {c:x}");
    }
    for [a, b, c] in operands(Type::F64, 4) {
        let wanted = bits_64(soft_64(a).fused_mul_add(soft_64(b), soft_64(c), EVEN));
        assert_eq!(fma(Type::F64, a, b, c), wanted, "fma {a:x} {b:x} {c:x}");
    }
}

#[test]
fn rounding_and_roots_are_those_of_softfloat() {
    let modes = [
        (Unary::FCeil, RoundingMode::TowardPositive),
        (Unary::FFloor, RoundingMode::TowardNegative),
        (Unary::FTrunc, RoundingMode::TowardZero),
        (Unary::FNearest, EVEN),
    ];
    let f32 = |operation, a| unary(operation, Type::F32, a, host_special_functions);
    let f64 = |operation, a| unary(operation, Type::F64, a, host_special_functions);
    for [a, ..] in operands(Type::F32, 5) {
        for (operation, mode) in modes {
            let wanted = bits_32(soft_32(a).round_to_integral(mode));
            assert_eq!(f32(operation, a), wanted, "{operation:?} {a:x}");
        }
        let (root, one) = (soft_32(a).sqrt(EVEN), F32::from_i32(1, EVEN));
        assert_eq!(f32(Unary::FSqrt, a), bits_32(root), "{a:x}");
        assert_eq!(f32(Unary::FRsqrt, a), bits_32(one.div(root, EVEN)), "{a:x}");
        assert_eq!(f32(Unary::FRcp, a), bits_32(one.div(soft_32(a), EVEN)), "{a:x}");
        assert_eq!(f32(Unary::FNeg, a), a ^ 0x8000_0000);
        assert_eq!(f32(Unary::FAbs, a), a & 0x7FFF_FFFF);
    }
    for [a, ..] in operands(Type::F64, 6) {
        for (operation, mode) in modes {
            let wanted = bits_64(soft_64(a).round_to_integral(mode));
            assert_eq!(f64(operation, a), wanted, "{operation:?} {a:x}");
        }
        assert_eq!(f64(Unary::FSqrt, a), bits_64(soft_64(a).sqrt(EVEN)), "{a:x}");
        assert_eq!(f64(Unary::FNeg, a), a ^ 1 << 63);
        assert_eq!(f64(Unary::FAbs, a), a & !(1 << 63));
    }
}

/// The place of a number among those of its type, -0 below +0.
fn key(ty: Type, a: u64) -> i128 {
    let width = ty.bytes() * 8;
    let bits = signed(a, width);
    if bits < 0 { !(bits + (1 << (width - 1))) } else { bits }
}

fn is_nan(ty: Type, a: u64) -> bool {
    if ty == Type::F32 { soft_32(a).is_nan() } else { soft_64(a).is_nan() }
}

#[test]
fn minima_maxima_and_signs() {
    for ty in [Type::F32, Type::F64] {
        let (nan, sign) =
            if ty == Type::F32 { (0x7FC0_0000, 0x8000_0000) } else { (0x7FF8_0000_0000_0000, 1 << 63) };
        for [a, b, _] in operands(ty, 7) {
            let (least, greatest) = if key(ty, a) < key(ty, b) { (a, b) } else { (b, a) };
            let check = |operation, wanted| {
                assert_eq!(binary(operation, ty, a, b), Ok(wanted), "{operation:?} {a:x} {b:x}");
            };
            check(Binary::FCopysign, a & (sign - 1) | b & sign);
            match (is_nan(ty, a), is_nan(ty, b)) {
                (false, false) => {
                    [Binary::FMin, Binary::FMinNumber]
                        .into_iter()
                        .for_each(|operation| check(operation, least));
                    [Binary::FMax, Binary::FMaxNumber]
                        .into_iter()
                        .for_each(|operation| check(operation, greatest));
                }
                (a_is_nan, b_is_nan) => {
                    [Binary::FMin, Binary::FMax].into_iter().for_each(|operation| check(operation, nan));
                    let number = if !a_is_nan {
                        a
                    } else if !b_is_nan {
                        b
                    } else {
                        nan
                    };
                    [Binary::FMinNumber, Binary::FMaxNumber]
                        .into_iter()
                        .for_each(|operation| check(operation, number));
                }
            }
        }
    }
}

#[test]
fn comparisons_are_those_of_softfloat_and_wide_integers() {
    for ty in [Type::F32, Type::F64] {
        for [a, b, _] in operands(ty, 8) {
            let (less, equal) = if ty == Type::F32 {
                (soft_32(a).lt_quiet(soft_32(b)), soft_32(a).eq(soft_32(b)))
            } else {
                (soft_64(a).lt_quiet(soft_64(b)), soft_64(a).eq(soft_64(b)))
            };
            let greater = !less && !equal && !is_nan(ty, a) && !is_nan(ty, b);
            for (operation, wanted) in [
                (Compare::FEq, equal),
                (Compare::FNe, !equal),
                (Compare::FLt, less),
                (Compare::FLe, less || equal),
                (Compare::FGt, greater),
                (Compare::FGe, greater || equal),
            ] {
                assert_eq!(compare(operation, ty, a, b), wanted, "{operation:?} {ty} {a:x} {b:x}");
            }
        }
    }
    for ty in [Type::I32, Type::I64] {
        let width = ty.bytes() * 8;
        for [a, b, _] in operands(ty, 9) {
            let [sa, sb] = [a, b].map(|value| signed(value, width));
            for (operation, wanted) in [
                (Compare::Eq, a == b),
                (Compare::Ne, a != b),
                (Compare::LtS, sa < sb),
                (Compare::LtU, a < b),
                (Compare::LeS, sa <= sb),
                (Compare::LeU, a <= b),
                (Compare::GtS, sa > sb),
                (Compare::GtU, a > b),
                (Compare::GeS, sa >= sb),
                (Compare::GeU, a >= b),
            ] {
                assert_eq!(compare(operation, ty, a, b), wanted, "{operation:?} {ty} {a:x} {b:x}");
            }
        }
    }
}

/// The number that a bit pattern of `width` bits is in two's complement.
fn signed(value: u64, width: u32) -> i128 {
    let value = i128::from(value);
    if value >> (width - 1) & 1 == 1 { value - (1 << width) } else { value }
}

#[test]
fn integer_operations_are_those_of_wide_integers() {
    for ty in [Type::I32, Type::I64] {
        let width = ty.bytes() * 8;
        let modulus = 1i128 << width;
        let wrap = |value: i128| Ok(value.rem_euclid(modulus) as u64);
        for [a, b, _] in operands(ty, 10) {
            let (ua, ub) = (i128::from(a), i128::from(b));
            let [sa, sb] = [a, b].map(|value| signed(value, width));
            let amount = (ub % i128::from(width)) as u32;
            let left = |value: i128, amount: u32| (value << amount) % modulus;
            let right = |value: i128, amount: u32| value >> amount;
            let quotient = |divide: fn(i128, i128) -> i128, a: i128, b: i128| {
                if b == 0 { Err(Trap::DivideByZero) } else { Ok(divide(a, b)) }
            };
            let fits = |value: i128| {
                if value == modulus / 2 { Err(Trap::IntegerOverflow) } else { Ok(value) }
            };
            // 64 bits times 64 bits fill an i128 as an unsigned number.
            let product = Ok(((ua as u128).wrapping_mul(ub as u128) % modulus as u128) as u64);
            for (operation, wanted) in [
                (Binary::Add, wrap(ua + ub)),
                (Binary::Sub, wrap(ua - ub)),
                (Binary::Mul, product),
                (Binary::DivS, quotient(|a, b| a / b, sa, sb).and_then(fits).and_then(wrap)),
                (Binary::DivU, quotient(|a, b| a / b, ua, ub).and_then(wrap)),
                (Binary::RemS, quotient(|a, b| a % b, sa, sb).and_then(wrap)),
                (Binary::RemU, quotient(|a, b| a % b, ua, ub).and_then(wrap)),
                (Binary::And, wrap(ua & ub)),
                (Binary::Or, wrap(ua | ub)),
                (Binary::Xor, wrap(ua ^ ub)),
                (Binary::Shl, Ok(left(ua, amount) as u64)),
                (Binary::ShrS, wrap(right(sa, amount))),
                (Binary::ShrU, wrap(right(ua, amount))),
                (Binary::Rotl, Ok((left(ua, amount) | right(ua, width - amount)) as u64)),
                (Binary::Rotr, Ok((right(ua, amount) | left(ua, width - amount)) as u64)),
                (Binary::MinS, wrap(sa.min(sb))),
                (Binary::MaxS, wrap(sa.max(sb))),
                (Binary::MinU, wrap(ua.min(ub))),
                (Binary::MaxU, wrap(ua.max(ub))),
            ] {
                assert_eq!(binary(operation, ty, a, b), wanted, "{operation:?} {ty} {a:x} {b:x}");
            }
            let bit = |i: u32| a >> i & 1;
            let leading = (0..width).rev().take_while(|&i| bit(i) == 0).count() as u64;
            let trailing = (0..width).take_while(|&i| bit(i) == 0).count() as u64;
            let ones = (0..width).map(bit).sum();
            let extended = |bits: u32| signed(a & ((1 << bits) - 1), bits).rem_euclid(modulus) as u64;
            for (operation, wanted) in [
                (Unary::Clz, leading),
                (Unary::Ctz, trailing),
                (Unary::Popcnt, ones),
                (Unary::Extend8, extended(8)),
                (Unary::Extend16, extended(16)),
                (Unary::Extend32, extended(32)),
            ] {
                if operation.takes(ty) {
                    assert_eq!(
                        unary(operation, ty, a, host_special_functions),
                        wanted,
                        "{operation:?} {a:x}"
                    );
                }
            }
        }
    }
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert_eq!(binary(Binary::And, Type::Bool, a, b), Ok(u64::from(a == 1 && b == 1)));
        assert_eq!(binary(Binary::Or, Type::Bool, a, b), Ok(u64::from(a == 1 || b == 1)));
        assert_eq!(binary(Binary::Xor, Type::Bool, a, b), Ok(u64::from(a != b)));
        assert_eq!(unary(Unary::Not, Type::Bool, a, host_special_functions), 1 - a);
    }
}

/// The result of a conversion by SoftFloat that cuts off the fraction, and whether it is one.
fn cut(convert: impl Fn() -> u64) -> Option<u64> {
    ExceptionFlags::default().set();
    let value = convert();
    let mut flags = ExceptionFlags::default();
    flags.get();
    (!flags.is_invalid()).then_some(value)
}

#[test]
fn floats_become_integers_as_in_softfloat() {
    const ZERO: RoundingMode = RoundingMode::TowardZero;
    for ty in [Type::F32, Type::F64] {
        for [a, ..] in operands(ty, 11) {
            // Every binary32 is a binary64.
            let wide = if ty == Type::F32 { soft_32(a).to_f64(EVEN) } else { soft_64(a) };
            let negative = wide.to_bits() >> 63 == 1;
            let cases = [
                (
                    Convert::TruncI32S,
                    Convert::TruncSatI32S,
                    cut(|| u64::from(wide.to_i32(ZERO, false) as u32)),
                    [1 << 31, (1 << 31) - 1],
                ),
                (
                    Convert::TruncI32U,
                    Convert::TruncSatI32U,
                    cut(|| u64::from(wide.to_u32(ZERO, false))),
                    [0, u64::from(u32::MAX)],
                ),
                (
                    Convert::TruncI64S,
                    Convert::TruncSatI64S,
                    cut(|| wide.to_i64(ZERO, false) as u64),
                    [1 << 63, (1 << 63) - 1],
                ),
                (Convert::TruncI64U, Convert::TruncSatI64U, cut(|| wide.to_u64(ZERO, false)), [0, u64::MAX]),
            ];
            for (trapping, saturating, wanted, [least, greatest]) in cases {
                let trap = if wide.is_nan() { Trap::InvalidConversion } else { Trap::IntegerOverflow };
                assert_eq!(convert(trapping, ty, a), wanted.ok_or(trap), "{trapping:?} {ty} {a:x}");
                let limit = if wide.is_nan() {
                    0
                } else if negative {
                    least
                } else {
                    greatest
                };
                assert_eq!(convert(saturating, ty, a), Ok(wanted.unwrap_or(limit)), "{saturating:?} {a:x}");
            }
        }
    }
}

#[test]
fn other_conversions() {
    for [a, ..] in operands(Type::I32, 12) {
        let low = a as u32;
        let check = |operation, wanted| {
            assert_eq!(convert(operation, Type::I32, a), Ok(wanted), "{operation:?} {a:x}");
        };
        check(Convert::ExtendS, signed(a, 32) as u64);
        check(Convert::ExtendU, a);
        check(Convert::Reinterpret, a);
        check(Convert::F32S, F32::from_i32(low as i32, EVEN).to_bits().into());
        check(Convert::F32U, F32::from_u32(low, EVEN).to_bits().into());
        check(Convert::F64S, F64::from_i32(low as i32, EVEN).to_bits());
        check(Convert::F64U, F64::from_u32(low, EVEN).to_bits());
    }
    for [a, ..] in operands(Type::I64, 13) {
        let check = |operation, wanted| {
            assert_eq!(convert(operation, Type::I64, a), Ok(wanted), "{operation:?} {a:x}");
        };
        check(Convert::Wrap, a % (1 << 32));
        check(Convert::Reinterpret, a);
        check(Convert::F32S, F32::from_i64(a as i64, EVEN).to_bits().into());
        check(Convert::F32U, F32::from_u64(a, EVEN).to_bits().into());
        check(Convert::F64S, F64::from_i64(a as i64, EVEN).to_bits());
        check(Convert::F64U, F64::from_u64(a, EVEN).to_bits());
    }
    for [a, ..] in operands(Type::F32, 14) {
        assert_eq!(convert(Convert::Promote, Type::F32, a), Ok(bits_64(soft_32(a).to_f64(EVEN))));
        assert_eq!(convert(Convert::Reinterpret, Type::F32, a), Ok(a));
    }
    for [a, ..] in operands(Type::F64, 15) {
        assert_eq!(convert(Convert::Demote, Type::F64, a), Ok(bits_32(soft_64(a).to_f32(EVEN))), "{a:x}");
        assert_eq!(convert(Convert::Reinterpret, Type::F64, a), Ok(a));
    }
    assert_eq!(convert(Convert::BoolToI32, Type::Bool, 1), Ok(1));
    assert_eq!(convert(Convert::BoolToI32, Type::Bool, 0), Ok(0));
}

/// The special functions come from the caller.
#[test]
fn special_functions_are_the_callers() {
    for operation in [Unary::FSin, Unary::FCos, Unary::FExp2, Unary::FLog2] {
        assert_eq!(unary(operation, Type::F32, 7, |_, bits| bits + 1), 8);
    }
    let host = |operation, value: f32| {
        f32::from_bits(unary(operation, Type::F32, value.to_bits().into(), host_special_functions) as u32)
    };
    assert_eq!(host(Unary::FExp2, 10.0), 1024.0);
    assert_eq!(host(Unary::FLog2, 1024.0), 10.0);
    assert_eq!(host(Unary::FSin, 0.0), 0.0);
    assert_eq!(host(Unary::FCos, 0.0), 1.0);
}
