//! Finds the text of a configuration: a file or a preset.

use super::errors::nearest;
use super::presets::{PARTS, PRESETS, Preset, part, preset};
use std::path::Path;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::ron_text::Source;

/// A preset.
pub(super) fn of_preset(preset: &Preset) -> Source {
    Source { file: preset.file.to_owned(), text: preset.text.to_owned(), path: None }
}

/// Finds a name or path of the command line: an existing file, else a preset.
pub(super) fn find(name: &str) -> Result<Source, Diagnostic> {
    let path = Path::new(name);
    if path.exists() && !path.is_dir() {
        return Source::read(path, "configuration");
    }
    preset(name).map(of_preset).ok_or_else(|| not_found(name))
}

/// Finds the `base` of this configuration: a file next to this one, else a preset. A file is never its
/// own base, so that a user's `gpu.ron` can be based on the preset of that name.
pub(super) fn find_base(source: &Source, name: &str) -> Result<Source, Diagnostic> {
    let beside = source.path.as_ref().map(|path| path.with_file_name(name));
    match beside {
        Some(path) if path.is_file() && path.canonicalize().ok() != source.path => {
            named(&path, "configuration")
        }
        Some(path) if path.is_file() && preset(name).is_none() => {
            let message = format!("`{}` names itself as its base", source.file);
            let hint = "name another file or a preset; without `base` it is gpu.ron";
            Err(Diagnostic::error(message).hint(hint))
        }
        _ => preset(name).map(of_preset).ok_or_else(|| not_found(name)),
    }
}

/// Finds the `dram.part` of this configuration: a file next to this one, else a built-in part.
pub(super) fn find_part(source: &Source, name: &str) -> Result<Source, Diagnostic> {
    let beside = source.path.as_ref().map(|path| path.with_file_name(name));
    match beside {
        Some(path) if path.is_file() => named(&path, "memory part"),
        _ => part(name)
            .map(|part| Source { file: format!("parts/{}", part.file), ..of_preset(part) })
            .ok_or_else(|| {
                let parts = PARTS.iter().map(|p| p.file).collect::<Vec<_>>().join(", ");
                let stem = name.trim_end_matches(".ron");
                let hint = match nearest(stem, PARTS.iter().map(Preset::name)) {
                    Some(name) => format!("did you mean `{name}.ron`? parts: {parts}"),
                    None => format!("parts: {parts}"),
                };
                Diagnostic::error(format!(
                    "there is no file `{name}` beside this one, and no memory part of that name"
                ))
                .hint(hint)
            }),
    }
}

/// Reads a file that a configuration names. Messages quote it, so its name has to say that it is meant to be read here.
fn named(path: &Path, noun: &str) -> Result<Source, Diagnostic> {
    if path.extension().is_none_or(|extension| extension != "ron") {
        let message = format!("`{}` is no {noun}: its name does not end in .ron", path.display());
        return Err(Diagnostic::error(message).hint("rename it, if it is one"));
    }
    Source::read(path, noun)
}

/// Name of a configuration that states none.
pub(super) fn stem(source: &Source) -> String {
    Path::new(&source.file).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

fn not_found(name: &str) -> Diagnostic {
    let presets = PRESETS.iter().map(|p| p.file).collect::<Vec<_>>().join(", ");
    let path = Path::new(name);
    let file = path.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = file.trim_end_matches(".ron");
    let message = match path.is_dir() {
        true => format!("`{name}` is a directory, not a configuration"),
        false => format!("there is no file `{name}`, and no preset of that name"),
    };
    let beside = path.with_extension("ron");
    let hint = if !path.is_dir() && beside.is_file() {
        format!("there is a file `{}`", beside.display())
    } else if let Some(preset) = preset(&file).filter(|p| p.file != name) {
        format!("the preset is called `{}`, without a path; presets: {presets}", preset.file)
    } else if let Some(name) = nearest(stem, PRESETS.iter().map(Preset::name)) {
        format!("did you mean `{name}.ron`? presets: {presets}")
    } else {
        format!("presets: {presets}")
    };
    Diagnostic::error(message).hint(hint)
}
