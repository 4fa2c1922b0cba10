//! The values of a configuration as a flat list, for comparing, hashing and listing.

use super::declare::{Kind, Parameter, Section, Tree};
use super::model::Config;
use fnv::FnvHasher;
use std::hash::Hasher;
use wave_isa::ron_text::join;

/// A parameter with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Declared path: `core.units[].lanes`.
    pub key: String,
    /// Path with the item's name: `core.units[int].lanes`.
    pub path: String,
    /// Value as written in a file.
    pub value: String,
}

/// All values, in declaration order.
pub fn leaves(config: &Config) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    section(Config::SECTION, &config.tree(), "", "", &mut leaves);
    leaves
}

fn section(declared: &Section, tree: &Tree, key: &str, path: &str, leaves: &mut Vec<Leaf>) {
    let Tree::Section(values) = tree else { return };
    for (field, value) in declared.fields().iter().zip(values) {
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

/// Name of a list item: its first value, which is unique in the list.
pub(crate) fn item_name(item: &Tree) -> String {
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
pub(super) fn literal(value: &Tree) -> String {
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

/// Hash of a configuration: 16 hexadecimal digits, the same on every host. It covers all parameters except
/// `name` and `description`.
///
/// 64-bit FNV-1a (Fowler, Noll, Vo) over lines of the form `path=value`.
pub fn config_hash(config: &Config) -> String {
    let mut hasher = FnvHasher::default();
    for leaf in leaves(config).iter().filter(|leaf| !is_prose(leaf)) {
        hasher.write(format!("{}={}\n", leaf.path, leaf.value).as_bytes());
    }
    format!("{:016x}", hasher.finish())
}

/// True for parameters that do not affect the machine.
pub(crate) fn is_prose(leaf: &Leaf) -> bool {
    matches!(leaf.key.as_str(), "name" | "description")
}
