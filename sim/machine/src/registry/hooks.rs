//! The traits that plug-ins implement, and what they are told.

use super::declare::{Parameter, PlugIn};
use crate::clock::{Cycle, NEVER};
use std::ops::Range;
use wave_capture::{Capture, CaptureDyn};

/// The values of a plug-in's parameters.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    pub(crate) plug_in: &'static PlugIn,
    /// In the order of the declaration.
    pub(crate) values: Vec<u64>,
}

impl Values {
    pub(crate) fn of(&self, name: &str) -> u64 {
        let declared: &[Parameter] = self.plug_in.parameters();
        let place = declared.iter().position(|parameter| parameter.name == name);
        match place {
            Some(place) => self.values[place],
            None => panic!("the plug-in `{}` declares no parameter `{name}`", self.plug_in.name()),
        }
    }
}

/// The specification of a warp scheduler.
#[derive(Debug, Clone)]
pub struct SchedulerSetup {
    pub(crate) values: Values,
    /// Index of the core.
    pub core: u32,
    /// Index of the scheduler in the core.
    pub scheduler: u32,
    /// The wave slots of the scheduler, as bits.
    pub slots: u64,
    /// Wave slots of the core.
    pub wave_slots: usize,
    /// Sets of the L1.
    pub l1_sets: u32,
    /// Ways of the L1.
    pub l1_ways: u32,
    /// Bytes of a line of the L1.
    pub line_bytes: u32,
}

impl SchedulerSetup {
    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If the plug-in declares none of this name.
    pub fn parameter(&self, name: &str) -> u64 {
        self.values.of(name)
    }
}

/// The specification of a replacement policy or a prefetcher.
#[derive(Debug, Clone)]
pub struct CacheSetup {
    pub(crate) values: Values,
    /// Level of the cache: 1 or 2.
    pub level: u8,
    /// Index of the core, or of the L2 slice.
    pub index: u32,
    /// Sets.
    pub sets: usize,
    /// Ways.
    pub ways: usize,
    /// Bytes of a line.
    pub line_bytes: u32,
}

impl CacheSetup {
    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If the plug-in declares none of this name.
    pub fn parameter(&self, name: &str) -> u64 {
        self.values.of(name)
    }
}

/// The specification of a block between L1 and network.
#[derive(Debug, Clone)]
pub struct PathSetup {
    pub(crate) values: Values,
    /// Index of the core.
    pub core: u32,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Bytes of a sector.
    pub sector_bytes: u32,
}

impl PathSetup {
    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If the plug-in declares none of this name.
    pub fn parameter(&self, name: &str) -> u64 {
        self.values.of(name)
    }
}

/// The specification of a dispatch policy.
#[derive(Debug, Clone)]
pub struct DispatchSetup {
    pub(crate) values: Values,
    /// Cores of the machine.
    pub cores: usize,
    /// Workgroups that a core holds at a time.
    pub resident: u32,
    /// Size of the grid in workgroups.
    pub grid: [u32; 3],
}

impl DispatchSetup {
    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If the plug-in declares none of this name.
    pub fn parameter(&self, name: &str) -> u64 {
        self.values.of(name)
    }
}

/// The origin of a reference to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub struct Requester {
    /// Index of the core.
    pub core: u16,
    slot: u8,
    word: u32,
}

impl Requester {
    /// Nobody in particular.
    pub(crate) const NONE: Requester = Requester { core: 0, slot: u8::MAX, word: u32::MAX };

    /// A wave slot of a core, and the word of the kernel at which its instruction is.
    pub(crate) fn wave(core: u16, slot: usize, word: u32) -> Requester {
        Requester { core, slot: slot as u8, word }
    }

    /// A core, of which no more is known: packets do not carry the wave.
    pub(crate) fn core(core: u16) -> Requester {
        Requester { core, slot: u8::MAX, word: u32::MAX }
    }

    /// The wave slot; `None` at the L2, and for a prefetch.
    pub fn slot(&self) -> Option<usize> {
        (self.slot != u8::MAX).then_some(usize::from(self.slot))
    }

    /// The word of the kernel at which the instruction is, its pc; `None` at the L2, and for a prefetch.
    pub fn word(&self) -> Option<u32> {
        (self.word != u32::MAX).then_some(self.word)
    }
}

/// Kinds of references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub enum ReferenceKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic.
    Atomic,
    /// A prefetch.
    Prefetch,
}

/// A reference to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub struct Reference {
    /// Byte address of the line; of code, from 2³² on.
    pub line: u64,
    /// Its origin.
    pub by: Requester,
    /// Its kind.
    pub kind: ReferenceKind,
    /// The streaming hint: the line will not be used again.
    pub streaming: bool,
}

#[cfg(test)]
impl Reference {
    /// A load of line 0, for tests in which the reference does not matter.
    pub(crate) fn none() -> Reference {
        Reference { line: 0, by: Requester::core(0), kind: ReferenceKind::Load, streaming: false }
    }
}

/// The waves of a scheduler in an issue slot.
#[derive(Debug)]
pub struct Choice<'a> {
    /// The cycle.
    pub now: Cycle,
    /// Waves that can issue, as bits by slot; at least one.
    pub ready: u64,
    /// Waves of `ready` whose next instruction loads from device memory.
    pub loads: u64,
    /// The waves of the scheduler that have not ended.
    pub resident: u64,
    /// The slot that issued last.
    pub last_issued: usize,
    pub(crate) older: &'a [u64],
}

impl<'a> Choice<'a> {
    /// A choice for tests of a scheduler: `ready` waves, which are all that are resident and load nothing; for each slot,
    /// the slots whose waves arrived before its own.
    pub fn new(now: Cycle, ready: u64, older: &'a [u64]) -> Choice<'a> {
        Choice { now, ready, loads: 0, resident: ready, last_issued: 0, older }
    }

    /// The wave that arrived first among `waves`, which are not empty.
    pub fn oldest(&self, waves: u64) -> usize {
        let mut oldest = waves.trailing_zeros() as usize;
        loop {
            let older = waves & self.older[oldest];
            if older == 0 {
                return oldest;
            }
            oldest = older.trailing_zeros() as usize;
        }
    }

    /// True if the wave of a slot arrived before that of another.
    pub fn is_older(&self, slot: usize, other: usize) -> bool {
        self.older[other] >> slot & 1 != 0
    }
}

/// How an access to the L1 ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum L1Outcome {
    /// Every sector was there.
    Hit,
    /// The access joined an outstanding miss.
    Joined,
    /// The access requested sectors from the L2.
    Miss,
    /// The access went to the L2 without an allocation: a store, an uncached access, an atomic of device scope.
    Passed,
}

/// An event in the L1 of a core.
#[derive(Debug, Clone, Copy)]
pub struct L1Event {
    /// The cycle.
    pub now: Cycle,
    /// The line, and the origin of the event.
    pub reference: Reference,
    /// Kind of event.
    pub kind: L1EventKind,
}

/// Kinds of events of an L1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum L1EventKind {
    /// An access was accepted.
    Access(L1Outcome),
    /// The line left for another one, which `reference.by` has brought.
    Evicted,
}

/// Picks among the ready waves of one scheduler of a core.
///
/// The core asks when something has changed for a wave of the scheduler: it may ask in more cycles, and the answer must
/// then be the same unless [`next_change`](WarpScheduler::next_change) has named the cycle.
pub trait WarpScheduler: CaptureDyn + Send + Sync {
    /// The wave that issues, one of `choice.ready`; `None` to let none issue.
    fn pick(&mut self, choice: &Choice<'_>) -> Option<usize>;

    /// A wave has issued an instruction, which reads device memory if `is_load`.
    fn issued(&mut self, now: Cycle, slot: usize, is_load: bool) {
        let _ = (now, slot, is_load);
    }

    /// A wave has arrived in a slot of the core.
    fn arrived(&mut self, now: Cycle, slot: usize) {
        let _ = (now, slot);
    }

    /// The wave of a slot of the core has ended.
    fn ended(&mut self, now: Cycle, slot: usize) {
        let _ = (now, slot);
    }

    /// An event in the core's L1. Each scheduler of a core hears of all waves of the core, in the cycle of the event and
    /// before it picks.
    fn l1(&mut self, event: &L1Event) {
        let _ = event;
    }

    /// The first cycle after `now` in which [`pick`](WarpScheduler::pick) may answer otherwise, though no hook was
    /// called and `ready` is the same.
    fn next_change(&self, now: Cycle) -> Cycle {
        let _ = now;
        NEVER
    }

    /// The values of its counters, in the order of their declaration, over the launch.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// A full set of a cache.
pub struct CacheSet<'a> {
    /// Its frames.
    pub frames: Range<usize>,
    pub(crate) may_leave: &'a dyn Fn(usize) -> bool,
}

impl CacheSet<'_> {
    /// The frames whose lines may leave.
    pub fn candidates(&self) -> impl Iterator<Item = usize> {
        self.frames.clone().filter(|&frame| (self.may_leave)(frame))
    }
}

/// Picks the line that leaves a full set. Frames are numbered set × ways + way.
pub trait Replacement: CaptureDyn + Send + Sync {
    /// The frame whose line leaves, one of the set's [candidates](CacheSet::candidates), or `None` if it has none.
    /// Asking changes nothing: the access may be refused and come again.
    fn victim(&self, set: &CacheSet<'_>) -> Option<usize>;

    /// The line of a frame has left for another. An invalidation is not told.
    fn evicted(&mut self, frame: usize) {
        let _ = frame;
    }

    /// A line has come into a frame.
    fn installed(&mut self, frame: usize, by: &Reference);

    /// A line was used by another reference than the one that it came for.
    fn hit(&mut self, frame: usize, by: &Reference);

    /// The values of its counters, in the order of their declaration, since the machine was made.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// Asks an L1 for lines before a wave does.
pub trait Prefetcher: CaptureDyn + Send + Sync {
    /// An access of a wave was accepted. Appends to `lines` the byte addresses of lines to prefetch; those outside of
    /// device memory, in the cache, outstanding, or for which the queue has no room are dropped.
    fn observe(&mut self, event: &L1Event, lines: &mut Vec<u64>);

    /// A prefetched line was used for the first time, left without a use, or is waited for (`is_late`).
    fn settled(&mut self, line: u64, was_used: bool, is_late: bool) {
        let _ = (line, was_used, is_late);
    }

    /// The values of its counters, in the order of their declaration, since the machine was made.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// A packet that an L1 sends to the L2.
#[derive(Debug)]
pub enum PathRequest<'a> {
    /// A read of sectors, bit s for sector s.
    Read {
        /// Sectors wanted.
        sectors: u8,
        /// The L1 must see what the L2 has: the read is uncached.
        uncached: bool,
    },
    /// A write of bytes.
    Write {
        /// Bit b: byte b of the line is written.
        bytes: u128,
        /// Values at their offsets in the line.
        data: &'a [u8],
    },
    /// An atomic that the L2 performs on the bytes in the mask.
    Atomic {
        /// Bit b: byte b of the line may change.
        bytes: u128,
    },
}

/// The answer of a block to a read.
#[derive(Debug)]
pub struct PathReply {
    /// Cycles after which the L1 has the sectors, at least one.
    pub latency: Cycle,
    /// The bytes of the line; those of other sectors are meaningless.
    pub data: Vec<u8>,
}

/// A block between an L1 and its port to the interconnect. It sees the packets that leave the L1, in order, and may
/// answer a read itself.
pub trait PathBlock: CaptureDyn + Send + Sync {
    /// A packet leaves the L1 for the line at a byte address. An answer to a [`PathRequest::Read`] replaces that of the
    /// L2, to which the packet then does not go; `None` lets it pass.
    fn request(&mut self, now: Cycle, line: u64, request: &PathRequest<'_>) -> Option<PathReply>;

    /// A line has left the L1 for another, with these valid sectors. Dirty bytes go to the L2 as a write, after this.
    fn evicted(&mut self, now: Cycle, line: u64, sectors: u8, data: &[u8]);

    /// A line has come into the L1.
    fn installed(&mut self, now: Cycle, line: u64) {
        let _ = (now, line);
    }

    /// The core acquires: what another core may have changed must be dropped.
    fn invalidate(&mut self);

    /// The values of its counters, in the order of their declaration, since the machine was made.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// The cores that a workgroup may go to.
#[derive(Debug)]
pub struct DispatchChoice<'a> {
    /// The cycle.
    pub now: Cycle,
    /// Linear index of the workgroup: workgroups are sent in this order.
    pub workgroup: u64,
    /// For each core, the workgroups for which it has room; at least one core has room.
    pub free: &'a [u32],
    /// The core that got the workgroup before; the last core at first.
    pub last: usize,
}

/// Picks the core that gets the next workgroup.
pub trait DispatchPolicy: CaptureDyn + Send + Sync {
    /// The core, which must have room.
    fn pick(&mut self, choice: &DispatchChoice<'_>) -> usize;

    /// The dispatcher has heard that a workgroup of a core has ended.
    fn ended(&mut self, now: Cycle, core: usize) {
        let _ = (now, core);
    }

    /// The values of its counters, in the order of their declaration, over the launch.
    fn counters(&self) -> Vec<u64> {
        Vec::new()
    }
}
