//! The control-flow graph of a kernel, from the view of one lane.

use super::code::Code;
use crate::program::dis::{Labels, disassemble_inst};
use crate::program::structure::{Construct, instruction_words};
use crate::program::{Kernel, Program};
use crate::{Inst, Op, WORD_BYTES};
use petgraph::dot::{Config, Dot};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::collections::BTreeMap;
use std::ops::Range;

/// Instructions that execute one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its instructions, as indices into the kernel's [`crate::program::structure::Structure::slots`].
    pub slots: Range<usize>,
    /// Its words in the code section.
    pub words: Range<u32>,
}

/// How a lane gets from a block to its successor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Edge {
    /// To the next instruction, also past a break, a continue or a guarded halt that the lane does not take.
    Next,
    /// Into an `if` whose predicate holds.
    Then,
    /// From an `if` whose predicate does not hold, behind its `else` or to its `endif`.
    Otherwise,
    /// Out of the loop.
    Break,
    /// To the loop's `endloop`.
    Continue,
    /// From `endloop` back to the first instruction of the loop.
    Repeat,
    /// From a call into the callee.
    Call,
    /// From a call to the instruction after it, once the callee returns.
    Resume,
    /// From a return to the instruction after each call of the function.
    Return,
}

/// Code with one entry: the kernel's start, or the target of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Function {
    /// Its first instruction.
    pub entry: usize,
    /// The blocks that its execution can reach, without its callees', ascending.
    pub blocks: Vec<NodeIndex>,
    /// Its calls: the calling function, and the block that ends with the call.
    pub(crate) sites: Vec<(usize, NodeIndex)>,
    /// True if a `return` is among its blocks.
    pub returns: bool,
    /// True if it can run past the kernel's last instruction.
    pub ends: bool,
}

/// The blocks of a kernel and the edges between them.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// Blocks in the order of the code; the first is where the kernel starts.
    pub blocks: DiGraph<Block, Edge>,
    /// The kernel itself, then what its reachable calls call.
    pub functions: Vec<Function>,
    /// Per slot, its block.
    pub(crate) block_of: Vec<NodeIndex>,
}

/// Most blocks for which values are tracked: the states of more would fill the memory.
const MOST_BLOCKS: usize = 20_000;
/// Most (function, block) pairs for which functions are told apart; see [`Graph::build`].
const MOST_PAIRS: usize = 1 << 20;

impl Graph {
    /// Builds the graph. From constructs that are not closed, edges lead to the kernel's end.
    ///
    /// `None` if there are so many blocks, or call targets and blocks, that the analysis would take
    /// unreasonably long. No hand-written kernel comes near.
    pub(super) fn build(code: &Code) -> Option<Graph> {
        let mut graph = Graph::cut(code);
        let mut targets: Vec<usize> = (0..code.insts.len()).filter_map(|slot| code.callee(slot)).collect();
        targets.sort_unstable();
        targets.dedup();
        let blocks = graph.blocks.node_count();
        if blocks > MOST_BLOCKS || (targets.len() + 1) * blocks > MOST_PAIRS {
            return None;
        }
        for block in graph.blocks.node_indices() {
            graph.connect(code, block);
        }
        let follow = Follow { code, graph: &graph, functions: vec![], seen: vec![], todo: vec![] };
        graph.functions = follow.all();
        graph.connect_calls(code)?;
        Some(graph)
    }

    /// Cuts the code into blocks.
    fn cut(code: &Code) -> Graph {
        let count = code.insts.len();
        let mut starts = vec![false; count + 1];
        for slot in 0..count {
            let Some(inst) = code.inst(slot) else { continue };
            starts[slot] |= matches!(inst.op, Op::EndIf | Op::EndLoop);
            starts[slot + 1] |= ends_block(inst.op);
            if let Some(target) = code.callee(slot) {
                starts[target] = true;
            }
        }
        let mut graph = Graph::default();
        let mut first = 0;
        for slot in 0..count {
            if slot + 1 == count || starts[slot + 1] {
                let words = code.pc(first) / WORD_BYTES..word_after(code, slot);
                let block = graph.blocks.add_node(Block { slots: first..slot + 1, words });
                graph.block_of.resize(slot + 1, block);
                first = slot + 1;
            }
        }
        graph
    }

    /// Adds the edges out of a block, except those that depend on which functions return.
    fn connect(&mut self, code: &Code, block: NodeIndex) {
        let last = self.blocks[block].slots.end - 1;
        let constructs = &code.structure.constructs;
        let construct: Option<&Construct> = code.structure.construct_of[last].map(|c| &constructs[c]);
        let after = |slot: Option<usize>| slot.map(|slot| slot + 1);
        let next = Some(last + 1);
        // An illegal instruction faults. The graph continues behind it, so that one mistake does not make all
        // the following code look unreachable.
        let Some(inst) = code.inst(last) else { return self.lead(block, next, Edge::Next) };
        match inst.op {
            Op::If => {
                self.lead(block, next, Edge::Then);
                let otherwise = construct.and_then(|c| after(c.alternative).or(c.close));
                self.lead(block, otherwise, Edge::Otherwise);
            }
            Op::Else => self.lead(block, construct.and_then(|c| c.close), Edge::Next),
            Op::EndLoop => self.lead(block, after(construct.map(|c| c.open)), Edge::Repeat),
            Op::Break => {
                self.lead(block, construct.and_then(|c| after(c.close)), Edge::Break);
                self.lead(block, next, Edge::Next);
            }
            Op::Continue => {
                self.lead(block, construct.and_then(|c| c.close), Edge::Continue);
                self.lead(block, next, Edge::Next);
            }
            Op::Call => self.lead(block, code.callee(last), Edge::Call),
            Op::Return => {}
            Op::Halt if !inst.guard.is_some() => {}
            _ => self.lead(block, next, Edge::Next),
        }
    }

    fn lead(&mut self, from: NodeIndex, to: Option<usize>, edge: Edge) {
        // The kernel ends after its last instruction.
        if let Some(&to) = to.and_then(|slot| self.block_of.get(slot)) {
            self.blocks.add_edge(from, to, edge);
        }
    }

    /// Adds the edges of calls that return: into the callee and back.
    fn connect_calls(&mut self, code: &Code) -> Option<()> {
        let pairs: usize = self.functions.iter().map(|f| f.sites.len() * f.blocks.len()).sum();
        if pairs > MOST_PAIRS {
            return None;
        }
        let mut edges = Vec::new();
        for function in self.functions.iter().filter(|f| f.returns) {
            for &(_, site) in &function.sites {
                let Some(resume) = self.after(site) else { continue };
                edges.push((site, resume, Edge::Resume));
                let last = |block: &NodeIndex| code.op(self.last_slot(*block));
                let returns = function.blocks.iter().filter(|&block| last(block) == Some(Op::Return));
                edges.extend(returns.map(|&block| (block, resume, Edge::Return)));
            }
        }
        // A block can belong to several functions, so its call may appear several times.
        edges.sort_unstable_by_key(|&(from, to, edge)| (from, to, edge as u8));
        edges.dedup();
        for (from, to, edge) in edges {
            self.blocks.add_edge(from, to, edge);
        }
        Some(())
    }

    /// The last instruction of a block.
    pub(crate) fn last_slot(&self, block: NodeIndex) -> usize {
        self.blocks[block].slots.end - 1
    }

    /// The block after a block in the order of the code.
    pub fn after(&self, block: NodeIndex) -> Option<NodeIndex> {
        self.block_of.get(self.blocks[block].slots.end).copied()
    }

    /// The function that a call calls, if the call is legal and reachable.
    pub(super) fn callee(&self, code: &Code, slot: usize) -> Option<usize> {
        let entry = code.callee(slot)?;
        (1..self.functions.len()).find(|&f| self.functions[f].entry == entry)
    }

    /// The edges out of a block, as (edge, block).
    pub fn leads(&self, block: NodeIndex) -> impl Iterator<Item = (Edge, NodeIndex)> + '_ {
        self.blocks.edges(block).map(|edge| (*edge.weight(), edge.target()))
    }

    /// For each slot, whether a lane can reach it.
    pub fn reachable(&self) -> Vec<bool> {
        let mut reachable = vec![false; self.block_of.len()];
        for &block in self.functions.iter().flat_map(|f| &f.blocks) {
            reachable[self.blocks[block].slots.clone()].fill(true);
        }
        reachable
    }

    /// The functions whose execution can reach a slot without making a call.
    pub(crate) fn functions_at(&self, slot: usize) -> impl Iterator<Item = usize> + '_ {
        let block = self.block_of[slot];
        (0..self.functions.len()).filter(move |&f| self.functions[f].blocks.binary_search(&block).is_ok())
    }

    /// The graph in the DOT language: one box per block, with source lines or offsets and the disassembled
    /// instructions.
    pub fn to_dot(&self, program: &Program, kernel: &Kernel) -> String {
        let label = |_: &DiGraph<Block, Edge>, (_, block): (NodeIndex, &Block)| {
            format!("label=\"{}\"", block_label(program, block))
        };
        let style = |_: &DiGraph<Block, Edge>, edge: petgraph::graph::EdgeReference<Edge>| match edge.weight()
        {
            Edge::Next => String::new(),
            Edge::Call | Edge::Return => format!("label=\"{}\", style=dashed", edge.weight().name()),
            other => format!("label=\"{}\"", other.name()),
        };
        let config = [Config::NodeNoLabel, Config::EdgeNoLabel, Config::GraphContentOnly];
        let dot = Dot::with_attr_getters(&self.blocks, &config, &style, &label);
        let name = kernel.name.replace(['\\', '"', '\n'], "_");
        format!("digraph \"{name}\" {{\n    node [shape=box, fontname=monospace]\n{dot:?}}}\n")
    }
}

impl Edge {
    /// Label of the edge in pictures.
    pub fn name(self) -> &'static str {
        match self {
            Edge::Next => "next",
            Edge::Then => "then",
            Edge::Otherwise => "else",
            Edge::Break => "break",
            Edge::Continue => "continue",
            Edge::Repeat => "repeat",
            Edge::Call => "call",
            Edge::Resume => "resume",
            Edge::Return => "return",
        }
    }
}

fn block_label(program: &Program, block: &Block) -> String {
    let mut label = String::new();
    let mut word = block.words.start;
    while word < block.words.end {
        let rest = &program.code[word as usize..block.words.end as usize];
        let lines = program.source.as_ref().map(|source| source.lines.as_slice());
        let line = lines.and_then(|lines| lines.get(word as usize)).filter(|&&line| line > 0);
        let place = line.map_or(format!("{:#06x}", word * WORD_BYTES), |line| line.to_string());
        let text = match Inst::decode(rest) {
            Ok(inst) => disassemble_inst(&inst, &Labels::new()),
            Err(_) => format!(".word {:#010x}", rest[0]),
        };
        // \l ends a line and aligns it to the left.
        label.push_str(&format!("{place}  {text}\\l"));
        word += instruction_words(rest[0]);
    }
    label
}

/// Follows every function from its entry, block by block. A function continues behind a call once the callee
/// is known to return.
struct Follow<'a> {
    code: &'a Code<'a>,
    graph: &'a Graph,
    functions: Vec<Function>,
    /// Per function, the blocks found.
    seen: Vec<Vec<bool>>,
    todo: Vec<(usize, NodeIndex)>,
}

impl Follow<'_> {
    fn enter(&mut self, entry: usize) -> usize {
        let function = self.functions.len();
        self.functions.push(Function { entry, ..Function::default() });
        self.seen.push(vec![false; self.graph.blocks.node_count()]);
        self.reach(function, Some(self.graph.block_of[entry]));
        function
    }

    /// Records that a function reaches a block, or the kernel's end (`None`).
    fn reach(&mut self, function: usize, block: Option<NodeIndex>) {
        let Some(block) = block else {
            self.functions[function].ends = true;
            return;
        };
        if !std::mem::replace(&mut self.seen[function][block.index()], true) {
            self.todo.push((function, block));
        }
    }

    fn all(mut self) -> Vec<Function> {
        let mut callees = BTreeMap::new();
        if self.code.insts.is_empty() {
            return Vec::new();
        }
        // A call to the kernel's own start makes a separate function: that one returns, the kernel does not.
        self.enter(0);
        while let Some((function, block)) = self.todo.pop() {
            let last = self.graph.last_slot(block);
            let after = self.graph.after(block);
            self.functions[function].blocks.push(block);
            match self.code.inst(last) {
                Some(inst) if inst.op == Op::Call => {
                    let Some(entry) = self.code.callee(last) else { continue };
                    let callee = match callees.get(&entry) {
                        Some(&callee) => callee,
                        None => self.enter(entry),
                    };
                    callees.insert(entry, callee);
                    self.functions[callee].sites.push((function, block));
                    if self.functions[callee].returns {
                        self.reach(function, after);
                    }
                }
                Some(inst) if inst.op == Op::Return => {
                    if !std::mem::replace(&mut self.functions[function].returns, true) {
                        for (caller, site) in self.functions[function].sites.clone() {
                            self.reach(caller, self.graph.after(site));
                        }
                    }
                }
                inst => {
                    let graph = self.graph;
                    graph.leads(block).for_each(|(_, to)| self.reach(function, Some(to)));
                    let halts = |inst: &Inst| inst.op == Op::Halt && !inst.guard.is_some();
                    let stays = inst.is_some_and(|inst| inst.op == Op::EndLoop || halts(inst));
                    if after.is_none() && !stays {
                        self.reach(function, None);
                    }
                }
            }
        }
        for function in &mut self.functions {
            function.blocks.sort_unstable();
            function.sites.sort_unstable();
        }
        self.functions
    }
}

fn ends_block(op: Op) -> bool {
    use Op::*;
    matches!(op, If | Else | Loop | EndLoop | Break | Continue | Call | Return | Halt)
}

fn word_after(code: &Code, slot: usize) -> u32 {
    match code.structure.slots.get(slot + 1) {
        Some(next) => code.kernel.code.start + next.word,
        None => code.kernel.code.end,
    }
}
