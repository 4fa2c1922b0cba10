//! What ron refuses, said with the words of the declaration: which key, what may stand there.

use super::check::{Problem, out_of_range};
use super::declare::{Field, Kind, Section, join};
use super::locate::{Entry, Located, Shape};
use super::model::Config;
use super::source::Source;
use crate::diagnostic::{Diagnostic, Place};
use ron::error::{Error, SpannedError};
use std::ops::Range;

/// Messages for a text that ron has refused with this error: several at once where several values are
/// wrong, one where the text cannot be read on.
pub fn diagnostics(source: &Source, located: &Located, error: &SpannedError) -> Vec<Diagnostic> {
    let syntax = matches!(
        error.code,
        Error::ExpectedComma
            | Error::Eof
            | Error::ExpectedMapColon
            | Error::ExpectedStringEnd
            | Error::InvalidEscape(_)
            | Error::SuggestRawIdentifier(_)
            | Error::TrailingCharacters
            | Error::UnclosedBlockComment
    );
    if located.complete || !syntax {
        let mut wrong = wrong_values(source, located);
        if !located.complete {
            // Behind a bracket that is never closed, everything seems to stand in the wrong section.
            wrong.truncate(1);
        }
        if !wrong.is_empty() {
            return wrong;
        }
    }
    vec![syntax_error(source, located, error)]
}

/// Unknown keys and values of the wrong kind, in the order of the text.
fn wrong_values(source: &Source, located: &Located) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    // What the declaration has for each entry; nothing inside what is unknown or of the wrong kind.
    let mut kinds: Vec<Option<Kind>> = Vec::with_capacity(located.entries.len());
    for (index, entry) in located.entries.iter().enumerate() {
        let Some(parent) = entry.parent else {
            kinds.push(container(source, entry, Kind::Section(Config::SECTION), &mut wrong));
            continue;
        };
        let kind = match (kinds[parent], &entry.key) {
            (Some(Kind::Section(section)), Some(key)) => {
                let name = &source.text[key.clone()];
                let path = &located.entries[parent].path;
                let first = located.entries[..index]
                    .iter()
                    .find(|e| e.parent == Some(parent) && e.path == entry.path);
                if let Some(first) = first.and_then(|e| e.key.clone()) {
                    let line = source.place(first).line;
                    let message = format!("`{}` is stated twice, first in line {line}", entry.path);
                    wrong.push(Diagnostic::error(message).at(source.place(key.clone())));
                    None
                } else {
                    match section.field(name) {
                        Some(Field { kind: kind @ (Kind::Section(_) | Kind::List(_)), .. }) => {
                            container(source, entry, *kind, &mut wrong)
                        }
                        Some(field) => leaf(source, entry, &field.kind, Some(field), &mut wrong),
                        None => {
                            wrong.push(unknown_key(path, name, section).at(source.place(key.clone())));
                            None
                        }
                    }
                }
            }
            (Some(Kind::Section(_)), None) if !entry.value.is_empty() => {
                let message = format!("expected `key: value`, found `{}`", source.excerpt(&entry.value));
                wrong.push(Diagnostic::error(message).at(source.place(entry.value.clone())));
                None
            }
            (Some(Kind::List(section)), _) => container(source, entry, Kind::Section(section), &mut wrong),
            _ => None,
        };
        kinds.push(kind);
    }
    wrong
}

/// Checks the brackets of a section or list; its kind if its content can be looked at.
fn container(source: &Source, entry: &Entry, kind: Kind, wrong: &mut Vec<Diagnostic>) -> Option<Kind> {
    let place = || source.place(entry.value.clone());
    let what = if entry.path.is_empty() { "the file".into() } else { format!("`{}`", entry.path) };
    match (kind, entry.shape) {
        (Kind::Section(section), Shape::Parentheses) => match entry.name.clone() {
            Some(name) if source.text[name.clone()] != *section.name => {
                let message =
                    format!("{what} is a `{}`, not a `{}`", section.name, &source.text[name.clone()]);
                let hint = "the name before a parenthesis may be left out";
                wrong.push(Diagnostic::error(message).at(source.place(name)).hint(hint));
                None
            }
            _ => Some(kind),
        },
        (Kind::List(_), Shape::List) => Some(kind),
        _ if source.text[entry.value.clone()] == *"None" && !entry.path.is_empty() => None,
        // What was never closed has no shape yet; the syntax error says more.
        (_, Shape::Other) if entry.value.is_empty() => Some(kind),
        _ if entry.path.is_empty() => None,
        (Kind::Section(section), _) => {
            let message = format!("{what} is a section, so it is written `( key: value, … )`");
            let keys = format!("its keys: {}", keys(section));
            wrong.push(Diagnostic::error(message).at(place()).hint(keys));
            None
        }
        _ => {
            wrong.push(
                Diagnostic::error(format!("{what} is a list, so it is written `[ …, … ]`")).at(place()),
            );
            None
        }
    }
}

/// Checks the value of a parameter. Always `None`: nothing stands inside it.
fn leaf(
    source: &Source,
    entry: &Entry,
    kind: &Kind,
    field: Option<&Field>,
    wrong: &mut Vec<Diagnostic>,
) -> Option<Kind> {
    let text = &source.text[entry.value.clone()];
    let path = &entry.path;
    if text == "None" {
        return None;
    }
    let mut hint = None;
    let fits = match kind {
        Kind::Integer => match (integer(text), field.and_then(|f| f.limits)) {
            (Some(value), Some(limits)) => {
                if u64::try_from(value).is_ok_and(|value| limits.allows(value)) {
                    return None;
                }
                let Problem { message, .. } = out_of_range(path, source.excerpt(&entry.value), &limits);
                wrong.push(Diagnostic::error(message).at(source.place(entry.value.clone())));
                return None;
            }
            _ => false,
        },
        Kind::Bool => matches!(text, "true" | "false"),
        Kind::Text => entry.shape == Shape::Text,
        Kind::Choice { names, .. } => {
            let bare = text.trim_matches('"');
            if entry.shape == Shape::Text && names.contains(&bare) {
                hint = Some(format!("without quotes: `{bare}`"));
            } else if let Some(name) = nearest(bare, names.iter().copied()) {
                hint = Some(format!("did you mean `{name}`?"));
            }
            names.contains(&text)
        }
        Kind::Section(_) | Kind::List(_) => true,
    };
    if !fits {
        let found = match source.excerpt(&entry.value) {
            found if found.is_empty() => "has no value".to_owned(),
            found => format!("is {found}"),
        };
        let message = format!("`{path}` {found}: it must be {}", expectation(kind, field));
        let diagnostic = Diagnostic::error(message).at(source.place(entry.value.clone()));
        wrong.push(Diagnostic { hint, ..diagnostic });
    }
    None
}

/// What may stand at a parameter, for messages.
fn expectation(kind: &Kind, field: Option<&Field>) -> String {
    match (kind, field.and_then(|f| f.limits)) {
        (Kind::Integer, Some(limits)) => limits.to_string(),
        (Kind::Integer, None) => "an integer".into(),
        (Kind::Bool, _) => "true or false".into(),
        (Kind::Text, _) => "a string in double quotes".into(),
        (Kind::Choice { names, .. }, _) => format!("one of {}", names.join(", ")),
        (Kind::Section(_), _) => "a section `( key: value, … )`".into(),
        (Kind::List(_), _) => "a list `[ …, … ]`".into(),
    }
}

/// An integer as RON writes them.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        _ => (10, digits),
    };
    let digits = digits.replace('_', "");
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    // What does not even fit here is out of every range, which is all that matters.
    let value = i128::from_str_radix(&digits, radix).unwrap_or(i128::MAX);
    Some(if negative { -value } else { value })
}

fn keys(section: &Section) -> String {
    section.fields.iter().map(|f| f.key).collect::<Vec<_>>().join(", ")
}

/// The message about a key that the section at `path` does not have.
fn unknown_key(path: &str, key: &str, section: &Section) -> Diagnostic {
    let place = if path.is_empty() { "the configuration".into() } else { format!("`{path}`") };
    let message = format!("{place} has no key `{key}`");
    let homes = homes(Config::SECTION, "", key);
    let hint = match (nearest(key, section.fields.iter().map(|f| f.key)), homes.as_slice()) {
        (Some(name), _) if homes.is_empty() => format!("did you mean `{name}`?"),
        (_, [home, ..]) if home.is_empty() && !path.is_empty() => {
            format!("`{key}` belongs to the top level: is a `)` missing before it?")
        }
        (_, [home]) if path.starts_with(&format!("{home}.")) => {
            format!("`{key}` belongs to `{home}`: is a `)` missing before it?")
        }
        (_, [home]) => format!("`{key}` belongs to `{home}`"),
        (Some(name), _) => format!("did you mean `{name}`?"),
        (None, [_, _, ..]) => {
            format!(
                "the key stands in {}",
                homes.iter().map(|h| format!("`{h}`")).collect::<Vec<_>>().join(", ")
            )
        }
        (None, []) => format!("its keys: {}", keys(section)),
    };
    Diagnostic::error(message).hint(hint)
}

/// Paths of the sections that have this key.
fn homes(section: &Section, path: &str, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    for field in section.fields {
        if field.key == key {
            found.push(path.to_owned());
        }
        match field.kind {
            Kind::Section(inner) => found.extend(homes(inner, &join(path, field.key), key)),
            Kind::List(inner) => found.extend(homes(inner, &format!("{}[]", join(path, field.key)), key)),
            _ => {}
        }
    }
    found
}

/// The name most like `text`, if one is like it at all.
pub fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_lowercase();
    let distance = |name: &str| strsim::osa_distance(&text, &name.to_lowercase());
    names
        .map(|name| (distance(name), name))
        .filter(|&(distance, name)| distance <= 1.max(name.len().min(text.len()) / 3))
        .min()
        .map(|(_, name)| name)
}

/// The message about a text that is not RON.
fn syntax_error(source: &Source, located: &Located, error: &SpannedError) -> Diagnostic {
    let text = &source.text;
    // ron's place may lie before the blanks that it was about to skip.
    let blanks = |at: usize| text[at..].len() - text[at..].trim_start().len();
    let start = source.offset(error.span.start);
    let start = start + blanks(start);
    let end = source.offset(error.span.end).max(start + 1);
    let here = |message: String| Diagnostic::error(message).at(source.place(start..end));

    let first = located.entries.first();
    if first.map_or(text.len(), |e| e.value.start) == text.len() {
        return Diagnostic::error(format!("the configuration `{}` is empty", source.file))
            .hint("`()` is the smallest one: everything as in gpu.ron");
    }
    if first.is_none_or(|e| !text[e.value.start..].starts_with('(') && e.name.is_none()) {
        let begin = blanks(0);
        let message = "a configuration is RON: `( key: value, … )`, with comments after `//`";
        return Diagnostic::error(message).at(source.place(begin..begin + 1)).hint(
            "write parentheses around the whole file, `:` between key and value, and a comma after each value",
        );
    }
    match &error.code {
        Error::UnclosedBlockComment => {
            // ron reports the end of the file; the comment starts at the last `/*`.
            let begin = text.rfind("/*").unwrap_or(start);
            Diagnostic::error("this comment is never closed").at(source.place(begin..begin + 2))
        }
        Error::ExpectedStringEnd => here("this string is never closed".into()),
        Error::InvalidEscape(_) => here("there is no such escape in a string".into())
            .hint("a backslash itself is written `\\\\`; a raw string is r\"…\""),
        Error::TrailingCharacters => {
            here("nothing may follow the closing parenthesis of the configuration".into())
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
                missing_comma(source, located, start)
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

/// The message about something at `found` where a comma or a closing bracket should be.
fn missing_comma(source: &Source, located: &Located, found: usize) -> Diagnostic {
    let before = located.entries.iter().map(|e| e.value.end).filter(|&end| end <= found).max();
    match before {
        // The line above lacks its comma: say so there.
        Some(end) if end > 0 && source.text[end..found].contains('\n') => {
            Diagnostic::error("a comma is missing after this value").at(source.place(last_line(source, end)))
        }
        _ => {
            let word: String = source.text[found..].chars().take_while(|c| c.is_alphanumeric()).collect();
            let length = word.len().max(1);
            let message = "expected a comma or a closing bracket here";
            let diagnostic = Diagnostic::error(message).at(source.place(found..found + length));
            match word.is_empty() {
                true => diagnostic,
                false => diagnostic.hint("numbers are written out, without units: 16384, 16_384 or 0x4000"),
            }
        }
    }
}

/// The last character before `end`.
fn last_line(source: &Source, end: usize) -> Range<usize> {
    source.text.floor_char_boundary(end - 1)..end
}
