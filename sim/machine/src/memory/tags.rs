//! Tags and replacement of a set-associative cache.

use super::geometry::LineNumber;
use super::message::LineData;
use crate::config::Replacement;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::ops::Range;
use wave_capture::Capture;

/// A place for one line in a cache: set × ways + way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Capture)]
pub struct Frame(pub u32);

impl Frame {
    /// Index into arrays with one element a frame.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Tag of an empty frame. Every line number is smaller.
const EMPTY: u32 = u32::MAX;

/// State of the replacement policy (M23a).
#[derive(Debug, Clone, Capture)]
enum Order {
    /// Per frame, the number of its last use; 0 precedes every use.
    Lru { last_use: Vec<u64>, uses: u64 },
    /// Per set, a tree over its ways, stored in as many elements as there are ways: node 1 is the root, and
    /// nodes 2 n and 2 n + 1 are the halves of node n. A node is true if the next victim is in its upper
    /// half.
    Plru { upper: Vec<bool> },
    /// The way at which the search for the next victim begins. It is drawn when a line is installed, so that
    /// asking for the victim changes nothing.
    Random { generator: Pcg32, start: u32 },
}

/// A line in a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLine {
    /// Address of its first byte.
    pub address: u64,
    /// Bit s: sector s is valid.
    pub valid: u8,
    /// Bit b: byte b is newer than what the level behind has.
    pub dirty: u128,
    /// Its bytes; those that are neither valid nor dirty are meaningless.
    pub data: LineData,
}

/// The tags of a cache and the state of its replacement policy.
#[derive(Debug, Clone, Capture)]
pub struct Tags {
    #[spec]
    sets: u32,
    /// Number of sets less one if that number is a power of two, as it usually is. Avoids a division.
    #[spec]
    mask: Option<u32>,
    #[spec]
    ways: u32,
    tags: Vec<u32>,
    order: Order,
}

/// Index of the first element equal to `value`. Compares eight at a time, because every access searches tags
/// and MSHRs.
#[inline]
pub(super) fn position(values: &[u32], value: u32) -> Option<usize> {
    let (chunks, rest) = values.as_chunks::<8>();
    for (i, chunk) in chunks.iter().enumerate() {
        if chunk.map(|v| u32::from(v == value)).iter().fold(0, |any, e| any | e) != 0 {
            let equal = chunk.map(|v| if v == value { u8::MAX } else { 0 });
            return Some(8 * i + u64::from_le_bytes(equal).trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|&v| v == value).map(|place| 8 * chunks.len() + place)
}

impl Tags {
    /// An empty cache of `bytes` with at least one set. [`Replacement::Plru`] needs a power of two of ways.
    pub fn new(bytes: u32, line_bytes: u32, ways: u32, replacement: Replacement) -> Tags {
        let sets = (bytes / line_bytes / ways).max(1);
        let frames = (sets * ways) as usize;
        let order = match replacement {
            Replacement::Lru => Order::Lru { last_use: vec![0; frames], uses: 0 },
            Replacement::Plru => Order::Plru { upper: vec![false; frames] },
            Replacement::Random => Order::Random { generator: Pcg32::seed_from_u64(0), start: 0 },
        };
        let mask = sets.is_power_of_two().then_some(sets - 1);
        Tags { sets, mask, ways, tags: vec![EMPTY; frames], order }
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.tags.len()
    }

    /// Frames of the set of `index`: set = index mod sets.
    #[inline]
    fn set(&self, index: u32) -> Range<usize> {
        let set = self.mask.map_or_else(|| index % self.sets, |mask| index & mask);
        let first = (set * self.ways) as usize;
        first..first + self.ways as usize
    }

    /// The frame that holds a line; `index` selects the set.
    #[inline]
    pub fn find(&self, index: u32, line: LineNumber) -> Option<Frame> {
        let set = self.set(index);
        let first = set.start;
        let way = position(&self.tags[set], line.0)?;
        Some(Frame((first + way) as u32))
    }

    /// The line in a frame.
    #[inline]
    pub fn line(&self, frame: Frame) -> Option<LineNumber> {
        let tag = self.tags[frame.index()];
        (tag != EMPTY).then_some(LineNumber(tag))
    }

    /// The frame for a new line of the set: the lowest empty one, else the next victim among the frames that
    /// `may_leave` allows.
    #[inline]
    pub fn victim(&self, index: u32, may_leave: impl Fn(Frame) -> bool) -> Option<Frame> {
        let set = self.set(index);
        let first = set.start;
        if let Some(way) = position(&self.tags[set.clone()], EMPTY) {
            return Some(Frame((first + way) as u32));
        }
        let may_leave = |i: usize| may_leave(Frame(i as u32));
        let victim = match &self.order {
            Order::Lru { last_use, .. } => {
                let mut victim = None;
                let mut oldest = u64::MAX;
                for (i, &used) in set.clone().zip(&last_use[set]) {
                    if used < oldest && may_leave(i) {
                        oldest = used;
                        victim = Some(i);
                    }
                }
                victim
            }
            Order::Plru { upper } => pointed_at(&upper[set.clone()], 1, set, &may_leave),
            Order::Random { start, .. } => {
                let start = first + *start as usize;
                (start..set.end).chain(first..start).find(|&i| may_leave(i))
            }
        };
        victim.map(|i| Frame(i as u32))
    }

    /// Puts a line into a frame.
    #[inline]
    pub fn install(&mut self, frame: Frame, line: LineNumber) {
        self.tags[frame.index()] = line.0;
        if let Order::Random { generator, start } = &mut self.order {
            *start = generator.random_range(0..self.ways);
        }
    }

    /// Marks a frame as the most recently used.
    #[inline]
    pub fn touch(&mut self, frame: Frame) {
        match &mut self.order {
            Order::Lru { last_use, uses } => {
                *uses += 1;
                last_use[frame.index()] = *uses;
            }
            Order::Plru { .. } => self.point(frame, false),
            Order::Random { .. } => {}
        }
    }

    /// Marks a frame as the next victim. No effect under random replacement.
    #[inline]
    pub fn demote(&mut self, frame: Frame) {
        match &mut self.order {
            Order::Lru { last_use, .. } => last_use[frame.index()] = 0,
            Order::Plru { .. } => self.point(frame, true),
            Order::Random { .. } => {}
        }
    }

    /// Points the tree nodes from the root to a frame towards it or away from it.
    fn point(&mut self, frame: Frame, towards: bool) {
        let Order::Plru { upper } = &mut self.order else { return };
        let ways = self.ways as usize;
        let (set, way) = (frame.index() / ways, frame.index() % ways);
        let tree = &mut upper[set * ways..][..ways];
        let mut node = ways + way;
        while node > 1 {
            let in_upper = node % 2 == 1;
            node /= 2;
            tree[node] = in_upper == towards;
        }
    }

    /// Removes the line of a frame.
    #[inline]
    pub fn remove(&mut self, frame: Frame) {
        self.tags[frame.index()] = EMPTY;
    }

    /// Empties every frame. Returns how many held a line.
    pub fn clear(&mut self) -> u32 {
        let lines = self.tags.iter().filter(|&&tag| tag != EMPTY).count() as u32;
        self.tags.fill(EMPTY);
        lines
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_leaves() {
        let mut tags = full(Replacement::Lru);
        tags.touch(tags.find(0, LineNumber(0)).unwrap());
        assert_eq!(tags.line(tags.victim(0, |_| true).unwrap()), Some(LineNumber(1)));
        tags.demote(tags.find(0, LineNumber(3)).unwrap());
        let three = tags.find(0, LineNumber(3)).unwrap();
        assert_eq!(tags.victim(0, |_| true), Some(three));
        assert_eq!(tags.line(tags.victim(0, |f| f != three).unwrap()), Some(LineNumber(1)));
        assert_eq!(tags.victim(0, |_| false), None);
    }

    /// Fills a set of four ways with lines 0 to 3, in this order.
    fn full(replacement: Replacement) -> Tags {
        let mut tags = Tags::new(4 * 128, 128, 4, replacement);
        for line in 0..4 {
            let frame = tags.victim(0, |_| true).unwrap();
            tags.install(frame, LineNumber(line));
            tags.touch(frame);
        }
        tags
    }

    #[test]
    fn the_tree_of_pseudo_lru_turns_away_from_what_was_used() {
        let mut tags = full(Replacement::Plru);
        let leaves = |tags: &Tags| tags.victim(0, |_| true).unwrap().0;
        // 3 was used last: the root points at the lower half, whose node points away from 1.
        assert_eq!(leaves(&tags), 0);
        tags.touch(Frame(0));
        assert_eq!(leaves(&tags), 2, "the half that 0 is not in, and there away from 3");
        // True LRU would choose 1 after 0 and 2.
        tags.touch(Frame(2));
        assert_eq!(leaves(&tags), 1);
        tags.touch(Frame(1));
        assert_eq!(leaves(&tags), 3, "of 3 and 0, unused since, the one whose half is older");
        tags.demote(Frame(2));
        assert_eq!(leaves(&tags), 2);
        assert_eq!(tags.victim(0, |f| f.0 < 2), Some(Frame(0)), "the other half, if it has to be");
        assert_eq!(tags.victim(0, |_| false), None);
    }

    #[test]
    fn random_lines_leave_evenly_and_the_same_way_every_time() {
        let run = || {
            let mut tags = full(Replacement::Random);
            let chosen = |line| {
                let frame = tags.victim(0, |_| true).unwrap();
                assert_eq!(tags.victim(0, |_| true), Some(frame), "looking changes nothing");
                tags.install(frame, LineNumber(line));
                tags.touch(frame);
                frame.0
            };
            (4..4004).map(chosen).collect::<Vec<u32>>()
        };
        let order = run();
        assert_eq!(order, run());
        for way in 0..4 {
            let share = order.iter().filter(|&&w| w == way).count();
            assert!((900..1100).contains(&share), "way {way}: {share} of 4000");
        }
        let tags = full(Replacement::Random);
        assert_eq!(tags.victim(0, |f| f.0 == 2), Some(Frame(2)));
    }

    #[test]
    fn lines_go_to_the_set_of_their_index() {
        let mut tags = Tags::new(6 * 128, 128, 2, Replacement::Lru);
        let frame = tags.victim(4, |_| true).unwrap();
        assert_eq!(frame, Frame(2));
        tags.install(frame, LineNumber(4));
        assert_eq!(tags.find(4, LineNumber(4)), Some(frame));
        assert_eq!(tags.find(5, LineNumber(4)), None);
        tags.clear();
        assert_eq!(tags.find(4, LineNumber(4)), None);
    }
}
