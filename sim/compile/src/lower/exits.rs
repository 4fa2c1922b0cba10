//! A function that ends the thread says so to its caller, which ends it: only there all lanes of a wave that are in the
//! function may end without what waits for them.

use super::calls::callees;
use super::edit::rewrite;
use super::order;
use crate::ir::{
    Constant, Function, FunctionId, Instruction, Module, Operation, Place, Terminator, Type, Value,
};
use cranelift_entity::EntitySet;

/// Gives functions that may end the thread another result, true if they did. Each function is behind those that it
/// calls; the last one ends the thread.
pub(super) fn to_results(module: &mut Module, functions: &[FunctionId]) {
    let mut exits: EntitySet<FunctionId> = EntitySet::new();
    for &id in functions {
        let function = &mut module.functions[id];
        if callees(function).any(|(callee, _)| exits.contains(callee)) {
            after_calls(function, &exits);
        }
        let ends = function.blocks.values().any(|body| body.terminator == Terminator::Exit);
        if ends && functions.last() != Some(&id) {
            exits.insert(id);
            say(function);
        }
    }
}

/// Ends the thread behind each call that says so.
fn after_calls(function: &mut Function, exits: &EntitySet<FunctionId>) {
    let order = order(function);
    let done: Result<(), ()> = rewrite(function, &order, |editor, mut instruction| {
        let exit = match &instruction.operation {
            Operation::Call(callee, _) if exits.contains(*callee) => Some(editor.function.value(Type::Bool)),
            _ => None,
        };
        instruction.results.extend(exit);
        editor.keep(instruction);
        if let Some(exit) = exit {
            editor.leave_if(exit, Terminator::Exit);
        }
        Ok(())
    });
    done.expect("it refuses nothing");
}

/// Returns in place of ends of the thread, with the result that says which it is.
fn say(function: &mut Function) {
    let results = function.signature.results.clone();
    function.signature.results.push(Type::Bool);
    for block in function.blocks.keys().collect::<Vec<_>>() {
        let (exits, mut values) = match &function.blocks[block].terminator {
            Terminator::Exit => (true, None),
            Terminator::Return(values) => (false, Some(values.clone())),
            _ => continue,
        };
        let constant = |function: &mut Function, constant: Constant| -> Value {
            let value = function.value(constant.ty());
            let operation = Operation::Constant(constant);
            let instruction = Instruction { operation, results: vec![value], at: Place::default() };
            function.blocks[block].instructions.push(instruction);
            value
        };
        let values = values
            .take()
            .unwrap_or_else(|| results.iter().map(|&ty| constant(function, Constant::zero(ty))).collect());
        let said = constant(function, Constant::Bool(exits));
        let all = values.into_iter().chain([said]).collect();
        function.blocks[block].terminator = Terminator::Return(all);
    }
}
