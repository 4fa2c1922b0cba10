//! Accesses of the load/store unit to its L1: operations, reasons for a rejection, counters.

use crate::memory::geometry::LineGeometry;
use crate::memory::message::LineData;
use crate::registry::{Reference, ReferenceKind, Requester};
use crate::stats::counters;
use wave_capture::Capture;
use wave_isa::special::Scope;
use wave_isa::table::{AtomicOp, CacheHint};

counters! {
    /// Counters of an L1. Each load, and each atomic of wave or workgroup scope, has one outcome unless it is
    /// uncached.
    "l1" L1Counters {
        loads: "accesses", "Loads accepted.";
        uncached_loads: "accesses", "Loads accepted that bypass the L1.";
        stores: "accesses", "Stores accepted.";
        store_hits: "accesses", "Stores that updated a line.";
        atomics: "accesses", "Atomics accepted that the L1 performs: wave and workgroup scope.";
        remote_atomics: "accesses", "Atomics accepted that the L2 performs: device and system scope.";
        hits: "accesses", "Outcome HIT: every sector was present.";
        mshr_hits: "accesses", "Outcome MSHR_HIT: all missing sectors were already outstanding.";
        sector_misses: "accesses", "Outcome SECTOR_MISS: the line was present or outstanding, but sectors had to be fetched.";
        misses: "accesses", "Outcome MISS: the line was neither present nor outstanding.";
        reservation_fails: "accesses", "Outcome RESERVATION_FAIL: accesses that were rejected at least once before they were accepted.";
        fails_mshr: "accesses", "Part of reservation_fails: first rejected because no MSHR was free.";
        fails_merge: "accesses", "Part of reservation_fails: first rejected because the line's list of waiting accesses was full.";
        fails_outgoing: "accesses", "Part of reservation_fails: first rejected because the queue to the interconnect was full.";
        fails_responses: "accesses", "Part of reservation_fails: first rejected because the response queue was full.";
        fails_order: "accesses", "Part of reservation_fails: first rejected because an earlier atomic waited for the same line.";
        reservation_fail_cycles: "cycles", "Cycles from first rejection to acceptance, summed over reservation_fails.";
        requested_sectors: "sectors", "Sectors requested from the L2.";
        installed_lines: "lines", "Lines put into the cache.";
        write_backs: "lines", "Dirty lines written to the L2: on eviction, before an access that bypasses the L1, or in a release.";
        evictions: "lines", "Lines evicted to make room for another.";
        prefetches: "lines", "Lines that the prefetcher requested from the L2.";
        prefetch_hits: "lines", "Prefetched lines that an access used before they left.";
        prefetch_late: "lines", "Lines under prefetch that an access then waited for.";
        prefetch_unused: "lines", "Prefetched lines that left without a use.";
        prefetch_dropped: "lines", "Lines that the prefetcher asked for in vain: outside of device memory, present, outstanding, or the queue was full.";
        invalidations: "invalidations", "Invalidations of the whole L1. With write_back, dirty bytes stay.";
        invalidated_lines: "lines", "Lines that invalidations dropped completely or in part.";
    }
}

/// What an access does.
#[derive(Debug, Clone, Copy)]
pub enum Operation<'a> {
    /// Reads sectors: bit i for sector i, at least one.
    Load {
        /// Sectors wanted.
        sectors: u8,
    },
    /// Writes the masked bytes, at least one.
    Store {
        /// Bytes to write.
        byte_mask: u128,
        /// Values at their offsets in the line.
        data: &'a LineData,
    },
    /// Read-modify-write of aligned words, at most one operation a word.
    Atomic {
        /// What it does.
        op: AtomicOp,
        /// Device and system scope are performed at the L2, wave and workgroup scope here.
        scope: Scope,
        /// The bytes of the words.
        byte_mask: u128,
        /// Operands at the offsets of their words.
        data: &'a LineData,
        /// Second operand of a compare-and-swap, which has one word only.
        swap: u32,
    },
}

/// An access of the load/store unit to one line.
#[derive(Debug, Clone, Copy)]
pub struct Access<'a> {
    /// What it does.
    pub operation: Operation<'a>,
    /// An uncached access bypasses the L1 and drops the sectors that it holds. A streaming line is installed
    /// as the next victim. Atomics ignore the hint.
    pub hint: CacheHint,
    /// Byte address of the line.
    pub line: u64,
    /// The wave and the instruction, for plug-ins.
    pub(crate) by: Requester,
    /// Returned with the response; below 2³⁰.
    pub(crate) owner: u32,
    /// The open epoch of the core's stores, 0 or 1: a line that the access makes dirty joins it.
    pub epoch: u8,
}

impl Access<'_> {
    /// The reference that a plug-in sees.
    #[inline]
    pub(super) fn reference(&self) -> Reference {
        let kind = match self.operation {
            Operation::Load { .. } => ReferenceKind::Load,
            Operation::Store { .. } => ReferenceKind::Store,
            Operation::Atomic { .. } => ReferenceKind::Atomic,
        };
        Reference { line: self.line, by: self.by, kind, streaming: self.hint == CacheHint::Streaming }
    }

    /// Sectors that it touches.
    #[inline]
    pub(super) fn sectors(&self, geometry: LineGeometry) -> u8 {
        match self.operation {
            Operation::Load { sectors } => sectors,
            Operation::Store { byte_mask, .. } | Operation::Atomic { byte_mask, .. } => {
                geometry.sectors_of(byte_mask)
            }
        }
    }
}

/// Why an access cannot be accepted in this cycle. A rejection changes nothing, and the access may be tried
/// again in any later cycle. It succeeds at the latest when all responses have been taken and all replies
/// have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub enum Reject {
    /// No MSHR is free.
    Mshr,
    /// The outstanding line has no room for another access.
    Merge,
    /// The queue to the interconnect is full.
    Outgoing,
    /// The queue of responses is full.
    Responses,
    /// An atomic waits for this line, and the access must come after it.
    Order,
}
