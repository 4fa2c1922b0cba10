//! The L1's queue of requests to the port.

use super::{L1, Reject, Request, Values};
use crate::clock::{Cycle, NEVER};
use crate::memory::message::{LineData, Reply, RequestKind};
use crate::memory::port::MemoryPort;

impl L1 {
    /// Places in the queue that are neither taken nor reserved for the results of atomics.
    #[inline]
    pub(super) fn outgoing_room(&self) -> usize {
        self.spec.outgoing_capacity - self.outgoing.len() - self.mshrs.pending_atomics()
    }

    /// Keeps the values of a reply for another request.
    #[inline]
    pub fn recycle(&mut self, reply: Reply) {
        self.spare.extend(reply.values);
    }

    /// Values for a read.
    #[inline]
    pub(super) fn no_values(&mut self) -> Option<Box<Values>> {
        let mut values = self.spare.pop().unwrap_or_default();
        values.byte_mask = 0;
        Some(values)
    }

    /// Values of a write or an atomic.
    #[inline]
    pub(super) fn values(&mut self, byte_mask: u128, data: &LineData, swap: u32) -> Box<Values> {
        let mut values = self.spare.pop().unwrap_or_default();
        (values.byte_mask, values.data, values.swap) = (byte_mask, *data, swap);
        values
    }

    /// Queues a request. There must be room for it.
    pub(super) fn send(&mut self, now: Cycle, request: Request) {
        if request.kind == RequestKind::Read {
            self.counters.requested_sectors += u64::from(request.sectors.count_ones());
        }
        if self.outgoing.is_empty() {
            self.leaves_from = now + 1;
        }
        self.outgoing.push_back((now + 1, request));
    }

    /// Sends the oldest request if the port can take it, and writes back a line of the epochs that are being
    /// closed (bits 0 and 1 of `closing`): at most one each a cycle. `leaves` is told of the request that it sends. True
    /// if it did something.
    #[inline]
    pub fn tick(
        &mut self,
        now: Cycle,
        port: &mut MemoryPort,
        closing: u8,
        leaves: &mut impl FnMut(&Request),
    ) -> bool {
        let prefetched = self.prefetches_from() <= now && self.tick_prefetch(now);
        let wrote_back = closing != 0 && self.tick_write_back(now, closing) || prefetched;
        if self.leaves_from > now {
            return wrote_back;
        }
        if !port.ready(now) {
            // Do not ask the port again before it can be ready.
            self.leaves_from = port.next_ready(now + 1).unwrap_or(now + 1);
            return wrote_back;
        }
        self.send_oldest(now, port, leaves);
        true
    }

    #[inline]
    fn send_oldest(&mut self, now: Cycle, port: &mut MemoryPort, leaves: &mut impl FnMut(&Request)) {
        let Some((_, request)) = self.outgoing.pop_front() else { return };
        self.leaves_from = self.outgoing.front().map_or(NEVER, |&(from, _)| from);
        self.unblock(Reject::Outgoing);
        let request = match &mut self.path {
            None => request,
            Some(path) => match path.pass(now, request) {
                Some(request) => request,
                // The block answers it.
                None => return,
            },
        };
        leaves(&request);
        port.push(now, request);
    }
}
