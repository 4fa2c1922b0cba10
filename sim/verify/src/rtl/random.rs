//! Random programs for comparisons, identical for the same seed in the command and in the tests.

use crate::generate::{Options, Tree, grow};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wave_machine::config::Config;
use wave_machine::memory::Script;

/// Number of latencies in a script.
const LATENCIES: usize = 251;
/// Requests that a scripted memory side works on at a time.
const IN_SERVICE: usize = 8;
/// One in this many programs has a faulting instruction.
const FAULTS: u64 = 5;
/// In one of this many, replies to different lines overtake one another.
const OVERTAKE: u64 = 3;
/// Nodes of a short program, and its most threads.
const SHORT: (u32, u32) = (10, 24);

/// A random program and its memory side.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The program, which can be shrunk.
    pub tree: Tree,
    /// The memory side.
    pub script: Script,
}

impl Trial {
    /// The trial of a seed on a machine, with a short or a long program. The memory side replies between
    /// immediately and so late that every queue is full, unless `latency` gives bounds in cycles, and in order or not.
    pub fn of(config: &Config, seed: u64, short: bool, latency: Option<(u32, u32)>) -> Trial {
        let (fault, pairs) = (seed % FAULTS == FAULTS - 1, short || seed % 2 == 1);
        let mut options = Options { fault, pairs, ..Options::of(config) };
        if short {
            (options.nodes, options.max_threads) = SHORT;
        }
        let bounds = latency.unwrap_or(match seed % 4 {
            0 => (1, 3),
            1 => (5, 40),
            2 => (1, 200),
            _ => (2, 12),
        });
        let overtakes = seed % OVERTAKE == OVERTAKE - 1;
        Trial { tree: grow(seed, &options), script: Script { overtakes, ..script(seed, bounds) } }
    }
}

/// A memory side whose latencies lie between two bounds, in cycles. It replies in order.
pub fn script(seed: u64, (from, to): (u32, u32)) -> Script {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let latencies = (0..LATENCIES).map(|_| rng.random_range(from..=to)).collect();
    Script { latencies, in_service: IN_SERVICE, overtakes: false }
}
