//! Reports of a run as text and JSON: figures, statistics, reports, traces of issue.

pub mod figures;
pub mod json;
mod links;
pub mod numbers;
pub mod statistics;
pub mod stuck;
pub mod table;
pub mod text;
pub mod trace;

use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::gpu::KernelReport;
use crate::launch::Verification;
use crate::program::Launch;
use crate::races::RaceReport;

/// A launch that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Name of the kernel.
    pub kernel: String,
    /// Launch parameters.
    pub launch: Launch,
    /// Its report.
    pub report: KernelReport,
}

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
    /// Launches that ended, in order.
    pub steps: Vec<Step>,
    /// Its outcome.
    pub outcome: Outcome,
    /// The race report, if races were checked.
    pub races: Option<RaceReport>,
}

/// Runs on one machine.
#[derive(Debug)]
pub struct Session<'a> {
    /// The machine.
    pub config: &'a Config,
    /// In the order of their execution.
    pub runs: Vec<Run>,
}

/// A count in words: `1 wave`, `2 waves`.
pub fn counted(n: u64, thing: &str) -> String {
    match n {
        1 => format!("1 {thing}"),
        _ if thing.ends_with("ch") => format!("{n} {thing}es"),
        _ => format!("{n} {thing}s"),
    }
}
