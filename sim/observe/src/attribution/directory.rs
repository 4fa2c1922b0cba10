//! Why a cache missed: the classes of M. D. Hill and A. J. Smith, *Evaluating Associativity in CPU Caches* (IEEE
//! Transactions on Computers 38(12), 1989), which are those of Hill's thesis (*Aspects of Cache Memory and Instruction
//! Buffer Performance*, Berkeley 1987), with a fourth one for copies that coherence has taken away.
//!
//! Beside the cache runs the directory of a fully associative cache of the same size with LRU replacement, told of every
//! access of the real one. It holds no data and takes no time.

use fnv::FnvHashMap;

/// Why an access missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The cache never had these bytes: a cache without bounds would have missed too.
    Compulsory,
    /// A fully associative cache of the same size with LRU replacement would have missed too.
    Capacity,
    /// That cache would have hit, had nothing been invalidated or dropped.
    Coherence,
    /// That cache would have hit: what is left to the sets, the hash of slices, and the replacement policy.
    Conflict,
}

impl Class {
    /// Number of classes.
    pub const COUNT: usize = 4;
    /// All, in the order of tables.
    pub const ALL: [Class; Class::COUNT] =
        [Class::Compulsory, Class::Capacity, Class::Conflict, Class::Coherence];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Class::Compulsory => "compulsory",
            Class::Capacity => "capacity",
            Class::Coherence => "coherence",
            Class::Conflict => "conflict",
        }
    }
}

/// No frame.
const NONE: u32 = u32::MAX;

/// What is known of a line that was ever accessed.
#[derive(Debug, Clone, Copy)]
struct Line {
    /// Bytes that a cache without bounds would have.
    ever: u128,
    /// Its frame, or [`NONE`].
    frame: u32,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    line: u32,
    /// The frames used next after this one and last before it, or [`NONE`].
    newer: u32,
    older: u32,
    /// Bytes that are there.
    known: u128,
    /// Those of them that an invalidation has taken from the real cache.
    lost: u128,
}

/// The directory. Its memory grows with the lines that are accessed.
#[derive(Debug)]
pub(super) struct Directory {
    lines: FnvHashMap<u32, Line>,
    frames: Vec<Frame>,
    capacity: usize,
    newest: u32,
    oldest: u32,
}

impl Directory {
    /// An empty one for so many lines, at least one.
    pub(super) fn new(capacity: usize) -> Directory {
        debug_assert!(capacity > 0);
        Directory { lines: FnvHashMap::default(), frames: Vec::new(), capacity, newest: NONE, oldest: NONE }
    }

    /// An access that the real cache keeps a line for. It needs these bytes, or only the line if there are none, and
    /// brings others with them. Returns the class of its miss, if it misses in the real cache.
    pub(super) fn access(&mut self, line: u32, needs: u128, brings: u128) -> Class {
        let brings = needs | brings;
        let known = self.lines.get(&line).copied();
        let class = match known {
            None => Class::Compulsory,
            Some(Line { ever, .. }) if needs & !ever != 0 => Class::Compulsory,
            Some(Line { frame: NONE, .. }) => Class::Capacity,
            Some(Line { frame, .. }) => {
                let frame = &self.frames[frame as usize];
                if needs & !frame.known != 0 {
                    Class::Capacity
                } else if needs & frame.lost != 0 {
                    Class::Coherence
                } else {
                    Class::Conflict
                }
            }
        };
        let at = match known {
            Some(Line { frame, .. }) if frame != NONE => {
                self.unlink(frame);
                frame
            }
            _ => self.take_frame(line),
        };
        let frame = &mut self.frames[at as usize];
        frame.known |= brings;
        frame.lost &= !brings;
        self.link(at);
        let entry = self.lines.entry(line).or_insert(Line { ever: 0, frame: at });
        entry.ever |= brings;
        entry.frame = at;
        class
    }

    /// An access that uses a line if it is there, and brings nothing.
    pub(super) fn touch(&mut self, line: u32) {
        if let Some(&Line { frame, .. }) = self.lines.get(&line)
            && frame != NONE
        {
            self.unlink(frame);
            self.link(frame);
        }
    }

    /// The real cache has lost these bytes of a line.
    pub(super) fn lose(&mut self, line: u32, bytes: u128) {
        if let Some(&Line { frame, .. }) = self.lines.get(&line)
            && frame != NONE
        {
            let frame = &mut self.frames[frame as usize];
            frame.lost |= bytes & frame.known;
        }
    }

    /// The real cache has lost everything.
    pub(super) fn lose_all(&mut self) {
        self.frames.iter_mut().for_each(|frame| frame.lost = frame.known);
    }

    /// An empty frame for a line: a new one, or that of the line that was used longest ago.
    fn take_frame(&mut self, line: u32) -> u32 {
        let empty = Frame { line, newer: NONE, older: NONE, known: 0, lost: 0 };
        if self.frames.len() < self.capacity {
            self.frames.push(empty);
            return self.frames.len() as u32 - 1;
        }
        let at = self.oldest;
        self.unlink(at);
        let before = std::mem::replace(&mut self.frames[at as usize], empty);
        if let Some(left) = self.lines.get_mut(&before.line) {
            left.frame = NONE;
        }
        at
    }

    fn unlink(&mut self, at: u32) {
        let Frame { newer, older, .. } = self.frames[at as usize];
        match self.frames.get_mut(newer as usize) {
            Some(frame) => frame.older = older,
            None => self.newest = older,
        }
        match self.frames.get_mut(older as usize) {
            Some(frame) => frame.newer = newer,
            None => self.oldest = newer,
        }
    }

    /// Puts a frame that is in no list in front of all others.
    fn link(&mut self, at: u32) {
        let before = std::mem::replace(&mut self.newest, at);
        (self.frames[at as usize].newer, self.frames[at as usize].older) = (NONE, before);
        match self.frames.get_mut(before as usize) {
            Some(frame) => frame.newer = at,
            None => self.oldest = at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg32;

    #[test]
    fn a_line_is_there_until_as_many_others_came_behind_it() {
        let mut directory = Directory::new(2);
        assert_eq!(directory.access(1, 1, 0), Class::Compulsory);
        assert_eq!(directory.access(2, 1, 0), Class::Compulsory);
        assert_eq!(directory.access(1, 1, 0), Class::Conflict);
        assert_eq!(directory.access(3, 1, 0), Class::Compulsory);
        assert_eq!(directory.access(1, 1, 0), Class::Conflict);
        assert_eq!(directory.access(2, 1, 0), Class::Capacity);
        directory.touch(1);
        assert_eq!(directory.access(3, 1, 0), Class::Capacity);
        assert_eq!(directory.access(1, 1, 0), Class::Conflict);
    }

    #[test]
    fn bytes_of_a_line_come_and_are_lost_apart() {
        let mut directory = Directory::new(1);
        assert_eq!(directory.access(1, 0b01, 0), Class::Compulsory);
        assert_eq!(directory.access(1, 0b10, 0), Class::Compulsory);
        directory.lose(1, 0b10);
        assert_eq!(directory.access(1, 0b01, 0), Class::Conflict);
        assert_eq!(directory.access(1, 0b11, 0), Class::Coherence);
        assert_eq!(directory.access(1, 0b11, 0), Class::Conflict);
        directory.lose_all();
        // What is overwritten is known again.
        assert_eq!(directory.access(1, 0, 0b11), Class::Conflict);
        assert_eq!(directory.access(1, 0b11, 0), Class::Conflict);
        directory.lose_all();
        assert_eq!(directory.access(2, 0, 0b1), Class::Compulsory);
        assert_eq!(directory.access(1, 0b01, 0), Class::Capacity);
        assert_eq!(directory.access(1, 0b10, 0), Class::Capacity, "it came back without it");
    }

    /// The definition of an LRU cache, in the fewest words: the lines in the order of their last use.
    #[test]
    fn it_has_the_lines_of_a_list_in_the_order_of_use() {
        let mut random = Pcg32::seed_from_u64(7);
        for capacity in [1, 2, 5, 16] {
            let mut directory = Directory::new(capacity);
            let (mut used, mut seen): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
            for _ in 0..2000 {
                let line = random.random_range(0..capacity as u32 * 2);
                let expected = match (seen.contains(&line), used.contains(&line)) {
                    (false, _) => Class::Compulsory,
                    (true, false) => Class::Capacity,
                    (true, true) => Class::Conflict,
                };
                seen.push(line);
                if random.random_range(0..4) == 0 && expected == Class::Conflict {
                    directory.touch(line);
                } else {
                    assert_eq!(directory.access(line, 1, 0), expected, "capacity {capacity}");
                }
                used.retain(|&other| other != line);
                used.push(line);
                if used.len() > capacity {
                    used.remove(0);
                }
            }
        }
    }
}
