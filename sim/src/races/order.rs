//! Happens-before over the waves of a launch: what program order (H1), fences (H2) and barriers (H3) make of it.
//!
//! H2 asks who reads from whom. Only atomics are followed, in the order in which they are performed on each word. That is
//! all there is to know as long as nothing races: a plain access that reads from a wave it is not ordered with is a race
//! itself, and if it is ordered already, synchronising adds nothing. Once a word has had a race, its reads need not
//! read what was performed last, and nothing is ordered through it any more.

use super::clock::{Clock, WaveId};
use crate::isa::Scope;
use std::collections::{BTreeMap, HashMap};

/// A word of memory: which memory, and address / 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word {
    /// The workgroup whose local memory it is, or `None` for device memory.
    pub local: Option<u32>,
    /// Address / 4.
    pub index: u32,
}

/// What a wave's next atomic tells whoever reads from it.
#[derive(Debug, Clone, Default)]
pub struct Message {
    /// The wave.
    pub wave: WaveId,
    /// Released to the workgroup, and to the device: each at the wave's last fence of that scope or a wider one.
    released: Released,
    /// Acquire fences that the wave had issued.
    acquires: [u32; 2],
}

/// What is released or seen, at workgroup scope and at device scope.
#[derive(Debug, Clone, Default)]
struct Released {
    workgroup: Clock,
    device: Clock,
}

#[derive(Debug, Clone, Default)]
struct Wave {
    /// What happens before its next event, but for its own accesses.
    clock: Clock,
    /// Epoch of its accesses now, less 1.
    epoch: u32,
    released: Released,
    /// What its atomics have read from, for acquire fences to come.
    seen: Released,
    /// Acquire fences so far: of workgroup scope or wider, of device scope or wider.
    acquires: [u32; 2],
    /// Barriers that it has reached.
    barriers: u32,
    /// It has not gone on after the last one.
    at_barrier: bool,
}

/// A release sequence: what the writes tell that whoever reads the word now reads from.
#[derive(Debug, Clone, Default)]
struct Sequence {
    device: Clock,
    /// By workgroup of the releasing wave.
    workgroups: BTreeMap<u32, Clock>,
    /// The word has had a race.
    raced: bool,
}

/// Happens-before so far.
#[derive(Debug, Clone, Default)]
pub struct Order {
    waves_per_workgroup: u32,
    waves: HashMap<WaveId, Wave>,
    /// By workgroup and number of the barrier.
    meetings: HashMap<(u32, u32), Clock>,
    sequences: HashMap<Word, Sequence>,
}

impl Order {
    /// Nothing has happened.
    pub fn new(waves_per_workgroup: u32) -> Order {
        Order { waves_per_workgroup, ..Order::default() }
    }

    /// The workgroup of a wave.
    pub fn workgroup(&self, wave: WaveId) -> u32 {
        wave / self.waves_per_workgroup
    }

    /// The wave goes on to its next event. It is past a barrier then, so the meeting is complete.
    fn wave(&mut self, id: WaveId) -> &mut Wave {
        let workgroup = id / self.waves_per_workgroup;
        let wave = self.waves.entry(id).or_default();
        if std::mem::take(&mut wave.at_barrier)
            && let Some(meeting) = self.meetings.get(&(workgroup, wave.barriers))
        {
            wave.clock.join(meeting);
        }
        wave
    }

    /// A fence of a wave.
    pub fn fence(&mut self, id: WaveId, acquire: bool, release: bool, scope: Scope) {
        let wave = self.wave(id);
        if scope == Scope::Wave {
            return;
        }
        if acquire {
            wave.acquires[0] += 1;
            wave.clock.join(&wave.seen.workgroup);
            if scope >= Scope::Device {
                wave.acquires[1] += 1;
                wave.clock.join(&wave.seen.device);
            }
        }
        if release {
            let past = wave.leave(id);
            if scope >= Scope::Device {
                wave.released.device = past.clone();
            }
            wave.released.workgroup = past;
        }
    }

    /// A wave reaches a barrier.
    pub fn barrier(&mut self, id: WaveId) {
        let workgroup = self.workgroup(id);
        let wave = self.wave(id);
        let past = wave.leave(id);
        wave.barriers += 1;
        wave.at_barrier = true;
        let n = wave.barriers;
        self.meetings.entry((workgroup, n)).or_default().join(&past);
        // Everyone is past the last barrier but one.
        self.meetings.remove(&(workgroup, n.wrapping_sub(2)));
    }

    /// The epoch of the access that a wave makes now.
    pub fn epoch(&mut self, wave: WaveId) -> u32 {
        self.wave(wave).epoch + 1
    }

    /// True if what `earlier` did in an epoch happens before the access of `wave` that [`epoch`](Self::epoch) was asked for.
    pub fn is_before(&self, earlier: WaveId, epoch: u32, wave: WaveId) -> bool {
        earlier == wave || self.waves.get(&wave).is_some_and(|w| w.clock.of(earlier) >= epoch)
    }

    /// What an atomic that a wave issues now tells.
    pub fn message(&mut self, id: WaveId) -> Message {
        let wave = self.wave(id);
        Message { wave: id, released: wave.released.clone(), acquires: wave.acquires }
    }

    /// An atomic is performed on a word; `writes` unless it is a compare-and-swap that fails. Calls for a word come in the
    /// order in which its atomics are performed. A plain store ends a release sequence, but there is nothing to do for it: who
    /// reads it without a race comes after it, and so after all that the sequence releases.
    pub fn perform(&mut self, word: Word, message: &Message, writes: bool) {
        let workgroup = self.workgroup(message.wave);
        let sequence = self.sequences.entry(word).or_default();
        if sequence.raced {
            return;
        }
        let reader = self.waves.entry(message.wave).or_default();
        if let Some(seen) = sequence.workgroups.get(&workgroup) {
            reader.seen.workgroup.join(seen);
            // An atomic that returns nothing may be performed after the fence behind it.
            if reader.acquires[0] > message.acquires[0] {
                reader.clock.join(seen);
            }
        }
        reader.seen.device.join(&sequence.device);
        if reader.acquires[1] > message.acquires[1] {
            reader.clock.join(&sequence.device);
        }
        if writes {
            sequence.device.join(&message.released.device);
            if !message.released.workgroup.is_empty() {
                sequence.workgroups.entry(workgroup).or_default().join(&message.released.workgroup);
            }
        }
    }

    /// A race was found on a word.
    pub fn distrust(&mut self, word: Word) {
        self.sequences.insert(word, Sequence { raced: true, ..Sequence::default() });
    }

    /// Forgets the words of a workgroup's local memory.
    pub fn forget(&mut self, workgroup: u32) {
        self.sequences.retain(|word, _| word.local != Some(workgroup));
    }

    /// What is there already of an order between an access of `earlier` and what `wave` does now, where fences of
    /// workgroup scope (or of device scope) would do: released, and told to `wave` by an atomic.
    pub fn halves(&self, earlier: WaveId, epoch: u32, wave: WaveId, workgroup_scope: bool) -> (bool, bool) {
        let at =
            |of: &Released| if workgroup_scope { of.workgroup.of(earlier) } else { of.device.of(earlier) };
        let has =
            |id: WaveId, of: fn(&Wave) -> &Released| self.waves.get(&id).is_some_and(|w| at(of(w)) >= epoch);
        (has(earlier, |w| &w.released), has(wave, |w| &w.seen))
    }
}

impl Wave {
    /// All that happened before, its own accesses too; what follows is of another epoch.
    fn leave(&mut self, id: WaveId) -> Clock {
        self.epoch += 1;
        let mut past = self.clock.clone();
        past.advance(id, self.epoch);
        past
    }
}
