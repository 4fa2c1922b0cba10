//! What a part of a launch has touched of device memory: the trail that the L2 needs, and what memory held before, so
//! that the part can be taken back.

use crate::config::Config;
use crate::memory::Trail;
use wave_isa::table::CacheHint;

/// Bytes of a page. The last one of a memory may be shorter.
const PAGE_BYTES: usize = 4096;

/// The accesses of a part of a launch.
#[derive(Debug, Clone)]
pub(crate) struct Footprint {
    trail: Trail,
    /// Per page of device memory, its bytes before the first store to it; `None` if nothing was stored to it.
    before: Vec<Option<Box<[u8]>>>,
}

impl Footprint {
    /// Nothing was touched of a memory of so many bytes.
    pub(super) fn new(config: &Config, bytes: usize) -> Footprint {
        Footprint { trail: Trail::new(config), before: vec![None; bytes.div_ceil(PAGE_BYTES)] }
    }

    /// Bytes of a line and of a sector.
    pub(super) fn geometry(&self) -> (u32, u32) {
        self.trail.geometry()
    }

    /// These bytes of a line of device memory are about to be read, written, or both.
    #[inline]
    pub(super) fn touch(
        &mut self,
        device: &[u8],
        (line, bytes): (u32, u128),
        (reads, writes): (bool, bool),
        hint: CacheHint,
    ) {
        self.trail.touch(line.into(), if reads { bytes } else { 0 }, if writes { bytes } else { 0 }, hint);
        // A page has whole lines.
        let page = line as usize / PAGE_BYTES;
        if writes && self.before[page].is_none() {
            let end = device.len().min((page + 1) * PAGE_BYTES);
            self.before[page] = Some(device[page * PAGE_BYTES..end].into());
        }
    }

    /// Puts everything back that was stored.
    pub(crate) fn undo(self, device: &mut [u8]) {
        for (page, before) in device.chunks_mut(PAGE_BYTES).zip(self.before) {
            if let Some(before) = before {
                page.copy_from_slice(&before);
            }
        }
    }

    /// The lines touched last.
    pub(crate) fn into_trail(self) -> Trail {
        self.trail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_is_taken_back_also_at_the_end() {
        let before: Vec<u8> = (0..2 * PAGE_BYTES as u32 + 100).map(|i| i as u8).collect();
        let mut device = before.clone();
        let mut footprint = Footprint::new(&Config::example(), device.len());
        for line in [0, PAGE_BYTES as u32 + 128, 2 * PAGE_BYTES as u32] {
            footprint.touch(&device, (line, 0xF0), (false, true), CacheHint::Cached);
            device[line as usize + 4..][..4].fill(0xEE);
            // A second store to the page finds other bytes there.
            footprint.touch(&device, (line, 0xF0), (true, true), CacheHint::Cached);
        }
        assert_ne!(device, before);
        footprint.undo(&mut device);
        assert_eq!(device, before);
    }
}
