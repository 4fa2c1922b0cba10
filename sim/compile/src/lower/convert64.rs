//! Conversions between `i64` and `f32`, which the machine has not, by integer operations.

use super::edit::{Editor, rewrite};
use super::order;
use crate::ir::{Binary, Compare, Convert, Function, Operation, Type, Unary, Value};

/// Replaces them; truncations saturate by now.
pub(super) fn expand(function: &mut Function) {
    let order = order(function);
    let done: Result<(), ()> = rewrite(function, &order, |editor, instruction| {
        let value = match instruction.operation {
            Operation::Convert(Convert::F32S, a) if editor.ty(a) == Type::I64 => from_signed(editor, a),
            Operation::Convert(Convert::F32U, a) if editor.ty(a) == Type::I64 => {
                let bits = from_unsigned(editor, a);
                editor.convert(Convert::Reinterpret, bits)
            }
            Operation::Convert(Convert::TruncSatI64S, a) if editor.ty(a) == Type::F32 => to_signed(editor, a),
            Operation::Convert(Convert::TruncSatI64U, a) if editor.ty(a) == Type::F32 => {
                to_unsigned(editor, a)
            }
            _ => {
                editor.keep(instruction);
                return Ok(());
            }
        };
        editor.replaced.set(instruction.results[0], value);
        Ok(())
    });
    done.expect("it refuses nothing");
}

/// Bits of the `f32` nearest to an unsigned `i64`, ties to even.
fn from_unsigned(editor: &mut Editor, value: Value) -> Value {
    let zeros = editor.unary(Unary::Clz, value);
    let normal = editor.binary(Binary::Shl, value, zeros);
    let low = editor.convert(Convert::Wrap, normal);
    let high = editor.with(Binary::ShrU, normal, 32);
    let high = editor.convert(Convert::Wrap, high);
    let significand = editor.with(Binary::ShrU, high, 8);
    // What is behind the significand: its first bit is a half, its last one stands for all bits of the low word.
    let rest = editor.with(Binary::Shl, high, 24);
    let sticky = editor.compare_with(Compare::Ne, low, 0);
    let sticky = editor.convert(Convert::BoolToI32, sticky);
    let rest = editor.binary(Binary::Or, rest, sticky);
    // A half goes up if the significand is odd.
    let odd = editor.with(Binary::And, significand, 1);
    let rest = editor.binary(Binary::Or, rest, odd);
    let up = editor.compare_with(Compare::GtU, rest, 0x8000_0000);
    let up = editor.convert(Convert::BoolToI32, up);
    let zeros = editor.convert(Convert::Wrap, zeros);
    // The significand's first bit adds 1 to the exponent.
    let most = editor.i32(127 + 63 - 1);
    let exponent = editor.binary(Binary::Sub, most, zeros);
    let exponent = editor.with(Binary::Shl, exponent, 23);
    let bits = editor.binary(Binary::Add, exponent, significand);
    let bits = editor.binary(Binary::Add, bits, up);
    let none = editor.compare_with(Compare::Eq, high, 0);
    let zero = editor.i32(0);
    editor.select(none, zero, bits)
}

fn from_signed(editor: &mut Editor, value: Value) -> Value {
    let zero = editor.constant(Type::I64, 0);
    let negative = editor.compare(Compare::LtS, value, zero);
    let minus = editor.binary(Binary::Sub, zero, value);
    let magnitude = editor.select(negative, minus, value);
    let bits = from_unsigned(editor, magnitude);
    let sign = editor.convert(Convert::BoolToI32, negative);
    let sign = editor.with(Binary::Shl, sign, 31);
    let bits = editor.binary(Binary::Or, bits, sign);
    editor.convert(Convert::Reinterpret, bits)
}

/// The magnitude of an `f32` below 2^64, truncated.
fn magnitude(editor: &mut Editor, value: Value) -> Value {
    let bits = editor.convert(Convert::Reinterpret, value);
    let exponent = editor.with(Binary::ShrU, bits, 23);
    let exponent = editor.with(Binary::And, exponent, 255);
    let fraction = editor.with(Binary::And, bits, 0x7F_FFFF);
    let significand = editor.with(Binary::Or, fraction, 0x80_0000);
    let amount = editor.with(Binary::Sub, exponent, 150);
    let wide = editor.convert(Convert::ExtendU, significand);
    let wide_amount = editor.convert(Convert::ExtendU, amount);
    let left = editor.binary(Binary::Shl, wide, wide_amount);
    let zero = editor.i32(0);
    let back = editor.binary(Binary::Sub, zero, amount);
    let back = editor.with(Binary::MinU, back, 31);
    let right = editor.binary(Binary::ShrU, significand, back);
    let right = editor.convert(Convert::ExtendU, right);
    let is_left = editor.compare_with(Compare::GeS, amount, 0);
    editor.select(is_left, left, right)
}

fn to_unsigned(editor: &mut Editor, value: Value) -> Value {
    let magnitude = magnitude(editor, value);
    let above = editor.compare_with(Compare::FGe, value, 2f32.powi(64).to_bits().into());
    let positive = editor.compare_with(Compare::FGt, value, 0);
    let [most, zero] = [u64::MAX, 0].map(|bits| editor.constant(Type::I64, bits));
    let result = editor.select(above, most, magnitude);
    editor.select(positive, result, zero)
}

fn to_signed(editor: &mut Editor, value: Value) -> Value {
    let magnitude = magnitude(editor, value);
    let [zero, most, least] =
        [0, i64::MAX as u64, i64::MIN as u64].map(|bits| editor.constant(Type::I64, bits));
    let minus = editor.binary(Binary::Sub, zero, magnitude);
    let negative = editor.compare_with(Compare::FLt, value, 0);
    let result = editor.select(negative, minus, magnitude);
    let above = editor.compare_with(Compare::FGe, value, 2f32.powi(63).to_bits().into());
    let below = editor.compare_with(Compare::FLe, value, (-(2f32.powi(63))).to_bits().into());
    let result = editor.select(above, most, result);
    let result = editor.select(below, least, result);
    let number = editor.compare(Compare::FEq, value, value);
    editor.select(number, result, zero)
}
