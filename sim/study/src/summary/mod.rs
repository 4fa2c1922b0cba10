//! Reports of a run as text and JSON: figures, statistics, reports, traces of issue.

mod buffers;
pub mod energy;
pub mod json;
pub mod launches;
mod links;
pub mod statistics;
pub mod stuck;
pub mod table;
pub mod text;
pub mod untimed;

use crate::launch::{Size, Verification};
use crate::sample::Sampling;
use serde::{Deserialize, Serialize};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Printed};
use wave_machine::config::Config;
use wave_machine::functional;
use wave_machine::gpu::KernelReport;
use wave_observe::attribution::Attributed;
use wave_observe::energy::Prices;
use wave_observe::figures::{self, Step};
use wave_observe::races::RaceReport;

/// Outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It ended. The result was compared with the expected one, if there is one.
    Ended(Verification),
    /// It was skipped, with the reason: in the suite, a kernel that needs what the machine lacks.
    Skipped(String),
    /// It could not be started.
    Refused(Vec<Diagnostic>),
    /// A fault ended it.
    Fault(Diagnostic),
    /// It made no progress, or reached a bound that the user had set.
    Stopped(Diagnostic),
}

impl Outcome {
    /// Names the launch in the message of a run that did not end.
    pub fn of_launch(self, number: usize, launches: usize) -> Outcome {
        let say = |why: Diagnostic| match launches {
            1 => why,
            _ => {
                Diagnostic { message: format!("launch {} of {launches}: {}", number + 1, why.message), ..why }
            }
        };
        match self {
            Outcome::Fault(why) => Outcome::Fault(say(why)),
            Outcome::Stopped(why) => Outcome::Stopped(say(why)),
            other => other,
        }
    }

    /// One word for tables and JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Ended(Verification::Nothing) => "ended",
            Outcome::Ended(Verification::Passed { .. }) => "verified",
            Outcome::Ended(Verification::Failed { .. }) => "failed",
            Outcome::Skipped(_) => "skipped",
            Outcome::Refused(_) => "refused",
            Outcome::Fault(_) => "fault",
            Outcome::Stopped(_) => "stopped",
        }
    }
}

/// The run of a kernel file or a launch file.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Name of the file without its extension, or name in the suite.
    pub name: String,
    /// Launches that ended and ran without timing, in order; before all others.
    pub untimed: Vec<UntimedStep>,
    /// The part without timing of the next launch, if its detail begins part-way.
    pub part: Option<UntimedPart>,
    /// Launches that ended, in order.
    pub steps: Vec<Step>,
    /// How those launches were sampled, if they were.
    pub sampled: Vec<Sampling>,
    /// Its outcome.
    pub outcome: Outcome,
    /// The race report, if races were checked.
    pub races: Option<RaceReport>,
    /// What each buffer had of the accesses, if that was asked for.
    pub by_buffer: Option<Attributed>,
    /// What observers of plug-ins have written, by their names.
    pub observed: Vec<(String, String)>,
    /// The data of a launch file.
    pub data: Option<Data>,
    /// What threads have printed, if the kernels can.
    pub printed: Option<Printed>,
}

/// Which data of a launch file a run works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// Their size.
    pub size: Size,
    /// The seed of random data, if it is not the file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl std::fmt::Display for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = match self.size {
            Size::Full => "full",
            Size::Small => "small",
        };
        match self.seed {
            Some(seed) => write!(f, "--size {size} --seed {seed}"),
            None => write!(f, "--size {size}"),
        }
    }
}

impl Run {
    /// A run of this name whose launches have not begun.
    pub fn new(name: &str, outcome: Outcome) -> Run {
        Run {
            name: name.to_owned(),
            untimed: Vec::new(),
            part: None,
            steps: Vec::new(),
            sampled: Vec::new(),
            outcome,
            races: None,
            by_buffer: None,
            observed: Vec::new(),
            data: None,
            printed: None,
        }
    }

    /// Warnings about what the threads have printed in vain, and about heaps that were full.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let Some(printed) = &self.printed else { return Vec::new() };
        let counted = wave_observe::numbers::counted;
        let lost = (printed.lost > 0).then(|| {
            let message = format!(
                "`{}`: the text of {} is missing: the buffer of what threads print has {} bytes",
                self.name,
                counted(printed.lost.into(), "call"),
                printed.buffer_bytes
            );
            Diagnostic::warning(message).hint("-DWAVE_OUTPUT_BYTES=N among the flags of clang gives it more")
        });
        let full = (printed.heap_full > 0).then(|| {
            let message = format!(
                "`{}`: {} found the heap of its thread full and gave NULL",
                self.name,
                counted(printed.heap_full.into(), "allocation")
            );
            Diagnostic::warning(message)
                .hint("--heap-bytes, or `heap_bytes` of the launch file, gives threads more")
        });
        lost.into_iter().chain(full).collect()
    }

    /// The text that threads have printed, with a line's end.
    pub fn printed_text(&self) -> String {
        let text = self.printed.as_ref().map_or("", |printed| printed.text.as_str());
        if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
    }

    /// How its launches were sampled, in all; `None` if none was.
    pub fn sampling(&self) -> Option<Sampling> {
        self.sampled.iter().copied().reduce(Sampling::and)
    }

    /// True if its cycles are an estimate.
    pub fn is_estimated(&self) -> bool {
        self.sampling().is_some_and(|sampling| sampling.why.is_none())
    }

    /// The sum of its launches with timing; `None` if none has ended.
    pub fn total(&self) -> Option<KernelReport> {
        figures::sum(&self.steps)
    }
}

/// A launch that ran without timing and has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct UntimedStep {
    /// Name of the kernel.
    pub kernel: String,
    /// Launch parameters.
    pub launch: Launch,
    /// Its report.
    pub report: functional::Report,
}

/// The part of a launch that ran without timing, before its detail.
#[derive(Debug, Clone, PartialEq)]
pub struct UntimedPart {
    /// The nominal cycle with which it ended.
    pub nominal_cycles: u64,
    /// Workgroups resident then, and workgroups of the grid.
    pub resident: (u64, u64),
    /// What it counted.
    pub report: functional::Report,
}

/// Runs on one machine.
#[derive(Debug)]
pub struct Session<'a> {
    /// The machine.
    pub config: &'a Config,
    /// True if no launch has timing.
    pub untimed: bool,
    /// Prices, if energy and area are asked for.
    pub prices: Option<Prices>,
    /// In the order of their execution.
    pub runs: Vec<Run>,
}
