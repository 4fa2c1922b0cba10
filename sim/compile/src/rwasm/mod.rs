//! Decoder of rWasm: bytes to an [`ir::Module`](crate::ir::Module).
//!
//! rWasm is WebAssembly compiled to a stack machine: instructions of nine bytes, jumps in place of blocks, and a stack of
//! cells of 64 bits without types, on which local variables lie too. No types, exports, tables, global variables or
//! sizes of memory are stored: a last function, the *entry point*, makes all that when it runs.
//!
//! A file is read as a whole ([`container`], [`opcode`], [`code`]) before its functions are looked at. What is on the
//! stack at each instruction, and what functions take and give, follows from the code ([`heights`]). Then every cell is
//! a value ([`translate`], [`values`]), and jumps are a graph ([`parts`]), which is structured again when it is compiled.

mod code;
mod container;
mod heights;
mod listing;
mod module;
mod opcode;
mod parts;
mod storage;
mod translate;
mod values;

use crate::encoding::{Error, Fault, Listing};
use crate::ir;
use code::Code;
use opcode::invalid;

/// How a module is decoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RwasmOptions {
    /// Fuel of each instance, in the units of `consume_fuel`; without, that instruction does nothing.
    pub fuel: Option<u64>,
    /// A call of a host function traps; without, a module with such calls is refused.
    pub host_calls_trap: bool,
}

/// A module, and its text.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// The module. Its functions are exported under their numbers, and take and give cells; the entry point, which is
    /// the last of them, runs at the start. A stream of instructions without a container has no start.
    pub module: ir::Module,
    /// The module in its own assembly.
    pub listing: Listing,
}

/// True if a file with these first bytes is a container.
pub fn is_container(bytes: &[u8]) -> bool {
    bytes.starts_with(&container::MAGIC)
}

/// True if all of these bytes are instructions, without a container.
pub fn is_bare(bytes: &[u8]) -> bool {
    !bytes.is_empty() && !is_container(bytes) && container::words(bytes, 0).is_ok()
}

/// Decodes a container, or instructions without one: a single function, the entry point.
///
/// # Errors
/// Bytes that are no module, code that uses the stack in a way that cannot be followed, and calls of host functions unless
/// they trap.
pub fn decode(bytes: &[u8], options: &RwasmOptions) -> Result<Decoded, Error> {
    let read = if is_bare(bytes) { container::read_bare } else { container::read };
    let container = read(bytes)?;
    if container.functions.is_empty() {
        return Err(Error::new(Fault::Invalid, "there is no function: the last one is the entry point"));
    }
    let mut rest = &container.words[..];
    let mut functions = Vec::new();
    for (number, &count) in container.functions.iter().enumerate() {
        let (words, behind) = rest.split_at(count);
        if words.is_empty() {
            let offset = rest.first().map_or(bytes.len(), |word| word.offset);
            return Err(invalid(format!("function {number} has no instructions"), offset));
        }
        functions.push(Code::new(number, words, container.functions.len(), options.host_calls_trap)?);
        rest = behind;
    }
    let shapes = heights::analyse(&functions, container.is_bare)?;
    let module = module::module(&container, &functions, &shapes, options)?;
    let listing = listing::listing(&container, &functions, &shapes);
    Ok(Decoded { module, listing })
}
