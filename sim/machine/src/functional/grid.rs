//! Which workgroups are resident, and whose turn it is.
//!
//! A program may rely on what the machine gives it: the workgroups that are resident together, which start in the order
//! of their linear index, all make progress, and so do the waves of each. So every wave gets its turns, and as many
//! workgroups become resident as the cores have places for. But a place is filled only once a workgroup before it does
//! not come to its end in a visit, so the usual kernel runs in one place, workgroup by workgroup, in the host's caches.

use super::polling;
use super::turn::{Lanes, Memories, Pause, Watch};
use super::wave::{Doing, Wave, Workgroup};
use super::{Limits, Progress, RunError, Standstill, Stop, Until};
use crate::config::Config;
use crate::core::occupancy::Occupancy;
use crate::core::report::{WaitsFor, WaveReport};
use wave_isa::program::Launch;

/// Instructions of a turn.
const TURN: u64 = 1024;
/// Instructions of a workgroup in a visit, over all its waves.
const VISIT: u64 = 16 * TURN;

/// Instructions between two calls about progress.
const BETWEEN_PROGRESS: u64 = 1 << 16;

/// A place for a workgroup.
#[derive(Debug, Clone)]
struct Place {
    workgroup: Workgroup,
    resident: bool,
}

/// The grid of a launch on the places of a machine.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    places: Vec<Place>,
    /// Places of the machine; those that were never used are not in `places`.
    most_places: usize,
    cores: usize,
    size: [u32; 3],
    /// Workgroups started, ended, and all.
    next: u64,
    finished: u64,
    total: u64,
    poison: u8,
    uses_mma: bool,
    /// Frames of the divergence and call stacks.
    depths: (usize, usize),
    /// The last nominal cycle in which a turn ended that stored.
    stored: u64,
    /// The place that is visited next.
    turn: usize,
    /// Instructions executed when progress is told next.
    next_progress: u64,
}

/// How far a visit may go.
struct Bounds<'a> {
    cycle: u64,
    /// Watch every turn for this word.
    word: Option<u32>,
    limits: &'a Limits,
}

/// Why a visit ended.
enum Visit {
    /// Its workgroups have nothing more to do for now.
    Over,
    /// A wave stands at the watched word.
    Watched(u32),
}

impl Grid {
    pub(super) fn new(config: &Config, launch: &Launch, occupancy: Occupancy, uses_mma: bool) -> Grid {
        let depths = (config.core.divergence_depth as usize, config.core.call_depth as usize);
        Grid {
            places: Vec::new(),
            most_places: config.cores as usize * occupancy.workgroups as usize,
            cores: config.cores as usize,
            size: launch.grid,
            next: 0,
            finished: 0,
            total: launch.workgroups(),
            poison: config.core.local_poison,
            uses_mma,
            depths,
            stored: 0,
            turn: 0,
            next_progress: 0,
        }
    }

    pub(super) fn advance(
        &mut self,
        lanes: &mut Lanes,
        memory: &mut [u8],
        until: Until,
        limits: &Limits,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Stop, RunError> {
        let bounds = Bounds {
            cycle: if let Until::Cycle(cycle) = until { cycle } else { u64::MAX },
            word: if let Until::Pc(pc) = until { Some(lanes.ops.word_at(pc)) } else { None },
            limits,
        };
        let mut idle = 0;
        while self.finished < self.total {
            if self.turn == self.places.len() {
                if self.next < self.total && self.places.len() < self.most_places {
                    self.add_place(lanes);
                } else {
                    self.turn = 0;
                }
            }
            let before = lanes.steps;
            match self.visit(self.turn, lanes, memory, &bounds, progress)? {
                Visit::Over => {}
                Visit::Watched(wave) => {
                    return Ok(Stop::Pc { workgroup: self.places[self.turn].workgroup.id, wave });
                }
            }
            self.turn += 1;
            idle = if lanes.steps == before { idle + 1 } else { 0 };
            // No visit of a whole round has executed anything, and no place is left to fill.
            if idle > self.places.len() {
                if bounds.cycle < u64::MAX && self.waits_for(bounds.cycle) {
                    return Ok(Stop::Cycle);
                }
                return Err(RunError::NoProgress(self.standstill(lanes, memory)));
            }
        }
        Ok(Stop::End)
    }

    /// Starts a workgroup in a place that was never used. There is one left, and a place.
    fn add_place(&mut self, lanes: &Lanes) {
        let (shape, width) = (&lanes.shape, lanes.width);
        let wave = |id| Wave::new(id, shape, width, self.uses_mma, self.depths);
        let workgroup = Workgroup {
            id: [0; 3],
            local: vec![0; shape.launch.local_memory_bytes as usize],
            waves: (0..shape.waves).map(wave).collect(),
            live: 0,
            arrived: 0,
        };
        self.places.push(Place { workgroup, resident: false });
    }

    /// Starts the next workgroup in a free place.
    fn start(&mut self, place: usize, lanes: &Lanes) {
        let [x, y, _] = self.size.map(u64::from);
        let id = [self.next % x, self.next / x % y, self.next / x / y].map(|n| n as u32);
        let Place { workgroup, resident } = &mut self.places[place];
        let cycle = workgroup.last_cycle();
        workgroup.start(id, &lanes.shape, lanes.width, self.poison, cycle);
        *resident = true;
        self.next += 1;
    }

    /// Runs the workgroup of a place, and those that follow it there, until one of them does not come to its end.
    fn visit(
        &mut self,
        place: usize,
        lanes: &mut Lanes,
        memory: &mut [u8],
        bounds: &Bounds<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Visit, RunError> {
        loop {
            let Place { workgroup, resident } = &self.places[place];
            if !resident {
                if self.next == self.total || workgroup.last_cycle() >= bounds.cycle {
                    return Ok(Visit::Over);
                }
                self.start(place, lanes);
            }
            let end = lanes.steps + VISIT;
            while self.places[place].workgroup.live > 0 {
                if lanes.steps >= end {
                    return Ok(Visit::Over);
                }
                let before = lanes.steps;
                if let Some(wave) = self.sweep(place, lanes, memory, bounds)? {
                    return Ok(Visit::Watched(wave));
                }
                if lanes.steps >= self.next_progress {
                    self.next_progress = lanes.steps + BETWEEN_PROGRESS;
                    progress(Progress {
                        instructions: lanes.steps,
                        workgroups: self.finished,
                        total_workgroups: self.total,
                    });
                }
                if lanes.steps == before {
                    return Ok(Visit::Over);
                }
            }
            self.places[place].resident = false;
            self.finished += 1;
            lanes.counters.workgroups += 1;
        }
    }

    /// Gives each wave of a workgroup a turn. Returns a wave that stands at the watched word.
    fn sweep(
        &mut self,
        place: usize,
        lanes: &mut Lanes,
        memory: &mut [u8],
        bounds: &Bounds<'_>,
    ) -> Result<Option<u32>, RunError> {
        let Limits { max_instructions, .. } = *bounds.limits;
        for index in 0..lanes.shape.waves as usize {
            let workgroup = &mut self.places[place].workgroup;
            let wave = &mut workgroup.waves[index];
            match wave.doing {
                Doing::Runs => {}
                Doing::Polls(seen) if seen != lanes.changes => {
                    // It cannot have seen the change before it was made.
                    wave.cycle = wave.cycle.max(self.stored).min(bounds.cycle);
                    wave.doing = Doing::Runs;
                }
                _ => continue,
            }
            if wave.cycle >= bounds.cycle {
                continue;
            }
            if bounds.limits.is_stopped() {
                return Err(RunError::Interrupted(self.standstill(lanes, memory)));
            }
            let left = max_instructions.map_or(u64::MAX, |limit| limit.saturating_sub(lanes.steps));
            if left == 0 {
                return Err(RunError::InstructionLimit(self.standstill(lanes, memory)));
            }
            let most = TURN.min(left).min(bounds.cycle - wave.cycle);
            let mut memories = Memories { local: &mut workgroup.local, device: memory };
            let changes = lanes.changes;
            let id = workgroup.id;
            let pause = if bounds.word.is_some() {
                let mut watch = Watch::at(bounds.word);
                lanes.turn::<true>(id, wave, &mut memories, most, &mut watch)
            } else if wave.patience.0 == 0 {
                polling::look(lanes, id, wave, &mut memories, most)
            } else {
                lanes.turn::<false>(id, wave, &mut memories, most, &mut Watch::at(None))
            };
            let pause = pause.map_err(RunError::Fault)?;
            if lanes.changes != changes {
                self.stored = self.stored.max(wave.cycle);
            }
            match pause {
                Pause::Spent => wave.patience.0 = wave.patience.0.saturating_sub(1),
                Pause::Looped => {}
                Pause::Watched => return Ok(Some(index as u32)),
                Pause::Barrier => {
                    wave.doing = Doing::AtBarrier;
                    workgroup.arrived += 1;
                    lanes.counters.barriers += u64::from(workgroup.pass_barrier(&lanes.ops));
                }
                Pause::Ended => {
                    wave.doing = Doing::Ended;
                    workgroup.live -= 1;
                    // A barrier waits for live waves only, so the end of this one may release it.
                    lanes.counters.barriers += u64::from(workgroup.pass_barrier(&lanes.ops));
                }
            }
        }
        Ok(None)
    }

    /// True if a wave or a free place waits for this nominal cycle.
    fn waits_for(&self, cycle: u64) -> bool {
        self.places.iter().any(|Place { workgroup, resident }| match resident {
            true => workgroup.waves.iter().any(|wave| wave.doing == Doing::Runs && wave.cycle >= cycle),
            false => self.next < self.total && workgroup.last_cycle() >= cycle,
        })
    }

    pub(super) fn residents(&self) -> impl Iterator<Item = (usize, &Workgroup)> {
        let places = self.places.iter().enumerate().filter(|(_, place)| place.resident);
        places.map(|(index, place)| (index, &place.workgroup))
    }

    pub(super) fn started(&self) -> (u64, u64) {
        (self.next, self.total)
    }

    /// Where the launch stands. Nothing runs any more.
    fn standstill(&self, lanes: &Lanes, memory: &mut [u8]) -> Box<Standstill> {
        let mut standstill = Standstill {
            instructions: lanes.steps,
            workgroups: (self.finished, self.total),
            waves: Vec::new(),
            doing: Vec::new(),
        };
        let mut lanes = lanes.clone();
        for (place, workgroup) in self.residents() {
            let missing = workgroup.waves.iter().filter(|w| matches!(w.doing, Doing::Runs | Doing::Polls(_)));
            let missing: Vec<u32> = missing.map(|wave| wave.id).collect();
            for wave in workgroup.waves.iter().filter(|wave| wave.doing != Doing::Ended) {
                let core = (place % self.cores) as u32;
                let slot = place / self.cores * workgroup.waves.len() + wave.id as usize;
                standstill.waves.push(WaveReport {
                    core,
                    slot,
                    workgroup: workgroup.id,
                    wave: wave.id,
                    active: wave.control.active,
                    pc: lanes.ops.pc(wave.word),
                    waits_for: match wave.doing {
                        Doing::AtBarrier => WaitsFor::Barrier(missing.clone()),
                        _ => WaitsFor::Turn,
                    },
                });
                if wave.doing == Doing::Polls(lanes.changes) {
                    let mut local = workgroup.local.clone();
                    let mut memories = Memories { local: &mut local, device: memory };
                    let seen = polling::round(&mut lanes, workgroup.id, wave.clone(), &mut memories);
                    standstill.doing.extend(seen.map(|seen| seen.doing(core, slot)));
                }
            }
        }
        Box::new(standstill)
    }
}
