//! Parameters set on the command line, such as `core.l1.mshrs=64`. Each setting is a layer above the file.

use super::declare::{Field, Kind, Parameter, Tree};
use super::errors::{expectation, leaf, nearest, number};
use super::keys;
use super::model::Config;
use super::values::{item_name, literal};
use std::ops::Range;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::ron_text::{Entry, Located, Shape, Source, join};

/// Name of a setting's text in messages.
pub(super) const FILE: &str = "--set";

/// A command-line word, parsed as `KEY=VALUE`.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The word. File names in it are relative to the working directory.
    pub source: Source,
    /// Declared path of the parameter.
    key: String,
    /// Steps from the configuration to the parameter, including those that the word omits at the start.
    steps: Vec<Step>,
    value: Range<usize>,
}

/// A step from the configuration to a parameter.
#[derive(Debug)]
struct Step {
    kind: StepKind,
    name: String,
    /// Its bytes in the word.
    place: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    /// `.key`
    Key,
    /// `[name]` or `[number]`
    Item,
}

/// The result of a setting.
#[derive(Debug)]
pub(crate) struct Stated {
    /// Its place.
    pub located: Located,
    /// The setting with the complete path: `core.units[fp32].lanes=64`.
    pub words: String,
}

/// A parameter in a tree.
struct Target<'a> {
    kind: Kind,
    field: Option<&'static Field>,
    place: &'a mut Tree,
    /// Path with items by number.
    path: String,
    /// Path with items by name.
    named: String,
    /// Bytes of the last step in the word.
    at: Range<usize>,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// An integer, with its unit; of `bytes`, also sizes such as `64KiB`.
    Integer(&'static str),
    /// `true` or `false`.
    Boolean,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
}

/// A parameter that a setting can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settable {
    /// Complete path: `core.units[fp32].lanes`.
    pub path: String,
    /// What it takes.
    pub form: Form,
}

impl Config {
    /// The parameter that a key of `--set` names: a complete path, or the end of one if it is unique.
    ///
    /// # Errors
    /// It names no parameter, or several.
    pub fn settable(&self, key: &str) -> Result<Settable, Diagnostic> {
        let Target { kind, field, named, .. } =
            Setting::read(&format!("{key}="))?.target(&mut self.tree())?;
        let form = match kind {
            Kind::Integer => Form::Integer(field.and_then(|f| f.limits).map_or("", |limits| limits.unit)),
            Kind::Bool => Form::Boolean,
            Kind::Choice(choices) => Form::Choice(choices.names()),
            _ => Form::Text,
        };
        Ok(Settable { path: named, form })
    }
}

impl Setting {
    /// Parses a word.
    ///
    /// # Errors
    /// The word does not have the form `KEY=VALUE`, or its key does not match exactly one parameter.
    pub(super) fn read(word: &str) -> Result<Setting, Diagnostic> {
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
            steps.push(Step {
                kind: StepKind::Key,
                name: name.to_owned(),
                place: name_at..name_at + name.len(),
            });
            let mut rest = items.trim_end();
            let mut item_at = at + part.len() - items.len();
            while !rest.is_empty() {
                let Some(end) = rest.find(']').filter(|_| rest.starts_with('[')) else {
                    return wrong(format!("`{part}` lacks a bracket"), item_at..at + part.len());
                };
                let place = item_at + 1..item_at + end;
                steps.push(Step { kind: StepKind::Item, name: word[place.clone()].trim().to_owned(), place });
                (rest, item_at) = (&rest[end + 1..], item_at + end + 1);
            }
            at += part.len() + 1;
        }
        let start = word.len() - value.trim_start().len();
        let value = start..start + value.trim().len();
        let found =
            keys::find(key.trim()).map_err(|error| error.at(source.place(0..key.trim_end().len())))?;
        if found.key == "base" {
            let message = "a command line sets no base";
            let hint = "--config chooses the file or preset that settings go upon";
            return Err(Diagnostic::error(message).at(source.place(0..key.len())).hint(hint));
        }
        // The omitted part of the path, before the part in the word.
        let path: Vec<&str> = found.key.split('.').collect();
        let written = steps.iter().filter(|step| step.kind == StepKind::Key).count();
        let first = steps.first().map_or(0..0, |step| step.place.clone());
        let left_out = path[..path.len().saturating_sub(written)].iter().map(|name| {
            let name = name.trim_end_matches("[]").to_owned();
            Step { kind: StepKind::Key, name, place: first.clone() }
        });
        let steps = left_out.chain(steps).collect();
        Ok(Setting { source, key: found.key, steps, value })
    }

    /// The memory part that the setting names, with its place, if the key is `dram.part`.
    pub(super) fn part(&self) -> Option<(String, Stated)> {
        (self.key == "dram.part").then(|| {
            let name = self.source.text[self.value.clone()].trim_matches('"').to_owned();
            let located = self.located(self.key.clone(), self.steps[0].place.clone(), Shape::Text);
            let words = format!("{}={name}", self.key);
            (name, Stated { located, words })
        })
    }

    fn located(&self, path: String, key: Range<usize>, shape: Shape) -> Located {
        let value = self.value.clone();
        let entry = Entry { path, key: Some(key), value, shape, name: None, parent: None };
        Located { entries: vec![entry], complete: true, open: None }
    }

    /// Stores the value in the tree. Returns what was set.
    ///
    /// # Errors
    /// The path does not end at a parameter, or the parameter does not accept the value.
    pub(super) fn apply(&self, tree: &mut Tree) -> Result<Stated, Diagnostic> {
        let text = self.source.text.as_str();
        let Target { kind, field, place, path, named, at } = self.target(tree)?;
        let shape = if let Kind::Text = kind { Shape::Text } else { Shape::Word };
        let located = self.located(path, at, shape);
        let entry = &located.entries[0];
        let mut wrong = Vec::new();
        leaf(&self.source, entry, &kind, field, &mut wrong);
        match (wrong.pop(), self.tree(entry, &kind, field)) {
            (Some(wrong), _) => Err(wrong),
            (None, Some(value)) => {
                let words = format!("{named}={}", literal(&value));
                *place = value;
                Ok(Stated { located, words })
            }
            (None, None) => {
                let found = &text[self.value.clone()];
                let message =
                    format!("`{}` is {found}: it must be {}", entry.path, expectation(&kind, field));
                Err(Diagnostic::error(message).at(self.source.place(self.value.clone())))
            }
        }
    }

    /// Finds the parameter that the setting names in a tree.
    ///
    /// # Errors
    /// The path does not end at a parameter.
    fn target<'a>(&self, tree: &'a mut Tree) -> Result<Target<'a>, Diagnostic> {
        let mut kind = Kind::Section(Config::SECTION);
        // Items by number for locating messages, and by name for people.
        let (mut path, mut named) = (String::new(), String::new());
        let (mut field, mut at) = (None, 0..0);
        let mut place = tree;
        for step in &self.steps {
            at = step.place.clone();
            (kind, place) = match (step.kind, kind, place) {
                (StepKind::Key, Kind::Section(section), Tree::Section(values)) => {
                    let known = section.fields().iter().zip(values).find(|(f, _)| f.key == step.name);
                    let Some((found, value)) = known else {
                        let message = format!("`{}` is no parameter that can be set", self.key);
                        return Err(Diagnostic::error(message).at(self.source.place(at)));
                    };
                    (path, named) = (join(&path, &step.name), join(&named, &step.name));
                    field = Some(found);
                    (found.kind, value)
                }
                (StepKind::Item, Kind::List(section), Tree::List(items)) => {
                    let names: Vec<String> = items.iter().map(item_name).collect();
                    let number =
                        names.iter().position(|n| *n == step.name).or_else(|| step.name.parse().ok());
                    let Some((number, value)) = number.and_then(|n| Some((n, items.get_mut(n)?))) else {
                        let hint = nearest(&step.name, names.iter().map(String::as_str));
                        let hint = hint.map_or(format!("it has {}", names.join(", ")), |name| {
                            format!("did you mean `{path}[{name}]`?")
                        });
                        let message = format!("`{path}` has no item `{}`", step.name);
                        return Err(Diagnostic::error(message).at(self.source.place(at)).hint(hint));
                    };
                    (path, named) = (format!("{path}[{number}]"), format!("{named}[{}]", names[number]));
                    (Kind::Section(section), value)
                }
                (_, kind, value) => return Err(self.not_inside(&path, kind, value, at)),
            };
        }
        match kind {
            Kind::Section(_) | Kind::List(_) => Err(self.not_inside(&path, kind, place, self.value.clone())),
            _ => Ok(Target { kind, field, place, path, named, at }),
        }
    }

    /// The value, if a parameter of this kind accepts it.
    fn tree(&self, entry: &Entry, kind: &Kind, field: Option<&Field>) -> Option<Tree> {
        let text = &self.source.text[self.value.clone()];
        match kind {
            Kind::Integer => {
                number(&self.source, entry, field).ok().and_then(|n| n.try_into().ok()).map(Tree::Integer)
            }
            Kind::Bool => text.parse().ok().map(Tree::Bool),
            Kind::Text => Some(Tree::Text(text.trim_matches('"').to_owned())),
            Kind::Choice(choices) => {
                choices.names().iter().find(|name| **name == text).map(|name| Tree::Choice(name))
            }
            Kind::Section(_) | Kind::List(_) => None,
        }
    }

    /// The message about a step or value that does not fit what is at `path`.
    fn not_inside(&self, path: &str, kind: Kind, value: &Tree, at: Range<usize>) -> Diagnostic {
        let (message, hint) = match (kind, value) {
            (Kind::Section(section), _) => {
                let keys: Vec<&str> = section.fields().iter().map(|f| f.key).collect();
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
        Diagnostic::error(message).at(self.source.place(at)).hint(hint)
    }
}

/// Parses the settings of a command line, in order.
///
/// # Errors
/// All words that are not settings.
pub(super) fn read(words: &[String]) -> Result<Vec<Setting>, Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    let settings =
        words.iter().filter_map(|word| Setting::read(word).map_err(|e| wrong.push(e)).ok()).collect();
    if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
}
