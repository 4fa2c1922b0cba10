//! Who has touched which byte: for each word those accesses that a later one can still race with.

use super::clock::WaveId;
use super::order::Word;
use crate::isa::Scope;
use std::collections::HashMap;

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Both, at this scope. A compare-and-swap counts as a write whether it succeeds or not.
    Atomic,
}

/// An access to bytes of one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// Wave.
    pub wave: WaveId,
    /// Its epoch then.
    pub epoch: u32,
    /// Which memory instruction of the launch: its lanes conflict.
    pub instruction: u32,
    /// Word of the kernel.
    pub pc: u32,
    /// Lane; of several of an instruction that touch the same bytes, the first.
    pub lane: u8,
    /// Bytes of the word, as bits.
    pub bytes: u8,
    /// What it does.
    pub kind: Kind,
    /// Scope of an atomic.
    pub scope: Scope,
}

impl Touch {
    /// True if one of two accesses writes a byte that both touch and they are no atomics that include each other (S2).
    /// They may still be ordered.
    pub fn conflicts(&self, other: &Touch, same_workgroup: bool) -> bool {
        let exempt = self.kind == Kind::Atomic
            && other.kind == Kind::Atomic
            && (self.scope.min(other.scope) >= Scope::Device
                || same_workgroup && self.scope.min(other.scope) >= Scope::Workgroup);
        self.bytes & other.bytes != 0 && (self.kind != Kind::Load || other.kind != Kind::Load) && !exempt
    }

    /// True if whoever races with `earlier`, which happens before this one, races with this one too.
    fn stands_for(&self, earlier: &Touch, same_workgroup: bool) -> bool {
        earlier.bytes & !self.bytes == 0
            && match (self.kind, earlier.kind) {
                (Kind::Store, _) | (Kind::Load, Kind::Load) => true,
                (Kind::Atomic, Kind::Atomic) => self.scope == earlier.scope && same_workgroup,
                _ => false,
            }
    }
}

/// Words of a page.
const PAGE: u32 = 256;

/// The accesses to a memory.
type Pages = HashMap<u32, Vec<Vec<Touch>>>;

/// Accesses of a launch that matter.
#[derive(Debug, Clone, Default)]
pub struct Shadow {
    /// By workgroup, or of device memory.
    memories: HashMap<Option<u32>, Pages>,
    kept: usize,
    limit: usize,
    /// Accesses that were not kept for want of room.
    pub left_out: u64,
}

impl Shadow {
    /// Room for so many accesses.
    pub fn new(limit: usize) -> Shadow {
        Shadow { limit, ..Shadow::default() }
    }

    /// The accesses to a word.
    pub fn of(&self, word: Word) -> &[Touch] {
        let page = self.memories.get(&word.local).and_then(|pages| pages.get(&(word.index / PAGE)));
        page.map_or(&[], |page| &page[(word.index % PAGE) as usize])
    }

    /// Keeps an access. `ordered` and `same_workgroup` say of each one before whether it happens before this one, and
    /// whether it is of this one's workgroup.
    pub fn keep(
        &mut self,
        word: Word,
        touch: Touch,
        same_workgroup: impl Fn(&Touch) -> bool,
        ordered: impl Fn(&Touch) -> bool,
    ) {
        let pages = self.memories.entry(word.local).or_default();
        let page = pages.entry(word.index / PAGE).or_insert_with(|| vec![Vec::new(); PAGE as usize]);
        let touches = &mut page[(word.index % PAGE) as usize];
        let before = touches.len();
        // Lanes that do the same are one to all others.
        let twin = |t: &Touch| t.instruction == touch.instruction && t.bytes == touch.bytes;
        if touches.iter().any(twin) {
            return;
        }
        touches.retain(|earlier| {
            earlier.instruction == touch.instruction
                || !touch.stands_for(earlier, same_workgroup(earlier))
                || !ordered(earlier)
        });
        self.kept -= before - touches.len();
        if self.kept == self.limit {
            self.left_out += 1;
            return;
        }
        touches.push(touch);
        self.kept += 1;
    }

    /// Drops what is known of a workgroup's local memory.
    pub fn forget(&mut self, workgroup: u32) {
        let pages = self.memories.remove(&Some(workgroup)).unwrap_or_default();
        self.kept -= pages.values().flatten().map(Vec::len).sum::<usize>();
    }
}
