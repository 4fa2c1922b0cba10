//! How an address divides into slice, line and sector.

use super::message::{CODE_SPACE, HEADER_BYTES, MAX_LINE_BYTES};
use crate::clock::Cycle;
use crate::config::Config;

/// Number of a line: its byte address, code space bit included, divided by the line size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineNumber(pub u32);

/// Cycles for which a packet holds a port, by the number of its sectors (M6).
#[derive(Debug, Clone, Copy)]
pub struct PacketCycles([Cycle; 9]);

impl PacketCycles {
    /// Cycles of a packet with this many sectors.
    #[inline]
    pub fn of(&self, sectors: u32) -> Cycle {
        self.0[sectors as usize]
    }
}

/// Sizes of lines and sectors, the same at every level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineGeometry {
    line_bytes: u32,
    sector_bytes: u32,
    line_shift: u32,
    sector_shift: u32,
}

impl LineGeometry {
    /// The geometry of a machine; the L1's line and sector are those of every level.
    pub fn new(config: &Config) -> LineGeometry {
        LineGeometry::of(config.core.l1.line_bytes, config.core.l1.sector_bytes)
    }

    /// Lines of `line_bytes` with sectors of `sector_bytes`: powers of two, at most
    /// [`MAX_LINE_BYTES`] and at most 8 sectors a line.
    pub fn of(line_bytes: u32, sector_bytes: u32) -> LineGeometry {
        debug_assert!(line_bytes.is_power_of_two() && line_bytes as usize <= MAX_LINE_BYTES);
        debug_assert!(sector_bytes.is_power_of_two() && line_bytes / sector_bytes <= 8);
        LineGeometry {
            line_bytes,
            sector_bytes,
            line_shift: line_bytes.trailing_zeros(),
            sector_shift: sector_bytes.trailing_zeros(),
        }
    }

    /// Bytes of a line.
    #[inline]
    pub fn line_bytes(self) -> usize {
        self.line_bytes as usize
    }

    /// Bytes of a sector.
    #[inline]
    pub fn sector_bytes(self) -> u32 {
        self.sector_bytes
    }

    /// Sectors of a line.
    #[inline]
    pub fn sectors(self) -> u32 {
        self.line_bytes >> self.sector_shift
    }

    /// Number of the line at a byte address.
    #[inline]
    pub fn number(self, address: u64) -> LineNumber {
        debug_assert!(address < 2 * CODE_SPACE);
        LineNumber((address >> self.line_shift) as u32)
    }

    /// Byte address of a line.
    #[inline]
    pub fn address(self, line: LineNumber) -> u64 {
        u64::from(line.0) << self.line_shift
    }

    /// Cycles of packets, by the number of their sectors, for a port of `port_bytes` a cycle.
    pub fn packet_cycles(self, port_bytes: u32) -> PacketCycles {
        let bytes = |sectors: usize| HEADER_BYTES + sectors as u32 * self.sector_bytes;
        PacketCycles(std::array::from_fn(|sectors| Cycle::from(bytes(sectors).div_ceil(port_bytes))))
    }

    /// Bytes of one sector, as a mask over the line.
    #[inline]
    pub fn sector_mask(self, sector: u32) -> u128 {
        (u128::MAX >> (128 - self.sector_bytes)) << (sector << self.sector_shift)
    }

    /// Bytes of some sectors, as a mask over the line.
    #[inline]
    pub fn bytes_of(self, sectors: u8) -> u128 {
        let mut left = sectors;
        let mut bytes = 0;
        while left != 0 {
            bytes |= self.sector_mask(left.trailing_zeros());
            left &= left - 1;
        }
        bytes
    }

    /// Sectors that a byte mask touches.
    #[inline]
    pub fn sectors_of(self, byte_mask: u128) -> u8 {
        let mut left = byte_mask;
        let mut sectors = 0;
        while left != 0 {
            let sector = left.trailing_zeros() >> self.sector_shift;
            sectors |= 1 << sector;
            left &= !self.sector_mask(sector);
        }
        sectors
    }

    /// Sectors whose bytes are all in a byte mask.
    #[inline]
    pub fn full_sectors_of(self, byte_mask: u128) -> u8 {
        let mut touched = self.sectors_of(byte_mask);
        let mut full = touched;
        while touched != 0 {
            let sector = touched.trailing_zeros();
            touched &= touched - 1;
            let mask = self.sector_mask(sector);
            if byte_mask & mask != mask {
                full &= !(1 << sector);
            }
        }
        full
    }

    /// Copies whole sectors of a line.
    #[inline]
    pub fn copy_sectors(self, to: &mut [u8], from: &[u8], sectors: u8) {
        let mut left = u32::from(sectors);
        while left != 0 {
            // Copy by runs of sectors; usually there is one.
            let first = left.trailing_zeros();
            let after = first + (!(left >> first)).trailing_zeros();
            let bytes = (first << self.sector_shift) as usize..(after << self.sector_shift) as usize;
            to[bytes.clone()].copy_from_slice(&from[bytes]);
            left = left >> after << after;
        }
    }
}

/// The upper `bits` bits (1 to 32) of the Fibonacci hash of a line's number or address. It spreads lines at
/// strides of powers of two.
#[inline]
pub fn line_hash(line: u32, bits: u32) -> usize {
    (line.wrapping_mul(0x9E37_79B9) >> (32 - bits)) as usize
}

/// Copies the masked bytes.
#[inline]
pub fn copy_bytes(to: &mut [u8], from: &[u8], byte_mask: u128) {
    let mut left = byte_mask;
    while left != 0 {
        let start = left.trailing_zeros() as usize;
        // Copy by runs of bytes: the usual masks are whole words or whole lines.
        let run = (!(left >> start)).trailing_zeros().min(128 - start as u32) as usize;
        to[start..start + run].copy_from_slice(&from[start..start + run]);
        left = if start + run >= 128 { 0 } else { left >> (start + run) << (start + run) };
    }
}

/// Maps a line to its L2 slice and to its number within the slice (M4).
///
/// slice = XOR of all groups of log2(slices) bits of the line number; number in the slice = line number
/// without its lowest group. The pair determines the line. Consecutive lines visit all slices in turn, and so
/// do lines at most strides of powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceHash {
    bits: u32,
    /// Shifts of the folding steps, in bits: 16, 8, 4, 2 and 1 groups.
    folds: [u32; 5],
}

impl SliceHash {
    /// A hash over `slices`, a power of two.
    pub fn new(slices: u32) -> SliceHash {
        debug_assert!(slices.is_power_of_two());
        let bits = slices.trailing_zeros();
        // A line number has 32 bits, so a shift by 32 leaves nothing.
        SliceHash { bits, folds: [16, 8, 4, 2, 1].map(|groups| (groups * bits.max(1)).min(32)) }
    }

    /// The slice of a line.
    #[inline]
    pub fn slice(self, line: LineNumber) -> usize {
        // Each step folds the upper half of the remaining groups onto the lower.
        let mut folded = u64::from(line.0);
        for shift in self.folds {
            folded ^= folded >> shift;
        }
        folded as usize & ((1 << self.bits) - 1)
    }

    /// The line's number within its slice.
    #[inline]
    pub fn within_slice(self, line: LineNumber) -> u32 {
        line.0 >> self.bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_follow_the_sizes() {
        let geometry = LineGeometry::of(128, 32);
        assert_eq!(geometry.sectors(), 4);
        assert_eq!(geometry.sector_mask(1), 0xFFFF_FFFF << 32);
        assert_eq!(geometry.sectors_of(1 << 31 | 1 << 96), 0b1001);
        assert_eq!(geometry.full_sectors_of(u128::MAX >> 1), 0b0111);
        assert_eq!(LineGeometry::of(128, 128).sector_mask(0), u128::MAX);
        assert_eq!(LineGeometry::of(32, 16).full_sectors_of(0xFFFF_0000), 0b10);
    }

    #[test]
    fn copies_take_exactly_the_masked_bytes() {
        for mask in [0, 1, 0xF0F0, u128::MAX, 1 << 127, u128::MAX << 5, 0x5555 << 60] {
            let from: [u8; 128] = std::array::from_fn(|i| i as u8 + 1);
            let mut to = [0; 128];
            copy_bytes(&mut to, &from, mask);
            for i in 0..128 {
                assert_eq!(to[i], if mask >> i & 1 == 1 { from[i] } else { 0 }, "mask {mask:x} byte {i}");
            }
        }
    }

    #[test]
    fn slice_and_number_determine_the_line_and_spread_evenly() {
        for slices in [1, 2, 8, 32] {
            let hash = SliceHash::new(slices);
            let mut seen = std::collections::HashSet::new();
            let mut lines_of = vec![0; slices as usize];
            for line in (0..4096).map(LineNumber) {
                assert!(seen.insert((hash.slice(line), hash.within_slice(line))));
                lines_of[hash.slice(line)] += 1;
            }
            assert!(lines_of.iter().all(|&n| n == 4096 / slices), "{lines_of:?}");
        }
        // A stride of as many lines as there are slices must not hit one slice only.
        let hash = SliceHash::new(8);
        let hit: std::collections::HashSet<_> = (0..8).map(|i| hash.slice(LineNumber(i * 8))).collect();
        assert_eq!(hit.len(), 8);
    }
}
