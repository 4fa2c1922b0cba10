//! Instructions of PTX, as they are executed.

use super::matrix::Matrix;
use super::operations::Apply;
use super::typed::Operation;
use std::collections::HashMap;

/// Functions and tables of a text.
#[derive(Debug)]
pub struct Module {
    pub(super) functions: Vec<Function>,
    pub(super) by_name: HashMap<String, usize>,
    /// Tables in global memory, one after another.
    pub(super) tables: Vec<u8>,
}

/// A function or an entry.
#[derive(Debug, Default)]
pub(super) struct Function {
    pub code: Vec<Inst>,
    pub registers: usize,
    /// The registers of the values that it takes and gives.
    pub takes: Vec<usize>,
    pub gives: Option<usize>,
    /// Parameters of an entry: name, place, bytes.
    pub parameters: Vec<(String, usize, usize)>,
}

/// An instruction.
#[derive(Debug)]
pub(super) struct Inst {
    pub line: usize,
    /// The predicate that has to hold, or not to hold.
    pub guard: Option<(usize, bool)>,
    pub code: Code,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Register(usize),
    /// The contrary of a predicate.
    Contrary(usize),
    Constant(u64),
    /// A position of the thread, its CTA, or the size of one; with the axis.
    Tid(usize),
    Ctaid(usize),
    Nctaid(usize),
    Ntid(usize),
    /// What a clock says.
    Clock(Clock),
    /// Number of the thread in its warp.
    Lane,
    /// Number of the warp, and how many there are.
    Warp,
    Warps,
    /// The lanes that stand in this order to the own one, as bits.
    LaneMask(LaneOrder),
}

/// Which lanes a mask names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaneOrder {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What differs from reading to reading, and from GPU to GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Cycles of the multiprocessor: `%clock64`.
    Cycles,
    /// Nanoseconds of the GPU: `%globaltimer`.
    Nanoseconds,
    /// Number of the multiprocessor: `%smid`.
    Multiprocessor,
}

/// A memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Global,
    Shared,
    Parameter,
    /// The address says which.
    Generic,
}

/// How a lane finds the lane whose value it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What lanes do together.
#[derive(Debug)]
pub(super) enum Together {
    Nothing,
    Any(usize, Value),
    All(usize, Value),
    Uniform(usize, Value),
    Ballot(usize, Value),
    /// The register of the value, that of the predicate; the value, the lane or distance, the clamp and the segment.
    Shuffle {
        how: Shuffle,
        d: usize,
        p: Option<usize>,
        a: Value,
        b: Value,
        c: Value,
    },
    Reduce(fn(u64, u64) -> u64, usize, Value),
    MatchAny(usize, Value),
    MatchAll(usize, Option<usize>, Value),
    Matrix(Matrix),
}

/// An address: a value and a number of bytes behind it.
pub(super) type Address = (Value, u64);

/// What an instruction does.
#[derive(Debug)]
pub(super) enum Code {
    Apply(Apply, usize, Vec<Value>),
    Compare(fn(u64, u64) -> bool, usize, Value, Value),
    Select(usize, Value, Value, Value),
    Pack {
        d: usize,
        parts: Vec<usize>,
        bits: u32,
    },
    Unpack {
        parts: Vec<usize>,
        a: Value,
        bits: u32,
    },
    Load {
        space: Space,
        bytes: usize,
        d: Vec<usize>,
        at: Address,
        /// A signed number is extended to so many bits.
        extends: Option<u32>,
    },
    Store {
        space: Space,
        bytes: usize,
        values: Vec<Value>,
        at: Address,
    },
    Atomic {
        space: Space,
        bytes: usize,
        f: fn(u64, u64, u64) -> u64,
        d: Option<usize>,
        at: Address,
        b: Value,
        c: Value,
    },
    Branch(usize),
    Table(Value, Vec<usize>),
    Call {
        function: usize,
        d: Option<usize>,
        arguments: Vec<Value>,
    },
    Return,
    Trap,
    Fence,
    Barrier,
    /// A barrier that gives all threads the number of true predicates, or whether all or any are true.
    BarrierReduction(usize, Value, fn(u64, u64) -> u64),
    /// What the lanes of a mask do together.
    Together(Together, Value),
    /// An operation: its results, its operands.
    Operation {
        f: Operation,
        d: usize,
        second: Option<usize>,
        values: Vec<Value>,
    },
}

/// The register that additions leave their carry in.
pub(super) const CARRY: &str = "%%carry";
/// Generic addresses of shared memory begin here.
pub(super) const SHARED_WINDOW: u64 = 0x7100_0000_0000;
/// Address of the tables of a module in global memory.
pub(super) const TABLES: u64 = 0x10_0000;
/// Address of dynamic shared memory.
pub(super) const SHARED: u64 = 0x400;
