//! Random search: what every other search has to beat.

use crate::launch::Random;
use crate::sweep::Axis;

/// Points at random, each combination as likely as any other.
#[derive(Debug)]
pub struct RandomSearch {
    axes: Vec<(u64, Random)>,
}

impl RandomSearch {
    /// A search over these axes.
    pub fn new(axes: &[Axis], seed: u64) -> RandomSearch {
        let stream = |axis: &Axis| (axis.len(), Random::new(seed, &format!("optimize {}", axis.key)));
        RandomSearch { axes: axes.iter().map(stream).collect() }
    }

    /// The next point: the number of a value on each axis.
    pub fn next_point(&mut self) -> Vec<u64> {
        self.axes.iter_mut().map(|(values, random)| random.below(*values)).collect()
    }
}
