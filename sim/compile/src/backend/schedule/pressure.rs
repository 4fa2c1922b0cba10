//! Rows of registers that are live in a run, in whichever order its instructions come.

use crate::backend::code::{Code, Selected};
use crate::backend::liveness::Set;
use std::collections::HashMap;

/// The values of a run: those that it writes, and those that are there before it.
pub(super) struct Values {
    /// Rows of each.
    rows: Vec<u32>,
    /// Instructions that read each. One that is wanted after the run has one more.
    reads: Vec<u32>,
    /// Values that each instruction reads, without repetition.
    read: Vec<Vec<usize>>,
    /// The value that each instruction writes.
    written: Vec<Option<usize>>,
    /// Rows of all that are live before the run.
    live_before: u32,
}

impl Values {
    /// Of a run after which these registers are wanted.
    pub(super) fn of(selected: &Selected, code: &[Code], wanted: &Set) -> Values {
        let mut values = Values {
            rows: Vec::new(),
            reads: Vec::new(),
            read: Vec::with_capacity(code.len()),
            written: Vec::with_capacity(code.len()),
            live_before: 0,
        };
        // The value that each register has at a place.
        let mut current: HashMap<u32, usize> = HashMap::new();
        let rows_of = |number: u32| u32::from(selected.registers[number as usize].rows);
        for one in code {
            let kept = one.written().filter(|_| one.keeps);
            let mut read: Vec<usize> = Vec::new();
            for register in one.read().chain(kept) {
                let value = *current.entry(register.number).or_insert_with(|| {
                    values.live_before += rows_of(register.number);
                    values.push(rows_of(register.number))
                });
                if !read.contains(&value) {
                    read.push(value);
                    values.reads[value] += 1;
                }
            }
            values.read.push(read);
            let written = one.written().map(|to| {
                let value = values.push(rows_of(to.number));
                current.insert(to.number, value);
                value
            });
            values.written.push(written);
        }
        for number in wanted.iter() {
            match current.get(&number) {
                Some(&value) => values.reads[value] += 1,
                None => values.live_before += rows_of(number),
            }
        }
        values
    }

    fn push(&mut self, rows: u32) -> usize {
        self.rows.push(rows);
        self.reads.push(0);
        self.rows.len() - 1
    }
}

/// Live rows after the instructions that have their place.
pub(super) struct Pressure {
    /// Rows that are live.
    pub(super) rows: u32,
    /// Reads of each value that are to come.
    reads: Vec<u32>,
}

impl Pressure {
    pub(super) fn new(values: &Values) -> Pressure {
        Pressure { rows: values.live_before, reads: values.reads.clone() }
    }

    /// Rows that are live in addition after an instruction.
    pub(super) fn growth(&self, values: &Values, place: usize) -> i32 {
        let written = values.written[place].filter(|&value| self.reads[value] > 0);
        let more = written.map_or(0, |value| values.rows[value] as i32);
        let last = values.read[place].iter().filter(|&&value| self.reads[value] == 1);
        more - last.map(|&value| values.rows[value] as i32).sum::<i32>()
    }

    /// An instruction gets its place.
    pub(super) fn place(&mut self, values: &Values, place: usize) {
        self.rows = self.rows.saturating_add_signed(self.growth(values, place));
        for &value in &values.read[place] {
            self.reads[value] -= 1;
        }
    }
}
