//! The fixed point of a forward analysis over the blocks of a kernel.

use super::graph::Graph;
use petgraph::graph::NodeIndex;
use std::collections::BTreeSet;

/// What is known at a point where control flow meets.
pub(super) trait Join {
    /// Adds what is known on another path to this point. True if that changed anything. Repeated joins must
    /// reach a fixed point.
    fn join(&mut self, other: &Self) -> bool;
}

/// States at the starts of blocks, and the blocks whose state has to be propagated.
pub(super) struct Flow<S> {
    /// The state at the start of each block; `None` if no path has reached it.
    pub at_start: Vec<Option<S>>,
    todo: BTreeSet<NodeIndex>,
}

impl<S: Join + Clone> Flow<S> {
    /// No state anywhere.
    pub(super) fn new(graph: &Graph) -> Flow<S> {
        Flow { at_start: vec![None; graph.blocks.node_count()], todo: BTreeSet::new() }
    }

    /// Joins a state into the start of a block.
    pub(super) fn arrive(&mut self, block: NodeIndex, state: &S) {
        let changed = match &mut self.at_start[block.index()] {
            Some(known) => known.join(state),
            unknown => {
                *unknown = Some(state.clone());
                true
            }
        };
        if changed {
            self.todo.insert(block);
        }
    }

    /// Propagates a block again, although its own state is unchanged.
    pub(super) fn again(&mut self, block: NodeIndex) {
        if self.at_start[block.index()].is_some() {
            self.todo.insert(block);
        }
    }

    /// The next block to propagate, with its state; in the order of the code.
    pub(super) fn next(&mut self) -> Option<(NodeIndex, S)> {
        let block = self.todo.pop_first()?;
        self.at_start[block.index()].clone().map(|state| (block, state))
    }
}
