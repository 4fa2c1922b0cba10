//! How searches went, as text and as JSON.

use super::{Goal, Searched, Tried};
use crate::columns::aligned;
use crate::compare::microseconds;
use crate::results::{AREA, ENERGY, Machine, Measured};
use crate::summary::json::{SCHEMA, pretty};
use indexmap::IndexMap;
use serde::Serialize;
use std::collections::HashSet;
use std::fmt::Write;
use wave_observe::numbers::{counted, integer, prefix, unit};

/// Points that are listed.
const LISTED: usize = 5;

/// Everything about an optimisation.
#[derive(Debug)]
pub struct Optimized<'a> {
    /// What was looked for.
    pub goal: &'a Goal,
    /// Paths of the parameters that were free.
    pub axes: Vec<&'a str>,
    /// Combinations of their values; `u64::MAX` if there are more.
    pub combinations: u64,
    /// The machine as it is.
    pub machine: Machine,
    /// Kernels.
    pub kernels: Vec<String>,
    /// The machine as it is, if it is one on which the kernels run.
    pub base: Option<Tried>,
    /// The searches.
    pub searches: Vec<Searched>,
}

/// The text: the best points, and how soon they were found.
pub fn text(found: &Optimized<'_>) -> String {
    let objective = found.goal.objective;
    let mut text = format!(
        "{} on {} (config {}): least {} over {} with {}\n",
        found.kernels.join(", "),
        found.machine.name,
        found.machine.hash,
        objective.words,
        counted(found.axes.len() as u64, "parameter"),
        match found.combinations {
            u64::MAX => "more combinations than can be counted".to_owned(),
            n => counted(n, "combination"),
        }
    );
    for limit in &found.goal.limits {
        let quantity = limit.quantity;
        _ = writeln!(text, "{} at most {} {}", quantity.words, limit.most, unit(quantity.unit));
    }
    points(&mut text, found);
    if found.searches.len() > 1 || found.searches.iter().any(|search| search.tried.len() > 10) {
        progress(&mut text, found);
    }
    for search in &found.searches {
        if search.passed_over > 0 {
            _ = writeln!(
                text,
                "{} also named {} where nothing ran: no machine, too large, or excluded",
                name(search),
                counted(search.passed_over, "point")
            );
        }
    }
    text
}

fn name(search: &Searched) -> String {
    format!("{} (seed {})", search.method, search.seed)
}

/// A row for the machine as it is and each of the best points.
fn points(text: &mut String, found: &Optimized<'_>) {
    let objective = found.goal.objective;
    let mut all: Vec<&Tried> =
        found.searches.iter().flat_map(|s| &s.tried).filter(|tried| tried.score.is_good()).collect();
    // The sort is stable: among equals the first that was found stays first.
    all.sort_by(|a, b| super::value(a).total_cmp(&super::value(b)));
    let mut seen = HashSet::new();
    all.retain(|tried| seen.insert(&tried.values));
    if all.is_empty() {
        text.push_str("\nNo point keeps to the limits.\n");
    }
    let of_objective = unit(objective.unit);
    let unit = if objective.unit == objective.name { String::new() } else { format!(", {of_objective}") };
    let heads = [format!("{}{unit}", objective.name), String::new()].into_iter();
    let energies = found.base.iter().chain(all.iter().copied());
    let energies = energies.filter_map(|tried| sum(tried, |run| run.figures.get(ENERGY).copied()));
    let (joule, prefix) = prefix(energies.fold(0.0, f64::max));
    let energy = format!("energy, {prefix}J");
    let heads = heads.chain(["cycles", energy.as_str(), "area, mm²", ""].map(str::to_owned));
    let mut rows = vec![heads.collect::<Vec<_>>()];
    let before = found.base.as_ref().and_then(|base| base.score.value);
    let mut row = |tried: &Tried, words: String| {
        let value = tried.score.value;
        let change = before.zip(value).map(|(before, now)| format!("{:+.1} %", 100.0 * (now / before - 1.0)));
        rows.push(vec![
            value.map_or("-".to_owned(), significant),
            change.unwrap_or_default(),
            sum(tried, |run| run.cycles().map(|n| n as f64)).map_or("-".to_owned(), |n| integer(n as u64)),
            sum(tried, |run| run.figures.get(ENERGY).map(|joules| joules / joule))
                .map_or("-".to_owned(), significant),
            tried
                .runs
                .first()
                .and_then(|run| run.figures.get(AREA))
                .map_or("-".to_owned(), |&x| significant(x)),
            words,
        ]);
    };
    if let Some(base) = &found.base {
        row(base, "the configuration".to_owned());
    }
    for tried in all.iter().take(LISTED) {
        row(tried, settings(&found.axes, tried));
    }
    text.push('\n');
    for line in aligned(&rows, |column| column < 5) {
        _ = writeln!(text, "{line}");
    }
}

fn sum(tried: &Tried, of: impl Fn(&Measured) -> Option<f64>) -> Option<f64> {
    tried.runs.iter().map(of).sum()
}

/// Four significant digits.
fn significant(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let digits = (3 - x.abs().log10().floor() as i32).clamp(0, 9) as usize;
    format!("{x:.digits$}")
}

fn settings(axes: &[&str], tried: &Tried) -> String {
    let words = axes.iter().zip(&tried.values).map(|(key, value)| format!("{key}={value}"));
    words.collect::<Vec<_>>().join(" ")
}

/// The best after so many points, of each search.
fn progress(text: &mut String, found: &Optimized<'_>) {
    let most = found.searches.iter().map(|search| search.tried.len()).max().unwrap_or(0);
    let mut after: Vec<usize> = [1, 4, 8].iter().map(|part| most * part / 16).collect();
    after.push(most);
    after.retain(|&n| n > 0);
    after.dedup();
    let mut rows = vec![
        ["best after".to_owned()]
            .into_iter()
            .chain(after.iter().map(|&n| counted(n as u64, "point")))
            .collect::<Vec<_>>(),
    ];
    for search in &found.searches {
        let best = after.iter().map(|&n| search.best_of(n).and_then(|tried| tried.score.value));
        rows.push(
            [name(search)]
                .into_iter()
                .chain(best.map(|best| best.map_or("-".to_owned(), significant)))
                .collect(),
        );
    }
    text.push('\n');
    for line in aligned(&rows, |column| column > 0) {
        _ = writeln!(text, "{line}");
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    wave_sim: &'static str,
    config: &'a Machine,
    kernels: &'a [String],
    objective: &'static str,
    unit: &'static str,
    limits: IndexMap<&'static str, f64>,
    /// `null` if the kernels do not run on it.
    configuration: Option<PointJson<'a>>,
    searches: Vec<SearchJson<'a>>,
}

#[derive(Serialize)]
struct SearchJson<'a> {
    method: &'static str,
    seed: u64,
    passed_over: u64,
    best: Option<PointJson<'a>>,
    /// In the order in which they ran.
    points: Vec<PointJson<'a>>,
}

#[derive(Serialize)]
struct PointJson<'a> {
    set: IndexMap<&'a str, &'a str>,
    value: Option<f64>,
    keeps_to_limits: bool,
    runs: Vec<RunJson<'a>>,
}

#[derive(Serialize)]
struct RunJson<'a> {
    kernel: &'a str,
    outcome: &'a str,
    cycles: Option<u64>,
    microseconds: Option<f64>,
    joules: Option<f64>,
    mm2: Option<f64>,
}

impl<'a> PointJson<'a> {
    fn of(tried: &'a Tried, axes: &[&'a str]) -> PointJson<'a> {
        let run = |run: &'a Measured| RunJson {
            kernel: &run.kernel,
            outcome: &run.outcome,
            cycles: run.cycles(),
            microseconds: microseconds(run),
            joules: run.figures.get(ENERGY).copied(),
            mm2: run.figures.get(AREA).copied(),
        };
        PointJson {
            set: axes.iter().copied().zip(tried.values.iter().map(String::as_str)).collect(),
            value: tried.score.value,
            keeps_to_limits: tried.score.excess <= 0.0,
            runs: tried.runs.iter().map(run).collect(),
        }
    }
}

/// The document of `wave-sim optimize --format json`.
pub fn json(found: &Optimized<'_>) -> String {
    let searches = found.searches.iter().map(|searched| SearchJson {
        method: searched.method,
        seed: searched.seed,
        passed_over: searched.passed_over,
        best: searched.best().map(|tried| PointJson::of(tried, &found.axes)),
        points: searched.tried.iter().map(|tried| PointJson::of(tried, &found.axes)).collect(),
    });
    pretty(&Document {
        schema: SCHEMA,
        wave_sim: env!("CARGO_PKG_VERSION"),
        config: &found.machine,
        kernels: &found.kernels,
        objective: found.goal.objective.name,
        unit: found.goal.objective.unit,
        limits: found.goal.limits.iter().map(|limit| (limit.quantity.name, limit.most)).collect(),
        configuration: found.base.as_ref().map(|base| PointJson::of(base, &[])),
        searches: searches.collect(),
    })
}
