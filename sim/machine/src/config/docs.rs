//! Listings for the command line: presets, meaning of a key, differences of two machines.

use super::declare::{Field, Kind};
use super::keys::{Declared, declared, find};
use super::load::{from_text, load};
use super::model::{Config, raw};
use super::presets::{PARTS, PRESETS, Preset, default_preset};
use super::rules::RULES;
use super::show::wrap;
use super::values::{Leaf, config_hash, is_prose, leaves};
use std::fmt::Write;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::ron_text::parse;
use wave_isa::terms::{self, Term};

/// Width of listings in columns.
const WIDTH: usize = 96;

/// The presets with their descriptions, for `config list`.
pub fn list() -> String {
    let mut text = String::new();
    for preset in PRESETS {
        let config = preset_config(preset);
        for (i, line) in wrap(&config.description, WIDTH - 14).iter().enumerate() {
            let name = if i == 0 { preset.file } else { "" };
            let _ = writeln!(text, "{name:<14}{line}");
        }
    }
    text.push_str("\nMemory devices, for `dram: (part: …)`:\n");
    for part in PARTS {
        let _ = writeln!(text, "{:<14}{}", part.file, part_description(part));
    }
    text
}

/// Description of a built-in memory part, from its file.
///
/// # Panics
/// Never: a test reads every part.
pub(crate) fn part_description(part: &Preset) -> String {
    let part: raw::Config = parse(part.text).expect("parts are valid");
    part.description.unwrap_or_default()
}

/// Loads a preset.
///
/// # Panics
/// Never: a test loads every preset.
pub(crate) fn preset_config(preset: &Preset) -> Config {
    from_text(preset.file, preset.text).expect("presets are valid").0
}

/// Description of a key: path, meaning, type, unit, range, default, rules, and value in each preset. For a
/// section, its contents. The key may be the end of a path, such as `issue.width`, if that is unique. A word of
/// `docs/terms.md`, such as `warp`, gives the term and its parameters.
///
/// # Errors
/// The key is unknown or ambiguous.
pub fn explain(key: &str) -> Result<String, Diagnostic> {
    let rows = declared();
    let key = key.trim();
    if key.is_empty() {
        return Ok(children("", &rows));
    }
    let found = find(key);
    let terms = terms::find(key);
    if found.is_err() && !terms.is_empty() {
        return Ok(terms.iter().map(|term| explain_term(term, &rows)).collect::<Vec<_>>().join("\n"));
    }
    found.map(|row| explain_row(&row, &rows))
}

/// True if a path in a configuration has this name: [`explain`] knows more words.
pub fn is_key(key: &str) -> bool {
    find(key).is_ok()
}

fn explain_term(term: &Term, rows: &[Declared]) -> String {
    let keys = || rows.iter().filter(|row| term.keys.iter().any(|(key, _)| *key == row.key));
    let column = keys().map(|row| row.key.len()).max().unwrap_or(0) + 2;
    let mut text = term.text();
    for row in keys() {
        let lines = wrap(&listed(row), WIDTH.saturating_sub(column + 4).max(40));
        let _ = writeln!(text, "    {:<column$}{}", row.key, lines.join(&format!("\n{:1$}", "", column + 4)));
    }
    text
}

fn explain_row(row: &Declared, rows: &[Declared]) -> String {
    let Declared { key, field } = row;
    let mut text = format!("{key}\n");
    let doc = if let Kind::Section(section) = field.kind { section.doc } else { field.doc };
    paragraph(doc.trim(), 4, &mut text);
    match field.kind {
        Kind::Section(_) => text.push_str(&children(key, rows)),
        Kind::List(_) => {
            paragraph("A list; each item states all of these:", 4, &mut text);
            text.push_str(&children(&format!("{key}[]"), rows));
        }
        Kind::Choice(choices) => {
            for (name, doc) in choices.names().iter().zip(choices.docs()) {
                let mut choice = format!("    {name:<14}");
                let lines = wrap(doc, WIDTH - 18);
                choice.push_str(&lines.join(&format!("\n{:18}", "")));
                let _ = writeln!(text, "{choice}");
            }
        }
        _ => paragraph(&kind_name(field), 4, &mut text),
    }
    for rule in RULES.iter().filter(|rule| rule.keys.contains(&key.as_str())) {
        let others: Vec<&str> = rule.keys.iter().copied().filter(|other| other != key).collect();
        paragraph(&format!("With {}: {}.", others.join(", "), rule.law), 4, &mut text);
    }
    if let Some(term) = terms::of_key(key) {
        paragraph(&format!("A term: {}. {}.", term.here, term.elsewhere()), 4, &mut text);
    }
    if !matches!(field.kind, Kind::Section(_) | Kind::List(_)) {
        values_in_presets(key, &mut text);
    }
    text
}

/// Meaning of a parameter with its range, in a list of several.
fn listed(row: &Declared) -> String {
    let range = row.field.limits.map_or(String::new(), |limits| format!("({})", limits.summary()));
    format!("{} {range}", row.field.doc.trim())
}

fn values_in_presets(key: &str, text: &mut String) {
    // Directives have no value. Neither have items of lists that are empty in all presets.
    let has_value = |preset| leaves(&preset_config(preset)).iter().any(|leaf| leaf.key == key);
    if key == "description" || !PRESETS.iter().any(has_value) {
        return;
    }
    text.push('\n');
    for preset in PRESETS {
        let leaves = leaves(&preset_config(preset));
        let in_list = key.contains("[]");
        let values: Vec<String> = leaves
            .iter()
            .filter(|leaf| leaf.key == key)
            .map(|leaf| match leaf.path.rsplit_once('[').and_then(|(_, end)| end.split_once(']')) {
                Some((item, _)) if in_list && item != leaf.value => format!("{item} {}", leaf.value),
                _ => leaf.value.clone(),
            })
            .collect();
        let default = if preset == default_preset() && !in_list { " (the default)" } else { "" };
        let lines = wrap(&values.join(", "), WIDTH - 18).join(&format!("\n{:18}", ""));
        let _ = writeln!(text, "    {:<14}{lines}{default}", preset.file);
    }
}

/// Type, unit and range, in words.
pub(crate) fn kind_name(field: &Field) -> String {
    match (field.kind, field.limits) {
        (Kind::Integer, Some(limits)) => format!("Integer, {}.", limits.summary()),
        (Kind::Integer, None) => "Integer.".into(),
        (Kind::Bool, _) => "true or false.".into(),
        (Kind::Text, _) => "String.".into(),
        (Kind::Choice(choices), _) => format!("One of {}.", choices.names().join(", ")),
        (Kind::Section(_), _) => "Section.".into(),
        (Kind::List(_), _) => "List.".into(),
    }
}

/// The keys directly in a section, one per line.
fn children(section: &str, rows: &[Declared]) -> String {
    let prefix = if section.is_empty() { String::new() } else { format!("{section}.") };
    let inner: Vec<&Declared> = rows
        .iter()
        .filter(|row| row.key.strip_prefix(&prefix).is_some_and(|rest| !rest.contains('.')))
        .collect();
    let column = inner.iter().map(|row| row.key.len()).max().unwrap_or(0) + 2;
    let mut text = String::new();
    for row in inner {
        let lines = wrap(&listed(row), WIDTH.saturating_sub(column).max(40));
        let _ = writeln!(text, "{:<column$}{}", row.key, lines.join(&format!("\n{:column$}", "")));
    }
    text
}

fn paragraph(words: &str, indent: usize, text: &mut String) {
    for line in wrap(words, WIDTH - indent) {
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
}

/// The parameters in which two configurations differ, one per line. List items are matched by name.
///
/// # Errors
/// Errors of [`load`] for either configuration.
pub fn diff(a: &str, b: &str) -> Result<String, Vec<Diagnostic>> {
    let (first, second) = (load(a)?, load(b)?);
    let rows = differences(&first, &second);
    if rows.is_empty() {
        return Ok(format!("{a} and {b} describe the same machine, hash {}\n", config_hash(&first)));
    }
    let width = |column: usize, head: &str| {
        rows.iter().map(|row| row[column].len()).chain([head.len()]).max().unwrap_or(0)
    };
    let (keys, lefts) = (width(0, "hash"), width(1, a).max(16));
    let mut text = format!("{:keys$}  {a:>lefts$}  {b}\n", "");
    let _ = writeln!(text, "{:keys$}  {:>lefts$}  {}", "hash", config_hash(&first), config_hash(&second));
    for [key, left, right] in rows {
        let _ = writeln!(text, "{key:keys$}  {left:>lefts$}  {right}");
    }
    Ok(text)
}

/// The parameters in which two machines differ: path, first value, second value. "-" stands for no value.
fn differences(first: &Config, second: &Config) -> Vec<[String; 3]> {
    let values = |config: &Config| leaves(config).into_iter().filter(|l| !is_prose(l)).collect::<Vec<_>>();
    let (left, right) = (values(first), values(second));
    let value = |leaves: &[Leaf], path: &str| {
        leaves.iter().find(|leaf| leaf.path == path).map_or("-".to_owned(), |leaf| leaf.value.clone())
    };
    let only_right = right.iter().filter(|leaf| left.iter().all(|other| other.path != leaf.path));
    left.iter()
        .chain(only_right)
        .map(|leaf| [leaf.path.clone(), value(&left, &leaf.path), value(&right, &leaf.path)])
        .filter(|[_, left, right]| left != right)
        .collect()
}

/// The preset from which a machine differs in the fewest parameters, and the differences: path, value in the
/// preset, value here. Among equals, the preset with the machine's name wins.
pub fn nearest_preset(config: &Config) -> (&'static str, Vec<[String; 3]>) {
    let from = |preset: &'static Preset| (preset, differences(&preset_config(preset), config));
    let nearest =
        PRESETS.iter().map(from).min_by_key(|(preset, rows)| (rows.len(), preset.name() != config.name));
    nearest.map_or(("", Vec::new()), |(preset, rows)| (preset.file, rows))
}

/// Meaning of the parameter with this key (see [`Leaf::key`]).
pub fn meaning(key: &str) -> &'static str {
    declared().iter().find(|row| row.key == key).map_or("", |row| row.field.doc.trim())
}
