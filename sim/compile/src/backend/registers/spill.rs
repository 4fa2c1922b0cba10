//! Values in private memory where registers do not suffice.
//!
//! A value that goes to memory has a word of private memory for each row: word k lies 256 * (k + 1) bytes below the
//! private base of the lane. Each instruction that reads it loads it before, each that writes it stores it behind. What
//! one instruction makes from nothing is made again instead.

use super::super::code::{Code, Register, Selected, Slot};
use super::super::private;
use super::graph::Graph;
use crate::ir::Place;
use std::collections::HashMap;
use wave_isa::Op;

/// What an access in a loop counts more than one outside.
const LOOP_WEIGHT: f32 = 8.0;

/// What it costs to have each group in memory; infinite for those that must not be.
pub(super) fn costs(selected: &Selected, graph: &Graph) -> Vec<f32> {
    let mut costs = vec![0.0f32; selected.registers.len()];
    let mut may_go = vec![false; selected.registers.len()];
    let again = made_again(selected);
    let mut weight = 1.0;
    for code in &selected.code {
        match code.op {
            Op::Loop => weight *= LOOP_WEIGHT,
            Op::EndLoop => weight /= LOOP_WEIGHT,
            _ => {}
        }
        for register in code.read().chain(code.written()) {
            let factor = if again.contains_key(&register.number) { 0.25 } else { 1.0 };
            let root = graph.root(register.number) as usize;
            costs[root] += weight * factor;
            may_go[root] |= may_be_spilled(selected, register.number);
        }
    }
    for (cost, may_go) in costs.iter_mut().zip(may_go) {
        if !may_go {
            *cost = f32::INFINITY;
        }
    }
    costs
}

fn may_be_spilled(selected: &Selected, number: u32) -> bool {
    let virtual_ = selected.registers[number as usize];
    virtual_.fixed.is_none() && !virtual_.stays
}

/// Registers that one instruction makes from nothing, with that. Those that nobody writes are 0.
fn made_again(selected: &Selected) -> HashMap<u32, Code> {
    let mut made: HashMap<u32, Option<&Code>> = HashMap::new();
    for code in &selected.code {
        let Some(to) = code.written() else { continue };
        let from_nothing = matches!(code.op, Op::MovImm | Op::MovSr) && !code.guard.is_some();
        let single = from_nothing && to.row == 0 && selected.registers[to.number as usize].rows == 1;
        made.entry(to.number).and_modify(|other| *other = None).or_insert(single.then_some(code));
    }
    let zero = Code::with(Op::MovImm, &[Slot::None], Place::default());
    for register in selected.code.iter().flat_map(Code::read) {
        made.entry(register.number).or_insert(Some(&zero));
    }
    made.into_iter().filter_map(|(number, code)| Some((number, code?.clone()))).collect()
}

/// Where a value is.
enum Home {
    /// Words of private memory from this one.
    Words(u32),
    /// Nowhere: this instruction makes it again.
    Made(Code),
}

/// Puts these groups into memory. False if that needs a private base and the program has none.
pub(super) fn spill(selected: &mut Selected, graph: &Graph, roots: &[u32]) -> bool {
    let mut again = made_again(selected);
    let mut words: HashMap<u32, u32> = HashMap::new();
    let mut homes: HashMap<u32, Home> = HashMap::new();
    for number in 0..selected.registers.len() as u32 {
        let root = graph.root(number);
        if !roots.contains(&root) || !may_be_spilled(selected, number) {
            continue;
        }
        let home = again.remove(&number).map(Home::Made).unwrap_or_else(|| {
            Home::Words(*words.entry(root).or_insert_with(|| {
                let first = selected.spill_words;
                selected.spill_words += u32::from(selected.registers[root as usize].rows);
                first
            }))
        });
        homes.insert(number, home);
    }
    let base = private::base(selected);
    if base.is_none() && !words.is_empty() {
        return false;
    }
    let code = std::mem::take(&mut selected.code);
    let mut rewriter = Rewriter { selected, homes, base };
    code.into_iter().for_each(|code| rewriter.rewrite(code));
    true
}

struct Rewriter<'a> {
    selected: &'a mut Selected,
    homes: HashMap<u32, Home>,
    base: Option<Register>,
}

impl Rewriter<'_> {
    fn rewrite(&mut self, mut code: Code) {
        let homes = &self.homes;
        if let (Some(to), Some(from), true) = (code.written(), code.read().next(), code.is_copy())
            && word(homes, to).is_some()
            && word(homes, to) == word(homes, from)
        {
            return;
        }
        let made_again =
            code.written().is_some_and(|to| matches!(homes.get(&to.number), Some(Home::Made(_))));
        if made_again {
            return;
        }
        // A register that the instruction reads twice is loaded once.
        let mut loaded: Vec<(Register, u8, Register)> = Vec::new();
        for (field, rows) in code.fields_read() {
            let Slot::Register(register) = code.fields[field] else { continue };
            if !self.homes.contains_key(&register.number) {
                continue;
            }
            let before = loaded.iter().find(|(other, count, _)| *other == register && *count == rows);
            let temporary = before.map(|(_, _, temporary)| *temporary);
            let temporary = temporary.unwrap_or_else(|| self.load(register, rows, code.at));
            loaded.push((register, rows, temporary));
            code.fields[field] = Slot::Register(temporary);
        }
        let Some((to, first)) = code.written().and_then(|to| Some((to, word(&self.homes, to)?))) else {
            self.selected.code.push(code);
            return;
        };
        let rows = code.rows_written();
        let temporary = if code.keeps && !code.guard.is_some() {
            self.load(to, rows, code.at)
        } else {
            self.temporary(rows)
        };
        self.selected.registers[temporary.number as usize].not_zero =
            self.selected.registers[to.number as usize].not_zero;
        code.fields[0] = Slot::Register(temporary);
        // Where the guard is false nothing is stored.
        code.keeps &= !code.guard.is_some();
        let (at, guard) = (code.at, code.guard);
        self.selected.code.push(code);
        for row in 0..rows {
            let address = self.temporary(1);
            self.address(address, first + u32::from(row), at);
            let value = Register { row, ..temporary };
            let slots = [address, value].map(Slot::Register);
            self.selected.code.push(Code { guard, ..Code::with(Op::DeviceStoreU32, &slots, at) });
        }
    }

    fn temporary(&mut self, rows: u8) -> Register {
        let register = self.selected.rows(rows);
        self.selected.registers[register.number as usize].stays = true;
        register
    }

    /// Brings rows of a value from its home into a new register.
    fn load(&mut self, register: Register, rows: u8, at: Place) -> Register {
        let temporary = self.temporary(rows);
        match &self.homes[&register.number] {
            Home::Made(code) => {
                let mut code = code.clone();
                code.fields[0] = Slot::Register(temporary);
                self.selected.code.push(code);
            }
            Home::Words(first) => {
                let first = first + u32::from(register.row);
                for row in 0..rows {
                    let to = Register { row, ..temporary };
                    self.address(to, first + u32::from(row), at);
                    let slots = [to, to].map(Slot::Register);
                    let load = Code::with(Op::DeviceLoadU32, &slots, at);
                    self.selected.code.push(Code { keeps: row > 0, ..load });
                }
            }
        }
        temporary
    }

    /// The address of a word of private memory.
    fn address(&mut self, to: Register, word: u32, at: Place) {
        let base = self.base.expect("a value in memory needs the base");
        let mut distance = Code::with(Op::MovImm, &[Slot::Register(to)], at);
        distance.imm = (4 * self.selected.lanes * (word + 1)).wrapping_neg();
        distance.keeps = to.row > 0;
        self.selected.code.push(distance);
        let slots = [to, to, base].map(Slot::Register);
        self.selected.code.push(Code { keeps: to.row > 0, ..Code::with(Op::IAdd, &slots, at) });
    }
}

/// The word of private memory in which a register is, if it is in one.
fn word(homes: &HashMap<u32, Home>, register: Register) -> Option<u32> {
    match homes.get(&register.number) {
        Some(Home::Words(first)) => Some(first + u32::from(register.row)),
        _ => None,
    }
}
