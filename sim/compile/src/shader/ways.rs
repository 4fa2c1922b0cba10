//! Where control goes on: blocks with the values of the slots at their ends, and what these are where several meet.

use super::Translator;
use crate::ir::{Block, Target, Terminator, Value};

/// A block that goes on somewhere else, with the values of the slots at its end and others that it brings.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) block: Block,
    pub(super) slots: Vec<Value>,
    pub(super) values: Vec<Value>,
}

/// A loop or a switch around the current statement.
#[derive(Debug, Default)]
pub(super) struct Around {
    pub(super) breaks: Vec<Way>,
    /// Ways to the next turn; `None` in a switch.
    pub(super) continues: Option<Vec<Way>>,
}

impl Translator<'_> {
    /// The values of now, to go on elsewhere.
    pub(super) fn way(&self, values: Vec<Value>) -> Way {
        Way { block: self.e.block, slots: self.slots.clone(), values }
    }

    /// Goes on where these ways meet, with the values that they bring. Nothing is reached without a way.
    pub(super) fn meet(&mut self, ways: Vec<Way>) -> Vec<Value> {
        self.is_reached = !ways.is_empty();
        if ways.len() < 2 {
            let Some(Way { block, slots, values }) = ways.into_iter().next() else { return Vec::new() };
            (self.e.block, self.slots) = (block, slots);
            return values;
        }
        let count = ways.iter().map(|way| way.slots.len()).min().expect("there are several");
        let all = |way: &Way| way.slots[..count].iter().chain(&way.values).copied().collect::<Vec<_>>();
        let rows: Vec<Vec<Value>> = ways.iter().map(all).collect();
        let join = self.e.new_block(&[]);
        let mut met = rows[0].clone();
        let mut arguments = vec![Vec::new(); ways.len()];
        let of_slots = self.units(0..count);
        for unit in of_slots.into_iter().chain((count..met.len()).map(|value| value..value + 1)) {
            if rows.iter().all(|row| row[unit.clone()] == met[unit.clone()]) {
                continue;
            }
            let ty = self.e.ty(met[unit.start]);
            let parameter = self.e.new_parameter(join, ty);
            let mut most = 0;
            for ((way, row), arguments) in ways.iter().zip(&rows).zip(&mut arguments) {
                self.e.block = way.block;
                let value = self.joined(&row[unit.clone()]);
                most = most.max(self.e.most(value));
                arguments.push(value);
            }
            self.e.set_most(parameter, Some(most).filter(|&most| most < u32::MAX));
            self.e.block = join;
            let parts = self.parted(parameter, unit.len());
            met[unit].copy_from_slice(&parts);
        }
        for (way, arguments) in ways.iter().zip(arguments) {
            self.e.end_of(way.block, Terminator::Jump(Target { block: join, arguments }));
        }
        self.e.block = join;
        let values = met.split_off(count);
        self.slots = met;
        values
    }
}
