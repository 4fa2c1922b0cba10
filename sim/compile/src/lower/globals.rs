//! Global variables become values: each block takes those of its predecessors as parameters, a function takes those
//! that it or what it calls may use from its caller, and gives those back that it or what it calls may set.

use super::calls::callees;
use super::edit::rewrite;
use crate::ir::{
    Block, Constant, Function, FunctionId, GlobalId, Instruction, Module, Operation, Terminator, Value,
};
use cranelift_entity::{EntityRef, SecondaryMap};
use std::collections::BTreeSet;

/// The variables that matter to a function.
#[derive(Clone, Default)]
struct Used {
    /// Those that it or what it calls reads or sets.
    all: BTreeSet<GlobalId>,
    /// Those that it or what it calls sets.
    set: BTreeSet<GlobalId>,
}

/// Changes these functions, each of which is behind those that it calls. The last one sets the variables to their
/// values at the start: those given, or those of the module.
pub(super) fn to_values(module: &mut Module, order: &[FunctionId], initial: &[(GlobalId, Constant)]) {
    let start = |module: &Module, global: GlobalId| {
        let stated = initial.iter().rev().find(|(other, _)| *other == global);
        stated.map_or(module.globals[global].initial, |&(_, constant)| constant)
    };
    let starts: Vec<Constant> = module.globals.keys().map(|global| start(module, global)).collect();
    let instructions = order.iter().flat_map(|&id| module.functions[id].blocks.values());
    let varies: BTreeSet<GlobalId> = instructions
        .flat_map(|body| &body.instructions)
        .filter_map(|instruction| match instruction.operation {
            Operation::GlobalSet(global, _) => Some(global),
            _ => None,
        })
        .collect();
    let mut used: SecondaryMap<FunctionId, Used> = SecondaryMap::new();
    for &id in order {
        let function = &mut module.functions[id];
        let mut of = Used::default();
        for instruction in function.blocks.values_mut().flat_map(|body| &mut body.instructions) {
            match instruction.operation {
                Operation::GlobalGet(global) if !varies.contains(&global) => {
                    instruction.operation = Operation::Constant(starts[global.index()]);
                }
                Operation::GlobalGet(global) => {
                    of.all.insert(global);
                }
                Operation::GlobalSet(global, _) => {
                    of.all.insert(global);
                    of.set.insert(global);
                }
                _ => {}
            }
        }
        for (callee, _) in callees(function) {
            let below = used[callee].clone();
            of.all.extend(below.all);
            of.set.extend(below.set);
        }
        used[id] = of;
        if !used[id].all.is_empty() {
            let is_first = order.last() == Some(&id);
            change(&mut module.functions[id], &used, id, is_first, &starts);
        }
    }
}

/// Changes one function; that where a run begins sets the variables to their values at the start.
fn change(
    function: &mut Function,
    used: &SecondaryMap<FunctionId, Used>,
    id: FunctionId,
    is_first: bool,
    starts: &[Constant],
) {
    let own: Vec<GlobalId> = used[id].all.iter().copied().collect();
    let given: &BTreeSet<GlobalId> = &used[id].set;
    let entry = function.entry();
    let mut first: Vec<Instruction> = Vec::new();
    // The values at the start of each block, and then at its end.
    let mut now: SecondaryMap<Block, Vec<Value>> = SecondaryMap::new();
    for block in function.blocks.keys().collect::<Vec<_>>() {
        for &global in &own {
            let constant = starts[global.index()];
            let value = function.value(constant.ty());
            if block == entry && is_first {
                let operation = Operation::Constant(constant);
                first.push(Instruction { operation, results: vec![value], at: function.at });
            } else {
                function.blocks[block].parameters.push(value);
            }
            now[block].push(value);
        }
    }
    function.blocks[entry].instructions.splice(0..0, first);
    let types = |globals: &mut dyn Iterator<Item = &GlobalId>| -> Vec<_> {
        globals.map(|global| starts[global.index()].ty()).collect()
    };
    if !is_first {
        function.signature.parameters.extend(types(&mut own.iter()));
        function.signature.results.extend(types(&mut given.iter()));
    }
    let place = |global: GlobalId| own.binary_search(&global).expect("it is used");
    let order: Vec<_> = function.blocks.keys().collect();
    let done: Result<(), ()> = rewrite(function, &order, |editor, mut instruction| {
        let values = &mut now[editor.block];
        match &mut instruction.operation {
            Operation::GlobalGet(global) => {
                editor.replaced.set(instruction.results[0], values[place(*global)]);
                return Ok(());
            }
            Operation::GlobalSet(global, value) => {
                values[place(*global)] = *value;
                return Ok(());
            }
            Operation::Call(callee, arguments) => {
                arguments.extend(used[*callee].all.iter().map(|&global| values[place(global)]));
                for &global in &used[*callee].set {
                    let value = editor.function.value(starts[global.index()].ty());
                    instruction.results.push(value);
                    values[place(global)] = value;
                }
            }
            _ => {}
        }
        editor.keep(instruction);
        Ok(())
    });
    done.expect("it refuses nothing");
    for block in order {
        let values = &now[block];
        let end = &mut function.blocks[block].terminator;
        for target in end.targets_mut() {
            target.arguments.extend(values);
        }
        if let Terminator::Return(results) = end
            && !is_first
        {
            results.extend(given.iter().map(|&global| values[place(global)]));
        }
    }
}
