//! Order of the instructions of a run: list scheduling by the longest path.
//!
//! A machine executes in order, so a wave waits at the first instruction whose operands are not there, although later
//! instructions could execute. The scheduler moves independent work into such gaps: loads of device memory come first
//! with the instructions that compute their addresses, so that several are under way at once, and results are read as
//! late as possible. Instructions stay within their run: no control flow, call, barrier, fence or trap is passed. Writes
//! of a memory keep their order, loads pass no write that may concern the same bytes. So an access happens exactly if it
//! happened before, and has the same value.
//!
//! The order is that of list scheduling: of the instructions whose operands are there, the one comes next whose longest
//! path of latencies to the end of the run is longest. Where more registers would be live than are free of cost, the one
//! comes next that leaves the fewest live. A run keeps its order if the new one is not shorter by the same latencies.

mod dependences;
mod pressure;

use super::code::{Code, Selected};
use super::liveness::{Set, walk};
use dependences::{Constants, Edge, dependences};
use pressure::{Pressure, Values};
use std::cmp::Reverse;
use wave_isa::Op;
use wave_isa::table::ExecClass;

/// Instructions of a run that are scheduled together; longer runs are cut, so that time grows with length only.
const WINDOW: usize = 512;
/// Live rows that cost nothing: with so many registers of a thread, all waves of most machines fit.
const FREE_ROWS: u32 = 32;
/// Rows that may be live beyond the most that are live anyway: what is tried, in this order.
pub(super) const MORE_ROWS: [u32; 2] = [8, 0];
/// Registers beyond these rows that a function may need, because values of several rows leave gaps.
const MOST_GAPS: u32 = 8;

/// A function in another order.
pub(super) struct Scheduled {
    pub(super) selected: Selected,
    /// Registers for which the order is worth it.
    pub(super) most_registers: u32,
}

/// The function in its new order, if it is another, for machine registers up to `limit`.
pub(super) fn scheduled(selected: &Selected, limit: u32, more_rows: u32) -> Option<Scheduled> {
    let runs = runs(&selected.code);
    let mut wanted: Vec<Set> = Vec::with_capacity(runs.len());
    let mut most = FREE_ROWS;
    walk(&selected.code, selected.registers.len(), |place, set| {
        most = most.max(set.iter().map(|number| u32::from(selected.registers[number as usize].rows)).sum());
        // From the last instruction to the first.
        if runs.iter().rev().nth(wanted.len()).is_some_and(|run| run.end == place + 1) {
            wanted.push(set.clone());
        }
    });
    let limit = (most + more_rows).min(limit.saturating_sub(MOST_GAPS));
    let constants = Constants::of(selected);
    let mut found: Option<Selected> = None;
    for (range, wanted) in runs.into_iter().zip(wanted.into_iter().rev()) {
        let run = Run::new(selected, &selected.code[range.clone()], &wanted, &constants);
        if let Some(order) = run.order(limit) {
            let code = &mut found.get_or_insert_with(|| selected.clone()).code;
            let order = order.into_iter().map(|place| selected.code[range.start + place].clone());
            code.splice(range.clone(), order);
        }
    }
    Some(Scheduled { selected: found?, most_registers: most + MORE_ROWS[0] + MOST_GAPS })
}

/// Runs of three instructions or more.
fn runs(code: &[Code]) -> Vec<std::ops::Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for end in 0..=code.len() {
        let ends = code.get(end).is_none_or(ends_run);
        if !ends && end - start < WINDOW {
            continue;
        }
        if end - start >= 3 {
            runs.push(start..end);
        }
        start = if ends { end + 1 } else { end };
    }
    runs
}

/// True for an instruction that no other passes.
fn ends_run(code: &Code) -> bool {
    code.is_structure()
        || matches!(code.op, Op::Break | Op::Continue | Op::Halt)
        || code.trap.is_some()
        || code.transfer.is_some()
}

/// Cycles from the issue of an instruction to that of one that reads its result, on a machine of the usual kind
/// (`configs/gpu.ron`; a load of device memory that hits in the L2).
fn latency(code: &Code) -> u32 {
    if code.written().is_none() && code.written_predicate().is_none() {
        return 1;
    }
    match code.op.info().class {
        ExecClass::DeviceMemory => 200,
        ExecClass::LocalMemory => 20,
        ExecClass::IntDiv | ExecClass::Fp32Div => 24,
        ExecClass::Fp64Div => 36,
        ExecClass::Fp64 | ExecClass::Sfu | ExecClass::Wave => 8,
        ExecClass::Mma => 12,
        ExecClass::IntMul | ExecClass::Fp32 | ExecClass::Fp16 | ExecClass::Convert => 5,
        _ => 4,
    }
}

/// Instructions in a row.
struct Run<'s> {
    code: &'s [Code],
    /// For each, those that have to come after it.
    after: Vec<Vec<Edge>>,
    /// For each, the number of those before it.
    before: Vec<u32>,
    values: Values,
}

impl<'s> Run<'s> {
    fn new(selected: &Selected, code: &'s [Code], wanted: &Set, constants: &Constants) -> Run<'s> {
        let after = dependences(selected, code, constants);
        let mut before = vec![0; code.len()];
        after.iter().flatten().for_each(|edge| before[edge.to] += 1);
        Run { code, after, before, values: Values::of(selected, code, wanted) }
    }

    /// The new order, if it is shorter.
    fn order(&self, limit: u32) -> Option<Vec<usize>> {
        let count = self.code.len();
        let mut heights = vec![0; count];
        for place in (0..count).rev() {
            let below = self.after[place].iter().map(|edge| edge.latency + heights[edge.to]);
            heights[place] = below.max().unwrap_or(0).max(latency(&self.code[place]));
        }
        let mut before = self.before.clone();
        let mut clock = Clock::new(count);
        let mut ready: Vec<usize> = (0..count).filter(|&place| before[place] == 0).collect();
        let mut pressure = Pressure::new(&self.values);
        let mut order = Vec::with_capacity(count);
        while !ready.is_empty() {
            let best = (0..ready.len()).max_by_key(|&at| {
                let place = ready[at];
                let growth = pressure.growth(&self.values, place);
                let fits = pressure.rows as i32 + growth <= limit as i32;
                // Of those that fit, those whose operands are there, and of these the longest path.
                let wait = Reverse(clock.start[place].max(clock.now) - clock.now);
                (fits, if fits { 0 } else { -growth }, wait, heights[place], Reverse(place))
            });
            let place = ready.swap_remove(best.expect("there is one"));
            clock.issue(self, place);
            pressure.place(&self.values, place);
            order.push(place);
            for edge in &self.after[place] {
                before[edge.to] -= 1;
                if before[edge.to] == 0 {
                    ready.push(edge.to);
                }
            }
        }
        let mut as_it_was = Clock::new(count);
        (0..count).for_each(|place| as_it_was.issue(self, place));
        (clock.end < as_it_was.end).then_some(order)
    }
}

/// Cycles of a wave that is alone.
struct Clock {
    /// The first cycle of each instruction, by what has issued so far.
    start: Vec<u32>,
    now: u32,
    /// The cycle in which all results are there.
    end: u32,
}

impl Clock {
    fn new(count: usize) -> Clock {
        Clock { start: vec![0; count], now: 0, end: 0 }
    }

    /// An instruction of a run issues.
    fn issue(&mut self, run: &Run<'_>, place: usize) {
        let cycle = self.start[place].max(self.now);
        self.now = cycle + 1;
        self.end = self.end.max(cycle + latency(&run.code[place]));
        for edge in &run.after[place] {
            self.start[edge.to] = self.start[edge.to].max(cycle + edge.latency);
        }
    }
}
