//! Searches for the machine that is best at something: what is made small, what each point has of it, and how a search went.
//! The processes that run are in `sim/cli/src/optimize/`.

mod evolve;
mod quantity;
mod random;
pub mod report;

pub use evolve::Evolution;
pub use quantity::{Limit, QUANTITIES, Quantity};
pub use random::RandomSearch;

use crate::results::Measured;

/// What is looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// What shall be small.
    pub objective: Quantity,
    /// What may not be large.
    pub limits: Vec<Limit>,
}

/// What a point is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The objective: the geometric mean over all runs of the point. `None` if one of them did not end.
    pub value: Option<f64>,
    /// By what part a limit is exceeded; at most 0 if none is.
    pub excess: f64,
}

impl Score {
    /// True of a point that counts: it has a value, and keeps to the limits.
    pub fn is_good(&self) -> bool {
        self.value.is_some() && self.excess <= 0.0
    }
}

impl Goal {
    /// The score of a point from its runs. A limit holds for each of them.
    pub fn score(&self, runs: &[Measured]) -> Score {
        let logs: Option<Vec<f64>> =
            runs.iter().map(|run| Some(self.objective.of(run)?.max(f64::MIN_POSITIVE).ln())).collect();
        let mean = |logs: Vec<f64>| (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp();
        let value = logs.filter(|logs| !logs.is_empty()).map(mean);
        let excesses = self.limits.iter().flat_map(|limit| {
            runs.iter().map(|run| limit.quantity.of(run).map_or(f64::INFINITY, |value| limit.excess(value)))
        });
        Score { value, excess: excesses.fold(f64::NEG_INFINITY, f64::max) }
    }

    /// By what part a machine of this area exceeds the limits of it, before anything ran on it.
    pub fn excess_of_area(&self, mm2: f64) -> f64 {
        let limits = self.limits.iter().filter(|limit| limit.quantity.is_of_machine());
        limits.map(|limit| limit.excess(mm2)).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// A point that a search came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// A value of each axis.
    pub values: Vec<String>,
    /// Its runs.
    pub runs: Vec<Measured>,
    /// What it is worth.
    pub score: Score,
}

/// A search and its points.
#[derive(Debug, Clone, PartialEq)]
pub struct Searched {
    /// `evolve`, `tpe` or `random`.
    pub method: &'static str,
    /// Where what is random in it comes from.
    pub seed: u64,
    /// Points that it named and that did not run: no machines, too large ones, or excluded by a constraint.
    pub passed_over: u64,
    /// Points that ran, in order.
    pub tried: Vec<Tried>,
}

impl Searched {
    /// The best of the first `points`.
    pub fn best_of(&self, points: usize) -> Option<&Tried> {
        let good = self.tried.iter().take(points).filter(|tried| tried.score.is_good());
        good.min_by(|a, b| value(a).total_cmp(&value(b)))
    }

    /// The best.
    pub fn best(&self) -> Option<&Tried> {
        self.best_of(self.tried.len())
    }
}

fn value(tried: &Tried) -> f64 {
    tried.score.value.unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests;
