//! Reads operations.

use super::super::{
    Access, Binary, Compare, Convert, Double, Half, MemoryId, Operation, Order, Type, Unary, Value, Wave,
};
use super::parse::{Parser, Read};
use super::{ATOMIC_NAMES, atomic_from_name};
use wave_isa::{Scope, Special};

/// Operations that are not in one of the tables of names.
const OTHERS: [&str; 26] = [
    "fma",
    "select",
    "const",
    "load",
    "store",
    "compare_exchange",
    "memory_size",
    "memory_grow",
    "memory_fill",
    "memory_copy",
    "memory_init",
    "data_drop",
    "table_copy",
    "table_init",
    "elements_drop",
    "function_reference",
    "table_get",
    "table_set",
    "table_size",
    "table_grow",
    "table_fill",
    "global_get",
    "global_set",
    "call",
    "call_indirect",
    "special",
];

/// Names of all operations.
fn names() -> impl Iterator<Item = &'static str> {
    let unary = Unary::ALL.iter().map(|one| one.name());
    let binary = Binary::ALL.iter().map(|one| one.name());
    let compare = Compare::ALL.iter().map(|one| one.name());
    let convert = Convert::ALL.iter().map(|one| one.name());
    let wave = Wave::ALL.iter().map(|one| one.name());
    let double = Double::ALL.iter().map(|one| one.name());
    let half = Half::ALL.iter().map(|one| one.name());
    let tables = unary.chain(binary).chain(compare).chain(convert).chain(wave).chain(double).chain(half);
    tables.chain(ATOMIC_NAMES).chain(OTHERS).chain(["barrier", "fence"])
}

impl Parser<'_> {
    /// `count` values with commas between them.
    fn some_values<const COUNT: usize>(&mut self) -> Read<[Value; COUNT]> {
        let mut values = [Value::from_u32(0); COUNT];
        for (i, value) in values.iter_mut().enumerate() {
            if i > 0 {
                self.mark(",")?;
            }
            *value = self.value()?;
        }
        Ok(values)
    }

    /// A comma, and values behind it.
    fn more_values<const COUNT: usize>(&mut self) -> Read<[Value; COUNT]> {
        self.mark(",")?;
        self.some_values()
    }

    fn scope(&mut self) -> Read<Scope> {
        let word = self.word("a scope")?;
        let names = Scope::ALL.iter().map(|scope| scope.name());
        Scope::from_name(word).ok_or_else(|| self.unknown("there is no scope", word, names))
    }

    /// An access from the words behind the name of its operation: the type, and how memory holds it.
    fn access(&mut self, words: Option<&str>) -> Read<Access> {
        let words =
            words.ok_or_else(|| self.wrong_before("the type of the value is missing, as in `load.i32`"))?;
        let (name, held) = words.split_once('.').map_or((words, None), |(name, held)| (name, Some(held)));
        let ty = self.type_named(name)?;
        let (bytes, signed) = match held {
            None => (ty.bytes(), false),
            Some(held) => {
                let wrong =
                    || self.wrong_before(format!("memory holds `s8`, `u16` and the like, not `{held}`"));
                let (signed, bits) = held.split_at_checked(1).ok_or_else(wrong)?;
                let bits = bits.parse::<u64>().ok().filter(|bits| bits % 8 == 0);
                let bytes = bits.and_then(|bits| u32::try_from(bits / 8).ok()).ok_or_else(wrong)?;
                match signed {
                    "s" => (bytes, true),
                    "u" => (bytes, false),
                    _ => return Err(wrong()),
                }
            }
        };
        Ok(Access { memory: MemoryId::from_u32(0), ty, bytes, signed, offset: 0 })
    }

    /// `mem0[v1 + 8]`, into the access; gives the address.
    fn address(&mut self, access: &mut Access) -> Read<Value> {
        access.memory = self.memory_id()?;
        self.mark("[")?;
        let value = self.value()?;
        if self.is("+") {
            access.offset = self.number("an offset of 32 bits")?;
        }
        self.mark("]")?;
        Ok(value)
    }

    /// The operation whose name has been read.
    pub(super) fn operation(&mut self, word: &str) -> Read<Operation> {
        if let Some(unary) = Unary::from_name(word) {
            return Ok(Operation::Unary(unary, self.value()?));
        }
        if let Some(binary) = Binary::from_name(word) {
            return Ok(Operation::Binary(binary, self.some_values()?));
        }
        if let Some(compare) = Compare::from_name(word) {
            return Ok(Operation::Compare(compare, self.some_values()?));
        }
        if let Some(convert) = Convert::from_name(word) {
            return Ok(Operation::Convert(convert, self.value()?));
        }
        if let Some(wave) = Wave::from_name(word) {
            return Ok(Operation::Wave(wave, self.list("(", ")", Self::value)?));
        }
        if let Some(double) = Double::from_name(word) {
            return Ok(Operation::Double(double, self.list("(", ")", Self::value)?));
        }
        if let Some(half) = Half::from_name(word) {
            return Ok(Operation::Half(half, self.list("(", ")", Self::value)?));
        }
        let (name, types) = word.split_once('.').map_or((word, None), |(name, types)| (name, Some(types)));
        if let Some(atomic) = atomic_from_name(name) {
            let mut access = self.access(types)?;
            let scope = self.scope()?;
            let address = self.address(&mut access)?;
            let [operand] = self.more_values()?;
            return Ok(Operation::Atomic(atomic, access, scope, [address, operand]));
        }
        match name {
            "const" => {
                let ty: Type = self.type_named(types.unwrap_or_default())?;
                return Ok(Operation::Constant(self.constant(ty)?));
            }
            "load" => {
                let mut access = self.access(types)?;
                let address = self.address(&mut access)?;
                return Ok(Operation::Load(access, address));
            }
            "store" => {
                let mut access = self.access(types)?;
                let address = self.address(&mut access)?;
                let [value] = self.more_values()?;
                return Ok(Operation::Store(access, [address, value]));
            }
            "compare_exchange" => {
                let mut access = self.access(types)?;
                let scope = self.scope()?;
                let address = self.address(&mut access)?;
                let [expected, replacement] = self.more_values()?;
                return Ok(Operation::CompareExchange(access, scope, [address, expected, replacement]));
            }
            _ => {}
        }
        self.other(word)
    }

    /// An operation that names other things than values and accesses.
    fn other(&mut self, word: &str) -> Read<Operation> {
        Ok(match word {
            "fma" => Operation::Fma(self.some_values()?),
            "select" => Operation::Select(self.some_values()?),
            "memory_size" => Operation::MemorySize(self.memory_id()?),
            "memory_grow" => {
                let memory = self.memory_id()?;
                let [pages] = self.more_values()?;
                Operation::MemoryGrow(memory, pages)
            }
            "memory_fill" => Operation::MemoryFill(self.memory_id()?, self.more_values()?),
            "memory_copy" => {
                let to = self.memory_id()?;
                self.mark(",")?;
                Operation::MemoryCopy([to, self.memory_id()?], self.more_values()?)
            }
            "memory_init" => {
                let memory = self.memory_id()?;
                self.mark(",")?;
                Operation::MemoryInit(memory, self.data_id()?, self.more_values()?)
            }
            "data_drop" => Operation::DataDrop(self.data_id()?),
            "table_copy" => {
                let to = self.table_id()?;
                self.mark(",")?;
                Operation::TableCopy([to, self.table_id()?], self.more_values()?)
            }
            "table_init" => {
                let table = self.table_id()?;
                self.mark(",")?;
                Operation::TableInit(table, self.elements_id()?, self.more_values()?)
            }
            "elements_drop" => Operation::ElementsDrop(self.elements_id()?),
            "function_reference" => Operation::FunctionReference(self.function_id()?),
            "table_get" => {
                let table = self.table_id()?;
                let [place] = self.more_values()?;
                Operation::TableGet(table, place)
            }
            "table_set" => Operation::TableSet(self.table_id()?, self.more_values()?),
            "table_size" => Operation::TableSize(self.table_id()?),
            "table_grow" => Operation::TableGrow(self.table_id()?, self.more_values()?),
            "table_fill" => Operation::TableFill(self.table_id()?, self.more_values()?),
            "global_get" => Operation::GlobalGet(self.global_id()?),
            "global_set" => {
                let global = self.global_id()?;
                let [value] = self.more_values()?;
                Operation::GlobalSet(global, value)
            }
            "call" => Operation::Call(self.function_id()?, self.list("(", ")", Self::value)?),
            "call_indirect" => {
                let table = self.table_id()?;
                self.mark("[")?;
                let place = self.value()?;
                self.mark("]")?;
                Operation::CallIndirect(table, self.signature_id()?, place, self.list("(", ")", Self::value)?)
            }
            "special" => {
                let name = self.word("a special register")?;
                let names = Special::ALL.iter().map(|special| special.name());
                let special = Special::from_name(name);
                Operation::Special(
                    special.ok_or_else(|| self.unknown("there is no special register", name, names))?,
                )
            }
            "private_base" => Operation::PrivateBase,
            "barrier" => Operation::Barrier,
            "fence" => {
                let name = self.word("what the fence orders")?;
                let names = Order::ALL.iter().map(|order| order.name());
                let order = Order::from_name(name);
                let order = order.ok_or_else(|| self.unknown("there is no fence", name, names))?;
                Operation::Fence(order, self.scope()?)
            }
            _ => return Err(self.unknown("there is no operation", word, names())),
        })
    }
}
