//! From WebAssembly to rWasm, by the rules of the format: an encoder for tests.

use super::bodies::Function;
use super::words::{Module, Word, drop_keep, i32_constant, wide, word};
use std::collections::BTreeSet;
use wasmparser::{
    ConstExpr, Data, DataKind, Element, ElementItems, ElementKind, ExternalKind, FuncToValidate, FuncType,
    FunctionBody, Operator, Parser, Payload, TypeRef, ValType, ValidPayload, Validator, ValidatorResources,
    WasmFeatures,
};

/// Most pages of memory and places of a table that the machine of rWasm has.
const MOST: u64 = 1024;
/// What `memory.grow` and the encoder take as the largest memory where a module says nothing.
const NO_LIMIT: u64 = 65536;

/// A module in rWasm, and what the encoding does not keep.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    pub(crate) module: Module,
    /// Exported functions: name, number, type.
    pub(crate) functions: Vec<(String, u32, FuncType)>,
    /// Exported global variables: name, number, type.
    pub(crate) globals: Vec<(String, u32, ValType)>,
    /// Type of each global variable.
    pub(crate) types: Vec<ValType>,
}

/// What a function needs to know of its module.
#[derive(Default)]
pub(crate) struct Context {
    pub(crate) types: Vec<FuncType>,
    /// Number of the type of each function.
    pub(crate) functions: Vec<u32>,
    pub(crate) most_pages: u64,
    /// Where each data segment and each element segment begins in its section, and its length.
    pub(crate) data: Vec<(u32, u32)>,
    pub(crate) elements: Vec<(u32, u32)>,
    /// Fuel that a function and each turn of a loop take.
    pub(crate) fuel: Option<u32>,
}

/// Why a module has no rWasm.
pub(crate) type Inexpressible = &'static str;

/// Translates a valid module.
pub(crate) fn encode(bytes: &[u8], fuel: Option<u32>) -> Result<Encoded, Inexpressible> {
    let mut context = Context { most_pages: NO_LIMIT, fuel, ..Context::default() };
    let mut encoded =
        Encoded { module: Module::default(), functions: Vec::new(), globals: Vec::new(), types: Vec::new() };
    let mut exports = Vec::new();
    let mut start = None;
    // The entry point: global variables, tables, elements, memory, data.
    let mut parts: [Vec<Word>; 5] = Default::default();
    let mut bodies: Vec<(FuncToValidate<ValidatorResources>, FunctionBody<'_>)> = Vec::new();
    let mut validator = Validator::new_with_features(WasmFeatures::all());
    let mut segment = 0;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.expect("the module is valid");
        if let ValidPayload::Func(function, body) = validator.payload(&payload).expect("the module is valid")
        {
            bodies.push((function, body));
        }
        match payload {
            Payload::TypeSection(reader) => {
                context.types = reader.into_iter_err_on_gc_types().map(|ty| ty.expect("valid")).collect();
            }
            Payload::ImportSection(reader) => {
                if let Some(import) = reader.into_imports().next() {
                    return Err(match import.expect("valid").ty {
                        TypeRef::Func(_) => "imports of host functions",
                        _ => "imports of memories, tables and global variables",
                    });
                }
            }
            Payload::FunctionSection(reader) => {
                context.functions = reader.into_iter().map(|number| number.expect("valid")).collect();
            }
            Payload::TableSection(reader) => {
                for (number, table) in (0..).zip(reader) {
                    let ty = table.expect("valid").ty;
                    if ty.initial > MOST {
                        return Err("tables of more than 1024 places");
                    }
                    parts[1].push(word("I32Const", 0));
                    parts[1].push(wide("I64Const", ty.initial));
                    parts[1].push(word("TableGrow", number));
                    parts[1].push(word("Drop", 0));
                }
            }
            Payload::MemorySection(reader) => {
                for memory in reader {
                    let ty = memory.expect("valid");
                    context.most_pages = ty.maximum.unwrap_or(NO_LIMIT);
                    if ty.initial > MOST {
                        return Err("memories of more than 1024 pages");
                    }
                    parts[3].push(word("I32Const", ty.initial as u32));
                    parts[3].push(word("MemoryGrow", 0));
                    parts[3].push(word("Drop", 0));
                }
            }
            Payload::GlobalSection(reader) => {
                for (number, global) in (0..).zip(reader) {
                    let global = global.expect("valid");
                    encoded.types.push(global.ty.content_type);
                    parts[0].extend(constant(&global.init_expr, true));
                    parts[0].push(word("GlobalSet", number));
                }
            }
            Payload::ExportSection(reader) => {
                exports.extend(reader.into_iter().map(|export| export.expect("valid")));
            }
            Payload::StartSection { func, .. } => start = Some(func),
            Payload::ElementSection(reader) => {
                for (number, element) in (1..).zip(reader) {
                    let element = element.expect("valid");
                    let place = elements(&element, number, &mut encoded.module.elements, &mut parts[2]);
                    context.elements.push(place);
                }
            }
            Payload::DataSection(reader) => {
                for data in reader {
                    segment += 1;
                    let data = data.expect("valid");
                    let place = self::data(&data, segment, &mut encoded.module.memory, &mut parts[4]);
                    context.data.push(place);
                }
            }
            _ => {}
        }
    }
    for (function, body) in bodies {
        let words = Function::new(&context, function, &body).translate(&body);
        encoded.module.functions.push(words);
    }
    let mut entry: Vec<Word> = parts.into_iter().flatten().collect();
    if let Some(start) = start {
        entry.push(word("CallInternal", start));
    }
    entry.push(drop_keep("Return", 0, 0));
    encoded.module.functions.push(entry);
    for export in exports {
        let name = export.name.to_owned();
        match export.kind {
            ExternalKind::Func => {
                let ty = &context.types[context.functions[export.index as usize] as usize];
                encoded.functions.push((name, export.index, ty.clone()));
            }
            ExternalKind::Global => {
                encoded.globals.push((name, export.index, encoded.types[export.index as usize]));
            }
            _ => {}
        }
    }
    Ok(encoded)
}

/// The instructions of a constant expression; of a global variable all 64 bits.
fn constant(expression: &ConstExpr<'_>, is_global: bool) -> Vec<Word> {
    let mut words = Vec::new();
    for operator in expression.get_operators_reader() {
        let operator = operator.expect("valid");
        words.push(match operator {
            Operator::I32Const { value } if is_global => wide("I64Const", u64::from(value as u32)),
            Operator::I32Const { value } => i32_constant(value),
            Operator::I64Const { value } => wide("I64Const", value as u64),
            Operator::F32Const { value } => wide("I64Const", value.bits().into()),
            Operator::F64Const { value } => wide("I64Const", value.bits()),
            Operator::GlobalGet { global_index } => word("GlobalGet", global_index),
            Operator::End => continue,
            _ => panic!("an expression of another proposal: {operator:?}"),
        });
    }
    words
}

/// Adds an element segment to its section, and its copy to the entry point.
fn elements(element: &Element<'_>, number: u32, section: &mut Vec<u32>, entry: &mut Vec<Word>) -> (u32, u32) {
    let start = section.len() as u32;
    match &element.items {
        ElementItems::Functions(functions) => {
            section.extend(functions.clone().into_iter().map(|function| function.expect("valid")));
        }
        ElementItems::Expressions(_, expressions) => {
            for expression in expressions.clone() {
                let mut operators = expression.expect("valid").get_operators_reader().into_iter();
                section.push(match operators.next() {
                    Some(Ok(Operator::RefFunc { function_index })) => function_index,
                    _ => u32::MAX,
                });
            }
        }
    }
    let length = section.len() as u32 - start;
    if let ElementKind::Active { table_index, offset_expr } = &element.kind {
        entry.extend(constant(offset_expr, false));
        entry.push(wide("I64Const", start.into()));
        entry.push(wide("I64Const", length.into()));
        entry.push(word("TableInit", number));
        entry.push(word("TableGet", table_index.unwrap_or(0)));
    }
    if !matches!(element.kind, ElementKind::Passive) {
        entry.push(word("ElemDrop", number));
    }
    (start, length)
}

/// Adds a data segment to its section, and its copy to the entry point.
fn data(data: &Data<'_>, number: u32, section: &mut Vec<u8>, entry: &mut Vec<Word>) -> (u32, u32) {
    let (start, length) = (section.len() as u32, data.data.len() as u32);
    section.extend(data.data);
    if let DataKind::Active { offset_expr, .. } = &data.kind {
        entry.extend(constant(offset_expr, false));
        entry.push(wide("I64Const", start.into()));
        entry.push(wide("I64Const", length.into()));
        entry.push(word("MemoryInit", 0));
        entry.push(word("DataDrop", number));
    }
    (start, length)
}

/// The opcodes in a module.
pub(crate) fn opcodes(module: &Module) -> BTreeSet<u8> {
    module.functions.iter().flatten().map(|word| word[0]).collect()
}
