//! Register pressure: how many registers hold a value that is still needed.

use super::cells::{self, Cells};
use super::code::Code;
use super::divergence::Divergence;
use super::graph::{Edge, Graph};
use super::written::Effect;
use crate::Op;
use petgraph::graph::NodeIndex;

/// The most registers live at one instruction, and the first such instruction.
///
/// A register is live in a wave if one of its lanes still needs it. That lane may be waiting for the other
/// side of an `if` or for the rest of its loop.
pub(crate) fn pressure(
    code: &Code,
    graph: &Graph,
    effects: &[Effect],
    divergence: &Divergence,
) -> (u32, Option<usize>) {
    let mut live = Live { code, graph, effects, reads: reads(code, graph), at_start: Vec::new() };
    live.run();
    let callers = live.waiting_callers(divergence);
    let (mut most, mut at) = (0, None);
    for function in graph.functions.iter().enumerate() {
        for &block in &function.1.blocks {
            let mut needed = live.at_end(block);
            for slot in graph.blocks[block].slots.clone().rev() {
                let waiting = live.waiting(divergence, slot).union(callers[function.0]);
                let after = needed.union(live.written(slot));
                needed = live.before(slot, needed);
                let count = after.union(waiting).registers().max(needed.union(waiting).registers());
                if count > most || count == most && at.is_some_and(|at| slot < at) {
                    (most, at) = (count, Some(slot));
                }
            }
        }
    }
    (most, at)
}

/// Cells that each function may read, its callees included.
fn reads(code: &Code, graph: &Graph) -> Vec<Cells> {
    let mut reads = vec![Cells::NONE; graph.functions.len()];
    for (function, reads) in graph.functions.iter().zip(&mut reads) {
        let slots = function.blocks.iter().flat_map(|&block| graph.blocks[block].slots.clone());
        *reads =
            slots.filter_map(|s| code.inst(s)).fold(Cells::NONE, |all, inst| all.union(cells::read(inst)));
    }
    loop {
        let before = reads.clone();
        for (callee, function) in graph.functions.iter().enumerate() {
            for &(caller, _) in &function.sites {
                reads[caller] = reads[caller].union(reads[callee]);
            }
        }
        if reads == before {
            return reads;
        }
    }
}

struct Live<'a> {
    code: &'a Code<'a>,
    graph: &'a Graph,
    effects: &'a [Effect],
    reads: Vec<Cells>,
    /// Cells that a lane at the start of each block still needs.
    at_start: Vec<Cells>,
}

impl Live<'_> {
    fn run(&mut self) {
        self.at_start = vec![Cells::NONE; self.graph.blocks.node_count()];
        loop {
            let before = self.at_start.clone();
            for block in self.graph.blocks.node_indices().rev() {
                let mut needed = self.at_end(block);
                for slot in self.graph.blocks[block].slots.clone().rev() {
                    needed = self.before(slot, needed);
                }
                self.at_start[block.index()] = needed;
            }
            if self.at_start == before {
                return;
            }
        }
    }

    fn written(&self, slot: usize) -> Cells {
        self.code.inst(slot).map_or(Cells::NONE, |i| cells::written(i, self.code.options.wave_width))
    }

    /// Cells needed before an instruction, given those needed after it.
    fn before(&self, slot: usize, after: Cells) -> Cells {
        let Some(inst) = self.code.inst(slot) else { return after };
        let overwritten = if inst.guard.is_some() { Cells::NONE } else { self.written(slot) };
        after.minus(overwritten).union(cells::read(inst))
    }

    fn at_end(&self, block: NodeIndex) -> Cells {
        let last = self.graph.last_slot(block);
        let start = |block: NodeIndex| self.at_start[block.index()];
        let mut needed = Cells::NONE;
        for (edge, to) in self.graph.leads(block) {
            if edge != Edge::Call {
                needed = needed.union(start(to));
            }
        }
        if self.code.op(last) != Some(Op::Call) {
            return needed;
        }
        // `needed` is what the code after the call needs, if the callee returns.
        let Some(callee) = self.graph.callee(self.code, last) else { return needed };
        let entry = start(self.graph.block_of[self.graph.functions[callee].entry]);
        let passed = entry.intersection(self.reads[callee].union(needed));
        passed.union(needed.minus(self.effects[callee].always))
    }

    /// Cells needed by lanes that wait at this instruction for other lanes of their wave.
    fn waiting(&self, divergence: &Divergence, slot: usize) -> Cells {
        let start = |slot: Option<usize>| {
            let block = slot.and_then(|slot| self.graph.block_of.get(slot));
            block.map_or(Cells::NONE, |block| self.at_start[block.index()])
        };
        let mut waiting = Cells::NONE;
        for c in self.code.structure.around(slot) {
            let construct = &self.code.structure.constructs[c];
            let next = |slot: Option<usize>| slot.map(|slot| slot + 1);
            if divergence.split[c].is_some() {
                let elsewhere = match construct.alternative {
                    _ if construct.is_loop => next(construct.close),
                    Some(alternative) if slot < alternative => Some(alternative + 1),
                    _ => construct.close,
                };
                waiting = waiting.union(start(elsewhere));
            }
            if divergence.resumed[c].is_some_and(|split| split.at < slot) {
                waiting = waiting.union(start(construct.close));
            }
        }
        waiting
    }

    /// Per function, the cells needed by lanes that wait in its callers.
    fn waiting_callers(&self, divergence: &Divergence) -> Vec<Cells> {
        let mut waiting = vec![Cells::NONE; self.graph.functions.len()];
        loop {
            let before = waiting.clone();
            for (callee, function) in self.graph.functions.iter().enumerate() {
                for &(caller, site) in &function.sites {
                    let here = self.waiting(divergence, self.graph.last_slot(site));
                    waiting[callee] = waiting[callee].union(here).union(waiting[caller]);
                }
            }
            if waiting == before {
                return waiting;
            }
        }
    }
}
