//! Truth values in predicates.
//!
//! p0 is never written, so `!p0` is always true. A comparison is made where it is taken, into one of p1 to p3, as often
//! as need be: that costs no more than keeping its result as a number and comparing that. What else gives a truth value
//! is made once, as 0 or 1 in a general register, but for `and` and `or` with one use: those are comparisons under a
//! guard.

use super::{Code, Register, Selector, Slot};
use crate::ir::{Binary, Compare, Operation, Type, Unary, Value};
use crate::lower::opposite;
use wave_isa::{Guard, Op};

/// A predicate, and whether its complement is meant.
pub(super) type Condition = (u8, bool);

/// Which values are in predicates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Predicates {
    values: [Option<Value>; 4],
    /// When each was last taken.
    taken: [u32; 4],
    now: u32,
}

impl Predicates {
    /// A predicate for something new: the one that was not taken for the longest time.
    pub(super) fn free(&mut self) -> u8 {
        let predicate = (1..4).min_by_key(|&place| self.taken[place]).expect("there are three");
        self.values[predicate] = None;
        self.touch(predicate as u8);
        predicate as u8
    }

    fn touch(&mut self, predicate: u8) {
        self.now += 1;
        self.taken[usize::from(predicate)] = self.now;
    }

    fn find(&mut self, value: Value) -> Option<u8> {
        let place = self.values.iter().position(|&other| other == Some(value))?;
        self.touch(place as u8);
        Some(place as u8)
    }

    /// What is known where lanes of both come together.
    pub(super) fn join(&mut self, other: &Predicates) {
        for (value, other) in self.values.iter_mut().zip(other.values) {
            if *value != other {
                *value = None;
            }
        }
        self.now = self.now.max(other.now);
    }
}

impl Selector<'_> {
    /// A predicate that has a truth value now.
    pub(super) fn condition(&mut self, value: Value) -> Condition {
        if let Some(predicate) = self.predicates.find(value) {
            return (predicate, false);
        }
        if self.values[value].is_none()
            && let Some(Operation::Unary(Unary::Not, inner)) = self.operation(value)
        {
            let (predicate, negated) = self.condition(*inner);
            return (predicate, !negated);
        }
        (self.positive(value), false)
    }

    /// A predicate that has a truth value now, not its complement.
    pub(super) fn positive(&mut self, value: Value) -> u8 {
        if let Some(predicate) = self.predicates.find(value) {
            return predicate;
        }
        let operation = if self.values[value].is_some() { None } else { self.operation(value) };
        let predicate = match operation {
            Some(Operation::Compare(compare, operands)) => {
                let predicate = self.predicates.free();
                self.compare(predicate, *compare, *operands, Guard::NONE);
                predicate
            }
            Some(Operation::Binary(binary @ (Binary::And | Binary::Or), operands)) => {
                self.both(*binary == Binary::And, *operands)
            }
            _ => {
                let number = self.value(value);
                let zero = self.constant(0);
                let predicate = self.predicates.free();
                self.compare_into(predicate, Op::ICmpNe, number, zero);
                predicate
            }
        };
        self.predicates.values[usize::from(predicate)] = Some(value);
        predicate
    }

    /// `and` or `or`: the second value decides where the first does not.
    fn both(&mut self, is_and: bool, [a, b]: [Value; 2]) -> u8 {
        // The second is compared under the guard, so it has to be a comparison, of a number if need be.
        let (first, second) = if self.comparison(b).is_some() { (a, b) } else { (b, a) };
        let second = self.comparison(second).unwrap_or_else(|| {
            let zero = self.constant(0);
            (Op::ICmpNe, [self.as_number(second), zero])
        });
        let before = self.positive(first);
        // The first one's predicate is changed, so it has that value no longer.
        self.predicates.values[usize::from(before)] = None;
        let (op, operands) = second;
        let guard = Guard { predicate: before, negated: !is_and };
        self.compare_under(guard, before, op, operands);
        before
    }

    /// The comparison that gives a truth value, with its operands in registers.
    fn comparison(&mut self, value: Value) -> Option<(Op, [Register; 2])> {
        if self.values[value].is_some() {
            return None;
        }
        match self.operation(value)? {
            Operation::Compare(compare, [a, b]) => {
                let operands = [self.value(*a), self.value(*b)];
                Some((comparison_op(*compare), operands))
            }
            Operation::Unary(Unary::Not, inner) => match self.operation(*inner)? {
                Operation::Compare(compare, [a, b]) if self.values[*inner].is_none() => {
                    let op = comparison_op(opposite(*compare)?);
                    Some((op, [self.value(*a), self.value(*b)]))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn compare(&mut self, predicate: u8, compare: Compare, [a, b]: [Value; 2], guard: Guard) {
        let operands = [self.value(a), self.value(b)];
        self.compare_under(guard, predicate, comparison_op(compare), operands);
    }

    fn compare_under(&mut self, guard: Guard, predicate: u8, op: Op, [a, b]: [Register; 2]) {
        let slots = [Slot::Number(predicate), Slot::Register(a), Slot::Register(b)];
        self.code.push(Code { guard, ..Code::with(op, &slots, self.at) });
    }

    pub(super) fn compare_into(&mut self, predicate: u8, op: Op, a: Register, b: Register) {
        self.compare_under(Guard::NONE, predicate, op, [a, b]);
    }

    /// 0 or 1 for a truth value, in a register.
    pub(super) fn as_number(&mut self, value: Value) -> Register {
        if let Some(register) = self.values[value] {
            return register;
        }
        if let Some(Operation::Constant(constant)) = self.operation(value) {
            return self.constant(constant.bits() as u32);
        }
        let to = self.register();
        self.number_into(to, value);
        to
    }

    pub(super) fn number_into(&mut self, to: Register, value: Value) {
        let condition = self.condition(value);
        let [one, zero] = [1, 0].map(|bits| self.constant(bits));
        self.select_into(to, condition, one, zero);
    }

    pub(super) fn select_into(
        &mut self,
        to: Register,
        (predicate, negated): Condition,
        a: Register,
        b: Register,
    ) {
        let (a, b) = if negated { (b, a) } else { (a, b) };
        let slots = [to, a, b].map(Slot::Register);
        let slots = [slots[0], Slot::Number(predicate), slots[1], slots[2]];
        self.code.push(Code::with(Op::Select, &slots, self.at));
    }

    /// True if a truth value is made where it is taken.
    pub(super) fn is_late(&self, value: Value) -> bool {
        match self.operation(value) {
            Some(Operation::Compare(..) | Operation::Unary(Unary::Not, _)) => true,
            Some(Operation::Binary(Binary::And | Binary::Or, _)) => {
                self.uses[value] == 1
                    && self.used_in[value] == self.definitions[value].map(|(block, _)| block)
            }
            _ => false,
        }
    }

    /// True for truth values.
    pub(super) fn is_truth(&self, value: Value) -> bool {
        self.function.values[value] == Type::Bool
    }
}

/// The instruction of a comparison.
fn comparison_op(compare: Compare) -> Op {
    match compare {
        Compare::Eq => Op::ICmpEq,
        Compare::Ne => Op::ICmpNe,
        Compare::LtS => Op::ICmpLt,
        Compare::LeS => Op::ICmpLe,
        Compare::GtS => Op::ICmpGt,
        Compare::GeS => Op::ICmpGe,
        Compare::LtU => Op::UCmpLt,
        Compare::LeU => Op::UCmpLe,
        Compare::GtU => Op::UCmpGt,
        Compare::GeU => Op::UCmpGe,
        Compare::FEq => Op::FCmpEq,
        Compare::FNe => Op::FCmpNe,
        Compare::FLt => Op::FCmpLt,
        Compare::FLe => Op::FCmpLe,
        Compare::FGt => Op::FCmpGt,
        Compare::FGe => Op::FCmpGe,
    }
}
