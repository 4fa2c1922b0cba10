//! Time, and the connections between blocks: cycles and registered links.

pub mod link;

pub use link::{LinkRx, LinkTx, exchange, link};

/// A cycle of the core clock, from 0 at the start of simulated time.
pub type Cycle = u64;

/// "No event": later than any cycle that a run reaches.
pub const NEVER: Cycle = Cycle::MAX;
