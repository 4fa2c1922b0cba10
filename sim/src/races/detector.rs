//! Finds races: compares each access with the earlier ones to the same bytes.

use super::clock::WaveId;
use super::order::{Message, Order, Word};
use super::shadow::{Kind, Shadow, Touch};
use crate::isa::Scope;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Most accesses of a launch that are kept, at 20 bytes each.
pub const MAX_TOUCHES: usize = 1 << 24;

/// Most different pairs of a launch that are kept. Further ones are only counted.
pub const MAX_PAIRS: usize = 1000;

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

/// The races of one launch.
#[derive(Debug, Clone)]
pub struct Detector {
    order: Order,
    shadow: Shadow,
    instructions: u32,
    /// By core and word: accesses to be performed after the atomics that are on their way. A core's accesses
    /// to a word keep their order.
    turns: HashMap<(u32, Word), VecDeque<Turn>>,
    /// By the two words of the kernel.
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
            shadow: Shadow::new(limit),
            instructions: 0,
            turns: HashMap::new(),
            pairs: BTreeMap::new(),
            met: Vec::new(),
            races: 0,
        }
    }

    /// A wave executes a fence.
    pub fn fence(&mut self, wave: WaveId, acquire: bool, release: bool, scope: Scope) {
        self.order.fence(wave, acquire, release, scope);
    }

    /// A wave reaches a barrier.
    pub fn barrier(&mut self, wave: WaveId) {
        self.order.barrier(wave);
    }

    /// A wave executes a memory instruction. `lanes`: what its lanes touch, lowest lane first.
    pub fn access(&mut self, access: &Access, lanes: impl Iterator<Item = LaneAccess>) {
        self.instructions = self.instructions.wrapping_add(1);
        let local = access.local.then(|| self.order.workgroup(access.wave));
        let epoch = self.order.epoch(access.wave);
        let message = (access.kind == Kind::Atomic).then(|| self.order.message(access.wave));
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
                self.touch(word, touch);
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
    pub fn end_workgroup(&mut self, workgroup: u32) {
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

    /// Compares an access with the earlier ones, and keeps it.
    fn touch(&mut self, word: Word, touch: Touch) {
        let Detector { order, shadow, .. } = self;
        let workgroup = order.workgroup(touch.wave);
        let mut races = Vec::new();
        for earlier in shadow.of(word) {
            let same_workgroup = order.workgroup(earlier.wave) == workgroup;
            let ordered = if earlier.instruction == touch.instruction {
                // The lanes of one atomic act in order.
                touch.kind != Kind::Store || earlier.lane == touch.lane
            } else {
                order.is_before(earlier.wave, earlier.epoch, touch.wave)
            };
            if !ordered && touch.conflicts(earlier, same_workgroup) {
                races.push((*earlier, order.halves(earlier.wave, earlier.epoch, touch.wave, same_workgroup)));
            }
        }
        if !races.is_empty() {
            order.distrust(word);
        }
        let same_workgroup = |earlier: &Touch| order.workgroup(earlier.wave) == workgroup;
        shadow.keep(word, touch, same_workgroup, |earlier| {
            order.is_before(earlier.wave, earlier.epoch, touch.wave)
        });
        for (first, (released, seen)) in races {
            self.races += 1;
            self.note(Pair {
                word,
                bytes: first.bytes & touch.bytes,
                first,
                second: touch,
                released,
                seen,
                count: 1,
            });
        }
    }

    fn note(&mut self, pair: Pair) {
        let key = (pair.first.pc.min(pair.second.pc), pair.first.pc.max(pair.second.pc));
        if let Some(known) = self.pairs.get_mut(&key) {
            known.count += 1;
        } else if self.pairs.len() < MAX_PAIRS {
            self.pairs.insert(key, pair);
            self.met.push(key);
        }
    }
}
