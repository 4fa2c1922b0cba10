//! Keys of parameters as users write them: a complete path, or the end of one if it is unique.

use super::declare::{Field, Kind, Section};
use super::errors::{homes, nearest};
use super::model::Config;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::ron_text::join;
use wave_isa::terms;

/// One row of the declaration.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    /// Path: `core.units[].lanes`.
    pub key: String,
    /// The parameter, section or list.
    pub field: &'static Field,
}

/// All sections, lists and parameters. A section precedes its contents.
pub(super) fn declared() -> Vec<Declared> {
    fn walk(section: &'static Section, path: &str, rows: &mut Vec<Declared>) {
        for field in section.directives.iter().chain(section.fields()) {
            let key = join(path, field.key);
            rows.push(Declared { key: key.clone(), field });
            match field.kind {
                Kind::Section(inner) => walk(inner, &key, rows),
                Kind::List(inner) => walk(inner, &format!("{key}[]"), rows),
                _ => {}
            }
        }
    }
    let mut rows = Vec::new();
    walk(Config::SECTION, "", &mut rows);
    rows
}

/// A path without brackets and their contents.
pub(super) fn plain(key: &str) -> String {
    let mut depth = 0;
    let outside = |c: &char| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => return depth == 0,
        }
        false
    };
    key.chars().filter(outside).collect()
}

/// Resolves a key: the path that equals it, else the only path that ends with it, such as `core.l1.bytes` for
/// `l1.bytes`. List items may be named in brackets.
///
/// # Errors
/// No path matches (the message suggests the nearest), or several do (the message lists them).
pub(super) fn find(key: &str) -> Result<Declared, Diagnostic> {
    let wanted = plain(key.trim());
    let rows = declared();
    let end = format!(".{wanted}");
    let exact: Vec<&Declared> = rows.iter().filter(|row| plain(&row.key) == wanted).collect();
    let found = match exact.is_empty() {
        true => rows.iter().filter(|row| plain(&row.key).ends_with(&end)).collect(),
        false => exact,
    };
    match found.as_slice() {
        [row] => Ok((*row).clone()),
        [] => Err(unknown(key, &wanted, &rows)),
        several => {
            let names: Vec<String> = several.iter().map(|row| format!("`{}`", row.key)).collect();
            let error = Diagnostic::error(format!("several parameters are called `{key}`"));
            Err(error.hint(format!("one of {}", names.join(", "))))
        }
    }
}

/// The message about a key that matches no path.
fn unknown(key: &str, wanted: &str, rows: &[Declared]) -> Diagnostic {
    let error = Diagnostic::error(format!("there is no parameter `{key}`"));
    let (parent, name) = wanted.rsplit_once('.').unwrap_or(("", wanted));
    let sections = || rows.iter().filter(|row| plain(&row.key).ends_with(parent));
    let within = match (parent, sections().find_map(|row| row.field.section().map(|inner| (row, inner)))) {
        ("", _) => Some((String::new(), Config::SECTION)),
        (_, found) => found.map(|(row, inner)| (row.key.clone(), inner)),
    };
    // First a key of another section, then a word of another GPU model, then a typo.
    let elsewhere: Vec<String> =
        homes(Config::SECTION, "", name).iter().map(|home| join(home, name)).collect();
    if !elsewhere.is_empty() {
        return error.hint(format!("did you mean `{}`?", elsewhere.join("` or `")));
    }
    if let Some(hint) = terms::hint_of_key(wanted) {
        return error.hint(hint);
    }
    let beside = || {
        let (path, section) = within.as_ref()?;
        nearest(name, section.fields().iter().map(|field| field.key)).map(|near| join(path, near))
    };
    let whole = || nearest(wanted, rows.iter().map(|row| row.key.as_str())).map(str::to_owned);
    let by_name = || {
        let near = nearest(name, rows.iter().map(|row| row.field.key))?;
        rows.iter().find(|row| row.field.key == near).map(|row| row.key.clone())
    };
    if let Some(near) = beside().or_else(whole).or_else(by_name) {
        return error.hint(format!("did you mean `{near}`?"));
    }
    match within {
        Some((path, section)) if !path.is_empty() => {
            let keys: Vec<&str> = section.fields().iter().map(|field| field.key).collect();
            error.hint(format!("keys of `{path}`: {}", keys.join(", ")))
        }
        _ => error.hint("`config explain core` lists what a section has"),
    }
}

impl Field {
    /// Its contents, if it is a section or a list of sections.
    fn section(&self) -> Option<&'static Section> {
        match self.kind {
            Kind::Section(inner) | Kind::List(inner) => Some(inner),
            _ => None,
        }
    }
}
