//! Explanations for people, for programs, and as the table of docs/explain.md.

use super::Explanation;
use crate::config::{Config, wrap};
use crate::limits::listing::Instruction;
use crate::limits::signs::Sign;
use crate::limits::words::less;
use crate::limits::{Limiter, Place};
use crate::observe::figures::of_which_release;
use crate::observe::{counted, json};
use serde::Serialize;
use std::fmt::Write;

/// Columns of the text.
const WIDTH: usize = 100;

/// A prediction counts as close if it and the measurement are within this factor.
const FACTOR: f64 = 2.0;

/// Savings below this part of the run are taken as none.
const NOTHING: f64 = 0.005;

/// One kernel in full.
pub fn text(explanation: &Explanation, config: &Config) -> String {
    let Explanation { name, limits, instructions, .. } = explanation;
    let machine = crate::observe::text::machine(config);
    let release =
        explanation.report.as_ref().map_or_else(String::new, |r| of_which_release(r, |n| n.to_string()));
    let mut text = format!("{name} takes {}{release} on {machine}", counted(limits.cycles, "cycle"));
    if let Some(remark) = limits.remark() {
        _ = writeln!(text, "\n{}", wrap(&remark, WIDTH).join("\n"));
    }
    let signs = explanation.signs(config);
    if !signs.is_empty() {
        _ = writeln!(text, "\nWhat stands out:");
    }
    for sign in &signs {
        _ = writeln!(text, "   {}", wrap(&sign.text, WIDTH).join("\n   "));
        for (_, words) in &sign.instructions {
            _ = writeln!(text, "   - {}", wrap(words, WIDTH).join("\n     "));
        }
    }
    for (n, (limiter, measured)) in explanation.limiters().enumerate() {
        _ = writeln!(text, "\n{}. {}", n + 1, limits.title(limiter, config));
        let mut line = |words: &str| {
            for (n, part) in wrap(words, WIDTH).into_iter().enumerate() {
                _ = writeln!(text, "   {}{part}", if n == 0 { "" } else { "  " });
            }
        };
        line(&limiter.meaning());
        let place = |(i, words): (&Instruction, String)| match i.scattered(config) {
            Some(lines) => format!("{words}, {lines}"),
            None => words,
        };
        let places: Vec<String> = limiter.at(instructions).map(place).collect();
        if !places.is_empty() {
            line(&format!("At {}.", places.join("; ")));
        }
        line(&limiter.advice());
        match (limiter.flags(), limiter.predicted()) {
            (Some(flags), Some(predicted)) => {
                let tried = measured
                    .map(|saved| format!("; when it was tried, the run took {}", less(saved)))
                    .unwrap_or_default();
                line(&format!("In the machine: {flags}"));
                line(&format!("  {predicted}{tried}."));
            }
            _ => line("In the machine: no single parameter is known to help."),
        }
    }
    if let Some(device) = limits.device_memory(config) {
        _ = writeln!(text, "\n{}", wrap(&device, WIDTH).join("\n"));
    }
    text
}

/// Of every change that was tried: kernel, cycles, cause and its cost, change, predicted and measured savings in percent.
struct Row<'a> {
    explanation: &'a Explanation,
    limiter: &'a Limiter,
    measured: Option<i64>,
}

impl Row<'_> {
    fn predicted(&self) -> Option<f64> {
        self.limiter.change.as_ref().map(|change| self.percent(change.predicted))
    }

    fn measured(&self) -> Option<f64> {
        self.measured.map(|saved| self.percent(saved as f64))
    }

    fn percent(&self, cycles: f64) -> f64 {
        self.explanation.limits.percent(cycles)
    }

    fn cells(&self, config: &Config) -> [String; 6] {
        let share = |x: Option<f64>| x.map_or("-".to_owned(), |x| format!("{x:.1} %"));
        let change = self.limiter.change.as_ref();
        [
            self.explanation.name.clone(),
            self.limiter.cause.name(config),
            share(Some(self.percent(self.limiter.cycles))),
            change.map_or("-".to_owned(), |change| change.settings.join(" ")),
            share(self.predicted()),
            share(self.measured()),
        ]
    }
}

fn rows(explanations: &[Explanation]) -> impl Iterator<Item = Row<'_>> {
    explanations.iter().flat_map(|explanation| {
        explanation.limiters().map(move |(limiter, measured)| Row { explanation, limiter, measured })
    })
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
    stands_out: Vec<SignJson>,
    limiters: Vec<LimiterJson<'a>>,
    /// Parts of waiting for device memory.
    device_memory: Vec<CostJson>,
}

#[derive(Serialize)]
struct SignJson {
    text: String,
    at: Vec<String>,
}

#[derive(Serialize)]
struct CostJson {
    name: String,
    cycles: f64,
}

#[derive(Serialize)]
struct LimiterJson<'a> {
    name: String,
    cycles: f64,
    meaning: &'a str,
    at: Vec<PlaceJson<'a>>,
    kernel: &'a str,
    /// Absent where no parameter is known to help.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ChangeJson<'a>>,
}

#[derive(Serialize)]
struct PlaceJson<'a> {
    instruction: &'a str,
    pc: u32,
    /// Absent where there is no source.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    share: f64,
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

fn limiter_json<'a>(
    limiter: &'a Limiter,
    measured: Option<i64>,
    instructions: &'a [Instruction],
    config: &Config,
) -> LimiterJson<'a> {
    let place = |(place, i): (&Place, &'a Instruction)| PlaceJson {
        instruction: &i.text,
        pc: i.pc,
        line: i.source.as_ref().map(|(line, _)| *line),
        share: thousandths(place.share),
    };
    LimiterJson {
        name: limiter.cause.name(config),
        cycles: tenths(limiter.cycles),
        meaning: limiter.cause.meaning(),
        at: limiter.instructions(instructions).map(place).collect(),
        kernel: limiter.cause.advice(),
        change: limiter.change.as_ref().map(|change| ChangeJson {
            set: &change.settings,
            formula: change.formula,
            predicted_cycles: tenths(change.predicted),
            measured_cycles: measured,
        }),
    }
}

fn sign_json(sign: Sign<'_>) -> SignJson {
    SignJson { text: sign.text, at: sign.instructions.into_iter().map(|(_, words)| words).collect() }
}

/// For programs: the document of `wave-sim explain --format json`.
pub fn document(explanations: &[Explanation], config: &Config) -> String {
    let all: Vec<ExplanationJson<'_>> = explanations
        .iter()
        .map(|e| ExplanationJson {
            name: &e.name,
            cycles: e.limits.cycles,
            idle: thousandths(e.limits.idle),
            stands_out: e.signs(config).into_iter().map(sign_json).collect(),
            limiters: e
                .limiters()
                .map(|(limiter, measured)| limiter_json(limiter, measured, &e.instructions, config))
                .collect(),
            device_memory: e
                .limits
                .device
                .iter()
                .map(|cost| CostJson { name: cost.cause.name(config), cycles: tenths(cost.cycles) })
                .collect(),
        })
        .collect();
    json::explanations(&all, &Quality::of(explanations), config)
}

fn tenths(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

fn thousandths(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}
