//! The observer of runs whose limits are requested.

use super::profile::Profiler;
use super::shadow::Shadows;
use super::stalls::Stalls;
use wave_isa::Scope;
use wave_isa::program::{Launch, Program};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::{Event, EventKind, Issued, Observer, Sample, Wants};
use wave_machine::core::uop::Kind;
use wave_machine::gpu::{KernelReport, RunError};
use wave_machine::memory::MemoryCounters;

/// Watches the launches of a run. Its memory does not grow with the length of the run.
#[derive(Debug)]
pub struct Watch<'a> {
    config: &'a Config,
    /// The kernels.
    pub program: &'a Program,
    /// Cost of each instruction.
    pub profiler: Profiler,
    /// What waves waited for.
    pub stalls: Stalls,
    /// Shadow caches of the same and of twice the size.
    pub shadows: Shadows,
    /// Number of launches begun.
    pub launches: u64,
    /// Launches among them that found none of their code in the L2, that is, the first.
    pub(crate) cold_launches: u64,
    /// True once a launch has begun, even before a restart.
    begun: bool,
    /// The launch with the most workgroups.
    pub largest: Option<Launch>,
    /// Memory-side counters of the releases at the ends of launches. The account excludes them.
    pub released: MemoryCounters,
    /// Current launch: its start, its last sample, and the memory-side counters before its release.
    start: Cycle,
    last: Option<Cycle>,
    before_release: Option<MemoryCounters>,
    /// True during its release.
    releases: bool,
}

impl<'a> Watch<'a> {
    /// A watch for the kernels of a program.
    pub fn new(config: &'a Config, program: &'a Program) -> Watch<'a> {
        Watch {
            config,
            program,
            profiler: Profiler::new(config, program),
            stalls: Stalls::new(config),
            shadows: Shadows::new(config),
            launches: 0,
            cold_launches: 0,
            begun: false,
            largest: None,
            released: MemoryCounters::default(),
            start: 0,
            last: None,
            before_release: None,
            releases: false,
        }
    }

    /// Kernels are added to the program: it begins as the one before.
    pub fn extend(&mut self, program: &'a Program) {
        self.program = program;
        self.profiler.extend(program);
    }

    /// Called when a launch begins in machine cycle `start`. The caches of the cores are empty then.
    pub fn start(&mut self, launch: &Launch, start: Cycle) {
        self.profiler.start(self.config, self.program, launch, start);
        self.stalls.start(start);
        self.shadows.invalidate_all();
        self.launches += 1;
        self.cold_launches += u64::from(!self.begun);
        self.begun = true;
        if self.largest.as_ref().is_none_or(|largest| largest.workgroups() < launch.workgroups()) {
            self.largest = Some(launch.clone());
        }
        (self.start, self.last, self.before_release, self.releases) = (start, None, None, false);
    }

    /// Resets all counts at this cycle. A launch may be running; its instructions in flight stay.
    pub fn restart(&mut self, cycle: Cycle, in_launch: bool) {
        self.settle(cycle);
        self.profiler.restart(in_launch);
        self.stalls.restart();
        self.shadows.restart();
        self.cold_launches = u64::from(in_launch && self.launches == 1 && self.cold_launches == 1);
        self.launches = u64::from(in_launch);
        self.released = MemoryCounters::default();
        self.largest = self.largest.take().filter(|_| in_launch);
    }

    /// Counts everything before this cycle, which all cores have reached.
    pub fn settle(&mut self, cycle: Cycle) {
        self.profiler.settle(cycle);
        self.stalls.settle(cycle);
    }

    /// Called when the launch ends, or fails. In the latter case, the figures cover it up to the last sample.
    pub fn end(&mut self, ended: Result<&KernelReport, &RunError>) {
        match ended {
            Ok(report) => {
                self.profiler.finish(self.start + report.cycles);
                if let Some(before) = &self.before_release {
                    self.released += &report.memory.since(before);
                }
            }
            Err(RunError::Fault(_)) => {}
            Err(_) => self.profiler.finish(self.last.unwrap_or(self.start)),
        }
    }
}

impl Observer for Watch<'_> {
    fn wants(&self) -> Wants {
        Wants::of(&[
            EventKind::Stage,
            EventKind::Issued,
            EventKind::Going,
            EventKind::Results,
            EventKind::Stalls,
            EventKind::Waits,
            EventKind::Access,
            EventKind::Charge,
            EventKind::LineAccess,
            EventKind::LocalAccess,
            EventKind::Release,
            EventKind::Sample,
        ])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Stage(event) => self.profiler.reaches(event),
            Event::Issued(issued) => self.issued(issued),
            Event::Going(going) => self.profiler.goes_on(going),
            Event::Results(results) => self.profiler.results(results),
            Event::Stalls(stalls) => self.stalls.report(stalls),
            Event::Waits(waits) => self.profiler.waits(waits),
            Event::Access(access) => self.shadows.access(access),
            Event::Charge(charge) => self.profiler.charges(charge),
            Event::LineAccess(access) => self.profiler.line_access(access),
            Event::LocalAccess(access) => self.profiler.local_access(access),
            Event::Release(end) => self.releases(*end),
            Event::Sample(sample, _) => self.sample(sample),
            _ => {}
        }
    }
}

impl Watch<'_> {
    fn issued(&mut self, issued: &Issued<'_>) {
        self.profiler.issued(issued);
        self.stalls.issued(issued.event.core);
        if let Kind::Fence { acquire: true, .. } = issued.op.kind
            && issued.mask != 0
            && issued.op.inst.scope >= Scope::Device
        {
            self.shadows.invalidate(issued.event.core as usize);
        }
    }

    fn releases(&mut self, end: Cycle) {
        self.profiler.releases(end);
        self.stalls.settle(end);
        self.releases = true;
    }

    fn sample(&mut self, sample: &Sample) {
        self.last = Some(sample.cycle);
        if self.releases && self.before_release.is_none() {
            self.before_release = Some(sample.memory);
        }
    }
}
