//! Explains what limits a kernel and which machine changes help. Each of the
//! [candidates](wave_observe::limits::candidates) is applied, the kernel runs again, and the measured savings rank
//! the candidates.

pub mod json;
mod quality;
pub mod report;

pub(crate) use quality::Quality;

use crate::sensitivity::{Saving, Sensitivity};
use wave_isa::program::Program;
use wave_machine::config::Config;
use wave_machine::gpu::KernelReport;
use wave_observe::energy::{Area, Prices};
use wave_observe::figures::{Step, sum, unfilled};
use wave_observe::limits::account::Observed;
use wave_observe::limits::by_launch::{ByLaunch, Group, LaunchLimits, groups};
use wave_observe::limits::candidates::Candidate;
use wave_observe::limits::listing::{Instruction, listing};
use wave_observe::limits::signs::{Sign, signs};
use wave_observe::limits::{Limiter, Limits};

/// Savings below this fraction of the run count as zero.
pub const NOTHING: f64 = 0.005;
/// A prediction is refuted if the trial saved less than 1 / `FACTOR` of it.
pub(crate) const FACTOR: f64 = 2.0;

/// Runs the kernel to be explained.
pub trait Bench {
    /// Reason for a failed run.
    type Error;

    /// Number of launches of the kernel.
    fn launches(&self) -> usize;

    /// Runs all launches of the kernel, starting from the same memory every time, and watches them.
    ///
    /// # Errors
    /// The run did not complete.
    fn run(&mut self, watch: &mut ByLaunch<'_>) -> Result<Vec<Step>, Self::Error>;

    /// Runs it on a machine with these settings. None if the run did not complete.
    ///
    /// # Errors
    /// No further runs are wanted.
    fn trial(&mut self, config: &Config, settings: &[String]) -> Result<Option<Vec<Step>>, Self::Error>;
}

/// A trial of a machine change.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The change.
    pub candidate: Candidate,
    /// Cycles saved in the run.
    pub saved: i64,
    /// Cycles saved in each launch.
    pub by_launch: Vec<i64>,
    /// By how much the area of the machine grows, in square millimetres.
    pub area_mm2: f64,
}

impl Trial {
    /// True if it saved less than half of a significant prediction.
    pub fn refuted(&self, cycles: u64) -> bool {
        let predicted = self.candidate.predicted.map_or(0.0, |(predicted, _)| predicted);
        predicted >= NOTHING * cycles as f64 && (self.saved as f64) < predicted / FACTOR
    }
}

/// True if this many cycles of a run are worth reporting.
pub fn helps(saved: i64, cycles: u64) -> bool {
    saved > 0 && saved as f64 >= NOTHING * cycles as f64
}

/// The explanation of a kernel.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// Name of the kernel file or launch file.
    pub name: String,
    /// Its limits.
    pub limits: Limits,
    /// Trials, largest saving first.
    pub trials: Vec<Trial>,
    /// Limits of each launch. Empty if there is only one.
    pub launches: Vec<LaunchLimits>,
    /// The instructions of the kernels that ran.
    pub instructions: Vec<Instruction>,
    /// Counters of all launches together. None if there were no launches.
    pub report: Option<KernelReport>,
    /// The launches that leave cores without a workgroup, in words, if there are.
    pub unfilled: Option<String>,
    /// What each parameter is worth, if that was asked for.
    pub sensitivity: Option<Sensitivity>,
}

impl Explanation {
    /// The place of the first suggestion among the parameters that save cycles when they are halved or doubled, by what each
    /// saves; 1 if none of them saves more. `None` if nothing helped, or if that was not measured.
    pub fn place(&self) -> Option<usize> {
        let cycles = self.limits.cycles;
        let first = self.trials.first().filter(|trial| helps(trial.saved, cycles))?;
        let all = self.sensitivity.as_ref()?.savings();
        // In whole cycles, so that equal savings are equal.
        let saves_more = |saving: &&Saving| (saving.saved * cycles as f64).round() > first.saved as f64;
        Some(1 + all.iter().filter(saves_more).count())
    }

    /// Conspicuous properties, whatever their cost.
    pub fn signs(&self, config: &Config) -> Vec<Sign<'_>> {
        let Some(report) = &self.report else { return Vec::new() };
        signs(config, report, &self.instructions, self.unfilled.as_deref())
    }

    /// The trial with these settings.
    pub fn trial(&self, settings: &[String]) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.candidate.settings == settings)
    }

    /// The trials of changes against a limiter, largest saving first.
    pub fn against(&self, limiter: &Limiter) -> impl Iterator<Item = &Trial> {
        let named = limiter.change.as_ref().map(|change| change.settings.clone());
        self.trials.iter().filter(move |trial| {
            trial.candidate.cause == limiter.cause || named.as_ref() == Some(&trial.candidate.settings)
        })
    }

    /// The trial with the largest saving in a launch, if worth reporting.
    pub(crate) fn best_of_launch(&self, launch: usize) -> Option<&Trial> {
        let saved = |trial: &Trial| trial.by_launch.get(launch).copied().unwrap_or(0);
        // Among equals the first, which saved more in the whole run.
        let best = self.trials.iter().reduce(|a, b| if saved(b) > saved(a) { b } else { a })?;
        helps(saved(best), self.launches[launch].limits.cycles).then_some(best)
    }

    /// Groups of similar launches for which the same change helps most.
    pub fn groups(&self) -> Vec<Group> {
        let best = |n: usize| self.best_of_launch(n).map(|trial| trial.candidate.settings.clone());
        let best: Vec<_> = (0..self.launches.len()).map(best).collect();
        groups(&self.launches, |n| best[n].clone())
    }
}

/// Explains a kernel on a machine. Tries at most `trials` changes, each in its own run.
///
/// # Errors
/// The first run does not complete, or no further runs are wanted.
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
            unfilled: None,
            sensitivity: None,
        });
    };
    report.occupancy = longest.report.occupancy;
    let mut limits = Limits::of(&Observed { config, report: &report, watch: &watch.all });
    let possible = std::mem::take(&mut limits.candidates)
        .into_iter()
        .filter_map(|candidate| Some((config.with(&candidate.settings).ok()?, candidate)));
    let area = |config: &Config| Area::of(config, Prices::built_in()).total_mm2();
    let mut tried = Vec::new();
    for (changed, candidate) in possible.take(trials) {
        let Some(then) = bench.trial(&changed, &candidate.settings)? else { continue };
        let saved = |(now, then): (&Step, &Step)| now.report.cycles as i64 - then.report.cycles as i64;
        let by_launch: Vec<i64> = steps.iter().zip(&then).map(saved).collect();
        let area_mm2 = area(&changed) - area(config);
        tried.push(Trial { candidate, saved: by_launch.iter().sum(), by_launch, area_mm2 });
    }
    // The sort is stable: among equals, the larger prediction stays first.
    tried.sort_by_key(|trial| std::cmp::Reverse(trial.saved));
    let instructions = listing(program, watch.all.profiler.profiles());
    let launches = watch.launches;
    Ok(Explanation {
        name,
        limits,
        trials: tried,
        launches,
        instructions,
        report: Some(report),
        unfilled: unfilled(&steps, config.cores),
        sensitivity: None,
    })
}
