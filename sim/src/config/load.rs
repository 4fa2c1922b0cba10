//! From a name or path to a checked configuration.
//!
//! A file is a layer over its base, which is a layer over its own, down to the default preset, which
//! states every parameter.

use super::check::{Problem, problems};
use super::declare::{Parameter, Tree};
use super::errors;
use super::model::{Config, raw};
use super::presets::default_preset;
use super::settings;
use super::show::ron;
use crate::diagnostic::{Diagnostic, Severity};
use crate::ron_text::{Entry, Located, Shape, Source, locate, parse};

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
    load_with_settings(name_or_path, &[])
}

/// The same, with parameters that a command line states in place of the file's: `core.l1.mshrs=64`.
///
/// # Errors
/// As [`load`], and whatever is wrong with a setting.
pub fn load_with_settings(
    name_or_path: &str,
    settings: &[String],
) -> Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>> {
    let source = Source::find(name_or_path).map_err(|e| vec![e])?;
    from_source(source, settings)
}

/// The configuration of a text; `file` names it in messages, and its base can only be a preset.
///
/// # Errors
/// As [`load`].
pub fn from_text(file: &str, text: &str) -> Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>> {
    from_source(Source { file: file.to_owned(), text: text.to_owned(), path: None }, &[])
}

impl Config {
    /// The default preset, `gpu.ron`, with every feature on.
    ///
    /// # Panics
    /// Never: a test loads every preset.
    pub fn example() -> Config {
        let (config, _) =
            from_source(Source::of_preset(default_preset()), &[]).expect("the default preset is valid");
        config
    }
}

impl Config {
    /// The machine with parameters that are stated as on a command line, `core.l1.mshrs=64`, in place of its own.
    ///
    /// # Errors
    /// Whatever is wrong with a setting, or with the machine that has it.
    pub fn with(&self, words: &[String]) -> Result<Config, Vec<Diagnostic>> {
        let mut tree = self.tree();
        for setting in settings::read(words)? {
            setting.apply(&mut tree).map_err(|error| vec![error])?;
        }
        let config = of_tree(&tree, &[])?;
        let wrong: Vec<Diagnostic> =
            config.check().into_iter().filter(|found| found.severity == Severity::Error).collect();
        if wrong.is_empty() { Ok(config) } else { Err(wrong) }
    }
}

fn from_source(source: Source, words: &[String]) -> Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (mut layers, raws) = stack(source)?;
    let name = raws[0].name.clone().unwrap_or_else(|| layers[0].source.stem());
    let description = raws[0].description.clone().unwrap_or_default();
    let mut merged = raws.into_iter().reduce(Config::merge).unwrap_or_default();
    merged.name = Some(name);
    merged.description = Some(description);
    let config = set(merged, words, &mut layers)?;
    let mut found: Vec<Diagnostic> = problems(&config).into_iter().map(|p| diagnostic(p, &layers)).collect();
    // Errors first, each kind in the order of the user's file, and what is wrong in its bases behind.
    let line = |d: &Diagnostic| d.place.as_ref().map(|p| (p.file != layers[0].source.file, p.line, p.column));
    found.sort_by_key(|d| (std::cmp::Reverse(d.severity), line(d)));
    if found.iter().any(|d| d.severity == Severity::Error) { Err(found) } else { Ok((config, found)) }
}

/// The configuration of the files with what the command line states put in its place; each setting becomes a
/// layer above them.
fn set(merged: raw::Config, words: &[String], layers: &mut Vec<Layer>) -> Result<Config, Vec<Diagnostic>> {
    let (parts, others): (Vec<_>, Vec<_>) =
        settings::read(words)?.into_iter().partition(|setting| setting.part().is_some());
    if let [_, second, ..] = parts.as_slice() {
        let place = second.source.place(0..second.source.text.len());
        return Err(vec![Diagnostic::error("`dram.part` is set twice").at(place)]);
    }
    let mut merged = merged;
    for setting in parts {
        let Some((name, located)) = setting.part() else { continue };
        let (layer, raw) = read_part(&setting.source, &located, &name)?;
        merged = Config::merge(raw, merged);
        layers.insert(0, layer);
    }
    let config = complete(merged, layers)?;
    if others.is_empty() {
        return Ok(config);
    }
    let mut tree = config.tree();
    let mut wrong = Vec::new();
    let mut stated: Vec<Layer> = Vec::new();
    for setting in others {
        match setting.apply(&mut tree) {
            Err(error) => wrong.push(error),
            Ok(located) => {
                let entry = &located.entries[0];
                if stated.iter().any(|layer| layer.located.find(&entry.path).is_some()) {
                    let message = format!("`{}` is set twice", entry.path);
                    wrong.push(Diagnostic::error(message).at(setting.source.place(mark(entry))));
                }
                stated.push(Layer { source: setting.source, located });
            }
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    layers.splice(0..0, stated);
    of_tree(&tree, layers)
}

/// The configuration of a tree: what it holds has been checked against the declaration, so it reads.
fn of_tree(tree: &Tree, layers: &[Layer]) -> Result<Config, Vec<Diagnostic>> {
    let raw = parse(&ron(tree)).map_err(|error| vec![Diagnostic::error(error.to_string())])?;
    complete(raw, layers)
}

/// The configuration that everything together states.
fn complete(merged: raw::Config, layers: &[Layer]) -> Result<Config, Vec<Diagnostic>> {
    let mut missing = Vec::new();
    let lacking = |path: String| match path.rsplit_once('.') {
        Some((item, key)) => Problem::error(item, format!("`{item}` lacks its `{key}`")),
        None => Problem::error("", format!("the configuration lacks `{path}`")),
    };
    Config::resolve(merged, "", &mut missing)
        .ok_or_else(|| missing.into_iter().map(|path| diagnostic(lacking(path), layers)).collect())
}

/// One text of the chain of bases.
struct Layer {
    source: Source,
    located: Located,
}

/// The layers under a text, itself first, the default preset last, and what each states.
fn stack(source: Source) -> Result<(Vec<Layer>, Vec<raw::Config>), Vec<Diagnostic>> {
    let mut layers = Vec::new();
    let mut raws = Vec::new();
    let mut next = Some(source);
    while let Some(source) = next {
        let located = locate(&source.text);
        let raw: raw::Config =
            parse(&source.text).map_err(|error| errors::diagnostics(&source, &located, &error))?;
        let is_default = source.path.is_none() && source.text == default_preset().text;
        next = match &raw.base {
            Some(base) => Some(find_base(&source, &located, base, &layers).map_err(|e| vec![e])?),
            None => (!is_default).then(|| Source::of_preset(default_preset())),
        };
        let part = raw.dram.as_ref().and_then(|dram| dram.part.clone());
        let part = part.map(|name| read_part(&source, &located, &name)).transpose()?;
        layers.push(Layer { source, located });
        raws.push(raw);
        // What the file states itself goes before its part, and that before its base.
        if let Some((layer, raw)) = part {
            layers.push(layer);
            raws.push(raw);
        }
    }
    Ok((layers, raws))
}

/// The memory part that a file names: a text that states keys of `dram`, and what it is.
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
    let part = source.find_part(name).map_err(|error| vec![at_name(error)])?;
    let located = locate(&part.text);
    let raw: raw::Config = parse(&part.text).map_err(|error| errors::diagnostics(&part, &located, &error))?;
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

fn find_base(source: &Source, located: &Located, name: &str, above: &[Layer]) -> Result<Source, Diagnostic> {
    let at_base = |diagnostic: Diagnostic| match located.find("base") {
        Some(entry) => diagnostic.at(source.place(entry.value.clone())),
        None => diagnostic,
    };
    let base = source.find_base(name).map_err(at_base)?;
    let same = |other: &Source| (&other.path, &other.text) == (&base.path, &base.text);
    if same(source) || above.iter().any(|layer| same(&layer.source)) {
        return Err(at_base(Diagnostic::error(format!("the chain of bases comes back to `{}`", base.file))));
    }
    Ok(base)
}

/// The message about a problem, placed at the parameter that the topmost file states; the others are
/// named with where they come from.
fn diagnostic(problem: Problem, layers: &[Layer]) -> Diagnostic {
    let mut origins: Vec<(usize, &String, &Entry)> = problem
        .paths
        .iter()
        .filter_map(|path| origin(path, layers).map(|(layer, entry)| (layer, path, entry)))
        .collect();
    // Stable: among the parameters of one file, the first is the most likely culprit.
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

/// The uppermost layer that states `path`, or the closest section around it that is stated at all.
fn origin<'a>(path: &str, layers: &'a [Layer]) -> Option<(usize, &'a Entry)> {
    let find = |(i, layer): (usize, &'a Layer)| layer.located.find(path).map(|entry| (i, entry));
    match layers.iter().enumerate().find_map(find) {
        None if !path.is_empty() => origin(&path[..path.rfind(['.', '[']).unwrap_or(0)], layers),
        found => found,
    }
}

/// What to mark of an entry: its value if that is short, else its key.
fn mark(entry: &Entry) -> std::ops::Range<usize> {
    match (&entry.key, entry.shape) {
        (Some(key), Shape::Parentheses | Shape::List | Shape::Map) => key.clone(),
        (None, Shape::Parentheses) => entry.value.start..entry.value.start + 1,
        _ => entry.value.clone(),
    }
}
