//! Who calls whom.

use crate::error::{CompileError, Reason};
use crate::ir::{
    BlockBody, Function, FunctionId, Instruction, Module, Operation, Place, Target, Terminator, Value,
};
use cranelift_entity::{EntitySet, SecondaryMap};

/// The functions that a function calls, each as often as it does, with the places of the calls.
pub(super) fn callees(function: &Function) -> impl Iterator<Item = (FunctionId, Place)> + '_ {
    let instructions = function.blocks.values().flat_map(|body: &BlockBody| &body.instructions);
    instructions.filter_map(|instruction: &Instruction| match instruction.operation {
        Operation::Call(callee, _) => Some((callee, instruction.at)),
        _ => None,
    })
}

/// The functions that a run of `entry` may reach, each behind all that it calls; `entry` is the last.
///
/// # Errors
/// A function that calls itself, directly or through others, or a function that is not there.
pub(super) fn bottom_up(module: &Module, entry: FunctionId) -> Result<Vec<FunctionId>, CompileError> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let wrong = |id, place, reason| Err(CompileError::new(module, id, place, reason));
    let Some(first) = module.functions.get(entry) else {
        return wrong(entry, Place::default(), Reason::NoFunction);
    };
    let mut states: SecondaryMap<FunctionId, State> = SecondaryMap::with_default(State::New);
    let mut order = Vec::new();
    states[entry] = State::Open;
    // A function, and the calls that are still to be followed.
    let mut path = vec![(entry, callees(first).collect::<Vec<_>>())];
    while let Some((id, calls)) = path.last_mut() {
        let id = *id;
        let Some((callee, place)) = calls.pop() else {
            states[id] = State::Done;
            order.push(id);
            path.pop();
            continue;
        };
        match states[callee] {
            State::Done => {}
            State::Open => return wrong(id, place, Reason::Recursion(callee)),
            State::New => {
                let Some(function) = module.functions.get(callee) else {
                    return wrong(callee, place, Reason::NoFunction);
                };
                states[callee] = State::Open;
                path.push((callee, callees(function).collect()));
            }
        }
    }
    Ok(order)
}

/// Makes a function that calls another one with its own parameters, and gives the results of that.
pub(super) fn wrapper(module: &mut Module, callee: FunctionId) -> FunctionId {
    let function = &module.functions[callee];
    let (signature, at) = (function.signature.clone(), function.at);
    let mut wrapper = Function::new(function.name.clone(), signature, at);
    let entry = wrapper.entry();
    let arguments = wrapper.blocks[entry].parameters.clone();
    let types = wrapper.signature.results.clone();
    let results: Vec<Value> = types.into_iter().map(|ty| wrapper.value(ty)).collect();
    let body = &mut wrapper.blocks[entry];
    let operation = Operation::Call(callee, arguments);
    body.instructions.push(Instruction { operation, results: results.clone(), at });
    body.terminator = Terminator::Return(results);
    body.at = at;
    module.functions.push(wrapper)
}

/// A copy of a module with these functions; the others only trap. A module of many kernels would be copied for each.
pub(super) fn copy_of(module: &Module, functions: &[FunctionId]) -> Module {
    let mut kept: EntitySet<FunctionId> = EntitySet::new();
    kept.extend(functions.iter().copied());
    let functions = module.functions.iter().map(|(id, function)| match kept.contains(id) {
        true => function.clone(),
        false => Function::new(None, function.signature.clone(), function.at),
    });
    Module {
        functions: functions.collect(),
        signatures: module.signatures.clone(),
        memories: module.memories.clone(),
        tables: module.tables.clone(),
        globals: module.globals.clone(),
        data: module.data.clone(),
        elements: module.elements.clone(),
        exports: Vec::new(),
        start: None,
    }
}

/// Empties the functions that are not in the list; they only trap then. What they call may be called otherwise now.
pub(super) fn keep_only(module: &mut Module, order: &[FunctionId]) {
    let mut kept: EntitySet<FunctionId> = EntitySet::new();
    kept.extend(order.iter().copied());
    for (id, function) in &mut module.functions {
        if !kept.contains(id) {
            let signature = std::mem::take(&mut function.signature);
            *function = Function::new(function.name.take(), signature, function.at);
        }
    }
}

/// Gives a function one return, which all others jump to, and each small block that ends a thread a copy for every
/// jump to it: so nothing but the return follows all of the function.
pub(super) fn one_return(function: &mut Function) {
    let results = function.signature.results.clone();
    let returning: Vec<_> = function
        .blocks
        .iter()
        .filter(|(_, body)| matches!(body.terminator, Terminator::Return(_)))
        .map(|(block, _)| block)
        .collect();
    if returning.len() > 1 {
        let last = function.block(&results);
        let values = function.blocks[last].parameters.clone();
        function.blocks[last].terminator = Terminator::Return(values);
        function.blocks[last].at = function.blocks[returning[0]].at;
        for block in returning {
            let end = &mut function.blocks[block].terminator;
            if let Terminator::Return(values) = end {
                let arguments = std::mem::take(values);
                *end = Terminator::Jump(Target { block: last, arguments });
            }
        }
    }
    let ends: Vec<bool> = function.blocks.values().map(is_small_end).collect();
    for block in function.blocks.keys().collect::<Vec<_>>() {
        let mut end = function.blocks[block].terminator.clone();
        for target in end.targets_mut() {
            if ends.get(target.block.as_u32() as usize) == Some(&true) {
                let copy = function.block(&[]);
                let from = function.blocks[target.block].clone();
                function.blocks[copy].terminator = from.terminator;
                function.blocks[copy].at = from.at;
                target.block = copy;
            }
        }
        function.blocks[block].terminator = end;
    }
}

/// True for a block that does nothing but end the thread.
fn is_small_end(body: &BlockBody) -> bool {
    body.parameters.is_empty()
        && body.instructions.is_empty()
        && matches!(body.terminator, Terminator::Trap(_))
}
