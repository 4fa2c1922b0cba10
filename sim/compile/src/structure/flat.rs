//! Control flow with little nesting: one loop that chooses a block by its number, again and again.
//!
//! It is slower than the structured form, and lanes come together only where they take the same block at the same time.
//! It is for functions whose structured form is nested deeper than a machine follows.

use super::{Graph, Node, StructureError};
use crate::ir::{Block, Function, Terminator};
use cranelift_entity::SecondaryMap;

/// Branches inside one another at most at the end of a block.
const MOST_INSIDE: u32 = 4;

/// How deep constructs are nested in the loop.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// Choices inside one another.
    choices: u32,
    /// Branches inside one another in front of the last one of a block.
    inside: u32,
}

impl Shape {
    /// A loop with so many levels. At least it has three: the loop, a choice, and the branch at the end of a block.
    fn within(levels: u32) -> Shape {
        let levels = levels.saturating_sub(2).max(1);
        let inside = (levels / 3).min(MOST_INSIDE);
        Shape { choices: levels - inside, inside }
    }
}

/// The control flow of a function as one loop, with at most so many constructs inside one another; three at least. Behind
/// it comes the return if there is one only and `returns` asks for it; the others stay inside.
///
/// # Errors
/// See [`StructureError`].
pub fn flat(function: &Function, returns: bool, levels: u32) -> Result<Vec<Node>, StructureError> {
    let shape = Shape::within(levels);
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
            if level <= shape.inside && flat.jumps[target.block] == 1 && Some(target.block) != behind {
                inside[target.block] = Some(level);
            }
        }
    }
    let mut nodes = Vec::new();
    if !flat.cases.is_empty() {
        nodes.extend([Node::SetExit(0), Node::Loop(flat.choice(0, &flat.cases, shape.choices)?)]);
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
    /// The choice among cases whose first has this number. Every case leaves, so that the upper ones need not be inside of
    /// anything; the lower ones are one level farther inside.
    fn choice(&self, first: u32, cases: &[Block], levels: u32) -> Result<Vec<Node>, StructureError> {
        if let [block] = cases {
            let mut nodes = Vec::new();
            self.block(*block, &mut nodes)?;
            return Ok(nodes);
        }
        let (low, high) = cases.split_at(lower_part(cases.len() as u64, levels));
        let middle = first + low.len() as u32;
        let sides = [self.choice(first, low, levels - 1)?, self.choice(middle, high, levels)?];
        Ok(vec![Node::IfExitBelow(middle, sides)])
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

/// How many of these cases are below the first choice, so that no case takes more choices than it has to with so many
/// levels: half of them, if there are enough levels.
fn lower_part(cases: u64, levels: u32) -> usize {
    let choices = (0..).find(|&choices| reach(levels, choices) >= cases).unwrap_or(0);
    let least = cases - reach(levels, choices - 1).min(cases - 1);
    (cases / 2).clamp(least, reach(levels - 1, choices - 1)) as usize
}

/// Cases that so many choices tell apart with so many levels: of each choice, one side is a level farther inside.
fn reach(levels: u32, choices: u32) -> u64 {
    // The ways through the choices that go inside at most so often.
    let (mut ways, mut all) = (1u64, 0u64);
    for inside in 0..=levels.min(choices) {
        all = all.saturating_add(ways);
        ways = ways.saturating_mul(u64::from(choices - inside)) / u64::from(inside + 1);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Choices and levels of the deepest case.
    fn deepest(cases: u64, levels: u32) -> (u32, u32) {
        if cases == 1 {
            return (0, 0);
        }
        let low = lower_part(cases, levels) as u64;
        assert!(low > 0 && low < cases, "{low} of {cases}");
        let [(low_choices, low_levels), (high_choices, high_levels)] =
            [deepest(low, levels - 1), deepest(cases - low, levels)];
        (1 + low_choices.max(high_choices), high_levels.max(1 + low_levels))
    }

    #[test]
    fn choices_keep_to_their_levels_and_are_few() {
        for cases in (1..70).chain([100, 1000, 4096]) {
            for levels in 1..8 {
                let (choices, used) = deepest(cases, levels);
                assert!(used <= levels, "{cases} cases, {levels} levels: {used}");
                assert!(reach(levels, choices.saturating_sub(1)) < cases || cases == 1, "{cases}: {choices}");
            }
            assert_eq!(deepest(cases, 30).0, cases.next_power_of_two().ilog2());
            assert!(cases == 1 || lower_part(cases, 30) as u64 == cases / 2);
        }
        // A chain, and two levels.
        assert_eq!(deepest(100, 1), (99, 1));
        assert_eq!(deepest(100, 2).0, 14);
    }

    #[test]
    fn shapes_have_no_more_levels_than_they_may() {
        for levels in 3..40 {
            let Shape { choices, inside } = Shape::within(levels);
            assert!(1 + choices + inside < levels && choices > 0);
        }
        assert_eq!((Shape::within(0).choices, Shape::within(3).inside), (1, 0));
        assert_eq!(Shape::within(32).inside, MOST_INSIDE);
    }
}
