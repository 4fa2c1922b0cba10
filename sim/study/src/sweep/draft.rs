//! A sweep as a plan file and the flags of a command line state it, together, and where they do.

use super::axis::{Wrong, is_axis};
use super::file::{File, Values};
use super::sample::Sampling;
use crate::launch::{Problem, Size, located};
use std::path::Path;
use wave_compile::source::Format;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::ron_text::Source;

/// A sweep that is not checked yet. Flags go over what a plan file says.
#[derive(Debug, Default)]
pub struct Draft {
    /// The plan file.
    source: Option<Source>,
    /// The machine: a file or preset.
    pub config: Option<String>,
    /// What differs from it at every point, of the plan.
    pub set: Vec<String>,
    /// Those of flags.
    pub set_by_flags: Vec<String>,
    /// Which combinations are taken.
    pub sampling: Option<Sampling>,
    /// Kernel files, launch files and names of the suite.
    pub kernels: Vec<String>,
    /// Size of the data of launch files.
    pub size: Option<Size>,
    pub(super) axes: Vec<Stated>,
    pub(super) constraints: Vec<Stated>,
    pub(super) seeds: Option<Stated>,
    /// Number of seeds, if that is what the plan says.
    pub(super) seed_count: Option<u64>,
}

/// A text and where it is.
#[derive(Debug, Clone)]
pub(super) struct Stated {
    /// The parameter of an axis; else empty.
    pub key: String,
    /// The text.
    pub text: String,
    /// Where it is.
    pub origin: Origin,
}

#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// In the word of a flag, from this byte on.
    Flag(&'static str, String, usize),
    /// In the plan at this path; items of a list begin at these bytes.
    Plan(String, Vec<usize>),
}

impl Stated {
    pub(super) fn is_flag(&self) -> bool {
        matches!(self.origin, Origin::Flag(..))
    }
}

/// Files that a plan names and that do not say what they are. Messages quote what they read, so these are not read.
fn foreign(file: &File, folder: &Path) -> Vec<Problem> {
    let is_foreign = |name: &str, is_known: &dyn Fn(&Path) -> bool| {
        let path = folder.join(name);
        path.is_file() && path.extension().is_none_or(|extension| extension != "ron") && !is_known(&path)
    };
    let is_kernel =
        |path: &Path| std::fs::read(path).is_ok_and(|bytes| Format::known(path, &bytes).is_some());
    let config = file.config.iter().filter(|name| is_foreign(name, &|_| false));
    let config = config.map(|name| {
        Problem::new("config", format!("`{name}` is no configuration: its name does not end in .ron"))
    });
    let kernels = file.kernels.iter().enumerate().filter(|(_, name)| is_foreign(name, &is_kernel));
    let kernels = kernels.map(|(i, name)| {
        let message =
            format!("`{name}` is no kernel and no launch file: neither its contents nor its name say so");
        Problem::new(&format!("kernels[{i}]"), message)
    });
    config.chain(kernels).collect()
}

impl Draft {
    /// Reads a plan file. What it names is relative to its folder.
    ///
    /// # Errors
    /// It cannot be read, or is no plan.
    pub fn read(path: &Path) -> Result<Draft, Vec<Diagnostic>> {
        let source = Source::read(path, File::WORD).map_err(|error| vec![error])?;
        Draft::of(source, path.parent().unwrap_or(Path::new("")))
    }

    /// The plan in a text, with what it names in `folder`.
    pub(super) fn of(source: Source, folder: &Path) -> Result<Draft, Vec<Diagnostic>> {
        let file = File::read(&source)?;
        let foreign = foreign(&file, folder);
        if !foreign.is_empty() {
            return Err(located(&source, foreign));
        }
        let beside = |name: String| {
            let path = folder.join(&name);
            if path.is_file() { path.to_string_lossy().into_owned() } else { name }
        };
        let stated = |path: String, key: &str, Values { text, items, .. }: Values| Stated {
            key: key.to_owned(),
            text,
            origin: Origin::Plan(path, items),
        };
        // Keys and values of a map both count as its items.
        let axes = file.axes.0.into_iter().enumerate();
        let axes = axes.map(|(i, (key, values))| stated(format!("axes[{}]", 2 * i + 1), &key, values));
        let seed_count = file.seeds.as_ref().and_then(|seeds| seeds.number);
        let constraints = file.constraints.into_iter().enumerate().map(|(i, text)| Stated {
            key: String::new(),
            text,
            origin: Origin::Plan(format!("constraints[{i}]"), Vec::new()),
        });
        Ok(Draft {
            config: file.config.map(beside),
            set: file.set,
            sampling: file.sampling,
            kernels: file.kernels.into_iter().map(beside).collect(),
            size: file.size,
            axes: axes.collect(),
            constraints: constraints.collect(),
            seeds: file.seeds.map(|seeds| stated("seeds".to_owned(), "seeds", seeds)),
            seed_count,
            set_by_flags: Vec::new(),
            source: Some(source),
        })
    }

    /// Adds `--set WORD`: an axis if it has several values.
    pub fn set(&mut self, word: &str) {
        match word.split_once('=') {
            Some((key, values)) if is_axis(values) => self.axes.push(Stated {
                key: key.trim().to_owned(),
                text: values.to_owned(),
                origin: Origin::Flag("--set", word.to_owned(), key.len() + 1),
            }),
            _ => self.set_by_flags.push(without_machine(word).to_owned()),
        }
    }

    /// Adds `--where FORMULA`.
    pub fn constrain(&mut self, formula: &str) {
        let origin = Origin::Flag("--where", formula.to_owned(), 0);
        self.constraints.push(Stated { key: String::new(), text: formula.to_owned(), origin });
    }

    /// Takes the seeds of `--seeds`.
    pub fn seeds(&mut self, text: &str) {
        let origin = Origin::Flag("--seeds", text.to_owned(), 0);
        self.seeds = Some(Stated { key: "seeds".to_owned(), text: text.to_owned(), origin });
        self.seed_count = None;
    }

    /// The message about a part of what is stated.
    pub(super) fn wrong(&self, stated: &Stated, wrong: Wrong) -> Diagnostic {
        let diagnostic = Diagnostic { hint: wrong.hint, ..Diagnostic::error(wrong.message) };
        match &stated.origin {
            Origin::Flag(flag, word, from) => {
                let source = Source { file: (*flag).to_owned(), text: word.clone(), path: None };
                diagnostic.at(source.place(from + wrong.at.start..from + wrong.at.end))
            }
            Origin::Plan(path, items) => {
                let item = items.iter().rposition(|&begin| begin <= wrong.at.start);
                let path = item.map_or(path.clone(), |item| format!("{path}[{item}]"));
                let Some(source) = &self.source else { return diagnostic };
                let places = located(source, vec![Problem::new(&path, "")]);
                match places.into_iter().next().and_then(|found| found.place) {
                    Some(place) => diagnostic.at(place),
                    None => diagnostic,
                }
            }
        }
    }

    /// The message about the whole text.
    pub(super) fn wrong_text(&self, stated: &Stated, message: String, hint: Option<String>) -> Diagnostic {
        self.wrong(stated, Wrong { message, hint, at: 0..stated.text.len() })
    }

    /// The same about the key of an axis.
    pub(super) fn wrong_key(&self, stated: &Stated, error: Diagnostic) -> Diagnostic {
        let Diagnostic { message, hint, .. } = error;
        match &stated.origin {
            Origin::Flag(flag, word, from) => {
                let source = Source { file: (*flag).to_owned(), text: word.clone(), path: None };
                let place = source.place(0..from.saturating_sub(1));
                Diagnostic { hint, ..Diagnostic::error(message).at(place) }
            }
            Origin::Plan(path, _) => {
                // The key of a map's value is the item in front of it.
                let key =
                    path.strip_prefix("axes[").and_then(|rest| rest.strip_suffix(']')?.parse::<usize>().ok());
                let path = key.map_or(path.clone(), |value| format!("axes[{}]", value - 1));
                let whole = Stated { origin: Origin::Plan(path, Vec::new()), ..stated.clone() };
                self.wrong_text(&whole, message, hint)
            }
        }
    }
}

/// A key or setting without the name of the whole: `machine.cores` is `cores`.
pub(super) fn without_machine(word: &str) -> &str {
    word.strip_prefix("machine.").unwrap_or(word)
}
