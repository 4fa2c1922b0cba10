//! Calls become the body of the function that they call, where that is worth it or the machine needs it.

use super::calls::{bottom_up, callees, keep_only};
use crate::error::{CompileError, Reason};
use crate::ir::{Block, Function, FunctionId, Module, Operation, Place, Target, Terminator, Value};
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::ReservedValue;

/// Most values of a function with calls inlined that have to be.
const MOST_VALUES: usize = 1 << 18;
/// Most values of a function with calls inlined that could stay.
const MOST_WANTED_VALUES: usize = 1 << 15;

/// Most calls inside one another: every machine keeps as many return addresses (isa, section 8, `MAX_CALL_DEPTH`).
pub(crate) const MOST_CALL_DEPTH: u32 = 8;

/// Which calls are inlined. Sizes are numbers of instructions of this representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inline {
    /// All of them, if the kernel is no larger with that.
    pub all: u32,
    /// Those of functions up to this size, wherever they are called.
    pub small: u32,
    /// Those of functions with one call.
    pub single: bool,
}

impl Default for Inline {
    /// What fits in the instruction caches of the presets many times over is inlined whole.
    fn default() -> Inline {
        Inline { all: 3000, small: 24, single: true }
    }
}

/// Inlines calls in these functions, each of which is behind those that it calls. The others stay calls, at most
/// [`MOST_CALL_DEPTH`] inside one another. Functions that are not called any more leave the list.
///
/// # Errors
/// Functions that become too large because calls inside one another have to be inlined.
pub(super) fn inline_calls(
    module: &mut Module,
    order: &mut Vec<FunctionId>,
    policy: Inline,
) -> Result<(), CompileError> {
    let mut calls: SecondaryMap<FunctionId, u32> = SecondaryMap::new();
    // Size of a function, and with all that it calls in it.
    let mut sizes: SecondaryMap<FunctionId, u64> = SecondaryMap::new();
    let mut whole: SecondaryMap<FunctionId, u64> = SecondaryMap::new();
    for &id in &*order {
        sizes[id] = size(&module.functions[id]);
        whole[id] = sizes[id];
        for (callee, _) in callees(&module.functions[id]) {
            calls[callee] += 1;
            whole[id] = whole[id].saturating_add(whole[callee]);
        }
    }
    let entry = *order.last().expect("the entry is in the list");
    let everything = whole[entry] <= u64::from(policy.all);
    // How many calls are inside one another below each.
    let mut heights: SecondaryMap<FunctionId, u32> = SecondaryMap::new();
    for &id in &*order {
        // A callee is in the list only behind this one, so it is as it will be.
        let mut function = module.functions[id].clone();
        let mut work: Vec<Block> = function.blocks.keys().collect();
        while let Some(block) = work.pop() {
            let found = function.blocks[block].instructions.iter().enumerate().find_map(|(number, one)| {
                let Operation::Call(callee, _) = one.operation else { return None };
                let small = sizes[callee] <= u64::from(policy.small);
                let too_deep = heights[callee] >= MOST_CALL_DEPTH;
                let wanted = everything || small || policy.single && calls[callee] == 1;
                let room =
                    function.values.len() + module.functions[callee].values.len() <= MOST_WANTED_VALUES;
                (too_deep || wanted && room).then_some((number, callee, one.at))
            });
            let Some((number, callee, at)) = found else { continue };
            let callee = &module.functions[callee];
            let values = function.values.len() + callee.values.len();
            if values > MOST_VALUES {
                return Err(CompileError::new(module, id, at, Reason::TooLarge(values)));
            }
            work.push(inline(&mut function, block, number, callee));
        }
        heights[id] = callees(&function).map(|(callee, _)| heights[callee] + 1).max().unwrap_or(0);
        sizes[id] = size(&function);
        module.functions[id] = function;
    }
    *order = bottom_up(module, entry)?;
    keep_only(module, order);
    Ok(())
}

/// Instructions of a function, its branches included.
fn size(function: &Function) -> u64 {
    function.blocks.values().map(|body| body.instructions.len() as u64 + 1).sum()
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
    for (body, &block) in callee.blocks.values().zip(&blocks) {
        let mut copy = body.copied(|value| copies[value], |target| blocks[target.as_u32() as usize]);
        copy.instructions.iter_mut().for_each(|instruction| instruction.at = place(instruction.at));
        copy.at = place(body.at);
        if let Terminator::Return(arguments) = copy.terminator {
            copy.terminator = Terminator::Jump(Target { block: after, arguments });
        }
        function.blocks[block] = copy;
    }
    let arguments = call.operation.operands().collect();
    let target = Target { block: blocks[callee.entry().as_u32() as usize], arguments };
    function.blocks[block].terminator = Terminator::Jump(target);
    function.blocks[block].at = call.at;
    after
}
