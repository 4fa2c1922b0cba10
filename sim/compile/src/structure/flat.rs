//! Control flow with little nesting: one loop that chooses a block by its number, again and again.
//!
//! It is slower than the structured form, and lanes come together only where they take the same block at the same time.
//! It is for functions whose structured form is nested deeper than a machine follows.

use super::{Graph, Node, StructureError};
use crate::ir::{Block, Function, Terminator};
use cranelift_entity::SecondaryMap;

/// Branches inside one another at most at the end of a block.
const MOST_INSIDE: u32 = 4;

/// The control flow of a function as one loop. Behind it comes the return if there is one only and `returns` asks for
/// it; the others stay inside.
///
/// # Errors
/// See [`StructureError`].
pub fn flat(function: &Function, returns: bool) -> Result<Vec<Node>, StructureError> {
    let graph = Graph::new(function);
    let is_return = |block: &Block| matches!(function.blocks[*block].terminator, Terminator::Return(_));
    let mut behind = graph.order.iter().copied().filter(is_return);
    let behind = match (behind.next(), behind.next()) {
        (Some(block), None) if returns => Some(block),
        _ => None,
    };
    let mut jumps: SecondaryMap<Block, u32> = SecondaryMap::new();
    // The start leads to the entry.
    jumps[function.entry()] = 1;
    for &block in &graph.order {
        for target in function.blocks[block].terminator.targets() {
            jumps[target.block] += 1;
        }
    }
    let mut flat = Flat { function, behind, jumps, numbers: SecondaryMap::new(), cases: Vec::new() };
    // A block is a case of its own, or at the end of the only one that jumps to it.
    let mut inside: SecondaryMap<Block, Option<u32>> = SecondaryMap::new();
    for &block in &graph.order {
        if inside[block].is_none() && Some(block) != behind {
            flat.numbers[block] = Some(flat.cases.len() as u32);
            flat.cases.push(block);
            inside[block] = Some(0);
        }
        let Some(level) = inside[block] else { continue };
        let end = &function.blocks[block].terminator;
        let level = level + u32::from(end.targets().len() > 1);
        for target in end.targets() {
            if level <= MOST_INSIDE && flat.jumps[target.block] == 1 && Some(target.block) != behind {
                inside[target.block] = Some(level);
            }
        }
    }
    let mut nodes = Vec::new();
    if !flat.cases.is_empty() {
        nodes.extend([Node::SetExit(0), Node::Loop(flat.choice(0, &flat.cases)?)]);
    }
    if let Some(block) = behind {
        nodes.extend([Node::Code(block), Node::End(block)]);
    }
    Ok(nodes)
}

struct Flat<'a> {
    function: &'a Function,
    /// The block behind the loop.
    behind: Option<Block>,
    jumps: SecondaryMap<Block, u32>,
    /// Numbers of cases.
    numbers: SecondaryMap<Block, Option<u32>>,
    cases: Vec<Block>,
}

impl Flat<'_> {
    /// The choice among cases whose first has this number.
    fn choice(&self, first: u32, cases: &[Block]) -> Result<Vec<Node>, StructureError> {
        if let [block] = cases {
            let mut nodes = Vec::new();
            self.block(*block, &mut nodes)?;
            return Ok(nodes);
        }
        let (low, high) = cases.split_at(cases.len() / 2);
        let middle = first + low.len() as u32;
        Ok(vec![Node::IfExitBelow(middle, [self.choice(first, low)?, self.choice(middle, high)?])])
    }

    fn block(&self, block: Block, to: &mut Vec<Node>) -> Result<(), StructureError> {
        to.push(Node::Code(block));
        match &self.function.blocks[block].terminator {
            Terminator::Jump(_) => self.jump(block, 0, to)?,
            Terminator::Branch(condition, _) => {
                let mut sides = [Vec::new(), Vec::new()];
                for (number, side) in sides.iter_mut().enumerate() {
                    self.jump(block, number, side)?;
                }
                to.push(Node::If(*condition, sides));
            }
            Terminator::Switch(..) => return Err(StructureError::Switch(block)),
            _ => to.push(Node::End(block)),
        }
        Ok(())
    }

    fn jump(&self, from: Block, number: usize, to: &mut Vec<Node>) -> Result<(), StructureError> {
        let target = &self.function.blocks[from].terminator.targets()[number];
        if !target.arguments.is_empty() {
            to.push(Node::Pass(from, number));
        }
        match self.numbers[target.block] {
            Some(number) => to.extend([Node::SetExit(number), Node::Continue]),
            None if Some(target.block) == self.behind => to.push(Node::Break),
            None => self.block(target.block, to)?,
        }
        Ok(())
    }
}
