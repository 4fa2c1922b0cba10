//! What each parameter of a machine is worth to a kernel: it is halved and doubled, and the kernel runs again.

pub mod report;

use crate::results::Measured;
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
#[derive(Debug, Clone)]
pub struct Effect {
    /// The value that was tried.
    pub then: u64,
    /// Cycles of the run, of the machine as it is where the clock is another; or why there is none.
    pub cycles: Result<u64, String>,
}

/// The effects of one parameter.
#[derive(Debug, Clone)]
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

    /// The value that saves most, and the fraction of the cycles that it saves.
    pub fn saves(&self, cycles: u64) -> Option<(u64, f64)> {
        let saving =
            |effect: usize| Some((self.effects[effect].as_ref()?.then, -self.change(effect, cycles)?));
        let savings = (0..2).filter_map(saving).filter(|&(_, saved)| saved >= NOTHING);
        savings.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// The parameters of a machine, and what they are worth to a kernel.
#[derive(Debug, Clone)]
pub struct Sensitivity {
    /// The run on the machine as it is.
    pub baseline: Measured,
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
        let baseline = run(config, None)?;
        let mut parameters = Vec::new();
        for pair in changes(config, within) {
            let Some(one) = pair.iter().flatten().next() else { continue };
            let mut parameter = Parameter { key: one.key.clone(), now: one.now, effects: [None, None] };
            for (effect, change) in parameter.effects.iter_mut().zip(&pair) {
                let Some(change) = change else { continue };
                let cycles = match &change.machine {
                    Err(why) => Err(why.clone()),
                    Ok(machine) => {
                        let measured = run(machine, Some(change))?;
                        let why = || measured.message.clone().unwrap_or_else(|| measured.outcome.clone());
                        // With another clock, the time of the run in cycles of the machine as it is.
                        let clocks = [&baseline, &measured].map(|run| u64::from(run.machine.core_clock_mhz));
                        measured.cycles().map(|cycles| cycles * clocks[0] / clocks[1]).ok_or_else(why)
                    }
                };
                *effect = Some(Effect { then: change.then, cycles });
            }
            parameters.push(parameter);
        }
        let cycles = baseline.cycles().unwrap_or(0);
        // The sort is stable: among equals the order of the declaration stays.
        parameters.sort_by(|a, b| b.weight(cycles).total_cmp(&a.weight(cycles)));
        Ok(Sensitivity { baseline, parameters })
    }

    /// Cycles on the machine as it is.
    pub fn cycles(&self) -> u64 {
        self.baseline.cycles().unwrap_or(0)
    }

    /// The parameters whose change saves cycles, the largest saving first.
    pub fn savings(&self) -> Vec<(&Parameter, u64, f64)> {
        let of = |parameter| Some((parameter, Parameter::saves(parameter, self.cycles())?));
        let mut all: Vec<(&Parameter, u64, f64)> = self
            .parameters
            .iter()
            .filter_map(of)
            .map(|(parameter, (then, saved))| (parameter, then, saved))
            .collect();
        all.sort_by(|a, b| b.2.total_cmp(&a.2));
        all
    }
}

#[cfg(test)]
mod tests;
