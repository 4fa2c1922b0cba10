//! Which lines of an instruction the L1 looks up in one cycle (L6).

use super::coalesce::LineAccess;
use crate::config::L1Parameters as Parameters;
use crate::memory::geometry::Fold;

/// Most banks of tags.
const MAX_BANKS: usize = 16;

/// The banks of the L1's tags. A group of lines, one of each bank at most, is looked up in a cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct TagBanks {
    banks: usize,
    line_shift: u32,
    fold: Fold,
}

impl TagBanks {
    /// The banks of an L1.
    pub(super) fn new(l1: &Parameters) -> TagBanks {
        let (banks, line_shift) = (l1.tag_banks as usize, l1.line_bytes.trailing_zeros());
        TagBanks { banks, line_shift, fold: Fold::new(l1.tag_banks.trailing_zeros()) }
    }

    /// Number of banks: the most lines of a group.
    pub(super) fn count(self) -> usize {
        self.banks
    }

    #[inline]
    fn bank(self, line: &LineAccess) -> usize {
        self.fold.of(line.address >> self.line_shift) as usize
    }

    /// Orders lines by groups: the first line of each bank, then the second of each, and so on. So a line accessed more
    /// than once keeps the order of its accesses.
    #[inline]
    pub(super) fn arrange(self, lines: &mut [LineAccess]) {
        if self.banks > 1 && lines.len() > 1 {
            let mut seen = [0u8; MAX_BANKS];
            let mut group = |line: &LineAccess| {
                let count = &mut seen[self.bank(line)];
                *count += 1;
                *count
            };
            lines.sort_by_cached_key(&mut group);
        }
    }

    /// The end of the group that begins at index `first` of arranged lines. A later group has no bank that the one
    /// before lacks, so a group ends where a bank comes again.
    #[inline]
    pub(super) fn group_end(self, lines: &[LineAccess], first: usize) -> usize {
        if self.banks == 1 {
            return first + 1;
        }
        let mut seen = 0u32;
        let is_new = |line: &&LineAccess| {
            let bit = 1 << self.bank(line);
            let is_new = seen & bit == 0;
            seen |= bit;
            is_new
        };
        first + lines[first..].iter().take_while(is_new).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_a_line_of_each_bank_and_as_few_groups_as_the_fullest_bank_has_lines() {
        let mut config = crate::config::Config::example();
        for banks in [1, 2, 4, 16] {
            config.core.l1.tag_banks = banks;
            let tags = TagBanks::new(&config.core.l1);
            for (count, stride) in [(1, 1), (3, 3), (8, 1), (17, 17), (32, 4), (32, 33)] {
                // The lanes say which access it is.
                let of = |i: u32| LineAccess { address: i * stride * 128, lanes: u64::from(i), sectors: 1 };
                let found: Vec<LineAccess> = (0..count).map(of).collect();
                let mut lines = found.clone();
                tags.arrange(&mut lines);
                let mut fullest = vec![0; banks as usize];
                found.iter().for_each(|line| fullest[tags.bank(line)] += 1);
                let (mut groups, mut at) = (0, 0);
                while at < lines.len() {
                    let end = tags.group_end(&lines, at);
                    let mut in_group: Vec<usize> = lines[at..end].iter().map(|l| tags.bank(l)).collect();
                    in_group.sort_unstable();
                    in_group.dedup();
                    assert_eq!(in_group.len(), end - at, "{banks} banks, stride {stride}");
                    (at, groups) = (end, groups + 1);
                }
                assert_eq!(groups, fullest.into_iter().max().unwrap_or(0), "{banks} banks, stride {stride}");
                lines.sort_by_key(|line| line.lanes);
                assert_eq!(lines, found);
            }
        }
    }

    #[test]
    fn accesses_to_one_line_stay_in_order() {
        let mut config = crate::config::Config::example();
        config.core.l1.tag_banks = 4;
        let mut lines: Vec<LineAccess> =
            [1, 0, 1, 1, 0].map(|line| LineAccess { address: 128 * line, lanes: 0, sectors: 0 }).into();
        lines.iter_mut().zip(0..).for_each(|(line, i)| line.lanes = i);
        TagBanks::new(&config.core.l1).arrange(&mut lines);
        assert_eq!(lines.iter().map(|line| line.lanes).collect::<Vec<_>>(), [0, 1, 2, 4, 3]);
    }
}
