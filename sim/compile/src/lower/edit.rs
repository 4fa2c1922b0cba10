//! Rewriting a function instruction by instruction.

use crate::ir::{
    Binary, Block, Compare, Constant, Convert, Function, Instruction, Operation, Place, Target, Terminator,
    Type, Unary, Value,
};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// Values in whose place others come.
#[derive(Debug, Default)]
pub(super) struct Replaced(SecondaryMap<Value, PackedOption<Value>>);

impl Replaced {
    /// Puts `new` in the place of `old`.
    pub(super) fn set(&mut self, old: Value, new: Value) {
        self.0[old] = new.into();
    }

    /// What stands for a value now.
    pub(super) fn get(&self, mut value: Value) -> Value {
        while let Some(other) = self.0[value].expand() {
            value = other;
        }
        value
    }

    /// Puts what stands for them into the operands of an end.
    pub(super) fn apply_to_end(&self, end: &mut Terminator) {
        end.operands_mut().iter_mut().for_each(|value| *value = self.get(*value));
        for target in end.targets_mut() {
            target.arguments.iter_mut().for_each(|value| *value = self.get(*value));
        }
    }

    /// Puts what stands for them into all operands of a function.
    pub(super) fn apply(&self, function: &mut Function) {
        for body in function.blocks.values_mut() {
            for instruction in &mut body.instructions {
                instruction.operation.operands_mut().for_each(|value| *value = self.get(*value));
            }
            self.apply_to_end(&mut body.terminator);
        }
    }
}

/// Instructions of one side of a branch; it gives the values that it brings to the end.
pub(super) type Side<'a> = &'a mut dyn FnMut(&mut Editor<'_>) -> Vec<Value>;

/// A function under change. Instructions go to the end of its current block.
pub(super) struct Editor<'a> {
    /// The function.
    pub(super) function: &'a mut Function,
    /// Where instructions go.
    pub(super) block: Block,
    /// The place that they get.
    pub(super) at: Place,
    /// What stands for values that are no longer defined.
    pub(super) replaced: Replaced,
    /// The constants of 32 bits so far.
    constants: SecondaryMap<Value, Option<u32>>,
}

impl<'a> Editor<'a> {
    /// Appends to a block, whose end the caller sets.
    pub(super) fn at_end(function: &'a mut Function, block: Block, at: Place) -> Editor<'a> {
        Editor { function, block, at, replaced: Replaced::default(), constants: SecondaryMap::new() }
    }
    /// Appends an instruction with one result.
    pub(super) fn emit(&mut self, operation: Operation, ty: Type) -> Value {
        let result = self.function.value(ty);
        self.keep(Instruction { operation, results: vec![result], at: self.at });
        result
    }

    /// Appends an instruction as it is.
    pub(super) fn keep(&mut self, instruction: Instruction) {
        if let Operation::Constant(Constant::I32(bits)) = instruction.operation {
            self.constants[instruction.results[0]] = Some(bits);
        }
        self.function.blocks[self.block].instructions.push(instruction);
    }

    /// Type of a value.
    pub(super) fn ty(&self, value: Value) -> Type {
        self.function.values[value]
    }

    pub(super) fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.emit(Operation::Constant(Constant::from_bits(ty, bits)), ty)
    }

    /// The constant that a value is, if an instruction before says so.
    pub(super) fn known_i32(&self, value: Value) -> Option<u32> {
        self.constants[value]
    }

    pub(super) fn i32(&mut self, bits: u32) -> Value {
        self.constant(Type::I32, bits.into())
    }

    pub(super) fn binary(&mut self, binary: Binary, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.emit(Operation::Binary(binary, [a, b]), ty)
    }

    /// A binary operation with a constant.
    pub(super) fn with(&mut self, binary: Binary, a: Value, bits: u64) -> Value {
        let ty = self.ty(a);
        let b = self.constant(ty, bits);
        self.binary(binary, a, b)
    }

    pub(super) fn unary(&mut self, unary: Unary, a: Value) -> Value {
        let ty = self.ty(a);
        self.emit(Operation::Unary(unary, a), ty)
    }

    pub(super) fn compare(&mut self, compare: Compare, a: Value, b: Value) -> Value {
        self.emit(Operation::Compare(compare, [a, b]), Type::Bool)
    }

    /// A comparison with a constant.
    pub(super) fn compare_with(&mut self, compare: Compare, a: Value, bits: u64) -> Value {
        let ty = self.ty(a);
        let b = self.constant(ty, bits);
        self.compare(compare, a, b)
    }

    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.emit(Operation::Select([condition, a, b]), ty)
    }

    pub(super) fn convert(&mut self, convert: Convert, a: Value) -> Value {
        let ty = convert.result(self.ty(a)).expect("a conversion of a type that it takes");
        self.emit(Operation::Convert(convert, a), ty)
    }

    /// Ends the current block with a branch: where the value is true to a new block with this end, which does not
    /// come back; else on in a new block, the current one from then on.
    pub(super) fn leave_if(&mut self, condition: Value, end: Terminator) {
        let [out, on] = [self.function.block(&[]), self.function.block(&[])];
        self.function.blocks[out].terminator = end;
        self.function.blocks[out].at = self.at;
        let targets = [out, on].map(|block| Target { block, arguments: Vec::new() });
        let body = &mut self.function.blocks[self.block];
        body.terminator = Terminator::Branch(condition, targets);
        body.at = self.at;
        self.block = on;
    }

    /// Ends the current block with a branch to one of two new blocks, which go on in a third one, the current one from
    /// then on. Each side gives the values of these types that it brings there.
    pub(super) fn either(&mut self, condition: Value, types: &[Type], sides: [Side<'_>; 2]) -> Vec<Value> {
        let join = self.function.block(types);
        let before = self.block;
        let targets = sides.map(|side| {
            let block = self.function.block(&[]);
            self.block = block;
            let arguments = side(self);
            let body = &mut self.function.blocks[self.block];
            body.terminator = Terminator::Jump(Target { block: join, arguments });
            body.at = self.at;
            Target { block, arguments: Vec::new() }
        });
        let body = &mut self.function.blocks[before];
        body.terminator = Terminator::Branch(condition, targets);
        body.at = self.at;
        self.block = join;
        self.function.blocks[join].parameters.clone()
    }
}

/// Puts what `make` appends in front of all other instructions of a function. It must not end the block.
pub(super) fn at_start<T>(function: &mut Function, make: impl FnOnce(&mut Editor) -> T) -> T {
    let (block, at) = (function.entry(), function.at);
    let before = function.blocks[block].instructions.len();
    let (replaced, constants) = (Replaced::default(), SecondaryMap::new());
    let made = make(&mut Editor { function, block, at, replaced, constants });
    function.blocks[block].instructions.rotate_left(before);
    made
}

/// Goes through blocks in an order, and calls `each` with every instruction, which it keeps or leaves out. The end of a
/// block goes to the block that is current then.
pub(super) fn rewrite<E>(
    function: &mut Function,
    order: &[Block],
    mut each: impl FnMut(&mut Editor, Instruction) -> Result<(), E>,
) -> Result<(), E> {
    let first = order.first().copied().unwrap_or_else(|| function.entry());
    let (replaced, constants) = (Replaced::default(), SecondaryMap::new());
    let mut editor = Editor { function, block: first, at: Place::default(), replaced, constants };
    for &block in order {
        editor.block = block;
        let body = &mut editor.function.blocks[block];
        let end = std::mem::replace(&mut body.terminator, Terminator::Return(Vec::new()));
        let at = body.at;
        for mut instruction in std::mem::take(&mut body.instructions) {
            editor.at = instruction.at;
            let replaced = &editor.replaced;
            instruction.operation.operands_mut().for_each(|value| *value = replaced.get(*value));
            each(&mut editor, instruction)?;
        }
        let body = &mut editor.function.blocks[editor.block];
        (body.terminator, body.at) = (end, at);
    }
    let Editor { function, replaced, .. } = editor;
    replaced.apply(function);
    Ok(())
}
