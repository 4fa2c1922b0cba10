//! What the machine has no instructions for becomes calls of the runtime library.
//!
//! After it, reachable functions have no `f64`, whose values are the `i64` of their bits, no divisions of 64 bits, no
//! operations on memory in bulk, and no atomic accesses of 8 and 16 bits.
//! Signatures, global variables and constants change with them, so an `f64` argument is two words, low half first.

use super::bulk::{Bulk, is_bulk};
use super::doubles::Doubles;
use super::edit::{Editor, rewrite};
use super::library::{Imports, Routine};
use super::{LowerOptions, checks, clean, order};
use crate::error::{CompileError, Reason};
use crate::ir::{
    Binary, Constant, Function, FunctionId, Instruction, Module, Operation, Place, Signature, Type, Value,
};
use cranelift_entity::EntitySet;
use std::borrow::Cow;

/// The module with calls of the library in the functions that the entry reaches. It is the same one if they need none.
///
/// # Errors
/// A data segment of which nobody says where it lies.
pub(super) fn with_library<'a>(
    module: &'a Module,
    entry: FunctionId,
    options: &LowerOptions,
) -> Result<Cow<'a, Module>, CompileError> {
    let reached = reached(module, entry);
    let needing: Vec<FunctionId> = reached.into_iter().filter(|&id| needs(&module.functions[id])).collect();
    if needing.is_empty() {
        return Ok(Cow::Borrowed(module));
    }
    let mut module = module.clone();
    let mut imports = Imports::new(module.functions.len());
    let bulk = Bulk::new(&mut module, &needing, &options.data);
    for id in needing {
        let changed = function(&mut module.functions[id], &mut imports, &bulk, options);
        changed.map_err(|(place, reason)| CompileError::new(&module, id, place, reason))?;
    }
    for function in imports.functions {
        module.functions.push(function);
    }
    module.signatures.values_mut().for_each(signature);
    for global in module.globals.values_mut() {
        global.initial = as_integer(global.initial);
    }
    Ok(Cow::Owned(module))
}

/// A constant as what stands for it: an `f64` as its bits.
pub(super) fn as_integer(constant: Constant) -> Constant {
    match constant {
        Constant::F64(bits) => Constant::I64(bits),
        other => other,
    }
}

/// The functions that the entry calls, directly or through others. What is in a table may be called.
pub(crate) fn reached(module: &Module, entry: FunctionId) -> Vec<FunctionId> {
    let mut seen: EntitySet<FunctionId> = EntitySet::new();
    let mut work = vec![entry];
    let mut all = Vec::new();
    while let Some(id) = work.pop() {
        let Some(function) = module.functions.get(id).filter(|_| seen.insert(id)) else { continue };
        all.push(id);
        for instruction in function.blocks.values().flat_map(|body| &body.instructions) {
            match &instruction.operation {
                Operation::Call(callee, _) => work.push(*callee),
                Operation::CallIndirect(..) => {
                    work.extend(module.elements.values().flat_map(|elements| &elements.functions).flatten());
                }
                _ => {}
            }
        }
    }
    all
}

/// True if a function has something that the library is for.
fn needs(function: &Function) -> bool {
    let is_wide_division = |instruction: &Instruction| match &instruction.operation {
        Operation::Binary(binary, [a, _]) => binary.traps() && function.values[*a] == Type::I64,
        _ => false,
    };
    let mut instructions = function.blocks.values().flat_map(|body| &body.instructions);
    function.values.values().any(|&ty| ty == Type::F64)
        || instructions.any(|one| is_wide_division(one) || is_bulk(&one.operation))
}

fn signature(signature: &mut Signature) {
    for ty in signature.parameters.iter_mut().chain(&mut signature.results) {
        integer(ty);
    }
}

/// The type that stands for a type.
fn integer(ty: &mut Type) {
    if *ty == Type::F64 {
        *ty = Type::I64;
    }
}

fn function(
    function: &mut Function,
    imports: &mut Imports,
    bulk: &Bulk,
    options: &LowerOptions,
) -> Result<(), (Place, Reason)> {
    // Calls are neither folded nor dropped, so that comes first.
    clean(function);
    checks::explicit(function, |ty| matches!(ty, Type::I64 | Type::F64));
    let types = function.values.clone();
    function.values.values_mut().for_each(integer);
    signature(&mut function.signature);
    let order = order(function);
    let has_instructions = options.f64_instructions;
    rewrite(function, &order, |editor, mut instruction| {
        if let Operation::Binary(binary, operands) = instruction.operation
            && binary.traps()
            && types[instruction.results[0]] == Type::I64
        {
            let value = divide(editor, imports, binary, operands);
            editor.replaced.set(instruction.results[0], value);
            return Ok(());
        }
        if bulk.replace(editor, imports, &instruction)? {
            return Ok(());
        }
        let mut doubles = Doubles { editor, imports, types: &types, has_instructions };
        if let Some(value) = doubles.replace(&instruction) {
            editor.replaced.set(instruction.results[0], value);
            return Ok(());
        }
        match &mut instruction.operation {
            Operation::Load(access, _) | Operation::Store(access, _) => integer(&mut access.ty),
            Operation::Constant(constant) => *constant = as_integer(*constant),
            _ => {}
        }
        editor.keep(instruction);
        Ok(())
    })
}

/// Calls a function of the library.
pub(super) fn call(
    editor: &mut Editor,
    imports: &mut Imports,
    name: &'static str,
    operands: &[Value],
) -> Vec<Value> {
    call_routine(editor, imports, &Routine::named(name), operands)
}

/// As [`call`], of a function that accesses memories.
pub(super) fn call_routine(
    editor: &mut Editor,
    imports: &mut Imports,
    routine: &Routine,
    operands: &[Value],
) -> Vec<Value> {
    let id = imports.function(routine);
    let results: Vec<Value> =
        Imports::results(routine.name).iter().map(|&ty| editor.function.value(ty)).collect();
    let operation = Operation::Call(id, operands.to_vec());
    editor.keep(Instruction { operation, results: results.clone(), at: editor.at });
    results
}

/// A division of 64 bits.
fn divide(editor: &mut Editor, imports: &mut Imports, binary: Binary, operands: [Value; 2]) -> Value {
    let is_signed = matches!(binary, Binary::DivS | Binary::RemS);
    let is_quotient = matches!(binary, Binary::DivS | Binary::DivU);
    let name = if is_signed { "divide_i64" } else { "divide_u64" };
    call(editor, imports, name, &operands)[usize::from(!is_quotient)]
}
