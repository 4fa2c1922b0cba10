//! Random delays of requests on their way into a slice, for tests that need timings which no configuration
//! has (M20a).

use super::Request;
use crate::clock::{Cycle, NEVER};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use std::collections::VecDeque;
use wave_capture::{Capture, Misfit};

/// Random delays of a run, as in a network with unevenly loaded paths. A core's requests to a slice, and so
/// to a line, stay in order: the delays change nothing but time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jitter {
    /// Seed. Every slice draws from a stream of its own.
    pub seed: u64,
    /// One request in four waits before it enters its slice's queue: 0 to this many cycles, each equally
    /// likely. Requests of the same core behind it wait with it.
    pub cycles: u32,
}

/// The requests on their way into one slice.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(super) struct Delays {
    generator: Pcg32,
    cycles: u64,
    /// Requests that came in this cycle.
    arrived: Vec<Request>,
    /// Per core: requests, each with the first cycle in which it may enter the queue.
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

    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.cycles <= u64::from(u32::MAX), "cycles")?;
        Misfit::agrees(self.requests().count() == self.count, "count")
    }

    /// The requests.
    pub(super) fn requests(&self) -> impl Iterator<Item = &Request> {
        self.arrived.iter().chain(self.waiting.iter().flatten().map(|(_, request)| request))
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

    /// Draws the delays of the requests that came in this cycle, and moves those that are due into the queue.
    /// Returns the cycle of the next one.
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
