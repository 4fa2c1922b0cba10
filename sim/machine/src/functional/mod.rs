//! Results without timing: executes launches on the same decoded program as the cores, and with the same arithmetic,
//! but nothing takes time and no cache keeps an old value.
//!
//! Use it for quick checks, and to get fast to the part of a run that is to be simulated cycle by cycle. An access
//! acts on memory at once and in the order of the wave's program, so fences and `wait` have nothing to do. A program
//! without races has the same device memory, faults and counts of instructions as on the cores, for any machine. Of a
//! program with races this is one of the results that the memory model allows.
//!
//! [`run`] executes a launch; an [`Execution`] can also stop on the way and show what each wave holds.

mod follow;
mod footprint;
mod grid;
mod inactive;
mod polling;
mod run;
mod turn;
mod wave;

use crate::config::Config;
use crate::core::context::Context;
use crate::core::occupancy::{LaunchError, Occupancy};
use crate::core::report::{self, WaveReport};
use crate::core::uop::MicroOps;
use crate::stats::{CoreCounters, Declared};
pub(crate) use follow::{Issued, Leap};
pub(crate) use footprint::Footprint;
use grid::Grid;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use turn::Lanes;
use wave_isa::program::{Fault, Launch, Program};

pub use wave::{Doing, Wave, Workgroup};

/// Nominal cycles of the first window in which [`Execution::reach`] looks.
const FIRST_WINDOW: u64 = 1 << 14;

/// Bounds of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Stop with [`ExecutionError::InstructionLimit`] instead of executing more wave instructions than this. Instructions
    /// without effect count.
    pub max_instructions: Option<u64>,
    /// Stop with [`ExecutionError::Interrupted`] once this is true.
    pub stop: Option<&'static AtomicBool>,
}

impl Limits {
    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// How far to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// To the end of the launch.
    End,
    /// To the beginning of a nominal cycle. Every wave of a resident workgroup executes an instruction in each
    /// nominal cycle. A workgroup starts in the place that is the first to be free, as soon as it is; the first places
    /// are in cycle 0. After a barrier all waves of a workgroup go on in one cycle.
    Cycle(u64),
    /// To the first time that a wave reaches this instruction, in the order in which this executor runs waves: a byte
    /// offset in the code section, as in [`MicroOps::pc`]. A wave in front of which the run has already stopped goes
    /// on.
    Pc(u32),
}

/// Why a run stopped that may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionStop {
    /// The launch has ended.
    End,
    /// Every wave has come to the nominal cycle, or waits for one that has.
    Cycle,
    /// This wave is about to execute the instruction.
    Pc {
        /// Position of its workgroup in the grid.
        workgroup: [u32; 3],
        /// Its index in the workgroup.
        wave: u32,
    },
}

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecutionProgress {
    /// Wave instructions executed, those without effect included.
    pub instructions: u64,
    /// Workgroups ended.
    pub workgroups: u64,
    /// Workgroups of the grid.
    pub total_workgroups: u64,
}

/// Where a launch stands that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standstill {
    /// Wave instructions executed, those without effect included.
    pub instructions: u64,
    /// Workgroups that have ended, and workgroups of the grid.
    pub workgroups: (u64, u64),
    /// Every wave of a resident workgroup that has not ended. Its core is where the dispatcher of an idle machine
    /// puts its workgroup.
    pub waves: Vec<WaveReport>,
    /// What those that poll do in a round of their loop.
    pub doing: Vec<report::SpinReport>,
}

/// Why a launch did not end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutionError {
    /// The kernel cannot run on this machine.
    Launch(LaunchError),
    /// The kernel did something illegal.
    Fault(Box<Fault>),
    /// Every wave waits at a barrier or polls, and nothing changes any more: it would go on for ever.
    NoProgress(Box<Standstill>),
    /// [`Limits::max_instructions`] is reached.
    InstructionLimit(Box<Standstill>),
    /// [`Limits::stop`] stopped the run.
    Interrupted(Box<Standstill>),
}

/// Counts of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The counters of the cores. Those that only timing gives are 0; [`Report::values`] leaves them out.
    pub counters: CoreCounters,
}

/// Names of the counters of a core that have a meaning without timing.
const COUNTED: [&str; 12] = [
    "core.wave_instructions",
    "core.squashed_instructions",
    "core.lane_instructions",
    "core.taken_redirects",
    "core.local_accesses",
    "core.device_loads",
    "core.device_stores",
    "core.device_atomics",
    "core.barriers",
    "core.fences",
    "core.divisions_by_zero",
    "core.workgroups",
];

/// The counters of a core that have a meaning without timing, in the order of reports.
pub fn counted(counters: &mut CoreCounters) -> impl Iterator<Item = (Declared, &mut u64)> {
    let all = CoreCounters::DECLARED.iter().copied().zip(counters.values_mut());
    all.filter(|(declared, _)| COUNTED.contains(&declared.name))
}

impl Report {
    /// The counters that have a meaning without timing, in the order of reports.
    pub fn values(&self) -> Vec<(Declared, u64)> {
        let mut counters = self.counters;
        counted(&mut counters).map(|(declared, value)| (declared, *value)).collect()
    }
}

/// A launch under way, without timing. Like its clones, it can go on from where it stands; device memory is the
/// caller's.
#[derive(Debug, Clone)]
pub struct Execution {
    lanes: Lanes,
    grid: Grid,
    room: [(&'static str, u32); 5],
}

/// What of a machine the state of a launch depends on.
fn room(config: &Config, occupancy: &Occupancy) -> [(&'static str, u32); 5] {
    let core = &config.core;
    [
        ("cores", config.cores),
        ("lanes of a wave", core.wave_width),
        ("open constructs of a wave", core.divergence_depth),
        ("open calls of a wave", core.call_depth),
        ("workgroups in a core", occupancy.workgroups),
    ]
}

impl Execution {
    /// A launch that has not begun.
    ///
    /// # Errors
    /// If the launch cannot run on this machine.
    pub fn new(config: &Config, program: &Program, launch: &Launch) -> Result<Execution, LaunchError> {
        let context = Context::new(config, program, launch)?;
        Ok(Execution::of(config, program, Arc::new(context)))
    }

    /// The launch of a context of this program, of which nothing has begun.
    pub(crate) fn of(config: &Config, program: &Program, context: Arc<Context>) -> Execution {
        let kernel = &program.kernels[context.launch().kernel];
        let code = &program.code[kernel.code.start as usize..kernel.code.end as usize];
        let (grid, room) = (Grid::new(config, &context), room(config, &context.occupancy));
        Execution { lanes: Lanes::new(context, code, config), grid, room }
    }

    /// Leaves out all workgroups but these, by their linear index, and notes what they touch of device memory, which has
    /// so many bytes. Nothing of the launch has begun.
    pub(crate) fn confine(&mut self, config: &Config, workgroups: Range<u64>, device_bytes: usize) {
        self.grid.confine(workgroups);
        self.lanes.footprint = Some(Box::new(Footprint::new(config, device_bytes)));
    }

    /// Takes what was touched so far, of a [confined](Self::confine) execution.
    pub(crate) fn take_footprint(&mut self) -> Option<Footprint> {
        self.lanes.footprint.take().map(|footprint| *footprint)
    }

    /// The launch.
    pub fn launch(&self) -> &Launch {
        self.lanes.context.launch()
    }

    /// Makes sure that a machine of this configuration with this program can take the launch over as it stands: its
    /// cores hold as many workgroups of the same waves, and the kernel is the same. Everything else may differ, so one
    /// execution can be the beginning of runs on machines with other units, caches or memory.
    ///
    /// # Errors
    /// What differs.
    pub fn check(&self, config: &Config, program: &Program) -> Result<(), LaunchError> {
        let launch = self.launch();
        let refuse = |message: String, hint: &str| Err(LaunchError { message, hint: hint.to_owned() });
        let Some(kernel) = program.kernels.get(launch.kernel) else {
            return refuse(
                "the launch under way is one of another program".to_owned(),
                "make it with this program",
            );
        };
        let ops = MicroOps::decode(program, kernel, launch.registers, config);
        if !ops.is_same_code(&self.lanes.context.ops) {
            return refuse(
                format!("the launch under way is not one of this kernel `{}`", kernel.name),
                "make it with this program, for a machine with the same capabilities",
            );
        }
        let machine = room(config, &Occupancy::of(config, launch)?);
        match machine.into_iter().zip(self.room).find(|(has, wants)| has != wants) {
            None => Ok(()),
            Some(((what, has), (_, wants))) => refuse(
                format!("the launch under way was made for {wants} {what}, and this machine has {has}"),
                "make it for a machine with the same cores",
            ),
        }
    }

    /// Executes the launch on this device memory. `progress` is called now and then.
    ///
    /// # Errors
    /// See [`ExecutionError`]. After [`ExecutionError::InstructionLimit`] and [`ExecutionError::Interrupted`] it can go on.
    pub fn advance(
        &mut self,
        memory: &mut [u8],
        until: Until,
        limits: &Limits,
        progress: &mut dyn FnMut(ExecutionProgress),
    ) -> Result<ExecutionStop, ExecutionError> {
        self.grid.advance(&mut self.lanes, memory, until, limits, progress)
    }

    /// Executes the launch to the beginning of the nominal cycle in which the first wave comes to an instruction: a byte
    /// offset in the code section, as in [`MicroOps::pc`]. Gives [`ExecutionStop::Cycle`] then, and [`ExecutionStop::End`] if no wave
    /// comes to it from here on. In a program whose waves poll, the first wave to come to it may depend on how far the
    /// executor looks ahead; it then stands near the instruction.
    ///
    /// It executes most of the launch twice, and needs room for another copy of device memory.
    ///
    /// # Errors
    /// See [`ExecutionError`]; after an error the launch cannot go on.
    pub fn reach(
        &mut self,
        memory: &mut [u8],
        pc: u32,
        limits: &Limits,
        progress: &mut dyn FnMut(ExecutionProgress),
    ) -> Result<ExecutionStop, ExecutionError> {
        let word = self.lanes.context.ops.word_at(pc);
        // It looks in windows, each twice as long as the one before, so that it copies little and goes back little.
        let (mut end, mut window) = (self.cycle(), FIRST_WINDOW);
        loop {
            end += window;
            window *= 2;
            let before = (self.clone(), memory.to_vec());
            let found = self.grid.first_at(&mut self.lanes, memory, (word, end), limits, progress)?;
            if let Some(cycle) = found {
                *self = before.0;
                memory.copy_from_slice(&before.1);
                return self.advance(memory, Until::Cycle(cycle), limits, progress);
            }
            if self.is_over() {
                return Ok(ExecutionStop::End);
            }
        }
    }

    /// The nominal cycle: the last that a wave has come to. Behind a launch that was executed by [`Until::Cycle`] or
    /// [`reach`](Self::reach), the number of nominal cycles that it takes.
    pub fn cycle(&self) -> u64 {
        self.grid.last_cycle()
    }

    /// True if the launch has ended.
    pub fn is_over(&self) -> bool {
        self.grid.is_over()
    }

    /// What was counted so far.
    pub fn report(&self) -> Report {
        Report { counters: self.lanes.counters }
    }

    /// The workgroups that have started and not ended, each with its place: its number among all places of the
    /// machine. The dispatcher of an idle machine fills places in this order; place p is in core p mod cores.
    pub fn residents(&self) -> impl Iterator<Item = (usize, &Workgroup)> {
        self.grid.residents()
    }

    /// Workgroups that have started, in the order of their linear index, and those of the grid.
    pub fn started(&self) -> (u64, u64) {
        self.grid.started()
    }

    /// The decoded kernel.
    pub fn ops(&self) -> &MicroOps {
        &self.lanes.context.ops
    }
}

/// Executes a launch to its end on this device memory. `progress` is called now and then.
///
/// # Errors
/// See [`ExecutionError`].
pub fn run(
    config: &Config,
    program: &Program,
    launch: &Launch,
    memory: &mut [u8],
    limits: &Limits,
    progress: &mut dyn FnMut(ExecutionProgress),
) -> Result<Report, ExecutionError> {
    let mut execution = Execution::new(config, program, launch).map_err(ExecutionError::Launch)?;
    execution.advance(memory, Until::End, limits, progress)?;
    Ok(execution.report())
}
