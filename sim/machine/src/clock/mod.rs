//! Time, and the connections between blocks: cycles and registered links.

pub(crate) mod link;

pub(crate) use link::LinkRx;
pub(crate) use link::LinkTx;
pub use link::{exchange, link};

/// A cycle of the core clock, from 0 at the start of simulated time.
pub type Cycle = u64;

/// "No event": later than any cycle that a run reaches.
pub const NEVER: Cycle = Cycle::MAX;
