//! From a name or path to a checked configuration.
//!
//! A file is a layer over its base, which is a layer over its own, down to the default preset, which
//! states every parameter.

use super::declare::Parameter;
use super::model::{Config, raw};
use super::presets::{PRESETS, Preset, default_preset, preset};
use crate::diagnostic::Diagnostic;
use ron::extensions::Extensions;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Largest file that is read, bytes; a configuration has a few thousand.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Most files that may stand on each other.
const MAX_LAYERS: usize = 16;

/// Reads the configuration that a path or the name of a preset (with or without `.ron`) stands for.
/// An existing file goes first.
///
/// # Errors
/// Everything that is wrong with it, each with its place in the file.
pub fn load(name_or_path: &str) -> Result<Config, Vec<Diagnostic>> {
    load_with_warnings(name_or_path).map(|(config, _)| config)
}

/// The same, with what deserves a look although nothing is refused.
///
/// # Errors
/// As [`load`].
pub fn load_with_warnings(name_or_path: &str) -> Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>> {
    let source = Source::find(name_or_path).map_err(|e| vec![e])?;
    let mut layers = vec![source];
    let mut raws: Vec<raw::Config> = Vec::new();
    loop {
        let layer = &layers[layers.len() - 1];
        let parsed =
            parse(&layer.text).map_err(|e| vec![Diagnostic::error(format!("{}:{e}", layer.file))])?;
        let base = parsed.base.clone();
        raws.push(parsed);
        let next = match base {
            Some(base) => Source::find(&base).map_err(|e| vec![e])?,
            None if layer.file == default_preset().file => break,
            None => Source::of_preset(default_preset()),
        };
        layers.push(next);
        if layers.len() > MAX_LAYERS {
            return Err(vec![Diagnostic::error("the chain of bases does not end")]);
        }
    }
    let mut missing = Vec::new();
    let merged = raws.into_iter().reduce(Config::merge).unwrap_or_default();
    match Config::resolve(merged, "", &mut missing) {
        Some(config) => Ok((config, Vec::new())),
        None => {
            Err(missing.into_iter().map(|path| Diagnostic::error(format!("`{path}` is missing"))).collect())
        }
    }
}

impl Config {
    /// The default preset, `gpu.ron`, with every feature on.
    ///
    /// # Panics
    /// Never: a test loads every preset.
    pub fn example() -> Config {
        load_text(default_preset())
    }
}

fn load_text(preset: &Preset) -> Config {
    let raw = parse(preset.text).expect("the default preset is valid");
    Config::resolve(raw, "", &mut Vec::new()).expect("the default preset states every parameter")
}

fn parse(text: &str) -> Result<raw::Config, ron::error::SpannedError> {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME).from_str(text)
}

/// The text of a configuration and what to call it.
struct Source {
    file: String,
    text: String,
}

impl Source {
    fn of_preset(preset: &Preset) -> Source {
        Source { file: preset.file.to_owned(), text: preset.text.to_owned() }
    }

    fn find(name: &str) -> Result<Source, Diagnostic> {
        let path = Path::new(name);
        if path.exists() && !path.is_dir() {
            return Source::read(name);
        }
        match preset(name) {
            Some(preset) => Ok(Source::of_preset(preset)),
            None => Err(Diagnostic::error(format!("there is no configuration `{name}`"))
                .hint(format!("presets: {}", PRESETS.iter().map(|p| p.file).collect::<Vec<_>>().join(", ")))),
        }
    }

    fn read(path: &str) -> Result<Source, Diagnostic> {
        let fail = |why: String| Diagnostic::error(format!("cannot read the configuration `{path}`: {why}"));
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|e| fail(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| fail("it is not text".into()))?;
        Ok(Source { file: path.to_owned(), text })
    }
}
