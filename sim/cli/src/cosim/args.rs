//! The flags of `wave-sim cosim`.

use super::super::args::{LaunchArgs, SetArgs};
use super::super::values;
use clap::{Args, ValueEnum};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

/// `wave-sim cosim`.
#[derive(Debug, Args)]
pub(crate) struct CosimArgs {
    /// What to run on both sides: assembly, WBIN, launch files, or names from the suite
    #[arg(value_name = "KERNEL.wave|KERNEL.wbin|LAUNCH.ron")]
    pub kernels: Vec<String>,
    /// The machine: a file, or a preset's name
    #[arg(long, value_name = "CONFIG", default_value = "rtl.ron")]
    pub config: String,
    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,
    /// The variant of the core with 4 wave slots, for quick runs
    #[arg(long)]
    pub small: bool,
    /// So many random programs as well
    #[arg(long, value_name = "N", default_value = "0")]
    pub random: u64,
    /// Short ones, of few instructions and threads: many of them meet more in a second than few long ones
    #[arg(long, requires = "random")]
    pub short: bool,
    /// Follow what the programs before have met in the RTL: most are one of them with a few changes. They are short
    #[arg(long, requires = "random", conflicts_with_all = ["core", "latency", "line_coverage"])]
    pub guided: bool,
    /// Folder of programs: those to run, or with --guided to begin with; the few that meet what all have met replace them
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// At most so many programs in the corpus: those that add most [default: as many as meet all]
    #[arg(long, value_name = "N", requires_all = ["corpus", "guided"])]
    pub keep: Option<NonZeroUsize>,
    /// Where all that is random comes from; the first random program
    #[arg(long, value_name = "S", default_value = "1", value_parser = values::integer)]
    pub seed: u64,
    /// A stimulus file, such as that of a failure bundle
    #[arg(long, value_name = "FILE")]
    pub stimulus: Option<PathBuf>,
    /// What has to agree
    #[arg(long, value_enum, value_name = "MODE", default_value = "cycle")]
    pub mode: CosimMode,
    /// Bounds of the latencies of the memory side, cycles [default: 2,12; of a random program by its seed]
    #[arg(long, value_name = "FROM,TO", value_parser = bounds)]
    pub latency: Option<(u32, u32)>,
    /// Random programs that run at a time [default: processors of the host]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Folder for the first program that differs: shrunk, with traces of both sides
    #[arg(long, value_name = "DIR", default_value = "cosim-failure")]
    pub bundle: PathBuf,
    /// Write no such folder
    #[arg(long)]
    pub no_bundle: bool,
    /// Count what instructions met, and print a table
    #[arg(long)]
    pub coverage: bool,
    /// Count which lines of the SystemVerilog were executed, and print those that were not
    #[arg(long, conflicts_with_all = ["core", "bug"])]
    pub line_coverage: bool,
    /// Count what happens in the RTL, such as full queues and pairs of events in one cycle, and print a table
    #[arg(long, conflicts_with_all = ["core", "line_coverage"])]
    pub events: bool,
    /// Print how fast the two sides are, instead of comparing them
    #[arg(long, conflicts_with_all = ["random", "coverage", "line_coverage", "events", "corpus", "stimulus"])]
    pub speed: bool,
    /// Give up after so many cycles of a launch [default: twice those of the simulator, 100 times in architectural mode, and 20000]
    #[arg(long, value_name = "N")]
    pub max_cycles: Option<u32>,
    /// Give up if the other side says nothing for so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    pub timeout: NonZeroU32,
    /// Another core: an executable as rtl-tests/README.md describes it [default: the repository's, built on first use]
    #[arg(long, value_name = "EXECUTABLE")]
    pub core: Option<PathBuf>,
    /// Plant this bug in the repository's core, to see what a difference looks like
    #[arg(long, value_name = "N", conflicts_with = "core")]
    pub bug: Option<u32>,
    /// Where executables are built [default: target/rtl of the source tree]
    #[arg(long, value_name = "DIR")]
    pub build_dir: Option<PathBuf>,
    /// How a kernel file is launched.
    #[command(flatten)]
    pub launch: LaunchArgs,
}

/// What a co-simulation compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CosimMode {
    /// Every step of every instruction, in its cycle.
    Cycle,
    /// What instructions do, whenever they do it.
    Architectural,
}

fn bounds(text: &str) -> Result<(u32, u32), String> {
    let numbers =
        text.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    numbers.ok_or_else(|| "two numbers with a comma, such as 2,12".to_owned())
}
