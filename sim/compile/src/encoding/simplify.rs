//! The jumps to the blocks of a function, and the parameters of blocks that it needs not.

use crate::ir::{Block, Function, Value};
use cranelift_entity::SecondaryMap;

/// The jumps to each block: from where, and which of its targets.
pub(crate) fn edges(function: &Function) -> SecondaryMap<Block, Vec<(Block, usize)>> {
    let mut edges: SecondaryMap<Block, Vec<(Block, usize)>> = SecondaryMap::new();
    for (from, body) in function.blocks.iter() {
        for (index, target) in body.terminator.targets().iter().enumerate() {
            edges[target.block].push((from, index));
        }
    }
    edges
}

/// Removes the parameters that always get the same value, and numbers the values in the order of their definitions.
pub(crate) fn simplify(function: &mut Function) {
    let edges = edges(function);
    let mut same: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    let blocks: Vec<Block> = function.blocks.keys().skip(1).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &blocks {
            for index in 0..function.blocks[block].parameters.len() {
                let parameter = function.blocks[block].parameters[index];
                if same[parameter].is_none()
                    && let Some(value) = only_argument(function, &edges[block], &mut same, index, parameter)
                {
                    same[parameter] = Some(value);
                    changed = true;
                }
            }
        }
    }
    for &block in &blocks {
        let kept: Vec<bool> =
            function.blocks[block].parameters.iter().map(|&parameter| same[parameter].is_none()).collect();
        if kept.iter().all(|&kept| kept) {
            continue;
        }
        retain(&mut function.blocks[block].parameters, &kept);
        for &(from, target) in &edges[block] {
            retain(&mut function.blocks[from].terminator.targets_mut()[target].arguments, &kept);
        }
    }
    renumber(function, &mut same);
}

/// The value of a parameter, if it gets only one beside itself.
fn only_argument(
    function: &Function,
    edges: &[(Block, usize)],
    same: &mut SecondaryMap<Value, Option<Value>>,
    index: usize,
    parameter: Value,
) -> Option<Value> {
    let mut only = None;
    for &(from, target) in edges {
        let argument = function.blocks[from].terminator.targets()[target].arguments[index];
        let argument = resolve(same, argument);
        if argument != parameter && *only.get_or_insert(argument) != argument {
            return None;
        }
    }
    only
}

/// The value that stands for another. Shortens the way there.
fn resolve(same: &mut SecondaryMap<Value, Option<Value>>, value: Value) -> Value {
    let mut last = value;
    while let Some(next) = same[last] {
        last = next;
    }
    let mut at = value;
    while at != last {
        let next = same[at].unwrap_or(last);
        same[at] = Some(last);
        at = next;
    }
    last
}

/// Keeps the values that are marked.
fn retain(values: &mut Vec<Value>, kept: &[bool]) {
    let mut kept = kept.iter();
    values.retain(|_| kept.next().copied().unwrap_or(true));
}

/// Numbers the values in the order of their definitions.
fn renumber(function: &mut Function, same: &mut SecondaryMap<Value, Option<Value>>) {
    let mut numbers: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    let mut types = cranelift_entity::PrimaryMap::new();
    for body in function.blocks.values_mut() {
        let results = body.instructions.iter_mut().flat_map(|instruction| instruction.results.iter_mut());
        for value in body.parameters.iter_mut().chain(results) {
            let number = types.push(function.values[*value]);
            numbers[*value] = Some(number);
            *value = number;
        }
    }
    let mut number = |value: &mut Value| {
        let defined = resolve(same, *value);
        *value = numbers[defined].expect("what a block uses is defined");
    };
    for body in function.blocks.values_mut() {
        for instruction in &mut body.instructions {
            instruction.operation.operands_mut().for_each(&mut number);
        }
        body.terminator.operands_mut().iter_mut().for_each(&mut number);
        for target in body.terminator.targets_mut() {
            target.arguments.iter_mut().for_each(&mut number);
        }
    }
    function.values = types;
}
