//! Explanations for people, for programs, and as the table of docs/explain.md.

use super::{Explanation, Limiter};
use crate::config::{Config, wrap};
use crate::observe::{counted, json};
use serde::Serialize;
use std::fmt::Write;

/// Columns of the text.
const WIDTH: usize = 100;

/// A prediction counts as close if it and the measurement are within this factor.
const FACTOR: f64 = 2.0;

/// Part of the time without waves that is worth a remark.
const MUCH_IDLE: f64 = 0.2;

/// Savings below this part of the run are taken as none.
const NOTHING: f64 = 0.005;

/// A word of a command line, with quotes where a shell would take it apart.
fn quoted(word: &str) -> String {
    match word.contains(['[', ']', ' ', '*', '?']) {
        true => format!("'{word}'"),
        false => word.to_owned(),
    }
}

/// The flags that make a change.
fn flags(settings: &[String]) -> String {
    settings.iter().map(|s| format!("--set {}", quoted(s))).collect::<Vec<_>>().join(" ")
}

fn percent(part: f64, of: u64) -> f64 {
    100.0 * part / of.max(1) as f64
}

/// One kernel in full.
pub fn text(explanation: &Explanation, config: &Config) -> String {
    let Explanation { name, cycles, idle, limiters } = explanation;
    let machine = crate::observe::text::machine(config);
    let mut text = format!("{name} takes {} on {machine}", counted(*cycles, "cycle"));
    if *idle >= MUCH_IDLE {
        _ = writeln!(
            text,
            "\nAn average scheduler has no wave for {:.0} % of the time: before the first, after the last, or throughout.\n\
             More or smaller workgroups would keep more of the machine busy. What follows is about those with waves.",
            100.0 * idle
        );
    }
    for (n, limiter) in limiters.iter().enumerate() {
        let cost = limiter.cycles.round();
        _ = writeln!(
            text,
            "\n{}. {}: {cost} cycles, {:.0} %",
            n + 1,
            limiter.cause.name(config),
            percent(limiter.cycles, *cycles)
        );
        let mut line = |words: &str| {
            for (n, part) in wrap(words, WIDTH).into_iter().enumerate() {
                _ = writeln!(text, "   {}{part}", if n == 0 { "" } else { "  " });
            }
        };
        line(&format!("{}.", capital(limiter.cause.meaning())));
        line(&format!("In the kernel: {}.", limiter.cause.advice()));
        match &limiter.change {
            None => line("In the machine: no single parameter is known to help."),
            Some((change, measured)) => {
                let tried = match measured {
                    Some(saved) => format!("; when it was tried, the run took {}", less(*saved)),
                    None => String::new(),
                };
                let predicted = less(change.predicted.round() as i64);
                line(&format!("In the machine: {}", flags(&change.settings)));
                line(&format!("  should take {predicted} ({}){tried}.", change.formula));
            }
        }
    }
    text
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn less(saved: i64) -> String {
    let word = if saved < 0 { "more" } else { "less" };
    format!("{} {word}", counted(saved.unsigned_abs(), "cycle"))
}

/// Of every change that was tried: kernel, cycles, cause and its cost, change, predicted and measured savings in percent.
struct Row<'a> {
    explanation: &'a Explanation,
    limiter: &'a Limiter,
}

impl Row<'_> {
    fn predicted(&self) -> Option<f64> {
        let (change, _) = self.limiter.change.as_ref()?;
        Some(percent(change.predicted, self.explanation.cycles))
    }

    fn measured(&self) -> Option<f64> {
        let (_, measured) = self.limiter.change.as_ref()?;
        measured.map(|saved| percent(saved as f64, self.explanation.cycles))
    }

    fn cells(&self, config: &Config) -> [String; 6] {
        let share = |x: Option<f64>| x.map_or("-".to_owned(), |x| format!("{x:.1} %"));
        let change = self.limiter.change.as_ref();
        [
            self.explanation.name.clone(),
            self.limiter.cause.name(config),
            format!("{:.1} %", percent(self.limiter.cycles, self.explanation.cycles)),
            change.map_or("-".to_owned(), |(change, _)| change.settings.join(" ")),
            share(self.predicted()),
            share(self.measured()),
        ]
    }
}

fn rows(explanations: &[Explanation]) -> impl Iterator<Item = Row<'_>> {
    explanations
        .iter()
        .flat_map(|explanation| explanation.limiters.iter().map(move |limiter| Row { explanation, limiter }))
}

const HEADING: [&str; 6] = ["kernel", "limited by", "cost", "change", "predicted", "measured"];

/// Several kernels: a row for each cause, and how good the predictions are.
pub fn table(explanations: &[Explanation], config: &Config) -> String {
    let all: Vec<[String; 6]> = rows(explanations).map(|row| row.cells(config)).collect();
    let heading = HEADING.map(str::to_owned);
    let lines = || std::iter::once(&heading).chain(&all);
    let width: Vec<usize> =
        (0..6).map(|n| lines().map(|line| line[n].chars().count()).max().unwrap_or(0)).collect();
    let mut text = crate::observe::text::machine(config);
    for line in lines() {
        let cells = line.iter().zip(&width).enumerate().map(|(n, (cell, width))| match n {
            2 | 4 | 5 => format!("{cell:>width$}"),
            _ => format!("{cell:width$}"),
        });
        _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    text + "\n" + &Quality::of(explanations).to_string()
}

/// The table of docs/explain.md.
pub fn markdown(explanations: &[Explanation], config: &Config) -> String {
    let mut text = format!("| {} |\n|---|---|--:|---|--:|--:|\n", HEADING.join(" | "));
    for row in rows(explanations) {
        let mut cells = row.cells(config);
        if row.limiter.change.is_some() {
            cells[3] = format!("`{}`", cells[3]);
        }
        _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    format!("{text}\n{}", Quality::of(explanations))
}

/// How good the predictions are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quality {
    /// Changes that were tried.
    pub tried: usize,
    /// Of these, those that saved something.
    pub helped: usize,
    /// Those whose prediction is within a factor of two of the measurement, or where both are next to nothing.
    pub close: usize,
    /// Spearman's rank correlation of predicted and measured savings, as parts of the run; 0 for fewer than three.
    pub rank_correlation: f64,
}

impl Quality {
    /// Of all that was tried.
    pub fn of(explanations: &[Explanation]) -> Quality {
        let pairs: Vec<(f64, f64)> = rows(explanations)
            .filter_map(|row| Some((row.predicted()? / 100.0, row.measured()? / 100.0)))
            .collect();
        let close = |&&(p, m): &&(f64, f64)| {
            let small = p.abs() < NOTHING && m.abs() < NOTHING;
            small || (m > 0.0 && p / m <= FACTOR && m / p <= FACTOR)
        };
        Quality {
            tried: pairs.len(),
            helped: pairs.iter().filter(|(_, m)| *m >= NOTHING).count(),
            close: pairs.iter().filter(close).count(),
            rank_correlation: spearman(&pairs),
        }
    }
}

impl std::fmt::Display for Quality {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Quality { tried, helped, close, rank_correlation } = self;
        writeln!(
            f,
            "{tried} changes tried: {helped} saved at least 0.5 % of the run; {close} predictions are within a factor of \
             two (or both are below 0.5 %); rank correlation of predicted and measured {rank_correlation:.2}"
        )
    }
}

/// Spearman's rank correlation: Pearson's of the ranks, equal values sharing the mean of theirs.
fn spearman(pairs: &[(f64, f64)]) -> f64 {
    if pairs.len() < 3 {
        return 0.0;
    }
    let ranks = |values: Vec<f64>| -> Vec<f64> {
        let rank = |x: f64| {
            let below = values.iter().filter(|&&y| y < x).count() as f64;
            let equal = values.iter().filter(|&&y| y == x).count() as f64;
            below + (equal - 1.0) / 2.0
        };
        values.iter().map(|&x| rank(x)).collect()
    };
    let a = ranks(pairs.iter().map(|p| p.0).collect());
    let b = ranks(pairs.iter().map(|p| p.1).collect());
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    let scale = (dot(&a, &a) * dot(&b, &b)).sqrt();
    if scale == 0.0 { 0.0 } else { dot(&a, &b) / scale }
}

#[derive(Serialize)]
struct ExplanationJson<'a> {
    name: &'a str,
    cycles: u64,
    idle: f64,
    limiters: Vec<LimiterJson<'a>>,
}

#[derive(Serialize)]
struct LimiterJson<'a> {
    name: String,
    cycles: f64,
    meaning: &'a str,
    kernel: &'a str,
    /// Absent where no parameter is known to help.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ChangeJson<'a>>,
}

#[derive(Serialize)]
struct ChangeJson<'a> {
    set: &'a [String],
    formula: &'a str,
    predicted_cycles: f64,
    /// Absent where it was not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_cycles: Option<i64>,
}

fn limiter_json<'a>(limiter: &'a Limiter, config: &Config) -> LimiterJson<'a> {
    LimiterJson {
        name: limiter.cause.name(config),
        cycles: tenths(limiter.cycles),
        meaning: limiter.cause.meaning(),
        kernel: limiter.cause.advice(),
        change: limiter.change.as_ref().map(|(change, measured)| ChangeJson {
            set: &change.settings,
            formula: change.formula,
            predicted_cycles: tenths(change.predicted),
            measured_cycles: *measured,
        }),
    }
}

/// For programs: the document of `wave-sim explain --format json`.
pub fn document(explanations: &[Explanation], config: &Config) -> String {
    let all: Vec<ExplanationJson<'_>> = explanations
        .iter()
        .map(|e| ExplanationJson {
            name: &e.name,
            cycles: e.cycles,
            idle: (e.idle * 1000.0).round() / 1000.0,
            limiters: e.limiters.iter().map(|l| limiter_json(l, config)).collect(),
        })
        .collect();
    json::explanations(&all, &Quality::of(explanations), config)
}

fn tenths(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}
