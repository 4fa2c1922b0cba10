//! What is known of the low two bits of integers, so that accesses to private memory need not look.

use crate::ir::{Binary, Block, Constant, Function, Operation, Value};
use cranelift_entity::SecondaryMap;

/// The remainder of an `i32` modulo 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Residue {
    /// Nothing has been found that the value comes from.
    #[default]
    None,
    /// It is this one.
    Is(u32),
    /// It is not known.
    Any,
}

impl Residue {
    /// The remainder, if it is known.
    pub(super) fn known(self) -> Option<u32> {
        match self {
            Residue::Is(residue) => Some(residue),
            _ => None,
        }
    }

    /// What holds for a value that may be either.
    fn or(self, other: Residue) -> Residue {
        match (self, other) {
            (Residue::None, one) | (one, Residue::None) => one,
            (one, other) if one == other => one,
            _ => Residue::Any,
        }
    }
}

/// The remainders of the values of a function. It begins with nothing known to be possible, and goes round until
/// nothing is added, so that a counter that grows by 4 is found out.
pub(super) fn residues(function: &Function) -> SecondaryMap<Value, Residue> {
    let mut found: SecondaryMap<Value, Residue> = SecondaryMap::new();
    for &parameter in &function.blocks[function.entry()].parameters {
        found[parameter] = Residue::Any;
    }
    let order = super::order(function);
    let mut constants: SecondaryMap<Value, Option<u32>> = SecondaryMap::new();
    for instruction in function.blocks.values().flat_map(|body| &body.instructions) {
        if let Operation::Constant(Constant::I32(bits)) = instruction.operation {
            constants[instruction.results[0]] = Some(bits);
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &order {
            changed |= step(function, block, &constants, &mut found);
        }
    }
    found
}

fn step(
    function: &Function,
    block: Block,
    constants: &SecondaryMap<Value, Option<u32>>,
    found: &mut SecondaryMap<Value, Residue>,
) -> bool {
    let mut changed = false;
    let mut set = |found: &mut SecondaryMap<Value, Residue>, value: Value, residue: Residue| {
        let joined = found[value].or(residue);
        changed |= joined != found[value];
        found[value] = joined;
    };
    let body = &function.blocks[block];
    for instruction in &body.instructions {
        let residue = match &instruction.operation {
            Operation::Constant(Constant::I32(bits)) => Residue::Is(bits & 3),
            // The amount of a shift counts, not its remainder.
            Operation::Binary(Binary::Shl, [a, b]) => shifted(found[*a], constants[*b]),
            Operation::Binary(binary, [a, b]) => of_binary(*binary, found[*a], found[*b]),
            Operation::Select([_, a, b]) => found[*a].or(found[*b]),
            _ => Residue::Any,
        };
        for &result in &instruction.results {
            set(found, result, residue);
        }
    }
    for target in body.terminator.targets() {
        let parameters = &function.blocks[target.block].parameters;
        for (&parameter, &argument) in parameters.iter().zip(&target.arguments) {
            let residue = found[argument];
            set(found, parameter, residue);
        }
    }
    changed
}

fn of_binary(binary: Binary, a: Residue, b: Residue) -> Residue {
    use Residue::{Any, Is, None};
    match (binary, a, b) {
        // A multiple of 4 stays one, whatever the other is.
        (Binary::Mul | Binary::And, Is(0), _) | (Binary::Mul | Binary::And, _, Is(0)) => Is(0),
        (_, None, _) | (_, _, None) => None,
        (Binary::Add, Is(a), Is(b)) => Is((a + b) & 3),
        (Binary::Sub, Is(a), Is(b)) => Is(a.wrapping_sub(b) & 3),
        (Binary::Mul, Is(a), Is(b)) => Is((a * b) & 3),
        (Binary::And, Is(a), Is(b)) => Is(a & b),
        (Binary::Or, Is(a), Is(b)) => Is(a | b),
        (Binary::Xor, Is(a), Is(b)) => Is(a ^ b),
        _ => Any,
    }
}

/// A value moved to the left by an amount that may be known.
fn shifted(a: Residue, amount: Option<u32>) -> Residue {
    match (amount.map(|amount| amount % 32), a) {
        (Some(2..), _) => Residue::Is(0),
        (Some(1), Residue::Is(a)) => Residue::Is((2 * a) & 3),
        (Some(0), a) => a,
        (_, Residue::None) => Residue::None,
        _ => Residue::Any,
    }
}
