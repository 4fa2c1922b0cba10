//! Shadow memory: for each word, the earlier accesses that a later one can still race with.

use super::clock::WaveId;
use super::order::{Past, Word};
use fnv::FnvHashMap;
use std::collections::BTreeMap;
use wave_isa::Scope;

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

/// Words per page.
const PAGE: u32 = 256;

/// Accesses to a word that are stored in a list. More go to a [`Crowd`].
pub(crate) const FEW: usize = 16;

/// The accesses to one memory, by page.
type Pages = FnvHashMap<u32, Vec<Touches>>;

/// The accesses of a launch that later ones may race with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shadow {
    /// Local memory by workgroup; `None` is device memory.
    memories: FnvHashMap<Option<u32>, Pages>,
    kept: usize,
    limit: usize,
    pub(super) few: usize,
    /// Accesses that were not stored because the limit was reached.
    pub left_out: u64,
    /// Measure of the work of the check: stored accesses compared, and clock entries looked up in a crowd.
    pub looked_at: u64,
}

/// The accesses to a word.
#[derive(Debug, Clone)]
enum Touches {
    Few(Vec<Touch>),
    Many(Box<Crowd>),
}

/// Many accesses to a word, grouped by class. Accesses of an agreeing class (loads among themselves, atomics
/// of device scope among themselves) never conflict, and a new access can replace only those of waves that
/// its own wave is ordered after. Most accesses therefore need no comparison with the others of their group.
#[derive(Debug, Clone, Default)]
struct Crowd {
    groups: [Group; 3],
}

/// Class of an access, by which conflicts can be ruled out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Load,
    /// An atomic of device scope or wider.
    Atomic,
    /// A store, or an atomic of a narrower scope.
    Other,
}

/// Wave, instruction and bytes of an access. Accesses with equal keys count as one.
type Key = (WaveId, u32, u8);

/// The accesses of one class.
#[derive(Debug, Clone, Default)]
struct Group {
    touches: BTreeMap<Key, Touch>,
    /// Union of their bytes. It may include bytes of dropped accesses.
    bytes: u8,
}

impl Class {
    const ALL: [Class; 3] = [Class::Load, Class::Atomic, Class::Other];

    fn of(touch: &Touch) -> Class {
        match touch.kind {
            Kind::Load => Class::Load,
            Kind::Atomic if touch.scope >= Scope::Device => Class::Atomic,
            Kind::Atomic | Kind::Store => Class::Other,
        }
    }

    /// True if accesses of these classes never conflict.
    fn agrees_with(self, other: Class) -> bool {
        self == other && self != Class::Other
    }
}

impl Touch {
    fn key(&self) -> Key {
        (self.wave, self.instruction, self.bytes)
    }

    /// True if this access races with an earlier one.
    fn races_with(&self, earlier: &Touch, past: &Past<'_>) -> bool {
        let ordered = if earlier.instruction == self.instruction {
            // Lanes of one atomic are performed in order.
            self.kind != Kind::Store || earlier.lane == self.lane
        } else {
            past.has(earlier.wave, earlier.epoch)
        };
        !ordered && self.conflicts(earlier, past.is_of_workgroup(earlier.wave))
    }

    /// True if `earlier` need not be stored any longer after this access.
    fn replaces(&self, earlier: &Touch, past: &Past<'_>) -> bool {
        earlier.instruction != self.instruction
            && self.stands_for(earlier, past.is_of_workgroup(earlier.wave))
            && past.has(earlier.wave, earlier.epoch)
    }
}

impl Crowd {
    fn of(touches: Vec<Touch>) -> Box<Crowd> {
        let mut crowd = Box::<Crowd>::default();
        touches.into_iter().for_each(|touch| crowd.insert(touch));
        crowd
    }

    fn insert(&mut self, touch: Touch) {
        let group = &mut self.groups[Class::of(&touch) as usize];
        group.bytes |= touch.bytes;
        group.touches.insert(touch.key(), touch);
    }

    fn len(&self) -> usize {
        self.groups.iter().map(|group| group.touches.len()).sum()
    }

    /// The stored accesses that race with `touch`, in their order, and the number of accesses compared.
    fn races(&self, touch: &Touch, past: &Past<'_>) -> (Vec<Touch>, u64) {
        let class = Class::of(touch);
        let (mut races, mut looked_at) = (Vec::<Touch>::new(), 0);
        for other in Class::ALL {
            let group = &self.groups[other as usize];
            if !class.agrees_with(other) && group.bytes & touch.bytes != 0 {
                looked_at += group.touches.len() as u64;
                races.extend(group.touches.values().filter(|earlier| touch.races_with(earlier, past)));
            }
        }
        races.sort_by_key(|rival| (rival.instruction, rival.lane));
        (races, looked_at)
    }

    /// Drops the accesses that `touch` replaces. Returns the number of accesses compared.
    fn drop_replaced(&mut self, touch: &Touch, past: &Past<'_>) -> u64 {
        let mut looked_at = 0;
        for class in Class::ALL {
            // A store can replace any access that it covers, a load only loads, an atomic only atomics of its
            // scope.
            let group = &mut self.groups[class as usize];
            if touch.kind != Kind::Store && class != Class::of(touch) || group.bytes & touch.bytes == 0 {
                continue;
            }
            if past.wave_count() < group.touches.len() {
                for wave in past.waves() {
                    looked_at += 1;
                    let its = group.touches.range((wave, 0, 0)..=(wave, u32::MAX, u8::MAX));
                    let replaced: Vec<Key> =
                        its.filter(|(_, t)| touch.replaces(t, past)).map(|(key, _)| *key).collect();
                    for key in replaced {
                        group.touches.remove(&key);
                    }
                }
            } else {
                looked_at += group.touches.len() as u64;
                group.touches.retain(|_, earlier| !touch.replaces(earlier, past));
            }
            if group.touches.is_empty() {
                group.bytes = 0;
            }
        }
        looked_at
    }
}

impl Touches {
    fn len(&self) -> usize {
        match self {
            Touches::Few(touches) => touches.len(),
            Touches::Many(crowd) => crowd.len(),
        }
    }
}

impl Shadow {
    /// A shadow for at most `limit` accesses. A word with more than `few` stores them in a [`Crowd`].
    pub(crate) fn new(limit: usize, few: usize) -> Shadow {
        Shadow { limit, few, ..Shadow::default() }
    }

    /// True if an equal access of the same instruction is stored: for all other accesses, the two lanes are
    /// equivalent.
    pub(crate) fn has_twin(&self, word: Word, touch: &Touch) -> bool {
        match self.of(word) {
            None => false,
            Some(Touches::Few(touches)) => {
                touches.iter().any(|t| t.instruction == touch.instruction && t.bytes == touch.bytes)
            }
            Some(Touches::Many(crowd)) => {
                crowd.groups[Class::of(touch) as usize].touches.contains_key(&touch.key())
            }
        }
    }

    fn of(&self, word: Word) -> Option<&Touches> {
        let page = self.memories.get(&word.local)?.get(&(word.index / PAGE))?;
        Some(&page[(word.index % PAGE) as usize])
    }

    /// The stored accesses to a word that race with `touch`, in their order.
    pub(crate) fn races(&mut self, word: Word, touch: &Touch, past: &Past<'_>) -> Vec<Touch> {
        let (races, looked_at) = match self.of(word) {
            None => return Vec::new(),
            Some(Touches::Few(touches)) => {
                let races = touches.iter().filter(|earlier| touch.races_with(earlier, past));
                (races.copied().collect(), touches.len() as u64)
            }
            Some(Touches::Many(crowd)) => crowd.races(touch, past),
        };
        self.looked_at += looked_at;
        races
    }

    /// Stores an access that has no twin. Drops earlier accesses whose races this one also has. `past` is
    /// what happens before it.
    pub(crate) fn keep(&mut self, word: Word, touch: Touch, past: &Past<'_>) {
        let pages = self.memories.entry(word.local).or_default();
        let page =
            pages.entry(word.index / PAGE).or_insert_with(|| vec![Touches::Few(Vec::new()); PAGE as usize]);
        let touches = &mut page[(word.index % PAGE) as usize];
        let before = touches.len();
        match touches {
            Touches::Few(list) => {
                self.looked_at += before as u64;
                list.retain(|earlier| !touch.replaces(earlier, past));
            }
            Touches::Many(crowd) => self.looked_at += crowd.drop_replaced(&touch, past),
        }
        let left = touches.len();
        self.kept -= before - left;
        if self.kept == self.limit {
            self.left_out += 1;
            return;
        }
        self.kept += 1;
        match touches {
            Touches::Few(list) if left < self.few => list.push(touch),
            Touches::Few(list) => {
                let mut crowd = Crowd::of(std::mem::take(list));
                crowd.insert(touch);
                *touches = Touches::Many(crowd);
            }
            Touches::Many(crowd) if left > 0 => crowd.insert(touch),
            Touches::Many(_) => *touches = Touches::Few(vec![touch]),
        }
    }

    /// Drops a workgroup's local memory.
    pub(crate) fn forget(&mut self, workgroup: u32) {
        let pages = self.memories.remove(&Some(workgroup)).unwrap_or_default();
        self.kept -= pages.values().flatten().map(Touches::len).sum::<usize>();
    }
}
