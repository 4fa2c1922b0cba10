//! What the caches behind the interconnect have in common: the lines of a sectored, set-associative cache, the misses
//! that are outstanding, and what an access has to do for its line.
//!
//! An access to a line with an outstanding miss waits behind that miss, except a read of valid sectors while only reads
//! wait (M22). So accesses to a line are performed in the order of their arrival.

mod misses;
mod waiters;

use super::geometry::{LineGeometry, LineNumber};
use super::tags::{Frame, Tags};
use crate::clock::Cycle;
pub(super) use misses::{Misses, MshrId};
use wave_capture::{Capture, Misfit};

/// An access to a line.
pub(super) trait Access {
    /// Sectors that have to be valid before it can be performed.
    fn needed(&self) -> u8;
    /// It changes nothing, so that it may be performed before others that came first.
    fn is_read(&self) -> bool;
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    /// It is performed on this frame.
    Serve(Frame),
    /// It waits for an outstanding line and requests these further sectors of it.
    Join(MshrId, u8),
    /// It waits for these sectors of a line that is in this frame.
    Miss(Frame, u8),
    /// It takes this frame for its line.
    Replace(Frame),
}

/// Since when the access at the head of a queue cannot begin, if it cannot.
#[derive(Debug, Clone, Copy, Default, Capture)]
pub(super) struct Stall {
    since: Option<Cycle>,
}

impl Stall {
    /// True if the head of the queue could not begin when it was last looked at.
    #[inline]
    pub(super) fn is_on(self) -> bool {
        self.since.is_some()
    }

    /// True if it has begun by `now`.
    pub(super) fn is_before(self, now: Cycle) -> bool {
        self.since.is_none_or(|since| since <= now)
    }

    /// Notes whether the head of the queue can begin. Counts the accesses that cannot at once, each once, and the cycles
    /// that they wait.
    #[inline]
    pub(super) fn note(&mut self, now: Cycle, stalls: bool, accesses: &mut u64, cycles: &mut u64) {
        match self.since {
            None if stalls => {
                self.since = Some(now);
                *accesses += 1;
            }
            Some(since) if !stalls => {
                self.since = None;
                *cycles += now - since;
            }
            _ => {}
        }
    }
}

/// The lines of a cache and its outstanding misses. `T` is what waits for a line.
#[derive(Debug, Capture)]
#[sound]
pub(super) struct Cache<T> {
    pub(super) tags: Tags,
    /// Valid sectors of each frame.
    #[fixed]
    pub(super) valid: Vec<u8>,
    pub(super) misses: Misses<T>,
}

impl<T> Cache<T> {
    fn sound(&self) -> Result<(), Misfit> {
        Misfit::agrees(self.misses.frames() == self.valid.len(), "misses")
    }
}

impl<T: Access> Cache<T> {
    /// An empty cache with `mshrs` misses, for each of which `merges` accesses may wait.
    pub(super) fn new(tags: Tags, mshrs: u32, merges: u32) -> Cache<T> {
        let frames = tags.frames();
        Cache { tags, valid: vec![0; frames], misses: Misses::new(frames, mshrs, merges) }
    }

    /// Removes all lines but those that are on their way, and tells of each frame.
    pub(super) fn empty(&mut self, mut emptied: impl FnMut(Frame)) {
        for frame in (0..self.tags.frames() as u32).map(Frame) {
            if self.misses.of(frame).is_none() {
                self.tags.remove(frame);
                self.valid[frame.index()] = 0;
                emptied(frame);
            }
        }
    }

    /// The plan of an access to a line; `None` if it cannot begin. `index` selects the set, `room` is that for transfers
    /// to what is behind the cache.
    #[inline]
    pub(super) fn plan(
        &self,
        (line, index): (LineNumber, u32),
        access: &T,
        room: usize,
        is_dirty: impl Fn(Frame) -> bool,
    ) -> Option<Plan> {
        let needed = access.needed();
        let Some(frame) = self.tags.find(index, line) else {
            if needed != 0 && (self.misses.is_full() || room == 0) {
                return None;
            }
            let frame = self.tags.victim(index, |frame| self.misses.of(frame).is_none())?;
            let transfers = usize::from(needed != 0) + usize::from(is_dirty(frame));
            return (transfers <= room).then_some(Plan::Replace(frame));
        };
        let missing = needed & !self.valid[frame.index()];
        let Some(id) = self.misses.of(frame) else {
            if missing == 0 {
                return Some(Plan::Serve(frame));
            }
            return (!self.misses.is_full() && room >= 1).then_some(Plan::Miss(frame, missing));
        };
        if missing == 0 && access.is_read() && !self.misses.is_ordered(id) {
            return Some(Plan::Serve(frame));
        }
        let fetch = missing & !self.misses.outstanding(id);
        let may_join = self.misses.has_room(id) && (fetch == 0 || room >= 1);
        may_join.then_some(Plan::Join(id, fetch))
    }

    /// Requests the missing sectors of a miss, and all others that come in the same bursts (M22). Returns which.
    pub(super) fn request(
        &mut self,
        id: MshrId,
        missing: u8,
        geometry: LineGeometry,
        sectors_per_burst: u32,
    ) -> u8 {
        let group = (1u32 << sectors_per_burst) - 1;
        let mut sectors = 0u32;
        for first in (0..geometry.sectors()).step_by(sectors_per_burst as usize) {
            if u32::from(missing) & group << first != 0 {
                sectors |= group << first;
            }
        }
        let valid = self.valid[self.misses.frame(id).index()];
        let sectors = sectors as u8 & !valid & !self.misses.outstanding(id);
        self.misses.add(id, sectors);
        sectors
    }

    /// Takes sectors that have come by `now`: they are valid, and accesses that waited for them can be performed. Returns
    /// their frame and which they are.
    #[inline]
    pub(super) fn arrive(&mut self, now: Cycle) -> Option<(Frame, u8)> {
        let (id, sectors) = self.misses.take_fill(now)?;
        let frame = self.misses.frame(id);
        self.valid[frame.index()] |= sectors;
        self.misses.arrived(id, self.valid[frame.index()]);
        Some((frame, sectors))
    }

    /// Takes the first access of the miss that has been ready for longest, and its frame. [`performed`](Self::performed)
    /// has to follow.
    #[inline]
    pub(super) fn take_waiter(&mut self, id: MshrId) -> (Frame, Option<T>) {
        (self.misses.frame(id), self.misses.take(id))
    }

    /// An access of the miss that has been ready for longest was performed.
    #[inline]
    pub(super) fn performed(&mut self, id: MshrId) {
        let frame = self.misses.frame(id);
        self.misses.performed(id, self.valid[frame.index()]);
    }
}
