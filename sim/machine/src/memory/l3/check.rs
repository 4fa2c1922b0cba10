//! What a state that is put back into a bank has to satisfy.

use super::Bank;
use crate::memory::bounds::Bounds;
use crate::memory::cache::MshrId;
use crate::memory::transfer::Transfer;
use wave_capture::Misfit;

impl Bank {
    pub(super) fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.to_channel.len() <= self.spec.to_channel_capacity, "to_channel")?;
        Misfit::in_range(self.queue.len() <= self.spec.queue_capacity, "queue")?;
        Misfit::in_range(self.turn < self.spec.slice_count(), "turn")?;
        Misfit::agrees(self.cache.valid.len() == self.dirty.len(), "cache")
    }

    /// The transfers of slices that are here.
    fn held(&self) -> impl Iterator<Item = &Transfer> {
        self.queue.iter().chain(self.cache.misses.all_waiting())
    }

    /// The reads of a slice that are here, and its writes by epoch.
    pub(in crate::memory) fn of_slice(&self, slice: usize) -> (Vec<(MshrId, u8)>, [u32; 2]) {
        let all = || self.held().filter(move |transfer| usize::from(transfer.slice) == slice);
        let reads = all().filter_map(|transfer| Some((transfer.fetch?, transfer.sectors))).collect();
        let mut writes = [0; 2];
        all()
            .filter(|transfer| transfer.fetch.is_none())
            .for_each(|transfer| writes[usize::from(transfer.epoch & 1)] += 1);
        (reads, writes)
    }

    /// Refuses what the bank cannot hold. `fetched` are its reads in the channel.
    pub(in crate::memory) fn check(&self, bounds: &Bounds, fetched: &[(MshrId, u8)]) -> Result<(), Misfit> {
        let holds = self.cache.tags.all(|frame, line| {
            let (valid, dirty) = (self.cache.valid[frame.index()], self.dirty[frame.index()]);
            self.spec.has_line(line) && bounds.may_hold(line, valid | dirty, 0)
        });
        Misfit::in_range(holds, "tags")?;
        let is_mine = |transfer: &Transfer| {
            self.spec.has_line(transfer.line)
                && transfer.is_placed_by(self.spec.hash)
                && transfer.sectors != 0
                && bounds.has_sectors(transfer.sectors)
                && transfer.whole & !transfer.sectors == 0
        };
        Misfit::in_range(self.held().chain(&self.to_channel).all(is_mine), "queue")?;
        for (frame, mut waiting) in self.cache.misses.by_frame() {
            let line = self.cache.tags.line(frame);
            Misfit::agrees(waiting.all(|transfer| Some(transfer.line) == line), "waiters")?;
        }
        Misfit::in_range(bounds.may_plan(self.free_at), "free_at")?;
        Misfit::in_range(self.stall.is_before(bounds.now), "stall")?;
        let sent = self.to_channel.iter().filter_map(|transfer| Some((transfer.fetch?, transfer.sectors)));
        self.cache.misses.check(bounds, fetched.iter().copied().chain(sent))
    }
}
