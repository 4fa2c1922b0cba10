//! Where the text of a configuration comes from: a file, or a preset.

use super::errors::nearest;
use super::presets::{PRESETS, Preset, preset};
use crate::diagnostic::{Diagnostic, Place};
use ron::error::Position;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Largest file that is read, bytes; a configuration has a few thousand.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The text of a configuration and what to call it.
#[derive(Debug)]
pub struct Source {
    /// Path as the user gave it, or the preset's file name.
    pub file: String,
    /// The whole text.
    pub text: String,
    /// Where the file really is; `None` for a preset.
    pub path: Option<PathBuf>,
}

impl Source {
    /// A preset.
    pub fn of_preset(preset: &Preset) -> Source {
        Source { file: preset.file.to_owned(), text: preset.text.to_owned(), path: None }
    }

    /// What a command line's name or path stands for: an existing file, else a preset.
    pub fn find(name: &str) -> Result<Source, Diagnostic> {
        let path = Path::new(name);
        if path.exists() && !path.is_dir() {
            return Source::read(path);
        }
        preset(name).map(Source::of_preset).ok_or_else(|| not_found(name))
    }

    /// What the `base` of this configuration stands for: a file beside this one, else a preset. A file
    /// is never its own base, so that a `gpu.ron` of one's own can start from the preset of that name.
    pub fn find_base(&self, name: &str) -> Result<Source, Diagnostic> {
        let beside = self.path.as_ref().map(|path| path.with_file_name(name));
        match beside {
            Some(path) if path.is_file() && path.canonicalize().ok() != self.path => Source::read(&path),
            _ => preset(name).map(Source::of_preset).ok_or_else(|| not_found(name)),
        }
    }

    fn read(path: &Path) -> Result<Source, Diagnostic> {
        let file = path.display().to_string();
        let fail = |why: String| Diagnostic::error(format!("cannot read the configuration `{file}`: {why}"));
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|e| fail(e.to_string()))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(fail(format!("it is longer than {MAX_FILE_BYTES} bytes")));
        }
        let text = String::from_utf8(bytes)
            .map_err(|e| fail(format!("it is not UTF-8 text (byte {})", e.utf8_error().valid_up_to())))?;
        // Some editors put a byte order mark before the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        if let Some(at) = text.find('\0') {
            return Err(fail(format!("it is not text (byte {at} is 0)")));
        }
        Ok(Source { file, text, path: path.canonicalize().ok() })
    }

    /// Name for a configuration that gives itself none.
    pub fn stem(&self) -> String {
        Path::new(&self.file).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }

    /// The place of these bytes; what goes on over several lines is marked in its first.
    pub fn place(&self, bytes: Range<usize>) -> Place {
        let end = bytes.end.min(self.text.len());
        let start = bytes.start.min(end);
        let marked = &self.text[start..self.text.ceil_char_boundary(end)];
        let length = marked.lines().next().unwrap_or("").chars().count();
        Place::at_offset(&self.file, &self.text, start, length)
    }

    /// The text of these bytes, shortened for a message.
    pub fn excerpt(&self, bytes: &Range<usize>) -> String {
        const LONGEST: usize = 40;
        let line = self.text[bytes.clone()].lines().next().unwrap_or("");
        match line.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_owned(),
        }
    }

    /// The byte of a position as ron counts: lines and characters from 1.
    pub fn offset(&self, position: Position) -> usize {
        let line: usize = self.text.split_inclusive('\n').take(position.line - 1).map(str::len).sum();
        let column = self.text[line..].char_indices().nth(position.col - 1);
        column.map_or(self.text.len(), |(column, _)| line + column)
    }
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
