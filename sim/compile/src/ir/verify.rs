//! Checks that a module is what the back end and the interpreter may rely on.

use super::dominance::Dominance;
use super::{
    Access, Block, Exported, Function, FunctionId, Instruction, MemoryId, Module, Operation, PAGE_BYTES,
    Place, Signature, Space, TableId, Target, Terminator, Type, Value,
};
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use std::collections::BTreeSet;
use std::fmt;
use wave_isa::table::AtomicOp;

/// Most bytes of a memory: an address has 32 bits.
const MOST_BYTES: u64 = 1 << 32;

/// What is wrong with a module, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Invalid {
    /// The function, if it is in one.
    pub function: Option<FunctionId>,
    /// The block, if it is in one.
    pub block: Option<Block>,
    /// The number of the instruction in its block; the number of instructions for the end of the block. `None` for
    /// the parameters of the block.
    pub instruction: Option<usize>,
    /// Where that comes from.
    pub place: Place,
    /// What is wrong: a sentence without a full stop.
    pub message: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "{function}, ")?;
        }
        if let Some(block) = self.block {
            write!(f, "{block}, ")?;
        }
        if let Some(instruction) = self.instruction {
            write!(f, "instruction {instruction}, ")?;
        }
        if self.place != Place::default() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)
    }
}

/// Checks a module.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify(module: &Module) -> Result<(), Invalid> {
    items(module).map_err(|message| Invalid {
        function: None,
        block: None,
        instruction: None,
        place: Place::default(),
        message,
    })?;
    module.functions.keys().try_for_each(|function| verify_function(module, function))
}

/// Checks one function of a module whose other items are right.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify_function(module: &Module, id: FunctionId) -> Result<(), Invalid> {
    let function = &module.functions[id];
    let mut check = Check { module, id, function, block: None, instruction: None, place: function.at };
    check.function().map_err(|message| Invalid {
        function: Some(check.id),
        block: check.block,
        instruction: check.instruction,
        place: check.place,
        message,
    })
}

/// What is wrong, in words; its place is added by the caller.
type Checked<T = ()> = Result<T, String>;

/// An entity that a map must have.
fn exists<K: EntityRef + fmt::Display, V>(map: &PrimaryMap<K, V>, key: K) -> Checked<&V> {
    map.get(key).ok_or_else(|| format!("{key} does not exist"))
}

/// A limit that is at least what there is at the start.
fn limit(what: &dyn fmt::Display, first: u64, most: Option<u64>) -> Checked {
    match most {
        Some(most) if most < first => Err(format!("{what} starts with {first}, more than its limit {most}")),
        _ => Ok(()),
    }
}

fn items(module: &Module) -> Checked {
    for (id, memory) in &module.memories {
        limit(&id, memory.pages, memory.most_pages)?;
        if !memory.page_bytes.is_power_of_two() || memory.page_bytes > PAGE_BYTES {
            return Err(format!("{id} has pages of {} bytes; a page is a power of 2", memory.page_bytes));
        }
        let pages = memory.most_pages.unwrap_or(0).max(memory.pages);
        let most = MOST_BYTES / memory.page_bytes;
        if pages > most {
            return Err(format!("{id} has up to {pages} pages; an address reaches {most}"));
        }
    }
    for (id, table) in &module.tables {
        limit(&id, table.places, table.most_places)?;
        if table.places > u64::from(u32::MAX) {
            return Err(format!("{id} has {} places; an index reaches {}", table.places, u32::MAX));
        }
    }
    for (id, data) in &module.data {
        let Some((memory, _)) = data.at_start else { continue };
        let owner = match exists(&module.memories, memory)?.space {
            Space::Device => continue,
            Space::Local => "workgroup",
            Space::Private => "thread",
        };
        return Err(format!("{id} is copied at the start to {memory}, which each {owner} has anew"));
    }
    for (id, elements) in &module.elements {
        if let Some((table, _)) = elements.at_start {
            exists(&module.tables, table)?;
        }
        let wrong = |error| format!("{id}: {error}");
        let functions = elements.functions.iter().flatten();
        functions.copied().try_for_each(|id| exists(&module.functions, id).map(drop)).map_err(wrong)?;
    }
    let mut names = BTreeSet::new();
    for (name, exported) in &module.exports {
        if !names.insert(name) {
            return Err(format!("`{name}` is exported twice"));
        }
        match *exported {
            Exported::Function(id) => exists(&module.functions, id).map(drop)?,
            Exported::Memory(id) => exists(&module.memories, id).map(drop)?,
            Exported::Table(id) => exists(&module.tables, id).map(drop)?,
            Exported::Global(id) => exists(&module.globals, id).map(drop)?,
        }
    }
    if let Some(start) = module.start
        && exists(&module.functions, start)?.signature != Signature::default()
    {
        return Err(format!("{start} runs at the start, so it has no parameters and no results"));
    }
    Ok(())
}

/// Where a value is defined: a block, and the number of the instruction and 1; 0 for a parameter.
type Definition = Option<(Block, usize)>;

struct Check<'a> {
    module: &'a Module,
    id: FunctionId,
    function: &'a Function,
    block: Option<Block>,
    instruction: Option<usize>,
    place: Place,
}

impl Check<'_> {
    /// Notes what is looked at, for the message.
    fn look_at(&mut self, block: Block, instruction: Option<usize>) {
        let body = &self.function.blocks[block];
        let end = (body.at, instruction);
        let (place, instruction) = match instruction.and_then(|number| body.instructions.get(number)) {
            Some(found) => (found.at, instruction),
            None => end,
        };
        (self.block, self.instruction, self.place) = (Some(block), instruction, place);
    }

    fn function(&mut self) -> Checked {
        let function = self.function;
        let Some(entry) = function.blocks.get(function.entry()) else {
            return Err("the function has no block".to_owned());
        };
        let definitions = self.definitions()?;
        self.look_at(function.entry(), None);
        self.types("parameters of the entry", &entry.parameters, &function.signature.parameters)?;
        for (block, body) in &function.blocks {
            self.look_at(block, Some(body.instructions.len()));
            body.terminator.targets().iter().try_for_each(|target| self.target(target))?;
        }
        // Now that all jumps lead to blocks, there is a graph.
        let dominance = Dominance::new(function);
        for (block, body) in &function.blocks {
            for (number, instruction) in body.instructions.iter().enumerate() {
                self.look_at(block, Some(number));
                let used = instruction.operation.operands();
                self.uses(used, block, number, &definitions, &dominance)?;
                self.operation(instruction)?;
            }
            let number = body.instructions.len();
            self.look_at(block, Some(number));
            let arguments = body.terminator.targets().iter().flat_map(|target| &target.arguments);
            let used = body.terminator.operands().iter().chain(arguments).copied();
            self.uses(used, block, number, &definitions, &dominance)?;
            self.terminator(&body.terminator)?;
        }
        Ok(())
    }

    /// Where each value is defined, once.
    fn definitions(&mut self) -> Checked<SecondaryMap<Value, Definition>> {
        let mut definitions: SecondaryMap<Value, Definition> = SecondaryMap::new();
        let function = self.function;
        let mut define = |values: &[Value], place| {
            for &value in values {
                exists(&function.values, value)?;
                if definitions[value].replace(place).is_some() {
                    return Err(format!("{value} is defined twice"));
                }
            }
            Ok(())
        };
        for (block, body) in &function.blocks {
            self.look_at(block, None);
            define(&body.parameters, (block, 0))?;
            for (number, instruction) in body.instructions.iter().enumerate() {
                self.look_at(block, Some(number));
                define(&instruction.results, (block, number + 1))?;
            }
        }
        Ok(definitions)
    }

    /// Checks that values are defined wherever control comes from. In a block that nothing reaches they need only be
    /// defined somewhere.
    fn uses(
        &self,
        values: impl Iterator<Item = Value>,
        block: Block,
        number: usize,
        definitions: &SecondaryMap<Value, Definition>,
        dominance: &Dominance,
    ) -> Checked {
        for value in values {
            exists(&self.function.values, value)?;
            let Some((by, after)) = definitions[value] else {
                return Err(format!("nothing defines {value}"));
            };
            let is_before = if by == block { after <= number } else { dominance.dominates(by, block) };
            if !is_before && dominance.is_reached(block) {
                return Err(format!("control comes here without passing the definition of {value} in {by}"));
            }
        }
        Ok(())
    }

    fn ty(&self, value: Value) -> Checked<Type> {
        exists(&self.function.values, value).copied()
    }

    /// Checks the types of values.
    fn types(&self, what: &str, values: &[Value], types: &[Type]) -> Checked {
        if values.len() != types.len() {
            return Err(format!("{what}: {} are wanted, not {}", types.len(), values.len()));
        }
        for (&value, &wanted) in values.iter().zip(types) {
            let ty = self.ty(value)?;
            if ty != wanted {
                return Err(format!("{what}: {value} is {ty}, not {wanted}"));
            }
        }
        Ok(())
    }

    fn target(&self, target: &Target) -> Checked {
        let body = exists(&self.function.blocks, target.block)?;
        if target.block == self.function.entry() {
            return Err("nothing jumps to the entry".to_owned());
        }
        let types: Vec<Type> = body.parameters.iter().map(|&value| self.function.values[value]).collect();
        self.types(&format!("arguments for {}", target.block), &target.arguments, &types)
    }

    fn terminator(&self, terminator: &Terminator) -> Checked {
        match terminator {
            Terminator::Jump(_) | Terminator::Exit | Terminator::Trap(_) => Ok(()),
            Terminator::Branch(value, _) => self.types("condition", &[*value], &[Type::Bool]),
            Terminator::Switch(value, targets) => {
                if targets.is_empty() {
                    return Err("the switch has no last target".to_owned());
                }
                self.types("number of the target", &[*value], &[Type::I32])
            }
            Terminator::Return(values) => {
                self.types("values returned", values, &self.function.signature.results)
            }
        }
    }

    /// Checks an instruction: its operands and the types of its results.
    fn operation(&self, instruction: &Instruction) -> Checked {
        let results = self.results(&instruction.operation)?;
        self.types("results", &instruction.results, &results)
    }

    /// The type of an operation's first operands, which must be the same and one that it takes.
    fn same(&self, name: &str, values: &[Value], takes: impl Fn(Type) -> bool) -> Checked<Type> {
        let ty = self.ty(values[0])?;
        if !takes(ty) {
            return Err(format!("{name} does not take {ty}"));
        }
        self.types("operands", values, &vec![ty; values.len()])?;
        Ok(ty)
    }

    /// Types of the results of an operation, after a check of its operands.
    fn results(&self, operation: &Operation) -> Checked<Vec<Type>> {
        use Type::{Bool, I32};
        let module = self.module;
        Ok(match operation {
            Operation::Constant(constant) => vec![constant.ty()],
            Operation::Unary(unary, value) => {
                vec![self.same(unary.name(), &[*value], |ty| unary.takes(ty))?]
            }
            Operation::Binary(binary, values) => {
                vec![self.same(binary.name(), values, |ty| binary.takes(ty))?]
            }
            Operation::Compare(compare, values) => {
                self.same(compare.name(), values, |ty| compare.takes(ty))?;
                vec![Bool]
            }
            Operation::Convert(convert, value) => {
                let from = self.ty(*value)?;
                let to = convert.result(from);
                vec![to.ok_or_else(|| format!("{} does not take {from}", convert.name()))?]
            }
            Operation::Fma(values) => vec![self.same("fma", values, Type::is_float)?],
            Operation::Double(double, values) => {
                let (operands, results) = double.types();
                self.types(double.name(), values, operands)?;
                results.to_vec()
            }
            Operation::Half(half, values) => {
                let (operands, result) = half.types();
                self.types(half.name(), values, operands)?;
                vec![result]
            }
            Operation::Select([condition, values @ ..]) => {
                self.types("condition", &[*condition], &[Bool])?;
                vec![self.same("select", values, |_| true)?]
            }
            Operation::Load(access, address) => {
                self.access(access, *address)?;
                vec![access.ty]
            }
            Operation::Store(access, [address, value]) => {
                self.access(access, *address)?;
                self.types("value stored", &[*value], &[access.ty])?;
                vec![]
            }
            Operation::Atomic(atomic, access, _, [address, operand]) => {
                if *atomic == AtomicOp::Cas {
                    return Err(
                        "a compare-and-swap is an instruction of its own, compare_exchange".to_owned()
                    );
                }
                self.atomic(access, *address)?;
                self.types("operand", &[*operand], &[access.ty])?;
                vec![access.ty]
            }
            Operation::CompareExchange(access, _, [address, values @ ..]) => {
                self.atomic(access, *address)?;
                self.types("operands", values, &[access.ty; 2])?;
                vec![access.ty]
            }
            Operation::MemorySize(memory) => {
                self.shared(*memory)?;
                vec![I32]
            }
            Operation::MemoryGrow(memory, pages) => {
                self.shared(*memory)?;
                if exists(&module.memories, *memory)?.space == Space::Local {
                    return Err(format!("{memory} is local memory, which does not grow"));
                }
                self.types("pages", &[*pages], &[I32])?;
                vec![I32]
            }
            Operation::MemoryFill(memory, values) => {
                self.bulk(&[*memory], values)?;
                vec![]
            }
            Operation::MemoryCopy(memories, values) => {
                self.bulk(memories, values)?;
                vec![]
            }
            Operation::MemoryInit(memory, data, values) => {
                exists(&module.data, *data)?;
                self.bulk(&[*memory], values)?;
                vec![]
            }
            Operation::DataDrop(data) => {
                exists(&module.data, *data)?;
                vec![]
            }
            Operation::TableCopy(tables, values) => {
                tables.iter().try_for_each(|&table| exists(&module.tables, table).map(drop))?;
                self.types("operands", values, &[I32; 3])?;
                vec![]
            }
            Operation::TableInit(table, elements, values) => {
                exists(&module.elements, *elements)?;
                self.table(*table, values, &[])?
            }
            Operation::ElementsDrop(elements) => {
                exists(&module.elements, *elements)?;
                vec![]
            }
            Operation::FunctionReference(function) => {
                exists(&module.functions, *function)?;
                vec![I32]
            }
            Operation::TableSize(table) => self.table(*table, &[], &[I32])?,
            Operation::TableGet(table, place) => self.table(*table, &[*place], &[I32])?,
            Operation::TableSet(table, values) => self.table(*table, values, &[])?,
            Operation::TableGrow(table, values) => self.table(*table, values, &[I32])?,
            Operation::TableFill(table, values) => self.table(*table, values, &[])?,
            Operation::GlobalGet(global) => vec![exists(&module.globals, *global)?.initial.ty()],
            Operation::GlobalSet(global, value) => {
                let variable = exists(&module.globals, *global)?;
                if !variable.is_mutable {
                    return Err(format!("{global} cannot be set"));
                }
                self.types("value", &[*value], &[variable.initial.ty()])?;
                vec![]
            }
            Operation::Call(function, values) => {
                let signature = &exists(&module.functions, *function)?.signature;
                self.types(&format!("arguments of {function}"), values, &signature.parameters)?;
                signature.results.clone()
            }
            Operation::CallIndirect(table, signature, place, values) => {
                exists(&module.tables, *table)?;
                let signature = exists(&module.signatures, *signature)?;
                self.types("place in the table", &[*place], &[I32])?;
                self.types("arguments", values, &signature.parameters)?;
                signature.results.clone()
            }
            Operation::Special(_) | Operation::PrivateBase => vec![I32],
            Operation::Wave(wave, values) => {
                let (operands, result) = wave.types();
                self.types(&format!("operands of {}", wave.name()), values, operands)?;
                vec![result]
            }
            Operation::Barrier | Operation::Fence(..) => vec![],
        })
    }

    /// Checks an operation on a table, whose operands are all `i32`; gives the types of its results.
    fn table(&self, table: TableId, values: &[Value], results: &[Type]) -> Checked<Vec<Type>> {
        exists(&self.module.tables, table)?;
        self.types("operands", values, &vec![Type::I32; values.len()])?;
        Ok(results.to_vec())
    }

    /// Checks an access to memory.
    fn access(&self, access: &Access, address: Value) -> Checked {
        exists(&self.module.memories, access.memory)?;
        self.types("address", &[address], &[Type::I32])?;
        let (ty, bytes) = (access.ty, access.bytes);
        let fits = match ty {
            Type::Bool => false,
            Type::F32 | Type::F64 => bytes == ty.bytes(),
            Type::I32 | Type::I64 => matches!(bytes, 1 | 2 | 4 | 8) && bytes <= ty.bytes(),
        };
        if !fits {
            return Err(format!("memory does not hold {ty} in {bytes} bytes"));
        }
        if access.signed && bytes == ty.bytes() {
            return Err(format!("an access to all {bytes} bytes of {ty} has no sign"));
        }
        Ok(())
    }

    /// Checks that a memory is none of one thread only: of that there are loads and stores, and nothing else.
    fn shared(&self, memory: MemoryId) -> Checked {
        match exists(&self.module.memories, memory)?.space {
            Space::Private => {
                Err(format!("{memory} is private memory, which has loads and stores and no other operations"))
            }
            _ => Ok(()),
        }
    }

    /// Checks an atomic access: an integer, and narrower ones are extended with zeros.
    fn atomic(&self, access: &Access, address: Value) -> Checked {
        self.shared(access.memory)?;
        self.access(access, address)?;
        if !access.ty.is_integer() || access.signed {
            return Err("an atomic access is to an unsigned integer".to_owned());
        }
        Ok(())
    }

    fn bulk(&self, memories: &[MemoryId], values: &[Value]) -> Checked {
        memories.iter().try_for_each(|&memory| self.shared(memory))?;
        self.types("operands", values, &[Type::I32; 3])
    }
}
