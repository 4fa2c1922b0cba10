//! Puts modules together: what one exports, a later one may import.
//!
//! All modules become one [`Module`] of the intermediate representation, so that calls and tables go across them.

use super::features::refused;
use super::function::{translate, wrap};
use super::intrinsics::{self, text};
use super::module::{Callee, Index, Sections, check_table, value_type};
use super::names::Names;
use super::unknown::{self, UnknownImports};
use super::{Error, Fault, Features, SourceMap};
use crate::ir::{
    Constant, Data, Elements, Exported, Function, FunctionId, Global, GlobalId, Memory, MemoryId, Module,
    Signature, SignatureId, Space, Table, TableId,
};
use cranelift_entity::EntityRef;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use wasmparser::{ConstExpr, DataKind, ElementItems, ElementKind, ExternalKind, Import, Operator, TypeRef};

/// What a module has become.
#[derive(Debug, Clone)]
pub struct Linked {
    /// Its exports.
    pub exports: Vec<(String, Exported)>,
    /// What runs once at the start.
    pub start: Option<FunctionId>,
    /// Its functions.
    pub functions: Range<u32>,
    /// Its data segments.
    pub data: Range<u32>,
    /// Its element segments.
    pub elements: Range<u32>,
    /// Lines of its source.
    pub source: SourceMap,
    /// True if it imports from the module `wave`.
    pub is_kernel: bool,
}

/// Modules under names, and the one module that they become.
#[derive(Debug, Clone, Default)]
pub struct Linker {
    features: Features,
    module: Module,
    signatures: HashMap<Signature, SignatureId>,
    shared: HashSet<MemoryId>,
    local_memory: Option<MemoryId>,
    bare_memory: Option<MemoryId>,
    named: HashMap<String, Vec<(String, Exported)>>,
    /// What becomes of imported functions that nobody provides.
    pub(super) unknown: UnknownImports,
}

impl Linker {
    /// Without modules.
    pub fn new() -> Linker {
        Linker::default()
    }

    /// Takes other features.
    pub fn with_features(features: Features) -> Linker {
        Linker { features, ..Linker::default() }
    }

    /// All modules as one, without exports and start.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// As [`module`](Linker::module).
    pub fn into_module(self) -> Module {
        self.module
    }

    /// Lets later modules import these exports from a module of this name.
    pub fn register(&mut self, name: impl Into<String>, exports: Vec<(String, Exported)>) {
        self.named.insert(name.into(), exports);
    }

    /// Says that a memory has grown: imports are held against its size of now.
    pub fn set_pages(&mut self, memory: MemoryId, pages: u64) {
        self.module.memories[memory].pages = pages;
    }

    /// Adds a module. On an error the linker is as before.
    ///
    /// # Errors
    /// A module that is malformed, invalid, uses a feature that is not taken, or imports what nobody provides.
    pub fn add(&mut self, bytes: &[u8]) -> Result<Linked, Error> {
        let sections = Sections::new(bytes, self.features)?;
        let names = Names::of(bytes);
        let link = Link::new(self, &sections, names)?;
        let added = link.build()?;
        Ok(self.commit(added))
    }

    /// Puts what a module adds behind the others.
    fn commit(&mut self, added: Added) -> Linked {
        let Added { functions, signatures, memories, shared, tables, globals, data, elements, index, linked } =
            added;
        let module = &mut self.module;
        for signature in signatures {
            let id = module.signatures.push(signature.clone());
            self.signatures.insert(signature, id);
        }
        functions.into_iter().for_each(|function| _ = module.functions.push(function));
        memories.into_iter().for_each(|memory| _ = module.memories.push(memory));
        tables.into_iter().for_each(|table| _ = module.tables.push(table));
        globals.into_iter().for_each(|global| _ = module.globals.push(global));
        data.into_iter().for_each(|data| _ = module.data.push(data));
        elements.into_iter().for_each(|elements| _ = module.elements.push(elements));
        self.shared.extend(shared);
        self.local_memory = index.local_memory;
        self.bare_memory = index.bare_memory;
        linked
    }
}

/// What a module adds.
struct Added {
    functions: Vec<Function>,
    signatures: Vec<Signature>,
    memories: Vec<Memory>,
    shared: Vec<MemoryId>,
    tables: Vec<Table>,
    globals: Vec<Global>,
    data: Vec<Data>,
    elements: Vec<Elements>,
    index: Index,
    linked: Linked,
}

/// A module that is being linked.
struct Link<'a> {
    linker: &'a Linker,
    sections: &'a Sections<'a>,
    names: Names,
    index: Index,
    signatures: Vec<Signature>,
    memories: Vec<Memory>,
    shared: Vec<MemoryId>,
    tables: Vec<Table>,
    globals: Vec<Global>,
    /// Functions of `wave` that become functions, because a table or an export names them.
    wrapped: HashMap<u32, FunctionId>,
    /// Those, and the ones in place of functions that nobody provides.
    wraps: Vec<Function>,
    is_kernel: bool,
}

impl<'a> Link<'a> {
    fn new(linker: &'a Linker, sections: &'a Sections<'a>, names: Names) -> Result<Link<'a>, Error> {
        let index = Index {
            first_data: linker.module.data.len() as u32,
            first_elements: linker.module.elements.len() as u32,
            local_memory: linker.local_memory,
            bare_memory: linker.bare_memory,
            ..Index::default()
        };
        let mut link = Link {
            linker,
            sections,
            names,
            index,
            signatures: Vec::new(),
            memories: Vec::new(),
            shared: Vec::new(),
            tables: Vec::new(),
            globals: Vec::new(),
            wrapped: HashMap::new(),
            wraps: Vec::new(),
            is_kernel: false,
        };
        link.types();
        for (offset, import) in &sections.imports {
            link.import(import, *offset).map_err(|error| error.at(*offset))?;
        }
        link.declare()?;
        Ok(link)
    }

    /// Numbers the signatures; equal ones have one number.
    fn types(&mut self) {
        let mut new: HashMap<&Signature, SignatureId> = HashMap::new();
        let first = self.linker.module.signatures.len();
        for ty in &self.sections.types {
            let numbered = ty.as_ref().map(|signature| {
                let id = self.linker.signatures.get(signature).copied().unwrap_or_else(|| {
                    *new.entry(signature).or_insert_with(|| {
                        self.signatures.push(signature.clone());
                        SignatureId::new(first + self.signatures.len() - 1)
                    })
                });
                (signature.clone(), id)
            });
            self.index.types.push(numbered);
        }
    }

    fn import(&mut self, import: &Import<'_>, offset: u64) -> Result<(), Error> {
        let name = format!("`{}.{}`", import.module, import.name);
        let module = self.linker.named.get(import.module);
        if module.is_none() && import.module == "wave" {
            return self.import_intrinsic(import);
        }
        let is_known = module.is_some_and(|exports| exports.iter().any(|(export, _)| export == import.name));
        if self.linker.unknown == UnknownImports::Trap
            && !is_known
            && let TypeRef::Func(ty) = import.ty
        {
            let function = unknown::function(import, self.index.signature(ty)?, offset);
            self.index.functions.push((Callee::Function(self.next_wrap()), ty));
            self.wraps.push(function);
            return Ok(());
        }
        let Some(exports) = module else {
            let mut known: Vec<&str> = self.linker.named.keys().map(String::as_str).collect();
            known.push("wave");
            known.sort_unstable();
            let message =
                format!("nobody provides the import {name}: there is no module `{}`", import.module);
            return Err(
                unlinkable(message).hint(unknown::hint(import, &format!("there is: {}", known.join(", "))))
            );
        };
        let found = exports.iter().find(|(export, _)| export == import.name);
        let Some(&(_, exported)) = found else {
            let known: Vec<&str> = exports.iter().map(|(name, _)| name.as_str()).collect();
            let message = format!("nobody provides the import {name} (unknown import)");
            let known = format!("`{}` has: {}", import.module, known.join(", "));
            return Err(unlinkable(message).hint(unknown::hint(import, &known)));
        };
        let other = |what: &str| {
            unlinkable(format!("the import {name} has another type (incompatible import type): {what}"))
        };
        let linked = &self.linker.module;
        match (import.ty, exported) {
            (TypeRef::Func(ty), Exported::Function(function)) => {
                let wanted = self.index.signature(ty)?;
                let has = &linked.functions[function].signature;
                if wanted != has {
                    let wanted = text(wanted);
                    return Err(other(&format!("it is a function {}, not {wanted}", text(has))));
                }
                self.index.functions.push((Callee::Function(function), ty));
            }
            (TypeRef::Table(ty), Exported::Table(table)) => {
                check_table(&ty)?;
                let has = &linked.tables[table];
                if !fits(has.places, has.most_places, ty.initial, ty.maximum) {
                    return Err(other("the table has another size"));
                }
                self.index.tables.push(table);
            }
            (TypeRef::Memory(ty), Exported::Memory(memory)) => {
                let has = &linked.memories[memory];
                if !fits(has.pages, has.most_pages, ty.initial, ty.maximum) {
                    return Err(other("the memory has another size"));
                }
                if ty.shared != self.linker.shared.contains(&memory) {
                    return Err(other("one memory is shared, the other is not"));
                }
                self.index.memories.push(memory);
            }
            (TypeRef::Global(ty), Exported::Global(global)) => {
                let has = &linked.globals[global];
                let wanted = value_type(ty.content_type)?;
                if has.initial.ty() != wanted || has.is_mutable != ty.mutable {
                    return Err(other("the global variable has another type"));
                }
                self.index.globals.push(Some((global, wanted)));
            }
            (TypeRef::Tag(_) | TypeRef::FuncExact(_), _) => return Err(refused("exceptions")),
            _ => return Err(other("it is something else")),
        }
        Ok(())
    }

    /// The number of the next function that is none of the module's own.
    fn next_wrap(&self) -> FunctionId {
        let own = self.linker.module.functions.len() + self.sections.functions.len();
        FunctionId::new(own + self.wraps.len())
    }

    fn import_intrinsic(&mut self, import: &Import<'_>) -> Result<(), Error> {
        let name = import.name;
        self.is_kernel = true;
        let TypeRef::Func(ty) = import.ty else {
            return Err(unlinkable(format!("`wave.{name}` is no function: `wave` has functions only")));
        };
        let intrinsic = intrinsics::import(name, self.index.signature(ty)?)?;
        if intrinsic.action.is_local() && self.index.local_memory.is_none() {
            let id = self.next_memory();
            self.memories.push(Memory::new(Space::Local, 1, Some(1)));
            self.index.local_memory = Some(id);
        }
        self.index.functions.push((Callee::Intrinsic(intrinsic.action), ty));
        Ok(())
    }

    fn next_memory(&self) -> MemoryId {
        MemoryId::new(self.linker.module.memories.len() + self.memories.len())
    }

    /// Numbers what the module has of its own.
    fn declare(&mut self) -> Result<(), Error> {
        let linked = &self.linker.module;
        for (number, &ty) in self.sections.functions.iter().enumerate() {
            let function = FunctionId::new(linked.functions.len() + number);
            self.index.functions.push((Callee::Function(function), ty));
        }
        for ty in &self.sections.tables {
            check_table(ty)?;
            self.index.tables.push(TableId::new(linked.tables.len() + self.tables.len()));
            self.tables.push(Table { places: ty.initial, most_places: ty.maximum });
        }
        for ty in &self.sections.memories {
            let id = self.next_memory();
            self.index.memories.push(id);
            if ty.shared {
                self.shared.push(id);
            }
            self.memories.push(Memory::new(Space::Device, ty.initial, ty.maximum));
        }
        if self.is_kernel && self.index.memories.is_empty() && self.index.bare_memory.is_none() {
            let id = self.next_memory();
            self.memories.push(Memory::new(Space::Device, 0, None));
            self.index.bare_memory = Some(id);
        }
        for (ty, initial) in &self.sections.globals {
            let initial = self.constant(initial)?;
            value_type(ty.content_type)?;
            let global = GlobalId::new(linked.globals.len() + self.globals.len());
            let name = self.names.globals.get(&(self.index.globals.len() as u32)).cloned();
            self.index.globals.push(Some((global, initial.ty())));
            self.globals.push(Global { name, initial, is_mutable: ty.mutable });
        }
        Ok(())
    }

    /// The value of an expression that is a number.
    fn constant(&self, expression: &ConstExpr<'_>) -> Result<Constant, Error> {
        let mut reader = expression.get_operators_reader();
        let (operator, offset) = reader.read_with_offset()?;
        match operator {
            Operator::I32Const { value } => Ok(Constant::I32(value as u32)),
            Operator::I64Const { value } => Ok(Constant::I64(value as u64)),
            Operator::F32Const { value } => Ok(Constant::F32(value.bits())),
            Operator::F64Const { value } => Ok(Constant::F64(value.bits())),
            Operator::GlobalGet { global_index } => {
                let (global, _) = self.index.global(global_index)?;
                let own = global.index().checked_sub(self.linker.module.globals.len());
                Ok(match own {
                    Some(own) => self.globals[own].initial,
                    None => self.linker.module.globals[global].initial,
                })
            }
            _ => Err(refused("global variables that hold references").at(offset)),
        }
    }

    /// The place that an expression names.
    fn place(&self, expression: &ConstExpr<'_>) -> Result<u32, Error> {
        Ok(self.constant(expression)?.bits() as u32)
    }

    /// The number of a function as a value; one of `wave` becomes a function first.
    fn function(&mut self, index: u32) -> Result<FunctionId, Error> {
        let (callee, signature) = self.index.callee(index)?;
        if let Callee::Function(function) = callee {
            return Ok(*function);
        }
        if let Some(&function) = self.wrapped.get(&index) {
            return Ok(function);
        }
        let name = self.sections.imports.iter().filter(|(_, import)| matches!(import.ty, TypeRef::Func(_)));
        let name = name.map(|(_, import)| import.name).nth(index as usize).unwrap_or_default();
        let function = wrap(&self.index, name.to_owned(), callee, signature)?;
        let id = self.next_wrap();
        self.wraps.push(function);
        self.wrapped.insert(index, id);
        Ok(id)
    }

    fn build(mut self) -> Result<Added, Error> {
        let exports = self.exports()?;
        let start = self.sections.start.map(|start| self.function(start)).transpose()?;
        let elements = self.elements()?;
        let data = self.data()?;
        let mut functions = self.functions()?;
        functions.append(&mut self.wraps);
        let module = &self.linker.module;
        let range = |before: usize, new: usize| before as u32..(before + new) as u32;
        let linked = Linked {
            exports,
            start,
            functions: range(module.functions.len(), functions.len()),
            data: range(module.data.len(), data.len()),
            elements: range(module.elements.len(), elements.len()),
            source: SourceMap::new(&self.sections.custom, self.sections.code),
            is_kernel: self.is_kernel,
        };
        let Link { signatures, memories, shared, tables, globals, index, .. } = self;
        Ok(Added { functions, signatures, memories, shared, tables, globals, data, elements, index, linked })
    }

    fn exports(&mut self) -> Result<Vec<(String, Exported)>, Error> {
        let mut exports = Vec::with_capacity(self.sections.exports.len());
        for export in &self.sections.exports {
            let index = export.index as usize;
            let exported = match export.kind {
                ExternalKind::Func | ExternalKind::FuncExact => {
                    Exported::Function(self.function(export.index)?)
                }
                ExternalKind::Table => Exported::Table(self.index.tables[index]),
                ExternalKind::Memory => Exported::Memory(self.index.memories[index]),
                ExternalKind::Global => Exported::Global(self.index.global(export.index)?.0),
                ExternalKind::Tag => return Err(refused("exceptions")),
            };
            exports.push((export.name.to_owned(), exported));
        }
        Ok(exports)
    }

    fn elements(&mut self) -> Result<Vec<Elements>, Error> {
        let mut all = Vec::with_capacity(self.sections.elements.len());
        for segment in &self.sections.elements {
            let mut functions = Vec::new();
            match &segment.items {
                ElementItems::Functions(items) => {
                    for item in items.clone() {
                        functions.push(Some(self.function(item?)?));
                    }
                }
                ElementItems::Expressions(_, items) => {
                    for item in items.clone() {
                        let (operator, offset) = item?.get_operators_reader().read_with_offset()?;
                        functions.push(match operator {
                            Operator::RefNull { .. } => None,
                            Operator::RefFunc { function_index } => Some(self.function(function_index)?),
                            _ => return Err(refused("elements that a global variable holds").at(offset)),
                        });
                    }
                }
            }
            let at_start = match &segment.kind {
                ElementKind::Passive => None,
                ElementKind::Active { table_index, offset_expr } => {
                    let table = self.index.tables[table_index.unwrap_or(0) as usize];
                    Some((table, self.place(offset_expr)?))
                }
                // It is for validation only, and dropped at the start.
                ElementKind::Declared => {
                    functions.clear();
                    None
                }
            };
            all.push(Elements { functions, at_start });
        }
        Ok(all)
    }

    fn data(&mut self) -> Result<Vec<Data>, Error> {
        let mut all = Vec::with_capacity(self.sections.data.len());
        for segment in &self.sections.data {
            let at_start = match &segment.kind {
                DataKind::Passive => None,
                DataKind::Active { memory_index, offset_expr } => {
                    Some((self.index.memories[*memory_index as usize], self.place(offset_expr)?))
                }
            };
            all.push(Data { bytes: segment.data.to_vec(), at_start });
        }
        Ok(all)
    }

    fn functions(&self) -> Result<Vec<Function>, Error> {
        let imported = self.index.functions.len() - self.sections.functions.len();
        let mut exported: HashMap<u32, &str> = HashMap::new();
        for export in self.sections.exports.iter().filter(|export| export.kind == ExternalKind::Func) {
            exported.entry(export.index).or_insert(export.name);
        }
        let mut functions = Vec::with_capacity(self.sections.bodies.len());
        for (number, (body, scan)) in self.sections.bodies.iter().enumerate() {
            let index = (imported + number) as u32;
            let name = self.names.functions.get(&index).cloned();
            let name = name.or_else(|| exported.get(&index).map(|&name| name.to_owned()));
            let ty = self.sections.functions[number];
            let signature = self.index.signature(ty);
            let function =
                signature.and_then(|signature| translate(&self.index, name, signature, scan, body));
            functions.push(function.map_err(|mut error| {
                error.function = Some(self.names.function(index));
                error.at(body.range().start)
            })?);
        }
        Ok(functions)
    }
}

fn unlinkable(message: String) -> Error {
    Error::new(Fault::Unlinkable, message)
}

/// True if what is there has at least the size that an import wants, and cannot grow beyond what it wants.
fn fits(has: u64, most: Option<u64>, wanted: u64, wanted_most: Option<u64>) -> bool {
    has >= wanted && wanted_most.is_none_or(|wanted| most.is_some_and(|most| most <= wanted))
}
