//! The axioms of docs/memory-model.md, applied to a candidate execution.

use super::trace::{Event, EventKind};
use super::variant::Place;
use petgraph::algo::toposort;
use petgraph::graphmap::DiGraphMap;
use std::collections::BTreeMap;
use wave_isa::special::Scope;

/// Most events of an execution: relations are rows of 64 bits.
const MAX_NODES: usize = 64;

/// An event of an execution; an initial write has no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    /// The event.
    pub event: Event,
    /// Where its wave runs; `None` for an initial write.
    pub place: Option<Place>,
}

/// A relation on events: bit j of row i means that i is before j.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relation(Vec<u64>);

impl Relation {
    fn empty(nodes: usize) -> Relation {
        Relation(vec![0; nodes])
    }

    fn add(&mut self, from: usize, to: usize) {
        self.0[from] |= 1 << to;
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.0[from] >> to & 1 != 0
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.0.iter().enumerate().flat_map(|(from, &row)| {
            (0..MAX_NODES).filter(move |to| row >> to & 1 != 0).map(move |to| (from, to))
        })
    }

    /// The transitive closure; `None` if there is a cycle.
    fn closure(&self) -> Option<Relation> {
        let mut graph: DiGraphMap<usize, ()> = DiGraphMap::new();
        for (from, to) in self.pairs() {
            graph.add_edge(from, to, ());
        }
        let order = toposort(&graph, None).ok()?;
        let mut closed = self.clone();
        for &from in order.iter().rev() {
            closed.0[from] = graph.neighbors(from).fold(self.0[from], |row, to| row | closed.0[to]);
        }
        Some(closed)
    }
}

/// Pairs (read, write): the write that each read of a location reads from.
pub(crate) type Sources = Vec<(usize, usize)>;

/// A candidate execution: events, program order, and the chosen part of reads-from.
#[derive(Debug, Clone)]
pub(crate) struct Execution {
    nodes: Vec<Node>,
    /// What does not depend on values: rules V6, H1 and H3, and initial writes before everything.
    base: Relation,
    /// Program order alone.
    program: Relation,
    /// Per event, the write that it reads from; itself if it reads nothing.
    source: Vec<usize>,
}

impl Execution {
    /// An execution with these events, the initial writes first.
    ///
    /// # Panics
    /// If there are more than 64.
    pub(crate) fn new(nodes: Vec<Node>) -> Execution {
        assert!(nodes.len() <= MAX_NODES, "a litmus test has few events");
        let count = nodes.len();
        let mut program = Relation::empty(count);
        let mut base = Relation::empty(count);
        for i in 0..count {
            for j in 0..count {
                let (a, b) = (&nodes[i], &nodes[j]);
                if a.place.is_none() && b.place.is_some() {
                    base.add(i, j);
                }
                // The halves of an atomic share a step, the read first.
                let before =
                    a.event.step < b.event.step || a.event.step == b.event.step && i + 1 == j && a.is_read();
                if a.place.is_some() && a.place == b.place && before {
                    program.add(i, j);
                    base.add(i, j);
                }
            }
        }
        for i in 0..count {
            for j in 0..count {
                if nodes[i].meets(&nodes[j]) {
                    let earlier: Vec<usize> = (0..count).filter(|&e| program.has(e, i)).collect();
                    for e in earlier {
                        base.0[e] |= program.0[j];
                    }
                }
            }
        }
        Execution { source: (0..count).collect(), nodes, base, program }
    }

    fn writes_to(&self, location: usize) -> Vec<usize> {
        let writes = |&i: &usize| matches!(self.nodes[i].event.kind, EventKind::Write { location: l, .. } if l == location);
        (0..self.nodes.len()).filter(writes).collect()
    }

    fn reads_of(&self, location: usize) -> Vec<usize> {
        let reads = |&i: &usize| matches!(self.nodes[i].event.kind, EventKind::Read { location: l, .. } if l == location);
        (0..self.nodes.len()).filter(reads).collect()
    }

    /// The coherence orders of a location, grouped by the sources of its reads, that are coherent (A1) with
    /// respect to program order and atomic (A2).
    pub(crate) fn coherent_choices(&self, location: usize) -> BTreeMap<Sources, Vec<Vec<usize>>> {
        let (writes, reads) = (self.writes_to(location), self.reads_of(location));
        let mut found: BTreeMap<Sources, Vec<Vec<usize>>> = BTreeMap::new();
        let mut orders = vec![vec![writes[0]]];
        for _ in 1..writes.len() {
            orders = orders.iter().flat_map(|order| self.longer(order, &writes)).collect();
        }
        for order in orders {
            let mut sources: Vec<Sources> = vec![Vec::new()];
            for &read in &reads {
                let fitting: Vec<usize> =
                    order.iter().copied().filter(|&w| self.may_read(read, w, &order)).collect();
                sources = sources
                    .iter()
                    .flat_map(|so_far| fitting.iter().map(|&w| [so_far.as_slice(), &[(read, w)]].concat()))
                    .collect();
            }
            for choice in sources {
                let mut candidate = self.clone();
                candidate.set_sources(&choice);
                if candidate.is_coherent(location, &order, &self.program) {
                    found.entry(choice).or_default().push(order.clone());
                }
            }
        }
        found
    }

    /// The order extended by each write that program order allows next.
    fn longer(&self, order: &[usize], writes: &[usize]) -> Vec<Vec<usize>> {
        let left: Vec<usize> = writes.iter().copied().filter(|w| !order.contains(w)).collect();
        let next = left.iter().filter(|&&w| !left.iter().any(|&other| self.program.has(other, w)));
        next.map(|&w| [order, &[w]].concat()).collect()
    }

    /// True if a read may read from a write, by its value and by A2.
    fn may_read(&self, read: usize, write: usize, order: &[usize]) -> bool {
        let value = |i: usize| match self.nodes[i].event.kind {
            EventKind::Read { value, .. } | EventKind::Write { value, .. } => Some(value),
            _ => None,
        };
        if value(read) != value(write) {
            return false;
        }
        let Some(own) = self.write_half(read) else { return true };
        let place = |w: usize| order.iter().position(|&other| other == w).unwrap_or(0);
        let (from, to) = (place(write), place(own));
        from < to && !order[from + 1..to].iter().any(|&between| self.in_scope(read, between))
    }

    /// The write half of the atomic with this read half.
    fn write_half(&self, read: usize) -> Option<usize> {
        let half = &self.nodes[read];
        let next = self.nodes.get(read + 1)?;
        let same = half.is_read() && half.event.atomic.is_some() && next.place == half.place;
        (same && next.event.step == half.event.step && next.is_write()).then_some(read + 1)
    }

    /// True if the wave of `other` is in the instance (S1) of the scope of `event`.
    fn in_scope(&self, event: usize, other: usize) -> bool {
        let scope = match self.nodes[event].event.kind {
            EventKind::Fence { scope, .. } => Some(scope),
            _ => self.nodes[event].event.atomic,
        };
        match (self.nodes[event].place, self.nodes[other].place, scope) {
            (Some(a), Some(b), Some(scope)) => match scope {
                Scope::Wave => a == b,
                Scope::Workgroup => a.core == b.core && a.workgroup == b.workgroup,
                Scope::Device | Scope::System => true,
            },
            _ => false,
        }
    }

    /// Sets the writes that reads read from.
    pub(crate) fn set_sources(&mut self, sources: &Sources) {
        for &(read, write) in sources {
            self.source[read] = write;
        }
    }

    fn reads_from(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.source
            .iter()
            .enumerate()
            .filter(|(read, write)| read != *write)
            .map(|(read, &write)| (write, read))
    }

    /// Happens-before (H1 to H5). `None` if it has a cycle, or if a value comes from nowhere (A3).
    pub(crate) fn happens_before(&self) -> Option<Relation> {
        let mut values = Relation::empty(self.nodes.len());
        self.reads_from().for_each(|(write, read)| values.add(write, read));
        for (i, node) in self.nodes.iter().enumerate() {
            (0..self.nodes.len()).filter(|r| node.event.depends >> r & 1 != 0).for_each(|r| values.add(r, i));
        }
        values.closure()?;
        let mut order = self.base.clone();
        self.add_synchronisation(&mut order);
        order.closure()
    }

    /// H2.
    fn add_synchronisation(&self, order: &mut Relation) {
        for (write, read) in self.reads_from() {
            // Walk back along the release sequence.
            let mut head = write;
            loop {
                self.synchronise(head, read, order);
                let through =
                    self.nodes[head].event.atomic.is_some() && self.source[head.wrapping_sub(1)] != head - 1;
                if !through {
                    break;
                }
                head = self.source[head - 1];
            }
        }
    }

    /// Applies fences before a write and after a read that reads from the write's release sequence.
    fn synchronise(&self, write: usize, read: usize, order: &mut Relation) {
        for f in 0..self.nodes.len() {
            let EventKind::Fence { release: true, .. } = self.nodes[f].event.kind else { continue };
            if !self.program.has(f, write) {
                continue;
            }
            for g in 0..self.nodes.len() {
                let EventKind::Fence { acquire: true, .. } = self.nodes[g].event.kind else { continue };
                let apart = self.nodes[f].place != self.nodes[g].place;
                if apart && self.program.has(read, g) && self.in_scope(f, g) && self.in_scope(g, f) {
                    order.add(f, g);
                }
            }
        }
    }

    /// A1 for one location: `order` and eco do not contradict each other on any two of its accesses.
    pub(crate) fn is_coherent(&self, location: usize, writes: &[usize], order: &Relation) -> bool {
        let position = |w: usize| writes.iter().position(|&other| other == w).unwrap_or(0);
        // In eco, a write has its position in co, and a read comes right after the write that it reads from.
        // Two reads of one write are not ordered.
        let mut places: Vec<(usize, usize)> = writes.iter().map(|&w| (w, 2 * position(w))).collect();
        places.extend(self.reads_of(location).into_iter().map(|r| (r, 2 * position(self.source[r]) + 1)));
        places.iter().all(|&(x, at_x)| places.iter().all(|&(y, at_y)| !(order.has(x, y) && at_y < at_x)))
    }

    /// The final value of a location if its writes come in this order.
    pub(crate) fn last_value(&self, writes: &[usize]) -> Option<u32> {
        match self.nodes[*writes.last()?].event.kind {
            EventKind::Write { value, .. } => Some(value),
            _ => None,
        }
    }
}

impl Node {
    fn is_read(&self) -> bool {
        matches!(self.event.kind, EventKind::Read { .. })
    }

    fn is_write(&self) -> bool {
        matches!(self.event.kind, EventKind::Write { .. })
    }

    /// True if two barriers, of two waves of a workgroup, are the same meeting.
    fn meets(&self, other: &Node) -> bool {
        match (self.event.kind, other.event.kind, self.place, other.place) {
            (EventKind::Barrier(n), EventKind::Barrier(m), Some(a), Some(b)) => {
                n == m && a.core == b.core && a.workgroup == b.workgroup
            }
            _ => false,
        }
    }
}
