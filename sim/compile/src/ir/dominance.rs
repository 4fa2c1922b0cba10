//! Which blocks of a function control always passes before others.

use super::{Block, Function};
use cranelift_entity::{EntityRef, SecondaryMap};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

/// The control-flow graph of a function. Node i is block i.
pub fn control_flow(function: &Function) -> DiGraph<(), ()> {
    let mut graph = DiGraph::new();
    for _ in function.blocks.keys() {
        graph.add_node(());
    }
    for (block, body) in &function.blocks {
        for target in body.terminator.targets() {
            graph.add_edge(NodeIndex::new(block.index()), NodeIndex::new(target.block.index()), ());
        }
    }
    graph
}

/// When a walk over the dominator tree enters and leaves a block: `None` for one that no control reaches.
type Visit = Option<(u32, u32)>;

/// The dominator tree of a function.
#[derive(Debug, Clone)]
pub struct Dominance {
    visits: SecondaryMap<Block, Visit>,
    parents: SecondaryMap<Block, Option<Block>>,
}

impl Dominance {
    /// The tree of a function that has an entry, and whose jumps lead to blocks that exist.
    pub fn new(function: &Function) -> Dominance {
        let graph = control_flow(function);
        let entry = NodeIndex::new(function.entry().index());
        let dominators = simple_fast(&graph, entry);
        let mut children: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        let mut parents = SecondaryMap::new();
        for block in function.blocks.keys() {
            if let Some(parent) = dominators.immediate_dominator(NodeIndex::new(block.index())) {
                let parent = Block::new(parent.index());
                children[parent].push(block);
                parents[block] = Some(parent);
            }
        }
        let mut visits: SecondaryMap<Block, Visit> = SecondaryMap::new();
        let mut time = 0;
        let mut walk = vec![(function.entry(), 0)];
        while let Some((block, next)) = walk.pop() {
            time += 1;
            let visit = visits[block].get_or_insert((time, time));
            match children[block].get(next) {
                Some(&child) => walk.extend([(block, next + 1), (child, 0)]),
                None => visit.1 = time,
            }
        }
        Dominance { visits, parents }
    }

    /// True if some way leads from the entry to the block.
    pub fn is_reached(&self, block: Block) -> bool {
        self.visits[block].is_some()
    }

    /// The nearest other block through which every way to this one leads; `None` for the entry and for a block that
    /// is not reached.
    pub fn parent(&self, block: Block) -> Option<Block> {
        self.parents[block]
    }

    /// True if every way to `later` leads through `earlier`. A block dominates itself. Of blocks that are not reached
    /// this says nothing: it is false.
    pub fn dominates(&self, earlier: Block, later: Block) -> bool {
        match (self.visits[earlier], self.visits[later]) {
            (Some((enter, leave)), Some((inner_enter, inner_leave))) => {
                enter <= inner_enter && inner_leave <= leave
            }
            _ => false,
        }
    }
}
