//! Accuracy of the predictions, measured by trials.

use super::{Explanation, FACTOR, NOTHING};
use serde::Serialize;

/// Accuracy of the predictions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Quality {
    /// Number of changes tried.
    pub tried: usize,
    /// Number of these that saved cycles.
    pub helped: usize,
    /// Number of trials with a prediction.
    pub predicted: usize,
    /// Number of these whose prediction is within a factor of two of the measurement, or with both close to
    /// zero.
    pub close: usize,
    /// Number that saved less than half of the prediction.
    pub refuted: usize,
    /// Spearman's rank correlation of predicted and measured savings, as fractions of the run. 0 for fewer
    /// than three trials.
    pub rank_correlation: f64,
}

impl Quality {
    /// Computes the accuracy over all trials.
    pub(crate) fn of(explanations: &[Explanation]) -> Quality {
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

/// Spearman's rank correlation: Pearson's correlation of the ranks. Equal values share their mean rank.
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
