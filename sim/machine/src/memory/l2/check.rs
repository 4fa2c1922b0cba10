//! What a state that is put back into a slice has to satisfy.

use super::{MshrId, Slice, Transfer};
use crate::memory::bounds::Bounds;
use crate::memory::message::{Reply, Request, RequestKind};
use wave_capture::Misfit;

impl Slice {
    pub(super) fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.to_memory.len() <= self.spec.to_memory_capacity, "to_memory")?;
        Misfit::agrees(self.cache.valid.len() == self.dirty.len(), "cache")?;
        Misfit::in_range(self.written.iter().all(|&(_, epoch)| epoch <= 1), "written")?;
        self.releases.check(self.dirty.len(), usize::MAX)
    }

    /// Requests and replies in the slice.
    pub(in crate::memory) fn packets(
        &self,
    ) -> (impl Iterator<Item = &Request>, impl Iterator<Item = &Reply>) {
        let delayed = self.jitter.iter().flat_map(|jitter| jitter.requests());
        let far = self.far.iter().flat_map(|far| far.waiting()).map(|(_, request)| request);
        let requests = self.input.iter().chain(self.cache.misses.all_waiting()).chain(far).chain(delayed);
        (requests, self.replies.iter().map(|(_, reply)| reply))
    }

    /// The cores that wait for a release of this slice.
    pub(in crate::memory) fn releasing(&self) -> impl Iterator<Item = u16> {
        self.releases.asking()
    }

    /// Refuses what slice `me` cannot hold. `fetched` are the reads behind it, `writing` its write-backs there, by
    /// epoch.
    pub(in crate::memory) fn check(
        &self,
        bounds: &Bounds,
        me: usize,
        fetched: &[(MshrId, u8)],
        mut writing: [u32; 2],
    ) -> Result<(), Misfit> {
        let holds = self.cache.tags.all(|frame, line| {
            let (valid, dirty) = (self.cache.valid[frame.index()], self.dirty[frame.index()]);
            self.spec.hash.slice(line) == me && bounds.may_hold(line, valid, dirty)
        });
        Misfit::in_range(holds, "tags")?;
        let lies =
            |frame: super::Frame| self.dirty[frame.index()] == 0 || self.cache.tags.line(frame).is_some();
        Misfit::agrees(self.cache.tags.all_frames(lies), "dirty")?;
        // An access that waits is for the line in its frame, which stays there.
        for (frame, mut waiting) in self.cache.misses.by_frame() {
            let line = self.cache.tags.line(frame).map(|line| bounds.geometry.address(line));
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
        let mut arrivals = self.far.iter().flat_map(|far| far.waiting()).map(|&(at, _)| at);
        Misfit::in_range(arrivals.all(|at| bounds.may_plan(at)), "far")?;
        Misfit::in_range(self.stall.is_before(bounds.now), "stall")?;
        let is_mine =
            |transfer: &Transfer| usize::from(transfer.slice) == me && transfer.is_placed_by(self.spec.hash);
        Misfit::in_range(self.to_memory.iter().all(is_mine), "to_memory")?;
        Misfit::in_range(self.written.iter().all(|&(at, _)| bounds.may_plan(at)), "written")?;
        self.releases.check(self.dirty.len(), bounds.cores)?;
        // Sectors on their way are those that their misses wait for.
        let sent = self.to_memory.iter().filter_map(|transfer| Some((transfer.fetch?, transfer.sectors)));
        self.cache.misses.check(bounds, fetched.iter().copied().chain(sent))?;
        let sent = self.to_memory.iter().filter(|transfer| transfer.fetch.is_none());
        let writes = sent.map(|transfer| transfer.epoch).chain(self.written.iter().map(|&(_, epoch)| epoch));
        writes.for_each(|epoch| writing[usize::from(epoch & 1)] += 1);
        self.writes.check(writing)
    }
}
