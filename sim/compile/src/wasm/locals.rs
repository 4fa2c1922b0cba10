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
use crate::encoding::edges;
use crate::ir::{Block, Function, Type, Value};
use cranelift_entity::SecondaryMap;
use fnv::FnvHashMap;
use std::collections::VecDeque;

/// Where the variables of a block come from.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Origin {
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
    /// From several blocks, of which nothing is known.
    Merge,
}

/// The local variables of a function.
pub(crate) struct Locals<'a> {
    scan: &'a Scan,
    types: &'a [Type],
    /// Values at the end of a block, as far as they are known. The block that is being translated: now.
    values: FnvHashMap<(Block, u32), Value>,
    origins: SecondaryMap<Block, Origin>,
    /// Parameters that have no arguments yet.
    pending: VecDeque<(Block, u32)>,
    /// Zeros of variables that are read before they are written.
    pub(crate) zeros: Vec<Value>,
}

impl<'a> Locals<'a> {
    /// The variables of these types, all zero.
    pub(crate) fn new(scan: &'a Scan, types: &'a [Type]) -> Locals<'a> {
        let origins = SecondaryMap::new();
        let values = FnvHashMap::default();
        Locals { scan, types, values, origins, pending: VecDeque::new(), zeros: Vec::new() }
    }

    /// Says where the variables of a new block come from.
    pub(crate) fn set_origin(&mut self, block: Block, origin: Origin) {
        self.origins[block] = origin;
    }

    /// Assigns to a variable.
    pub(crate) fn write(&mut self, block: Block, local: u32, value: Value) {
        self.values.insert((block, local), value);
    }

    /// Value of a variable at the end of a block.
    pub(crate) fn read(&mut self, function: &mut Function, block: Block, local: u32) -> Value {
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
                Origin::Join { .. } | Origin::Merge => {
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
    pub(crate) fn finish(&mut self, function: &mut Function) {
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
