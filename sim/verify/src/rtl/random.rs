//! Random programs for comparisons, identical for the same seed in the command and in the tests.

use super::stimulus::{Beginning, Earlier};
use crate::generate::{Case, Options, Tree, grow};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
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
/// One in this many has launches before it on the core, at most so many. Each ends by itself, or with a reset after less
/// than so many cycles. One in two is the program itself.
const EARLIER: u32 = 5;
const MOST_EARLIER: u32 = 3;
const LAST_RESET: u32 = 3000;
const LONGEST: u32 = 20_000;
/// Nodes of a short program, and its most threads.
const SHORT: (u32, u32) = (10, 24);

/// A random program, its memory side, and what the other side has behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The program, which can be shrunk.
    pub tree: Tree,
    /// The memory side.
    pub side: Side,
    /// Seed of what reset does not set.
    pub state: u32,
    /// Programs that run before on the other side, and the cycles after which each ends at the latest.
    pub earlier: Vec<(Tree, u32)>,
}

/// A memory side: what its script is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// Seed of the latencies.
    pub seed: u64,
    /// Least and greatest latency, cycles.
    pub latencies: (u32, u32),
    /// Most requests that are taken and not answered.
    pub in_service: usize,
    /// Replies to different lines may overtake one another.
    pub overtakes: bool,
}

impl Side {
    /// A memory side that replies in order.
    pub fn in_order(seed: u64, latencies: (u32, u32)) -> Side {
        Side { seed, latencies, in_service: IN_SERVICE, overtakes: false }
    }

    /// Its script, for memory that begins at an address.
    pub fn script(&self, first: u32) -> Script {
        let &Side { seed, latencies: (from, to), in_service, overtakes } = self;
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let latencies = (0..LATENCIES).map(|_| rng.random_range(from..=to)).collect();
        Script { first, latencies, in_service, overtakes }
    }
}

impl Trial {
    /// The trial of a seed on a machine, with a short or a long program. The memory side replies between
    /// immediately and so late that every queue is full, unless `latency` gives bounds in cycles, and in order or not.
    pub fn of(config: &Config, seed: u64, short: bool, latency: Option<(u32, u32)>) -> Trial {
        let mut options = Options { fault: seed % FAULTS == FAULTS - 1, ..Trial::options(config, short) };
        options.pairs |= seed % 2 == 1;
        let mut rng = Pcg64Mcg::seed_from_u64(!seed);
        let mut one_in = |n: u32| rng.random_range(0..n) == 0;
        let (high, deep, before, far) = (one_in(HIGH), one_in(DEEP), one_in(EARLIER), one_in(FAR));
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
        let tree = grow(seed, &options);
        let in_service = if far { MANY_IN_SERVICE } else { IN_SERVICE };
        let overtakes = seed % OVERTAKE == OVERTAKE - 1;
        let side = Side { seed, latencies: bounds, in_service, overtakes };
        let earlier = if before { Trial::earlier(config, &tree, &mut rng) } else { Vec::new() };
        Trial { tree, side, state: seed as u32, earlier }
    }

    /// What programs may have on a machine, which are short or long.
    pub(crate) fn options(config: &Config, short: bool) -> Options {
        let mut options = Options { pairs: short, ..Options::of(config) };
        if short {
            (options.nodes, options.max_threads) = SHORT;
        }
        options
    }

    /// Programs that run before one.
    pub(crate) fn earlier(config: &Config, tree: &Tree, rng: &mut Pcg64Mcg) -> Vec<(Tree, u32)> {
        let count = rng.random_range(1..=MOST_EARLIER);
        let mut before = || {
            let cut_off = rng.random_range(0..2) == 0;
            let cycles = if cut_off { rng.random_range(1..LAST_RESET) } else { LONGEST };
            let itself = rng.random_range(0..2) == 0;
            let other = rng.random_range(0..u64::MAX);
            (if itself { tree.clone() } else { grow(other, &Trial::options(config, true)) }, cycles)
        };
        (0..count).map(|_| before()).collect()
    }

    /// The script of its memory side.
    pub fn script(&self) -> Script {
        self.side.script(self.tree.first)
    }

    /// What the other side has behind it when the program begins.
    pub fn beginning(&self) -> Beginning {
        let launch = |(tree, cycles): &(Tree, u32)| {
            let Case { program, launch, memory } = tree.case();
            Earlier { program, launch, memory, first: tree.first, cycles: *cycles }
        };
        Beginning { seed: self.state, earlier: self.earlier.iter().map(launch).collect() }
    }
}
