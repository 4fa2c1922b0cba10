//! Outstanding lines of a cache, and the accesses that wait for them.

use super::Access;
use super::waiters::Waiters;
use crate::clock::{Cycle, NEVER};
use crate::memory::agenda::Agenda;
use crate::memory::bounds::Bounds;
use crate::memory::tags::Frame;
use std::collections::VecDeque;
use wave_capture::{Capture, Misfit};

/// Index of an MSHR: an outstanding line of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub(in crate::memory) struct MshrId(pub(super) u16);

#[cfg(test)]
impl MshrId {
    /// An arbitrary MSHR, for transfers that no cache asked for.
    pub(in crate::memory) fn for_test() -> MshrId {
        MshrId(0)
    }
}

const NO_MSHR: u16 = u16::MAX;

#[derive(Debug, Clone, Copy, Capture)]
struct Mshr {
    frame: Frame,
    /// Sectors on their way.
    outstanding: u8,
    /// A write or an atomic is among the waiters, so every later access waits behind it.
    ordered: bool,
    /// The first waiter can be served; the MSHR is listed in `Misses::ready`.
    ready: bool,
}

/// Sectors that come.
#[derive(Debug, Clone, Copy, Capture)]
struct Fill {
    at: Cycle,
    mshr: MshrId,
    sectors: u8,
}

/// The outstanding lines of a cache. `T` is what waits for them.
#[derive(Debug, Capture)]
#[sound]
pub(in crate::memory) struct Misses<T> {
    /// The MSHR of each frame, or [`NO_MSHR`].
    #[fixed]
    of_frame: Vec<u16>,
    #[fixed]
    mshrs: Vec<Mshr>,
    free: Vec<u16>,
    waiters: Waiters<T>,
    /// MSHRs whose first waiter can be served, oldest first.
    ready: VecDeque<MshrId>,
    fills: VecDeque<Fill>,
}

impl<T> Misses<T> {
    fn sound(&self) -> Result<(), Misfit> {
        let (frames, mshrs) = (self.of_frame.len(), self.mshrs.len());
        Misfit::in_range(self.mshrs.iter().all(|mshr| mshr.frame.index() < frames), "mshrs")?;
        let mut is_free = vec![false; mshrs];
        for &id in &self.free {
            let seen = is_free.get_mut(usize::from(id)).map(|seen| std::mem::replace(seen, true));
            Misfit::in_range(seen == Some(false), "free")?;
        }
        for (id, mshr) in self.mshrs.iter().enumerate() {
            let waits = self.waiters.first(id).is_some();
            let owns = self.of_frame[mshr.frame.index()] == id as u16;
            let agrees = if is_free[id] { !mshr.ready && !waits } else { owns };
            Misfit::agrees(agrees, "mshrs")?;
        }
        for (frame, &id) in self.of_frame.iter().enumerate().filter(|(_, id)| **id != NO_MSHR) {
            let mshr = self.mshrs.get(usize::from(id)).filter(|_| !is_free[usize::from(id)]);
            Misfit::agrees(mshr.is_some_and(|mshr| mshr.frame.index() == frame), "of_frame")?;
        }
        let mut is_ready = vec![false; mshrs];
        for id in &self.ready {
            let seen = is_ready.get_mut(usize::from(id.0)).map(|seen| std::mem::replace(seen, true));
            Misfit::in_range(seen == Some(false), "ready")?;
        }
        Misfit::agrees(self.mshrs.iter().map(|mshr| mshr.ready).eq(is_ready), "ready")?;
        Misfit::in_range(self.fills.iter().all(|fill| usize::from(fill.mshr.0) < mshrs), "fills")
    }

    pub(super) fn frames(&self) -> usize {
        self.of_frame.len()
    }

    /// MSHRs that hold an outstanding line.
    pub(in crate::memory) fn in_use(&self) -> usize {
        self.mshrs.len() - self.free.len()
    }

    /// Accesses that wait for lines.
    pub(in crate::memory) fn waiting(&self) -> usize {
        self.waiters.len()
    }

    /// The accesses that wait for lines, in no order.
    pub(in crate::memory) fn all_waiting(&self) -> impl Iterator<Item = &T> {
        self.waiters.all()
    }

    /// The frame of each MSHR, in their order, and the accesses that wait for it, in theirs.
    pub(in crate::memory) fn by_frame(&self) -> impl Iterator<Item = (Frame, impl Iterator<Item = &T>)> {
        self.mshrs.iter().enumerate().map(|(id, mshr)| (mshr.frame, self.waiters.of(id)))
    }

    /// True if no line is outstanding.
    pub(in crate::memory) fn is_empty(&self) -> bool {
        self.free.len() == self.mshrs.len()
    }

    /// True if no further line can be outstanding.
    #[inline]
    pub(in crate::memory) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// The miss of a frame.
    #[inline]
    pub(in crate::memory) fn of(&self, frame: Frame) -> Option<MshrId> {
        let id = self.of_frame[frame.index()];
        (id != NO_MSHR).then_some(MshrId(id))
    }

    #[inline]
    fn mshr(&self, id: MshrId) -> &Mshr {
        &self.mshrs[usize::from(id.0)]
    }

    /// The frame of a miss.
    #[inline]
    pub(in crate::memory) fn frame(&self, id: MshrId) -> Frame {
        self.mshr(id).frame
    }

    /// Sectors of a miss that are on their way.
    #[inline]
    pub(in crate::memory) fn outstanding(&self, id: MshrId) -> u8 {
        self.mshr(id).outstanding
    }

    #[inline]
    pub(super) fn is_ordered(&self, id: MshrId) -> bool {
        self.mshr(id).ordered
    }

    /// True if another access can wait for a miss.
    #[inline]
    pub(super) fn has_room(&self, id: MshrId) -> bool {
        self.waiters.has_room(usize::from(id.0))
    }

    /// Further sectors of a miss are on their way.
    #[inline]
    pub(super) fn add(&mut self, id: MshrId, sectors: u8) {
        self.mshrs[usize::from(id.0)].outstanding |= sectors;
    }

    /// Announces sectors that arrive in cycle `at`, in which a block of the agenda takes them. Calls come in ascending
    /// order of `at`.
    #[inline]
    pub(in crate::memory) fn expect(
        &mut self,
        (at, mshr, sectors): (Cycle, MshrId, u8),
        block: usize,
        agenda: &mut Agenda,
    ) {
        debug_assert!(self.fills.back().is_none_or(|fill| fill.at <= at));
        self.fills.push_back(Fill { at, mshr, sectors });
        agenda.at(block, at);
    }

    /// The cycle in which the next sectors arrive, as far as the cache knows.
    #[inline]
    pub(in crate::memory) fn next_fill(&self) -> Cycle {
        self.fills.front().map_or(NEVER, |fill| fill.at)
    }

    /// The miss whose first waiter has been ready for longest.
    #[inline]
    pub(in crate::memory) fn first_ready(&self) -> Option<MshrId> {
        self.ready.front().copied()
    }

    #[inline]
    pub(super) fn take_fill(&mut self, now: Cycle) -> Option<(MshrId, u8)> {
        let fill = *self.fills.front().filter(|fill| fill.at <= now)?;
        self.fills.pop_front();
        self.mshrs[usize::from(fill.mshr.0)].outstanding &= !fill.sectors;
        Some((fill.mshr, fill.sectors))
    }

    #[inline]
    pub(super) fn take(&mut self, id: MshrId) -> Option<T> {
        self.waiters.pop(usize::from(id.0))
    }

    /// Frees an MSHR for which nothing waits and nothing is on its way. The last sectors may come when no access waits
    /// any more: a write has written the sectors that the last one wanted.
    fn free_if_done(&mut self, id: MshrId) {
        let mshr = self.mshr(id);
        if mshr.outstanding == 0 && self.waiters.first(usize::from(id.0)).is_none() {
            let frame = mshr.frame;
            self.of_frame[frame.index()] = NO_MSHR;
            self.free.push(id.0);
        }
    }

    /// Refuses misses whose sectors on their way are not `coming`, by MSHR, and those that have announced their arrival.
    pub(in crate::memory) fn check(
        &self,
        bounds: &Bounds,
        coming: impl Iterator<Item = (MshrId, u8)>,
    ) -> Result<(), Misfit> {
        Misfit::in_range(self.fills.iter().all(|fill| bounds.may_plan(fill.at)), "fills")?;
        let mut outstanding = vec![0u8; self.mshrs.len()];
        let announced = self.fills.iter().map(|fill| (fill.mshr, fill.sectors));
        for (id, sectors) in coming.chain(announced) {
            let there = outstanding.get_mut(usize::from(id.0)).filter(|there| **there & sectors == 0);
            let there = there.ok_or_else(|| Misfit::new("is no miss of its cache").within("transfers"))?;
            *there |= sectors;
        }
        let agrees = self.mshrs.iter().zip(&outstanding).enumerate().all(|(id, (mshr, &outstanding))| {
            let is_free = self.free.contains(&(id as u16));
            bounds.has_sectors(outstanding)
                && if is_free { outstanding == 0 } else { mshr.outstanding == outstanding }
        });
        Misfit::agrees(agrees, "mshrs")
    }
}

impl<T: Access> Misses<T> {
    pub(super) fn new(frames: usize, mshrs: u32, merges: u32) -> Misses<T> {
        let empty = Mshr { frame: Frame(0), outstanding: 0, ordered: false, ready: false };
        Misses {
            of_frame: vec![NO_MSHR; frames],
            mshrs: vec![empty; mshrs as usize],
            free: (0..mshrs as u16).rev().collect(),
            waiters: Waiters::new(mshrs as usize, merges as usize),
            ready: VecDeque::with_capacity(mshrs as usize),
            fills: VecDeque::new(),
        }
    }

    /// Begins a miss of a frame that has none, unless all MSHRs are in use.
    #[inline]
    pub(in crate::memory) fn begin(&mut self, frame: Frame) -> Option<MshrId> {
        let id = self.free.pop()?;
        self.of_frame[frame.index()] = id;
        self.mshrs[usize::from(id)] = Mshr { frame, outstanding: 0, ordered: false, ready: false };
        Some(MshrId(id))
    }

    /// An access waits for a miss.
    #[inline]
    pub(in crate::memory) fn wait(&mut self, id: MshrId, access: T) {
        self.mshrs[usize::from(id.0)].ordered |= !access.is_read();
        self.waiters.push(usize::from(id.0), access);
    }

    /// Sectors have come: lists the miss as ready if its first waiter can be served with the valid sectors of its frame,
    /// and ends it if nothing waits.
    #[inline]
    pub(super) fn arrived(&mut self, id: MshrId, valid: u8) {
        let mshr = &mut self.mshrs[usize::from(id.0)];
        if !mshr.ready
            && let Some(first) = self.waiters.first(usize::from(id.0))
            && first.needed() & !valid == 0
        {
            mshr.ready = true;
            self.ready.push_back(id);
        }
        self.free_if_done(id);
    }

    /// The first waiter of the miss that has been ready for longest was served. It stays ready while the next one can be.
    #[inline]
    pub(super) fn performed(&mut self, id: MshrId, valid: u8) {
        let i = usize::from(id.0);
        let more = self.waiters.first(i).map(T::needed);
        if more.is_some_and(|needed| needed & !valid == 0) {
            return;
        }
        self.ready.pop_front();
        self.mshrs[i].ready = false;
        if more.is_none() {
            self.mshrs[i].ordered = false;
            self.free_if_done(id);
        }
    }
}
