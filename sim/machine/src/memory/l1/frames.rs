//! The frames of an L1: how lines come into them, are written, and leave.

use super::plan::Leaves;
use super::{L1, L1Event, L1EventKind, Reference, ReferenceKind, Request};
use crate::clock::Cycle;
use crate::memory::geometry::{LineNumber, copy_bytes};
use crate::memory::message::{LineData, MAX_LINE_BYTES};
use crate::memory::tags::{CacheLine, Frame};
use std::ops::Range;
use wave_isa::table::CacheHint;

/// Tag bit of the write-back of a line; bit 0 is its epoch.
pub(super) const WRITE_BACK: u32 = 1 << 30;

impl L1 {
    /// Where the bytes of a frame are.
    #[inline]
    pub(super) fn place(&self, frame: Frame) -> Range<usize> {
        let start = frame.index() * self.spec.geometry.line_bytes();
        start..start + self.spec.geometry.line_bytes()
    }

    /// The frame for a line that is not in the cache: that of the next victim among the lines that may leave. `None` if
    /// there is none.
    pub(super) fn victim(&self, line: LineNumber, leaves: Leaves) -> Option<Frame> {
        match leaves {
            Leaves::Any => self.tags.victim(line.0, |_| true),
            Leaves::Clean => self.tags.victim(line.0, |frame| self.dirty.of(frame) == 0),
        }
    }

    /// Puts a line into its [`victim`](Self::victim), which is then a clean frame without valid sectors.
    pub(super) fn replace(&mut self, now: Cycle, frame: Frame, line: LineNumber, by: &Reference) {
        if let Some(left) = self.tags.line(frame) {
            self.counters.evictions += 1;
            self.tell_eviction(now, frame, self.spec.geometry.address(left), by);
            self.write_back(now, frame);
        }
        self.counters.installed_lines += 1;
        self.tags.install(frame, line, || *by);
        if let Some(path) = &mut self.path {
            path.installed(now, by.line);
        }
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.installed(frame, by.kind == ReferenceKind::Prefetch);
        }
        self.valid[frame.index()] = 0;
    }

    /// Tells plug-ins that the line at an address leaves a frame.
    fn tell_eviction(&mut self, now: Cycle, frame: Frame, line: u64, by: &Reference) {
        if let Some(path) = &mut self.path {
            let place = frame.index() * self.spec.geometry.line_bytes();
            let data = &self.data[place..][..self.spec.geometry.line_bytes()];
            path.evicted(now, line, self.valid[frame.index()], data);
        }
        if let Some(prefetching) = &mut self.prefetching {
            self.counters.prefetch_unused += u64::from(prefetching.left(frame, line));
        }
        if let Some(events) = &mut self.events {
            events.push(L1Event { now, reference: Reference { line, ..*by }, kind: L1EventKind::Evicted });
        }
    }

    /// Sends the dirty bytes of a frame if there are any. The queue must have room.
    ///
    /// The write belongs to the epoch in which the line became dirty, whatever causes it.
    pub(super) fn write_back(&mut self, now: Cycle, frame: Frame) {
        if self.dirty.of(frame) == 0 {
            return;
        }
        let Some(line) = self.tags.line(frame) else { return };
        let (bytes, epoch) = self.dirty.take(frame);
        let mut data = [0; MAX_LINE_BYTES];
        copy_bytes(&mut data, &self.data[self.place(frame)], bytes);
        let (tag, address) = (WRITE_BACK | u32::from(epoch), self.spec.geometry.address(line));
        let values = self.values(bytes, &data, 0);
        self.send(now, Request::write(tag, address, values, CacheHint::Cached, self.spec.geometry));
        self.counters.write_backs += 1;
    }

    /// Writes back a line of the epochs in `closing` (bits 0 and 1), if there is one and the queue has room. While an
    /// epoch is being closed, its lines are written back, one a cycle.
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

    /// Writes bytes into the valid sectors of a line.
    pub(super) fn update(&mut self, frame: Frame, byte_mask: u128, data: &LineData) {
        // Bytes in sectors that are not valid do not matter, so they are not masked out.
        let place = self.place(frame);
        copy_bytes(&mut self.data[place], data, byte_mask);
    }

    /// Marks bytes of a frame as newer than the L2's. True if it was clean.
    pub(super) fn soil(&mut self, frame: Frame, bytes: u128, epoch: u8) -> bool {
        let was_clean = self.dirty.add(frame, bytes, epoch);
        // A sector that has been written completely is valid.
        self.valid[frame.index()] |= self.spec.geometry.full_sectors_of(self.dirty.of(frame));
        was_clean
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
            let known = self.spec.geometry.full_sectors_of(self.dirty.of(frame));
            dropped += u32::from(self.valid[frame.index()] & !known != 0);
            self.valid[frame.index()] = known;
            if self.dirty.of(frame) == 0 {
                self.tags.remove(frame);
            }
        }
        dropped
    }

    /// Lines with bytes that the L2 does not have.
    #[inline]
    pub(crate) fn dirty_lines(&self) -> u32 {
        self.dirty.lines()
    }

    /// Gives the bytes of its lines the values that `line` has of the line at an address.
    pub(crate) fn refresh(&mut self, line: impl Fn(u64) -> LineData) {
        if let Some(path) = &mut self.path {
            path.invalidate();
        }
        for frame in (0..self.tags.frames() as u32).map(Frame) {
            if let Some(number) = self.tags.line(frame) {
                let place = self.place(frame);
                let bytes = place.len();
                self.data[place].copy_from_slice(&line(self.spec.geometry.address(number))[..bytes]);
            }
        }
    }

    /// True if every byte that is valid or dirty is the one that `line` gives of the line at an address.
    pub fn agrees_with(&self, line: impl Fn(u64) -> LineData) -> bool {
        let geometry = self.spec.geometry;
        let bytes = geometry.line_bytes();
        // What a block on the path holds is not known.
        self.path.is_none()
            && self.data.chunks_exact(bytes).zip(&self.valid).enumerate().all(|(frame, (data, &valid))| {
                let frame = Frame(frame as u32);
                let Some(number) = self.tags.line(frame) else { return true };
                let mask = geometry.bytes_of(valid) | self.dirty.of(frame);
                let theirs = line(geometry.address(number));
                (0..bytes).all(|at| mask >> at & 1 == 0 || data[at] == theirs[at])
            })
    }

    /// Its lines, in the order of frames.
    pub fn lines(&self) -> Vec<CacheLine> {
        let line = |frame: u32| {
            let frame = Frame(frame);
            let address = self.spec.geometry.address(self.tags.line(frame)?);
            let (valid, dirty) = (self.valid[frame.index()], self.dirty.of(frame));
            let mut line = CacheLine { address, valid, dirty, data: [0; MAX_LINE_BYTES] };
            let data = &self.data[self.place(frame)];
            line.data[..data.len()].copy_from_slice(data);
            Some(line)
        };
        (0..self.tags.frames() as u32).filter_map(line).collect()
    }

    /// Copies the bytes that the L2 does not have to their places in device memory.
    pub(crate) fn copy_dirty_to(&self, memory: &mut [u8]) {
        for frame in (0..self.tags.frames() as u32).map(Frame) {
            if let Some(line) = self.tags.line(frame).filter(|_| self.dirty.of(frame) != 0) {
                let address = self.spec.geometry.address(line) as usize;
                copy_bytes(&mut memory[address..], &self.data[self.place(frame)], self.dirty.of(frame));
            }
        }
    }
}
