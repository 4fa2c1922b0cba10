//! Loops with a counter: how often they turn, and what the counter is at most.

use super::places::{Pointer, To};
use super::{Evaluated, Frame, Translator};
use crate::ir::Value;
use naga::{BinaryOperator, Expression, Handle, Literal, LocalVariable, Statement};

/// A loop whose counter is compared at its beginning and changed by a constant at its end, and nowhere else.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    /// The slot of the counter.
    pub(super) slot: usize,
    /// How often the body runs, if that is known.
    pub(super) turns: Option<u32>,
    /// The greatest number that the counter has in the body, if something is known of it.
    pub(super) most: Option<u32>,
}

impl<'a> Translator<'a> {
    /// What is known of a loop, if it has a counter.
    pub(super) fn counted(
        &self,
        frame: &Frame<'a>,
        body: &'a naga::Block,
        continuing: &'a naga::Block,
    ) -> Option<Counted> {
        let Compared { local, op, right } = compared(frame, body)?;
        let Some(Pointer { to: To::Slots { first: slot, index: None, .. }, ty }) = frame.locals.get(&local)
        else {
            return None;
        };
        let naga::TypeInner::Scalar(scalar) = ty else { return None };
        let is_signed = scalar.kind == naga::ScalarKind::Sint;
        if scalar.width != 4 || scalar.kind == naga::ScalarKind::Float || stores(frame, body, local) != 0 {
            return None;
        }
        let step = step(frame, continuing, local)?;
        let limit_value = self.at_start(frame, [body, continuing], right);
        let limit = match limit_value {
            Some(Limit::Known(bits)) => Some(bits),
            _ => None,
        };
        let start = self.slots.get(*slot).and_then(|&value| self.e.known_i32(value));
        let turns = match (start, limit) {
            (Some(start), Some(limit)) => turns(start, limit, step, op, is_signed),
            _ => None,
        };
        let least_limit = limit.unwrap_or(0);
        let most_of_limit = limit_value.map(|limit| match limit {
            Limit::Known(most) | Limit::AtMost(most) => most,
        });
        // It counts up from a number that is not negative, and not beyond the greatest one with a sign.
        let counts_up = step > 0 && start.is_some_and(|start| start < 1 << 31);
        let stays_below = |limit: u32| limit.checked_add_signed(step).is_some_and(|next| next < 1 << 31);
        let most =
            most_of_limit.filter(|&limit| counts_up && stays_below(limit)).and_then(|limit| match op {
                BinaryOperator::Less => limit.checked_sub(1),
                // It comes to each number up to the limit, if it does not begin behind.
                BinaryOperator::NotEqual if step == 1 && start <= Some(least_limit) => limit.checked_sub(1),
                BinaryOperator::LessEqual => Some(limit),
                _ => None,
            });
        Some(Counted { slot: *slot, turns, most })
    }

    /// The value of an expression in all turns of a loop, as far as it is known when the loop begins.
    fn at_start(
        &self,
        frame: &Frame<'a>,
        loop_: [&'a naga::Block; 2],
        handle: Handle<Expression>,
    ) -> Option<Limit> {
        let expressions = &frame.function.expressions;
        let of = |value: Value| match self.e.known_i32(value) {
            Some(bits) => Limit::Known(bits),
            None => Limit::AtMost(self.e.most(value)),
        };
        match expressions[handle] {
            Expression::Literal(Literal::I32(number)) => Some(Limit::Known(number as u32)),
            Expression::Literal(Literal::U32(number)) => Some(Limit::Known(number)),
            Expression::Constant(constant) => {
                match self.module.global_expressions[self.module.constants[constant].init] {
                    Expression::Literal(Literal::I32(number)) => Some(Limit::Known(number as u32)),
                    Expression::Literal(Literal::U32(number)) => Some(Limit::Known(number)),
                    _ => None,
                }
            }
            Expression::Load { pointer } => {
                let Expression::LocalVariable(local) = expressions[pointer] else { return None };
                let changes = loop_.iter().any(|block| stores(frame, block, local) > 0);
                match frame.locals.get(&local) {
                    Some(Pointer { to: To::Slots { first, index: None, .. }, .. }) if !changes => {
                        self.slots.get(*first).map(|&value| of(value))
                    }
                    _ => None,
                }
            }
            // What is computed in the loop may have another value than in a turn before.
            _ if is_emitted(loop_[0], handle) => None,
            _ => match frame.values.get(&handle) {
                Some(Evaluated::Values(values)) => values.first().map(|&value| of(value)),
                _ => None,
            },
        }
    }
}

/// The number that a counter is compared with.
#[derive(Debug, Clone, Copy)]
enum Limit {
    Known(u32),
    /// Unsigned.
    AtMost(u32),
}

/// True if the expression is computed in a block, before anything else happens there.
fn is_emitted(block: &naga::Block, handle: Handle<Expression>) -> bool {
    let ranges = block.iter().map_while(|statement| match statement {
        Statement::Emit(range) => Some(range.clone()),
        _ => None,
    });
    ranges.flatten().any(|emitted| emitted == handle)
}

/// What a loop that may have a counter compares at its beginning: a variable with an expression.
struct Compared {
    local: Handle<LocalVariable>,
    /// The loop runs on where this is true.
    op: BinaryOperator,
    right: Handle<Expression>,
}

fn compared(frame: &Frame<'_>, body: &naga::Block) -> Option<Compared> {
    let (condition, runs_if) = condition(body)?;
    let expressions = &frame.function.expressions;
    let Expression::Binary { op, left, right } = expressions[condition] else { return None };
    let op = if runs_if { op } else { opposite(op)? };
    let Expression::Load { pointer } = expressions[left] else { return None };
    let Expression::LocalVariable(local) = expressions[pointer] else { return None };
    Some(Compared { local, op, right })
}

/// The variables that loops in a block compare at their beginning.
pub(super) fn counters_inside(frame: &Frame<'_>, block: &naga::Block) -> Vec<Handle<LocalVariable>> {
    let mut counters = Vec::new();
    for statement in block.iter() {
        if let Statement::Loop { body, .. } = statement {
            counters.extend(compared(frame, body).map(|compared| compared.local));
        }
        counters.extend(super::control::inner(statement).flat_map(|inner| counters_inside(frame, inner)));
    }
    counters
}

/// True if the value of an expression follows from these variables and constants alone.
pub(super) fn takes_only(
    frame: &Frame<'_>,
    handle: Handle<Expression>,
    variables: &[Handle<LocalVariable>],
) -> bool {
    let expressions = &frame.function.expressions;
    match expressions[handle] {
        Expression::Literal(_) | Expression::Constant(_) => true,
        Expression::Load { pointer } => {
            matches!(expressions[pointer], Expression::LocalVariable(local) if variables.contains(&local))
        }
        Expression::Binary { left, right, .. } => {
            takes_only(frame, left, variables) && takes_only(frame, right, variables)
        }
        Expression::As { expr, .. } => takes_only(frame, expr, variables),
        _ => false,
    }
}

/// The condition of the `if` that a loop begins with, and whether it runs on where that is true.
fn condition(body: &naga::Block) -> Option<(Handle<Expression>, bool)> {
    let first = body.iter().find(|statement| !matches!(statement, Statement::Emit(_)))?;
    let Statement::If { condition, accept, reject } = first else { return None };
    let breaks = |block: &naga::Block| matches!(block.iter().as_slice(), [Statement::Break]);
    match (accept.is_empty(), reject.is_empty()) {
        (true, false) if breaks(reject) => Some((*condition, true)),
        (false, true) if breaks(accept) => Some((*condition, false)),
        _ => None,
    }
}

const fn opposite(op: BinaryOperator) -> Option<BinaryOperator> {
    Some(match op {
        BinaryOperator::Less => BinaryOperator::GreaterEqual,
        BinaryOperator::LessEqual => BinaryOperator::Greater,
        BinaryOperator::Greater => BinaryOperator::LessEqual,
        BinaryOperator::GreaterEqual => BinaryOperator::Less,
        BinaryOperator::Equal => BinaryOperator::NotEqual,
        BinaryOperator::NotEqual => BinaryOperator::Equal,
        _ => return None,
    })
}

/// How many stores to a variable a block has; a pointer to it that is passed on counts too.
fn stores(frame: &Frame<'_>, block: &naga::Block, local: Handle<LocalVariable>) -> usize {
    let expressions = &frame.function.expressions;
    let is_it = |mut pointer: Handle<Expression>| loop {
        match expressions[pointer] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => pointer = base,
            Expression::LocalVariable(other) => return other == local,
            _ => return false,
        }
    };
    let of = |statement: &Statement| {
        let own = match statement {
            Statement::Store { pointer, .. } => usize::from(is_it(*pointer)),
            Statement::Call { arguments, .. } => arguments.iter().filter(|&&one| is_it(one)).count(),
            _ => 0,
        };
        own + super::control::inner(statement).map(|block| stores(frame, block, local)).sum::<usize>()
    };
    block.iter().map(of).sum()
}

/// What is added to a variable at the end of each turn, if that is all that happens to it.
fn step(frame: &Frame<'_>, continuing: &naga::Block, local: Handle<LocalVariable>) -> Option<i32> {
    if stores(frame, continuing, local) != 1 {
        return None;
    }
    let expressions = &frame.function.expressions;
    let stored = continuing.iter().find_map(|statement| match statement {
        Statement::Store { pointer, value } if matches!(expressions[*pointer], Expression::LocalVariable(one) if one == local) => {
            Some(*value)
        }
        _ => None,
    })?;
    let Expression::Binary { op, left, right } = expressions[stored] else { return None };
    let is_counter = |handle: Handle<Expression>| match expressions[handle] {
        Expression::Load { pointer } => {
            matches!(expressions[pointer], Expression::LocalVariable(one) if one == local)
        }
        _ => false,
    };
    let number = |handle: Handle<Expression>| match expressions[handle] {
        Expression::Literal(Literal::I32(number)) => Some(number),
        Expression::Literal(Literal::U32(number)) => i32::try_from(number).ok(),
        _ => None,
    };
    match op {
        BinaryOperator::Add if is_counter(left) => number(right),
        BinaryOperator::Add if is_counter(right) => number(left),
        BinaryOperator::Subtract if is_counter(left) => number(right)?.checked_neg(),
        _ => None,
    }
}

/// How often a loop turns, up to a bound.
fn turns(start: u32, limit: u32, step: i32, op: BinaryOperator, is_signed: bool) -> Option<u32> {
    const MOST: u32 = 4096;
    let order = |a: u32, b: u32| if is_signed { (a as i32).cmp(&(b as i32)) } else { a.cmp(&b) };
    let mut now = start;
    for turns in 0..MOST {
        let order = order(now, limit);
        let goes_on = match op {
            BinaryOperator::Less => order.is_lt(),
            BinaryOperator::LessEqual => order.is_le(),
            BinaryOperator::Greater => order.is_gt(),
            BinaryOperator::GreaterEqual => order.is_ge(),
            BinaryOperator::NotEqual => order.is_ne(),
            _ => return None,
        };
        if !goes_on {
            return Some(turns);
        }
        now = now.wrapping_add_signed(step);
    }
    None
}
