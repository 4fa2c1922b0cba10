//! Instructions and terminators.

use super::operation::{Binary, Compare, Convert, Unary, named};
use super::types::{Constant, Type};
use super::{Block, DataId, ElementsId, FunctionId, GlobalId, MemoryId, SignatureId, TableId, Value};
use std::slice;
use wave_isa::table::AtomicOp;
use wave_isa::{Scope, Special};

named! {
    /// An operation on the values of all lanes of a wave that take part.
    Wave {
        /// `i32`: the value in the lane that the second value names.
        Shuffle "shuffle",
        /// `i32`: the value in the lane as many below as the second value says.
        ShuffleUp "shuffle_up",
        /// `i32`: the value in the lane as many above as the second value says.
        ShuffleDown "shuffle_down",
        /// `i32`: the value in the lane whose number differs in these bits.
        ShuffleXor "shuffle_xor",
        /// `i32`: the value in the lane that the second value of the lowest lane names.
        Broadcast "broadcast",
        /// Truth value to `i64`: bit i is that of lane i.
        Ballot "ballot",
        /// Truth value: whether it is true in any lane.
        Any "any",
        /// Truth value: whether it is true in all lanes.
        All "all",
        /// `i32`: the sum over the lanes below.
        PrefixSum "prefix_sum",
        /// `i32`: the sum.
        ReduceAdd "reduce_add",
        /// `i32`: the unsigned minimum.
        ReduceMin "reduce_min",
        /// `i32`: the unsigned maximum.
        ReduceMax "reduce_max",
        /// `i32`: the bitwise and.
        ReduceAnd "reduce_and",
        /// `i32`: the bitwise or.
        ReduceOr "reduce_or",
        /// `i32`: the bitwise exclusive or.
        ReduceXor "reduce_xor",
    }
}

impl Wave {
    /// Types of the operands and of the result.
    pub const fn types(self) -> (&'static [Type], Type) {
        match self {
            Wave::Shuffle | Wave::ShuffleUp | Wave::ShuffleDown | Wave::ShuffleXor | Wave::Broadcast => {
                (&[Type::I32, Type::I32], Type::I32)
            }
            Wave::Ballot => (&[Type::Bool], Type::I64),
            Wave::Any | Wave::All => (&[Type::Bool], Type::Bool),
            Wave::PrefixSum
            | Wave::ReduceAdd
            | Wave::ReduceMin
            | Wave::ReduceMax
            | Wave::ReduceAnd
            | Wave::ReduceOr
            | Wave::ReduceXor => (&[Type::I32], Type::I32),
        }
    }
}

named! {
    /// An instruction of a machine that computes with `f64`, on the halves of their bits: two `i32`, the low one first.
    /// A decoder makes none; they come with the choice of the machine.
    Double {
        /// Sum.
        Add "dadd",
        /// Difference.
        Sub "dsub",
        /// Product.
        Mul "dmul",
        /// `a * b + c`, rounded once.
        Fma "dma",
        /// Quotient.
        Div "ddiv",
        /// Square root.
        Sqrt "dsqrt",
        /// From `f32`.
        Promote "dpromote",
        /// To `f32`, to nearest even.
        Demote "ddemote",
    }
}

impl Double {
    /// Types of the operands and of the results.
    pub const fn types(self) -> (&'static [Type], &'static [Type]) {
        const WORDS: [Type; 6] = [Type::I32; 6];
        let (pair, two) = (WORDS.split_at(2).0, WORDS.split_at(4).0);
        match self {
            Double::Add | Double::Sub | Double::Mul | Double::Div => (two, pair),
            Double::Fma => (&WORDS, pair),
            Double::Sqrt => (pair, pair),
            Double::Promote => (&[Type::F32], pair),
            Double::Demote => (pair, &[Type::F32]),
        }
    }
}

named! {
    /// An instruction on binary16 numbers, in the low halves of `i32` values or in both. It computes in `f32` and rounds
    /// to binary16; NaN results are canonical. The high half of a result with one number is 0.
    Half {
        /// Sum.
        Add "hadd",
        /// Difference.
        Sub "hsub",
        /// Product.
        Mul "hmul",
        /// `a * b + c`, by an `f32` operation that rounds once.
        Fma "hma",
        /// Sums in both halves.
        Add2 "hadd2",
        /// Products in both halves.
        Mul2 "hmul2",
        /// `a * b + c` in both halves.
        Fma2 "hma2",
        /// To `f32`.
        Widen "hwiden",
        /// From `f32`, to nearest even.
        Narrow "hnarrow",
    }
}

impl Half {
    /// Types of the operands and of the result.
    pub const fn types(self) -> (&'static [Type], Type) {
        match self {
            Half::Add | Half::Sub | Half::Mul | Half::Add2 | Half::Mul2 => (&[Type::I32; 2], Type::I32),
            Half::Fma | Half::Fma2 => (&[Type::I32; 3], Type::I32),
            Half::Widen => (&[Type::I32], Type::F32),
            Half::Narrow => (&[Type::F32], Type::I32),
        }
    }
}

named! {
    /// What a fence orders.
    Order {
        /// Later loads see what was visible.
        Acquire "acquire",
        /// Earlier stores are visible before any later one.
        Release "release",
        /// Both.
        AcquireRelease "acq_rel",
    }
}

named! {
    /// Why a thread is stopped. The name is also the reason that a user reads.
    Trap {
        /// The program said that it would never come here.
        Unreachable "unreachable",
        /// A division by 0.
        DivideByZero "integer divide by zero",
        /// A quotient, or a float as an integer, that its type has not.
        IntegerOverflow "integer overflow",
        /// A NaN as an integer.
        InvalidConversion "invalid conversion to integer",
        /// An access outside memory.
        MemoryOutOfBounds "out of bounds memory access",
        /// An access outside a table.
        TableOutOfBounds "out of bounds table access",
        /// An atomic access that is not aligned.
        Misaligned "unaligned atomic",
        /// An indirect call past the end of its table.
        UndefinedElement "undefined element",
        /// An indirect call of an element that no function fills.
        UninitialisedElement "uninitialized element",
        /// An indirect call of a function with another signature.
        SignatureMismatch "indirect call type mismatch",
        /// No room for another frame.
        StackExhausted "call stack exhausted",
        /// No fuel is left.
        OutOfFuel "out of fuel",
        /// A call of an imported function that nobody provides.
        UnknownImport "call of an unknown import",
    }
}

/// How an instruction accesses memory. It traps with [`Trap::MemoryOutOfBounds`] where a byte of it lies outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Access {
    /// Which memory.
    pub memory: MemoryId,
    /// Type of the value.
    pub ty: Type,
    /// Bytes in memory: 1, 2, 4 or 8, at most those of the type. A narrower store drops the high bits.
    pub bytes: u32,
    /// A narrower load extends with the sign.
    pub signed: bool,
    /// Added to the address, without wrapping.
    pub offset: u32,
}

/// What an instruction does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Gives a constant.
    Constant(Constant),
    /// An operation on one value.
    Unary(Unary, Value),
    /// An operation on two values.
    Binary(Binary, [Value; 2]),
    /// A comparison.
    Compare(Compare, [Value; 2]),
    /// A conversion.
    Convert(Convert, Value),
    /// `a * b + c`, rounded once.
    Fma([Value; 3]),
    /// An instruction on halves of `f64`.
    Double(Double, Vec<Value>),
    /// An instruction on binary16 numbers.
    Half(Half, Vec<Value>),
    /// The second value where the first, a truth value, is true; else the third.
    Select([Value; 3]),
    /// Loads from an `i32` address.
    Load(Access, Value),
    /// Stores to an `i32` address: address, value.
    Store(Access, [Value; 2]),
    /// Reads, modifies and writes at once, and gives the old value: address, operand. Traps where it is not aligned.
    Atomic(AtomicOp, Access, Scope, [Value; 2]),
    /// Replaces the value in memory if it is the expected one, and gives the old one: address, expected,
    /// replacement.
    CompareExchange(Access, Scope, [Value; 3]),
    /// Size of a memory in pages.
    MemorySize(MemoryId),
    /// Adds pages to a memory, and gives its old size in pages, or -1.
    MemoryGrow(MemoryId, Value),
    /// Fills memory: address, byte, length.
    MemoryFill(MemoryId, [Value; 3]),
    /// Copies within or between memories, as if by a buffer between: to, from; addresses to, from, length.
    MemoryCopy([MemoryId; 2], [Value; 3]),
    /// Copies from a data segment: address, offset in the segment, length.
    MemoryInit(MemoryId, DataId, [Value; 3]),
    /// Empties a data segment.
    DataDrop(DataId),
    /// Copies within or between tables: to, from; places to, from, length.
    TableCopy([TableId; 2], [Value; 3]),
    /// Copies from an element segment: place, offset in the segment, length.
    TableInit(TableId, ElementsId, [Value; 3]),
    /// Empties an element segment.
    ElementsDrop(ElementsId),
    /// The reference to a function: its number, an `i32`. See [`NULL_REFERENCE`](super::NULL_REFERENCE).
    FunctionReference(FunctionId),
    /// The reference at a place of a table. Traps past the end, and where a function is that the module has not.
    TableGet(TableId, Value),
    /// Puts a reference at a place of a table: place, reference. Traps past the end, and on what is no reference.
    TableSet(TableId, [Value; 2]),
    /// Number of places of a table.
    TableSize(TableId),
    /// Adds places to a table, and gives how many there were before, or -1: reference in the new places, number of
    /// them. Traps on what is no reference.
    TableGrow(TableId, [Value; 2]),
    /// Puts a reference at many places: first place, reference, number of places. Traps as a set does.
    TableFill(TableId, [Value; 3]),
    /// Value of a global variable.
    GlobalGet(GlobalId),
    /// Sets a global variable.
    GlobalSet(GlobalId, Value),
    /// Calls a function.
    Call(FunctionId, Vec<Value>),
    /// Calls the function at a place of a table, the first value. Traps where there is none, or one with another
    /// signature.
    CallIndirect(TableId, SignatureId, Value, Vec<Value>),
    /// Reads a special register.
    Special(Special),
    /// The address of the private memory of this thread in device memory, an `i32`. Only lowered modules have it.
    PrivateBase,
    /// An operation on all lanes of the wave.
    Wave(Wave, Vec<Value>),
    /// Waits for all threads of the workgroup.
    Barrier,
    /// Orders accesses.
    Fence(Order, Scope),
}

/// The operands of an operation in two slices, to read or to change: `$one` makes a slice of one value, and `$none` is
/// an empty slice.
macro_rules! operand_parts {
    ($operation:expr, $one:path, $none:expr) => {
        match $operation {
            Operation::Unary(_, value)
            | Operation::Convert(_, value)
            | Operation::Load(_, value)
            | Operation::MemoryGrow(_, value)
            | Operation::TableGet(_, value)
            | Operation::GlobalSet(_, value) => ($one(value), $none),
            Operation::Binary(_, values)
            | Operation::Compare(_, values)
            | Operation::Store(_, values)
            | Operation::Atomic(_, _, _, values)
            | Operation::TableSet(_, values)
            | Operation::TableGrow(_, values) => (values, $none),
            Operation::Fma(values)
            | Operation::Select(values)
            | Operation::CompareExchange(_, _, values)
            | Operation::MemoryFill(_, values)
            | Operation::MemoryCopy(_, values)
            | Operation::MemoryInit(_, _, values)
            | Operation::TableCopy(_, values)
            | Operation::TableInit(_, _, values)
            | Operation::TableFill(_, values) => (values, $none),
            Operation::Call(_, values)
            | Operation::Wave(_, values)
            | Operation::Double(_, values)
            | Operation::Half(_, values) => (values, $none),
            Operation::CallIndirect(_, _, place, values) => ($one(place), values),
            Operation::Constant(_)
            | Operation::MemorySize(_)
            | Operation::DataDrop(_)
            | Operation::ElementsDrop(_)
            | Operation::FunctionReference(_)
            | Operation::TableSize(_)
            | Operation::GlobalGet(_)
            | Operation::Special(_)
            | Operation::PrivateBase
            | Operation::Barrier
            | Operation::Fence(..) => ($none, $none),
        }
    };
}

impl Operation {
    /// The values that it takes, in order.
    pub fn operands(&self) -> impl Iterator<Item = Value> {
        let (first, others): (&[Value], &[Value]) = operand_parts!(self, slice::from_ref, &[]);
        first.iter().chain(others).copied()
    }

    /// The values that it takes, in order, to put others in their place.
    pub fn operands_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let (first, others): (&mut [Value], &mut [Value]) = operand_parts!(self, slice::from_mut, &mut []);
        first.iter_mut().chain(others)
    }

    /// True if it does no more than give values that follow from its operands: it may be left out where nobody takes
    /// them, done twice, or moved. What may trap is none of these.
    pub fn is_pure(&self) -> bool {
        match self {
            Operation::Constant(_)
            | Operation::Unary(..)
            | Operation::Compare(..)
            | Operation::Fma(_)
            | Operation::Half(..)
            | Operation::Select(_)
            | Operation::Special(_)
            | Operation::FunctionReference(_)
            | Operation::PrivateBase => true,
            Operation::Binary(binary, _) => !binary.traps(),
            Operation::Convert(convert, _) => !convert.traps(),
            _ => false,
        }
    }
}

/// An instruction: what it does, and the values that it gives.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// What it does.
    pub operation: Operation,
    /// The values that it gives: none, one, or those of a call.
    pub results: Vec<Value>,
    /// Where it comes from.
    pub at: Place,
}

/// A place in the source: a byte offset in the file, for a binary format; 0 for what no source says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Place(pub u32);

/// A block to go to, and the values of its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// The block.
    pub block: Block,
    /// Values of its parameters.
    pub arguments: Vec<Value>,
}

/// How a block ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Terminator {
    /// Goes on in a block.
    Jump(Target),
    /// Goes on in the first block if the value is true, else in the second.
    Branch(Value, [Target; 2]),
    /// Goes on in the block of this number, an unsigned `i32`; past the end in the last, of which there must be one.
    Switch(Value, Vec<Target>),
    /// Ends the function with these results.
    Return(Vec<Value>),
    /// Ends the thread, without a trap and without results, also in a function that another one called.
    Exit,
    /// Stops the thread.
    Trap(Trap),
}

impl Terminator {
    /// The blocks in which it may go on, in order, each as often as it is named.
    pub fn targets(&self) -> &[Target] {
        match self {
            Terminator::Jump(target) => slice::from_ref(target),
            Terminator::Branch(_, targets) => targets,
            Terminator::Switch(_, targets) => targets,
            Terminator::Return(_) | Terminator::Exit | Terminator::Trap(_) => &[],
        }
    }

    /// As [`targets`](Terminator::targets), to change them.
    pub fn targets_mut(&mut self) -> &mut [Target] {
        match self {
            Terminator::Jump(target) => slice::from_mut(target),
            Terminator::Branch(_, targets) => targets,
            Terminator::Switch(_, targets) => targets,
            Terminator::Return(_) | Terminator::Exit | Terminator::Trap(_) => &mut [],
        }
    }

    /// The values that it takes itself, without those for the parameters of blocks.
    pub fn operands(&self) -> &[Value] {
        match self {
            Terminator::Branch(value, _) | Terminator::Switch(value, _) => slice::from_ref(value),
            Terminator::Return(values) => values,
            Terminator::Jump(_) | Terminator::Exit | Terminator::Trap(_) => &[],
        }
    }

    /// As [`operands`](Terminator::operands), to put others in their place.
    pub fn operands_mut(&mut self) -> &mut [Value] {
        match self {
            Terminator::Branch(value, _) | Terminator::Switch(value, _) => slice::from_mut(value),
            Terminator::Return(values) => values,
            Terminator::Jump(_) | Terminator::Exit | Terminator::Trap(_) => &mut [],
        }
    }
}
