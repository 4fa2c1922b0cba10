//! Checks of the values of a configuration.

use super::declare::{Field, Kind, Limits, Parameter, Section, Tree};
use super::model::{Config, Topology};
use super::rules::RULES;
use super::{network, routes};
use std::collections::BTreeSet;
use wave_isa::ExecClass;
use wave_isa::diagnostic::{Diagnostic, Severity};
use wave_isa::ron_text::join;

/// A problem of the values, not yet located in a file.
#[derive(Debug)]
pub(super) struct Problem {
    /// Error or warning.
    pub severity: Severity,
    /// The parameters involved, the most likely culprit first.
    pub paths: Vec<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// An error about one parameter.
    pub(super) fn error(path: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { severity: Severity::Error, paths: vec![path.into()], message: message.into(), hint: None }
    }

    /// The same with a hint.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    fn warning(self) -> Problem {
        Problem { severity: Severity::Warning, ..self }
    }
}

impl Config {
    /// Checks the values, for a configuration that was changed after loading.
    ///
    /// Returns all problems, errors first; empty if there are none.
    pub fn check(&self) -> Vec<Diagnostic> {
        let diagnostic =
            |p: Problem| Diagnostic { severity: p.severity, message: p.message, place: None, hint: p.hint };
        problems(self).into_iter().map(diagnostic).collect()
    }
}

/// All problems of the values, errors first.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    let tree = config.tree();
    ranges(Config::SECTION, &tree, "", &mut problems);
    let bad: BTreeSet<String> = problems.iter().flat_map(|p| p.paths.clone()).collect();

    // Rules that involve an out-of-range value are skipped: they would only repeat the message.
    for rule in RULES.iter().filter(|r| !r.keys.iter().any(|&key| bad.contains(key)) && !(r.holds)(config)) {
        let values: Vec<String> = rule.keys.iter().map(|key| stated(key, &tree)).collect();
        let (last, first) = values.split_last().expect("a rule has keys");
        let first = if first.is_empty() { String::new() } else { format!("{} and ", first.join(", ")) };
        let message = format!("{first}{last}, but {}", rule.law);
        let paths = rule.keys.iter().map(|&key| key.to_owned()).collect();
        let hint = rule.hint.map(|hint| hint(config));
        problems.push(Problem { severity: rule.severity, paths, message, hint });
    }
    units(config, &mut problems);
    interconnect(config, &bad, &mut problems);
    if config.core.wave_width < 8 && !bad.contains("core.wave_width") {
        let message = format!(
            "`core.wave_width` is {}: the instruction set asks for at least 8 lanes",
            config.core.wave_width
        );
        problems.push(Problem::error("core.wave_width", message).warning());
    }
    problems.sort_by_key(|p| std::cmp::Reverse(p.severity));
    problems
}

/// Values outside their limits.
fn ranges(section: &Section, tree: &Tree, path: &str, problems: &mut Vec<Problem>) {
    let Tree::Section(values) = tree else { return };
    for (field, value) in section.fields().iter().zip(values) {
        let path = join(path, field.key);
        match (field.kind, field.limits, value) {
            (_, Some(limits), Tree::Integer(value)) if !limits.allows(*value) => {
                problems.push(out_of_range(&path, *value, &limits));
            }
            (Kind::Section(section), _, value) => ranges(section, value, &path, problems),
            (Kind::List(section), _, Tree::List(items)) => {
                for (i, item) in items.iter().enumerate() {
                    ranges(section, item, &format!("{path}[{i}]"), problems);
                }
            }
            _ => {}
        }
    }
}

/// The problem of an integer outside its limits. `value` is the text of the file.
pub(crate) fn out_of_range(path: &str, value: impl std::fmt::Display, limits: &Limits) -> Problem {
    Problem::error(path, format!("`{path}` is {value}: it must be {limits}"))
}

/// A parameter with its value, as in "`core.schedulers` is 4".
fn stated(key: &str, tree: &Tree) -> String {
    let mut section = Config::SECTION;
    let mut value = tree;
    for part in key.split('.') {
        let Some(i) = section.fields().iter().position(|f| f.key == part) else { break };
        let Tree::Section(values) = value else { break };
        value = &values[i];
        if let Field { kind: Kind::Section(inner), .. } = section.fields()[i] {
            section = inner;
        }
    }
    match value {
        Tree::Integer(value) => format!("`{key}` is {value}"),
        Tree::Bool(value) => format!("`{key}` is {value}"),
        Tree::Choice(name) => format!("`{key}` is {name}"),
        Tree::Text(text) => format!("`{key}` is {text:?}"),
        Tree::Section(_) | Tree::List(_) => format!("`{key}`"),
    }
}

/// Checks the interconnect graph, if its parameters are valid.
fn interconnect(config: &Config, bad: &BTreeSet<String>, problems: &mut Vec<Problem>) {
    let concerns = |path: &String| {
        path.starts_with("interconnect.") || [String::from("cores"), "l2.slices".into()].contains(path)
    };
    if bad.iter().any(concerns) {
        return;
    }
    let names = match config.interconnect.topology {
        Topology::Edges => network::wrong_names(config),
        _ => Vec::new(),
    };
    problems.extend(if names.is_empty() { routes::problems(config) } else { names });
}

/// Checks unit names, and that exactly one unit serves each class.
fn units(config: &Config, problems: &mut Vec<Problem>) {
    let units = &config.core.units;
    for (i, unit) in units.iter().enumerate() {
        if unit.name.is_empty() || !unit.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let message = format!(
                "the unit's name {:?} is not of letters, digits and underscores, as reports need it",
                unit.name
            );
            problems.push(Problem::error(format!("core.units[{i}].name"), message));
        } else if units[..i].iter().any(|other| other.name == unit.name) {
            let message = format!("two units have the name {:?}", unit.name);
            problems.push(Problem::error(format!("core.units[{i}].name"), message));
        }
        if unit.classes.is_empty() {
            let message = format!("the unit {:?} serves no class of instructions", unit.name);
            let problem = Problem::error(format!("core.units[{i}].classes"), message);
            problems.push(problem.hint("name the classes it executes, or leave the unit out"));
        }
    }

    let mut unserved = Vec::new();
    for &class in ExecClass::ALL {
        let server = match class {
            ExecClass::LocalMemory | ExecClass::DeviceMemory => Some("the load/store unit executes it"),
            ExecClass::Control | ExecClass::Sync => Some("it is resolved at issue"),
            _ => None,
        };
        let optional = match class {
            ExecClass::Fp64 | ExecClass::Fp64Div => !config.capabilities.f64,
            ExecClass::Mma => !config.capabilities.mma,
            _ => false,
        };
        let serving: Vec<(usize, usize)> = (0..units.len())
            .flat_map(|u| (0..units[u].classes.len()).map(move |c| (u, c)))
            .filter(|&(u, c)| units[u].classes[c].class == class)
            .collect();
        let path = |&(u, c): &(usize, usize)| format!("core.units[{u}].classes[{c}].class");
        let name = class.name();
        match (server, serving.as_slice()) {
            (Some(why), [first, ..]) => {
                let message = format!("no unit may serve the class `{name}`: {why}");
                problems.push(Problem::error(path(first), message));
            }
            (None, []) if !optional => unserved.push(class),
            (None, [first, second, ..]) => {
                let message = format!(
                    "the class `{name}` is served twice, by the units {:?} and {:?}",
                    units[first.0].name, units[second.0].name
                );
                problems.push(Problem::error(path(second), message).hint("leave it in one of them"));
            }
            _ => {}
        }
    }
    if let [first, ..] = unserved.as_slice() {
        let names: Vec<String> = unserved.iter().map(|class| format!("`{}`", class.name())).collect();
        let message = format!("no unit of `core.units` serves the class {}", names.join(", "));
        let mut hint = format!("add `(class: {}, latency_cycles: …, passes: …)` to a unit", first.name());
        if unserved.contains(&ExecClass::Fp64) {
            hint += "; or set `capabilities.f64` to false";
        }
        if unserved.contains(&ExecClass::Mma) {
            hint += "; or set `capabilities.mma` to false";
        }
        problems.push(Problem::error("core.units", message).hint(hint));
    }
}
