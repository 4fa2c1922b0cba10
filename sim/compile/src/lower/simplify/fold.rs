//! What an operation is the same as.

use super::Known;
use crate::ir::evaluate;
use crate::ir::{Binary, Compare, Convert, Operation, Type, Unary, Value};
use cranelift_entity::PrimaryMap;

/// What an operation may be replaced by.
pub(super) enum Folded {
    /// Nothing better is known.
    Same,
    /// A value that there is.
    Value(Value),
    /// A constant of its type with these bits.
    Constant(u64),
    /// Another operation.
    Operation(Operation),
    /// An operation on a value and a constant with these bits.
    WithConstant(Binary, Value, u64),
    /// An operation on the result of another one.
    Outer {
        /// The one that comes first.
        inner: Operation,
        /// Type of its result.
        ty: Type,
        /// Takes that result.
        outer: fn(Value) -> Operation,
    },
}

/// Replaces an operation with a result of this type by a simpler one.
pub(super) fn fold(
    operation: &Operation,
    ty: Type,
    known: &Known,
    values: &PrimaryMap<Value, Type>,
) -> Folded {
    let bits = |value: Value| known.constant(value).map(|constant| constant.bits());
    match operation {
        Operation::Unary(unary, a) => match (bits(*a), known.operation(*a)) {
            (Some(a), _) if !is_special(*unary) => {
                Folded::Constant(evaluate::unary(*unary, ty, a, evaluate::host_special_functions))
            }
            (_, Some(inner)) if *unary == Unary::Not => negated(inner),
            _ => Folded::Same,
        },
        Operation::Binary(binary, [a, b]) => fold_binary(*binary, *a, *b, ty, known),
        Operation::Compare(compare, [a, b]) => fold_compare(*compare, *a, *b, known, values),
        Operation::Convert(convert, a) => match (bits(*a), known.operation(*a)) {
            (Some(bits), _) => match evaluate::convert(*convert, values[*a], bits) {
                Ok(bits) => Folded::Constant(bits),
                Err(_) => Folded::Same,
            },
            (_, Some(Operation::Convert(Convert::Reinterpret, inner)))
                if *convert == Convert::Reinterpret =>
            {
                Folded::Value(*inner)
            }
            (_, Some(Operation::Convert(Convert::ExtendS | Convert::ExtendU, inner)))
                if *convert == Convert::Wrap =>
            {
                Folded::Value(*inner)
            }
            _ => Folded::Same,
        },
        Operation::Fma([a, b, c]) => match (bits(*a), bits(*b), bits(*c)) {
            (Some(a), Some(b), Some(c)) => Folded::Constant(evaluate::fma(ty, a, b, c)),
            _ => Folded::Same,
        },
        Operation::Select([condition, a, b]) => match bits(*condition) {
            Some(bits) => Folded::Value(if bits != 0 { *a } else { *b }),
            None if a == b => Folded::Value(*a),
            None if ty == Type::Bool => match (bits(*a), bits(*b)) {
                (Some(1), Some(0)) => Folded::Value(*condition),
                (Some(0), Some(1)) => Folded::Operation(Operation::Unary(Unary::Not, *condition)),
                (Some(1), _) => Folded::Operation(Operation::Binary(Binary::Or, [*condition, *b])),
                (_, Some(0)) => Folded::Operation(Operation::Binary(Binary::And, [*condition, *a])),
                _ => Folded::Same,
            },
            None if ty == Type::I32 && bits(*a) == Some(1) && bits(*b) == Some(0) => {
                Folded::Operation(Operation::Convert(Convert::BoolToI32, *condition))
            }
            None => match known.operation(*condition) {
                Some(Operation::Unary(Unary::Not, inner)) => {
                    Folded::Operation(Operation::Select([*inner, *b, *a]))
                }
                _ => Folded::Same,
            },
        },
        _ => Folded::Same,
    }
}

/// True for the functions of the special-function unit: their results are the machine's.
fn is_special(unary: Unary) -> bool {
    matches!(unary, Unary::FSin | Unary::FCos | Unary::FExp2 | Unary::FLog2)
}

/// The complement of what an operation gives.
fn negated(operation: &Operation) -> Folded {
    match operation {
        Operation::Unary(Unary::Not, inner) => Folded::Value(*inner),
        Operation::Compare(compare, values) => match opposite(*compare) {
            Some(opposite) => Folded::Operation(Operation::Compare(opposite, *values)),
            None => Folded::Same,
        },
        _ => Folded::Same,
    }
}

/// The comparison that is true where this one is not. Of floats only equality has one, because of NaNs.
pub(crate) fn opposite(compare: Compare) -> Option<Compare> {
    Some(match compare {
        Compare::Eq => Compare::Ne,
        Compare::Ne => Compare::Eq,
        Compare::LtS => Compare::GeS,
        Compare::LtU => Compare::GeU,
        Compare::LeS => Compare::GtS,
        Compare::LeU => Compare::GtU,
        Compare::GtS => Compare::LeS,
        Compare::GtU => Compare::LeU,
        Compare::GeS => Compare::LtS,
        Compare::GeU => Compare::LtU,
        Compare::FEq => Compare::FNe,
        Compare::FNe => Compare::FEq,
        Compare::FLt | Compare::FLe | Compare::FGt | Compare::FGe => return None,
    })
}

fn fold_binary(binary: Binary, a: Value, b: Value, ty: Type, known: &Known) -> Folded {
    use Binary::*;
    let [x, y] = [a, b].map(|value| known.constant(value).map(|constant| constant.bits()));
    if let (Some(x), Some(y)) = (x, y) {
        return match evaluate::binary(binary, ty, x, y) {
            Ok(bits) => Folded::Constant(bits),
            Err(_) => Folded::Same,
        };
    }
    if ty.is_float() {
        return Folded::Same;
    }
    let commutes = matches!(binary, Add | Mul | And | Or | Xor | MinS | MaxS | MinU | MaxU | MulHigh);
    // Constants second, so that equal operations look equal.
    if commutes && (x.is_some() || y.is_none() && b < a) {
        return match fold_binary(binary, b, a, ty, known) {
            Folded::Same => Folded::Operation(Operation::Binary(binary, [b, a])),
            better => better,
        };
    }
    let ones = if ty == Type::Bool { 1 } else { u64::MAX >> (64 - 8 * ty.bytes()) };
    match (binary, y) {
        (Add | Sub | Or | Xor | Shl | ShrS | ShrU | Rotl | Rotr, Some(0)) => Folded::Value(a),
        (Mul | DivS | DivU | TotalDivS | TotalDivU, Some(1)) => Folded::Value(a),
        (DivU | TotalDivU, Some(bits)) if bits.is_power_of_two() => {
            Folded::WithConstant(ShrU, a, bits.trailing_zeros().into())
        }
        (RemU | TotalRemU, Some(bits)) if bits.is_power_of_two() => Folded::WithConstant(And, a, bits - 1),
        (And, Some(bits)) if bits == ones => Folded::Value(a),
        (Or, Some(bits)) if bits == ones => Folded::Constant(ones),
        (Xor, Some(1)) if ty == Type::Bool => Folded::Operation(Operation::Unary(Unary::Not, a)),
        (Mul | And, Some(0)) => Folded::Constant(0),
        (MulHigh, Some(0 | 1)) => Folded::Constant(0),
        (And | Or | MinS | MaxS | MinU | MaxU, None) if a == b => Folded::Value(a),
        (Xor | Sub, None) if a == b => Folded::Constant(0),
        (And | Or, _) if ty == Type::I32 => match (known.operation(a), known.operation(b)) {
            // The truth values themselves, extended afterwards.
            (
                Some(Operation::Convert(Convert::BoolToI32, p)),
                Some(Operation::Convert(Convert::BoolToI32, q)),
            ) => Folded::Outer {
                inner: Operation::Binary(binary, [*p, *q]),
                ty: Type::Bool,
                outer: |value| Operation::Convert(Convert::BoolToI32, value),
            },
            (Some(Operation::Convert(Convert::BoolToI32, _)), _) if binary == And && y == Some(1) => {
                Folded::Value(a)
            }
            _ => Folded::Same,
        },
        _ => Folded::Same,
    }
}

fn fold_compare(
    compare: Compare,
    a: Value,
    b: Value,
    known: &Known,
    values: &PrimaryMap<Value, Type>,
) -> Folded {
    let [x, y] = [a, b].map(|value| known.constant(value).map(|constant| constant.bits()));
    if let (Some(x), Some(y)) = (x, y) {
        return Folded::Constant(evaluate::compare(compare, values[a], x, y).into());
    }
    if a == b && !values[a].is_float() {
        let same = matches!(compare, Compare::Eq | Compare::LeS | Compare::LeU | Compare::GeS | Compare::GeU);
        return Folded::Constant(same.into());
    }
    if let (Some(0), Some(Operation::Convert(Convert::BoolToI32, truth))) = (y, known.operation(a)) {
        return match compare {
            Compare::Ne | Compare::GtU => Folded::Value(*truth),
            Compare::Eq | Compare::LeU => Folded::Operation(Operation::Unary(Unary::Not, *truth)),
            _ => Folded::Same,
        };
    }
    Folded::Same
}
