//! Runs points: what the store has does not run.

use crate::host_memory::{self, Copies};
use crate::interrupt;
use crate::sweep::PlanArgs;
use crate::sweep::cases::{Case, Kernels, Loaded, Sweep};
use crate::sweep::simulate;
use indicatif::ProgressBar;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_machine::gpu::RunOptions;
use wave_observe::energy::{Area, Prices};
use wave_study::optimize::{Goal, Score, Tried};
use wave_study::results::Measured;
use wave_study::sweep::{Found, Point, Store};

/// What a run holds beside its machine: device memory as it began, for other machines.
const IMAGE: Copies = Copies { images: 1, states: 0 };

/// What became of a point.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// It ran.
    Ran(Tried),
    /// It did not run: it is too large, or, without a score, no machine of the plan.
    PassedOver(Option<Score>),
}

/// Runs points of a plan.
pub(super) struct Bench<'a> {
    pub sweep: Sweep,
    pub args: &'a PlanArgs,
    pub goal: &'a Goal,
    pub store: Store,
    kernels: Kernels,
    options: RunOptions,
    /// What is known of points, by the numbers of their values.
    known: HashMap<Vec<u64>, Outcome>,
}

/// A run to make.
struct Job {
    key: String,
    kernel: Arc<Loaded>,
    config: Arc<Config>,
}

/// The values and runs of a point; or, if it is not to run, its score.
type Prepared = Result<(Vec<String>, Vec<Job>), Option<Score>>;

impl<'a> Bench<'a> {
    pub(super) fn new(sweep: Sweep, args: &'a PlanArgs, goal: &'a Goal, store: Store) -> Bench<'a> {
        Bench {
            options: simulate::options(sweep.bounds),
            sweep,
            args,
            goal,
            store,
            kernels: Kernels::default(),
            known: HashMap::new(),
        }
    }

    /// Warnings about the kernels on the machine without axes.
    ///
    /// # Errors
    /// What is wrong with them.
    pub(super) fn check(&mut self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        self.kernels.check(&self.sweep, self.args)
    }

    /// Runs the machine as it is.
    ///
    /// # Errors
    /// The user wants no more, or a result cannot be stored.
    pub(super) fn base(&mut self, bar: &ProgressBar) -> Result<Option<Tried>, Diagnostic> {
        self.sweep.points = vec![Point { values: Vec::new() }];
        let config = Arc::new(self.sweep.base.clone());
        let Ok(jobs) = self.jobs(0, &config) else { return Ok(None) };
        let runs = self.run(jobs, bar)?;
        Ok(Some(Tried { values: Vec::new(), score: self.goal.score(&runs), runs }))
    }

    /// Runs points, as many at a time as the user wants; those that are known do not run again.
    ///
    /// # Errors
    /// The user wants no more, a constraint has no value, or a result cannot be stored.
    pub(super) fn points(
        &mut self,
        points: &[Vec<u64>],
        bar: &ProgressBar,
    ) -> Result<Vec<Outcome>, Diagnostic> {
        let mut jobs: Vec<Job> = Vec::new();
        // Of each new point its values, and the places of its runs among the jobs.
        let mut new: Vec<(Vec<u64>, Vec<String>, std::ops::Range<usize>)> = Vec::new();
        for indices in points {
            if self.known.contains_key(indices) || new.iter().any(|(other, ..)| other == indices) {
                continue;
            }
            match self.prepare(indices)? {
                Ok((values, of_point)) => {
                    let start = jobs.len();
                    jobs.extend(of_point);
                    new.push((indices.clone(), values, start..jobs.len()));
                }
                Err(score) => drop(self.known.insert(indices.clone(), Outcome::PassedOver(score))),
            }
        }
        let runs = self.run(jobs, bar)?;
        for (indices, values, places) in new {
            let runs = runs[places].to_vec();
            let tried = Tried { values, score: self.goal.score(&runs), runs };
            self.known.insert(indices, Outcome::Ran(tried));
        }
        Ok(points.iter().map(|indices| self.known[indices].clone()).collect())
    }

    fn prepare(&mut self, indices: &[u64]) -> Result<Prepared, Diagnostic> {
        let Some(point) = self.sweep.plan.point(indices)? else { return Ok(Err(None)) };
        let values = point.values.clone();
        self.sweep.points = vec![point];
        let Ok(config) = self.sweep.machine(0) else { return Ok(Err(None)) };
        let excess = self.goal.excess_of_area(Area::of(&config, Prices::built_in()).total_mm2());
        if excess > 0.0 {
            return Ok(Err(Some(Score { value: None, excess })));
        }
        let jobs = self.jobs(0, &Arc::new(config));
        Ok(jobs.map(|jobs| (values, jobs)).map_err(|_| None))
    }

    /// The runs of the only point.
    fn jobs(&mut self, point: usize, config: &Arc<Config>) -> Result<Vec<Job>, String> {
        let mut jobs = Vec::new();
        for kernel in 0..self.sweep.workloads.len() {
            for &seed in &self.sweep.plan.seeds {
                let case = Case { point, kernel, seed };
                let key = self.kernels.key(&self.sweep, self.args, case, config)?;
                let kernel = self.kernels.load(&self.sweep, self.args, case, config)?;
                jobs.push(Job { key, kernel, config: config.clone() });
            }
        }
        Ok(jobs)
    }

    fn run(&self, jobs: Vec<Job>, bar: &ProgressBar) -> Result<Vec<Measured>, Diagnostic> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<Option<Result<Measured, Diagnostic>>>> = Mutex::new(vec![None; jobs.len()]);
        let work = || {
            while let Some((place, job)) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|place| Some((place, jobs.get(place)?)))
            {
                let result = self.one(job);
                bar.tick();
                results.lock().unwrap_or_else(PoisonError::into_inner)[place] = Some(result);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.args.jobs().min(jobs.len()) {
                scope.spawn(work);
            }
            work();
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_iter().flatten().collect()
    }

    fn one(&self, job: &Job) -> Result<Measured, Diagnostic> {
        if let Found::Result(measured) = self.store.get(&job.key) {
            return Ok(*measured);
        }
        if interrupt::is_asked() {
            return Err(Diagnostic::error("interrupted"));
        }
        host_memory::check(&job.config, job.config.device_memory_bytes, IMAGE)?;
        let measured = simulate::run(&job.kernel, &job.config, &self.options)?;
        self.store.put(&job.key, &measured)?;
        Ok(measured)
    }
}
