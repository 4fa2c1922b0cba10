//! From jumps that name labels to `break`, `continue` and the exit variable.

use super::{Label, Node, StructureError, Tree};
use crate::ir::Block;
use std::collections::BTreeSet;

/// The nodes of these trees.
pub(super) fn resolve(trees: Vec<Tree>) -> Result<Vec<Node>, StructureError> {
    let mut levels = Levels::default();
    levels.find_jumps(&trees, &mut Vec::new());
    Ok(levels.nodes(trees))
}

/// A WAVE loop around the current place.
struct Level {
    /// Where `continue` leads to; `None` in a loop that runs once.
    again: Option<Label>,
    /// Where `break` leads to; `None` if that is the end.
    behind: Option<Label>,
    /// Labels farther out that jumps inside it lead to.
    passing: BTreeSet<Label>,
}

#[derive(Default)]
struct Levels {
    /// Blocks behind a construct that some jump leaves before its end.
    left: BTreeSet<Block>,
    /// From the outermost to the innermost.
    open: Vec<Level>,
}

impl Levels {
    /// Finds the constructs that need a loop to be left. `behind` has the labels behind the loops around.
    fn find_jumps(&mut self, trees: &[Tree], behind: &mut Vec<Option<Label>>) {
        for tree in trees {
            match tree {
                Tree::If(_, sides) => sides.iter().for_each(|side| self.find_jumps(side, behind)),
                Tree::Before(_, body) => self.find_jumps(body, behind),
                Tree::Loop(_, label, body) => {
                    behind.push(*label);
                    self.find_jumps(body, behind);
                    behind.pop();
                }
                Tree::Jump(label) if !label.is_back && !behind.contains(&Some(*label)) => {
                    self.left.insert(label.block);
                }
                Tree::Jump(_) | Tree::Code(_) | Tree::End(_) | Tree::Pass(..) => {}
            }
        }
    }

    fn nodes(&mut self, trees: Vec<Tree>) -> Vec<Node> {
        let mut nodes = Vec::new();
        for tree in trees {
            match tree {
                Tree::Code(block) => nodes.push(Node::Code(block)),
                Tree::End(block) => nodes.push(Node::End(block)),
                Tree::Pass(block, number) => nodes.push(Node::Pass(block, number)),
                Tree::If(condition, sides) => {
                    nodes.push(Node::If(condition, sides.map(|side| self.nodes(side))));
                }
                Tree::Loop(header, behind, body) => {
                    let again = Some(Label { block: header, is_back: true });
                    self.level(Level { again, behind, passing: BTreeSet::new() }, body, &mut nodes);
                }
                Tree::Before(block, body) if self.left.contains(&block) => {
                    let behind = Some(Label { block, is_back: false });
                    self.level(Level { again: None, behind, passing: BTreeSet::new() }, body, &mut nodes);
                }
                Tree::Before(_, body) => nodes.append(&mut self.nodes(body)),
                Tree::Jump(label) => self.jump(label, &mut nodes),
            }
        }
        nodes
    }

    /// Appends a WAVE loop, and behind it the tests for jumps that go on.
    fn level(&mut self, level: Level, body: Vec<Tree>, to: &mut Vec<Node>) {
        let runs_once = level.again.is_none();
        self.open.push(level);
        let mut nodes = self.nodes(body);
        let passing = self.open.pop().expect("it was pushed").passing;
        if runs_once && !matches!(nodes.last(), Some(Node::Break | Node::Continue | Node::End(_))) {
            nodes.push(Node::Break);
        }
        if !passing.is_empty() {
            // An older value would leave again.
            to.push(Node::SetExit(0));
        }
        to.push(Node::Loop(nodes));
        for label in passing {
            let step = self.step(label);
            to.push(Node::IfExit(number_of(label), vec![step]));
        }
    }

    fn jump(&mut self, label: Label, to: &mut Vec<Node>) {
        let step = self.step(label);
        if self.open.last().is_some_and(|level| level.passing.contains(&label)) {
            to.push(Node::SetExit(number_of(label)));
        }
        to.push(step);
    }

    /// The step out of, or back in, the innermost loop that leads to a label or closer to it.
    fn step(&mut self, label: Label) -> Node {
        let innermost = self.open.last_mut().expect("a jump leads to a label of an open loop");
        if innermost.again == Some(label) {
            return Node::Continue;
        }
        if innermost.behind != Some(label) {
            innermost.passing.insert(label);
        }
        Node::Break
    }
}

/// The number of a label in the exit variable; 0 is none.
fn number_of(label: Label) -> u32 {
    label.block.as_u32() * 2 + u32::from(label.is_back) + 1
}
