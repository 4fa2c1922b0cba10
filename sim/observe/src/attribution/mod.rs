//! Whose accesses they are: what each buffer and each launch had of the accesses at every level of memory, and why the
//! caches missed (docs/attribution.md).
//!
//! Each core has an observer of its own with the [`directory`] of its L1, so threads can share the cores. The requests
//! to the L2 come from the run loop. They are put into the order of cycles first: the directory of the L2 is one for all
//! of its slices, and the run loop tells what one slice did after another.

mod core;
mod directory;
mod regions;
mod tally;
mod text;

pub use directory::Class;
pub use regions::{Region, Regions};
pub use tally::{L2Share, Split, Tally};

use self::core::CoreShare;
use crate::per_core::lock;
use directory::Directory;
use regions::Lines;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex};
use wave_isa::program::Launch;
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::{
    Burst, Event, EventKind, Observer, OfCore, SliceAccess, SliceOutcome, Wants,
};
use wave_machine::gpu::{KernelReport, RunError};
use wave_machine::memory::RequestKind;

/// Lines that a cache holds.
fn lines_of(bytes: u32, line_bytes: u32, ways: u32) -> usize {
    ((bytes / line_bytes / ways).max(1) * ways) as usize
}

/// Watches the launches of a run. Its memory grows with the lines that they access, not with their length.
#[derive(Debug)]
pub struct Attribution {
    regions: Arc<Regions>,
    lines: Lines,
    cores: Vec<Arc<Mutex<CoreShare>>>,
    /// The L2, all of its slices.
    directory: Directory,
    /// Requests that are not counted yet.
    pending: Vec<SliceAccess>,
    within: Range<Cycle>,
    /// What was counted below the L1s, by row, since the launch began.
    tallies: Vec<Tally>,
    attributed: Attributed,
}

/// What a run had, by region and by launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attributed {
    /// The rows.
    pub regions: Arc<Regions>,
    /// By row, of all launches, and of one that did not end, unless a fault ended it.
    pub total: Vec<Tally>,
    /// Of each launch that has ended, by row.
    pub launches: Vec<Vec<Tally>>,
}

impl Attributed {
    /// The rows of which something was counted, with their names.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &Tally)> {
        self.named(&self.total)
    }

    /// The same of launch `number`, from 0.
    pub fn rows_of(&self, number: usize) -> impl Iterator<Item = (&str, &Tally)> {
        self.named(self.launches.get(number).map_or(&[], Vec::as_slice))
    }

    fn named<'a>(&'a self, tallies: &'a [Tally]) -> impl Iterator<Item = (&'a str, &'a Tally)> {
        let names = self.regions.names().iter().map(String::as_str);
        names.zip(tallies).filter(|(_, tally)| !tally.is_empty())
    }

    /// The sum of all rows.
    pub fn sum(&self) -> Tally {
        sum(&self.total)
    }

    /// The sum of all rows of launch `number`, from 0.
    pub fn sum_of(&self, number: usize) -> Tally {
        sum(self.launches.get(number).map_or(&[], Vec::as_slice))
    }
}

fn sum(tallies: &[Tally]) -> Tally {
    tallies.iter().fold(Tally::default(), |mut sum, tally| {
        sum += tally;
        sum
    })
}

impl Attribution {
    /// For these regions of the memory of a machine, with empty caches.
    pub fn new(config: &Config, regions: Regions) -> Attribution {
        let regions = Arc::new(regions);
        let rows = regions.names().len();
        let l2 = &config.l2;
        let slice = lines_of(l2.slice_bytes, config.core.l1.line_bytes, l2.ways);
        let core = |_| Arc::new(Mutex::new(CoreShare::new(config, regions.clone())));
        Attribution {
            lines: Lines::new(config),
            cores: (0..config.cores).map(core).collect(),
            directory: Directory::new(slice * l2.slices as usize),
            pending: Vec::new(),
            within: 0..Cycle::MAX,
            tallies: vec![Tally::default(); rows],
            attributed: Attributed {
                total: vec![Tally::default(); rows],
                launches: Vec::new(),
                regions: regions.clone(),
            },
            regions,
        }
    }

    /// Counts what happens in these cycles of the machine only. What the caches hold then is that of the whole run.
    #[must_use]
    pub fn within(mut self, cycles: Range<Cycle>) -> Attribution {
        self.cores.iter().for_each(|core| lock(core).within = cycles.clone());
        self.within = cycles;
        self
    }

    /// Called when a launch begins, with empty L1s.
    pub fn start(&mut self, _: &Launch) {
        self.cores.iter().for_each(|core| lock(core).start());
    }

    /// Called when the launch ends, or fails. A launch that faulted counts for nothing: where cores were in the cycle of
    /// the fault depends on the threads.
    pub fn end(&mut self, ended: Result<&KernelReport, &RunError>) {
        self.settle();
        let mut launch = std::mem::take(&mut self.tallies);
        self.tallies = vec![Tally::default(); launch.len()];
        for core in &self.cores {
            for (sum, tally) in launch.iter_mut().zip(&mut lock(core).tallies) {
                *sum += &std::mem::take(tally);
            }
        }
        if matches!(ended, Err(RunError::Fault(_))) {
            return;
        }
        self.attributed.total.iter_mut().zip(&launch).for_each(|(total, tally)| *total += tally);
        if ended.is_ok() {
            self.attributed.launches.push(launch);
        }
    }

    /// What the run had.
    pub fn finish(self) -> Attributed {
        self.attributed
    }

    /// Counts the requests that are pending, in the order of cycles; in a cycle, of slices.
    fn settle(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        // A slice tells in order, and the sort is stable.
        pending.sort_by_key(|access| (access.cycle, access.slice));
        pending.drain(..).for_each(|access| self.request(&access));
        self.pending = pending;
    }

    fn request(&mut self, access: &SliceAccess) {
        if access.outcome == SliceOutcome::Release {
            return;
        }
        let line = self.lines.number(access.line);
        let sectors = self.lines.bytes_of(access.sectors);
        let (needs, brings) = match access.kind {
            RequestKind::Read | RequestKind::Atomic(_) => {
                (sectors, self.lines.bytes_of(self.lines.in_bursts(access.sectors)))
            }
            RequestKind::Write | RequestKind::Release => (0, access.bytes),
        };
        let class = self.directory.access(line, needs, brings);
        if !self.within.contains(&access.cycle) {
            return;
        }
        let touched = if access.bytes == 0 { sectors } else { access.bytes };
        let tally = &mut self.tallies[self.lines.row(&self.regions, access.line, touched)];
        tally.l2.count(access.outcome);
        if matches!(access.outcome, SliceOutcome::SectorMiss | SliceOutcome::Miss) {
            tally.l2_split.count(class);
        }
    }

    fn burst(&mut self, burst: &Burst) {
        if !self.within.contains(&burst.cycle) {
            return;
        }
        let bytes = u64::from(burst.bytes);
        let tally = &mut self.tallies[self.regions.row(burst.address, burst.address + bytes)];
        *if burst.writes { &mut tally.dram_written_bytes } else { &mut tally.dram_read_bytes } += bytes;
    }
}

impl Observer for Attribution {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::SliceAccess, EventKind::Burst])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::SliceAccess(access) => self.pending.push(*access),
            Event::Burst(burst) => self.burst(burst),
            _ => {}
        }
    }

    fn of_cores(&self) -> Vec<Vec<OfCore>> {
        vec![self.cores.iter().map(|core| core.clone() as OfCore).collect()]
    }

    fn advanced(&mut self, _: Cycle) -> ControlFlow<()> {
        self.settle();
        ControlFlow::Continue(())
    }
}
