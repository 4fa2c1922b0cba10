//! Cells as operands of a type, and conversions between them.
//!
//! A cell has 64 bits: an `i32` is zero-extended, floats are their bits. What an instruction gives stays a value of its
//! own type, also a truth value, until the end of its part of the function; only what is on the stack then is made 64
//! bits wide, and what was made wide is known as what it was.

use crate::encoding::Builder;
use crate::ir::{Compare, Constant, Convert, Operation, Type, Value};
use fnv::FnvHashMap;

/// A value that a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) ty: Type,
    pub(super) value: Value,
}

/// The operands that are known in several forms.
#[derive(Debug, Default)]
pub(super) struct Forms {
    /// What wide values were made of, and the wide values of operands.
    narrow: FnvHashMap<Value, Operand>,
    wide: FnvHashMap<Value, Value>,
    /// Conversions in this part of the function.
    pub(super) converted: FnvHashMap<(Value, Type), Value>,
}

impl Forms {
    /// What a value of 64 bits is that was read from a cell.
    pub(super) fn operand(&self, value: Value) -> Operand {
        self.narrow.get(&value).copied().unwrap_or(Operand { ty: Type::I64, value })
    }

    /// The operand as a value of a type.
    pub(super) fn value(&mut self, builder: &mut Builder, operand: Operand, ty: Type) -> Value {
        if operand.ty == ty {
            return operand.value;
        }
        if ty == Type::I64
            && let Some(&wide) = self.wide.get(&operand.value)
        {
            return wide;
        }
        if let Some(&value) = self.converted.get(&(operand.value, ty)) {
            return value;
        }
        let from = operand.value;
        let value = match (operand.ty, ty) {
            (Type::Bool, Type::I32) => builder.convert(Convert::BoolToI32, from),
            (Type::F32, Type::I32) | (Type::F64, Type::I64) => builder.convert(Convert::Reinterpret, from),
            (Type::I32, Type::F32) | (Type::I64, Type::F64) => builder.convert(Convert::Reinterpret, from),
            (Type::I64, Type::I32) => builder.convert(Convert::Wrap, from),
            (Type::I32, Type::I64) => builder.convert(Convert::ExtendU, from),
            // The others by way of an integer of the size that is there, or is wanted.
            (Type::Bool | Type::F32, _) | (Type::I64, Type::F32) => self.by(builder, operand, Type::I32, ty),
            _ => self.by(builder, operand, Type::I64, ty),
        };
        self.converted.insert((from, ty), value);
        value
    }

    fn by(&mut self, builder: &mut Builder, operand: Operand, middle: Type, ty: Type) -> Value {
        let value = self.value(builder, operand, middle);
        self.value(builder, Operand { ty: middle, value }, ty)
    }

    /// Makes an operand wide for good: for what is on the stack where a part of the function ends.
    pub(super) fn widen(&mut self, builder: &mut Builder, operand: Operand) -> Value {
        let wide = self.value(builder, operand, Type::I64);
        if operand.ty != Type::I64 {
            self.is_made_of(wide, operand);
        }
        wide
    }

    /// Notes what a wide value was made of.
    pub(super) fn is_made_of(&mut self, wide: Value, operand: Operand) {
        self.narrow.insert(wide, operand);
        // The first one is there wherever the operand is on the stack.
        self.wide.entry(operand.value).or_insert(wide);
    }

    /// Whether any bit of an operand is set.
    pub(super) fn condition(&mut self, builder: &mut Builder, operand: Operand) -> Value {
        let (value, ty) = match operand.ty {
            Type::Bool => return operand.value,
            Type::I32 | Type::F32 => (self.value(builder, operand, Type::I32), Type::I32),
            Type::I64 | Type::F64 => (self.value(builder, operand, Type::I64), Type::I64),
        };
        let zero = builder.constant(Constant::zero(ty));
        builder.one(Operation::Compare(Compare::Ne, [value, zero]), Type::Bool)
    }
}
