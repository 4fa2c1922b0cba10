//! Signals of a bank.

use super::Bank;
use crate::memory::state::{COUNT, Field};

/// Transfers in its queue, outstanding lines, transfers that wait for them, transfers that wait for the channel, whether
/// an access holds the bank, and whether the head of the queue cannot start.
pub(in crate::memory) const FIELDS: [Field<Bank>; 6] = [
    Field("queue", COUNT, |bank, _| bank.queue.len() as u64),
    Field("mshrs", COUNT, |bank, _| bank.mshrs_in_use() as u64),
    Field("waiting", COUNT, |bank, _| bank.cache.misses.waiting() as u64),
    Field("to_channel", COUNT, |bank, _| bank.to_channel.len() as u64),
    Field("busy", 1, |bank, cycle| u64::from(bank.free_at > cycle)),
    Field("stalled", 1, |bank, _| bank.stall.is_on().into()),
];
