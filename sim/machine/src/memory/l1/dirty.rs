//! Dirty bytes of an L1 that writes back (M15a).
//!
//! Each byte records whether the L2 has it. So lines are allocated without a fetch, and cores that write different
//! bytes of a line do not disturb each other. A line that becomes dirty joins the open epoch of its core's stores (see
//! [`crate::core::release`]).

use crate::memory::agenda::BitSet;
use crate::memory::tags::Frame;
use wave_capture::{Capture, Misfit};

/// Bytes that the L2 does not have yet.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(super) struct Dirty {
    /// Per frame; empty in an L1 that writes through.
    #[fixed]
    bytes: Vec<u128>,
    /// Frames with dirty bytes, by the epoch in which they became dirty.
    frames: [BitSet; 2],
    lines: u32,
}

impl Dirty {
    /// Nothing is dirty. An L1 whose lines never have dirty bytes has no `frames` here.
    pub(super) fn new(frames: usize) -> Dirty {
        Dirty { bytes: vec![0; frames], frames: [BitSet::new(frames), BitSet::new(frames)], lines: 0 }
    }

    fn sound(&self) -> Result<(), Misfit> {
        let [first, second] = &self.frames;
        first.check_below(self.bytes.len(), "frames")?;
        second.check_below(self.bytes.len(), "frames")?;
        let mut frames = self.bytes.iter().enumerate();
        let listed = frames.all(|(frame, &bytes)| {
            let [first, second] = [first, second].map(|frames| frames.contains(frame));
            (bytes != 0) == (first ^ second) && !(first && second)
        });
        Misfit::agrees(listed && first.count() + second.count() == self.lines, "frames")
    }

    /// Frames with dirty bytes, by epoch.
    pub(super) fn of_epochs(&self) -> [u32; 2] {
        [self.frames[0].count(), self.frames[1].count()]
    }

    /// True if lines may have dirty bytes.
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
    pub(super) fn add(&mut self, frame: Frame, bytes: u128, epoch: u8) -> bool {
        let was_clean = self.bytes[frame.index()] == 0 && bytes != 0;
        self.bytes[frame.index()] |= bytes;
        if was_clean {
            self.frames[usize::from(epoch)].insert(frame.index());
            self.lines += 1;
        }
        was_clean
    }

    /// Marks a frame as clean. Returns its dirty bytes and its epoch.
    pub(super) fn take(&mut self, frame: Frame) -> (u128, u8) {
        let epoch = u8::from(self.frames[1].contains(frame.index()));
        self.frames[usize::from(epoch)].remove(frame.index());
        self.lines -= 1;
        (std::mem::take(&mut self.bytes[frame.index()]), epoch)
    }

    /// The lowest dirty frame of an epoch.
    #[inline]
    pub(super) fn first(&self, epoch: u8) -> Option<Frame> {
        self.frames[usize::from(epoch)].next_from(0).map(|i| Frame(i as u32))
    }
    /// Frames with dirty bytes.
    #[inline]
    pub(super) fn lines(&self) -> u32 {
        self.lines
    }
}
