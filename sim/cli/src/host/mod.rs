//! `wave-sim run`: programs for CUDA and OpenCL, unmodified, with their kernels on a simulated machine.
//!
//! The program runs as a process of its own. It finds `sim/runtime` in place of its vendor's libraries, and what it asks of
//! them comes here over a socket: [`server`] has a thread for each process, [`device`] the machine that the process sees.

mod allocator;
pub(crate) mod application;
mod device;
mod fat_binary;
pub(crate) mod library;
mod modules;
mod server;
mod table;
mod timeline;
mod watching;

use crate::args::{BoundArgs, Format, SetArgs, TraceArgs};
use crate::files;
use crate::host_memory::Copies;
use crate::interrupt;
use crate::machine::machine_to_run;
use crate::session;
use crate::stored::Stored;
use crate::terminal::Terminal;
use clap::{Args, ValueEnum};
use device::{Done, How};
use library::Library;
use server::Server;
use std::ffi::OsString;
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use timeline::HostTime;
use watching::Wanted;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_observe::energy::Prices;
use wave_study::launch::Verification;
use wave_study::summary::{Outcome, Run, Session, energy, json};
use wave_study::validate::machine_of_programs;

/// The flags of `wave-sim run`.
#[derive(Debug, Args)]
pub(crate) struct HostArgs {
    /// The machine: a file, or a preset's name [default: gpu.ron]
    #[arg(long, value_name = "CONFIG")]
    pub config: Option<String>,

    /// What differs from it.
    #[command(flatten)]
    pub set: SetArgs,

    /// Overrides of the machine, and bounds of each launch.
    #[command(flatten)]
    pub bounds: BoundArgs,

    /// Time that the host takes for each launch, microseconds [default: 0]
    #[arg(long, value_name = "MICROSECONDS", value_parser = positive, default_value = "0", hide_default_value = true)]
    pub launch_time: f64,

    /// Bandwidth of copies between host and device, GB/s [default: copies take no time]
    #[arg(long, value_name = "GB/S", value_parser = positive)]
    pub copy_bandwidth: Option<f64>,

    /// What is done with the caches before each launch: `all` empties them, as profilers do
    #[arg(long, value_enum, value_name = "CACHES", default_value = "none")]
    pub cache_control: CacheControl,

    /// Run kernels without timing: results only, as fast as the host can
    #[arg(long)]
    pub functional: bool,

    /// Simulate parts in detail and run the others without timing: exact results, and cycles that are estimates
    #[arg(long, conflicts_with = "functional")]
    pub sample: bool,

    /// Print every statistic
    #[arg(long)]
    pub stats: bool,

    /// Print energy and power by block, with the built-in prices, those of a file, or at a technology node, such as 7nm
    #[arg(long, value_name = "PRICES", num_args = 0..=1, require_equals = true,
        default_missing_value = crate::args::BUILT_IN_PRICES, conflicts_with = "functional")]
    pub energy: Option<String>,

    /// Files that show the launches cycle by cycle.
    #[command(flatten)]
    pub traces: TraceArgs,

    /// Simulated time of launches, kernels and copies as a JSON file for Perfetto
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,

    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: Format,

    /// Where the report goes [default: standard error, because standard output is the program's]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Words in front of `--`, which has to come first.
    #[arg(hide = true, value_name = "WORD")]
    pub misplaced: Vec<String>,

    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// What is done with the caches before each launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheControl {
    /// They stay as the launch before has left them.
    None,
    /// L2 and L3 are emptied, at no cost in time.
    All,
}

/// The exit code of a shell for a program that cannot be started.
const NOT_STARTED: u8 = 127;
/// The number that a shell adds to that of the signal that ends a program.
const BY_SIGNAL: i32 = 128;

/// A number that is not negative.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(number),
        _ => Err("it is a number that is not negative".to_owned()),
    }
}

/// Runs a program and reports what its kernels did. Returns the exit code: that of the program, or 3 if that is 0 and a
/// kernel has not ended as it should.
///
/// # Errors
/// Wrong flags, and wrong files that they name.
pub(crate) fn run(args: &HostArgs, terminal: &Terminal) -> Result<u8, Vec<Diagnostic>> {
    interrupt::stop();
    for (file, flag) in [(&args.output, "--output"), (&args.timeline, "--timeline")] {
        if let Some(wrong) = file.as_deref().and_then(|file| files::cannot_write(file, flag)) {
            return Err(vec![wrong]);
        }
    }
    check(args).map_err(|wrong| vec![wrong])?;
    let stored = Stored::read(&args.traces, &[]).map_err(|wrong| vec![wrong])?;
    let wanted = args.traces.flag().map(|_| Wanted { traces: args.traces.clone(), stored });
    let wanted = Mutex::new(wanted);
    let prices = args.energy.as_deref().map(Prices::load).transpose()?;
    let config =
        machine_to_run(args.config.as_deref(), &args.set, &args.bounds, Copies::default(), terminal)?;
    let config = machine_of_programs(config);
    let host = HostTime {
        launch_ns: args.launch_time * 1e3,
        // A GB in a second is a byte in a ns.
        bytes_per_ns: args.copy_bandwidth.filter(|&rate| rate > 0.0),
    };
    let how = How {
        config: &config,
        bounds: &args.bounds,
        functional: args.functional,
        cold: args.cache_control == CacheControl::All,
        sample: args.sample,
        wanted: &wanted,
        host,
        timeline: args.timeline.is_some(),
    };
    let mut command = Command::new(&args.command[0]);
    command.args(&args.command[1..]);
    let start = Instant::now();
    let (ended, processes) = simulate(how, command, Some(terminal)).map_err(|wrong| vec![wrong])?;
    let status = match ended {
        Ok(status) => status,
        Err(wrong) => {
            terminal.diagnostics(&[wrong]);
            return Ok(NOT_STARTED);
        }
    };
    if processes.is_empty()
        && let Some(why) = args.command.first().and_then(|program| library::why_unused(program.as_ref()))
    {
        let program = args.command[0].display();
        terminal
            .diagnostics(&[Diagnostic::warning(format!("`{program}` has not used the simulator: {why}"))]);
    }
    let seconds = start.elapsed().as_secs_f64();
    let failed = processes.iter().any(|done| !matches!(done.run.outcome, Outcome::Ended(_)));
    report(args, &config, prices, &processes, terminal)?;
    terminal.err(&table::host(&processes, seconds));
    let code = status.code().unwrap_or_else(|| BY_SIGNAL + status.signal().unwrap_or(0));
    Ok(if code == 0 && failed { crate::Exit::Fault as u8 } else { code as u8 })
}

/// Refuses flags that do not go together.
fn check(args: &HostArgs) -> Result<(), Diagnostic> {
    const HINT: &str =
        "`wave-sim run -- ./app` runs a program; a kernel file needs no `run`: `wave-sim k.wave`";
    if let Some(word) = args.misplaced.first() {
        return Err(
            Diagnostic::error(format!("`{word}`: a program and its arguments stand after `--`")).hint(HINT)
        );
    }
    if args.command.is_empty() {
        return Err(Diagnostic::error("no program is named").hint(HINT));
    }
    if let Some(wrong) = args.traces.check().into_iter().next() {
        return Err(wrong);
    }
    let Some(flag) = args.traces.flag() else { return Ok(()) };
    let untimed = [(args.functional, "--functional"), (args.sample, "--sample")];
    if let Some((_, other)) = untimed.iter().find(|(given, _)| *given) {
        let message = format!("{other} leaves out timing, and {flag} shows it");
        return Err(Diagnostic::error(message).hint("leave one of them out"));
    }
    if args.traces.trigger().is_some() {
        let message = "--trigger needs a run that can be repeated, and a program runs once";
        return Err(Diagnostic::error(message).hint("--from-cycle and --to-cycle choose a part"));
    }
    Ok(())
}

/// Runs a program with its kernels on simulated devices. Returns how it has ended, or why it has not begun, and the runs
/// of its processes. Messages go to a terminal, if there is one.
///
/// # Errors
/// There is no place for the program's library.
fn simulate(
    how: How<'_>,
    mut command: Command,
    terminal: Option<&Terminal>,
) -> Result<(Result<ExitStatus, Diagnostic>, Vec<Done>), Diagnostic> {
    let library = Library::new()?;
    let unheard = |error: std::io::Error| {
        Diagnostic::error(format!("the socket for the program cannot be made: {error}"))
    };
    let socket = library.socket();
    let listener = UnixListener::bind(&socket).map_err(unheard)?;
    library.prepare(&mut command);
    let server = Server::new(how, terminal);
    let ended = std::thread::scope(|scope| {
        let server = &server;
        scope.spawn(move || server.listen(&listener, scope));
        let ended = run_program(&mut command);
        server.finish(&socket);
        ended
    });
    Ok((ended, server.into_done()))
}

/// Starts the program and waits for its end.
fn run_program(command: &mut Command) -> Result<ExitStatus, Diagnostic> {
    let not_started = |command: &Command, error: std::io::Error| {
        let program = command.get_program().display();
        let hint = "write the path of a program, such as ./app, and its arguments after it";
        Diagnostic::error(format!("`{program}` cannot be started: {error}")).hint(hint)
    };
    let mut child = command.spawn().map_err(|error| not_started(command, error))?;
    wait(&mut child).map_err(|error| Diagnostic::error(format!("the program cannot be waited for: {error}")))
}

/// How long a program has to end after a signal has come here.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits for a program. A signal that has come here, and perhaps not there, ends it.
fn wait(child: &mut Child) -> std::io::Result<ExitStatus> {
    let mut asked = None;
    let mut pause = Duration::from_micros(100);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupt::is_asked() {
            let since = *asked.get_or_insert_with(Instant::now);
            if since.elapsed() > PATIENCE {
                child.kill()?;
            }
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// Writes the report.
fn report(
    args: &HostArgs,
    config: &Config,
    prices: Option<Prices>,
    processes: &[Done],
    terminal: &Terminal,
) -> Result<(), Vec<Diagnostic>> {
    let mut text = match args.format {
        Format::Text => table::table(processes, config, args.functional),
        Format::Json => {
            let mut all: Vec<Run> = processes.iter().map(|done| done.run.clone()).collect();
            if all.is_empty() {
                let name = args.command[0].display().to_string();
                all.push(Run::new(&name, Outcome::Ended(Verification::Nothing)));
            }
            let prices = prices.clone();
            json::document(&Session { config, untimed: args.functional, prices, runs: all })
        }
    };
    if args.format == Format::Text {
        for Done { run, .. } in processes {
            if args.stats
                && let Some(statistics) = session::statistics(run, args.functional, config)
            {
                text += &format!("\n{statistics}\n");
            }
            let Some(total) = run.total() else { continue };
            if let Some(prices) = &prices {
                text += &energy::report(&total, config, prices);
            }
        }
    }
    if let Some(file) = &args.timeline {
        let of: Vec<_> = processes.iter().map(|done| (done.run.name.as_str(), &done.timeline)).collect();
        files::write(file, timeline::trace_events(&of).as_bytes(), "--timeline")?;
    }
    match &args.output {
        Some(file) => files::write(file, text.as_bytes(), "--output"),
        None => {
            terminal.err(&text);
            Ok(())
        }
    }
}
