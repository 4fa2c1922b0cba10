//! `wave-sim validate`: machines held to published measurements of real GPUs.

use super::args::SetArgs;
use super::execute::parallel;
use super::progress::{counting, tell};
use super::terminal::Terminal;
use super::{Ended, Exit, files, folders, inputs, interrupt};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use wave_files::read::{DOCUMENT_BYTES, RON_BYTES};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::suggest::did_you_mean;
use wave_machine::config::Config;
use wave_study::validate::{
    ProgramRuns, Published, PublishedPoint, PublishedTopic, Validation, page, simulate, svg, text,
};

/// `wave-sim validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// A machine: a file, or a preset's name; may be repeated [default: every preset with published measurements]
    #[arg(long, value_name = "CONFIG")]
    pub config: Vec<String>,
    /// Parameters of all configurations.
    #[command(flatten)]
    pub set: SetArgs,
    /// Published measurements [default: those of the preset of the same name]
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Only this topic, such as latency or streams; may be repeated
    #[arg(long, value_name = "NAME")]
    pub topic: Vec<String>,
    /// Only the points that the file marks as quick
    #[arg(long)]
    pub quick: bool,
    /// Folder with the documents of whole programs, a file PROGRAM.json each, that `wave-sim run --format json` wrote
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub format: ValidateFormat,
    /// Write plot, page and values into this folder: NAME.svg, NAME.html, validate.csv
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Points that run at the same time [default: as many as the host has processors]
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,
}

/// Form of a validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValidateFormat {
    /// For reading.
    Text,
    /// Comma-separated values, a line for each point.
    Csv,
    /// For programs.
    Json,
    /// The table of the book: errors by topic.
    Markdown,
}

/// Runs all points and prints them. A missed bound is a wrong result.
///
/// # Errors
/// Whatever is wrong with configurations, files of measurements, topics or the folder.
pub(crate) fn run(args: &ValidateArgs, terminal: &Terminal) -> Ended {
    interrupt::stop();
    let topics = topics(&args.topic)?;
    if let Some(folder) = &args.save {
        folders::check(folder, "--save")?;
    }
    let programs = args.runs.as_deref().map(programs).transpose()?.unwrap_or_default();
    let works = works(args, &topics, &programs, terminal)?;
    let simulated = simulate_all(&works, &programs, parallel(args.threads));
    if interrupt::is_asked() {
        return Ok(Exit::Fault);
    }
    let mut simulated = simulated.into_iter();
    let validations: Vec<Validation> = works
        .into_iter()
        .map(|work| {
            let values = simulated.by_ref().take(work.points.len()).collect();
            Validation::new(work.config, work.published, work.points, values, args.quick)
        })
        .collect();
    if let Some(folder) = &args.save {
        save(&validations, folder)?;
    }
    let report = match args.format {
        ValidateFormat::Text => validations.iter().map(text::text).collect::<Vec<_>>().join("\n"),
        ValidateFormat::Markdown => validations.iter().map(text::markdown).collect::<Vec<_>>().join("\n"),
        ValidateFormat::Csv => csv(&validations)?,
        ValidateFormat::Json => text::json(&validations),
    };
    terminal.out(&report)?;
    Ok(if validations.iter().all(Validation::holds) { Exit::Success } else { Exit::WrongResult })
}

/// A machine and the points to run on it.
struct Work {
    config: Config,
    published: Published,
    points: Vec<PublishedPoint>,
}

fn topics(names: &[String]) -> Result<Vec<PublishedTopic>, Vec<Diagnostic>> {
    let topic = |name: &String| {
        name.parse::<PublishedTopic>()
            .map_err(|wrong| vec![Diagnostic::error(format!("--topic: {}", wrong.message)).hint(wrong.hint)])
    };
    names.iter().map(topic).collect()
}

/// The machines with their points.
fn works(
    args: &ValidateArgs,
    topics: &[PublishedTopic],
    programs: &ProgramRuns,
    terminal: &Terminal,
) -> Result<Vec<Work>, Vec<Diagnostic>> {
    let against = args.against.as_deref().map(against).transpose()?;
    let names: Vec<String> = match (&against, args.config.is_empty()) {
        (_, false) => args.config.clone(),
        (Some(published), true) => vec![published.preset.clone()],
        (None, true) => Published::presets().map(str::to_owned).collect(),
    };
    let mut works = Vec::new();
    for name in &names {
        let config = inputs::config(name, &args.set, terminal)?;
        programs.check(&config).map_err(|error| vec![error])?;
        let published = match &against {
            Some(published) => published.clone(),
            None => Published::of_preset(&config.name).map_err(|error| vec![error])?,
        };
        let is_wanted = |point: &&PublishedPoint| {
            (point.quick || !args.quick)
                && (topics.is_empty() || topics.contains(&point.quantity.topic()))
                // A program runs before, or not at all.
                && (point.quantity.program().is_none() || programs.has(&point.quantity))
        };
        let points: Vec<PublishedPoint> = published.points.iter().filter(is_wanted).cloned().collect();
        if points.is_empty() {
            return Err(vec![nothing(&published, args)]);
        }
        works.push(Work { config, published, points });
    }
    Ok(works)
}

/// The runs of a folder.
fn programs(folder: &Path) -> Result<ProgramRuns, Vec<Diagnostic>> {
    let of =
        |error: std::io::Error| vec![Diagnostic::error(format!("--runs: `{}`: {error}", folder.display()))];
    let entries = std::fs::read_dir(folder).map_err(of)?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(of)?;
    // The first mistake is the same on every host.
    paths.sort();
    let mut runs = ProgramRuns::default();
    let mut is_empty = true;
    for path in paths {
        let (Some(program), true) = (path.file_stem(), path.extension().is_some_and(|e| e == "json")) else {
            continue;
        };
        let text = text_of(&path, DOCUMENT_BYTES, "--runs")?;
        runs.add(&program.to_string_lossy(), &path.display().to_string(), &text)
            .map_err(|wrong| vec![wrong])?;
        is_empty = false;
    }
    if is_empty {
        let message = format!("--runs: there is no file PROGRAM.json in `{}`", folder.display());
        let hint = "`wave-sim run --format json --output DIR/PROGRAM.json -- PROGRAM` writes one";
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    Ok(runs)
}

fn against(path: &Path) -> Result<Published, Vec<Diagnostic>> {
    let text = text_of(path, RON_BYTES, "--against")?;
    Published::parse(&path.display().to_string(), &text).map_err(|error| vec![error])
}

/// The text of a file that a flag names.
fn text_of(path: &Path, most: u64, flag: &str) -> Result<String, Vec<Diagnostic>> {
    let bytes = inputs::read(path, most, flag).map_err(|error| vec![error])?;
    String::from_utf8(bytes)
        .map_err(|_| vec![Diagnostic::error(format!("{flag}: `{}` is not text in UTF-8", path.display()))])
}

/// The message about a selection without a point.
fn nothing(published: &Published, args: &ValidateArgs) -> Diagnostic {
    let quick = if args.quick { "quick " } else { "" };
    let of =
        if args.topic.is_empty() { String::new() } else { format!(" of topic {}", args.topic.join(", ")) };
    let message = format!("the measurements for `{}` have no {quick}point{of}", published.preset);
    let has = |topic: &PublishedTopic| {
        let runs = |point: &PublishedPoint| {
            (point.quick || !args.quick) && (point.quantity.program().is_none() || args.runs.is_some())
        };
        published.points.iter().any(|point| point.quantity.topic() == *topic && runs(point))
    };
    let topics: Vec<&str> =
        PublishedTopic::ALL.iter().filter(|topic| has(topic)).map(|topic| topic.name()).collect();
    let near = args.topic.first().and_then(|name| did_you_mean(name, topics.iter().copied()));
    let hint = match (near, topics.is_empty()) {
        (Some(near), _) => near,
        (None, true) if args.quick => "without --quick all points run".to_owned(),
        (None, true) => "--runs names the folder with the runs of programs".to_owned(),
        (None, false) => format!("they have {}", topics.join(", ")),
    };
    Diagnostic::error(message).hint(hint)
}

/// The simulated values of all points, in their order. The number of threads changes none of them.
fn simulate_all(works: &[Work], programs: &ProgramRuns, threads: usize) -> Vec<Result<f64, String>> {
    let tasks: Vec<(&Config, &PublishedPoint)> =
        works.iter().flat_map(|work| work.points.iter().map(move |point| (&work.config, point))).collect();
    let bar = counting("points");
    bar.set_length(tasks.len() as u64);
    bar.enable_steady_tick(Duration::from_millis(400));
    let next = AtomicUsize::new(0);
    let mut values: Vec<Result<f64, String>> = vec![Err("it did not run".to_owned()); tasks.len()];
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads.min(tasks.len()).max(1) {
            let (sender, tasks, next, bar) = (sender.clone(), &tasks, &next, &bar);
            scope.spawn(move || {
                while !interrupt::is_asked() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((config, point)) = tasks.get(number) else { break };
                    tell(bar, &format!("{} {} {}", config.name, point.quantity.name(), point.quantity));
                    let value = simulate(config, &point.quantity, programs, Some(interrupt::stop()));
                    if sender.send((number, value)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (number, value) in receiver {
            values[number] = value;
            bar.inc(1);
        }
    });
    bar.finish_and_clear();
    values
}

fn csv(validations: &[Validation]) -> Result<String, Vec<Diagnostic>> {
    text::csv(validations)
        .map_err(|error| vec![Diagnostic::error(format!("cannot write the values: {error}"))])
}

fn save(validations: &[Validation], folder: &Path) -> Result<(), Vec<Diagnostic>> {
    folders::make(folder, "--save")?;
    for validation in validations {
        let name = &validation.config.name;
        files::write(&folder.join(format!("{name}.svg")), svg(validation).as_bytes(), "--save")?;
        files::write(&folder.join(format!("{name}.html")), page(validation).as_bytes(), "--save")?;
    }
    files::write(&folder.join("validate.csv"), csv(validations)?.as_bytes(), "--save")
}
