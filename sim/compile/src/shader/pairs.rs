//! Vectors component by component. Binary16 numbers are computed two at once where the words that they come from are
//! there, and pairs of slots go from one block to another as words.

use super::emit::Emitter;
use super::{Translator, Wrong};
use crate::ir::Value;
use std::ops::Range;

/// Computes both halves of a word from those of the operands.
pub(super) type Pairwise = fn(&mut Emitter, &[Value]) -> Value;

impl Translator<'_> {
    /// A function of the components of vectors. A scalar among them is every component; `pair`, if there is one, computes two
    /// components at once.
    pub(super) fn componentwise(
        &mut self,
        operands: &[&[Value]],
        pair: Option<Pairwise>,
        one: impl Fn(&mut Self, &[Value]) -> Result<Value, Wrong>,
    ) -> Result<Vec<Value>, Wrong> {
        let count = operands.iter().map(|operand| operand.len()).max().expect("it has operands");
        let at = |operand: &[Value], number: usize| operand[if operand.len() == 1 { 0 } else { number }];
        let mut results = Vec::with_capacity(count);
        while results.len() < count {
            let number = results.len();
            let pairs =
                operands.iter().map(|operand| [at(operand, number), at(operand, (number + 1) % count)]);
            let pairs: Vec<[Value; 2]> = pairs.collect();
            let is_pair = number + 1 < count && pairs.iter().all(|&pair| self.e.is_pair(pair));
            if let Some(pair) = pair.filter(|_| is_pair) {
                let words: Vec<Value> = pairs.into_iter().map(|pair| self.e.pack(pair)).collect();
                let word = pair(&mut self.e, &words);
                results.extend(self.e.unpack(word));
                continue;
            }
            let scalars: Vec<Value> = pairs.iter().map(|pair| pair[0]).collect();
            results.push(one(self, &scalars)?);
        }
        Ok(results)
    }

    /// Slots, in ascending order, as those that go together from one block to another: two of a word, the others alone.
    pub(super) fn units(&self, slots: impl IntoIterator<Item = usize>) -> Vec<Range<usize>> {
        let mut units: Vec<Range<usize>> = Vec::new();
        for slot in slots {
            if units.last().is_some_and(|unit| unit.contains(&slot)) {
                continue;
            }
            let is_second = slot > 0 && self.begins_pair[slot - 1];
            let first = if is_second { slot - 1 } else { slot };
            units.push(first..first + if self.begins_pair[first] { 2 } else { 1 });
        }
        units
    }

    /// The value in which those of a unit go together.
    pub(super) fn joined(&mut self, unit: &[Value]) -> Value {
        match *unit {
            [low, high] => self.e.pack([low, high]),
            _ => unit[0],
        }
    }

    /// The values of a unit of so many slots.
    pub(super) fn parted(&mut self, value: Value, slots: usize) -> Vec<Value> {
        if slots == 2 { self.e.unpack(value).to_vec() } else { vec![value] }
    }
}
