//! What replies do to the L1.

use super::mshr::MshrId;
use super::write_back::WRITE_BACK;
use super::{L1, ResponseKind};
use crate::clock::Cycle;
use crate::isa::table::CacheHint;
use crate::memory::geometry::copy_bytes;
use crate::memory::message::{MAX_LINE_BYTES, Reply, ReplyKind, Request, apply_atomic};

impl L1 {
    /// Takes a reply that has arrived; the responses it brings are there from the next cycle on. False if
    /// there is no room for them yet: the reply has to be offered again.
    pub fn accept(&mut self, now: Cycle, reply: &Reply) -> bool {
        match reply.kind {
            ReplyKind::Data => {
                let id = MshrId::of_tag(reply.tag);
                if self.fills.room() < self.mshrs.waiting(id) {
                    return false;
                }
                self.mshrs.fill(id, &reply.data, reply.sectors, self.geometry);
                let mshr = &mut self.mshrs[id];
                mshr.outstanding &= !reply.sectors;
                mshr.held |= reply.sectors;
                if mshr.current {
                    self.install(now, id, reply.sectors);
                }
                self.deliver(now, id);
            }
            ReplyKind::Released => debug_assert!(false, "the core takes it"),
            ReplyKind::WriteAck | ReplyKind::AtomicOld => {
                let Some(slot) = self.fills.push() else { return false };
                let kind = match reply.kind {
                    ReplyKind::WriteAck if reply.tag & WRITE_BACK != 0 => ResponseKind::WrittenBack,
                    ReplyKind::WriteAck => ResponseKind::Stored,
                    _ => {
                        slot.data = reply.data;
                        ResponseKind::AtomicOld
                    }
                };
                slot.head(now + 1, kind, reply.tag & !WRITE_BACK, reply.line, reply.sectors);
            }
        }
        self.blocked = None;
        true
    }

    /// Puts sectors that have come into the cache.
    fn install(&mut self, now: Cycle, id: MshrId, sectors: u8) {
        let line = self.mshrs[id].line;
        let frame = match self.tags.find(line.0, line) {
            Some(frame) => frame,
            None => {
                // A reply never waits for room: if nothing can leave, the line is not put in.
                let Some(frame) = self.make_room(now, line) else { return };
                if self.mshrs.all_streaming(id) {
                    self.tags.demote(frame);
                } else {
                    self.tags.touch(frame);
                }
                frame
            }
        };
        let start = frame.index() * self.geometry.line_bytes();
        self.geometry.copy_sectors(&mut self.data[start..], self.mshrs.data(id), sectors);
        self.valid[frame.index()] |= sectors;
    }

    /// Answers the accesses of a miss that have all their sectors. Once an atomic is among them they act
    /// strictly in order; loads alone may pass each other.
    fn deliver(&mut self, now: Cycle, id: MshrId) {
        let in_order = self.mshrs[id].atomics > 0;
        let line = self.mshrs[id].line;
        let address = self.geometry.address(line);
        let mut place = 0;
        while let Some(waiter) = self.mshrs.waiter(id, place) {
            if waiter.sectors & !self.mshrs[id].held != 0 {
                if in_order {
                    break;
                }
                place += 1;
                continue;
            }
            let atomic = self.mshrs.remove(id, place);
            let Some(slot) = self.fills.push() else { break };
            match atomic {
                None => {
                    slot.head(now + 1, ResponseKind::Loaded, waiter.owner, address, waiter.sectors);
                    self.geometry.copy_sectors(&mut slot.data, self.mshrs.data(id), waiter.sectors);
                }
                Some(atomic) => {
                    slot.head(now + 1, ResponseKind::AtomicOld, waiter.owner, address, waiter.sectors);
                    slot.data = [0; MAX_LINE_BYTES];
                    let (mask, swap) = (atomic.byte_mask, atomic.swap);
                    let data = self.mshrs.data_mut(id);
                    let mask = apply_atomic(atomic.op, mask, &atomic.data, swap, data, &mut slot.data);
                    let mut result = [0; MAX_LINE_BYTES];
                    copy_bytes(&mut result, data, mask);
                    if self.mshrs[id].current
                        && let Some(frame) = self.tags.find(line.0, line)
                    {
                        self.update(frame, mask, &result);
                    }
                    let hint = CacheHint::Cached;
                    self.send(now, Request::write(waiter.owner, address, mask, &result, hint, self.geometry));
                }
            }
        }
        if self.mshrs[id].outstanding == 0 && self.mshrs.waiting(id) == 0 {
            self.mshrs.release(id);
        }
    }
}
