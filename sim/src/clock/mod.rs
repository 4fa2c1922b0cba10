//! Time and the connections that carry it: cycles and registered links.

pub mod link;

pub use link::{LinkRx, LinkTx, exchange, link};

/// A cycle of the core clock, from 0 at the launch.
pub type Cycle = u64;

/// "No event": later than any cycle that a run reaches.
pub const NEVER: Cycle = Cycle::MAX;
