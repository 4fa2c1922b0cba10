//! Divisions of 32 bits that the machine has not: unsigned ones, and those of any divisor.

use super::edit::{Editor, rewrite};
use super::order;
use crate::ir::{Binary, Compare, Convert, Function, Instruction, Operation, Type, Value};

/// Replaces unsigned divisions of 32 bits by a signed one and a correction, or by a product if the divisor is known; and
/// those of any divisor by one that is not 0. The divisors of the others are not 0.
pub(super) fn expand(function: &mut Function) {
    let order = order(function);
    let done: Result<(), ()> = rewrite(function, &order, |editor, instruction| {
        let Operation::Binary(binary, [a, b]) = instruction.operation else {
            editor.keep(instruction);
            return Ok(());
        };
        let (binary, b) = match binary {
            Binary::TotalDivS => (Binary::DivS, not_zero(editor, b)),
            Binary::TotalDivU => (Binary::DivU, not_zero(editor, b)),
            Binary::TotalRemS => (Binary::RemS, not_zero(editor, b)),
            Binary::TotalRemU => (Binary::RemU, not_zero(editor, b)),
            _ => (binary, b),
        };
        let is_unsigned = matches!(binary, Binary::DivU | Binary::RemU) && editor.ty(a) == Type::I32;
        if is_unsigned {
            let value = match editor.known_i32(b) {
                Some(divisor) if divisor > 1 && !divisor.is_power_of_two() => {
                    by_product(editor, binary, a, divisor)
                }
                _ => unsigned(editor, binary, a, b),
            };
            editor.replaced.set(instruction.results[0], value);
        } else {
            let operation = Operation::Binary(binary, [a, b]);
            editor.keep(Instruction { operation, ..instruction });
        }
        Ok(())
    });
    done.expect("it refuses nothing");
}

/// The divisor, or 1 where that is 0: the quotient is the dividend then, and nothing remains.
fn not_zero(editor: &mut Editor, divisor: Value) -> Value {
    if editor.known_i32(divisor).is_some_and(|bits| bits != 0) {
        return divisor;
    }
    let zero = editor.compare_with(Compare::Eq, divisor, 0);
    let one = editor.i32(1);
    editor.select(zero, one, divisor)
}

/// Division by a product with the reciprocal: Granlund and Montgomery, "Division by Invariant Integers using
/// Multiplication" (PLDI 1994), figure 4.1. The divisor is no power of 2.
fn by_product(editor: &mut Editor, binary: Binary, a: Value, divisor: u32) -> Value {
    let bits = 32 - divisor.leading_zeros();
    let reciprocal = (((1u64 << bits) - u64::from(divisor)) << 32) / u64::from(divisor) + 1;
    let product = editor.with(Binary::MulHigh, a, reciprocal);
    let rest = editor.binary(Binary::Sub, a, product);
    let half = editor.with(Binary::ShrU, rest, 1);
    let sum = editor.binary(Binary::Add, product, half);
    let quotient = editor.with(Binary::ShrU, sum, (bits - 1).into());
    if binary == Binary::DivU {
        return quotient;
    }
    let product = editor.with(Binary::Mul, quotient, divisor.into());
    editor.binary(Binary::Sub, a, product)
}

/// Half of the dividend by a divisor below 2^31 gives half of the quotient, or one less. A greater divisor is in the
/// dividend once or not at all.
fn unsigned(editor: &mut Editor, binary: Binary, a: Value, b: Value) -> Value {
    let half = editor.with(Binary::ShrU, a, 1);
    let quotient = editor.binary(Binary::DivS, half, b);
    let quotient = editor.with(Binary::Shl, quotient, 1);
    let is_great = editor.compare_with(Compare::LtS, b, 0);
    let zero = editor.i32(0);
    let quotient = editor.select(is_great, zero, quotient);
    let product = editor.binary(Binary::Mul, quotient, b);
    let rest = editor.binary(Binary::Sub, a, product);
    let once_more = editor.compare(Compare::GeU, rest, b);
    if binary == Binary::DivU {
        let more = editor.convert(Convert::BoolToI32, once_more);
        return editor.binary(Binary::Add, quotient, more);
    }
    let less = editor.binary(Binary::Sub, rest, b);
    editor.select(once_more, less, rest)
}
