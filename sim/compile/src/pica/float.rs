//! Arithmetic in both formats.
//!
//! A value of the 24-bit format is held as the `f32` that is equal to it. An operation is done in `f32`, which rounds
//! to 24 bits of precision, and its result is rounded again to 17. That is once rounded but where the first result lies
//! halfway between two neighbours of 17 bits and is not exact; there the sign of the error decides. The error of a sum
//! is a float, by the algorithm of Knuth; that of a product, and the sign of those of a reciprocal and a root, by `fma`.

use super::Float;
use super::emit::Emitter;
use crate::ir::{Binary, Compare, Operation, Type, Unary, Value};

/// Bits of the fraction of an `f32` that the 24-bit format has not.
const DROPPED: u32 = 7;
/// The least normal number of the 24-bit format: 2^-62.
const LEAST: f32 = f32::from_bits((127 - 62) << 23);
/// The first number behind its greatest one: 2^64.
const END: f32 = f32::from_bits((127 + 64) << 23);
/// 2^127. Its product with what is past the end is infinite.
const HUGE: f32 = f32::from_bits((127 + 127) << 23);

/// What an `f32` result leaves out.
#[derive(Debug, Clone, Copy)]
struct Error {
    /// It is 0 if the result is exact.
    size: Value,
    /// An integer: negative if the exact result is nearer to 0.
    sign: Value,
}

/// The number with 1 bit of sign, 7 of exponent and 16 of fraction, as an `f32`.
pub(super) fn from_f24(bits: u32) -> f32 {
    let sign = bits >> 23 & 1;
    let (exponent, fraction) = (bits >> 16 & 0x7F, bits & 0xFFFF);
    let magnitude = match exponent {
        0 => 0,
        0x7F if fraction != 0 => return f32::from_bits(0x7FC0_0000),
        0x7F => 0xFF << 23,
        _ => (exponent + 127 - 63) << 23 | fraction << DROPPED,
    };
    f32::from_bits(sign << 31 | magnitude)
}

impl Emitter {
    /// Rounds an `f32` result to the format.
    fn round(&mut self, value: Value, error: Option<Error>) -> Value {
        if self.float == Float::F32 {
            return value;
        }
        let bits = self.bits(value);
        let (one, seven) = (self.integer(1), self.integer(DROPPED));
        let last = self.binary(Binary::ShrU, bits, seven);
        let even = self.binary(Binary::And, last, one);
        // What makes a tie go up.
        let up = match error {
            None => even,
            Some(Error { size, sign }) => {
                let zero = self.number(0.0);
                let exact = self.compare(Compare::FEq, size, zero);
                let thirty_one = self.integer(31);
                let nearer = self.binary(Binary::ShrU, sign, thirty_one);
                let farther = self.binary(Binary::Xor, nearer, one);
                self.select(exact, even, farther)
            }
        };
        let (half, mask) = (self.integer((1 << (DROPPED - 1)) - 1), self.integer(!0 << DROPPED));
        let sum = self.binary(Binary::Add, bits, half);
        let sum = self.binary(Binary::Add, sum, up);
        let kept = self.binary(Binary::And, sum, mask);
        let rounded = self.with_bits(kept);
        self.in_range(rounded)
    }

    /// A value of 17 bits of precision: 0 below the normal numbers, infinite past the greatest.
    fn in_range(&mut self, value: Value) -> Value {
        let (least, end, zero, huge) =
            (self.number(LEAST), self.number(END), self.number(0.0), self.number(HUGE));
        let size = self.unary(Unary::FAbs, value);
        let is_small = self.compare(Compare::FLt, size, least);
        let none = self.binary(Binary::FMul, value, zero);
        let value = self.select(is_small, none, value);
        let is_large = self.compare(Compare::FGe, size, end);
        let infinite = self.binary(Binary::FMul, value, huge);
        self.select(is_large, infinite, value)
    }

    /// An error with the sign that it has beside a result of this sign.
    fn beside(&mut self, error: Value, value: Value) -> Option<Error> {
        let [bits, own] = [error, value].map(|value| self.bits(value));
        Some(Error { size: error, sign: self.binary(Binary::Xor, bits, own) })
    }

    /// A number from memory.
    pub(super) fn read(&mut self, value: Value) -> Value {
        if self.float == Float::F32 {
            return value;
        }
        // A product is a canonical NaN, whatever NaN this is.
        let one = self.number(1.0);
        let value = self.binary(Binary::FMul, value, one);
        self.round(value, None)
    }

    pub(super) fn negate(&mut self, a: Value) -> Value {
        match self.float {
            Float::F32 => self.unary(Unary::FNeg, a),
            // The only NaN has no other sign.
            Float::F24 => {
                let minus = self.number(-1.0);
                self.binary(Binary::FMul, a, minus)
            }
        }
    }

    pub(super) fn add(&mut self, a: Value, b: Value) -> Value {
        let sum = self.binary(Binary::FAdd, a, b);
        if self.float == Float::F32 {
            return sum;
        }
        let b_there = self.binary(Binary::FSub, sum, a);
        let a_there = self.binary(Binary::FSub, sum, b_there);
        let b_lost = self.binary(Binary::FSub, b, b_there);
        let a_lost = self.binary(Binary::FSub, a, a_there);
        let lost = self.binary(Binary::FAdd, a_lost, b_lost);
        let error = self.beside(lost, sum);
        self.round(sum, error)
    }

    /// A sum with +0: the same value, but -0 becomes +0.
    pub(super) fn add_zero(&mut self, a: Value) -> Value {
        let zero = self.number(0.0);
        self.binary(Binary::FAdd, a, zero)
    }

    /// A product; that of 0 and an infinity is +0.
    pub(super) fn mul(&mut self, a: Value, b: Value) -> Value {
        let product = self.binary(Binary::FMul, a, b);
        let rounded = match self.float {
            Float::F32 => product,
            Float::F24 => {
                let minus = self.unary(Unary::FNeg, product);
                let lost = self.emit(Operation::Fma([a, b, minus]), Type::F32);
                let error = self.beside(lost, product);
                self.round(product, error)
            }
        };
        // If no factor is a NaN, then the sum of an infinity and 0 is none either.
        let sum = self.binary(Binary::FAdd, a, b);
        let is_number = self.compare(Compare::FEq, sum, sum);
        let is_nan = self.compare(Compare::FNe, product, product);
        let none = self.binary(Binary::And, is_nan, is_number);
        let zero = self.number(0.0);
        self.select(none, zero, rounded)
    }

    pub(super) fn reciprocal(&mut self, a: Value) -> Value {
        let quotient = self.unary(Unary::FRcp, a);
        if self.float == Float::F32 {
            return quotient;
        }
        let (minus, one) = (self.unary(Unary::FNeg, quotient), self.number(1.0));
        let lost = self.emit(Operation::Fma([minus, a, one]), Type::F32);
        let sign = self.bits(lost);
        self.round(quotient, Some(Error { size: lost, sign }))
    }

    /// 1 / square root, both rounded.
    pub(super) fn reciprocal_root(&mut self, a: Value) -> Value {
        if self.float == Float::F32 {
            return self.unary(Unary::FRsqrt, a);
        }
        let root = self.unary(Unary::FSqrt, a);
        let minus = self.unary(Unary::FNeg, root);
        let lost = self.emit(Operation::Fma([minus, root, a]), Type::F32);
        let sign = self.bits(lost);
        let root = self.round(root, Some(Error { size: lost, sign }));
        self.reciprocal(root)
    }

    /// A function of the special-function unit, its result rounded to the format.
    pub(super) fn special(&mut self, unary: Unary, a: Value) -> Value {
        let value = self.unary(unary, a);
        self.round(value, None)
    }

    /// The first value where the comparison holds between two, else the second.
    pub(super) fn choose(&mut self, compare: Compare, a: Value, b: Value) -> Value {
        let first = self.compare(compare, a, b);
        self.select(first, a, b)
    }
}
