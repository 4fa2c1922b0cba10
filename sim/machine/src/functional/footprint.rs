//! What a part of a launch has touched of device memory: the trail that the L2 needs, and what memory held before, so
//! that the part can be taken back.

use crate::config::Config;
use crate::memory::Trail;
use std::ops::Range;
use wave_isa::table::CacheHint;

/// The accesses of a part of a launch.
#[derive(Debug, Clone)]
pub(crate) struct Footprint {
    trail: Trail,
    /// A bit for each line of device memory that was stored to.
    stored: Vec<u64>,
    /// Those lines in the order of their first stores, and their bytes before these.
    lines: Vec<u32>,
    before: Vec<u8>,
}

impl Footprint {
    /// Nothing was touched of a memory of so many bytes.
    pub(super) fn new(config: &Config, bytes: usize) -> Footprint {
        let lines = bytes.div_ceil(config.core.l1.line_bytes as usize);
        let stored = vec![0; lines.div_ceil(u64::BITS as usize)];
        Footprint { trail: Trail::new(config), stored, lines: Vec::new(), before: Vec::new() }
    }

    /// Bytes of a line and of a sector.
    pub(crate) fn geometry(&self) -> (u32, u32) {
        self.trail.geometry()
    }

    /// Bytes of a line of device memory are about to be read and written. `stores`: some may be written that are not among
    /// those.
    #[inline]
    pub(super) fn touch(
        &mut self,
        device: &[u8],
        line: u32,
        (read, written): (u128, u128),
        stores: bool,
        hint: CacheHint,
    ) {
        self.trail.touch(line.into(), read, written, hint);
        if stores {
            let line_bytes = self.geometry().0;
            let (word, bit) = ((line / line_bytes) as usize / 64, 1 << (line / line_bytes % 64));
            if self.stored[word] & bit == 0 {
                self.stored[word] |= bit;
                self.lines.push(line);
                self.before.extend_from_slice(&device[bytes_of(line, line_bytes, device.len())]);
            }
        }
    }

    /// Puts everything back that was stored.
    pub(crate) fn undo(self, device: &mut [u8]) {
        let mut before = &self.before[..];
        for line in self.lines {
            let bytes = bytes_of(line, self.trail.geometry().0, device.len());
            let (here, rest) = before.split_at(bytes.len());
            device[bytes].copy_from_slice(here);
            before = rest;
        }
    }

    /// The trail begins here.
    pub(super) fn forget_trail(&mut self, config: &Config) {
        self.trail = Trail::new(config);
    }

    /// The lines that were stored to.
    pub(crate) fn lines(&self) -> &[u32] {
        &self.lines
    }

    /// The lines touched last.
    pub(crate) fn into_trail(self) -> Trail {
        self.trail
    }
}

/// Where the bytes of a line are in device memory of so many bytes, of which the last line may have fewer.
fn bytes_of(line: u32, line_bytes: u32, device_bytes: usize) -> Range<usize> {
    line as usize..device_bytes.min(line as usize + line_bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_is_taken_back_also_at_the_end() {
        let before: Vec<u8> = (0..8192u32 + 100).map(|i| i as u8).collect();
        let mut device = before.clone();
        let mut footprint = Footprint::new(&Config::example(), device.len());
        for line in [0, 4096 + 128, 8192] {
            footprint.touch(&device, line, (0, 0xF0), true, CacheHint::Cached);
            device[line as usize + 4..][..4].fill(0xEE);
            // A second store to the page finds other bytes there.
            footprint.touch(&device, line, (0xF0, 0xF0), true, CacheHint::Cached);
        }
        assert_ne!(device, before);
        footprint.undo(&mut device);
        assert_eq!(device, before);
    }
}
