//! Writes modules and functions.

use super::super::{
    Access, Block, Constant, Exported, Function, Instruction, Module, Operation, Place, Signature, Space,
    Target, Terminator, Trap, Type, Value,
};
use super::atomic_name;
use cranelift_entity::EntityRef;
use std::fmt::{self, Display, Formatter, Write};

/// Bytes of a data segment on a line.
const BYTES_PER_LINE: usize = 64;

/// Items with commas between them.
struct List<'a, T>(&'a [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

/// A name between quotation marks.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                // Also what would show the text in another order or break its lines.
                c if c.is_control() || matches!(c, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}') => {
                    write!(f, "\\u{{{:x}}}", c as u32)?;
                }
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// Bytes between quotation marks.
struct Bytes<'a>(&'a [u8]);

impl Display for Bytes<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for &byte in self.0 {
            match byte {
                b'"' | b'\\' => write!(f, "\\{}", char::from(byte))?,
                b' '..=b'~' => f.write_char(char::from(byte))?,
                _ => write!(f, "\\{byte:02x}")?,
            }
        }
        f.write_char('"')
    }
}

/// ` "name"`, if there is one.
struct Name<'a>(&'a Option<String>);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |name| write!(f, " {}", Quoted(name)))
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

/// ` @place`, if there is one.
struct At(Place);

impl Display for At {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0 == Place::default() { Ok(()) } else { write!(f, " {}", self.0) }
    }
}

impl Display for Trap {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Display for Signature {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({}) -> ({})", List(&self.parameters), List(&self.results))
    }
}

impl Display for Exported {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Exported::Function(function) => function.fmt(f),
            Exported::Memory(memory) => memory.fmt(f),
            Exported::Table(table) => table.fmt(f),
            Exported::Global(global) => global.fmt(f),
        }
    }
}

/// The value without its type: `5`, `true`, `1.5`, `0x7fa00000`.
struct Bare(Constant);

impl Display for Bare {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Constant::Bool(value) => value.fmt(f),
            Constant::I32(value) => (value as i32).fmt(f),
            Constant::I64(value) => (value as i64).fmt(f),
            Constant::F32(bits) => match f32::from_bits(bits) {
                value if value.is_nan() => write!(f, "0x{bits:08x}"),
                value => write!(f, "{value:?}"),
            },
            Constant::F64(bits) => match f64::from_bits(bits) {
                value if value.is_nan() => write!(f, "0x{bits:016x}"),
                value => write!(f, "{value:?}"),
            },
        }
    }
}

impl Display for Constant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ty(), Bare(*self))
    }
}

/// `.type`, and `.s8` or the like where memory holds it otherwise.
impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ".{}", self.ty)?;
        if self.bytes == self.ty.bytes() && !self.signed {
            return Ok(());
        }
        write!(f, ".{}{}", if self.signed { 's' } else { 'u' }, u64::from(self.bytes) * 8)
    }
}

/// `mem0[v1 + 8]`.
struct Address<'a>(&'a Access, Value);

impl Display for Address<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Address(access, value) = self;
        match access.offset {
            0 => write!(f, "{}[{value}]", access.memory),
            offset => write!(f, "{}[{value} + {offset}]", access.memory),
        }
    }
}

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Constant(constant) => write!(f, "const.{} {}", constant.ty(), Bare(*constant)),
            Operation::Unary(unary, value) => write!(f, "{} {value}", unary.name()),
            Operation::Binary(binary, values) => write!(f, "{} {}", binary.name(), List(values)),
            Operation::Compare(compare, values) => write!(f, "{} {}", compare.name(), List(values)),
            Operation::Convert(convert, value) => write!(f, "{} {value}", convert.name()),
            Operation::Fma(values) => write!(f, "fma {}", List(values)),
            Operation::Select(values) => write!(f, "select {}", List(values)),
            Operation::Load(access, address) => write!(f, "load{access} {}", Address(access, *address)),
            Operation::Store(access, [address, value]) => {
                write!(f, "store{access} {}, {value}", Address(access, *address))
            }
            Operation::Atomic(operation, access, scope, [address, operand]) => {
                let (name, address) = (atomic_name(*operation), Address(access, *address));
                write!(f, "{name}{access} {} {address}, {operand}", scope.name())
            }
            Operation::CompareExchange(access, scope, [address, values @ ..]) => {
                let address = Address(access, *address);
                write!(f, "compare_exchange{access} {} {address}, {}", scope.name(), List(values))
            }
            Operation::MemorySize(memory) => write!(f, "memory_size {memory}"),
            Operation::MemoryGrow(memory, pages) => write!(f, "memory_grow {memory}, {pages}"),
            Operation::MemoryFill(memory, values) => write!(f, "memory_fill {memory}, {}", List(values)),
            Operation::MemoryCopy(memories, values) => {
                write!(f, "memory_copy {}, {}", List(memories), List(values))
            }
            Operation::MemoryInit(memory, data, values) => {
                write!(f, "memory_init {memory}, {data}, {}", List(values))
            }
            Operation::DataDrop(data) => write!(f, "data_drop {data}"),
            Operation::TableCopy(tables, values) => {
                write!(f, "table_copy {}, {}", List(tables), List(values))
            }
            Operation::TableInit(table, elements, values) => {
                write!(f, "table_init {table}, {elements}, {}", List(values))
            }
            Operation::ElementsDrop(elements) => write!(f, "elements_drop {elements}"),
            Operation::FunctionReference(function) => write!(f, "function_reference {function}"),
            Operation::TableGet(table, place) => write!(f, "table_get {table}, {place}"),
            Operation::TableSet(table, values) => write!(f, "table_set {table}, {}", List(values)),
            Operation::TableSize(table) => write!(f, "table_size {table}"),
            Operation::TableGrow(table, values) => write!(f, "table_grow {table}, {}", List(values)),
            Operation::TableFill(table, values) => write!(f, "table_fill {table}, {}", List(values)),
            Operation::GlobalGet(global) => write!(f, "global_get {global}"),
            Operation::GlobalSet(global, value) => write!(f, "global_set {global}, {value}"),
            Operation::Call(function, values) => write!(f, "call {function}({})", List(values)),
            Operation::CallIndirect(table, signature, place, values) => {
                write!(f, "call_indirect {table}[{place}] {signature}({})", List(values))
            }
            Operation::Special(special) => write!(f, "special {}", special.name()),
            Operation::Double(double, values) => write!(f, "{}({})", double.name(), List(values)),
            Operation::Half(half, values) => write!(f, "{}({})", half.name(), List(values)),
            Operation::PrivateBase => f.write_str("private_base"),
            Operation::Wave(wave, values) => write!(f, "{}({})", wave.name(), List(values)),
            Operation::Barrier => f.write_str("barrier"),
            Operation::Fence(order, scope) => write!(f, "fence {} {}", order.name(), scope.name()),
        }
    }
}

/// `b1(v0, v1)`, or `b1` without arguments.
impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.arguments.as_slice() {
            [] => self.block.fmt(f),
            arguments => write!(f, "{}({})", self.block, List(arguments)),
        }
    }
}

impl Display for Terminator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Terminator::Jump(target) => write!(f, "jump {target}"),
            Terminator::Branch(value, targets) => write!(f, "branch {value}, {}", List(targets)),
            Terminator::Switch(value, targets) => write!(f, "switch {value}, [{}]", List(targets)),
            Terminator::Return(values) => match values.as_slice() {
                [] => f.write_str("return"),
                values => write!(f, "return {}", List(values)),
            },
            Terminator::Exit => f.write_str("exit"),
            Terminator::Trap(trap) => write!(f, "trap {}", Quoted(trap.name())),
        }
    }
}

/// A value where it is defined: `v0: i32`.
struct Defined(Value, Option<Type>);

impl Display for Defined {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(ty) => write!(f, "{}: {ty}", self.0),
            None => write!(f, "{}: ?", self.0),
        }
    }
}

/// A function behind its number in the module, if it is known.
struct Numbered<'a>(Option<super::super::FunctionId>, &'a Function);

impl Numbered<'_> {
    /// The values with their types.
    fn defined(&self, values: &[Value]) -> Vec<Defined> {
        values.iter().map(|&value| Defined(value, self.1.values.get(value).copied())).collect()
    }

    /// The values that nothing defines.
    fn undefined(&self) -> Vec<Value> {
        let function = self.1;
        let mut is_defined = vec![false; function.values.len()];
        let results = |instruction: &'_ Instruction| instruction.results.clone();
        for body in function.blocks.values() {
            let results = body.instructions.iter().flat_map(results);
            for value in body.parameters.iter().copied().chain(results) {
                if let Some(defined) = is_defined.get_mut(value.index()) {
                    *defined = true;
                }
            }
        }
        function.values.keys().filter(|value| !is_defined[value.index()]).collect()
    }
}

impl Display for Numbered<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Numbered(number, function) = self;
        f.write_str("function")?;
        if let Some(number) = number {
            write!(f, " {number}")?;
        }
        writeln!(f, "{} {}{} {{", Name(&function.name), function.signature, At(function.at))?;
        let undefined = self.undefined();
        if !undefined.is_empty() {
            writeln!(f, "    undefined {}", List(&self.defined(&undefined)))?;
        }
        for (block, body) in &function.blocks {
            write_label(f, block, &self.defined(&body.parameters))?;
            for instruction in &body.instructions {
                f.write_str("    ")?;
                if !instruction.results.is_empty() {
                    write!(f, "{} = ", List(&self.defined(&instruction.results)))?;
                }
                writeln!(f, "{}{}", instruction.operation, At(instruction.at))?;
            }
            writeln!(f, "    {}{}", body.terminator, At(body.at))?;
        }
        f.write_char('}')
    }
}

fn write_label(f: &mut Formatter<'_>, block: Block, parameters: &[Defined]) -> fmt::Result {
    match parameters {
        [] => writeln!(f, "{block}:"),
        parameters => writeln!(f, "{block}({}):", List(parameters)),
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Numbered(None, self).fmt(f)
    }
}

/// ` to N`, if there is a limit.
fn up_to(most: Option<u64>) -> String {
    most.map_or(String::new(), |most| format!(" to {most}"))
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (id, signature) in &self.signatures {
            writeln!(f, "signature {id} {signature}")?;
        }
        for (id, memory) in &self.memories {
            let space = match memory.space {
                Space::Device => "device",
                Space::Local => "local",
                Space::Private => "private",
            };
            write!(f, "memory {id} {space} {}{}", memory.pages, up_to(memory.most_pages))?;
            if memory.page_bytes != memory.space.page_bytes() {
                write!(f, " pages {}", memory.page_bytes)?;
            }
            writeln!(f)?;
        }
        for (id, table) in &self.tables {
            writeln!(f, "table {id} {}{}", table.places, up_to(table.most_places))?;
        }
        for (id, global) in &self.globals {
            let mutable = if global.is_mutable { "mutable " } else { "" };
            writeln!(f, "global {id}{} {mutable}{}", Name(&global.name), global.initial)?;
        }
        for (id, data) in &self.data {
            write!(f, "data {id}")?;
            if let Some((memory, address)) = data.at_start {
                write!(f, " at {memory} {address}")?;
            }
            for bytes in data.bytes.chunks(BYTES_PER_LINE) {
                write!(f, "\n    {}", Bytes(bytes))?;
            }
            writeln!(f)?;
        }
        for (id, elements) in &self.elements {
            write!(f, "elements {id}")?;
            if let Some((table, place)) = elements.at_start {
                write!(f, " at {table} {place}")?;
            }
            let name = |function: &Option<_>| function.map_or("null".to_owned(), |id| format!("{id}"));
            let functions: Vec<String> = elements.functions.iter().map(name).collect();
            writeln!(f, " [{}]", List(&functions))?;
        }
        for (name, exported) in &self.exports {
            writeln!(f, "export {} {exported}", Quoted(name))?;
        }
        if let Some(function) = self.start {
            writeln!(f, "start {function}")?;
        }
        for (id, function) in &self.functions {
            writeln!(f, "\n{}", Numbered(Some(id), function))?;
        }
        Ok(())
    }
}
