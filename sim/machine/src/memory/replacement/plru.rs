//! Pseudo-LRU: a binary tree over the ways of a set leads to the line that leaves. The ways are a power of two.

use super::Policy;
use std::ops::Range;
use wave_capture::Capture;

#[derive(Debug, Clone, Capture)]
pub(in crate::memory) struct Plru {
    #[spec]
    ways: usize,
    /// Per set, a tree in as many elements as there are ways: node 1 is the root, and nodes 2 n and 2 n + 1 are
    /// the halves of node n. A node is true if the next victim is in its upper half.
    #[fixed]
    upper: Vec<bool>,
}

impl Plru {
    /// Points the tree nodes from the root to a frame towards it or away from it.
    fn point(&mut self, frame: usize, towards: bool) {
        let (set, way) = (frame / self.ways, frame % self.ways);
        let tree = &mut self.upper[set * self.ways..][..self.ways];
        let mut node = self.ways + way;
        while node > 1 {
            let in_upper = node % 2 == 1;
            node /= 2;
            tree[node] = in_upper == towards;
        }
    }
}

impl Policy for Plru {
    fn new(sets: usize, ways: usize) -> Plru {
        Plru { ways, upper: vec![false; sets * ways] }
    }

    #[inline]
    fn victim(&self, set: Range<usize>, may_leave: impl Fn(usize) -> bool) -> Option<usize> {
        pointed_at(&self.upper[set.clone()], 1, set, &may_leave)
    }

    #[inline]
    fn installed(&mut self, _: usize) {}

    #[inline]
    fn used(&mut self, frame: usize) {
        self.point(frame, false);
    }

    #[inline]
    fn demoted(&mut self, frame: usize) {
        self.point(frame, true);
    }
}

/// The victim below a node of a tree, among those that may leave. `frames` are the frames below the node.
fn pointed_at(
    tree: &[bool],
    node: usize,
    frames: Range<usize>,
    may_leave: &impl Fn(usize) -> bool,
) -> Option<usize> {
    if frames.len() == 1 {
        return may_leave(frames.start).then_some(frames.start);
    }
    let middle = frames.start + frames.len() / 2;
    let lower = || pointed_at(tree, 2 * node, frames.start..middle, may_leave);
    let upper = || pointed_at(tree, 2 * node + 1, middle..frames.end, may_leave);
    if tree[node] { upper().or_else(lower) } else { lower().or_else(upper) }
}
