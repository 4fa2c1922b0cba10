//! Signals of an L1.

use super::L1;
use crate::memory::state::{COUNT, Field};

/// Outstanding lines, accesses that wait for them, requests that wait for the port, responses to the
/// load/store unit, and whether the last access was rejected and would be again.
pub(in crate::memory) const FIELDS: [Field<L1>; 5] = [
    Field("mshrs", COUNT, |l1, _| l1.mshrs.in_use() as u64),
    Field("waiting", COUNT, |l1, _| l1.mshrs.all_waiting() as u64),
    Field("to_l2", COUNT, |l1, _| l1.outgoing.len() as u64),
    Field("responses", COUNT, |l1, _| l1.responses.len() as u64),
    Field("blocked", 1, |l1, _| l1.is_blocked().into()),
];
