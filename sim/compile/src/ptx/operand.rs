//! Values of operands, and registers that take results.

use super::Wrong;
use super::lexer::Span;
use super::translate::{Done, Translator};
use super::tree::{Operand, OperandKind};
use super::types::{Kind, PtxType};
use crate::ir::{Binary, Constant, Convert, Type, Unary, Value};

impl Translator<'_> {
    /// The value of an operand as a number of a type.
    pub(super) fn read(&mut self, operand: &Operand, ty: PtxType) -> Done<Value> {
        let constant = |bits: u64| Constant::from_bits(ty.ir(), bits);
        match &operand.kind {
            OperandKind::Register(id) => {
                let (name, of) = self.register(*id);
                let value = self.get(self.variable(*id));
                self.fit(value, of, ty).ok_or_else(|| mismatch(operand.at.clone(), name, of, ty))
            }
            OperandKind::Special(name) => {
                let value = self.special(name, &operand.at)?;
                match (self.e.ty(value), ty.ir()) {
                    (from, into) if from == into => Ok(value),
                    (Type::I32, Type::I64) => Ok(self.e.convert(Convert::ExtendU, value)),
                    (Type::I64, Type::I32) => Ok(self.e.convert(Convert::Wrap, value)),
                    _ => Err(Wrong::new(operand.at.clone(), format!("`%{name}` is an integer"))),
                }
            }
            OperandKind::Integer(value) if ty.is_float() => {
                let bits = super::parse::constant(super::lexer::Number::Integer(*value), false, ty);
                Ok(self.e.constant(constant(bits)))
            }
            OperandKind::Integer(value) if ty.kind == Kind::Predicate => Ok(self.e.bool(*value != 0)),
            OperandKind::Integer(value) => Ok(self.e.constant(constant(*value))),
            OperandKind::Single(bits) => {
                let bits = super::parse::constant(super::lexer::Number::Single(*bits), false, ty);
                Ok(self.e.constant(constant(bits)))
            }
            OperandKind::Double(value) => {
                let bits = super::parse::constant(super::lexer::Number::Double(*value), false, ty);
                Ok(self.e.constant(constant(bits)))
            }
            OperandKind::Variable(id, offset) => {
                let of = self.of_frame().function;
                let address = self.places.address(of, *id).ok_or_else(|| {
                    Wrong::new(operand.at.clone(), "the address of this variable is not taken")
                        .hint("access it by its name in brackets")
                })?;
                if !ty.is_integer() || ty.bits < 32 {
                    return Err(Wrong::new(operand.at.clone(), "an address is an integer of 32 or 64 bits"));
                }
                let address = u64::from(address).wrapping_add(*offset as u64);
                Ok(self.e.constant(constant(address)))
            }
            OperandKind::Not(inner) => {
                if ty.kind != Kind::Predicate {
                    return Err(Wrong::new(operand.at.clone(), "`!` negates a predicate"));
                }
                let value = self.read(inner, ty)?;
                Ok(self.e.not(value))
            }
            OperandKind::Name(name) => {
                Err(Wrong::new(operand.at.clone(), format!("nothing is declared with the name `{name}`")))
            }
            _ => Err(Wrong::new(
                operand.at.clone(),
                format!("expected a register or a number of type .{}", ty.name()),
            )),
        }
    }

    /// A value of a register of one type as a number of another of the same size.
    pub(super) fn fit(&mut self, value: Value, from: PtxType, into: PtxType) -> Option<Value> {
        if (from.kind == Kind::Predicate) != (into.kind == Kind::Predicate) || from.bits < into.bits {
            return None;
        }
        match (from.ir(), into.ir()) {
            (a, b) if a == b => Some(value),
            (Type::I32, Type::F32)
            | (Type::F32, Type::I32)
            | (Type::I64, Type::F64)
            | (Type::F64, Type::I64)
                if from.bits == into.bits =>
            {
                Some(self.e.reinterpret(value))
            }
            _ => None,
        }
    }

    /// As [`read`](Self::read), where a register may be wider than the type: its low bits count.
    pub(super) fn read_low(&mut self, operand: &Operand, ty: PtxType) -> Done<Value> {
        if let OperandKind::Register(id) = operand.kind
            && self.register(id).1.bits == 64
            && ty.bits < 64
            && ty.kind != Kind::Predicate
        {
            let value = self.read(operand, PtxType::B64)?;
            let low = self.e.convert(Convert::Wrap, value);
            return Ok(if ty.ir() == Type::F32 { self.e.reinterpret(low) } else { low });
        }
        if let OperandKind::Register(id) = operand.kind
            && self.register(id).1.ir() == Type::F32
            && ty.bits < 32
        {
            return self.read(operand, PtxType::B32);
        }
        self.read(operand, ty)
    }

    /// A result of a type goes to a register of its size.
    pub(super) fn write(&mut self, operand: &Operand, value: Value, ty: PtxType) -> Done {
        let id = match &operand.kind {
            OperandKind::Register(id) => *id,
            OperandKind::Sink => return Ok(()),
            _ => return Err(Wrong::new(operand.at.clone(), "expected a register for the result")),
        };
        let (name, of) = self.register(id);
        let wrong = || mismatch(operand.at.clone(), name, of, ty);
        if (of.kind == Kind::Predicate) != (ty.kind == Kind::Predicate) || of.bits < ty.bits {
            return Err(wrong());
        }
        let value = match (self.e.ty(value), of.ir()) {
            (a, b) if a == b => value,
            (Type::I32, Type::F32)
            | (Type::F32, Type::I32)
            | (Type::I64, Type::F64)
            | (Type::F64, Type::I64) => self.e.reinterpret(value),
            _ => return Err(wrong()),
        };
        self.set(self.variable(id), value);
        Ok(())
    }

    /// As [`write`](Self::write), where a register may be wider than the type: an integer is extended, with its sign if it
    /// has one.
    pub(super) fn write_extended(&mut self, operand: &Operand, value: Value, ty: PtxType) -> Done {
        let OperandKind::Register(id) = operand.kind else { return self.write(operand, value, ty) };
        let of = self.register(id).1;
        if of.bits <= ty.bits || of.kind == Kind::Predicate || ty.kind == Kind::Predicate {
            return self.write(operand, value, ty);
        }
        let bits = match self.e.ty(value) {
            Type::F32 | Type::F64 => self.e.reinterpret(value),
            _ => value,
        };
        let extended = self.extended(bits, ty);
        if of.bits == 64 {
            let convert = if ty.is_signed() { Convert::ExtendS } else { Convert::ExtendU };
            let wide = self.e.convert(convert, extended);
            return self.write(operand, wide, PtxType::B64);
        }
        self.write(operand, extended, PtxType { kind: Kind::Bits, bits: of.bits })
    }

    /// An integer of 8 or 16 bits with its upper bits as its type says; others are as they are.
    pub(super) fn extended(&mut self, value: Value, ty: PtxType) -> Value {
        match (ty.bits, ty.is_signed()) {
            (8, true) => self.e.unary(Unary::Extend8, value),
            (16, true) => self.e.unary(Unary::Extend16, value),
            (8, false) => self.e.with(Binary::And, value, 0xFF),
            (16, false) => self.e.with(Binary::And, value, 0xFFFF),
            _ => value,
        }
    }

    /// An operand as an integer of 32 or 64 bits: a shorter one is extended as its type says.
    pub(super) fn read_integer(&mut self, operand: &Operand, ty: PtxType) -> Done<Value> {
        let value = self.read(operand, ty)?;
        Ok(self.extended(value, ty))
    }

    pub(super) fn refused<T>(&self, at: &Span, message: impl Into<String>, hint: &str) -> Done<T> {
        Err(Wrong::new(at.clone(), message).hint(hint))
    }
}

/// The message about a register of another type.
fn mismatch(at: Span, name: &str, of: PtxType, ty: PtxType) -> Wrong {
    Wrong::new(
        at,
        format!("`{name}` has the type .{}, and a value of type .{} is meant here", of.name(), ty.name()),
    )
    .hint("mov and cvt make a value of another type")
}
