//! The values of a configuration as a flat list, for comparing, hashing and listing.

use super::declare::{Kind, Parameter, Section, Tree};
use super::model::Config;
use crate::ron_text::join;
use fnv::FnvHasher;
use std::hash::Hasher;

/// One parameter that has a value of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Path as declared: `core.units[].lanes`.
    pub key: String,
    /// Path with the item's name: `core.units[int].lanes`.
    pub path: String,
    /// Value as a file states it.
    pub value: String,
}

/// Every value, in the order of the declaration.
pub fn leaves(config: &Config) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    section(Config::SECTION, &config.tree(), "", "", &mut leaves);
    leaves
}

fn section(declared: &Section, tree: &Tree, key: &str, path: &str, leaves: &mut Vec<Leaf>) {
    let Tree::Section(values) = tree else { return };
    for (field, value) in declared.fields.iter().zip(values) {
        let (key, path) = (join(key, field.key), join(path, field.key));
        match (field.kind, value) {
            (Kind::Section(inner), value) => section(inner, value, &key, &path, leaves),
            (Kind::List(inner), Tree::List(items)) => {
                for item in items {
                    let path = format!("{path}[{}]", item_name(item));
                    section(inner, item, &format!("{key}[]"), &path, leaves);
                }
            }
            (_, value) => leaves.push(Leaf { key, path, value: literal(value) }),
        }
    }
}

/// Name of a list's item: its first value, which tells it from the others.
pub fn item_name(item: &Tree) -> String {
    match item {
        Tree::Section(values) => match values.first() {
            Some(Tree::Text(text)) => text.clone(),
            Some(value) => literal(value),
            None => String::new(),
        },
        value => literal(value),
    }
}

/// A single value as RON.
pub fn literal(value: &Tree) -> String {
    match value {
        Tree::Integer(value) => value.to_string(),
        Tree::Bool(value) => value.to_string(),
        Tree::Choice(name) => (*name).to_owned(),
        Tree::Text(text) => format!("{text:?}"),
        Tree::Section(values) => {
            format!("({})", values.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Tree::List(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
    }
}

/// A short name of the machine that a configuration describes: 16 hexadecimal digits, the same on every
/// host, for equal values of all parameters but `name` and `description`.
///
/// FNV-1a (Fowler, Noll, Vo) of 64 bits over `path=value` lines.
pub fn config_hash(config: &Config) -> String {
    let mut hasher = FnvHasher::default();
    for leaf in leaves(config).iter().filter(|leaf| !is_prose(leaf)) {
        hasher.write(format!("{}={}\n", leaf.path, leaf.value).as_bytes());
    }
    format!("{:016x}", hasher.finish())
}

/// True for what does not change the machine.
pub fn is_prose(leaf: &Leaf) -> bool {
    matches!(leaf.key.as_str(), "name" | "description")
}
