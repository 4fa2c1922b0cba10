//! A function that a decoder makes.

use crate::ir::{
    Block, Constant, Convert, Function, Instruction, Operation, Place, Target, Terminator, Trap, Type, Value,
};
use fnv::FnvHashMap;

/// A function that is being made, instruction by instruction.
#[derive(Debug)]
pub(crate) struct Builder {
    pub(crate) function: Function,
    /// The block to which instructions go.
    pub(crate) block: Block,
    /// The place that they get.
    pub(crate) at: Place,
    /// Blocks that were made since another part of the function began, beside its first.
    pub(crate) blocks: Vec<Block>,
    /// Constants of 32 bits.
    constants: FnvHashMap<Value, u32>,
}

impl Builder {
    pub(crate) fn new(function: Function) -> Builder {
        let (block, at) = (function.entry(), function.at);
        Builder { function, block, at, blocks: Vec::new(), constants: FnvHashMap::default() }
    }

    /// Begins a part of the function with a block.
    pub(crate) fn begin(&mut self, block: Block) {
        self.block = block;
        self.blocks.clear();
    }

    /// Adds an instruction.
    pub(crate) fn emit(&mut self, operation: Operation, results: &[Type]) -> Vec<Value> {
        let results: Vec<Value> = results.iter().map(|&ty| self.function.value(ty)).collect();
        let instruction = Instruction { operation, results: results.clone(), at: self.at };
        self.function.blocks[self.block].instructions.push(instruction);
        results
    }

    /// Adds an instruction with one result.
    pub(crate) fn one(&mut self, operation: Operation, ty: Type) -> Value {
        self.emit(operation, &[ty])[0]
    }

    /// Adds a constant.
    pub(crate) fn constant(&mut self, constant: Constant) -> Value {
        let value = self.one(Operation::Constant(constant), constant.ty());
        if let Constant::I32(bits) = constant {
            self.constants.insert(value, bits);
        }
        value
    }

    /// The constant of 32 bits that a value is.
    pub(crate) fn known(&self, value: Value) -> Option<u32> {
        self.constants.get(&value).copied()
    }

    /// Adds a conversion.
    pub(crate) fn convert(&mut self, convert: Convert, value: Value) -> Value {
        let ty = convert.result(self.function.values[value]).expect("a conversion of a type that it takes");
        self.one(Operation::Convert(convert, value), ty)
    }

    /// Ends the block.
    pub(crate) fn end(&mut self, terminator: Terminator) {
        let body = &mut self.function.blocks[self.block];
        (body.terminator, body.at) = (terminator, self.at);
    }

    /// A new block of this part.
    pub(crate) fn new_block(&mut self) -> Block {
        let block = self.function.block(&[]);
        self.blocks.push(block);
        block
    }

    /// Traps if a truth value is true, and goes on else.
    pub(crate) fn trap_if(&mut self, condition: Value, trap: Trap) {
        let [out, on] = [self.new_block(), self.new_block()];
        self.end(Terminator::Branch(condition, [out, on].map(jump)));
        self.block = out;
        self.end(Terminator::Trap(trap));
        self.block = on;
    }

    /// Does the first operation if a truth value is true, else the second; neither has results.
    pub(crate) fn either(&mut self, condition: Value, operations: [Operation; 2]) {
        let join = self.new_block();
        let sides = [self.new_block(), self.new_block()];
        self.end(Terminator::Branch(condition, sides.map(jump)));
        for (side, operation) in sides.into_iter().zip(operations) {
            self.block = side;
            self.emit(operation, &[]);
            self.end(Terminator::Jump(jump(join)));
        }
        self.block = join;
    }
}

/// A jump without arguments.
pub(crate) fn jump(block: Block) -> Target {
    Target { block, arguments: Vec::new() }
}
