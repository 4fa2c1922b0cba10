//! Functions of an instance: accesses are checked and go to the context.

use super::super::edit::{Editor, rewrite};
use super::super::unused::drop_unreached;
use super::layout::{Layout, Size, context};
use super::{Numbers, access, order};
use crate::ir::dominance::Dominance;
use crate::ir::{
    Access, Binary, Block, Compare, Function, FunctionId, Instruction, MemoryId, Module, Operation, Space,
    Terminator, Trap, Type, Value,
};
use cranelift_entity::EntityRef;
use std::collections::HashMap;
use wave_isa::table::AtomicOp;

/// Makes the functions of the new module.
pub(super) struct Bodies<'a> {
    pub(super) module: &'a Module,
    pub(super) layout: &'a Layout,
    pub(super) new: &'a Numbers,
    /// The first of the routines of [`super::bulk`].
    pub(super) routines: FunctionId,
}

/// Checks of addresses that are done: the address, and where.
struct Checked {
    dominance: Dominance,
    /// How far above the address memory is known to go, for a memory and an address, from a block on.
    done: HashMap<(MemoryId, Value), Vec<(Block, u64)>>,
    /// Blocks that were there before.
    blocks: usize,
    /// The block whose instructions are looked at.
    block: Block,
}

impl Bodies<'_> {
    /// The function of this number, in the new module.
    pub(super) fn function(&self, id: FunctionId) -> Function {
        let mut function = self.module.functions[id].clone();
        drop_unreached(&mut function);
        let order = order(&function);
        let mut checked = Checked {
            dominance: Dominance::new(&function),
            done: HashMap::new(),
            blocks: function.blocks.len(),
            block: function.entry(),
        };
        let done: Result<(), ()> = rewrite(&mut function, &order, |editor, instruction| {
            if editor.block.index() < checked.blocks {
                checked.block = editor.block;
            }
            self.instruction(editor, instruction, &mut checked);
            Ok(())
        });
        done.expect("it refuses nothing");
        function
    }

    fn is_shared(&self, memory: MemoryId) -> bool {
        self.module.memories[memory].space == Space::Device
    }

    fn instruction(&self, editor: &mut Editor, mut instruction: Instruction, checked: &mut Checked) {
        let set = |editor: &mut Editor, value: Value| editor.replaced.set(instruction.results[0], value);
        match instruction.operation.clone() {
            Operation::Load(access, address) if self.is_shared(access.memory) => {
                self.check(editor, access, address, checked);
                instruction.operation = Operation::Load(self.inside(access), address);
                editor.keep(instruction);
            }
            Operation::Store(access, [address, value]) if self.is_shared(access.memory) => {
                self.check(editor, access, address, checked);
                instruction.operation = Operation::Store(self.inside(access), [address, value]);
                editor.keep(instruction);
            }
            Operation::Atomic(operation, access, _, [address, operand]) if self.is_shared(access.memory) => {
                self.aligned(editor, access, address);
                self.check(editor, access, address, checked);
                let inside = self.inside(access);
                let old = editor.emit(Operation::Load(inside, address), access.ty);
                let operand = truncated(editor, access, operand);
                let new = modified(editor, operation, old, operand);
                editor.put(Operation::Store(inside, [address, new]));
                set(editor, old);
            }
            Operation::CompareExchange(access, _, [address, expected, new])
                if self.is_shared(access.memory) =>
            {
                self.aligned(editor, access, address);
                self.check(editor, access, address, checked);
                let inside = self.inside(access);
                let old = editor.emit(Operation::Load(inside, address), access.ty);
                let same = editor.compare(Compare::Eq, old, expected);
                let new = editor.select(same, new, old);
                editor.put(Operation::Store(inside, [address, new]));
                set(editor, old);
            }
            Operation::Load(mut access, address) => {
                access.memory = self.new.memories[access.memory].expect("all others are there");
                instruction.operation = Operation::Load(access, address);
                editor.keep(instruction);
            }
            Operation::Store(mut access, values) => {
                access.memory = self.new.memories[access.memory].expect("all others are there");
                instruction.operation = Operation::Store(access, values);
                editor.keep(instruction);
            }
            Operation::Atomic(_, ref mut access, ..) | Operation::CompareExchange(ref mut access, ..) => {
                // Of local memory.
                access.memory = self.new.memories[access.memory].expect("all others are there");
                let memory = access.memory;
                if let Operation::Atomic(_, access, ..) | Operation::CompareExchange(access, ..) =
                    &mut instruction.operation
                {
                    access.memory = memory;
                }
                editor.keep(instruction);
            }
            Operation::MemorySize(memory) if self.is_shared(memory) => {
                let size = self.size(editor, memory);
                let pages = self.pages(editor, memory, size);
                set(editor, pages);
            }
            Operation::MemoryGrow(memory, pages) => {
                let before = self.grow(editor, memory, pages);
                set(editor, before);
            }
            Operation::GlobalGet(global) => {
                let id = self.new.globals[global].expect("it is reached");
                instruction.operation = Operation::GlobalGet(id);
                editor.keep(instruction);
            }
            Operation::GlobalSet(global, value) => {
                let id = self.new.globals[global].expect("it is reached");
                let (zero, ty) = (editor.i32(0), editor.ty(value));
                editor.put(Operation::GlobalSet(id, value));
                editor.put(Operation::Store(access(ty, self.layout.globals[&global]), [zero, value]));
            }
            Operation::Call(callee, arguments) => {
                let callee = self.new.functions[callee].expect("it is reached");
                instruction.operation = Operation::Call(callee, arguments);
                editor.keep(instruction);
            }
            Operation::CallIndirect(table, signature, place, arguments) => {
                let results = self.call_indirect(editor, table, signature, place, &arguments);
                for (&old, new) in instruction.results.iter().zip(results) {
                    editor.replaced.set(old, new);
                }
            }
            Operation::MemoryFill(..)
            | Operation::MemoryCopy(..)
            | Operation::MemoryInit(..)
            | Operation::DataDrop(_)
            | Operation::TableCopy(..)
            | Operation::TableInit(..)
            | Operation::ElementsDrop(_) => self.bulk(editor, &instruction.operation),
            Operation::FunctionReference(_)
            | Operation::TableGet(..)
            | Operation::TableSet(..)
            | Operation::TableSize(_)
            | Operation::TableGrow(..)
            | Operation::TableFill(..) => {
                if let Some(value) = self.table(editor, &instruction.operation) {
                    set(editor, value);
                }
            }
            _ => editor.keep(instruction),
        }
    }

    /// The access in the context.
    fn inside(&self, access: Access) -> Access {
        let base = self.layout.memories[&access.memory].base;
        Access { memory: context(), offset: access.offset.wrapping_add(base), ..access }
    }

    /// The bytes of a memory.
    pub(super) fn size(&self, editor: &mut Editor, memory: MemoryId) -> Value {
        let global = self.new.sizes[memory].expect("it is reached");
        editor.emit(Operation::GlobalGet(global), Type::I32)
    }

    /// Traps where an access is not inside its memory, unless that is known.
    fn check(&self, editor: &mut Editor, access: Access, address: Value, checked: &mut Checked) {
        let Size { least, most, .. } = self.layout.memories[&access.memory];
        let end = u64::from(access.offset) + u64::from(access.bytes);
        let done = checked.done.entry((access.memory, address)).or_default();
        let block = checked.block;
        if done.iter().any(|&(by, known)| known >= end && checked.dominance.dominates(by, block)) {
            return;
        }
        done.push((block, end));
        let outside = if end > u64::from(most) {
            editor.constant(Type::Bool, 1)
        } else {
            let size = self.size(editor, access.memory);
            let last = editor.with(Binary::Sub, size, end);
            let above = editor.compare(Compare::GtU, address, last);
            if end <= u64::from(least) {
                above
            } else {
                // The difference is one only where memory goes so far.
                let small = editor.compare_with(Compare::LtU, size, end);
                editor.binary(Binary::Or, small, above)
            }
        };
        editor.leave_if(outside, Terminator::Trap(Trap::MemoryOutOfBounds));
    }

    /// Traps where an atomic access is not aligned.
    fn aligned(&self, editor: &mut Editor, access: Access, address: Value) {
        if access.bytes == 1 {
            return;
        }
        let sum = editor.with(Binary::Add, address, access.offset.into());
        let low = editor.with(Binary::And, sum, u64::from(access.bytes - 1));
        let wrong = editor.compare_with(Compare::Ne, low, 0);
        editor.leave_if(wrong, Terminator::Trap(Trap::Misaligned));
    }

    /// The pages of a memory of so many bytes.
    fn pages(&self, editor: &mut Editor, memory: MemoryId, bytes: Value) -> Value {
        match self.module.memories[memory].page_bytes.trailing_zeros() {
            0 => bytes,
            shift => editor.with(Binary::ShrU, bytes, shift.into()),
        }
    }

    /// Pages before, or -1 where there is no room for so many more. What a memory grows by is zeros: nobody has
    /// written there.
    fn grow(&self, editor: &mut Editor, memory: MemoryId, pages: Value) -> Value {
        let Size { size_at, most, .. } = self.layout.memories[&memory];
        let shift = self.module.memories[memory].page_bytes.trailing_zeros();
        let size = self.size(editor, memory);
        let before = self.pages(editor, memory, size);
        let most_pages = editor.i32(most >> shift);
        let room = editor.binary(Binary::Sub, most_pages, before);
        let fits = editor.compare(Compare::LeU, pages, room);
        let more = if shift == 0 { pages } else { editor.with(Binary::Shl, pages, shift.into()) };
        let grown = editor.binary(Binary::Add, size, more);
        let now = editor.select(fits, grown, size);
        let global = self.new.sizes[memory].expect("it is reached");
        editor.put(Operation::GlobalSet(global, now));
        let zero = editor.i32(0);
        editor.put(Operation::Store(access(Type::I32, size_at), [zero, now]));
        let none = editor.i32(u32::MAX);
        editor.select(fits, before, none)
    }
}

/// The low bytes of an operand of an atomic, as many as memory holds.
fn truncated(editor: &mut Editor, access: Access, value: Value) -> Value {
    if access.bytes == access.ty.bytes() {
        return value;
    }
    editor.with(Binary::And, value, u64::MAX >> (64 - 8 * access.bytes))
}

/// What an atomic leaves in memory.
fn modified(editor: &mut Editor, operation: AtomicOp, old: Value, operand: Value) -> Value {
    let binary = match operation {
        AtomicOp::Add => Binary::Add,
        AtomicOp::Sub => Binary::Sub,
        AtomicOp::Min => Binary::MinU,
        AtomicOp::Max => Binary::MaxU,
        AtomicOp::And => Binary::And,
        AtomicOp::Or => Binary::Or,
        AtomicOp::Xor => Binary::Xor,
        AtomicOp::Exchange | AtomicOp::Cas => return operand,
    };
    editor.binary(binary, old, operand)
}

impl Editor<'_> {
    /// Appends an instruction without results.
    pub(super) fn put(&mut self, operation: Operation) {
        let at = self.at;
        self.keep(Instruction { operation, results: Vec::new(), at });
    }
}
