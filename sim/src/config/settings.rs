//! Parameters that a command line states, `core.l1.mshrs=64`: each a layer of its own above the file.

use super::declare::{Kind, Section, Tree};
use super::errors::{expectation, homes, integer, leaf, nearest};
use super::model::Config;
use super::values::{item_name, leaf_keys};
use crate::diagnostic::Diagnostic;
use crate::ron_text::{Entry, Located, Shape, Source, join};
use std::ops::Range;

/// What messages call the text of a setting.
pub const FILE: &str = "--set";

/// A word of the command line, read as `KEY=VALUE`.
#[derive(Debug)]
pub struct Setting {
    /// The word; names of files in it are relative to the working folder.
    pub source: Source,
    steps: Vec<Step>,
    value: Range<usize>,
}

/// One step from the configuration to a parameter.
#[derive(Debug)]
enum Step {
    /// `.key`
    Key(Range<usize>),
    /// `[name]` or `[number]`
    Item(Range<usize>),
}

impl Setting {
    /// Takes a word apart.
    ///
    /// # Errors
    /// If it has not the form `KEY=VALUE`.
    pub fn read(word: &str) -> Result<Setting, Diagnostic> {
        let source = Source { file: FILE.to_owned(), text: word.to_owned(), path: Some(FILE.into()) };
        let wrong = |message: String, place: Range<usize>| {
            Err(Diagnostic::error(message)
                .at(source.place(place))
                .hint("a setting is KEY=VALUE, such as `core.l1.mshrs=64` or `core.units[fp32].lanes=64`"))
        };
        let Some((key, value)) = word.split_once('=') else {
            return wrong(format!("`{word}` has no value"), 0..word.len());
        };
        let mut steps = Vec::new();
        let mut at = 0;
        for part in key.split('.') {
            let (name, items) = part.split_at(part.find('[').unwrap_or(part.len()));
            let name_at = at + name.len() - name.trim_start().len();
            let name = name.trim();
            if name.is_empty() {
                return wrong(format!("`{key}` is no key"), at..at + part.len());
            }
            steps.push(Step::Key(name_at..name_at + name.len()));
            let mut rest = items.trim_end();
            let mut item_at = at + part.len() - items.len();
            while !rest.is_empty() {
                let Some(end) = rest.find(']').filter(|_| rest.starts_with('[')) else {
                    return wrong(format!("`{part}` lacks a bracket"), item_at..at + part.len());
                };
                steps.push(Step::Item(item_at + 1..item_at + end));
                (rest, item_at) = (&rest[end + 1..], item_at + end + 1);
            }
            at += part.len() + 1;
        }
        let start = word.len() - value.trim_start().len();
        let value = start..start + value.trim().len();
        Ok(Setting { source, steps, value })
    }

    /// The file that the setting names as the memory part, if it is `dram.part`, and where it stands.
    pub fn part(&self) -> Option<(String, Located)> {
        let [Step::Key(section), Step::Key(key)] = self.steps.as_slice() else { return None };
        let text = &self.source.text;
        (&text[section.clone()] == "dram" && &text[key.clone()] == "part").then(|| {
            let name = text[self.value.clone()].trim_matches('"').to_owned();
            (name, self.located("dram.part".to_owned(), key.clone(), Shape::Text))
        })
    }

    fn located(&self, path: String, key: Range<usize>, shape: Shape) -> Located {
        let value = self.value.clone();
        let entry = Entry { path, key: Some(key), value, shape, name: None, parent: None };
        Located { entries: vec![entry], complete: true, open: None }
    }

    /// Puts the value into the tree; gives where it stands.
    ///
    /// # Errors
    /// A key that does not exist, or a value that the parameter cannot have.
    pub fn apply(&self, tree: &mut Tree) -> Result<Located, Diagnostic> {
        let text = self.source.text.as_str();
        let mut kind = Kind::Section(Config::SECTION);
        let (mut path, mut field, mut at) = (String::new(), None, 0..0);
        let mut place = tree;
        for step in &self.steps {
            (kind, place) = match (step, kind, place) {
                (Step::Key(key), Kind::Section(section), Tree::Section(values)) => {
                    at = key.clone();
                    let name = &text[key.clone()];
                    let known = section.fields.iter().zip(values).find(|(f, _)| f.key == name);
                    let Some((found, value)) = known else {
                        return Err(unknown(&path, name, section).at(self.source.place(at)));
                    };
                    path = join(&path, name);
                    field = Some(found);
                    (found.kind, value)
                }
                (Step::Item(item), Kind::List(section), Tree::List(items)) => {
                    at = item.clone();
                    let name = text[item.clone()].trim();
                    let names: Vec<String> = items.iter().map(item_name).collect();
                    let number = names.iter().position(|n| n == name).or_else(|| name.parse().ok());
                    let Some(value) = number.and_then(|n| items.get_mut(n)) else {
                        let hint = nearest(name, names.iter().map(String::as_str));
                        let hint = hint.map_or(format!("it has {}", names.join(", ")), |name| {
                            format!("did you mean `{path}[{name}]`?")
                        });
                        let message = format!("`{path}` has no item `{name}`");
                        return Err(Diagnostic::error(message).at(self.source.place(at)).hint(hint));
                    };
                    path = format!("{path}[{}]", number.unwrap_or_default());
                    (Kind::Section(section), value)
                }
                (_, kind, value) => return Err(self.not_inside(&path, kind, value, step)),
            };
        }
        let shape = match kind {
            Kind::Section(_) | Kind::List(_) => {
                return Err(self.not_inside(&path, kind, place, &Step::Key(self.value.clone())));
            }
            Kind::Text => Shape::Text,
            _ => Shape::Word,
        };
        let located = self.located(path, at, shape);
        let mut wrong = Vec::new();
        leaf(&self.source, &located.entries[0], &kind, field, &mut wrong);
        match (wrong.pop(), value(&kind, &text[self.value.clone()])) {
            (Some(wrong), _) => Err(wrong),
            (None, Some(value)) => {
                *place = value;
                Ok(located)
            }
            (None, None) => {
                let found = &text[self.value.clone()];
                let path = &located.entries[0].path;
                let message = format!("`{path}` is {found}: it must be {}", expectation(&kind, field));
                Err(Diagnostic::error(message).at(self.source.place(self.value.clone())))
            }
        }
    }

    /// The message about a step, or a value, that does not go with what is at `path`.
    fn not_inside(&self, path: &str, kind: Kind, value: &Tree, step: &Step) -> Diagnostic {
        let (Step::Key(at) | Step::Item(at)) = step;
        let (message, hint) = match (kind, value) {
            (Kind::Section(section), _) => {
                let keys: Vec<&str> = section.fields.iter().map(|f| f.key).collect();
                (format!("`{path}` is a section: set one of its keys"), keys.join(", "))
            }
            (Kind::List(_), Tree::List(items)) => {
                let items: Vec<String> = items.iter().map(|i| format!("{path}[{}]", item_name(i))).collect();
                let hint = match items.is_empty() {
                    true => "it is empty; a file can state all of it".to_owned(),
                    false => items.join(", "),
                };
                (format!("`{path}` is a list: set a key of one of its items"), hint)
            }
            _ => (format!("`{path}` has nothing in it"), format!("{path}=VALUE sets it")),
        };
        Diagnostic::error(message).at(self.source.place(at.clone())).hint(hint)
    }
}

/// The settings that a command line states, in its order.
///
/// # Errors
/// All words that are none.
pub fn read(words: &[String]) -> Result<Vec<Setting>, Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    let settings =
        words.iter().filter_map(|word| Setting::read(word).map_err(|e| wrong.push(e)).ok()).collect();
    if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
}

/// The message about a key that is not there: the nearest of all keys of the configuration.
fn unknown(path: &str, key: &str, section: &Section) -> Diagnostic {
    let place = if path.is_empty() { "the configuration".into() } else { format!("`{path}`") };
    let message = format!("{place} has no key `{key}`");
    if path.is_empty() && key == "base" {
        return Diagnostic::error(message).hint("--config chooses the file or preset that settings go upon");
    }
    let homes: Vec<String> = homes(Config::SECTION, "", key).iter().map(|home| join(home, key)).collect();
    let all = leaf_keys();
    let hint = match nearest(key, section.fields.iter().map(|f| f.key)) {
        Some(name) if homes.is_empty() => format!("did you mean `{}`?", join(path, name)),
        _ if !homes.is_empty() => format!("did you mean `{}`?", homes.join("` or `")),
        _ => match nearest(&join(path, key), all.iter().map(String::as_str)) {
            Some(name) => format!("did you mean `{name}`?"),
            None => {
                let keys: Vec<&str> = section.fields.iter().map(|f| f.key).collect();
                format!("its keys: {}", keys.join(", "))
            }
        },
    };
    Diagnostic::error(message).hint(hint)
}

/// What a text stands for, if a parameter of this kind can have it.
fn value(kind: &Kind, text: &str) -> Option<Tree> {
    match kind {
        Kind::Integer => integer(text).and_then(|n| u64::try_from(n).ok()).map(Tree::Integer),
        Kind::Bool => text.parse().ok().map(Tree::Bool),
        Kind::Text => Some(Tree::Text(text.trim_matches('"').to_owned())),
        Kind::Choice { names, .. } => names.iter().find(|name| **name == text).map(|name| Tree::Choice(name)),
        Kind::Section(_) | Kind::List(_) => None,
    }
}
