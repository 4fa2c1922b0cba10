//! The flags of `wave-sim silicon`.

use super::super::args::{
    BoundArgs, DEFAULT_CONFIG, DataSize, Format, LaunchArgs, MachineArgs, SetArgs, SuiteName, TableFormat,
};
use super::super::values;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use wave_silicon::micro::Topic;

/// `wave-sim silicon`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SiliconArgs {
    /// What else it does.
    #[command(subcommand)]
    pub command: Option<SiliconCommand>,
    /// What is run.
    #[command(flatten)]
    pub run: SiliconRunArgs,
}

/// What `wave-sim silicon` does beside runs.
#[derive(Debug, Subcommand)]
pub(crate) enum SiliconCommand {
    /// Measure units, latencies, bandwidths, patterns, atomics and control with small kernels
    Measure(SiliconMeasureArgs),
    /// Propose parameters of a machine from what was measured on the GPU
    Fit(SiliconFitArgs),
    /// Hold the cycles of the simulator against those of the GPU
    Correlate(SiliconCorrelateArgs),
    /// Say which GPU there is
    Info {
        /// The GPU.
        #[command(flatten)]
        gpu: GpuArgs,
    },
}

/// Which GPU, and how it is measured.
#[derive(Debug, Args)]
#[command(next_help_heading = "GPU")]
pub(crate) struct GpuArgs {
    /// Number of the GPU, as its driver counts
    #[arg(long, value_name = "N", default_value = "0")]
    pub gpu: u32,
    /// No GPU: an interpreter runs the PTX, and the clock is that of this machine on the simulator
    #[arg(long, value_name = "CONFIG", conflicts_with = "gpu")]
    pub rehearse: Option<String>,
    /// Runs that are measured
    #[arg(long, value_name = "N", default_value = "9", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeats: u32,
    /// Runs before those
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub warm_up: u32,
    /// Seconds after which a launch is given up
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = values::seconds)]
    pub timeout: f64,
    /// Leave in the L2 what the run before has left there; else nothing of the data is in it, as on the simulator
    #[arg(long)]
    pub warm: bool,
}

/// How kernels are translated for the GPU.
#[derive(Debug, Args)]
#[command(next_help_heading = "Translation")]
pub(crate) struct TranslationArgs {
    /// Allow accesses at addresses that are no multiple of their size: longer code
    #[arg(long)]
    pub unaligned: bool,
    /// Check every access, atomic and barrier: a fault says where it is
    #[arg(long)]
    pub check_bounds: bool,
    /// How sine, cosine, exponential and logarithm are computed
    #[arg(long, value_enum, value_name = "HOW", default_value = "exact")]
    pub special: super::super::args::PtxSpecial,
}

/// What `wave-sim silicon` runs.
#[derive(Debug, Args)]
pub(crate) struct SiliconRunArgs {
    /// What to run: kernel files, launch files, or names from the suite [default: the whole suite]
    #[arg(value_name = "KERNEL|LAUNCH.ron")]
    pub inputs: Vec<String>,
    /// Which suites to run, separated by commas [default: wave, in assembly]
    #[arg(long, value_enum, value_name = "SUITE", conflicts_with = "inputs", value_delimiter = ',')]
    pub suite: Vec<SuiteName>,
    /// The GPU.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// The translation.
    #[command(flatten)]
    pub translation: TranslationArgs,
    /// Store what was measured, for `compare`, `silicon fit` and `silicon correlate`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: Format,
    /// Device memory of a kernel
    #[arg(long, value_name = "BYTES", value_parser = values::size, default_value = "64MiB")]
    pub device_memory: u64,
    /// Seed of random data, in place of the launch file's
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub seed: Option<u64>,
    /// Size of the data of launch files and the suite
    #[arg(long, value_enum, value_name = "SIZE", default_value = "full")]
    pub size: DataSize,
    /// How a kernel file is launched.
    #[command(flatten)]
    pub launch: LaunchArgs,
}

/// A topic of microbenchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SiliconTopic {
    /// Execution units: from an instruction to the next that needs it, and instructions a cycle
    Units,
    /// Latency of local memory, L1, L2, memory
    Latency,
    /// Bandwidth of L1, L2, memory
    Bandwidth,
    /// Bank conflicts and lines
    Patterns,
    /// Atomics
    Atomics,
    /// Loops, barriers, workgroups
    Control,
}

impl SiliconTopic {
    /// As the microbenchmarks know it.
    pub(crate) fn topic(self) -> Topic {
        match self {
            SiliconTopic::Units => Topic::Units,
            SiliconTopic::Latency => Topic::Latency,
            SiliconTopic::Bandwidth => Topic::Bandwidth,
            SiliconTopic::Patterns => Topic::Patterns,
            SiliconTopic::Atomics => Topic::Atomics,
            SiliconTopic::Control => Topic::Control,
        }
    }
}

/// `wave-sim silicon measure`.
#[derive(Debug, Args)]
pub(crate) struct SiliconMeasureArgs {
    /// What to measure [default: everything]
    #[arg(value_enum, value_name = "TOPIC")]
    pub topics: Vec<SiliconTopic>,
    /// The GPU.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// Also run the kernels on the simulator of this machine
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<String>,
    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,
    /// Store what was measured, for `silicon fit`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: Format,
}

/// `wave-sim silicon fit`.
#[derive(Debug, Args)]
pub(crate) struct SiliconFitArgs {
    /// The machine to begin with: a file, or a preset's name
    #[arg(long, value_name = "CONFIG")]
    pub base: String,
    /// What was measured, stored with --save [default: measure now]
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Where the fitted configuration goes [default: none is written]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The GPU.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: Format,
}

/// `wave-sim silicon correlate`.
#[derive(Debug, Args)]
pub(crate) struct SiliconCorrelateArgs {
    /// What to run: launch files, or names from the suite [default: what was measured, or all suites]
    #[arg(value_name = "KERNEL|LAUNCH.ron")]
    pub inputs: Vec<String>,
    /// Which suites, separated by commas [default: all]
    #[arg(long, value_enum, value_name = "SUITE", conflicts_with = "inputs", value_delimiter = ',')]
    pub suite: Vec<SuiteName>,
    /// Which sizes, separated by commas [default: small and full]
    #[arg(long, value_enum, value_name = "SIZE", value_delimiter = ',')]
    pub sizes: Vec<DataSize>,
    /// The simulated machine: a file, or a preset's name
    #[arg(long, value_name = "CONFIG", default_value = DEFAULT_CONFIG)]
    pub config: String,
    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,
    /// What was measured, stored with --save [default: measure now]
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Measure nothing, and leave that column open
    #[arg(long, conflicts_with = "from")]
    pub open: bool,
    /// Folder for what was measured (measured.json), the table (correlation.md, correlation.json) and the plot
    /// (correlation.svg)
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// The GPU.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// Threads of the simulator; 0 is one for each processor of the host
    #[arg(long, value_name = "N", value_parser = values::integer32, default_value = "0")]
    pub threads: u32,
    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: TableFormat,
}

/// Flags of the machine that a correlation does not have.
pub(crate) fn machine_args(size: DataSize, threads: u32) -> MachineArgs {
    let bounds = BoundArgs { threads: Some(threads), ..BoundArgs::default() };
    MachineArgs { bounds, seed: None, size }
}
