//! MSHRs of an L1: its outstanding lines and the accesses that wait for them.

use super::plan::Miss;
use crate::memory::bounds::Bounds;
use crate::memory::geometry::{LineGeometry, LineNumber, copy_bytes, line_hash};
use crate::memory::message::{LineData, MAX_LINE_BYTES};
use crate::registry::{ReferenceKind, Requester};
use std::ops::{Index, IndexMut};
use wave_capture::{Capture, Misfit};
use wave_isa::table::{AtomicOp, CacheHint};

/// Index of an MSHR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MshrId(u16);

impl MshrId {
    /// The tag of its requests.
    pub(super) fn tag(self) -> u32 {
        u32::from(self.0)
    }

    /// The MSHR whose tag a reply carries.
    pub(super) fn of_tag(tag: u32) -> MshrId {
        MshrId(tag as u16)
    }
}

/// State of an outstanding line.
#[derive(Debug, Clone, Copy, Capture)]
pub(super) struct Mshr {
    pub(super) line: LineNumber,
    /// Sectors that were requested and have not come.
    pub(super) outstanding: u8,
    /// Sectors whose bytes are held here: they have come, or they were in the cache when a waiter joined.
    pub(super) held: u8,
    /// Accesses may still join, and arriving sectors are installed.
    pub(super) current: bool,
    /// [`Mshrs::find`] returns it: accesses join it, or have to stay behind its atomics.
    found: bool,
    /// The line was in the cache at the miss, or part of it has come since.
    pub(super) present: bool,
    /// For whom the line comes, for plug-ins.
    pub(super) by: Requester,
    /// What it comes for: a prefetch until an access waits for it.
    pub(super) kind: ReferenceKind,
    /// Atomics among the waiters.
    pub(super) atomics: u16,
    waiting: u16,
    /// The next MSHR with the same hash of its line.
    next: u16,
}

impl Mshr {
    const NEW: Mshr = Mshr {
        line: LineNumber(0),
        outstanding: 0,
        held: 0,
        current: false,
        found: false,
        present: true,
        by: Requester::NONE,
        kind: ReferenceKind::Load,
        atomics: 0,
        waiting: 0,
        next: NONE,
    };
}

/// An access that waits for its sectors.
#[derive(Debug, Clone, Copy, Capture)]
pub(super) struct Waiter {
    pub(super) owner: u32,
    pub(super) sectors: u8,
    pub(super) hint: CacheHint,
    /// Index of its atomic in `Mshrs::atomics`.
    pub(super) atomic: Option<u16>,
}

/// A read-modify-write that waits for its words.
#[derive(Debug, Clone, Copy, Capture)]
pub(super) struct PendingAtomic {
    pub(super) op: AtomicOp,
    pub(super) byte_mask: u128,
    pub(super) data: LineData,
    pub(super) swap: u32,
}

/// Index that no MSHR has.
const NONE: u16 = u16::MAX;

/// True if no place occurs twice, and all are below `count`.
fn are_different(places: &[u16], count: usize) -> bool {
    let mut seen = vec![false; count];
    places
        .iter()
        .all(|&place| seen.get_mut(usize::from(place)).is_some_and(|seen| !std::mem::replace(seen, true)))
}

/// All MSHRs of an L1.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(super) struct Mshrs {
    #[fixed]
    mshrs: Vec<Mshr>,
    /// Per hash of a line: its first MSHR. Nearly every access searches here.
    #[fixed]
    heads: Vec<u16>,
    #[spec]
    hash_bits: u32,
    /// Per MSHR, the bytes held: of misses that come in parts, or that were joined to what the cache had.
    #[fixed]
    data: Vec<LineData>,
    /// Per MSHR: held bytes that are newer than those requested.
    #[fixed]
    kept: Vec<u128>,
    #[spec]
    merges: usize,
    #[fixed]
    waiters: Vec<Waiter>,
    free: Vec<u16>,
    atomics: Vec<PendingAtomic>,
    free_atomics: Vec<u16>,
}

impl Mshrs {
    /// `count` MSHRs that serve `merges` accesses each.
    pub(super) fn new(count: usize, merges: usize) -> Mshrs {
        let heads = (4 * count).next_power_of_two();
        let waiter = Waiter { owner: 0, sectors: 0, hint: CacheHint::Cached, atomic: None };
        Mshrs {
            mshrs: vec![Mshr::NEW; count],
            heads: vec![NONE; heads],
            hash_bits: heads.trailing_zeros(),
            data: vec![[0; MAX_LINE_BYTES]; count],
            kept: vec![0; count],
            merges,
            waiters: vec![waiter; count * merges],
            free: (0..count as u16).rev().collect(),
            atomics: Vec::new(),
            free_atomics: Vec::new(),
        }
    }

    fn sound(&self) -> Result<(), Misfit> {
        let count = self.mshrs.len();
        Misfit::in_range(are_different(&self.free, count), "free")?;
        Misfit::in_range(self.mshrs.iter().all(|mshr| usize::from(mshr.waiting) <= self.merges), "mshrs")?;
        let is_free = |&id: &u16| {
            let mshr = &self.mshrs[usize::from(id)];
            !mshr.found && !mshr.current && mshr.waiting == 0 && mshr.atomics == 0
        };
        Misfit::agrees(self.free.iter().all(is_free), "free")?;
        Misfit::agrees(self.mshrs.iter().all(|mshr| mshr.found || !mshr.current), "mshrs")?;
        // Each miss that accesses find is in the list of its hash, once.
        let mut listed = vec![false; count];
        for (hash, &head) in self.heads.iter().enumerate() {
            let mut id = head;
            while id != NONE {
                let at = usize::from(id);
                let is_new = at < count && !std::mem::replace(&mut listed[at], true);
                Misfit::agrees(is_new && self.hash(self.mshrs[at].line) == hash, "heads")?;
                id = self.mshrs[at].next;
            }
        }
        Misfit::agrees(self.mshrs.iter().map(|mshr| mshr.found).eq(listed), "heads")?;
        // Each atomic has one waiter.
        Misfit::in_range(are_different(&self.free_atomics, self.atomics.len()), "free_atomics")?;
        let mut places = self.free_atomics.clone();
        for id in (0..count as u16).map(MshrId) {
            let atomics = self.waiters(id).iter().filter_map(|waiter| waiter.atomic);
            Misfit::agrees(atomics.clone().count() == usize::from(self[id].atomics), "atomics")?;
            places.extend(atomics);
        }
        let each = are_different(&places, self.atomics.len()) && places.len() == self.atomics.len();
        Misfit::agrees(each, "atomics")
    }

    /// All accesses that wait.
    pub(super) fn all_waiters(&self) -> impl Iterator<Item = &Waiter> {
        (0..self.mshrs.len() as u16).flat_map(|id| self.waiters(MshrId(id)))
    }

    /// Refuses misses whose sectors are not those that are on their way: `requested`, each with the tag of its read.
    pub(super) fn check(
        &self,
        bounds: &Bounds,
        requested: impl Iterator<Item = (u32, u8)>,
    ) -> Result<(), Misfit> {
        let mut outstanding = vec![0u8; self.mshrs.len()];
        for (tag, sectors) in requested {
            let there = outstanding.get_mut(tag as usize).ok_or_else(|| Misfit::new("is no tag"))?;
            Misfit::agrees(*there & sectors == 0, "outstanding")?;
            *there |= sectors;
        }
        let mut used = vec![true; self.mshrs.len()];
        self.free.iter().for_each(|&id| used[usize::from(id)] = false);
        for ((mshr, &outstanding), used) in self.mshrs.iter().zip(&outstanding).zip(used) {
            Misfit::agrees(
                if used { mshr.outstanding == outstanding } else { outstanding == 0 },
                "outstanding",
            )?;
            Misfit::in_range(!used || bounds.may_hold(mshr.line, mshr.outstanding | mshr.held, 0), "line")?;
        }
        let words = |atomic: &PendingAtomic| {
            let bytes = bounds.geometry.line_bytes();
            let mut words = (0..MAX_LINE_BYTES / 4).map(|word| atomic.byte_mask >> (4 * word) & 0xF);
            words.all(|word| word == 0 || word == 0xF) && (bytes == 128 || atomic.byte_mask >> bytes == 0)
        };
        Misfit::in_range(self.atomics.iter().all(words), "atomics")
    }

    /// Index in `heads` of a line.
    #[inline]
    fn hash(&self, line: LineNumber) -> usize {
        line_hash(line.0, self.hash_bits)
    }

    /// The MSHR of a line that accesses join, or stay behind.
    #[inline]
    fn find(&self, line: LineNumber) -> Option<MshrId> {
        let mut i = self.heads[self.hash(line)];
        while i != NONE {
            let mshr = &self.mshrs[usize::from(i)];
            if mshr.line == line {
                return Some(MshrId(i));
            }
            i = mshr.next;
        }
        None
    }

    /// The lines for which such an access waits, by MSHR.
    pub(super) fn lines_of(&self, is_one: impl Fn(&Waiter) -> bool) -> Vec<LineNumber> {
        let all = (0..self.mshrs.len() as u16).filter(|id| !self.free.contains(id)).map(MshrId);
        all.filter(|&id| self.waiters(id).iter().any(&is_one)).map(|id| self[id].line).collect()
    }

    /// What there is to see of the miss that accesses to a line join, or stay behind.
    #[inline]
    pub(super) fn view(&self, line: LineNumber) -> Option<Miss> {
        let id = self.find(line)?;
        let Mshr { current, atomics, outstanding, held, .. } = self[id];
        let full = !self.has_room(id);
        Some(Miss { id, current, atomics: atomics > 0, full, sectors: outstanding | held })
    }

    pub(super) fn has_free(&self) -> bool {
        !self.free.is_empty()
    }

    /// MSHRs that are free.
    pub(super) fn free(&self) -> usize {
        self.free.len()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.in_use() == 0
    }

    pub(super) fn in_use(&self) -> usize {
        self.mshrs.len() - self.free.len()
    }

    /// Takes a free MSHR for a line. Unless it is `current`, no access will join it.
    ///
    /// # Panics
    /// If none [is free](Self::has_free).
    pub(super) fn allocate(&mut self, line: LineNumber, current: bool) -> MshrId {
        let i = self.free.pop().expect("the plan saw a free MSHR");
        let mut mshr = Mshr { line, current, found: current, ..Mshr::NEW };
        if current {
            let hash = self.hash(line);
            mshr.next = std::mem::replace(&mut self.heads[hash], i);
        }
        self.mshrs[usize::from(i)] = mshr;
        self.kept[usize::from(i)] = 0;
        MshrId(i)
    }

    /// Makes a miss stale: nothing joins it and it installs nothing. While atomics wait for it, accesses to
    /// the line still find it and stay behind them.
    pub(super) fn retire(&mut self, id: MshrId) {
        self[id].current = false;
        self.hide_if_unordered(id);
    }

    /// Makes all misses stale.
    pub(super) fn retire_all(&mut self) {
        for i in 0..self.mshrs.len() {
            if self.mshrs[i].found {
                self.retire(MshrId(i as u16));
            }
        }
    }

    fn hide_if_unordered(&mut self, id: MshrId) {
        let Mshr { line, current, found, atomics, next, .. } = self[id];
        if !found || current || atomics > 0 {
            return;
        }
        self[id].found = false;
        let hash = self.hash(line);
        if self.heads[hash] == id.0 {
            self.heads[hash] = next;
            return;
        }
        let mut before = self.heads[hash];
        while self.mshrs[usize::from(before)].next != id.0 {
            before = self.mshrs[usize::from(before)].next;
        }
        self.mshrs[usize::from(before)].next = next;
    }

    /// Frees an MSHR that nothing waits for.
    pub(super) fn release(&mut self, id: MshrId) {
        self.retire(id);
        self.free.push(id.0);
    }

    pub(super) fn has_room(&self, id: MshrId) -> bool {
        self.waiting(id) < self.merges
    }

    /// Accesses that wait.
    pub(super) fn waiting(&self, id: MshrId) -> usize {
        usize::from(self[id].waiting)
    }

    /// Accesses that wait, over all lines.
    pub(super) fn all_waiting(&self) -> usize {
        self.mshrs.iter().map(|mshr| usize::from(mshr.waiting)).sum()
    }

    /// Atomics that wait, over all lines.
    #[inline]
    pub(super) fn pending_atomics(&self) -> usize {
        self.atomics.len() - self.free_atomics.len()
    }

    /// Appends an access to those that wait.
    pub(super) fn push(&mut self, id: MshrId, waiter: Waiter, atomic: Option<&PendingAtomic>) {
        let atomic = atomic.map(|atomic| match self.free_atomics.pop() {
            Some(place) => {
                self.atomics[usize::from(place)] = *atomic;
                place
            }
            None => {
                self.atomics.push(*atomic);
                self.atomics.len() as u16 - 1
            }
        });
        debug_assert!(self.has_room(id));
        let place = usize::from(id.0) * self.merges + self.waiting(id);
        self.waiters[place] = Waiter { atomic, ..waiter };
        self[id].waiting += 1;
        self[id].atomics += u16::from(atomic.is_some());
    }

    /// The access at an index of the queue.
    pub(super) fn waiter(&self, id: MshrId, place: usize) -> Option<Waiter> {
        (place < self.waiting(id)).then(|| self.waiters[usize::from(id.0) * self.merges + place])
    }

    /// Removes the access at an index of the queue. Returns its atomic if it is one.
    pub(super) fn remove(&mut self, id: MshrId, place: usize) -> Option<PendingAtomic> {
        let first = usize::from(id.0) * self.merges;
        let last = first + self.waiting(id);
        let removed = self.waiters[first + place];
        self.waiters.copy_within(first + place + 1..last, first + place);
        self[id].waiting -= 1;
        let atomic = removed.atomic?;
        self.free_atomics.push(atomic);
        self[id].atomics -= 1;
        self.hide_if_unordered(id);
        Some(self.atomics[usize::from(atomic)])
    }

    /// The accesses that wait for a line, in order.
    #[inline]
    pub(super) fn waiters(&self, id: MshrId) -> &[Waiter] {
        let first = usize::from(id.0) * self.merges;
        &self.waiters[first..first + self.waiting(id)]
    }

    /// True if accesses wait, and each has the streaming hint.
    pub(super) fn all_streaming(&self, id: MshrId) -> bool {
        self.waiting(id) > 0 && self.waiters(id).iter().all(|w| w.hint == CacheHint::Streaming)
    }

    /// True if a reply with these sectors brings all that the accesses wait for and no held bytes matter.
    #[inline]
    pub(super) fn comes_whole(&self, id: MshrId, sectors: u8) -> bool {
        let mshr = self[id];
        mshr.outstanding == sectors
            && mshr.held == 0
            && mshr.atomics == 0
            && self.kept[usize::from(id.0)] == 0
    }

    /// Frees an MSHR whose accesses have all been answered.
    pub(super) fn release_answered(&mut self, id: MshrId) {
        self[id].waiting = 0;
        self.release(id);
    }

    /// Holds bytes of the line that are newer than those requested.
    pub(super) fn keep(&mut self, id: MshrId, line: &[u8], bytes: u128) {
        self.kept[usize::from(id.0)] |= bytes;
        copy_bytes(self.data_mut(id), line, bytes);
    }

    /// Takes sectors that have come, except the bytes held by [`keep`](Self::keep).
    pub(super) fn fill(&mut self, id: MshrId, from: &LineData, sectors: u8, geometry: LineGeometry) {
        match self.kept[usize::from(id.0)] {
            0 => geometry.copy_sectors(self.data_mut(id), from, sectors),
            kept => copy_bytes(self.data_mut(id), from, geometry.bytes_of(sectors) & !kept),
        }
    }

    /// The bytes held.
    pub(super) fn data(&self, id: MshrId) -> &LineData {
        &self.data[usize::from(id.0)]
    }

    /// The bytes held.
    pub(super) fn data_mut(&mut self, id: MshrId) -> &mut LineData {
        &mut self.data[usize::from(id.0)]
    }
}

impl Index<MshrId> for Mshrs {
    type Output = Mshr;

    #[inline]
    fn index(&self, id: MshrId) -> &Mshr {
        &self.mshrs[usize::from(id.0)]
    }
}

impl IndexMut<MshrId> for Mshrs {
    #[inline]
    fn index_mut(&mut self, id: MshrId) -> &mut Mshr {
        &mut self.mshrs[usize::from(id.0)]
    }
}
