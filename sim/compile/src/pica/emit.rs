//! Instructions of the representation, put into a block.

use super::Float;
use crate::ir::{
    Binary, Block, Compare, Constant, Convert, Function, Instruction, Operation, Place, Type, Unary, Value,
};
use fnv::FnvHashMap;

/// Puts instructions into one block of a function after the other.
pub(super) struct Emitter {
    pub(super) function: Function,
    pub(super) block: Block,
    pub(super) at: Place,
    pub(super) float: Float,
    /// Constants of the block.
    constants: FnvHashMap<Constant, Value>,
    /// Instructions so far.
    pub(super) count: usize,
}

impl Emitter {
    pub(super) fn new(function: Function, float: Float) -> Emitter {
        let (block, at) = (function.entry(), function.at);
        Emitter { function, block, at, float, constants: FnvHashMap::default(), count: 0 }
    }

    /// Goes on in another block.
    pub(super) fn switch_to(&mut self, block: Block) {
        self.block = block;
        self.constants.clear();
    }

    /// Adds an instruction without a result.
    pub(super) fn effect(&mut self, operation: Operation) {
        self.push(operation, Vec::new());
    }

    fn push(&mut self, operation: Operation, results: Vec<Value>) {
        let instruction = Instruction { operation, results, at: self.at };
        self.function.blocks[self.block].instructions.push(instruction);
        self.count += 1;
    }

    /// Adds an instruction with a result.
    pub(super) fn emit(&mut self, operation: Operation, ty: Type) -> Value {
        let value = self.function.value(ty);
        self.push(operation, vec![value]);
        value
    }

    pub(super) fn constant(&mut self, constant: Constant) -> Value {
        if let Some(&value) = self.constants.get(&constant) {
            return value;
        }
        let value = self.emit(Operation::Constant(constant), constant.ty());
        self.constants.insert(constant, value);
        value
    }

    pub(super) fn number(&mut self, value: f32) -> Value {
        self.constant(Constant::F32(value.to_bits()))
    }

    pub(super) fn integer(&mut self, value: u32) -> Value {
        self.constant(Constant::I32(value))
    }

    pub(super) fn unary(&mut self, unary: Unary, a: Value) -> Value {
        self.emit(Operation::Unary(unary, a), self.function.values[a])
    }

    pub(super) fn binary(&mut self, binary: Binary, a: Value, b: Value) -> Value {
        self.emit(Operation::Binary(binary, [a, b]), self.function.values[a])
    }

    pub(super) fn compare(&mut self, compare: Compare, a: Value, b: Value) -> Value {
        self.emit(Operation::Compare(compare, [a, b]), Type::Bool)
    }

    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        self.emit(Operation::Select([condition, a, b]), self.function.values[a])
    }

    /// The bits of a float as an integer.
    pub(super) fn bits(&mut self, a: Value) -> Value {
        self.emit(Operation::Convert(Convert::Reinterpret, a), Type::I32)
    }

    pub(super) fn with_bits(&mut self, a: Value) -> Value {
        self.emit(Operation::Convert(Convert::Reinterpret, a), Type::F32)
    }
}
