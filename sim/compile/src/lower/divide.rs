//! Divisions that the machine has not: unsigned ones, and those of 64 bits.

use super::edit::{Editor, rewrite};
use super::inline::inline;
use super::order;
use crate::ir::{Binary, Compare, Function, Instruction, Operation, Type, Value, text};
use crate::ir::{Convert, FunctionId};
use cranelift_entity::EntityRef;

/// Quotient and remainder of unsigned 64-bit integers, bit by bit. The quotient comes into the dividend from below
/// while that leaves it above. Rounds whose dividend is shorter are left out.
const DIVIDE: &str = "
function f0 (i64, i64) -> (i64, i64) {
b0(v0: i64, v1: i64):
    v2: i64 = clz v0
    v3: i64 = shl v0, v2
    v4: i64 = const.i64 64
    v5: i64 = sub v4, v2
    v6: i32 = i32_wrap v5
    v7: i64 = const.i64 0
    jump b1(v6, v3, v7)
b1(v8: i32, v9: i64, v10: i64):
    v11: i32 = const.i32 0
    v12: bool = eq v8, v11
    branch v12, b3(v9, v10), b2
b2:
    v13: i64 = const.i64 63
    v14: i64 = const.i64 1
    v15: i64 = shr_u v10, v13
    v16: i64 = shl v10, v14
    v17: i64 = shr_u v9, v13
    v18: i64 = or v16, v17
    v19: i64 = shl v9, v14
    v20: i32 = i32_wrap v15
    v21: bool = ne v20, v11
    v22: bool = ge_u v18, v1
    v23: bool = or v21, v22
    v24: i64 = sub v18, v1
    v25: i64 = or v19, v14
    v26: i64 = select v23, v25, v19
    v27: i64 = select v23, v24, v18
    v28: i32 = const.i32 1
    v29: i32 = sub v8, v28
    jump b1(v29, v26, v27)
b3(v30: i64, v31: i64):
    return v30, v31
}";

/// Replaces unsigned divisions of 32 bits by a signed one and a correction, and those of 64 bits by a loop. The
/// divisors are not 0, and signed quotients do not overflow.
pub(super) fn expand(function: &mut Function) {
    let order = order(function);
    let done: Result<(), ()> = rewrite(function, &order, |editor, instruction| {
        match instruction.operation {
            Operation::Binary(binary, [a, b]) if binary.traps() => {
                let value = match (editor.ty(a), binary) {
                    (Type::I64, _) => wide(editor, binary, a, b),
                    (_, Binary::DivU | Binary::RemU) => unsigned(editor, binary, a, b),
                    _ => {
                        editor.keep(instruction);
                        return Ok(());
                    }
                };
                editor.replaced.set(instruction.results[0], value);
            }
            _ => editor.keep(instruction),
        }
        Ok(())
    });
    done.expect("it refuses nothing");
    inline_routine(function);
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

/// The magnitudes divided, and the sign put on.
fn wide(editor: &mut Editor, binary: Binary, a: Value, b: Value) -> Value {
    let is_signed = matches!(binary, Binary::DivS | Binary::RemS);
    let is_quotient = matches!(binary, Binary::DivS | Binary::DivU);
    let magnitude = |editor: &mut Editor, value: Value| {
        let zero = editor.constant(Type::I64, 0);
        let negative = editor.compare(Compare::LtS, value, zero);
        let minus = editor.binary(Binary::Sub, zero, value);
        (editor.select(negative, minus, value), negative)
    };
    let (mut operands, mut minus) = ([a, b], None);
    if is_signed {
        let (dividend, below) = magnitude(editor, a);
        let (divisor, divisor_below) = magnitude(editor, b);
        operands = [dividend, divisor];
        minus = Some(if is_quotient { editor.binary(Binary::Xor, below, divisor_below) } else { below });
    }
    let results = vec![editor.function.value(Type::I64), editor.function.value(Type::I64)];
    let value = results[usize::from(!is_quotient)];
    editor.keep(Instruction {
        operation: Operation::Call(FunctionId::new(0), operands.to_vec()),
        results,
        at: editor.at,
    });
    match minus {
        None => value,
        Some(minus) => {
            let zero = editor.constant(Type::I64, 0);
            let negative = editor.binary(Binary::Sub, zero, value);
            editor.select(minus, negative, value)
        }
    }
}

fn inline_routine(function: &mut Function) {
    // The function calls no others by now.
    let is_call = |one: &Instruction| matches!(one.operation, Operation::Call(..));
    let mut routine = None;
    let mut work: Vec<_> = function.blocks.keys().collect();
    while let Some(block) = work.pop() {
        if let Some(number) = function.blocks[block].instructions.iter().position(is_call) {
            let routine = routine.get_or_insert_with(|| {
                let module = text::parse(DIVIDE, "divide").expect("the text is right");
                module.functions[FunctionId::new(0)].clone()
            });
            work.push(inline(function, block, number, routine));
        }
    }
}
