//! Indirect calls become a choice among the functions that can be in the table.

use super::edit::Editor;
use crate::error::{CompileError, Reason};
use crate::ir::{
    Block, Compare, Function, FunctionId, Instruction, Module, Operation, Place, TableId, Target, Terminator,
    Trap, Value,
};
use cranelift_entity::SecondaryMap;

/// What an indirect call finds at one place of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Case {
    /// No function.
    Null,
    /// A function with another signature.
    Mismatch,
    /// A function to call.
    Call(FunctionId),
}

/// Replaces the indirect calls of these functions. The tables must be those of the start: no function changes them.
///
/// # Errors
/// A module that changes a table.
pub(super) fn expand(module: &mut Module, functions: &[FunctionId]) -> Result<(), CompileError> {
    let tables = contents(module);
    let signatures: Vec<_> = module.functions.values().map(|function| function.signature.clone()).collect();
    let case_of = |function: Option<FunctionId>, signature: &crate::ir::Signature| match function {
        None => Case::Null,
        Some(id) if signatures[id.as_u32() as usize] == *signature => Case::Call(id),
        Some(_) => Case::Mismatch,
    };
    let changed = changed_tables(module, functions);
    for &id in functions {
        let mut work: Vec<Block> = module.functions[id].blocks.keys().collect();
        while let Some(block) = work.pop() {
            let mut instructions = module.functions[id].blocks[block].instructions.iter().enumerate();
            let found = instructions.find_map(|(number, one)| match &one.operation {
                Operation::CallIndirect(table, signature, place, _) => {
                    Some((number, *table, *signature, *place))
                }
                _ => None,
            });
            let Some((number, table, signature, place)) = found else { continue };
            if let Some((user, at)) = changed[table] {
                return Err(CompileError::new(module, user, at, Reason::Operation("a change of a table")));
            }
            let signature = &module.signatures[signature];
            let cases: Vec<Case> =
                tables[table].iter().map(|&function| case_of(function, signature)).collect();
            let places = module.tables[table].places.min(u32::MAX.into()) as u32;
            let function = &mut module.functions[id];
            let end = Bound { place, places };
            work.push(choose(function, block, number, end, &cases));
        }
    }
    Ok(())
}

/// The functions of each table at the start, up to the last that is there.
fn contents(module: &Module) -> SecondaryMap<TableId, Vec<Option<FunctionId>>> {
    let mut tables: SecondaryMap<TableId, Vec<Option<FunctionId>>> = SecondaryMap::new();
    for elements in module.elements.values() {
        let Some((table, start)) = elements.at_start else { continue };
        let places = &mut tables[table];
        let end = start as usize + elements.functions.len();
        if end as u64 > module.tables[table].places {
            continue;
        }
        if places.len() < end {
            places.resize(end, None);
        }
        places[start as usize..end].copy_from_slice(&elements.functions);
    }
    tables
}

/// Tables that one of these functions changes, and where.
fn changed_tables(
    module: &Module,
    functions: &[FunctionId],
) -> SecondaryMap<TableId, Option<(FunctionId, Place)>> {
    let mut changed = SecondaryMap::new();
    for &id in functions {
        let function = &module.functions[id];
        for instruction in function.blocks.values().flat_map(|body| &body.instructions) {
            if let Operation::TableCopy([table, _], _)
            | Operation::TableInit(table, ..)
            | Operation::TableSet(table, _)
            | Operation::TableGrow(table, _)
            | Operation::TableFill(table, _) = instruction.operation
            {
                changed[table] = Some((id, instruction.at));
            }
        }
    }
    changed
}

/// The end of a table.
struct Bound {
    /// The place that is called.
    place: Value,
    /// Places of the table.
    places: u32,
}

/// Puts a choice in the place of the indirect call of this number: the case of that place, a null where there is none.
/// A place past the end traps before. Gives the block behind the call.
fn choose(function: &mut Function, block: Block, number: usize, bound: Bound, cases: &[Case]) -> Block {
    let mut rest = function.blocks[block].instructions.split_off(number);
    let call = rest.remove(0);
    let Operation::CallIndirect(_, _, _, arguments) = call.operation else {
        unreachable!("the instruction of this number is an indirect call")
    };
    let types: Vec<_> = call.results.iter().map(|&value| function.values[value]).collect();
    let after = function.block(&[]);
    let body = &mut function.blocks[block];
    let (end, at) = (std::mem::replace(&mut body.terminator, Terminator::Return(Vec::new())), body.at);
    let behind = &mut function.blocks[after];
    (behind.parameters, behind.instructions, behind.terminator, behind.at) = (call.results, rest, end, at);

    let mut editor = Editor::at_end(function, block, call.at);
    let past = editor.compare_with(Compare::GeU, bound.place, bound.places.into());
    editor.leave_if(past, Terminator::Trap(Trap::UndefinedElement));
    let block = editor.block;
    let mut made: Vec<(Case, Block)> = Vec::new();
    let mut target = |function: &mut Function, case: Case| -> Target {
        let known = made.iter().find(|(other, _)| *other == case).map(|(_, block)| *block);
        let block = known.unwrap_or_else(|| {
            let to = function.block(&[]);
            made.push((case, to));
            function.blocks[to].at = call.at;
            function.blocks[to].terminator = match case {
                Case::Null => Terminator::Trap(Trap::UninitialisedElement),
                Case::Mismatch => Terminator::Trap(Trap::SignatureMismatch),
                Case::Call(id) => {
                    let results: Vec<Value> = types.iter().map(|&ty| function.value(ty)).collect();
                    let operation = Operation::Call(id, arguments.clone());
                    let instruction = Instruction { operation, results: results.clone(), at: call.at };
                    function.blocks[to].instructions.push(instruction);
                    Terminator::Jump(Target { block: after, arguments: results })
                }
            };
            to
        });
        Target { block, arguments: Vec::new() }
    };
    let targets = cases.iter().chain([&Case::Null]).map(|&case| target(function, case)).collect();
    function.blocks[block].terminator = Terminator::Switch(bound.place, targets);
    function.blocks[block].at = call.at;
    after
}
