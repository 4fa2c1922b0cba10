//! Uniformity: which values can differ between the active lanes of a wave, and therefore which `if` and
//! `loop` can diverge.
//!
//! A value is uniform at an instruction if it is the same in all lanes that are active there. Where lanes
//! with different histories meet again (at `endif`, after a loop, at `endloop` after a `continue`), every
//! value that they may have written meanwhile is no longer uniform.

use super::cells::{self, Cell, Cells, FIRST_PREDICATE, VALUES};
use super::code::Code;
use super::flow::{Flow, Join};
use super::graph::{Edge, Graph};
use super::threads::{Known, Threads};
use super::written::Effect;
use crate::table::AccessKind;
use crate::{Inst, MAX_REGISTERS, Op, Special};
use petgraph::graph::NodeIndex;

/// The first instruction that makes lanes differ. The lowest of several is kept.
type Origin = usize;

/// What is known of a wave's values at a point of the code.
#[derive(Debug, Clone)]
struct State {
    /// Why a cell may differ between active lanes; `None` if it is uniform.
    origin: Vec<Option<Origin>>,
    known: Vec<Option<Known>>,
}

/// The lower of two origins.
fn either(a: Option<Origin>, b: Option<Origin>) -> Option<Origin> {
    a.into_iter().chain(b).min()
}

impl State {
    /// Why a cell may differ between the active lanes.
    fn differs(&self, cell: Cell) -> Option<Origin> {
        let uniform = self.known[cell].as_ref().is_some_and(|known| known.uniform);
        self.origin[cell].filter(|_| !uniform)
    }

    fn any_differs(&self, cells: Cells) -> Option<Origin> {
        cells.iter().filter(|&c| c < VALUES).filter_map(|c| self.differs(c)).min()
    }

    /// Lanes that may have written these cells meet other lanes.
    fn meet(&mut self, cells: Cells, origin: Option<Origin>) {
        if origin.is_some() {
            for cell in cells.iter().filter(|&c| c < VALUES) {
                self.origin[cell] = either(self.origin[cell], origin);
            }
        }
    }
}

impl Join for State {
    fn join(&mut self, other: &State) -> bool {
        let mut changed = false;
        for (origin, &other) in self.origin.iter_mut().zip(&other.origin) {
            let joined = either(*origin, other);
            changed |= joined != *origin;
            *origin = joined;
        }
        for (known, other) in self.known.iter_mut().zip(&other.known) {
            if known.is_some() && known != other {
                *known = None;
                changed = true;
            }
        }
        changed
    }
}

/// Why the lanes of a construct diverge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    /// The `if`, `break` or `continue` at which they diverge.
    pub at: usize,
    /// The origin of their difference.
    pub origin: Origin,
}

/// Why lanes may be masked off at an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Masked {
    /// It is in a branch of this `if`, whose condition differs.
    If(Split),
    /// It is in a loop that lanes may leave at different times, by this `break`.
    Break(Split),
    /// It comes after this `continue`, which only some lanes may take.
    Continue(Split),
    /// It is in a function that this instruction calls, and lanes may be masked off at the call.
    Call(usize),
}

/// Results of the analysis, by construct.
pub(super) struct Divergence {
    pub threads: Threads,
    /// For an `if`: itself, if its condition may differ. For a loop: the first `break` that only some of its
    /// lanes may take.
    pub split: Vec<Option<Split>>,
    /// For a loop: the first `continue` that only some of its lanes may take.
    pub resumed: Vec<Option<Split>>,
    /// For an `if`: its predicate in each thread, if known.
    pub condition: Vec<Option<Known>>,
    /// Per function: the first call of it at which lanes may be masked off.
    pub masked_call: Vec<Option<usize>>,
}

impl Divergence {
    /// Analyses the whole kernel.
    pub(super) fn find(code: &Code, graph: &Graph, effects: &[Effect]) -> Divergence {
        let count = code.structure.constructs.len();
        let found = Divergence {
            threads: Threads::new(code.kernel, code.options),
            split: vec![None; count],
            resumed: vec![None; count],
            condition: vec![None; count],
            masked_call: vec![None; graph.functions.len()],
        };
        let writes = construct_writes(code, effects, graph);
        let mut analysis = Analysis { code, graph, effects, writes, found, changed: false };
        analysis.run();
        let mut found = analysis.found;
        found.mask_functions(code, graph);
        found
    }

    /// Why lanes that entered construct `c` may be masked off at a slot inside of it.
    fn off(&self, code: &Code, slot: usize, c: usize) -> Option<Masked> {
        match (code.structure.constructs[c].is_loop, self.split[c], self.resumed[c]) {
            (false, Some(split), _) => Some(Masked::If(split)),
            (true, Some(split), _) => Some(Masked::Break(split)),
            (true, None, Some(split)) if split.at < slot => Some(Masked::Continue(split)),
            _ => None,
        }
    }

    /// Why live lanes may be masked off at a slot; the innermost reason.
    pub(super) fn masked(&self, code: &Code, graph: &Graph, slot: usize) -> Option<Masked> {
        let here = code.structure.around(slot).find_map(|c| self.off(code, slot, c));
        here.or_else(|| graph.functions_at(slot).find_map(|f| self.masked_call[f].map(Masked::Call)))
    }

    fn mask_functions(&mut self, code: &Code, graph: &Graph) {
        loop {
            let before = self.masked_call.clone();
            for (callee, function) in graph.functions.iter().enumerate() {
                let masked = |&&(caller, site): &&(usize, NodeIndex)| {
                    let slot = graph.last_slot(site);
                    let inside = code.structure.around(slot).any(|c| self.off(code, slot, c).is_some());
                    inside || self.masked_call[caller].is_some()
                };
                let site = function.sites.iter().find(masked).map(|&(_, site)| graph.last_slot(site));
                self.masked_call[callee] = self.masked_call[callee].or(site);
            }
            if self.masked_call == before {
                return;
            }
        }
    }
}

/// Cells that may be written between the opener and the end of each construct.
fn construct_writes(code: &Code, effects: &[Effect], graph: &Graph) -> Vec<Cells> {
    let mut writes = vec![Cells::NONE; code.structure.constructs.len()];
    for slot in 0..code.insts.len() {
        let Some(inst) = code.inst(slot) else { continue };
        let mut cells = cells::written(inst, code.options.wave_width);
        if let Some(function) = graph.callee(code, slot) {
            cells = cells.union(effects[function].maybe);
        }
        for construct in code.structure.around(slot) {
            writes[construct] = writes[construct].union(cells);
        }
    }
    writes
}

struct Analysis<'a> {
    code: &'a Code<'a>,
    graph: &'a Graph,
    effects: &'a [Effect],
    writes: Vec<Cells>,
    found: Divergence,
    /// A construct was found to diverge since this was last cleared.
    changed: bool,
}

impl Analysis<'_> {
    fn run(&mut self) {
        let Some(&start) = self.graph.block_of.first() else { return };
        let mut flow = Flow::new(self.graph);
        let mut returned: Vec<Option<State>> = vec![None; self.graph.functions.len()];
        flow.arrive(start, &self.at_launch());
        loop {
            self.changed = false;
            while let Some((block, state)) = flow.next() {
                self.pass(block, state, &mut flow, &mut returned);
            }
            if !self.changed {
                return;
            }
            self.graph.blocks.node_indices().for_each(|block| flow.again(block));
        }
    }

    fn at_launch(&self) -> State {
        let threads = &self.found.threads;
        let zero = Some(threads.constant(0));
        let mut known = vec![None; VALUES];
        known[FIRST_PREDICATE..].fill(zero.clone());
        if let Some(given) = &self.code.options.initial_registers {
            known[..MAX_REGISTERS].fill(zero);
            for &(register, value) in given {
                known[usize::from(register)] = Some(threads.constant(value));
            }
        }
        State { origin: vec![None; VALUES], known }
    }

    /// Executes a block and passes the result to its successors.
    fn pass(
        &mut self,
        block: NodeIndex,
        mut state: State,
        flow: &mut Flow<State>,
        returned: &mut [Option<State>],
    ) {
        for slot in self.graph.blocks[block].slots.clone() {
            let Some(inst) = self.code.inst(slot) else { continue };
            self.note_control(slot, inst, &state);
            self.execute(slot, inst, &mut state);
        }
        let last = self.graph.last_slot(block);
        if self.code.op(last) == Some(Op::Return) {
            for function in self.graph.functions_at(last).filter(|&f| f > 0) {
                let changed = match &mut returned[function] {
                    Some(known) => known.join(&state),
                    unknown => {
                        *unknown = Some(state.clone());
                        true
                    }
                };
                if changed {
                    self.graph.functions[function].sites.iter().for_each(|&(_, site)| flow.again(site));
                }
            }
        }
        for (edge, to) in self.graph.leads(block) {
            match edge {
                Edge::Return => {}
                Edge::Resume => {
                    let Some(callee) = self.graph.callee(self.code, last) else { continue };
                    let Some(end) = &returned[callee] else { continue };
                    let mut state = state.clone();
                    for cell in self.effects[callee].maybe.iter().filter(|&c| c < VALUES) {
                        state.origin[cell] = end.origin[cell];
                        state.known[cell].clone_from(&end.known[cell]);
                    }
                    flow.arrive(to, &state);
                }
                Edge::Break => {
                    let mut state = state.clone();
                    if let Some(c) = self.code.structure.construct_of[last] {
                        state.meet(self.writes[c], self.found.split[c].map(|s| s.origin));
                    }
                    flow.arrive(to, &state);
                }
                _ => flow.arrive(to, &state),
            }
        }
    }

    /// Records what an `if`, `break` or `continue` does to the lanes of its construct.
    fn note_control(&mut self, slot: usize, inst: &Inst, state: &State) {
        let (Some(c), Some((predicate, _))) =
            (self.code.structure.construct_of[slot], inst.predicate_source())
        else {
            return;
        };
        let predicate = cells::predicate(predicate);
        let mut origin = state.differs(predicate);
        if inst.op == Op::If {
            self.found.condition[c].clone_from(&state.known[predicate]);
        } else {
            let guard = cells::guard(inst).and_then(|g| state.differs(cells::predicate(g.predicate)));
            // Lanes of the loop that an earlier `if` or `continue` has masked off do not participate.
            let ifs = self.code.structure.around(slot).take_while(|&x| x != c);
            let masked = ifs.filter_map(|x| self.found.split[x]).chain(self.found.resumed[c]);
            let masked = masked.filter(|split| split.at < slot).map(|split| split.origin).min();
            origin = either(either(origin, guard), masked);
        }
        let Some(origin) = origin else { return };
        let list = if inst.op == Op::Continue { &mut self.found.resumed } else { &mut self.found.split };
        let split = match list[c] {
            Some(known) if known.at == slot => Split { at: slot, origin: origin.min(known.origin) },
            Some(known) if known.at < slot => known,
            _ => Split { at: slot, origin },
        };
        self.changed |= list[c] != Some(split);
        list[c] = Some(split);
    }

    fn execute(&self, slot: usize, inst: &Inst, state: &mut State) {
        if let Some(c) = self.code.structure.construct_of[slot] {
            let origin = match inst.op {
                Op::EndIf => self.found.split[c],
                Op::EndLoop => self.found.resumed[c],
                _ => None,
            };
            state.meet(self.writes[c], origin.map(|split| split.origin));
        }
        let written = cells::written(inst, self.code.options.wave_width);
        if written == Cells::NONE {
            return;
        }
        let origin = result_origin(slot, inst, state);
        let known = self.result_known(inst, state).filter(|_| written.iter().count() == 1);
        let guard = cells::guard(inst);
        for cell in written.iter().filter(|&c| c < VALUES) {
            let Some(guard) = guard else {
                state.origin[cell] = origin;
                state.known[cell].clone_from(&known);
                continue;
            };
            let predicate = cells::predicate(guard.predicate);
            let parts = either(origin, state.differs(predicate));
            state.origin[cell] = either(state.differs(cell), parts);
            state.known[cell] = match (&state.known[predicate], &known, &state.known[cell]) {
                (Some(holds), Some(then), Some(otherwise)) => {
                    Some(self.found.threads.choose(holds, guard.negated, then, otherwise))
                }
                _ => None,
            };
        }
    }

    fn result_known(&self, inst: &Inst, state: &State) -> Option<Known> {
        let registers = inst.sources().map(|(first, _)| Cell::from(first));
        let predicates = inst.predicate_source().map(|(p, _)| cells::predicate(p));
        let operands: Vec<Cell> = registers.chain(predicates).collect();
        self.found.threads.result(inst, |i| state.known[operands[i]].clone())
    }
}

/// Why the result of an instruction may differ between participating lanes.
fn result_origin(slot: usize, inst: &Inst, state: &State) -> Option<Origin> {
    use Op::*;
    let operands = state.any_differs(cells::operands_read(inst));
    if matches!(inst.op.memory().map(|m| m.kind), Some(AccessKind::Atomic(_))) {
        return Some(slot);
    }
    match inst.op {
        MovSr => {
            use Special::{LaneId, ThreadIdX, ThreadIdY, ThreadIdZ};
            let own = [ThreadIdX, ThreadIdY, ThreadIdZ, LaneId];
            Special::from_code(inst.rs1).filter(|special| own.contains(special)).map(|_| slot)
        }
        // The same result for all participating lanes.
        WaveBroadcast | WaveBallot | WaveAny | WaveAll | WaveReduceAdd | WaveReduceMin | WaveReduceMax
        | WaveReduceAnd | WaveReduceOr | WaveReduceXor => None,
        // The same source lane for all, active or not.
        WaveShuffle => state.differs(Cell::from(inst.rs2)),
        WaveShuffleUp | WaveShuffleDown | WaveShuffleXor | WavePrefixSum => Some(operands.unwrap_or(slot)),
        // Lanes that load from the same address with one instruction get the same value.
        _ => operands,
    }
}
