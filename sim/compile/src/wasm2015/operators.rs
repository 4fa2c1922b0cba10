//! The table of operators.
//!
//! An operator that computes, loads or stores is one of WebAssembly; what that does, [`wasm`](crate::wasm) says.

use crate::ir::Type;
use crate::wasm::{Simple, Width, simple};
use std::sync::LazyLock;
use wasmparser::{MemArg, MemArgTarget, Operator as O};

/// What an operator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Nop,
    Block,
    Loop,
    If,
    IfElse,
    Select,
    Br,
    BrIf,
    TableSwitch,
    Return,
    Unreachable,
    /// A constant in one byte, with a sign.
    ShortConstant,
    /// A constant in the bytes of its type.
    Constant(Type),
    GetLocal,
    SetLocal,
    LoadGlobal,
    StoreGlobal,
    CallFunction,
    CallIndirect,
    MemorySize,
    GrowMemory,
    /// It is one operation: what, types of the operands, and type of the value.
    Simple(Simple, &'static [Type], Type),
}

/// An operator.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) opcode: u8,
    pub(super) name: &'static str,
    pub(super) form: Form,
}

/// The operator of a number.
pub(super) fn row(opcode: u8) -> Option<&'static Row> {
    static BY_OPCODE: LazyLock<Vec<Option<Row>>> = LazyLock::new(|| {
        let mut all = vec![None; 256];
        for row in list() {
            all[usize::from(row.opcode)] = Some(row);
        }
        all
    });
    BY_OPCODE[usize::from(opcode)].as_ref()
}

/// Operators with a form of their own.
#[rustfmt::skip] // Two on a line.
const OTHERS: &[(u8, &str, Form)] = &[
    (0x00, "nop", Form::Nop), (0x01, "block", Form::Block),
    (0x02, "loop", Form::Loop), (0x03, "if", Form::If),
    (0x04, "if_else", Form::IfElse), (0x05, "select", Form::Select),
    (0x06, "br", Form::Br), (0x07, "br_if", Form::BrIf),
    (0x08, "tableswitch", Form::TableSwitch), (0x09, "i8.const", Form::ShortConstant),
    (0x0a, "i32.const", Form::Constant(Type::I32)), (0x0b, "i64.const", Form::Constant(Type::I64)),
    (0x0c, "f64.const", Form::Constant(Type::F64)), (0x0d, "f32.const", Form::Constant(Type::F32)),
    (0x0e, "get_local", Form::GetLocal), (0x0f, "set_local", Form::SetLocal),
    (0x10, "load_global", Form::LoadGlobal), (0x11, "store_global", Form::StoreGlobal),
    (0x12, "call_function", Form::CallFunction), (0x13, "call_indirect", Form::CallIndirect),
    (0x14, "return", Form::Return), (0x15, "unreachable", Form::Unreachable),
    (0x39, "grow_memory", Form::GrowMemory), (0x3b, "memory_size", Form::MemorySize),
];

/// Stands for the place of an access, which a module says for each.
const NOWHERE: MemArg =
    MemArg { align: 0, max_align: 0, offset: 0, target: MemArgTarget::Memory(0), ordering: None };

/// Loads and stores, from 0x20 on without a gap.
#[rustfmt::skip] // A line for each width.
fn accesses() -> Vec<(&'static str, O<'static>)> {
    let memarg = NOWHERE;
    vec![
        ("i32.load8_s", O::I32Load8S { memarg }), ("i32.load8_u", O::I32Load8U { memarg }),
        ("i32.load16_s", O::I32Load16S { memarg }), ("i32.load16_u", O::I32Load16U { memarg }),
        ("i64.load8_s", O::I64Load8S { memarg }), ("i64.load8_u", O::I64Load8U { memarg }),
        ("i64.load16_s", O::I64Load16S { memarg }), ("i64.load16_u", O::I64Load16U { memarg }),
        ("i64.load32_s", O::I64Load32S { memarg }), ("i64.load32_u", O::I64Load32U { memarg }),
        ("i32.load", O::I32Load { memarg }), ("i64.load", O::I64Load { memarg }),
        ("f32.load", O::F32Load { memarg }), ("f64.load", O::F64Load { memarg }),
        ("i32.store8", O::I32Store8 { memarg }), ("i32.store16", O::I32Store16 { memarg }),
        ("i64.store8", O::I64Store8 { memarg }), ("i64.store16", O::I64Store16 { memarg }),
        ("i64.store32", O::I64Store32 { memarg }),
        ("i32.store", O::I32Store { memarg }), ("i64.store", O::I64Store { memarg }),
        ("f32.store", O::F32Store { memarg }), ("f64.store", O::F64Store { memarg }),
    ]
}

/// Operators that compute, from 0x40 on without a gap.
#[rustfmt::skip] // A line for operators of one kind.
fn computing() -> Vec<(&'static str, O<'static>)> {
    vec![
        ("i32.add", O::I32Add), ("i32.sub", O::I32Sub), ("i32.mul", O::I32Mul), ("i32.div_s", O::I32DivS),
        ("i32.div_u", O::I32DivU), ("i32.rem_s", O::I32RemS), ("i32.rem_u", O::I32RemU),
        ("i32.and", O::I32And), ("i32.ior", O::I32Or), ("i32.xor", O::I32Xor),
        ("i32.shl", O::I32Shl), ("i32.shr_u", O::I32ShrU), ("i32.shr_s", O::I32ShrS),
        ("i32.eq", O::I32Eq), ("i32.ne", O::I32Ne), ("i32.lt_s", O::I32LtS), ("i32.le_s", O::I32LeS),
        ("i32.lt_u", O::I32LtU), ("i32.le_u", O::I32LeU), ("i32.gt_s", O::I32GtS), ("i32.ge_s", O::I32GeS),
        ("i32.gt_u", O::I32GtU), ("i32.ge_u", O::I32GeU),
        ("i32.clz", O::I32Clz), ("i32.ctz", O::I32Ctz), ("i32.popcnt", O::I32Popcnt), ("bool.not", O::I32Eqz),
        ("i64.add", O::I64Add), ("i64.sub", O::I64Sub), ("i64.mul", O::I64Mul), ("i64.div_s", O::I64DivS),
        ("i64.div_u", O::I64DivU), ("i64.rem_s", O::I64RemS), ("i64.rem_u", O::I64RemU),
        ("i64.and", O::I64And), ("i64.ior", O::I64Or), ("i64.xor", O::I64Xor),
        ("i64.shl", O::I64Shl), ("i64.shr_u", O::I64ShrU), ("i64.shr_s", O::I64ShrS),
        ("i64.eq", O::I64Eq), ("i64.ne", O::I64Ne), ("i64.lt_s", O::I64LtS), ("i64.le_s", O::I64LeS),
        ("i64.lt_u", O::I64LtU), ("i64.le_u", O::I64LeU), ("i64.gt_s", O::I64GtS), ("i64.ge_s", O::I64GeS),
        ("i64.gt_u", O::I64GtU), ("i64.ge_u", O::I64GeU),
        ("i64.clz", O::I64Clz), ("i64.ctz", O::I64Ctz), ("i64.popcnt", O::I64Popcnt),
        ("f32.add", O::F32Add), ("f32.sub", O::F32Sub), ("f32.mul", O::F32Mul), ("f32.div", O::F32Div),
        ("f32.min", O::F32Min), ("f32.max", O::F32Max), ("f32.abs", O::F32Abs), ("f32.neg", O::F32Neg),
        ("f32.copysign", O::F32Copysign), ("f32.ceil", O::F32Ceil), ("f32.floor", O::F32Floor),
        ("f32.trunc", O::F32Trunc), ("f32.nearestint", O::F32Nearest), ("f32.sqrt", O::F32Sqrt),
        ("f32.eq", O::F32Eq), ("f32.ne", O::F32Ne), ("f32.lt", O::F32Lt), ("f32.le", O::F32Le),
        ("f32.gt", O::F32Gt), ("f32.ge", O::F32Ge),
        ("f64.add", O::F64Add), ("f64.sub", O::F64Sub), ("f64.mul", O::F64Mul), ("f64.div", O::F64Div),
        ("f64.min", O::F64Min), ("f64.max", O::F64Max), ("f64.abs", O::F64Abs), ("f64.neg", O::F64Neg),
        ("f64.copysign", O::F64Copysign), ("f64.ceil", O::F64Ceil), ("f64.floor", O::F64Floor),
        ("f64.trunc", O::F64Trunc), ("f64.nearestint", O::F64Nearest), ("f64.sqrt", O::F64Sqrt),
        ("f64.eq", O::F64Eq), ("f64.ne", O::F64Ne), ("f64.lt", O::F64Lt), ("f64.le", O::F64Le),
        ("f64.gt", O::F64Gt), ("f64.ge", O::F64Ge),
        ("i32.sconvertf32", O::I32TruncF32S), ("i32.sconvertf64", O::I32TruncF64S),
        ("i32.uconvertf32", O::I32TruncF32U), ("i32.uconvertf64", O::I32TruncF64U),
        ("i32.converti64", O::I32WrapI64),
        ("i64.sconvertf32", O::I64TruncF32S), ("i64.sconvertf64", O::I64TruncF64S),
        ("i64.uconvertf32", O::I64TruncF32U), ("i64.uconvertf64", O::I64TruncF64U),
        ("i64.sconverti32", O::I64ExtendI32S), ("i64.uconverti32", O::I64ExtendI32U),
        ("f32.sconverti32", O::F32ConvertI32S), ("f32.uconverti32", O::F32ConvertI32U),
        ("f32.sconverti64", O::F32ConvertI64S), ("f32.uconverti64", O::F32ConvertI64U),
        ("f32.convertf64", O::F32DemoteF64), ("f32.reinterpreti32", O::F32ReinterpretI32),
        ("f64.sconverti32", O::F64ConvertI32S), ("f64.uconverti32", O::F64ConvertI32U),
        ("f64.sconverti64", O::F64ConvertI64S), ("f64.uconverti64", O::F64ConvertI64U),
        ("f64.convertf32", O::F64PromoteF32), ("f64.reinterpreti64", O::F64ReinterpretI64),
        ("i32.reinterpretf32", O::I32ReinterpretF32), ("i64.reinterpretf64", O::I64ReinterpretF64),
    ]
}

fn list() -> impl Iterator<Item = Row> {
    let of = |first: u8, all: Vec<(&'static str, O<'static>)>| {
        (first..).zip(all).map(|(opcode, (name, operator))| {
            let simple = simple(&operator).expect("operators of this table are one operation");
            Row { opcode, name, form: form(name, simple) }
        })
    };
    let others = OTHERS.iter().map(|&(opcode, name, form)| Row { opcode, name, form });
    others.chain(of(0x20, accesses())).chain(of(0x40, computing()))
}

/// An operator that is one operation, with its types. Its name begins with the type of its value, and that of a
/// conversion ends with the type of its operand.
fn form(name: &'static str, simple: Simple) -> Form {
    let twice = |ty: Type| pair(ty, ty);
    let first = named(&name[..3]);
    let of_name = || first.expect("its name begins with a type");
    let (operands, result) = match simple {
        Simple::Unary(_) => (&twice(of_name())[..1], of_name()),
        Simple::Binary(_) => (twice(of_name()), of_name()),
        Simple::Compare(_) => (twice(of_name()), Type::I32),
        Simple::IsZero => (&twice(Type::I32)[..1], Type::I32),
        Simple::Convert(_) => {
            let operand = named(&name[name.len() - 3..]).expect("its name ends with a type");
            (&twice(operand)[..1], of_name())
        }
        Simple::Load(Width(ty, ..), _) => (&twice(Type::I32)[..1], ty),
        Simple::Store(Width(ty, ..), _) => (pair(Type::I32, ty), ty),
        _ => unreachable!("the table has no atomics"),
    };
    Form::Simple(simple, operands, result)
}

fn named(name: &str) -> Option<Type> {
    [Type::I32, Type::I64, Type::F32, Type::F64].into_iter().find(|ty| ty.name() == name)
}

/// Two types as a slice.
fn pair(first: Type, second: Type) -> &'static [Type] {
    #[rustfmt::skip] // Equal ones, then an address and a value.
    const ALL: [[Type; 2]; 7] = [
        [Type::I32, Type::I32], [Type::I64, Type::I64], [Type::F32, Type::F32], [Type::F64, Type::F64],
        [Type::I32, Type::I64], [Type::I32, Type::F32], [Type::I32, Type::F64],
    ];
    ALL.iter().find(|pair| **pair == [first, second]).expect("a pair that operators take")
}
