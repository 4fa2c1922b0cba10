//! What a state that is put back into a slice has to satisfy.

use super::{MshrId, NO_MSHR, Slice, Transfer};
use crate::memory::bounds::Bounds;
use crate::memory::message::{Reply, Request, RequestKind};
use wave_capture::Misfit;

impl Slice {
    pub(super) fn sound(&self) -> Result<(), Misfit> {
        let (frames, mshrs) = (self.valid.len(), self.mshrs.len());
        Misfit::in_range(self.to_memory.len() <= self.spec.to_memory_capacity, "to_memory")?;
        Misfit::in_range(self.mshrs.iter().all(|mshr| mshr.frame.index() < frames), "mshrs")?;
        let mut is_free = vec![false; mshrs];
        for &id in &self.free_mshrs {
            let seen = is_free.get_mut(usize::from(id)).map(|seen| std::mem::replace(seen, true));
            Misfit::in_range(seen == Some(false), "free_mshrs")?;
        }
        for (id, mshr) in self.mshrs.iter().enumerate() {
            let waits = self.waiters.first(id).is_some();
            let owns = self.mshr_of[mshr.frame.index()] == id as u16;
            let agrees = if is_free[id] { !mshr.ready && !waits } else { owns };
            Misfit::agrees(agrees, "mshrs")?;
        }
        for (frame, &id) in self.mshr_of.iter().enumerate().filter(|(_, id)| **id != NO_MSHR) {
            let mshr = self.mshrs.get(usize::from(id)).filter(|_| !is_free[usize::from(id)]);
            Misfit::agrees(mshr.is_some_and(|mshr| mshr.frame.index() == frame), "mshr_of")?;
        }
        let mut is_ready = vec![false; mshrs];
        for id in &self.ready {
            let seen = is_ready.get_mut(usize::from(id.0)).map(|seen| std::mem::replace(seen, true));
            Misfit::in_range(seen == Some(false), "ready")?;
        }
        Misfit::agrees(self.mshrs.iter().map(|mshr| mshr.ready).eq(is_ready), "ready")?;
        Misfit::in_range(self.fills.iter().all(|fill| usize::from(fill.mshr.0) < mshrs), "fills")?;
        Misfit::in_range(self.written.iter().all(|&(_, epoch)| epoch <= 1), "written")?;
        self.releases.check(frames, usize::MAX)
    }

    /// Requests and replies in the slice.
    pub(in crate::memory) fn packets(
        &self,
    ) -> (impl Iterator<Item = &Request>, impl Iterator<Item = &Reply>) {
        let delayed = self.jitter.iter().flat_map(|jitter| jitter.requests());
        let requests = self.input.iter().chain(self.waiters.requests()).chain(delayed);
        (requests, self.replies.iter().map(|(_, reply)| reply))
    }

    /// The cores that wait for a release of this slice.
    pub(in crate::memory) fn releasing(&self) -> impl Iterator<Item = u16> {
        self.releases.asking()
    }

    /// True if a transfer belongs to this slice, which is slice `me`.
    fn is_mine(&self, me: usize, transfer: &Transfer) -> bool {
        self.spec.hash.slice(transfer.line) == me
            && self.spec.hash.within_slice(transfer.line) == transfer.index
            && transfer.epoch <= 1
    }

    /// Refuses what slice `me` cannot hold. `fetched` are the reads in its channel, `writing` its write-backs there, by
    /// epoch.
    pub(in crate::memory) fn check(
        &self,
        bounds: &Bounds,
        me: usize,
        fetched: &[(MshrId, u8)],
        mut writing: [u32; 2],
    ) -> Result<(), Misfit> {
        let holds = self.tags.all(|frame, line| {
            let (valid, dirty) = (self.valid[frame.index()], self.dirty[frame.index()]);
            self.spec.hash.slice(line) == me && bounds.may_hold(line, valid, dirty)
        });
        Misfit::in_range(holds, "tags")?;
        let lies = |frame: super::Frame| self.dirty[frame.index()] == 0 || self.tags.line(frame).is_some();
        Misfit::agrees(self.tags.all_frames(lies), "dirty")?;
        // An access that waits is for the line in its frame, which stays there.
        for (id, mshr) in self.mshrs.iter().enumerate() {
            let line = self.tags.line(mshr.frame).map(|line| bounds.geometry.address(line));
            let mut waiting = self.waiters.of(id);
            let fits = |request: &Request| Some(request.line) == line && request.kind != RequestKind::Release;
            Misfit::agrees(waiting.all(fits), "waiters")?;
        }
        let (requests, replies) = self.packets();
        requests
            .into_iter()
            .try_for_each(|request| {
                let is_here = self.spec.hash.slice(bounds.geometry.number(request.line)) == me;
                bounds.request(request)?;
                Misfit::in_range(is_here, "line")
            })
            .map_err(|misfit| misfit.within("input"))?;
        replies
            .into_iter()
            .try_for_each(|reply| bounds.reply(reply))
            .map_err(|misfit| misfit.within("replies"))?;
        Misfit::in_range(self.replies.iter().all(|(at, _)| bounds.may_plan(*at)), "replies")?;
        Misfit::in_range(self.stalled_since.is_none_or(|since| since <= bounds.now), "stalled_since")?;
        Misfit::in_range(self.to_memory.iter().all(|transfer| self.is_mine(me, transfer)), "to_memory")?;
        let plans = self.fills.iter().map(|fill| fill.at).chain(self.written.iter().map(|&(at, _)| at));
        Misfit::in_range(plans.into_iter().all(|at| bounds.may_plan(at)), "fills")?;
        self.releases.check(self.valid.len(), bounds.cores)?;
        // Sectors on their way are those that their misses wait for.
        let mut outstanding = vec![0u8; self.mshrs.len()];
        let sent = self.to_memory.iter().filter_map(|transfer| Some((transfer.fetch?, transfer.sectors)));
        let coming = self.fills.iter().map(|fill| (fill.mshr, fill.sectors));
        for (id, sectors) in fetched.iter().copied().chain(sent).chain(coming) {
            let there = outstanding.get_mut(usize::from(id.0)).filter(|there| **there & sectors == 0);
            let there = there.ok_or_else(|| Misfit::new("is no miss of its slice").within("to_memory"))?;
            *there |= sectors;
        }
        let agrees = self.mshrs.iter().zip(&outstanding).enumerate().all(|(id, (mshr, &outstanding))| {
            let is_free = self.free_mshrs.contains(&(id as u16));
            bounds.has_sectors(outstanding)
                && if is_free { outstanding == 0 } else { mshr.outstanding == outstanding }
        });
        Misfit::agrees(agrees, "mshrs")?;
        let sent = self.to_memory.iter().filter(|transfer| transfer.fetch.is_none());
        let writes = sent.map(|transfer| transfer.epoch).chain(self.written.iter().map(|&(_, epoch)| epoch));
        writes.for_each(|epoch| writing[usize::from(epoch & 1)] += 1);
        self.writes.check(writing)
    }
}
