//! `wave-sim silicon correlate`: cycles of the simulator against those of the GPU.

use super::super::args::{DataSize, LaunchArgs, SuiteName, TableFormat};
use super::super::execute::{exit_of, run_options, verify};
use super::super::inputs::{self, Input};
use super::super::progress::Progress;
use super::super::session::complain;
use super::super::terminal::Terminal;
use super::super::work::{self, Data, Work};
use super::super::{Ended, Exit, files, folders, interrupt, plain};
use super::args::{SiliconCorrelateArgs, TranslationArgs, machine_args};
use super::runs::{Bench, inputs_of, names, reference, size};
use super::{document, open, read, repeats, settings};
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::Config;
use wave_machine::core::probe::{Listeners, Observer};
use wave_machine::gpu::RunOptions;
use wave_observe::limits::Limits;
use wave_observe::limits::account::Observed;
use wave_observe::limits::by_launch::ByLaunch;
use wave_silicon::bench::Spans;
use wave_silicon::correlation::{Correlation, Point};
use wave_silicon::document::Document;
use wave_silicon::scatter;
use wave_silicon::session::{Failure, Session};
use wave_study::launch::Verification;
use wave_study::results::Machine;
use wave_study::summary::{self, Outcome, Run};

/// Simulates what was measured, or measures and simulates.
///
/// # Errors
/// Whatever is wrong with the input or the GPU.
pub(super) fn run(args: &SiliconCorrelateArgs, terminal: &Terminal) -> Ended {
    let config = inputs::config(&args.config, &args.set, terminal)?;
    let stored =
        args.from.as_deref().map(|file| read(file, "--from")).transpose().map_err(|error| vec![error])?;
    let inputs = kernels(args, stored.as_ref())?;
    if let Some(kernel) = inputs.iter().find(|input| matches!(input, Input::Kernel(_))) {
        let message = format!("`{}` is a kernel without data", kernel.word());
        return Err(vec![Diagnostic::error(message).hint("a launch file states data and launches")]);
    }
    let sizes = match args.sizes.as_slice() {
        [] => vec![DataSize::Small, DataSize::Full],
        sizes => sizes.to_vec(),
    };
    if let Some(folder) = &args.save {
        folders::check(folder, "--save")?;
    }
    let cases: Vec<(&Input, DataSize)> =
        inputs.iter().flat_map(|input| sizes.iter().map(move |size| (input, *size))).collect();
    let (document, mut exit) = match (stored, args.open) {
        (Some(document), _) => (Some(document), Exit::Success),
        (None, true) => (None, Exit::Success),
        (None, false) => measured(args, &cases, terminal).map(|(document, exit)| (Some(document), exit))?,
    };
    let mut correlation = Correlation {
        gpu: document.as_ref().map_or_else(|| "no GPU: the column is open".to_owned(), Document::heading),
        machine: Machine::of(&config),
        points: Vec::new(),
        left_out: Vec::new(),
    };
    let mut progress = Progress::of("kernels", cases.len());
    for (input, size) in cases {
        if interrupt::is_asked() {
            terminal.diagnostics(&[Diagnostic::warning("interrupted: kernels are missing")]);
            exit = exit.max(Exit::Fault);
            break;
        }
        progress.start_run(&input.word());
        let one = Case { input, size, config: &config, document: document.as_ref() };
        exit = exit.max(one.simulate(args, terminal, &mut correlation, &mut progress));
        progress.end_run();
    }
    progress.finish();
    if let Some(folder) = &args.save {
        folders::make(folder, "--save")?;
        if let Some(document) = document.as_ref().filter(|_| args.from.is_none()) {
            files::write(&folder.join("measured.json"), document.text().as_bytes(), "--save")?;
        }
        let parts = [
            ("correlation.md", correlation.markdown()),
            ("correlation.json", correlation.json()),
            ("correlation.svg", scatter::svg(&correlation)),
        ];
        for (name, text) in parts {
            files::write(&folder.join(name), text.as_bytes(), "--save")?;
        }
    }
    terminal.out(&match args.format {
        TableFormat::Text => correlation.text(),
        TableFormat::Json => correlation.json(),
        TableFormat::Markdown => correlation.markdown(),
    })?;
    Ok(exit)
}

/// What is compared: what is named, what was measured, or all suites.
fn kernels(args: &SiliconCorrelateArgs, stored: Option<&Document>) -> Result<Vec<Input>, Vec<Diagnostic>> {
    let none = LaunchArgs::default();
    match stored {
        Some(document) if args.inputs.is_empty() && args.suite.is_empty() => {
            inputs_of(&names(document), &[], &none)
        }
        _ if args.inputs.is_empty() && args.suite.is_empty() => {
            inputs_of(&[], &[SuiteName::Wave, SuiteName::C, SuiteName::Wgsl], &none)
        }
        _ => inputs_of(&args.inputs, &args.suite, &none),
    }
}

/// Measures all cases now.
fn measured(
    args: &SiliconCorrelateArgs,
    cases: &[(&Input, DataSize)],
    terminal: &Terminal,
) -> Result<(Document, Exit), Vec<Diagnostic>> {
    let mut device = open(&args.gpu)?;
    let mut document = document(device.as_ref());
    let stop = || interrupt::is_asked();
    let translation = TranslationArgs {
        unaligned: false,
        check_bounds: false,
        special: super::super::args::PtxSpecial::Exact,
    };
    let settings = settings(&args.gpu, &translation);
    let none = LaunchArgs::default();
    let mut bench = Bench {
        session: Session::new(device.as_mut(), &settings, &stop).map_err(Failure::messages)?,
        repeats: repeats(&args.gpu),
        config: reference()?,
        launch: &none,
    };
    let mut exit = Exit::Success;
    let mut progress = Progress::of("kernels on the GPU", cases.len());
    for (input, data_size) in cases {
        progress.start_run(&input.word());
        let data = Data { size: size(*data_size), seed: None, device_memory: None };
        let (run, ended, messages) = bench.run(input, data);
        progress.end_run();
        progress.aside(|| terminal.diagnostics(&messages));
        exit = exit.max(ended);
        document.runs.push(run);
        if bench.session.is_lost() {
            let message = "the GPU cannot be used after this: what is behind it is not measured";
            progress.aside(|| terminal.diagnostics(&[Diagnostic::warning(message)]));
            break;
        }
        if interrupt::is_asked() {
            break;
        }
    }
    progress.finish();
    document.settle();
    Ok((document, exit))
}

/// A kernel with data of a size.
struct Case<'a> {
    input: &'a Input,
    size: DataSize,
    config: &'a Config,
    document: Option<&'a Document>,
}

impl Case<'_> {
    /// Simulates it, and adds it to the correlation.
    fn simulate(
        &self,
        args: &SiliconCorrelateArgs,
        terminal: &Terminal,
        correlation: &mut Correlation,
        progress: &mut Progress,
    ) -> Exit {
        let name = self.input.word();
        let of = summary::Data { size: size(self.size), seed: None };
        let mut leave_out = |why: String| {
            correlation.left_out.push((format!("{name} {}", of.to_string().replacen("--size ", "", 1)), why));
        };
        let found = self.document.and_then(|document| {
            document.runs.iter().find(|run| run.name == name && run.data.is_none_or(|data| data == of))
        });
        let measured = match (self.document, found) {
            (Some(_), None) => {
                leave_out("it was not measured".to_owned());
                return Exit::Success;
            }
            (Some(_), Some(run)) => match (&run.times, run.outcome.as_str()) {
                (Some(times), "verified" | "ended") => Some(times.cycles),
                _ => {
                    leave_out(format!("{}: {}", run.outcome, run.message.clone().unwrap_or_default()));
                    return Exit::Success;
                }
            },
            (None, _) => None,
        };
        let machine = machine_args(self.size, args.threads);
        let work = match work::work(self.input, &LaunchArgs::default(), machine.data(), self.config) {
            Ok(work) => work,
            Err(wrong) => {
                leave_out(wrong.first().map_or(String::new(), |wrong| wrong.message.clone()));
                return Exit::Success;
            }
        };
        if let Some(lack) = work.lack(self.config) {
            leave_out(lack);
            return Exit::Success;
        }
        let program = work.program.clone();
        let mut watch = ByLaunch::new(self.config, &program, work.steps.len());
        let (run, simulated) = timed(work, self.config, &run_options(&machine.bounds), &mut watch, progress);
        progress.aside(|| complain(&run, terminal));
        match (&run.outcome, run.total()) {
            (Outcome::Ended(_), Some(report)) => {
                let observed = Observed { config: self.config, report: &report, watch: &watch.all };
                let limits = Limits::of(&observed);
                let limit = match limits.limiters.first() {
                    Some(limiter) => {
                        format!("{} {:.0} %", limiter.cause.name(self.config), limits.percent(limiter.cycles))
                    }
                    None => "nothing of weight".to_owned(),
                };
                correlation.points.push(Point {
                    kernel: name.clone(),
                    data: Some(of),
                    measured,
                    simulated,
                    limit,
                });
            }
            _ => leave_out("it does not end on the simulator".to_owned()),
        }
        exit_of(&run)
    }
}

/// Runs all launches, watched. Gives the cycles too, counted as on a GPU.
fn timed(
    work: Work,
    config: &Config,
    options: &RunOptions,
    watch: &mut ByLaunch<'_>,
    progress: &mut Progress,
) -> (Run, f64) {
    let nothing = Outcome::Ended(Verification::Nothing);
    let mut run = Run { data: work.data, ..Run::new(&work.name, nothing) };
    let mut machine = wave_machine::gpu::Machine::new(config.clone(), work.program.clone(), work.memory);
    let mut simulated = 0.0;
    let ended = plain::launches(&mut run, &work.program, &work.steps, options, |launch| {
        progress.start_launch();
        let mut spans = Spans::default();
        watch.start(launch, machine.now());
        let mut both = Listeners::new([&mut *watch as &mut dyn Observer, &mut spans]);
        let ended = machine.run(launch, options, Some(&mut both), &mut |now| progress.show(now));
        watch.end(ended.as_ref());
        simulated += spans.cycles();
        ended
    });
    if ended {
        run.outcome = verify(work.expected.as_ref(), &machine.into_memory());
    }
    (run, simulated)
}
