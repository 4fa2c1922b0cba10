//! Kernels that are not written in WAVE assembly.
//!
//! A *decoder* reads an encoding and makes a [`ir::Module`]; it knows nothing of WAVE. The *back end* makes a WAVE
//! program from a module; it knows nothing of the encodings. Between them the module is checked by a verifier, run by
//! an interpreter where an oracle is wanted, and written and read as text.

pub mod backend;
pub mod batch;
pub mod c;
mod emit;
pub mod encoding;
mod error;
pub mod ir;
pub mod kernels;
pub mod lower;
pub mod pica;
mod pointers;
pub mod ptx;
pub mod rwasm;
mod sequence;
pub mod shader;
pub mod source;
pub mod structure;
pub mod wasm;
pub mod wasm2015;

pub use backend::{Compiled, Options, Statistics, TrapPoint, compile};
pub use error::{CompileError, Reason};
