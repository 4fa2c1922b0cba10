//! Interprets the words of a command line as kernel files, launch files, names of the suite or
//! configurations, and reports misplaced ones.

use super::args::{Cli, SetArgs};
use super::terminal::Terminal;
use clap::CommandFactory;
use std::io::Read;
use std::path::{Path, PathBuf};
use wave_files::folder;
use wave_files::read::{self, Unreadable};
use wave_isa::diagnostic::Diagnostic;
use wave_isa::program::wbin;
use wave_isa::ron_text::{Source, locate};
use wave_isa::suggest::{did_you_mean, nearest};
use wave_isa::terms;
use wave_machine::config::{self, Config, PRESETS};
use wave_study::launch;

/// Something to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// Assembly or WBIN.
    Kernel(PathBuf),
    /// A launch file, or a name of the suite.
    Launch(String),
}

/// Interprets a word that is no flag: an existing file, classified by its extension or its content, else a
/// name of the suite.
///
/// # Errors
/// If it is neither; with a suggestion.
pub(crate) fn input(word: &str) -> Result<Input, Diagnostic> {
    let path = Path::new(word);
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    if path.is_dir() {
        let hint = "name a kernel or launch file in it";
        return Err(Diagnostic::error(format!("`{word}` is a directory")).hint(hint));
    }
    if path.exists() {
        return match (extension, ron_kind(path)) {
            ("ron", Some(RonKind::Config)) => {
                Err(Diagnostic::error(format!("`{word}` is a configuration, not a launch file"))
                    .hint(format!("`wave-sim --config {word}` runs the suite on it")))
            }
            ("ron", _) => Ok(Input::Launch(word.to_owned())),
            _ => Ok(Input::Kernel(path.to_owned())),
        };
    }
    if launch::is_builtin(word) {
        return Ok(Input::Launch(word.to_owned()));
    }
    Err(missing(word, path, extension))
}

/// The message about a missing file.
fn missing(word: &str, path: &Path, extension: &str) -> Diagnostic {
    let bare = extension.is_empty() && path.components().count() == 1;
    let message = match bare {
        true => format!("`{word}` is no file, no kernel of the suite and no command"),
        false => format!("there is no file `{word}`"),
    };
    let error = Diagnostic::error(message);
    let cli = Cli::command();
    if cli.find_subcommand(word).is_some() {
        let hint = format!("`wave-sim {word} …`, with its own flags behind it");
        return Diagnostic::error(format!("`{word}` is a command, and commands go first")).hint(hint);
    }
    if bare && let Some(hint) = terms::hint_of_word(word) {
        return error.hint(hint);
    }
    if bare && let Some(hint) = did_you_mean(word, cli.get_subcommands().map(|c| c.get_name())) {
        return error.hint(hint);
    }
    if let Some(preset) = PRESETS.iter().find(|p| p.file == word || p.name() == word) {
        return error.hint(format!("it is a configuration: `wave-sim --config {}`", preset.file));
    }
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or(word);
    if launch::suite().any(|name| name == stem) {
        return error
            .hint(format!("the suite has a kernel of that name: `{stem}`, without path and extension"));
    }
    let can_run = |name: &str| [".wave", ".wbin", ".ron"].iter().any(|end| name.ends_with(end));
    if let Some(near) = neighbour(path, can_run) {
        return error.hint(format!("did you mean `{near}`?"));
    }
    if let Some(near) = launch::near_in_suite(word) {
        return error.hint(near);
    }
    if !folder(path).is_dir() {
        return error.hint(format!("there is no folder `{}`", folder(path).display()));
    }
    match did_you_mean(stem, launch::suite()) {
        Some(hint) => error.hint(format!("{hint} it is a kernel of the suite")),
        None if bare => {
            error.hint(format!("the suite has {}", launch::suite().collect::<Vec<_>>().join(", ")))
        }
        None => error,
    }
}

/// The file in the same folder with the most similar name, among names that `fit`.
fn neighbour(path: &Path, fits: impl Fn(&str) -> bool) -> Option<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder(path))
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| fits(name))
        .collect();
    names.sort();
    let wanted = path.file_name()?.to_str()?;
    let near = nearest(wanted, names.iter().map(String::as_str));
    near.first().map(|name| path.with_file_name(name).display().to_string())
}

/// Loads a configuration with the changes of `--set`, and prints its warnings.
///
/// # Errors
/// Everything that is wrong with it; and if it is not a configuration at all, what it is.
pub(crate) fn config(name: &str, set: &SetArgs, terminal: &Terminal) -> Result<Config, Vec<Diagnostic>> {
    if let Some(what) = not_a_config(Path::new(name)) {
        let message = format!("`{name}` is {what}, not a configuration");
        let hint = format!("give it without `--config`: wave-sim {name}");
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    let (config, warnings) = config::load_with_settings(name, &set.set)?;
    terminal.diagnostics(&warnings);
    Ok(config)
}

/// What kind of file it is, if it is certainly no configuration.
fn not_a_config(path: &Path) -> Option<&'static str> {
    if !path.is_file() {
        return None;
    }
    match path.extension().and_then(|e| e.to_str()) {
        Some("wave") => return Some("a kernel in assembly"),
        Some("wbin") => return Some("a WBIN container"),
        _ => {}
    }
    let mut magic = Vec::new();
    std::fs::File::open(path).ok()?.take(wbin::MAGIC.len() as u64).read_to_end(&mut magic).ok()?;
    if magic == wbin::MAGIC {
        return Some("a WBIN container");
    }
    (ron_kind(path) == Some(RonKind::Launch)).then_some("a launch file")
}

/// Kinds of RON files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RonKind {
    Config,
    Launch,
}

/// The kind of a RON file, determined from its keys, which may be all that is valid in it.
fn ron_kind(path: &Path) -> Option<RonKind> {
    let source = Source::read(path, "file").ok()?;
    let located = locate(&source.text);
    let mut keys =
        located.entries.iter().filter(|e| e.key.is_some() && e.parent == Some(0)).map(|e| e.path.as_str());
    if keys.clone().any(|key| ["source", "buffers", "steps", "expect"].contains(&key)) {
        return Some(RonKind::Launch);
    }
    keys.any(|key| key != "description" && config::is_key(key)).then_some(RonKind::Config)
}

/// Reads a file that a flag names, if it has at most `most` bytes.
///
/// # Errors
/// If it cannot be read or is too long, with the flag.
pub(crate) fn read(path: &Path, most: u64, flag: &str) -> Result<Vec<u8>, Diagnostic> {
    read::bytes(path, most).map_err(|error| unreadable(path, &error, flag))
}

/// Reads data that a flag places in device memory, where there is room for `room` bytes.
///
/// # Errors
/// If it cannot be read or is too long, with the flag.
pub(crate) fn data(path: &Path, room: u64, flag: &str) -> Result<Vec<u8>, Diagnostic> {
    read::bytes(path, room).map_err(|error| match error {
        Unreadable::Long(_) => {
            let shown = path.display();
            let message = format!(
                "{flag}: `{shown}` is longer than the {room} bytes from its offset to the end of device memory"
            );
            Diagnostic::error(message).hint("lower the offset, or raise --device-memory")
        }
        error => unreadable(path, &error, flag),
    })
}

/// The message about a file that a flag names and that cannot be read.
pub(crate) fn unreadable(path: &Path, error: &Unreadable, flag: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(format!("{flag}: cannot read `{}`: {error}", path.display()));
    match neighbour(path, |_| true).filter(|_| error.is_missing()) {
        Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}

impl Input {
    /// True if it belongs to the built-in suite.
    pub(crate) fn is_of_the_suite(&self) -> bool {
        matches!(self, Input::Launch(word) if launch::is_builtin(word))
    }

    /// The word that names it: a path, or the name in the suite.
    pub(crate) fn word(&self) -> String {
        match self {
            Input::Kernel(path) => path.display().to_string(),
            Input::Launch(name) => name.clone(),
        }
    }

    /// Name for reports: the file name without its extension, or the name in the suite.
    pub(crate) fn name(&self) -> String {
        let path = match self {
            Input::Kernel(path) => path.as_path(),
            Input::Launch(name) => Path::new(name),
        };
        path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }
}
