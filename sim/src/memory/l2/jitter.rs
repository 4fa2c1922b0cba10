//! Random delays on the way into a slice: for tests that want timings which no configuration has.

use super::Request;
use crate::clock::{Cycle, NEVER};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use std::collections::VecDeque;

/// Random delays of a run, as of a network whose paths are unequally loaded. They keep the order of a core's
/// requests to a slice, and so to a line, so they change nothing but time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jitter {
    /// Every slice draws from a stream of its own of this seed.
    pub seed: u64,
    /// One request of four waits 0 to so many cycles before it enters its slice's queue, each as likely; those
    /// of the same core behind it wait with it.
    pub cycles: u32,
}

/// The requests on their way into one slice.
#[derive(Debug, Clone)]
pub(super) struct Delays {
    generator: Pcg32,
    cycles: u64,
    /// Come in this cycle.
    arrived: Vec<Request>,
    /// By core: requests with the first cycle in which they may enter the queue.
    waiting: Vec<VecDeque<(Cycle, Request)>>,
    count: usize,
}

impl Delays {
    pub(super) fn new(jitter: Jitter, slice: usize) -> Delays {
        let seed = jitter.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ slice as u64;
        Delays {
            generator: Pcg32::seed_from_u64(seed),
            cycles: u64::from(jitter.cycles),
            arrived: Vec::new(),
            waiting: Vec::new(),
            count: 0,
        }
    }

    /// Requests that have not entered the queue.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Takes a request.
    pub(super) fn accept(&mut self, request: Request) {
        self.arrived.push(request);
        self.count += 1;
    }

    /// Gives the requests that have come this cycle their delays, and moves those whose time has come into
    /// the queue. Gives the cycle of the next.
    pub(super) fn release(&mut self, now: Cycle, queue: &mut VecDeque<Request>) -> Cycle {
        for request in self.arrived.drain(..) {
            let core = usize::from(request.core);
            if self.waiting.len() <= core {
                self.waiting.resize_with(core + 1, VecDeque::new);
            }
            let draw = u64::from(self.generator.next_u32());
            let delay = if draw % 4 == 0 { (draw * (self.cycles + 1)) >> 32 } else { 0 };
            self.waiting[core].push_back((now + delay, request));
        }
        let mut next = NEVER;
        for waiting in &mut self.waiting {
            let due = waiting.iter().take_while(|(at, _)| *at <= now).count();
            queue.extend(waiting.drain(..due).map(|(_, request)| request));
            self.count -= due;
            next = next.min(waiting.front().map_or(NEVER, |&(at, _)| at));
        }
        next
    }
}
