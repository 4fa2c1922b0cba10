//! Switches become balanced branches.

use crate::ir::{
    Block, Compare, Constant, Function, Instruction, Operation, Target, Terminator, Type, Value,
};

/// Replaces every switch by comparisons of its number, as few as a balanced tree needs.
pub(super) fn to_branches(function: &mut Function) {
    for block in function.blocks.keys().collect::<Vec<_>>() {
        let body = &mut function.blocks[block];
        if let Terminator::Switch(value, targets) = &mut body.terminator {
            let (value, targets) = (*value, std::mem::take(targets));
            tree(function, block, value, 0, &targets);
        }
    }
}

/// Ends a block with the choice among targets whose first has this number.
fn tree(function: &mut Function, block: Block, value: Value, first: u32, targets: &[Target]) {
    if targets.iter().all(|target| *target == targets[0]) {
        function.blocks[block].terminator = Terminator::Jump(targets[0].clone());
        return;
    }
    let (low, high) = targets.split_at(targets.len() / 2);
    let middle = first + low.len() as u32;
    let [number, condition] = [function.value(Type::I32), function.value(Type::Bool)];
    let at = function.blocks[block].at;
    let sides = [(first, low), (middle, high)].map(|(first, targets)| {
        if targets.iter().all(|target| *target == targets[0]) {
            return targets[0].clone();
        }
        let side = function.block(&[]);
        function.blocks[side].at = at;
        tree(function, side, value, first, targets);
        Target { block: side, arguments: Vec::new() }
    });
    let body = &mut function.blocks[block];
    let constant = Operation::Constant(Constant::I32(middle));
    let compare = Operation::Compare(Compare::LtU, [value, number]);
    body.instructions.push(Instruction { operation: constant, results: vec![number], at });
    body.instructions.push(Instruction { operation: compare, results: vec![condition], at });
    body.terminator = Terminator::Branch(condition, sides);
}
