//! Constants, identities, and expressions that were computed before.

mod fold;

pub(crate) use fold::opposite;

use super::edit::Replaced;
use super::{dominance, order};
use crate::ir::{Block, Constant, Function, Instruction, Operation, Target, Terminator, Type, Unary, Value};
use cranelift_entity::SecondaryMap;
use fold::Folded;
use std::collections::HashMap;

/// One walk over the blocks: each operation is folded, or replaced by an equal one that was done before on all ways,
/// or kept. Branches on constants become jumps.
pub(super) fn simplify(function: &mut Function) {
    let dominance = dominance(function);
    let mut known = Known { operations: SecondaryMap::new() };
    let mut replaced = Replaced::default();
    let mut seen: HashMap<(Operation, Type), Vec<(Block, Value)>> = HashMap::new();
    let jumps = jumps(function);
    // Where a truth value is known because a branch on it leads there.
    let mut decided: SecondaryMap<Value, Vec<(Block, bool)>> = SecondaryMap::new();
    for block in order(function) {
        let mut kept = Vec::new();
        for mut instruction in std::mem::take(&mut function.blocks[block].instructions) {
            instruction.operation.operands_mut().for_each(|value| *value = replaced.get(*value));
            let [result] = instruction.results[..] else {
                kept.push(instruction);
                continue;
            };
            let ty = function.values[result];
            // A rewrite may need operations of its own, which are looked at in turn.
            let mut work = vec![(instruction.operation, result)];
            let at = instruction.at;
            while let Some((operation, result)) = work.pop() {
                let ty = if result == instruction.results[0] { ty } else { function.values[result] };
                let operation = match fold::fold(&operation, ty, &known, &function.values) {
                    Folded::Same => operation,
                    Folded::Value(value) => {
                        replaced.set(result, replaced.get(value));
                        continue;
                    }
                    Folded::Constant(bits) => Operation::Constant(Constant::from_bits(ty, bits)),
                    Folded::Operation(operation) => operation,
                    Folded::WithConstant(binary, a, bits) => {
                        let b = function.value(ty);
                        work.push((Operation::Binary(binary, [a, b]), result));
                        work.push((Operation::Constant(Constant::from_bits(ty, bits)), b));
                        continue;
                    }
                    Folded::Outer { inner, ty: inner_ty, outer } => {
                        let value = function.value(inner_ty);
                        work.push((outer(value), result));
                        work.push((inner, value));
                        continue;
                    }
                };
                let mut operation = operation;
                operation.operands_mut().for_each(|value| *value = replaced.get(*value));
                if operation.is_pure() {
                    let equals = seen.entry((operation.clone(), ty)).or_default();
                    let before = equals.iter().find(|(other, _)| dominance.dominates(*other, block));
                    if let Some(&(_, value)) = before {
                        replaced.set(result, value);
                        continue;
                    }
                    equals.push((block, result));
                }
                known.operations[result] = Some(operation.clone());
                kept.push(Instruction { operation, results: vec![result], at });
            }
        }
        let body = &mut function.blocks[block];
        body.instructions = kept;
        replaced.apply_to_end(&mut body.terminator);
        simplify_end(&mut body.terminator, &known);
        if let Terminator::Branch(value, targets) = &body.terminator {
            let known = decided[*value].iter().find(|(other, _)| dominance.dominates(*other, block));
            if let Some(&(_, is_true)) = known {
                body.terminator = Terminator::Jump(targets[usize::from(!is_true)].clone());
            } else {
                for (target, is_true) in targets.iter().zip([true, false]) {
                    if jumps[target.block] == 1 {
                        decided[*value].push((target.block, is_true));
                    }
                }
            }
        }
    }
    replaced.apply(function);
}

/// How many jumps lead to each block.
fn jumps(function: &Function) -> SecondaryMap<Block, u32> {
    let mut jumps = SecondaryMap::new();
    for target in function.blocks.values().flat_map(|body| body.terminator.targets()) {
        jumps[target.block] += 1;
    }
    jumps
}

/// What is known of values: the operations that give them.
pub(super) struct Known {
    operations: SecondaryMap<Value, Option<Operation>>,
}

impl Known {
    fn operation(&self, value: Value) -> Option<&Operation> {
        self.operations[value].as_ref()
    }

    fn constant(&self, value: Value) -> Option<Constant> {
        match self.operation(value) {
            Some(Operation::Constant(constant)) => Some(*constant),
            _ => None,
        }
    }
}

fn simplify_end(end: &mut Terminator, known: &Known) {
    while let Terminator::Branch(value, targets) = end {
        let jump = |target: &Target| Terminator::Jump(target.clone());
        *end = match (known.constant(*value), known.operation(*value)) {
            (Some(constant), _) => jump(&targets[usize::from(constant.bits() == 0)]),
            (_, Some(Operation::Unary(Unary::Not, other))) => {
                Terminator::Branch(*other, [targets[1].clone(), targets[0].clone()])
            }
            _ if targets[0] == targets[1] => jump(&targets[0]),
            _ => return,
        };
    }
    if let Terminator::Switch(value, targets) = end
        && let Some(constant) = known.constant(*value)
    {
        let number = constant.bits().min(targets.len() as u64 - 1) as usize;
        *end = Terminator::Jump(targets[number].clone());
    }
}
