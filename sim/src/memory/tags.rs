//! Tags and replacement of a set-associative cache.

use super::geometry::LineNumber;

/// A place in a cache that can hold one line: set × ways + way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame(pub u32);

impl Frame {
    /// As an index into arrays with one element a frame.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Tag of an empty frame; no line number is that large.
const EMPTY: u32 = u32::MAX;

/// The tags of a cache, with least-recently-used replacement.
#[derive(Debug, Clone)]
pub struct Tags {
    sets: u32,
    ways: u32,
    tags: Vec<u32>,
    /// Time of the last use, in uses; 0 comes before every use.
    last_use: Vec<u64>,
    uses: u64,
}

impl Tags {
    /// An empty cache of `bytes`; at least one set.
    pub fn new(bytes: u32, line_bytes: u32, ways: u32) -> Tags {
        let sets = (bytes / line_bytes / ways).max(1);
        let frames = (sets * ways) as usize;
        Tags { sets, ways, tags: vec![EMPTY; frames], last_use: vec![0; frames], uses: 0 }
    }

    /// Frames of the cache.
    pub fn frames(&self) -> usize {
        self.tags.len()
    }

    /// The frames of the set that `index` falls into: set = index mod sets.
    #[inline]
    fn set(&self, index: u32) -> std::ops::Range<usize> {
        let first = (index % self.sets * self.ways) as usize;
        first..first + self.ways as usize
    }

    /// The frame that holds a line; `index` chooses the set.
    #[inline]
    pub fn find(&self, index: u32, line: LineNumber) -> Option<Frame> {
        let set = self.set(index);
        let first = set.start;
        let way = self.tags[set].iter().position(|&tag| tag == line.0)?;
        Some(Frame((first + way) as u32))
    }

    /// The line in a frame.
    #[inline]
    pub fn line(&self, frame: Frame) -> Option<LineNumber> {
        let tag = self.tags[frame.index()];
        (tag != EMPTY).then_some(LineNumber(tag))
    }

    /// The frame that a new line of the set takes: an empty one, else the least recently used (of equals
    /// the lowest) that `may_leave` allows.
    #[inline]
    pub fn victim(&self, index: u32, may_leave: impl Fn(Frame) -> bool) -> Option<Frame> {
        let mut victim = None;
        let mut oldest = u64::MAX;
        for i in self.set(index) {
            if self.tags[i] == EMPTY {
                return Some(Frame(i as u32));
            }
            if self.last_use[i] < oldest && may_leave(Frame(i as u32)) {
                oldest = self.last_use[i];
                victim = Some(Frame(i as u32));
            }
        }
        victim
    }

    /// Puts a line into a frame.
    #[inline]
    pub fn install(&mut self, frame: Frame, line: LineNumber) {
        self.tags[frame.index()] = line.0;
    }

    /// Marks a line as used last.
    #[inline]
    pub fn touch(&mut self, frame: Frame) {
        self.uses += 1;
        self.last_use[frame.index()] = self.uses;
    }

    /// Marks a line as first to leave.
    #[inline]
    pub fn demote(&mut self, frame: Frame) {
        self.last_use[frame.index()] = 0;
    }

    /// Empties every frame.
    pub fn clear(&mut self) {
        self.tags.fill(EMPTY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_line_leaves() {
        let mut tags = Tags::new(4 * 128, 128, 4);
        for line in 0..4 {
            let frame = tags.victim(0, |_| true).unwrap();
            tags.install(frame, LineNumber(line));
            tags.touch(frame);
        }
        tags.touch(tags.find(0, LineNumber(0)).unwrap());
        assert_eq!(tags.line(tags.victim(0, |_| true).unwrap()), Some(LineNumber(1)));
        tags.demote(tags.find(0, LineNumber(3)).unwrap());
        let three = tags.find(0, LineNumber(3)).unwrap();
        assert_eq!(tags.victim(0, |_| true), Some(three));
        assert_eq!(tags.line(tags.victim(0, |f| f != three).unwrap()), Some(LineNumber(1)));
        assert_eq!(tags.victim(0, |_| false), None);
    }

    #[test]
    fn lines_go_to_the_set_of_their_index() {
        let mut tags = Tags::new(6 * 128, 128, 2);
        let frame = tags.victim(4, |_| true).unwrap();
        assert_eq!(frame, Frame(2));
        tags.install(frame, LineNumber(4));
        assert_eq!(tags.find(4, LineNumber(4)), Some(frame));
        assert_eq!(tags.find(5, LineNumber(4)), None);
        tags.clear();
        assert_eq!(tags.find(4, LineNumber(4)), None);
    }
}
