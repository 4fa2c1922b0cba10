//! Makes a module smaller that shows a failure.

use super::super::dominance::Dominance;
use super::super::verify::verify;
use super::super::{Constant, FunctionId, Module, Operation, Terminator, Trap};

/// A smaller module that still fails, valid like the first one. Instructions become constants or go, branches become
/// jumps, and what control no longer reaches is emptied, as long as `fails` says that the failure is there.
pub fn shrink(module: &Module, mut fails: impl FnMut(&Module) -> bool) -> Module {
    let mut best = module.clone();
    loop {
        let mut smaller = false;
        for id in module.functions.keys() {
            for change in [ends as Pass, instructions as Pass] {
                smaller |= change(&mut best, id, &mut |changed| verify(changed).is_ok() && fails(changed));
            }
        }
        if !smaller {
            return best;
        }
    }
}

/// A way to make a function smaller. Gives true if it has.
type Pass = fn(&mut Module, FunctionId, &mut dyn FnMut(&Module) -> bool) -> bool;

/// Tries a change, and keeps it if the result is good.
fn attempt(
    best: &mut Module,
    is_good: &mut dyn FnMut(&Module) -> bool,
    change: impl FnOnce(&mut Module),
) -> bool {
    let mut changed = best.clone();
    change(&mut changed);
    let better = changed != *best && is_good(&changed);
    if better {
        *best = changed;
    }
    better
}

/// Branches become jumps; blocks that nothing reaches become empty.
fn ends(best: &mut Module, id: FunctionId, is_good: &mut dyn FnMut(&Module) -> bool) -> bool {
    let mut smaller = false;
    let blocks: Vec<_> = best.functions[id].blocks.keys().collect();
    for block in blocks {
        let targets = best.functions[id].blocks[block].terminator.targets().to_vec();
        if targets.len() < 2 {
            continue;
        }
        smaller |= targets.into_iter().any(|target| {
            attempt(best, is_good, |module| {
                module.functions[id].blocks[block].terminator = Terminator::Jump(target);
            })
        });
    }
    smaller | attempt(best, is_good, |module| clear(module, id))
}

/// Empties blocks that nothing reaches.
fn clear(module: &mut Module, id: FunctionId) {
    let function = &mut module.functions[id];
    let dominance = Dominance::new(function);
    for (block, body) in function.blocks.iter_mut() {
        if !dominance.is_reached(block) {
            body.instructions.clear();
            body.terminator = Terminator::Trap(Trap::Unreachable);
        }
    }
}

/// Instructions go, or become constants: first many at once, then one by one.
fn instructions(best: &mut Module, id: FunctionId, is_good: &mut dyn FnMut(&Module) -> bool) -> bool {
    let mut smaller = false;
    let blocks: Vec<_> = best.functions[id].blocks.keys().collect();
    for block in blocks {
        let mut size = best.functions[id].blocks[block].instructions.len();
        while size > 0 {
            let mut at = 0;
            while at < best.functions[id].blocks[block].instructions.len() {
                let end = (at + size).min(best.functions[id].blocks[block].instructions.len());
                let gone = attempt(best, is_good, |module| {
                    module.functions[id].blocks[block].instructions.drain(at..end);
                });
                let simple = !gone && attempt(best, is_good, |module| simplify(module, id, block, at..end));
                smaller |= gone | simple;
                at = if gone { at } else { end };
            }
            size /= 2;
        }
    }
    smaller
}

/// Makes instructions with one result zeros.
fn simplify(module: &mut Module, id: FunctionId, block: super::super::Block, range: std::ops::Range<usize>) {
    let function = &mut module.functions[id];
    for instruction in &mut function.blocks[block].instructions[range] {
        if let [result] = instruction.results[..] {
            instruction.operation = Operation::Constant(Constant::zero(function.values[result]));
        }
    }
}
