//! The report of a run for people who want to know why it is slow: one HTML file, with pictures, that needs nothing
//! beside itself.
//!
//! [`Collector`] watches the run: [`windows`] has what happened when, [`profile`] what each instruction cost,
//! [`capture`] some instructions stage by stage. [`page`] writes the file from that: [`facts`] has what it says worked
//! out, [`findings`] says it in words, and every other module draws one part.

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
pub mod profile;
mod roofline;
mod settings;
mod text;
pub mod windows;

use crate::clock::Cycle;
use crate::config::Config;
use crate::core::probe::{Charge, Event, Going, Issued, Probe, Results, Sample};
use crate::gpu::{Gpu, KernelReport, RunError};
use crate::memory::{DramCounters, L1Counters, L2Counters};
use crate::program::{Launch, Program};
use crate::trace::Sink;
use capture::{Capture, Captured};
use profile::{Profile, Profiler, Slots};
use std::cell::RefCell;
use std::rc::Rc;
use windows::Windows;

/// Watches the launches of a run for its report. What it keeps does not grow with the length of the run.
#[derive(Debug)]
pub struct Collector<'a> {
    config: &'a Config,
    program: &'a Program,
    windows: Windows,
    profiler: Profiler,
    /// The launch on its way, and where it began.
    launch: Option<Launch>,
    start: Cycle,
    last_sample: Cycle,
    launches: u64,
    begins: Vec<Cycle>,
}

/// Most launches whose beginning is marked.
const MARKED_LAUNCHES: usize = 64;

/// Everything that was gathered of a run.
#[derive(Debug)]
pub struct Gathered {
    /// Over time.
    pub windows: Windows,
    /// By kernel and instruction.
    pub profiles: Vec<Profile>,
    /// Issue slots of each core.
    pub cores: Vec<Slots>,
    /// What each slice of the L2 did.
    pub slices: Vec<L2Counters>,
    /// What each memory channel did.
    pub channels: Vec<DramCounters>,
    /// Launches that began, and where the first of them did on the axis of the windows.
    pub launches: u64,
    /// Cycles of the axis in which launches began: the first [`MARKED_LAUNCHES`].
    pub begins: Vec<Cycle>,
    /// The launch that did not end, if one did not.
    pub broken_off: Option<Launch>,
    /// Some instructions, stage by stage.
    pub captured: Captured,
}

impl<'a> Collector<'a> {
    /// A collector for the kernels of a program on a machine.
    pub fn new(config: &'a Config, program: &'a Program) -> Collector<'a> {
        Collector {
            config,
            program,
            windows: Windows::default(),
            profiler: Profiler::new(config, program),
            launch: None,
            start: 0,
            last_sample: 0,
            launches: 0,
            begins: Vec::new(),
        }
    }

    /// The sink for the trace's recorder that captures instructions, and what it captures. With `windowed`, the recorder
    /// has a window that the user has named.
    pub fn capture(&self, windowed: bool) -> (Box<dyn Sink>, Rc<RefCell<Captured>>) {
        let (capture, captured) = Capture::new(self.config.core.schedulers, windowed);
        (Box::new(capture), captured)
    }

    /// A launch begins in cycle `start` of the machine.
    pub fn start(&mut self, launch: &Launch, start: Cycle) {
        self.windows.start(start);
        self.profiler.start(self.config, self.program, launch, start);
        self.launch = Some(launch.clone());
        self.launches += 1;
        (self.start, self.last_sample) = (start, start);
        if self.begins.len() < MARKED_LAUNCHES {
            self.begins.push(self.windows.cycles());
        }
    }

    /// The launch has ended, or why it did not.
    ///
    /// # Panics
    /// If an issue slot is not charged exactly once, in the windows or to the instructions.
    pub fn end(&mut self, ended: Result<&KernelReport, &RunError>) {
        match ended {
            Ok(report) => {
                self.windows.end(report);
                self.profiler.finish(self.start + report.cycles);
                self.launch = None;
            }
            Err(RunError::Fault(_)) => self.windows.abandon(),
            Err(_) => {
                self.windows.abandon();
                self.profiler.finish(self.last_sample);
            }
        }
        if !matches!(ended, Err(RunError::Fault(_))) {
            let charged = self.profiler.charged();
            assert_eq!(charged, self.windows.total().slots, "every issue slot is charged to one instruction");
        }
    }

    /// What was gathered, after the last launch on this machine.
    pub fn finish(self, gpu: &mut Gpu<'_>, captured: &Rc<RefCell<Captured>>) -> Gathered {
        let (profiles, cores) = self.profiler.into_parts();
        let memory = gpu.memory_system();
        Gathered {
            windows: self.windows,
            profiles,
            cores,
            slices: memory.slice_counters().copied().collect(),
            channels: memory.channel_counters().copied().collect(),
            launches: self.launches,
            begins: self.begins,
            broken_off: self.launch,
            captured: std::mem::take(&mut captured.borrow_mut()),
        }
    }
}

impl Probe for Collector<'_> {
    const ON: bool = true;
    const ACCOUNT: bool = true;

    fn step(&mut self, event: Event) {
        self.profiler.step(event);
    }

    fn issued(&mut self, issued: &Issued<'_>) {
        self.profiler.issued(issued);
    }

    fn goes_on(&mut self, going: &Going) {
        self.profiler.goes_on(going);
    }

    fn results(&mut self, results: &Results<'_>) {
        self.profiler.results(results);
    }

    fn charges(&mut self, charge: &Charge) {
        self.profiler.charges(charge);
    }

    fn line_access(&mut self, word: u32, counted: &L1Counters) {
        self.profiler.line_access(word, counted);
    }

    fn local_access(&mut self, word: u32, passes: u32) {
        self.profiler.local_access(word, passes);
    }

    fn sample_at(&self) -> Cycle {
        self.windows.sample_at()
    }

    fn sample(&mut self, sample: &Sample) {
        self.windows.sample(sample);
        self.last_sample = sample.cycle;
    }
}
