//! Signals of a memory channel.

use super::Channel;
use crate::memory::state::{COUNT, Field};

/// Requests in its queue, and the banks with an open row, as bits.
pub(in crate::memory) const FIELDS: [Field<Channel>; 2] = [
    Field("queue", COUNT, |channel, _| channel.queue.len() as u64),
    Field("open", 64, |channel, _| {
        channel.queue.rows().enumerate().fold(0, |open, (bank, row)| open | u64::from(row.is_some()) << bank)
    }),
];

/// Column commands of a cycle.
pub(in crate::memory) const BURSTS: [(&str, u32); 2] = [("reads", 8), ("writes", 8)];

/// Width of the number of a bank's open row.
pub(in crate::memory) const ROW_BITS: u32 = 32;

impl Channel {
    /// Bursts so far: read and written.
    pub(in crate::memory) fn bursts(&self) -> [u64; 2] {
        [self.counters.reads, self.counters.writes]
    }

    /// The open row of each bank, 0 where it is closed.
    pub(in crate::memory) fn rows(&self) -> impl Iterator<Item = u64> {
        self.queue.rows().map(|row| row.map_or(0, u64::from))
    }
}
