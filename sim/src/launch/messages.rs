//! What is wrong with a launch file, with its place.

use super::expression::Failure;
use crate::diagnostic::{Diagnostic, Place};
use crate::program::asm::suggest::did_you_mean;
use crate::ron_text::{
    Entry, Located, Noun, Shape, Source, is_syntax_error, locate, parse as parse_ron, syntax_error,
};
use ron::error::{Error, SpannedError};
use serde::de::DeserializeOwned;
use std::ops::Range;

/// What the text should be.
pub const NOUN: Noun = Noun {
    word: "launch file",
    smallest: "`(source: \"my.wave\", steps: [run(grid: 1)])` is the smallest one",
};

/// Something wrong at a path such as `buffers.x.length`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    path: String,
    failure: Failure,
}

impl Problem {
    /// A problem without a hint.
    pub fn new(path: &str, message: impl Into<String>) -> Problem {
        Problem::of(path.to_owned(), Failure::new(message))
    }

    /// Why what stands at a path has no value.
    pub fn of(path: String, failure: Failure) -> Problem {
        Problem { path, failure }
    }
}

/// Reads a launch file.
pub fn parse<T: DeserializeOwned>(source: &Source) -> Result<T, Vec<Diagnostic>> {
    parse_ron(&source.text).map_err(|error| vec![refused(source, &error)])
}

/// The messages about problems, placed where the file states what is wrong.
pub fn located(source: &Source, problems: Vec<Problem>) -> Vec<Diagnostic> {
    let located = locate(&source.text);
    problems
        .into_iter()
        .map(|Problem { path, failure }| {
            let diagnostic = Diagnostic::error(failure.message);
            let diagnostic = Diagnostic { hint: failure.hint, ..diagnostic };
            match nearest_entry(&located, &path) {
                Some(entry) => diagnostic.at(source.place(mark(entry))),
                None => diagnostic,
            }
        })
        .collect()
}

/// The place of what stands at a path.
pub fn place(source: &Source, path: &str) -> Option<Place> {
    nearest_entry(&locate(&source.text), path).map(|entry| source.place(mark(entry)))
}

/// The entry at a path, or the closest one around it.
fn nearest_entry<'a>(located: &'a Located, path: &str) -> Option<&'a Entry> {
    let mut path = path;
    loop {
        if let Some(entry) = located.find(path) {
            return Some(entry);
        }
        path = &path[..path.rfind(['.', '['])?];
    }
}

/// What to mark of an entry: all of a short value, else its key or its first character.
fn mark(entry: &Entry) -> Range<usize> {
    match (&entry.key, entry.shape, &entry.name) {
        (Some(key), Shape::Parentheses | Shape::List | Shape::Map, None) => key.clone(),
        (None, Shape::Parentheses, Some(name)) => name.clone(),
        (None, Shape::Parentheses, None) => entry.value.start..entry.value.start + 1,
        _ => entry.value.clone(),
    }
}

/// The message about what ron refuses.
fn refused(source: &Source, error: &SpannedError) -> Diagnostic {
    let located = locate(&source.text);
    let offset = |position| source.offset(position);
    let (start, end) = (offset(error.span.start), offset(error.span.end));
    // The innermost value in which ron stopped.
    let inside = |e: &&Entry| e.value.start <= start && start <= e.value.end;
    let value = located.entries.iter().rfind(inside);
    let here = |message: String| {
        let range = match value {
            Some(entry) if !entry.path.is_empty() => mark(entry),
            _ => start..end.max(start + 1),
        };
        Diagnostic::error(message).at(source.place(range))
    };
    let listed = |names: &[&str]| names.join(", ");
    let unknown = |what: &str, found: &str, expected: &[&str]| {
        // ron stops behind the name that it does not know.
        let before = source.text[..end.max(start)].rfind(found).unwrap_or(start);
        let hint = did_you_mean(found, expected.iter().copied())
            .unwrap_or_else(|| format!("there are: {}", listed(expected)));
        Diagnostic::error(format!("there is no {what} `{found}` here"))
            .at(source.place(before..before + found.len()))
            .hint(hint)
    };
    match &error.code {
        code if is_syntax_error(code) || located.entries.len() < 2 => {
            syntax_error(source, &located, error, NOUN)
        }
        Error::NoSuchStructField { expected, found, .. } => unknown("key", found, expected),
        Error::NoSuchEnumVariant { expected, found, .. } => unknown("choice", found, expected),
        Error::MissingStructField { field, .. } => {
            let what = match value {
                Some(entry) if !entry.path.is_empty() => format!("`{}` lacks its `{field}`", entry.path),
                _ => format!("the launch file lacks its `{field}`"),
            };
            here(what)
        }
        Error::DuplicateStructField { field, .. } => here(format!("`{field}` is stated twice")),
        Error::InvalidValueForType { expected, found } => here(format!("expected {expected}, found {found}")),
        Error::Message(message) => here(message.clone()),
        _ => syntax_error(source, &located, error, NOUN),
    }
}
