//! Which workgroups are resident, and whose turn it is.
//!
//! A program may rely on what the machine gives it: the workgroups that are resident together, which start in the order
//! of their linear index, all make progress, and so do the waves of each. So every wave gets its turns, and as many
//! workgroups become resident as the cores have places for. But a place is filled only once a workgroup before it does
//! not come to its end in a visit, so the usual kernel runs in one place, workgroup by workgroup, in the host's caches.

use super::polling;
use super::turn::{Lanes, Memories, Pause, Watch};
use super::wave::{Doing, Wave, Workgroup};
use super::{ExecutionError, ExecutionProgress, ExecutionStop, Limits, Standstill, Until};
use crate::config::Config;
use crate::core::context::Context;
use crate::core::grid::{index_of, position};
use crate::core::report::{WaitsFor, WaveReport};
use std::ops::Range;

/// Instructions of a turn.
const TURN: u64 = 1024;
/// Instructions of a workgroup in a visit, over all its waves.
const VISIT: u64 = 16 * TURN;

/// Nominal cycles that all places go on in step. So many turns of a wave keep its registers in the host's caches.
const STEP: u64 = 4 * TURN;

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
    /// Instructions of the workgroups that have ended.
    ended_steps: u64,
    poison: u8,
    uses_mma: bool,
    /// Frames of the divergence and call stacks.
    depths: (usize, usize),
    /// The last nominal cycle in which a turn ended that stored.
    stored: u64,
    /// The place that is visited next.
    turn: usize,
    /// The nominal cycle that all places have reached in step.
    step: u64,
    /// Instructions executed when progress is told next.
    next_progress: u64,
}

/// How far a visit may go.
pub(super) struct Bounds<'a> {
    pub(super) cycle: u64,
    /// Watch every turn for this word.
    pub(super) word: Option<u32>,
    pub(super) limits: &'a Limits,
}

/// Why a visit ended.
pub(super) enum Visit {
    /// Its workgroups have nothing more to do for now.
    Over,
    /// A wave stands at the watched word.
    Watched(u32),
}

impl Grid {
    /// The grid of a context, of which nothing has started.
    pub(super) fn new(config: &Config, context: &Context) -> Grid {
        let launch = context.launch();
        let depths = (config.core.divergence_depth as usize, config.core.call_depth as usize);
        Grid {
            places: Vec::new(),
            most_places: config.cores as usize * context.occupancy.workgroups as usize,
            cores: config.cores as usize,
            size: launch.grid,
            next: 0,
            finished: 0,
            total: launch.workgroups(),
            ended_steps: 0,
            poison: config.core.local_poison,
            uses_mma: context.ops.uses_mma,
            depths,
            stored: 0,
            turn: 0,
            step: 0,
            next_progress: 0,
        }
    }

    /// Leaves out all workgroups but these. None has started.
    pub(super) fn confine(&mut self, workgroups: Range<u64>) {
        (self.next, self.finished, self.total) = (workgroups.start, workgroups.start, workgroups.end);
    }

    pub(super) fn advance(
        &mut self,
        lanes: &mut Lanes,
        memory: &mut [u8],
        until: Until,
        limits: &Limits,
        progress: &mut dyn FnMut(ExecutionProgress),
    ) -> Result<ExecutionStop, ExecutionError> {
        let bounds = |cycle, word| Bounds { cycle, word, limits };
        let bounds = match until {
            Until::End => bounds(u64::MAX, None),
            Until::Pc(pc) => bounds(u64::MAX, Some(lanes.context.ops.word_at(pc))),
            Until::Cycle(cycle) => return self.in_step(lanes, memory, &bounds(cycle, None), progress),
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
                    return Ok(ExecutionStop::Pc { workgroup: self.places[self.turn].workgroup.id, wave });
                }
            }
            self.turn += 1;
            idle = if lanes.steps == before { idle + 1 } else { 0 };
            // No visit of a whole round has executed anything, and no place is left to fill.
            if idle > self.places.len() {
                return Err(ExecutionError::NoProgress(self.standstill(lanes, memory)));
            }
        }
        Ok(ExecutionStop::End)
    }

    /// As [`advance`](Self::advance) up to a nominal cycle: all places go on in step, so that each workgroup starts in
    /// the place that is the first to be free.
    fn in_step(
        &mut self,
        lanes: &mut Lanes,
        memory: &mut [u8],
        bounds: &Bounds<'_>,
        progress: &mut dyn FnMut(ExecutionProgress),
    ) -> Result<ExecutionStop, ExecutionError> {
        while self.finished < self.total {
            let end = bounds.cycle.min(self.step + STEP);
            let bounds_of_step = Bounds { cycle: end, ..*bounds };
            loop {
                let before = (lanes.steps, self.next);
                for place in 0..self.places.len() {
                    if self.places[place].resident
                        && let Visit::Watched(wave) =
                            self.run_place(place, lanes, memory, &bounds_of_step, progress)?
                    {
                        return Ok(ExecutionStop::Pc { workgroup: self.places[place].workgroup.id, wave });
                    }
                }
                while let Some(place) = self.first_free(end, lanes) {
                    self.start(place, lanes);
                    if let Visit::Watched(wave) =
                        self.run_place(place, lanes, memory, &bounds_of_step, progress)?
                    {
                        return Ok(ExecutionStop::Pc { workgroup: self.places[place].workgroup.id, wave });
                    }
                }
                if before == (lanes.steps, self.next) {
                    break;
                }
            }
            if self.finished == self.total {
                break;
            }
            if !self.waits_for(end) {
                return Err(ExecutionError::NoProgress(self.standstill(lanes, memory)));
            }
            if end == bounds.cycle {
                return Ok(ExecutionStop::Cycle);
            }
            self.step = end;
        }
        Ok(ExecutionStop::End)
    }

    /// The place that is the first to be free for the next workgroup, before this nominal cycle; `None` if there is no
    /// such place, or no workgroup left.
    fn first_free(&mut self, before: u64, lanes: &Lanes) -> Option<usize> {
        if self.next == self.total || before == 0 {
            return None;
        }
        let free = self.places.iter().enumerate().filter(|(_, place)| !place.resident);
        let first = free.map(|(index, place)| (place.workgroup.last_cycle(), index)).min();
        let first = first.filter(|(cycle, _)| *cycle < before);
        match first {
            Some((0, index)) => Some(index),
            _ if self.places.len() < self.most_places => {
                self.add_place(lanes);
                Some(self.places.len() - 1)
            }
            first => first.map(|(_, index)| index),
        }
    }

    /// Adds a place that was never used; there is one.
    fn add_place(&mut self, lanes: &Lanes) {
        let (shape, width) = (&lanes.context.shape, lanes.width);
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
    pub(super) fn start(&mut self, place: usize, lanes: &Lanes) {
        let id = self.next_id();
        let Place { workgroup, resident } = &mut self.places[place];
        let cycle = workgroup.last_cycle();
        workgroup.start(id, &lanes.context.shape, lanes.width, self.poison, cycle);
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
        progress: &mut dyn FnMut(ExecutionProgress),
    ) -> Result<Visit, ExecutionError> {
        loop {
            if !self.places[place].resident {
                if self.next == self.total {
                    return Ok(Visit::Over);
                }
                self.start(place, lanes);
            }
            let visit = self.run_place(place, lanes, memory, bounds, progress)?;
            if self.places[place].resident {
                return Ok(visit);
            }
        }
    }

    /// Runs the workgroup of a place until it has ended, or has nothing more to do for now.
    pub(super) fn run_place(
        &mut self,
        place: usize,
        lanes: &mut Lanes,
        memory: &mut [u8],
        bounds: &Bounds<'_>,
        progress: &mut dyn FnMut(ExecutionProgress),
    ) -> Result<Visit, ExecutionError> {
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
                progress(ExecutionProgress {
                    instructions: lanes.steps,
                    workgroups: self.finished,
                    total_workgroups: self.total,
                });
            }
            if lanes.steps == before {
                return Ok(Visit::Over);
            }
        }
        let Place { workgroup, resident, .. } = &mut self.places[place];
        *resident = false;
        self.ended_steps += workgroup.waves.iter().map(|wave| wave.course.steps).sum::<u64>();
        self.finished += 1;
        lanes.counters.workgroups += 1;
        Ok(Visit::Over)
    }

    /// Gives each wave of a workgroup a turn. Returns a wave that stands at the watched word.
    fn sweep(
        &mut self,
        place: usize,
        lanes: &mut Lanes,
        memory: &mut [u8],
        bounds: &Bounds<'_>,
    ) -> Result<Option<u32>, ExecutionError> {
        let Limits { max_instructions, .. } = *bounds.limits;
        for index in 0..lanes.context.shape.waves as usize {
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
            if wave.cycle >= bounds.cycle || !wave.course.is_open() {
                continue;
            }
            if bounds.limits.is_stopped() {
                return Err(ExecutionError::Interrupted(self.standstill(lanes, memory)));
            }
            let left = max_instructions.map_or(u64::MAX, |limit| limit.saturating_sub(lanes.steps));
            if left == 0 {
                return Err(ExecutionError::InstructionLimit(self.standstill(lanes, memory)));
            }
            let most =
                TURN.min(left).min(bounds.cycle - wave.cycle).min(wave.course.until - wave.course.steps);
            let word = bounds.word.or(Some(wave.course.home).filter(|&word| word != u32::MAX));
            let mut memories = Memories { local: &mut workgroup.local, device: memory };
            let changes = lanes.changes;
            let id = workgroup.id;
            let pause = if wave.patience.0 == 0 {
                polling::look(lanes, id, wave, &mut memories, most, word)
            } else if word.is_some() {
                lanes.watched_turn(id, wave, &mut memories, most, word)
            } else {
                lanes.turn::<false>(id, wave, &mut memories, most, &mut Watch::at(None))
            };
            let pause = pause.map_err(ExecutionError::Fault)?;
            if lanes.changes != changes {
                self.stored = self.stored.max(wave.cycle);
            }
            match pause {
                Pause::Spent => wave.patience.0 = wave.patience.0.saturating_sub(1),
                Pause::Looped => {}
                Pause::Watched if bounds.word.is_none() => {
                    wave.stopped = false;
                    wave.course.arrive();
                }
                Pause::Watched => return Ok(Some(index as u32)),
                Pause::Barrier => {
                    wave.doing = Doing::AtBarrier;
                    workgroup.arrived += 1;
                    lanes.counters.barriers += u64::from(workgroup.pass_barrier(&lanes.context.ops));
                }
                Pause::Ended => {
                    wave.doing = Doing::Ended;
                    workgroup.live -= 1;
                    // A barrier waits for live waves only, so the end of this one may release it.
                    lanes.counters.barriers += u64::from(workgroup.pass_barrier(&lanes.context.ops));
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
        }) || self.next < self.total && self.places.len() < self.most_places
    }

    /// As [`in_step`](Self::in_step), but looks for the first wave that comes to this word: the nominal cycle in which
    /// it does, if one does before this one.
    ///
    /// # Errors
    /// As [`advance`](Self::advance), unless a wave comes to the word before.
    pub(super) fn first_at(
        &mut self,
        lanes: &mut Lanes,
        memory: &mut [u8],
        (word, before): (u32, u64),
        limits: &Limits,
        progress: &mut dyn FnMut(ExecutionProgress),
    ) -> Result<Option<u64>, ExecutionError> {
        let mut bounds = Bounds { cycle: before, word: Some(word), limits };
        let (mut first, mut fault) = (None, None);
        loop {
            match self.in_step(lanes, memory, &bounds, progress) {
                Ok(ExecutionStop::Pc { workgroup, wave }) => {
                    first = self.cycle_of(workgroup, wave);
                    bounds.cycle = first.unwrap_or(before);
                }
                // Another wave may come to the word before the cycle of the fault.
                Err(ExecutionError::Fault(found)) => {
                    bounds.cycle = self.cycle_of(found.workgroup, found.wave).unwrap_or(0);
                    (first, fault) = (None, Some(found));
                }
                Ok(_) | Err(ExecutionError::NoProgress(_)) if first.is_some() => return Ok(first),
                Ok(_) => return fault.map_or(Ok(None), |fault| Err(ExecutionError::Fault(fault))),
                Err(error) => return fault.map_or(Err(error), |fault| Err(ExecutionError::Fault(fault))),
            }
        }
    }

    /// The nominal cycle of a wave of a resident workgroup.
    fn cycle_of(&self, group: [u32; 3], wave: u32) -> Option<u64> {
        let mut residents = self.residents().filter(|(_, it)| it.id == group);
        residents.next().map(|(_, it)| it.waves[wave as usize].cycle)
    }

    /// The last nominal cycle of all waves.
    pub(super) fn last_cycle(&self) -> u64 {
        self.places.iter().map(|place| place.workgroup.last_cycle()).max().unwrap_or(0)
    }

    pub(super) fn residents(&self) -> impl Iterator<Item = (usize, &Workgroup)> {
        let places = self.places.iter().enumerate().filter(|(_, place)| place.resident);
        places.map(|(index, place)| (index, &place.workgroup))
    }

    /// Instructions of all workgroups, if those that have not ended take as many as those that have; `None` if none has.
    pub(super) fn expected_steps(&self) -> Option<f64> {
        (self.finished > 0).then(|| self.ended_steps as f64 / self.finished as f64 * self.total as f64)
    }

    /// Places that were ever used.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The workgroup that is resident in a place.
    pub(super) fn resident_mut(&mut self, place: usize) -> Option<&mut Workgroup> {
        Some(&mut self.places[place]).filter(|place| place.resident).map(|place| &mut place.workgroup)
    }

    /// The workgroup of a place: that which is resident, or the last one.
    pub(super) fn workgroup(&self, place: usize) -> &Workgroup {
        &self.places[place].workgroup
    }

    /// Its waves.
    pub(super) fn waves_mut(&mut self, place: usize) -> impl Iterator<Item = &mut Wave> {
        self.places[place].workgroup.waves.iter_mut()
    }

    /// A place of the machine, if it is free.
    pub(super) fn room(&mut self, place: usize, lanes: &Lanes) -> Option<usize> {
        while self.places.len() <= place.min(self.most_places - 1) {
            self.add_place(lanes);
        }
        Some(place).filter(|&place| self.places.get(place).is_some_and(|place| !place.resident))
    }

    /// A place in which no workgroup is resident, if the machine has one.
    pub(super) fn free_place(&mut self, lanes: &Lanes) -> Option<usize> {
        let free = self.places.iter().position(|place| !place.resident);
        if free.is_none() && self.places.len() < self.most_places {
            self.add_place(lanes);
            return Some(self.places.len() - 1);
        }
        free
    }

    /// The next workgroup to start.
    pub(super) fn next_id(&self) -> [u32; 3] {
        position(self.next, self.size)
    }

    /// The linear index of a workgroup.
    pub(super) fn index_of(&self, id: [u32; 3]) -> u64 {
        index_of(id, self.size)
    }

    pub(super) fn is_over(&self) -> bool {
        self.finished == self.total
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
                    pc: lanes.context.ops.pc(wave.word),
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
