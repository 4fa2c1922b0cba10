//! Loops with several entries get one: a block that chooses among them by a number.

use crate::ir::{Block, Constant, Function, Instruction, Operation, Target, Terminator, Type, Value};
use crate::lower::{order, switches};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::BTreeSet;

/// Makes the graph reducible. All jumps to an entry of a loop with several then go through one block, which has the
/// number of the entry and the arguments of all entries as parameters. Whatever dominated a block still does: the
/// entries reached one another before, so only blocks before all of them dominated any.
pub(super) fn make_reducible(function: &mut Function) {
    let reached: BTreeSet<Block> = order(function).into_iter().collect();
    let mut work = vec![reached];
    while let Some(blocks) = work.pop() {
        let mut graph = DiGraphMap::<Block, ()>::new();
        for &block in &blocks {
            graph.add_node(block);
            for target in function.blocks[block].terminator.targets() {
                if blocks.contains(&target.block) {
                    graph.add_edge(block, target.block, ());
                }
            }
        }
        for component in tarjan_scc(&graph) {
            if component.len() == 1 {
                continue;
            }
            let inside: BTreeSet<Block> = component.into_iter().collect();
            let entries: BTreeSet<Block> = order(function)
                .into_iter()
                .filter(|block| !inside.contains(block))
                .flat_map(|block| function.blocks[block].terminator.targets())
                .map(|target| target.block)
                .filter(|block| inside.contains(block))
                .collect();
            let mut inner = inside.clone();
            if entries.len() == 1 {
                inner.retain(|block| !entries.contains(block));
            } else {
                dispatch(function, &entries.into_iter().collect::<Vec<_>>());
            }
            work.push(inner);
        }
    }
    switches::to_branches(function);
}

/// Leads all jumps to these blocks through a new one.
fn dispatch(function: &mut Function, entries: &[Block]) {
    let types_of = |function: &Function, block: Block| -> Vec<Type> {
        function.blocks[block].parameters.iter().map(|&value| function.values[value]).collect()
    };
    let types: Vec<Vec<Type>> = entries.iter().map(|&block| types_of(function, block)).collect();
    let all: Vec<Type> = [Type::I32].into_iter().chain(types.iter().flatten().copied()).collect();
    let chooser = function.block(&all);
    for block in function.blocks.keys().collect::<Vec<_>>() {
        if block == chooser {
            continue;
        }
        let mut end = function.blocks[block].terminator.clone();
        let mut constants = Vec::new();
        for target in end.targets_mut() {
            let Some(number) = entries.iter().position(|&entry| entry == target.block) else { continue };
            let mut constant = |function: &mut Function, constant: Constant| -> Value {
                let value = function.value(constant.ty());
                let operation = Operation::Constant(constant);
                constants.push(Instruction {
                    operation,
                    results: vec![value],
                    at: function.blocks[block].at,
                });
                value
            };
            let mut arguments = vec![constant(function, Constant::I32(number as u32))];
            for (other, types) in types.iter().enumerate() {
                if other == number {
                    arguments.extend(&target.arguments);
                } else {
                    arguments.extend(types.iter().map(|&ty| constant(function, Constant::zero(ty))));
                }
            }
            *target = Target { block: chooser, arguments };
        }
        let body = &mut function.blocks[block];
        body.terminator = end;
        body.instructions.append(&mut constants);
    }
    let parameters = function.blocks[chooser].parameters.clone();
    let mut next = 1;
    let mut targets = Vec::new();
    for (&block, types) in entries.iter().zip(&types) {
        targets.push(Target { block, arguments: parameters[next..next + types.len()].to_vec() });
        next += types.len();
    }
    function.blocks[chooser].terminator = Terminator::Switch(parameters[0], targets);
}
