//! The command line: from arguments to an exit code.
//!
//! Exit codes: 0 success; 1 a result is wrong, or a race was found; 2 the input is wrong; 3 a kernel faulted,
//! made no progress or reached a bound. The highest of several wins.

mod address;
mod args;
mod bindings;
mod checkpoints;
mod compare;
mod configs;
mod cosim;
mod debug;
mod detail;
mod dumps;
mod execute;
mod explain;
mod files;
mod folders;
mod functional;
#[cfg(unix)]
mod host;
mod host_memory;
mod inputs;
mod instances;
mod intermediate;
mod interrupt;
mod kernel_file;
pub mod library;
mod litmus;
mod machine;
mod measure;
mod memory_map;
mod new;
#[cfg(unix)]
mod nvcc;
mod observers;
mod optimize;
mod outputs;
mod place;
mod plain;
pub mod plugin;
mod programs;
mod progress;
mod ptx;
mod sensitivity;
mod session;
mod silicon;
mod stored;
mod sweep;
mod terminal;
mod trace;
mod traces;
mod validate;
mod values;
mod watch;
mod webassembly;
mod work;

#[cfg(test)]
mod tests;

use args::{Cli, Command, Format};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::OnceLock;
use terminal::Terminal;

use wave_compile::kernels::Settings;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::Listing;
use wave_isa::terms;
use wave_study::summary::{json, statistics};

/// How a command ended. The order is that of the exit codes, and the highest of several wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Success.
    Success = 0,
    /// A result is wrong, or a race was found.
    WrongResult = 1,
    /// The input is wrong.
    WrongInput = 2,
    /// A kernel faulted, made no progress, reached a bound or was interrupted.
    Fault = 3,
}

/// Result of a command: how it ended, or the errors of its input.
type Ended = Result<Exit, Vec<Diagnostic>>;

/// The `wave-sim` command.
pub fn main() -> ExitCode {
    interrupt::listen();
    ExitCode::from(run(std::env::args_os()))
}

/// [`main`] of a program with plug-ins of its own: it does all that `wave-sim` does, and its configurations may choose
/// them.
pub fn main_with(registry: plugin::Registry) -> ExitCode {
    plugin::run(registry, main)
}

/// The words that start this process once more, if it is a program of another kind in which this one runs.
static STARTED_BY: OnceLock<OwnWords> = OnceLock::new();

/// The words that start a program, and those of its command line.
type OwnWords = (Vec<OsString>, Vec<OsString>);

/// [`main`] for a program that has this one inside, such as an interpreter. `program` are the words that start it with an
/// empty command line, and `words` are the command line. Returns the exit code.
pub fn main_of(program: impl IntoIterator<Item = OsString>, words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    _ = STARTED_BY.set((program.into_iter().collect(), words.clone()));
    interrupt::listen();
    run([OsString::from("wave-sim")].into_iter().chain(words))
}

/// The words that start this program, and those of its command line.
fn own_words() -> Option<OwnWords> {
    if let Some(words) = STARTED_BY.get() {
        return Some(words.clone());
    }
    let program = std::env::current_exe().ok()?;
    Some((vec![program.into_os_string()], std::env::args_os().skip(1).collect()))
}

/// Runs a command line whose first word is the program's name. Returns the exit code.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let terminal = Terminal::of_environment();
    let words: Vec<OsString> = words.into_iter().collect();
    if words.len() <= 1 {
        terminal.err(&format!("{NOTHING_TO_DO}\n{}\n", args::AFTER_HELP));
        return Exit::WrongInput as u8;
    }
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(mut error) => {
            correct_tips(&mut error);
            // Help and version go to standard output. A closed pipe there is not an error.
            terminal.usage(&error, &words);
            return error.exit_code() as u8;
        }
    };
    let ended = match cli.command {
        #[cfg(unix)]
        Some(Command::Run(args)) => match host::run(&args, &terminal) {
            Ok(code) => return code,
            Err(wrong) => Err(wrong),
        },
        Some(command) => other(&command, &terminal),
        None => session::run(&cli.run, &terminal),
    };
    match ended {
        Ok(exit) => exit as u8,
        // Standard output was closed: see `Terminal::out`.
        Err(diagnostics) if diagnostics.is_empty() => Exit::Success as u8,
        Err(diagnostics) => {
            terminal.diagnostics(&diagnostics);
            // An interrupted run is not a fault of the input.
            if interrupt::is_asked() { Exit::Fault as u8 } else { Exit::WrongInput as u8 }
        }
    }
}

/// The tips about an unknown flag: a flag that has its name in another tool, such as `--block-size`, leads to the one here.
fn correct_tips(error: &mut clap::Error) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    // clap advises to write the flag after `--`, where flags of clang stand.
    if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().contains("as a value"));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return };
    if let Some(hint) = terms::hint_of_flag(flag) {
        // The nearest name by its letters is another thing.
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    }
}

const NOTHING_TO_DO: &str = "\
wave-sim simulates GPUs that run the WAVE v0.4 instruction set, cycle by cycle.

Usage: wave-sim [--config CONFIG] [KERNEL.wave|KERNEL.wbin|LAUNCH.ron]... [flags]
       wave-sim new|run|nvcc|asm|dis|check|ptx|silicon|debug|litmus|cosim|compare|explain|sensitivity|measure|validate|sweep|trace|wasm|header|config|stats|completions ...

Nothing was asked for. `wave-sim --config gpu.ron` is a good start, `wave-sim --help` has everything.
";

/// The commands with a name.
fn other(command: &Command, terminal: &Terminal) -> Ended {
    match command {
        Command::New(args) => new::run(args, terminal),
        #[cfg(unix)]
        Command::Nvcc { words } => nvcc::run(words, terminal),
        #[cfg(unix)]
        Command::Run(_) => unreachable!("its exit code is that of the program"),
        Command::Asm { input, output, source } => {
            let settings = Settings { source: source.options(), ..Settings::default() };
            programs::assemble(input, output.as_deref(), &settings, terminal)
        }
        Command::Dis { input, output, ir: true, source, .. } => {
            programs::show(input, output.as_deref(), &source.options(), terminal)
        }
        Command::Dis { input, output, offsets, raw, no_directives, no_source, function, source, .. } => {
            let form =
                Listing { offsets: *offsets, raw: *raw, directives: !no_directives, source: !no_source };
            let settings = Settings { source: source.options(), ..Settings::default() };
            programs::disassemble((input, function.as_deref(), &settings), output.as_deref(), form, terminal)
        }
        Command::Check(args) => programs::check(args, terminal),
        Command::Ptx(args) => ptx::run(args, terminal),
        Command::Silicon(args) => silicon::run(args, terminal),
        Command::Debug(args) => debug::run(args, terminal),
        Command::Litmus(args) => litmus::run(args, terminal),
        Command::Cosim(args) => cosim::run(args, terminal),
        Command::Header => terminal.out(&wave_compile::wasm::c_header()),
        Command::Config { command } => configs::run(command, terminal),
        Command::Compare(args) => compare::run(args, terminal),
        Command::Explain(args) => explain::run(args, terminal),
        Command::Measure(args) => measure::run(args, terminal),
        Command::Validate(args) => validate::run(args, terminal),
        Command::Sweep(args) => sweep::run(args, terminal),
        Command::Optimize(args) => optimize::run(args, terminal),
        Command::Trace { command } => trace::run(command, terminal),
        Command::Wasm { command } => webassembly::run(command, terminal),
        Command::Sensitivity(args) => sensitivity::run(args, terminal),
        Command::Stats { name, format } => {
            let chosen = statistics::named(name).map_err(|error| vec![error])?;
            terminal.out(&match format {
                Format::Text => statistics::listing(&chosen),
                Format::Json => json::declarations(&chosen),
            })
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "wave-sim", &mut script);
            terminal.out(&String::from_utf8_lossy(&script))
        }
    }
}
