//! The commands beside runs, as clap sees them.

use super::{ConfigCommand, DEFAULT_CONFIG, Format, LaunchArgs, MachineArgs, SetArgs, SourceArgs};
use crate::cosim::CosimArgs;
use crate::detail::{DetailFrom, detail_from};
use crate::new::NewArgs;
use crate::optimize::OptimizeArgs;
use crate::silicon::SiliconArgs;
use crate::sweep::SweepArgs;
use crate::traces::{WaveRange, wave_range};
use crate::validate::ValidateArgs;
use crate::values;
use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// What else wave-sim does.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a folder with a kernel, its launch file and commands to begin with
    New(NewArgs),
    /// Run an unmodified program for CUDA or OpenCL, its kernels on a simulated machine
    #[cfg(unix)]
    Run(Box<crate::host::HostArgs>),
    /// Compile a program in CUDA C++ with clang, as NVIDIA's compiler would: `wave-sim nvcc -O2 app.cu -o app`
    #[cfg(unix)]
    #[command(disable_help_flag = true)]
    Nvcc {
        /// Files and flags, as nvcc takes them
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            required = true,
            value_name = "ARGUMENTS"
        )]
        words: Vec<OsString>,
    },
    /// Assemble a kernel file into a WBIN container
    Asm {
        /// Assembly file
        input: PathBuf,
        /// Where the container goes [default: the input with .wbin]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// How the file is read.
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Disassemble a WBIN container (or a kernel file) into assembly
    Dis {
        /// WBIN container, kernel file, or with --ir a WebAssembly module
        input: PathBuf,
        /// Where the text goes [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Show a WebAssembly module (.wasm, .wat) in the intermediate representation
        #[arg(long, conflicts_with_all = ["offsets", "raw", "no_directives", "no_source"])]
        ir: bool,
        /// Begin each instruction with its place, in bytes from the start of the code section
        #[arg(long)]
        offsets: bool,
        /// Begin each instruction with its words; the second has a line of its own
        #[arg(long)]
        raw: bool,
        /// Leave out .kernel, .registers and the like: only instructions
        #[arg(long)]
        no_directives: bool,
        /// Leave out the lines of the source, which are shown as comments where the file is not WAVE assembly
        #[arg(long)]
        no_source: bool,
        /// Show the program in which every thread calls this function of an instance of its own
        #[arg(long, value_name = "NAME", conflicts_with = "ir")]
        function: Option<String>,
        /// How the file is read.
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Check kernels without running them
    Check(CheckArgs),
    /// Translate kernels to PTX, for NVIDIA's GPUs
    Ptx(PtxArgs),
    /// Run kernels on a real GPU, measure them, and hold the simulator against it
    Silicon(Box<SiliconArgs>),
    /// Run a kernel under a debugger that goes forwards and backwards
    Debug(DebugArgs),
    /// Run litmus tests, and hold their outcomes against the memory model
    Litmus(LitmusArgs),
    /// Run kernels on the simulator and on the core in SystemVerilog, and compare them cycle by cycle
    Cosim(CosimArgs),
    /// Print wave.h, the header for kernels in C and C++
    Header,
    /// Look at configurations
    Config {
        /// What to show
        #[command(subcommand)]
        command: ConfigCommand,
    },
    /// Put runs beside one another: machines, settings, kernels, stored results
    Compare(CompareArgs),
    /// Say what limits a kernel, what should help, and whether it does
    Explain(ExplainArgs),
    /// Halve and double every parameter of the machine, and rank them by what that does to a kernel
    Sensitivity(SensitivityArgs),
    /// Measure the memory hierarchy with kernels, beside what the configuration says
    Measure(MeasureArgs),
    /// Hold machines to published measurements of real GPUs
    Validate(ValidateArgs),
    /// Run kernels on many machines: every combination of parameters, or a sample of them
    Sweep(Box<SweepArgs>),
    /// Search for the machine that is best at something, among more than can be tried
    Optimize(Box<OptimizeArgs>),
    /// Look at retirement traces, and compare them
    Trace {
        /// What to do
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// Add the sections of NanoWasm to WebAssembly modules, and check them
    Wasm {
        /// What to do
        #[command(subcommand)]
        command: WasmCommand,
    },
    /// List the statistics that a run reports: name, unit, meaning
    Stats {
        /// Only statistics with this in their name, or those of a word of docs/terms.md, such as `bank conflict`
        #[arg(default_value = "", hide_default_value = true)]
        name: String,
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

/// `wave-sim ptx`.
#[derive(Debug, Args)]
pub(crate) struct PtxArgs {
    /// Kernel file: assembly, WBIN, C, or a module in another format
    pub input: PathBuf,
    /// Where the text goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Which kernel of the file [default: all of them]
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// The GPU
    #[arg(long, value_name = "ARCH", default_value = "sm_90",
        value_parser = clap::builder::PossibleValuesParser::new(wave_ptx::Arch::ALL.map(|arch| arch.name)))]
    pub arch: String,
    /// How sine, cosine, exponential and logarithm are computed
    #[arg(long, value_enum, value_name = "HOW", default_value = "exact")]
    pub special: PtxSpecial,
    /// Check every access, atomic and barrier: on a fault the kernel leaves a record and traps
    #[arg(long)]
    pub check_bounds: bool,
    /// Promise that every load and store is at a multiple of its size: the code is shorter
    #[arg(long)]
    pub aligned: bool,
    /// Lanes of a store or an atomic go one after another, lowest first; else the hardware decides where they meet
    #[arg(long)]
    pub lane_order: bool,
    /// Plain accesses of device memory may race: they are relaxed accesses at the scope of the device, past the L1
    #[arg(long)]
    pub relaxed: bool,
    /// Most threads of a workgroup [default: those that the kernel states]
    #[arg(long, value_name = "N", value_parser = values::threads_of_block)]
    pub threads: Option<u32>,
    /// Bytes of the stack of each thread, for kernels in C and the like
    #[arg(long, value_name = "BYTES", value_parser = values::size32)]
    pub stack_bytes: Option<u32>,
    /// Bytes of the heap of each thread, for kernels in C that call malloc()
    #[arg(long, value_name = "BYTES", value_parser = values::size32)]
    pub heap_bytes: Option<u32>,
    /// How the file is read.
    #[command(flatten)]
    pub source: SourceArgs,
}

/// How special functions are computed in PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PtxSpecial {
    /// By the fixed-point algorithm: the bits of WAVE
    Exact,
    /// By the approximations of the hardware
    Hardware,
}

/// `wave-sim check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
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
    /// How the files are read.
    #[command(flatten)]
    pub source: SourceArgs,
}

/// `wave-sim debug`.
#[derive(Debug, Args)]
pub(crate) struct DebugArgs {
    /// The machine: a file, or a preset's name [default: gpu.ron]
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<String>,
    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,
    /// What to debug: assembly, WBIN, a launch file, or a name from the suite
    #[arg(value_name = "KERNEL.wave|KERNEL.wbin|LAUNCH.ron")]
    pub input: String,
    /// Execute the commands of a file, a line each, and end
    #[arg(long, value_name = "FILE")]
    pub commands: Option<PathBuf>,
    /// Execute a command, behind those of --commands, and end; may be repeated
    #[arg(short = 'x', long, value_name = "COMMAND")]
    pub execute: Vec<String>,
    /// Take commands line by line on a terminal too, without panes
    #[arg(long)]
    pub plain: bool,
    /// Begin here; what is in front of it runs without timing: as for a run
    #[arg(long, value_name = "PLACE", value_parser = detail_from)]
    pub detail_from: Option<DetailFrom>,
    /// Most memory of the host for snapshots, from which it steps backwards
    #[arg(long, value_name = "BYTES", value_parser = values::size, default_value = "1GiB")]
    pub history: u64,
    /// How a kernel file is launched.
    #[command(flatten)]
    pub launch: LaunchArgs,
    /// How the simulation goes.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// `wave-sim litmus`.
#[derive(Debug, Args)]
pub(crate) struct LitmusArgs {
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
pub(crate) enum LitmusFormat {
    /// A line for each test; of tests that are named, a line for each outcome of each variant.
    Text,
    /// For programs; docs/litmus.md describes it.
    Json,
    /// The table in docs/litmus.md.
    Markdown,
}

/// `wave-sim compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// What to run on each machine, and stored results, of which each is a column [default: the whole suite]; several
    /// kernels on one machine are compared with one another
    #[arg(value_name = "KERNEL|LAUNCH.ron|RESULT.json")]
    pub inputs: Vec<String>,
    /// A machine: a file, or a preset's name; may be repeated [default: gpu.ron]
    #[arg(long, value_name = "CONFIG")]
    pub config: Vec<String>,
    /// Also run each machine with these settings, with blanks between them; may be repeated
    #[arg(long, value_name = "KEY=VALUE ...")]
    pub with: Vec<String>,
    /// What differs from all configurations.
    #[command(flatten)]
    pub set: SetArgs,
    /// The first column: a result that was stored with --format json, or one in a commit of the git repository here
    #[arg(long, value_name = "FILE|COMMIT:FILE")]
    pub baseline: Option<String>,
    /// A column of what a GPU has measured: a file that `wave-sim silicon --save` wrote, or `live` to measure now
    #[arg(long, value_name = "FILE|live")]
    pub hardware: Option<String>,
    /// End with exit code 1 if a run takes more cycles than in the first column by more than this
    #[arg(long, value_name = "PERCENT", value_parser = values::percent)]
    pub fail_above: Option<f64>,
    /// Of several kernels, show each in full too
    #[arg(long)]
    pub full: bool,
    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: CompareFormat,
    /// How a kernel file is launched.
    #[command(flatten)]
    pub launch: LaunchArgs,
    /// How the simulation goes.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Form of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For reading.
    Text,
    /// Comma-separated values, a line for each quantity.
    Csv,
    /// For programs.
    Json,
}

/// `wave-sim explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The machine: a file, or a preset's name [default: gpu.ron]
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<String>,
    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,
    /// What to explain: assembly, WBIN, launch files, or names from the suite [default: the whole suite]
    #[arg(value_name = "KERNEL.wave|KERNEL.wbin|LAUNCH.ron")]
    pub inputs: Vec<String>,
    /// Changes of the machine that are tried at most, each in a run of its own
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub trials: usize,
    /// Only predict what a change saves; do not make it and run again: --trials 0
    #[arg(long, conflicts_with = "trials")]
    pub no_check: bool,
    /// Also halve and double every parameter of the machine, each in a run of its own, as `wave-sim sensitivity` does
    #[arg(long)]
    pub sensitivity: bool,
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

/// `wave-sim sensitivity`.
#[derive(Debug, Args)]
pub(crate) struct SensitivityArgs {
    /// What to run: assembly, WBIN, a launch file, or a name from the suite
    #[arg(value_name = "KERNEL|LAUNCH.ron")]
    pub input: String,
    /// The machine: a file, or a preset's name [default: gpu.ron]
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<String>,
    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,
    /// Only the parameters whose names begin so, such as core.l1 or dram; may be repeated
    #[arg(long, value_name = "KEY")]
    pub within: Vec<String>,
    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: Format,
    /// How a kernel file is launched.
    #[command(flatten)]
    pub launch: LaunchArgs,
    /// How the simulation goes.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Form of a report that the book has as a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// For reading.
    Text,
    /// For programs.
    Json,
    /// The table in the book.
    Markdown,
}

/// `wave-sim trace …`.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
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

/// `wave-sim wasm …`.
#[derive(Debug, Subcommand)]
pub(crate) enum WasmCommand {
    /// Write a module with the sections nw_to, nw_fti, nw_iti, nw_fbo and nw_lo at its end
    Annotate {
        /// Module, in binary or as text (.wat)
        input: PathBuf,
        /// Where the module goes
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Check that modules have all these sections, and that they are right
    Verify {
        /// Modules
        #[arg(required = true)]
        inputs: Vec<PathBuf>,
    },
}

/// What `wave-sim trace diff` compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffMode {
    /// What instructions do, and in which cycle each stage does it.
    Cycle,
    /// Only what they do.
    Arch,
}

/// `wave-sim measure`.
#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
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
pub(crate) enum MeasureTopic {
    /// Load-to-use latency against footprint.
    Latency,
    /// Streaming bandwidth of each level.
    Bandwidth,
    /// Throughput of atomics in each scope.
    Atomics,
    /// Row hits and bandwidth of memory under several patterns and both policies.
    Dram,
}
