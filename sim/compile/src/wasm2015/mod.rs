//! Decoder of the WebAssembly prototype of 2015: bytes to an [`ir::Module`](crate::ir::Module).
//!
//! Its functions are expression trees in pre-order, and have no magic number before them. Types of blocks are not
//! written down: they follow from the values that reach their ends. So a function is walked twice: [`check`] finds
//! types and errors, and [`translate`] makes operations, with the translation of [`wasm`](crate::wasm). Both walks, and
//! that of the [`listing`], keep a stack of their own: trees may be as deep as a body has bytes.
//!
//! The operators are those of WebAssembly under other numbers ([`operators`]). Functions of the module `wave` can be
//! imported by their names.

mod check;
mod listing;
mod module;
mod operators;
mod sections;
mod translate;
mod tree;

use crate::encoding::{Error, Listing};
use crate::ir;
use sections::Sections;

/// A module and its text.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// The module.
    pub module: ir::Module,
    /// The module as text: a line for each operator.
    pub listing: Listing,
    /// True if it imports functions: it is a kernel.
    pub is_kernel: bool,
}

/// True if bytes have the structure of a module: sections one after the other up to the end section, among them one
/// with functions. The format has no magic number.
pub fn is_wasm2015(bytes: &[u8]) -> bool {
    Sections::new(bytes).is_ok_and(|sections| !sections.functions.is_empty())
}

/// Decodes a module.
///
/// # Errors
/// A module that is malformed, is invalid, exceeds a limit, or imports something that is not in `wave`.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Error> {
    let sections = Sections::new(bytes)?;
    module::build(bytes, &sections)
}
