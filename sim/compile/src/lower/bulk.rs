//! Operations on memory in bulk, and atomic accesses of 8 and 16 bits, become calls of the library.
//!
//! **Bounds.** What is known is that a memory has the bytes that it has at the start. Behind them the last byte of a
//! range is loaded before anything is written: outside of memory that faults. A range without bytes is not looked at in
//! device and local memory, where that byte may be another thread's.
//!
//! **Segments.** A data segment that is not copied at the start lies in device memory, where the caller of the compiler
//! says and puts it. Whether it was dropped, each thread knows of itself.

use super::edit::Editor;
use super::library::{Imports, Routine};
use super::runtime::call_routine;
use crate::error::Reason;
use crate::ir::{
    Access, Binary, Compare, Constant, Convert, DataId, FunctionId, Global, GlobalId, Instruction, MemoryId,
    Module, Operation, Place, Space, Type, Value,
};
use std::collections::BTreeMap;
use wave_isa::Scope;
use wave_isa::table::AtomicOp;

/// What the operations of a module need to know of it.
#[derive(Debug, Default)]
pub(super) struct Bulk {
    /// Bytes that each memory has at least; no more are known.
    sizes: BTreeMap<MemoryId, (u32, Space)>,
    /// The device memory.
    device: Option<MemoryId>,
    /// Where each segment lies, and its bytes; none of those that are copied at the start.
    segments: BTreeMap<DataId, (Option<u32>, u32)>,
    /// Bytes of a segment that are left, for those that may be dropped.
    left: BTreeMap<DataId, GlobalId>,
}

/// True for what this pass replaces.
pub(super) fn is_bulk(operation: &Operation) -> bool {
    match operation {
        Operation::MemoryFill(..)
        | Operation::MemoryCopy(..)
        | Operation::MemoryInit(..)
        | Operation::DataDrop(_) => true,
        Operation::Atomic(_, access, ..) | Operation::CompareExchange(access, ..) => access.bytes < 4,
        _ => false,
    }
}

impl Bulk {
    /// What is known of a module, which gets a global variable for each segment that one of the functions drops.
    pub(super) fn new(module: &mut Module, functions: &[FunctionId], data: &[(DataId, u32)]) -> Bulk {
        let mut bulk = Bulk::default();
        for (id, memory) in &module.memories {
            // Local memory has the bytes that the launch gives it.
            let known = if memory.space == Space::Local { 0 } else { memory.bytes() };
            bulk.sizes.insert(id, (u32::try_from(known).unwrap_or(u32::MAX), memory.space));
            if memory.space == Space::Device {
                bulk.device.get_or_insert(id);
            }
        }
        for (id, segment) in module.data.iter().filter(|(_, segment)| segment.at_start.is_none()) {
            let at = data.iter().find(|(other, _)| *other == id).map(|&(_, address)| address);
            // An empty one lies anywhere.
            let at = at.or(segment.bytes.is_empty().then_some(0));
            bulk.segments.insert(id, (at, segment.bytes.len() as u32));
        }
        let bodies = functions.iter().flat_map(|&id| module.functions[id].blocks.values());
        let dropped = bodies.flat_map(|body| &body.instructions).filter_map(|one| match one.operation {
            Operation::DataDrop(data) => Some(data),
            _ => None,
        });
        for data in dropped.collect::<std::collections::BTreeSet<_>>() {
            let Some(&(_, bytes)) = bulk.segments.get(&data) else { continue };
            let initial = Constant::I32(bytes);
            bulk.left.insert(data, module.globals.push(Global { name: None, initial, is_mutable: true }));
        }
        bulk
    }

    /// Bytes that are in a memory whatever happens, and those that a range must have to be looked at.
    fn bounds(&self, editor: &mut Editor, memory: MemoryId) -> [Value; 2] {
        let (size, space) = self.sizes[&memory];
        [editor.i32(size), editor.i32(u32::from(space != Space::Private))]
    }

    /// Replaces an operation. True if it was one of these.
    pub(super) fn replace(
        &self,
        editor: &mut Editor,
        imports: &mut Imports,
        instruction: &Instruction,
    ) -> Result<bool, (Place, Reason)> {
        if !is_bulk(&instruction.operation) {
            return Ok(false);
        }
        let routine =
            |name, memories: &[MemoryId]| Routine { memories: memories.to_vec(), ..Routine::named(name) };
        match instruction.operation {
            Operation::MemoryFill(memory, operands) => {
                let operands = [&operands[..], &self.bounds(editor, memory)].concat();
                call_routine(editor, imports, &routine("memory_fill", &[memory]), &operands);
            }
            Operation::MemoryCopy([to, from], operands) if to == from => {
                let operands = [&operands[..], &self.bounds(editor, to)].concat();
                call_routine(editor, imports, &routine("memory_copy", &[to, from]), &operands);
            }
            Operation::MemoryCopy([to, from], operands) => {
                let [of_to, of_from] = [to, from].map(|memory| self.bounds(editor, memory));
                let operands = [&operands[..], &of_to, &of_from].concat();
                call_routine(editor, imports, &routine("memory_copy_between", &[to, from]), &operands);
            }
            Operation::MemoryInit(memory, data, operands) => {
                // A segment that was copied at the start is empty.
                let (at, bytes) = self.segments.get(&data).copied().unwrap_or((Some(0), 0));
                let (Some(at), Some(device)) = (at, self.device) else {
                    return Err((instruction.at, Reason::Data(data)));
                };
                let at = editor.i32(at);
                let left = match self.left.get(&data) {
                    Some(&left) => editor.emit(Operation::GlobalGet(left), Type::I32),
                    None => editor.i32(bytes),
                };
                let operands = [&operands[..], &self.bounds(editor, memory), &[at, left]].concat();
                call_routine(editor, imports, &routine("memory_init", &[memory, device]), &operands);
            }
            Operation::DataDrop(data) => {
                if let Some(&left) = self.left.get(&data) {
                    let none = editor.i32(0);
                    let operation = Operation::GlobalSet(left, none);
                    editor.keep(Instruction { operation, results: Vec::new(), at: editor.at });
                }
            }
            Operation::Atomic(operation, access, scope, [address, operand]) => {
                let name = match operation {
                    AtomicOp::Add => "atomic_add",
                    AtomicOp::Sub => "atomic_sub",
                    AtomicOp::Min => "atomic_min",
                    AtomicOp::Max => "atomic_max",
                    AtomicOp::And => "atomic_and",
                    AtomicOp::Or => "atomic_or",
                    AtomicOp::Xor => "atomic_xor",
                    AtomicOp::Exchange | AtomicOp::Cas => "atomic_exchange",
                };
                let operand = word(editor, operand);
                atomic(editor, imports, (name, access, scope), address, &[operand], instruction);
            }
            Operation::CompareExchange(access, scope, [address, expected, new]) => {
                let new = word(editor, new);
                let expected = if access.ty == Type::I64 {
                    // A value with more bits than memory has is not there; one of all ones is none either.
                    let high = editor.with(Binary::ShrU, expected, 32);
                    let fits = editor.compare_with(Compare::Eq, high, 0);
                    let low = editor.convert(Convert::Wrap, expected);
                    let none = editor.i32(u32::MAX);
                    editor.select(fits, low, none)
                } else {
                    expected
                };
                let which = ("atomic_compare_exchange", access, scope);
                atomic(editor, imports, which, address, &[expected, new], instruction);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The low 32 bits of an integer.
fn word(editor: &mut Editor, value: Value) -> Value {
    if editor.ty(value) == Type::I64 { editor.convert(Convert::Wrap, value) } else { value }
}

fn atomic(
    editor: &mut Editor,
    imports: &mut Imports,
    (name, access, scope): (&'static str, Access, Scope),
    address: Value,
    operands: &[Value],
    instruction: &Instruction,
) {
    let routine = Routine { name, memories: vec![access.memory], scope };
    let address = editor.with(Binary::Add, address, access.offset.into());
    let mask = editor.i32((1 << (8 * access.bytes)) - 1);
    let operands = [&[address], operands, &[mask]].concat();
    let mut old = call_routine(editor, imports, &routine, &operands)[0];
    if access.ty == Type::I64 {
        old = editor.convert(Convert::ExtendU, old);
    }
    editor.replaced.set(instruction.results[0], old);
}
