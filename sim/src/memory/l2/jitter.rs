//! Random delays at the head of a slice's queue: for tests that want timings which no configuration has.

use crate::clock::Cycle;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;

/// Random delays of a run. They keep the order of a slice's requests, so they change nothing but time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jitter {
    /// Every slice draws from a stream of its own of this seed.
    pub seed: u64,
    /// A request waits 0 to so many cycles at the head of its slice's queue, each as likely.
    pub cycles: u32,
}

/// The delays of one slice.
#[derive(Debug, Clone)]
pub(super) struct HeadDelay {
    generator: Pcg32,
    cycles: u32,
    /// The cycle from which on the request at the head may go, once it has been drawn.
    release: Option<Cycle>,
}

impl HeadDelay {
    pub(super) fn new(jitter: Jitter, slice: usize) -> HeadDelay {
        let seed = jitter.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ slice as u64;
        HeadDelay { generator: Pcg32::seed_from_u64(seed), cycles: jitter.cycles, release: None }
    }

    /// The cycle until which the request at the head waits, if it does now.
    pub(super) fn holds(&mut self, now: Cycle) -> Option<Cycle> {
        let (generator, cycles) = (&mut self.generator, u64::from(self.cycles));
        let draw = || now + (u64::from(generator.next_u32()) * (cycles + 1) >> 32);
        let release = *self.release.get_or_insert_with(draw);
        (release > now).then_some(release)
    }

    /// The request at the head is gone.
    pub(super) fn next(&mut self) {
        self.release = None;
    }
}
