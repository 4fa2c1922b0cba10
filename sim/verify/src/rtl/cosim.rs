//! Co-simulation: one launch on the simulator and on another core, compared while both run.
//!
//! Both run from one [`Stimulus`]: code, memory, launch, and a script of the memory side. In [`Mode::Cycle`]
//! every step of every instruction must happen in the same cycle with the same contents, and every packet must leave the
//! core likewise. In
//! [`Mode::Architectural`] the effects of each instruction of each wave must agree, whenever they happen.
//! Both must end alike, with the same memory.

use super::comparison::Comparison;
use super::difference::Code;
use super::fault;
use super::observer::RecordStream;
use super::packet::LINE_BYTES;
use super::process::Process;
use super::stimulus::{Beginning, Stimulus};
use super::stream::{Bounds, FaultReport, LANES, Report};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wave_isa::WORD_BYTES;
use wave_isa::program::{Fault, Launch, Program};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::core::probe::{Listeners, Observer};
use wave_machine::gpu::{Machine, RunError, RunOptions};
use wave_machine::memory::Script;

/// What has to agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everything, in each cycle.
    Cycle,
    /// The effects of instructions.
    Architectural,
}

/// One launch to compare.
#[derive(Debug, Clone)]
pub struct Cosim<'a> {
    /// The machine, with one core.
    pub config: &'a Config,
    /// The code.
    pub program: &'a Program,
    /// The launch.
    pub launch: &'a Launch,
    /// All of device memory.
    pub memory: &'a [u8],
    /// The script of the memory side.
    pub script: &'a Script,
    /// What the other side has behind it.
    pub beginning: &'a Beginning,
    /// What has to agree.
    pub mode: Mode,
    /// Both sides give up after this many cycles.
    pub max_cycles: u32,
    /// Longest time without output from the other side.
    pub patience: Duration,
    /// Arguments of the other side after the stimulus file, such as `+bug=3`.
    pub arguments: &'a [&'a str],
    /// Ends the comparison once it is true.
    pub stop: Option<&'static AtomicBool>,
}

/// Result of a comparison in which both sides agreed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Agreement {
    /// Cycles of the launch.
    pub cycles: Cycle,
    /// Wave instructions.
    pub instructions: u64,
    /// Records compared.
    pub records: u64,
    /// The kernel faulted alike on both sides.
    pub fault: bool,
}

/// Why there is no agreement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disagreement {
    /// The first difference: its cycle, the first stage that differs, and a report of some lines.
    Differs {
        /// Cycle of the first difference.
        cycle: Cycle,
        /// Stage of the first record that only one side has.
        stage: &'static str,
        /// What each side did.
        report: String,
    },
    /// The other side crashed, hung, or wrote nonsense.
    Broken(String),
    /// The simulator cannot run the launch.
    Refused(String),
    /// Both gave up after this many cycles.
    Limit(u32),
    /// [`Cosim::stop`] ended it.
    Interrupted,
}

impl std::fmt::Display for Disagreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Disagreement::Differs { report, .. } => f.write_str(report),
            Disagreement::Broken(what) | Disagreement::Refused(what) => f.write_str(what),
            Disagreement::Interrupted => f.write_str("interrupted"),
            Disagreement::Limit(cycles) => write!(f, "neither side has ended after {cycles} cycles"),
        }
    }
}

impl Cosim<'_> {
    /// Runs both sides: the simulator, and `executable` with a stimulus file that is written to `stimulus`.
    ///
    /// # Errors
    /// See [`Disagreement`].
    pub fn run(&self, executable: &Path, stimulus: &Path) -> Result<Agreement, Disagreement> {
        self.run_beside(executable, stimulus, None)
    }

    /// [`Cosim::run`] with another observer of the simulator.
    ///
    /// # Errors
    /// See [`Disagreement`].
    pub fn run_beside(
        &self,
        executable: &Path,
        stimulus: &Path,
        beside: Option<&mut dyn Observer>,
    ) -> Result<Agreement, Disagreement> {
        let ended = self.run_both(executable, stimulus, beside);
        // A signal may have ended the other side before the simulator noticed.
        if self.is_stopped() && ended.is_err() { Err(Disagreement::Interrupted) } else { ended }
    }

    fn run_both(
        &self,
        executable: &Path,
        stimulus: &Path,
        beside: Option<&mut dyn Observer>,
    ) -> Result<Agreement, Disagreement> {
        self.check_widths()?;
        let process = self.start(executable, stimulus)?;
        let base = self.program.kernels[self.launch.kernel].code.start;
        let width = self.config.core.wave_width as usize;
        let code = Code { program: self.program, base, width };
        let mut comparison = Comparison::new(process, self.mode, code);
        let packets = self.mode == Mode::Cycle;
        let mut observer =
            RecordStream::new(self.program, base, width, packets, |batch| comparison.take(batch));
        let end = match beside {
            None => self.simulate(Some(&mut observer))?,
            Some(beside) => {
                let both: [&mut dyn Observer; 2] = [&mut observer, beside];
                self.simulate(Some(&mut Listeners::new(both)))?
            }
        };
        let (end, left) = match end {
            // What an idle core sends after the end is not part of the run.
            End::Over(cycle, memory) => (Report::Over(cycle, memory), observer.complete(cycle + 1)),
            End::Fault(fault) => {
                let cycle = fault.cycle.unwrap_or(0);
                let left = observer.complete(cycle);
                let mut beside = observer.left().to_vec();
                beside.sort_unstable();
                let (kind, word) = (fault::number(&fault.kind), fault.pc / WORD_BYTES - base);
                let slot = observer.slot_of(fault.workgroup, fault.wave);
                (Report::Fault(FaultReport { cycle, kind, slot, word, beside }), left)
            }
            End::Stopped(cycle) => (Report::CycleLimit(cycle), ControlFlow::Continue(())),
        };
        if let Some(end) = comparison.end.take() {
            return Err(end);
        }
        debug_assert!(left.is_continue(), "a comparison that stops says why");
        comparison.agreement.fault = matches!(end, Report::Fault(_));
        if let Report::Over(cycle, _) | Report::Fault(FaultReport { cycle, .. }) = end {
            comparison.agreement.cycles = cycle + 1;
        }
        comparison.finish(end)?;
        Ok(comparison.agreement)
    }

    /// Records have rows and lines of one size.
    fn check_widths(&self) -> Result<(), Disagreement> {
        let (lanes, line) = (self.config.core.wave_width as usize, self.config.core.l1.line_bytes as usize);
        if lanes == LANES && line == LINE_BYTES {
            return Ok(());
        }
        Err(Disagreement::Refused(format!(
            "`{}` has waves of {lanes} lanes and lines of {line} bytes, and a co-simulation is one of {LANES} lanes and \
             {LINE_BYTES} bytes",
            self.config.name
        )))
    }

    /// Starts the other side.
    pub(super) fn start(&self, executable: &Path, stimulus: &Path) -> Result<Process, Disagreement> {
        let command = self.command(executable, stimulus).map_err(Disagreement::Refused)?;
        // A core may report in which cycle it gives up.
        let bounds = Bounds { memory: self.memory.len(), cycles: Cycle::from(self.max_cycles) + 1 };
        Process::start(command, self.patience, bounds, self.stop)
            .map_err(|e| Disagreement::Broken(format!("{}: {e}", executable.display())))
    }

    /// The command that starts the other side with a stimulus file, which is written.
    pub(super) fn command(&self, executable: &Path, stimulus: &Path) -> Result<Command, String> {
        std::fs::write(stimulus, self.stimulus()?).map_err(|e| format!("{}: {e}", stimulus.display()))?;
        let mut command = Command::new(executable);
        command.arg(stimulus).args(self.arguments);
        Ok(command)
    }

    /// True if [`Cosim::stop`] is set.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// The bytes of the stimulus file.
    ///
    /// # Errors
    /// The reason why a launch does not fit on the machine.
    pub fn stimulus(&self) -> Result<Vec<u8>, String> {
        let &Cosim { config, program, launch, memory, script, beginning, max_cycles, .. } = self;
        Stimulus { config, program, launch, memory, script, beginning, max_cycles }.bytes()
    }

    /// Runs the simulator alone, on the scripted memory side.
    ///
    /// # Errors
    /// [`Disagreement::Refused`], if it cannot run the launch.
    pub fn simulate(&self, observer: Option<&mut dyn Observer>) -> Result<End, Disagreement> {
        let refused = |what: String| Err(Disagreement::Refused(what));
        let mut gpu = Machine::new(self.config.clone(), self.program.clone(), self.memory.to_vec());
        gpu.memory_system().play(self.script.clone(), self.config);
        let limit = Cycle::from(self.max_cycles);
        let options = RunOptions { max_cycles: Some(limit), stop: self.stop, ..RunOptions::UNBOUNDED };
        match gpu.run(self.launch, &options, observer, &mut |_| {}) {
            Ok(report) => Ok(End::Over(report.running_cycles() - 1, gpu.into_memory())),
            Err(RunError::Fault(fault)) => Ok(End::Fault(fault)),
            Err(RunError::Interrupted(_)) if options.is_stopped() => Err(Disagreement::Interrupted),
            Err(RunError::CycleLimit(_) | RunError::Interrupted(_) | RunError::InstructionLimit(_)) => {
                Ok(End::Stopped(limit))
            }
            Err(RunError::NoProgress(_)) => refused("the kernel stands still".to_owned()),
            Err(RunError::Launch(error)) => refused(error.to_string()),
        }
    }
}

/// How the simulator's run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The grid is done: last cycle, and device memory.
    Over(Cycle, Vec<u8>),
    /// The kernel faulted.
    Fault(Box<Fault>),
    /// The observer stopped it, or it reached the cycle limit.
    Stopped(Cycle),
}
