//! The module: what functions use of it, and the numbers of everything.

use super::RwasmOptions;
use super::code::Code;
use super::container::Container;
use super::heights::{Arity, Shapes};
use super::opcode::Opcode;
use super::translate::translate;
use crate::encoding::{Error, FUEL};
use crate::ir::{
    Constant, Data, Elements, Exported, Function, FunctionId, Global, GlobalId, Instruction, Memory,
    MemoryId, Module, Operation, Signature, SignatureId, Space, Table, Terminator, Trap, Type, Value,
};
use cranelift_entity::EntityRef;
use std::collections::{BTreeMap, BTreeSet};

/// The memory, where there is one.
pub(super) fn memory() -> MemoryId {
    MemoryId::new(0)
}

/// Of the segments of the module: one of which nothing is left, and the one with the whole section.
pub(super) const NOTHING: u32 = 0;
pub(super) const SECTION: u32 = 1;

/// Pages and places up to which memory and tables grow: those of the machine of rWasm.
const MOST: u64 = 1024;

/// A section with segments, of which each may be dropped by itself: all are copied from the whole section.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// Whether something copies from it.
    is_used: bool,
    /// Variables that say whether a segment was dropped, for those that are both copied from and dropped.
    pub(super) dropped: BTreeMap<u32, GlobalId>,
}

impl Segments {
    /// What copies from the segments and drops them; makes the variables.
    fn new(
        codes: &[Code<'_>],
        [init, drop]: [Opcode; 2],
        globals: &mut impl FnMut(String) -> GlobalId,
    ) -> Segments {
        let numbers = |wanted: Opcode| -> BTreeSet<u32> {
            let words = codes.iter().flat_map(|code| code.words);
            words.filter(|word| word.opcode == wanted).map(|word| word.word()).collect()
        };
        let (copied, dropped) = (numbers(init), numbers(drop));
        let both = copied.intersection(&dropped).filter(|&&number| number > 0);
        let mut name = |&number: &u32| (number, globals(format!("{} {number}", drop.name())));
        Segments {
            is_used: !copied.is_empty() || dropped.contains(&0),
            dropped: both.map(&mut name).collect(),
        }
    }
}

/// The numbers of what functions name.
#[derive(Debug)]
pub(super) struct Names {
    /// The variable with the fuel that is left, if it is counted.
    pub(super) fuel: Option<GlobalId>,
    pub(super) data: Segments,
    pub(super) elements: Segments,
    /// The functions that tables hold in place of these.
    wrappers: BTreeMap<u32, FunctionId>,
    /// Signatures of calls through tables, by the numbers that the calls name.
    signatures: BTreeMap<u32, SignatureId>,
    /// What sets them apart.
    tags: Tags,
}

/// Signatures of the same number of cells are not the same signature. So a function as tables hold it has further
/// parameters, which nobody reads: their types say which signature it is.
#[derive(Debug)]
struct Tags(Vec<u32>);

impl Tags {
    /// The types that stand for a signature; `None` for that of a function that checks none.
    fn types(&self, signature: Option<u32>) -> Vec<Type> {
        let place = |signature| self.0.binary_search(&signature).unwrap_or(self.0.len());
        let number = signature.map_or(0, |signature| place(signature) + 1);
        let bits = usize::BITS - (self.0.len() + 1).leading_zeros();
        (0..bits).map(|bit| if number >> bit & 1 == 0 { Type::I32 } else { Type::F32 }).collect()
    }
}

impl Names {
    /// What a table holds for a function.
    pub(super) fn in_tables(&self, number: u32) -> FunctionId {
        self.wrappers[&number]
    }

    /// The signature of a call through a table, and the types of its parameters that come behind the cells.
    pub(super) fn signature(&self, number: u32) -> (SignatureId, Vec<Type>) {
        (self.signatures[&number], self.tags.types(Some(number)))
    }
}

/// Makes the module.
pub(super) fn module(
    container: &Container,
    codes: &[Code<'_>],
    shapes: &Shapes,
    options: &RwasmOptions,
) -> Result<Module, Error> {
    let mut module = Module::default();
    let words = || codes.iter().flat_map(|code| code.words);
    // Numbers of global variables and of tables are checked, so there are not too many.
    let count = |is_one: fn(Opcode) -> bool| {
        words().filter(|word| is_one(word.opcode)).map(|word| word.word() + 1).max().unwrap_or(0)
    };
    for number in 0..count(|opcode| matches!(opcode, Opcode::GlobalGet | Opcode::GlobalSet)) {
        let name = Some(format!("global {number}"));
        module.globals.push(Global { name, initial: Constant::I64(0), is_mutable: true });
    }
    for _ in 0..count(|opcode| (Opcode::TableSize..=Opcode::TableCopy).contains(&opcode)) {
        module.tables.push(Table { places: 0, most_places: Some(MOST) });
    }
    if words().any(|word| (Opcode::I32Load..=Opcode::MemoryInit).contains(&word.opcode)) {
        module.memories.push(Memory::new(Space::Device, 0, Some(MOST)));
    }
    let mut flag = |name: String| {
        module.globals.push(Global { name: Some(name), initial: Constant::I32(0), is_mutable: true })
    };
    let data = Segments::new(codes, [Opcode::MemoryInit, Opcode::DataDrop], &mut flag);
    let elements = Segments::new(codes, [Opcode::TableInit, Opcode::ElemDrop], &mut flag);
    let fuel = options.fuel.map(|fuel| {
        let global = Global { name: Some(FUEL.to_owned()), initial: Constant::I64(fuel), is_mutable: true };
        module.globals.push(global)
    });
    let checked: BTreeSet<u32> = codes.iter().filter_map(|code| Some(code.check?.0)).collect();
    let tags = Tags(checked.into_iter().collect());
    let names = Names {
        fuel,
        wrappers: wrappers(container, codes, &elements),
        signatures: signatures(codes, shapes, &tags, &mut module),
        tags,
        data,
        elements,
    };
    if names.data.is_used {
        module.data.push(Data { bytes: Vec::new(), at_start: None });
        module.data.push(Data { bytes: container.memory.clone(), at_start: None });
    }
    if names.elements.is_used {
        let functions =
            container.elements.iter().map(|element| element.map(|number| names.in_tables(number)));
        module.elements.push(Elements { functions: Vec::new(), at_start: None });
        module.elements.push(Elements { functions: functions.collect(), at_start: None });
    }
    for code in codes {
        let id = module.functions.push(translate(code, shapes, &names)?);
        module.exports.push((code.number.to_string(), Exported::Function(id)));
    }
    for &number in names.wrappers.keys() {
        module.functions.push(wrapper(&codes[number as usize], shapes, &names.tags));
    }
    if !container.is_bare {
        module.start = Some(FunctionId::new(codes.len() - 1));
    }
    if let Some(fuel) = names.fuel {
        module.exports.push((FUEL.to_owned(), Exported::Global(fuel)));
    }
    Ok(module)
}

/// The numbers of the functions that tables hold: they come behind all others.
fn wrappers(container: &Container, codes: &[Code<'_>], elements: &Segments) -> BTreeMap<u32, FunctionId> {
    let words = codes.iter().flat_map(|code| code.words);
    let named = words.filter(|word| word.opcode == Opcode::RefFunc).map(|word| word.word());
    let mut numbers: BTreeSet<u32> = named.collect();
    if elements.is_used {
        numbers.extend(container.elements.iter().flatten());
    }
    (codes.len()..).zip(numbers).map(|(id, number)| (number, FunctionId::new(id))).collect()
}

/// The signatures of calls through tables.
fn signatures(
    codes: &[Code<'_>],
    shapes: &Shapes,
    tags: &Tags,
    module: &mut Module,
) -> BTreeMap<u32, SignatureId> {
    let words = codes.iter().flat_map(|code| code.words);
    let calls = words.filter(|word| matches!(word.opcode, Opcode::CallIndirect | Opcode::ReturnCallIndirect));
    let numbers: BTreeSet<u32> = calls.map(|word| word.word()).collect();
    let signature = |number: u32| {
        // One that no function checks has a tag that no function has.
        let arity =
            shapes.of_signature(number).map_or(Arity { parameters: 0, results: 0 }, |(arity, _)| arity);
        through_table(arity, tags.types(Some(number)))
    };
    numbers.into_iter().map(|number| (number, module.signatures.push(signature(number)))).collect()
}

/// The signature of a function as tables hold it.
fn through_table(arity: Arity, tag: Vec<Type>) -> Signature {
    let mut parameters = vec![Type::I64; arity.parameters as usize];
    parameters.extend(tag);
    Signature { parameters, results: vec![Type::I64; arity.results as usize] }
}

/// A function as tables hold it.
fn wrapper(code: &Code<'_>, shapes: &Shapes, tags: &Tags) -> Function {
    let (arity, returns) = shapes.of_function(code.number);
    let at = code.check.map_or(code.words[0].place(), |(_, word)| word.place());
    let signature = through_table(arity, tags.types(code.check.map(|(signature, _)| signature)));
    let mut function =
        Function::new(Some(format!("function {} through a table", code.number)), signature, at);
    let block = function.entry();
    let mut arguments = function.blocks[block].parameters.clone();
    arguments.truncate(arity.parameters as usize);
    let results: Vec<Value> = (0..arity.results).map(|_| function.value(Type::I64)).collect();
    let operation = Operation::Call(FunctionId::new(code.number), arguments);
    let body = &mut function.blocks[block];
    body.instructions.push(Instruction { operation, results: results.clone(), at });
    (body.terminator, body.at) = (Terminator::Return(results), at);
    if !returns {
        function.blocks[block].terminator = Terminator::Trap(Trap::Unreachable);
    }
    function
}
