//! Local variables as values.
//!
//! The method is that of Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (CC 2013):
//! a read looks for the definition in its block, then in the blocks before. WebAssembly is structured, which saves
//! most of the parameters that the method makes and removes again: where control flow joins at the end of a block or
//! at the head of a loop, and nothing between its beginning and its end assigns to the variable, the value is that at
//! the beginning. Only where something does, the block gets a parameter.
//!
//! Arguments for the parameters are found when the function is complete, so that no block is ever unsealed.

use super::scan::Scan;
use crate::ir::{Block, Function, Type, Value};
use cranelift_entity::SecondaryMap;
use fnv::FnvHashMap;
use std::collections::VecDeque;

/// Where the variables of a block come from.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Origin {
    /// It is the entry.
    #[default]
    Entry,
    /// From its only predecessor.
    Single(Block),
    /// From several blocks, all between the operators `start` and `end`, that `from` dominates.
    Join {
        /// The block before the operator `start`.
        from: Block,
        /// Begin of the construct.
        start: u32,
        /// Its end.
        end: u32,
    },
}

/// The local variables of a function.
pub(super) struct Locals<'a> {
    scan: &'a Scan,
    types: &'a [Type],
    /// Values at the end of a block, as far as they are known. The block that is being translated: now.
    values: FnvHashMap<(Block, u32), Value>,
    origins: SecondaryMap<Block, Origin>,
    /// Parameters that have no arguments yet.
    pending: VecDeque<(Block, u32)>,
    /// Zeros of variables that are read before they are written.
    pub(super) zeros: Vec<Value>,
}

impl<'a> Locals<'a> {
    /// The variables of these types, all zero.
    pub(super) fn new(scan: &'a Scan, types: &'a [Type]) -> Locals<'a> {
        let origins = SecondaryMap::new();
        let values = FnvHashMap::default();
        Locals { scan, types, values, origins, pending: VecDeque::new(), zeros: Vec::new() }
    }

    /// Says where the variables of a new block come from.
    pub(super) fn set_origin(&mut self, block: Block, origin: Origin) {
        self.origins[block] = origin;
    }

    /// Assigns to a variable.
    pub(super) fn write(&mut self, block: Block, local: u32, value: Value) {
        self.values.insert((block, local), value);
    }

    /// Value of a variable at the end of a block.
    pub(super) fn read(&mut self, function: &mut Function, block: Block, local: u32) -> Value {
        let mut passed = Vec::new();
        let mut at = block;
        let value = loop {
            if let Some(&value) = self.values.get(&(at, local)) {
                break value;
            }
            passed.push(at);
            match self.origins[at] {
                Origin::Entry => {
                    let zero = function.value(self.types[local as usize]);
                    self.zeros.push(zero);
                    break zero;
                }
                Origin::Single(before) => at = before,
                Origin::Join { from, start, end } if !self.scan.is_assigned(local, start, end) => at = from,
                Origin::Join { .. } => {
                    let parameter = function.value(self.types[local as usize]);
                    function.blocks[at].parameters.push(parameter);
                    self.pending.push_back((at, local));
                    break parameter;
                }
            }
        };
        for block in passed {
            self.values.insert((block, local), value);
        }
        value
    }

    /// Gives arguments to all parameters.
    pub(super) fn finish(&mut self, function: &mut Function) {
        let edges = edges(function);
        // A parameter that is made meanwhile comes last, in its block as in the queue.
        while let Some((block, local)) = self.pending.pop_front() {
            for &(from, target) in &edges[block] {
                let value = self.read(function, from, local);
                function.blocks[from].terminator.targets_mut()[target].arguments.push(value);
            }
        }
    }
}

/// The jumps to each block: from where, and which of its targets.
pub(super) fn edges(function: &Function) -> SecondaryMap<Block, Vec<(Block, usize)>> {
    let mut edges: SecondaryMap<Block, Vec<(Block, usize)>> = SecondaryMap::new();
    for (from, body) in function.blocks.iter() {
        for (index, target) in body.terminator.targets().iter().enumerate() {
            edges[target.block].push((from, index));
        }
    }
    edges
}

/// Removes the parameters that always get the same value, and numbers the values in the order of their definitions.
pub(super) fn simplify(function: &mut Function) {
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
