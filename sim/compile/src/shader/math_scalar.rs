//! Built-in functions of scalars: of `f32`, of `f64` as far as there are any, and of integers.
//!
//! Where the specification of WGSL states an accuracy, the formula is the one that it derives the accuracy from; the sine, the
//! exponential and the logarithm are those of the special-function unit.

use super::Translator;
use crate::ir::{Binary, Compare, Constant, Convert, Half, Type, Unary, Value};
use naga::{MathFunction, Scalar, ScalarKind};
use std::f32::consts;

/// Coefficients of `atan(t) / t` as a polynomial in `t t`, for `t` from 0 to 1: fitted for the least relative error, which is
/// 1.6e-8.
const ARC_TANGENT: [f32; 9] = [
    1.0,
    -0.333_330_72,
    0.199_926_2,
    -0.142_036_44,
    0.106_409_33,
    -0.075_042_926,
    0.042_691_5,
    -0.016_068_615,
    0.002_849_886_4,
];

impl Translator<'_> {
    /// A function of scalars of 32 or 64 bits.
    pub(super) fn scalar_function(&mut self, fun: MathFunction, scalar: Scalar, a: &[Value]) -> Value {
        match scalar.kind {
            ScalarKind::Float => self.float_function(fun, a),
            _ => self.integer_function(fun, scalar, a),
        }
    }

    fn integer_function(&mut self, fun: MathFunction, scalar: Scalar, a: &[Value]) -> Value {
        use MathFunction as M;
        let is_signed = scalar.kind == ScalarKind::Sint;
        let (least, most) =
            if is_signed { (Binary::MinS, Binary::MaxS) } else { (Binary::MinU, Binary::MaxU) };
        let x = a[0];
        let ty = self.e.ty(x);
        let bits = u64::from(scalar.width) * 8;
        match fun {
            M::Abs if is_signed => {
                let zero = self.e.zero(ty);
                let negated = self.e.binary(Binary::Sub, zero, x);
                let magnitude = self.e.binary(Binary::MaxS, x, negated);
                self.wrapped(scalar, magnitude)
            }
            M::Abs => x,
            M::Min => self.e.binary(least, x, a[1]),
            M::Max => self.e.binary(most, x, a[1]),
            M::Clamp => {
                let lower = self.e.binary(most, x, a[1]);
                self.e.binary(least, lower, a[2])
            }
            M::Sign => {
                let lower = self.e.with(Binary::MaxS, x, u64::MAX);
                self.e.with(Binary::MinS, lower, 1)
            }
            M::CountOneBits => self.e.unary(Unary::Popcnt, x),
            M::CountLeadingZeros => {
                let zeros = self.e.unary(Unary::Clz, x);
                if bits == 16 { self.e.with(Binary::Sub, zeros, 16) } else { zeros }
            }
            M::CountTrailingZeros => {
                let zeros = self.e.unary(Unary::Ctz, x);
                if bits == 16 { self.e.with(Binary::MinU, zeros, 16) } else { zeros }
            }
            M::ReverseBits => self.reversed(scalar, x),
            M::FirstTrailingBit => {
                let place = self.e.unary(Unary::Ctz, x);
                let none = self.e.compare_with(Compare::Eq, x, 0);
                let minus_one = self.e.constant(Constant::from_bits(ty, u64::MAX));
                self.e.select(none, minus_one, place)
            }
            M::FirstLeadingBit => {
                // Of a negative number the first 0.
                let turned = match is_signed {
                    true => {
                        let sign = self.e.with(Binary::ShrS, x, bits.max(32) - 1);
                        self.e.binary(Binary::Xor, x, sign)
                    }
                    false => x,
                };
                let zeros = self.e.unary(Unary::Clz, turned);
                let last = self.e.constant(Constant::from_bits(ty, bits.max(32) - 1));
                self.e.binary(Binary::Sub, last, zeros)
            }
            M::ExtractBits => self.extracted(is_signed, [x, a[1], a[2]]),
            M::InsertBits => self.inserted([x, a[1], a[2], a[3]]),
            other => unreachable!("{other:?} takes no integers"),
        }
    }

    fn reversed(&mut self, scalar: Scalar, x: Value) -> Value {
        match scalar.width {
            8 => {
                let low = self.e.convert(Convert::Wrap, x);
                let high = self.e.with(Binary::ShrU, x, 32);
                let high = self.e.convert(Convert::Wrap, high);
                let halves = [high, low].map(|half| {
                    let half = self.e.unary(Unary::Reverse, half);
                    self.e.convert(Convert::ExtendU, half)
                });
                let up = self.e.with(Binary::Shl, halves[1], 32);
                self.e.binary(Binary::Or, up, halves[0])
            }
            2 => {
                let reversed = self.e.unary(Unary::Reverse, x);
                let shift = if scalar.kind == ScalarKind::Sint { Binary::ShrS } else { Binary::ShrU };
                self.e.with(shift, reversed, 16)
            }
            _ => self.e.unary(Unary::Reverse, x),
        }
    }

    /// First bit and number of bits of a field, inside a word.
    fn field(&mut self, first: Value, count: Value) -> [Value; 2] {
        let first = self.e.with(Binary::MinU, first, 32);
        let all = self.e.i32(32);
        let room = self.e.binary(Binary::Sub, all, first);
        [first, self.e.binary(Binary::MinU, count, room)]
    }

    fn extracted(&mut self, is_signed: bool, [x, first, count]: [Value; 3]) -> Value {
        let [first, count] = self.field(first, count);
        let all = self.e.i32(32);
        let end = self.e.binary(Binary::Add, first, count);
        let above = self.e.binary(Binary::Sub, all, end);
        let up = self.e.binary(Binary::Shl, x, above);
        let beside = self.e.binary(Binary::Sub, all, count);
        let field = self.e.binary(if is_signed { Binary::ShrS } else { Binary::ShrU }, up, beside);
        let none = self.e.compare_with(Compare::Eq, count, 0);
        let zero = self.e.i32(0);
        self.e.select(none, zero, field)
    }

    fn inserted(&mut self, [x, bits, first, count]: [Value; 4]) -> Value {
        let [first, count] = self.field(first, count);
        let all = self.e.i32(32);
        let beside = self.e.binary(Binary::Sub, all, count);
        let ones = self.e.i32(u32::MAX);
        let mask = self.e.binary(Binary::ShrU, ones, beside);
        let mask = self.e.binary(Binary::Shl, mask, first);
        let none = self.e.compare_with(Compare::Eq, count, 0);
        let zero = self.e.i32(0);
        let mask = self.e.select(none, zero, mask);
        let up = self.e.binary(Binary::Shl, bits, first);
        // Where the mask is 1, the bits; else the word.
        let differs = self.e.binary(Binary::Xor, x, up);
        let differs = self.e.binary(Binary::And, differs, mask);
        self.e.binary(Binary::Xor, x, differs)
    }

    /// A float constant of the type of a value.
    fn number_like(&mut self, value: Value, number: f32) -> Value {
        match self.e.ty(value) {
            Type::F64 => self.e.constant(Constant::F64(f64::from(number).to_bits())),
            _ => self.e.f32(number),
        }
    }

    fn float_function(&mut self, fun: MathFunction, a: &[Value]) -> Value {
        use MathFunction as M;
        let x = a[0];
        match fun {
            M::Abs => self.e.unary(Unary::FAbs, x),
            M::Min => self.e.binary(Binary::FMinNumber, x, a[1]),
            M::Max => self.e.binary(Binary::FMaxNumber, x, a[1]),
            M::Clamp => self.clamped(x, a[1], a[2]),
            M::Saturate => {
                let [zero, one] = [0.0, 1.0].map(|number| self.number_like(x, number));
                self.clamped(x, zero, one)
            }
            M::Ceil => self.e.unary(Unary::FCeil, x),
            M::Floor => self.e.unary(Unary::FFloor, x),
            M::Round => self.e.unary(Unary::FNearest, x),
            M::Trunc => self.e.unary(Unary::FTrunc, x),
            M::Fract => {
                let whole = self.e.unary(Unary::FFloor, x);
                self.e.binary(Binary::FSub, x, whole)
            }
            M::Sqrt => self.e.unary(Unary::FSqrt, x),
            M::InverseSqrt if self.e.ty(x) == Type::F64 => {
                let (root, one) = (self.e.unary(Unary::FSqrt, x), self.number_like(x, 1.0));
                self.e.binary(Binary::FDiv, one, root)
            }
            M::InverseSqrt => self.e.unary(Unary::FRsqrt, x),
            M::Fma => self.e.fma([x, a[1], a[2]]),
            M::Sign => {
                let one = self.number_like(x, 1.0);
                let signed = self.e.binary(Binary::FCopysign, one, x);
                let zero = self.e.compare_with(Compare::FEq, x, 0);
                let nothing = self.number_like(x, 0.0);
                self.e.select(zero, nothing, signed)
            }
            M::Step => {
                let [zero, one] = [0.0, 1.0].map(|number| self.number_like(x, number));
                let reached = self.e.compare(Compare::FLe, x, a[1]);
                self.e.select(reached, one, zero)
            }
            M::Mix => {
                // x (1 - t) + y t
                let one = self.number_like(x, 1.0);
                let rest = self.e.binary(Binary::FSub, one, a[2]);
                let first = self.e.binary(Binary::FMul, x, rest);
                let second = self.e.binary(Binary::FMul, a[1], a[2]);
                self.e.binary(Binary::FAdd, first, second)
            }
            _ => self.f32_function(fun, a),
        }
    }

    fn clamped(&mut self, x: Value, low: Value, high: Value) -> Value {
        let lower = self.e.binary(Binary::FMaxNumber, x, low);
        self.e.binary(Binary::FMinNumber, lower, high)
    }

    fn times(&mut self, x: Value, factor: f32) -> Value {
        let factor = self.e.f32(factor);
        self.e.binary(Binary::FMul, x, factor)
    }

    fn plus(&mut self, x: Value, more: f32) -> Value {
        let more = self.e.f32(more);
        self.e.binary(Binary::FAdd, x, more)
    }

    /// e to this power.
    fn exponential(&mut self, x: Value) -> Value {
        let power = self.times(x, consts::LOG2_E);
        self.e.unary(Unary::FExp2, power)
    }

    /// The natural logarithm.
    fn logarithm(&mut self, x: Value) -> Value {
        let power = self.e.unary(Unary::FLog2, x);
        self.times(power, consts::LN_2)
    }

    /// Square root of `sign x x + more`.
    fn root_of_square(&mut self, x: Value, is_negative: bool, more: f32) -> Value {
        let other = if is_negative { self.e.unary(Unary::FNeg, x) } else { x };
        let more = self.e.f32(more);
        let square = self.e.fma([x, other, more]);
        self.e.unary(Unary::FSqrt, square)
    }

    fn f32_function(&mut self, fun: MathFunction, a: &[Value]) -> Value {
        use MathFunction as M;
        let x = a[0];
        match fun {
            M::Sin => self.e.unary(Unary::FSin, x),
            M::Cos => self.e.unary(Unary::FCos, x),
            M::Tan => {
                let (sine, cosine) = (self.e.unary(Unary::FSin, x), self.e.unary(Unary::FCos, x));
                self.e.binary(Binary::FDiv, sine, cosine)
            }
            M::Exp => self.exponential(x),
            M::Exp2 => self.e.unary(Unary::FExp2, x),
            M::Log => self.logarithm(x),
            M::Log2 => self.e.unary(Unary::FLog2, x),
            M::Pow => {
                let power = self.e.unary(Unary::FLog2, x);
                let power = self.e.binary(Binary::FMul, power, a[1]);
                self.e.unary(Unary::FExp2, power)
            }
            M::Sinh | M::Cosh => {
                let (up, opposite) = (self.exponential(x), self.e.unary(Unary::FNeg, x));
                let down = self.exponential(opposite);
                let op = if fun == M::Sinh { Binary::FSub } else { Binary::FAdd };
                let both = self.e.binary(op, up, down);
                self.times(both, 0.5)
            }
            M::Tanh => {
                // Beyond 10 the result is 1 in all bits, and the exponential could be infinite.
                let [low, high] = [-10.0, 10.0].map(|number| self.e.f32(number));
                let near = self.clamped(x, low, high);
                let twice = self.e.binary(Binary::FAdd, near, near);
                let power = self.exponential(twice);
                let (less, more) = (self.plus(power, -1.0), self.plus(power, 1.0));
                self.e.binary(Binary::FDiv, less, more)
            }
            M::Asin => {
                let other = self.root_of_square(x, true, 1.0);
                self.arc_tangent(x, other)
            }
            M::Acos => {
                let other = self.root_of_square(x, true, 1.0);
                self.arc_tangent(other, x)
            }
            M::Atan => {
                let one = self.e.f32(1.0);
                self.arc_tangent(x, one)
            }
            M::Atan2 => self.arc_tangent(x, a[1]),
            M::Asinh => {
                let magnitude = self.e.unary(Unary::FAbs, x);
                let root = self.root_of_square(x, false, 1.0);
                let sum = self.e.binary(Binary::FAdd, magnitude, root);
                let result = self.logarithm(sum);
                self.e.binary(Binary::FCopysign, result, x)
            }
            M::Acosh => {
                let root = self.root_of_square(x, false, -1.0);
                let sum = self.e.binary(Binary::FAdd, x, root);
                self.logarithm(sum)
            }
            M::Atanh => {
                let (more, opposite) = (self.plus(x, 1.0), self.e.unary(Unary::FNeg, x));
                let less = self.plus(opposite, 1.0);
                let ratio = self.e.binary(Binary::FDiv, more, less);
                let result = self.logarithm(ratio);
                self.times(result, 0.5)
            }
            M::Radians => self.times(x, consts::PI / 180.0),
            M::Degrees => self.times(x, 180.0 / consts::PI),
            M::SmoothStep => {
                let (low, high, x) = (x, a[1], a[2]);
                let (above, range) =
                    (self.e.binary(Binary::FSub, x, low), self.e.binary(Binary::FSub, high, low));
                let ratio = self.e.binary(Binary::FDiv, above, range);
                let [zero, one] = [0.0, 1.0].map(|number| self.e.f32(number));
                let t = self.clamped(ratio, zero, one);
                // t t (3 - 2 t)
                let twice = self.times(t, -2.0);
                let factor = self.plus(twice, 3.0);
                let square = self.e.binary(Binary::FMul, t, t);
                self.e.binary(Binary::FMul, square, factor)
            }
            M::Ldexp => self.scaled(x, a[1]),
            M::QuantizeToF16 => {
                let half = self.e.half(Half::Narrow, &[x]);
                self.e.half(Half::Widen, &[half])
            }
            other => unreachable!("{other:?} is no function of scalars"),
        }
    }

    /// The angle of the point (x, y).
    fn arc_tangent(&mut self, y: Value, x: Value) -> Value {
        let [far_y, far_x] = [y, x].map(|value| self.e.unary(Unary::FAbs, value));
        let least = self.e.binary(Binary::FMinNumber, far_x, far_y);
        let most = self.e.binary(Binary::FMaxNumber, far_x, far_y);
        let ratio = self.e.binary(Binary::FDiv, least, most);
        // The angle of the origin is 0.
        let origin = self.e.compare_with(Compare::FEq, most, 0);
        let zero = self.e.f32(0.0);
        let ratio = self.e.select(origin, zero, ratio);
        let square = self.e.binary(Binary::FMul, ratio, ratio);
        let mut sum = self.e.f32(ARC_TANGENT[ARC_TANGENT.len() - 1]);
        for &coefficient in ARC_TANGENT.iter().rev().skip(1) {
            let coefficient = self.e.f32(coefficient);
            sum = self.e.fma([sum, square, coefficient]);
        }
        let angle = self.e.binary(Binary::FMul, sum, ratio);
        let turned = |this: &mut Self, angle, from: f32| {
            let from = this.e.f32(from);
            this.e.binary(Binary::FSub, from, angle)
        };
        let steep = self.e.compare(Compare::FGt, far_y, far_x);
        let other = turned(self, angle, consts::FRAC_PI_2);
        let angle = self.e.select(steep, other, angle);
        let bits = self.e.reinterpret(x);
        let behind = self.e.compare_with(Compare::LtS, bits, 0);
        let other = turned(self, angle, consts::PI);
        let angle = self.e.select(behind, other, angle);
        self.e.binary(Binary::FCopysign, angle, y)
    }

    /// `x` times 2 to the power of an `i32`: in two steps, so that each factor is a number.
    fn scaled(&mut self, x: Value, exponent: Value) -> Value {
        let lower = self.e.with(Binary::MaxS, exponent, -252i64 as u64);
        let exponent = self.e.with(Binary::MinS, lower, 254);
        let half = self.e.with(Binary::ShrS, exponent, 1);
        let rest = self.e.binary(Binary::Sub, exponent, half);
        [half, rest].into_iter().fold(x, |x, power| {
            let biased = self.e.with(Binary::Add, power, 127);
            let bits = self.e.with(Binary::Shl, biased, 23);
            let factor = self.e.reinterpret(bits);
            self.e.binary(Binary::FMul, x, factor)
        })
    }

    /// A fraction of at least a half and less than 1, and the exponent; what is no number stays as it is.
    pub(super) fn frexp(&mut self, x: Value) -> [Value; 2] {
        let magnitude = self.e.unary(Unary::FAbs, x);
        let small = self.e.compare_with(Compare::FLt, magnitude, f32::MIN_POSITIVE.to_bits().into());
        let large = self.times(x, 2f32.powi(32));
        let normal = self.e.select(small, large, x);
        let bits = self.e.reinterpret(normal);
        let exponent = self.e.with(Binary::ShrU, bits, 23);
        let exponent = self.e.with(Binary::And, exponent, 0xFF);
        let [near, far] = [126, 126 + 32].map(|bias| self.e.i32(bias));
        let bias = self.e.select(small, far, near);
        let exponent = self.e.binary(Binary::Sub, exponent, bias);
        let fraction = self.e.with(Binary::And, bits, 0x807F_FFFF);
        let fraction = self.e.with(Binary::Or, fraction, 126 << 23);
        let fraction = self.e.reinterpret(fraction);
        // 0, infinities and NaNs.
        let zero = self.e.compare_with(Compare::FEq, x, 0);
        let finite = self.e.compare_with(Compare::FLe, magnitude, f32::MAX.to_bits().into());
        let strange = self.e.not(finite);
        let special = self.e.binary(Binary::Or, zero, strange);
        let none = self.e.i32(0);
        [self.e.select(special, x, fraction), self.e.select(special, none, exponent)]
    }
}
