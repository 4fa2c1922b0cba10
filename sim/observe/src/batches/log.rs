//! The log of a core: the thread that runs the core writes it.

use super::columns::Stream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wave_isa::table::{AccessKind, Space};
use wave_machine::clock::Cycle;
use wave_machine::core::probe::{Event, EventKind, LineAccess, MemoryEvent, Observer, Stage, Wants};
use wave_machine::memory::Operation;

/// One event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) cycle: Cycle,
    pub(super) slot: u8,
    /// Word of the kernel.
    pub(super) word: u32,
    /// Number of the workgroup in the grid.
    pub(super) workgroup: u32,
    /// Index of the wave in the workgroup.
    pub(super) wave: u32,
    pub(super) what: What,
}

/// What has happened.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    Issues {
        sequence: u64,
        active: u64,
        mask: u64,
        squashed: bool,
    },
    Retires {
        sequence: u64,
    },
    /// The next `lanes` lanes of the log are those of the instruction.
    Accesses {
        sequence: u64,
        lanes: u32,
        bytes: u8,
        writes: bool,
        atomic: bool,
        local: bool,
    },
    Line {
        line: u64,
        writes: bool,
        atomic: bool,
        outcome: u8,
    },
}

/// The events so far.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) entries: Vec<Entry>,
    /// Lanes of memory instructions with their addresses, in the order of the entries.
    pub(super) lanes: Vec<(u8, u32)>,
}

impl Written {
    fn size(&self) -> usize {
        size_of_val(&*self.entries) + size_of_val(&*self.lanes)
    }
}

/// The log of one core.
#[derive(Debug)]
pub(super) struct Log {
    core: u32,
    wants: Wants,
    /// Issues are rows, and not only the origin of the waves in other rows.
    has_issues: bool,
    grid: [u32; 3],
    /// Workgroup and wave of each slot.
    waves: Vec<(u32, u32)>,
    written: Written,
    /// Set when the log should be read.
    full: Arc<AtomicBool>,
    /// Size in bytes from which on it should be read.
    most: usize,
}

impl Log {
    pub(super) fn new(
        core: u32,
        slots: usize,
        streams: &[Stream],
        most: usize,
        full: Arc<AtomicBool>,
    ) -> Log {
        let kind = |stream: &Stream| match stream {
            Stream::Issue => Some(EventKind::Issued),
            Stream::Retire => Some(EventKind::Stage),
            Stream::Memory => Some(EventKind::Access),
            Stream::Line => Some(EventKind::LineAccess),
            // The run loop tells it.
            Stream::L2 => None,
        };
        let mut kinds: Vec<EventKind> = streams.iter().filter_map(kind).collect();
        if !kinds.is_empty() {
            // An issue says which wave is in its slot.
            kinds.push(EventKind::Issued);
        }
        Log {
            core,
            wants: Wants::of(&kinds),
            has_issues: streams.contains(&Stream::Issue),
            grid: [1; 3],
            waves: vec![(0, 0); slots],
            written: Written::default(),
            full,
            most,
        }
    }

    /// A launch with this grid begins.
    pub(super) fn start(&mut self, grid: [u32; 3]) {
        self.grid = grid;
    }

    /// A wave of a workgroup is in a slot.
    pub(super) fn arrives(&mut self, slot: usize, [x, y, z]: [u32; 3], wave: u32) {
        let [width, height, _] = self.grid;
        let workgroup = x.wrapping_add(width.wrapping_mul(y.wrapping_add(height.wrapping_mul(z))));
        self.waves[slot] = (workgroup, wave);
    }

    /// Takes what was written.
    pub(super) fn take(&mut self) -> Written {
        let capacity = self.written.entries.capacity();
        let empty = Written { entries: Vec::with_capacity(capacity), lanes: Vec::new() };
        std::mem::replace(&mut self.written, empty)
    }

    #[inline]
    fn note(&mut self, cycle: Cycle, slot: usize, word: u32, what: What) {
        let (workgroup, wave) = self.waves[slot];
        self.written.entries.push(Entry { cycle, slot: slot as u8, word, workgroup, wave, what });
        if self.written.size() > self.most {
            self.full.store(true, Ordering::Relaxed);
        }
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        let before = self.written.lanes.len();
        for lane in (0..event.addresses.len()).filter(|lane| event.mask >> lane & 1 != 0) {
            for row in 0..event.rows {
                let stride = if row == 0 { 0 } else { event.strides[lane] };
                let address = event.addresses[lane].wrapping_add(stride.wrapping_mul(row));
                self.written.lanes.push((lane as u8, address));
            }
        }
        let what = What::Accesses {
            sequence: event.sequence,
            lanes: (self.written.lanes.len() - before) as u32,
            bytes: event.memory.bytes,
            writes: event.writes,
            atomic: matches!(event.memory.kind, AccessKind::Atomic(_)),
            local: event.memory.space == Space::Local,
        };
        self.note(event.cycle, event.slot, event.word, what);
    }

    fn tries_line(&mut self, tried: &LineAccess<'_>) {
        let counted = tried.counted;
        let is_taken = counted.loads + counted.stores + counted.atomics + counted.remote_atomics != 0;
        let Some(slot) = tried.slot().filter(|_| is_taken) else { return };
        // The order of `wave_sim.CacheOutcome`.
        let outcomes = [counted.hits, counted.mshr_hits, counted.sector_misses, counted.misses];
        let outcome = outcomes.iter().position(|&count| count != 0).map_or(0, |place| place as u8 + 1);
        let (writes, atomic) = match tried.access.operation {
            Operation::Load { .. } => (false, false),
            Operation::Store { .. } => (true, false),
            Operation::Atomic { .. } => (true, true),
        };
        let what = What::Line { line: tried.access.line, writes, atomic, outcome };
        self.note(tried.cycle, slot, tried.word, what);
    }
}

impl Observer for Log {
    fn wants(&self) -> Wants {
        self.wants
    }

    fn event(&mut self, event: &Event<'_>) {
        debug_assert_eq!(event.core(), Some(self.core), "a core tells its own observers");
        match event {
            Event::Issued(issued) => {
                let event = &issued.event;
                self.arrives(event.slot, issued.workgroup, issued.wave);
                if self.has_issues {
                    let what = What::Issues {
                        sequence: event.sequence,
                        active: issued.active,
                        mask: issued.mask,
                        squashed: issued.is_squashed(),
                    };
                    self.note(event.cycle, event.slot, event.word, what);
                }
            }
            Event::Stage(event) if event.stage == Stage::Retire => {
                let what = What::Retires { sequence: event.sequence };
                self.note(event.cycle, event.slot, event.word, what);
            }
            Event::Access(access) => self.accesses(access),
            Event::LineAccess(tried) => self.tries_line(tried),
            _ => {}
        }
    }
}
