//! What the sections say as a module: names, imports, memory, tables, segments, exports.

use super::check::{Checked, check};
use super::sections::{FunctionEntry, Sections};
use super::translate::{Named, translate};
use super::tree::Code;
use super::{Decoded, listing};
use crate::encoding::{Error, Fault};
use crate::ir::{
    Constant, Data, Elements, Exported, Function, FunctionId, Global, GlobalId, Memory, MemoryId, Module,
    Place, Signature, Space, Table, TableId, Type,
};
use crate::wasm::{Callee, Index, import, wrap};
use cranelift_entity::EntityRef;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// Most bytes of a name. Names and data may overlap in the file, so its size does not bound them.
const MOST_NAME_BYTES: usize = 1000;
/// Most bytes of all data segments together.
const MOST_DATA_BYTES: u64 = 1 << 26;
/// Most local variables of a function: that of WebAssembly.
const MOST_LOCALS: usize = 50_000;
/// Most places of tables that are made for signatures with an equal one.
const MOST_COPIED_PLACES: usize = 1 << 20;
/// Under which name the memory is exported.
const MEMORY_EXPORT: &str = "memory";

fn invalid(message: impl Into<String>, at: usize) -> Error {
    Error::new(Fault::Invalid, message).at(at as u64)
}

/// A part of the file.
fn part(bytes: &[u8], offset: u32, length: u32) -> Option<&[u8]> {
    bytes.get(offset as usize..)?.get(..length as usize)
}

/// The string at an offset of the file, up to the first zero. `at` is what names it.
fn string(bytes: &[u8], offset: u32, at: usize) -> Result<String, Error> {
    let rest = bytes.get(offset as usize..).unwrap_or_default();
    let rest = &rest[..rest.len().min(MOST_NAME_BYTES + 1)];
    let Some(length) = rest.iter().position(|&byte| byte == 0) else {
        let message = match rest.len() > MOST_NAME_BYTES {
            true => format!("the name at byte {offset:#x} has more than {MOST_NAME_BYTES} bytes"),
            false => format!("the name at byte {offset:#x} does not end in the file"),
        };
        return Err(invalid(message, at));
    };
    match std::str::from_utf8(&rest[..length]) {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(invalid(format!("the name at byte {offset:#x} is not UTF-8"), at)),
    }
}

/// A module that is being built.
struct Build<'a> {
    bytes: &'a [u8],
    sections: &'a Sections,
    names: Vec<Option<String>>,
    module: Module,
    named: Named,
    /// Imported functions that became functions, because the table or an export names them.
    wrapped: HashMap<usize, FunctionId>,
}

/// Makes a module of sections.
pub(super) fn build(bytes: &[u8], sections: &Sections) -> Result<Decoded, Error> {
    let mut build = Build {
        bytes,
        sections,
        names: Vec::new(),
        module: Module::default(),
        named: Named { index: Index::default(), tables: HashMap::new() },
        wrapped: HashMap::new(),
    };
    build.signatures()?;
    build.memory();
    build.globals()?;
    build.functions()?;
    let checked = build.check()?;
    build.declare_tables(&checked)?;
    build.translate(&checked)?;
    build.fill_tables()?;
    build.data()?;
    build.exports()?;
    let is_kernel = sections.functions.iter().any(|entry| entry.body.is_none());
    let listing = listing::listing(bytes, sections, &build.names, |entry| build.code(entry));
    Ok(Decoded { module: build.module, listing, is_kernel })
}

impl<'a> Build<'a> {
    /// Names and signatures of functions.
    fn signatures(&mut self) -> Result<(), Error> {
        for signature in &self.sections.signatures {
            let id = self.module.signatures.push(signature.clone());
            self.named.index.types.push(Some((signature.clone(), id)));
        }
        let count = self.sections.signatures.len();
        for (number, entry) in self.sections.functions.iter().enumerate() {
            let name = entry.name.map(|offset| string(self.bytes, offset, entry.at)).transpose()?;
            self.names.push(name);
            if usize::from(entry.signature) >= count {
                let message = format!("it names signature {}, and there are {count}", entry.signature);
                return Err(self.of_function(number, invalid(message, entry.at)));
            }
        }
        Ok(())
    }

    fn memory(&mut self) {
        let Some(section) = self.sections.memory else { return };
        let (pages, most_pages) = (1 << section.least_log2, Some(1 << section.most_log2));
        let memory = Memory { space: Space::Device, page_bytes: 1, pages, most_pages };
        self.named.index.memories.push(self.module.memories.push(memory));
    }

    fn globals(&mut self) -> Result<(), Error> {
        for entry in &self.sections.globals {
            let name = Some(string(self.bytes, entry.name, entry.at)?);
            let ty = entry.ty.ty;
            let id = self.module.globals.push(Global { name, initial: Constant::zero(ty), is_mutable: true });
            self.named.index.globals.push(Some((id, ty)));
        }
        Ok(())
    }

    /// Numbers the functions, and finds those of `wave`.
    fn functions(&mut self) -> Result<(), Error> {
        let mut own = 0;
        for (number, entry) in self.sections.functions.iter().enumerate() {
            let callee = if entry.body.is_some() {
                own += 1;
                Callee::Function(FunctionId::new(own - 1))
            } else {
                self.import(number, entry)
                    .map_err(|error| self.of_function(number, error.at(entry.at as u64)))?
            };
            self.named.index.functions.push((callee, entry.signature.into()));
        }
        let imports = own < self.sections.functions.len();
        if imports && self.named.index.memories.is_empty() {
            let memory = Memory::new(Space::Device, 0, None);
            self.named.index.bare_memory = Some(self.module.memories.push(memory));
        }
        Ok(())
    }

    fn import(&mut self, number: usize, entry: &FunctionEntry) -> Result<Callee, Error> {
        let Some(name) = &self.names[number] else {
            return Err(Error::new(Fault::Invalid, "an imported function has a name"));
        };
        let intrinsic = import(name, self.signature(entry))?;
        if intrinsic.action.is_local() && self.named.index.local_memory.is_none() {
            let memory = Memory::new(Space::Local, 1, Some(1));
            self.named.index.local_memory = Some(self.module.memories.push(memory));
        }
        Ok(Callee::Intrinsic(intrinsic.action))
    }

    fn signature(&self, entry: &FunctionEntry) -> &'a Signature {
        &self.sections.signatures[usize::from(entry.signature)]
    }

    /// A function with a body.
    fn code(&self, entry: &FunctionEntry) -> Option<Code<'a>> {
        let signature = self.signature(entry);
        let body: Range<usize> = entry.body.clone()?;
        let mut locals = signature.parameters.clone();
        for (ty, &count) in [Type::I32, Type::I64, Type::F32, Type::F64].into_iter().zip(&entry.locals) {
            locals.extend(std::iter::repeat_n(ty, count.into()));
        }
        Some(Code { bytes: self.bytes, sections: self.sections, signature, locals, body })
    }

    /// Functions with a body: number, entry and code.
    fn bodies(&self) -> impl Iterator<Item = (usize, &'a FunctionEntry, Code<'a>)> {
        let functions = self.sections.functions.iter().enumerate();
        functions.filter_map(|(number, entry)| Some((number, entry, self.code(entry)?)))
    }

    fn check(&self) -> Result<Vec<Checked>, Error> {
        let mut all = Vec::new();
        for (number, entry, code) in self.bodies() {
            let checked = match code.locals.len() <= MOST_LOCALS {
                true => check(&code),
                false => {
                    Err(Error::refused(format!("more than {MOST_LOCALS} local variables of a function")))
                }
            };
            all.push(checked.map_err(|error| self.of_function(number, error.at(entry.at as u64)))?);
        }
        Ok(all)
    }

    fn translate(&mut self, checked: &[Checked]) -> Result<(), Error> {
        let mut functions: Vec<Function> = Vec::with_capacity(checked.len());
        for ((number, entry, code), checked) in self.bodies().zip(checked) {
            let at = Place(entry.at as u32);
            let name = self.names[number].clone();
            let function = translate(&code, &self.named, checked, name, at);
            functions.push(function.map_err(|error| self.of_function(number, error))?);
        }
        functions.into_iter().for_each(|function| _ = self.module.functions.push(function));
        Ok(())
    }

    /// Adds the function to an error: its name, or its number where it has none.
    fn of_function(&self, number: usize, mut error: Error) -> Error {
        let name = self.names.get(number).and_then(Option::as_ref);
        error.function = Some(name.map_or(number.to_string(), |name| format!("{number} (`{name}`)")));
        error
    }

    /// Numbers the tables. An indirect call asks for the number of a signature, not for equal types: a signature that
    /// equals another one in the table gets a table of its own.
    fn declare_tables(&mut self, checked: &[Checked]) -> Result<(), Error> {
        let indirect: BTreeSet<u32> = checked.iter().flat_map(|checked| &checked.indirect).copied().collect();
        let entries = self.sections.table.as_deref().unwrap_or_default();
        let mut numbers: HashMap<&Signature, BTreeSet<u16>> = HashMap::new();
        let count = self.sections.functions.len();
        for &(at, function) in entries {
            let Some(entry) = self.sections.functions.get(usize::from(function)) else {
                let message = format!("the function table names function {function}, and there are {count}");
                return Err(invalid(message, at));
            };
            numbers.entry(self.signature(entry)).or_default().insert(entry.signature);
        }
        let has_twin = |signature: u32| {
            let has = numbers.get(&self.sections.signatures[signature as usize]);
            has.is_some_and(|numbers| numbers.iter().any(|&number| u32::from(number) != signature))
        };
        let (twins, alone): (Vec<u32>, Vec<u32>) =
            indirect.into_iter().partition(|&signature| has_twin(signature));
        if twins.len().saturating_mul(entries.len()) > MOST_COPIED_PLACES {
            let what =
                format!("more than {MOST_COPIED_PLACES} places of tables for signatures that equal others");
            return Err(Error::refused(what));
        }
        let places = entries.len() as u64;
        let mut table = || self.module.tables.push(Table { places, most_places: Some(places) });
        let shared = table();
        self.named.tables.extend(alone.into_iter().map(|signature| (signature, shared)));
        for signature in twins {
            let own = table();
            self.named.tables.insert(signature, own);
        }
        Ok(())
    }

    fn fill_tables(&mut self) -> Result<(), Error> {
        let entries = self.sections.table.as_deref().unwrap_or_default();
        let mut functions = Vec::with_capacity(entries.len());
        for &(_, function) in entries {
            functions.push(Some(self.function(function.into())?));
        }
        let mut own: Vec<(TableId, u32)> =
            self.named.tables.iter().map(|(&signature, &table)| (table, signature)).collect();
        own.sort_unstable();
        own.retain(|&(table, _)| table.index() != 0);
        for (table, signature) in own {
            let types = &self.sections.signatures[signature as usize];
            // It stands where another number is, and its signature equals none of these.
            let mut other = types.clone();
            other.parameters.push(Type::I32);
            let other = self.module.functions.push(Function::new(None, other, Place::default()));
            let number = |function: u16| self.sections.functions[usize::from(function)].signature;
            let with_own = entries.iter().zip(&functions).map(|(&(_, entry), &function)| {
                let is_twin = u32::from(number(entry)) != signature
                    && self.sections.signatures[usize::from(number(entry))] == *types;
                if is_twin { Some(other) } else { function }
            });
            let functions = with_own.collect();
            self.module.elements.push(Elements { functions, at_start: Some((table, 0)) });
        }
        let at_start = Some((TableId::new(0), 0));
        self.module.elements.push(Elements { functions, at_start });
        Ok(())
    }

    /// A function as a value; an imported one becomes a function first.
    fn function(&mut self, number: usize) -> Result<FunctionId, Error> {
        let (callee, signature) = self.named.index.callee(number as u32)?;
        if let Callee::Function(function) = callee {
            return Ok(*function);
        }
        if let Some(&function) = self.wrapped.get(&number) {
            return Ok(function);
        }
        let name = self.names[number].clone().unwrap_or_default();
        let mut function = wrap(&self.named.index, name, callee, signature)?;
        function.at = Place(self.sections.functions[number].at as u32);
        let id = self.module.functions.push(function);
        self.wrapped.insert(number, id);
        Ok(id)
    }

    fn data(&mut self) -> Result<(), Error> {
        let memory_bytes = self.sections.memory.map_or(0, |memory| 1u64 << memory.least_log2);
        let mut total = 0;
        for segment in &self.sections.segments {
            let Some(bytes) = part(self.bytes, segment.offset, segment.bytes) else {
                let message = format!(
                    "a data segment is {} bytes from byte {:#x} of the file on, which has {}",
                    segment.bytes,
                    segment.offset,
                    self.bytes.len()
                );
                return Err(invalid(message, segment.at));
            };
            if !segment.is_loaded {
                continue;
            }
            let end = u64::from(segment.address) + u64::from(segment.bytes);
            if end > memory_bytes {
                let message = format!("a data segment ends at byte {end} of a memory of {memory_bytes}");
                return Err(invalid(message, segment.at));
            }
            total += u64::from(segment.bytes);
            if total > MOST_DATA_BYTES {
                let what = format!("data segments of more than {MOST_DATA_BYTES} bytes together");
                return Err(Error::refused(what).at(segment.at as u64));
            }
            // Without a memory no segment is inside, but for an empty one.
            if !bytes.is_empty() {
                let at_start = Some((MemoryId::new(0), segment.address));
                self.module.data.push(Data { bytes: bytes.to_vec(), at_start });
            }
        }
        Ok(())
    }

    fn exports(&mut self) -> Result<(), Error> {
        let mut names = HashSet::new();
        let mut export = |name: String, at: usize| match names.insert(name.clone()) {
            true => Ok(name),
            false => Err(invalid(format!("`{name}` is exported twice"), at)),
        };
        for (number, entry) in self.sections.functions.iter().enumerate().filter(|(_, entry)| entry.is_export)
        {
            let name = self.names[number].clone().unwrap_or_else(|| number.to_string());
            let name = export(name, entry.at)?;
            let function = self.function(number)?;
            self.module.exports.push((name, Exported::Function(function)));
        }
        for (number, entry) in self.sections.globals.iter().enumerate().filter(|(_, entry)| entry.is_exported)
        {
            let id = GlobalId::new(number);
            let name = self.module.globals[id].name.clone().unwrap_or_default();
            self.module.exports.push((export(name, entry.at)?, Exported::Global(id)));
        }
        // The format has no name for it, so that of another export goes first.
        let is_exported = self.sections.memory.is_some_and(|memory| memory.is_exported);
        if is_exported && let Ok(name) = export(MEMORY_EXPORT.to_owned(), 0) {
            self.module.exports.push((name, Exported::Memory(MemoryId::new(0))));
        }
        Ok(())
    }
}
