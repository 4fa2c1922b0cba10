//! Runs modules: slow, simple, and the judge of what they mean.
//!
//! [`Instance`] is a module with its memories, tables and global variables; [`Instance::call`] runs a function in one
//! thread. [`Workgroup`] runs a function in all threads of a workgroup, over the memories of one instance.
//!
//! A thread is a stack of frames and a machine that makes one step after the other, so that it can stop at a barrier
//! or a wave operation, and the host's stack does not grow with it.

mod instance;
mod order;
mod storage;
mod thread;
mod wave;
mod workgroup;

pub use instance::Instance;
pub use storage::{GlobalCell, LinearMemory, Linked, TableCell};
pub use workgroup::{Fault, Launch, Workgroup};

use super::evaluate::{SpecialFunctions, host_special_functions};
use super::{FunctionId, Place, Trap};

/// Bounds on a run of one thread.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Instructions and ends of blocks; past them the thread traps with [`Trap::OutOfFuel`].
    pub fuel: u64,
    /// Frames of calls; past them the thread traps with [`Trap::StackExhausted`]. So it does where the values of its
    /// frames are more than [`MOST_VALUES`].
    pub depth: usize,
    /// The special functions.
    pub special_functions: SpecialFunctions,
}

impl Default for Limits {
    /// As good as no fuel limit, 10,000 frames, and the special functions of the host.
    fn default() -> Limits {
        Limits { fuel: u64::MAX, depth: 10_000, special_functions: host_special_functions }
    }
}

/// Most values that the frames of a thread hold.
pub const MOST_VALUES: usize = 1 << 24;

/// A thread that trapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{trap}{} at {place}", function.map_or(String::new(), |function| format!(" in {function}")))]
pub struct Trapped {
    /// Why.
    pub trap: Trap,
    /// The function, of the module of its instance; `None` for a segment that does not fit at the start.
    pub function: Option<FunctionId>,
    /// Where in the source.
    pub place: Place,
}
