//! Measures kernels with their data: warm-up, repeats, results.

use crate::session::{Failure, LaunchTime, Session};
use crate::spread::Spread;
use serde::{Deserialize, Serialize};
use wave_isa::program::{Launch, Program};

/// Programs of the suites that load and store at addresses which are no multiple of the size.
pub const UNALIGNED: &[&str] = &["c/spmv", "c/bfs", "c/lz4", "c/mlp"];

/// What is run.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The kernels.
    pub program: &'a Program,
    /// Device memory at the start.
    pub memory: &'a [u8],
    /// Launches, in order. Each starts when the one before has ended.
    pub steps: &'a [Launch],
}

/// How often it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    /// Runs that are not measured: they bring up the clock, and code into its caches.
    pub warm_up: u32,
    /// Runs that are measured.
    pub measured: u32,
}

impl Default for Repeats {
    fn default() -> Repeats {
        Repeats { warm_up: 2, measured: 9 }
    }
}

/// What the runs of a job have measured. Each value is the sum over the launches of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Launches of a run.
    pub launches: u64,
    /// Cycles of the multiprocessors.
    pub cycles: Spread,
    /// Nanoseconds of the GPU's clock.
    pub nanoseconds: Spread,
    /// Nanoseconds seen from the host, with what it takes to launch.
    pub host_nanoseconds: Spread,
    /// Clock of the multiprocessors while they ran, MHz; `None` where the GPU's clock is too coarse to say.
    pub clock_mhz: Option<f64>,
    /// Most multiprocessors that had a workgroup.
    pub multiprocessors: u64,
}

/// Nanoseconds that a clock needs to be read from a run: the GPU's clock goes in steps of up to a microsecond.
const LONG_ENOUGH: f64 = 20_000.0;

impl Times {
    /// The sums over the launches of each run.
    pub(crate) fn of(runs: &[Vec<LaunchTime>]) -> Option<Times> {
        let sums = |of: &dyn Fn(&LaunchTime) -> f64| {
            let sums: Vec<f64> = runs.iter().map(|run| run.iter().map(of).sum()).collect();
            Spread::of(&sums)
        };
        let all = || runs.iter().flatten();
        let cycles: f64 = all().map(|time| time.clock[0]).sum();
        let nanoseconds: f64 = all().map(|time| time.clock[1]).sum();
        Some(Times {
            launches: runs.first()?.len() as u64,
            cycles: sums(&|time| time.cycles)?,
            nanoseconds: sums(&|time| time.nanoseconds)?,
            host_nanoseconds: sums(&|time| time.host_nanoseconds)?,
            clock_mhz: (nanoseconds >= LONG_ENOUGH).then(|| 1e3 * cycles / nanoseconds),
            multiprocessors: all().map(|time| time.multiprocessors).max().unwrap_or(0).into(),
        })
    }
}

/// Runs a job once. Gives the times of its launches.
///
/// # Errors
/// A launch is refused, faults, or does not end.
pub fn run(session: &mut Session<'_>, job: &Job<'_>) -> Result<Vec<LaunchTime>, Failure> {
    session.begin(job.memory)?;
    let bytes = job.memory.len() as u64;
    job.steps.iter().map(|launch| session.launch(job.program, launch, bytes)).collect()
}

/// Runs a job as often as is asked. `inspect` gets device memory after the first and after the last run.
///
/// # Errors
/// A launch has no equivalent, is refused, faults, or does not end.
pub fn measure(
    session: &mut Session<'_>,
    job: &Job<'_>,
    repeats: Repeats,
    inspect: &mut dyn FnMut(&[u8]),
) -> Result<Times, Failure> {
    session.load(job.program, job.steps)?;
    let mut runs = Vec::new();
    let all = repeats.warm_up + repeats.measured.max(1);
    for number in 0..all {
        let times = run(session, job)?;
        if number == 0 || number == all - 1 {
            inspect(&session.memory(job.memory.len())?);
        }
        if number >= repeats.warm_up {
            runs.push(times);
        }
    }
    Ok(Times::of(&runs).expect("at least one run is measured"))
}
