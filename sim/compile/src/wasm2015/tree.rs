//! Function bodies: operators with their immediate operands, and a walk over the trees that they form.

use super::operators::{Form, Row, row};
use super::sections::Sections;
use crate::encoding::{Error, Fault, Reader};
use crate::ir::{Constant, Signature, Type};
use std::ops::Range;

/// What stands between an operator and its children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Immediate {
    None,
    /// A number: of expressions, a depth, or of what it names; the offset of an access.
    Number(u32),
    Constant(Constant),
    /// Targets of a `tableswitch`, and the number of its cases.
    Targets(Vec<u16>, u16),
}

/// A node of a tree.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Byte of its operator.
    pub(super) at: usize,
    pub(super) row: &'static Row,
    pub(super) immediate: Immediate,
    pub(super) children: u32,
}

impl Node {
    /// The number that stands behind the operator.
    pub(super) fn number(&self) -> u32 {
        match self.immediate {
            Immediate::Number(number) => number,
            _ => 0,
        }
    }
}

/// Where a `tableswitch` goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SwitchTarget {
    Case(u32),
    /// To the end of a construct, by depth; 0 is that of the switch.
    Branch(u32),
}

impl SwitchTarget {
    pub(super) fn of(entry: u16) -> SwitchTarget {
        match entry & 0x8000 {
            0 => SwitchTarget::Case(entry.into()),
            _ => SwitchTarget::Branch((entry & 0x7fff).into()),
        }
    }
}

/// A function with a body, and what the operators of its body name.
pub(super) struct Code<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) sections: &'a Sections,
    pub(super) signature: &'a Signature,
    /// Its parameters and local variables.
    pub(super) locals: Vec<Type>,
    pub(super) body: Range<usize>,
}

/// Bits of an access: the others have no meaning.
const HAS_OFFSET: u8 = 1 << 4;
const NOT_ALIGNED: u8 = 1 << 7;

impl Code<'_> {
    /// The signature of a function by its number.
    pub(super) fn signature_of(&self, function: u32) -> Option<&Signature> {
        let entry = self.sections.functions.get(function as usize)?;
        self.sections.signatures.get(usize::from(entry.signature))
    }

    /// Reads an operator with its immediate operands. What they name exists.
    fn node(&self, reader: &mut Reader<'_>) -> Result<Node, Error> {
        let at = reader.at();
        let wrong = |message: String| Error::new(Fault::Invalid, message).at(at as u64);
        let opcode = reader.u8("an operator")?;
        let row = row(opcode).ok_or_else(|| wrong(format!("{opcode:#04x} is no operator")))?;
        let named = |what: &str, number: u32, count: usize| match (number as usize) < count {
            true => Ok(Immediate::Number(number)),
            false => Err(wrong(format!("`{}` names {what} {number}, and there are {count}", row.name))),
        };
        let sections = self.sections;
        let (immediate, children) = match row.form {
            Form::Nop | Form::Unreachable | Form::MemorySize => (Immediate::None, 0),
            Form::Block | Form::Loop => {
                let count = reader.u8("a number of expressions")?;
                (Immediate::Number(count.into()), count.into())
            }
            Form::If => (Immediate::None, 2),
            Form::IfElse | Form::Select => (Immediate::None, 3),
            Form::Br => (Immediate::Number(reader.u8("a depth")?.into()), 1),
            Form::BrIf => (Immediate::Number(reader.u8("a depth")?.into()), 2),
            Form::TableSwitch => {
                let cases = reader.u16("a number of cases")?;
                let count = reader.u16("a number of targets")?;
                let entries = reader.take(2 * usize::from(count), "targets")?;
                let entries = entries.chunks_exact(2).map(|entry| u16::from_le_bytes([entry[0], entry[1]]));
                (Immediate::Targets(entries.collect(), cases), u32::from(cases) + 1)
            }
            Form::Return => (Immediate::None, self.signature.results.len() as u32),
            Form::ShortConstant => {
                let value = reader.u8("a constant")? as i8;
                (Immediate::Constant(Constant::I32(i32::from(value) as u32)), 0)
            }
            Form::Constant(ty) => {
                let bits = match ty.bytes() {
                    4 => reader.u32("a constant")?.into(),
                    _ => reader.u64("a constant")?,
                };
                (Immediate::Constant(Constant::from_bits(ty, bits)), 0)
            }
            Form::GetLocal | Form::SetLocal => {
                let number = reader.varuint32("the number of a variable")?;
                let children = u32::from(row.form == Form::SetLocal);
                (named("local variable", number, self.locals.len())?, children)
            }
            Form::LoadGlobal | Form::StoreGlobal => {
                let number = reader.varuint32("the number of a variable")?;
                let children = u32::from(row.form == Form::StoreGlobal);
                (named("global variable", number, sections.globals.len())?, children)
            }
            Form::CallFunction => {
                let number = reader.varuint32("the number of a function")?;
                let immediate = named("function", number, sections.functions.len())?;
                let signature = self.signature_of(number).expect("numbers of signatures are checked");
                (immediate, signature.parameters.len() as u32)
            }
            Form::CallIndirect => {
                let number = reader.varuint32("the number of a signature")?;
                let immediate = named("signature", number, sections.signatures.len())?;
                let parameters = sections.signatures[number as usize].parameters.len();
                (immediate, parameters as u32 + 1)
            }
            Form::GrowMemory => (Immediate::None, 1),
            Form::Simple(_, operands, _) => {
                let is_access = row.opcode < 0x40;
                let immediate = if is_access { self.access(reader)? } else { Immediate::None };
                (immediate, operands.len() as u32)
            }
        };
        Ok(Node { at, row, immediate, children })
    }

    /// The flags of an access, and its offset.
    fn access(&self, reader: &mut Reader<'_>) -> Result<Immediate, Error> {
        let at = reader.at();
        let flags = reader.u8("the flags of an access")?;
        if flags & !(HAS_OFFSET | NOT_ALIGNED) != 0 {
            let message = format!("flags of an access have bits 4 and 7; {flags:#04x} has others");
            return Err(Error::new(Fault::Invalid, message).at(at as u64));
        }
        let offset = match flags & HAS_OFFSET {
            0 => 0,
            _ => reader.varuint32("the offset of an access")?,
        };
        Ok(Immediate::Number(offset))
    }
}

/// What is done on a walk.
pub(super) trait Visitor {
    /// A node begins.
    fn enter(&mut self, node: &Node) -> Result<(), Error>;

    /// A child of a node is complete: its number, and its first byte.
    fn child(&mut self, node: &Node, index: u32, at: usize) -> Result<(), Error>;

    /// A node is complete with its children; the byte behind it.
    fn leave(&mut self, node: &Node, end: usize) -> Result<(), Error>;

    /// An expression of the function is complete.
    fn expression(&mut self, _at: usize) -> Result<(), Error> {
        Ok(())
    }
}

/// Walks over the body of a function.
pub(super) fn walk(code: &Code<'_>, visitor: &mut impl Visitor) -> Result<(), Error> {
    let mut reader = Reader::part(code.bytes, code.body.clone(), "the body of the function");
    // Nodes that have begun, and how many of their children are complete.
    let mut open: Vec<(Node, u32)> = Vec::new();
    while !reader.is_at_end() || !open.is_empty() {
        if let Some((node, _)) = open.last()
            && reader.is_at_end()
        {
            let message = format!("the body of the function ends inside `{}`", node.row.name);
            return Err(Error::new(Fault::Invalid, message).at(node.at as u64));
        }
        let node = code.node(&mut reader)?;
        visitor.enter(&node)?;
        open.push((node, 0));
        while let Some((node, _)) = open.pop_if(|(node, complete)| *complete == node.children) {
            visitor.leave(&node, reader.at())?;
            match open.last_mut() {
                Some((parent, complete)) => {
                    *complete += 1;
                    visitor.child(parent, *complete - 1, node.at)?;
                }
                None => visitor.expression(node.at)?,
            }
        }
    }
    Ok(())
}
