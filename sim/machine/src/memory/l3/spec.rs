//! What a bank is made from: parameters of the configuration, which the simulation only reads.

use crate::clock::Cycle;
use crate::config::Config;
use crate::memory::cache::MshrId;
use crate::memory::geometry::{LineGeometry, LineNumber, SliceHash};
use crate::memory::transfer::Transfer;

/// The specification of a bank.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    pub(super) geometry: LineGeometry,
    pub(super) hash: SliceHash,
    /// The channel behind it.
    pub(super) channel: usize,
    channels: usize,
    slices_of_channel: usize,
    pub(super) hit_latency: Cycle,
    /// Cycles in which sectors hold the bank, by their number.
    cycles: [Cycle; 9],
    /// Sectors that one memory burst brings together.
    pub(super) sectors_per_burst: u32,
    /// Transfers for which there is room in the queue, and on the way to the channel.
    pub(super) queue_capacity: usize,
    pub(super) to_channel_capacity: usize,
}

impl Spec {
    /// The specification of the bank in front of a channel.
    pub(super) fn new(config: &Config, channel: u32) -> Spec {
        let geometry = LineGeometry::new(config);
        let l3 = &config.l3;
        let burst_sectors = config.dram.burst_bytes / geometry.sector_bytes();
        let cycles = |sectors: usize| {
            let bytes = sectors as u32 * geometry.sector_bytes();
            Cycle::from(bytes.div_ceil(l3.bytes_per_cycle).max(1))
        };
        Spec {
            geometry,
            hash: SliceHash::new(config),
            channel: channel as usize,
            channels: config.dram.channels as usize,
            slices_of_channel: (config.l2.slices / config.dram.channels) as usize,
            hit_latency: Cycle::from(l3.hit_latency_cycles),
            cycles: std::array::from_fn(cycles),
            sectors_per_burst: burst_sectors.clamp(1, geometry.sectors()),
            queue_capacity: l3.queue_entries as usize,
            // A miss that evicts a dirty line sends two transfers at once.
            to_channel_capacity: (l3.queue_entries as usize).max(2),
        }
    }

    /// Number of the slices in front of the bank.
    pub(super) fn slice_count(&self) -> usize {
        self.slices_of_channel
    }

    /// The slice of this turn.
    pub(super) fn slice(&self, turn: usize) -> usize {
        self.channel + turn * self.channels
    }

    /// Numbers of the slices in front of the bank.
    pub(super) fn slices(&self) -> impl Iterator<Item = usize> {
        (0..self.slices_of_channel).map(|turn| self.slice(turn))
    }

    /// Cycles in which some sectors hold the bank.
    #[inline]
    pub(super) fn cycles_of(&self, sectors: u8) -> Cycle {
        self.cycles[sectors.count_ones() as usize]
    }

    /// Number of a line within the bank, from its slice and its number there.
    fn index_in_bank(&self, slice: usize, index: u32) -> u32 {
        index * self.slices_of_channel as u32 + (slice / self.channels) as u32
    }

    /// Number of a transfer's line within the bank.
    #[inline]
    pub(super) fn index_of(&self, transfer: &Transfer) -> u32 {
        self.index_in_bank(usize::from(transfer.slice), transfer.index)
    }

    /// Number of a line within the bank.
    pub(super) fn index(&self, line: LineNumber) -> u32 {
        self.index_in_bank(self.hash.slice(line), self.hash.within_slice(line))
    }

    /// A transfer of a line to the channel.
    pub(super) fn transfer(&self, line: LineNumber, sectors: u8, fetch: Option<MshrId>) -> Transfer {
        let (slice, index) = (self.hash.slice(line) as u16, self.hash.within_slice(line));
        Transfer { line, slice, index, sectors, whole: 0, fetch, epoch: 0 }
    }

    /// True if a line belongs to this bank.
    pub(super) fn has_line(&self, line: LineNumber) -> bool {
        self.hash.slice(line) % self.channels == self.channel
    }
}
