//! Every block gets what it takes as parameters, so that it does not matter how control came to it.

use crate::ir::{Block, Function, Operation, Terminator, Value};
use cranelift_entity::{EntitySet, SecondaryMap};

/// Changes a function. Blocks with an operation that `takes_frame` or a return take the value `frame` too; the result
/// has what stands for it in those that have it.
pub(super) fn close(
    function: &mut Function,
    frame: Value,
    takes_frame: impl Fn(&Operation) -> bool,
) -> SecondaryMap<Block, Option<Value>> {
    let entry = function.entry();
    let mut defined: SecondaryMap<Block, EntitySet<Value>> = SecondaryMap::new();
    // What is wanted at the start of each block.
    let mut wanted: SecondaryMap<Block, EntitySet<Value>> = SecondaryMap::new();
    for (block, body) in &function.blocks {
        let mut known: EntitySet<Value> = EntitySet::new();
        known.extend(body.parameters.iter().copied());
        let mut take = |known: &EntitySet<Value>, value: Value| {
            if !known.contains(value) {
                wanted[block].insert(value);
            }
        };
        for instruction in &body.instructions {
            instruction.operation.operands().for_each(|value| take(&known, value));
            if takes_frame(&instruction.operation) {
                take(&known, frame);
            }
            known.extend(instruction.results.iter().copied());
        }
        let arguments = body.terminator.targets().iter().flat_map(|target| &target.arguments);
        body.terminator.operands().iter().chain(arguments).for_each(|&value| take(&known, value));
        if matches!(body.terminator, Terminator::Return(_)) {
            take(&known, frame);
        }
        defined[block] = known;
    }
    let blocks: Vec<Block> = function.blocks.keys().collect();
    let mut changed = true;
    while changed {
        changed = false;
        for &block in blocks.iter().rev() {
            for target in function.blocks[block].terminator.targets() {
                let more: Vec<Value> = wanted[target.block]
                    .iter()
                    .filter(|&value| !defined[block].contains(value) && !wanted[block].contains(value))
                    .collect();
                changed |= !more.is_empty();
                wanted[block].extend(more);
            }
        }
    }
    let lists: SecondaryMap<Block, Vec<Value>> = {
        let mut lists = SecondaryMap::new();
        for &block in blocks.iter().filter(|&&block| block != entry) {
            lists[block] = wanted[block].iter().collect();
        }
        lists
    };
    let mut frames: SecondaryMap<Block, Option<Value>> = SecondaryMap::new();
    for &block in &blocks {
        let mut renamed: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
        for &value in &lists[block] {
            let ty = function.values[value];
            let parameter = function.value(ty);
            function.blocks[block].parameters.push(parameter);
            renamed[value] = Some(parameter);
        }
        let new = |value: Value| renamed[value].unwrap_or(value);
        let body = &mut function.blocks[block];
        for instruction in &mut body.instructions {
            instruction.operation.operands_mut().for_each(|value| *value = new(*value));
        }
        body.terminator.operands_mut().iter_mut().for_each(|value| *value = new(*value));
        for target in body.terminator.targets_mut() {
            target.arguments.iter_mut().for_each(|value| *value = new(*value));
            target.arguments.extend(lists[target.block].iter().map(|&value| new(value)));
        }
        frames[block] = if block == entry { Some(frame) } else { renamed[frame] };
    }
    frames
}
