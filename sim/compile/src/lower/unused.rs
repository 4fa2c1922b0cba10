//! What nobody reaches or takes goes.

use super::edit::Replaced;
use super::order;
use crate::ir::{Block, Function, Operation, Terminator, Trap, Value};
use cranelift_entity::{EntitySet, SecondaryMap};

/// Empties the blocks that the entry does not reach. They keep their numbers.
pub(super) fn drop_unreached(function: &mut Function) {
    let mut reached: EntitySet<Block> = EntitySet::new();
    for block in order(function) {
        reached.insert(block);
    }
    for (block, body) in function.blocks.iter_mut() {
        if !reached.contains(block) {
            body.parameters.clear();
            body.instructions.clear();
            body.terminator = Terminator::Trap(Trap::Unreachable);
        }
    }
}

/// Drops instructions without an effect whose results nobody takes, and parameters that nobody takes or that have one
/// value whatever the way.
pub(super) fn drop_unused(function: &mut Function) {
    drop_unreached(function);
    while drop_single(function) {}
    let mut needed: EntitySet<Value> = EntitySet::new();
    let mut work: Vec<Value> = Vec::new();
    // Where a value comes from: the operands of its instruction, or the arguments for it.
    let mut from: SecondaryMap<Value, Vec<Value>> = SecondaryMap::new();
    for body in function.blocks.values() {
        for instruction in &body.instructions {
            if may_go(&instruction.operation) {
                from[instruction.results[0]] = instruction.operation.operands().collect();
            } else {
                work.extend(instruction.operation.operands());
            }
        }
        work.extend(body.terminator.operands());
        for target in body.terminator.targets() {
            for (&parameter, &argument) in
                function.blocks[target.block].parameters.iter().zip(&target.arguments)
            {
                from[parameter].push(argument);
            }
        }
    }
    while let Some(value) = work.pop() {
        if needed.insert(value) {
            work.extend(&from[value]);
        }
    }
    let entry = function.entry();
    let mut kept: SecondaryMap<Block, Vec<bool>> = SecondaryMap::new();
    for (block, body) in function.blocks.iter_mut() {
        let is_needed = |value: &Value| block == entry || needed.contains(*value);
        kept[block] = body.parameters.iter().map(is_needed).collect();
        body.parameters.retain(is_needed);
        body.instructions.retain(|one| !may_go(&one.operation) || needed.contains(one.results[0]));
    }
    for body in function.blocks.values_mut() {
        for target in body.terminator.targets_mut() {
            let mut kept = kept[target.block].iter();
            target.arguments.retain(|_| *kept.next().expect("an argument for each parameter"));
        }
    }
}

/// True if an operation may go where nobody takes its result.
fn may_go(operation: &Operation) -> bool {
    operation.is_pure() || matches!(operation, Operation::MemorySize(_))
}

/// Replaces parameters that are the same value on all ways. True if there was one.
fn drop_single(function: &mut Function) -> bool {
    // The one argument so far; two mean more.
    let mut arguments: SecondaryMap<Value, Vec<Value>> = SecondaryMap::new();
    for body in function.blocks.values() {
        for target in body.terminator.targets() {
            for (&parameter, &argument) in
                function.blocks[target.block].parameters.iter().zip(&target.arguments)
            {
                let seen = &mut arguments[parameter];
                if argument != parameter && !seen.contains(&argument) && seen.len() < 2 {
                    seen.push(argument);
                }
            }
        }
    }
    let mut replaced = Replaced::default();
    let mut any = false;
    let mut single: SecondaryMap<Block, Vec<bool>> = SecondaryMap::new();
    let entry = function.entry();
    for (block, body) in function.blocks.iter_mut() {
        let is_single = |value: &Value| block != entry && arguments[*value].len() == 1;
        single[block] = body.parameters.iter().map(is_single).collect();
        for value in body.parameters.extract_if(.., |value| is_single(value)) {
            // An argument may be such a parameter itself. Two that are one another's cannot be: some way leads in.
            let by = replaced.get(arguments[value][0]);
            if by != value {
                replaced.set(value, by);
            }
            any = true;
        }
    }
    for body in function.blocks.values_mut() {
        for target in body.terminator.targets_mut() {
            let mut single = single[target.block].iter();
            target.arguments.retain(|_| !*single.next().expect("an argument for each parameter"));
        }
    }
    replaced.apply(function);
    any
}
