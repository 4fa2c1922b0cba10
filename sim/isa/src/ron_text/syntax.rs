//! Explains syntax errors in RON texts.

use super::{Entry, Located, Shape, Source};
use crate::diagnostic::{Diagnostic, Place};
use ron::error::{Error, SpannedError};
use std::ops::Range;

/// What the text should be, for messages.
#[derive(Debug, Clone, Copy)]
pub struct Noun {
    /// A noun that takes the article `a`, such as `configuration`.
    pub word: &'static str,
    /// The smallest valid text, as a hint.
    pub smallest: &'static str,
    /// What to write where a number has a unit behind it.
    pub units: &'static str,
}

/// True if ron could not continue parsing. False if the syntax is valid but a key or value is in the wrong
/// place.
pub fn is_syntax_error(error: &Error) -> bool {
    matches!(
        error,
        Error::ExpectedComma
            | Error::Eof
            | Error::ExpectedMapColon
            | Error::ExpectedStringEnd
            | Error::InvalidEscape(_)
            | Error::SuggestRawIdentifier(_)
            | Error::TrailingCharacters
            | Error::UnclosedBlockComment
    )
}

/// The message about a text that is not RON.
pub fn syntax_error(source: &Source, located: &Located, error: &SpannedError, noun: Noun) -> Diagnostic {
    let text = &source.text;
    // The position may be before blanks that ron was about to skip.
    let blanks = |at: usize| text[at..].len() - text[at..].trim_start().len();
    let start = source.offset(error.span.start);
    let start = start + blanks(start);
    let end = source.offset(error.span.end).max(start + 1);
    let here = |message: String| Diagnostic::error(message).at(source.place(start..end));

    let first = located.entries.first();
    if first.map_or(text.len(), |e| e.value.start) == text.len() {
        return Diagnostic::error(format!("the {} `{}` is empty", noun.word, source.file))
            .hint(noun.smallest);
    }
    if first.is_none_or(|e| !text[e.value.start..].starts_with('(') && e.name.is_none()) {
        let begin = blanks(0);
        let message = format!("a {} is RON: `( key: value, … )`, with comments after `//`", noun.word);
        return Diagnostic::error(message).at(source.place(begin..begin + 1)).hint(
            "write parentheses around the whole file, `:` between key and value, and a comma after each value",
        );
    }
    match &error.code {
        Error::UnclosedBlockComment => {
            // ron reports the end of the file. The comment starts at the last `/*`.
            let begin = text.rfind("/*").unwrap_or(start);
            Diagnostic::error("this comment is never closed").at(source.place(begin..begin + 2))
        }
        Error::ExpectedStringEnd => here("this string is never closed".into()),
        Error::InvalidEscape(_) => here("there is no such escape in a string".into())
            .hint("a backslash itself is written `\\\\`; a raw string is r\"…\""),
        Error::TrailingCharacters => {
            here(format!("nothing may follow the closing parenthesis of the {}", noun.word))
                .hint("is there a `)` too many?")
        }
        Error::SuggestRawIdentifier(name) if name.contains('.') => {
            let nested = name.split('.').collect::<Vec<_>>().join(": (");
            here(format!("keys are nested, not dotted: `{name}`"))
                .hint(format!("write `{nested}: …{}`", ")".repeat(name.matches('.').count())))
        }
        Error::ExpectedMapColon => {
            here("expected `:` after the key".into()).hint("a key and its value are written `key: value`")
        }
        Error::ExpectedIdentifier | Error::SuggestRawIdentifier(_) => {
            here("expected a key".into()).hint("write `key: value`, the key without quotes")
        }
        Error::NoSuchExtension(name) => here(format!("RON has no extension `{name}`")),
        _ => match located.open {
            Some(open) if text[start.min(text.len())..].trim().is_empty() => {
                let bracket = &text[open..open + 1];
                Diagnostic::error(format!("this `{bracket}` is never closed"))
                    .at(source.place(open..open + 1))
            }
            _ if matches!(
                error.code,
                Error::ExpectedComma | Error::ExpectedStructLikeEnd | Error::ExpectedArrayEnd
            ) =>
            {
                missing_comma(source, located, start, noun)
            }
            Some(open) => {
                let Place { line, column, .. } = source.place(open..open + 1);
                let bracket = &text[open..open + 1];
                here(format!("this is not RON: {}", error.code)).hint(format!(
                    "the innermost open bracket is the `{bracket}` in line {line}, column {column}"
                ))
            }
            None => here(format!("this is not RON: {}", error.code)),
        },
    }
}

/// The message about text at `found` where a comma or closing bracket is expected.
fn missing_comma(source: &Source, located: &Located, found: usize, noun: Noun) -> Diagnostic {
    let before = located.entries.iter().filter(|e| e.value.end <= found).max_by_key(|e| e.value.end);
    match before.map(|e| e.value.end) {
        // The comma is missing in the line above; place the message there.
        Some(end) if end > 0 && source.text[end..found].contains('\n') => {
            Diagnostic::error("a comma is missing after this value").at(source.place(last_line(source, end)))
        }
        _ => {
            let word: String = source.text[found..].chars().take_while(|c| c.is_alphanumeric()).collect();
            let length = word.len().max(1);
            let message = "expected a comma or a closing bracket here";
            let diagnostic = Diagnostic::error(message).at(source.place(found..found + length));
            match before {
                Some(Entry { shape: Shape::Number, .. }) if !word.is_empty() => diagnostic.hint(noun.units),
                _ => diagnostic,
            }
        }
    }
}

/// The last character before `end`.
fn last_line(source: &Source, end: usize) -> Range<usize> {
    source.text.floor_char_boundary(end - 1)..end
}
