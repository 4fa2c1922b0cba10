//! Signals of a slice.

use super::Slice;
use crate::memory::state::{COUNT, Field};

/// Requests in its queue, outstanding lines, requests that wait for them, transfers that wait for the
/// channel, replies, and whether the head of the queue cannot start.
pub(in crate::memory) const FIELDS: [Field<Slice>; 6] = [
    Field("queue", COUNT, |slice, _| {
        (slice.input.len() + slice.jitter.as_ref().map_or(0, |jitter| jitter.len())) as u64
    }),
    Field("mshrs", COUNT, |slice, _| slice.mshrs_in_use() as u64),
    Field("waiting", COUNT, |slice, _| slice.cache.misses.waiting() as u64),
    Field("to_memory", COUNT, |slice, _| slice.to_memory.len() as u64),
    Field("replies", COUNT, |slice, _| slice.replies.len() as u64),
    Field("stalled", 1, |slice, _| slice.stall.is_on().into()),
];
