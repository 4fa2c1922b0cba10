//! What a run did, for people and for programs: figures, statistics, reports, traces of issue.

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

/// One launch that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Name of the kernel.
    pub kernel: String,
    /// How it was launched.
    pub launch: Launch,
    /// What it did.
    pub report: KernelReport,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It ended; the result is compared with what was expected, if anything was.
    Ended(Verification),
    /// It was left out, and why: in the suite, a kernel that needs what the machine does not have.
    Skipped(String),
    /// It could not be started.
    Refused(Vec<Diagnostic>),
    /// A fault ended it.
    Fault(Diagnostic),
    /// It stood still, or came to a bound of the user's.
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

/// A kernel file or a launch file that was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Name of the file without its extension, or in the suite.
    pub name: String,
    /// Launches that ended, in order.
    pub steps: Vec<Step>,
    /// What became of it.
    pub outcome: Outcome,
    /// Races, if they were looked for.
    pub races: Option<RaceReport>,
}

/// Runs on one machine.
#[derive(Debug)]
pub struct Session<'a> {
    /// The machine.
    pub config: &'a Config,
    /// In the order in which they ran.
    pub runs: Vec<Run>,
}

/// A number of things, in words: `1 wave`, `2 waves`.
pub fn counted(n: u64, thing: &str) -> String {
    match n {
        1 => format!("1 {thing}"),
        _ if thing.ends_with("ch") => format!("{n} {thing}es"),
        _ => format!("{n} {thing}s"),
    }
}
