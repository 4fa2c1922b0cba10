//! Dirty lines of an L1 that writes back.
//!
//! A store stays in its line; each byte knows whether the L2 has it. Lines are therefore allocated without a fetch, and
//! cores that write different bytes of a line do not disturb each other. A line becomes dirty in the epoch of its core's
//! stores that is open then (see [`crate::core::release`]), and the write that brings its bytes to the L2 belongs to
//! that epoch, whenever and whyever it leaves. While an epoch is being closed, its lines are written back one a cycle.

use super::{Access, L1, Reject, Request};
use crate::clock::Cycle;
use crate::config::{L1 as Parameters, WritePolicy};
use crate::isa::table::CacheHint;
use crate::memory::agenda::BitSet;
use crate::memory::geometry::{LineNumber, copy_bytes};
use crate::memory::message::{LineData, MAX_LINE_BYTES};
use crate::memory::tags::Frame;

/// Bit of a request's tag: a line that is written back, with its epoch in bit 0.
pub(super) const WRITE_BACK: u32 = 1 << 30;

/// What the L2 does not have yet.
#[derive(Debug, Clone)]
pub(super) struct Dirty {
    /// Of each frame; nothing in an L1 that writes through.
    bytes: Vec<u128>,
    /// Frames with dirty bytes, by the epoch in which they became dirty.
    frames: [BitSet; 2],
    lines: u32,
}

impl Dirty {
    pub(super) fn new(l1: &Parameters, frames: usize) -> Dirty {
        let frames = if l1.write_policy == WritePolicy::WriteBack { frames } else { 0 };
        Dirty { bytes: vec![0; frames], frames: [BitSet::new(frames), BitSet::new(frames)], lines: 0 }
    }

    /// True if stores stay in the L1.
    #[inline]
    pub(super) fn writes_back(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Dirty bytes of a frame.
    #[inline]
    pub(super) fn of(&self, frame: Frame) -> u128 {
        if self.writes_back() { self.bytes[frame.index()] } else { 0 }
    }

    /// Bytes of a frame become dirty. True if it had none.
    fn add(&mut self, frame: Frame, bytes: u128, epoch: u8) -> bool {
        let was_clean = self.bytes[frame.index()] == 0 && bytes != 0;
        self.bytes[frame.index()] |= bytes;
        if was_clean {
            self.frames[usize::from(epoch)].insert(frame.index());
            self.lines += 1;
        }
        was_clean
    }

    /// A frame becomes clean: what was dirty of it, and its epoch.
    fn take(&mut self, frame: Frame) -> (u128, u8) {
        let epoch = u8::from(self.frames[1].contains(frame.index()));
        self.frames[usize::from(epoch)].remove(frame.index());
        self.lines -= 1;
        (std::mem::take(&mut self.bytes[frame.index()]), epoch)
    }

    /// The lowest frame of an epoch.
    #[inline]
    fn first(&self, epoch: u8) -> Option<Frame> {
        self.frames[usize::from(epoch)].next_from(0).map(|i| Frame(i as u32))
    }
}

impl L1 {
    /// Lines that the L2 does not have as they are here.
    #[inline]
    pub fn dirty_lines(&self) -> u32 {
        self.dirty.lines
    }

    /// Makes sure of so many places for requests, after having written the line back if it is dirty.
    pub(super) fn clean_for(&mut self, now: Cycle, line: LineNumber, places: usize) -> Result<(), Reject> {
        let present = if self.dirty.writes_back() { self.tags.find(line.0, line) } else { None };
        let dirty = present.filter(|&frame| self.dirty.of(frame) != 0);
        if self.outgoing_room() < places + usize::from(dirty.is_some()) {
            return Err(Reject::Outgoing);
        }
        if let Some(frame) = dirty {
            self.write_back(now, frame);
        }
        Ok(())
    }

    /// A frame for a line that is not there, clean and without valid sectors. The one that is next to leave, unless it
    /// has to be written back and there is no place for that: none if that is so for all.
    pub(super) fn make_room(&mut self, now: Cycle, line: LineNumber) -> Option<Frame> {
        let dirty = &self.dirty;
        let frame = if !dirty.writes_back() || self.outgoing_room() > 0 {
            self.tags.victim(line.0, |_| true)?
        } else {
            self.tags.victim(line.0, |frame| dirty.of(frame) == 0)?
        };
        if self.tags.line(frame).is_some() {
            self.counters.evictions += 1;
            self.write_back(now, frame);
        }
        self.counters.installed_lines += 1;
        self.tags.install(frame, line);
        self.valid[frame.index()] = 0;
        Some(frame)
    }

    /// Sends the dirty bytes of a frame, if there are any; there is a place for them.
    fn write_back(&mut self, now: Cycle, frame: Frame) {
        if self.dirty.of(frame) == 0 {
            return;
        }
        let Some(line) = self.tags.line(frame) else { return };
        let (bytes, epoch) = self.dirty.take(frame);
        let mut data = [0; MAX_LINE_BYTES];
        let start = frame.index() * self.geometry.line_bytes();
        copy_bytes(&mut data, &self.data[start..start + self.geometry.line_bytes()], bytes);
        let (tag, address) = (WRITE_BACK | u32::from(epoch), self.geometry.address(line));
        self.send(now, Request::write(tag, address, bytes, &data, CacheHint::Cached, self.geometry));
        self.counters.write_backs += 1;
    }

    /// A store that stays here. `None` if there is no frame for its line; else whether the line was clean.
    pub(super) fn store_back(
        &mut self,
        now: Cycle,
        access: &Access,
        line: LineNumber,
        byte_mask: u128,
        data: &LineData,
    ) -> Option<bool> {
        let present = self.tags.find(line.0, line);
        let frame = match present {
            Some(frame) => frame,
            None => self.make_room(now, line)?,
        };
        self.counters.store_hits += u64::from(present.is_some());
        if access.hint == CacheHint::Cached {
            self.tags.touch(frame);
        } else if present.is_none() {
            self.tags.demote(frame);
        }
        self.update(frame, byte_mask, data);
        Some(self.soil(frame, byte_mask, access.epoch))
    }

    /// Bytes of a frame are newer than the L2's. True if it was clean.
    pub(super) fn soil(&mut self, frame: Frame, bytes: u128, epoch: u8) -> bool {
        let was_clean = self.dirty.add(frame, bytes, epoch);
        // A sector that has been written completely is known.
        self.valid[frame.index()] |= self.geometry.full_sectors_of(self.dirty.of(frame));
        was_clean
    }

    /// Writes a line of the epochs of `closing` (bit 0 and 1) back, if there is one and a place for it.
    pub(super) fn tick_write_back(&mut self, now: Cycle, closing: u8) -> bool {
        if closing == 0 || !self.dirty.writes_back() || self.outgoing_room() == 0 {
            return false;
        }
        let frame = self.to_write_back(closing);
        if let Some(frame) = frame {
            self.write_back(now, frame);
        }
        frame.is_some()
    }

    /// The line that is written back next while these epochs are being closed.
    pub(super) fn to_write_back(&self, closing: u8) -> Option<Frame> {
        let first = |epoch: u8| if closing >> epoch & 1 == 1 { self.dirty.first(epoch) } else { None };
        first(0).or_else(|| first(1))
    }

    /// Drops what another core may have changed: everything but the dirty bytes. Returns how many lines had some of it.
    pub(super) fn drop_clean(&mut self) -> u32 {
        if !self.dirty.writes_back() {
            self.valid.fill(0);
            return self.tags.clear();
        }
        let mut dropped = 0;
        for frame in (0..self.tags.frames() as u32).map(Frame) {
            let known = self.geometry.full_sectors_of(self.dirty.of(frame));
            dropped += u32::from(self.valid[frame.index()] & !known != 0);
            self.valid[frame.index()] = known;
            if self.dirty.of(frame) == 0 {
                self.tags.remove(frame);
            }
        }
        dropped
    }
}
