//! The accesses of one core, and its L1.

use super::directory::Directory;
use super::regions::{Lines, Regions};
use super::tally::Tally;
use std::ops::Range;
use std::sync::Arc;
use wave_isa::table::{AccessKind, CacheHint, Space};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::{Event, EventKind, LineAccess, MemoryEvent, Observer, Wants};
use wave_machine::memory::Operation;

/// Watches one core.
#[derive(Debug)]
pub(super) struct CoreShare {
    regions: Arc<Regions>,
    lines: Lines,
    /// Stores stay in the L1.
    writes_back: bool,
    directory: Directory,
    /// Cycles in which accesses count. Others only change what the caches hold.
    pub(super) within: Range<Cycle>,
    /// By row of the regions, since the launch began.
    pub(super) tallies: Vec<Tally>,
}

impl CoreShare {
    pub(super) fn new(config: &Config, regions: Arc<Regions>) -> CoreShare {
        let l1 = &config.core.l1;
        CoreShare {
            lines: Lines::new(config),
            writes_back: l1.write_policy.writes_back(),
            directory: Directory::new(super::lines_of(l1.bytes, l1.line_bytes, l1.ways)),
            within: 0..Cycle::MAX,
            tallies: vec![Tally::default(); regions.names().len()],
            regions,
        }
    }

    /// A launch begins: the L1 is invalidated.
    pub(super) fn start(&mut self) {
        self.directory.lose_all();
    }

    /// An instruction and the bytes of its lanes.
    fn asks(&mut self, access: &MemoryEvent<'_>) {
        if access.memory.space != Space::Device || !self.within.contains(&access.cycle) {
            return;
        }
        let bytes = u64::from(access.memory.bytes);
        let mut is_first = true;
        for lane in (0..access.addresses.len()).filter(|lane| access.mask >> lane & 1 != 0) {
            for row in 0..access.rows {
                let stride = if row == 0 { 0 } else { access.strides[lane] };
                let address = u64::from(access.addresses[lane].wrapping_add(stride.wrapping_mul(row)));
                let tally = &mut self.tallies[self.regions.row(address, address + bytes)];
                let (instructions, sum) = match (access.memory.kind, access.writes) {
                    (AccessKind::Atomic(_), _) => (&mut tally.atomics, &mut tally.atomic_bytes),
                    (_, true) => (&mut tally.stores, &mut tally.stored_bytes),
                    (_, false) => (&mut tally.loads, &mut tally.loaded_bytes),
                };
                *instructions += u64::from(is_first);
                *sum += bytes;
                is_first = false;
            }
        }
    }

    /// An access that the L1 may have taken.
    fn accesses(&mut self, tried: &LineAccess<'_>) {
        let (access, counted) = (tried.access, tried.counted);
        let bytes = match access.operation {
            Operation::Load { sectors } => self.lines.bytes_of(sectors),
            Operation::Store { byte_mask, .. } | Operation::Atomic { byte_mask, .. } => byte_mask,
        };
        let row = self.lines.row(&self.regions, access.line, bytes);
        let counts = self.within.contains(&tried.cycle);
        if counts {
            self.tallies[row].l1 += counted;
        }
        if counted.loads + counted.stores + counted.atomics + counted.remote_atomics == 0 {
            return;
        }
        let line = self.lines.number(access.line);
        if tried.lost != 0 {
            self.directory.lose(line, self.lines.bytes_of(tried.lost));
        }
        let uncached = access.hint == CacheHint::Uncached;
        match access.operation {
            Operation::Load { .. } if uncached => {}
            Operation::Atomic { .. } if counted.remote_atomics != 0 => {}
            Operation::Load { .. } | Operation::Atomic { .. } => {
                let needs = self.lines.bytes_of(self.lines.sectors_of(bytes));
                let class = self.directory.access(line, needs, 0);
                if counts && counted.misses + counted.sector_misses != 0 {
                    self.tallies[row].l1_split.count(class);
                }
            }
            Operation::Store { .. } if uncached => {}
            Operation::Store { .. } if self.writes_back => _ = self.directory.access(line, 0, bytes),
            Operation::Store { .. } => self.directory.touch(line),
        }
    }
}

impl Observer for CoreShare {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Access, EventKind::LineAccess, EventKind::Invalidated])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Access(access) => self.asks(access),
            Event::LineAccess(tried) => self.accesses(tried),
            Event::Invalidated(_) => self.directory.lose_all(),
            _ => {}
        }
    }
}
