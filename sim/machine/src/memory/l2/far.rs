//! Requests between partitions: the way of a core's packets to a slice of another partition (M39).

use super::Request;
use crate::clock::{Cycle, NEVER};
use crate::config::Config;
use std::collections::VecDeque;
use std::ops::Range;
use wave_capture::Capture;

/// The requests of cores of other partitions on their way into one slice.
///
/// The way there and the way back are one delay before the slice: a core sees their sum only. So the replies of a slice
/// keep the order in which it made them.
#[derive(Debug, Clone, Capture)]
pub(super) struct Far {
    /// Cores of the slice's partition.
    #[spec]
    near: Range<u32>,
    #[spec]
    round_trip: Cycle,
    /// Requests, each with the first cycle in which it may enter the queue.
    waiting: VecDeque<(Cycle, Request)>,
}

impl Far {
    /// The way into slice `slice`. A machine without distant partitions has none.
    pub(super) fn new(config: &Config, slice: u32) -> Option<Box<Far>> {
        let l2 = &config.l2;
        if l2.partitions == 1 || l2.partition_latency_cycles == 0 {
            return None;
        }
        let partition = slice / (l2.slices / l2.partitions);
        let cores = config.cores / l2.partitions;
        let round_trip = 2 * Cycle::from(l2.partition_latency_cycles);
        let near = partition * cores..(partition + 1) * cores;
        Some(Box::new(Far { near, round_trip, waiting: VecDeque::new() }))
    }

    /// True if a request comes from another partition.
    pub(super) fn is_way_of(&self, request: &Request) -> bool {
        !self.near.contains(&u32::from(request.core))
    }

    /// Takes a request. Returns the cycle in which it may enter the queue.
    pub(super) fn accept(&mut self, now: Cycle, request: Request) -> Cycle {
        let arrival = now + self.round_trip;
        self.waiting.push_back((arrival, request));
        arrival
    }

    /// The request that may enter the queue now.
    pub(super) fn arrive(&mut self, now: Cycle) -> Option<Request> {
        let &(at, _) = self.waiting.front()?;
        if at > now { None } else { self.waiting.pop_front().map(|(_, request)| request) }
    }

    /// The first cycle in which a request may enter the queue; [`NEVER`] if there is none.
    pub(super) fn next(&self) -> Cycle {
        self.waiting.front().map_or(NEVER, |&(at, _)| at)
    }

    /// The requests, each with the first cycle in which it may enter the queue, in its order.
    pub(super) fn waiting(&self) -> &VecDeque<(Cycle, Request)> {
        &self.waiting
    }
}
