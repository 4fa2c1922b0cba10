//! What each parameter of a machine is worth to a kernel, and what it costs: it is halved and doubled, and the kernel runs
//! again.

mod document;
pub mod report;

pub(crate) use document::ParameterJson;

use crate::results::{AREA, Machine, Measured};
use wave_isa::diagnostic::Diagnostic;
use wave_machine::config::{Config, leaves};

/// An effect below this fraction of the cycles is none.
pub const NOTHING: f64 = 0.001;

/// A parameter with another value.
#[derive(Debug, Clone)]
pub struct Change {
    /// Complete path: `core.units[fp32].lanes`.
    pub key: String,
    /// Its value in the machine.
    pub now: u64,
    /// The value that is tried.
    pub then: u64,
    /// The machine with it, or why there is none.
    pub machine: Result<Config, String>,
}

impl Change {
    /// As a setting of the command line.
    pub fn setting(&self) -> String {
        format!("{}={}", self.key, self.then)
    }
}

/// Every integer parameter of a machine whose path begins with one of `within` (all, if there is none), halved and doubled.
/// One that is 0 stays, and 1 is not halved.
pub fn changes(config: &Config, within: &[String]) -> Vec<[Option<Change>; 2]> {
    let is_within =
        |path: &str| within.is_empty() || within.iter().any(|part| path.starts_with(part.as_str()));
    let integers = leaves(config).into_iter().filter_map(|leaf| Some((leaf.value.parse().ok()?, leaf.path)));
    let change = |key: &str, now: u64, then: u64| {
        let machine = config.with(&[format!("{key}={then}")]).map_err(|wrong| reason(&wrong));
        Change { key: key.to_owned(), now, then, machine }
    };
    integers
        .filter(|(now, path)| *now > 0 && is_within(path))
        .map(|(now, path): (u64, String)| {
            let half = (now > 1).then(|| change(&path, now, now / 2));
            [half, now.checked_mul(2).map(|then| change(&path, now, then))]
        })
        .collect()
}

fn reason(wrong: &[Diagnostic]) -> String {
    wrong.first().map_or_else(String::new, |first| first.message.clone())
}

/// What came of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The value that was tried.
    pub then: u64,
    /// Cycles of the run, of the machine as it is where the clock is another; or why there is none.
    pub cycles: Result<u64, String>,
    /// By how much the area of the machine grows, in square millimetres; 0 where there are no prices.
    pub area_mm2: f64,
}

/// The effects of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Complete path.
    pub key: String,
    /// Its value in the machine.
    pub now: u64,
    /// Halved and doubled.
    pub effects: [Option<Effect>; 2],
}

impl Parameter {
    /// Cycles of an effect over those of the machine, less 1.
    pub fn change(&self, effect: usize, cycles: u64) -> Option<f64> {
        let then = *self.effects[effect].as_ref()?.cycles.as_ref().ok()?;
        Some(then as f64 / cycles.max(1) as f64 - 1.0)
    }

    /// The larger of its effects, whatever its sign.
    pub fn weight(&self, cycles: u64) -> f64 {
        (0..2).filter_map(|effect| self.change(effect, cycles)).map(f64::abs).fold(0.0, f64::max)
    }

    /// The value that saves most.
    pub fn saves(&self, cycles: u64) -> Option<Saving<'_>> {
        let saving = |number: usize| {
            let effect = self.effects[number].as_ref()?;
            let (then, area_mm2) = (effect.then, effect.area_mm2);
            Some(Saving { key: &self.key, then, saved: -self.change(number, cycles)?, area_mm2 })
        };
        let savings = (0..2).filter_map(saving).filter(|saving| saving.saved >= NOTHING);
        savings.max_by(|a, b| a.saved.total_cmp(&b.saved))
    }
}

/// A change that saves cycles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saving<'a> {
    /// Complete path of the parameter.
    pub key: &'a str,
    /// The value that saves.
    pub then: u64,
    /// The fraction of the cycles that it saves.
    pub saved: f64,
    /// By how much the area of the machine grows, in square millimetres.
    pub area_mm2: f64,
}

impl Saving<'_> {
    /// As a setting of the command line.
    pub fn setting(&self) -> String {
        format!("{}={}", self.key, self.then)
    }

    /// The fraction of the cycles that a square millimetre saves; infinite where the area does not grow.
    pub fn per_mm2(&self) -> f64 {
        if self.area_mm2 > LEAST_MM2 { self.saved / self.area_mm2 } else { f64::INFINITY }
    }
}

/// Areas that differ by less are equal.
const LEAST_MM2: f64 = 1e-6;

/// The parameters of a machine, and what they are worth to a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// Name of the kernel.
    pub kernel: String,
    /// The machine as it is.
    pub machine: Machine,
    /// Cycles on it.
    pub cycles: u64,
    /// Its area in square millimetres, where there are prices.
    pub area_mm2: Option<f64>,
    /// Largest effect first.
    pub parameters: Vec<Parameter>,
}

impl Sensitivity {
    /// Runs a kernel on a machine as it is and with each of the changes.
    ///
    /// # Errors
    /// What `run` gives: the run on the machine as it is did not end, or no more runs are wanted.
    pub fn measure<E>(
        config: &Config,
        within: &[String],
        mut run: impl FnMut(&Config, Option<&Change>) -> Result<Measured, E>,
    ) -> Result<Sensitivity, E> {
        let area = |run: &Measured| run.figures.get(AREA).copied();
        let baseline = run(config, None)?;
        let mut parameters = Vec::new();
        for pair in changes(config, within) {
            let Some(one) = pair.iter().flatten().next() else { continue };
            let mut parameter = Parameter { key: one.key.clone(), now: one.now, effects: [None, None] };
            for (effect, change) in parameter.effects.iter_mut().zip(&pair) {
                let Some(change) = change else { continue };
                let mut area_mm2 = 0.0;
                let cycles = match &change.machine {
                    Err(why) => Err(why.clone()),
                    Ok(machine) => {
                        let measured = run(machine, Some(change))?;
                        area_mm2 = area(&measured).zip(area(&baseline)).map_or(0.0, |(then, now)| then - now);
                        let why = || measured.message.clone().unwrap_or_else(|| measured.outcome.clone());
                        // With another clock, the time of the run in cycles of the machine as it is.
                        let clocks = [&baseline, &measured].map(|run| u64::from(run.machine.core_clock_mhz));
                        measured.cycles().map(|cycles| cycles * clocks[0] / clocks[1]).ok_or_else(why)
                    }
                };
                *effect = Some(Effect { then: change.then, cycles, area_mm2 });
            }
            parameters.push(parameter);
        }
        let cycles = baseline.cycles().unwrap_or(0);
        // The sort is stable: among equals the order of the declaration stays.
        parameters.sort_by(|a, b| b.weight(cycles).total_cmp(&a.weight(cycles)));
        let area_mm2 = area(&baseline);
        let Measured { kernel, machine, .. } = baseline;
        Ok(Sensitivity { kernel, machine, cycles, area_mm2, parameters })
    }

    /// The changes that save cycles, one for each parameter, the largest saving first.
    pub fn savings(&self) -> Vec<Saving<'_>> {
        let mut all: Vec<Saving<'_>> =
            self.parameters.iter().filter_map(|parameter| parameter.saves(self.cycles)).collect();
        all.sort_by(|a, b| b.saved.total_cmp(&a.saved));
        all
    }

    /// The same, the largest saving for the area first. Those that need no area are before all others.
    pub fn savings_for_area(&self) -> Vec<Saving<'_>> {
        let mut all = self.savings();
        // The sort is stable: among those without area, the largest saving stays first.
        all.sort_by(|a, b| b.per_mm2().total_cmp(&a.per_mm2()));
        all
    }
}

#[cfg(test)]
mod tests;
