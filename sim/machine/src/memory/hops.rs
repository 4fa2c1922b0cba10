//! Events of requests behind the cores' ports, for viewers, and what the L2 and the memory channels did, for accounts.

use super::message::RequestKind;
use crate::clock::Cycle;

/// An event of a request, or of a line on its behalf, in an L2 slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// When.
    pub cycle: Cycle,
    /// The slice. Its channel is this number mod the number of channels.
    pub slice: u16,
    /// Byte address of the line.
    pub line: u64,
    /// The kind of event.
    pub what: HopKind,
}

/// A request that a slice of the L2 has taken from its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceAccess {
    /// When.
    pub cycle: Cycle,
    /// The slice.
    pub slice: u16,
    /// The core that made the request.
    pub core: u16,
    /// Byte address of the line; the bit 2³² stands for the code space.
    pub line: u64,
    /// What it asks for.
    pub kind: RequestKind,
    /// Sectors wanted (read) or touched (write, atomic), bit i for sector i.
    pub sectors: u8,
    /// Bytes written, or bytes of the words that an atomic touches; none for a read.
    pub bytes: u128,
    /// What the slice counted of it.
    pub outcome: SliceOutcome,
}

/// What a request met in its slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceOutcome {
    /// Counted in `l2.hits`.
    Hit,
    /// Counted in `l2.mshr_hits`.
    MshrHit,
    /// Counted in `l2.sector_misses`.
    SectorMiss,
    /// Counted in `l2.misses`.
    Miss,
    /// A request to release the slice touches no line.
    Release,
}

/// A read or a write that a memory channel has issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// The core cycle in which its memory clock begins.
    pub cycle: Cycle,
    /// Address of its first byte; the bit 2³² stands for the code space.
    pub address: u64,
    /// Bytes moved.
    pub bytes: u32,
    /// It writes.
    pub writes: bool,
}

/// Who holds a request of a core for a line, behind its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// The interconnect, on its way there or back, or the pipeline of the slice.
    Network,
    /// The slice's queue of requests.
    SliceQueue {
        /// Requests before it.
        before: usize,
    },
    /// The slice missed, and what is behind it has not taken its transfer.
    SliceMiss,
    /// The queue of a bank of the L3.
    BankQueue {
        /// The bank, and its channel.
        bank: usize,
        /// Transfers before it.
        before: usize,
    },
    /// The bank of the L3 missed, and the memory channel has not taken its transfer.
    BankMiss {
        /// The bank.
        bank: usize,
    },
    /// The bank of the L3, which has the data.
    BankData {
        /// The bank.
        bank: usize,
    },
    /// The queue of the memory channel.
    ChannelQueue {
        /// The channel.
        channel: usize,
        /// Its bank.
        bank: usize,
        /// Requests before it in this bank.
        before: usize,
    },
    /// The memory channel reads it, or its data are on the bus.
    Channel,
    /// The slice, which has the data from memory.
    SliceData,
}

/// Kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HopKind {
    /// The slice has taken a request of this core from its queue.
    Arrive(u16, RequestKind),
    /// A request of this core was performed; its reply is ready in the event's cycle.
    Reply(u16, RequestKind),
    /// Sectors of the line are requested from the memory channel.
    Fetch,
    /// Sectors of the line have arrived.
    Fill,
}
