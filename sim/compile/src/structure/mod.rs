//! Structured control flow from a graph: WAVE has `if`, `loop`, `break` and `continue`, and no jumps.
//!
//! The method is that of N. Ramsey, "Beyond Relooper: Recursive Translation of Unstructured Control Flow to
//! Structured Control Flow" (ICFP 2022): the dominator tree gives the nesting, and a block that several jumps lead to
//! follows a construct that can be left. It differs in two points.
//!
//! - What comes behind a loop stays outside it. Inside, each lane that leaves the loop would run it alone, while the
//!   others wait; outside, the lanes come together first.
//! - A construct that can be left is a WAVE loop which runs once, and `break` leaves it; but only if some jump does not
//!   fall through to its end anyway. A jump over several levels sets the *exit variable*, which is tested behind each
//!   loop that it leaves.

mod flat;
mod graph;
mod levels;
#[cfg(test)]
mod tests;

pub use flat::flat;
pub use graph::Graph;

use crate::ir::{Block, Function, Terminator, Value};
use cranelift_entity::SecondaryMap;
use thiserror::Error;

/// Most constructs inside one another. The host's stack holds as many; machines have fewer (`DIVERGENCE_DEPTH`).
pub const MOST_LEVELS: usize = 400;

/// A piece of structured control flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// The instructions of a block, without its end.
    Code(Block),
    /// The end of a block that returns, exits or traps.
    End(Block),
    /// The parameters of a block get the arguments of a jump to it: source, and number of its target.
    Pass(Block, usize),
    /// The first nodes where the value is true, else the second.
    If(Value, [Vec<Node>; 2]),
    /// The nodes again and again, until they are left.
    Loop(Vec<Node>),
    /// Leaves the innermost loop.
    Break,
    /// Goes on with the next turn of the innermost loop.
    Continue,
    /// Sets the exit variable.
    SetExit(u32),
    /// The nodes where the exit variable has this value.
    IfExit(u32, Vec<Node>),
    /// The first nodes where the exit variable has a lower value, else the second.
    IfExitBelow(u32, [Vec<Node>; 2]),
}

/// Why a function cannot be structured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StructureError {
    /// There is a way into a loop beside its header: the graph has to be made reducible first.
    #[error("the control flow is irreducible: {from} jumps back to {to}, which does not dominate it")]
    Irreducible {
        /// The source of the jump.
        from: Block,
        /// Its target.
        to: Block,
    },
    /// A block ends with a `switch`: those have to become branches first.
    #[error("{0} ends with a switch")]
    Switch(Block),
    /// Constructs are nested deeper than [`MOST_LEVELS`].
    #[error("control flow is nested deeper than {MOST_LEVELS} levels")]
    TooDeep,
}

/// A place that jumps lead to: the begin of a block, seen from before it or from inside its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Label {
    block: Block,
    is_back: bool,
}

/// Control flow whose jumps still name their labels.
#[derive(Debug)]
enum Tree {
    Code(Block),
    End(Block),
    Pass(Block, usize),
    If(Value, [Vec<Tree>; 2]),
    /// A loop with its header, and what comes behind it.
    Loop(Block, Option<Label>, Vec<Tree>),
    /// Nodes behind which this block follows.
    Before(Block, Vec<Tree>),
    /// A jump that does not fall through.
    Jump(Label),
}

/// The structured control flow of a function. Lanes that come to the end of the list have ended.
///
/// # Errors
/// See [`StructureError`].
pub fn structure(function: &Function) -> Result<Vec<Node>, StructureError> {
    let graph = Graph::new(function);
    if let Some((from, to)) = graph.irreducible {
        return Err(StructureError::Irreducible { from, to });
    }
    let mut followers: [SecondaryMap<Block, Vec<Block>>; 2] = Default::default();
    for &block in &graph.order {
        let Some(above) = graph.immediate_dominator(block) else { continue };
        let left = graph.loops(above).filter(|&header| !graph.is_inside(block, header)).last();
        match left {
            Some(header) => followers[BEHIND_LOOP][header].push(block),
            None if graph.is_merge(block) => followers[INSIDE][above].push(block),
            None => {}
        }
    }
    let builder = Builder { function, graph: &graph, followers };
    let mut trees = Vec::new();
    builder.block(function.entry(), None, 0, &mut trees)?;
    levels::resolve(trees)
}

/// Blocks that follow the loop of a header.
const BEHIND_LOOP: usize = 0;
/// Blocks that follow a block inside its loop.
const INSIDE: usize = 1;

struct Builder<'a> {
    function: &'a Function,
    graph: &'a Graph,
    /// For each block those that follow it, in reverse postorder.
    followers: [SecondaryMap<Block, Vec<Block>>; 2],
}

impl Builder<'_> {
    /// Appends a block and all that it dominates. Falling through leads to `next`.
    fn block(
        &self,
        block: Block,
        next: Option<Label>,
        level: usize,
        to: &mut Vec<Tree>,
    ) -> Result<(), StructureError> {
        self.followed(block, self.kind(block), next, level, to)
    }

    /// The followers of a block outside of other followers: those of its loop, if it is a header.
    fn kind(&self, block: Block) -> usize {
        if self.graph.is_header(block) { BEHIND_LOOP } else { INSIDE }
    }

    /// Appends a block, or its loop, and behind it each of its followers of a kind.
    fn followed(
        &self,
        block: Block,
        kind: usize,
        next: Option<Label>,
        level: usize,
        to: &mut Vec<Tree>,
    ) -> Result<(), StructureError> {
        let (mut block, mut kind) = (block, kind);
        // A row of blocks, each the last follower of the one before it, is not nested.
        loop {
            let followers = &self.followers[kind][block];
            let level = level + followers.len() + 1;
            if level > MOST_LEVELS {
                return Err(StructureError::TooDeep);
            }
            let label = |place: usize| {
                followers.get(place).map_or(next, |&block| Some(Label { block, is_back: false }))
            };
            let mut trees = Vec::new();
            if kind == BEHIND_LOOP {
                let mut body = Vec::new();
                let again = Some(Label { block, is_back: true });
                self.followed(block, INSIDE, again, level, &mut body)?;
                trees.push(Tree::Loop(block, label(0), body));
            } else {
                trees.push(Tree::Code(block));
                self.end(block, label(0), level, &mut trees)?;
            }
            let Some((&last, others)) = followers.split_last() else {
                to.append(&mut trees);
                return Ok(());
            };
            for (place, &follower) in others.iter().enumerate() {
                trees = vec![Tree::Before(follower, trees)];
                self.block(follower, label(place + 1), level, &mut trees)?;
            }
            to.push(Tree::Before(last, trees));
            (block, kind) = (last, self.kind(last));
        }
    }

    /// Appends the end of a block, with the blocks that only this end leads to.
    fn end(
        &self,
        block: Block,
        next: Option<Label>,
        level: usize,
        to: &mut Vec<Tree>,
    ) -> Result<(), StructureError> {
        match &self.function.blocks[block].terminator {
            Terminator::Return(_) | Terminator::Exit | Terminator::Trap(_) => to.push(Tree::End(block)),
            Terminator::Jump(_) => self.jump(block, 0, next, level, to)?,
            Terminator::Branch(condition, _) => {
                let mut sides = [Vec::new(), Vec::new()];
                for (target, side) in sides.iter_mut().enumerate() {
                    self.jump(block, target, next, level + 1, side)?;
                }
                to.push(Tree::If(*condition, sides));
            }
            Terminator::Switch(..) => return Err(StructureError::Switch(block)),
        }
        Ok(())
    }

    /// Appends a jump, or the block to which only it leads.
    fn jump(
        &self,
        from: Block,
        number: usize,
        next: Option<Label>,
        level: usize,
        to: &mut Vec<Tree>,
    ) -> Result<(), StructureError> {
        let target = &self.function.blocks[from].terminator.targets()[number];
        if !target.arguments.is_empty() {
            to.push(Tree::Pass(from, number));
        }
        let label = Label { block: target.block, is_back: self.graph.is_back(from, target.block) };
        let follows = label.is_back || self.graph.is_merge(label.block) || self.leaves(from, label.block);
        if !follows {
            return self.block(label.block, next, level, to);
        }
        if next != Some(label) {
            to.push(Tree::Jump(label));
        }
        Ok(())
    }

    /// True if a jump leaves a loop.
    fn leaves(&self, from: Block, to: Block) -> bool {
        self.graph.loops(from).any(|header| !self.graph.is_inside(to, header))
    }
}
