//! The intermediate representation: typed values in static single assignment form, over a control-flow graph.
//!
//! A value is defined once, by an instruction or as a parameter of a block, and used where its definition dominates.
//! Where control flow joins, values come as arguments of the jump into parameters of the block; there are no phi
//! instructions. Blocks may form any graph, also an irreducible one.
//!
//! A [`Module`] has what WebAssembly has: functions, memories, tables, global variables, segments. The meaning of the
//! operations is that of WebAssembly, with every NaN result canonical.

pub mod dominance;
pub mod evaluate;
mod instruction;
pub mod interpret;
mod operation;
pub mod random;
pub mod text;
mod types;
pub mod verify;

pub use instruction::{
    Access, Double, Half, Instruction, Operation, Order, Place, Target, Terminator, Trap, Wave,
};
pub use operation::{Binary, Compare, Convert, Unary};
pub use types::{Constant, Signature, Type};

use cranelift_entity::{EntityRef, PrimaryMap, entity_impl};
use std::collections::BTreeSet;

/// Declares the numbers of entities, with the letters before them in the text form.
macro_rules! entities {
    ($($(#[doc = $doc:literal])+ $name:ident $letters:literal;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);
        entity_impl!($name, $letters);
    )*};
}

entities! {
    /// A value of a function.
    Value "v";
    /// A block of a function.
    Block "b";
    /// A function of a module.
    FunctionId "f";
    /// A signature that indirect calls name.
    SignatureId "sig";
    /// A memory of a module.
    MemoryId "mem";
    /// A table of a module.
    TableId "tab";
    /// A global variable of a module.
    GlobalId "g";
    /// A data segment of a module.
    DataId "data";
    /// An element segment of a module.
    ElementsId "elem";
}

/// Bytes of a page of memory.
pub const PAGE_BYTES: u64 = 1 << 16;

/// The reference to no function, an `i32`. A reference to a function is its number. A table holds only functions that an
/// element segment or a [`Operation::FunctionReference`] of the module names: another number is no reference, and a
/// table operation that takes one traps with [`Trap::UndefinedElement`].
pub const NULL_REFERENCE: u32 = u32::MAX;

/// Bytes of a page of private memory.
pub const PRIVATE_PAGE_BYTES: u64 = 16;

/// A block: parameters, instructions, and how it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockBody {
    /// Values that a jump to it brings.
    pub parameters: Vec<Value>,
    /// Instructions, in order.
    pub instructions: Vec<Instruction>,
    /// How it ends.
    pub terminator: Terminator,
    /// Where its end comes from.
    pub at: Place,
}

impl BlockBody {
    /// A copy with other values and other targets.
    pub(crate) fn copied(&self, value: impl Fn(Value) -> Value, block: impl Fn(Block) -> Block) -> BlockBody {
        let mut body = self.clone();
        let map = |all: &mut [Value]| all.iter_mut().for_each(|one| *one = value(*one));
        map(&mut body.parameters);
        for instruction in &mut body.instructions {
            map(&mut instruction.results);
            instruction.operation.operands_mut().for_each(|operand| *operand = value(*operand));
        }
        map(body.terminator.operands_mut());
        for target in body.terminator.targets_mut() {
            target.block = block(target.block);
            map(&mut target.arguments);
        }
        body
    }
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name in the source, if that has one.
    pub name: Option<String>,
    /// Parameters and results.
    pub signature: Signature,
    /// Its blocks. The first is the entry: it has the parameters of the function, and nothing jumps to it.
    pub blocks: PrimaryMap<Block, BlockBody>,
    /// Types of its values.
    pub values: PrimaryMap<Value, Type>,
    /// Where it begins.
    pub at: Place,
}

impl Function {
    /// A function whose entry has the parameters and traps, to be filled.
    pub fn new(name: Option<String>, signature: Signature, at: Place) -> Function {
        let mut function =
            Function { name, signature, blocks: PrimaryMap::new(), values: PrimaryMap::new(), at };
        let parameters = function.signature.parameters.clone();
        function.block(&parameters);
        function
    }

    /// The entry.
    pub fn entry(&self) -> Block {
        Block::new(0)
    }

    /// A new value of a type.
    pub fn value(&mut self, ty: Type) -> Value {
        self.values.push(ty)
    }

    /// A new block with parameters of these types. It traps as unreachable until it is given another end.
    pub fn block(&mut self, parameters: &[Type]) -> Block {
        let parameters = parameters.iter().map(|&ty| self.values.push(ty)).collect();
        let terminator = Terminator::Trap(Trap::Unreachable);
        self.blocks.push(BlockBody { parameters, instructions: Vec::new(), terminator, at: Place::default() })
    }
}

/// Where a memory lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Device memory: that of the encoding.
    Device,
    /// Local memory of the workgroup.
    Local,
    /// Memory of the thread: byte addressed from 0, zeros at its start unless a host has written it, and seen by this
    /// thread only.
    Private,
}

impl Space {
    /// Bytes of a page. Private memory is counted in small ones, because each thread has its own.
    pub const fn page_bytes(self) -> u64 {
        match self {
            Space::Device | Space::Local => PAGE_BYTES,
            Space::Private => PRIVATE_PAGE_BYTES,
        }
    }
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Where it lies.
    pub space: Space,
    /// Bytes of a page, a power of 2: that of the space ([`Space::page_bytes`]), or 1 for an encoding that counts
    /// bytes.
    pub page_bytes: u64,
    /// Pages at the start.
    pub pages: u64,
    /// Most pages.
    pub most_pages: Option<u64>,
}

impl Memory {
    /// A memory in pages of its space.
    pub const fn new(space: Space, pages: u64, most_pages: Option<u64>) -> Memory {
        Memory { space, page_bytes: space.page_bytes(), pages, most_pages }
    }

    /// Bytes at the start.
    pub const fn bytes(&self) -> u64 {
        self.pages.saturating_mul(self.page_bytes)
    }
}

/// A table of functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Places.
    pub places: u64,
    /// Most places.
    pub most_places: Option<u64>,
}

/// A global variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Global {
    /// Its name in the source, if that has one.
    pub name: Option<String>,
    /// Value at the start; it has its type.
    pub initial: Constant,
    /// True if it can be set.
    pub is_mutable: bool,
}

/// A data segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Where it is copied to at the start. It is empty from then on.
    pub at_start: Option<(MemoryId, u32)>,
}

/// An element segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elements {
    /// Its functions.
    pub functions: Vec<Option<FunctionId>>,
    /// Where it is copied to at the start. It is empty from then on.
    pub at_start: Option<(TableId, u32)>,
}

/// What an export names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exported {
    /// A function.
    Function(FunctionId),
    /// A memory.
    Memory(MemoryId),
    /// A table.
    Table(TableId),
    /// A global variable.
    Global(GlobalId),
}

/// A module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    /// Functions.
    pub functions: PrimaryMap<FunctionId, Function>,
    /// Signatures of indirect calls.
    pub signatures: PrimaryMap<SignatureId, Signature>,
    /// Memories.
    pub memories: PrimaryMap<MemoryId, Memory>,
    /// Tables.
    pub tables: PrimaryMap<TableId, Table>,
    /// Global variables.
    pub globals: PrimaryMap<GlobalId, Global>,
    /// Data segments, in the order in which they are copied.
    pub data: PrimaryMap<DataId, Data>,
    /// Element segments, in the order in which they are copied, before the data.
    pub elements: PrimaryMap<ElementsId, Elements>,
    /// Names for the outside.
    pub exports: Vec<(String, Exported)>,
    /// Runs once at the start.
    pub start: Option<FunctionId>,
}

impl Module {
    /// The functions that tables may hold: those that an element segment or a reference names.
    pub fn referenced(&self) -> BTreeSet<FunctionId> {
        let elements =
            self.elements.values().flat_map(|elements| elements.functions.iter().flatten().copied());
        let bodies = self.functions.values().flat_map(|function| function.blocks.values());
        let named = bodies.flat_map(|body| &body.instructions).filter_map(|one| match one.operation {
            Operation::FunctionReference(function) => Some(function),
            _ => None,
        });
        elements.chain(named).collect()
    }
}
