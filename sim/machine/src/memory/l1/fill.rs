//! Replies that arrive at the L1.

use super::frames::WRITE_BACK;
use super::mshr::{Mshr, MshrId};
use super::plan::Leaves;
use super::{L1, Reject, ResponseKind};
use crate::clock::Cycle;
use crate::memory::geometry::copy_bytes;
use crate::memory::message::{LineData, MAX_LINE_BYTES, Reply, ReplyKind, Request, apply_atomic};
use crate::registry::Reference;
use wave_isa::table::CacheHint;

impl L1 {
    /// Takes a reply that has arrived. Its responses are ready from the next cycle on; `take` gets their
    /// values now, as in [`access`](L1::access). False if there is no room for the responses: the reply has
    /// to be offered again.
    #[inline]
    pub fn accept(&mut self, now: Cycle, reply: &Reply, take: &mut impl FnMut(u32, &[u8])) -> bool {
        let kind = match reply.kind {
            ReplyKind::Data => return self.accept_data(now, reply, take),
            ReplyKind::Released => {
                debug_assert!(false, "the core takes it");
                return true;
            }
            ReplyKind::WriteAck if reply.tag & WRITE_BACK != 0 => ResponseKind::WrittenBack,
            ReplyKind::WriteAck => ResponseKind::Stored,
            ReplyKind::AtomicOld => ResponseKind::AtomicOld,
        };
        if self.responses.room_for_fills() == 0 {
            return false;
        }
        if kind == ResponseKind::AtomicOld {
            take(reply.tag, reply.data());
        }
        self.responses.push_fill(now + 1, reply.tag & !WRITE_BACK, kind);
        true
    }

    fn accept_data(&mut self, now: Cycle, reply: &Reply, take: &mut impl FnMut(u32, &[u8])) -> bool {
        let id = MshrId::of_tag(reply.tag);
        if self.responses.room_for_fills() < self.mshrs.waiting(id) {
            return false;
        }
        let data = reply.data();
        if self.mshrs.comes_whole(id, reply.sectors) {
            // The usual case: the values need not be held in the MSHR.
            if self.mshrs[id].current {
                self.install(now, id, reply.sectors, data);
            }
            for waiter in self.mshrs.waiters(id) {
                self.responses.push_fill(now + 1, waiter.owner, ResponseKind::Loaded);
                take(waiter.owner, data);
            }
            self.mshrs.release_answered(id);
        } else {
            self.mshrs.fill(id, data, reply.sectors, self.spec.geometry);
            let mshr = &mut self.mshrs[id];
            mshr.outstanding &= !reply.sectors;
            mshr.held |= reply.sectors;
            if mshr.current {
                let data = *self.mshrs.data(id);
                self.install(now, id, reply.sectors, &data);
            }
            self.deliver(now, id, take);
        }
        // A rejected access may succeed now, unless it lacks an MSHR and none is free.
        if self.blocked != Some(Reject::Mshr) || self.mshrs.has_free() {
            self.blocked = None;
        }
        true
    }

    /// Installs sectors that have come.
    fn install(&mut self, now: Cycle, id: MshrId, sectors: u8, data: &LineData) {
        let Mshr { line, present, by, kind, .. } = self.mshrs[id];
        // In an L1 that writes through only replies install lines, so a line absent at the miss is still
        // absent.
        let known_absent = !present && !self.dirty.writes_back();
        self.mshrs[id].present = true;
        let frame = match if known_absent { None } else { self.tags.find(line.0, line) } {
            Some(frame) => frame,
            None => {
                // A reply never waits for room: if no line can leave, its own is not installed.
                let Some(frame) = self.victim(line, Leaves::with(self.outgoing_room())) else { return };
                let streaming = self.mshrs.all_streaming(id);
                let by = Reference { line: self.spec.geometry.address(line), by, kind, streaming };
                self.replace(now, frame, line, &by);
                if streaming {
                    self.tags.demote(frame);
                } else {
                    self.tags.touch(frame, || by);
                }
                frame
            }
        };
        let place = self.place(frame);
        self.spec.geometry.copy_sectors(&mut self.data[place], data, sectors);
        self.valid[frame.index()] |= sectors;
    }

    /// Serves the accesses of a miss that have all their sectors. If an atomic is among them, strictly in
    /// order; loads alone may pass one another.
    fn deliver(&mut self, now: Cycle, id: MshrId, take: &mut impl FnMut(u32, &[u8])) {
        let in_order = self.mshrs[id].atomics > 0;
        let line = self.mshrs[id].line;
        let address = self.spec.geometry.address(line);
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
            match atomic {
                None => {
                    self.responses.push_fill(now + 1, waiter.owner, ResponseKind::Loaded);
                    take(waiter.owner, self.mshrs.data(id));
                }
                Some(atomic) => {
                    self.responses.push_fill(now + 1, waiter.owner, ResponseKind::AtomicOld);
                    let mut old = atomic.data;
                    let data = self.mshrs.data_mut(id);
                    let mask = apply_atomic(atomic.op, atomic.byte_mask, &mut old, atomic.swap, data);
                    take(waiter.owner, &old);
                    let mut result = [0; MAX_LINE_BYTES];
                    copy_bytes(&mut result, data, mask);
                    if self.mshrs[id].current
                        && let Some(frame) = self.tags.find(line.0, line)
                    {
                        self.update(frame, mask, &result);
                    }
                    let (values, hint) = (self.values(mask, &result, 0), CacheHint::Cached);
                    self.send(now, Request::write(waiter.owner, address, values, hint, self.spec.geometry));
                }
            }
        }
        if self.mshrs[id].outstanding == 0 && self.mshrs.waiting(id) == 0 {
            self.mshrs.release(id);
        }
    }
}
