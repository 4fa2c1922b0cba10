//! What goes between the caches of the memory side and the memory channels.

use super::cache::MshrId;
use super::geometry::LineNumber;
use super::l2::Slice;
use super::l3::Bank;
use super::{agenda::Agenda, geometry::SliceHash};
use crate::clock::Cycle;
use wave_capture::Capture;

/// A line on its way between a cache and what is behind it. Its bytes are in the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub(super) struct Transfer {
    pub(super) line: LineNumber,
    /// The line's slice.
    pub(super) slice: u16,
    /// Number of the line within its slice.
    pub(super) index: u32,
    pub(super) sectors: u8,
    /// Of a write-back: those of its sectors that it writes whole.
    pub(super) whole: u8,
    /// The miss that waits for it, or `None` for a write-back.
    pub(super) fetch: Option<MshrId>,
    /// For a write-back of a slice: its epoch of writes.
    pub(super) epoch: u8,
}

impl Transfer {
    /// True if line, slice and number agree.
    pub(super) fn is_placed_by(&self, hash: SliceHash) -> bool {
        hash.slice(self.line) == usize::from(self.slice)
            && hash.within_slice(self.line) == self.index
            && self.epoch <= 1
    }
}

/// What is in front of the memory channels: the banks of the L3, or without them the slices of the L2.
pub(super) struct InFront<'a> {
    pub(super) slices: &'a mut [Slice],
    /// One for each channel, or none.
    pub(super) banks: &'a mut [Bank],
}

impl InFront<'_> {
    /// True if transfers wait for their channel: at its bank, or at this slice.
    #[inline]
    pub(super) fn has_transfer(&self, channel: usize, slice: usize) -> bool {
        self.banks.get(channel).map_or_else(|| self.slices[slice].has_transfer(), Bank::has_transfer)
    }

    /// Takes the oldest transfer of a channel's bank, or of this slice.
    #[inline]
    pub(super) fn take_transfer(
        &mut self,
        channel: usize,
        slice: usize,
        agenda: &mut Agenda,
    ) -> Option<Transfer> {
        match self.banks.get_mut(channel) {
            Some(bank) => bank.take_transfer(agenda),
            None => self.slices[slice].take_transfer(agenda),
        }
    }

    /// Announces that the sectors of a read arrive in cycle `at`, for a miss of the bank or of the slice. Calls for one
    /// channel come in ascending order of `at`.
    #[inline]
    pub(super) fn expect_fill(
        &mut self,
        slice: u16,
        (at, mshr, sectors): (Cycle, MshrId, u8),
        agenda: &mut Agenda,
    ) {
        let slice = usize::from(slice);
        match self.banks.len() {
            0 => self.slices[slice].expect_fill(at, mshr, sectors, agenda),
            channels => self.banks[slice % channels].expect_fill(at, mshr, sectors, agenda),
        }
    }

    /// Announces that a write of an epoch of a slice is performed in cycle `at`. Calls for one channel come in ascending
    /// order of `at`. With an L3, a write of a slice is performed there already.
    #[inline]
    pub(super) fn expect_written(&mut self, slice: u16, (at, epoch): (Cycle, u8), agenda: &mut Agenda) {
        if self.banks.is_empty() {
            self.slices[usize::from(slice)].expect_written(at, epoch, agenda);
        }
    }
}
