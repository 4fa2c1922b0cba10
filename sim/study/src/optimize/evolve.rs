//! Evolution: most points are changes of the best points so far, the others are random.

use super::Score;
use crate::launch::Random;
use crate::sweep::Axis;
use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};

/// Points at random before the first changes, at most.
const STARTUP: usize = 10;
/// One point of so many is random, so that a search leaves a valley.
const RANDOM_ONE_OF: u64 = 8;
/// The best of so many points are changed, one of this part of them.
const ELITE_ONE_OF: usize = 5;
/// The smallest number of points that are changed.
const SMALLEST_ELITE: usize = 3;
/// Changes that are tried for one that is new.
const TRIES: usize = 32;

/// A search that changes the best points it was told of.
#[derive(Debug)]
pub struct Evolution {
    /// The number of values of each axis, and whether neighbours are alike.
    axes: Vec<(u64, bool)>,
    random: Random,
    /// Points that come first.
    first: VecDeque<Vec<u64>>,
    named: HashSet<Vec<u64>>,
    /// Points with their scores, the best first; equals in the order in which they were told.
    told: Vec<(Vec<u64>, Score)>,
    startup: usize,
}

impl Evolution {
    /// A search over these axes that shall come to so many points. `first` is a point to begin with.
    pub fn new(axes: &[Axis], seed: u64, points: usize, first: Option<Vec<u64>>) -> Evolution {
        Evolution::over(
            axes.iter().map(|axis| (axis.len(), axis.is_ordered())).collect(),
            seed,
            points,
            first,
        )
    }

    fn over(axes: Vec<(u64, bool)>, seed: u64, points: usize, first: Option<Vec<u64>>) -> Evolution {
        Evolution {
            axes,
            random: Random::new(seed, "optimize evolve"),
            first: first.into_iter().collect(),
            named: HashSet::new(),
            told: Vec::new(),
            startup: STARTUP.min(points.div_ceil(3)),
        }
    }

    /// The next point: the number of a value on each axis.
    pub fn next_point(&mut self) -> Vec<u64> {
        let point = match self.first.pop_front() {
            Some(first) => first,
            None if self.told.len() < self.startup || self.random.below(RANDOM_ONE_OF) == 0 => {
                self.anywhere()
            }
            None => self.near_the_best(),
        };
        self.named.insert(point.clone());
        point
    }

    /// Takes the score of a point. A point without one is no machine.
    pub fn tell(&mut self, point: &[u64], score: Option<Score>) {
        let Some(score) = score else { return };
        if self.told.iter().any(|(known, _)| known == point) {
            return;
        }
        let at = self.told.partition_point(|(_, other)| order(other, &score) != Ordering::Greater);
        self.told.insert(at, (point.to_vec(), score));
    }

    fn anywhere(&mut self) -> Vec<u64> {
        self.axes.iter().map(|(values, _)| self.random.below(*values)).collect()
    }

    /// A new point that differs from one of the best on a few axes; any point where all changes are known.
    fn near_the_best(&mut self) -> Vec<u64> {
        for _ in 0..TRIES {
            let parent = self.parent();
            let other = self.parent();
            let mut child = self.told[parent].0.clone();
            // One child of three has values of two parents.
            if self.random.below(3) == 0 {
                for (axis, value) in child.iter_mut().enumerate() {
                    if self.random.below(2) == 0 {
                        *value = self.told[other].0[axis];
                    }
                }
            }
            let certain = self.random.below(self.axes.len() as u64) as usize;
            for (axis, value) in child.iter_mut().enumerate() {
                let (values, is_ordered) = self.axes[axis];
                if axis == certain || self.random.below(self.axes.len() as u64) == 0 {
                    *value = changed(*value, values, is_ordered, &mut self.random);
                }
            }
            if !self.named.contains(&child) {
                return child;
            }
        }
        self.anywhere()
    }

    /// The place of a point to change: the better of two among the best.
    fn parent(&mut self) -> usize {
        let elite = (self.told.len() / ELITE_ONE_OF).max(SMALLEST_ELITE).min(self.told.len()) as u64;
        self.random.below(elite).min(self.random.below(elite)) as usize
    }
}

/// Points within the limits before those beyond them: these by their value, those by the excess.
fn order(a: &Score, b: &Score) -> Ordering {
    let excess = |score: &Score| score.excess.max(0.0);
    let value = |score: &Score| score.value.unwrap_or(f64::INFINITY);
    excess(a).total_cmp(&excess(b)).then(value(a).total_cmp(&value(b)))
}

/// Another value of an axis: of an ordered one a near one more often than a far one.
fn changed(value: u64, values: u64, is_ordered: bool, random: &mut Random) -> u64 {
    if values < 2 {
        return value;
    }
    if !is_ordered {
        let other = random.below(values - 1);
        return if other < value { other } else { other + 1 };
    }
    let mut span = 1;
    while span < values && random.below(2) == 0 {
        span *= 2;
    }
    let step = span + random.below(span);
    let up = random.below(2) == 0;
    let to = if up { value.checked_add(step).filter(|&to| to < values) } else { value.checked_sub(step) };
    to.unwrap_or(match (up, value) {
        // The end of the axis on that side; from there one step back.
        (true, value) if value == values - 1 => value - 1,
        (true, _) => values - 1,
        (false, 0) => 1,
        (false, _) => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Far from the middle of six axes of eight values is bad; a sixth of the points is beyond a limit.
    fn score(point: &[u64]) -> Score {
        let far: f64 = point.iter().map(|&value| (value as f64 - 5.2).powi(2)).sum();
        let product = point[0] as f64 * point[1] as f64;
        Score { value: Some(1.0 + far), excess: (product - 30.0) / 30.0 }
    }

    fn best_of(points: impl Iterator<Item = Vec<u64>>) -> f64 {
        let good = points.map(|point| score(&point)).filter(Score::is_good);
        good.filter_map(|score| score.value).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn it_beats_chance_where_neighbours_are_alike() {
        const POINTS: usize = 60;
        let axes = vec![(8, true); 6];
        let mut better = 0;
        for seed in 1..=20 {
            let mut search = Evolution::over(axes.clone(), seed, POINTS, None);
            let named: Vec<Vec<u64>> = (0..POINTS)
                .map(|_| {
                    let point = search.next_point();
                    search.tell(&point, Some(score(&point)));
                    point
                })
                .collect();
            let mut random = Random::new(seed, "chance");
            let chance = (0..POINTS).map(|_| axes.iter().map(|(values, _)| random.below(*values)).collect());
            better += u32::from(best_of(named.into_iter()) < best_of(chance));
        }
        assert!(better >= 16, "{better} of 20");
    }

    #[test]
    fn it_comes_to_every_point_and_names_what_it_is_given_first() {
        let axes = vec![(3, true), (4, false), (1, true)];
        let mut search = Evolution::over(axes, 1, 12, Some(vec![2, 3, 0]));
        assert_eq!(search.next_point(), [2, 3, 0]);
        for _ in 0..300 {
            let point = search.next_point();
            assert!(point[0] < 3 && point[1] < 4 && point[2] == 0);
            // A third of the points is no machine.
            search.tell(&point, (point[0] != 1).then(|| score(&[point[0], point[1], 5, 5, 5, 5])));
        }
        assert_eq!(search.named.len(), 12);
    }

    #[test]
    fn a_change_is_another_value_of_the_axis() {
        let mut random = Random::new(1, "changes");
        for (values, is_ordered) in [(2, true), (5, true), (2, false), (7, false)] {
            let mut met = HashSet::new();
            for _ in 0..200 {
                for value in 0..values {
                    let to = changed(value, values, is_ordered, &mut random);
                    assert!(to < values && to != value, "{value} of {values} to {to}");
                    met.insert((value, to));
                }
            }
            assert_eq!(met.len() as u64, values * (values - 1), "{values} {is_ordered}");
        }
        assert_eq!(changed(0, 1, true, &mut random), 0);
    }
}
