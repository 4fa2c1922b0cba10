//! Statistics of pairs: median, mean, and rank correlation.

/// The median; the mean of the middle two for an even number. `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The mean. `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Spearman's rank correlation: Pearson's of the ranks. `None` for fewer than three pairs, or if one side does not
/// vary.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    pearson(&ranks(a), &ranks(b))
}

/// The rank of each value; equal values share the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let less = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        less + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Pearson's correlation. `None` for fewer than three pairs, or if one side does not vary.
pub fn pearson(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() < 3 {
        return None;
    }
    let (of_a, of_b) = (mean(a)?, mean(b)?);
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(&x, &y)| of(x - of_a, y - of_b)).sum::<f64>();
    let (both, xx, yy) = (sum(&|x, y| x * y), sum(&|x, _| x * x), sum(&|_, y| y * y));
    (xx > 0.0 && yy > 0.0).then(|| both / (xx * yy).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_value_or_the_mean_of_two() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[9.0, 1.0, 5.0, 2.0]), Some(3.5));
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[9.0, 1.0, 5.0, 1.0]), Some(4.0));
    }

    #[test]
    fn rank_correlation_is_that_of_its_definition() {
        // Ranks 1 2 3 and 3 1 2: 1 - 6 × (4 + 1 + 1) / (3 × 8).
        let half = rank_correlation(&[1.0, 2.0, 3.0], &[30.0, 10.0, 20.0]).unwrap();
        assert!((half + 0.5).abs() < 1e-12, "{half}");
        // The values do not matter, only their order does.
        assert_eq!(rank_correlation(&[1.0, 2.0, 900.0, 1e9], &[0.1, 0.2, 0.3, 0.4]), Some(1.0));
        assert_eq!(rank_correlation(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[7.0, 7.0, 7.0]), None);
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [2.5, 1.0, 2.5]);
    }
}
