//! The L1 data cache of a core: sectored and set-associative. It either writes through without allocating on
//! a write, or writes back.
//!
//! A line has at most one *current* miss, which later loads may join. An access that changes the line, or
//! that must see what another level holds, makes the miss *stale*: the miss still serves the accesses that
//! wait for it, but it installs nothing and no access joins it, so later loads ask again, behind the change.
//! Requests leave in the order of their accesses and stay in order per line all the way to the L2. Together
//! this keeps a core's accesses to a line in order (M19).

mod access;
mod fill;
mod mshr;
mod outgoing;
mod responses;
mod state;
mod write_back;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod write_back_tests;

use super::geometry::{LineGeometry, LineNumber, copy_bytes};
use super::message::{LineData, MAX_LINE_BYTES, Request, apply_atomic};
use super::port::MemoryPort;
use super::tags::{CacheLine, Frame, Tags};
use crate::clock::{Cycle, NEVER};
use crate::config::Config;

pub use access::{Access, L1Counters, Operation, Reject};
use mshr::{MshrId, Mshrs, PendingAtomic, Waiter};
pub(crate) use responses::Response;
pub(crate) use responses::ResponseKind;
use responses::Responses;
pub(super) use state::FIELDS;
use std::collections::VecDeque;
use wave_capture::Capture;
use wave_isa::special::Scope;
use wave_isa::table::{AtomicOp, CacheHint};
use write_back::Dirty;

/// The L1 of one core.
#[derive(Debug, Clone, Capture)]
pub struct L1 {
    #[spec]
    geometry: LineGeometry,
    #[spec]
    hit_latency: Cycle,
    tags: Tags,
    valid: Vec<u8>,
    dirty: Dirty,
    data: Vec<u8>,
    mshrs: Mshrs,
    /// Requests, each with the first cycle in which it may leave.
    outgoing: VecDeque<(Cycle, Request)>,
    #[spec]
    outgoing_capacity: usize,
    /// Lower bound of the cycle in which the oldest request may leave; [`NEVER`] if there is none.
    leaves_from: Cycle,
    responses: Responses,
    rejected_since: Option<Cycle>,
    /// Why the last access was rejected, as long as the reason holds.
    blocked: Option<Reject>,
    counters: L1Counters,
}

impl L1 {
    /// An empty cache.
    pub fn new(config: &Config) -> L1 {
        let geometry = LineGeometry::new(config);
        let l1 = &config.core.l1;
        let tags = Tags::new(l1.bytes, l1.line_bytes, l1.ways, l1.replacement);
        let frames = tags.frames();
        let dirty = Dirty::new(l1, frames);
        // An atomic that misses needs places for its read, for its write, and to write the line back.
        let least = if dirty.writes_back() { 3 } else { 2 };
        let outgoing_capacity = (config.interconnect.queue_entries as usize).max(least);
        L1 {
            geometry,
            hit_latency: Cycle::from(l1.hit_latency_cycles),
            valid: vec![0; frames],
            dirty,
            data: vec![0; frames * geometry.line_bytes()],
            tags,
            mshrs: Mshrs::new(l1.mshrs as usize, l1.mshr_merges as usize),
            outgoing: VecDeque::with_capacity(outgoing_capacity),
            outgoing_capacity,
            leaves_from: NEVER,
            responses: Responses::new(l1),
            rejected_since: None,
            blocked: None,
            counters: L1Counters::default(),
        }
    }

    /// Counters of this L1.
    pub fn counters(&self) -> &L1Counters {
        &self.counters
    }

    /// MSHRs in use.
    pub(crate) fn mshrs_in_use(&self) -> usize {
        self.mshrs.in_use()
    }

    /// Takes an access, at most one a cycle. The response to a hit is ready `hit_latency_cycles` later; a
    /// request can leave from the next cycle on. An access gets one response. An atomic that the L1 performs
    /// and writes through gets two: the old words, and `Stored` when its result has reached the L2. A store
    /// that stays in the L1 gets none.
    ///
    /// The values of a hit go to `take` with the owner, as those of a miss do when they
    /// [arrive](Self::accept): the sectors of a load or the old words of an atomic, at their offsets in the
    /// line. Other bytes are meaningless. The owner may use the values from the response on.
    ///
    /// True if the core's open epoch has one more acknowledgement to wait for: `Stored`, the old words of an
    /// atomic that the L2 performs, or `WrittenBack` for a line that was clean.
    ///
    /// # Errors
    /// The reason of a rejection; the access has to be tried again.
    pub fn access(
        &mut self,
        now: Cycle,
        access: &Access,
        take: &mut impl FnMut(u32, &[u8]),
    ) -> Result<bool, Reject> {
        debug_assert!(access.owner < write_back::WRITE_BACK, "the upper bits of a tag are not the owner's");
        let line = self.geometry.number(access.line);
        let result = match access.operation {
            Operation::Load { sectors } if access.hint == CacheHint::Uncached => {
                self.uncached_load(now, access, line, sectors).map(|()| false)
            }
            Operation::Load { sectors } => self.load(now, access, line, sectors, take).map(|()| false),
            Operation::Store { byte_mask, data } => self.store(now, access, line, byte_mask, data),
            Operation::Atomic { op, scope: Scope::Device | Scope::System, byte_mask, data, swap } => {
                self.remote_atomic(now, access, line, op, byte_mask, data, swap).map(|()| true)
            }
            Operation::Atomic { op, byte_mask, data, swap, .. } => {
                let atomic = PendingAtomic { op, byte_mask, data: *data, swap };
                self.local_atomic(now, access, line, &atomic, take)
            }
        };
        self.blocked = result.err();
        match result {
            Ok(_) => {
                if let Some(since) = self.rejected_since.take() {
                    self.counters.reservation_fail_cycles += now - since;
                }
            }
            Err(reason) => {
                if self.rejected_since.is_none() {
                    self.rejected_since = Some(now);
                    self.count_reject(reason);
                }
            }
        }
        result
    }

    /// True if the last access was rejected and would be rejected again. An invalidation or a reply that
    /// brings sectors ends this; a shortage of MSHRs ends only with a reply that frees one. A shortage of
    /// room also ends with a request sent or a hit's response taken. A core that has nothing else to do may
    /// sleep until then.
    #[inline]
    pub fn is_blocked(&self) -> bool {
        self.blocked.is_some()
    }

    fn unblock(&mut self, reason: Reject) {
        if self.blocked == Some(reason) {
            self.blocked = None;
        }
    }

    fn count_reject(&mut self, reason: Reject) {
        let counters = &mut self.counters;
        counters.reservation_fails += 1;
        *match reason {
            Reject::Mshr => &mut counters.fails_mshr,
            Reject::Merge => &mut counters.fails_merge,
            Reject::Outgoing => &mut counters.fails_outgoing,
            Reject::Responses => &mut counters.fails_responses,
            Reject::Order => &mut counters.fails_order,
        } += 1;
    }

    fn load(
        &mut self,
        now: Cycle,
        access: &Access,
        line: LineNumber,
        sectors: u8,
        take: &mut impl FnMut(u32, &[u8]),
    ) -> Result<(), Reject> {
        let frame = self.tags.find(line.0, line);
        let present = frame.map_or(0, |frame| self.valid[frame.index()]);
        let missing = sectors & !present;
        let current = self.mshrs.find(line);
        let behind_atomic = current.is_some_and(|id| self.mshrs[id].atomics > 0);
        if missing == 0 && !behind_atomic {
            if self.responses.room_for_hits() == 0 {
                return Err(Reject::Responses);
            }
            self.responses.push_hit(now + self.hit_latency, access.owner, ResponseKind::Loaded);
            if let Some(frame) = frame {
                let start = frame.index() * self.geometry.line_bytes();
                take(access.owner, &self.data[start..start + self.geometry.line_bytes()]);
                if access.hint != CacheHint::Streaming {
                    self.tags.touch(frame);
                }
            }
            self.counters.hits += 1;
        } else if current.is_none() && !self.mshrs.has_free() {
            // The most frequent rejection, found early.
            return Err(Reject::Mshr);
        } else {
            let waiter = Waiter { owner: access.owner, sectors, hint: access.hint, atomic: None };
            self.wait_for_line(now, access.line, line, (frame, current), waiter, None)?;
        }
        self.counters.loads += 1;
        Ok(())
    }

    /// Makes a load or an atomic wait for its sectors, and requests those that are not on their way yet.
    /// `frame` and `current` are the line's frame and its miss.
    fn wait_for_line(
        &mut self,
        now: Cycle,
        address: u64,
        line: LineNumber,
        (frame, current): (Option<Frame>, Option<MshrId>),
        waiter: Waiter,
        atomic: Option<&PendingAtomic>,
    ) -> Result<(), Reject> {
        // An atomic reserves a place in the queue for its write, so that a reply never waits for room there
        // (M16).
        let places = usize::from(atomic.is_some());
        let valid = frame.map_or(0, |frame| self.valid[frame.index()]);
        let outstanding = match current {
            Some(id) if !self.mshrs[id].current => return Err(Reject::Order),
            Some(id) if !self.mshrs.has_room(id) => return Err(Reject::Merge),
            Some(id) => self.mshrs[id].outstanding | self.mshrs[id].held,
            None if !self.mshrs.has_free() => return Err(Reject::Mshr),
            None => 0,
        };
        let ask = waiter.sectors & !valid & !outstanding;
        let places = places + usize::from(ask != 0);
        if atomic.is_some() {
            // The result is written through, and the line must not keep older dirty bytes.
            self.clean_for(now, line, places)?;
        } else if self.outgoing_room() < places {
            return Err(Reject::Outgoing);
        }
        match (current, ask) {
            (Some(_), 0) => self.counters.mshr_hits += 1,
            (None, _) if valid == 0 => self.counters.misses += 1,
            _ => self.counters.sector_misses += 1,
        }
        let id = match current {
            Some(id) => id,
            None => {
                let Some(id) = self.mshrs.allocate(line, true) else { return Err(Reject::Mshr) };
                self.mshrs[id].present = frame.is_some();
                id
            }
        };
        // Sectors that are valid now are kept for the waiter, even if the line leaves meanwhile (M13).
        if let Some(frame) = frame {
            let start = frame.index() * self.geometry.line_bytes();
            let hold = waiter.sectors & valid & !self.mshrs[id].held;
            self.geometry.copy_sectors(self.mshrs.data_mut(id), &self.data[start..], hold);
            self.mshrs[id].held |= hold;
        }
        if ask != 0 {
            self.mshrs[id].outstanding |= ask;
            // Bytes of these sectors that are dirty now are newer than those that will come.
            if let Some(frame) = frame {
                let start = frame.index() * self.geometry.line_bytes();
                let line_data = &self.data[start..start + self.geometry.line_bytes()];
                self.mshrs.keep(id, line_data, self.dirty.of(frame) & self.geometry.bytes_of(ask));
            }
            self.send(now, Request::read(id.tag(), address, ask, waiter.hint));
        }
        self.mshrs.push(id, waiter, atomic);
        debug_assert!(self.mshrs[id].outstanding != 0, "a miss ends with its last sector");
        Ok(())
    }

    fn uncached_load(
        &mut self,
        now: Cycle,
        access: &Access,
        line: LineNumber,
        sectors: u8,
    ) -> Result<(), Reject> {
        let current = self.check_order(line)?;
        if !self.mshrs.has_free() {
            return Err(Reject::Mshr);
        }
        self.clean_for(now, line, 1)?;
        self.supersede(current, sectors);
        self.drop_sectors(line, sectors);
        let Some(id) = self.mshrs.allocate(line, false) else { return Err(Reject::Mshr) };
        self.mshrs[id].outstanding = sectors;
        self.mshrs.push(id, Waiter { owner: access.owner, sectors, hint: access.hint, atomic: None }, None);
        self.send(now, Request::read(id.tag(), access.line, sectors, access.hint));
        self.counters.loads += 1;
        self.counters.uncached_loads += 1;
        Ok(())
    }

    fn store(
        &mut self,
        now: Cycle,
        access: &Access,
        line: LineNumber,
        byte_mask: u128,
        data: &LineData,
    ) -> Result<bool, Reject> {
        let current = self.check_order(line)?;
        if self.dirty.writes_back() && access.hint != CacheHint::Uncached {
            let was_clean = self.store_back(now, access, line, byte_mask, data).ok_or(Reject::Outgoing)?;
            self.supersede(current, self.geometry.sectors_of(byte_mask));
            self.counters.stores += 1;
            return Ok(was_clean);
        }
        self.clean_for(now, line, 1)?;
        let write = Request::write(access.owner, access.line, byte_mask, data, access.hint, self.geometry);
        self.supersede(current, write.sectors);
        if access.hint == CacheHint::Uncached {
            self.drop_sectors(line, write.sectors);
        } else if let Some(frame) = self.tags.find(line.0, line) {
            self.update(frame, byte_mask, data);
            self.counters.store_hits += 1;
            if access.hint == CacheHint::Cached {
                self.tags.touch(frame);
            }
        }
        self.send(now, write);
        self.counters.stores += 1;
        Ok(true)
    }

    #[allow(clippy::too_many_arguments)]
    fn remote_atomic(
        &mut self,
        now: Cycle,
        access: &Access,
        line: LineNumber,
        op: AtomicOp,
        byte_mask: u128,
        data: &LineData,
        swap: u32,
    ) -> Result<(), Reject> {
        let current = self.check_order(line)?;
        self.clean_for(now, line, 1)?;
        let request = Request::atomic(access.owner, access.line, op, byte_mask, data, swap, self.geometry);
        self.supersede(current, request.sectors);
        self.drop_sectors(line, request.sectors);
        self.send(now, request);
        self.counters.remote_atomics += 1;
        Ok(())
    }

    fn local_atomic(
        &mut self,
        now: Cycle,
        access: &Access,
        line: LineNumber,
        atomic: &PendingAtomic,
        take: &mut impl FnMut(u32, &[u8]),
    ) -> Result<bool, Reject> {
        let sectors = self.geometry.sectors_of(atomic.byte_mask);
        let frame = self.tags.find(line.0, line);
        let current = self.mshrs.find(line);
        let behind_atomic = current.is_some_and(|id| self.mshrs[id].atomics > 0);
        let waits = match frame {
            Some(frame) if sectors & !self.valid[frame.index()] == 0 && !behind_atomic => {
                if !self.dirty.writes_back() && self.outgoing_room() == 0 {
                    return Err(Reject::Outgoing);
                }
                if self.responses.room_for_hits() == 0 {
                    return Err(Reject::Responses);
                }
                self.responses.push_hit(now + self.hit_latency, access.owner, ResponseKind::AtomicOld);
                let start = frame.index() * self.geometry.line_bytes();
                let line_data = &mut self.data[start..start + self.geometry.line_bytes()];
                let mut old = [0; MAX_LINE_BYTES];
                let (mask, swap) = (atomic.byte_mask, atomic.swap);
                let mask = apply_atomic(atomic.op, mask, &atomic.data, swap, line_data, &mut old);
                take(access.owner, &old);
                self.tags.touch(frame);
                self.counters.hits += 1;
                if self.dirty.writes_back() {
                    self.supersede(current, sectors);
                    self.soil(frame, mask, access.epoch)
                } else {
                    let mut result = [0; MAX_LINE_BYTES];
                    copy_bytes(&mut result, line_data, mask);
                    self.supersede(current, sectors);
                    let hint = CacheHint::Cached;
                    let write = Request::write(access.owner, access.line, mask, &result, hint, self.geometry);
                    self.send(now, write);
                    true
                }
            }
            _ => {
                let hint = CacheHint::Cached;
                let waiter = Waiter { owner: access.owner, sectors, hint, atomic: None };
                self.wait_for_line(now, access.line, line, (frame, current), waiter, Some(atomic))?;
                true
            }
        };
        self.counters.atomics += 1;
        Ok(waits)
    }

    /// The line's miss, if there is one. An access that changes a line must not pass an atomic that waits for
    /// it.
    #[inline]
    fn check_order(&self, line: LineNumber) -> Result<Option<MshrId>, Reject> {
        match self.mshrs.find(line) {
            Some(id) if self.mshrs[id].atomics > 0 => Err(Reject::Order),
            current => Ok(current),
        }
    }

    /// Makes the line's current miss stale if it carries any of these sectors: later loads must see newer
    /// values.
    #[inline]
    fn supersede(&mut self, current: Option<MshrId>, sectors: u8) {
        if let Some(id) = current
            && (self.mshrs[id].outstanding | self.mshrs[id].held) & sectors != 0
        {
            self.mshrs.retire(id);
        }
    }

    fn drop_sectors(&mut self, line: LineNumber, sectors: u8) {
        if let Some(frame) = self.tags.find(line.0, line) {
            self.valid[frame.index()] &= !sectors;
        }
    }

    /// Writes bytes into the valid sectors of a line.
    fn update(&mut self, frame: Frame, byte_mask: u128, data: &LineData) {
        // Bytes in sectors that are not valid do not matter, so they are not masked out.
        let start = frame.index() * self.geometry.line_bytes();
        copy_bytes(&mut self.data[start..start + self.geometry.line_bytes()], data, byte_mask);
    }

    /// Takes the response of this cycle, if there is one: the one that has been ready for longest, a reply's
    /// before a hit's (M12).
    #[inline]
    pub(crate) fn take_response(&mut self, now: Cycle) -> Option<Response> {
        let (response, of_hit) = self.responses.take(now)?;
        if of_hit {
            self.unblock(Reject::Responses);
        }
        Some(response)
    }

    /// An acquire of device scope: drops everything that the L2 has too (M18). Outstanding misses serve the
    /// accesses that wait for them and install nothing.
    pub fn invalidate(&mut self) {
        self.counters.invalidated_lines += u64::from(self.drop_clean());
        self.mshrs.retire_all();
        self.blocked = None;
        self.counters.invalidations += 1;
    }

    /// First cycle from `now` on in which a response can be taken, a request can leave or a line is written
    /// back; [`NEVER`] if that takes a reply or a credit. `closing` as for [`tick`](Self::tick).
    pub(crate) fn next_event(&self, now: Cycle, port: &MemoryPort, closing: u8) -> Cycle {
        if closing != 0 && self.outgoing_room() > 0 && self.to_write_back(closing).is_some() {
            return now;
        }
        let response = self.responses.next().max(now);
        if self.leaves_from == NEVER {
            return response;
        }
        response.min(port.next_ready(now.max(self.leaves_from)).unwrap_or(NEVER))
    }

    /// True if every byte that is valid or dirty is the one that `line` gives of the line at an address.
    pub fn agrees_with(&self, line: impl Fn(u64) -> LineData) -> bool {
        let bytes = self.geometry.line_bytes();
        self.data.chunks_exact(bytes).zip(&self.valid).enumerate().all(|(frame, (data, &valid))| {
            let frame = Frame(frame as u32);
            let Some(number) = self.tags.line(frame) else { return true };
            let mask = self.geometry.bytes_of(valid) | self.dirty.of(frame);
            let theirs = line(self.geometry.address(number));
            (0..bytes).all(|at| mask >> at & 1 == 0 || data[at] == theirs[at])
        })
    }

    /// Why it did not take the last access, as long as the reason holds.
    pub fn rejects(&self) -> Option<Reject> {
        self.blocked
    }

    /// Byte addresses of the lines that it has requested and for which an access of such an owner waits.
    pub fn missing_lines(&self, is_owner: impl Fn(u32) -> bool) -> Vec<u64> {
        let lines = self.mshrs.lines_of(|waiter| is_owner(waiter.owner));
        lines.into_iter().map(|line| self.geometry.address(line)).collect()
    }

    /// Its lines, in the order of frames.
    pub fn lines(&self) -> Vec<CacheLine> {
        let bytes = self.geometry.line_bytes();
        let line = |(frame, data): (usize, &[u8])| {
            let place = Frame(frame as u32);
            let address = self.geometry.address(self.tags.line(place)?);
            let mut line = CacheLine {
                address,
                valid: self.valid[frame],
                dirty: self.dirty.of(place),
                data: [0; MAX_LINE_BYTES],
            };
            line.data[..bytes].copy_from_slice(data);
            Some(line)
        };
        self.data.chunks_exact(bytes).enumerate().filter_map(line).collect()
    }

    /// Copies the bytes that the L2 does not have to their places in device memory.
    pub(crate) fn copy_dirty_to(&self, memory: &mut [u8]) {
        let bytes = self.geometry.line_bytes();
        for (frame, data) in self.data.chunks_exact(bytes).enumerate() {
            let frame = Frame(frame as u32);
            if let Some(line) = self.tags.line(frame).filter(|_| self.dirty.of(frame) != 0) {
                copy_bytes(&mut memory[self.geometry.address(line) as usize..], data, self.dirty.of(frame));
            }
        }
    }

    /// True if nothing waits, is outstanding or is about to leave. Writes that the L2 has not acknowledged do
    /// not count; their owners keep track of them.
    pub fn is_idle(&self) -> bool {
        self.outgoing.is_empty() && self.responses.is_empty() && self.mshrs.is_idle()
    }
}
