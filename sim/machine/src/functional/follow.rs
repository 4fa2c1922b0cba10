//! Beside a machine that simulates the same launch: this executor comes to where the machine stands, wave by wave, and
//! goes on from there while the machine stands still.
//!
//! A wave of the machine has issued a number of instructions; here it executes as many. When the waves then go on, each
//! is as fast as those of its age in its scheduler have been, because a policy may prefer the oldest, so that young ones
//! hardly move. Workgroups end on the way, and others start in their places.
//!
//! In the end a wave goes on to the word of the kernel at which it stood, if it comes to it soon. In a loop that is the
//! same place some rounds later, and it waits there for what it has waited for in the machine.

use super::footprint::Footprint;
use super::grid::{Bounds, Grid};
use super::turn::Lanes;
use super::wave::{Doing, Wave, Workgroup};
use super::{Execution, ExecutionError, ExecutionProgress, Limits};
use crate::clock::Cycle;
use crate::config::Config;
use crate::core::standing::Stand;
use crate::stats::CoreCounters;
use std::collections::{HashMap, VecDeque};

/// A leap has so many slices at most. In a slice no wave becomes older.
const SLICES: f64 = 64.0;

/// Cycles of a slice at least.
const SLICE: f64 = 2048.0;

/// And at most, so that a leap does not go far past a bound.
const LONGEST_SLICE: f64 = 16384.0;

/// A leap ends when there are fewer waves than this part of those at its beginning, or so many more: then the windows
/// before and behind it do not stand for it.
const LEAST_LIVE: f64 = 0.9;

/// A leap ends where other things happen than since the last one: where, in so many slices, a part of the instructions
/// or of their lanes differs by more than this part of itself. Parts that are less than the least do not count.
const LOOK_BACK: usize = 8;
const ALIKE: f64 = 0.2;
const LEAST_PART: f64 = 0.02;

/// Most instructions that a wave goes on to come back to its word.
const WAY_BACK: u64 = 4096;

/// What happens in an instruction on the average: accesses to device memory, to local memory, lanes that take part.
#[derive(Debug, Clone, Copy)]
struct Mix([f64; 3]);

impl Mix {
    fn of(counted: &CoreCounters, width: usize) -> Mix {
        let instructions = (counted.wave_instructions + counted.squashed_instructions).max(1) as f64;
        let device = counted.device_loads + counted.device_stores + counted.device_atomics;
        let lanes = counted.lane_instructions as f64 / width as f64;
        Mix([device as f64, counted.local_accesses as f64, lanes].map(|count| count / instructions))
    }

    fn is_like(&self, other: &Mix) -> bool {
        self.0.iter().zip(&other.0).all(|(&a, &b)| {
            let more = a.max(b);
            more < LEAST_PART || (a - b).abs() <= ALIKE * more
        })
    }
}

/// How far a wave has come, and how far it may go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Course {
    /// Instructions executed.
    pub(super) steps: u64,
    /// It gets no turn when it has executed so many.
    pub(super) until: u64,
    /// It gets no turn when it comes to this word; none is `u32::MAX`.
    pub(super) home: u32,
    /// The cycle of the machine behind the last leap, or from which on it may have started, and `steps` then.
    mark: (Cycle, u64),
    /// Number of its scheduler among those of the machine.
    scheduler: usize,
    /// Part of an instruction by which `until` is too low.
    credit: f64,
}

impl Course {
    /// A wave that starts and may go to its end.
    pub(super) const START: Course =
        Course { steps: 0, until: u64::MAX, home: u32::MAX, mark: (0, 0), scheduler: 0, credit: 0.0 };

    /// True if the wave may execute more.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.steps < self.until
    }

    /// It has come home.
    pub(super) fn arrive(&mut self) {
        (self.until, self.home) = (self.steps, u32::MAX);
    }
}

impl Wave {
    /// The word of its next instruction.
    fn next_word(&self, lanes: &Lanes) -> u32 {
        match self.doing {
            Doing::AtBarrier => self.word + lanes.context.ops.get(self.word).words,
            _ => self.word,
        }
    }
}

/// Where the waves of a machine stand, by workgroup and wave.
type Stands = HashMap<([u32; 3], u32), Stand>;

/// Instructions that waves have issued, by workgroup and wave.
pub(crate) type Issued = HashMap<([u32; 3], u32), u64>;

/// Instructions in a cycle of a wave that is the n-th oldest of its scheduler.
type Rates = Vec<f64>;

impl Grid {
    /// Executes what the machine has: the first `sent` workgroups, of which those that are not in `stands` have ended there.
    /// False if a wave does not come so far without others.
    fn follow(&mut self, walk: &mut Walk<'_>, sent: u64, stands: &Stands) -> Result<bool, ExecutionError> {
        let mut place_of: HashMap<[u32; 3], usize> = HashMap::new();
        for (&(group, _), stand) in stands {
            place_of.insert(group, stand.place);
        }
        for place in 0..self.len() {
            self.bound(place, stands);
        }
        self.run_all(walk)?;
        while self.started().0 < sent {
            let place = match place_of.get(&self.next_id()) {
                Some(&place) => self.room(place, walk.lanes),
                None => self.free_place(walk.lanes),
            };
            let Some(place) = place else { return Ok(false) };
            self.start(place, walk.lanes);
            self.bound(place, stands);
            self.run_alone(place, walk)?;
        }
        self.run_all(walk)?;
        let there = |wave: &Wave| match wave.course.until {
            u64::MAX => wave.doing == Doing::Ended,
            until => wave.course.steps == until && wave.doing != Doing::Ended,
        };
        Ok(self.residents().all(|(_, it)| it.waves.iter().all(there)))
    }

    /// Lets the waves of a place go as far as those of the machine.
    fn bound(&mut self, place: usize, stands: &Stands) {
        if let Some(workgroup) = self.resident_mut(place) {
            for wave in &mut workgroup.waves {
                let stand = stands.get(&(workgroup.id, wave.id));
                wave.course.until = stand.map_or(u64::MAX, |stand| stand.issued);
                wave.course.scheduler = stand.map_or(wave.course.scheduler, |stand| stand.scheduler);
            }
        }
    }

    /// Runs every workgroup until none can go on.
    fn run_all(&mut self, walk: &mut Walk<'_>) -> Result<(), ExecutionError> {
        loop {
            let before = walk.lanes.steps;
            for place in 0..self.len() {
                self.run_alone(place, walk)?;
            }
            if walk.lanes.steps == before {
                return Ok(());
            }
        }
    }

    /// Runs the workgroup of a place until none of its waves can go on.
    fn run_alone(&mut self, place: usize, walk: &mut Walk<'_>) -> Result<(), ExecutionError> {
        let bounds = Bounds { cycle: u64::MAX, word: None, limits: walk.limits };
        loop {
            let before = walk.lanes.steps;
            if self.resident_mut(place).is_some() {
                self.run_place(place, walk.lanes, walk.memory, &bounds, walk.progress)?;
            }
            if walk.lanes.steps == before {
                return Ok(());
            }
        }
    }

    /// How fast the waves of an age go on. They have been looked at in cycle `mid`, when they had issued `issued`.
    ///
    /// What an age has been faster than others counts as far as it was so before that cycle and behind it: where the policy
    /// prefers the oldest waves, it is. Where waves only take turns, to be ahead is no speed.
    fn rates(&self, now: Cycle, (mid, issued): (Cycle, &Issued), stands: &Stands) -> Rates {
        let mut sums: Vec<[f64; 3]> = Vec::new();
        for (_, workgroup) in self.residents() {
            for wave in &workgroup.waves {
                let key = (workgroup.id, wave.id);
                let (Some(stand), Some(&then)) = (stands.get(&key), issued.get(&key)) else { continue };
                if stand.rank >= sums.len() {
                    sums.resize(stand.rank + 1, [0.0; 3]);
                }
                let (mark, steps) = wave.course.mark;
                let since = mark.max(stand.since);
                let rate = |steps: u64, cycles: Cycle| steps as f64 / cycles.max(1) as f64;
                let sum = &mut sums[stand.rank];
                sum[0] += rate(then.saturating_sub(steps), mid.saturating_sub(since));
                sum[1] += rate(stand.issued.saturating_sub(then), now - mid);
                sum[2] += 1.0;
            }
        }
        let count: f64 = sums.iter().map(|sum| sum[2]).sum();
        let mean = |half: usize| sums.iter().map(|sum| sum[half]).sum::<f64>() / count.max(1.0);
        let (first, second) = (mean(0), mean(1));
        let apart = |sum: &[f64; 3]| (sum[0] / sum[2].max(1.0) - first, sum[1] / sum[2].max(1.0) - second);
        let (mut common, mut all) = (0.0, 0.0);
        for sum in &sums {
            let (a, b) = apart(sum);
            common += sum[2] * a * b;
            all += sum[2] * (a * a + b * b) / 2.0;
        }
        let part = if all > 0.0 { (common / all).clamp(0.0, 1.0) } else { 0.0 };
        sums.iter().map(|sum| second + part * (apart(sum).0 + apart(sum).1) / 2.0).collect()
    }

    /// Lets all waves go on as they would in so many cycles.
    fn leap(
        &mut self,
        walk: &mut Walk<'_>,
        cycles: f64,
        (rates, mix): (&Rates, &Mix),
        stands: &Stands,
    ) -> Result<(), ExecutionError> {
        let resident: Vec<bool> = (0..self.len()).map(|place| self.resident_mut(place).is_some()).collect();
        for place in 0..self.len() {
            self.waves_mut(place).for_each(|wave| wave.course.until = wave.course.steps);
        }
        let live = self.live_waves() as f64;
        let slice = SLICE.max(cycles / SLICES).min(LONGEST_SLICE);
        let alike = LEAST_LIVE * live..=live / LEAST_LIVE;
        let mut left = cycles;
        let mut carry = HashMap::new();
        let mut counted = VecDeque::from([walk.lanes.counters]);
        while left > 0.0 && alike.contains(&(self.live_waves() as f64)) {
            self.grant(slice.min(left), rates, &mut carry);
            left -= slice;
            for (place, resident) in resident.iter().enumerate() {
                self.run_alone(place, walk)?;
                // Others start where a workgroup has ended in this leap. The machine fills the places that were free before.
                while *resident && self.resident_mut(place).is_none() && self.started().0 < self.started().1 {
                    let before: Vec<Course> =
                        self.workgroup(place).waves.iter().map(|wave| wave.course).collect();
                    self.start(place, walk.lanes);
                    for (wave, before) in self.waves_mut(place).zip(before) {
                        let left = before.until.saturating_sub(before.steps);
                        wave.course = Course {
                            scheduler: before.scheduler,
                            until: left,
                            mark: (walk.now, 0),
                            ..Course::START
                        };
                    }
                    self.run_alone(place, walk)?;
                }
                self.take_back(place, &mut carry);
            }
            counted.push_back(walk.lanes.counters);
            if counted.len() > LOOK_BACK {
                let since = counted.pop_front().map(|before| walk.lanes.counters.since(&before));
                if since.is_some_and(|since| !Mix::of(&since, walk.lanes.width).is_like(mix)) {
                    break;
                }
            }
        }
        self.go_home(walk, stands)
    }

    /// Gives every wave the instructions of a slice, by its age. The oldest of a scheduler has also those of `carry`.
    fn grant(&mut self, cycles: f64, rates: &Rates, carry: &mut HashMap<usize, u64>) {
        // Workgroups start in the order of their index.
        let mut order: Vec<(u64, usize)> = Vec::new();
        order.extend(self.residents().map(|(place, workgroup)| (self.index_of(workgroup.id), place)));
        order.sort_unstable();
        let mut ranks: HashMap<usize, usize> = HashMap::new();
        for (_, place) in order {
            for wave in self.waves_mut(place).filter(|wave| wave.doing != Doing::Ended) {
                let course = &mut wave.course;
                let rank = ranks.entry(course.scheduler).or_default();
                let more = course.credit + cycles * rates.get(*rank).or(rates.last()).copied().unwrap_or(0.0);
                let carried = carry.remove(&course.scheduler).unwrap_or(0);
                course.until = course.until.max(course.steps) + more as u64 + carried;
                course.credit = more.fract();
                *rank += 1;
            }
        }
    }

    /// Takes what waves that have ended have left of their slice, for others of their schedulers.
    fn take_back(&mut self, place: usize, carry: &mut HashMap<usize, u64>) {
        for wave in self.waves_mut(place).filter(|wave| wave.doing == Doing::Ended) {
            let course = &mut wave.course;
            *carry.entry(course.scheduler).or_default() += course.until.saturating_sub(course.steps);
            course.until = course.steps;
        }
    }

    /// Lets the waves go on to the words at which they stood, as far as they come to them.
    fn go_home(&mut self, walk: &mut Walk<'_>, stands: &Stands) -> Result<(), ExecutionError> {
        for place in 0..self.len() {
            let Some(workgroup) = self.resident_mut(place) else { continue };
            for wave in &mut workgroup.waves {
                wave.course.until = wave.course.steps;
                let Some(stand) = stands.get(&(workgroup.id, wave.id)) else { continue };
                if wave.doing != Doing::Ended && wave.next_word(walk.lanes) != stand.word {
                    wave.course.home = stand.word;
                    wave.course.until += WAY_BACK;
                }
            }
            self.run_alone(place, walk)?;
            let Some(workgroup) = self.resident_mut(place) else { continue };
            for wave in &mut workgroup.waves {
                wave.course.arrive();
                wave.course.mark = (walk.now, wave.course.steps);
            }
        }
        Ok(())
    }

    fn live_waves(&self) -> usize {
        self.residents()
            .map(|(_, it)| it.waves.iter().filter(|wave| wave.doing != Doing::Ended).count())
            .sum()
    }

    /// Lets every wave go to its end.
    fn open(&mut self) {
        for place in 0..self.len() {
            if let Some(workgroup) = self.resident_mut(place) {
                workgroup.waves.iter_mut().for_each(|wave| wave.course.until = u64::MAX);
            }
        }
    }
}

/// What executes, and on what.
struct Walk<'a> {
    /// The machine's cycle.
    now: Cycle,
    lanes: &'a mut Lanes,
    memory: &'a mut [u8],
    limits: &'a Limits,
    progress: &'a mut dyn FnMut(ExecutionProgress),
}

/// Where a machine stands, and how far to go on from there.
#[derive(Debug)]
pub(crate) struct Leap<'a> {
    pub(crate) config: &'a Config,
    /// The first cycle that it has not simulated.
    pub(crate) now: Cycle,
    /// Workgroups that it has started.
    pub(crate) sent: u64,
    /// Its waves.
    pub(crate) stands: &'a [Stand],
    /// A cycle between the last leap and now, and what the waves had issued then.
    pub(crate) looked: (Cycle, &'a Issued),
    /// Cycles that the machine would take for what is executed.
    pub(crate) cycles: f64,
}

impl Execution {
    /// Comes to where a machine stands, and lets all waves go on. Gives what was counted on the way; `None` if it does not
    /// come to where the machine stands, because waves wait for others or their number of instructions is by chance.
    ///
    /// # Errors
    /// See [`ExecutionError`]; after an error the launch cannot go on.
    pub(crate) fn leap(
        &mut self,
        memory: &mut [u8],
        leap: &Leap<'_>,
        limits: &Limits,
        progress: &mut dyn FnMut(ExecutionProgress),
    ) -> Result<Option<CoreCounters>, ExecutionError> {
        let stands: Stands = leap.stands.iter().map(|&stand| ((stand.group, stand.wave), stand)).collect();
        let mut walk = Walk { now: leap.now, lanes: &mut self.lanes, memory, limits, progress };
        walk.lanes.footprint = Some(Box::new(Footprint::new(leap.config, walk.memory.len())));
        let before = walk.lanes.counters;
        if !self.grid.follow(&mut walk, leap.sent, &stands)? {
            return Ok(None);
        }
        if let Some(footprint) = &mut walk.lanes.footprint {
            footprint.forget_trail(leap.config);
        }
        let counted = walk.lanes.counters;
        let mix = Mix::of(&counted.since(&before), walk.lanes.width);
        let rates = self.grid.rates(leap.now, leap.looked, &stands);
        self.grid.leap(&mut walk, leap.cycles, (&rates, &mix), &stands)?;
        Ok(Some(walk.lanes.counters.since(&counted)))
    }

    /// Lets every wave go to its end again.
    pub(crate) fn open(&mut self) {
        self.grid.open();
    }

    /// Instructions of the whole launch, if the workgroups that have not ended take as many as those that have; `None` if
    /// none has.
    pub(crate) fn expected_steps(&self) -> Option<f64> {
        self.grid.expected_steps()
    }

    /// The workgroup of a place: that which is resident, or the last one.
    pub(crate) fn workgroup(&self, place: usize) -> &Workgroup {
        self.grid.workgroup(place)
    }
}
