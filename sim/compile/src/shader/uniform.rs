//! Whether all threads of a workgroup come to each barrier together.
//!
//! A value *varies* if threads of one workgroup may have different ones. Where a branch on such a value parts them, they are
//! apart in all blocks up to the one through which every way from the branch leads. The specification of WGSL
//! forbids barriers there, and says likewise what varies: what comes from the number of a thread, from memory that
//! threads write to, from atomics, from other lanes.

use crate::ir::dominance::control_flow;
use crate::ir::{Block, Function, Instruction, Operation, Place, Terminator, Value};
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::NodeIndex;
use petgraph::visit::Reversed;
use wave_isa::Special;

/// A barrier to which not all threads may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parted {
    /// The barrier.
    pub(super) barrier: Place,
    /// The branch before it whose condition varies.
    pub(super) branch: Place,
}

/// The first barrier of a function to which not all threads may come. `stable` has the loads from memory to which nobody
/// writes.
pub(super) fn parted_barrier(function: &Function, stable: &EntitySet<Value>) -> Option<Parted> {
    let is_barrier = |one: &&Instruction| matches!(one.operation, Operation::Barrier);
    let has_barrier = |block: Block| function.blocks[block].instructions.iter().find(is_barrier);
    if !function.blocks.keys().any(|block| has_barrier(block).is_some()) {
        return None;
    }
    let parts = Parts::new(function);
    let mut varying: EntitySet<Value> = EntitySet::new();
    let mut branches: EntitySet<Block> = EntitySet::new();
    loop {
        let mut changed = spread(function, stable, &mut varying);
        for (block, body) in &function.blocks {
            let Terminator::Branch(condition, _) = body.terminator else { continue };
            if varying.contains(condition) && branches.insert(block) {
                for value in parts.behind(function, block) {
                    changed |= varying.insert(value);
                }
            }
        }
        if !changed {
            break;
        }
    }
    let found = branches.iter().flat_map(|branch| {
        let parted = parts.between(branch);
        let barriers =
            function.blocks.keys().filter(move |&block| parted.contains(block)).filter_map(has_barrier);
        barriers.map(move |barrier| Parted { barrier: barrier.at, branch: function.blocks[branch].at })
    });
    found.min_by_key(|parted| (parted.barrier, parted.branch))
}

/// Finds what varies because of its operands. True if there is something new.
fn spread(function: &Function, stable: &EntitySet<Value>, varying: &mut EntitySet<Value>) -> bool {
    let mut any = false;
    let mut changed = true;
    while changed {
        changed = false;
        for body in function.blocks.values() {
            for instruction in &body.instructions {
                let varies = is_source(instruction, stable)
                    || instruction.operation.operands().any(|value| varying.contains(value));
                for &result in instruction.results.iter().filter(|_| varies) {
                    changed |= varying.insert(result);
                }
            }
            for target in body.terminator.targets() {
                let parameters = &function.blocks[target.block].parameters;
                for (&parameter, &argument) in parameters.iter().zip(&target.arguments) {
                    if varying.contains(argument) {
                        changed |= varying.insert(parameter);
                    }
                }
            }
        }
        any |= changed;
    }
    any
}

/// True if the results may differ between threads though the operands do not.
fn is_source(instruction: &Instruction, stable: &EntitySet<Value>) -> bool {
    match &instruction.operation {
        Operation::Special(special) => matches!(
            special,
            Special::ThreadIdX | Special::ThreadIdY | Special::ThreadIdZ | Special::LaneId | Special::WaveId
        ),
        Operation::Load(..) => !instruction.results.iter().all(|&result| stable.contains(result)),
        Operation::Atomic(..) | Operation::CompareExchange(..) | Operation::Wave(..) => true,
        _ => false,
    }
}

/// Where the ways from each branch come together.
struct Parts {
    next: SecondaryMap<Block, Vec<Block>>,
    /// The block through which every way from a block leads; `None` where it is the end of the function.
    joins: SecondaryMap<Block, Option<Block>>,
    /// The blocks that use a value.
    uses: SecondaryMap<Value, Vec<Block>>,
}

impl Parts {
    fn new(function: &Function) -> Parts {
        let mut graph = control_flow(function);
        let end = graph.add_node(());
        // A thread that traps ends the run.
        let traps = |block: Block| matches!(function.blocks[block].terminator, Terminator::Trap(_));
        graph.retain_edges(|graph, edge| {
            let (_, to) = graph.edge_endpoints(edge).expect("it is there");
            to == end || !traps(Block::new(to.index()))
        });
        let mut next: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        for (block, body) in &function.blocks {
            next[block] = body
                .terminator
                .targets()
                .iter()
                .map(|target| target.block)
                .filter(|&to| !traps(to))
                .collect();
            if body.terminator.targets().is_empty() {
                graph.add_edge(NodeIndex::new(block.index()), end, ());
            }
        }
        let dominators = simple_fast(Reversed(&graph), end);
        let mut joins = SecondaryMap::new();
        for block in function.blocks.keys() {
            let join = dominators.immediate_dominator(NodeIndex::new(block.index()));
            joins[block] = join.filter(|&join| join != end).map(|join| Block::new(join.index()));
        }
        let mut uses: SecondaryMap<Value, Vec<Block>> = SecondaryMap::new();
        for (block, body) in &function.blocks {
            let passed = body.terminator.targets().iter().flat_map(|target| &target.arguments);
            let used = body.instructions.iter().flat_map(|one| one.operation.operands());
            for value in used.chain(passed.chain(body.terminator.operands()).copied()) {
                if uses[value].last() != Some(&block) {
                    uses[value].push(block);
                }
            }
        }
        Parts { next, joins, uses }
    }

    /// The blocks in which threads are apart after a branch.
    fn between(&self, branch: Block) -> EntitySet<Block> {
        let mut parted = EntitySet::new();
        let mut work = self.next[branch].clone();
        while let Some(block) = work.pop() {
            if Some(block) != self.joins[branch] && parted.insert(block) {
                work.extend(&self.next[block]);
            }
        }
        parted
    }

    /// Values that differ where the ways from a branch have come together: those that the ways bring, and those of
    /// a loop that threads leave at different turns.
    fn behind(&self, function: &Function, branch: Block) -> Vec<Value> {
        let parted = self.between(branch);
        let mut values = Vec::new();
        for block in parted.iter() {
            let body = &function.blocks[block];
            values.extend(body.parameters.iter().filter(|_| block != branch));
            let results = body.instructions.iter().flat_map(|one| &one.results).chain(&body.parameters);
            let is_outside = |used: &Block| !parted.contains(*used);
            values.extend(results.filter(|&&value| self.uses[value].iter().any(is_outside)));
        }
        values.extend(self.joins[branch].into_iter().flat_map(|join| &function.blocks[join].parameters));
        values
    }
}
