//! The flags of `wave-sim sweep`.

use crate::args::{DataSize, LaunchArgs};
use crate::execute::parallel;
use crate::values;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Kernels and machines of `wave-sim sweep` and `wave-sim optimize`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// What runs at each point: assembly, WBIN, launch files, or names from the suite; or nothing of these, and a program
    /// for CUDA or OpenCL with its arguments after --
    #[arg(value_name = "KERNEL.wave|KERNEL.wbin|LAUNCH.ron")]
    pub inputs: Vec<String>,
    /// The machine: a file, or a preset's name [default: gpu.ron]
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<String>,
    /// A parameter and its values: core.l1.bytes=16KiB,32KiB or cores=8..64*2 or cores=1..9+2; with one value, what
    /// all points have
    #[arg(long, value_name = "KEY=VALUES")]
    pub set: Vec<String>,
    /// A plan (RON): axes, sampling, constraints, kernels, seeds; flags go over what it says
    #[arg(long = "plan", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Only points at which a formula over parameters is not 0, such as 'cores * core.l1.bytes <= 1048576'; may be repeated
    #[arg(long = "where", value_name = "FORMULA")]
    pub constraints: Vec<String>,
    /// Run launch files with each of these seeds of random data: 1..5 or 3,7 [default: the file's]
    #[arg(long, value_name = "SEEDS")]
    pub seeds: Option<String>,
    /// Size of the data of launch files and the suite [default: full]
    #[arg(long, value_enum, value_name = "SIZE")]
    pub size: Option<DataSize>,
    /// Stop a launch after so many cycles; 0 is no bound [default: 0]
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub max_cycles: Option<u64>,
    /// Stop a launch after so many wave instructions; 0 is no bound [default: 0]
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub max_instructions: Option<u64>,
    /// Points that run at the same time; 0 is one for each processor of the host [default: 0]
    #[arg(long, value_name = "N", value_parser = values::integer32)]
    pub jobs: Option<u32>,
    /// Folder of results; what is in it does not run again
    #[arg(long, value_name = "DIR", default_value = "sweep-results")]
    pub store: PathBuf,
    /// How a kernel file is launched.
    #[command(flatten)]
    pub launch: LaunchArgs,
}

impl PlanArgs {
    /// Points that run at the same time.
    pub(crate) fn jobs(&self) -> usize {
        parallel(self.jobs)
    }
}

/// `wave-sim sweep`.
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// What is swept.
    #[command(flatten)]
    pub plan: PlanArgs,
    /// Only so many points, at random
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "latin_hypercube")]
    pub random: Option<u64>,
    /// Only so many points, which cover every axis evenly
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub latin_hypercube: Option<u64>,
    /// Where the choice of points comes from [default: 1]
    #[arg(long, value_name = "S", value_parser = values::integer)]
    pub sample_seed: Option<u64>,
    /// Where the tables go: NAME.csv, NAME.parquet and NAME.html
    #[arg(long, value_name = "NAME", default_value = "sweep")]
    pub out: PathBuf,
    /// List every point that did not run or end, not each reason with the first of its points
    #[arg(long)]
    pub list_all: bool,
    /// Run, however many runs there are
    #[arg(long)]
    pub yes: bool,
    /// What runs the points
    #[arg(long, value_enum, value_name = "BACKEND", default_value = "local")]
    pub backend: Backend,
    /// Address or file of a Dask scheduler, for --backend dask [default: a cluster on this host]
    #[arg(long, value_name = "ADDRESS|FILE")]
    pub scheduler: Option<String>,
    /// Run points that standard input names; what --backend starts.
    #[arg(long, hide = true)]
    pub worker: bool,
}

/// What runs the points of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// Processes on this host.
    Local,
    /// Workers of Dask; needs Python and its package `distributed`.
    Dask,
}
