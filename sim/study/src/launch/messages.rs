//! Errors in launch files, with their places.

use super::expression::{BARE_WORD, Failure};
use ron::error::{Error, SpannedError};
use serde::de::DeserializeOwned;
use std::ops::Range;
use wave_isa::diagnostic::{Diagnostic, Place};
use wave_isa::ron_text::{
    Entry, Located, Noun, Shape, Source, is_syntax_error, locate, parse as parse_ron, syntax_error,
};
use wave_isa::terms;

/// What a launch file is called in messages.
pub(super) const NOUN: Noun = Noun {
    word: "launch file",
    smallest: "`(source: \"my.wave\", steps: [run(grid: 1)])` is the smallest one",
    units: "numbers are written out, without units: 16384, 16_384 or 0x4000",
};

/// A problem at a path such as `buffers.x.length`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    path: String,
    failure: Failure,
}

impl Problem {
    /// A problem without a hint.
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Problem {
        Problem::of(path.to_owned(), Failure::new(message))
    }

    /// The problem that the value at a path cannot be computed.
    pub(crate) fn of(path: String, failure: Failure) -> Problem {
        Problem { path, failure }
    }
}

/// Parses a text that `noun` describes.
pub(crate) fn parse<T: DeserializeOwned>(source: &Source, noun: Noun) -> Result<T, Vec<Diagnostic>> {
    parse_ron(&source.text).map_err(|error| vec![refused(source, &error, noun)])
}

/// The messages about problems, placed at the parts of the file that cause them.
pub(crate) fn located(source: &Source, problems: Vec<Problem>) -> Vec<Diagnostic> {
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

/// The place of the value at a path.
pub(super) fn place(source: &Source, path: &str) -> Option<Place> {
    nearest_entry(&locate(&source.text), path).map(|entry| source.place(mark(entry)))
}

/// The entry at a path, or the closest entry around it.
fn nearest_entry<'a>(located: &'a Located, path: &str) -> Option<&'a Entry> {
    let mut path = path;
    loop {
        if let Some(entry) = located.find(path) {
            return Some(entry);
        }
        path = &path[..path.rfind(['.', '['])?];
    }
}

/// The part of an entry to mark: a short value as a whole, else its key or its first character.
fn mark(entry: &Entry) -> Range<usize> {
    match (&entry.key, entry.shape, &entry.name) {
        (Some(key), Shape::Parentheses | Shape::List | Shape::Map, None) => key.clone(),
        (None, Shape::Parentheses, Some(name)) => name.clone(),
        (None, Shape::Parentheses, None) => entry.value.start..entry.value.start + 1,
        _ => entry.value.clone(),
    }
}

/// The message about text that ron rejects.
fn refused(source: &Source, error: &SpannedError, noun: Noun) -> Diagnostic {
    let located = locate(&source.text);
    let (start, end) = (source.offset(error.span.start), source.offset(error.span.end));
    // The innermost value at which ron stopped, and the innermost section that contains it.
    let value = located.entries.iter().rfind(|e| e.value.start <= start && start <= e.value.end);
    let section = located.entries.iter().rfind(|e| {
        e.shape == Shape::Parentheses && e.value.start <= start && start < e.value.end && !e.path.is_empty()
    });
    let at = |entry: Option<&Entry>, message: String| {
        let range = match entry {
            Some(entry) if !entry.path.is_empty() => mark(entry),
            _ => start..end.max(start + 1),
        };
        Diagnostic::error(message).at(source.place(range))
    };
    let unknown = |what: &str, found: &str, expected: &[&str]| {
        // ron stops behind an unknown name.
        let begin = source.text[..end.max(start)].rfind(found).unwrap_or(start);
        let failure =
            Failure::unknown(format!("there is no {what} `{found}` here"), found, expected.iter().copied());
        let elsewhere = terms::among(found, expected.iter().copied());
        let hint = match located.complete {
            true => elsewhere.map(|name| format!("here: `{name}`")).or(failure.hint),
            false => Some("is a bracket missing before it?".to_owned()),
        };
        let diagnostic = Diagnostic::error(failure.message).at(source.place(begin..begin + found.len()));
        Diagnostic { hint, ..diagnostic }
    };
    match &error.code {
        Error::NoSuchStructField { expected, found, .. } => unknown("key", found, expected),
        Error::NoSuchEnumVariant { expected, found, .. } => unknown("choice", found, expected),
        Error::MissingStructField { field, .. } => match section {
            Some(entry) => at(section, format!("`{}` lacks its `{field}`", entry.path)),
            None => at(None, format!("the {} lacks its `{field}`", noun.word)),
        },
        Error::DuplicateStructField { field, .. } => at(value, format!("`{field}` is stated twice")),
        Error::InvalidValueForType { expected, found } => {
            at(value, format!("expected {expected}, found {found}"))
        }
        Error::ExpectedDifferentLength { expected, found } => {
            let expected = expected.rsplit(" with ").next().unwrap_or(expected);
            at(section, format!("expected {expected}, found {found}"))
        }
        Error::Message(message) => at(value, message.clone()),
        code if !is_syntax_error(code)
            && value.is_some_and(|e| e.shape == Shape::Word && !e.path.is_empty()) =>
        {
            at(value, BARE_WORD.to_owned())
        }
        _ => syntax_error(source, &located, error, noun),
    }
}
