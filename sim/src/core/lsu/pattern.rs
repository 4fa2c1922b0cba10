//! How the addresses of a wave lie to one another: what many accesses look like is served by runs of lanes or once for
//! several, and what they do is the same as lane by lane.

use crate::isa::table::MemoryOp;
use std::ops::Range;

/// What is known of the addresses of the lanes that take part in an access. With nothing known all goes lane by lane.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Lanes whose values, of whole words, lie behind those of the lane before, which takes part too.
    pub joined: u64,
    /// Lanes with the address of the lane before, which takes part too.
    pub same: u64,
    /// Lanes after which the addresses repeat, more than one; 0 if they do not or not every lane of the wave takes part.
    pub period: u32,
    /// Every address is a multiple of the bytes of a value.
    pub aligned: bool,
    /// Most lanes, of those before the addresses repeat, are in runs.
    pub in_runs: bool,
}

/// Lanes one after the other whose values lie side by side, or are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// How many they are.
    pub lanes: usize,
    /// All have one address.
    pub same: bool,
}

impl Pattern {
    /// The pattern of an access with these addresses, one a lane of the wave.
    pub fn of(memory: MemoryOp, mask: u64, addresses: &[u32]) -> Pattern {
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
            // All lanes at one address are a run.
            period = if period == 1 { 0 } else { period % lanes };
        }
        let (joined, same) = (if bytes >= 4 { joined & both } else { 0 }, same & both);
        let once = mask & lanes_from(0, if period == 0 { lanes } else { period });
        Pattern {
            joined,
            same,
            period: period as u32,
            in_runs: 2 * ((joined | same) & once).count_ones() >= once.count_ones(),
            aligned: super::lanes_of(mask).all(|lane| addresses[lane].is_multiple_of(bytes)),
        }
    }

    /// The run that begins at a lane.
    #[inline]
    pub fn run(&self, lane: usize) -> Run {
        let joined = (self.joined >> lane >> 1).trailing_ones();
        let same = (self.same >> lane >> 1).trailing_ones();
        Run { lanes: joined.max(same) as usize + 1, same: same > 0 }
    }
}

/// A mask of some lanes one after the other.
#[inline]
pub fn lanes_from(first: usize, count: usize) -> u64 {
    u64::MAX >> (64 - count) << first
}

/// Copies the values of some lanes, of so many words each, out of memory into the rows of a wave: word k of a lane is in row k.
/// `at` says where in memory a lane's value is; where the pattern has runs, only of the first lane of each.
#[inline]
pub fn copy_lanes(
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
    let mut rest = lanes;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        let run = if pattern.in_runs { pattern.run(lane) } else { Run { lanes: 1, same: true } };
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
            let values = &values[..count];
            let mut rows = rows.each_mut().map(|row| &mut row[lane..lane + count]);
            if W == 1 {
                // As a row, so that several lanes are copied at a time.
                for (word, value) in rows[0].iter_mut().zip(values) {
                    *word = u32::from_le_bytes(value[0]);
                }
            } else {
                for (i, value) in values.iter().enumerate() {
                    for (row, &word) in rows.iter_mut().zip(value) {
                        row[i] = u32::from_le_bytes(word);
                    }
                }
            }
        }
    }
}

/// Values of some lanes that lie side by side in memory, each of so many words, and the rows of a wave that they belong to:
/// word k of a lane is in row k.
#[derive(Debug, Clone)]
pub struct Side {
    /// Words of each value.
    pub words: usize,
    /// Lanes of a row.
    pub width: usize,
    /// The lanes that are meant.
    pub lanes: Range<usize>,
}

impl Side {
    /// Copies them from the rows into memory.
    #[inline]
    pub fn copy_to(&self, rows: &[u32], memory: &mut [u8]) {
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
    use crate::isa::Op;

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
