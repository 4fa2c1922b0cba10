//! What the decoders of all encodings share: errors with their place.

mod error;

pub use error::{Error, Fault};
