//! What becomes of requests behind the cores' ports, for those who want to draw it.

use super::message::RequestKind;
use crate::clock::Cycle;

/// Something that happens to a request, or to a line on its account, in an L2 slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// When.
    pub cycle: Cycle,
    /// The slice; its number mod the channels is that of its channel.
    pub slice: u16,
    /// Byte address of the line.
    pub line: u64,
    /// What.
    pub what: HopKind,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HopKind {
    /// The slice has taken a request of this core.
    Arrive(u16, RequestKind),
    /// It has been performed, and its reply is ready in this cycle.
    Reply(u16, RequestKind),
    /// Sectors of the line are asked of the memory channel.
    Fetch,
    /// Sectors of the line have come.
    Fill,
}
