//! Blocks that belong together, and branches that only choose values.

use super::edit::Replaced;
use super::order;
use crate::ir::{Block, Function, Instruction, Operation, Target, Terminator, Value};
use cranelift_entity::SecondaryMap;

/// Joins each block with the only one that jumps to it, leads jumps to empty blocks on to where those jump, and makes
/// selections of branches both of whose sides lead to one block at once. True if anything changed.
pub(super) fn merge(function: &mut Function) -> bool {
    let mut changed = thread(function);
    changed |= select(function);
    changed |= join(function);
    changed
}

/// Leads jumps past blocks that do nothing.
fn thread(function: &mut Function) -> bool {
    let mut changed = false;
    for block in order(function) {
        let mut end = function.blocks[block].terminator.clone();
        for target in end.targets_mut() {
            // An empty loop has no end.
            for _ in 0..function.blocks.len() {
                let next = &function.blocks[target.block];
                let Terminator::Jump(on) = &next.terminator else { break };
                if !next.instructions.is_empty() || !next.parameters.is_empty() || on.block == target.block {
                    break;
                }
                *target = on.clone();
                changed = true;
            }
        }
        function.blocks[block].terminator = end;
    }
    changed
}

/// Most values that a branch chooses to become selections.
const MOST_SELECTIONS: usize = 4;

/// Branches whose sides differ in arguments only.
fn select(function: &mut Function) -> bool {
    let mut changed = false;
    for block in order(function) {
        let at = function.blocks[block].at;
        let Terminator::Branch(condition, [yes, no]) = &function.blocks[block].terminator else { continue };
        let differ = yes.arguments.iter().zip(&no.arguments).filter(|(a, b)| a != b).count();
        if yes.block != no.block || differ > MOST_SELECTIONS {
            continue;
        }
        let (condition, yes, no) = (*condition, yes.clone(), no.clone());
        let mut arguments = Vec::new();
        for (&a, &b) in yes.arguments.iter().zip(&no.arguments) {
            if a == b {
                arguments.push(a);
                continue;
            }
            let value = function.value(function.values[a]);
            let operation = Operation::Select([condition, a, b]);
            function.blocks[block].instructions.push(Instruction { operation, results: vec![value], at });
            arguments.push(value);
        }
        function.blocks[block].terminator = Terminator::Jump(Target { block: yes.block, arguments });
        changed = true;
    }
    changed
}

/// Joins blocks in a row.
fn join(function: &mut Function) -> bool {
    let mut jumps: SecondaryMap<Block, u32> = SecondaryMap::new();
    let order = order(function);
    for &block in &order {
        for target in function.blocks[block].terminator.targets() {
            jumps[target.block] += 1;
        }
    }
    let mut replaced = Replaced::default();
    let mut gone: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut changed = false;
    for &block in &order {
        if gone[block] {
            continue;
        }
        while let Terminator::Jump(target) = &function.blocks[block].terminator {
            if jumps[target.block] != 1 || target.block == block {
                break;
            }
            let target = target.clone();
            let next = &mut function.blocks[target.block];
            let parameters: Vec<Value> = std::mem::take(&mut next.parameters);
            let mut instructions = std::mem::take(&mut next.instructions);
            let end = std::mem::replace(&mut next.terminator, Terminator::Trap(crate::ir::Trap::Unreachable));
            let at = next.at;
            for (parameter, argument) in parameters.into_iter().zip(target.arguments) {
                replaced.set(parameter, replaced.get(argument));
            }
            gone[target.block] = true;
            let body = &mut function.blocks[block];
            body.instructions.append(&mut instructions);
            (body.terminator, body.at) = (end, at);
            changed = true;
        }
    }
    replaced.apply(function);
    changed
}
