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
/// In one of this many, replies come later than any counter of a core lasts, and as many requests are under way as it has
/// entries: the latencies in cycles, and the requests.
const FAR: u32 = 24;
const FAR_LATENCIES: (u32, u32) = (300, 6000);
const MANY_IN_SERVICE: usize = 64;
/// One in this many nests as deep as the machine allows, or a little deeper.
const DEEP: u32 = 12;
/// In one of this many, device memory lies at high addresses. It ends behind a power of two from this one on, by at most
/// so many bytes, or at the last address at which an access outside of it still is one.
const HIGH: u32 = 4;
const LEAST_HIGH: u32 = 16;
const AROUND: u32 = 4096;
const LAST_END: u32 = 0xFFFF_FF00;
/// In one of this many, the core is reset before the run that is compared, after less than so many cycles.
const RESET: u32 = 5;
const LAST_RESET: u32 = 3000;
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
        let mut rng = Pcg64Mcg::seed_from_u64(!seed);
        let mut one_in = |n: u32| rng.random_range(0..n) == 0;
        let (high, deep, resets, far) = (one_in(HIGH), one_in(DEEP), one_in(RESET), one_in(FAR));
        let bounds = latency.unwrap_or(match seed % 4 {
            _ if far => FAR_LATENCIES,
            0 => (1, 3),
            1 => (5, 40),
            2 => (1, 200),
            _ => (2, 12),
        });
        if high {
            options.end = match rng.random_range(LEAST_HIGH..=32) {
                32 => LAST_END,
                bit => (1 << bit) + rng.random_range(0..AROUND),
            };
        }
        if deep {
            options.deepest = Some((config.core.divergence_depth, config.core.call_depth));
        }
        let reset_after = if resets { rng.random_range(1..LAST_RESET) } else { 0 };
        let tree = grow(seed, &options);
        let in_service = if far { MANY_IN_SERVICE } else { IN_SERVICE };
        let overtakes = seed % OVERTAKE == OVERTAKE - 1;
        let script = Script { first: tree.first, reset_after, in_service, overtakes, ..script(seed, bounds) };
        Trial { tree, script }
    }
}

/// A memory side whose latencies lie between two bounds, in cycles. It replies in order.
pub fn script(seed: u64, (from, to): (u32, u32)) -> Script {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let latencies = (0..LATENCIES).map(|_| rng.random_range(from..=to)).collect();
    Script { first: 0, reset_after: 0, latencies, in_service: IN_SERVICE, overtakes: false }
}
