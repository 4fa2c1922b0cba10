//! The text form of a module: complete, so that what is written and read again is the same module bit for bit.
//!
//! ```text
//! signature sig0 (i32) -> i64
//! memory mem0 device 1 to 16
//! table tab0 4
//! global g0 "stack pointer" mutable i32 65536
//! data data0 at mem0 16
//!     "text\00"
//! elements elem0 at tab0 0 [f0, null]
//! export "sum" f0
//! start f0
//!
//! function f0 "sum" (i32) -> i32 @31 {
//! b0(v0: i32):
//!     v1: i32 = load.i32.u8 mem0[v0 + 4] @40
//!     v2: bool = ne v1, v0
//!     branch v2, b1(v1), b2 @44
//! b1(v3: i32):
//!     return v3
//! b2:
//!     trap "unreachable"
//! }
//! ```
//!
//! A text that people write may have names for the values of a function in place of `v` and a number: words, with
//! digits and dots in them, but not of lower-case letters and a number alone. A name has one definition.
//!
//! A value is written with its type where it is defined; one that nothing defines is listed at the start of its
//! function, behind `undefined`. `@` and a number are a source place; none is 0. A memory access names the type of its
//! value, and the bits in memory and their sign where they are not those of the type. Floats are decimal, or `0x` and
//! their bits. Pages of private memory have 16 bytes, others 65536, if
//! `pages` behind the size of the memory does not say another number. Numbers of functions, blocks and the like are those of their order. A comment goes from `;` to the end
//! of its line; other line breaks are blanks.

mod lexer;
mod parse;
mod parse_function;
mod parse_operation;
mod write;

pub use parse::parse;

use wave_isa::table::AtomicOp;

/// Names of the atomic operations, in the order of [`AtomicOp::ALL`].
const ATOMIC_NAMES: [&str; 9] = [
    "atomic_add",
    "atomic_sub",
    "atomic_min",
    "atomic_max",
    "atomic_and",
    "atomic_or",
    "atomic_xor",
    "atomic_exchange",
    "atomic_cas",
];

/// The name of an atomic operation.
fn atomic_name(operation: AtomicOp) -> &'static str {
    let place = AtomicOp::ALL.iter().position(|&one| one == operation);
    ATOMIC_NAMES[place.expect("all are listed")]
}

/// The atomic operation with this name.
fn atomic_from_name(name: &str) -> Option<AtomicOp> {
    let place = ATOMIC_NAMES.iter().position(|&one| one == name)?;
    Some(AtomicOp::ALL[place])
}
