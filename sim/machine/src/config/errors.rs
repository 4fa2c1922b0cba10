//! Turns errors of ron into messages in terms of the declaration: which key, and which values it accepts.

use super::check::{Problem, out_of_range};
use super::declare::{Field, Kind, Section};
use super::keys::{declared, plain};
use super::model::Config;
use super::settings;
use super::size;
use ron::error::SpannedError;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::ron_text::{Entry, Located, Noun, Shape, Source, is_syntax_error, join, syntax_error};
use wave_isa::terms;

/// What the text should be, for messages.
const NOUN: Noun = Noun {
    word: "configuration",
    smallest: "`()` is the smallest one: everything as in gpu.ron",
    units: "a size with a unit is in quotes, such as \"64KiB\"; other numbers have none",
};

/// Messages for a text that ron rejected with this error: one per wrong value, or a single one if the text
/// cannot be parsed further.
pub(super) fn diagnostics(source: &Source, located: &Located, error: &SpannedError) -> Vec<Diagnostic> {
    if located.complete || !is_syntax_error(&error.code) {
        let mut wrong = wrong_values(source, located);
        if !located.complete {
            // After an unclosed bracket, all keys appear to be in the wrong section.
            wrong.truncate(1);
        }
        if !wrong.is_empty() {
            return wrong;
        }
    }
    vec![syntax_error(source, located, error, NOUN)]
}

/// Unknown keys and values of the wrong kind, in the order of the text.
fn wrong_values(source: &Source, located: &Located) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    // Declared kind of each entry. `None` inside unknown entries and entries of the wrong kind.
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

/// Checks the brackets of a section or list. Returns its kind if its contents can be checked.
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
        // An unclosed value has no shape yet. The syntax error describes it better.
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

/// Checks the value of a parameter. Always returns `None`, because it has no contents.
pub(super) fn leaf(
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
        Kind::Integer => match (number(source, entry, field), field.and_then(|f| f.limits)) {
            (Ok(value), Some(limits)) => {
                if u64::try_from(value).is_ok_and(|value| limits.allows(value)) {
                    return None;
                }
                let Problem { message, .. } = out_of_range(path, source.excerpt(&entry.value), &limits);
                wrong.push(Diagnostic::error(message).at(source.place(entry.value.clone())));
                return None;
            }
            (Ok(_), None) => true,
            (Err(why), _) => {
                hint = why;
                false
            }
        },
        Kind::Bool => matches!(text, "true" | "false"),
        Kind::Text => entry.shape == Shape::Text,
        Kind::Choice(choices) => {
            let names = choices.names();
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

/// Reads the integer of a parameter: digits or, if the parameter counts bytes, a size with a unit, which is
/// quoted in files.
///
/// # Errors
/// The text is no such integer. The message has a hint where possible.
pub(super) fn number(source: &Source, entry: &Entry, field: Option<&Field>) -> Result<i128, Option<String>> {
    let text = &source.text[entry.value.clone()];
    if let Some(value) = integer(text) {
        return Ok(value);
    }
    let bare = text.trim_matches('"').trim();
    let Some(unit) = size::unit(bare) else {
        let quoted = entry.shape == Shape::Text && integer(bare).is_some();
        return Err(quoted.then(|| format!("without quotes: {bare}")));
    };
    match field.and_then(|f| f.limits).map_or("", |limits| limits.unit) {
        "bytes" => {}
        "" => return Err(Some(format!("the value has no unit: `{unit}`"))),
        counted => return Err(Some(format!("the value counts {counted}, so it has no unit: `{unit}`"))),
    }
    let value = size::bytes(bare).map_err(Some)?;
    match entry.shape == Shape::Text || source.file == settings::FILE {
        true => Ok(value.into()),
        false => Err(Some(format!("a size with a unit is in quotes: \"{bare}\""))),
    }
}

/// Strings that are invalid as integers: ron accepts strings, as sizes with a unit, wherever an integer is
/// expected.
pub(crate) fn wrong_sizes(source: &Source, located: &Located) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    let rows = declared();
    for entry in located.entries.iter().filter(|entry| entry.shape == Shape::Text) {
        let path = plain(&entry.path);
        let row = rows.iter().find(|row| matches!(row.field.kind, Kind::Integer) && plain(&row.key) == path);
        if let Some(row) = row {
            leaf(source, entry, &row.field.kind, Some(row.field), &mut wrong);
        }
    }
    wrong
}

/// Accepted values of a parameter, for messages.
pub(super) fn expectation(kind: &Kind, field: Option<&Field>) -> String {
    match (kind, field.and_then(|f| f.limits)) {
        (Kind::Integer, Some(limits)) => limits.to_string(),
        (Kind::Integer, None) => "an integer".into(),
        (Kind::Bool, _) => "true or false".into(),
        (Kind::Text, _) => "a string in double quotes".into(),
        (Kind::Choice(choices), _) => format!("one of {}", choices.names().join(", ")),
        (Kind::Section(_), _) => "a section `( key: value, … )`".into(),
        (Kind::List(_), _) => "a list `[ …, … ]`".into(),
    }
}

/// Parses an integer in RON syntax.
pub(super) fn integer(text: &str) -> Option<i128> {
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
    // A number too large for this type is outside every range anyway.
    let value = i128::from_str_radix(&digits, radix).unwrap_or(i128::MAX);
    Some(if negative { -value } else { value })
}

fn keys(section: &Section) -> String {
    section.directives.iter().chain(section.fields()).map(|f| f.key).collect::<Vec<_>>().join(", ")
}

/// The message about an unknown key in the section at `path`.
fn unknown_key(path: &str, key: &str, section: &Section) -> Diagnostic {
    let place = if path.is_empty() { "the configuration".into() } else { format!("`{path}`") };
    let message = format!("{place} has no key `{key}`");
    let homes = homes(Config::SECTION, "", key);
    // A word of another GPU model: first for a key of this section, then for any.
    let beside = terms::among(key, section.fields().iter().map(|f| f.key));
    let of_model =
        beside.map(|name| format!("here: `{}`", join(path, name))).or_else(|| terms::hint_of_key(key));
    if let Some(hint) = of_model.filter(|_| homes.is_empty()) {
        return Diagnostic::error(message).hint(hint);
    }
    let hint = match (nearest(key, section.fields().iter().map(|f| f.key)), homes.as_slice()) {
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

/// Paths of all sections that have this key.
pub(super) fn homes(section: &Section, path: &str, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    for field in section.fields() {
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

/// The name most similar to `text`, if one is similar enough.
pub(super) fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_lowercase();
    let distance = |name: &str| strsim::osa_distance(&text, &name.to_lowercase());
    names
        .map(|name| (distance(name), name))
        .filter(|&(distance, name)| distance <= 1.max(name.len().min(text.len()) / 3))
        .min()
        .map(|(_, name)| name)
}
