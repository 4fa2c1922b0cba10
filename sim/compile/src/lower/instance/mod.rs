//! Instances: a module becomes one whose memories, tables and global variables are all in the private memory of the
//! thread, so that every lane runs an instance of its own.
//!
//! What a call needs and leaves is in a *context* in private memory, whose places are in a [`Layout`]: how the call
//! ended, arguments and results, sizes and bytes of memories, tables, global variables, segments. The host writes the
//! context of each lane before a launch, from a [`State`], and reads it behind it; so an instance lives on from call to
//! call. Only what the called function reaches is in it.
//!
//! Accesses to memory are checked against the size of the memory, in 33 bits. Sizes and mutable global variables are
//! read when a call begins, as are those of tables that grow; every change is written through to the context. A trap writes its kind and place there
//! ([`Traps`]) and ends its lane.

mod body;
mod bulk;
mod layout;
mod reach;
mod references;
mod state;
mod tables;

pub use layout::{Ended, Lane, Layout};
pub use state::{State, TableState};

use super::{Traps, order};
use crate::error::{CompileError, Reason};
use crate::ir::{
    Access, Constant, Exported, Function, FunctionId, Global, GlobalId, Instruction, Memory, MemoryId,
    Module, Operation, PRIVATE_PAGE_BYTES, Place, Signature, Space, TableId, Terminator, Type, Value,
};
use cranelift_entity::{EntityRef, SecondaryMap};
use layout::{Size, context};

/// How a call in every lane is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceOptions {
    /// The function.
    pub function: FunctionId,
    /// A function that runs before it: the start of the module.
    pub start: Option<FunctionId>,
    /// Pages of 64 KiB up to which each memory may grow, if its module says no less. One that has more does not grow.
    pub most_pages: u64,
    /// Places up to which each table may grow, if its module says no less.
    pub most_places: u64,
    /// Threads of a wave for which there is room, a power of two.
    pub lanes: u32,
}

/// A module for instances.
#[derive(Debug, Clone)]
pub struct Instances {
    /// The module. Its first memory is private, with the context.
    pub module: Module,
    /// The function to be compiled. It has no parameters and no results.
    pub entry: FunctionId,
    /// Where everything is in the private memory.
    pub layout: Layout,
}

impl Instances {
    /// Where its traps go: to the context.
    pub fn traps(&self) -> Traps {
        Traps { memory: context(), address: layout::ENDED }
    }
}

/// Places up to which a table grows where nobody says.
pub const DEFAULT_TABLE_PLACES: u64 = 1 << 10;

/// Bytes of an instance for the frames of each cycle of functions that call one another.
pub const FRAME_BYTES: u32 = 1 << 15;

/// Makes the module in which every lane calls a function of its own instance. Tables hold functions of `module` that
/// its element segments name. The pages of a memory are those that it has when the call begins.
///
/// # Errors
/// A context that is too large, or a function that is not there.
pub fn instances(module: &Module, options: &InstanceOptions) -> Result<Instances, CompileError> {
    let id = options.function;
    let wrong = |reason| CompileError::new(module, id, Place::default(), reason);
    if module.functions.get(id).is_none() {
        return Err(wrong(Reason::NoFunction));
    }
    let reached = reach::reach(module, &[Some(id), options.start]);
    let layout = Layout::new(module, id, &reached, options)
        .map_err(|bytes| wrong(Reason::Private(bytes, options.lanes)))?;
    let mut made = Module::default();
    made.memories.push(Memory::new(
        Space::Private,
        u64::from(layout.bytes).div_ceil(PRIVATE_PAGE_BYTES),
        None,
    ));
    let mut new = Numbers::default();
    // Local memory is that of the workgroup also here.
    for (id, memory) in module.memories.iter().filter(|(_, memory)| memory.space != Space::Device) {
        new.memories[id] = Some(made.memories.push(memory.clone()));
    }
    for (id, global) in module.globals.iter().filter(|(id, _)| reached.globals.contains(*id)) {
        new.globals[id] = Some(made.globals.push(global.clone()));
    }
    for &id in layout.memories.keys() {
        let name = Some(format!("bytes of {id}"));
        let global = Global { name, initial: Constant::I32(0), is_mutable: true };
        new.sizes[id] = Some(made.globals.push(global));
    }
    for (&id, _) in layout.tables.iter().filter(|(_, size)| size.least != size.most) {
        let name = Some(format!("places of {id}"));
        let global = Global { name, initial: Constant::I32(0), is_mutable: true };
        new.places[id] = Some(made.globals.push(global));
    }
    for (number, &id) in reached.functions.iter().enumerate() {
        new.functions[id] = Some(FunctionId::new(number));
    }
    let routines = FunctionId::new(reached.functions.len());
    let bodies = body::Bodies { module, layout: &layout, new: &new, routines };
    for &id in &reached.functions {
        made.functions.push(bodies.function(id));
    }
    for routine in bulk::routines() {
        made.functions.push(routine);
    }
    let entry = made.functions.push(entry(module, &made, options, &layout, &new));
    let name = module.functions[id].name.clone().unwrap_or_else(|| id.to_string());
    made.exports.push((name, Exported::Function(entry)));
    Ok(Instances { module: made, entry, layout })
}

/// Numbers in the new module.
#[derive(Debug, Default)]
struct Numbers {
    functions: SecondaryMap<FunctionId, Option<FunctionId>>,
    memories: SecondaryMap<MemoryId, Option<MemoryId>>,
    globals: SecondaryMap<GlobalId, Option<GlobalId>>,
    /// The global variable with the bytes of a memory.
    sizes: SecondaryMap<MemoryId, Option<GlobalId>>,
    /// The global variable with the places of a table that grows.
    places: SecondaryMap<TableId, Option<GlobalId>>,
}

/// An access to a value of the context.
fn access(ty: Type, offset: u32) -> Access {
    Access { memory: context(), ty, bytes: ty.bytes(), signed: false, offset }
}

/// The function that a lane begins with: it takes over what is in the context, calls, and leaves the results there.
fn entry(
    module: &Module,
    made: &Module,
    options: &InstanceOptions,
    layout: &Layout,
    new: &Numbers,
) -> Function {
    let mut function = Function::new(
        module.functions[options.function].name.clone(),
        Signature::default(),
        module.functions[options.function].at,
    );
    let (block, at) = (function.entry(), function.at);
    let mut emit = |operation: Operation, types: &[Type]| -> Vec<Value> {
        let results: Vec<Value> = types.iter().map(|&ty| function.value(ty)).collect();
        let instruction = Instruction { operation, results: results.clone(), at };
        function.blocks[block].instructions.push(instruction);
        results
    };
    let zero = emit(Operation::Constant(Constant::I32(0)), &[Type::I32])[0];
    for (&memory, &Size { size_at, .. }) in &layout.memories {
        let size = emit(Operation::Load(access(Type::I32, size_at), zero), &[Type::I32])[0];
        emit(Operation::GlobalSet(new.sizes[memory].expect("it was made"), size), &[]);
    }
    for (&table, &Size { size_at, .. }) in &layout.tables {
        let Some(global) = new.places[table] else { continue };
        let places = emit(Operation::Load(access(Type::I32, size_at), zero), &[Type::I32])[0];
        emit(Operation::GlobalSet(global, places), &[]);
    }
    for (&global, &place) in &layout.globals {
        let id = new.globals[global].expect("it is reached");
        let ty = made.globals[id].initial.ty();
        let value = emit(Operation::Load(access(ty, place), zero), &[ty])[0];
        emit(Operation::GlobalSet(id, value), &[]);
    }
    if let Some(start) = options.start {
        emit(Operation::Call(new.functions[start].expect("it is reached"), Vec::new()), &[]);
    }
    let arguments: Vec<Value> = layout
        .arguments
        .iter()
        .map(|&(ty, place)| emit(Operation::Load(access(ty, place), zero), &[ty])[0])
        .collect();
    let types: Vec<Type> = layout.results.iter().map(|&(ty, _)| ty).collect();
    let called = new.functions[options.function].expect("it is reached");
    let results = emit(Operation::Call(called, arguments), &types);
    for (&(ty, place), value) in layout.results.iter().zip(results) {
        emit(Operation::Store(access(ty, place), [zero, value]), &[]);
    }
    let returned = emit(Operation::Constant(Constant::I32(layout::RETURNED)), &[Type::I32])[0];
    emit(Operation::Store(access(Type::I32, layout::ENDED), [zero, returned]), &[]);
    function.blocks[block].terminator = Terminator::Return(Vec::new());
    function.blocks[block].at = at;
    function
}
