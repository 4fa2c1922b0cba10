//! Writes a configuration completely, as RON that can be loaded again.

use super::declare::{Field, Kind, Parameter, Section, Tree};
use super::load::load;
use super::model::Config;
use super::values::{config_hash, literal};
use std::fmt::Write;
use wave_isa::diagnostic::Diagnostic;

/// Width of comments in columns.
const WIDTH: usize = 100;

/// Writes the configuration with this name or path, with every parameter resolved and explained. Loading the
/// text gives the same configuration.
///
/// # Errors
/// As [`load`].
pub fn show(name_or_path: &str) -> Result<String, Vec<Diagnostic>> {
    Ok(resolved(&load(name_or_path)?))
}

/// As [`show`], for a loaded configuration.
pub fn resolved(config: &Config) -> String {
    let set = match config.set.as_slice() {
        [] => String::new(),
        set => format!("// Set on the command line: {}.\n", set.join(" ")),
    };
    format!(
        "// Every parameter of this machine; its hash is {}.\n{set}{}",
        config_hash(config),
        ron(&config.tree())
    )
}

/// The values of a configuration as RON without comments.
pub(super) fn ron(tree: &Tree) -> String {
    let mut text = "(\n".to_owned();
    fields(Config::SECTION, tree, 1, &mut text);
    text.push_str(")\n");
    text
}

fn fields(section: &Section, tree: &Tree, depth: usize, text: &mut String) {
    let Tree::Section(values) = tree else { return };
    let indent = "    ".repeat(depth);
    for (i, (field, value)) in section.fields().iter().zip(values).enumerate() {
        if i > 0 && matches!(field.kind, Kind::Section(_) | Kind::List(_)) {
            text.push('\n');
        }
        comment(&describe(field), &indent, text);
        match (field.kind, value) {
            (Kind::Section(inner), value) => {
                let _ = writeln!(text, "{indent}{}: (", field.key);
                fields(inner, value, depth + 1, text);
                let _ = writeln!(text, "{indent}),");
            }
            (Kind::List(inner), Tree::List(list)) => {
                item_comments(inner, &indent, text);
                let _ = writeln!(text, "{indent}{}: [", field.key);
                items(inner, list, depth + 1, text);
                let _ = writeln!(text, "{indent}],");
            }
            (_, value) => {
                let _ = writeln!(text, "{indent}{}: {},", field.key, literal(value));
            }
        }
    }
}

/// Describes the keys of a list's items, once before the list.
fn item_comments(section: &Section, indent: &str, text: &mut String) {
    for field in section.fields() {
        comment(&format!("- {}: {}", field.key, describe(field)), indent, text);
        if let Kind::List(inner) = field.kind {
            item_comments(inner, indent, text);
        }
    }
}

/// Writes one line per item, except for nested lists.
fn items(section: &Section, list: &[Tree], depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    for item in list {
        let Tree::Section(values) = item else { continue };
        let _ = write!(text, "{indent}(");
        for (i, (field, value)) in section.fields().iter().zip(values).enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            match (field.kind, value) {
                (Kind::List(inner), Tree::List(list)) => {
                    let _ = writeln!(text, "{comma}{}: [", field.key);
                    items(inner, list, depth + 1, text);
                    let _ = write!(text, "{indent}]");
                }
                (_, value) => {
                    let _ = write!(text, "{comma}{}: {}", field.key, literal(value));
                }
            }
        }
        text.push_str("),\n");
    }
}

/// Meaning of a parameter, with its range or choices.
fn describe(field: &Field) -> String {
    let mut text = field.doc.trim().to_owned();
    if let Some(limits) = field.limits {
        let _ = write!(text, " ({})", limits.summary());
    }
    if let Kind::Choice(choices) = field.kind {
        let _ = write!(text, " ({})", choices.names().join(", "));
    }
    text
}

fn comment(text: &str, indent: &str, out: &mut String) {
    for line in wrap(text, WIDTH.saturating_sub(indent.len() + 3)) {
        let _ = writeln!(out, "{indent}// {line}");
    }
}

/// Wraps a text at blanks into lines of at most `width` characters, unless a word is longer.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
