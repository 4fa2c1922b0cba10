//! What limits a kernel, and whether what should help does: the change that is suggested against each of its
//! [`limits`](crate::limits) is really made, and the kernel run again.

pub mod report;

use crate::config::Config;
use crate::gpu::KernelReport;
use crate::limits::account::Observed;
use crate::limits::listing::{Instruction, listing};
use crate::limits::signs::{Sign, signs};
use crate::limits::watch::Watch;
use crate::limits::{Limiter, Limits};
use crate::observe::Step;
use crate::observe::figures::sum;
use crate::program::Program;

/// What runs the kernel that is to be explained.
pub trait Bench {
    /// Why a run did not end well.
    type Error;

    /// Runs every launch of the kernel, each time from the same memory.
    ///
    /// # Errors
    /// If it did not come to its end.
    fn run(&mut self, config: &Config, watch: Option<&mut Watch<'_>>) -> Result<Vec<Step>, Self::Error>;
}

/// A kernel and what limits it.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// Name of the kernel file or launch file.
    pub name: String,
    /// What limits it.
    pub limits: Limits,
    /// Cycles that the change against each limiter saved when it was made; none where there is none or it was not made.
    pub measured: Vec<Option<i64>>,
    /// The instructions of the kernels that ran.
    pub instructions: Vec<Instruction>,
    /// The launches added up, if there are any.
    pub report: Option<KernelReport>,
}

impl Explanation {
    /// Limiters, each with what its change saved.
    pub fn limiters(&self) -> impl Iterator<Item = (&Limiter, Option<i64>)> {
        self.limits.limiters.iter().zip(self.measured.iter().copied())
    }

    /// What stands out, whatever it costs.
    pub fn signs(&self, config: &Config) -> Vec<Sign<'_>> {
        self.report.as_ref().map_or(Vec::new(), |report| signs(config, report, &self.instructions))
    }
}

/// Explains a kernel of a program on a machine. With `check`, every change is made and the kernel run again.
///
/// # Errors
/// If the first run does not come to its end.
pub fn explain<B: Bench>(
    name: &str,
    config: &Config,
    program: &Program,
    check: bool,
    bench: &mut B,
) -> Result<Explanation, B::Error> {
    let mut watch = Watch::new(config, program);
    let steps = bench.run(config, Some(&mut watch))?;
    let name = name.to_owned();
    let longest = steps.iter().max_by_key(|step| step.report.cycles);
    let Some((mut report, longest)) = sum(&steps).zip(longest) else {
        let limits = Limits { cycles: 0, idle: 0.0, limiters: Vec::new(), device: Vec::new() };
        return Ok(Explanation {
            name,
            limits,
            measured: Vec::new(),
            instructions: Vec::new(),
            report: None,
        });
    };
    report.occupancy = longest.report.occupancy;
    let limits = Limits::of(&Observed { config, report: &report, watch: &watch });
    let mut saved = |limiter: &Limiter| {
        let settings = &limiter.change.as_ref().filter(|_| check)?.settings;
        let steps = bench.run(&config.with(settings).ok()?, None).ok()?;
        let cycles: u64 = steps.iter().map(|step| step.report.cycles).sum();
        Some(report.cycles as i64 - cycles as i64)
    };
    let measured = limits.limiters.iter().map(&mut saved).collect();
    let instructions = listing(program, watch.profiler.profiles());
    Ok(Explanation { name, limits, measured, instructions, report: Some(report) })
}
