//! The report of a run for people who want to know why it is slow: a self-contained HTML file with charts.
//!
//! [`Collector`] watches the run: [`windows`] records counters over time, [`limits`](wave_observe::limits) the cost
//! of each instruction and the limits of the kernel, [`capture`] some instructions stage by stage. [`scope`]
//! is the part of the run that the report covers. [`page`] writes the file: [`facts`] computes its figures,
//! [`findings`] describes the limits with evidence, and each other module draws one section.

pub mod baseline;
pub mod capture;
mod chart;
mod diagram;
mod energy;
pub(crate) mod facts;
pub(crate) mod findings;
mod instructions;
mod labels;
mod launches;
mod memory;
mod over_time;
pub mod page;
mod parameters;
mod pipeline;
pub(crate) mod policy;
mod roofline;
pub mod scope;
mod settings;
mod traffic;
pub(crate) mod windows;

use capture::Capture;
pub use capture::Captured;
use scope::{Parts, Scope};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use wave_isa::program::{Launch, Program};
use wave_machine::clock::{Cycle, NEVER};
use wave_machine::config::Config;
use wave_machine::core::probe::{Event, Observer, Sample, Wants};
use wave_machine::gpu::{KernelReport, Machine, RunError};
use wave_machine::memory::MemorySystem;
use wave_observe::attribution::Attributed;
use wave_observe::limits::by_launch::{ByLaunch, LaunchLimits};
use wave_observe::limits::profile::{Profile, Slots};
use wave_observe::limits::watch::Watch;
use wave_observe::trace::Sink;
use windows::Windows;

/// Watches the launches of a run for its report. Its memory does not grow with the length of the run.
#[derive(Debug)]
pub struct Collector<'a> {
    scope: Scope,
    phase: Phase,
    windows: Windows,
    watch: ByLaunch<'a>,
    /// Schedulers per core: a capture follows waves of one scheduler.
    schedulers: u32,
    /// The current launch and the cycle in which it began.
    launch: Option<Launch>,
    start: Cycle,
    /// Number of completed launches, and the range of launches in the scope.
    over: usize,
    launches: Range<usize>,
    begins: Vec<Cycle>,
    /// Counters of the parts of the memory side before the scope, and at its end.
    before: Parts,
    after: Option<Parts>,
}

/// Position of the run relative to the scope of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before the scope.
    Before,
    /// Within the scope.
    Within,
    /// Past the scope, within the launch in which it ended.
    Past,
    /// Past the scope, in a later launch.
    Over,
}

/// Maximum number of launches whose start is marked.
const MARKED_LAUNCHES: usize = 64;

/// All data gathered of a run.
#[derive(Debug)]
pub struct Gathered<'a> {
    /// The part of the run that it covers.
    pub scope: Scope,
    /// Counters over time.
    pub windows: Windows,
    /// Costs by kernel and instruction, and waits of waves.
    pub watch: Watch<'a>,
    /// Limits of each completed launch. Empty if there is only one, or the scope is not the whole run.
    pub by_launch: Vec<LaunchLimits>,
    /// Counters of each slice, channel and link.
    pub parts: Parts,
    /// Launches that are at least partly in the scope.
    pub launches: Range<usize>,
    /// Starts of the first `MARKED_LAUNCHES` launches, as cycles on the time axis of the windows.
    pub begins: Vec<Cycle>,
    /// The launch that did not complete, if any.
    pub broken_off: Option<Launch>,
    /// Captured instructions, stage by stage.
    pub captured: Captured,
    /// What each buffer had of the accesses. The collector leaves it to another observer.
    pub attributed: Option<Attributed>,
}

impl Gathered<'_> {
    /// Profiles by kernel and instruction.
    pub fn profiles(&self) -> &[Profile] {
        self.watch.profiler.profiles()
    }

    /// Issue slots of each core by use.
    pub fn cores(&self) -> &[Slots] {
        self.watch.profiler.cores()
    }
}

impl<'a> Collector<'a> {
    /// A collector for the kernels of a program.
    pub fn new(config: &'a Config, program: &'a Program, scope: Scope) -> Collector<'a> {
        Collector {
            scope,
            phase: Phase::Before,
            windows: Windows::new(0),
            watch: ByLaunch::new(config, program, 1),
            schedulers: config.core.schedulers,
            launch: None,
            start: 0,
            over: 0,
            launches: 0..0,
            begins: Vec::new(),
            before: Parts::default(),
            after: None,
        }
    }

    /// Watches each of so many launches by itself too. A part of a run may begin and end within one, so it has none.
    #[must_use]
    pub fn by_launch(mut self, launches: usize) -> Collector<'a> {
        if self.scope.is_whole() {
            self.watch = self.watch.each_of(launches);
        }
        self
    }

    /// Kernels are added to the program: it begins as the one before.
    pub fn extend(&mut self, program: &'a Program) {
        self.watch.extend(program);
    }

    /// A trace sink that captures instructions, and the captured data.
    pub fn capture(&self) -> (Box<dyn Sink>, Arc<Mutex<Captured>>) {
        let (capture, captured) = Capture::new(self.schedulers, self.scope.is_chosen());
        (Box::new(capture), captured)
    }

    /// Called when a launch begins in the machine's current cycle.
    pub fn start(&mut self, launch: &Launch, gpu: &mut Machine) {
        let start = gpu.now();
        (self.launch, self.start) = (Some(launch.clone()), start);
        match self.phase {
            Phase::Before if self.scope.cycles.start <= start => {
                self.watch.all.restart(start, false);
                self.before = Parts::of(gpu.memory_system());
                self.windows = Windows::new(start);
                self.phase = Phase::Within;
            }
            Phase::Within if self.scope.cycles.end <= start => {
                self.after = Some(Parts::of(gpu.memory_system()));
                self.phase = Phase::Over;
            }
            _ => {}
        }
        if self.phase == Phase::Over {
            return;
        }
        self.watch.start(launch, start);
        if let Phase::Within = self.phase {
            self.windows.start(start);
            self.enter();
            if self.begins.len() < MARKED_LAUNCHES {
                self.begins.push(self.windows.origin() + self.windows.cycles());
            }
        }
    }

    /// Marks the current launch as within the scope.
    fn enter(&mut self) {
        if self.launches.is_empty() {
            self.launches = self.over..self.over;
        }
        self.launches.end = self.over + 1;
    }

    /// Called when the launch ends, or fails.
    ///
    /// # Panics
    /// An issue slot is not charged exactly once, in the windows or to the instructions.
    pub fn end(&mut self, ended: Result<&KernelReport, &RunError>) {
        self.over += 1;
        match self.phase {
            Phase::Past => {
                self.windows.abandon();
                self.phase = Phase::Over;
                self.check();
            }
            Phase::Within => {
                self.watch.end(ended);
                match ended {
                    Ok(report) => self.windows.end(report),
                    Err(_) => self.windows.abandon(),
                }
                if !matches!(ended, Err(RunError::Fault(_))) {
                    self.check();
                }
            }
            Phase::Before | Phase::Over => {}
        }
        if ended.is_ok() {
            self.launch = None;
        }
    }

    fn check(&self) {
        let charged = self.watch.all.profiler.charged();
        assert_eq!(charged, self.windows.total().slots, "every issue slot is charged to one instruction");
    }

    /// True if the run never reached the scope.
    pub fn is_empty(&self) -> bool {
        self.phase == Phase::Before
    }

    /// True if events are counted, or must be tracked for the start of the scope.
    fn follows(&self) -> bool {
        matches!(self.phase, Phase::Before | Phase::Within)
    }

    /// Returns the gathered data after the last launch.
    pub fn finish(self, gpu: &mut Machine, captured: &Arc<Mutex<Captured>>) -> Gathered<'a> {
        let after = self.after.unwrap_or_else(|| Parts::of(gpu.memory_system()));
        Gathered {
            scope: self.scope,
            windows: self.windows,
            watch: self.watch.all,
            by_launch: self.watch.launches,
            parts: after.since(&self.before),
            launches: self.launches,
            begins: self.begins,
            broken_off: self.launch,
            captured: std::mem::take(&mut captured.lock().unwrap_or_else(PoisonError::into_inner)),
            attributed: None,
        }
    }
}

/// The windows use the samples. All other events go to the watch.
impl Observer for Collector<'_> {
    fn wants(&self) -> Wants {
        self.watch.wants()
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Sample(sample, memory) => self.sample(sample, memory, event),
            _ if self.follows() => self.watch.event(event),
            _ => {}
        }
    }

    fn sample_at(&self) -> Cycle {
        match self.phase {
            Phase::Before => self.scope.cycles.start,
            Phase::Within => self.windows.sample_at().min(self.scope.cycles.end),
            Phase::Past | Phase::Over => NEVER,
        }
    }
}

impl Collector<'_> {
    fn sample(&mut self, sample: &Sample, memory: &MemorySystem, event: &Event<'_>) {
        let at = sample.cycle;
        match self.phase {
            Phase::Before if at >= self.scope.cycles.start => {
                self.watch.all.restart(at, true);
                self.windows = Windows::within(self.start, sample);
                self.before = Parts::of(memory);
                self.phase = Phase::Within;
                self.enter();
            }
            Phase::Within => {
                self.windows.sample(sample);
                self.watch.event(event);
                if at >= self.scope.cycles.end {
                    self.watch.all.settle(at);
                    self.after = Some(Parts::of(memory));
                    self.phase = Phase::Past;
                }
            }
            _ => {}
        }
    }
}
