//! Feeds the detector from a run.

use super::clock::WaveId;
use super::detector::{Access, Detector, LaneAccess, MAX_TOUCHES};
use super::report::RaceReport;
use super::shadow::Kind;
use std::collections::HashMap;
use wave_isa::Scope;
use wave_isa::program::{Launch, Program};
use wave_isa::table::{AccessKind, AtomicOp, Space};
use wave_machine::core::probe::{AtomicEvent, Event, EventKind, Issued, MemoryEvent, Observer, Wants};
use wave_machine::core::uop::Kind as OpKind;

/// Watches the launches of a run for races.
#[derive(Debug)]
pub struct RaceCheck<'a> {
    program: &'a Program,
    wave_width: u32,
    grid: [u32; 3],
    waves_per_workgroup: u32,
    detector: Detector,
    /// The wave in each core and wave slot.
    residents: HashMap<(u32, usize), WaveId>,
    /// By workgroup: its waves whose slot no wave of another workgroup has taken.
    live: HashMap<u32, u32>,
    report: RaceReport,
}

impl<'a> RaceCheck<'a> {
    /// A check of the kernels of a program, on a machine with `wave_width` lanes.
    pub fn new(program: &'a Program, wave_width: u32) -> RaceCheck<'a> {
        RaceCheck {
            program,
            wave_width,
            grid: [1; 3],
            waves_per_workgroup: 1,
            detector: Detector::new(1, MAX_TOUCHES),
            residents: HashMap::new(),
            live: HashMap::new(),
            report: RaceReport::default(),
        }
    }

    /// A launch starts. Everything before it happens before it (H4).
    pub fn start(&mut self, launch: &Launch) {
        self.grid = launch.grid;
        self.waves_per_workgroup = launch.waves_per_workgroup(self.wave_width).max(1) as u32;
        self.detector = Detector::new(self.waves_per_workgroup, MAX_TOUCHES);
        self.residents.clear();
        self.live.clear();
    }

    /// A launch has ended, with or without an error.
    pub fn end(&mut self, launch: &Launch) {
        let kernel = &self.program.kernels[launch.kernel];
        self.report.add(&self.detector, self.program, kernel, self.grid, self.waves_per_workgroup);
    }

    /// The findings of all launches.
    pub fn finish(self) -> RaceReport {
        self.report
    }

    /// Records that a wave is in a slot. The wave that was there before has ended.
    fn settle(&mut self, core: u32, slot: usize, workgroup: u32, wave: WaveId) {
        let Some(before) = self.residents.insert((core, slot), wave).filter(|&before| before != wave) else {
            return;
        };
        let before = before / self.waves_per_workgroup;
        let left = self.live.entry(before).or_insert(self.waves_per_workgroup);
        *left -= 1;
        if *left == 0 && before != workgroup {
            self.live.remove(&before);
            self.detector.end_workgroup(before);
        }
    }
}

impl Observer for RaceCheck<'_> {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Issued, EventKind::Access, EventKind::Atomic])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Issued(issued) => self.issued(issued),
            Event::Access(access) => self.accesses(access),
            Event::Atomic(atomic) => self.performed(atomic),
            _ => {}
        }
    }
}

impl RaceCheck<'_> {
    fn issued(&mut self, issued: &Issued<'_>) {
        let &Issued { event, workgroup: [x, y, z], wave, op, mask, .. } = issued;
        let workgroup = x + self.grid[0] * (y + self.grid[1] * z);
        let wave = workgroup * self.waves_per_workgroup + wave;
        self.settle(event.core, event.slot, workgroup, wave);
        if mask == 0 {
            return;
        }
        match op.kind {
            OpKind::Fence { acquire, release } => {
                self.detector.fence(wave, acquire, release, op.inst.scope);
            }
            OpKind::Barrier => self.detector.barrier(wave),
            _ => {}
        }
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        let Some(&wave) = self.residents.get(&(event.core, event.slot)) else { return };
        let memory = event.memory;
        let local = memory.space == Space::Local;
        let atomic = matches!(memory.kind, AccessKind::Atomic(_));
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
        let lanes = (0..64u8).filter(|lane| event.mask >> lane & 1 != 0);
        let touched = lanes.flat_map(|lane| {
            let address = event.addresses[usize::from(lane)];
            (0..event.rows).map(move |row| LaneAccess {
                lane,
                address: match row {
                    0 => address,
                    row => address.wrapping_add(row.wrapping_mul(event.strides[usize::from(lane)])),
                },
                bytes: u32::from(memory.bytes),
            })
        });
        self.detector.access(&access, touched);
    }

    fn performed(&mut self, event: &AtomicEvent) {
        let mut left = event.bytes;
        while left != 0 {
            let at = left.trailing_zeros() & !3;
            left &= !(0xF << at);
            self.detector.performed(event.core, (event.line + at) / 4, event.written >> at & 0xF != 0);
        }
    }
}
