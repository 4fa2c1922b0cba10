//! What a module has: the values that its sections of NanoWasm have to hold.

use super::Section;
use crate::wasm::Error;
use wasmparser::{BinaryReader, FunctionBody, Operator, Parser, Payload};

/// Entries of a section of the module.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// Byte of the module where the first begins.
    pub(super) first: u64,
    /// Where each is, counted from there.
    pub(super) offsets: Vec<u32>,
}

impl Entries {
    fn push(&mut self, place: u64) {
        self.offsets.push((place - self.first) as u32);
    }
}

/// Offsets of an operator that opens a label, and of its `end`.
pub(super) type Label = [u32; 2];

/// Where things are in a module.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) types: Entries,
    pub(super) function_types: Vec<u32>,
    pub(super) imports: Entries,
    pub(super) bodies: Entries,
    /// Labels of each function.
    pub(super) labels: Vec<Vec<Label>>,
}

impl Layout {
    /// Finds out where things are in a module that is valid and has less than 4 GiB.
    ///
    /// # Errors
    /// None for such a module.
    pub(super) fn of(bytes: &[u8]) -> Result<Layout, Error> {
        let mut layout = Layout::default();
        // Where the next body begins.
        let mut next = 0;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::TypeSection(reader) => {
                    layout.types.first = reader.original_position();
                    for ty in reader.into_iter_with_offsets() {
                        layout.types.push(ty?.0);
                    }
                }
                Payload::ImportSection(reader) => {
                    layout.imports.first = reader.original_position();
                    for import in reader.into_imports_with_offsets() {
                        let start = import?.0;
                        let mut names = BinaryReader::new(&bytes[start as usize..], start);
                        names.read_string()?;
                        names.read_string()?;
                        layout.imports.push(names.original_position());
                    }
                }
                Payload::FunctionSection(reader) => {
                    for ty in reader {
                        layout.function_types.push(ty?);
                    }
                }
                Payload::CodeSectionStart { unchecked_range, .. } => {
                    let start = unchecked_range.start;
                    let mut count = BinaryReader::new(&bytes[start as usize..], start);
                    count.read_var_u32()?;
                    next = count.original_position();
                    layout.bodies.first = next;
                }
                Payload::CodeSectionEntry(body) => {
                    layout.bodies.push(next);
                    layout.labels.push(labels(&body, next)?);
                    next = body.range().end;
                }
                _ => {}
            }
        }
        Ok(layout)
    }

    /// The numbers of a section, but for the labels.
    pub(super) fn numbers(&self, section: Section) -> &[u32] {
        match section {
            Section::Types => &self.types.offsets,
            Section::FunctionTypes => &self.function_types,
            Section::Imports => &self.imports.offsets,
            Section::Bodies => &self.bodies.offsets,
            Section::Labels => &[],
        }
    }

    /// How many things a section has numbers for.
    pub(super) fn count(&self, section: Section) -> usize {
        match section {
            Section::Labels => self.labels.iter().map(Vec::len).sum(),
            other => self.numbers(other).len(),
        }
    }
}

/// The labels of a body whose entry begins at `start`.
fn labels(body: &FunctionBody<'_>, start: u64) -> Result<Vec<Label>, Error> {
    let mut labels: Vec<Label> = Vec::new();
    let mut open = Vec::new();
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        let (operator, place) = operators.read_with_offset()?;
        let offset = (place - start) as u32;
        match operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => {
                open.push(labels.len());
                labels.push([offset, 0]);
            }
            Operator::End => {
                if let Some(label) = open.pop() {
                    labels[label][1] = offset;
                }
            }
            _ => {}
        }
    }
    Ok(labels)
}
