//! A checked plan: axes, constraints, kernels and seeds, and the points that they mean.

use super::axis::{Axis, Wrong};
use super::draft::{Draft, Stated, without_machine};
use super::sample::{Sampling, combinations};
use crate::launch::{Expression, Scope, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::{Config, Form, Settable, leaves};

/// Most points that a plan may mean, whoever agrees to it.
pub const MOST_POINTS: u64 = 10_000_000;

/// What a sweep runs.
#[derive(Debug)]
pub struct Plan {
    /// Parameters and their values.
    pub axes: Vec<Axis>,
    /// Kernels, as named.
    pub kernels: Vec<String>,
    /// Seeds of random data; one `None` if each kernel has its own.
    pub seeds: Vec<Option<u64>>,
    sampling: Sampling,
    constraints: Vec<Constraint>,
    /// Values of all parameters that no axis changes.
    others: Vec<(String, Value)>,
}

#[derive(Debug)]
struct Constraint {
    text: String,
    formula: Expression,
}

/// A point of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// A value of each axis.
    pub values: Vec<String>,
}

impl Plan {
    /// Checks a draft. `base` is the machine without axes.
    ///
    /// # Errors
    /// Everything that is wrong, with its place.
    pub fn new(draft: &Draft, base: &Config) -> Result<Plan, Vec<Diagnostic>> {
        let mut wrong = Vec::new();
        let axes = axes(draft, base, &mut wrong);
        let seeds = seeds(draft).map_err(|error| wrong.push(error)).unwrap_or_default();
        let constraints =
            draft.constraints.iter().filter_map(|stated| match Expression::parse(&stated.text) {
                Ok(formula) => Some(Constraint { text: stated.text.clone(), formula }),
                Err(message) => {
                    wrong.push(draft.wrong_text(stated, format!("in `{}`: {message}", stated.text), None));
                    None
                }
            });
        let constraints: Vec<Constraint> = constraints.collect();
        if draft.kernels.is_empty() {
            let hint = "name kernels of the suite or files, as in `wave-sim sweep --set … sgemm spmv`";
            wrong.push(Diagnostic::error("the sweep has no kernel").hint(hint));
        }
        let others = leaves(base).into_iter().filter_map(|leaf| Some((leaf.path, value(&leaf.value)?)));
        let plan = Plan {
            axes,
            kernels: draft.kernels.clone(),
            seeds,
            sampling: draft.sampling.unwrap_or_default(),
            constraints,
            others: others.collect(),
        };
        if wrong.is_empty() {
            // Names that are not known are found at the first point, whichever it is.
            let first: Vec<u64> = plan.axes.iter().map(|_| 0).collect();
            for (constraint, stated) in plan.constraints.iter().zip(&draft.constraints) {
                let scope = At { plan: &plan, values: plan.values(&first), paths: RefCell::default() };
                if let Err(failure) = constraint.formula.bind(&scope) {
                    wrong.push(draft.wrong_text(stated, failure.message, failure.hint));
                }
            }
        }
        if wrong.is_empty() { Ok(plan) } else { Err(wrong) }
    }

    /// Runs that the plan means before constraints; `u64::MAX` if there are more.
    pub fn runs(&self) -> u64 {
        let each = self.kernels.len() as u64 * self.seeds.len() as u64;
        self.sampling.count(&self.axes).saturating_mul(each)
    }

    /// The points, in order.
    ///
    /// # Errors
    /// There are too many, or a constraint has no value at one of them.
    pub fn points(&self) -> Result<Vec<Point>, Diagnostic> {
        let count = self.sampling.count(&self.axes);
        if count > MOST_POINTS {
            let message = format!("the plan means {count} points, and a sweep has at most {MOST_POINTS}");
            return Err(
                Diagnostic::error(message).hint("take a sample of them: --latin-hypercube N, or --random N")
            );
        }
        let mut scope = At { plan: self, values: Vec::new(), paths: RefCell::default() };
        let points = self.sampling.points(&self.axes, |indices| {
            scope.values = self.values(indices);
            self.holds(&scope)
        })?;
        Ok(points.iter().map(|point| Point { values: self.values(point) }).collect())
    }

    /// The point with these values of the axes, by their numbers. `None` if a constraint excludes it.
    ///
    /// # Errors
    /// A constraint has no value there.
    pub fn point(&self, indices: &[u64]) -> Result<Option<Point>, Diagnostic> {
        let scope = At { plan: self, values: self.values(indices), paths: RefCell::default() };
        Ok(self.holds(&scope)?.then_some(Point { values: scope.values }))
    }

    /// Number of combinations of values; `u64::MAX` if there are more.
    pub fn combinations(&self) -> u64 {
        combinations(&self.axes)
    }

    fn holds(&self, scope: &At<'_>) -> Result<bool, Diagnostic> {
        self.constraints.iter().try_fold(true, |all, constraint| Ok(all && constraint.holds(scope)?))
    }

    fn values(&self, indices: &[u64]) -> Vec<String> {
        self.axes.iter().zip(indices).map(|(axis, &index)| axis.value(index)).collect()
    }

    /// What a point sets, as `--set` has it.
    pub fn settings(&self, point: &Point) -> Vec<String> {
        self.axes.iter().zip(&point.values).map(|(axis, value)| format!("{}={value}", axis.key)).collect()
    }
}

impl Constraint {
    fn holds(&self, scope: &At<'_>) -> Result<bool, Diagnostic> {
        let value = self.formula.bind(scope).map_err(|failure| failure.message);
        let value =
            value.and_then(|bound| bound.evaluate(0, &|_, _| Err("there are no elements here".to_owned())));
        value.map(|value| value.as_f64() != 0.0).map_err(|why| {
            let at = scope.plan.settings(&Point { values: scope.values.clone() }).join(" ");
            Diagnostic::error(format!("the constraint `{}` has no value at {at}: {why}", self.text))
        })
    }
}

fn axes(draft: &Draft, base: &Config, wrong: &mut Vec<Diagnostic>) -> Vec<Axis> {
    let fixed: Vec<String> = draft
        .set_by_flags
        .iter()
        .filter_map(|word| base.settable(word.split_once('=')?.0).ok())
        .map(|parameter| parameter.path)
        .collect();
    let mut axes: Vec<(Axis, &Stated)> = Vec::new();
    for stated in &draft.axes {
        let parameter = match base.settable(without_machine(&stated.key)) {
            Ok(parameter) => parameter,
            Err(error) => {
                wrong.push(draft.wrong_key(stated, error));
                continue;
            }
        };
        let path = parameter.path.clone();
        if !stated.is_flag() && fixed.contains(&path) {
            continue;
        }
        if let Some(at) = axes.iter().position(|(axis, _)| axis.key == path) {
            if axes[at].1.is_flag() == stated.is_flag() {
                wrong.push(draft.wrong_key(stated, Diagnostic::error(format!("`{path}` is stated twice"))));
                continue;
            }
            axes.remove(at);
        }
        if fixed.contains(&path) {
            let message = format!("`{path}` has one value in a --set, and several in another");
            wrong.push(draft.wrong_key(stated, Diagnostic::error(message)));
            continue;
        }
        match Axis::parse(parameter.clone(), &stated.text) {
            Ok(axis) => {
                wrong.extend(misfits(&axis, &parameter, base).map(|wrong| draft.wrong(stated, wrong)));
                axes.push((axis, stated));
            }
            Err(found) => wrong.push(draft.wrong(stated, found)),
        }
    }
    axes.into_iter().map(|(axis, _)| axis).collect()
}

/// What is wrong with the first value that is no value of the parameter on any machine.
fn misfits(axis: &Axis, parameter: &Settable, base: &Config) -> Option<Wrong> {
    let fits = |value: &str| match parameter.form {
        Form::Integer(_) | Form::Text => true,
        Form::Boolean => matches!(value, "true" | "false"),
        Form::Choice(names) => names.contains(&value),
    };
    if let Form::Integer(_) = parameter.form {
        return None;
    }
    let mut at = 0;
    for value in (0..axis.len()).map(|index| axis.value(index)) {
        if !fits(&value) {
            let setting = format!("{}={value}", axis.key);
            let error = base.with(&[setting]).err().and_then(|errors| errors.into_iter().next());
            let (message, hint) = match error {
                Some(error) => (error.message, error.hint),
                None => (format!("`{}` cannot be {value}", axis.key), None),
            };
            return Some(Wrong { message, hint, at: at..at + value.len() });
        }
        at += value.len() + 1;
    }
    None
}

fn seeds(draft: &Draft) -> Result<Vec<Option<u64>>, Diagnostic> {
    const MOST: u64 = 1 << 20;
    let Some(stated) = &draft.seeds else { return Ok(vec![None]) };
    if let Some(count) = draft.seed_count {
        return match (1..=MOST).contains(&count) {
            true => Ok((1..=count).map(Some).collect()),
            false => Err(draft.wrong_text(stated, format!("{count} seeds: there are 1 to {MOST}"), None)),
        };
    }
    let parameter = Settable { path: "seeds".to_owned(), form: Form::Integer("") };
    let axis = Axis::parse(parameter, &stated.text).map_err(|wrong| draft.wrong(stated, wrong))?;
    if axis.len() > MOST {
        let message = format!("{} seeds: there are at most {MOST}", axis.len());
        return Err(draft.wrong_text(stated, message, None));
    }
    // Values of an axis of integers are integers.
    Ok((0..axis.len()).map(|index| axis.value(index).parse().ok()).collect())
}

/// A value of a parameter in formulas; `None` for texts.
fn value(text: &str) -> Option<Value> {
    match text {
        "true" => Some(Value::Int(1)),
        "false" => Some(Value::Int(0)),
        _ => text.parse().ok().map(Value::Int),
    }
}

/// The names of formulas at a point: paths of parameters, or ends of them that are unique.
struct At<'a> {
    plan: &'a Plan,
    values: Vec<String>,
    /// Paths that names were found to mean.
    paths: RefCell<HashMap<String, Option<String>>>,
}

impl At<'_> {
    fn path(&self, name: &str) -> Option<String> {
        if let Some(known) = self.paths.borrow().get(name) {
            return known.clone();
        }
        let wanted = without_machine(name);
        let end = format!(".{wanted}");
        let paths = || self.plan.others.iter().map(|(path, _)| path);
        let exact = paths().find(|path| *path == wanted);
        let mut ends = paths().filter(|path| path.ends_with(&end));
        let found = exact.or_else(|| ends.next().filter(|_| ends.next().is_none())).cloned();
        self.paths.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }
}

impl Scope for At<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        let path = self.path(name)?;
        match self.plan.axes.iter().position(|axis| axis.key == path) {
            Some(axis) => value(&self.values[axis]),
            None => self.plan.others.iter().find(|(other, _)| *other == path).map(|(_, value)| *value),
        }
    }

    fn buffer(&self, _: &str) -> Option<usize> {
        None
    }

    fn index_name(&self) -> Option<&str> {
        None
    }

    fn names(&self) -> Vec<&str> {
        self.plan.others.iter().map(|(path, _)| path.as_str()).collect()
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
