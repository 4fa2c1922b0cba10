//! The line that came first leaves, however often it was used since.

use super::Policy;
use crate::stats::MOST;
use std::ops::Range;
use wave_capture::{Capture, Misfit};

#[derive(Debug, Clone, Capture)]
#[sound]
pub(in crate::memory) struct Fifo {
    /// Per frame, the place of its line in the order of arrival; 0, before all others, until its first use that is
    /// not streaming.
    #[fixed]
    place: Vec<u64>,
    arrivals: u64,
}

impl Fifo {
    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.arrivals <= MOST, "arrivals")
    }
}

impl Policy for Fifo {
    fn new(sets: usize, ways: usize) -> Fifo {
        Fifo { place: vec![0; sets * ways], arrivals: 0 }
    }

    #[inline]
    fn victim(&self, set: Range<usize>, may_leave: impl Fn(usize) -> bool) -> Option<usize> {
        set.filter(|&frame| may_leave(frame)).min_by_key(|&frame| self.place[frame])
    }

    #[inline]
    fn installed(&mut self, frame: usize) {
        self.place[frame] = 0;
    }

    #[inline]
    fn used(&mut self, frame: usize) {
        if self.place[frame] == 0 {
            self.arrivals += 1;
            self.place[frame] = self.arrivals;
        }
    }

    #[inline]
    fn demoted(&mut self, frame: usize) {
        self.place[frame] = 0;
    }
}
