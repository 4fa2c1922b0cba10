//! Calls become the body of the function that they call.

use crate::error::{CompileError, Reason};
use crate::ir::{
    Block, Function, FunctionId, Instruction, Module, Operation, Place, Target, Terminator, Value,
};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::ReservedValue;

/// Most values of a function with its calls inlined.
const MOST_VALUES: usize = 1 << 18;

/// The function with all calls inlined.
///
/// # Errors
/// Recursion, and functions that become too large.
pub(super) fn inline_all(module: &Module, entry: FunctionId) -> Result<Function, CompileError> {
    let mut open = Vec::new();
    let mut done = SecondaryMap::new();
    body(module, entry, &mut open, &mut done)?;
    Ok(done[entry].take().expect("the entry was done last"))
}

/// Inlines the calls of a function and of those that it calls, innermost first.
fn body(
    module: &Module,
    id: FunctionId,
    open: &mut Vec<FunctionId>,
    done: &mut SecondaryMap<FunctionId, Option<Function>>,
) -> Result<(), CompileError> {
    let wrong = |place, reason| CompileError::new(module, id, place, reason);
    let Some(function) = module.functions.get(id) else {
        return Err(wrong(Place::default(), Reason::NoFunction));
    };
    let mut function = function.clone();
    open.push(id);
    let mut work: Vec<Block> = function.blocks.keys().collect();
    while let Some(block) = work.pop() {
        let instructions = &function.blocks[block].instructions;
        let called =
            instructions.iter().enumerate().find_map(|(number, instruction)| match &instruction.operation {
                Operation::Call(callee, _) => Some((number, *callee, instruction.at)),
                _ => None,
            });
        let Some((number, callee, at)) = called else { continue };
        if open.contains(&callee) {
            return Err(wrong(at, Reason::Recursion(callee)));
        }
        if done[callee].is_none() {
            body(module, callee, open, done)?;
        }
        let callee = done[callee].as_ref().expect("it was done just now");
        if function.values.len() + callee.values.len() > MOST_VALUES {
            return Err(wrong(at, Reason::TooLarge(function.values.len() + callee.values.len())));
        }
        work.push(inline(&mut function, block, number, callee));
    }
    open.pop();
    done[id] = Some(function);
    Ok(())
}

/// Puts a function in the place of the instruction of this number, whose operands are its arguments and whose results
/// are its. Gives the block behind it.
pub(super) fn inline(function: &mut Function, block: Block, number: usize, callee: &Function) -> Block {
    let mut rest = function.blocks[block].instructions.split_off(number);
    let call = rest.remove(0);
    let after = function.block(&[]);
    let body = &mut function.blocks[block];
    let (end, at) = (std::mem::replace(&mut body.terminator, Terminator::Return(Vec::new())), body.at);
    let behind = &mut function.blocks[after];
    (behind.parameters, behind.instructions, behind.terminator, behind.at) = (call.results, rest, end, at);

    let mut copies: SecondaryMap<Value, Value> = SecondaryMap::with_default(Value::reserved_value());
    for (value, &ty) in &callee.values {
        copies[value] = function.value(ty);
    }
    let blocks: Vec<Block> = callee.blocks.keys().map(|_| function.block(&[])).collect();
    let place = |own: Place| if own == Place::default() { call.at } else { own };
    for (number, body) in callee.blocks.values().enumerate() {
        let copy_of = |list: &[Value]| list.iter().map(|&value| copies[value]).collect::<Vec<_>>();
        let target = |target: &Target| Target {
            block: blocks[target.block.as_u32() as usize],
            arguments: copy_of(&target.arguments),
        };
        let instruction = |instruction: &Instruction| {
            let mut operation = instruction.operation.clone();
            operation.operands_mut().for_each(|value| *value = copies[*value]);
            Instruction { operation, results: copy_of(&instruction.results), at: place(instruction.at) }
        };
        let copy = &mut function.blocks[blocks[number]];
        copy.parameters = copy_of(&body.parameters);
        copy.instructions = body.instructions.iter().map(instruction).collect();
        copy.at = place(body.at);
        copy.terminator = match &body.terminator {
            Terminator::Jump(to) => Terminator::Jump(target(to)),
            Terminator::Branch(value, targets) => {
                Terminator::Branch(copies[*value], [target(&targets[0]), target(&targets[1])])
            }
            Terminator::Switch(value, targets) => {
                Terminator::Switch(copies[*value], targets.iter().map(target).collect())
            }
            Terminator::Return(results) => {
                Terminator::Jump(Target { block: after, arguments: copy_of(results) })
            }
            Terminator::Exit => Terminator::Exit,
            Terminator::Trap(trap) => Terminator::Trap(*trap),
        };
    }
    let arguments = call.operation.operands().collect();
    let target = Target { block: blocks[callee.entry().as_u32() as usize], arguments };
    function.blocks[block].terminator = Terminator::Jump(target);
    function.blocks[block].at = call.at;
    after
}
