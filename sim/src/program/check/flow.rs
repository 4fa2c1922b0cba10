//! The fixed point of a forward analysis over the blocks of a kernel.

use super::graph::Graph;
use petgraph::graph::NodeIndex;
use std::collections::BTreeSet;

/// What is known where control flow meets.
pub trait Join {
    /// Takes in what is known on another way here; true if that changed anything. Repeated joins must
    /// come to rest.
    fn join(&mut self, other: &Self) -> bool;
}

/// States at the starts of blocks, and the blocks whose state has to be passed on.
pub struct Flow<S> {
    /// The state at the start of each block; `None` where nothing has arrived.
    pub at_start: Vec<Option<S>>,
    todo: BTreeSet<NodeIndex>,
}

impl<S: Join + Clone> Flow<S> {
    /// Nothing known anywhere.
    pub fn new(graph: &Graph) -> Flow<S> {
        Flow { at_start: vec![None; graph.blocks.node_count()], todo: BTreeSet::new() }
    }

    /// A state that arrives at the start of a block.
    pub fn arrive(&mut self, block: NodeIndex, state: &S) {
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

    /// Passes a block on again, though its own state is unchanged.
    pub fn again(&mut self, block: NodeIndex) {
        if self.at_start[block.index()].is_some() {
            self.todo.insert(block);
        }
    }

    /// The next block to pass on, with its state; blocks in the order of the code.
    pub fn next(&mut self) -> Option<(NodeIndex, S)> {
        let block = self.todo.pop_first()?;
        self.at_start[block.index()].clone().map(|state| (block, state))
    }
}
