//! The line that was used least recently leaves.

use super::Policy;
use crate::stats::MOST;
use std::ops::Range;
use wave_capture::{Capture, Misfit};

#[derive(Debug, Clone, Capture)]
#[sound]
pub(in crate::memory) struct Lru {
    /// Per frame, the number of its last use; 0 precedes every use.
    #[fixed]
    last_use: Vec<u64>,
    uses: u64,
}

impl Lru {
    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.uses <= MOST, "uses")
    }
}

impl Policy for Lru {
    fn new(sets: usize, ways: usize) -> Lru {
        Lru { last_use: vec![0; sets * ways], uses: 0 }
    }

    #[inline]
    fn victim(&self, set: Range<usize>, may_leave: impl Fn(usize) -> bool) -> Option<usize> {
        let mut victim = None;
        let mut oldest = u64::MAX;
        for (frame, &used) in set.clone().zip(&self.last_use[set]) {
            if used < oldest && may_leave(frame) {
                oldest = used;
                victim = Some(frame);
            }
        }
        victim
    }

    #[inline]
    fn installed(&mut self, _: usize) {}

    #[inline]
    fn used(&mut self, frame: usize) {
        self.uses += 1;
        self.last_use[frame] = self.uses;
    }

    #[inline]
    fn demoted(&mut self, frame: usize) {
        self.last_use[frame] = 0;
    }
}
