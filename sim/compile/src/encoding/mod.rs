//! What the decoders of all encodings share: errors with their place, a cursor over bytes, a module as text of its own
//! assembly, which files are source text, and functions that are being made.

mod builder;
mod cells;
mod code;
mod error;
mod listing;
mod reader;
mod simplify;

pub(crate) use builder::{Builder, jump};
pub(crate) use cells::Cells;
pub(crate) use code::is_code;
pub use error::{Error, Fault};
pub use listing::Listing;
pub(crate) use reader::Reader;
pub(crate) use simplify::{edges, simplify};

/// Name of the exported global variable with the fuel that is left, in a module that counts it.
pub(crate) const FUEL: &str = "fuel";
