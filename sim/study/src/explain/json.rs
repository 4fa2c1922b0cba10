//! Explanations as JSON.

use super::{Explanation, Quality, Trial};
use crate::sensitivity::{ParameterJson, Sensitivity};
use serde::Serialize;
use wave_machine::config::Config;
use wave_observe::limits::listing::Instruction;
use wave_observe::limits::signs::Sign;
use wave_observe::limits::{Limiter, Limits, Place};

/// The JSON document of `wave-sim explain --format json`.
pub fn document(explanations: &[Explanation], config: &Config) -> String {
    let all: Vec<ExplanationJson<'_>> = explanations.iter().map(|e| explanation_json(e, config)).collect();
    crate::summary::json::explanations(&all, &Quality::of(explanations), config)
}

#[derive(Serialize)]
struct ExplanationJson<'a> {
    name: &'a str,
    cycles: u64,
    idle: f64,
    stands_out: Vec<SignJson>,
    /// Largest saving first.
    trials: Vec<TrialJson<'a>>,
    limiters: Vec<LimiterJson<'a>>,
    /// Parts of waiting for device memory.
    device_memory: Vec<CostJson>,
    /// Empty if there is only one.
    launches: Vec<LaunchJson<'a>>,
    /// Every parameter halved and doubled, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Vec<ParameterJson>>,
    /// Place of the first trial among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<usize>,
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
struct TrialJson<'a> {
    set: &'a [String],
    against: String,
    reason: &'a str,
    /// Absent if only a counter suggests the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted_cycles: Option<f64>,
    saved_cycles: i64,
    /// By how much the area of the machine grows.
    area_mm2: f64,
    refuted: bool,
}

#[derive(Serialize)]
struct LimiterJson<'a> {
    name: String,
    cycles: f64,
    meaning: &'a str,
    at: Vec<PlaceJson<'a>>,
    kernel: &'a str,
    /// Absent if no formula applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ChangeJson<'a>>,
}

#[derive(Serialize)]
struct PlaceJson<'a> {
    instruction: &'a str,
    pc: u32,
    /// Absent if there is no source.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    share: f64,
}

#[derive(Serialize)]
struct ChangeJson<'a> {
    set: &'a [String],
    formula: &'a str,
    predicted_cycles: f64,
    /// Absent if it was not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_cycles: Option<i64>,
}

#[derive(Serialize)]
struct LaunchJson<'a> {
    cycles: u64,
    limiters: Vec<LimiterJson<'a>>,
    /// The change with the largest saving, and the saving. Absent if nothing helped.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<BestJson<'a>>,
}

#[derive(Serialize)]
struct BestJson<'a> {
    set: &'a [String],
    saved_cycles: i64,
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
        kernel: &limiter.advice,
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

fn explanation_json<'a>(e: &'a Explanation, config: &Config) -> ExplanationJson<'a> {
    let measured = |limiter: &Limiter, launch: Option<usize>| {
        let trial = e.trial(&limiter.change.as_ref()?.settings)?;
        Some(launch.map_or(trial.saved, |n| trial.by_launch[n]))
    };
    let limiters = |limits: &'a Limits, launch: Option<usize>| {
        let json =
            |limiter: &'a Limiter| limiter_json(limiter, measured(limiter, launch), &e.instructions, config);
        limits.limiters.iter().map(json).collect()
    };
    let trial = |trial: &'a Trial| TrialJson {
        set: &trial.candidate.settings,
        against: trial.candidate.cause.name(config),
        reason: &trial.candidate.reason,
        formula: trial.candidate.predicted.map(|(_, formula)| formula),
        predicted_cycles: trial.candidate.predicted.map(|(predicted, _)| tenths(predicted)),
        saved_cycles: trial.saved,
        area_mm2: thousandths(trial.area_mm2),
        refuted: trial.refuted(e.limits.cycles),
    };
    let launch = |n: usize| LaunchJson {
        cycles: e.launches[n].limits.cycles,
        limiters: limiters(&e.launches[n].limits, Some(n)),
        best: e
            .best_of_launch(n)
            .map(|trial| BestJson { set: &trial.candidate.settings, saved_cycles: trial.by_launch[n] }),
    };
    ExplanationJson {
        name: &e.name,
        cycles: e.limits.cycles,
        idle: thousandths(e.limits.idle),
        stands_out: e.signs(config).into_iter().map(sign_json).collect(),
        trials: e.trials.iter().map(trial).collect(),
        limiters: limiters(&e.limits, None),
        device_memory: e
            .limits
            .device
            .iter()
            .map(|cost| CostJson { name: cost.cause.name(config), cycles: tenths(cost.cycles) })
            .collect(),
        launches: (0..e.launches.len()).map(launch).collect(),
        parameters: e.sensitivity.as_ref().map(Sensitivity::parameters_json),
        place: e.place(),
    }
}

fn tenths(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

fn thousandths(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}
