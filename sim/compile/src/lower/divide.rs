//! Divisions of 32 bits that the machine has not: unsigned ones.

use super::edit::{Editor, rewrite};
use super::order;
use crate::ir::{Binary, Compare, Convert, Function, Operation, Type, Value};

/// Replaces unsigned divisions of 32 bits by a signed one and a correction. The divisors are not 0.
pub(super) fn expand(function: &mut Function) {
    let order = order(function);
    let done: Result<(), ()> = rewrite(function, &order, |editor, instruction| {
        match instruction.operation {
            Operation::Binary(binary @ (Binary::DivU | Binary::RemU), [a, b])
                if editor.ty(a) == Type::I32 =>
            {
                let value = unsigned(editor, binary, a, b);
                editor.replaced.set(instruction.results[0], value);
            }
            _ => editor.keep(instruction),
        }
        Ok(())
    });
    done.expect("it refuses nothing");
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
