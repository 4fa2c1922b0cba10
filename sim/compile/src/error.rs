//! Why a module is not compiled.

use crate::ir::{DataId, FunctionId, Module, Place, Type};
use crate::structure::StructureError;
use thiserror::Error;

/// Why a function is not compiled, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{function}, {place}: {reason}")]
pub struct CompileError {
    /// The function, by its name if it has one.
    pub function: String,
    /// Place in the source.
    pub place: Place,
    /// Why.
    pub reason: Reason,
}

impl CompileError {
    pub(crate) fn new(module: &Module, function: FunctionId, place: Place, reason: Reason) -> CompileError {
        let name = module.functions.get(function).and_then(|function| function.name.clone());
        CompileError { function: name.unwrap_or_else(|| function.to_string()), place, reason }
    }
}

/// Why a function is not compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Reason {
    /// The module has no such function.
    #[error("there is no such function")]
    NoFunction,
    /// A function calls itself, directly or through others.
    #[error("{0} is called by itself, directly or through others: recursion is not supported in kernels")]
    Recursion(FunctionId),
    /// Inlining made the function too large.
    #[error("with all its calls inlined the function has {0} values, more than the compiler takes")]
    TooLarge(usize),
    /// An operation that has no instructions yet.
    #[error("`{0}` is not supported in kernels")]
    Operation(&'static str),
    /// A type that has no registers.
    #[error("{0} `{1}` is not supported in kernels on this machine")]
    Type(&'static str, Type),
    /// An atomic access of more than 32 bits.
    #[error("an atomic access of {0} bytes: the machine has them of at most 4 bytes")]
    AtomicWidth(u32),
    /// A segment for `memory_init` that has no place in device memory.
    #[error("memory_init of {0}: it was not said where the segment lies in device memory")]
    Data(DataId),
    /// A second memory of one space.
    #[error("{0}: a kernel has one device memory and one local memory")]
    Memory(crate::ir::MemoryId),
    /// More private memory than addresses reach.
    #[error(
        "each thread needs {0} bytes of private memory, and the {1} of a wave have 4 GiB together: use a smaller memory"
    )]
    Private(u64, u32),
    /// More arguments than registers.
    #[error("the function has {0} argument words; a launch brings at most {1}")]
    Arguments(usize, u32),
    /// One instruction or call needs more registers than there are.
    #[error("{needed} registers are needed at one place, and {limit} are allowed")]
    Registers {
        /// What the function needs.
        needed: u32,
        /// What it may have.
        limit: u32,
    },
    /// More nesting than the machine keeps track of.
    #[error("ifs and loops are nested {0} deep, and the machine follows {1}")]
    Nesting(u32, u32),
    /// The control flow has no structured form.
    #[error(transparent)]
    Structure(#[from] StructureError),
}
