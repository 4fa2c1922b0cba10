//! Events of requests behind the cores' ports, for viewers.

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
    /// The slice missed, and the memory channel has not taken its transfer.
    SliceMiss,
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
