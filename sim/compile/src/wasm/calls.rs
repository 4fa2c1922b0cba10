//! The functions of the module `wave` as operations.

use super::function::Translator;
use super::intrinsics::Action;
use crate::ir::{Access, MemoryId, Operation, Type, Wave};
use wave_isa::Scope;
use wave_isa::table::AtomicOp;

impl Translator<'_> {
    /// Does what a function of the module `wave` does.
    pub(super) fn intrinsic(&mut self, action: Action) {
        match action {
            Action::Special(special) => {
                let value = self.emit_one(Operation::Special(special), Type::I32);
                self.push(value);
            }
            Action::Barrier => _ = self.emit(Operation::Barrier, &[]),
            Action::Fence(order, scope) => _ = self.emit(Operation::Fence(order, scope), &[]),
            Action::LocalLoad(ty, bytes, signed) => {
                let access = Access { memory: self.local_memory(), ty, bytes, signed, offset: 0 };
                let address = self.pop();
                let value = self.emit_one(Operation::Load(access, address), ty);
                self.push(value);
            }
            Action::LocalStore(ty, bytes) => {
                let access = Access { memory: self.local_memory(), ty, bytes, signed: false, offset: 0 };
                let values = self.pop_array();
                self.emit(Operation::Store(access, values), &[]);
            }
            Action::LocalAtomic(op) => self.atomic(op, self.local_memory(), Scope::Workgroup),
            Action::Atomic(op, scope) => self.atomic(op, self.index.device_memory(), scope),
            Action::Wave(wave) => self.wave(wave),
            Action::Unary(unary) => {
                let value = self.pop();
                let value = self.emit_one(Operation::Unary(unary, value), Type::F32);
                self.push(value);
            }
            Action::Binary(binary) => {
                let values = self.pop_array();
                let ty = self.function.values[values[0]];
                let value = self.emit_one(Operation::Binary(binary, values), ty);
                self.push(value);
            }
            Action::Fma(ty) => {
                let values = self.pop_array();
                let value = self.emit_one(Operation::Fma(values), ty);
                self.push(value);
            }
        }
    }

    fn local_memory(&self) -> MemoryId {
        self.index.local_memory.expect("the linker makes it for a module that imports such functions")
    }

    fn atomic(&mut self, op: AtomicOp, memory: MemoryId, scope: Scope) {
        let access = Access { memory, ty: Type::I32, bytes: 4, signed: false, offset: 0 };
        let operation = match op {
            AtomicOp::Cas => Operation::CompareExchange(access, scope, self.pop_array()),
            _ => Operation::Atomic(op, access, scope, self.pop_array()),
        };
        let value = self.emit_one(operation, Type::I32);
        self.push(value);
    }

    fn wave(&mut self, wave: Wave) {
        let (parameters, result) = wave.types();
        let mut values = Vec::with_capacity(parameters.len());
        for &ty in parameters.iter().rev() {
            values.push(if ty == Type::Bool { self.pop_condition() } else { self.pop() });
        }
        values.reverse();
        let value = self.emit_one(Operation::Wave(wave, values), result);
        match result {
            Type::Bool => self.push_condition(value),
            _ => self.push(value),
        }
    }
}
