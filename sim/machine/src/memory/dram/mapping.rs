//! The place of a line in its channel (M5).

use crate::config::{AddressHash, Config};

/// Place of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// Bank of the channel: bank group × banks of a group + bank in the group.
    pub bank: u16,
    /// Row of the bank.
    pub row: u32,
    /// First burst of the line in the row.
    pub column: u32,
}

/// Maps a slice's line numbers to banks, rows and columns.
///
/// Let n = number in the slice × slices of the channel + index of the slice among them. Then n = ((row ×
/// banks of a group + bank) × lines of a row + column) × bank groups + group. So the bursts of a line share a
/// row, and consecutive lines alternate between bank groups, where tCCD_S applies. Group and bank are then
/// XORed with the low bits of the row, so that a stride of whole rows does not hit one bank only; with `dram.bank_hash: none`
/// they stay.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mapping {
    slices_per_channel: u32,
    channels: u32,
    group_bits: u32,
    bank_bits: u32,
    column_bits: u32,
    bursts_per_line: u32,
    hash: AddressHash,
}

impl Mapping {
    /// The mapping of a machine.
    pub(super) fn new(config: &Config) -> Mapping {
        let d = &config.dram;
        let line_bytes = config.core.l1.line_bytes;
        Mapping {
            slices_per_channel: config.l2.slices / d.channels,
            channels: d.channels,
            group_bits: d.bank_groups.trailing_zeros(),
            bank_bits: (d.banks / d.bank_groups).trailing_zeros(),
            column_bits: (d.row_bytes / line_bytes).max(1).trailing_zeros(),
            bursts_per_line: (line_bytes / d.burst_bytes).max(1),
            hash: d.bank_hash,
        }
    }

    /// The place of line `index` of slice `slice`.
    #[inline]
    pub(super) fn place(&self, slice: usize, index: u32) -> Place {
        let which = slice as u32 / self.channels;
        let mut rest = u64::from(index) * u64::from(self.slices_per_channel) + u64::from(which);
        let mut take = |bits: u32| {
            let field = rest as u32 & ((1 << bits) - 1);
            rest >>= bits;
            field
        };
        let group = take(self.group_bits);
        let column = take(self.column_bits);
        let bank = take(self.bank_bits);
        let row = rest as u32;
        let low = if self.hash == AddressHash::Xor { row } else { 0 };
        let group = group ^ (low & ((1 << self.group_bits) - 1));
        let bank = bank ^ (low >> self.group_bits & ((1 << self.bank_bits) - 1));
        Place { bank: (group << self.bank_bits | bank) as u16, row, column: column * self.bursts_per_line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_distinct_and_follow_the_formula() {
        // 4 groups × 4 banks, 16 lines a row, 4 bursts a line
        let machines = [(8, 4), (12, 6), (12, 12), (10, 5), (6, 1)];
        let hashes = [AddressHash::Xor, AddressHash::None];
        for ((slices, channels), hash) in machines.into_iter().flat_map(|m| hashes.map(|hash| (m, hash))) {
            let mut config = Config::example();
            (config.l2.slices, config.dram.channels) = (slices, channels);
            config.dram.bank_hash = hash;
            let mapping = Mapping::new(&config);
            let mut seen = std::collections::HashSet::new();
            let mine = (0..slices as usize).filter(|slice| slice % channels as usize == 0);
            for (slice, index) in mine.flat_map(|slice| (0..4096).map(move |index| (slice, index))) {
                let place = mapping.place(slice, index);
                assert!(seen.insert(place));
                let n = index * (slices / channels) + slice as u32 / channels;
                let row = n / 256;
                let low = if hash == AddressHash::Xor { row } else { 0 };
                let group = (n % 4) ^ (low % 4);
                let bank = (n / 64 % 4) ^ (low / 4 % 4);
                assert_eq!(place, Place { bank: (group * 4 + bank) as u16, row, column: n / 4 % 16 * 4 });
            }
        }
    }
}
