//! The command line as clap sees it: runs, and what the commands share with them.

mod commands;
mod config;
mod source;

use super::address::{self, Save};
use super::detail::{DetailFrom, detail_from};
use super::dumps::Dumps;
use super::instances::{InstanceCall, call};
use super::observers::{Observe, observe};
use super::traces::{WaveRange, trigger, wave_range};
use super::values::{self, Bind, Dimensions, Fill, MemoryFile, RegisterValue, SaveBinding};
use clap::{Args, Parser, ValueEnum};
pub(crate) use commands::*;
pub(crate) use config::ConfigCommand;
pub(crate) use source::{CLANG_FLAGS, SourceArgs};
use std::path::PathBuf;
use wave_isa::program::{Argument, ParameterType};
use wave_observe::trace::When;

/// Configuration where none is named.
pub(crate) const DEFAULT_CONFIG: &str = "gpu.ron";

/// The prices of energy and area where none are named.
pub(crate) const BUILT_IN_PRICES: &str = "prices.ron";

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
pub(crate) struct Cli {
    /// What to do, if not to run something.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to run, and how.
    #[command(flatten)]
    pub run: RunArgs,
}

/// What `--help` ends with.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  wave-sim new hello                           make a kernel in C with its launch file, and commands to begin with
  wave-sim --config gpu.ron                    run the suite on the default machine
  wave-sim --config t4.ron sgemm               run one kernel of the suite on another
  wave-sim k.wave --grid 4,1,1 --dump-f32 0:8  run your own and look at what it wrote
  wave-sim config list                         what machines there are

Exit codes: 0 all is well · 1 a wrong result or a race · 2 wrong input · 3 a fault, a standstill or a limit";

/// The flags of a run.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The machine: a file, or a preset's name [default: gpu.ron]
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<String>,

    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,

    /// What to run: assembly, WBIN, launch files, or names from the suite [default: the whole suite]
    #[arg(value_name = "KERNEL.wave|KERNEL.wbin|LAUNCH.ron")]
    pub inputs: Vec<String>,

    /// Which suite to run [default: wave, in assembly]
    #[arg(long, value_enum, value_name = "SUITE", conflicts_with = "inputs")]
    pub suite: Option<SuiteName>,

    /// How a kernel file is launched.
    #[command(flatten)]
    pub launch: LaunchArgs,

    /// What is done with the results.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Files that show the run cycle by cycle.
    #[command(flatten)]
    pub traces: TraceArgs,

    /// Files with the state of the run.
    #[command(flatten)]
    pub checkpoints: CheckpointArgs,

    /// How the simulation goes.
    #[command(flatten)]
    pub machine: MachineArgs,

    /// What has no timing.
    #[command(flatten)]
    pub untimed: UntimedArgs,
}

/// A built-in suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SuiteName {
    /// Kernels in WAVE assembly
    Wave,
    /// Programs in C; `c/NAME` runs one of them
    C,
    /// Compute shaders in WGSL; `wgsl/NAME` runs one of them
    Wgsl,
    /// Kernels in CUDA C++, as PTX; `cuda/NAME` runs one of them
    Cuda,
}

/// What differs from the configuration.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// A parameter in place of the configuration's, such as core.l1.mshrs=64 or l1.bytes=64KiB; of several that set one
    /// parameter, the last counts
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// How a kernel file is launched. A launch file states these itself.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Launch of a kernel file")]
pub(crate) struct LaunchArgs {
    /// Workgroups [default: 1,1,1]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::dimensions)]
    pub grid: Option<Dimensions>,

    /// Threads of a workgroup where the kernel has no .workgroup_size [default: 32,1,1]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::dimensions)]
    pub workgroup: Option<Dimensions>,

    /// Registers of a lane, if these are more than the kernel's .registers
    #[arg(long, value_name = "N", value_parser = values::integer32)]
    pub registers: Option<u32>,

    /// Local memory of a workgroup, if this is more than the kernel's .local_memory
    #[arg(long, value_name = "BYTES", value_parser = values::size32)]
    pub local_memory: Option<u32>,

    /// Local memory of a workgroup beside what the kernel states: the dynamic shared memory of CUDA
    #[arg(long, value_name = "BYTES", value_parser = values::size32)]
    pub dynamic_local: Option<u32>,

    /// Load a file into device memory
    #[arg(long, value_name = "OFFSET:FILE", value_parser = values::memory_file)]
    pub arg: Vec<MemoryFile>,

    /// Start value of a register in every lane; an integer, a float for the bits of an f32, or as --param takes it
    #[arg(long, value_name = "REG:[TYPE:]VALUE", value_parser = values::register_value)]
    pub set_reg: Vec<RegisterValue>,

    /// An argument of the kernel, in order: an integer, a float, with its type, as f32:1.5, or its bits, as hex:7fc00001;
    /// types are u8 to u64, i8 to i64, f16, bf16, f32 and f64
    #[arg(long, value_name = "[TYPE:]VALUE|hex:BITS", value_parser = values::argument, allow_hyphen_values = true)]
    pub param: Vec<Argument>,

    /// A buffer of a shader, by its group and number: what a file holds, or so many zeros
    #[arg(long, value_name = "GROUP.BINDING=FILE|bytes:N", value_parser = values::bind)]
    pub bind: Vec<Bind>,

    /// Stack of each thread, for kernels in C and the like that keep data there [default: 1KiB]
    #[arg(long, value_name = "BYTES", value_parser = values::size32)]
    pub stack_bytes: Option<u32>,

    /// Heap of each thread, for kernels in C that call malloc() [default: 4KiB]
    #[arg(long, value_name = "BYTES", value_parser = values::size32)]
    pub heap_bytes: Option<u32>,

    /// Fill device memory with 0, SCALE, 2 × SCALE, …
    #[arg(long, value_name = "OFFSET:TYPE:COUNT:SCALE", value_parser = values::fill_iota)]
    pub fill_iota: Vec<Fill>,

    /// Fill device memory with zeros
    #[arg(long, value_name = "OFFSET:TYPE:COUNT", value_parser = values::fill_zero)]
    pub fill_zero: Vec<Fill>,

    /// Which kernel of a file with several, or entry point of a shader [default: the first]
    #[arg(long, value_name = "NAME", visible_alias = "entry")]
    pub kernel: Option<String>,

    /// How a kernel file is read.
    #[command(flatten)]
    pub source: SourceArgs,

    /// How a module runs as instances.
    #[command(flatten)]
    pub instances: InstanceArgs,
}

impl LaunchArgs {
    /// The flags that were given, by name.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        [
            ("--grid", self.grid.is_some()),
            ("--workgroup", self.workgroup.is_some()),
            ("--registers", self.registers.is_some()),
            ("--local-memory", self.local_memory.is_some()),
            ("--dynamic-local", self.dynamic_local.is_some()),
            ("--arg", !self.arg.is_empty()),
            ("--set-reg", !self.set_reg.is_empty()),
            ("--param", !self.param.is_empty()),
            ("--bind", !self.bind.is_empty()),
            ("--stack-bytes", self.stack_bytes.is_some()),
            ("--heap-bytes", self.heap_bytes.is_some()),
            ("--fill-iota", !self.fill_iota.is_empty()),
            ("--fill-zero", !self.fill_zero.is_empty()),
            ("--kernel", self.kernel.is_some()),
        ]
        .into_iter()
        .chain(self.source.given())
        .chain(self.instances.given())
        .filter_map(|(name, given)| given.then_some(name))
        .collect()
    }
}

/// How a module runs as instances.
#[derive(Debug, Default, Args)]
#[command(
    next_help_heading = "Instances of a module: --grid, --workgroup, --param and --format as for kernels"
)]
pub(crate) struct InstanceArgs {
    /// Every lane runs an instance of the module, and its results are printed: so it is where a module imports nothing
    /// from `wave`
    #[arg(long)]
    pub instances: bool,

    /// The exported function that is called [default: the only one]
    #[arg(long, value_name = "NAME", conflicts_with = "kernel")]
    pub function: Option<String>,

    /// A call of an exported function with its arguments; of several, each instance makes one after the other and keeps
    /// its state
    #[arg(long, value_name = "NAME[=VALUE,...]", value_parser = call, allow_hyphen_values = true,
        conflicts_with_all = ["function", "param", "kernel", "result_types"])]
    pub call: Vec<InstanceCall>,

    /// What the linear memory of each instance begins with: the contents of a file
    #[arg(long, value_name = "FILE")]
    pub instance_load: Option<PathBuf>,

    /// Write the linear memory of an instance to a file, after the run; {thread} in its name stands for the thread's
    /// number
    #[arg(long, value_name = "FILE")]
    pub instance_save: Option<PathBuf>,

    /// Bytes up to which the memory of an instance may grow [default: 1MiB, less in a small device memory]
    #[arg(long, value_name = "BYTES", value_parser = values::size)]
    pub instance_memory: Option<u64>,

    /// Types of the results of an rWasm function, in order: its module does not say them [default: i64]
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = values::value_type)]
    pub result_types: Vec<ParameterType>,

    /// Print the bits of results, in hexadecimal
    #[arg(long)]
    pub bits: bool,
}

impl InstanceArgs {
    /// The flags, and whether they were given.
    fn given(&self) -> [(&'static str, bool); 8] {
        [
            ("--instances", self.instances),
            ("--function", self.function.is_some()),
            ("--call", !self.call.is_empty()),
            ("--instance-load", self.instance_load.is_some()),
            ("--instance-save", self.instance_save.is_some()),
            ("--instance-memory", self.instance_memory.is_some()),
            ("--result-types", !self.result_types.is_empty()),
            ("--bits", self.bits),
        ]
    }
}

/// What is done with the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct OutputArgs {
    /// Dumps of device memory, in the order of the command line.
    #[command(flatten)]
    pub dumps: Dumps,

    /// Write bytes of device memory, or a buffer by its name, to a file, after the run
    #[arg(long, value_name = "OFFSET:BYTES:FILE|BUFFER:FILE", value_parser = address::save)]
    pub save: Vec<Save>,

    /// Write a buffer of a shader to a file, after the run
    #[arg(long, value_name = "GROUP.BINDING:FILE", value_parser = values::save_binding)]
    pub save_binding: Vec<SaveBinding>,

    /// Print every statistic
    #[arg(long)]
    pub stats: bool,

    /// Print energy and power by block, and the area of the machine, with the built-in prices, those of a file, or at
    /// another technology node, such as 7nm
    #[arg(long, value_name = "PRICES", num_args = 0..=1, require_equals = true, default_missing_value = BUILT_IN_PRICES)]
    pub energy: Option<String>,

    /// Accepted for scripts that call the reference emulator: there is no dump of registers
    #[arg(long, hide_short_help = true)]
    pub dump_regs: bool,

    /// Print each instruction as it issues, on standard error
    #[arg(long)]
    pub trace: bool,

    /// Look for data races: accesses that nothing orders; exit code 1 if there are any
    #[arg(long)]
    pub check_races: bool,

    /// Say what each buffer and each launch had of the accesses, and why the caches missed
    #[arg(long)]
    pub by_buffer: bool,

    /// Let an observer of a plug-in watch the run; its text goes to a FILE, or to the report. Of several kernels, {kernel}
    /// in the FILE stands for the kernel's name
    #[arg(long, value_name = "NAME[=FILE]", value_parser = observe)]
    pub observe: Vec<Observe>,

    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: Format,
}

/// Files that show the run cycle by cycle.
#[derive(Debug, Clone, Args)]
#[command(
    next_help_heading = "Traces (of several kernels, a FILE each: {kernel} in its name stands for the kernel's)"
)]
pub(crate) struct TraceArgs {
    /// Write the retirement trace, in its binary form, or as text to a name that ends in .txt
    #[arg(long, value_name = "FILE")]
    pub wvfi: Option<PathBuf>,

    /// Write a pipeline log for Konata
    #[arg(long, value_name = "FILE")]
    pub kanata: Option<PathBuf>,

    /// Write a trace for Perfetto, in its protobuf form (.pftrace)
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

    /// In the report, this run beside an earlier one: a result that --format json wrote, or COMMIT:FILE in git
    #[arg(long, value_name = "FILE", requires = "report")]
    pub baseline: Option<String>,

    /// In the report, what each parameter is worth: what `wave-sim sensitivity KERNEL --format json` wrote
    #[arg(long, value_name = "FILE", requires = "report")]
    pub sensitivity: Option<PathBuf>,

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

/// Files with the state of a run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checkpoints (of one kernel or launch file)")]
pub(crate) struct CheckpointArgs {
    /// Save the state of the run, for --resume; a later checkpoint replaces the one before
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,

    /// Save it in every cycle that is a multiple of this number
    #[arg(long, value_name = "CYCLES", value_parser = values::integer)]
    pub checkpoint_every: Option<u64>,

    /// Save it when a signal ends the run: Ctrl-C, SIGTERM, a hang-up
    #[arg(long)]
    pub checkpoint_on_signal: bool,

    /// Go on from a checkpoint of the same run
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,

    /// Begin anew, and replace the checkpoint and the retirement trace that a stopped run has left
    #[arg(long, requires = "checkpoint", conflicts_with = "resume")]
    pub overwrite: bool,
}

/// What changes the machine, or bounds the run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Machine and bounds")]
pub(crate) struct BoundArgs {
    /// Device memory, in place of the configuration's; any size
    #[arg(long, value_name = "BYTES", value_parser = values::size)]
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

    /// Simulate with so many threads; the result is the same; 0 is one for each processor of the host [default: 0]
    #[arg(long, value_name = "N", value_parser = values::integer32)]
    pub threads: Option<u32>,
}

/// The machine, bounds, and the data of a launch file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Machine and bounds")]
pub(crate) struct MachineArgs {
    /// The machine and bounds.
    #[command(flatten)]
    pub bounds: BoundArgs,

    /// Seed of random data, in place of the launch file's
    #[arg(long, value_name = "N", value_parser = values::integer)]
    pub seed: Option<u64>,

    /// Size of the data of launch files and the suite
    #[arg(long, value_enum, value_name = "SIZE", default_value = "full")]
    pub size: DataSize,
}

/// What runs without timing.
#[derive(Debug, Args)]
#[command(next_help_heading = "Without timing")]
pub(crate) struct UntimedArgs {
    /// Run without timing: results only, as fast as the host can
    #[arg(long)]
    pub functional: bool,

    /// Run without timing up to here, and in detail from here on: launch:N or just N, the first being 1; cycle:N, a
    /// nominal cycle; pc:OFFSET, line:N or FILE:N, where a wave first comes to an instruction; launch:N,cycle:N and so on
    #[arg(long, value_name = "PLACE", value_parser = detail_from)]
    pub detail_from: Option<DetailFrom>,

    /// Simulate parts in detail and run the others without timing: exact results, and cycles that are estimates with a
    /// confidence interval
    #[arg(long)]
    pub sample: bool,
}

/// Form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For reading.
    Text,
    /// For programs; docs/command-line.md describes it.
    Json,
}

/// Size of the data of launch files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataSize {
    /// Fills a mid-size machine.
    Full,
    /// For a quick look.
    Small,
}
