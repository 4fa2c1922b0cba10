//! The wait-for graph of a run that does not end.
//!
//! Edges lead from a wave to what it waits for, and from there to those that could provide it. A cycle is a
//! deadlock, or a livelock if some of its waves spin. Without a cycle, waiting ends at something that no one
//! can provide.

use super::place;
use petgraph::Direction;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use wave_isa::Inst;
use wave_isa::WORD_BYTES;
use wave_isa::program::structure::instruction_words;
use wave_isa::program::{Kernel, Program};
use wave_isa::table::{AccessKind, MemoryOp, Space};
use wave_machine::core::report::{WaitsFor, WaveReport};
use wave_machine::gpu::NoProgress;
use wave_machine::gpu::spin::{Location, SpinReport};

/// A wave or a thing that it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// A wave, as an index into the report.
    Wave(usize),
    /// The barrier of a workgroup.
    Barrier([u32; 3]),
    /// Device memory at an address.
    Device(u32),
    /// Local memory of a workgroup at an address.
    Local([u32; 3], u32),
    /// Instructions and accesses that a wave has in flight.
    Flight(usize),
    /// Workgroups that have not started.
    NotStarted,
    /// Workgroup slots of the cores.
    Places,
}

/// The graph and the source of its nodes' names.
struct Graph<'a> {
    stuck: &'a NoProgress,
    program: &'a Program,
    kernel: &'a Kernel,
    graph: DiGraph<Node, &'static str>,
    nodes: BTreeMap<Node, NodeIndex>,
}

/// Most edges listed. The others are counted.
const LISTED: usize = 20;

/// The graph as text: the cycles, each marked, and where waiting ends. Empty if no wave waits for another.
pub(super) fn text(stuck: &NoProgress, program: &Program, kernel: &Kernel) -> String {
    let mut graph = Graph { stuck, program, kernel, graph: DiGraph::new(), nodes: BTreeMap::new() };
    graph.build();
    let mut text = graph.edges();
    for cycle in graph.cycles() {
        text += "\ncycle:";
        for node in &cycle {
            _ = write!(text, "\n  ↻ {}", graph.name(*node));
        }
        if let Some(first) = cycle.first() {
            _ = write!(text, "\n  ↻ {}, where it began", graph.short(*first));
        }
    }
    for end in graph.ends() {
        _ = write!(text, "\nend: {end}");
    }
    text
}

impl Graph<'_> {
    fn node(&mut self, node: Node) -> NodeIndex {
        *self.nodes.entry(node).or_insert_with(|| self.graph.add_node(node))
    }

    fn lead(&mut self, from: Node, to: Node, how: &'static str) {
        let (from, to) = (self.node(from), self.node(to));
        self.graph.update_edge(from, to, how);
    }

    /// What a wave did after the bound, if it runs in a loop.
    fn spins(&self, wave: usize) -> Option<&SpinReport> {
        let WaveReport { core, slot, .. } = self.stuck.waves[wave];
        self.stuck.doing.iter().find(|d| (d.core, d.slot) == (core, slot) && d.again)
    }

    fn build(&mut self) {
        for n in 0..self.stuck.waves.len() {
            let wave = &self.stuck.waves[n];
            let (core, group) = (wave.core, wave.workgroup);
            if let WaitsFor::Barrier(missing) = &wave.waits_for {
                let barrier = Node::Barrier(group);
                self.lead(Node::Wave(n), barrier, "waits at");
                for (other, report) in self.stuck.waves.iter().enumerate() {
                    if report.core == core && report.workgroup == group && missing.contains(&report.wave) {
                        self.lead(barrier, Node::Wave(other), "which has not been reached by");
                    }
                }
            } else if let Some(doing) = self.spins(n) {
                let reads = doing.reads.clone();
                self.node(Node::Wave(n));
                reads.into_iter().for_each(|location| self.spin(n, location));
            } else if self.stuck.doing.is_empty() && wave.waits_for != WaitsFor::Turn {
                self.lead(Node::Wave(n), Node::Flight(n), "waits for");
            }
        }
    }

    /// A wave reads a location repeatedly: adds edges to those that could write it.
    fn spin(&mut self, wave: usize, location: Location) {
        let group = self.stuck.waves[wave].workgroup;
        let node = match location {
            (Space::Device, address) => Node::Device(address),
            (Space::Local, address) => Node::Local(group, address),
        };
        self.lead(Node::Wave(wave), node, "reads again and again");
        for other in (0..self.stuck.waves.len()).filter(|&other| other != wave) {
            let report = &self.stuck.waves[other];
            if location.0 == Space::Local && report.workgroup != group {
                continue;
            }
            let writes = self.spins(other).is_some_and(|doing| doing.writes.contains(&location));
            if writes {
                self.lead(node, Node::Wave(other), "which is written in its loop by");
            } else if self.stores_ahead(other, location.0) {
                self.lead(node, Node::Wave(other), "which may still be written by");
            }
        }
        if location.0 == Space::Device && self.not_started() > 0 && self.stores(0, Space::Device) {
            self.lead(node, Node::NotStarted, "which may be written by");
            self.lead(Node::NotStarted, Node::Places, "wait for");
            for other in 0..self.stuck.waves.len() {
                self.lead(Node::Places, Node::Wave(other), "which are taken by workgroups such as that of");
            }
        }
    }

    /// Number of workgroups that were not sent to a core.
    fn not_started(&self) -> u64 {
        let (done, total) = self.stuck.workgroups;
        let here: BTreeSet<[u32; 3]> = self.stuck.waves.iter().map(|wave| wave.workgroup).collect();
        total.saturating_sub(done + here.len() as u64)
    }

    /// True if a store or atomic to this memory follows the wave's position, or the loop in which it runs.
    fn stores_ahead(&self, wave: usize, space: Space) -> bool {
        let here = self.stuck.waves[wave].pc / WORD_BYTES;
        let from = match self.spins(wave) {
            Some(doing) => doing.words.end() + 1,
            None => here.saturating_sub(self.kernel.code.start),
        };
        self.stores(from, space)
    }

    fn stores(&self, from: u32, space: Space) -> bool {
        let code = &self.program.code[self.kernel.code.start as usize..self.kernel.code.end as usize];
        let mut word = 0;
        while let Some(&first) = code.get(word) {
            let memory = Inst::decode(&code[word..]).ok().and_then(|inst| inst.op.memory());
            let stores =
                |m: MemoryOp| m.space == space && matches!(m.kind, AccessKind::Store | AccessKind::Atomic(_));
            if word as u32 >= from && memory.is_some_and(stores) {
                return true;
            }
            word += instruction_words(first) as usize;
        }
        false
    }

    /// One cycle through each group of nodes that wait for one another, starting at its first wave.
    fn cycles(&self) -> Vec<Vec<Node>> {
        let mut cycles: Vec<Vec<Node>> = tarjan_scc(&self.graph)
            .into_iter()
            .filter(|group| group.len() > 1)
            .filter_map(|group| {
                let start = *group.iter().min_by_key(|&&n| self.graph[n])?;
                self.round(start)
            })
            .collect();
        cycles.sort();
        cycles
    }

    /// The shortest cycle through a node.
    fn round(&self, start: NodeIndex) -> Option<Vec<Node>> {
        let mut before: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
        let mut todo = VecDeque::from([start]);
        while let Some(node) = todo.pop_front() {
            let mut next: Vec<NodeIndex> = self.graph.neighbors(node).collect();
            next.sort_by_key(|&n| self.graph[n]);
            for next in next {
                if next == start {
                    let mut way = vec![self.graph[node]];
                    let mut at = node;
                    while let Some(&from) = before.get(&at) {
                        way.push(self.graph[from]);
                        at = from;
                    }
                    way.reverse();
                    return Some(way);
                }
                if let std::collections::btree_map::Entry::Vacant(entry) = before.entry(next) {
                    entry.insert(node);
                    todo.push_back(next);
                }
            }
        }
        None
    }

    /// What is waited for and no one can provide.
    fn ends(&self) -> Vec<String> {
        let mut ends: Vec<(Node, String)> = self
            .graph
            .externals(Direction::Outgoing)
            .filter_map(|n| {
                let node = self.graph[n];
                let why = match node {
                    Node::Device(_) | Node::Local(..) => "no wave that is left can still write it".to_owned(),
                    Node::Wave(wave) => match self.spins(wave) {
                        Some(doing) if doing.reads.is_empty() => {
                            "its loop reads no memory, so nothing that others do can end it".to_owned()
                        }
                        _ if self.stuck.doing.is_empty() => return None,
                        _ => "it goes on, and may only need more time".to_owned(),
                    },
                    Node::Flight(_) => "nothing moves that would complete them".to_owned(),
                    Node::Barrier(_) | Node::NotStarted | Node::Places => return None,
                };
                Some((node, format!("{}: {why}", self.name(node))))
            })
            .collect();
        ends.sort();
        ends.dedup();
        let more = ends.len().saturating_sub(LISTED);
        let mut lines: Vec<String> = ends.into_iter().map(|(_, line)| line).take(LISTED).collect();
        if more > 0 {
            lines.push(format!("… and {more} more"));
        }
        lines
    }

    /// Every edge, one per line.
    fn edges(&self) -> String {
        let mut edges: Vec<(Node, &str, Node)> = self
            .graph
            .edge_references()
            .map(|e| (self.graph[e.source()], *e.weight(), self.graph[e.target()]))
            .collect();
        edges.sort_by_key(|&(from, _, to)| (from, to));
        let mut text = String::new();
        for (from, how, to) in edges.iter().take(LISTED) {
            let comma = if let Node::Wave(_) = from { "," } else { "" };
            _ = write!(text, "\n  {}{comma} {how} {}", self.name(*from), self.short(*to));
        }
        match edges.len().saturating_sub(LISTED) {
            _ if edges.is_empty() => {}
            0 => text.insert_str(0, "\nwho waits for whom:"),
            more => {
                text.insert_str(0, "\nwho waits for whom:");
                _ = write!(text, "\n  … and {more} more");
            }
        }
        text
    }

    fn short(&self, node: Node) -> String {
        let group = |[x, y, z]: [u32; 3]| format!("workgroup {x},{y},{z}");
        match node {
            Node::Wave(wave) => {
                let report = &self.stuck.waves[wave];
                format!("wave {} of {}", report.wave, group(report.workgroup))
            }
            Node::Barrier(workgroup) => format!("the barrier of {}", group(workgroup)),
            Node::Device(address) => format!("device memory at 0x{address:x}"),
            Node::Local(workgroup, address) => {
                format!("local memory of {} at 0x{address:x}", group(workgroup))
            }
            Node::Flight(wave) => {
                let report = &self.stuck.waves[wave];
                format!("{} (wave {} of {})", report.waits_for, report.wave, group(report.workgroup))
            }
            Node::NotStarted => match self.not_started() {
                1 => "1 workgroup that has not started".to_owned(),
                n => format!("{n} workgroups that have not started"),
            },
            Node::Places => "places for workgroups in the cores".to_owned(),
        }
    }

    /// Name of a node, with its position in the code.
    fn name(&self, node: Node) -> String {
        let Node::Wave(wave) = node else { return self.short(node) };
        let report = &self.stuck.waves[wave];
        let short = self.short(node);
        match self.spins(wave) {
            Some(doing) => {
                let pc = |word: u32| (self.kernel.code.start + word) * WORD_BYTES;
                let (first, last) = (pc(*doing.words.start()), pc(*doing.words.end()));
                let source = self.program.source.as_ref();
                let line = |pc: u32| Some(source?.line_of_word(pc / WORD_BYTES)?.0);
                match (line(first), line(last)) {
                    (Some(a), Some(b)) => {
                        format!("{short}, in a loop from 0x{first:x} to 0x{last:x} (lines {a} to {b})")
                    }
                    _ => format!("{short}, in a loop from 0x{first:x} to 0x{last:x}"),
                }
            }
            None => {
                let at = place(report, self.program, self.kernel);
                format!("{short}, at 0x{:x}: {at}", report.pc)
            }
        }
    }
}
