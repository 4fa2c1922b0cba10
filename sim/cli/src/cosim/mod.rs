//! `wave-sim cosim`: kernels on the simulator and on the core in SystemVerilog, compared as they run.

mod args;
mod bundle;
mod campaign;
mod corpus;
mod speed;

use super::session::launch_flags;
use super::terminal::Terminal;
use super::work::{Data, Work};
use super::{Ended, Exit, inputs, interrupt, progress, work};
pub(crate) use args::{CosimArgs, CosimMode};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;
use wave_files::read::{self, DOCUMENT_BYTES};
use wave_files::reason;
use wave_files::temporary::TemporaryFile;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::{Launch, Program};
use wave_machine::clock::Cycle;
use wave_machine::config::Config;
use wave_machine::gpu::{Machine, RunOptions};
use wave_machine::memory::Script;
use wave_observe::numbers::counted;
use wave_observe::trace::{How, Recorder, Window};
use wave_study::launch::Size;
use wave_verify::rtl::coverage::Coverage;
use wave_verify::rtl::{
    self, Agreement, Beginning, Cosim, Disagreement, End, Events, LineCoverage, Mode, Replay, Side, Variant,
};

/// Cycle limit of the simulator for a launch if none is given.
const MAX_CYCLES: u32 = 100_000_000;
/// Cycles that the other side may take in addition to a multiple of the simulator's.
const MORE_CYCLES: u64 = 20_000;
/// Most bytes of a stimulus file: code, device memory and latencies.
const STIMULUS_BYTES: u64 = 5 << 30;
/// What is said while the other side is made.
const BUILDING: &str = "building the core with Verilator (minutes; the next run has it already)";
/// Default bounds of the memory side's latencies for a named kernel.
const LATENCY: (u32, u32) = (2, 12);

/// Runs what the arguments name on both sides, and reports on each.
///
/// # Errors
/// Whatever is wrong with the names, the files, the configuration, or the build of the other side.
pub(crate) fn run(args: &CosimArgs, terminal: &Terminal) -> Ended {
    let config = inputs::config(&args.config, &args.set, terminal)?;
    let config = if args.small { rtl::small(config) } else { config };
    check(args, &config).map_err(|e| vec![e])?;
    let replay = args.stimulus.as_deref().map(|path| replay(path, &config)).transpose()?;
    let corpus = args.corpus.as_deref().map(|folder| corpus::read(folder, args.guided)).transpose();
    let corpus = corpus.map_err(|error| vec![error])?;
    let bug = args.bug.map(|n| format!("+bug={n}"));
    let executable = match &args.core {
        Some(path) => path.clone(),
        None => build(args, &config)?,
    };
    let bench = Bench {
        args,
        config: &config,
        executable: &executable,
        arguments: bug.as_deref().into_iter().collect(),
    };
    if args.speed {
        return speed::run(&bench, terminal);
    }
    let mut seen = Seen::new(args, &config);
    let mut exit = Exit::Success;
    for word in &args.kernels {
        if interrupt::is_asked() {
            return Ok(Exit::Fault);
        }
        exit = exit.max(bench.kernel(word, &mut seen, terminal)?);
    }
    if let (Some(replay), Some(path)) = (&replay, &args.stimulus) {
        let Replay { program, launch, memory, script, beginning, max_cycles } = replay;
        let cosim = bench.cosim(program, launch, memory, script, beginning);
        let cosim = Cosim { max_cycles: *max_cycles, ..cosim };
        let ended = bench.compare(&cosim, &mut seen)?;
        exit = exit.max(bench.report(&path.display().to_string(), &cosim, &ended, terminal)?);
    }
    if args.random > 0 || corpus.is_some() {
        exit = exit.max(campaign::run(&bench, corpus.unwrap_or_default(), &mut seen, terminal)?);
    }
    if let Some(coverage) = &seen.coverage {
        terminal.out(&coverage.text())?;
    }
    if let Some(events) = seen.events.as_ref().filter(|_| args.events) {
        terminal.out(&events.text())?;
    }
    if let Some(lines) = &seen.lines {
        terminal.out(&lines.text())?;
    }
    Ok(exit)
}

/// Checks everything that can be wrong before a build, which takes minutes.
fn check(args: &CosimArgs, config: &Config) -> Result<(), Diagnostic> {
    if config.cores != 1 {
        let message = format!(
            "`{}` has {} cores, and a co-simulation is one of a single core",
            args.config, config.cores
        );
        let hint = "leave `--config` out: rtl.ron is the machine of the core in SystemVerilog";
        return Err(Diagnostic::error(message).hint(hint));
    }
    let corpus = args.corpus.is_some();
    if args.kernels.is_empty() && args.random == 0 && !corpus && args.stimulus.is_none() && !args.speed {
        let hint = "name kernels of the suite or launch files, or give `--random N`";
        return Err(Diagnostic::error("there is nothing to run").hint(hint));
    }
    if let Some((from, to)) = args.latency.filter(|(from, to)| *from == 0 || from > to) {
        let message = format!("--latency {from},{to}: the bounds are 1 or more and in order");
        return Err(Diagnostic::error(message).hint("such as `--latency 2,12`"));
    }
    if let Some(bug) = args.bug {
        let bugs = rtl::planted_bugs(&rtl::directory());
        if !bugs.contains(&bug) {
            let (first, last) = (bugs.first().unwrap_or(&0), bugs.last().unwrap_or(&0));
            let hint = format!("they are `BUG(n)` in rtl-tests/rtl, from {first} to {last}");
            return Err(Diagnostic::error(format!("--bug {bug}: there is no such bug")).hint(hint));
        }
    }
    if let Some(core) = args.core.as_deref().filter(|core| !core.is_file()) {
        let message = format!("--core: there is no file `{}`", core.display());
        return Err(Diagnostic::error(message).hint("rtl-tests/README.md says what it has to do"));
    }
    #[cfg(unix)]
    if let Some(core) = &args.core {
        use std::os::unix::fs::PermissionsExt;
        if std::fs::metadata(core).is_ok_and(|file| file.permissions().mode() & 0o111 == 0) {
            let message = format!("--core: `{}` is not executable", core.display());
            return Err(Diagnostic::error(message).hint("`chmod +x` makes a program so"));
        }
    }
    if !args.no_bundle {
        bundle::check(&args.bundle)?;
    }
    let inputs = args.kernels.iter().map(|word| inputs::input(word)).collect::<Result<Vec<_>, _>>()?;
    launch_flags(&args.launch, &inputs, false).map_or(Ok(()), Err)
}

fn replay(path: &Path, config: &Config) -> Result<Replay, Vec<Diagnostic>> {
    let wrong = |what: String| {
        let message = format!("--stimulus: cannot use `{}`: {what}", path.display());
        vec![Diagnostic::error(message).hint("`wave-sim cosim` writes one into each failure bundle")]
    };
    let bytes = read::regular(path, STIMULUS_BYTES).map_err(|error| wrong(error.to_string()))?;
    Replay::read(&bytes, config).map_err(wrong)
}

/// The core of the source tree for a machine that differs from `rtl.ron` in its wave slots at most.
fn build(args: &CosimArgs, config: &Config) -> Result<PathBuf, Vec<Diagnostic>> {
    let variant = Variant {
        waves: Some(config.core.max_waves),
        bugs: args.bug.is_some(),
        lines: args.line_coverage,
        events: args.events || args.guided,
        ..Variant::default()
    };
    executable(args, &variant)
}

fn executable(args: &CosimArgs, variant: &Variant) -> Result<PathBuf, Vec<Diagnostic>> {
    let directory = rtl::directory();
    let target = args.build_dir.clone().unwrap_or_else(|| directory.join("../target/rtl"));
    let waiting = progress::waiting(BUILDING);
    let is_told = Once::new();
    let watch = |files: usize| {
        if waiting.is_hidden() {
            is_told.call_once(|| Terminal::of_environment().err(&format!("{BUILDING}\n")));
        }
        let now = match files {
            0 => "Verilator reads it".to_owned(),
            _ => format!("{} compiled", counted(files as u64, "file")),
        };
        progress::tell(&waiting, &format!("{BUILDING}: {now}"));
    };
    let built =
        rtl::wave_core(&directory, variant).and_then(|model| rtl::build_watched(&model, &target, &watch));
    waiting.finish_and_clear();
    built.map_err(|error| {
        let hint = "or give `--core EXECUTABLE`, which rtl-tests/README.md describes";
        vec![Diagnostic::error(error.to_string()).hint(hint)]
    })
}

/// What the other side has written to a temporary file.
fn text(path: &Path) -> Result<String, Vec<Diagnostic>> {
    read::regular_text(path, DOCUMENT_BYTES)
        .map_err(|error| vec![Diagnostic::error(format!("cannot read `{}`: {error}", path.display()))])
}

fn no_temporary(error: &std::io::Error) -> Vec<Diagnostic> {
    let message = format!("no temporary file: {}", reason(error));
    vec![Diagnostic::error(message).hint("set TMPDIR to a directory with room")]
}

/// What comparisons count besides differences.
struct Seen {
    coverage: Option<Coverage>,
    lines: Option<LineCoverage>,
    events: Option<Events>,
}

impl Seen {
    fn new(args: &CosimArgs, config: &Config) -> Seen {
        Seen {
            coverage: args.coverage.then(|| Coverage::new(config)),
            lines: args.line_coverage.then(LineCoverage::default),
            events: (args.events || args.guided).then(Events::default),
        }
    }

    fn nothing() -> Seen {
        Seen { coverage: None, lines: None, events: None }
    }

    fn add(&mut self, other: &Seen) {
        if let (Some(mine), Some(its)) = (&mut self.coverage, &other.coverage) {
            mine.add(its);
        }
        if let (Some(mine), Some(its)) = (&mut self.lines, &other.lines) {
            mine.add(its);
        }
        if let (Some(mine), Some(its)) = (&mut self.events, &other.events) {
            mine.add(its);
        }
    }
}

struct Bench<'a> {
    args: &'a CosimArgs,
    config: &'a Config,
    executable: &'a Path,
    /// Arguments of the executable.
    arguments: Vec<&'a str>,
}

/// One launch of a job by itself, on the memory left by those before.
struct Step<'a> {
    title: String,
    launch: &'a Launch,
    memory: Vec<u8>,
}

impl Bench<'_> {
    fn cosim<'b>(
        &'b self,
        program: &'b Program,
        launch: &'b Launch,
        memory: &'b [u8],
        script: &'b Script,
        beginning: &'b Beginning,
    ) -> Cosim<'b> {
        Cosim {
            config: self.config,
            program,
            launch,
            memory,
            script,
            beginning,
            mode: match self.args.mode {
                CosimMode::Cycle => Mode::Cycle,
                CosimMode::Architectural => Mode::Architectural,
            },
            max_cycles: self.args.max_cycles.unwrap_or(MAX_CYCLES),
            patience: Duration::from_secs(self.args.timeout.get().into()),
            arguments: &self.arguments,
            stop: Some(interrupt::stop()),
        }
    }

    /// True if the stimulus is in the folder to which a bundle would be written.
    fn repeats_a_bundle(&self) -> bool {
        let folder = self.args.stimulus.as_deref().and_then(Path::parent);
        let same = |folder: &Path| Some(folder.canonicalize().ok()? == self.args.bundle.canonicalize().ok()?);
        folder.and_then(same).unwrap_or(false)
    }

    fn script(&self) -> Script {
        Side::in_order(self.args.seed, self.args.latency.unwrap_or(LATENCY)).script(0)
    }

    /// What a word names, with small data; nothing, and why, if the machine cannot run it.
    fn work(&self, word: &str, terminal: &Terminal) -> Result<Result<Work, String>, Vec<Diagnostic>> {
        let input = inputs::input(word).map_err(|e| vec![e])?;
        let data = Data { size: Size::Small, seed: None, device_memory: None };
        let work = work::work(&input, &self.args.launch, data, self.config)?;
        terminal.diagnostics(&work.warnings);
        match work.lack(self.config) {
            Some(lack) => Ok(Err(format!("{}: left out, {lack}", work.name))),
            None => Ok(Ok(work)),
        }
    }

    /// Visits each launch.
    fn steps(
        &self,
        work: &Work,
        mut visit: impl FnMut(Step<'_>) -> Result<(), Vec<Diagnostic>>,
    ) -> Result<(), Vec<Diagnostic>> {
        let mut memory = work.memory.clone();
        for (number, launch) in work.steps.iter().enumerate() {
            let title = match work.steps.len() {
                1 => work.name.clone(),
                _ => format!("{}, launch {number}", work.name),
            };
            visit(Step { title, launch, memory: memory.clone() })?;
            let mut gpu = Machine::new(self.config.clone(), work.program.clone(), memory);
            // The error has been reported.
            let options = RunOptions { stop: Some(interrupt::stop()), ..RunOptions::UNBOUNDED };
            if gpu.run(launch, &options, None, &mut |_| {}).is_err() {
                break;
            }
            memory = gpu.into_memory();
        }
        Ok(())
    }

    fn kernel(&self, word: &str, seen: &mut Seen, terminal: &Terminal) -> Ended {
        let work = match self.work(word, terminal)? {
            Ok(work) => work,
            Err(left_out) => return terminal.out(&format!("{left_out}\n")),
        };
        let (script, beginning) = (self.script(), Beginning::default());
        let mut exit = Exit::Success;
        self.steps(&work, |step| {
            let cosim = self.cosim(&work.program, step.launch, &step.memory, &script, &beginning);
            let ended = self.compare(&cosim, seen)?;
            exit = exit.max(self.report(&step.title, &cosim, &ended, terminal)?);
            Ok(())
        })?;
        Ok(exit)
    }

    /// Cycle limit of the other side for something that takes the simulator `cycle` cycles.
    fn soon_after(&self, cycle: Cycle) -> u32 {
        let times = match self.args.mode {
            CosimMode::Cycle => 2,
            // A different core may be slower.
            CosimMode::Architectural => 100,
        };
        u32::try_from(times * cycle + MORE_CYCLES).map_or(MAX_CYCLES, |limit| limit.min(MAX_CYCLES))
    }

    /// A core that hangs would be waited for in silence. So it gives up soon after the simulator has ended,
    /// unless a limit was given.
    fn bounded<'b>(&self, cosim: &Cosim<'b>) -> Cosim<'b> {
        let max_cycles = match cosim.max_cycles {
            MAX_CYCLES => match cosim.simulate(None) {
                Ok(End::Over(cycle, _)) => self.soon_after(cycle),
                Ok(End::Fault(fault)) => self.soon_after(fault.cycle.unwrap_or(0)),
                _ => MAX_CYCLES,
            },
            given => given,
        };
        Cosim { max_cycles, ..cosim.clone() }
    }

    /// Compares a launch, and counts what is requested.
    fn compare(
        &self,
        cosim: &Cosim<'_>,
        seen: &mut Seen,
    ) -> Result<Result<Agreement, Disagreement>, Vec<Diagnostic>> {
        let cosim = &self.bounded(cosim);
        let stimulus = TemporaryFile::scratch().map_err(|e| no_temporary(&e))?;
        let data = TemporaryFile::scratch().map_err(|e| no_temporary(&e))?;
        let met = TemporaryFile::scratch().map_err(|e| no_temporary(&e))?;
        let lines = format!("+coverage+{}", data.path().display());
        let events = format!("+events+{}", met.path().display());
        let mut arguments = cosim.arguments.to_vec();
        if seen.lines.is_some() {
            arguments.push(&lines);
        }
        if seen.events.is_some() {
            arguments.push(&events);
        }
        let cosim = Cosim { arguments: &arguments, ..cosim.clone() };
        let ended = match &mut seen.coverage {
            None => cosim.run(self.executable, stimulus.path()),
            Some(coverage) => {
                let sinks = vec![("coverage".to_owned(), Box::new(&mut *coverage) as _)];
                let mut recorder = Recorder::new(self.config, sinks, Window::ALL);
                recorder.start(cosim.program, cosim.launch, 0);
                let ended = cosim.run_beside(self.executable, stimulus.path(), Some(&mut recorder));
                // Instructions that have not retired are not counted.
                _ = recorder.finish(How::Stopped, Cycle::MAX - 1, "");
                ended
            }
        };
        if let (Some(lines), Ok(_)) = (&mut seen.lines, &ended) {
            lines.read(&text(data.path())?);
        }
        if let (Some(events), Ok(_)) = (&mut seen.events, &ended) {
            let read = Events::read(&text(met.path())?).map_err(|what| vec![Diagnostic::error(what)])?;
            events.add(&read);
        }
        Ok(ended)
    }

    /// Reports on a launch, and writes a bundle of what differs.
    fn report(
        &self,
        title: &str,
        cosim: &Cosim<'_>,
        ended: &Result<Agreement, Disagreement>,
        terminal: &Terminal,
    ) -> Ended {
        match ended {
            Ok(agreement) => {
                let Agreement { cycles, instructions, records, fault } = agreement;
                let end = if *fault { ", up to the fault in both" } else { "" };
                terminal.out(&format!(
                    "{title}: agrees{end}; {cycles} cycles, {instructions} wave instructions, {records} records\n"
                ))
            }
            Err(difference) => {
                terminal.out(&format!("{title}: {difference}\n"))?;
                let exit = exit_of(difference);
                if exit == Exit::WrongResult && !self.args.no_bundle && !self.repeats_a_bundle() {
                    let cosim = &self.bounded(cosim);
                    let failure = bundle::Failure { title, seed: None, original: None };
                    terminal.out(&bundle::write(self, &failure, cosim, difference)?)?;
                }
                Ok(exit)
            }
        }
    }
}

fn exit_of(difference: &Disagreement) -> Exit {
    match difference {
        Disagreement::Differs { .. } | Disagreement::Broken(_) => Exit::WrongResult,
        Disagreement::Refused(_) => Exit::WrongInput,
        Disagreement::Limit(_) | Disagreement::Interrupted => Exit::Fault,
    }
}
