//! Operators that are one operation of the intermediate representation each.

use crate::ir::{Binary, Compare, Convert, Type, Unary};
use wasmparser::{MemArg, Operator};
use wave_isa::table::AtomicOp;

/// What an operator does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Simple {
    Unary(Unary),
    Binary(Binary),
    Compare(Compare),
    Convert(Convert),
    /// Whether it is 0.
    IsZero,
    Load(Width, MemArg),
    Store(Width, MemArg),
    AtomicLoad(Width, MemArg),
    AtomicStore(Width, MemArg),
    Atomic(AtomicOp, Width, MemArg),
    CompareExchange(Width, MemArg),
}

/// Type of a value, its bytes in memory, and whether they are extended with the sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Width(pub(crate) Type, pub(crate) u32, pub(crate) bool);

/// Names of widths, for the table below.
const I32: Width = Width(Type::I32, 4, false);
const I64: Width = Width(Type::I64, 8, false);
const F32: Width = Width(Type::F32, 4, false);
const F64: Width = Width(Type::F64, 8, false);

/// An integer of so many bytes in memory.
const fn u(ty: Type, bytes: u32) -> Width {
    Width(ty, bytes, false)
}

/// A signed integer of so many bytes in memory.
const fn s(ty: Type, bytes: u32) -> Width {
    Width(ty, bytes, true)
}

/// What an operator does, if it is one operation.
pub(crate) fn simple(operator: &Operator<'_>) -> Option<Simple> {
    Some(match operator {
        Operator::I32Eqz | Operator::I64Eqz => Simple::IsZero,
        _ => unary(operator)
            .map(Simple::Unary)
            .or_else(|| binary(operator).map(Simple::Binary))
            .or_else(|| compare(operator).map(Simple::Compare))
            .or_else(|| convert(operator).map(Simple::Convert))
            .or_else(|| access(operator))
            .or_else(|| atomic(operator))?,
    })
}

fn unary(operator: &Operator<'_>) -> Option<Unary> {
    use Operator as O;
    Some(match operator {
        O::I32Clz | O::I64Clz => Unary::Clz,
        O::I32Ctz | O::I64Ctz => Unary::Ctz,
        O::I32Popcnt | O::I64Popcnt => Unary::Popcnt,
        O::I32Extend8S | O::I64Extend8S => Unary::Extend8,
        O::I32Extend16S | O::I64Extend16S => Unary::Extend16,
        O::I64Extend32S => Unary::Extend32,
        O::F32Neg | O::F64Neg => Unary::FNeg,
        O::F32Abs | O::F64Abs => Unary::FAbs,
        O::F32Ceil | O::F64Ceil => Unary::FCeil,
        O::F32Floor | O::F64Floor => Unary::FFloor,
        O::F32Trunc | O::F64Trunc => Unary::FTrunc,
        O::F32Nearest | O::F64Nearest => Unary::FNearest,
        O::F32Sqrt | O::F64Sqrt => Unary::FSqrt,
        _ => return None,
    })
}

fn binary(operator: &Operator<'_>) -> Option<Binary> {
    use Operator as O;
    Some(match operator {
        O::I32Add | O::I64Add => Binary::Add,
        O::I32Sub | O::I64Sub => Binary::Sub,
        O::I32Mul | O::I64Mul => Binary::Mul,
        O::I32DivS | O::I64DivS => Binary::DivS,
        O::I32DivU | O::I64DivU => Binary::DivU,
        O::I32RemS | O::I64RemS => Binary::RemS,
        O::I32RemU | O::I64RemU => Binary::RemU,
        O::I32And | O::I64And => Binary::And,
        O::I32Or | O::I64Or => Binary::Or,
        O::I32Xor | O::I64Xor => Binary::Xor,
        O::I32Shl | O::I64Shl => Binary::Shl,
        O::I32ShrS | O::I64ShrS => Binary::ShrS,
        O::I32ShrU | O::I64ShrU => Binary::ShrU,
        O::I32Rotl | O::I64Rotl => Binary::Rotl,
        O::I32Rotr | O::I64Rotr => Binary::Rotr,
        O::F32Add | O::F64Add => Binary::FAdd,
        O::F32Sub | O::F64Sub => Binary::FSub,
        O::F32Mul | O::F64Mul => Binary::FMul,
        O::F32Div | O::F64Div => Binary::FDiv,
        O::F32Min | O::F64Min => Binary::FMin,
        O::F32Max | O::F64Max => Binary::FMax,
        O::F32Copysign | O::F64Copysign => Binary::FCopysign,
        _ => return None,
    })
}

fn compare(operator: &Operator<'_>) -> Option<Compare> {
    use Operator as O;
    Some(match operator {
        O::I32Eq | O::I64Eq => Compare::Eq,
        O::I32Ne | O::I64Ne => Compare::Ne,
        O::I32LtS | O::I64LtS => Compare::LtS,
        O::I32LtU | O::I64LtU => Compare::LtU,
        O::I32LeS | O::I64LeS => Compare::LeS,
        O::I32LeU | O::I64LeU => Compare::LeU,
        O::I32GtS | O::I64GtS => Compare::GtS,
        O::I32GtU | O::I64GtU => Compare::GtU,
        O::I32GeS | O::I64GeS => Compare::GeS,
        O::I32GeU | O::I64GeU => Compare::GeU,
        O::F32Eq | O::F64Eq => Compare::FEq,
        O::F32Ne | O::F64Ne => Compare::FNe,
        O::F32Lt | O::F64Lt => Compare::FLt,
        O::F32Le | O::F64Le => Compare::FLe,
        O::F32Gt | O::F64Gt => Compare::FGt,
        O::F32Ge | O::F64Ge => Compare::FGe,
        _ => return None,
    })
}

fn convert(operator: &Operator<'_>) -> Option<Convert> {
    use Operator as O;
    Some(match operator {
        O::I32WrapI64 => Convert::Wrap,
        O::I64ExtendI32S => Convert::ExtendS,
        O::I64ExtendI32U => Convert::ExtendU,
        O::F64PromoteF32 => Convert::Promote,
        O::F32DemoteF64 => Convert::Demote,
        O::I32TruncF32S | O::I32TruncF64S => Convert::TruncI32S,
        O::I32TruncF32U | O::I32TruncF64U => Convert::TruncI32U,
        O::I64TruncF32S | O::I64TruncF64S => Convert::TruncI64S,
        O::I64TruncF32U | O::I64TruncF64U => Convert::TruncI64U,
        O::I32TruncSatF32S | O::I32TruncSatF64S => Convert::TruncSatI32S,
        O::I32TruncSatF32U | O::I32TruncSatF64U => Convert::TruncSatI32U,
        O::I64TruncSatF32S | O::I64TruncSatF64S => Convert::TruncSatI64S,
        O::I64TruncSatF32U | O::I64TruncSatF64U => Convert::TruncSatI64U,
        O::F32ConvertI32S | O::F32ConvertI64S => Convert::F32S,
        O::F32ConvertI32U | O::F32ConvertI64U => Convert::F32U,
        O::F64ConvertI32S | O::F64ConvertI64S => Convert::F64S,
        O::F64ConvertI32U | O::F64ConvertI64U => Convert::F64U,
        O::I32ReinterpretF32 | O::I64ReinterpretF64 | O::F32ReinterpretI32 | O::F64ReinterpretI64 => {
            Convert::Reinterpret
        }
        _ => return None,
    })
}

fn access(operator: &Operator<'_>) -> Option<Simple> {
    use Operator as O;
    let (width, memarg, is_store) = match *operator {
        O::I32Load { memarg } => (I32, memarg, false),
        O::I64Load { memarg } => (I64, memarg, false),
        O::F32Load { memarg } => (F32, memarg, false),
        O::F64Load { memarg } => (F64, memarg, false),
        O::I32Load8S { memarg } => (s(Type::I32, 1), memarg, false),
        O::I32Load8U { memarg } => (u(Type::I32, 1), memarg, false),
        O::I32Load16S { memarg } => (s(Type::I32, 2), memarg, false),
        O::I32Load16U { memarg } => (u(Type::I32, 2), memarg, false),
        O::I64Load8S { memarg } => (s(Type::I64, 1), memarg, false),
        O::I64Load8U { memarg } => (u(Type::I64, 1), memarg, false),
        O::I64Load16S { memarg } => (s(Type::I64, 2), memarg, false),
        O::I64Load16U { memarg } => (u(Type::I64, 2), memarg, false),
        O::I64Load32S { memarg } => (s(Type::I64, 4), memarg, false),
        O::I64Load32U { memarg } => (u(Type::I64, 4), memarg, false),
        O::I32Store { memarg } => (I32, memarg, true),
        O::I64Store { memarg } => (I64, memarg, true),
        O::F32Store { memarg } => (F32, memarg, true),
        O::F64Store { memarg } => (F64, memarg, true),
        O::I32Store8 { memarg } => (u(Type::I32, 1), memarg, true),
        O::I32Store16 { memarg } => (u(Type::I32, 2), memarg, true),
        O::I64Store8 { memarg } => (u(Type::I64, 1), memarg, true),
        O::I64Store16 { memarg } => (u(Type::I64, 2), memarg, true),
        O::I64Store32 { memarg } => (u(Type::I64, 4), memarg, true),
        _ => return None,
    };
    Some(if is_store { Simple::Store(width, memarg) } else { Simple::Load(width, memarg) })
}

/// The seven widths of an atomic operator, in the order in which the threads proposal names them.
macro_rules! widths {
    ($operator:expr, $make:expr, $i32:ident $i64:ident $i32_8:ident $i32_16:ident $i64_8:ident $i64_16:ident
     $i64_32:ident) => {
        match *$operator {
            Operator::$i32 { memarg } => Some($make(I32, memarg)),
            Operator::$i64 { memarg } => Some($make(I64, memarg)),
            Operator::$i32_8 { memarg } => Some($make(u(Type::I32, 1), memarg)),
            Operator::$i32_16 { memarg } => Some($make(u(Type::I32, 2), memarg)),
            Operator::$i64_8 { memarg } => Some($make(u(Type::I64, 1), memarg)),
            Operator::$i64_16 { memarg } => Some($make(u(Type::I64, 2), memarg)),
            Operator::$i64_32 { memarg } => Some($make(u(Type::I64, 4), memarg)),
            _ => None,
        }
    };
}

#[rustfmt::skip] // A line for each operation.
fn atomic(operator: &Operator<'_>) -> Option<Simple> {
    let modify = |op| move |width, memarg| Simple::Atomic(op, width, memarg);
    let found = widths!(operator, Simple::AtomicLoad, I32AtomicLoad I64AtomicLoad I32AtomicLoad8U
        I32AtomicLoad16U I64AtomicLoad8U I64AtomicLoad16U I64AtomicLoad32U);
    let found = found.or_else(|| widths!(operator, Simple::AtomicStore, I32AtomicStore I64AtomicStore
        I32AtomicStore8 I32AtomicStore16 I64AtomicStore8 I64AtomicStore16 I64AtomicStore32));
    let found = found.or_else(|| widths!(operator, modify(AtomicOp::Add), I32AtomicRmwAdd I64AtomicRmwAdd
        I32AtomicRmw8AddU I32AtomicRmw16AddU I64AtomicRmw8AddU I64AtomicRmw16AddU I64AtomicRmw32AddU));
    let found = found.or_else(|| widths!(operator, modify(AtomicOp::Sub), I32AtomicRmwSub I64AtomicRmwSub
        I32AtomicRmw8SubU I32AtomicRmw16SubU I64AtomicRmw8SubU I64AtomicRmw16SubU I64AtomicRmw32SubU));
    let found = found.or_else(|| widths!(operator, modify(AtomicOp::And), I32AtomicRmwAnd I64AtomicRmwAnd
        I32AtomicRmw8AndU I32AtomicRmw16AndU I64AtomicRmw8AndU I64AtomicRmw16AndU I64AtomicRmw32AndU));
    let found = found.or_else(|| widths!(operator, modify(AtomicOp::Or), I32AtomicRmwOr I64AtomicRmwOr
        I32AtomicRmw8OrU I32AtomicRmw16OrU I64AtomicRmw8OrU I64AtomicRmw16OrU I64AtomicRmw32OrU));
    let found = found.or_else(|| widths!(operator, modify(AtomicOp::Xor), I32AtomicRmwXor I64AtomicRmwXor
        I32AtomicRmw8XorU I32AtomicRmw16XorU I64AtomicRmw8XorU I64AtomicRmw16XorU I64AtomicRmw32XorU));
    let found = found.or_else(|| widths!(operator, modify(AtomicOp::Exchange), I32AtomicRmwXchg
        I64AtomicRmwXchg I32AtomicRmw8XchgU I32AtomicRmw16XchgU I64AtomicRmw8XchgU I64AtomicRmw16XchgU
        I64AtomicRmw32XchgU));
    found.or_else(|| widths!(operator, Simple::CompareExchange, I32AtomicRmwCmpxchg I64AtomicRmwCmpxchg
        I32AtomicRmw8CmpxchgU I32AtomicRmw16CmpxchgU I64AtomicRmw8CmpxchgU I64AtomicRmw16CmpxchgU
        I64AtomicRmw32CmpxchgU))
}
