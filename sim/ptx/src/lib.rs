//! Translates WAVE kernels to PTX, the virtual instruction set of NVIDIA's GPUs.
//!
//! A workgroup becomes a CTA, a wave of 32 lanes a warp. All threads of a warp take one path through the code: where a
//! WAVE wave has lanes that are not active, the thread is there and does nothing, held back by a predicate. So every
//! `.sync` operation has all 32 threads as members, the order of the two sides of an `if` is that of WAVE, and a
//! shuffle reads the register of a lane that takes no part. `docs/silicon.md` says what becomes of each instruction.

mod body;
mod floats;
mod helpers;
mod options;
mod plan;
mod special;
pub mod times;
mod translate;

pub use options::{Arch, Options, SpecialFunctions};
pub use translate::{FAULT_RECORD_BYTES, FaultKind, Memory, entry_name, parameters, translate};

/// Lanes of a wave, and threads of a warp.
pub const WAVE_WIDTH: u32 = 32;
/// Most threads of a CTA.
pub const MOST_THREADS: u32 = 1024;
