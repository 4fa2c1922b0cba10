//! Why a kernel takes its time: the causes that cost most, what should help against each, and whether it does.
//!
//! A run is watched ([`profile`], [`shadow`]); [`model`] makes an account of it, [`rules`] derive the cost of each
//! [`cause`] and changes of the configuration with what they should save; the best change for each of the dearest causes is
//! then really made and the kernel run again. docs/explain.md has the formulas, and how good they are.

pub mod cause;
pub mod model;
pub mod network;
pub mod profile;
pub mod report;
pub mod rules;
pub mod shadow;

use crate::config::Config;
use crate::observe::Step;
use crate::observe::figures::sum;
use cause::Cause;
use model::Observed;
use profile::Profile;
use rules::{Change, changes, costs};

/// Causes that are named.
const NAMED: usize = 3;

/// What runs the kernel that is to be explained.
pub trait Bench {
    /// Why a run did not end well.
    type Error;

    /// The machine with these settings beside those that it has; none if it cannot have them.
    fn config(&mut self, settings: &[String]) -> Option<Config>;

    /// Runs every launch of the kernel, each time from the same memory.
    ///
    /// # Errors
    /// If it did not come to its end.
    fn run(&mut self, config: &Config, profile: Option<&mut Profile>) -> Result<Vec<Step>, Self::Error>;
}

/// A cause, what it costs, and what helps.
#[derive(Debug, Clone, PartialEq)]
pub struct Limiter {
    /// The cause.
    pub cause: Cause,
    /// Cycles that it costs.
    pub cycles: f64,
    /// The change that should save most, if there is one, and the cycles that it saved when it was made.
    pub change: Option<(Change, Option<i64>)>,
}

/// A kernel and what limits it.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Name of the kernel file or launch file.
    pub name: String,
    /// Cycles of all launches.
    pub cycles: u64,
    /// Part of the cycles in which an average scheduler had no wave. Costs are those of schedulers with waves.
    pub idle: f64,
    /// The dearest causes, the dearest first.
    pub limiters: Vec<Limiter>,
}

/// Explains a kernel on a machine. With `check`, every change is made and the kernel run again.
///
/// # Errors
/// If the first run does not come to its end.
pub fn explain<B: Bench>(
    name: &str,
    config: &Config,
    check: bool,
    bench: &mut B,
) -> Result<Explanation, B::Error> {
    let mut profile = Profile::new(config);
    let steps = bench.run(config, Some(&mut profile))?;
    let Some(report) = sum(&steps) else {
        return Ok(Explanation { name: name.to_owned(), cycles: 0, idle: 0.0, limiters: Vec::new() });
    };
    let observed = Observed { config, report: &report, launches: steps.len() as u64, profile: &profile };
    let account = observed.account();
    let mut possible = changes(&observed, &account);
    possible.sort_by(|a, b| b.predicted.total_cmp(&a.predicted));
    let mut limiters = Vec::new();
    for cost in costs(&observed, &account).into_iter().take(NAMED) {
        let found = possible.iter().filter(|change| change.cause == cost.cause).find_map(|change| {
            let changed = bench.config(&change.settings)?;
            Some((change.clone(), changed))
        });
        let change = found.map(|(change, changed)| {
            let measured = check.then(|| bench.run(&changed, None).ok()).flatten();
            let cycles = |steps: &[Step]| steps.iter().map(|s| s.report.cycles).sum::<u64>();
            let measured = measured.map(|steps| report.cycles as i64 - cycles(&steps) as i64);
            (change, measured)
        });
        limiters.push(Limiter { cause: cost.cause, cycles: cost.cycles, change });
    }
    Ok(Explanation { name: name.to_owned(), cycles: report.cycles, idle: observed.idle(), limiters })
}
