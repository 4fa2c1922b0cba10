//! What a slice is made from: parameters of the configuration, which the simulation only reads.

use crate::clock::Cycle;
use crate::config::Config;
use crate::memory::geometry::{LineGeometry, SliceHash};
use crate::memory::tags::Frame;
use std::ops::Range;

/// The specification of a slice.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    pub(super) geometry: LineGeometry,
    pub(super) hash: SliceHash,
    /// Number of the slice.
    pub(super) index: u16,
    pub(super) hit_latency: Cycle,
    /// Sectors that one memory burst brings together.
    pub(super) sectors_per_burst: u32,
    sets: usize,
    ways: usize,
    /// Requests for which there is room in the queue.
    pub(super) input_capacity: usize,
    /// Replies for which there is room.
    pub(super) reply_capacity: usize,
    /// Transfers for which there is room on the way to the channel.
    pub(super) to_memory_capacity: usize,
}

impl Spec {
    /// The specification of slice `index` of a machine, with so many frames.
    pub(super) fn new(config: &Config, index: u32, frames: usize) -> Spec {
        let geometry = LineGeometry::new(config);
        let l2 = &config.l2;
        let burst_sectors = config.dram.burst_bytes / geometry.sector_bytes();
        Spec {
            geometry,
            hash: SliceHash::new(config),
            index: index as u16,
            hit_latency: Cycle::from(l2.hit_latency_cycles),
            sectors_per_burst: burst_sectors.clamp(1, geometry.sectors()),
            sets: frames / l2.ways as usize,
            ways: l2.ways as usize,
            input_capacity: l2.queue_entries as usize,
            reply_capacity: (l2.hit_latency_cycles + config.interconnect.queue_entries) as usize,
            // A miss that evicts a dirty line sends two transfers at once.
            to_memory_capacity: (l2.queue_entries as usize).max(2),
        }
    }

    /// Range of a frame's bytes in the slice's data. Neighbouring sets are adjacent, not the ways of a set: a kernel
    /// that uses part of a large cache then touches only part of the host's pages.
    #[inline]
    pub(super) fn place(&self, frame: Frame) -> Range<usize> {
        let (set, way) = (frame.index() / self.ways, frame.index() % self.ways);
        let start = (way * self.sets + set) * self.geometry.line_bytes();
        start..start + self.geometry.line_bytes()
    }
}
