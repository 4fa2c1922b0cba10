//! Shadow caches: tag-only copies of the L1s and the L2, at the configured size and at twice that size, fed
//! with the accesses of the run. The difference of their hits estimates what a larger cache would gain. They
//! have no timing.

use std::collections::BTreeMap;
use wave_isa::table::{AccessKind, CacheHint, Space};
use wave_machine::config::Config;
use wave_machine::core::probe::MemoryEvent;

/// A set-associative cache of sectors with LRU replacement.
#[derive(Debug, Clone)]
struct Tags {
    /// Lines of each set with a mask of their valid sectors, most recently used last.
    sets: Vec<Vec<(u32, u32)>>,
    ways: usize,
    hits: u64,
}

impl Tags {
    fn new(lines: u32, ways: u32) -> Tags {
        Tags { sets: vec![Vec::new(); (lines / ways).max(1) as usize], ways: ways as usize, hits: 0 }
    }

    /// Looks up sectors of a line and inserts them. True if all were present.
    fn load(&mut self, line: u32, sectors: u32) -> bool {
        let count = self.sets.len() as u32;
        let set = &mut self.sets[(line % count) as usize];
        let there = set.iter().position(|&(l, _)| l == line).map(|at| set.remove(at).1).unwrap_or(0);
        if set.len() == self.ways {
            set.remove(0);
        }
        set.push((line, there | sectors));
        let hit = there & sectors == sectors;
        self.hits += u64::from(hit);
        hit
    }

    fn clear(&mut self) {
        self.sets.iter_mut().for_each(Vec::clear);
    }
}

/// Shadows of every L1, and of all L2 slices together as one cache.
#[derive(Debug)]
pub struct Shadows {
    line: u32,
    sector: u32,
    /// By core: at the configured size, and at twice that size.
    l1: Vec<[Tags; 2]>,
    l2: [Tags; 2],
    loads: u64,
    misses: u64,
}

impl Shadows {
    /// Empty shadow caches for this machine.
    pub fn new(config: &Config) -> Shadows {
        let (l1, l2) = (&config.core.l1, &config.l2);
        let lines = l1.bytes / l1.line_bytes;
        let l2_lines = (u64::from(l2.slice_bytes) * u64::from(l2.slices) / u64::from(l1.line_bytes)) as u32;
        let pair = |lines: u32, ways: u32| [Tags::new(lines, ways), Tags::new(lines * 2, ways)];
        Shadows {
            line: l1.line_bytes,
            sector: l1.sector_bytes,
            l1: vec![pair(lines, l1.ways); config.cores as usize],
            l2: pair(l2_lines, l2.ways),
            loads: 0,
            misses: 0,
        }
    }

    /// Resets the counts. The contents stay.
    pub fn restart(&mut self) {
        self.l1.iter_mut().flatten().chain(&mut self.l2).for_each(|tags| tags.hits = 0);
        (self.loads, self.misses) = (0, 0);
    }

    /// Invalidates the L1 shadows of a core.
    pub fn invalidate(&mut self, core: usize) {
        self.l1[core].iter_mut().for_each(Tags::clear);
    }

    /// Invalidates all L1 shadows.
    pub(crate) fn invalidate_all(&mut self) {
        self.l1.iter_mut().flatten().for_each(Tags::clear);
    }

    /// Applies a memory instruction. Stores, atomics and uncached loads go to the L2 only.
    pub fn access(&mut self, event: &MemoryEvent<'_>) {
        let memory = event.memory;
        if memory.space != Space::Device {
            return;
        }
        let mut lines: BTreeMap<u32, u32> = BTreeMap::new();
        let lanes = event.addresses.iter().enumerate().filter(|(lane, _)| event.mask >> lane & 1 != 0);
        for (_, &address) in lanes {
            let last = address.saturating_add(u32::from(memory.bytes) - 1);
            for sector in address / self.sector..=last / self.sector {
                let in_line = self.line / self.sector;
                *lines.entry(sector / in_line).or_default() |= 1 << (sector % in_line);
            }
        }
        let cached = memory.kind == AccessKind::Load && memory.hint != CacheHint::Uncached;
        for (line, sectors) in lines {
            let missed = match cached {
                true => {
                    self.loads += 1;
                    let [same, double] = &mut self.l1[event.core as usize];
                    double.load(line, sectors);
                    !same.load(line, sectors)
                }
                false => true,
            };
            if missed {
                self.misses += 1;
                self.l2.iter_mut().for_each(|tags| _ = tags.load(line, sectors));
            }
        }
    }

    /// Fraction of line loads that miss in the L1 but would hit at twice its size.
    pub(crate) fn l1_gain(&self) -> f64 {
        let hits = |n: usize| self.l1.iter().map(|tags| tags[n].hits).sum::<u64>();
        gain(hits(0), hits(1), self.loads)
    }

    /// Fraction of L2 accesses that miss but would hit in an L2 of twice the size.
    pub(crate) fn l2_gain(&self) -> f64 {
        gain(self.l2[0].hits, self.l2[1].hits, self.misses)
    }
}

fn gain(now: u64, then: u64, all: u64) -> f64 {
    then.saturating_sub(now) as f64 / all.max(1) as f64
}
