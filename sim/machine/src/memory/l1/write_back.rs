//! Dirty lines of an L1 that writes back (M15a).
//!
//! A store stays in its line, and each byte records whether the L2 has it. So lines are allocated without a
//! fetch, and cores that write different bytes of a line do not disturb each other. A line that becomes dirty
//! joins the open epoch of its core's stores (see [`crate::core::release`]). The write that takes its bytes
//! to the L2 belongs to that epoch, whatever causes it. While an epoch is being closed, its lines are written
//! back, one a cycle.

use super::{Access, L1, Reject, Request};
use crate::clock::Cycle;
use crate::config::{L1 as Parameters, WritePolicy};
use crate::memory::agenda::BitSet;
use crate::memory::geometry::{LineNumber, copy_bytes};
use crate::memory::message::{LineData, MAX_LINE_BYTES};
use crate::memory::tags::Frame;
use wave_capture::Capture;
use wave_isa::table::CacheHint;

/// Tag bit of the write-back of a line; bit 0 is its epoch.
pub(super) const WRITE_BACK: u32 = 1 << 30;

/// Bytes that the L2 does not have yet.
#[derive(Debug, Clone, Capture)]
pub(super) struct Dirty {
    /// Per frame; empty in an L1 that writes through.
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

    /// Marks bytes of a frame as dirty. True if it was clean.
    fn add(&mut self, frame: Frame, bytes: u128, epoch: u8) -> bool {
        let was_clean = self.bytes[frame.index()] == 0 && bytes != 0;
        self.bytes[frame.index()] |= bytes;
        if was_clean {
            self.frames[usize::from(epoch)].insert(frame.index());
            self.lines += 1;
        }
        was_clean
    }

    /// Marks a frame as clean. Returns its dirty bytes and its epoch.
    fn take(&mut self, frame: Frame) -> (u128, u8) {
        let epoch = u8::from(self.frames[1].contains(frame.index()));
        self.frames[usize::from(epoch)].remove(frame.index());
        self.lines -= 1;
        (std::mem::take(&mut self.bytes[frame.index()]), epoch)
    }

    /// The lowest dirty frame of an epoch.
    #[inline]
    fn first(&self, epoch: u8) -> Option<Frame> {
        self.frames[usize::from(epoch)].next_from(0).map(|i| Frame(i as u32))
    }
}

impl L1 {
    /// Lines with bytes that the L2 does not have.
    #[inline]
    pub(crate) fn dirty_lines(&self) -> u32 {
        self.dirty.lines
    }

    /// Writes a line back if it is dirty, and makes sure that `places` requests fit into the queue after
    /// that.
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

    /// A clean frame without valid sectors for a line that is not in the cache. It is the next victim, unless
    /// that is dirty and the queue has no room for its write: then the next clean victim. `None` if there is
    /// none.
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

    /// Sends the dirty bytes of a frame if there are any. The queue must have room.
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

    /// A store that stays in the L1. `None` if there is no frame for its line, else whether the line was
    /// clean.
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

    /// Marks bytes of a frame as newer than the L2's. True if it was clean.
    pub(super) fn soil(&mut self, frame: Frame, bytes: u128, epoch: u8) -> bool {
        let was_clean = self.dirty.add(frame, bytes, epoch);
        // A sector that has been written completely is valid.
        self.valid[frame.index()] |= self.geometry.full_sectors_of(self.dirty.of(frame));
        was_clean
    }

    /// Writes back a line of the epochs in `closing` (bits 0 and 1), if there is one and the queue has room.
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

    /// The next line to write back while these epochs are being closed.
    pub(super) fn to_write_back(&self, closing: u8) -> Option<Frame> {
        let first = |epoch: u8| if closing >> epoch & 1 == 1 { self.dirty.first(epoch) } else { None };
        first(0).or_else(|| first(1))
    }

    /// Drops what another core may have changed: everything but the dirty bytes. Returns the number of lines
    /// that lost something.
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
