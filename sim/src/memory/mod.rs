//! The memory hierarchy outside the load/store unit: the L1 of a core, the interconnect, L2 slices,
//! memory channels and the image of memory.
//!
//! Caches hold data: the image is what has reached memory, and a load takes its value at the level that
//! serves it. [`L1`] lives in a core; everything behind the core's [`MemoryPort`] is one block, the
//! [`MemorySystem`].

mod agenda;
mod crossbar;
pub mod dram;
mod fabric;
pub mod geometry;
mod hops;
mod image;
pub mod l1;
mod l2;
pub mod message;
mod network;
mod port;
mod scripted;
pub mod state;
mod system;
mod tags;

#[cfg(test)]
mod tests;

pub use agenda::BitSet;
pub use crossbar::InterconnectCounters;
pub use dram::DramCounters;
pub use fabric::LinkCounters;
pub use geometry::{LineGeometry, LineNumber};
pub use hops::{Hop, HopKind};
pub use l1::{Access, L1, L1Counters, Operation, Reject, Response, ResponseKind};
pub use l2::{Jitter, L2Counters, PerformedAtomic};
pub use message::{CODE_SPACE, LineData, MAX_LINE_BYTES, Reply, ReplyKind, Request, RequestKind};
pub use port::MemoryPort;
pub use scripted::Script;
pub use system::{MemoryCounters, MemorySystem};
