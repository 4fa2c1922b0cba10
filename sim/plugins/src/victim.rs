//! A victim cache between L1 and network: N. P. Jouppi, "Improving Direct-Mapped Cache Performance by the Addition of a
//! Small Fully-Associative Cache and Prefetch Buffers", ISCA 1990.
//!
//! It holds the lines that left the L1 last. A read of the L1 that it has all sectors of is answered from it, and the
//! line goes back into the L1. It holds no bytes that the L2 does not have.

use std::collections::VecDeque;
use wave_capture::Capture;
use wave_sim::plugin::{PathBlock, PathReply, PathRequest, PathSetup, Registry};

/// Registers it as `victim_cache`.
pub(crate) fn register(registry: &mut Registry) {
    registry
        .path("victim_cache", VictimCache::new)
        .doc("A small fully associative cache of the lines that left the L1 last (ISCA 1990).")
        .parameter("lines", 16, 1..=4096, "lines", "Lines that it holds.")
        .parameter(
            "latency_cycles",
            4,
            1..=1000,
            "cycles",
            "Cycles from a read that leaves the L1 to its answer.",
        )
        .counter("hits", "reads", "Reads of the L1 that it answered.")
        .counter("misses", "reads", "Reads of the L1 that went on to the L2.");
}

/// A line that left the L1.
#[derive(Debug, Clone, Capture)]
struct Victim {
    line: u64,
    /// Bit s: sector s is valid.
    sectors: u8,
    data: Vec<u8>,
}

#[derive(Debug, Capture)]
struct VictimCache {
    #[spec]
    most: usize,
    #[spec]
    latency: u64,
    #[spec]
    sector_bytes: usize,
    /// The line that came last is at the back.
    victims: VecDeque<Victim>,
    hits: u64,
    misses: u64,
}

impl VictimCache {
    fn new(setup: &PathSetup) -> VictimCache {
        VictimCache {
            most: setup.parameter("lines") as usize,
            latency: setup.parameter("latency_cycles"),
            sector_bytes: setup.sector_bytes as usize,
            victims: VecDeque::new(),
            hits: 0,
            misses: 0,
        }
    }

    fn find(&self, line: u64) -> Option<usize> {
        self.victims.iter().position(|victim| victim.line == line)
    }
}

impl PathBlock for VictimCache {
    fn request(&mut self, _: u64, line: u64, request: &PathRequest<'_>) -> Option<PathReply> {
        let place = self.find(line);
        match *request {
            PathRequest::Read { sectors, uncached: false } => {
                let Some(place) = place.filter(|&place| sectors & !self.victims[place].sectors == 0) else {
                    self.misses += 1;
                    return None;
                };
                self.hits += 1;
                let victim = self.victims.remove(place)?;
                Some(PathReply { latency: self.latency, data: victim.data })
            }
            PathRequest::Read { uncached: true, .. } => None,
            PathRequest::Write { bytes, data } => {
                if let Some(place) = place {
                    let victim = &mut self.victims[place];
                    for at in (0..victim.data.len()).filter(|at| bytes >> at & 1 != 0) {
                        victim.data[at] = data[at];
                    }
                }
                None
            }
            // What the L2 makes of it is not known here.
            PathRequest::Atomic { bytes } => {
                if let Some(place) = place {
                    for at in (0..self.victims[place].data.len()).filter(|at| bytes >> at & 1 != 0) {
                        self.victims[place].sectors &= !(1 << (at / self.sector_bytes));
                    }
                }
                None
            }
        }
    }

    fn evicted(&mut self, _: u64, line: u64, sectors: u8, data: &[u8]) {
        if sectors == 0 {
            return;
        }
        if let Some(place) = self.find(line) {
            self.victims.remove(place);
        }
        if self.victims.len() == self.most {
            self.victims.pop_front();
        }
        self.victims.push_back(Victim { line, sectors, data: data.to_vec() });
    }

    fn installed(&mut self, _: u64, line: u64) {
        // The L1 has what is newer.
        if let Some(place) = self.find(line) {
            self.victims.remove(place);
        }
    }

    fn invalidate(&mut self) {
        self.victims.clear();
    }

    fn counters(&self) -> Vec<u64> {
        vec![self.hits, self.misses]
    }
}
