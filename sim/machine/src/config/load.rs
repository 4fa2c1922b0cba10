//! Loads a configuration from a name or path and checks it.
//!
//! Files form layers. Each file lies over its base, down to the default preset, which states every parameter.

use super::check::{Problem, problems};
use super::declare::{Parameter, Tree};
use super::errors;
use super::model::{Config, raw};
use super::presets::default_preset;
use super::settings::{self, Stated};
use super::show::ron;
use super::source;
use std::path::Path;
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_isa::ron_text::{Entry, Located, Shape, Source, locate, parse};

/// Reads the configuration at a path, or the preset with this name (with or without `.ron`). An existing file
/// takes precedence.
///
/// # Errors
/// All errors of the configuration, each with its place in the file.
pub fn load(name_or_path: &str) -> Result<Config, Vec<Diagnostic>> {
    load_with_warnings(name_or_path).map(|(config, _)| config)
}

/// As [`load`], with warnings.
///
/// # Errors
/// As [`load`].
pub fn load_with_warnings(name_or_path: &str) -> Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>> {
    load_with_settings(name_or_path, &[])
}

/// As [`load_with_warnings`], with settings of the command line, such as `core.l1.mshrs=64`, that override
/// the file.
///
/// # Errors
/// As [`load`], and errors in the settings.
pub fn load_with_settings(
    name_or_path: &str,
    settings: &[String],
) -> Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>> {
    let source = source::find(name_or_path).map_err(|e| vec![e])?;
    from_source(source, settings)
}

/// Loads the configuration in a text. `file` is its name in messages. Its base must be a preset.
///
/// # Errors
/// As [`load`].
pub fn from_text(file: &str, text: &str) -> Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>> {
    from_source(Source { file: file.to_owned(), text: text.to_owned(), path: None }, &[])
}

impl Config {
    /// The default preset, `gpu.ron`, which enables every feature.
    ///
    /// # Panics
    /// Never: a test loads every preset.
    pub fn example() -> Config {
        let (config, _) =
            from_source(source::of_preset(default_preset()), &[]).expect("the default preset is valid");
        config
    }
}

impl Config {
    /// This configuration with command-line settings applied, such as `core.l1.mshrs=64`.
    ///
    /// # Errors
    /// Errors in a setting or in the resulting configuration.
    pub fn with(&self, words: &[String]) -> Result<Config, Vec<Diagnostic>> {
        let mut tree = self.tree();
        let mut stated = Vec::new();
        for setting in settings::read(words)? {
            stated.push(setting.apply(&mut tree).map_err(|error| vec![error])?.words);
        }
        let mut config = of_tree(&tree, &[])?;
        config.set.clone_from(&self.set);
        stated.into_iter().for_each(|words| config.note(words));
        let wrong: Vec<Diagnostic> =
            config.check().into_iter().filter(|found| found.severity == Severity::Error).collect();
        if wrong.is_empty() { Ok(config) } else { Err(wrong) }
    }
}

impl Config {
    /// Records that `KEY=VALUE` was set. Replaces an earlier record of the same key.
    pub fn note(&mut self, setting: String) {
        let key = |setting: &str| setting.split_once('=').map(|(key, _)| key.to_owned());
        self.set.retain(|other| key(other) != key(&setting));
        self.set.push(setting);
    }
}

fn from_source(source: Source, words: &[String]) -> Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (mut layers, raws) = stack(source)?;
    let name = raws[0].name.clone().unwrap_or_else(|| source::stem(&layers[0].source));
    let description = raws[0].description.clone().unwrap_or_default();
    let mut merged = raws.into_iter().reduce(Config::merge).unwrap_or_default();
    merged.name = Some(name);
    merged.description = Some(description);
    let config = set(merged, words, &mut layers)?;
    let mut found: Vec<Diagnostic> = problems(&config).into_iter().map(|p| diagnostic(p, &layers)).collect();
    // Errors first. Each severity is in the order of the user's file, followed by problems in its bases.
    let line = |d: &Diagnostic| d.place.as_ref().map(|p| (p.file != layers[0].source.file, p.line, p.column));
    found.sort_by_key(|d| (std::cmp::Reverse(d.severity), line(d)));
    if found.iter().any(|d| d.severity == Severity::Error) { Err(found) } else { Ok((config, found)) }
}

/// Applies the settings of the command line to the merged files. Each setting becomes a layer above them. If
/// several set the same parameter, the last one counts.
fn set(merged: raw::Config, words: &[String], layers: &mut Vec<Layer>) -> Result<Config, Vec<Diagnostic>> {
    let (mut parts, others): (Vec<_>, Vec<_>) =
        settings::read(words)?.into_iter().partition(|setting| setting.part().is_some());
    let mut merged = merged;
    let mut notes = Vec::new();
    if let Some(setting) = parts.pop()
        && let Some((name, Stated { located, words })) = setting.part()
    {
        let (layer, raw) = read_part(&setting.source, &located, &name)?;
        merged = Config::merge(raw, merged);
        layers.insert(0, layer);
        notes.push(words);
    }
    let mut config = complete(merged, layers)?;
    if !others.is_empty() {
        let mut tree = config.tree();
        let mut wrong = Vec::new();
        let mut stated: Vec<Layer> = Vec::new();
        for setting in others {
            match setting.apply(&mut tree) {
                Err(error) => wrong.push(error),
                Ok(Stated { located, words }) => {
                    let path = &located.entries[0].path;
                    stated.retain(|layer| layer.located.find(path).is_none());
                    stated.push(Layer { source: setting.source, located });
                    notes.push(words);
                }
            }
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        layers.splice(0..0, stated);
        config = of_tree(&tree, layers)?;
    }
    notes.into_iter().for_each(|words| config.note(words));
    Ok(config)
}

/// The configuration of a tree. The tree conforms to the declaration, so it can be parsed.
fn of_tree(tree: &Tree, layers: &[Layer]) -> Result<Config, Vec<Diagnostic>> {
    let raw = parse(&ron(tree)).map_err(|error| vec![Diagnostic::error(error.to_string())])?;
    complete(raw, layers)
}

/// The configuration that all layers together define.
fn complete(merged: raw::Config, layers: &[Layer]) -> Result<Config, Vec<Diagnostic>> {
    let mut missing = Vec::new();
    let lacking = |path: String| match path.rsplit_once('.') {
        Some((item, key)) => Problem::error(item, format!("`{item}` lacks its `{key}`")),
        None => Problem::error("", format!("the configuration lacks `{path}`")),
    };
    Config::resolve(merged, "", &mut missing)
        .ok_or_else(|| missing.into_iter().map(|path| diagnostic(lacking(path), layers)).collect())
}

/// Hint for a base that leads back to itself.
const BASE_HINT: &str = "one of them has to go upon a preset; without `base` it is gpu.ron";

/// A layer: a text of the chain of bases.
struct Layer {
    source: Source,
    located: Located,
}

/// The layers of a text with their values: the text first, the default preset last.
fn stack(source: Source) -> Result<(Vec<Layer>, Vec<raw::Config>), Vec<Diagnostic>> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut raws = Vec::new();
    let mut next = Some(source);
    // True for the text and its bases, false for memory parts.
    let mut chain = Vec::new();
    while let Some(source) = next {
        let (located, raw) = read(&source)?;
        let is_default = source.path.is_none() && source.text == default_preset().text;
        next = match &raw.base {
            Some(base) => {
                let above = chain.iter().map(|&i: &usize| &layers[i].source).chain([&source]);
                Some(find_base(&source, &located, base, &above.collect::<Vec<_>>()).map_err(|e| vec![e])?)
            }
            None => (!is_default).then(|| source::of_preset(default_preset())),
        };
        let part = raw.dram.as_ref().and_then(|dram| dram.part.clone());
        let part = part.map(|name| read_part(&source, &located, &name)).transpose()?;
        chain.push(layers.len());
        layers.push(Layer { source, located });
        raws.push(raw);
        // Precedence: the file itself, then its memory part, then its base.
        if let Some((layer, raw)) = part {
            layers.push(layer);
            raws.push(raw);
        }
    }
    Ok((layers, raws))
}

/// The values of a text, and their places.
fn read(source: &Source) -> Result<(Located, raw::Config), Vec<Diagnostic>> {
    let located = locate(&source.text);
    let raw = parse(&source.text).map_err(|error| errors::diagnostics(source, &located, &error))?;
    let wrong = errors::wrong_sizes(source, &located);
    if wrong.is_empty() { Ok((located, raw)) } else { Err(wrong) }
}

/// The memory part that a file names: a text with keys of `dram` and a description.
fn read_part(
    source: &Source,
    located: &Located,
    name: &str,
) -> Result<(Layer, raw::Config), Vec<Diagnostic>> {
    let named = located.find("dram.part");
    let at_name = |error: Diagnostic| match named {
        Some(entry) => error.at(source.place(entry.value.clone())),
        None => error,
    };
    let part = source::find_part(source, name).map_err(|error| vec![at_name(error)])?;
    let (located, raw) = read(&part)?;
    let allowed = |path: &str| {
        path.is_empty()
            || path == "description"
            || (path == "dram" || path.starts_with("dram.")) && path != "dram.part"
    };
    if let Some(entry) = located.entries.iter().find(|entry| !allowed(&entry.path)) {
        let message = format!("a memory part states keys of `dram` and a description, not `{}`", entry.path);
        return Err(vec![Diagnostic::error(message).at(part.place(entry.value.clone()))]);
    }
    let raw = raw::Config { dram: raw.dram, ..raw::Config::default() };
    Ok((Layer { source: part, located }, raw))
}

/// The base of a text. `above` are the texts from the user's file down to this one.
fn find_base(
    source: &Source,
    located: &Located,
    name: &str,
    above: &[&Source],
) -> Result<Source, Diagnostic> {
    let at_base = |diagnostic: Diagnostic| match located.find("base") {
        Some(entry) => diagnostic.at(source.place(entry.value.clone())),
        None => diagnostic,
    };
    let base = source::find_base(source, name).map_err(at_base)?;
    let same = |other: &&Source| (&other.path, &other.text) == (&base.path, &base.text);
    match above.iter().position(same) {
        None => Ok(base),
        Some(first) => {
            // A base is next to the file that names it, so all are in the same folder.
            let name = |text: &Source| match Path::new(&text.file).file_name() {
                Some(name) => format!("`{}`", name.display()),
                None => format!("`{}`", text.file),
            };
            let circle: Vec<String> = above[first..].iter().copied().chain([&base]).map(name).collect();
            let message = format!("the bases go in a circle: {}", circle.join(" → "));
            Err(at_base(Diagnostic::error(message).hint(BASE_HINT)))
        }
    }
}

/// The message about a problem. It is placed at the parameter of the topmost layer; the other parameters are
/// named with their origins.
fn diagnostic(problem: Problem, layers: &[Layer]) -> Diagnostic {
    let mut origins: Vec<(usize, &String, &Entry)> = problem
        .paths
        .iter()
        .filter_map(|path| origin(path, layers).map(|(layer, entry)| (layer, path, entry)))
        .collect();
    // The sort is stable: within one file, the first parameter is the most likely culprit.
    origins.sort_by_key(|&(layer, _, _)| layer);
    let mut diagnostic =
        Diagnostic { severity: problem.severity, message: problem.message, place: None, hint: problem.hint };
    let Some((&(at, _, entry), others)) = origins.split_first() else { return diagnostic };
    let source = &layers[at].source;
    diagnostic.place = Some(source.place(mark(entry)));
    let mut notes: Vec<String> = diagnostic.hint.take().into_iter().collect();
    for others in others.chunk_by(|a, b| a.0 == b.0) {
        let (layer, _, _) = others[0];
        let other = &layers[layer].source;
        let keys: Vec<String> = others
            .iter()
            .map(|(_, path, entry)| match other.file.as_str() {
                settings::FILE => format!("`{path}`"),
                _ => format!("`{path}` (line {})", other.place(mark(entry)).line),
            })
            .collect();
        let from = match other.file.as_str() {
            _ if layer == at => "in this file".into(),
            settings::FILE => "also set".into(),
            file => format!("from the base, {file}"),
        };
        notes.push(format!("{from}: {}", keys.join(", ")));
    }
    diagnostic.hint = (!notes.is_empty()).then(|| notes.join("; "));
    diagnostic
}

/// The topmost layer that states `path`, or the nearest enclosing section that some layer states.
fn origin<'a>(path: &str, layers: &'a [Layer]) -> Option<(usize, &'a Entry)> {
    let find = |(i, layer): (usize, &'a Layer)| layer.located.find(path).map(|entry| (i, entry));
    match layers.iter().enumerate().find_map(find) {
        None if !path.is_empty() => origin(&path[..path.rfind(['.', '[']).unwrap_or(0)], layers),
        found => found,
    }
}

/// The bytes of an entry to mark: its value if short, else its key.
fn mark(entry: &Entry) -> std::ops::Range<usize> {
    match (&entry.key, entry.shape) {
        (Some(key), Shape::Parentheses | Shape::List | Shape::Map) => key.clone(),
        (None, Shape::Parentheses) => entry.value.start..entry.value.start + 1,
        _ => entry.value.clone(),
    }
}
