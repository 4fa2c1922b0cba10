//! Global variables become values: each block takes those of its predecessors as parameters.

use super::edit::rewrite;
use crate::ir::{Constant, Function, GlobalId, Instruction, Module, Operation, Value};
use cranelift_entity::SecondaryMap;

/// Every block gets a parameter for each variable that is used; those that are not needed go with the next
/// simplification. The entry sets them to their values at the start.
pub(super) fn to_values(module: &Module, function: &mut Function, initial: &[(GlobalId, Constant)]) {
    let start = |global: GlobalId| {
        let stated = initial.iter().rev().find(|(other, _)| *other == global);
        stated.map_or(module.globals[global].initial, |&(_, constant)| constant)
    };
    let mut used: Vec<GlobalId> = Vec::new();
    for instruction in function.blocks.values().flat_map(|body| &body.instructions) {
        if let Operation::GlobalGet(global) | Operation::GlobalSet(global, _) = instruction.operation
            && !used.contains(&global)
        {
            used.push(global);
        }
    }
    let entry = function.entry();
    let mut first: Vec<Instruction> = Vec::new();
    // The values at the start of each block, and then at its end.
    let mut now: SecondaryMap<crate::ir::Block, Vec<Value>> = SecondaryMap::new();
    for block in function.blocks.keys().collect::<Vec<_>>() {
        for &global in &used {
            let constant = start(global);
            let value = function.value(constant.ty());
            if block == entry {
                let operation = Operation::Constant(constant);
                first.push(Instruction { operation, results: vec![value], at: function.at });
            } else {
                function.blocks[block].parameters.push(value);
            }
            now[block].push(value);
        }
    }
    let instructions = &mut function.blocks[entry].instructions;
    instructions.splice(0..0, first);
    let place = |global: GlobalId| used.iter().position(|&other| other == global).expect("it is used");
    let order: Vec<_> = function.blocks.keys().collect();
    let done: Result<(), ()> = rewrite(function, &order, |editor, instruction| {
        match instruction.operation {
            Operation::GlobalGet(global) => {
                editor.replaced.set(instruction.results[0], now[editor.block][place(global)]);
            }
            Operation::GlobalSet(global, value) => now[editor.block][place(global)] = value,
            _ => editor.keep(instruction),
        }
        Ok(())
    });
    done.expect("it refuses nothing");
    for block in order {
        let values = &now[block];
        for target in function.blocks[block].terminator.targets_mut() {
            target.arguments.extend(values);
        }
    }
}
