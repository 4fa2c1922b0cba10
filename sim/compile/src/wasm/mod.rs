//! Decoder of WebAssembly: bytes or text to an [`ir::Module`](crate::ir::Module).
//!
//! Taken is version 1 with what compilers emit today ([`Features`]); all else is refused by name. A module is parsed
//! and validated as a whole before anything is made of it, so an error leaves nothing half-done. Functions of the
//! module `wave` become operations ([`intrinsics`]); other imports come from modules that were given to a [`Linker`]
//! before. A function that nobody provides may trap where it is called ([`UnknownImports`]).
//!
//! Atomics of the threads proposal act for the device and order nothing else; `atomic.fence` orders.

mod calls;
mod features;
mod function;
mod header;
mod intrinsics;
mod kernels;
mod linker;
pub(crate) mod locals;
mod module;
mod names;
pub mod nanowasm;
pub(crate) mod operators;
mod refusal;
pub(crate) mod scan;
mod source;
mod text;
mod unknown;

pub use features::Features;
pub(crate) use function::{Translator, wrap};
pub use header::c_header;
pub(crate) use intrinsics::import;
pub use intrinsics::{Action, Intrinsic, intrinsics};
pub use kernels::{ExportedKernel, kernels};
pub use linker::{Linked, Linker};
pub(crate) use module::{Callee, Index};
pub(crate) use operators::{Simple, Width, simple};
pub(crate) use scan::Scan;
pub(crate) use source::SourceRow;
pub use source::{Line, SourceMap};
pub use text::encode;
pub use unknown::UnknownImports;

use crate::encoding::{Error, Fault};
use crate::ir;

/// A module and where it comes from.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// The module.
    pub module: ir::Module,
    /// Lines of its source.
    pub source: SourceMap,
    /// True if it imports from the module `wave`: it is a kernel.
    pub is_kernel: bool,
}

/// True if a file with these first bytes is WebAssembly in binary.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\0asm")
}

/// Decodes a module that needs no other.
///
/// # Errors
/// A module that is malformed, invalid, uses a feature that is not taken, or imports something that is not in `wave`.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Error> {
    decode_with(bytes, UnknownImports::Refused)
}

/// As [`decode`]; imported functions that nobody provides may trap where they are called.
///
/// # Errors
/// As [`decode`].
pub fn decode_with(bytes: &[u8], unknown: UnknownImports) -> Result<Decoded, Error> {
    let mut linker = Linker::new();
    linker.unknown = unknown;
    let linked = linker.add(bytes)?;
    let mut module = linker.into_module();
    module.exports = linked.exports;
    module.start = linked.start;
    Ok(Decoded { module, source: linked.source, is_kernel: linked.is_kernel })
}
