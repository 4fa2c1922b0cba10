//! An instruction, and how it is read from its word.

use super::opcode::{Op, Row, Shape};
use crate::encoding::{Error, Fault};

/// A register that an instruction reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Register {
    /// `v0` to `v15`: an attribute of the vertex.
    Input(u8),
    /// `r0` to `r15`.
    Temporary(u8),
    /// `c0` to `c95`.
    Uniform(u8),
}

/// A register that an instruction writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Destination {
    /// `o0` to `o15`.
    Output(u8),
    /// `r0` to `r15`.
    Temporary(u8),
}

/// What is added to the number of a uniform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Address {
    /// `a0.x`.
    X,
    /// `a0.y`.
    Y,
    /// `aL`.
    Loop,
}

/// A source operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Source {
    pub(super) register: Register,
    /// Of uniforms only.
    pub(super) address: Option<Address>,
    pub(super) negated: bool,
    /// Which component stands in the place of each.
    pub(super) swizzle: [u8; 4],
}

/// How `cmp` compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Relation {
    /// All, in the order of their codes.
    pub(super) const ALL: [Relation; 6] =
        [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];
}

/// How the flags become one truth value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Join {
    Or,
    And,
    X,
    Y,
}

impl Join {
    /// All, in the order of their codes.
    pub(super) const ALL: [Join; 4] = [Join::Or, Join::And, Join::X, Join::Y];
}

/// What decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Test {
    /// The flags: whether each of x and y is the one that is wanted, and how both become one truth value.
    Flags(Join, [bool; 2]),
    /// Whether a boolean uniform has this value.
    Boolean(u8, bool),
}

/// A word and a number of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Region {
    pub(super) start: u16,
    pub(super) count: u8,
}

/// An instruction that computes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Vector {
    pub(super) op: Op,
    /// True for the forms with `i` behind their name: their last source is the wide one.
    pub(super) inverted: bool,
    /// `mova` has none: it writes `a0`.
    pub(super) destination: Destination,
    /// Which components are written.
    pub(super) mask: [bool; 4],
    pub(super) sources: Vec<Source>,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Instruction {
    Vector(Vector),
    Compare([Relation; 2], [Source; 2]),
    Nop,
    End,
    /// Leaves the innermost loop, if there is no test or where it holds.
    Break(Option<Test>),
    Call(Option<Test>, Region),
    /// Runs on where the test holds up to the region, and goes on behind it; else goes to the region.
    If(Test, Region),
    /// Integer uniform, and the last word of the body.
    Loop(u8, u16),
    Jump(Test, u16),
}

/// Bits of a word.
fn field(word: u32, first: u32, count: u32) -> u32 {
    word >> first & ((1 << count) - 1)
}

impl Instruction {
    /// Reads a word.
    pub(super) fn read(word: u32, descriptors: &[u32], early: bool) -> Result<Instruction, Error> {
        let code = word >> 26;
        let Some(row) = Row::of(word, early) else {
            let which = if early { " of the early text" } else { "" };
            return Err(invalid(format!("opcode {code:#04x} is none{which}")));
        };
        let region = Region { start: field(word, 10, 12) as u16, count: word as u8 };
        let flags = || {
            let wanted = [field(word, 25, 1) != 0, field(word, 24, 1) != 0];
            Test::Flags(Join::ALL[field(word, 22, 2) as usize], wanted)
        };
        let boolean = |wanted| Test::Boolean(field(word, 22, 4) as u8, wanted);
        Ok(match (row.op, row.shape) {
            (_, Shape::Two | Shape::TwoInverted | Shape::One | Shape::Three | Shape::ThreeInverted) => {
                Instruction::Vector(vector(row, word, descriptors)?)
            }
            (_, Shape::Compare) => {
                let relation = |first: u32| {
                    let code = field(word, first, 3);
                    let found = Relation::ALL.get(code as usize);
                    found.copied().ok_or_else(|| invalid(format!("relation {code} of `cmp` is none")))
                };
                let descriptor = descriptor(descriptors, field(word, 0, 7))?;
                let first = source(field(word, 12, 7), field(word, 19, 2), descriptor, 4);
                let second = source(field(word, 7, 5), 0, descriptor, 13);
                Instruction::Compare([relation(24)?, relation(21)?], [first, second])
            }
            (Op::Nop, _) => Instruction::Nop,
            (Op::End, _) => Instruction::End,
            (Op::Break, Shape::Plain) => Instruction::Break(None),
            (Op::Break, _) => Instruction::Break(Some(flags())),
            (Op::Call, Shape::Region) => Instruction::Call(None, region),
            (Op::Call, Shape::RegionFlags) => Instruction::Call(Some(flags()), region),
            (Op::Call, _) => Instruction::Call(Some(boolean(true)), region),
            (Op::If, Shape::RegionFlags) => Instruction::If(flags(), region),
            (Op::If, _) => Instruction::If(boolean(true), region),
            (Op::Loop, _) => Instruction::Loop(field(word, 22, 2) as u8, region.start),
            (Op::Jump, Shape::RegionFlags) => Instruction::Jump(flags(), region.start),
            (Op::Jump, _) => Instruction::Jump(boolean(region.count & 1 == 0), region.start),
            _ => return Err(Error::refused(format!("`{}` of geometry shaders", row.name))),
        })
    }
}

fn invalid(message: String) -> Error {
    Error::new(Fault::Invalid, message)
}

/// The descriptor of a number.
fn descriptor(descriptors: &[u32], number: u32) -> Result<u32, Error> {
    let found = descriptors.get(number as usize).copied();
    let message = || format!("descriptor {number} is named, and there are {}", descriptors.len());
    found.ok_or_else(|| invalid(message()))
}

/// A source whose part of the descriptor begins at bit `first`: negation, then the selectors of w to x.
fn source(register: u32, address: u32, descriptor: u32, first: u32) -> Source {
    let register = match register {
        0x00..0x10 => Register::Input(register as u8),
        0x10..0x20 => Register::Temporary(register as u8 - 0x10),
        _ => Register::Uniform(register as u8 - 0x20),
    };
    let address = match address {
        1 => Some(Address::X),
        2 => Some(Address::Y),
        3 => Some(Address::Loop),
        _ => None,
    };
    Source {
        register,
        address: address.filter(|_| matches!(register, Register::Uniform(_))),
        negated: field(descriptor, first, 1) != 0,
        swizzle: [7, 5, 3, 1].map(|up| field(descriptor, first + up, 2) as u8),
    }
}

fn vector(row: Row, word: u32, descriptors: &[u32]) -> Result<Vector, Error> {
    let is_three = matches!(row.shape, Shape::Three | Shape::ThreeInverted);
    let descriptor = descriptor(descriptors, field(word, 0, if is_three { 5 } else { 7 }))?;
    // The place, the width and the address of each source, then its part of the descriptor.
    let sources: &[(u32, u32, bool, u32)] = match row.shape {
        Shape::Two => &[(12, 7, true, 4), (7, 5, false, 13)],
        Shape::TwoInverted => &[(14, 5, false, 4), (7, 7, true, 13)],
        Shape::Three => &[(17, 5, false, 4), (10, 7, true, 13), (5, 5, false, 22)],
        Shape::ThreeInverted => &[(17, 5, false, 4), (12, 5, false, 13), (5, 7, true, 22)],
        _ => &[(12, 7, true, 4)],
    };
    let address = field(word, if is_three { 22 } else { 19 }, 2);
    let sources = sources.iter().map(|&(place, width, moves, part)| {
        source(field(word, place, width), if moves { address } else { 0 }, descriptor, part)
    });
    let destination = match field(word, if is_three { 24 } else { 21 }, 5) as u8 {
        number @ 0x00..0x10 => Destination::Output(number),
        number => Destination::Temporary(number - 0x10),
    };
    Ok(Vector {
        op: row.op,
        inverted: matches!(row.shape, Shape::TwoInverted | Shape::ThreeInverted),
        destination,
        mask: [3, 2, 1, 0].map(|bit| field(descriptor, bit, 1) != 0),
        sources: sources.collect(),
    })
}
