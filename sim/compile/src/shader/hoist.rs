//! What a loop computes anew at each turn though it is always the same is computed before it.

use crate::ir::dominance::Dominance;
use crate::ir::{Block, Function, Instruction, Operation, Value};
use cranelift_entity::{EntitySet, SecondaryMap};

/// Most values that are computed before one loop: each takes a register in all of it.
const MOST_HOISTED: usize = 24;

/// A loop: its head, the blocks in it, and the only block outside from which control comes.
struct Loop {
    blocks: EntitySet<Block>,
    size: usize,
    before: Block,
}

/// Moves what is the same at each turn of a loop in front of it, from the inner loops to the outer ones.
pub(super) fn hoist(function: &mut Function) {
    let mut loops = loops(function);
    loops.sort_by_key(|one| one.size);
    for one in &loops {
        let mut inside: EntitySet<Value> = EntitySet::new();
        for (block, body) in function.blocks.iter().filter(|(block, _)| one.blocks.contains(*block)) {
            debug_assert!(one.blocks.contains(block));
            body.parameters.iter().for_each(|&value| {
                inside.insert(value);
            });
            body.instructions.iter().flat_map(|one| &one.results).for_each(|&value| {
                inside.insert(value);
            });
        }
        let mut hoisted: Vec<Instruction> = Vec::new();
        let mut changed = true;
        while changed {
            changed = false;
            for block in
                function.blocks.keys().filter(|&block| one.blocks.contains(block)).collect::<Vec<_>>()
            {
                let kept = std::mem::take(&mut function.blocks[block].instructions).into_iter();
                let kept = kept.filter_map(|instruction| {
                    let is_same = may_move(&instruction.operation)
                        && !instruction.operation.operands().any(|value| inside.contains(value));
                    if !is_same || hoisted.len() >= MOST_HOISTED {
                        return Some(instruction);
                    }
                    instruction.results.iter().for_each(|&value| {
                        inside.remove(value);
                    });
                    hoisted.push(instruction);
                    changed = true;
                    None
                });
                let kept = kept.collect();
                function.blocks[block].instructions = kept;
            }
        }
        function.blocks[one.before].instructions.append(&mut hoisted);
    }
}

/// True for what may be computed earlier than the program says, and is worth a register. Comparisons are not: they are made
/// anew where they are taken.
fn may_move(operation: &Operation) -> bool {
    operation.is_pure() && !matches!(operation, Operation::Compare(..) | Operation::Constant(_))
}

/// The loops of a function that are entered from one block, which goes nowhere else.
fn loops(function: &Function) -> Vec<Loop> {
    let dominance = Dominance::new(function);
    let mut sources: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for (block, body) in function.blocks.iter().filter(|(block, _)| dominance.is_reached(*block)) {
        for target in body.terminator.targets() {
            sources[target.block].push(block);
        }
    }
    let mut loops = Vec::new();
    for head in function.blocks.keys() {
        let (back, outside): (Vec<Block>, Vec<Block>) =
            sources[head].iter().partition(|&&from| dominance.dominates(head, from));
        let [before] = outside[..] else { continue };
        if back.is_empty() || function.blocks[before].terminator.targets().len() != 1 {
            continue;
        }
        let mut blocks: EntitySet<Block> = EntitySet::new();
        blocks.insert(head);
        let mut size = 1;
        let mut work = back;
        while let Some(block) = work.pop() {
            if blocks.insert(block) {
                size += 1;
                work.extend(&sources[block]);
            }
        }
        loops.push(Loop { blocks, size, before });
    }
    loops
}
