//! What a core does that matters for races, as the thread that runs it notes it.

use super::clock::WaveId;
use super::detector::Access;
use super::shadow::Kind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wave_isa::Scope;
use wave_isa::table::{AccessKind, AtomicOp, Space};
use wave_machine::clock::Cycle;
use wave_machine::core::probe::{Event, EventKind, Issued, MemoryEvent, Observer, Wants};
use wave_machine::core::uop::Kind as OpKind;

/// A note.
#[derive(Debug, Clone, Copy)]
pub(super) enum Note {
    /// The slot has this wave from now on.
    Wave { slot: u8, wave: WaveId },
    /// A wave executes a fence.
    Fence { wave: WaveId, acquire: bool, release: bool, scope: Scope },
    /// A wave reaches a barrier.
    Barrier { wave: WaveId },
    /// A wave accesses memory.
    Access(Accessed),
}

/// A memory instruction, with its lanes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accessed {
    pub access: Access,
    /// Lanes that take part.
    pub mask: u64,
    /// Bytes of a lane, in each row.
    pub bytes: u8,
    /// Rows of a lane.
    pub rows: u32,
    /// Where the addresses of these lanes begin in [`Log::lanes`]. The distances between rows follow, if there are
    /// several.
    pub lanes: usize,
}

/// The notes of one core.
#[derive(Debug)]
pub(super) struct Log {
    /// Each with its cycle, in order.
    pub notes: Vec<(Cycle, Note)>,
    /// Addresses of lanes.
    pub lanes: Vec<u32>,
    grid: [u32; 3],
    waves_per_workgroup: u32,
    /// Wave in each slot.
    residents: Vec<Option<WaveId>>,
    /// Set when the log should be read.
    full: Arc<AtomicBool>,
    /// Size in bytes from which on it should be read.
    most: usize,
}

impl Log {
    /// The log of a core with so many wave slots. It sets `full` when it takes more than `most` bytes.
    pub(super) fn new(slots: usize, most: usize, full: Arc<AtomicBool>) -> Log {
        Log {
            notes: Vec::new(),
            lanes: Vec::new(),
            grid: [1; 3],
            waves_per_workgroup: 1,
            residents: vec![None; slots],
            full,
            most,
        }
    }

    /// A launch starts.
    pub(super) fn start(&mut self, grid: [u32; 3], waves_per_workgroup: u32) {
        (self.grid, self.waves_per_workgroup) = (grid, waves_per_workgroup);
        self.residents.fill(None);
        self.clear();
    }

    /// Drops the notes.
    pub(super) fn clear(&mut self) {
        self.notes.clear();
        self.lanes.clear();
    }

    fn note(&mut self, cycle: Cycle, note: Note) {
        self.notes.push((cycle, note));
        if size_of_val(&*self.notes) + size_of_val(&*self.lanes) > self.most {
            self.full.store(true, Ordering::Relaxed);
        }
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        let &Issued { event, workgroup: [x, y, z], wave, op, mask, .. } = issued;
        let workgroup = x + self.grid[0] * (y + self.grid[1] * z);
        let wave = workgroup * self.waves_per_workgroup + wave;
        if self.residents[event.slot].replace(wave) != Some(wave) {
            self.note(event.cycle, Note::Wave { slot: event.slot as u8, wave });
        }
        match op.kind {
            _ if mask == 0 => {}
            OpKind::Fence { acquire, release } => {
                let scope = op.inst.scope;
                self.note(event.cycle, Note::Fence { wave, acquire, release, scope });
            }
            OpKind::Barrier => self.note(event.cycle, Note::Barrier { wave }),
            _ => {}
        }
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        let Some(wave) = self.residents[event.slot] else { return };
        let memory = event.memory;
        let local = memory.space == Space::Local;
        let atomic = matches!(memory.kind, AccessKind::Atomic(_));
        let lanes = self.lanes.len();
        let active = || (0..event.addresses.len()).filter(|lane| event.mask >> lane & 1 != 0);
        self.lanes.extend(active().map(|lane| event.addresses[lane]));
        if event.rows > 1 {
            self.lanes.extend(active().map(|lane| event.strides[lane]));
        }
        let access = Access {
            wave,
            core: event.core,
            pc: event.word,
            kind: match (atomic, event.writes) {
                (true, _) => Kind::Atomic,
                (false, true) => Kind::Store,
                (false, false) => Kind::Load,
            },
            scope: if local { Scope::Workgroup } else { event.scope },
            at_l2: atomic && !local && event.scope >= Scope::Device,
            may_fail: memory.kind == AccessKind::Atomic(AtomicOp::Cas),
            local,
        };
        let (mask, bytes, rows) = (event.mask, memory.bytes, event.rows);
        self.note(event.cycle, Note::Access(Accessed { access, mask, bytes, rows, lanes }));
    }
}

impl Observer for Log {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Issued, EventKind::Access])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Issued(issued) => self.issued(issued),
            Event::Access(access) => self.accesses(access),
            _ => {}
        }
    }
}
