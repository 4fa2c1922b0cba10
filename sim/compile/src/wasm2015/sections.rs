//! The sections of a module, up to the one that ends them.

use crate::encoding::{Error, Fault, Reader};
use crate::ir::{Signature, Type};
use std::collections::BTreeMap;
use std::ops::Range;

/// The identifying bytes of sections, with their names.
const MEMORY: u8 = 0x00;
const SIGNATURES: u8 = 0x01;
const FUNCTIONS: u8 = 0x02;
const GLOBALS: u8 = 0x03;
const SEGMENTS: u8 = 0x04;
const TABLE: u8 = 0x05;
const END: u8 = 0x06;
const WLL: u8 = 0x11;

/// Largest memory size, a power of 2: its bytes are an `i32`.
const MOST_MEMORY_LOG2: u8 = 31;

/// Bits of the flags of a function.
const HAS_NAME: u8 = 1;
const IS_IMPORT: u8 = 2;
const HAS_LOCALS: u8 = 4;
const IS_EXPORT: u8 = 8;

/// The memory section. Sizes are powers of 2, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemorySection {
    pub(super) least_log2: u8,
    pub(super) most_log2: u8,
    pub(super) is_exported: bool,
}

/// A function as its entry says it.
#[derive(Debug, Clone)]
pub(super) struct FunctionEntry {
    /// Its first byte.
    pub(super) at: usize,
    /// Number of its signature.
    pub(super) signature: u16,
    /// Where its name is in the file.
    pub(super) name: Option<u32>,
    pub(super) is_export: bool,
    /// Counts of local variables: `i32`, `i64`, `f32`, `f64`.
    pub(super) locals: [u16; 4],
    /// Its body; none if it is an import.
    pub(super) body: Option<Range<usize>>,
}

/// A global variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct GlobalEntry {
    pub(super) at: usize,
    pub(super) name: u32,
    pub(super) ty: GlobalType,
    pub(super) is_exported: bool,
}

/// The type of a global variable: a memory type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GlobalType {
    pub(super) name: &'static str,
    pub(super) ty: Type,
    /// Bytes that it holds.
    pub(super) bytes: u32,
    /// They are extended with the sign.
    pub(super) signed: bool,
}

/// Memory types by their numbers.
#[rustfmt::skip] // With and without a sign.
const GLOBAL_TYPES: [GlobalType; 10] = {
    const fn ty(name: &'static str, ty: Type, bytes: u32, signed: bool) -> GlobalType {
        GlobalType { name, ty, bytes, signed }
    }
    [
        ty("i8", Type::I32, 1, true), ty("u8", Type::I32, 1, false),
        ty("i16", Type::I32, 2, true), ty("u16", Type::I32, 2, false),
        ty("i32", Type::I32, 4, true), ty("u32", Type::I32, 4, false),
        ty("i64", Type::I64, 8, true), ty("u64", Type::I64, 8, false),
        ty("f32", Type::F32, 4, false), ty("f64", Type::F64, 8, false),
    ]
};

/// A data segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) at: usize,
    /// Where it begins in memory.
    pub(super) address: u32,
    /// Where it is in the file.
    pub(super) offset: u32,
    pub(super) bytes: u32,
    /// It is loaded when the module is.
    pub(super) is_loaded: bool,
}

/// The sections, as they are in the file. Only what their structure needs is checked.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub(super) memory: Option<MemorySection>,
    pub(super) signatures: Vec<Signature>,
    pub(super) functions: Vec<FunctionEntry>,
    pub(super) globals: Vec<GlobalEntry>,
    pub(super) segments: Vec<Segment>,
    /// Function numbers of the table, with their bytes; none without the section.
    pub(super) table: Option<Vec<(usize, u16)>>,
    /// Sections that are passed over: first byte and bytes of their contents.
    pub(super) passed: Vec<(usize, u32)>,
    /// Where the end section is.
    pub(super) end: usize,
    /// Sections that have come, with their first bytes.
    seen: BTreeMap<u8, usize>,
}

fn invalid(message: impl Into<String>, at: usize) -> Error {
    Error::new(Fault::Invalid, message).at(at as u64)
}

/// A byte that is 0 or 1.
fn truth(reader: &mut Reader<'_>, what: &str) -> Result<bool, Error> {
    let at = reader.at();
    match reader.u8(what)? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(invalid(format!("{what} is 0 or 1, not {other}"), at)),
    }
}

fn value_type(reader: &mut Reader<'_>, what: &str) -> Result<Option<Type>, Error> {
    let at = reader.at();
    match reader.u8(what)? {
        0 => Ok(None),
        1 => Ok(Some(Type::I32)),
        2 => Ok(Some(Type::I64)),
        3 => Ok(Some(Type::F32)),
        4 => Ok(Some(Type::F64)),
        other => Err(invalid(format!("{what} is a type from 0 to 4, not {other}"), at)),
    }
}

impl Sections {
    /// Reads sections up to the one that ends them. What is behind that is not looked at.
    pub(super) fn new(bytes: &[u8]) -> Result<Sections, Error> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(Error::new(Fault::Invalid, "this module has more than 4 GiB"));
        }
        let mut sections = Sections::default();
        let mut reader = Reader::new(bytes);
        loop {
            let at = reader.at();
            let id = reader.u8("a section or the end section (0x06)")?;
            if id != WLL
                && let Some(first) = sections.seen.insert(id, at)
            {
                let message = format!("section {id:#04x} is there twice; the first is at byte {first:#x}");
                return Err(invalid(message, at));
            }
            match id {
                MEMORY => sections.memory(&mut reader)?,
                SIGNATURES => sections.signatures(&mut reader)?,
                FUNCTIONS => {
                    sections.needs(SIGNATURES, "the functions", "the signatures", at)?;
                    sections.functions(&mut reader)?;
                }
                GLOBALS => sections.globals(&mut reader)?,
                SEGMENTS => sections.segments(&mut reader)?,
                TABLE => {
                    sections.needs(FUNCTIONS, "the function table", "the functions", at)?;
                    sections.table(&mut reader)?;
                }
                WLL => {
                    let size = reader.varuint32("the size of a section")?;
                    sections.passed.push((at, size));
                    reader.take(size as usize, "the content of a section")?;
                }
                END => {
                    sections.end = at;
                    return Ok(sections);
                }
                _ => return Err(invalid(format!("there is no section {id:#04x}"), at)),
            }
        }
    }

    fn needs(&self, before: u8, what: &str, other: &str, at: usize) -> Result<(), Error> {
        let error = || invalid(format!("{other} have to come before {what}"), at);
        if self.seen.contains_key(&before) { Ok(()) } else { Err(error()) }
    }

    fn memory(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let at = reader.at();
        let [least_log2, most_log2] =
            [reader.u8("the least memory size")?, reader.u8("the most memory size")?];
        let is_exported = truth(reader, "whether memory is exported")?;
        if least_log2 > most_log2 || most_log2 > MOST_MEMORY_LOG2 {
            let message = format!(
                "memory has 2^{least_log2} to 2^{most_log2} bytes; the first is at most the second, which is at \
                 most 2^{MOST_MEMORY_LOG2}"
            );
            return Err(invalid(message, at));
        }
        self.memory = Some(MemorySection { least_log2, most_log2, is_exported });
        Ok(())
    }

    fn signatures(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        for _ in 0..reader.varuint32("the number of signatures")? {
            let count = reader.u8("the number of parameters")?;
            let results = value_type(reader, "the type of a result")?.into_iter().collect();
            let mut parameters = Vec::with_capacity(count.into());
            for _ in 0..count {
                let at = reader.at();
                let ty = value_type(reader, "the type of a parameter")?;
                parameters.push(ty.ok_or_else(|| invalid("a parameter has a type from 1 to 4, not 0", at))?);
            }
            self.signatures.push(Signature { parameters, results });
        }
        Ok(())
    }

    fn functions(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        for _ in 0..reader.varuint32("the number of functions")? {
            let at = reader.at();
            let flags = reader.u8("the flags of a function")?;
            if flags > 15 {
                return Err(invalid(
                    format!("flags of a function have four bits; {flags:#04x} has others"),
                    at,
                ));
            }
            let has = |bit: u8| flags & bit != 0;
            let signature = reader.u16("the number of a signature")?;
            let name = has(HAS_NAME).then(|| reader.u32("the offset of a name")).transpose()?;
            if has(IS_IMPORT) && has(HAS_LOCALS) {
                return Err(invalid("an imported function has no local variables", at));
            }
            let mut locals = [0; 4];
            if has(HAS_LOCALS) {
                for count in &mut locals {
                    *count = reader.u16("a number of local variables")?;
                }
            }
            let body = if has(IS_IMPORT) {
                None
            } else {
                let size = reader.u16("the size of a body")?;
                let start = reader.at();
                reader.take(size.into(), "the body of a function")?;
                Some(start..reader.at())
            };
            let is_export = has(IS_EXPORT);
            self.functions.push(FunctionEntry { at, signature, name, is_export, locals, body });
        }
        Ok(())
    }

    fn globals(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        for _ in 0..reader.varuint32("the number of global variables")? {
            let at = reader.at();
            let name = reader.u32("the offset of a name")?;
            let number = reader.u8("a memory type")?;
            let ty = GLOBAL_TYPES.get(usize::from(number)).copied();
            let ty = ty.ok_or_else(|| {
                invalid(format!("memory types are 0 to 9; {number} is none"), reader.at() - 1)
            })?;
            let is_exported = truth(reader, "whether a global variable is exported")?;
            self.globals.push(GlobalEntry { at, name, ty, is_exported });
        }
        Ok(())
    }

    fn segments(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        for _ in 0..reader.varuint32("the number of data segments")? {
            let at = reader.at();
            let address = reader.u32("the address of a data segment")?;
            let offset = reader.u32("the offset of a data segment in the file")?;
            let bytes = reader.u32("the bytes of a data segment")?;
            let is_loaded = truth(reader, "whether a data segment is loaded")?;
            self.segments.push(Segment { at, address, offset, bytes, is_loaded });
        }
        Ok(())
    }

    fn table(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let mut table = Vec::new();
        for _ in 0..reader.varuint32("the number of entries of the function table")? {
            let at = reader.at();
            table.push((at, reader.u16("the number of a function")?));
        }
        self.table = Some(table);
        Ok(())
    }
}
