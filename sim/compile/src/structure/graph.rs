//! The control-flow graph of a function: order, dominators and loops.

use crate::ir::{Block, Function};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use petgraph::Direction;
use petgraph::algo::dominators::{self, Dominators};
use petgraph::graphmap::DiGraphMap;

/// What the structure of a function follows from. Blocks that the entry does not reach are left out.
#[derive(Debug)]
pub struct Graph {
    /// Blocks in reverse postorder: each before those that it dominates.
    pub order: Vec<Block>,
    /// Place of a block in `order`; `u32::MAX` if the entry does not reach it.
    place: SecondaryMap<Block, u32>,
    dominators: Dominators<Block>,
    /// Number of jumps forward to a block. A branch whose targets are the same counts twice.
    forward: SecondaryMap<Block, u32>,
    /// Header of the innermost loop of a block.
    innermost: SecondaryMap<Block, PackedOption<Block>>,
    /// Header of the loop around the loop of a header.
    around: SecondaryMap<Block, PackedOption<Block>>,
    headers: SecondaryMap<Block, bool>,
    /// A jump backwards to a block that does not dominate its source, if there is one.
    pub irreducible: Option<(Block, Block)>,
}

impl Graph {
    /// The graph of a function.
    pub fn new(function: &Function) -> Graph {
        let order = reverse_postorder(function);
        let mut place = SecondaryMap::with_default(u32::MAX);
        let mut graph = DiGraphMap::<Block, ()>::with_capacity(order.len(), 2 * order.len());
        for (at, &block) in order.iter().enumerate() {
            place[block] = at as u32;
            graph.add_node(block);
            for target in function.blocks[block].terminator.targets() {
                graph.add_edge(block, target.block, ());
            }
        }
        let dominators = dominators::simple_fast(&graph, function.entry());
        let mut result = Graph {
            order,
            place,
            dominators,
            forward: SecondaryMap::default(),
            innermost: SecondaryMap::default(),
            around: SecondaryMap::default(),
            headers: SecondaryMap::default(),
            irreducible: None,
        };
        result.find_loops(function, &graph);
        result
    }

    fn find_loops(&mut self, function: &Function, graph: &DiGraphMap<Block, ()>) {
        let mut latches: SecondaryMap<Block, Vec<Block>> = SecondaryMap::default();
        for at in 0..self.order.len() {
            let block = self.order[at];
            for target in function.blocks[block].terminator.targets() {
                let target = target.block;
                if !self.is_back(block, target) {
                    self.forward[target] += 1;
                } else if self.dominates(target, block) {
                    self.headers[target] = true;
                    latches[target].push(block);
                } else {
                    self.irreducible = self.irreducible.or(Some((block, target)));
                }
            }
        }
        // Inner loops first. A block that is in a loop by then stands for all of that loop.
        for at in (0..self.order.len()).rev() {
            let header = self.order[at];
            let mut work = std::mem::take(&mut latches[header]);
            if !work.is_empty() {
                self.innermost[header] = header.into();
            }
            while let Some(block) = work.pop() {
                let first = match self.outermost(block) {
                    Some(outermost) if outermost == header => continue,
                    Some(outermost) => {
                        self.around[outermost] = header.into();
                        outermost
                    }
                    None => {
                        self.innermost[block] = header.into();
                        block
                    }
                };
                work.extend(graph.neighbors_directed(first, Direction::Incoming));
            }
        }
    }

    /// Header of the outermost loop of a block, of those found so far.
    fn outermost(&self, block: Block) -> Option<Block> {
        self.loops(block).last()
    }

    /// True if a jump goes to a block at or before its source.
    pub fn is_back(&self, from: Block, to: Block) -> bool {
        self.place[to] <= self.place[from]
    }

    /// Place of a block in reverse postorder.
    pub fn place(&self, block: Block) -> u32 {
        self.place[block]
    }

    /// True if every way to `below` leads through `above`, also if they are the same.
    pub fn dominates(&self, above: Block, below: Block) -> bool {
        let mut at = below;
        while self.place[at] > self.place[above] {
            at = self.dominators.immediate_dominator(at).expect("only the entry has none, and it is first");
        }
        at == above
    }

    /// The closest block that dominates this one; `None` for the entry.
    pub fn immediate_dominator(&self, block: Block) -> Option<Block> {
        self.dominators.immediate_dominator(block)
    }

    /// True if several jumps lead forward to the block.
    pub fn is_merge(&self, block: Block) -> bool {
        self.forward[block] > 1
    }

    /// True if a jump leads back to the block.
    pub fn is_header(&self, block: Block) -> bool {
        self.headers[block]
    }

    /// Headers of the loops of a block, from the innermost outwards.
    pub fn loops(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        std::iter::successors(self.innermost[block].expand(), |&header| self.around[header].expand())
    }

    /// True if a block is in the loop with this header.
    pub fn is_inside(&self, block: Block, header: Block) -> bool {
        self.loops(block).any(|other| other == header)
    }
}

/// The blocks that the entry reaches, each before those that it dominates.
fn reverse_postorder(function: &Function) -> Vec<Block> {
    let mut seen: SecondaryMap<Block, bool> = SecondaryMap::default();
    let mut order = Vec::new();
    let entry = function.entry();
    seen[entry] = true;
    // A block and the number of its targets that have been visited.
    let mut path = vec![(entry, 0)];
    while let Some((block, next)) = path.last_mut() {
        let targets = function.blocks[*block].terminator.targets();
        // The last target first: so the first ends up closest behind the block.
        let Some(target) = targets.len().checked_sub(*next + 1).map(|at| targets[at].block) else {
            order.push(*block);
            path.pop();
            continue;
        };
        *next += 1;
        if !seen[target] {
            seen[target] = true;
            path.push((target, 0));
        }
    }
    order.reverse();
    order
}
