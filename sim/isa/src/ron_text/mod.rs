//! RON texts written by users: reading them, locating values, and explaining syntax errors.

mod locate;
mod syntax;

use crate::diagnostic::{Diagnostic, Place};
use ron::error::{Position, SpannedError};
use ron::extensions::Extensions;
use std::ops::Range;
use std::path::{Path, PathBuf};
use wave_files::read::{self, RON_BYTES};

pub use locate::{Entry, Located, Shape, join, locate};
pub use syntax::{Noun, is_syntax_error, syntax_error};

/// Deserializes a text. Optional values need no `Some`. A section with several kinds has its kind before the
/// parenthesis: `run(grid: 1)`.
///
/// # Errors
/// The first error that ron reports.
pub fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, SpannedError> {
    let extensions = Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES;
    ron::Options::default().with_default_extension(extensions).from_str(text)
}

/// A text with its name.
#[derive(Debug)]
pub struct Source {
    /// Path as the user gave it, or the name of a compiled-in file.
    pub file: String,
    /// The text.
    pub text: String,
    /// Canonical path of the file; `None` if the text does not come from a file.
    pub path: Option<PathBuf>,
}

impl Source {
    /// Reads a file. `noun` names its purpose in messages, such as `configuration`.
    ///
    /// # Errors
    /// The file cannot be read, is too long, or is not text.
    pub fn read(path: &Path, noun: &str) -> Result<Source, Diagnostic> {
        let file = path.display().to_string();
        let fail = |why: String| Diagnostic::error(format!("cannot read the {noun} `{file}`: {why}"));
        let text = read::text(path, RON_BYTES).map_err(|error| fail(error.to_string()))?;
        // Some editors put a byte order mark before the text.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        if let Some(at) = text.find('\0') {
            return Err(fail(format!("it is not text (byte {at} is 0)")));
        }
        Ok(Source { file, text, path: path.canonicalize().ok() })
    }

    /// The place of these bytes. If they span several lines, only the first line is marked.
    pub fn place(&self, bytes: Range<usize>) -> Place {
        let end = bytes.end.min(self.text.len());
        let start = self.text.floor_char_boundary(bytes.start.min(end));
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

    /// Byte offset of a position as ron counts it: lines and characters from 1.
    pub fn offset(&self, position: Position) -> usize {
        let line: usize = self.text.split_inclusive('\n').take(position.line - 1).map(str::len).sum();
        let column = self.text[line..].char_indices().nth(position.col - 1);
        column.map_or(self.text.len(), |(column, _)| line + column)
    }
}
