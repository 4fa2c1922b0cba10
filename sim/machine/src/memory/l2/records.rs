//! What a slice records for observers, while there are any.

use super::access::Plan;
use super::{PerformedAtomic, Slice};
use crate::clock::Cycle;
use crate::memory::cache;
use crate::memory::hops::{Hop, HopKind, SliceAccess, SliceOutcome};
use crate::memory::message::Request;

impl Slice {
    /// Turns the recording of performed atomics on or off.
    pub(in crate::memory) fn record_atomics(&mut self, record: bool) {
        self.atomics = record.then(Vec::new);
    }

    /// The atomics performed since the last call, in order; empty if they are not recorded.
    pub(in crate::memory) fn take_atomics(&mut self) -> impl Iterator<Item = PerformedAtomic> {
        self.atomics.iter_mut().flat_map(|atomics| atomics.drain(..))
    }

    /// Turns the recording of requests' events on or off.
    pub(in crate::memory) fn record_hops(&mut self, record: bool) {
        self.hops = record.then(Vec::new);
    }

    /// The events since the last call; empty if they are not recorded. `me` is the slice's number.
    pub(in crate::memory) fn take_hops(&mut self, me: usize) -> impl Iterator<Item = Hop> {
        let hops = self.hops.iter_mut().flat_map(|hops| hops.drain(..));
        hops.map(move |hop| Hop { slice: me as u16, ..hop })
    }

    /// Turns the recording of accesses on or off.
    pub(in crate::memory) fn record_accesses(&mut self, record: bool) {
        self.accesses = record.then(Vec::new);
    }

    /// The accesses since the last call; empty if they are not recorded. `me` is the slice's number.
    pub(in crate::memory) fn take_accesses(&mut self, me: usize) -> impl Iterator<Item = SliceAccess> {
        let accesses = self.accesses.iter_mut().flat_map(|accesses| accesses.drain(..));
        accesses.map(move |access| SliceAccess { slice: me as u16, ..access })
    }

    pub(super) fn hop(&mut self, cycle: Cycle, line: u64, what: HopKind) {
        if let Some(hops) = &mut self.hops {
            hops.push(Hop { cycle, slice: 0, line, what });
        }
    }

    /// Notes an access for observers, with the outcome that [`execute`](Self::execute) will count.
    // Out of line, so that a run without observers does not carry it.
    #[cold]
    #[inline(never)]
    pub(super) fn note_access(&mut self, now: Cycle, request: &Request, plan: Plan) {
        let outcome = match plan {
            Plan::Release => SliceOutcome::Release,
            Plan::Access(plan) => match plan {
                cache::Plan::Serve(_) => SliceOutcome::Hit,
                cache::Plan::Join(_, 0) => SliceOutcome::MshrHit,
                cache::Plan::Join(..) => SliceOutcome::SectorMiss,
                cache::Plan::Miss(frame, _) if self.knows_some(frame) => SliceOutcome::SectorMiss,
                cache::Plan::Miss(..) | cache::Plan::Replace(_) => SliceOutcome::Miss,
            },
        };
        let access = SliceAccess {
            cycle: now,
            slice: 0,
            core: request.core,
            line: request.line,
            kind: request.kind,
            sectors: request.sectors,
            bytes: request.byte_mask(),
            outcome,
        };
        self.accesses.iter_mut().for_each(|accesses| accesses.push(access));
    }
}
