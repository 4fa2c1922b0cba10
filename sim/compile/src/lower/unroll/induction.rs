//! Induction variables, and the number of rounds that follows from them.

use super::Simple;
use crate::ir::evaluate;
use crate::ir::{Binary, Block, Compare, Function, Operation, Type, Unary, Value};
use crate::lower::simplify::opposite;
use crate::structure::Graph;
use cranelift_entity::SecondaryMap;

/// Rounds that are counted at most.
const MOST_ROUNDS: u32 = 1 << 16;
/// Greatest step of an induction variable that is an element of an array, or its bytes. A greater one is the stride of a
/// workgroup, whose threads share a few rounds.
const MOST_STEP: u64 = 16;

/// A value in a round.
#[derive(Debug, Clone, Copy)]
enum Formula {
    /// The induction variable.
    Variable,
    /// An operation on the induction variable and a constant.
    Changed(Binary, u64),
}

/// A comparison on which a loop stays.
pub(super) struct Test {
    compare: Compare,
    ty: Type,
    /// Number of the induction variable among the parameters of the header.
    number: usize,
    /// The value that is compared, and with which it is compared.
    value: Formula,
    limit: Value,
    /// The variable in the next round.
    next: Formula,
}

/// Where an induction variable goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    Constant(u64),
    /// A value from before the loop.
    Value(Value),
}

/// An induction variable that goes to a limit.
pub(super) struct Bound {
    /// Number of the variable among the parameters of the header.
    pub(super) variable: usize,
    /// The comparison on which the loop stays, of the variable with something added, and the limit.
    pub(super) compare: Compare,
    pub(super) more: u64,
    pub(super) limit: Limit,
    /// The number that a round adds or takes away.
    pub(super) step: u64,
    pub(super) is_upwards: bool,
}

/// The operations of a function, by their results.
pub(super) struct Definitions<'f> {
    function: &'f Function,
    operations: SecondaryMap<Value, Option<&'f Operation>>,
    /// The block that defines a value.
    blocks: SecondaryMap<Value, Option<Block>>,
}

impl<'f> Definitions<'f> {
    pub(super) fn of(function: &'f Function) -> Definitions<'f> {
        let (mut operations, mut blocks) = (SecondaryMap::new(), SecondaryMap::new());
        for (block, body) in &function.blocks {
            body.parameters.iter().for_each(|&value| blocks[value] = Some(block));
            for one in &body.instructions {
                one.results.iter().for_each(|&value| blocks[value] = Some(block));
                if let [result] = one.results[..] {
                    operations[result] = Some(&one.operation);
                }
            }
        }
        Definitions { function, operations, blocks }
    }

    fn constant(&self, value: Value) -> Option<u64> {
        match self.operations[value] {
            Some(Operation::Constant(constant)) => Some(constant.bits()),
            _ => None,
        }
    }

    fn formula(&self, value: Value, variable: Value) -> Option<Formula> {
        if value == variable {
            return Some(Formula::Variable);
        }
        match self.operations[value]? {
            Operation::Binary(binary, [a, b]) if *a == variable => {
                Some(Formula::Changed(*binary, self.constant(*b)?))
            }
            _ => None,
        }
    }

    /// The comparison on which the loop stays, of an induction variable that is a parameter of its header.
    pub(super) fn test(&self, one: &Simple) -> Option<Test> {
        let (mut condition, mut stays) = one.condition;
        while let Some(Operation::Unary(Unary::Not, inner)) = self.operations[condition] {
            (condition, stays) = (*inner, !stays);
        }
        let Some(&Operation::Compare(compare, [a, b])) = self.operations[condition] else { return None };
        let ty = self.function.values[a];
        if ty.is_float() {
            return None;
        }
        let compare = if stays { compare } else { opposite(compare)? };
        let of = |compare: Compare, compared: Value, limit: Value| {
            let parameters = self.function.blocks[one.header].parameters.iter().enumerate();
            parameters.filter(|&(_, &variable)| self.function.values[variable] == ty).find_map(
                |(number, &variable)| {
                    let value = self.formula(compared, variable)?;
                    let next =
                        self.formula(self.arguments(one.latch, one.header, number).next()?, variable)?;
                    Some(Test { compare, ty, number, value, limit, next })
                },
            )
        };
        of(compare, a, b).or_else(|| of(swapped(compare), b, a))
    }

    /// The values that a block brings to a parameter of another.
    fn arguments(&self, from: Block, to: Block, number: usize) -> impl Iterator<Item = Value> {
        let targets = self.function.blocks[from].terminator.targets().iter();
        targets.filter(move |target| target.block == to).map(move |target| target.arguments[number])
    }

    /// How often a loop jumps back before it is left, if it begins and ends at constants.
    pub(super) fn rounds(&self, graph: &Graph, one: &Simple, test: &Test) -> Option<u32> {
        let limit = self.constant(test.limit)?;
        let outside = graph.order.iter().copied().filter(|&block| !graph.is_inside(block, one.header));
        let mut starts = outside
            .flat_map(|block| self.arguments(block, one.header, test.number))
            .map(|value| self.constant(value));
        let mut now = starts.next()??;
        if starts.any(|other| other != Some(now)) {
            return None;
        }
        let value = |formula: Formula, variable: u64| match formula {
            Formula::Variable => Some(variable),
            Formula::Changed(binary, bits) => evaluate::binary(binary, test.ty, variable, bits).ok(),
        };
        for round in 0..MOST_ROUNDS {
            if !evaluate::compare(test.compare, test.ty, value(test.value, now)?, limit) {
                return Some(round);
            }
            now = value(test.next, now)?;
        }
        None
    }

    /// How the distance to the limit tells the rounds that are left, if the variable goes there in steps.
    pub(super) fn bound(&self, one: &Simple, test: &Test) -> Option<Bound> {
        use Compare::*;
        if !matches!(test.ty, Type::I32 | Type::I64) {
            return None;
        }
        let unused = 64 - 8 * test.ty.bytes();
        let signed = |value: u64| (value << unused) as i64 >> unused;
        let added = |formula: Formula| match formula {
            Formula::Variable => Some(0),
            Formula::Changed(Binary::Add, more) => Some(signed(more)),
            Formula::Changed(Binary::Sub, less) => Some(signed(less).wrapping_neg()),
            _ => None,
        };
        let step = added(test.next)?;
        let is_upwards = step > 0;
        let leads_there = match test.compare {
            Ne => true,
            LtS | LtU | LeS | LeU => is_upwards,
            GtS | GtU | GeS | GeU => !is_upwards,
            _ => false,
        };
        let changes = one.blocks.iter().any(|&block| self.blocks[test.limit] == Some(block));
        let limit = match self.constant(test.limit) {
            Some(bits) => Limit::Constant(bits),
            None if changes => return None,
            None => Limit::Value(test.limit),
        };
        let bound = Bound {
            variable: test.number,
            compare: test.compare,
            more: added(test.value)? as u64 & (u64::MAX >> unused),
            limit,
            step: step.unsigned_abs(),
            is_upwards,
        };
        (leads_there && (1..=MOST_STEP).contains(&bound.step)).then_some(bound)
    }
}

/// The comparison with its sides exchanged.
fn swapped(compare: Compare) -> Compare {
    use Compare::*;
    match compare {
        LtS => GtS,
        LtU => GtU,
        LeS => GeS,
        LeU => GeU,
        GtS => LtS,
        GtU => LtU,
        GeS => LeS,
        GeU => LeU,
        other => other,
    }
}
