//! Observers of plug-ins: how a command line enables them, how a run is watched by them, and where their texts go.

use super::args::RunArgs;
use super::files;
use super::traces::{filled, has_placeholder, with_placeholder};
use std::path::PathBuf;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::Launch;
use wave_isa::suggest::did_you_mean;
use wave_machine::config::Config;
use wave_machine::core::probe::{ENABLED, Listeners, Observer, RegisteredObservers};
use wave_machine::gpu::{KernelReport, Machine, Progress, RunError, RunOptions};
use wave_machine::registry::{self, Role};

/// The flag.
const OBSERVE: &str = "--observe";

/// An observer that a command line enables.
#[derive(Debug, Clone)]
pub(crate) struct Observe {
    name: String,
    /// Where its text goes, if not to the report.
    file: Option<PathBuf>,
}

/// Reads `NAME` or `NAME=FILE`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn observe(text: &str) -> Result<Observe, String> {
    let (name, file) = match text.split_once('=') {
        Some((_, "")) => return Err("a file needs a name: NAME=FILE".to_owned()),
        Some((name, file)) => (name, Some(PathBuf::from(file))),
        None => (text, None),
    };
    Ok(Observe { name: name.to_owned(), file })
}

/// A configuration that enables the observers of the command line.
///
/// # Errors
/// A name that is no observer's.
pub(crate) fn enabled(config: Config, all: &[Observe]) -> Result<Config, Vec<Diagnostic>> {
    let names = || registry::registered().iter().filter(|plug_in| plug_in.role() == Role::Observer);
    let mut settings = Vec::new();
    for Observe { name, .. } in all {
        if names().any(|plug_in| plug_in.name() == name) {
            settings.push(format!("plugins.{name}.{ENABLED}=1"));
            continue;
        }
        let other = registry::registered().iter().find(|plug_in| plug_in.name() == name);
        let message = match other {
            Some(plug_in) => format!("{OBSERVE}: `{name}` is {}, and no observer", plug_in.role().noun()),
            None => format!("{OBSERVE}: no observer is registered as `{name}`"),
        };
        let all: Vec<&str> = names().map(|plug_in| plug_in.name()).collect();
        let hint = did_you_mean(name, all.iter().copied()).unwrap_or_else(|| match &all[..] {
            [] => "a program with observers registers them: docs/plugins.md".to_owned(),
            all => format!("the observers of this program: {}", all.join(", ")),
        });
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    if settings.is_empty() { Ok(config) } else { config.with(&settings) }
}

/// What is wrong with the flags if kernels of these names run.
pub(crate) fn check(args: &RunArgs, kernels: &[String]) -> Vec<Diagnostic> {
    let all = &args.output.observe;
    let mut wrong = Vec::new();
    for (place, Observe { name, file }) in all.iter().enumerate() {
        if all[..place].iter().any(|other| other.name == *name) {
            wrong.push(Diagnostic::error(format!("{OBSERVE}: `{name}` is named twice")));
        }
        let Some(file) = file else { continue };
        if kernels.len() > 1 && !has_placeholder(file) {
            let shown = file.display();
            let message = format!("{OBSERVE}: one file `{shown}`, and {} kernels are to run", kernels.len());
            let hint =
                format!("{{kernel}} stands for the kernel's name: '{}'", with_placeholder(file).display());
            wrong.push(Diagnostic::error(message).hint(hint));
        } else if let Some(first) = kernels.first() {
            wrong.extend(files::cannot_write(&filled(file, first), OBSERVE));
        }
    }
    wrong
}

/// Refuses to run without timing, or with that of a part, on a machine whose configuration enables observers.
///
/// # Errors
/// The flag, with the name of an observer.
pub(crate) fn check_timing(args: &RunArgs, config: &Config) -> Result<(), Vec<Diagnostic>> {
    let flags = [
        ("--functional", args.untimed.functional, "has no timing"),
        ("--sample", args.untimed.sample, "leaves parts of the run out"),
    ];
    let Some((flag, _, what)) = flags.into_iter().find(|(_, given, _)| *given) else { return Ok(()) };
    let observers = RegisteredObservers::of(config);
    let Some(name) = observers.names().next() else { return Ok(()) };
    let message = format!("{flag} {what}, and the observer `{name}` watches all of it");
    let hint = format!("leave out {OBSERVE} {name}, or set plugins.{name}.{ENABLED} to 0");
    Err(vec![Diagnostic::error(message).hint(hint)])
}

/// Calls `act` with all observers as one, or with none.
pub(crate) fn as_one<'o, R>(
    observers: impl IntoIterator<Item = &'o mut dyn Observer>,
    act: impl FnOnce(Option<&mut dyn Observer>) -> R,
) -> R {
    let mut all: Vec<&mut dyn Observer> = observers.into_iter().collect();
    match &mut all[..] {
        [] => act(None),
        [one] => act(Some(&mut **one)),
        _ => act(Some(&mut Listeners::new(all))),
    }
}

/// Runs a launch that observers of plug-ins watch, and `another` if there is one.
///
/// # Errors
/// The launch does not end.
pub(crate) fn run(
    machine: &mut Machine,
    launch: &Launch,
    options: &RunOptions,
    registered: &mut RegisteredObservers,
    another: Option<&mut dyn Observer>,
    show: &mut dyn FnMut(Progress),
) -> Result<KernelReport, RunError> {
    registered.begin(launch);
    let mut all: Vec<&mut dyn Observer> = Vec::new();
    if let Some(another) = another {
        all.push(another);
    }
    for observer in registered.observers() {
        all.push(observer);
    }
    let mut report = as_one(all, |observer| machine.run(launch, options, observer, show))?;
    registered.count(&mut report.plug_ins);
    Ok(report)
}

/// Writes the texts of observers to the files of the command line. Returns the others, for the report.
///
/// # Errors
/// A file that cannot be written, or an observer that has no text for its file.
pub(crate) fn deliver(
    texts: Vec<(&'static str, String)>,
    flags: &[Observe],
    kernel: &str,
) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
    for Observe { name, file } in flags {
        let Some(file) = file else { continue };
        let Some((_, text)) = texts.iter().find(|(known, _)| known == name) else {
            let message =
                format!("{OBSERVE}: `{name}` writes no text, and `{}` is not written", file.display());
            let hint = format!("its counters are in the report: {OBSERVE} {name}");
            return Err(vec![Diagnostic::error(message).hint(hint)]);
        };
        files::write(&filled(file, kernel), text.as_bytes(), OBSERVE)?;
    }
    let goes_to_file = |name: &str| flags.iter().any(|flag| flag.name == name && flag.file.is_some());
    let rest = texts.into_iter().filter(|(name, _)| !goes_to_file(name));
    Ok(rest.map(|(name, text)| (name.to_owned(), text)).collect())
}
