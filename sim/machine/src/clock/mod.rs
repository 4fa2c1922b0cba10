//! Time, and the connections between blocks: cycles and registered links.

pub(crate) mod link;

pub(crate) use link::LinkRx;
pub(crate) use link::LinkTx;
pub use link::{exchange, link};

/// A cycle of the core clock, from 0 at the start of simulated time.
pub type Cycle = u64;

/// "No event": later than any cycle that a run reaches.
pub const NEVER: Cycle = Cycle::MAX;

/// Later than any cycle of a state that is put back: cycles and latencies can be added to it without overflow.
pub(crate) const END_OF_TIME: Cycle = 1 << 60;

/// Cycles ahead for which a block plans at most. A state that plans further is damaged: to get there, the run would pass
/// more refreshes than a host has time for.
const PLANS_AHEAD: Cycle = 1 << 32;

/// True if a state of cycle `now` may plan something for a cycle.
#[inline]
pub(crate) fn may_plan(now: Cycle, cycle: Cycle) -> bool {
    cycle == NEVER || cycle <= now + PLANS_AHEAD
}
