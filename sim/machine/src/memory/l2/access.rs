//! Accesses to a slice: planned at the head of the queue, executed as soon as the plan is possible.

use super::{Frame, Mshr, MshrId, NO_MSHR, PerformedAtomic, Slice, Transfer};
use crate::clock::Cycle;
use crate::memory::geometry::{LineNumber, copy_bytes};
use crate::memory::hops::HopKind;
use crate::memory::image::Image;
use crate::memory::message::{Reply, ReplyKind, Request, RequestKind, Values, apply_atomic};
use crate::memory::trail::Touched;
use crate::registry::Reference;
use wave_isa::table::CacheHint;

/// What the access at the head of the queue does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Plan {
    /// It is performed on this frame.
    Serve(Frame),
    /// It waits for an outstanding line and requests these further sectors of it.
    Join(MshrId, u8),
    /// It waits for these sectors of a line that is in this frame.
    Miss(Frame, u8),
    /// It takes this frame for its line.
    Replace(Frame),
    /// It waits for the next release of the slice.
    Release,
}

impl Slice {
    /// The plan of the request at the head of the queue; `None` if it has to stay there.
    pub(super) fn plan(&self, request: &Request) -> Option<Plan> {
        if request.kind == RequestKind::Release {
            return Some(Plan::Release);
        }
        let line = self.spec.geometry.number(request.line);
        let index = self.spec.hash.within_slice(line);
        let needed = needed_sectors(request);
        let Some(frame) = self.tags.find(index, line) else {
            if needed != 0 && (self.free_mshrs.is_empty() || self.room_to_memory() == 0) {
                return None;
            }
            let frame = self.tags.victim(index, |frame| self.mshr_of[frame.index()] == NO_MSHR)?;
            let transfers = usize::from(needed != 0) + usize::from(self.dirty[frame.index()] != 0);
            return (transfers <= self.room_to_memory()).then_some(Plan::Replace(frame));
        };
        let missing = needed & !self.valid[frame.index()];
        let id = self.mshr_of[frame.index()];
        if id == NO_MSHR {
            if missing == 0 {
                return Some(Plan::Serve(frame));
            }
            let room = !self.free_mshrs.is_empty() && self.room_to_memory() >= 1;
            return room.then_some(Plan::Miss(frame, missing));
        }
        let mshr = &self.mshrs[usize::from(id)];
        if missing == 0 && request.kind == RequestKind::Read && !mshr.ordered {
            return Some(Plan::Serve(frame));
        }
        let fetch = missing & !mshr.outstanding;
        let room = self.waiters.has_room(usize::from(id)) && (fetch == 0 || self.room_to_memory() >= 1);
        room.then_some(Plan::Join(MshrId(id), fetch))
    }

    /// Executes the plan of a request.
    pub(super) fn execute(&mut self, now: Cycle, request: Request, plan: Plan, image: &mut Image) {
        let line = self.spec.geometry.number(request.line);
        let index = self.spec.hash.within_slice(line);
        let sent = self.to_memory.len();
        let address = request.line;
        if self.accesses.is_some() {
            self.note_access(now, &request, plan);
        }
        self.hop(now, address, HopKind::Arrive(request.core, request.kind));
        match plan {
            Plan::Release => {
                self.counters.releases += 1;
                self.releases.wait(request.core);
            }
            Plan::Serve(frame) => {
                self.counters.hits += 1;
                self.serve(now, request, frame, image);
            }
            Plan::Join(id, fetch) => {
                if fetch == 0 {
                    self.counters.mshr_hits += 1;
                } else {
                    self.counters.sector_misses += 1;
                    self.fetch(id, self.mshrs[usize::from(id.0)].frame, line, index, fetch);
                }
                self.mshrs[usize::from(id.0)].ordered |= request.kind != RequestKind::Read;
                self.waiters.push(usize::from(id.0), request);
            }
            Plan::Miss(frame, missing) => {
                let known = self.knows_some(frame);
                *(if known { &mut self.counters.sector_misses } else { &mut self.counters.misses }) += 1;
                self.begin_miss(request, frame, line, index, missing);
            }
            Plan::Replace(frame) => {
                self.counters.misses += 1;
                self.evict(frame, image);
                self.tags.install(frame, line, || request.reference());
                // A streaming line must not look recently used.
                self.tags.demote(frame);
                match needed_sectors(&request) {
                    0 => self.serve(now, request, frame, image),
                    needed => self.begin_miss(request, frame, line, index, needed),
                }
            }
        }
        if self.hops.is_some()
            && self.to_memory.len() > sent
            && self.to_memory.back().is_some_and(|transfer| transfer.fetch.is_some())
        {
            self.hop(now, address, HopKind::Fetch);
        }
    }

    /// Holds a line as it would behind accesses that it has not had. Nothing is counted, and a line that has to leave
    /// for it takes no time to. Dirty bytes come by [`refresh`](Slice::refresh).
    pub(in crate::memory) fn warm(&mut self, touched: &Touched) {
        let line = self.spec.geometry.number(touched.line);
        let index = self.spec.hash.within_slice(line);
        let is_free = |frame: Frame| self.mshr_of[frame.index()] == NO_MSHR;
        let frame = match self.tags.find(index, line) {
            Some(frame) => frame,
            None => {
                let Some(frame) = self.tags.victim(index, is_free) else { return };
                (self.valid[frame.index()], self.dirty[frame.index()]) = (0, 0);
                self.tags.install(frame, line, || touched.reference());
                self.tags.demote(frame);
                frame
            }
        };
        if self.mshr_of[frame.index()] != NO_MSHR {
            return;
        }
        let i = frame.index();
        self.dirty[i] |= touched.written;
        self.valid[i] |= touched.read | self.spec.geometry.full_sectors_of(self.dirty[i]);
        if touched.hint != CacheHint::Streaming {
            self.tags.touch(frame, || touched.reference());
        }
    }

    /// True if some bytes of a frame are known.
    pub(super) fn knows_some(&self, frame: Frame) -> bool {
        self.valid[frame.index()] != 0 || self.dirty[frame.index()] != 0
    }

    /// Empties a frame; dirty bytes go to memory.
    fn evict(&mut self, frame: Frame, image: &mut Image) {
        let i = frame.index();
        self.valid[i] = 0;
        if self.tags.line(frame).is_some() {
            self.counters.evictions += 1;
            if self.dirty[i] != 0 {
                self.counters.write_backs += 1;
                self.write_back(frame, image);
            }
        }
    }

    /// Sends a line's dirty bytes to memory, for which there must be room. The line stays, clean. Returns
    /// their sectors.
    pub(super) fn write_back(&mut self, frame: Frame, image: &mut Image) -> u8 {
        let dirty = std::mem::take(&mut self.dirty[frame.index()]);
        let Some(line) = self.tags.line(frame) else { return 0 };
        image.write(line, &self.data[self.spec.place(frame)], dirty);
        let index = self.spec.hash.within_slice(line);
        let sectors = self.spec.geometry.sectors_of(dirty);
        self.to_memory.push_back(Transfer { line, index, sectors, fetch: None, epoch: self.writes.send() });
        sectors
    }

    fn begin_miss(&mut self, request: Request, frame: Frame, line: LineNumber, index: u32, missing: u8) {
        let Some(id) = self.free_mshrs.pop() else { return };
        self.mshr_of[frame.index()] = id;
        let ordered = request.kind != RequestKind::Read;
        self.mshrs[usize::from(id)] = Mshr { frame, outstanding: 0, ordered, ready: false };
        self.fetch(MshrId(id), frame, line, index, missing);
        self.waiters.push(usize::from(id), request);
    }

    /// Requests sectors from memory, and all others that come in the same bursts (M22).
    fn fetch(&mut self, id: MshrId, frame: Frame, line: LineNumber, index: u32, missing: u8) {
        let group = (1u32 << self.spec.sectors_per_burst) - 1;
        let mut sectors = 0u32;
        for first in (0..self.spec.geometry.sectors()).step_by(self.spec.sectors_per_burst as usize) {
            if u32::from(missing) & group << first != 0 {
                sectors |= group << first;
            }
        }
        let mshr = &mut self.mshrs[usize::from(id.0)];
        let sectors = sectors as u8 & !self.valid[frame.index()] & !mshr.outstanding;
        mshr.outstanding |= sectors;
        self.to_memory.push_back(Transfer { line, index, sectors, fetch: Some(id), epoch: 0 });
    }

    /// Performs a request on a frame that has all that it needs. The reply can go a hit latency later.
    pub(super) fn serve(&mut self, now: Cycle, request: Request, frame: Frame, image: &Image) {
        let Request { core, tag, line, sectors, hint, .. } = request;
        let by = Reference { line, ..request.reference() };
        let (i, number) = (frame.index(), self.spec.geometry.number(line));
        let bytes = &mut self.data[self.spec.place(frame)];
        let mut values = request.values.unwrap_or_default();
        let Values { byte_mask, data, swap } = &mut *values;
        let mut written = *byte_mask;
        let kind = match request.kind {
            RequestKind::Read => {
                self.counters.reads += 1;
                match image.whole(number) {
                    Some(memory) => self.spec.geometry.copy_sectors(data, memory, sectors),
                    None => *data = image.read(number),
                }
                if self.dirty[i] != 0 {
                    copy_bytes(data, bytes, self.dirty[i] & self.spec.geometry.bytes_of(sectors));
                }
                ReplyKind::Data
            }
            RequestKind::Write => {
                self.counters.writes += 1;
                copy_bytes(bytes, data, written);
                ReplyKind::WriteAck
            }
            RequestKind::Atomic(op) => {
                self.counters.atomics += 1;
                let clean = *byte_mask & !self.dirty[i];
                if clean != 0 {
                    copy_bytes(bytes, &image.read(number), clean);
                }
                written = apply_atomic(op, *byte_mask, data, *swap, bytes);
                if let Some(atomics) = &mut self.atomics {
                    atomics.push(PerformedAtomic { cycle: now, core, line, bytes: *byte_mask, written });
                }
                ReplyKind::AtomicOld
            }
            RequestKind::Release => unreachable!("a release touches no frame"),
        };
        if written != 0 {
            self.dirty[i] |= written;
            self.valid[i] |= self.spec.geometry.full_among(sectors, self.dirty[i]);
        }
        if hint != CacheHint::Streaming {
            self.tags.touch(frame, || by);
        }
        let ready = now + self.spec.hit_latency;
        self.replies.push_back((ready, Reply { core, tag, kind, line, sectors, values: Some(values) }));
        self.hop(ready, line, HopKind::Reply(core, request.kind));
    }
}

/// Sectors that have to be valid before a request can be served. A write needs none.
pub(super) fn needed_sectors(request: &Request) -> u8 {
    match request.kind {
        RequestKind::Write | RequestKind::Release => 0,
        RequestKind::Read | RequestKind::Atomic(_) => request.sectors,
    }
}
