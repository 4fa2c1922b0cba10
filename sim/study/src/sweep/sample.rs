//! Which points of a grid are taken: all of them, or some at random.

use super::axis::Axis;
use crate::launch::Random;
use std::collections::HashSet;

/// How the points of a sweep are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Sampling {
    /// Every combination of values; the last axis changes fastest.
    #[default]
    Grid,
    /// So many different combinations at random. More samples of the same seed begin with the same points.
    Random {
        /// Number of points.
        samples: u64,
        /// Where all that is random comes from.
        #[serde(default = "one")]
        seed: u64,
    },
    /// So many combinations with which each axis is covered evenly. Equal points are taken once.
    LatinHypercube {
        /// Number of points.
        samples: u64,
        /// Where all that is random comes from.
        #[serde(default = "one")]
        seed: u64,
    },
}

fn one() -> u64 {
    1
}

/// A point: the number of the value on each axis.
pub(super) type Indices = Vec<u64>;

/// Draws for each point that is wanted before one gives up.
const DRAWS_PER_POINT: u64 = 1000;

impl Sampling {
    /// Number of points before constraints; `u64::MAX` if there are more.
    pub(super) fn count(self, axes: &[Axis]) -> u64 {
        match self {
            Sampling::Grid => combinations(axes),
            Sampling::Random { samples, .. } | Sampling::LatinHypercube { samples, .. } => {
                samples.min(combinations(axes))
            }
        }
    }

    /// The points that `accept` accepts, in order.
    pub(super) fn points<E>(
        self,
        axes: &[Axis],
        mut accept: impl FnMut(&[u64]) -> Result<bool, E>,
    ) -> Result<Vec<Indices>, E> {
        let mut points = Vec::new();
        match self {
            Sampling::Grid => {
                for number in 0..combinations(axes) {
                    let point = of_grid(number, axes);
                    if accept(&point)? {
                        points.push(point);
                    }
                }
            }
            Sampling::Random { samples, seed } => {
                let mut streams: Vec<Random> =
                    axes.iter().map(|axis| Random::new(seed, &format!("random {}", axis.key))).collect();
                let wanted = samples.min(combinations(axes));
                let mut seen = HashSet::new();
                for _ in 0..wanted.saturating_mul(DRAWS_PER_POINT) {
                    if points.len() as u64 >= wanted {
                        break;
                    }
                    let point: Indices =
                        axes.iter().zip(&mut streams).map(|(a, r)| r.below(a.len())).collect();
                    if seen.insert(point.clone()) && accept(&point)? {
                        points.push(point);
                    }
                }
            }
            Sampling::LatinHypercube { samples, seed } => {
                let columns: Vec<Vec<u64>> = axes.iter().map(|axis| strata(axis, samples, seed)).collect();
                let mut seen = HashSet::new();
                for number in 0..samples as usize {
                    let point: Indices = columns.iter().map(|column| column[number]).collect();
                    if seen.insert(point.clone()) && accept(&point)? {
                        points.push(point);
                    }
                }
            }
        }
        Ok(points)
    }
}

/// Number of combinations; `u64::MAX` if there are more.
pub(super) fn combinations(axes: &[Axis]) -> u64 {
    axes.iter().fold(1, |all: u64, axis| all.saturating_mul(axis.len()))
}

/// The point of the grid with this number.
fn of_grid(number: u64, axes: &[Axis]) -> Indices {
    let mut rest = number;
    let mut point: Indices = axes
        .iter()
        .rev()
        .map(|axis| {
            let index = rest % axis.len();
            rest /= axis.len();
            index
        })
        .collect();
    point.reverse();
    point
}

/// The values that the samples have on an axis: one of each of `samples` equal parts of it, in random order.
fn strata(axis: &Axis, samples: u64, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed, &format!("hypercube {}", axis.key));
    let within = |part: u64, random: &mut Random| {
        let at = u128::from(part) << 32 | u128::from(random.below(1 << 32));
        (at * u128::from(axis.len()) / (u128::from(samples) << 32)) as u64
    };
    let mut values: Vec<u64> = (0..samples).map(|part| within(part, &mut random)).collect();
    for i in (1..values.len()).rev() {
        values.swap(i, random.below(i as u64 + 1) as usize);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use wave_machine::config::{Form, Settable};

    fn axis(key: &str, text: &str) -> Axis {
        Axis::parse(Settable { path: key.to_owned(), form: Form::Integer("") }, text).unwrap()
    }

    fn all(sampling: Sampling, axes: &[Axis]) -> Vec<Indices> {
        sampling.points(axes, |_| Ok::<_, ()>(true)).unwrap()
    }

    #[test]
    fn a_grid_has_every_combination_once_and_the_last_axis_is_the_fastest() {
        let axes = [axis("a", "1,2"), axis("b", "1..3"), axis("c", "1,2")];
        let points = all(Sampling::Grid, &axes);
        assert_eq!(points.len(), 12);
        assert_eq!(Sampling::Grid.count(&axes), 12);
        assert_eq!(points[..4], [vec![0, 0, 0], vec![0, 0, 1], vec![0, 1, 0], vec![0, 1, 1]]);
        assert_eq!(points.iter().collect::<HashSet<_>>().len(), 12);
        assert_eq!(all(Sampling::Grid, &[]), [Vec::<u64>::new()]);
    }

    #[test]
    fn each_value_of_an_axis_has_its_share_of_a_latin_hypercube() {
        let axes = [axis("a", "1..24"), axis("b", "1..1000"), axis("c", "1,2,3"), axis("d", "1..7")];
        for seed in 0..20 {
            let points = all(Sampling::LatinHypercube { samples: 24, seed }, &axes);
            assert_eq!(points.len(), 24);
            for (a, axis) in axes.iter().enumerate() {
                let mut taken = vec![0u64; axis.len() as usize];
                points.iter().for_each(|point| taken[point[a] as usize] += 1);
                if axis.len() <= 24 && 24 % axis.len() == 0 {
                    assert!(taken.iter().all(|&n| n == 24 / axis.len()), "{axis:?}: {taken:?}");
                }
                // One in each of 24 equal parts, whatever the number of values; a value at a border may count for both.
                for part in 0..24 {
                    let (from, to) = (part * axis.len() / 24, ((part + 1) * axis.len()).div_ceil(24));
                    assert!(taken[from as usize..to as usize].iter().any(|&n| n > 0), "{axis:?}: {taken:?}");
                }
            }
        }
    }

    #[test]
    fn random_points_are_different_and_those_of_fewer_samples_are_the_first() {
        let axes = [axis("a", "1..10"), axis("b", "1..10")];
        let few = all(Sampling::Random { samples: 20, seed: 3 }, &axes);
        let many = all(Sampling::Random { samples: 50, seed: 3 }, &axes);
        assert_eq!(few[..], many[..20]);
        assert_eq!(many.iter().collect::<HashSet<_>>().len(), 50);
        assert_ne!(few, all(Sampling::Random { samples: 20, seed: 4 }, &axes));
        // No more than there are.
        assert_eq!(all(Sampling::Random { samples: 500, seed: 3 }, &axes).len(), 100);
        let even = |point: &[u64]| Ok::<_, ()>(point[0].is_multiple_of(2));
        let constrained = Sampling::Random { samples: 20, seed: 3 }.points(&axes, even).unwrap();
        assert!(constrained.len() == 20 && constrained.iter().all(|point| point[0] % 2 == 0));
    }
}
