//! How good the predictions are that trials can be held against.

use super::{Explanation, FACTOR, NOTHING};
use serde::Serialize;

/// How good the predictions are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quality {
    /// Changes that were tried.
    pub tried: usize,
    /// Of these, those that saved something.
    pub helped: usize,
    /// Those that had a prediction.
    pub predicted: usize,
    /// Of these, those whose prediction is within a factor of two of the measurement, or where both are next to nothing.
    pub close: usize,
    /// Those that saved less than half of it.
    pub refuted: usize,
    /// Spearman's rank correlation of predicted and measured savings, as parts of the run; 0 for fewer than three.
    pub rank_correlation: f64,
}

impl Quality {
    /// Of all that was tried.
    pub fn of(explanations: &[Explanation]) -> Quality {
        let trials =
            || explanations.iter().flat_map(|e| e.trials.iter().map(move |trial| (trial, e.limits.cycles)));
        let part = |x: f64, cycles: u64| x / cycles.max(1) as f64;
        let pairs: Vec<(f64, f64)> = trials()
            .filter_map(|(trial, cycles)| {
                let (predicted, _) = trial.candidate.predicted?;
                Some((part(predicted, cycles), part(trial.saved as f64, cycles)))
            })
            .collect();
        let close = |&&(p, m): &&(f64, f64)| {
            let small = p.abs() < NOTHING && m.abs() < NOTHING;
            small || (m > 0.0 && p / m <= FACTOR && m / p <= FACTOR)
        };
        Quality {
            tried: trials().count(),
            helped: trials().filter(|(trial, cycles)| super::helps(trial.saved, *cycles)).count(),
            predicted: pairs.len(),
            close: pairs.iter().filter(close).count(),
            refuted: trials().filter(|(trial, cycles)| trial.refuted(*cycles)).count(),
            rank_correlation: spearman(&pairs),
        }
    }
}

impl std::fmt::Display for Quality {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Quality { tried, helped, predicted, close, refuted, rank_correlation } = self;
        writeln!(
            f,
            "{tried} changes tried: {helped} saved at least 0.5 % of the run. {predicted} had a prediction: {close} of \
             these are within a factor of two (or both are below 0.5 %), {refuted} were refuted; rank correlation of \
             predicted and measured {rank_correlation:.2}"
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
