//! Traps of divisions and truncations become branches to blocks that trap.

use super::edit::{Editor, rewrite};
use super::order;
use crate::ir::{Binary, Compare, Convert, Function, Operation, Terminator, Trap, Type, Unary, Value};

/// Puts a check in front of each operation that may trap and takes values of such types; after it, division by 0 and
/// overflow do not occur, and truncations saturate.
pub(super) fn explicit(function: &mut Function, takes: impl Fn(Type) -> bool) {
    let order = order(function);
    let done: Result<(), ()> = rewrite(function, &order, |editor, mut instruction| {
        match &mut instruction.operation {
            Operation::Binary(binary, [a, b]) if binary.traps() && takes(editor.ty(*a)) => {
                let (binary, a, b) = (*binary, *a, *b);
                let zero = editor.compare_with(Compare::Eq, b, 0);
                editor.leave_if(zero, Terminator::Trap(Trap::DivideByZero));
                if binary == Binary::DivS {
                    let bits = editor.ty(a).bytes() * 8;
                    let least = editor.compare_with(Compare::Eq, a, 1 << (bits - 1));
                    let minus_one = editor.compare_with(Compare::Eq, b, u64::MAX);
                    let overflow = editor.binary(Binary::And, least, minus_one);
                    editor.leave_if(overflow, Terminator::Trap(Trap::IntegerOverflow));
                }
            }
            Operation::Convert(convert, a) if convert.traps() && takes(editor.ty(*a)) => {
                let saturating = match convert {
                    Convert::TruncI32S => Convert::TruncSatI32S,
                    Convert::TruncI32U => Convert::TruncSatI32U,
                    Convert::TruncI64S => Convert::TruncSatI64S,
                    _ => Convert::TruncSatI64U,
                };
                let (checked, value) = (*convert, *a);
                *convert = saturating;
                if editor.ty(value) == Type::F32 {
                    check_range(editor, checked, value);
                } else {
                    check_wide_range(editor, checked, value);
                }
            }
            _ => {}
        }
        editor.keep(instruction);
        Ok(())
    });
    done.expect("it refuses nothing");
}

/// Traps where a float is no number, or its integral part is none of the type.
fn check_range(editor: &mut Editor, convert: Convert, value: Value) {
    let nan = editor.compare(Compare::FNe, value, value);
    editor.leave_if(nan, Terminator::Trap(Trap::InvalidConversion));
    let whole = editor.unary(Unary::FTrunc, value);
    let (least, end) = match convert {
        Convert::TruncI32S => (-(2f32.powi(31)), 2f32.powi(31)),
        Convert::TruncI32U => (0.0, 2f32.powi(32)),
        Convert::TruncI64S => (-(2f32.powi(63)), 2f32.powi(63)),
        _ => (0.0, 2f32.powi(64)),
    };
    let below = editor.compare_with(Compare::FLt, whole, least.to_bits().into());
    let above = editor.compare_with(Compare::FGe, whole, end.to_bits().into());
    let outside = editor.binary(Binary::Or, below, above);
    editor.leave_if(outside, Terminator::Trap(Trap::IntegerOverflow));
}

/// As [`check_range`] for an `f64`, by its bits: magnitudes have the order of integers.
fn check_wide_range(editor: &mut Editor, convert: Convert, value: Value) {
    let bits = editor.convert(Convert::Reinterpret, value);
    let magnitude = editor.with(Binary::And, bits, i64::MAX as u64);
    let nan = editor.compare_with(Compare::GtU, magnitude, f64::INFINITY.to_bits());
    editor.leave_if(nan, Terminator::Trap(Trap::InvalidConversion));
    // The least magnitudes that are none of the type: of positive numbers, of negative ones.
    let limits = match convert {
        Convert::TruncI32S => [2f64.powi(31), 2f64.powi(31) + 1.0],
        Convert::TruncI32U => [2f64.powi(32), 1.0],
        Convert::TruncI64S => [2f64.powi(63), 2f64.powi(63).next_up()],
        _ => [2f64.powi(64), 1.0],
    };
    let [positive, negative] = limits.map(|limit| editor.constant(Type::I64, limit.to_bits()));
    let is_negative = editor.compare_with(Compare::LtS, bits, 0);
    let limit = editor.select(is_negative, negative, positive);
    let outside = editor.compare(Compare::GeU, magnitude, limit);
    editor.leave_if(outside, Terminator::Trap(Trap::IntegerOverflow));
}
