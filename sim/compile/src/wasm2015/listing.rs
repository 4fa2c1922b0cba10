//! A module as text: what its sections say, and a line for each operator, indented by its depth.

use super::operators::Form;
use super::sections::{FunctionEntry, Sections};
use super::tree::{Code, Immediate, Node, SwitchTarget, Visitor, walk};
use crate::encoding::{Error, Listing};
use crate::ir::{Constant, Place, Signature, Type};
use std::fmt::Write;

/// Deepest indentation, in levels. Behind it the line says its depth.
const DEEPEST: usize = 40;

/// The text of a module that is right. `code` gives the code of a function.
pub(super) fn listing<'a>(
    bytes: &'a [u8],
    sections: &'a Sections,
    names: &'a [Option<String>],
    code: impl Fn(&FunctionEntry) -> Option<Code<'a>>,
) -> Listing {
    let mut write = Write2015 { sections, names, listing: Listing::default(), depth: 0, code: None };
    write.sections();
    for (number, entry) in sections.functions.iter().enumerate() {
        write.function(number, entry, code(entry));
    }
    write.listing.note(&format!("end at {:#x} of {:#x}", sections.end, bytes.len()));
    write.listing
}

struct Write2015<'a> {
    sections: &'a Sections,
    names: &'a [Option<String>],
    listing: Listing,
    /// Nodes that are open.
    depth: usize,
    /// Types of the parameters and variables of the function.
    code: Option<Vec<Type>>,
}

/// Parameters and result.
fn types(signature: &Signature) -> String {
    let parameters: Vec<&str> = signature.parameters.iter().map(|ty| ty.name()).collect();
    let result = signature.results.first().map_or("nothing", |ty| ty.name());
    format!("({}) -> {result}", parameters.join(", "))
}

impl Write2015<'_> {
    fn sections(&mut self) {
        let Write2015 { sections, listing, .. } = self;
        if let Some(memory) = sections.memory {
            let exported = if memory.is_exported { ", exported" } else { "" };
            let [least, most] = [memory.least_log2, memory.most_log2].map(|log2| 1u64 << log2);
            listing.note(&format!("memory {least} to {most} bytes{exported}"));
        }
        for (number, signature) in sections.signatures.iter().enumerate() {
            listing.note(&format!("signature {number} {}", types(signature)));
        }
        for (number, global) in sections.globals.iter().enumerate() {
            let exported = if global.is_exported { ", exported" } else { "" };
            listing.note(&format!("global {number} {}{exported}", global.ty.name));
        }
        for (number, segment) in sections.segments.iter().enumerate() {
            let loaded = if segment.is_loaded { "" } else { ", not loaded" };
            let (address, bytes, offset) = (segment.address, segment.bytes, segment.offset);
            listing.note(&format!("data {number} at {address}: {bytes} bytes from {offset:#x} on{loaded}"));
        }
        if let Some(table) = &sections.table {
            let functions: Vec<String> = table.iter().map(|(_, function)| function.to_string()).collect();
            listing.note(&format!("table {}", functions.join(" ")));
        }
        for (at, size) in &sections.passed {
            listing.note(&format!("section 0x11 at {at:#x}: {size} bytes, passed over"));
        }
    }

    fn name(&self, function: usize) -> String {
        match self.names.get(function) {
            Some(Some(name)) => format!("{function} `{}`", name.escape_debug()),
            _ => function.to_string(),
        }
    }

    fn function(&mut self, number: usize, entry: &FunctionEntry, code: Option<Code<'_>>) {
        let signature = &self.sections.signatures[usize::from(entry.signature)];
        let kind = if entry.body.is_none() { "import" } else { "function" };
        let exported = if entry.is_export { ", exported" } else { "" };
        let line = format!(
            "{kind} {} signature {} {}{exported}",
            self.name(number),
            entry.signature,
            types(signature)
        );
        self.listing.instruction(Place(entry.at as u32), &line);
        let Some(code) = code else { return };
        let names = ["i32", "i64", "f32", "f64"];
        let counts = names.iter().zip(&entry.locals).filter(|(_, count)| **count > 0);
        let counts: Vec<String> = counts.map(|(name, count)| format!("{count} {name}")).collect();
        if !counts.is_empty() {
            self.listing.note(&format!("    locals {}", counts.join(", ")));
        }
        self.code = Some(code.locals.clone());
        self.depth = 0;
        walk(&code, self).expect("the function was checked");
    }

    /// What stands behind the name of an operator.
    fn operand(&self, node: &Node) -> String {
        let number = node.number();
        match (&node.immediate, node.row.form) {
            (Immediate::None, _) => String::new(),
            (Immediate::Constant(constant), _) => match *constant {
                Constant::I32(value) => format!(" {}", value as i32),
                Constant::I64(value) => format!(" {}", value as i64),
                Constant::F32(bits) => float(f32::from_bits(bits).into(), bits.into(), 8),
                Constant::F64(bits) => float(f64::from_bits(bits), bits, 16),
                Constant::Bool(value) => format!(" {value}"),
            },
            (Immediate::Targets(targets, _), _) => {
                let mut text = String::new();
                for &target in targets {
                    _ = match SwitchTarget::of(target) {
                        SwitchTarget::Case(case) => write!(text, " case {case}"),
                        SwitchTarget::Branch(depth) => write!(text, " br {depth}"),
                    };
                }
                text
            }
            (Immediate::Number(_), Form::Simple(..)) if number == 0 => String::new(),
            (Immediate::Number(_), Form::Simple(..)) => format!(" offset {number}"),
            (Immediate::Number(_), Form::CallFunction) => format!(" {}", self.name(number as usize)),
            (Immediate::Number(_), Form::GetLocal | Form::SetLocal) => {
                let ty = self.code.as_ref().and_then(|types| types.get(number as usize));
                format!(" {number} {}", ty.map_or("", |ty| ty.name()))
            }
            (Immediate::Number(_), _) => format!(" {number}"),
        }
    }
}

/// A float: in decimal, or its bits where it is not a number.
fn float(value: f64, bits: u64, digits: usize) -> String {
    if value.is_nan() { format!(" nan {bits:#0width$x}", width = digits + 2) } else { format!(" {value:?}") }
}

impl Visitor for Write2015<'_> {
    fn enter(&mut self, node: &Node) -> Result<(), Error> {
        let deeper = if self.depth > DEEPEST { format!("[{}] ", self.depth) } else { String::new() };
        let indentation = 2 * self.depth.min(DEEPEST);
        let text =
            format!("{:#08x}  {:indentation$}{deeper}{}{}", node.at, "", node.row.name, self.operand(node));
        self.listing.instruction(Place(node.at as u32), &text);
        self.depth += 1;
        Ok(())
    }

    fn child(&mut self, _: &Node, _: u32, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn leave(&mut self, _: &Node, _: usize) -> Result<(), Error> {
        self.depth -= 1;
        Ok(())
    }
}
