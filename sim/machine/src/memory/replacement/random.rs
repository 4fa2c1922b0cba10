//! Any line leaves, whatever was used. Every cache has the same seed, so runs repeat.

use super::Policy;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::ops::Range;
use wave_capture::{Capture, Misfit};

#[derive(Debug, Clone, Capture)]
#[sound]
pub(in crate::memory) struct Random {
    #[spec]
    ways: u32,
    generator: Pcg32,
    /// The way at which the search for the next victim begins. It is drawn when a line is installed, so that
    /// asking for the victim changes nothing.
    start: u32,
}

impl Random {
    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.start < self.ways, "start")
    }
}

impl Policy for Random {
    fn new(_: usize, ways: usize) -> Random {
        Random { ways: ways as u32, generator: Pcg32::seed_from_u64(0), start: 0 }
    }

    #[inline]
    fn victim(&self, set: Range<usize>, may_leave: impl Fn(usize) -> bool) -> Option<usize> {
        let start = set.start + self.start as usize;
        (start..set.end).chain(set.start..start).find(|&frame| may_leave(frame))
    }

    #[inline]
    fn installed(&mut self, _: usize) {
        self.start = self.generator.random_range(0..self.ways);
    }

    #[inline]
    fn used(&mut self, _: usize) {}

    #[inline]
    fn demoted(&mut self, _: usize) {}
}
