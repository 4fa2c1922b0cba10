//! What a channel is made from: parameters of the configuration, which the simulation only reads.

use super::mapping::Mapping;
use super::ratio::ClockRatio;
use super::timing::Clock;
use crate::clock::Cycle;
use crate::config::{Config, Dram};
use crate::memory::geometry::{LineGeometry, LineNumber};

/// The specification of a memory channel.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    pub(super) dram: Dram,
    pub(super) mapping: Mapping,
    pub(super) ratio: ClockRatio,
    /// Memory clocks of a burst on the data bus.
    pub(super) burst_clocks: Clock,
    /// Cycles of the core clock from the slices or the bank to the channel and back. All are added on the way back: a delay
    /// that all transfers have shifts what the channel does, and changes nothing else.
    pub(super) round_trip: Cycle,
    /// Number of slices of this channel.
    pub(super) slices: usize,
    /// Per sector of a line: the bursts that contain it, as bits.
    bursts_of: [u16; 8],
    geometry: LineGeometry,
}

impl Spec {
    /// The specification of the channels of a machine.
    pub(super) fn new(config: &Config) -> Spec {
        let dram = config.dram;
        Spec {
            dram,
            mapping: Mapping::new(config),
            ratio: ClockRatio::new(config),
            burst_clocks: Clock::from(dram.burst_clocks()),
            round_trip: 2 * Cycle::from(dram.latency_cycles),
            slices: (config.l2.slices / dram.channels) as usize,
            bursts_of: bursts_of_sectors(LineGeometry::new(config), dram.burst_bytes),
            geometry: LineGeometry::new(config),
        }
    }

    /// Address of a burst of a line, by its bit in [`bursts_of`](Self::bursts_of).
    pub(super) fn address_of(&self, line: LineNumber, burst: u32) -> u64 {
        self.geometry.address(line) + u64::from(burst * self.dram.burst_bytes)
    }

    /// Numbers of the slices of channel `me`.
    #[inline]
    pub(super) fn slices_of(&self, me: usize) -> impl Iterator<Item = usize> + use<> {
        let channels = self.dram.channels as usize;
        (0..self.slices).map(move |slice| me + slice * channels)
    }

    /// Bursts that cover some sectors of a line, as bits.
    pub(super) fn bursts_of(&self, sectors: u8) -> u16 {
        let of_sector = self.bursts_of.iter().enumerate();
        of_sector.fold(0, |bursts, (i, of)| bursts | if sectors >> i & 1 == 1 { *of } else { 0 })
    }
}

/// Per sector of a line: the bursts that contain it, as bits.
fn bursts_of_sectors(geometry: LineGeometry, burst_bytes: u32) -> [u16; 8] {
    let sector = geometry.sector_bytes();
    std::array::from_fn(|i| {
        let first = i as u32 * sector;
        let bytes = (first..first + sector).step_by(burst_bytes.min(sector) as usize);
        if first as usize >= geometry.line_bytes() {
            0
        } else {
            bytes.fold(0, |of, byte| of | 1 << (byte / burst_bytes))
        }
    })
}
