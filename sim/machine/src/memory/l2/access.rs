//! Accesses to a slice: planned at the head of the queue, executed as soon as the plan is possible.

use super::{Frame, MshrId, PerformedAtomic, Slice, Transfer};
use crate::clock::Cycle;
use crate::memory::cache::{self, Access};
use crate::memory::geometry::{LineNumber, copy_bytes};
use crate::memory::hops::HopKind;
use crate::memory::image::Image;
use crate::memory::message::{Reply, ReplyKind, Request, RequestKind, Values, apply_atomic};
use crate::memory::trail::Touched;
use crate::registry::Reference;
use wave_isa::table::CacheHint;

/// What the request at the head of the queue does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Plan {
    /// It accesses its line.
    Access(cache::Plan),
    /// It waits for the next release of the slice.
    Release,
}

impl Access for Request {
    /// A write needs no sectors.
    #[inline]
    fn needed(&self) -> u8 {
        match self.kind {
            RequestKind::Write | RequestKind::Release => 0,
            RequestKind::Read | RequestKind::Atomic(_) => self.sectors,
        }
    }

    #[inline]
    fn is_read(&self) -> bool {
        self.kind == RequestKind::Read
    }
}

impl Slice {
    /// The plan of the request at the head of the queue; `None` if it has to stay there.
    pub(super) fn plan(&self, request: &Request) -> Option<Plan> {
        if request.kind == RequestKind::Release {
            return Some(Plan::Release);
        }
        let line = self.spec.geometry.number(request.line);
        let place = (line, self.spec.hash.within_slice(line));
        let is_dirty = |frame: Frame| self.dirty[frame.index()] != 0;
        self.cache.plan(place, request, self.room_to_memory(), is_dirty).map(Plan::Access)
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
            Plan::Access(cache::Plan::Serve(frame)) => {
                self.counters.hits += 1;
                self.serve(now, request, frame, image);
            }
            Plan::Access(cache::Plan::Join(id, fetch)) => {
                if fetch == 0 {
                    self.counters.mshr_hits += 1;
                } else {
                    self.counters.sector_misses += 1;
                    self.fetch(id, (line, index), fetch);
                }
                self.cache.misses.wait(id, request);
            }
            Plan::Access(cache::Plan::Miss(frame, missing)) => {
                let known = self.knows_some(frame);
                *(if known { &mut self.counters.sector_misses } else { &mut self.counters.misses }) += 1;
                self.begin_miss(request, frame, (line, index), missing);
            }
            Plan::Access(cache::Plan::Replace(frame)) => {
                self.counters.misses += 1;
                self.evict(frame, image);
                self.cache.tags.install(frame, line, || request.reference());
                // A streaming line must not look recently used.
                self.cache.tags.demote(frame);
                match request.needed() {
                    0 => self.serve(now, request, frame, image),
                    needed => self.begin_miss(request, frame, (line, index), needed),
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
        let is_free = |frame: Frame| self.cache.misses.of(frame).is_none();
        let frame = match self.cache.tags.find(index, line) {
            Some(frame) => frame,
            None => {
                let Some(frame) = self.cache.tags.victim(index, is_free) else { return };
                (self.cache.valid[frame.index()], self.dirty[frame.index()]) = (0, 0);
                self.cache.tags.install(frame, line, || touched.reference());
                self.cache.tags.demote(frame);
                frame
            }
        };
        if self.cache.misses.of(frame).is_some() {
            return;
        }
        let i = frame.index();
        self.dirty[i] |= touched.written;
        self.cache.valid[i] |= touched.read | self.spec.geometry.full_sectors_of(self.dirty[i]);
        if touched.hint != CacheHint::Streaming {
            self.cache.tags.touch(frame, || touched.reference());
        }
    }

    /// True if some bytes of a frame are known.
    pub(super) fn knows_some(&self, frame: Frame) -> bool {
        self.cache.valid[frame.index()] != 0 || self.dirty[frame.index()] != 0
    }

    /// Empties a frame; dirty bytes go to memory.
    fn evict(&mut self, frame: Frame, image: &mut Image) {
        let i = frame.index();
        self.cache.valid[i] = 0;
        if self.cache.tags.line(frame).is_some() {
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
        let Some(line) = self.cache.tags.line(frame) else { return 0 };
        image.write(line, &self.data[self.spec.place(frame)], dirty);
        let sectors = self.spec.geometry.sectors_of(dirty);
        let whole = self.spec.geometry.full_among(sectors, dirty);
        let index = self.spec.hash.within_slice(line);
        let epoch = self.writes.send();
        let slice = self.spec.index;
        self.to_memory.push_back(Transfer { line, slice, index, sectors, whole, fetch: None, epoch });
        sectors
    }

    fn begin_miss(&mut self, request: Request, frame: Frame, place: (LineNumber, u32), missing: u8) {
        let Some(id) = self.cache.misses.begin(frame) else { return };
        self.fetch(id, place, missing);
        self.cache.misses.wait(id, request);
    }

    /// Requests sectors of a line from memory.
    fn fetch(&mut self, id: MshrId, (line, index): (LineNumber, u32), missing: u8) {
        let sectors = self.cache.request(id, missing, self.spec.geometry, self.spec.sectors_per_burst);
        let (slice, fetch) = (self.spec.index, Some(id));
        self.to_memory.push_back(Transfer { line, slice, index, sectors, whole: 0, fetch, epoch: 0 });
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
            self.cache.valid[i] |= self.spec.geometry.full_among(sectors, self.dirty[i]);
        }
        if hint != CacheHint::Streaming {
            self.cache.tags.touch(frame, || by);
        }
        let ready = now + self.spec.hit_latency;
        self.replies.push_back((ready, Reply { core, tag, kind, line, sectors, values: Some(values) }));
        self.hop(ready, line, HopKind::Reply(core, request.kind));
    }
}
