//! What a state that is put back into a channel has to satisfy.

use super::Channel;
use super::queue::Entry;
use super::timing::Clock;
use crate::clock::{END_OF_TIME, may_plan};
use crate::memory::bounds::Bounds;
use crate::memory::cache::MshrId;
use wave_capture::Misfit;

impl Channel {
    pub(super) fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.turn < self.spec.slices.max(1), "turn")?;
        Misfit::in_range(self.next_try <= END_OF_TIME || self.next_try == Clock::MAX, "next_try")?;
        Misfit::in_range(
            self.next_refresh <= END_OF_TIME || self.next_refresh == Clock::MAX,
            "next_refresh",
        )?;
        Misfit::in_range(self.rows_from <= END_OF_TIME || self.rows_from == Clock::MAX, "rows_from")
    }

    /// Refuses what channel `me` cannot hold.
    pub(in crate::memory) fn check(&self, bounds: &Bounds, me: usize) -> Result<(), Misfit> {
        let mine = |entry: &Entry| {
            let slice = usize::from(entry.slice);
            let mut slices = self.spec.slices_of(me);
            let bursts = self.spec.bursts_of(entry.sectors);
            slices.any(|one| one == slice)
                && bounds.has_sectors(entry.sectors)
                && entry.bursts != 0
                && entry.bursts & !bursts == 0
        };
        Misfit::in_range(self.queue.all().all(mine), "queue")?;
        let clock = self.spec.ratio.first_clock(bounds.now);
        let may = |at: Clock| may_plan(clock, at);
        Misfit::in_range(may(self.next_try), "next_try")?;
        Misfit::in_range(bounds.may_plan(self.room_from), "room_from")?;
        // An idle channel is behind by less than the run has taken.
        Misfit::in_range(may(self.next_refresh), "next_refresh")
    }

    /// The reads in the queue.
    pub(in crate::memory) fn reads(&self) -> Vec<(MshrId, u8)> {
        self.queue.all().filter_map(|entry| Some((entry.fetch?, entry.sectors))).collect()
    }

    /// The reads for a slice in the queue, and its writes by epoch.
    pub(in crate::memory) fn of_slice(&self, slice: usize) -> (Vec<(MshrId, u8)>, [u32; 2]) {
        let all = || self.queue.all().filter(move |entry| usize::from(entry.slice) == slice);
        let reads = all().filter_map(|entry| Some((entry.fetch?, entry.sectors))).collect();
        let mut writes = [0; 2];
        all()
            .filter(|entry| entry.fetch.is_none())
            .for_each(|entry| writes[usize::from(entry.epoch & 1)] += 1);
        (reads, writes)
    }
}
