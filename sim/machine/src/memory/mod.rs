//! The memory hierarchy behind the load/store unit: L1s, the interconnect, L2 slices, memory channels and the
//! image of memory.
//!
//! Caches hold data. The image is what has reached memory; a load takes its value at the level that serves
//! it. Each core contains an [`L1`]. Everything behind the cores' [`MemoryPort`]s is one block, the
//! [`MemorySystem`]. docs/memory.md has the rules.

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
mod replacement;
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
pub use tags::CacheLine;
