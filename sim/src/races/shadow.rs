//! Who touched which byte: per word, the accesses that a later one can still race with.

use super::clock::WaveId;
use super::order::Word;
use crate::isa::Scope;
use std::collections::HashMap;

/// Kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Both, at the access's scope. A compare-and-swap counts as a write whether or not it succeeds.
    Atomic,
}

/// An access to bytes of one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// Wave.
    pub wave: WaveId,
    /// The wave's epoch at the access.
    pub epoch: u32,
    /// Number of the memory instruction in the launch. Its own lanes conflict too.
    pub instruction: u32,
    /// Word of the kernel.
    pub pc: u32,
    /// Lane; the first of several lanes of the instruction that touch the same bytes.
    pub lane: u8,
    /// Bytes of the word, as bits.
    pub bytes: u8,
    /// What it does.
    pub kind: Kind,
    /// Scope of an atomic.
    pub scope: Scope,
}

impl Touch {
    /// True if one of the two accesses writes a byte that both touch, and they are not atomics that include
    /// each other (S2). They may still be ordered.
    pub fn conflicts(&self, other: &Touch, same_workgroup: bool) -> bool {
        let exempt = self.kind == Kind::Atomic
            && other.kind == Kind::Atomic
            && (self.scope.min(other.scope) >= Scope::Device
                || same_workgroup && self.scope.min(other.scope) >= Scope::Workgroup);
        self.bytes & other.bytes != 0 && (self.kind != Kind::Load || other.kind != Kind::Load) && !exempt
    }

    /// True if whatever races with `earlier`, which happens before this access, also races with this access.
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

/// The accesses of a launch that later ones may race with.
#[derive(Debug, Clone, Default)]
pub struct Shadow {
    /// By workgroup for local memory; `None` is device memory.
    memories: HashMap<Option<u32>, Pages>,
    kept: usize,
    limit: usize,
    /// Accesses not kept for lack of room.
    pub left_out: u64,
}

impl Shadow {
    /// An empty shadow with room for `limit` accesses.
    pub fn new(limit: usize) -> Shadow {
        Shadow { limit, ..Shadow::default() }
    }

    /// The accesses to a word.
    pub fn of(&self, word: Word) -> &[Touch] {
        let page = self.memories.get(&word.local).and_then(|pages| pages.get(&(word.index / PAGE)));
        page.map_or(&[], |page| &page[(word.index % PAGE) as usize])
    }

    /// Keeps an access. `ordered` and `same_workgroup` tell, for each earlier access, whether it happens
    /// before this one, and whether it belongs to the same workgroup.
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
        // Lanes that do the same look the same to all other accesses.
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

    /// Drops a workgroup's local memory.
    pub fn forget(&mut self, workgroup: u32) {
        let pages = self.memories.remove(&Some(workgroup)).unwrap_or_default();
        self.kept -= pages.values().flatten().map(Vec::len).sum::<usize>();
    }
}
