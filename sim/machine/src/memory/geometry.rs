//! How an address divides into slice, line and sector.

use super::message::{CODE_SPACE, HEADER_BYTES, MAX_LINE_BYTES};
use crate::clock::Cycle;
use crate::config::{AddressHash, Config};
use wave_capture::Capture;

/// Number of a line: its byte address, code space bit included, divided by the line size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Capture)]
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
    pub(crate) fn sector_mask(self, sector: u32) -> u128 {
        (u128::MAX >> (128 - self.sector_bytes)) << (sector << self.sector_shift)
    }

    /// Bytes of some sectors, as a mask over the line.
    #[inline]
    pub(crate) fn bytes_of(self, sectors: u8) -> u128 {
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
    pub(crate) fn sectors_of(self, byte_mask: u128) -> u8 {
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
    pub(crate) fn full_sectors_of(self, byte_mask: u128) -> u8 {
        self.full_among(self.sectors_of(byte_mask), byte_mask)
    }

    /// Of some sectors, those whose bytes are all in a byte mask.
    #[inline]
    pub(crate) fn full_among(self, sectors: u8, byte_mask: u128) -> u8 {
        let (mut touched, mut full) = (sectors, sectors);
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
    pub(crate) fn copy_sectors(self, to: &mut [u8], from: &[u8], sectors: u8) {
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
pub(crate) fn line_hash(line: u32, bits: u32) -> usize {
    (line.wrapping_mul(GOLDEN) >> (32 - bits)) as usize
}

/// Copies the masked bytes.
#[inline]
pub(crate) fn copy_bytes(to: &mut [u8], from: &[u8], byte_mask: u128) {
    let mut left = byte_mask;
    while left != 0 {
        let start = left.trailing_zeros() as usize;
        // Copy by runs of bytes: the usual masks are whole words or whole lines.
        let run = (!(left >> start)).trailing_zeros().min(128 - start as u32) as usize;
        to[start..start + run].copy_from_slice(&from[start..start + run]);
        left = if start + run >= 128 { 0 } else { left >> (start + run) << (start + run) };
    }
}

/// Multiplier of the Fibonacci hash: 2^32 over the golden ratio.
const GOLDEN: u32 = 0x9E37_79B9;

/// Exclusive or of all groups of some bits of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fold {
    /// 2^bits - 1, for the bits of a group.
    mask: u32,
    /// Shifts of the folding steps, in bits: 16, 8, 4, 2 and 1 groups.
    shifts: [u32; 5],
}

impl Fold {
    /// Groups of `bits` bits, less than 32.
    pub(crate) fn new(bits: u32) -> Fold {
        // A number has 32 bits, so a shift by 32 leaves nothing.
        let shifts = [16, 8, 4, 2, 1].map(|groups| (groups * bits.max(1)).min(32));
        Fold { mask: (1 << bits) - 1, shifts }
    }

    /// The groups of `number`, folded onto one.
    #[inline]
    pub(crate) fn of(self, number: u32) -> u32 {
        // Each step folds the upper half of the remaining groups onto the lower.
        let mut folded = u64::from(number);
        for shift in self.shifts {
            folded ^= folded >> shift;
        }
        folded as u32 & self.mask
    }
}

/// Which L2 slice holds a line, and the line's number within the slice: rule M4 of `docs/memory.md`.
///
/// Of 2^b · m slices, m odd, the number of the line over m chooses one of 2^b groups of m slices by the XOR of all of
/// its b-bit groups. Its remainder, turned by a hash of the line's number in the slice, chooses the slice of the group.
/// The number in the slice is the line's number over the number of slices. So slice and number determine the line,
/// each aligned run of as many lines as there are slices has one line in each slice, and the lines of a stride spread.
///
/// With `l2.slice_hash: none` the slice is the line's number mod slices, and the number in the slice is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SliceHash {
    hash: AddressHash,
    /// b.
    bits: u32,
    /// m.
    odd: u32,
    /// ceil(2^64 / m), with which a multiplication divides by m; unused where m is 1.
    reciprocal: u64,
    fold: Fold,
}

impl SliceHash {
    /// The hash of a machine.
    pub(crate) fn new(config: &Config) -> SliceHash {
        SliceHash::over(config.l2.slices, config.l2.slice_hash)
    }

    /// A hash over `slices`, at least one.
    pub(crate) fn over(slices: u32, hash: AddressHash) -> SliceHash {
        debug_assert!(slices > 0);
        let bits = slices.trailing_zeros();
        let odd = slices >> bits;
        let reciprocal = (u64::MAX / u64::from(odd)).wrapping_add(1);
        SliceHash { hash, bits, odd, reciprocal, fold: Fold::new(bits) }
    }

    /// The slice of a line.
    #[inline]
    pub(crate) fn slice(self, line: LineNumber) -> usize {
        if self.hash == AddressHash::None {
            return (line.0 % (self.odd << self.bits)) as usize;
        }
        if self.odd == 1 {
            return self.fold.of(line.0) as usize;
        }
        let quotient = self.over_odd(line);
        let remainder = line.0 - quotient * self.odd;
        let hash = (quotient >> self.bits).wrapping_mul(GOLDEN);
        // The hash as a fraction of 2^32, times m.
        let turned = remainder + ((u64::from(hash) * u64::from(self.odd)) >> 32) as u32;
        let turned = if turned < self.odd { turned } else { turned - self.odd };
        (self.fold.of(quotient) * self.odd + turned) as usize
    }

    /// The line's number within its slice.
    #[inline]
    pub(crate) fn within_slice(self, line: LineNumber) -> u32 {
        let quotient = if self.odd == 1 { line.0 } else { self.over_odd(line) };
        quotient >> self.bits
    }

    /// floor(line / m). Exact, since line and m have 32 bits at most (Lemire, Kaser and Kurz, "Faster remainder by
    /// direct computation", 2019).
    #[inline]
    fn over_odd(self, line: LineNumber) -> u32 {
        ((u128::from(self.reciprocal) * u128::from(line.0)) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl SliceHash {
        fn xor(slices: u32) -> SliceHash {
            SliceHash::over(slices, AddressHash::Xor)
        }
    }

    #[test]
    fn without_a_hash_lines_go_round_the_slices() {
        for slices in [1, 4, 6, 7] {
            let hash = SliceHash::over(slices, AddressHash::None);
            for line in (0..100).chain(u32::MAX - 100..u32::MAX) {
                let line = LineNumber(line);
                assert_eq!(hash.slice(line) as u32, line.0 % slices);
                assert_eq!(hash.within_slice(line), line.0 / slices);
            }
        }
    }

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
        for slices in 1..=64 {
            let hash = SliceHash::xor(slices);
            // From 0, and up to the last line of the address space.
            for first in [0, u32::MAX - 64 * slices + 1] {
                let first = first.next_multiple_of(slices);
                for round in (0..).map(|i| first + i * slices).take(63) {
                    // Every round of lines has one line in each slice, and the same number in all of them.
                    let lines = (round..round + slices).map(LineNumber);
                    assert!(lines.clone().all(|line| hash.within_slice(line) == round / slices));
                    let mut held: Vec<usize> = lines.map(|line| hash.slice(line)).collect();
                    held.sort_unstable();
                    assert!(held.into_iter().eq(0..slices as usize), "{slices} slices, lines from {round}");
                }
            }
            assert_eq!(hash.within_slice(LineNumber(u32::MAX)), u32::MAX / slices);
        }
    }

    /// The mapping of powers of two is older than the other one, and golden traces depend on it.
    #[test]
    fn powers_of_two_fold_the_groups_of_bits() {
        for bits in 0..=8 {
            let hash = SliceHash::xor(1 << bits);
            for i in 0..10_000 {
                let line = line_hash(i, 32) as u32;
                let groups = (0..32).step_by(bits.max(1)).map(|at| (line >> at) as usize & ((1 << bits) - 1));
                assert_eq!(hash.slice(LineNumber(line)), groups.fold(0, |slice, group| slice ^ group));
            }
        }
    }

    /// Most lines of a slice, over their average, of 64 lines a slice that lie at a stride.
    fn unevenness(slices: u32, stride: u32) -> f64 {
        let hash = SliceHash::xor(slices);
        let mut lines = vec![0; slices as usize];
        (0..64 * slices).for_each(|i| lines[hash.slice(LineNumber(i * stride))] += 1);
        f64::from(lines.into_iter().max().unwrap_or(0)) / 64.0
    }

    #[test]
    fn strides_spread_over_the_slices() {
        let powers = (0..12).map(|i| 1 << i);
        let multiples = [3, 5, 6, 7, 10, 12, 15, 24, 48, 60, 96, 384, 1000, 1080, 1920];
        let strides: Vec<u32> = powers.chain(multiples).collect();
        // Odd counts have the hash alone; others have the fold of powers of two with it, and its strides that spread less.
        for (slices, most) in
            [(3, 1.3), (5, 1.3), (6, 1.5), (10, 1.5), (12, 2.1), (20, 1.8), (24, 2.4), (40, 2.4)]
        {
            for &stride in &strides {
                let found = unevenness(slices, stride);
                assert!(found <= most, "{slices} slices, stride {stride}: {found}");
            }
        }
        // As even as the powers of two are over all counts and strides up to 128.
        let mean = |counts: &[u32]| {
            let all =
                counts.iter().flat_map(|&slices| (1..=128).map(move |stride| unevenness(slices, stride)));
            all.sum::<f64>() / (128.0 * counts.len() as f64)
        };
        let (powers, others): (Vec<u32>, Vec<u32>) = (2..=64).partition(|n: &u32| n.is_power_of_two());
        assert!(mean(&others) <= mean(&powers), "{} beside {}", mean(&others), mean(&powers));
        // A stride of one whole round must not fall on one slice.
        for slices in 2..=64 {
            let hash = SliceHash::xor(slices);
            let held: std::collections::BTreeSet<_> =
                (0..8 * slices).map(|i| hash.slice(LineNumber(i * slices))).collect();
            assert!(held.len() as u32 > slices / 2, "{slices} slices: {held:?}");
        }
    }
}
