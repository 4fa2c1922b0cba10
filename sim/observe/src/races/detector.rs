//! Finds races: compares each access with the earlier ones to the same bytes.

use super::clock::WaveId;
use super::order::{Message, Order, Word};
use super::shadow::{FEW, Kind, Shadow, Touch};
use fnv::FnvHashMap;
use std::collections::{BTreeMap, VecDeque};
use wave_isa::Scope;

/// Most accesses of a launch that are kept, at 20 bytes each.
pub(crate) const MAX_TOUCHES: usize = 1 << 24;

/// Most different pairs of a launch that are kept. Further ones are only counted.
pub(crate) const MAX_PAIRS: usize = 1000;

/// A memory instruction of a wave.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// Wave.
    pub wave: WaveId,
    /// The core that it runs on.
    pub core: u32,
    /// Word of the kernel.
    pub pc: u32,
    /// What it does.
    pub kind: Kind,
    /// Scope of an atomic; workgroup scope for a local one.
    pub scope: Scope,
    /// It is performed at the L2, which reports when. Other accesses are performed in the order of their
    /// core.
    pub at_l2: bool,
    /// It may leave the word unchanged: a compare-and-swap.
    pub may_fail: bool,
    /// True for local memory.
    pub local: bool,
}

/// The consecutive bytes that a lane touches.
#[derive(Debug, Clone, Copy)]
pub struct LaneAccess {
    /// Lane.
    pub lane: u8,
    /// First byte.
    pub address: u32,
    /// Bytes, 1 to 16.
    pub bytes: u32,
}

/// Two instructions that raced, and their first race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The memory, and the word in it.
    pub word: Word,
    /// Bytes of the word touched by both, as bits.
    pub bytes: u8,
    /// The access that was found first.
    pub first: Touch,
    /// The other.
    pub second: Touch,
    /// The wave of the first access has released it: at workgroup scope if both share a workgroup, else at
    /// device scope.
    pub released: bool,
    /// The wave of the second access has read an atomic behind that release.
    pub seen: bool,
    /// Number of words and waves in which these two instructions raced.
    pub count: u64,
}

/// An access that waits for its turn at a word with atomics on their way to the L2.
#[derive(Debug, Clone)]
enum Turn {
    L2(Message),
    L1(Message, bool),
}

/// Detects the races of one launch.
#[derive(Debug, Clone)]
pub struct Detector {
    order: Order,
    shadow: Shadow,
    instructions: u32,
    /// By core and word: accesses to be performed after the atomics that are on their way. A core's accesses
    /// to a word keep their order.
    turns: FnvHashMap<(u32, Word), VecDeque<Turn>>,
    /// By the words of the two instructions, in ascending order.
    pairs: BTreeMap<(u32, u32), Pair>,
    /// The keys of `pairs`, in the order in which they were found.
    met: Vec<(u32, u32)>,
    /// Races of all pairs.
    pub races: u64,
}

impl Detector {
    /// An empty history that keeps at most `limit` accesses.
    pub fn new(waves_per_workgroup: u32, limit: usize) -> Detector {
        Detector {
            order: Order::new(waves_per_workgroup),
            shadow: Shadow::new(limit, FEW),
            instructions: 0,
            turns: FnvHashMap::default(),
            pairs: BTreeMap::new(),
            met: Vec::new(),
            races: 0,
        }
    }

    /// For tests: stores more than `few` accesses to a word in the form meant for many.
    pub fn with_few(mut self, few: usize) -> Detector {
        self.shadow.few = few;
        self
    }

    /// Called when a wave executes a fence.
    pub fn fence(&mut self, wave: WaveId, acquire: bool, release: bool, scope: Scope) {
        self.order.fence(wave, acquire, release, scope);
    }

    /// Called when a wave reaches a barrier.
    pub fn barrier(&mut self, wave: WaveId) {
        self.order.barrier(wave);
    }

    /// A wave executes a memory instruction. `lanes`: what its lanes touch, lowest lane first.
    pub fn access(&mut self, access: &Access, lanes: impl Iterator<Item = LaneAccess>) {
        self.instructions = self.instructions.wrapping_add(1);
        let local = access.local.then(|| self.order.workgroup(access.wave));
        let epoch = self.order.epoch(access.wave);
        let message = (access.kind == Kind::Atomic).then(|| self.order.message(access.wave));
        // Words on which this instruction has raced so far.
        let mut raced = Vec::new();
        for lane in lanes {
            let end = lane.address + (lane.bytes - 1);
            for index in lane.address / 4..=end / 4 {
                let from = lane.address.max(4 * index) - 4 * index;
                let to = end.min(4 * index + 3) - 4 * index;
                let word = Word { local, index };
                let touch = Touch {
                    wave: access.wave,
                    epoch,
                    instruction: self.instructions,
                    pc: access.pc,
                    lane: lane.lane,
                    bytes: (0xF >> (3 - (to - from))) << from,
                    kind: access.kind,
                    scope: access.scope,
                };
                // A load or atomic has the same races as its twin.
                let is_settled = access.kind != Kind::Store
                    && !raced.contains(&word)
                    && self.shadow.has_twin(word, &touch);
                if !is_settled && self.touch(word, touch) {
                    raced.push(word);
                }
                if let Some(message) = &message {
                    let turn = match access.at_l2 {
                        true => Turn::L2(message.clone()),
                        false => Turn::L1(message.clone(), !access.may_fail),
                    };
                    self.turn(access.core, word, turn);
                }
            }
        }
    }

    /// The L2 performs a core's oldest atomic on a word of device memory that is not performed yet. `writes`
    /// is false for a compare-and-swap that fails.
    pub fn performed(&mut self, core: u32, index: u32, writes: bool) {
        let word = Word { local: None, index };
        let oldest = self.turns.get_mut(&(core, word)).and_then(VecDeque::pop_front);
        if let Some(Turn::L2(message)) = oldest {
            self.order.perform(word, &message, writes);
        }
        self.take_turns(core, word);
    }

    /// All waves of a workgroup have ended.
    pub(crate) fn end_workgroup(&mut self, workgroup: u32) {
        self.shadow.forget(workgroup);
        self.order.forget(workgroup);
    }

    /// The different pairs of instructions that raced, in the order of their first race.
    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.met.iter().filter_map(|key| self.pairs.get(key))
    }

    /// Accesses not kept for lack of room. Later accesses were not compared with them.
    pub fn left_out(&self) -> u64 {
        self.shadow.left_out
    }

    /// Measure of the work of the check so far: accesses compared, and clock entries looked up in crowds.
    pub fn looked_at(&self) -> u64 {
        self.shadow.looked_at
    }

    fn turn(&mut self, core: u32, word: Word, turn: Turn) {
        // If nothing is on its way, the access is performed at once.
        if !matches!(turn, Turn::L2(_)) && !self.turns.contains_key(&(core, word)) {
            return self.perform(word, &turn);
        }
        self.turns.entry((core, word)).or_default().push_back(turn);
    }

    /// Performs accesses that no longer wait for the L2.
    fn take_turns(&mut self, core: u32, word: Word) {
        let Some(mut turns) = self.turns.remove(&(core, word)) else { return };
        while let Some(turn) = turns.front()
            && !matches!(turn, Turn::L2(_))
        {
            self.perform(word, turn);
            turns.pop_front();
        }
        if !turns.is_empty() {
            self.turns.insert((core, word), turns);
        }
    }

    fn perform(&mut self, word: Word, turn: &Turn) {
        match turn {
            Turn::L2(message) => self.order.perform(word, message, true),
            Turn::L1(message, writes) => self.order.perform(word, message, *writes),
        }
    }

    /// Compares an access with the earlier ones and stores it. True if it races.
    fn touch(&mut self, word: Word, touch: Touch) -> bool {
        let Detector { order, shadow, .. } = self;
        let past = order.past(touch.wave);
        let races = shadow.races(word, &touch, &past);
        if !shadow.has_twin(word, &touch) {
            shadow.keep(word, touch, &past);
        }
        if races.is_empty() {
            return false;
        }
        for first in races {
            let same_workgroup = past.is_of_workgroup(first.wave);
            let (released, seen) = order.halves(first.wave, first.epoch, touch.wave, same_workgroup);
            self.races += 1;
            let bytes = first.bytes & touch.bytes;
            note(
                &mut self.pairs,
                &mut self.met,
                Pair { word, bytes, first, second: touch, released, seen, count: 1 },
            );
        }
        order.distrust(word);
        true
    }
}

/// Counts a race under its pair of instructions.
fn note(pairs: &mut BTreeMap<(u32, u32), Pair>, met: &mut Vec<(u32, u32)>, pair: Pair) {
    let key = (pair.first.pc.min(pair.second.pc), pair.first.pc.max(pair.second.pc));
    if let Some(known) = pairs.get_mut(&key) {
        known.count += 1;
    } else if pairs.len() < MAX_PAIRS {
        pairs.insert(key, pair);
        met.push(key);
    }
}
