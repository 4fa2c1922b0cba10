//! The report of a run for people who want to know why it is slow: one HTML file, with pictures, that needs nothing
//! beside itself.
//!
//! [`Collector`] watches the run: [`windows`] has what happened when, [`limits`](crate::limits) what each instruction cost
//! and what limits the kernel, [`capture`] some instructions stage by stage. [`page`] writes the file from that: [`facts`]
//! has what it says worked out, [`findings`] what limits the kernel with the evidence, and every other module draws one
//! part.

pub mod capture;
mod chart;
mod diagram;
pub mod facts;
pub mod findings;
mod instructions;
mod memory;
mod over_time;
pub mod page;
mod pipeline;
mod roofline;
mod settings;
mod text;
pub mod windows;

use crate::clock::Cycle;
use crate::config::Config;
use crate::core::collector::Waiting;
use crate::core::probe::{Charge, Event, Going, IssueStall, Issued, MemoryEvent, Observer, Results, Sample};
use crate::core::wave::SlotMask;
use crate::gpu::{Gpu, KernelReport, RunError};
use crate::limits::profile::{Profile, Slots};
use crate::limits::watch::Watch;
use crate::memory::{DramCounters, L1Counters, L2Counters};
use crate::program::{Launch, Program};
use crate::trace::Sink;
use capture::{Capture, Captured};
use std::cell::RefCell;
use std::rc::Rc;
use windows::Windows;

/// Watches the launches of a run for its report. What it keeps does not grow with the length of the run.
#[derive(Debug)]
pub struct Collector<'a> {
    windows: Windows,
    watch: Watch<'a>,
    /// Waves of one scheduler are captured together.
    schedulers: u32,
    /// The launch on its way.
    launch: Option<Launch>,
    begins: Vec<Cycle>,
}

/// Most launches whose beginning is marked.
const MARKED_LAUNCHES: usize = 64;

/// Everything that was gathered of a run.
#[derive(Debug)]
pub struct Gathered<'a> {
    /// Over time.
    pub windows: Windows,
    /// By kernel and instruction, and what waves waited for.
    pub watch: Watch<'a>,
    /// What each slice of the L2 did.
    pub slices: Vec<L2Counters>,
    /// What each memory channel did.
    pub channels: Vec<DramCounters>,
    /// Cycles of the axis of the windows in which launches began: the first [`MARKED_LAUNCHES`].
    pub begins: Vec<Cycle>,
    /// The launch that did not end, if one did not.
    pub broken_off: Option<Launch>,
    /// Some instructions, stage by stage.
    pub captured: Captured,
}

impl Gathered<'_> {
    /// By kernel and instruction.
    pub fn profiles(&self) -> &[Profile] {
        self.watch.profiler.profiles()
    }

    /// Issue slots of each core by use.
    pub fn cores(&self) -> &[Slots] {
        self.watch.profiler.cores()
    }
}

impl<'a> Collector<'a> {
    /// A collector for the kernels of a program on a machine.
    pub fn new(config: &'a Config, program: &'a Program) -> Collector<'a> {
        Collector {
            windows: Windows::default(),
            watch: Watch::new(config, program),
            schedulers: config.core.schedulers,
            launch: None,
            begins: Vec::new(),
        }
    }

    /// The sink for the trace's recorder that captures instructions, and what it captures. With `windowed`, the recorder
    /// has a window that the user has named.
    pub fn capture(&self, windowed: bool) -> (Box<dyn Sink>, Rc<RefCell<Captured>>) {
        let (capture, captured) = Capture::new(self.schedulers, windowed);
        (Box::new(capture), captured)
    }

    /// A launch begins in cycle `start` of the machine.
    pub fn start(&mut self, launch: &Launch, start: Cycle) {
        self.windows.start(start);
        self.watch.start(launch, start);
        self.launch = Some(launch.clone());
        if self.begins.len() < MARKED_LAUNCHES {
            self.begins.push(self.windows.cycles());
        }
    }

    /// The launch has ended, or why it did not.
    ///
    /// # Panics
    /// If an issue slot is not charged exactly once, in the windows or to the instructions.
    pub fn end(&mut self, ended: Result<&KernelReport, &RunError>) {
        self.watch.end(ended);
        match ended {
            Ok(report) => {
                self.windows.end(report);
                self.launch = None;
            }
            Err(_) => self.windows.abandon(),
        }
        if !matches!(ended, Err(RunError::Fault(_))) {
            let charged = self.watch.profiler.charged();
            assert_eq!(charged, self.windows.total().slots, "every issue slot is charged to one instruction");
        }
    }

    /// What was gathered, after the last launch on this machine.
    pub fn finish(self, gpu: &mut Gpu<'_>, captured: &Rc<RefCell<Captured>>) -> Gathered<'a> {
        let memory = gpu.memory_system();
        Gathered {
            windows: self.windows,
            watch: self.watch,
            slices: memory.slice_counters().copied().collect(),
            channels: memory.channel_counters().copied().collect(),
            begins: self.begins,
            broken_off: self.launch,
            captured: std::mem::take(&mut captured.borrow_mut()),
        }
    }
}

/// The windows are made from samples, all else is for the watch.
impl Observer for Collector<'_> {
    fn wants_stalls(&self) -> bool {
        true
    }
    fn wants_account(&self) -> bool {
        true
    }

    fn step(&mut self, event: Event) {
        self.watch.step(event);
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        self.watch.issued(issued);
    }

    fn goes_on(&mut self, going: &Going) {
        self.watch.goes_on(going);
    }

    fn results(&mut self, results: &Results<'_>) {
        self.watch.results(results);
    }

    fn stalls(&mut self, core: u32, cycle: Cycle, waves: &[SlotMask; IssueStall::COUNT]) {
        self.watch.stalls(core, cycle, waves);
    }

    fn waits(&mut self, event: Event, why: Waiting) {
        self.watch.waits(event, why);
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        self.watch.accesses(event);
    }

    fn charges(&mut self, charge: &Charge) {
        self.watch.charges(charge);
    }

    fn line_access(&mut self, word: u32, counted: &L1Counters) {
        self.watch.line_access(word, counted);
    }

    fn local_access(&mut self, word: u32, passes: u32) {
        self.watch.local_access(word, passes);
    }

    fn sample_at(&self) -> Cycle {
        self.windows.sample_at()
    }

    fn sample(&mut self, sample: &Sample) {
        self.windows.sample(sample);
        self.watch.sample(sample);
    }
}
