//! Random contents. All of them come from PCG-XSH-RR 64/32, whose values are the same everywhere, through the
//! arithmetic below. So a seed means the same data on every machine and in every version.

use fnv::FnvHasher;
use rand::Rng;
use rand_pcg::Pcg32;
use std::hash::Hasher;

/// A generator for one use: the seed of the launch file, with a stream derived from the name of what it
/// fills. So contents do not depend on the order of buffers.
#[derive(Debug)]
pub(crate) struct Random {
    pcg: Pcg32,
}

impl Random {
    /// The generator for the use with this name.
    pub(crate) fn new(seed: u64, name: &str) -> Random {
        let mut stream = FnvHasher::default();
        stream.write(name.as_bytes());
        Random { pcg: Pcg32::new(seed, stream.finish()) }
    }

    /// Uniform in 0 .. bound: the high half of a 64-bit product. A bias of at most bound / 2^32 is accepted.
    ///
    /// `bound` is at most 2^32.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        u64::from(self.pcg.next_u32()).wrapping_mul(bound) >> 32
    }

    /// Uniform in low ..= high, which are at most 2^32 apart.
    pub(super) fn integer(&mut self, low: i64, high: i64) -> i64 {
        let values = high.wrapping_sub(low) as u64 + 1;
        low + self.below(values.min(1 << 32)) as i64
    }

    /// Uniform in [low, high): 53 random bits.
    pub(super) fn float(&mut self, low: f64, high: f64) -> f64 {
        let bits = (u64::from(self.pcg.next_u32()) << 32 | u64::from(self.pcg.next_u32())) >> 11;
        low + (high - low) * (bits as f64 / (1u64 << 53) as f64)
    }

    /// A permutation of 0 .. length that is a single cycle (Sattolo's algorithm).
    pub(super) fn cycle(&mut self, length: usize) -> Vec<u32> {
        let mut next: Vec<u32> = (0..length as u32).collect();
        for i in (1..length).rev() {
            next.swap(i, self.below(i as u64) as usize);
        }
        next
    }

    /// A matrix in compressed rows: offsets (rows + 1) and columns, each entry in a random row and column.
    pub(super) fn csr(&mut self, rows: usize, columns: usize, entries: usize) -> Csr {
        let mut offsets = vec![0u32; rows + 1];
        let row_of: Vec<usize> = (0..entries).map(|_| self.below(rows as u64) as usize).collect();
        for row in row_of {
            offsets[row + 1] += 1;
        }
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        Csr { offsets, columns: (0..entries).map(|_| self.below(columns as u64) as u32).collect() }
    }
}

/// The pattern of a sparse matrix in compressed rows.
#[derive(Debug)]
pub(crate) struct Csr {
    /// First entry of each row, and the number of entries.
    pub offsets: Vec<u32>,
    /// Column of each entry.
    pub columns: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_name_mean_these_values_for_good() {
        let mut random = Random::new(1, "x");
        let words: Vec<u64> = (0..4).map(|_| random.below(1 << 32)).collect();
        assert_eq!(words, [562_993_918, 2_454_250_917, 3_905_608_913, 959_046_584]);
        assert_ne!(Random::new(2, "x").below(1 << 32), words[0]);
        assert_ne!(Random::new(1, "y").below(1 << 32), words[0]);
    }

    #[test]
    fn values_stay_in_their_range_and_reach_its_ends() {
        let mut random = Random::new(1, "range");
        let values: Vec<i64> = (0..1000).map(|_| random.integer(-2, 2)).collect();
        assert!((-2..=2).all(|v| values.contains(&v)) && values.iter().all(|v| (-2..=2).contains(v)));
        assert!((0..1000).map(|_| random.float(-1.0, 1.0)).all(|v| (-1.0..1.0).contains(&v)));
        assert_eq!(random.integer(7, 7), 7);
    }

    #[test]
    fn a_cycle_visits_everything() {
        for length in [1, 2, 3, 100] {
            let next = Random::new(1, "cycle").cycle(length);
            let mut at = 0;
            let mut visited = vec![false; length];
            for _ in 0..length {
                visited[at] = true;
                at = next[at] as usize;
            }
            assert!(at == 0 && visited.iter().all(|&v| v), "{next:?}");
        }
    }

    #[test]
    fn compressed_rows_have_all_their_entries() {
        let csr = Random::new(1, "csr").csr(10, 7, 1000);
        assert_eq!((csr.offsets.len(), csr.columns.len()), (11, 1000));
        assert_eq!((csr.offsets[0], csr.offsets[10]), (0, 1000));
        assert!(csr.offsets.windows(2).all(|w| w[0] <= w[1] && w[1] - w[0] > 50));
        assert!(csr.columns.iter().all(|&c| c < 7));
    }
}
