//! The sections of a module: parsed and validated, before anything is linked.

use super::features::refused;
use super::intrinsics::Action;
use super::names::Names;
use super::nanowasm::{self, Tables};
use super::scan::Scan;
use super::{Error, Fault, Features};
use crate::ir::{DataId, ElementsId, FunctionId, GlobalId, MemoryId, Signature, SignatureId, TableId, Type};
use std::collections::HashMap;
use wasmparser::{
    CompositeInnerType, ConstExpr, Data, Element, Export, FuncToValidate, FuncValidatorAllocations,
    FunctionBody, GlobalType, Import, MemoryType, Parser, Payload, RecGroup, RefType, TableInit, TableType,
    ValType, ValidPayload, Validator, ValidatorResources,
};

/// A function that a module calls.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Callee {
    Function(FunctionId),
    Intrinsic(Action),
}

/// What the indices of a module mean.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Signatures, where they have no references, and their numbers.
    pub(crate) types: Vec<Option<(Signature, SignatureId)>>,
    /// Functions and their types.
    pub(crate) functions: Vec<(Callee, u32)>,
    pub(super) tables: Vec<TableId>,
    pub(crate) memories: Vec<MemoryId>,
    /// Global variables; those that hold references are none.
    pub(crate) globals: Vec<Option<(GlobalId, Type)>>,
    pub(super) first_data: u32,
    pub(super) first_elements: u32,
    /// Local memory of a workgroup, if somebody uses it.
    pub(crate) local_memory: Option<MemoryId>,
    /// Device memory for a module that has no memory.
    pub(crate) bare_memory: Option<MemoryId>,
}

impl Index {
    pub(super) fn signature(&self, ty: u32) -> Result<&Signature, Error> {
        match &self.types[ty as usize] {
            Some((signature, _)) => Ok(signature),
            None => Err(refused("parameters or results that are references")),
        }
    }

    pub(super) fn signature_id(&self, ty: u32) -> Result<SignatureId, Error> {
        match &self.types[ty as usize] {
            Some((_, id)) => Ok(*id),
            None => Err(refused("parameters or results that are references")),
        }
    }

    pub(crate) fn callee(&self, function: u32) -> Result<(&Callee, &Signature), Error> {
        let (callee, ty) = &self.functions[function as usize];
        Ok((callee, self.signature(*ty)?))
    }

    pub(super) fn global(&self, global: u32) -> Result<(GlobalId, Type), Error> {
        self.globals[global as usize].ok_or_else(|| refused("global variables that hold references"))
    }

    pub(super) fn data(&self, data: u32) -> DataId {
        DataId::from_u32(self.first_data + data)
    }

    pub(super) fn elements(&self, elements: u32) -> ElementsId {
        ElementsId::from_u32(self.first_elements + elements)
    }

    /// The memory that atomics of `wave` act on.
    pub(super) fn device_memory(&self) -> MemoryId {
        let first = self.memories.first().copied();
        first.or(self.bare_memory).expect("the linker makes one for a module that has none")
    }
}

/// The type of a value.
pub(super) fn value_type(ty: ValType) -> Result<Type, Error> {
    match ty {
        ValType::I32 => Ok(Type::I32),
        ValType::I64 => Ok(Type::I64),
        ValType::F32 => Ok(Type::F32),
        ValType::F64 => Ok(Type::F64),
        ValType::V128 => Err(refused("SIMD")),
        ValType::Ref(_) => Err(refused("values that are references")),
    }
}

/// A module that is valid.
#[derive(Default)]
pub(super) struct Sections<'a> {
    /// Function types: those with references are none.
    pub(super) types: Vec<Option<Signature>>,
    pub(super) imports: Vec<(u64, Import<'a>)>,
    /// Types of the functions of its own.
    pub(super) functions: Vec<u32>,
    pub(super) tables: Vec<TableType>,
    pub(super) memories: Vec<MemoryType>,
    pub(super) globals: Vec<(GlobalType, ConstExpr<'a>)>,
    pub(super) exports: Vec<Export<'a>>,
    pub(super) start: Option<u32>,
    pub(super) elements: Vec<Element<'a>>,
    pub(super) data: Vec<Data<'a>>,
    pub(super) bodies: Vec<(FunctionBody<'a>, Scan)>,
    pub(super) custom: HashMap<&'a str, &'a [u8]>,
    pub(super) nanowasm: Tables<'a>,
    /// First byte of the content of the code section.
    pub(super) code: u64,
}

impl<'a> Sections<'a> {
    /// Parses and validates a module, through its sections of NanoWasm if it has them.
    pub(super) fn new(bytes: &'a [u8], features: Features) -> Result<Sections<'a>, Error> {
        let mut sections = Sections::valid(bytes, features)?;
        nanowasm::read(&mut sections, bytes)?;
        Ok(sections)
    }

    /// Parses and validates a module. Its sections of NanoWasm may be wrong.
    pub(super) fn valid(bytes: &'a [u8], features: Features) -> Result<Sections<'a>, Error> {
        Sections::parse(bytes, features).map_err(|error| super::features::explain(error, bytes, features))
    }

    fn parse(bytes: &'a [u8], features: Features) -> Result<Sections<'a>, Error> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(Error::new(Fault::Invalid, "this module has more than 4 GiB"));
        }
        let mut sections = Sections::default();
        let mut parser = Parser::new(0);
        parser.set_features(features.set());
        let mut validator = Validator::new_with_features(features.set());
        let mut allocations = FuncValidatorAllocations::default();
        for payload in parser.parse_all(bytes) {
            let payload = payload?;
            if let ValidPayload::Func(function, body) = validator.payload(&payload)? {
                sections.body(bytes, function, body, &mut allocations)?;
            }
            sections.payload(payload)?;
        }
        Ok(sections)
    }

    fn body(
        &mut self,
        bytes: &[u8],
        function: FuncToValidate<ValidatorResources>,
        body: FunctionBody<'a>,
        allocations: &mut FuncValidatorAllocations,
    ) -> Result<(), Error> {
        let index = function.index;
        let scan = Scan::new(function, &body, allocations).map_err(|mut error| {
            error.function = Some(Names::of(bytes).function(index));
            error
        })?;
        self.bodies.push((body, scan));
        Ok(())
    }

    fn payload(&mut self, payload: Payload<'a>) -> Result<(), Error> {
        match payload {
            Payload::TypeSection(reader) => {
                for group in reader {
                    self.types.extend(function_types(group?));
                }
            }
            Payload::ImportSection(reader) => {
                for import in reader.into_imports_with_offsets() {
                    self.imports.push(import?);
                }
            }
            Payload::FunctionSection(reader) => {
                for function in reader {
                    self.functions.push(function?);
                }
            }
            Payload::TableSection(reader) => {
                for table in reader.into_iter_with_offsets() {
                    let (offset, table) = table?;
                    if !matches!(table.init, TableInit::RefNull) {
                        return Err(refused("tables with a first value").at(offset));
                    }
                    self.tables.push(table.ty);
                }
            }
            Payload::MemorySection(reader) => {
                for memory in reader {
                    self.memories.push(memory?);
                }
            }
            Payload::GlobalSection(reader) => {
                for global in reader {
                    let global = global?;
                    self.globals.push((global.ty, global.init_expr));
                }
            }
            Payload::ExportSection(reader) => {
                for export in reader {
                    self.exports.push(export?);
                }
            }
            Payload::StartSection { func, .. } => self.start = Some(func),
            Payload::ElementSection(reader) => {
                for elements in reader {
                    self.elements.push(elements?);
                }
            }
            Payload::DataSection(reader) => {
                for data in reader {
                    self.data.push(data?);
                }
            }
            Payload::CodeSectionStart { unchecked_range, .. } => self.code = unchecked_range.start,
            Payload::CustomSection(section) => {
                self.nanowasm.add(section.name(), section.data(), section.data_offset());
                self.custom.insert(section.name(), section.data());
            }
            _ => {}
        }
        Ok(())
    }
}

/// The function types of a group.
pub(super) fn function_types(group: RecGroup) -> impl Iterator<Item = Option<Signature>> {
    group.into_types().map(|ty| match ty.composite_type.inner {
        CompositeInnerType::Func(ty) => {
            let types =
                |types: &[ValType]| types.iter().map(|&ty| value_type(ty).ok()).collect::<Option<Vec<_>>>();
            Some(Signature { parameters: types(ty.params())?, results: types(ty.results())? })
        }
        _ => None,
    })
}

/// Refuses a table that holds anything but functions.
pub(super) fn check_table(ty: &TableType) -> Result<(), Error> {
    if ty.element_type == RefType::FUNCREF { Ok(()) } else { Err(refused("tables of external references")) }
}
