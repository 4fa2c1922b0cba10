//! Cells of a stack as values, in a function whose graph is known before.
//!
//! The method is that of Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (CC 2013).
//! The graph is known before, so a block gets a parameter for a cell only where several blocks go to it and something
//! reads the cell there or behind.

use super::simplify::{edges, simplify};
use crate::ir::{Block, Function, Type, Value};
use cranelift_entity::SecondaryMap;
use fnv::FnvHashMap;
use std::collections::VecDeque;

/// Most values of a function: a bound on the time and the room of what comes after.
const MOST_VALUES: usize = 1 << 21;

/// The cells of a function. Parts are numbered, and those before each are known.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// The parts that go on in each part, and its block.
    parts: Vec<(Vec<usize>, Block)>,
    /// The part that each block is of.
    part_of: SecondaryMap<Block, u32>,
    /// Values at the beginning of a part, and those that it leaves elsewhere than at its beginning.
    starts: FnvHashMap<(usize, u32), Value>,
    ends: FnvHashMap<(usize, u32), Value>,
    /// Parameters that have no arguments yet.
    pending: VecDeque<(usize, u32)>,
}

impl Cells {
    /// Adds a part that begins with a block, with the parts before it.
    pub(crate) fn part(&mut self, before: Vec<usize>, block: Block) {
        self.own(self.parts.len(), block);
        self.parts.push((before, block));
    }

    /// Says of which part a block is.
    pub(crate) fn own(&mut self, part: usize, block: Block) {
        self.part_of[block] = part as u32;
    }

    /// The block with which a part begins.
    pub(crate) fn block(&self, part: usize) -> Block {
        self.parts[part].1
    }

    /// Gives a cell its value at the beginning of the function.
    pub(crate) fn begin(&mut self, part: usize, cell: u32, value: Value) {
        self.starts.insert((part, cell), value);
    }

    /// Gives a cell its value at the end of a part.
    pub(crate) fn leave(&mut self, part: usize, cell: u32, value: Value) {
        self.ends.insert((part, cell), value);
    }

    /// The value of a cell at the beginning of a part. All parts that dominate it have ended.
    pub(crate) fn read(&mut self, function: &mut Function, part: usize, cell: u32) -> Value {
        let mut passed = Vec::new();
        let mut at = part;
        let value = loop {
            if let Some(&value) = self.starts.get(&(at, cell)) {
                break value;
            }
            passed.push(at);
            if let [before] = self.parts[at].0[..] {
                if let Some(&value) = self.ends.get(&(before, cell)) {
                    break value;
                }
                at = before;
            } else {
                let parameter = function.value(Type::I64);
                function.blocks[self.parts[at].1].parameters.push(parameter);
                self.pending.push_back((at, cell));
                break parameter;
            }
        };
        for part in passed {
            self.starts.insert((part, cell), value);
        }
        value
    }

    /// Gives arguments to all parameters, and removes those that always get the same. False if there are too many.
    pub(crate) fn finish(mut self, function: &mut Function) -> bool {
        let edges = edges(function);
        // A parameter that is made meanwhile comes last, in its block as in the queue.
        while let Some((part, cell)) = self.pending.pop_front() {
            for &(from, target) in &edges[self.parts[part].1] {
                let before = self.part_of[from] as usize;
                let value = match self.ends.get(&(before, cell)) {
                    Some(&value) => value,
                    None => self.read(function, before, cell),
                };
                function.blocks[from].terminator.targets_mut()[target].arguments.push(value);
            }
            if function.values.len() > MOST_VALUES {
                return false;
            }
        }
        simplify(function);
        true
    }
}
