//! What repeated measurements of one thing say.

use serde::{Deserialize, Serialize};

/// Five numbers about repeated measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many there are.
    pub count: u64,
    /// The least.
    pub least: f64,
    /// A quarter are at most this.
    pub lower: f64,
    /// Half are at most this.
    pub median: f64,
    /// Three quarters are at most this.
    pub upper: f64,
    /// The largest.
    pub most: f64,
}

impl Spread {
    /// The spread of some values; `None` if there are none. Between two values it is linear.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let at = |part: f64| {
            let place = part * last as f64;
            let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        Some(Spread {
            count: sorted.len() as u64,
            least: at(0.0),
            lower: at(0.25),
            median: at(0.5),
            upper: at(0.75),
            most: at(1.0),
        })
    }

    /// Half the distance of the quartiles, in percent of the median: how much a measurement can be relied on.
    pub fn percent(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { 50.0 * (self.upper - self.lower) / self.median.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_values() {
        let spread = Spread::of(&[4.0, 1.0, 3.0, 2.0, 10.0]).unwrap();
        assert_eq!((spread.least, spread.median, spread.most, spread.count), (1.0, 3.0, 10.0, 5));
        assert_eq!((spread.lower, spread.upper), (2.0, 4.0));
        let spread = Spread::of(&[1.0, 2.0]).unwrap();
        assert_eq!((spread.lower, spread.median, spread.upper), (1.25, 1.5, 1.75));
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[7.0]).unwrap().percent(), 0.0);
    }
}
