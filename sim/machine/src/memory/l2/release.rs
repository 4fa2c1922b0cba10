//! Release of a slice: all its dirty bytes go to memory (M30, M31).
//!
//! The slice walks over its frames and sends the dirty bytes of one line a cycle to the channel, before an
//! access of the cycle may use the room there. Writes sent earlier count too: the release ends when every
//! write on its way at the end of the walk is performed. Later writes, of lines that are evicted, belong to
//! the other epoch. Cores that ask during a release wait for the next one, which serves them all.

use super::super::message::ReplyKind;
use super::{Agenda, Frame, Image, Reply, Slice};
use crate::clock::{Cycle, NEVER};
use std::collections::VecDeque;
use wave_capture::{Capture, Misfit};

/// Progress of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
enum Stage {
    /// Frames before this one are done.
    Walking(u32),
    /// Waits until the writes of the closed epoch are performed.
    Draining,
}

/// The running release of a slice, and the cores that wait for it and for the next.
#[derive(Debug, Clone, Default, Capture)]
pub(super) struct Releases {
    stage: Option<Stage>,
    /// Cores that the running release serves.
    present: VecDeque<u16>,
    /// Cores that the next release will serve.
    next: VecDeque<u16>,
    /// Cores still to be told that their release is over.
    over: VecDeque<u16>,
}

impl Releases {
    /// Refuses a release that walks past the last of the frames, or that cores wait for which the machine lacks.
    pub(super) fn check(&self, frames: usize, cores: usize) -> Result<(), Misfit> {
        let walks = !matches!(self.stage, Some(Stage::Walking(from)) if from as usize > frames);
        let mut waiting = self.present.iter().chain(&self.next).chain(&self.over);
        Misfit::in_range(walks && waiting.all(|&core| usize::from(core) < cores), "releases")
    }

    /// The cores that have asked and have no answer yet, each as often.
    pub(super) fn asking(&self) -> impl Iterator<Item = u16> {
        self.present.iter().chain(&self.next).chain(&self.over).copied()
    }

    /// A core asks for a release.
    pub(super) fn wait(&mut self, core: u16) {
        self.next.push_back(core);
    }

    /// True if a release is walking over the frames.
    #[inline]
    pub(super) fn walks(&self) -> bool {
        matches!(self.stage, Some(Stage::Walking(_)))
    }

    /// True if a release waits for writes.
    pub(super) fn drains(&self) -> bool {
        self.stage == Some(Stage::Draining)
    }

    /// True if a release begins in the next cycle.
    pub(super) fn is_due(&self) -> bool {
        self.stage.is_none() && !self.next.is_empty()
    }

    /// True if no release runs or is asked for, and all cores know of those that are over.
    #[inline]
    fn is_idle(&self) -> bool {
        self.stage.is_none() && self.next.is_empty() && self.over.is_empty()
    }
}

/// Writes on their way to memory, in two epochs, like the stores of a core in [`crate::core::release`].
#[derive(Debug, Clone, Copy, Default, Capture)]
pub(super) struct Writes {
    pending: [u32; 2],
    open: u8,
}

impl Writes {
    /// Refuses counts that are not those of the writes on their way, by epoch.
    pub(super) fn check(&self, on_the_way: [u32; 2]) -> Result<(), Misfit> {
        Misfit::agrees(self.open <= 1 && self.pending == on_the_way, "writes")
    }

    /// Counts a write and returns its epoch.
    pub(super) fn send(&mut self) -> u8 {
        self.pending[usize::from(self.open)] += 1;
        self.open
    }

    fn performed(&mut self, epoch: u8) {
        self.pending[usize::from(epoch)] -= 1;
    }
}

impl Slice {
    /// Copies the dirty bytes to the image. They stay dirty.
    pub(in crate::memory) fn copy_dirty_to(&self, image: &mut Image) {
        for (place, line, dirty) in self.dirty_lines() {
            image.write(line, &self.data[place], dirty);
        }
    }

    /// Begins a release that no core has asked for. None may be running.
    pub(in crate::memory) fn begin_release(&mut self, agenda: &mut Agenda) {
        debug_assert!(self.is_released());
        self.releases.stage = Some(Stage::Walking(0));
        agenda.soon(self.block);
    }

    /// True if no release is running or requested.
    pub(in crate::memory) fn is_released(&self) -> bool {
        self.releases.stage.is_none() && self.releases.next.is_empty()
    }

    /// Announces that a write of an epoch is performed in cycle `at`. Calls come in ascending order of `at`.
    /// Only a release that drains needs to know at once.
    pub(in crate::memory) fn expect_written(&mut self, at: Cycle, epoch: u8, agenda: &mut Agenda) {
        debug_assert!(self.written.back().is_none_or(|&(last, _)| last <= at));
        self.written.push_back((at, epoch));
        if self.releases.drains() {
            agenda.at(self.block, at);
        }
    }

    /// The cycle in which the next write is performed, as far as the slice knows.
    pub(super) fn next_written(&self) -> Cycle {
        self.written.front().map_or(NEVER, |&(at, _)| at)
    }

    /// The release's part of a cycle, before that of the accesses. True if it has something to do in the next cycle.
    #[inline]
    pub(super) fn tick_release(&mut self, now: Cycle, image: &mut Image) -> bool {
        while let Some(&(at, epoch)) = self.written.front()
            && at <= now
        {
            self.written.pop_front();
            self.writes.performed(epoch);
        }
        !self.releases.is_idle() && self.go_on_releasing(now, image)
    }

    fn go_on_releasing(&mut self, now: Cycle, image: &mut Image) -> bool {
        if self.has_reply_room()
            && let Some(core) = self.releases.over.pop_front()
        {
            let reply = Reply { core, tag: 0, kind: ReplyKind::Released, line: 0, sectors: 0, values: None };
            self.replies.push_back((now + self.spec.hit_latency, reply));
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
