//! The memory hierarchy behind the load/store unit: L1s, the interconnect, L2 slices, banks of the L3, memory channels
//! and the image of memory.
//!
//! Caches hold data. The image is what has reached memory; a load takes its value at the level that serves
//! it. Each core contains an [`L1`]. Everything behind the cores' [`MemoryPort`]s is one block, the
//! [`MemorySystem`]. docs/memory.md has the rules.

mod agenda;
pub(crate) mod bounds;
mod cache;
mod crossbar;
pub mod dram;
mod fabric;
pub(crate) mod geometry;
mod hops;
mod image;
pub(crate) mod l1;
mod l2;
mod l3;
pub(crate) mod message;
mod network;
mod pages;
mod plausible;
mod port;
mod replacement;
mod scripted;
pub mod state;
mod system;
mod tags;
mod trail;
mod transfer;

#[cfg(test)]
mod tests;

pub(crate) use agenda::BitSet;
pub use crossbar::InterconnectCounters;
pub use dram::DramCounters;
pub use fabric::LinkCounters;

pub use hops::{Burst, Holder, Hop, HopKind, SliceAccess, SliceOutcome};

pub(crate) use l1::Response;
pub(crate) use l1::ResponseKind;
pub use l1::{Access, L1, L1Counters, Operation, Reject};

pub use l2::{Jitter, L2Counters};
pub use l3::L3Counters;

pub(crate) use message::LineData;

pub(crate) use message::ReplyKind;
pub use message::{CODE_SPACE, HEADER_BYTES, Reply, Request, RequestKind, Values};
pub(crate) use pages::Pages;
pub(crate) use plausible::Packets;
pub use port::MemoryPort;
pub use scripted::Script;
pub use system::{MemoryCounters, MemorySystem};
pub use tags::CacheLine;
pub(crate) use trail::Trail;
