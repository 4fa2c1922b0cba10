//! What limits a kernel, and which changes of the machine help: the [candidates](crate::limits::candidates) are really
//! made, the kernel is run again on each, and what they saved ranks them.

mod quality;
pub mod report;

pub use quality::Quality;

use crate::config::Config;
use crate::gpu::KernelReport;
use crate::limits::account::Observed;
use crate::limits::by_launch::{ByLaunch, Group, LaunchLimits, groups};
use crate::limits::candidates::Candidate;
use crate::limits::listing::{Instruction, listing};
use crate::limits::signs::{Sign, signs};
use crate::limits::{Limiter, Limits};
use crate::observe::Step;
use crate::observe::figures::sum;
use crate::program::Program;

/// Savings below this part of the run are taken as none.
pub const NOTHING: f64 = 0.005;
/// A prediction is refuted where its trial saved less than one part in so many of it.
pub const FACTOR: f64 = 2.0;

/// What runs the kernel that is to be explained.
pub trait Bench {
    /// Why a run did not end well.
    type Error;

    /// Launches of the kernel.
    fn launches(&self) -> usize;

    /// Runs every launch of the kernel, each time from the same memory, and watches it.
    ///
    /// # Errors
    /// If it did not come to its end.
    fn run(&mut self, watch: &mut ByLaunch<'_>) -> Result<Vec<Step>, Self::Error>;

    /// Runs it on a machine that differs by these settings. None if it did not come to its end there.
    ///
    /// # Errors
    /// If no further runs are wanted.
    fn trial(&mut self, config: &Config, settings: &[String]) -> Result<Option<Vec<Step>>, Self::Error>;
}

/// A change of the machine that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The change.
    pub candidate: Candidate,
    /// Cycles of the run that it saved.
    pub saved: i64,
    /// Cycles of each launch that it saved.
    pub by_launch: Vec<i64>,
}

impl Trial {
    /// True if it saved less than half of what was predicted, and that was something.
    pub fn refuted(&self, cycles: u64) -> bool {
        let predicted = self.candidate.predicted.map_or(0.0, |(predicted, _)| predicted);
        predicted >= NOTHING * cycles as f64 && (self.saved as f64) < predicted / FACTOR
    }
}

/// True if so many cycles of a run are worth telling.
pub fn helps(saved: i64, cycles: u64) -> bool {
    saved > 0 && saved as f64 >= NOTHING * cycles as f64
}

/// A kernel and what limits it.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// Name of the kernel file or launch file.
    pub name: String,
    /// What limits it.
    pub limits: Limits,
    /// Changes that were tried, those first that saved most.
    pub trials: Vec<Trial>,
    /// What limits each of its launches; nothing if there is only one.
    pub launches: Vec<LaunchLimits>,
    /// The instructions of the kernels that ran.
    pub instructions: Vec<Instruction>,
    /// The launches added up, if there are any.
    pub report: Option<KernelReport>,
}

impl Explanation {
    /// What stands out, whatever it costs.
    pub fn signs(&self, config: &Config) -> Vec<Sign<'_>> {
        self.report.as_ref().map_or(Vec::new(), |report| signs(config, report, &self.instructions))
    }

    /// The trial of these settings.
    pub fn trial(&self, settings: &[String]) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.candidate.settings == settings)
    }

    /// The trials of changes against a limiter, those first that saved most.
    pub fn against(&self, limiter: &Limiter) -> impl Iterator<Item = &Trial> {
        let named = limiter.change.as_ref().map(|change| change.settings.clone());
        self.trials.iter().filter(move |trial| {
            trial.candidate.cause == limiter.cause || named.as_ref() == Some(&trial.candidate.settings)
        })
    }

    /// The trial that saved most of a launch, if it is worth telling.
    pub fn best_of_launch(&self, launch: usize) -> Option<&Trial> {
        let saved = |trial: &Trial| trial.by_launch.get(launch).copied().unwrap_or(0);
        // The first of equal ones, which saved more of the run.
        let best = self.trials.iter().reduce(|a, b| if saved(b) > saved(a) { b } else { a })?;
        helps(saved(best), self.launches[launch].limits.cycles).then_some(best)
    }

    /// The launches, those put together that are alike and that the same change helps most.
    pub fn groups(&self) -> Vec<Group> {
        let best = |n: usize| self.best_of_launch(n).map(|trial| trial.candidate.settings.clone());
        let best: Vec<_> = (0..self.launches.len()).map(best).collect();
        groups(&self.launches, |n| best[n].clone())
    }
}

/// Explains a kernel of a program on a machine. At most `trials` changes are made, each in a run of its own.
///
/// # Errors
/// If the first run does not come to its end, or no further runs are wanted.
pub fn explain<B: Bench>(
    name: &str,
    config: &Config,
    program: &Program,
    trials: usize,
    bench: &mut B,
) -> Result<Explanation, B::Error> {
    let mut watch = ByLaunch::new(config, program, bench.launches());
    let steps = bench.run(&mut watch)?;
    let name = name.to_owned();
    let longest = steps.iter().max_by_key(|step| step.report.cycles);
    let Some((mut report, longest)) = sum(&steps).zip(longest) else {
        return Ok(Explanation {
            name,
            limits: Limits::NONE,
            trials: Vec::new(),
            launches: Vec::new(),
            instructions: Vec::new(),
            report: None,
        });
    };
    report.occupancy = longest.report.occupancy;
    let mut limits = Limits::of(&Observed { config, report: &report, watch: &watch.all });
    let possible = std::mem::take(&mut limits.candidates)
        .into_iter()
        .filter_map(|candidate| Some((config.with(&candidate.settings).ok()?, candidate)));
    let mut tried = Vec::new();
    for (changed, candidate) in possible.take(trials) {
        let Some(then) = bench.trial(&changed, &candidate.settings)? else { continue };
        let saved = |(now, then): (&Step, &Step)| now.report.cycles as i64 - then.report.cycles as i64;
        let by_launch: Vec<i64> = steps.iter().zip(&then).map(saved).collect();
        tried.push(Trial { candidate, saved: by_launch.iter().sum(), by_launch });
    }
    // Of equal ones the one that was expected to save more stays first.
    tried.sort_by_key(|trial| std::cmp::Reverse(trial.saved));
    let instructions = listing(program, watch.all.profiler.profiles());
    let launches = watch.launches;
    Ok(Explanation { name, limits, trials: tried, launches, instructions, report: Some(report) })
}
