//! Feeds the detector from a run.

use super::clock::WaveId;
use super::detector::{Detector, LaneAccess, MAX_TOUCHES};
use super::log::{Accessed, Log, Note};
use super::report::RaceReport;
use crate::per_core::{in_order, lock, most};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use wave_isa::program::{Launch, Program};
use wave_machine::clock::{Cycle, NEVER};
use wave_machine::config::Config;
use wave_machine::core::probe::{AtomicEvent, Event, EventKind, Observer, OfCore, Wants};
use wave_machine::functional::{Doing, Execution};
use wave_machine::gpu::{KernelReport, RunError};

/// Watches the launches of a run for races.
///
/// Each core writes its events to a log of its own. The detector gets those of all cores in the order of cycles, so its
/// findings depend neither on threads nor on how many cycles a core runs by itself.
#[derive(Debug)]
pub struct RaceCheck<'a> {
    program: &'a Program,
    wave_width: u32,
    grid: [u32; 3],
    logs: Vec<Arc<Mutex<Log>>>,
    /// Set when a log has reached its size.
    full: Arc<AtomicBool>,
    /// Atomics performed by the L2 since the logs were read.
    atomics: Vec<AtomicEvent>,
    waves: Waves,
    report: RaceReport,
}

/// The waves of a launch, and what the detector knows of them.
#[derive(Debug)]
struct Waves {
    per_workgroup: u32,
    detector: Detector,
    /// The wave in each core and wave slot.
    residents: HashMap<(u32, u8), WaveId>,
    /// By workgroup: its waves whose slot no wave of another workgroup has taken.
    live: HashMap<u32, u32>,
}

impl<'a> RaceCheck<'a> {
    /// A check of the kernels of a program on this machine.
    pub fn new(program: &'a Program, config: &Config) -> RaceCheck<'a> {
        let full = Arc::new(AtomicBool::new(false));
        let (slots, size) = (config.core.max_waves as usize, most(config.cores));
        let log = || Arc::new(Mutex::new(Log::new(slots, size, full.clone())));
        RaceCheck {
            program,
            wave_width: config.core.wave_width,
            grid: [1; 3],
            logs: (0..config.cores).map(|_| log()).collect(),
            full,
            atomics: Vec::new(),
            waves: Waves::new(1),
            report: RaceReport::default(),
        }
    }

    /// A launch starts. Everything before it happens before it (H4).
    pub fn start(&mut self, launch: &Launch) {
        self.grid = launch.grid;
        let per_workgroup = launch.waves_per_workgroup(self.wave_width).max(1) as u32;
        self.waves = Waves::new(per_workgroup);
        self.logs.iter().for_each(|log| lock(log).start(launch.grid, per_workgroup));
    }

    /// The launch that starts is under way. What has happened in it happens before all that follows. Its waves at a
    /// barrier have arrived there.
    pub fn begin_from(&mut self, execution: &Execution) {
        for (_, workgroup) in execution.residents() {
            let [x, y, z] = workgroup.id;
            let first = (x + self.grid[0] * (y + self.grid[1] * z)) * self.waves.per_workgroup;
            for wave in workgroup.waves.iter().filter(|wave| wave.doing == Doing::AtBarrier) {
                self.waves.detector.barrier(first + wave.id);
            }
        }
    }

    /// A launch has ended, or failed. After a fault, what happened in later cycles does not count: cores that were
    /// simulated further than the core at fault know of it.
    pub fn end(&mut self, launch: &Launch, ended: Result<&KernelReport, &RunError>) {
        self.read(match ended {
            Err(RunError::Fault(fault)) => fault.cycle.unwrap_or(NEVER),
            _ => NEVER,
        });
        let kernel = &self.program.kernels[launch.kernel];
        self.report.add(&self.waves.detector, self.program, kernel, self.grid, self.waves.per_workgroup);
    }

    /// The findings of all launches.
    pub fn finish(self) -> RaceReport {
        self.report
    }

    /// Reads the logs up to cycle `last`, and drops what is later.
    fn read(&mut self, last: Cycle) {
        self.full.store(false, Ordering::Relaxed);
        let mut logs: Vec<MutexGuard<'_, Log>> = self.logs.iter().map(|log| lock(log)).collect();
        let places = in_order(logs.iter().map(|log| log.notes.iter().map(|&(cycle, _)| cycle)));
        // What the L2 performs counts after all that the cores do in the same cycle.
        self.atomics.retain(|atomic| atomic.cycle <= last);
        self.atomics.sort_by_key(|atomic| atomic.cycle);
        let mut atomics = self.atomics.drain(..).peekable();
        for (cycle, core, note) in places.into_iter().take_while(|&(cycle, ..)| cycle <= last) {
            while let Some(atomic) = atomics.next_if(|atomic| atomic.cycle < cycle) {
                self.waves.performed(&atomic);
            }
            let log = &logs[core as usize];
            self.waves.take(core, &log.notes[note].1, &log.lanes);
        }
        atomics.for_each(|atomic| self.waves.performed(&atomic));
        logs.iter_mut().for_each(|log| log.clear());
    }
}

impl Waves {
    fn new(per_workgroup: u32) -> Waves {
        Waves {
            per_workgroup,
            detector: Detector::new(per_workgroup, MAX_TOUCHES),
            residents: HashMap::new(),
            live: HashMap::new(),
        }
    }

    /// Tells the detector what a core has noted. `lanes` has the addresses that its log holds.
    fn take(&mut self, core: u32, note: &Note, lanes: &[u32]) {
        match *note {
            Note::Wave { slot, wave } => self.settle(core, slot, wave),
            Note::Fence { wave, acquire, release, scope } => {
                self.detector.fence(wave, acquire, release, scope)
            }
            Note::Barrier { wave } => self.detector.barrier(wave),
            Note::Access(ref accessed) => self.access(accessed, lanes),
        }
    }

    /// Records that a wave is in a slot. The wave that was there before has ended.
    fn settle(&mut self, core: u32, slot: u8, wave: WaveId) {
        let Some(before) = self.residents.insert((core, slot), wave) else { return };
        let before = before / self.per_workgroup;
        let left = self.live.entry(before).or_insert(self.per_workgroup);
        *left -= 1;
        if *left == 0 && before != wave / self.per_workgroup {
            self.live.remove(&before);
            self.detector.end_workgroup(before);
        }
    }

    fn access(&mut self, accessed: &Accessed, lanes: &[u32]) {
        let &Accessed { access, mask, bytes, rows, lanes: first } = accessed;
        // An address for each lane that takes part, then, of a tile, a stride for each.
        let (addresses, strides) = lanes[first..].split_at(mask.count_ones() as usize);
        let active = (0..64u8).filter(|lane| mask >> lane & 1 != 0).zip(addresses).enumerate();
        let touched = active.flat_map(|(place, (lane, &address))| {
            (0..rows).map(move |row| LaneAccess {
                lane,
                address: match row {
                    0 => address,
                    row => address.wrapping_add(row.wrapping_mul(strides[place])),
                },
                bytes: bytes.into(),
            })
        });
        self.detector.access(&access, touched);
    }

    fn performed(&mut self, atomic: &AtomicEvent) {
        let mut left = atomic.bytes;
        while left != 0 {
            let at = left.trailing_zeros() & !3;
            left &= !(0xF << at);
            self.detector.performed(atomic.core, (atomic.line + at) / 4, atomic.written >> at & 0xF != 0);
        }
    }
}

impl Observer for RaceCheck<'_> {
    fn wants(&self) -> Wants {
        Wants::of(&[EventKind::Atomic])
    }

    fn of_cores(&self) -> Vec<Vec<OfCore>> {
        vec![self.logs.iter().map(|log| log.clone() as OfCore).collect()]
    }

    fn event(&mut self, event: &Event<'_>) {
        if let Event::Atomic(atomic) = event {
            self.atomics.push(*atomic);
        }
    }

    fn advanced(&mut self, _: Cycle) -> ControlFlow<()> {
        if self.full.load(Ordering::Relaxed) {
            self.read(NEVER);
        }
        ControlFlow::Continue(())
    }
}
