//! Runs kernels on the GPU, verifies their results, and measures them.

use super::super::args::{DataSize, Format, LaunchArgs, SuiteName};
use super::super::inputs::{self, Input};
use super::super::progress::Progress;
use super::super::session::launch_flags;
use super::super::terminal::Terminal;
use super::super::work::{self, Data, Work};
use super::super::{Ended, Exit, files, interrupt};
use super::args::{GpuArgs, SiliconRunArgs};
use super::{document, open, read, repeats, settings};
use std::path::Path;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::Program;
use wave_machine::config::{self, Config};
use wave_machine::functional::{self, Limits};
use wave_ptx::{Options, SpecialFunctions, WAVE_WIDTH};
use wave_silicon::document::{Document, Run};
use wave_silicon::job::{Job, Repeats, UNALIGNED, measure};
use wave_silicon::session::{Failure, Session};
use wave_study::launch::{self, Size, Verification};
use wave_study::results::Measured;
use wave_study::summary::{self, Outcome};

/// Runs what is asked for and prints a row for each.
///
/// # Errors
/// Whatever is wrong with the input or the GPU.
pub(crate) fn run(args: &SiliconRunArgs, terminal: &Terminal) -> Ended {
    let inputs = inputs_of(&args.inputs, &args.suite, &args.launch)?;
    if let Some(wrong) = args.save.as_deref().and_then(|file| files::cannot_write(file, "--save")) {
        return Err(vec![wrong]);
    }
    let mut device = open(&args.gpu)?;
    let mut document = document(device.as_ref());
    let stop = || interrupt::is_asked();
    let settings = settings(&args.gpu, &args.translation);
    let mut bench = Bench {
        session: Session::new(device.as_mut(), &settings, &stop).map_err(Failure::messages)?,
        repeats: repeats(&args.gpu),
        config: reference()?,
        launch: &args.launch,
    };
    let data = Data { size: size(args.size), seed: args.seed, device_memory: Some(args.device_memory) };
    let mut exit = Exit::Success;
    let mut progress = Progress::of("kernels", inputs.len());
    for (number, input) in inputs.iter().enumerate() {
        progress.start_run(&input.word());
        let (run, ended, messages) = bench.run(input, data);
        progress.end_run();
        progress.aside(|| terminal.diagnostics(&messages));
        exit = exit.max(ended);
        document.runs.push(run);
        let left = inputs.len() - number - 1;
        if left > 0 && (ended >= Exit::WrongInput && bench.session.is_lost() || interrupt::is_asked()) {
            let message = format!("{left} more are not run: the GPU cannot be used after this");
            progress.aside(|| terminal.diagnostics(&[Diagnostic::warning(message)]));
            break;
        }
    }
    progress.finish();
    document.settle();
    if let Some(file) = &args.save {
        files::write(file, document.text().as_bytes(), "--save")?;
    }
    terminal.out(&match args.format {
        Format::Text => text(&document),
        Format::Json => document.text(),
    })?;
    Ok(exit)
}

/// What is asked for; the suites if nothing is named.
pub(super) fn inputs_of(
    words: &[String],
    suites: &[SuiteName],
    launch: &LaunchArgs,
) -> Result<Vec<Input>, Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    let mut inputs: Vec<Input> =
        words.iter().filter_map(|word| inputs::input(word).map_err(|error| wrong.push(error)).ok()).collect();
    if words.is_empty() {
        let suites = if suites.is_empty() { &[SuiteName::Wave][..] } else { suites };
        let names = suites.iter().flat_map(|suite| suite_names(*suite));
        inputs.extend(names.map(|name| Input::Launch(name.to_owned())));
    }
    wrong.extend(launch_flags(launch, &inputs, words.is_empty()));
    if wrong.is_empty() { Ok(inputs) } else { Err(wrong) }
}

/// Names of the kernels of a suite.
pub(super) fn suite_names(suite: SuiteName) -> Vec<&'static str> {
    match suite {
        SuiteName::Wave => launch::suite().collect(),
        SuiteName::C => launch::c_suite().collect(),
        SuiteName::Wgsl => launch::wgsl_suite().collect(),
        SuiteName::Cuda => launch::cuda_suite().collect(),
    }
}

/// Size of the data.
pub(super) fn size(size: DataSize) -> Size {
    match size {
        DataSize::Full => Size::Full,
        DataSize::Small => Size::Small,
    }
}

/// The machine that says what memory should be after a kernel: of its parameters only the width of waves matters.
pub(super) fn reference() -> Result<Config, Vec<Diagnostic>> {
    let mut config = config::load("gpu.ron")?;
    config.core.wave_width = WAVE_WIDTH;
    Ok(config)
}

/// A device, and how it is used.
pub(super) struct Bench<'d> {
    pub session: Session<'d>,
    pub repeats: Repeats,
    pub config: Config,
    pub launch: &'d LaunchArgs,
}

impl Bench<'_> {
    /// Runs an input. Gives what to store, the exit code, and messages.
    pub(super) fn run(&mut self, input: &Input, data: Data) -> (Run, Exit, Vec<Diagnostic>) {
        let name = input.word();
        let of =
            matches!(input, Input::Launch(_)).then_some(summary::Data { size: data.size, seed: data.seed });
        let fail = |outcome: &str, exit: Exit, messages: Vec<Diagnostic>| {
            let why = messages.first().map_or(String::new(), |message| message.message.clone());
            let messages = messages
                .into_iter()
                .map(|message| Diagnostic { message: format!("`{name}`: {}", message.message), ..message })
                .collect();
            (Run::without(&name, outcome, of, why), exit, messages)
        };
        let work = match work::work(input, self.launch, data, &self.config) {
            Ok(work) => work,
            Err(wrong) => return fail("refused", Exit::WrongInput, wrong),
        };
        let expected = match functional(&work, &self.config) {
            Ok(memory) => memory,
            Err(why) => return fail("fault", Exit::Fault, vec![why]),
        };
        let options = self.session.options();
        let is_unaligned = UNALIGNED.contains(&name.as_str());
        self.session.translate_with(Options { aligned: options.aligned && !is_unaligned, ..options });
        let job = Job { program: &work.program, memory: &work.memory, steps: &work.steps };
        let mut verdict = Verdict { work: &work, expected: &expected, verification: None, bytes_apart: 0 };
        let times = measure(&mut self.session, &job, self.repeats, &mut |memory| verdict.look(memory));
        self.session.translate_with(options);
        match times {
            Err(Failure::Input(wrong)) => fail("refused", Exit::WrongInput, wrong),
            Err(Failure::Fault(why)) => fail("fault", Exit::Fault, vec![why]),
            Ok(times) => {
                let (word, message) = verdict.outcome(options.special);
                let bytes_apart = verdict.bytes_apart;
                let wrong = word == "failed";
                let messages = message.clone().filter(|_| wrong).map(|message| {
                    Diagnostic::error(format!("`{name}`: {message}")).hint(
                        "the same on the simulator is right: this is a bug of the translation or of the GPU",
                    )
                });
                let run = Run {
                    message: message.filter(|_| wrong),
                    bytes_apart: Some(bytes_apart),
                    ..Run::new(&name, word, of, times)
                };
                (run, if wrong { Exit::WrongResult } else { Exit::Success }, messages.into_iter().collect())
            }
        }
    }
}

/// Device memory after the launches, as the functional machine leaves it.
fn functional(work: &Work, config: &Config) -> Result<Vec<u8>, Diagnostic> {
    let mut memory = work.memory.clone();
    for launch in &work.steps {
        let limits = Limits { stop: Some(interrupt::stop()), ..Limits::default() };
        functional::run(config, &work.program, launch, &mut memory, &limits, &mut |_| {}).map_err(
            |error| match error {
                functional::ExecutionError::Fault(fault) => fault.diagnostic(&work.program),
                functional::ExecutionError::Launch(error) => Diagnostic::error(error.message),
                _ => Diagnostic::error("it does not end without a GPU either"),
            },
        )?;
    }
    Ok(memory)
}

/// What is wrong with the results.
struct Verdict<'a> {
    work: &'a Work,
    expected: &'a [u8],
    /// The worst of all that were looked at.
    verification: Option<Verification>,
    /// Most bytes that differ from those of the functional machine.
    bytes_apart: u64,
}

impl Verdict<'_> {
    fn look(&mut self, memory: &[u8]) {
        let apart = memory.iter().zip(self.expected).filter(|(a, b)| a != b).count() as u64;
        self.bytes_apart = self.bytes_apart.max(apart);
        let found = self.work.expected.as_ref().map_or(Verification::Nothing, |job| job.verify(memory));
        if self.verification.as_ref().is_none_or(Verification::is_ok) {
            self.verification = Some(found);
        }
    }

    /// One word, and what there is to say.
    fn outcome(&self, special: SpecialFunctions) -> (&'static str, Option<String>) {
        let verification = self.verification.clone().unwrap_or(Verification::Nothing);
        if let Verification::Failed { .. } = verification {
            return ("failed", Some(verification.to_string()));
        }
        // Where atomics return what was there, or functions are approximations, other bytes are right too.
        let may_differ = special == SpecialFunctions::Hardware || has_atomics(&self.work.program);
        if self.bytes_apart > 0 && !may_differ {
            let message = format!(
                "{} bytes of memory are not those of the functional machine, though every operation is exact",
                self.bytes_apart
            );
            return ("failed", Some(message));
        }
        (Outcome::Ended(verification).word(), None)
    }
}

/// True if a program has atomics: the order in which they take place can decide what memory holds.
fn has_atomics(program: &Program) -> bool {
    wave_isa::program::disassemble(program).contains("atomic")
}

/// The table.
fn text(document: &Document) -> String {
    const HEADER: [&str; 8] = ["kernel", "launches", "cycles", "", "us", "us with launch", "MHz", "result"];
    let mut rows = vec![HEADER.map(str::to_owned)];
    for run in &document.runs {
        let of = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let times = run.times.as_ref();
        let result = match run.bytes_apart {
            Some(0) => format!("{}, every byte as expected", run.outcome),
            Some(apart) => format!("{}, {apart} bytes in another order", run.outcome),
            None => run.outcome.clone(),
        };
        rows.push([
            run.name.clone(),
            of(times.map(|times| times.launches.to_string())),
            of(times.map(|times| format!("{:.0}", times.cycles.median))),
            times.map_or(String::new(), |times| format!("± {:.1} %", times.cycles.percent())),
            of(times.map(|times| format!("{:.2}", times.nanoseconds.median / 1e3))),
            of(times.map(|times| format!("{:.2}", times.host_nanoseconds.median / 1e3))),
            of(times.and_then(|times| times.clock_mhz).map(|mhz| format!("{mhz:.0}"))),
            if run.outcome == "failed" { run.outcome.clone() } else { result },
        ]);
    }
    let lines = columns(&rows, |column| (1..7).contains(&column));
    format!("{}\n{lines}", document.heading())
}

/// Text in columns, two blanks apart; cells of `right` columns end at the right.
pub(super) fn columns<const N: usize>(rows: &[[String; N]], right: impl Fn(usize) -> bool) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cell = |(column, cell): (usize, &String)| match right(column) {
            true => format!("{cell:>width$}", width = widths[column]),
            false => format!("{cell:width$}", width = widths[column]),
        };
        row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// A column of `compare` with what a GPU has measured of some inputs: out of a file, or live.
///
/// # Errors
/// The file is none, there is no GPU, or a kernel does not run on it.
pub(crate) fn hardware(
    word: &str,
    inputs: &[Input],
    data: Data,
    launch: &LaunchArgs,
) -> Result<(String, Vec<Measured>), Vec<Diagnostic>> {
    let document = match word {
        "live" => live(inputs, data, launch)?,
        file => read(Path::new(file), "--hardware").map_err(|error| vec![error])?,
    };
    let all = Measured::read(&document.text(), word).map_err(|error| vec![error])?;
    let of = |input: &Input| {
        let is_it = |run: &&Measured| {
            run.kernel == input.word()
                && run.data.is_none_or(|of| (of.size, of.seed) == (data.size, data.seed))
        };
        let run = all.iter().find(is_it)?;
        Some(Measured { kernel: input.name(), ..run.clone() })
    };
    Ok((document.config.name.clone(), inputs.iter().filter_map(of).collect()))
}

/// Names of the inputs that a stored measurement has.
pub(super) fn names(document: &Document) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for run in document.runs.iter().filter(|run| run.times.is_some()) {
        if !names.contains(&run.name) {
            names.push(run.name.clone());
        }
    }
    names
}

/// Measures some inputs now.
fn live(inputs: &[Input], data: Data, launch: &LaunchArgs) -> Result<Document, Vec<Diagnostic>> {
    let args = GpuArgs { gpu: 0, rehearse: None, repeats: 9, warm_up: 2, timeout: 10.0, warm: false };
    let mut device = open(&args)?;
    let mut document = document(device.as_ref());
    let stop = || interrupt::is_asked();
    let settings = wave_silicon::session::Settings::default();
    let mut bench = Bench {
        session: Session::new(device.as_mut(), &settings, &stop).map_err(Failure::messages)?,
        repeats: repeats(&args),
        config: reference()?,
        launch,
    };
    for input in inputs {
        let (run, _, messages) = bench.run(input, data);
        if run.times.is_none() {
            return Err(messages);
        }
        document.runs.push(run);
    }
    document.settle();
    Ok(document)
}
