//! Loads of device memory ahead of the work in front of them.
//!
//! A machine executes in order, so a load that stands right in front of its use makes its wave wait for all of its
//! latency. Where an instruction would wait for a load, the loads behind it come first, with the instructions that
//! compute their addresses, so that they are all on their way at once. They stay within their run of instructions without
//! control flow, barriers and fences, and keep their order among themselves and with writes of the same memory. So a load
//! happens exactly if it happened before, and gives the same.

use super::code::{Code, Selected, Slot};
use super::liveness::walk;
use std::collections::HashMap;
use wave_isa::Op;
use wave_isa::table::{AccessKind, Space};

/// Loads on their way at once.
const MOST_LOADS: usize = 8;
/// How far behind an instruction loads are looked for.
const WINDOW: usize = 256;
/// Instructions that come with a load.
const MOST_BEFORE: usize = 8;
/// Rows that are live at once without a question: with so many registers of a thread, all waves of most machines fit.
const FREE_ROWS: u32 = 32;
/// Rows that may be live beyond what is there at most.
const MORE_ROWS: u32 = 8;

/// The function with its loads lifted, if any can be. At most `limit` rows are live at once.
pub(super) fn lifted(selected: &Selected, limit: u32) -> Option<Selected> {
    let loads =
        |code: &[Code]| code.iter().filter(|one| access(one) == Some(Access::Load(Space::Device))).count();
    if loads(&selected.code) < 2 {
        return None;
    }
    let live = live_rows(selected);
    let most = live.iter().copied().max().unwrap_or(0).max(FREE_ROWS) + MORE_ROWS;
    let limit = most.min(limit.saturating_sub(MORE_ROWS));
    let mut found: Option<Selected> = None;
    let mut start = 0;
    for end in 0..=selected.code.len() {
        if selected.code.get(end).is_some_and(|code| !ends_run(code)) {
            continue;
        }
        let run = &selected.code[start..end];
        if loads(run) >= 2
            && let Some(order) = Run::new(selected, start..end, &live, limit).order()
        {
            let code = &mut found.get_or_insert_with(|| selected.clone()).code;
            code.splice(start..end, order.into_iter().map(|place| selected.code[start + place].clone()));
        }
        start = end + 1;
    }
    found
}

/// Rows of registers that are wanted behind each instruction.
fn live_rows(selected: &Selected) -> Vec<u32> {
    let mut rows = vec![0; selected.code.len()];
    walk(&selected.code, selected.registers.len(), |place, wanted| {
        rows[place] = wanted.iter().map(|number| u32::from(selected.registers[number as usize].rows)).sum();
    });
    rows
}

/// True for what no instruction passes.
fn ends_run(code: &Code) -> bool {
    code.is_structure()
        || matches!(code.op, Op::Break | Op::Continue | Op::Halt)
        || code.trap.is_some()
        || code.transfer.is_some()
}

/// What an instruction does with memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Load(Space),
    Write(Space),
}

fn access(code: &Code) -> Option<Access> {
    let memory = code.op.memory()?;
    Some(match memory.kind {
        AccessKind::Load => Access::Load(memory.space),
        AccessKind::Store | AccessKind::Atomic(_) | AccessKind::Tile => Access::Write(memory.space),
    })
}

/// Instructions in a row.
struct Run<'s> {
    selected: &'s Selected,
    code: &'s [Code],
    /// For each, those before it that have to stay before it.
    before: Vec<Vec<usize>>,
    /// Rows that are live behind each, in the order so far.
    live: Vec<u32>,
    limit: u32,
}

impl<'s> Run<'s> {
    fn new(selected: &'s Selected, range: std::ops::Range<usize>, live: &[u32], limit: u32) -> Run<'s> {
        let code = &selected.code[range.clone()];
        Run { selected, code, before: before(code), live: live[range].to_vec(), limit }
    }

    /// The new order, if it is another.
    fn order(mut self) -> Option<Vec<usize>> {
        let count = self.code.len();
        let is_load = |place: usize| access(&self.code[place]) == Some(Access::Load(Space::Device));
        let loads: Vec<usize> = (0..count).filter(|&place| is_load(place)).collect();
        let mut next_load = 0;
        let mut order = Vec::with_capacity(count);
        let mut is_placed = vec![false; count];
        // Loads on their way, whose values nothing has taken.
        let mut going: Vec<usize> = Vec::new();
        for place in 0..count {
            if is_placed[place] {
                continue;
            }
            if self.waits_for(place, &going) {
                while going.len() < MOST_LOADS {
                    while loads.get(next_load).is_some_and(|&load| is_placed[load]) {
                        next_load += 1;
                    }
                    let Some(&load) = loads.get(next_load) else { break };
                    let Some(first) = self.with_load(place, load, &is_placed, &going) else { break };
                    for one in first {
                        is_placed[one] = true;
                        order.push(one);
                    }
                    going.push(load);
                }
                going.retain(|&load| !self.before[place].contains(&load));
            }
            is_placed[place] = true;
            order.push(place);
            if is_load(place) {
                going.push(place);
            }
        }
        (!order.is_sorted()).then_some(order)
    }

    /// True if an instruction needs the value of one of these loads.
    fn waits_for(&self, place: usize, loads: &[usize]) -> bool {
        loads.iter().any(|load| self.before[place].contains(load))
    }

    /// What has to come with a load that is lifted in front of an instruction, and the load; `None` if it cannot be lifted.
    fn with_load(
        &mut self,
        place: usize,
        load: usize,
        is_placed: &[bool],
        going: &[usize],
    ) -> Option<Vec<usize>> {
        if load <= place || load - place > WINDOW {
            return None;
        }
        let mut needed = vec![load];
        let mut looked_at = 0;
        while let Some(&one) = needed.get(looked_at) {
            looked_at += 1;
            for &other in &self.before[one] {
                if is_placed[other] {
                    // It would wait for a load itself.
                    if going.contains(&other) {
                        return None;
                    }
                } else if !needed.contains(&other) {
                    let may_come = other != place && access(&self.code[other]).is_none();
                    if !may_come || needed.len() > MOST_BEFORE {
                        return None;
                    }
                    needed.push(other);
                }
            }
        }
        needed.sort_unstable();
        let rows = |one: usize| {
            let to = self.code[one].written();
            to.map_or(0, |to| u32::from(self.selected.registers[to.number as usize].rows))
        };
        let more: u32 = needed.iter().map(|&one| rows(one)).sum();
        if self.live[place..load].iter().any(|live| live + more > self.limit) {
            return None;
        }
        // Each value is there from here on.
        for &one in &needed {
            let rows = rows(one);
            self.live[place..one].iter_mut().for_each(|live| *live += rows);
        }
        Some(needed)
    }
}

/// For each instruction, those before it that have to stay there: that write what it reads or writes, that read what it
/// writes, that touch predicates if it does, and that access its memory if one of the two writes.
fn before(code: &[Code]) -> Vec<Vec<usize>> {
    let mut writers: HashMap<u32, usize> = HashMap::new();
    let mut readers: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut predicates: Option<usize> = None;
    let mut accesses: [(Option<usize>, Vec<usize>); 2] = Default::default();
    let mut all = Vec::with_capacity(code.len());
    for (place, one) in code.iter().enumerate() {
        let mut before: Vec<usize> = Vec::new();
        let read: Vec<u32> = one.read().map(|register| register.number).collect();
        before.extend(read.iter().filter_map(|number| writers.get(number)));
        if let Some(to) = one.written() {
            before.extend(writers.get(&to.number));
            before.extend(readers.remove(&to.number).into_iter().flatten());
            writers.insert(to.number, place);
        }
        for number in read {
            readers.entry(number).or_default().push(place);
        }
        // Numbers in fields are predicates, or special registers, which nothing changes.
        if one.guard.is_some() || one.fields.iter().any(|slot| matches!(slot, Slot::Number(_))) {
            before.extend(predicates.replace(place));
        }
        if let Some(access) = access(one) {
            let (Access::Load(space) | Access::Write(space)) = access;
            let (write, loads) = &mut accesses[usize::from(space == Space::Device)];
            before.extend(*write);
            if access == Access::Write(space) {
                before.append(loads);
                *write = Some(place);
            } else {
                loads.push(place);
            }
        }
        before.sort_unstable();
        before.dedup();
        before.retain(|&other| other != place);
        all.push(before);
    }
    all
}
