//! Cache-conscious wavefront scheduling: T. G. Rogers, M. O'Connor, T. M. Aamodt, "Cache-Conscious Wavefront
//! Scheduling", MICRO 2012.
//!
//! Each wave has a small directory of the lines that it used and lost from the L1 (its victim tags). A miss that finds
//! its line there is lost locality: the wave would have hit if fewer waves had shared the cache. It raises the score of
//! the wave. The scores of all waves are stacked; the base score of a wave is its share of the cache. Waves whose part
//! of the stack lies above the total of the base scores may not issue loads. Scores fall back with time, so the
//! throttle opens again.

use std::collections::BTreeMap;
use wave_capture::Capture;
use wave_sim::plugin::{
    Choice, L1Event, L1EventKind, L1Outcome, ReferenceKind, Registry, SchedulerSetup, WarpScheduler,
};

/// Registers it as `ccws`.
pub(crate) fn register(registry: &mut Registry) {
    registry
        .scheduler("ccws", Ccws::new)
        .doc("Greedy then oldest, and waves that take the L1 from others issue no loads (CCWS, MICRO 2012).")
        .parameter("base_score", 100, 1..=10_000, "points", "Score of a wave that has lost no locality.")
        .parameter(
            "gain",
            4,
            1..=64,
            "parts of 16",
            "Throttling strength: how much of the cutoff a lost line takes.",
        )
        .parameter("victim_tags", 8, 1..=256, "lines", "Lines that the directory of a wave remembers.")
        .parameter(
            "decay",
            64,
            1..=100_000,
            "cycles",
            "Cycles in which a score above the base falls by a point.",
        )
        .counter("lost_locality", "accesses", "Misses on lines that the wave itself had used and lost.")
        .counter(
            "throttled_issues",
            "wave instructions",
            "Instructions issued while some wave was not allowed to load.",
        );
}

/// Lost lines and score of a wave.
#[derive(Debug, Clone, Default, Capture)]
struct Wave {
    /// Lines that it lost, oldest first.
    victims: Vec<u64>,
    /// Points above the base score, at `since`.
    score: u64,
    since: u64,
}

/// The policy of one scheduler. It follows all waves of the core, because they share the L1.
#[derive(Debug, Capture)]
struct Ccws {
    #[spec]
    base: u64,
    #[spec]
    gain: u64,
    #[spec]
    tags: usize,
    #[spec]
    decay: u64,
    waves: Vec<Wave>,
    /// Slots with a wave.
    resident: u64,
    /// The wave that used a line last.
    users: BTreeMap<u64, usize>,
    /// Order of arrival of the wave in each slot.
    arrivals: Vec<u64>,
    arrived: u64,
    lost_locality: u64,
    throttled_issues: u64,
}

impl Ccws {
    fn new(setup: &SchedulerSetup) -> Ccws {
        Ccws {
            base: setup.parameter("base_score"),
            gain: setup.parameter("gain"),
            tags: setup.parameter("victim_tags") as usize,
            decay: setup.parameter("decay"),
            waves: vec![Wave::default(); setup.wave_slots],
            resident: 0,
            users: BTreeMap::new(),
            arrivals: vec![0; setup.wave_slots],
            arrived: 0,
            lost_locality: 0,
            throttled_issues: 0,
        }
    }

    /// Points above the base score of a wave in a cycle.
    fn score(&self, slot: usize, now: u64) -> u64 {
        let wave = &self.waves[slot];
        wave.score.saturating_sub((now - wave.since) / self.decay)
    }

    /// The waves that may load: the highest scores first, as far as the stack stays below the total of the base scores.
    fn allowed(&self, now: u64) -> u64 {
        let mut order: Vec<usize> =
            (0..self.waves.len()).filter(|slot| self.resident >> slot & 1 != 0).collect();
        let cutoff = self.base * order.len() as u64;
        order.sort_by_key(|&slot| (u64::MAX - self.score(slot, now), self.arrivals[slot]));
        let (mut height, mut allowed) = (0, 0);
        for slot in order {
            height += self.base + self.score(slot, now);
            // The first wave always goes on.
            if height > cutoff && allowed != 0 {
                break;
            }
            allowed |= 1 << slot;
        }
        allowed
    }

    fn is_throttling(&self, now: u64) -> bool {
        (0..self.waves.len()).any(|slot| self.resident >> slot & 1 != 0 && self.score(slot, now) > 0)
    }
}

impl WarpScheduler for Ccws {
    fn pick(&mut self, choice: &Choice<'_>) -> Option<usize> {
        let mut may = choice.ready;
        if self.is_throttling(choice.now) {
            may &= !choice.loads | self.allowed(choice.now);
        }
        if may == 0 {
            return None;
        }
        Some(if may >> choice.last_issued & 1 != 0 { choice.last_issued } else { choice.oldest(may) })
    }

    fn next_change(&self, now: u64) -> u64 {
        let falls = |slot: usize| {
            let wave = &self.waves[slot];
            (self.score(slot, now) > 0)
                .then(|| wave.since + ((now - wave.since) / self.decay + 1) * self.decay)
        };
        (0..self.waves.len())
            .filter(|slot| self.resident >> slot & 1 != 0)
            .filter_map(falls)
            .min()
            .unwrap_or(u64::MAX)
    }

    fn issued(&mut self, now: u64, _: usize, _: bool) {
        self.throttled_issues += u64::from(self.is_throttling(now));
    }

    fn arrived(&mut self, now: u64, slot: usize) {
        self.resident |= 1 << slot;
        self.arrived += 1;
        self.arrivals[slot] = self.arrived;
        self.waves[slot] = Wave { since: now, ..Wave::default() };
    }

    fn ended(&mut self, _: u64, slot: usize) {
        self.resident &= !(1 << slot);
    }

    fn l1(&mut self, event: &L1Event) {
        let line = event.reference.line;
        match event.kind {
            L1EventKind::Evicted => {
                if let Some(slot) = self.users.remove(&line) {
                    let victims = &mut self.waves[slot].victims;
                    if victims.len() == self.tags {
                        victims.remove(0);
                    }
                    victims.push(line);
                }
            }
            L1EventKind::Access(outcome) => {
                let (Some(slot), ReferenceKind::Load) = (event.reference.by.slot(), event.reference.kind)
                else {
                    return;
                };
                if outcome == L1Outcome::Miss
                    && let Some(place) = self.waves[slot].victims.iter().position(|&victim| victim == line)
                {
                    self.waves[slot].victims.remove(place);
                    // The paper's score of a lost line grows with the throttle's strength; here in parts of the cutoff.
                    let cutoff = self.base * u64::from(self.resident.count_ones());
                    self.waves[slot].score = self.score(slot, event.now).max(self.gain * cutoff / 16);
                    self.waves[slot].since = event.now;
                    self.lost_locality += 1;
                }
                self.users.insert(line, slot);
            }
        }
    }

    fn counters(&self) -> Vec<u64> {
        vec![self.lost_locality, self.throttled_issues]
    }
}
