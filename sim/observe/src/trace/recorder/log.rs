//! The log of a core: the thread that runs the core writes its events, and the maker of records reads them.
//!
//! Writing is little more than copying, so the simulator goes on at once with its code and data still in the
//! processor's cache. A read covers many cycles.

use super::slot::destination;
use crate::trace::record::{DestinationKind, MemoryKind, Stage, Wait};
use crate::trace::rows::lanes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wave_capture::Capture;
use wave_isa::table::{AccessKind, MemoryOp, Space};
use wave_machine::clock::Cycle;
use wave_machine::core::probe::{
    Event, EventKind, Going, Issued, MemoryEvent, Observer, Results, StageEvent, Stalls, Waits, Wants,
};
use wave_machine::core::slot::{Slot, SlotMask};

/// One event. Its masks and rows are in separate lists, in the same order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {
    /// Words from `word` on were requested.
    Fetched { slot: u8, word: u32, cycle: Cycle },
    /// An instruction entered the instruction buffer.
    Decoded { slot: u8, word: u32, cycle: Cycle },
    /// The following events of this slot belong to this wave.
    Wave { slot: u8, wave: u32, workgroup: [u32; 3] },
    /// An instruction issued. Masks: active lanes, participating lanes.
    Issued {
        slot: u8,
        words: u8,
        destination: DestinationKind,
        index: u8,
        word: u32,
        cycle: Cycle,
        sequence: u64,
    },
    /// The instruction has acted on its wave.
    GoesOn { slot: u8, redirected: bool, done: bool, next: Option<u32>, cycle: Cycle },
    /// The instruction has reached a stage after issue.
    Reached { slot: u8, stage: Stage, cycle: Cycle, sequence: u64 },
    /// The instruction cannot leave its collector.
    Waits { slot: u8, reason: Wait, cycle: Cycle, sequence: u64 },
    /// The instruction accesses memory. Rows: addresses, strides of a tile, rows sent.
    Accesses { slot: u8, kind: MemoryKind, device: bool, bytes: u8, sent: u8, sequence: u64 },
    /// The instruction retires. Rows: registers, fragment. Mask: lanes in which its predicate is true.
    Results { slot: u8, registers: u8, fragment: u8, cycle: Cycle, sequence: u64 },
    /// From this cycle on the wave does not issue for this reason; `None` ends the stall.
    Stalled { slot: u8, reason: Option<Wait>, cycle: Cycle },
}

/// The events written so far.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) entries: Vec<Entry>,
    pub(super) masks: Vec<u64>,
    pub(super) rows: Vec<u32>,
}

impl Written {
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.masks.clear();
        self.rows.clear();
    }

    /// Size in bytes.
    fn size(&self) -> usize {
        size_of_val(&*self.entries) + size_of_val(&*self.masks) + size_of_val(&*self.rows)
    }
}

/// The log of one core.
#[derive(Debug, Capture)]
pub(super) struct Log {
    /// Empty when the state of a recorder is saved: its maker has read everything.
    #[scratch]
    pub(super) written: Written,
    /// Set when the log should be read.
    #[spec]
    full: Arc<AtomicBool>,
    /// Size in bytes from which on it should be read.
    #[spec]
    most: usize,
    /// Lanes of a wave.
    #[spec]
    width: usize,
    /// Per slot: workgroup and index of its wave, as last logged.
    waves: Vec<([u32; 3], u32)>,
    /// Waves by the reason that stalls them, as last logged.
    stalled: [SlotMask; Wait::AT_ISSUE],
}

/// A core has at most 64 slots, one for each bit of a mask.
fn small(slot: Slot) -> u8 {
    slot as u8
}

impl Log {
    /// The log of a core with `slots` wave slots of `width` lanes. It sets `full` when it takes more than
    /// `most` bytes.
    pub(super) fn new(slots: usize, width: usize, most: usize, full: Arc<AtomicBool>) -> Log {
        // The same initial state as in the reader's slots.
        let waves = vec![([0; 3], 0); slots];
        Log { written: Written::default(), full, most, width, waves, stalled: [0; Wait::AT_ISSUE] }
    }

    #[inline]
    fn note(&mut self, entry: Entry) {
        self.written.entries.push(entry);
    }
}

impl Observer for Log {
    fn wants(&self) -> Wants {
        Wants::of(&[
            EventKind::Stage,
            EventKind::Issued,
            EventKind::Going,
            EventKind::Results,
            EventKind::Stalls,
            EventKind::Waits,
            EventKind::Access,
        ])
    }

    /// An entry has its cycle, and the end of a run drops what lies behind it.
    fn takes_stages_early(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Stage(event) => self.reaches(event),
            Event::Issued(issued) => self.issued(issued),
            Event::Going(going) => self.goes_on(going),
            Event::Results(results) => self.results(results),
            Event::Stalls(stalls) => self.stalls(stalls),
            Event::Waits(waits) => self.waits(waits),
            Event::Access(access) => self.accesses(access),
            _ => {}
        }
    }
}

impl Log {
    fn reaches(&mut self, event: &StageEvent) {
        let StageEvent { cycle, sequence, word, .. } = *event;
        let slot = small(event.slot);
        let stage = match event.stage {
            Stage::Fetch => return self.note(Entry::Fetched { slot, word, cycle }),
            Stage::Decode => return self.note(Entry::Decoded { slot, word, cycle }),
            Stage::Operands => Stage::Operands,
            Stage::Execute => Stage::Execute,
            Stage::WriteBack => Stage::WriteBack,
            // Results come with an event of their own.
            Stage::Issue | Stage::Access | Stage::Retire => return,
        };
        self.note(Entry::Reached { slot, stage, cycle, sequence });
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        let StageEvent { cycle, sequence, word, .. } = issued.event;
        let slot = small(issued.event.slot);
        let (workgroup, wave) = (issued.workgroup, issued.wave);
        let before = &mut self.waves[issued.event.slot];
        if *before != (workgroup, wave) {
            *before = (workgroup, wave);
            self.note(Entry::Wave { slot, wave, workgroup });
        }
        let (destination, index) =
            if issued.mask == 0 { (DestinationKind::None, 0) } else { destination(issued) };
        self.written.masks.extend([issued.active, issued.mask]);
        self.note(Entry::Issued {
            slot,
            words: issued.op.words as u8,
            destination,
            index,
            word,
            cycle,
            sequence,
        });
        if self.written.size() > self.most {
            self.full.store(true, Ordering::Relaxed);
        }
    }

    fn goes_on(&mut self, going: &Going) {
        let &Going { event, next, redirected, done } = going;
        self.note(Entry::GoesOn { slot: small(event.slot), redirected, done, next, cycle: event.cycle });
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        let MemoryOp { kind, space, bytes, .. } = event.memory;
        self.written.rows.extend_from_slice(event.addresses);
        let kind = match kind {
            AccessKind::Load => MemoryKind::Load,
            AccessKind::Store => MemoryKind::Store,
            AccessKind::Atomic(_) => MemoryKind::Atomic,
            AccessKind::Tile => {
                self.written.rows.extend_from_slice(event.strides);
                if event.writes { MemoryKind::TileStore } else { MemoryKind::TileLoad }
            }
        };
        self.written.rows.extend_from_slice(event.sent);
        self.note(Entry::Accesses {
            slot: small(event.slot),
            kind,
            device: space == Space::Device,
            bytes,
            sent: (event.sent.len() / self.width) as u8,
            sequence: event.sequence,
        });
    }

    fn results(&mut self, results: &Results<'_>) {
        let StageEvent { slot, cycle, sequence, .. } = results.event;
        self.written.rows.extend_from_slice(results.registers);
        self.written.rows.extend_from_slice(results.fragment);
        self.written.masks.push(results.predicate);
        self.note(Entry::Results {
            slot: small(slot),
            registers: (results.registers.len() / self.width) as u8,
            fragment: (results.fragment.len() / self.width) as u8,
            cycle,
            sequence,
        });
    }

    fn stalls(&mut self, stalls: &Stalls<'_>) {
        let &Stalls { cycle, waves, .. } = stalls;
        if self.stalled == *waves {
            return;
        }
        let before = std::mem::replace(&mut self.stalled, *waves);
        let any = |waves: &[SlotMask]| waves.iter().fold(0, |any, waves| any | waves);
        for slot in lanes(any(&before) & !any(waves)) {
            self.note(Entry::Stalled { slot: small(slot), reason: None, cycle });
        }
        for ((before, now), reason) in before.iter().zip(waves).zip(Wait::ALL) {
            for slot in lanes(now & !before) {
                self.note(Entry::Stalled { slot: small(slot), reason: Some(*reason), cycle });
            }
        }
    }

    fn waits(&mut self, waits: &Waits) {
        let StageEvent { slot, cycle, sequence, .. } = waits.event;
        let reason = waits.why;
        // What a collector waits for before its operands are read is no stall.
        if reason == Wait::Operand {
            return;
        }
        self.note(Entry::Waits { slot: small(slot), reason, cycle, sequence });
    }
}
