//! A release at system scope, as far as a slice is concerned: everything that is dirty in it reaches memory.
//!
//! The slice walks over its frames and sends the dirty bytes of one line a cycle to the channel, before an access of the
//! cycle may use the place there. What it had sent earlier counts too, so the release is over when every write that was
//! on the way to memory at the end of the walk is performed; later ones, of lines that leave, belong to another epoch.

use super::{Frame, Image, Slice};
use crate::clock::Cycle;

/// How far a release is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Release {
    /// Frames before this one have been looked at.
    Walking(u32),
    /// Until the writes of the epoch that is closed are performed.
    Draining,
}

/// Writes on the way to memory, in two epochs; see [`crate::core::release`] for the same of a core's stores.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Writes {
    pending: [u32; 2],
    open: u8,
}

impl Writes {
    /// Counts a write, and says to which epoch it belongs.
    pub(super) fn send(&mut self) -> u8 {
        self.pending[usize::from(self.open)] += 1;
        self.open
    }

    pub(super) fn performed(&mut self, epoch: u8) {
        self.pending[usize::from(epoch)] -= 1;
    }
}

impl Slice {
    /// Begins a release; there is none already.
    pub(in crate::memory) fn begin_release(&mut self) {
        debug_assert!(self.release.is_none());
        self.release = Some(Release::Walking(0));
    }

    /// True if no release is going on.
    pub(in crate::memory) fn is_released(&self) -> bool {
        self.release.is_none()
    }

    /// A write of this epoch is performed in cycle `at`; calls come in the order of that.
    pub(in crate::memory) fn expect_written(&mut self, at: Cycle, epoch: u8) {
        debug_assert!(self.written.back().is_none_or(|&(last, _)| last <= at));
        self.written.push_back((at, epoch));
    }

    /// The release's part of a cycle. True if it has something to do in the next one without being called.
    pub(super) fn tick_release(&mut self, now: Cycle, image: &mut Image) -> bool {
        while let Some(&(at, epoch)) = self.written.front()
            && at <= now
        {
            self.written.pop_front();
            self.writes.performed(epoch);
        }
        if let Some(Release::Walking(from)) = self.release
            && self.room_to_memory() > 0
        {
            let dirty = self.dirty[from as usize..].iter().position(|&dirty| dirty != 0);
            let Some(ahead) = dirty else {
                self.writes.open = 1 - self.writes.open;
                self.release = Some(Release::Draining);
                return self.end_release();
            };
            let frame = Frame(from + ahead as u32);
            self.counters.released_sectors += u64::from(self.write_back(frame, image).count_ones());
            self.release = Some(Release::Walking(frame.0 + 1));
            return true;
        }
        self.end_release()
    }

    /// Ends a release that waits for nothing any more. Never has more to do.
    fn end_release(&mut self) -> bool {
        let closed = usize::from(1 - self.writes.open);
        if self.release == Some(Release::Draining) && self.writes.pending[closed] == 0 {
            self.release = None;
        }
        false
    }
}
