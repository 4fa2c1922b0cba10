//! Tags of a set-associative cache.

use super::geometry::{Fold, LineNumber};
use super::message::LineData;
use super::replacement::{CachePlace, Order};
use crate::config::{AddressHash, ReplacementPolicy};
use crate::registry::{PlugIn, Reference};
use std::ops::Range;
use wave_capture::{Capture, Misfit};

/// A place for one line in a cache: set × ways + way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Capture)]
pub(super) struct Frame(pub u32);

impl Frame {
    /// Index into arrays with one element a frame.
    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Tag of an empty frame. Every line number is smaller.
const EMPTY: u32 = u32::MAX;

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
#[derive(Debug, Capture)]
#[sound]
pub(super) struct Tags {
    #[spec]
    sets: u32,
    /// Number of sets less one if that number is a power of two, as it usually is. Avoids a division.
    #[spec]
    mask: Option<u32>,
    /// The hash of line numbers, if more than their lowest bits choose the set.
    #[spec]
    fold: Option<Fold>,
    #[spec]
    ways: u32,
    /// The first ways of each set, to which new lines go.
    in_use: u32,
    #[fixed]
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
    /// An empty cache of `bytes` with at least one set. [`ReplacementPolicy::Plru`] needs a power of two of ways.
    pub(super) fn new(bytes: u32, ways: u32, replacement: ReplacementPolicy, place: &CachePlace<'_>) -> Tags {
        let sets = (bytes / place.line_bytes / ways).max(1);
        let frames = (sets * ways) as usize;
        let order = Order::new(replacement, place, sets as usize, ways as usize);
        let mask = sets.is_power_of_two().then_some(sets - 1);
        Tags { sets, mask, fold: None, ways, in_use: ways, tags: vec![EMPTY; frames], order }
    }

    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range((1..=self.ways).contains(&self.in_use), "in_use")
    }

    /// From now on, new lines go to the first `ways` of each set. The cache is empty.
    pub(super) fn use_ways(&mut self, ways: u32) {
        debug_assert!((1..=self.ways).contains(&ways), "{ways} of {} ways", self.ways);
        self.in_use = ways;
    }

    /// The same cache with this choice of sets, whose number is a power of two (M4).
    pub(super) fn hashed_by(self, hash: AddressHash) -> Tags {
        debug_assert!(hash == AddressHash::None || self.mask.is_some());
        let fold = (hash == AddressHash::Xor).then(|| Fold::new(self.sets.trailing_zeros()));
        Tags { fold, ..self }
    }

    /// Number of frames.
    pub(super) fn frames(&self) -> usize {
        self.tags.len()
    }

    /// True if every line is one that `may` be in its frame.
    pub(super) fn all(&self, may: impl Fn(Frame, LineNumber) -> bool) -> bool {
        let mut frames = (0..self.tags.len() as u32).map(Frame);
        frames.all(|frame| self.line(frame).is_none_or(|line| may(frame, line)))
    }

    /// True if all frames are ones that `may` be.
    pub(super) fn all_frames(&self, may: impl FnMut(Frame) -> bool) -> bool {
        (0..self.tags.len() as u32).map(Frame).all(may)
    }

    /// Frames in use of the set of `index`: set = index mod sets, or with a hash the XOR of all its groups of bits.
    #[inline]
    fn set(&self, index: u32) -> Range<usize> {
        let index = self.fold.map_or(index, |fold| fold.of(index));
        let set = self.mask.map_or_else(|| index % self.sets, |mask| index & mask);
        let first = (set * self.ways) as usize;
        first..first + self.in_use as usize
    }

    /// The frame that holds a line; `index` selects the set.
    #[inline]
    pub(super) fn find(&self, index: u32, line: LineNumber) -> Option<Frame> {
        let set = self.set(index);
        let first = set.start;
        let way = position(&self.tags[set], line.0)?;
        Some(Frame((first + way) as u32))
    }

    /// The line in a frame.
    #[inline]
    pub(super) fn line(&self, frame: Frame) -> Option<LineNumber> {
        let tag = self.tags[frame.index()];
        (tag != EMPTY).then_some(LineNumber(tag))
    }

    /// The frame for a new line of the set: the lowest empty one, else the next victim among the frames that
    /// `may_leave` allows.
    #[inline]
    pub(crate) fn victim(&self, index: u32, may_leave: impl Fn(Frame) -> bool) -> Option<Frame> {
        let set = self.set(index);
        let first = set.start;
        if let Some(way) = position(&self.tags[set.clone()], EMPTY) {
            return Some(Frame((first + way) as u32));
        }
        let may_leave = |i: usize| may_leave(Frame(i as u32));
        self.order.victim(set, may_leave).map(|i| Frame(i as u32))
    }

    /// Puts a line into a frame for a reference.
    #[inline]
    pub(super) fn install(&mut self, frame: Frame, line: LineNumber, by: impl FnOnce() -> Reference) {
        let before = std::mem::replace(&mut self.tags[frame.index()], line.0);
        self.order.installed(frame.index(), before != EMPTY, by);
    }

    /// A line was used by a reference that is not streaming.
    #[inline]
    pub(super) fn touch(&mut self, frame: Frame, by: impl FnOnce() -> Reference) {
        self.order.used(frame.index(), by);
    }

    /// Values of the counters of the plug-in that replaces lines here, if one does.
    pub(super) fn plug_in_counters(&self) -> Option<(&'static PlugIn, Vec<u64>)> {
        self.order.counters()
    }

    /// Marks a line as the next victim, where the policy can do that.
    #[inline]
    pub(crate) fn demote(&mut self, frame: Frame) {
        self.order.demoted(frame.index());
    }

    /// Removes the line of a frame.
    #[inline]
    pub(super) fn remove(&mut self, frame: Frame) {
        self.tags[frame.index()] = EMPTY;
    }

    /// Empties every frame. Returns how many held a line.
    pub(super) fn clear(&mut self) -> u32 {
        let lines = self.tags.iter().filter(|&&tag| tag != EMPTY).count() as u32;
        self.tags.fill(EMPTY);
        lines
    }
}

#[cfg(test)]
impl Tags {
    /// An empty cache of a built-in policy.
    pub(super) fn of_built_in(
        bytes: u32,
        line_bytes: u32,
        ways: u32,
        replacement: ReplacementPolicy,
    ) -> Tags {
        let plugins = crate::config::Config::example().plugins;
        Tags::new(bytes, ways, replacement, &CachePlace { plugins: &plugins, level: 1, index: 0, line_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines at a stride of all sets share one set without a hash, and have a set each with one.
    #[test]
    fn a_hash_of_sets_spreads_strides() {
        let sets = 16;
        let held = |hash| {
            let mut tags = Tags::of_built_in(sets * 128, 128, 1, ReplacementPolicy::Lru).hashed_by(hash);
            for i in 0..sets {
                let frame = tags.victim(i * sets, |_| true).unwrap();
                tags.install(frame, LineNumber(i * sets), Reference::none);
            }
            (0..sets).filter(|i| tags.find(i * sets, LineNumber(i * sets)).is_some()).count()
        };
        assert_eq!([AddressHash::None, AddressHash::Xor].map(held), [1, 16]);
    }

    /// Lines of one set beyond the ways in use displace one another, and no other set's.
    #[test]
    fn lines_go_to_the_ways_in_use() {
        let mut tags = Tags::of_built_in(4 * 8 * 128, 128, 8, ReplacementPolicy::Lru);
        for ways in [8, 3, 1, 5] {
            tags.clear();
            tags.use_ways(ways);
            for i in 0..8 {
                let frame = tags.victim(2, |_| true).unwrap();
                assert!((16..16 + ways).contains(&frame.0), "{frame:?}");
                tags.install(frame, LineNumber(2 + 4 * i), Reference::none);
                tags.touch(frame, Reference::none);
            }
            let held = (0..8).filter(|i| tags.find(2, LineNumber(2 + 4 * i)).is_some());
            assert_eq!(held.collect::<Vec<_>>(), (8 - ways..8).collect::<Vec<_>>());
        }
    }

    #[test]
    fn lines_go_to_the_set_of_their_index() {
        let mut tags = Tags::of_built_in(6 * 128, 128, 2, ReplacementPolicy::Lru);
        let frame = tags.victim(4, |_| true).unwrap();
        assert_eq!(frame, Frame(2));
        tags.install(frame, LineNumber(4), Reference::none);
        assert_eq!(tags.find(4, LineNumber(4)), Some(frame));
        assert_eq!(tags.find(5, LineNumber(4)), None);
        tags.clear();
        assert_eq!(tags.find(4, LineNumber(4)), None);
    }
}
