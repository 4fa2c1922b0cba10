//! A release at system scope, as far as a slice is concerned: everything that is dirty in it reaches memory.
//!
//! The slice walks over its frames and sends the dirty bytes of one line a cycle to the channel, before an access of the
//! cycle may use the place there. What it had sent earlier counts too, so the release is over when every write that was
//! on the way to memory at the end of the walk is performed; later ones, of lines that leave, belong to another epoch.
//! Cores that ask during a release wait for the next, which serves them all.

use super::super::message::ReplyKind;
use super::{Frame, Image, Slice};
use crate::clock::Cycle;
use std::collections::VecDeque;

/// How far a release is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Frames before this one have been looked at.
    Walking(u32),
    /// Until the writes of the epoch that is closed are performed.
    Draining,
}

/// The release that goes on in a slice, and who waits for it and for the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Releases {
    stage: Option<Stage>,
    /// Cores that the present one is for.
    present: VecDeque<u16>,
    /// Cores that the next one is for.
    next: VecDeque<u16>,
    /// Cores that are to be told that theirs is over.
    over: VecDeque<u16>,
}

impl Releases {
    /// A core asks for a release.
    pub(super) fn wait(&mut self, core: u16) {
        self.next.push_back(core);
    }

    /// True if one is looking for what is dirty.
    #[inline]
    pub(super) fn walks(&self) -> bool {
        matches!(self.stage, Some(Stage::Walking(_)))
    }

    /// True if one is to begin in the next cycle.
    pub(super) fn is_due(&self) -> bool {
        self.stage.is_none() && !self.next.is_empty()
    }
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

    fn performed(&mut self, epoch: u8) {
        self.pending[usize::from(epoch)] -= 1;
    }
}

impl Slice {
    /// Begins a release that no core has asked for; there is none already.
    pub(in crate::memory) fn begin_release(&mut self) {
        debug_assert!(self.is_released());
        self.releases.stage = Some(Stage::Walking(0));
    }

    /// True if no release is going on or asked for.
    pub(in crate::memory) fn is_released(&self) -> bool {
        self.releases.stage.is_none() && self.releases.next.is_empty()
    }

    /// A write of this epoch is performed in cycle `at`; calls come in the order of that.
    pub(in crate::memory) fn expect_written(&mut self, at: Cycle, epoch: u8) {
        debug_assert!(self.written.back().is_none_or(|&(last, _)| last <= at));
        self.written.push_back((at, epoch));
    }

    /// The release's part of a cycle. True if it has something to do in the next one.
    pub(super) fn tick_release(&mut self, now: Cycle, image: &mut Image) -> bool {
        while let Some(&(at, epoch)) = self.written.front()
            && at <= now
        {
            self.written.pop_front();
            self.writes.performed(epoch);
        }
        if self.replies.has_room()
            && let Some(core) = self.releases.over.pop_front()
        {
            let reply = self.replies.push(now + self.hit_latency, core);
            (reply.tag, reply.kind, reply.line, reply.sectors) = (0, ReplyKind::Released, 0, 0);
        }
        if self.releases.is_due() {
            self.releases.present = std::mem::take(&mut self.releases.next);
            self.releases.stage = Some(Stage::Walking(0));
        }
        let mut walks_on = false;
        if let Some(Stage::Walking(from)) = self.releases.stage
            && self.room_to_memory() > 0
        {
            self.releases.stage =
                Some(match self.dirty[from as usize..].iter().position(|&dirty| dirty != 0) {
                    Some(ahead) => {
                        let frame = Frame(from + ahead as u32);
                        self.counters.released_sectors +=
                            u64::from(self.write_back(frame, image).count_ones());
                        walks_on = true;
                        Stage::Walking(frame.0 + 1)
                    }
                    None => {
                        self.writes.open = 1 - self.writes.open;
                        Stage::Draining
                    }
                });
        }
        let closed = usize::from(1 - self.writes.open);
        if self.releases.stage == Some(Stage::Draining) && self.writes.pending[closed] == 0 {
            self.releases.stage = None;
            self.releases.over.append(&mut self.releases.present);
        }
        walks_on || !self.releases.over.is_empty()
    }
}
