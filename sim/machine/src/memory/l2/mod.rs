//! One slice of the L2 cache: sectored, set-associative, write-back, with its atomics unit.
//!
//! The slice serves one access a cycle, in order: the oldest waiter whose sectors have come, else the head of
//! its queue (M20).
//!
//! A frame has three kinds of bytes: those of valid sectors; dirty bytes in other sectors, written without a
//! fetch (M21); and bytes that the slice does not know. Only dirty bytes are kept in the slice's data. The others of a
//! valid sector are read from the image: nothing else can change them while the slice has the line, so a copy would be
//! the same bytes, and the host would have to move them.

mod access;
mod check;
mod far;
mod jitter;
mod records;
mod release;
mod spec;
mod state;
#[cfg(test)]
mod tests;

use super::agenda::Agenda;
use super::cache::{Cache, MshrId, Stall};
use super::geometry::{LineNumber, copy_bytes};
use super::hops::{Holder, Hop, HopKind, SliceAccess};
use super::image::Image;
use super::message::{LineData, Reply, Request};
use super::replacement::CachePlace;
use super::tags::{CacheLine, Frame, Tags};
use super::transfer::Transfer;
use crate::clock::{Cycle, NEVER};
use crate::config::Config;
use crate::registry::PlugIn;
use crate::stats::counters;
use far::Far;
use jitter::Delays;
pub use jitter::Jitter;
use release::{Releases, Writes};
use spec::Spec;
pub(super) use state::FIELDS;
use std::collections::VecDeque;
use std::ops::Range;
use wave_capture::Capture;

counters! {
    /// What the L2 slices did. An access is a request packet; each has one outcome.
    "l2" L2Counters {
        reads: "packets", "Read packets.";
        writes: "packets", "Write packets.";
        releases: "packets", "Release packets.";
        atomics: "packets", "Atomic packets.";
        hits: "accesses", "Outcome HIT: served without waiting for memory (or a write to a line that is present).";
        mshr_hits: "accesses", "Outcome MSHR_HIT: waited for a line that was already outstanding.";
        sector_misses: "accesses", "Outcome SECTOR_MISS: the line was present, but sectors had to be fetched.";
        misses: "accesses", "Outcome MISS: the line was not present.";
        reservation_fails: "accesses", "Outcome RESERVATION_FAIL: accesses that could not start at once, each counted once.";
        reservation_fail_cycles: "cycles", "Cycles in which such accesses blocked the slice's queue.";
        evictions: "lines", "Lines evicted to make room for another.";
        write_backs: "lines", "Part of evictions: lines with dirty bytes, written to memory.";
        fetched_sectors: "sectors", "Sectors fetched from memory.";
        released_sectors: "sectors", "Dirty sectors written to memory by releases at system scope: of fences, and of ends of kernels where dispatcher.release_scope is system.";
    }
}

/// An atomic packet that a slice has performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PerformedAtomic {
    /// When.
    pub cycle: Cycle,
    /// The core that made the request.
    pub core: u16,
    /// Byte address of the line.
    pub line: u64,
    /// Bytes of the words operated on.
    pub bytes: u128,
    /// Bytes written: none for a compare-and-swap that failed.
    pub written: u128,
}

/// A slice of the L2.
#[derive(Debug, Capture)]
#[sound]
pub(super) struct Slice {
    #[spec]
    spec: Spec,
    /// Its block in the agenda.
    #[spec]
    block: usize,
    cache: Cache<Request>,
    #[fixed]
    dirty: Vec<u128>,
    /// Dirty bytes of the frames; see [`Spec::place`].
    #[fixed]
    data: Vec<u8>,
    input: VecDeque<Request>,
    /// Replies in the order in which they were made, each with the first cycle in which it can go.
    replies: VecDeque<(Cycle, Reply)>,
    to_memory: VecDeque<Transfer>,
    stall: Stall,
    /// The way from other partitions, if it is longer.
    far: Option<Box<Far>>,
    jitter: Option<Box<Delays>>,
    /// Write-backs that are not performed in memory yet.
    writes: Writes,
    /// For write-backs that have left for memory: the cycle in which each is performed, and its epoch.
    written: VecDeque<(Cycle, u8)>,
    releases: Releases,
    /// Atomics performed and not reported, if they are recorded.
    #[scratch]
    atomics: Option<Vec<PerformedAtomic>>,
    /// Events of requests that are not reported, if they are recorded.
    #[scratch]
    hops: Option<Vec<Hop>>,
    /// Requests taken from the queue that are not reported, if they are recorded.
    #[scratch]
    accesses: Option<Vec<SliceAccess>>,
    counters: L2Counters,
}

/// Effects of a slice's cycle on the blocks around it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Effects {
    /// A request has left the queue.
    pub(super) took_request: bool,
    /// A reply was made that can go from this cycle on.
    pub(super) replied: Option<Cycle>,
    /// Transfers wait for the memory channel; there were none before.
    pub(super) to_memory: bool,
}

impl Slice {
    /// Values of the counters of the plug-in that replaces lines here, if one does.
    pub(super) fn plug_in_counters(&self) -> Option<(&'static PlugIn, Vec<u64>)> {
        self.cache.tags.plug_in_counters()
    }

    /// The slice of this index, which is this block of the agenda.
    pub(super) fn new(config: &Config, index: u32, block: usize) -> Slice {
        let l2 = &config.l2;
        let line_bytes = config.core.l1.line_bytes;
        let place = CachePlace { plugins: &config.plugins, level: 2, index, line_bytes };
        let tags = Tags::new(l2.slice_bytes, l2.ways, l2.replacement, &place).hashed_by(l2.set_hash);
        let frames = tags.frames();
        let spec = Spec::new(config, index, frames);
        Slice {
            dirty: vec![0; frames],
            data: vec![0; frames * spec.geometry.line_bytes()],
            cache: Cache::new(tags, l2.mshrs, l2.mshr_merges),
            input: VecDeque::with_capacity(spec.input_capacity),
            replies: VecDeque::with_capacity(spec.reply_capacity),
            to_memory: VecDeque::with_capacity(spec.to_memory_capacity),
            stall: Stall::default(),
            writes: Writes::default(),
            written: VecDeque::new(),
            releases: Releases::default(),
            far: Far::new(config, index),
            jitter: None,
            atomics: None,
            hops: None,
            accesses: None,
            counters: L2Counters::default(),
            block,
            spec,
        }
    }

    pub(super) fn counters(&self) -> &L2Counters {
        &self.counters
    }

    /// Turns random delays of requests on or off, between launches. Then only lines of code may still be on their
    /// way, which no wave waits for: those that are delayed enter the queue.
    pub(super) fn set_jitter(&mut self, jitter: Option<Jitter>, me: usize) {
        if let Some(mut before) = self.jitter.take() {
            before.release(NEVER, &mut self.input);
        }
        self.jitter = jitter.map(|jitter| Box::new(Delays::new(jitter, me)));
    }

    /// True if a request can enter the queue.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.input.len() + self.jitter.as_ref().map_or(0, |jitter| jitter.len()) < self.spec.input_capacity
    }

    /// Takes a request of the network. One of another partition enters the queue later.
    #[inline]
    pub(super) fn accept(&mut self, now: Cycle, request: Request, agenda: &mut Agenda) {
        debug_assert!(self.has_room(), "push into a full slice");
        match &mut self.far {
            Some(far) if far.is_way_of(&request) => agenda.at(self.block, far.accept(now, request)),
            _ => self.enter(request, agenda),
        }
    }

    /// A request enters the queue. If others wait there, they plan the slice.
    #[inline]
    fn enter(&mut self, request: Request, agenda: &mut Agenda) {
        if self.input.is_empty() {
            agenda.now(self.block);
        }
        match &mut self.jitter {
            None => self.input.push_back(request),
            Some(jitter) => {
                jitter.accept(request);
                agenda.now(self.block);
            }
        }
    }

    /// Requests of other partitions that have arrived enter the queue, as far as there is room: before those of the
    /// network, which ask for room later.
    fn admit(&mut self, now: Cycle, agenda: &mut Agenda) {
        while self.has_room()
            && let Some(request) = self.far.as_mut().and_then(|far| far.arrive(now))
        {
            self.enter(request, agenda);
        }
    }

    /// Replies, oldest first, each with the first cycle in which it can go.
    #[inline]
    pub(super) fn replies(&self) -> &VecDeque<(Cycle, Reply)> {
        &self.replies
    }

    /// True if there is room for another reply.
    #[inline]
    fn has_reply_room(&self) -> bool {
        self.replies.len() < self.spec.reply_capacity
    }

    /// Takes the reply at an index of [`replies`](Self::replies). A slice that waited for room continues in
    /// the next cycle.
    #[inline]
    pub(super) fn take_reply(&mut self, place: usize, agenda: &mut Agenda) -> Option<Reply> {
        if !self.has_reply_room() {
            agenda.soon(self.block);
        }
        let (_, reply) = if place == 0 { self.replies.pop_front() } else { self.replies.remove(place) }?;
        Some(reply)
    }

    /// True if transfers wait for the channel.
    #[inline]
    pub(super) fn has_transfer(&self) -> bool {
        !self.to_memory.is_empty()
    }

    #[cfg(test)]
    pub(super) fn send_for_test(&mut self, transfer: Transfer) {
        if transfer.fetch.is_none() {
            self.writes.send();
        }
        self.to_memory.push_back(transfer);
    }

    /// Takes the oldest transfer. A slice that may have waited for its place continues in the next cycle.
    #[inline]
    pub(super) fn take_transfer(&mut self, agenda: &mut Agenda) -> Option<Transfer> {
        let transfer = self.to_memory.pop_front()?;
        if self.stall.is_on() || self.releases.walks() {
            agenda.soon(self.block);
        }
        Some(transfer)
    }

    /// Announces sectors that arrive from memory in cycle `at`. Calls come in ascending order of `at`.
    #[inline]
    pub(super) fn expect_fill(&mut self, at: Cycle, mshr: MshrId, sectors: u8, agenda: &mut Agenda) {
        self.cache.misses.expect((at, mshr, sectors), self.block, agenda);
    }

    /// MSHRs that hold an outstanding line.
    pub(super) fn mshrs_in_use(&self) -> usize {
        self.cache.misses.in_use()
    }

    /// Puts the dirty bytes of a line into `data`.
    pub(super) fn copy_dirty(&self, line: LineNumber, data: &mut LineData) {
        if let Some(frame) = self.cache.tags.find(self.spec.hash.within_slice(line), line) {
            copy_bytes(data, &self.data[self.spec.place(frame)], self.dirty[frame.index()]);
        }
    }

    /// The line at an address, and the slice that it belongs to.
    pub(super) fn line_at(&self, address: u64) -> (LineNumber, usize) {
        let line = self.spec.geometry.number(address);
        (line, self.spec.hash.slice(line))
    }

    /// True if nothing is queued, outstanding or about to be sent.
    pub(super) fn is_idle(&self) -> bool {
        self.input.is_empty()
            && self.jitter.as_ref().is_none_or(|jitter| jitter.len() == 0)
            && self.far.as_ref().is_none_or(|far| far.waiting().is_empty())
            && self.replies.is_empty()
            && self.to_memory.is_empty()
            && self.cache.misses.is_empty()
    }

    /// Simulates a cycle and plans the next one in which the slice has something to do without a push from
    /// outside.
    pub(super) fn tick(&mut self, now: Cycle, image: &mut Image, agenda: &mut Agenda) -> Effects {
        while let Some((frame, sectors)) = self.cache.arrive(now) {
            self.counters.fetched_sectors += u64::from(sectors.count_ones());
            if self.hops.is_some()
                && let Some(line) = self.cache.tags.line(frame)
            {
                self.hop(now, self.spec.geometry.address(line), HopKind::Fill);
            }
        }
        if self.far.is_some() {
            self.admit(now, agenda);
        }
        if let Some(jitter) = &mut self.jitter {
            agenda.at(self.block, jitter.release(now, &mut self.input));
        }
        let mut effects = Effects::default();
        let (replies, transfers) = (self.replies.len(), self.to_memory.len());
        let releases_on = self.tick_release(now, image);
        if self.has_reply_room() {
            let progress = if let Some(mshr) = self.cache.misses.first_ready() {
                let (frame, waiter) = self.cache.take_waiter(mshr);
                if let Some(request) = waiter {
                    self.serve(now, request, frame, image);
                }
                self.cache.performed(mshr);
                true
            } else if let Some(request) = self.input.front() {
                let plan = self.plan(request);
                let L2Counters { reservation_fails, reservation_fail_cycles, .. } = &mut self.counters;
                self.stall.note(now, plan.is_none(), reservation_fails, reservation_fail_cycles);
                if let Some(plan) = plan
                    && let Some(request) = self.input.pop_front()
                {
                    self.execute(now, request, plan, image);
                    effects.took_request = true;
                }
                effects.took_request
            } else {
                false
            };
            // A stall ends with a fill, with room towards memory or with a waiter's turn; each of them plans
            // the slice.
            if progress && !(self.cache.misses.first_ready().is_none() && self.input.is_empty()) {
                agenda.soon(self.block);
            }
        }
        if self.far.is_some() {
            self.admit(now, agenda);
            self.plan_arrival(now, agenda);
        }
        if self.replies.len() > replies {
            effects.replied = self.replies.back().map(|&(ready, _)| ready);
        }
        if releases_on || self.releases.is_due() {
            agenda.soon(self.block);
        }
        effects.to_memory = transfers == 0 && self.has_transfer();
        let fill = self.cache.misses.next_fill();
        let next = if self.releases.drains() { self.next_written().min(fill) } else { fill };
        if next != NEVER {
            agenda.at(self.block, next);
        }
        effects
    }

    /// Plans the next request of another partition. One that has arrived and finds no room is planned by the request that
    /// leaves the queue.
    fn plan_arrival(&self, now: Cycle, agenda: &mut Agenda) {
        let next = self.far.as_ref().map_or(NEVER, |far| far.next());
        if next != NEVER && next > now {
            agenda.at(self.block, next);
        }
    }

    /// Where a request for a line is in this slice, if it is here.
    pub(super) fn holder(&self, line: LineNumber) -> Option<Holder> {
        let address = self.spec.geometry.address(line);
        if let Some(place) = self.input.iter().position(|request| request.line == address) {
            return Some(Holder::SliceQueue { before: place });
        }
        let far = self.far.iter().flat_map(|far| far.waiting());
        if let Some(place) = far.clone().position(|(_, request)| request.line == address) {
            return Some(Holder::SliceQueue { before: self.input.len() + place });
        }
        if self.to_memory.iter().any(|transfer| transfer.line == line && transfer.fetch.is_some()) {
            return Some(Holder::SliceMiss);
        }
        let frame = self.cache.tags.find(self.spec.hash.within_slice(line), line)?;
        let mshr = self.cache.misses.of(frame)?;
        Some(if self.cache.misses.outstanding(mshr) != 0 { Holder::Channel } else { Holder::SliceData })
    }

    /// Its lines, in the order of frames.
    pub(super) fn lines(&self, image: &Image) -> Vec<CacheLine> {
        let line = |frame: u32| {
            let place = Frame(frame);
            let number = self.cache.tags.line(place)?;
            let address = self.spec.geometry.address(number);
            let (valid, dirty) = (self.cache.valid[place.index()], self.dirty[place.index()]);
            let mut line = CacheLine { address, valid, dirty, data: image.read(number) };
            copy_bytes(&mut line.data, &self.data[self.spec.place(place)], dirty);
            Some(line)
        };
        (0..self.cache.tags.frames() as u32).filter_map(line).collect()
    }

    /// Lines with dirty bytes: where these lie in `data`, the line, and which they are.
    fn dirty_lines(&self) -> impl Iterator<Item = (Range<usize>, LineNumber, u128)> {
        let dirty = self.dirty.iter().enumerate().filter(|&(_, &dirty)| dirty != 0);
        dirty.filter_map(|(index, &dirty)| {
            let frame = Frame(index as u32);
            Some((self.spec.place(frame), self.cache.tags.line(frame)?, dirty))
        })
    }

    /// Takes its dirty bytes from device memory, into which they were copied before something else wrote there.
    pub(super) fn refresh(&mut self, image: &Image) {
        let mut data = std::mem::take(&mut self.data);
        for (place, line, dirty) in self.dirty_lines() {
            copy_bytes(&mut data[place], &image.read(line), dirty);
        }
        self.data = data;
    }

    /// Removes its lines, whose dirty bytes device memory has.
    pub(super) fn empty(&mut self) {
        self.cache.empty(|frame| self.dirty[frame.index()] = 0);
    }

    fn room_to_memory(&self) -> usize {
        self.spec.to_memory_capacity - self.to_memory.len()
    }
}
