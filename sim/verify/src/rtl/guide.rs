//! Random programs that follow what earlier ones have met in the RTL: most are a program that met something first, with
//! a few changes.
//!
//! Programs come in generations. Those of a generation depend on the seed and on what the generations before have met, so
//! they are the same however many run at a time.

use super::events::Events;
use super::random::{Side, Trial};
use crate::generate::mutate;
use fnv::{FnvHashMap, FnvHasher};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::HashSet;
use std::hash::Hasher;
use wave_machine::config::Config;

/// Programs of a generation.
const GENERATION: usize = 32;
/// One program in this many is a new one.
const NEW: u32 = 4;
/// Of so many programs that may be changed, the one is taken that was taken least.
const CANDIDATES: usize = 3;
/// One changed program in this many gets another memory side, and one in this many other launches before it.
const OTHER_SIDE: u32 = 3;
const OTHER_BEGINNING: u32 = 8;
/// Bounds of the latencies of a memory side, cycles.
const LATENCIES: [(u32, u32); 7] = [(1, 1), (1, 3), (2, 12), (5, 40), (1, 200), (20, 24), (100, 2000)];
/// Requests that are under way at most.
const IN_SERVICE: [usize; 5] = [1, 2, 4, 8, 64];

/// A program that has met something in fewer cycles than all others.
#[derive(Debug)]
struct Entry {
    trial: Trial,
    bins: Vec<u64>,
    cycles: u64,
    /// Bins that it has met in the fewest cycles.
    best_of: u32,
    taken: u32,
}

/// What has been met so far, and by which program in the fewest cycles.
#[derive(Debug)]
pub struct Guide<'a> {
    config: &'a Config,
    seed: u64,
    entries: Vec<Entry>,
    best: FnvHashMap<u64, usize>,
    /// Programs to run before all others.
    first: Vec<Trial>,
    made: u64,
}

impl<'a> Guide<'a> {
    /// A guide that begins with programs of a corpus.
    pub fn new(config: &'a Config, seed: u64, corpus: Vec<Trial>) -> Guide<'a> {
        Guide { config, seed, entries: Vec::new(), best: FnvHashMap::default(), first: corpus, made: 0 }
    }

    /// The programs of the next generation.
    pub fn generation(&mut self) -> Vec<Trial> {
        if !self.first.is_empty() {
            return std::mem::take(&mut self.first);
        }
        let alive: Vec<usize> = (0..self.entries.len()).filter(|&i| self.entries[i].best_of > 0).collect();
        (0..GENERATION).map(|_| self.next(&alive)).collect()
    }

    fn next(&mut self, alive: &[usize]) -> Trial {
        let number = self.seed.wrapping_add(self.made);
        self.made += 1;
        let mut rng = Pcg64Mcg::seed_from_u64(number ^ 0x6775_6964_6564);
        if alive.is_empty() || rng.random_range(0..NEW) == 0 {
            return Trial::of(self.config, number, true, None);
        }
        let mut some = || alive[rng.random_range(0..alive.len() as u32) as usize];
        let candidates: [usize; CANDIDATES] = std::array::from_fn(|_| some());
        let mate = some();
        let chosen = candidates.into_iter().min_by_key(|&i| self.entries[i].taken).unwrap_or(mate);
        self.entries[chosen].taken += 1;
        let (parent, mate) = (&self.entries[chosen].trial, &self.entries[mate].trial);
        let options = Trial::options(self.config, true);
        let tree = mutate(&parent.tree, &mate.tree, rng.random_range(0..u64::MAX), &options);
        let side = match rng.random_range(0..OTHER_SIDE) {
            0 => Side {
                seed: rng.random_range(0..u64::MAX),
                latencies: LATENCIES[rng.random_range(0..LATENCIES.len() as u32) as usize],
                in_service: IN_SERVICE[rng.random_range(0..IN_SERVICE.len() as u32) as usize],
                overtakes: rng.random_range(0..2) == 0,
            },
            _ => parent.side,
        };
        let earlier = match rng.random_range(0..OTHER_BEGINNING) {
            0 => Trial::earlier(self.config, &mate.tree, &mut rng),
            1 => Vec::new(),
            _ => parent.earlier.clone(),
        };
        Trial { tree, side, state: number as u32, earlier }
    }

    /// Takes note of what a program has met. True if it is new, or if no program has met it in so few cycles.
    pub fn learn(&mut self, trial: &Trial, events: &Events, cycles: u64) -> bool {
        let bins: Vec<u64> = events.bins().collect();
        let number = self.entries.len();
        let mut best_of = 0;
        for &bin in &bins {
            let before = self.best.get(&bin).copied();
            if before.is_some_and(|before| self.entries[before].cycles <= cycles) {
                continue;
            }
            if let Some(before) = before {
                self.entries[before].best_of -= 1;
            }
            self.best.insert(bin, number);
            best_of += 1;
        }
        if best_of > 0 {
            self.entries.push(Entry { trial: trial.clone(), bins, cycles, best_of, taken: 0 });
        }
        best_of > 0
    }

    /// Bins that were met.
    pub fn bins(&self) -> usize {
        self.best.len()
    }

    /// Few programs that meet together what all have met: each time the one that adds most for its cycles. At most so many,
    /// and how many bins they meet.
    pub fn minimal(&self, most: usize) -> (Vec<&Trial>, usize) {
        let mut left: HashSet<u64> = self.best.keys().copied().collect();
        let mut entries: Vec<&Entry> = self.entries.iter().collect();
        let mut chosen = Vec::new();
        while !left.is_empty() && chosen.len() < most {
            let gain = |entry: &Entry| {
                let new = entry.bins.iter().filter(|bin| left.contains(bin)).count();
                new as f64 / (entry.cycles + STARTING_CYCLES) as f64
            };
            // What adds nothing never will.
            entries.retain(|entry| entry.bins.iter().any(|bin| left.contains(bin)));
            let gains = entries.iter().map(|entry| gain(entry));
            let best = gains.enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            let Some((index, _)) = best else { break };
            let entry = entries.swap_remove(index);
            entry.bins.iter().for_each(|bin| _ = left.remove(bin));
            chosen.push(&entry.trial);
        }
        (chosen, self.best.len() - left.len())
    }
}

/// Levels of a stored program: some for each construct of the deepest nesting.
const NESTING: usize = 512;
/// Cycles for which one might run instead of starting a program.
const STARTING_CYCLES: u64 = 1000;

impl Trial {
    /// Its text in a corpus.
    pub fn text(&self) -> String {
        // Numbers, lists and names: a text can be made of all of them.
        let options = ron::Options::default().with_recursion_limit(NESTING);
        options.to_string(self).unwrap_or_else(|error| unreachable!("{error}")) + "\n"
    }

    /// A program of a corpus.
    ///
    /// # Errors
    /// Place and reason.
    pub fn read(text: &str) -> Result<Trial, String> {
        let options = ron::Options::default().with_recursion_limit(NESTING);
        options.from_str(text).map_err(|error| error.to_string())
    }

    /// The name of its file in a corpus.
    pub fn name(&self) -> String {
        let mut hasher = FnvHasher::default();
        hasher.write(self.text().as_bytes());
        format!("{:016x}.ron", hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_machine::config::load;

    fn met(text: &str) -> Events {
        Events::read(text).unwrap()
    }

    #[test]
    fn what_met_something_first_or_soonest_is_changed_and_few_programs_meet_all() {
        let config = load("rtl.ron").unwrap();
        let mut guide = Guide::new(&config, 7, Vec::new());
        let new = guide.generation();
        assert_eq!(new.len(), GENERATION);
        assert_eq!(new[0], Trial::of(&config, 7, true, None));
        assert!(guide.learn(&new[0], &met("event a 1\npair a b 1\n"), 500));
        assert!(!guide.learn(&new[1], &met("event a 1\n"), 500));
        assert!(guide.learn(&new[2], &met("event a 1\nevent c 1\n"), 400));
        assert!(guide.learn(&new[3], &met("event c 1\n"), 100));
        assert_eq!(guide.bins(), 3);
        // The third is the best at `a` still.
        let (minimal, met) = guide.minimal(usize::MAX);
        assert!(minimal.len() == 2 && minimal.contains(&&new[0]) && met == 3, "{} {met}", minimal.len());
        assert_eq!(guide.minimal(1).0.len(), 1);
        let changed = guide.generation();
        let like =
            |parent: &Trial| changed.iter().filter(|t| t.tree.registers == parent.tree.registers).count();
        assert!(like(&new[0]) + like(&new[2]) + like(&new[3]) > GENERATION / 2);
    }

    #[test]
    fn a_stored_program_is_the_same_and_damage_is_said_with_its_place() {
        let config = load("rtl.ron").unwrap();
        for seed in 0..40 {
            let trial = Trial::of(&config, seed, true, None);
            assert_eq!(Trial::read(&trial.text()).unwrap(), trial);
        }
        let error = Trial::read("(tree:(registers:1").unwrap_err();
        assert!(error.starts_with("1:"), "{error}");
    }
}
