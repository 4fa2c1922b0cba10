//! Holds the sections of a module against what it has.

use super::layout::{Label, Layout};
use super::tables::{Table, Tables};
use super::{NUMBER, Section};
use crate::wasm::module::Sections;
use crate::wasm::{Error, Fault, Features};
use std::ops::Range;

/// What a section has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contents {
    /// The section.
    pub section: Section,
    /// How many types, functions, imports, bodies or labels it has numbers for.
    pub entries: usize,
    /// Bytes of its content, without its name.
    pub bytes: usize,
}

/// Checks that a module has all sections of NanoWasm, and that all are right.
///
/// # Errors
/// A module that is not valid, or the first mistake of each section.
pub fn verify(bytes: &[u8]) -> Result<Vec<Contents>, Vec<Error>> {
    let sections = Sections::valid(bytes, Features::Taken).map_err(|error| vec![error])?;
    let layout = Layout::of(bytes).map_err(|error| vec![error])?;
    let tables = &sections.nanowasm;
    if tables.is_empty() {
        let error = Error::new(Fault::Invalid, "this module has no sections of NanoWasm");
        return Err(vec![error.hint("`wave-sim wasm annotate` writes a module that has them")]);
    }
    let mut errors: Vec<Error> = tables.check_once().err().into_iter().collect();
    let mut contents = Vec::new();
    for section in Section::ALL {
        match tables.get(section) {
            None => {
                errors.push(Error::new(Fault::Invalid, format!("there is no section `{}`", section.name())))
            }
            Some(table) => match check(section, table, &layout) {
                Ok(()) => {
                    let entries = layout.count(section);
                    contents.push(Contents { section, entries, bytes: table.bytes.len() });
                }
                Err(error) => errors.push(error),
            },
        }
    }
    if errors.is_empty() { Ok(contents) } else { Err(errors.into_iter().map(with_hint).collect()) }
}

/// Checks the sections that a valid module has.
pub(super) fn check_those_there(tables: &Tables<'_>, layout: &Layout) -> Result<(), Error> {
    tables.check_once().map_err(with_hint)?;
    for section in Section::ALL {
        if let Some(table) = tables.get(section) {
            check(section, table, layout).map_err(with_hint)?;
        }
    }
    Ok(())
}

fn with_hint(error: Error) -> Error {
    error.hint("`wave-sim wasm annotate` writes the sections of NanoWasm anew")
}

fn check(section: Section, table: &Table<'_>, layout: &Layout) -> Result<(), Error> {
    match section {
        Section::Labels => Labels { table, covered: Vec::new() }.check(&layout.labels),
        other => numbers(other, table, layout.numbers(other)),
    }
}

fn wrong(table: &Table<'_>, byte: usize, message: String) -> Error {
    Error::new(Fault::Invalid, message).at(table.place + byte as u64)
}

/// Checks a section that has a number for each thing.
fn numbers(section: Section, table: &Table<'_>, wanted: &[u32]) -> Result<(), Error> {
    let (name, entry) = (section.name(), section.entry());
    for (index, (has, &wanted)) in table.numbers().zip(wanted).enumerate() {
        if has != wanted {
            let what = match section {
                Section::FunctionTypes => format!("this function has type {wanted}"),
                Section::Imports => format!("the kind of this import is at {wanted}"),
                _ => format!("this {entry} begins at {wanted}"),
            };
            let message = format!("`{name}` gives {has} for {entry} {index}, but {what}");
            return Err(wrong(table, index * NUMBER, message));
        }
    }
    if table.bytes.len() != wanted.len() * NUMBER {
        let byte = table.bytes.len().min(wanted.len() * NUMBER);
        let (has, wanted_bytes) = (table.bytes.len(), wanted.len() * NUMBER);
        let count = wanted.len();
        let message = format!(
            "`{name}` has {has} bytes, but {wanted_bytes} were expected: {NUMBER} for each {entry}, of which the module \
             has {count}"
        );
        return Err(wrong(table, byte, message));
    }
    Ok(())
}

/// A check of `nw_lo`.
struct Labels<'a> {
    table: &'a Table<'a>,
    /// Bytes that belong to a function.
    covered: Vec<Range<usize>>,
}

impl Labels<'_> {
    fn check(mut self, wanted: &[Vec<Label>]) -> Result<(), Error> {
        let array = wanted.len() * NUMBER;
        self.covered.push(0..array);
        for (function, labels) in wanted.iter().enumerate() {
            self.function(function, labels, array)?;
        }
        self.all_covered()
    }

    fn function(&mut self, function: usize, wanted: &[Label], array: usize) -> Result<(), Error> {
        let table = self.table;
        let (size, at) = (table.bytes.len(), function * NUMBER);
        let Some(entry) = table.number_at(at) else {
            let message = format!(
                "`nw_lo` ends here, but the offset to the labels of function {function} was expected"
            );
            return Err(wrong(table, size.min(at), message));
        };
        let place = entry as usize;
        let Some(count) = table.number_at(place).filter(|_| place >= array) else {
            let last = size.saturating_sub(NUMBER);
            let message = format!(
                "`nw_lo` gives {entry} for function {function}, but an offset from {array} to {last} was expected"
            );
            return Err(wrong(table, at, message));
        };
        if count as usize != wanted.len() {
            let message =
                format!("`nw_lo` gives {count} labels to function {function}, but it has {}", wanted.len());
            return Err(wrong(table, place, message));
        }
        let numbers = wanted.iter().flatten().enumerate();
        for (index, &wanted) in numbers {
            let byte = place + NUMBER + index * NUMBER;
            let (label, what) = (index / 2, if index % 2 == 0 { "begins" } else { "ends" });
            let Some(has) = table.number_at(byte) else {
                let message =
                    format!("`nw_lo` ends here, but label {label} of function {function} was expected");
                return Err(wrong(table, size.min(byte), message));
            };
            if has != wanted {
                let message = format!(
                    "`nw_lo` says that label {label} of function {function} {what} at {has}, but it {what} at {wanted}"
                );
                return Err(wrong(table, byte, message));
            }
        }
        self.covered.push(place..place + NUMBER + wanted.len() * 2 * NUMBER);
        Ok(())
    }

    /// Checks that there is no byte that belongs to no function.
    fn all_covered(mut self) -> Result<(), Error> {
        self.covered.sort_unstable_by_key(|range| range.start);
        let mut end = 0;
        for range in self.covered.iter().chain([&(self.table.bytes.len()..self.table.bytes.len())]) {
            if range.start > end {
                let message = format!("byte {end} of `nw_lo` belongs to no function");
                return Err(wrong(self.table, end, message));
            }
            end = end.max(range.end);
        }
        Ok(())
    }
}
