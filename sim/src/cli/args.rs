//! The command line as clap sees it.

use super::cosim::CosimArgs;
use super::dumps::Dumps;
use super::traces::{WaveRange, trigger, wave_range};
use super::values::{self, Dimensions, Fill, MemoryFile, RegisterValue, Save};
use crate::trace::When;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Configuration where none is named.
pub const DEFAULT_CONFIG: &str = "gpu.ron";

/// Cycle-level simulator of GPUs that run the WAVE v0.4 instruction set.
///
/// With a configuration alone, wave-sim runs its kernel suite on that machine, verifies every result and prints
/// a table. With kernels or launch files, it runs those.
#[derive(Debug, Parser)]
#[command(
    name = "wave-sim",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 100,
    after_help = AFTER_HELP,
)]
pub struct Cli {
    /// What to do, if not to run something.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to run, and how.
    #[command(flatten)]
    pub run: RunArgs,
}

/// What `--help` ends with.
pub const AFTER_HELP: &str = "\
Examples:
  wave-sim --config gpu.ron                    run the suite on the default machine
  wave-sim --config t4.ron sgemm               run one kernel of the suite on another
  wave-sim k.wave --grid 4,1,1 --dump-f32 0:8  run your own and look at what it wrote
  wave-sim config list                         what machines there are

Exit codes: 0 all is well · 1 a wrong result or a race · 2 wrong input · 3 a fault, a standstill or a limit";

/// The flags of a run.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The machine: a file, or a preset's name [default: gpu.ron]
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<String>,

    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,

    /// What to run: assembly, WBIN, launch files, or names from the suite [default: the whole suite]
    #[arg(value_name = "KERNEL.wave|KERNEL.wbin|LAUNCH.ron")]
    pub inputs: Vec<String>,

    /// How a kernel file is launched.
    #[command(flatten)]
    pub launch: LaunchArgs,

    /// What is done with the results.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Files that show the run cycle by cycle.
    #[command(flatten)]
    pub traces: TraceArgs,

    /// How the simulation goes.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// What differs from the configuration.
#[derive(Debug, Args)]
pub struct SetArgs {
    /// A parameter in place of the configuration's, such as core.l1.mshrs=64; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// How a kernel file is launched. A launch file states these itself.
#[derive(Debug, Args)]
#[command(next_help_heading = "Launch of a kernel file")]
pub struct LaunchArgs {
    /// Workgroups [default: 1,1,1]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::dimensions)]
    pub grid: Option<Dimensions>,

    /// Threads of a workgroup [default: the kernel's .workgroup_size, else 32,1,1]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::dimensions)]
    pub workgroup: Option<Dimensions>,

    /// Registers of a lane [default: the kernel's .registers]
    #[arg(long, value_name = "N", value_parser = values::integer32)]
    pub registers: Option<u32>,

    /// Local memory of a workgroup [default: the kernel's .local_memory]
    #[arg(long, value_name = "BYTES", value_parser = values::integer32)]
    pub local_memory: Option<u32>,

    /// Load a file into device memory
    #[arg(long, value_name = "OFFSET:FILE", value_parser = values::memory_file)]
    pub arg: Vec<MemoryFile>,

    /// Start value of a register in every lane; an integer, or a float for the bits of an f32
    #[arg(long, value_name = "REG:VALUE", value_parser = values::register_value)]
    pub set_reg: Vec<RegisterValue>,

    /// Fill device memory with 0, SCALE, 2 × SCALE, …
    #[arg(long, value_name = "OFFSET:TYPE:COUNT:SCALE", value_parser = values::fill_iota)]
    pub fill_iota: Vec<Fill>,

    /// Fill device memory with zeros
    #[arg(long, value_name = "OFFSET:TYPE:COUNT", value_parser = values::fill_zero)]
    pub fill_zero: Vec<Fill>,

    /// Which kernel of a file with several
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
}

impl LaunchArgs {
    /// The flags that were given, by name.
    pub fn given(&self) -> Vec<&'static str> {
        [
            ("--grid", self.grid.is_some()),
            ("--workgroup", self.workgroup.is_some()),
            ("--registers", self.registers.is_some()),
            ("--local-memory", self.local_memory.is_some()),
            ("--arg", !self.arg.is_empty()),
            ("--set-reg", !self.set_reg.is_empty()),
            ("--fill-iota", !self.fill_iota.is_empty()),
            ("--fill-zero", !self.fill_zero.is_empty()),
            ("--kernel", self.kernel.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, given)| given.then_some(name))
        .collect()
    }
}

/// What is done with the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub struct OutputArgs {
    /// Dumps of device memory, in the order of the command line.
    #[command(flatten)]
    pub dumps: Dumps,

    /// Write bytes of device memory to a file, after the run
    #[arg(long, value_name = "OFFSET:BYTES:FILE", value_parser = values::save)]
    pub save: Vec<Save>,

    /// Print every statistic
    #[arg(long)]
    pub stats: bool,

    /// Print each instruction as it issues, on standard error
    #[arg(long)]
    pub trace: bool,

    /// Look for data races: accesses that nothing orders; exit code 1 if there are any
    #[arg(long)]
    pub check_races: bool,

    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: Format,
}

/// Files that show the run cycle by cycle.
#[derive(Debug, Args)]
#[command(next_help_heading = "Traces")]
pub struct TraceArgs {
    /// Write the retirement trace, in its binary form, or as text to a name that ends in .txt
    #[arg(long, value_name = "FILE")]
    pub wvfi: Option<PathBuf>,

    /// Write a pipeline log for Konata
    #[arg(long, value_name = "FILE")]
    pub kanata: Option<PathBuf>,

    /// Write a trace for Perfetto, in JSON
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,

    /// Write a waveform as VCD
    #[arg(long, value_name = "FILE")]
    pub vcd: Option<PathBuf>,

    /// Write a waveform as FST
    #[arg(long, value_name = "FILE")]
    pub fst: Option<PathBuf>,

    /// Write a report on where the time went, as an HTML page that needs nothing beside itself
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Leave out of trace files what retires before this cycle
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub from_cycle: Option<u64>,

    /// Leave out of trace files what retires in this cycle or later
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub to_cycle: Option<u64>,

    /// Only these waves in trace files: workgroups by their number in the grid, and waves of them, as 3, 0-7 or 0-7:1
    #[arg(long, value_name = "GROUPS[:WAVES]", value_parser = wave_range, value_delimiter = ',')]
    pub waves: Vec<WaveRange>,

    /// Only what retires around the first time that this happens: pc=0x40, fault, or stall>100 for an instruction that
    /// waits longer
    #[arg(long, value_name = "EVENT", value_parser = trigger)]
    pub trigger: Option<When>,

    /// Cycles before the trigger that are kept [default: 1000]
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub trigger_before: Option<u64>,

    /// Cycles after the trigger that are kept [default: 1000]
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub trigger_after: Option<u64>,
}

/// What changes the machine, or bounds the run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Machine and bounds")]
pub struct MachineArgs {
    /// Device memory, in place of the configuration's
    #[arg(long, value_name = "BYTES", value_parser = values::integer)]
    pub device_memory: Option<u64>,

    /// Lanes of a wave, in place of the configuration's
    #[arg(long, value_name = "N", value_parser = values::integer32)]
    pub wave_width: Option<u32>,

    /// Stop a launch after so many wave instructions; 0 is no bound [default: 0]
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub max_instructions: Option<u64>,

    /// Stop a launch after so many cycles; 0 is no bound [default: 0]
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub max_cycles: Option<u64>,

    /// Simulate with so many threads; the result is the same [default: one for each processor of the host]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,

    /// Seed of random data, in place of the launch file's
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub seed: Option<u64>,

    /// Size of the data of launch files and the suite
    #[arg(long, value_enum, value_name = "SIZE", default_value = "full")]
    pub size: DataSize,
}

/// Form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading.
    Text,
    /// For programs; docs/command-line.md describes it.
    Json,
}

/// Size of the data of launch files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DataSize {
    /// Fills a mid-size machine.
    Full,
    /// For a quick look.
    Small,
}

/// What else wave-sim does.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Assemble a kernel file into a WBIN container
    Asm {
        /// Assembly file
        input: PathBuf,
        /// Where the container goes [default: the input with .wbin]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Disassemble a WBIN container (or a kernel file) into assembly
    Dis {
        /// WBIN container
        input: PathBuf,
        /// Where the text goes [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Check kernels without running them
    Check(CheckArgs),
    /// Run litmus tests, and hold their outcomes against the memory model
    Litmus(LitmusArgs),
    /// Run kernels on the simulator and on the core in SystemVerilog, and compare them cycle by cycle
    Cosim(CosimArgs),
    /// Look at configurations
    Config {
        /// What to show
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Say what limits a kernel, what should help, and whether it does
    Explain(ExplainArgs),
    /// Measure the memory hierarchy with kernels, beside what the configuration says
    Measure(MeasureArgs),
    /// Look at retirement traces, and compare them
    Trace {
        /// What to do
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// List the statistics that a run reports: name, unit, meaning
    Stats {
        /// Form of the list
        #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
        format: Format,
    },
    /// Write a completion script for a shell
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}

/// `wave-sim check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Assembly or WBIN files
    #[arg(required = true)]
    pub inputs: Vec<PathBuf>,
    /// The machine: a file, or a preset's name
    #[arg(long, default_value = DEFAULT_CONFIG)]
    pub config: String,
    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,
    /// Which kernel of the file [default: all of them]
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Print the control-flow graph instead, in the language of Graphviz
    #[arg(long)]
    pub dot: bool,
}

/// `wave-sim litmus`.
#[derive(Debug, Args)]
pub struct LitmusArgs {
    /// Names of tests, or litmus files [default: all tests]
    #[arg(value_name = "NAME|FILE.litmus")]
    pub tests: Vec<String>,
    /// The machine: a file, or a preset's name
    #[arg(long, value_name = "CONFIG", default_value = DEFAULT_CONFIG)]
    pub config: String,
    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,
    /// Only the variants that have all these words, such as `apart,fenced,device` or `A+B|C`
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// How often each variant runs
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub runs: u32,
    /// Where all that is random comes from
    #[arg(long, value_name = "S", default_value = "1", value_parser = values::integer)]
    pub seed: u64,
    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: LitmusFormat,
}

/// Form of a report on litmus tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LitmusFormat {
    /// A line for each test; of tests that are named, a line for each outcome of each variant.
    Text,
    /// For programs; docs/litmus.md describes it.
    Json,
    /// The table in docs/litmus.md.
    Markdown,
}

/// `wave-sim explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The machine: a file, or a preset's name [default: gpu.ron]
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<String>,
    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,
    /// What to explain: assembly, WBIN, launch files, or names from the suite [default: the whole suite]
    #[arg(value_name = "KERNEL.wave|KERNEL.wbin|LAUNCH.ron")]
    pub inputs: Vec<String>,
    /// Only predict what a change saves; do not make it and run again
    #[arg(long)]
    pub no_check: bool,
    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: TableFormat,
    /// How a kernel file is launched.
    #[command(flatten)]
    pub launch: LaunchArgs,
    /// How the simulation goes.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Form of a report that the book has as a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// For reading.
    Text,
    /// For programs.
    Json,
    /// The table in the book.
    Markdown,
}

/// `wave-sim trace …`.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Find where two traces part; exit code 1 if they do
    Diff {
        /// The one trace
        a: PathBuf,
        /// The other
        b: PathBuf,
        /// What is compared
        #[arg(long, value_enum, value_name = "MODE", default_value = "cycle")]
        mode: DiffMode,
    },
    /// Print the records of a trace, a line each
    Show {
        /// Trace
        input: PathBuf,
        /// Leave out what retires before this cycle
        #[arg(long, value_name = "N", value_parser = values::integer)]
        from_cycle: Option<u64>,
        /// Leave out what retires in this cycle or later
        #[arg(long, value_name = "N", value_parser = values::integer)]
        to_cycle: Option<u64>,
        /// Only these waves, as for a run
        #[arg(long, value_name = "GROUPS[:WAVES]", value_parser = wave_range, value_delimiter = ',')]
        waves: Vec<WaveRange>,
    },
    /// Sum up a trace: waves, time in each stage, stalls
    Stats {
        /// Trace
        input: PathBuf,
    },
    /// Turn the binary form into text, or text into binary
    Convert {
        /// Trace
        input: PathBuf,
        /// Where it goes: as text if the name ends in .txt, else in binary form
        output: PathBuf,
    },
}

/// What `wave-sim trace diff` compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffMode {
    /// What instructions do, and in which cycle each stage does it.
    Cycle,
    /// Only what they do.
    Arch,
}

/// `wave-sim measure`.
#[derive(Debug, Args)]
pub struct MeasureArgs {
    /// What to measure [default: all of it]
    #[arg(value_enum, value_name = "TOPIC")]
    pub topics: Vec<MeasureTopic>,
    /// The machine: a file, or a preset's name
    #[arg(long, value_name = "CONFIG", default_value = DEFAULT_CONFIG)]
    pub config: String,
    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,
    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: Format,
    /// Write plots of each topic into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
}

/// What `wave-sim measure` measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MeasureTopic {
    /// Load-to-use latency against footprint.
    Latency,
    /// Streaming bandwidth of each level.
    Bandwidth,
    /// Throughput of atomics in each scope.
    Atomics,
    /// Row hits and bandwidth of memory under several patterns and both policies.
    Dram,
}

/// `wave-sim config …`.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// List the presets
    List,
    /// Print a configuration with every parameter resolved and explained
    Show {
        /// File or preset
        #[arg(default_value = DEFAULT_CONFIG)]
        config: String,
        /// What differs from it.
        #[command(flatten)]
        set: SetArgs,
    },
    /// Say what a key means, its range, and its value in every preset
    Explain {
        /// Key, such as core.issue.width, or the end of one [default: the top level]
        #[arg(default_value = "")]
        key: String,
    },
    /// Print the parameters in which two configurations differ
    Diff {
        /// File or preset
        a: String,
        /// File or preset
        b: String,
    },
    /// Draw the interconnect, from the cores to the memory channels, in the language of Graphviz
    Dot {
        /// File or preset
        #[arg(default_value = DEFAULT_CONFIG)]
        config: String,
        /// What differs from it.
        #[command(flatten)]
        set: SetArgs,
    },
    /// Print the JSON schema of configurations, for editors
    Schema,
}
