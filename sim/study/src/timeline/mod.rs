//! Launches on a machine, forwards and backwards: snapshots, and replay from the nearest one.
//!
//! A position is a cycle of the machine: all cycles before it are simulated, none from it on. A launch begins where the
//! one before it has ended. The run never goes past its end: where it ends with a fault, the end is the cycle of the
//! fault, before the fault happens.

mod conditions;
mod ring;
#[cfg(test)]
mod tests;

pub use conditions::{Cause, Condition, Hit, Touch, WaveSlot};
use conditions::{Search, Which};
use ring::{Kept, Ring};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wave_isa::program::{Launch, Output, Printed, Program};
use wave_machine::clock::{Cycle, NEVER};
use wave_machine::config::Config;
use wave_machine::core::probe::Observer;
use wave_machine::core::view::WaveView;
use wave_machine::functional::Execution;
use wave_machine::gpu::{KernelReport, Machine, RunError, RunOptions, Stop};

/// Snapshots take at most one part in so many of the time of the simulation.
const PART_OF_TIME: u32 = 4;
/// Time between two looks at whether to go on, about.
const TURN: Duration = Duration::from_millis(4);
/// Cycles of a turn at first, and at most.
const FIRST_TURN: Cycle = 256;
const LONGEST_TURN: Cycle = 1 << 16;

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// All launches have ended.
    Done,
    /// A launch cannot go on.
    Error(RunError),
}

/// Why a movement stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// Conditions came true.
    Hit(Vec<Hit>),
    /// The cycle that was asked for is reached.
    There,
    /// The run ends here.
    End,
    /// This is its beginning.
    Beginning,
    /// It was asked not to go on.
    Interrupted,
}

/// Asked now and then, with the cycle, whether to go on.
pub type GoOn<'g> = &'g mut dyn FnMut(Cycle) -> bool;

/// Launches on a machine, at one position of their run.
pub struct Timeline {
    machine: Machine,
    launches: Vec<Launch>,
    options: RunOptions,
    /// The launch that runs; the number of launches once all have ended.
    launch: usize,
    /// The cycles in which launches begin, and the reports of those that have ended, as far as known.
    starts: Vec<Cycle>,
    reports: Vec<KernelReport>,
    /// How much threads had printed at the end of each launch, as far as known.
    marks: Vec<u32>,
    /// Where and how the run ends, once it is known.
    end: Option<(Cycle, Ending)>,
    ring: Ring,
    pace: Pace,
}

/// How often to take snapshots.
#[derive(Debug)]
struct Pace {
    /// Time that a snapshot takes.
    cost: Duration,
    /// Time of the simulation since the last snapshot.
    since: Duration,
    /// Cycles of a turn.
    turn: Cycle,
}

impl Timeline {
    /// Launches of a program on a machine with this device memory, at their beginning. Snapshots take `history` bytes at
    /// most, though never fewer than two are kept.
    ///
    /// # Errors
    /// [`RunError::Launch`] if the first kernel cannot run on the machine.
    pub fn new(
        config: impl Into<Arc<Config>>,
        program: impl Into<Arc<Program>>,
        memory: Vec<u8>,
        launches: Vec<Launch>,
        options: &RunOptions,
        history: usize,
    ) -> Result<Timeline, RunError> {
        Timeline::begun(config, program, memory, (launches, None), options, history)
    }

    /// As [`new`](Self::new), but the first launch begins where it stands without timing, if it is given: with the device
    /// memory that its execution has left.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn begun(
        config: impl Into<Arc<Config>>,
        program: impl Into<Arc<Program>>,
        memory: Vec<u8>,
        (launches, under_way): (Vec<Launch>, Option<&Execution>),
        options: &RunOptions,
        history: usize,
    ) -> Result<Timeline, RunError> {
        // A proof of a standstill looks at unobserved cycles only, so where it comes would depend on breakpoints.
        let options = RunOptions { inspect: true, looks_after: None, ..*options };
        let mut timeline = Timeline {
            machine: Machine::new(config, program, memory),
            launches,
            options,
            launch: 0,
            starts: Vec::new(),
            reports: Vec::new(),
            marks: Vec::new(),
            end: None,
            ring: Ring::new(history),
            pace: Pace { cost: Duration::ZERO, since: Duration::ZERO, turn: FIRST_TURN },
        };
        match under_way {
            Some(execution) => {
                timeline.machine.begin_from(execution, &options)?;
                timeline.starts.push(0);
            }
            None => timeline.begin(None)?,
        }
        timeline.keep();
        Ok(timeline)
    }

    fn output(&self) -> Output {
        self.machine.program().module.as_ref().map_or_else(Output::default, |module| module.output)
    }

    /// What threads have printed up to this position; `None` if the kernels cannot print. Text that an L1 has not written
    /// back is missing.
    pub fn printed(&mut self) -> Option<Printed> {
        let marks = &self.marks[..self.launch.min(self.marks.len())];
        self.output().read(self.machine.memory(), marks)
    }

    /// The machine at this position.
    pub fn machine(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// The position.
    pub fn now(&self) -> Cycle {
        self.machine.now()
    }

    /// The launches.
    pub fn launches(&self) -> &[Launch] {
        &self.launches
    }

    /// Number of the launch that runs; `None` once all have ended.
    pub fn launch(&self) -> Option<usize> {
        (self.launch < self.launches.len()).then_some(self.launch)
    }

    /// The cycles in which launches begin, as far as known.
    pub fn starts(&self) -> &[Cycle] {
        &self.starts
    }

    /// Reports of the launches whose ends are known, also if they lie ahead.
    pub fn reports(&self) -> &[KernelReport] {
        &self.reports
    }

    /// Where and how the run ends, if it has been there.
    pub fn end(&self) -> Option<&(Cycle, Ending)> {
        self.end.as_ref()
    }

    /// How the run ends, if it ends here.
    pub fn ending(&self) -> Option<&Ending> {
        self.end.as_ref().filter(|(cycle, _)| *cycle == self.now()).map(|(_, ending)| ending)
    }

    /// Number and bytes of the snapshots.
    pub fn history(&self) -> (usize, usize) {
        self.ring.size()
    }

    /// Goes to the first position after this one at which a condition comes true, but not past `limit`.
    pub fn forward(&mut self, conditions: &[Condition], limit: Cycle, go_on: GoOn<'_>) -> Stopped {
        let from = self.now();
        if from >= limit {
            return Stopped::There;
        }
        let mut search = Search::new(conditions, Which::First(from + 1));
        let is_searched = search.wants() != Default::default() || search.position().is_some();
        let is_searched = is_searched || conditions.iter().any(|it| matches!(it, Condition::Launch(_)));
        let goes_on = if is_searched {
            // What happens in the cycle of the limit may have the limit as its position.
            self.run(limit.saturating_add(1), Some(&mut search), go_on)
        } else {
            self.run(limit, None, go_on)
        };
        let end = self.end.as_ref().map_or(NEVER, |(end, _)| *end);
        let here = self.now();
        let found = search.position().filter(|&position| position <= limit.min(end).min(here));
        if let Some(position) = found {
            let hits = self.hits_at(conditions, position);
            self.seek(position, &mut |_| true);
            return Stopped::Hit(hits);
        }
        if !goes_on && here < limit {
            return Stopped::Interrupted;
        }
        let to = limit.min(end);
        self.seek(to, &mut |_| true);
        if to == limit { Stopped::There } else { Stopped::End }
    }

    /// Goes to the last position before this one at which a condition came true, but not past `limit`.
    pub fn backward(&mut self, conditions: &[Condition], limit: Cycle, go_on: GoOn<'_>) -> Stopped {
        let from = self.now();
        if from <= limit {
            return if from == 0 { Stopped::Beginning } else { Stopped::There };
        }
        let mut top = from - 1;
        while !conditions.is_empty() {
            // The positions between a snapshot and the one before the next.
            let Some(kept) = self.ring.before(top.saturating_sub(1)) else { break };
            let start = kept.cycle;
            if !self.seek(start, go_on) {
                break;
            }
            let least = if start == 0 { 0 } else { start + 1 };
            let mut search = Search::new(conditions, Which::Last(least.max(limit), top));
            if start == 0 {
                search.launch_begins(0, 0);
            }
            if !self.run((top + 1).min(from), Some(&mut search), go_on) {
                self.seek(from, &mut |_| true);
                return Stopped::Interrupted;
            }
            if let Some(position) = search.position() {
                let hits = self.hits_at(conditions, position);
                self.seek(position, &mut |_| true);
                return Stopped::Hit(hits);
            }
            if start <= limit {
                break;
            }
            top = start;
        }
        self.seek(limit, &mut |_| true);
        if limit == 0 { Stopped::Beginning } else { Stopped::There }
    }

    /// Goes to a position, or to the end if that comes before. Returns false if it was asked not to go on.
    pub fn seek(&mut self, position: Cycle, go_on: GoOn<'_>) -> bool {
        let now = self.now();
        let kept = self.ring.before(position);
        if let Some(kept) = kept.filter(|kept| position < now || kept.cycle > now) {
            // It was taken of this machine.
            self.machine.restore_shared(&kept.snapshot, &self.options).expect("a snapshot fits its machine");
            self.launch = kept.launch;
            self.pace.since = Duration::ZERO;
        }
        let goes_on = self.run(position, None, go_on);
        match self.end.as_ref().map(|(end, _)| *end) {
            // A fault has been found.
            Some(end) if self.now() > end => self.seek(end, go_on),
            _ => goes_on,
        }
    }

    /// The first cycle since which a wave has waited for what it waits for now, and whether it may have been so before:
    /// at most `most` cycles are looked at. `None` if it has issued in the last cycle, or there is no such wave.
    pub fn waits_since(&mut self, (core, slot): WaveSlot, most: Cycle) -> Option<(Cycle, bool)> {
        let now = self.now();
        let view = self.machine.wave(core, slot)?;
        // The position behind a cycle shows what waited in it. A wave does not wait in the cycle in which it issues.
        let first = view.last_issue.map_or(1, |issue| issue + 2).max(self.starts.get(self.launch)? + 1);
        if first > now {
            return None;
        }
        let start = first.max(now.saturating_sub(most));
        let waits = |view: WaveView| (view.report.workgroup, view.report.wave, view.issued, view.wait);
        let wait = waits(view);
        // The position before the first one looked at tells whether it goes back further.
        let (mut since, mut goes_back) = (start, start > first);
        for position in start - Cycle::from(goes_back)..now {
            self.seek(position, &mut |_| true);
            if self.machine.wave(core, slot).map(waits) != Some(wait) {
                (since, goes_back) = (position + 1, false);
            }
        }
        self.seek(now, &mut |_| true);
        Some((since - 1, goes_back))
    }

    /// The hits of the conditions at a position at which one of them comes true.
    fn hits_at(&mut self, conditions: &[Condition], position: Cycle) -> Vec<Hit> {
        let before = position.saturating_sub(1);
        self.seek(before, &mut |_| true);
        let mut search = Search::new(conditions, Which::Last(position, position));
        if position == 0 {
            search.launch_begins(0, 0);
        }
        self.keep();
        self.run(position + 1, Some(&mut search), &mut |_| true);
        search.into_hits()
    }

    /// Simulates up to a position, the end, or where the search ends. May pass a fault that was not known. Returns false
    /// if it was asked not to go on.
    fn run(&mut self, until: Cycle, mut search: Option<&mut Search<'_>>, go_on: GoOn<'_>) -> bool {
        if let Some(search) = &mut search {
            self.tell(search);
        }
        loop {
            let end = self.end.as_ref().map_or(NEVER, |(end, _)| *end);
            let (now, to) = (self.now(), until.min(end));
            if now >= to || !self.machine.is_running() {
                // The machine tells nothing of cycles in which nothing happens, and a stall may end in one of them.
                search.into_iter().for_each(|search| _ = search.advanced(now));
                return true;
            }
            let start = Instant::now();
            let turn = to.min(now + self.pace.turn);
            let observer = search.as_mut().map(|search| &mut **search as &mut dyn Observer);
            let stop = self.machine.advance(turn, observer);
            self.pace.passed(start.elapsed());
            match stop {
                Ok(Stop::Cycle) => {}
                Ok(Stop::Observer) => return true,
                Ok(Stop::Ended(report)) => {
                    self.launch += 1;
                    if self.reports.len() < self.launch {
                        self.reports.push(*report);
                        let output = self.output();
                        self.marks.push(if output.printed.is_some() {
                            output.mark(self.machine.memory())
                        } else {
                            0
                        });
                    }
                    if let Err(error) = self.begin(search.as_deref_mut()) {
                        self.end = Some((self.now(), Ending::Error(error)));
                    }
                }
                Err(RunError::Interrupted(_)) => return false,
                Err(error) => {
                    let cycle = match &error {
                        RunError::Fault(fault) => fault.cycle.unwrap_or(now),
                        _ => self.now(),
                    };
                    self.end = Some((cycle, Ending::Error(error)));
                    return true;
                }
            }
            if self.pace.is_due() {
                self.keep();
            }
            if !go_on(self.now()) {
                return false;
            }
        }
    }

    /// Begins the launch whose turn it is, if there is one.
    fn begin(&mut self, search: Option<&mut Search<'_>>) -> Result<(), RunError> {
        let now = self.now();
        let Some(launch) = self.launches.get(self.launch) else {
            self.end = Some((now, Ending::Done));
            return Ok(());
        };
        self.machine.begin(launch, &self.options)?;
        if self.starts.len() <= self.launch {
            self.starts.push(now);
        }
        if let Some(search) = search {
            search.launch_begins(self.launch, now);
            self.tell(search);
        }
        Ok(())
    }

    /// Tells a search what runs.
    fn tell(&self, search: &mut Search<'_>) {
        let base = self.machine.micro_ops().map_or(0, |ops| ops.base);
        search.goes_on(base, &self.machine.waves());
    }

    /// Keeps a snapshot of this position.
    fn keep(&mut self) {
        let cycle = self.now();
        self.pace.since = Duration::ZERO;
        if self.ring.has(cycle) {
            return;
        }
        let start = Instant::now();
        let snapshot = self.machine.snapshot_shared();
        self.ring.insert(Kept { cycle, launch: self.launch, snapshot });
        self.pace.cost = start.elapsed();
    }
}

impl Pace {
    /// A turn took this time.
    fn passed(&mut self, time: Duration) {
        self.since += time;
        if time > 2 * TURN {
            self.turn = (self.turn / 2).max(1);
        } else if time < TURN / 2 {
            self.turn = (self.turn * 2).min(LONGEST_TURN);
        }
    }

    /// True if it is time for a snapshot.
    fn is_due(&self) -> bool {
        self.since >= self.cost * PART_OF_TIME
    }
}
