//! Reads of registers, predicates and fragments that no instruction has written.

use super::cells::{self, Cell, Cells};
use super::code::{Code, Finding};
use super::flow::{Flow, Join};
use super::graph::{Edge, Graph};
use crate::{Guard, Inst, MAX_REGISTERS, Op, PREDICATES};
use petgraph::graph::NodeIndex;

/// What a lane at a point of the code has written.
///
/// `given[2p + n]` holds what is written if predicate p is now true (n = 0) or false (n = 1). So a register
/// written under `@p1` counts as written under `@p1` and inside of an `if p1`. Once it is also written under
/// `@!p1` it counts as written everywhere. A new value of p1 ends this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written {
    /// On some path to this point.
    maybe: Cells,
    /// On every path to this point.
    always: Cells,
    given: [Cells; 2 * PREDICATES],
}

fn condition(predicate: u8, negated: bool) -> usize {
    2 * usize::from(predicate) + usize::from(negated)
}

impl Written {
    fn new(cells: Cells) -> Written {
        Written { maybe: cells, always: cells, given: [cells; 2 * PREDICATES] }
    }

    /// Applies an instruction's results.
    fn write(&mut self, inst: &Inst, wave_width: u32) {
        let cells = cells::written(inst, wave_width);
        let changed: Cells = inst.predicate_destination().map(cells::predicate).into_iter().collect();
        self.results(cells, changed, cells::guard(inst));
    }

    /// Cells are written in lanes for which the guard holds. Predicates in `changed` may have another value
    /// afterwards.
    fn results(&mut self, cells: Cells, changed: Cells, guard: Option<Guard>) {
        self.maybe = self.maybe.union(cells);
        match guard {
            None => self.always = self.always.union(cells),
            Some(guard) => {
                let given = &mut self.given[condition(guard.predicate, guard.negated)];
                *given = given.union(cells);
            }
        }
        self.complete();
        for p in 0..PREDICATES as u8 {
            if changed.contains(cells::predicate(p)) {
                self.given[condition(p, false)] = self.always;
                self.given[condition(p, true)] = self.always;
            }
        }
    }

    /// From here on only lanes with this predicate value continue.
    fn assume(&mut self, predicate: u8, negated: bool) {
        self.always = self.always.union(self.given[condition(predicate, negated)]);
        // No lane here has the other value, so for such lanes everything holds.
        self.given[condition(predicate, !negated)] = Cells::ALL;
        self.complete();
    }

    /// What is written for both values of a predicate is always written.
    fn complete(&mut self) {
        for p in 0..PREDICATES {
            let both = self.given[2 * p].intersection(self.given[2 * p + 1]);
            self.always = self.always.union(both);
        }
        for given in &mut self.given {
            *given = given.union(self.always);
        }
    }

    /// Cells that this instruction reads and that a lane may not have written.
    fn unwritten(&self, inst: &Inst) -> Cells {
        let mut known = self.always;
        let mut unknown = Cells::NONE;
        if let Some(guard) = cells::guard(inst) {
            known = known.union(self.given[condition(guard.predicate, guard.negated)]);
            unknown = [cells::predicate(guard.predicate)].into_iter().collect::<Cells>().minus(self.always);
        }
        cells::operands_read(inst).minus(known).union(unknown)
    }
}

impl Join for Written {
    fn join(&mut self, other: &Written) -> bool {
        let before = *self;
        self.maybe = self.maybe.union(other.maybe);
        self.always = self.always.intersection(other.always);
        for (given, other) in self.given.iter_mut().zip(&other.given) {
            *given = given.intersection(*other);
        }
        *self != before
    }
}

/// What a function writes before it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effect {
    /// On some path.
    pub maybe: Cells,
    /// On every path.
    pub always: Cells,
}

/// Per function of the graph, what it writes, its callees included.
pub(super) fn effects(code: &Code, graph: &Graph) -> Vec<Effect> {
    let mut effects = vec![Effect { maybe: Cells::NONE, always: Cells::ALL }; graph.functions.len()];
    loop {
        let before = effects.clone();
        for function in (1..graph.functions.len()).rev() {
            let within = Some(function);
            let analysis = Analysis { code, graph, effects: &effects, within, first_rounds: false };
            let flow = analysis.run(graph.functions[function].entry, Cells::NONE);
            let mut returned: Option<Written> = None;
            for &block in &graph.functions[function].blocks {
                let Some(start) = flow.at_start[block.index()] else { continue };
                if code.op(graph.last_slot(block)) == Some(Op::Return) {
                    let end = analysis.through(block, start);
                    match &mut returned {
                        Some(known) => _ = known.join(&end),
                        None => returned = Some(end),
                    }
                }
            }
            // A function that never returns has no effect behind its calls.
            if let Some(end) = returned {
                effects[function] = Effect { maybe: end.maybe, always: end.always };
            }
        }
        if effects == before {
            return effects;
        }
    }
}

struct Analysis<'a> {
    code: &'a Code<'a>,
    graph: &'a Graph,
    effects: &'a [Effect],
    /// Stay in this function and do not follow calls.
    within: Option<usize>,
    /// Only the first iteration of each loop: what it writes is not known at its start.
    first_rounds: bool,
}

impl Analysis<'_> {
    /// The first reads of cells that may not have been written, if the cells in `given` are set at the start.
    fn reads(&self, given: Cells) -> Reads {
        let mut reads = Reads::default();
        let flow = self.run(0, given);
        for (block, start) in flow.at_start.iter().enumerate() {
            let Some(mut state) = *start else { continue };
            for slot in self.graph.blocks[NodeIndex::new(block)].slots.clone() {
                let Some(inst) = self.code.inst(slot) else { continue };
                for cell in state.unwritten(inst).iter() {
                    let written = state.maybe.contains(cell);
                    let list = if written { &mut reads.sometimes } else { &mut reads.never };
                    if !list.iter().any(|&(c, _)| c == cell) {
                        list.push((cell, slot));
                    }
                }
                state.write(inst, self.code.options.wave_width);
            }
        }
        reads
    }

    fn run(&self, entry: usize, written: Cells) -> Flow<Written> {
        let mut flow = Flow::new(self.graph);
        if let Some(&block) = self.graph.block_of.get(entry) {
            flow.arrive(block, &Written::new(written));
        }
        while let Some((block, start)) = flow.next() {
            let end = self.through(block, start);
            for (edge, to) in self.graph.leads(block) {
                if let Some(state) = self.along(block, edge, end) {
                    flow.arrive(to, &state);
                }
            }
        }
        flow
    }

    fn through(&self, block: NodeIndex, mut state: Written) -> Written {
        for slot in self.graph.blocks[block].slots.clone() {
            if let Some(inst) = self.code.inst(slot) {
                state.write(inst, self.code.options.wave_width);
            }
        }
        state
    }

    fn along(&self, block: NodeIndex, edge: Edge, mut state: Written) -> Option<Written> {
        let slot = self.graph.last_slot(block);
        let Some(inst) = self.code.inst(slot) else { return Some(state) };
        let guard = cells::guard(inst);
        match (inst.op, edge) {
            (_, Edge::Return) => return None,
            (_, Edge::Repeat) if self.first_rounds => return None,
            (_, Edge::Call) if self.within.is_some() => return None,
            (_, Edge::Resume) => {
                let Effect { maybe, always } = self.effects[self.graph.callee(self.code, slot)?];
                state.results(always, maybe, None);
                state.maybe = state.maybe.union(maybe);
            }
            (Op::If | Op::Break | Op::Continue, _) => {
                let (predicate, negated) = inst.predicate_source()?;
                let taken = !matches!(edge, Edge::Next | Edge::Otherwise);
                if taken {
                    state.assume(predicate, negated);
                    guard.into_iter().for_each(|g| state.assume(g.predicate, g.negated));
                } else if guard.is_none() {
                    state.assume(predicate, !negated);
                }
            }
            // Only lanes that the guard excludes continue.
            (Op::Halt, _) => guard.into_iter().for_each(|g| state.assume(g.predicate, !g.negated)),
            _ => {}
        }
        Some(state)
    }
}

/// The first reads of each cell that may not have been written.
#[derive(Debug, Default)]
struct Reads {
    /// (cell, slot) if no path to the slot writes the cell.
    never: Vec<(Cell, usize)>,
    /// (cell, slot) if only some paths do.
    sometimes: Vec<(Cell, usize)>,
}

/// Result of the pass.
pub(crate) struct Unwritten {
    pub findings: Vec<Finding>,
    /// Registers taken for launch arguments, because the launch is not known.
    pub assumed_arguments: Vec<u8>,
    /// Registers that the launch, which is known, does not set, and that are read before anything writes them.
    pub unset_registers: Vec<u8>,
}

/// Warns about reads of cells that nothing has written, once per cell.
///
/// If the launch is not known, registers from r0 on are taken for its arguments, up to the first that the
/// kernel writes before reading it. A register that follows the arguments and is updated by a loop without
/// initialisation looks the same; only the launch tells them apart.
pub(super) fn unwritten(code: &Code, graph: &Graph, effects: &[Effect]) -> Unwritten {
    let anywhere = (0..code.insts.len()).filter_map(|slot| code.inst(slot));
    let anywhere = anywhere.fold(Cells::NONE, |all, i| all.union(cells::written(i, code.options.wave_width)));
    let first = Analysis { code, graph, effects, within: None, first_rounds: true };
    let mut unset_registers = Vec::new();
    let (given, assumed_arguments) = match &code.options.initial_registers {
        Some(given) => {
            let given: Cells = given.iter().map(|&(r, _)| Cell::from(r)).collect();
            let never = first.reads(given).never;
            unset_registers.extend(never.iter().filter_map(|&(cell, _)| u8::try_from(cell).ok()));
            unset_registers.sort_unstable();
            (given, Vec::new())
        }
        None => {
            let assumed = arguments(&first.reads(Cells::NONE), anywhere);
            (assumed.iter().map(|&r| Cell::from(r)).collect(), assumed)
        }
    };
    let analysis = Analysis { code, graph, effects, within: None, first_rounds: false };
    let reads = analysis.reads(given);
    let mut findings = Vec::new();
    let own: Cells = anywhere.minus(given);
    for &(cell, slot) in &reads.never {
        findings.push(never(code, cell, slot, own));
    }
    for &(cell, slot) in &reads.sometimes {
        if !reads.never.iter().any(|&(c, _)| c == cell) {
            findings.push(sometimes(code, cell, slot));
        }
    }
    Unwritten { findings, assumed_arguments, unset_registers }
}

fn arguments(reads: &Reads, anywhere: Cells) -> Vec<u8> {
    let read_first = |&register: &usize| reads.never.iter().any(|&(cell, _)| cell == register);
    let candidates = (0..MAX_REGISTERS).take_while(|r| read_first(r) || !anywhere.contains(*r));
    candidates.filter(read_first).map(|register| register as u8).collect()
}

/// `own`: registers that the kernel writes and the launch does not.
fn never(code: &Code, cell: Cell, slot: usize, own: Cells) -> Finding {
    let name = cells::name(cell);
    let finding = Finding::warning(slot, format!("{name} is read, but nothing has written it: it is 0"));
    if let Some(writer) = writers(code, cell).next() {
        return finding.hint(format!("the first write of {name}, in {}, comes later", code.at(writer)));
    }
    if cell >= MAX_REGISTERS || code.options.initial_registers.is_some() {
        return finding.hint(format!("no instruction writes {name}"));
    }
    let end = own.iter().next().unwrap_or(0);
    finding.hint(format!(
        "no instruction writes {name}, and launch arguments seem to end below r{end}, the first register that \
         the kernel itself sets"
    ))
}

fn sometimes(code: &Code, cell: Cell, slot: usize) -> Finding {
    let name = cells::name(cell);
    let finding =
        Finding::warning(slot, format!("{name} may be read before it is written: it is 0 on some path"));
    let writer = writers(code, cell).take_while(|&w| w < slot).last();
    finding.hint(match writer.or_else(|| writers(code, cell).next()) {
        Some(writer) if writer < slot => {
            format!("{} writes it, but not on every path to here", code.at(writer))
        }
        Some(writer) => {
            format!("{} writes it for the next round of the loop; set it before", code.at(writer))
        }
        None => "set it before".to_owned(),
    })
}

fn writers<'a>(code: &'a Code, cell: Cell) -> impl Iterator<Item = usize> + 'a {
    let writes = move |inst: &Inst| cells::written(inst, code.options.wave_width).contains(cell);
    (0..code.insts.len()).filter(move |&slot| code.inst(slot).is_some_and(writes))
}
