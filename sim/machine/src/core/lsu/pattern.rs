//! Patterns in the lane addresses of an access. Common ones are processed by runs of lanes, or once for
//! several lanes. The result is the same as lane by lane.

use crate::core::slot::lanes_of;
use std::ops::Range;
use wave_capture::Capture;
use wave_isa::table::MemoryOp;

/// What is known of the addresses of an access's participating lanes. The default knows nothing, so every
/// lane is processed alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Capture)]
pub(crate) struct Pattern {
    /// Lanes whose value lies directly behind that of the lane below, which participates too. Values of whole
    /// words only.
    pub joined: u64,
    /// Lanes with the same address as the lane below, which participates too.
    pub same: u64,
    /// The addresses repeat after this many lanes, more than one. 0 if they do not repeat or not every lane
    /// participates.
    pub period: u32,
    /// Every address is a multiple of the value's size.
    pub aligned: bool,
    /// At least half of the lanes of one period are in runs.
    pub in_runs: bool,
}

/// Consecutive lanes whose values are adjacent in memory, or all at one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// Number of lanes.
    pub lanes: usize,
    /// All lanes have one address.
    pub same: bool,
}

impl Pattern {
    /// The pattern of an access. `addresses` has one entry for each lane of the wave.
    pub(crate) fn of(memory: MemoryOp, mask: u64, addresses: &[u32]) -> Pattern {
        let bytes = u32::from(memory.bytes);
        let (mut joined, mut same) = (0, 0);
        for (lane, pair) in addresses.windows(2).enumerate() {
            let step = pair[1].wrapping_sub(pair[0]);
            joined |= u64::from(step == bytes) << (lane + 1);
            same |= u64::from(step == 0) << (lane + 1);
        }
        let both = mask & mask << 1;
        let lanes = addresses.len();
        let mut period = 0;
        if mask == u64::MAX >> (64 - lanes) {
            period = lanes;
            while period % 2 == 0 && addresses[..period / 2] == addresses[period / 2..period] {
                period /= 2;
            }
            // All lanes at one address form a run, not a period.
            period = if period == 1 { 0 } else { period % lanes };
        }
        let (joined, same) = (if bytes >= 4 { joined & both } else { 0 }, same & both);
        let once = mask & lanes_from(0, if period == 0 { lanes } else { period });
        Pattern {
            joined,
            same,
            period: period as u32,
            in_runs: 2 * ((joined | same) & once).count_ones() >= once.count_ones(),
            aligned: lanes_of(mask).all(|lane| addresses[lane].is_multiple_of(bytes)),
        }
    }

    /// The run that begins at a lane.
    #[inline]
    pub(crate) fn run(&self, lane: usize) -> Run {
        let joined = (self.joined >> lane >> 1).trailing_ones();
        let same = (self.same >> lane >> 1).trailing_ones();
        Run { lanes: joined.max(same) as usize + 1, same: same > 0 }
    }
}

/// A mask of `count` lanes from `first` on.
#[inline]
pub(crate) fn lanes_from(first: usize, count: usize) -> u64 {
    u64::MAX >> (64 - count) << first
}

/// Copies values of `words` words each from memory into the rows of a wave: word k of a lane goes to row k.
/// `at` gives the offset of a lane's value in `memory`; within a run only the first lane is asked.
#[inline]
pub(crate) fn copy_lanes(
    (pattern, lanes): (Pattern, u64),
    words: usize,
    memory: &[u8],
    at: impl Fn(usize) -> usize,
    rows: &mut [u32],
    width: usize,
) {
    match words {
        1 => copy_words::<1>((pattern, lanes), memory, at, rows, width),
        2 => copy_words::<2>((pattern, lanes), memory, at, rows, width),
        _ => copy_words::<4>((pattern, lanes), memory, at, rows, width),
    }
}

#[inline]
fn copy_words<const W: usize>(
    (pattern, lanes): (Pattern, u64),
    memory: &[u8],
    at: impl Fn(usize) -> usize,
    rows: &mut [u32],
    width: usize,
) {
    let mut of_row = rows.chunks_exact_mut(width);
    let mut rows: [&mut [u32]; W] = std::array::from_fn(|_| of_row.next().expect("a row for each word"));
    let value_at = |lane| {
        let words = memory[at(lane)..].as_chunks::<4>().0;
        words.first_chunk::<W>().expect("the address was checked")
    };
    if !pattern.in_runs {
        for lane in lanes_of(lanes) {
            for (row, &word) in rows.iter_mut().zip(value_at(lane)) {
                row[lane] = u32::from_le_bytes(word);
            }
        }
        return;
    }
    let mut rest = lanes;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        let run = pattern.run(lane);
        let count = if run.lanes == 1 { 1 } else { run.lanes.min((rest >> lane).trailing_ones() as usize) };
        rest &= !lanes_from(lane, count);
        let (words, _) = memory[at(lane)..].as_chunks::<4>();
        let (values, _) = words.as_chunks::<W>();
        if count == 1 {
            for (row, &word) in rows.iter_mut().zip(&values[0]) {
                row[lane] = u32::from_le_bytes(word);
            }
        } else if run.same {
            for (row, &word) in rows.iter_mut().zip(&values[0]) {
                row[lane..lane + count].fill(u32::from_le_bytes(word));
            }
        } else {
            for (k, row) in rows.iter_mut().enumerate() {
                for (word, value) in row[lane..lane + count].iter_mut().zip(values) {
                    *word = u32::from_le_bytes(value[k]);
                }
            }
        }
    }
}

/// Values of consecutive lanes that are adjacent in memory, `words` words each. Word k of a lane belongs to
/// row k.
#[derive(Debug, Clone)]
pub(super) struct Side {
    /// Words of each value.
    pub words: usize,
    /// Lanes of a row.
    pub width: usize,
    /// The lanes.
    pub lanes: Range<usize>,
}

impl Side {
    /// Copies the values from the rows to memory.
    #[inline]
    pub(crate) fn copy_to(&self, rows: &[u32], memory: &mut [u8]) {
        match self.words {
            1 => self.write::<1>(rows, memory),
            2 => self.write::<2>(rows, memory),
            _ => self.write::<4>(rows, memory),
        }
    }

    #[inline]
    fn write<const W: usize>(&self, rows: &[u32], memory: &mut [u8]) {
        let (words, _) = memory.as_chunks_mut::<4>();
        let (values, _) = words.as_chunks_mut::<W>();
        let values = &mut values[..self.lanes.len()];
        let mut rows = rows.chunks_exact(self.width);
        for k in 0..W {
            let Some(row) = rows.next() else { return };
            for (word, value) in row[self.lanes.clone()].iter().zip(values.iter_mut()) {
                value[k] = word.to_le_bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_isa::Op;

    #[test]
    fn runs_are_of_lanes_that_take_part() {
        let (word, byte) = (Op::DeviceLoadU32.memory().unwrap(), Op::DeviceLoadU8.memory().unwrap());
        let row: [u32; 8] = std::array::from_fn(|lane| 0x104 + 4 * lane as u32);
        let all = Pattern { joined: 0xFE, same: 0, period: 0, aligned: true, in_runs: true };
        assert_eq!(Pattern::of(word, 0xFF, &row), all);
        assert_eq!(all.run(0), Run { lanes: 8, same: false });
        assert_eq!(Pattern::of(word, 0b0111_1011, &row), Pattern { joined: 0b0111_0010, ..all });
        assert_eq!(
            Pattern::of(byte, 0xFF, &[9; 8]),
            Pattern { joined: 0, same: 0xFE, period: 0, aligned: true, in_runs: true }
        );
        assert_eq!(Pattern::of(byte, 0xFF, &row.map(|a| a / 4)).joined, 0, "no words");
        assert!(!Pattern::of(word, 0xFF, &row.map(|a| a + 1)).aligned);
        let halves: [u32; 8] = std::array::from_fn(|lane| 4 * (lane as u32 % 4));
        assert_eq!(
            Pattern::of(word, 0xFF, &halves),
            Pattern { joined: 0b1110_1110, same: 0, period: 4, aligned: true, in_runs: true }
        );
        let pairs: [u32; 8] = std::array::from_fn(|lane| 16 * (lane as u32 / 2));
        let pairs = Pattern::of(word, 0xFF, &pairs);
        assert_eq!((pairs.same, pairs.run(2), pairs.run(1).lanes), (0xAA, Run { lanes: 2, same: true }, 1));
        let wide: [u32; 64] = std::array::from_fn(|lane| 16 * lane as u32);
        let wide = Pattern::of(Op::DeviceLoadU128.memory().unwrap(), u64::MAX, &wide);
        assert_eq!((wide.run(0).lanes, wide.run(63).lanes), (64, 1));
    }
}
