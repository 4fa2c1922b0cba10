//! Happens-before over the waves of a launch, from program order (H1), fences (H2) and barriers (H3).
//!
//! H2 depends on which write a read reads from. Only atomics are followed, in the order in which they are
//! performed on each word. That suffices as long as there is no race: a plain access that reads from a wave
//! without being ordered after it is a race itself, and if it is ordered already, synchronisation adds
//! nothing. After a race on a word, its reads need not return what was performed last, so nothing is ordered
//! through that word any more.

use super::clock::{Clock, WaveId};
use fnv::FnvHashMap;
use std::collections::BTreeMap;
use wave_isa::Scope;

/// A word of memory: its memory, and its address / 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Word {
    /// The workgroup whose local memory it is, or `None` for device memory.
    pub local: Option<u32>,
    /// Address / 4.
    pub index: u32,
}

/// What a wave's next atomic passes on to its readers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    /// The wave.
    pub wave: WaveId,
    /// What the wave has released to its workgroup and to the device, each at its last fence of that scope or
    /// a wider one.
    released: Released,
    /// Acquire fences that the wave has issued so far.
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
    /// What happens before its next event, except its own accesses.
    clock: Clock,
    /// Epoch of its current accesses, less 1.
    epoch: u32,
    released: Released,
    /// What its atomics have read from, for later acquire fences.
    seen: Released,
    /// Acquire fences so far: of workgroup scope or wider, and of device scope or wider.
    acquires: [u32; 2],
    /// Barriers that it has reached.
    barriers: u32,
    /// It has not continued after the last barrier.
    at_barrier: bool,
}

/// A release sequence: what its writes pass on to those that read the word.
#[derive(Debug, Clone, Default)]
struct Sequence {
    device: Clock,
    /// By the releasing wave's workgroup.
    workgroups: BTreeMap<u32, Clock>,
    /// The word has had a race.
    raced: bool,
}

/// Happens-before up to the current event.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    waves_per_workgroup: u32,
    waves: FnvHashMap<WaveId, Wave>,
    /// Clocks of barriers, by workgroup and number of the barrier.
    meetings: FnvHashMap<(u32, u32), Clock>,
    /// Release sequences, by memory and word.
    sequences: FnvHashMap<Option<u32>, FnvHashMap<u32, Sequence>>,
}

impl Order {
    /// Nothing has happened.
    pub(crate) fn new(waves_per_workgroup: u32) -> Order {
        Order { waves_per_workgroup, ..Order::default() }
    }

    /// The workgroup of a wave.
    pub(crate) fn workgroup(&self, wave: WaveId) -> u32 {
        wave / self.waves_per_workgroup
    }

    /// The wave continues to its next event. If it was at a barrier, that meeting is complete.
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

    /// Called when a wave executes a fence.
    pub(crate) fn fence(&mut self, id: WaveId, acquire: bool, release: bool, scope: Scope) {
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

    /// Called when a wave reaches a barrier.
    pub(crate) fn barrier(&mut self, id: WaveId) {
        let workgroup = self.workgroup(id);
        let wave = self.wave(id);
        let past = wave.leave(id);
        wave.barriers += 1;
        wave.at_barrier = true;
        let n = wave.barriers;
        self.meetings.entry((workgroup, n)).or_default().join(&past);
        // All waves are past the last barrier but one.
        self.meetings.remove(&(workgroup, n.wrapping_sub(2)));
    }

    /// The epoch of the wave's current access.
    pub(crate) fn epoch(&mut self, wave: WaveId) -> u32 {
        self.wave(wave).epoch + 1
    }

    /// What happens before the current access of a wave. Call [`epoch`](Self::epoch) first.
    pub(crate) fn past(&self, wave: WaveId) -> Past<'_> {
        let clock = self.waves.get(&wave).map(|w| &w.clock);
        Past { wave, waves_per_workgroup: self.waves_per_workgroup, clock }
    }

    /// What an atomic that a wave issues now passes on.
    pub(crate) fn message(&mut self, id: WaveId) -> Message {
        let wave = self.wave(id);
        Message { wave: id, released: wave.released.clone(), acquires: wave.acquires }
    }

    /// An atomic is performed on a word; `writes` is false for a compare-and-swap that fails. Calls for a
    /// word come in the order in which its atomics are performed. A plain store ends a release sequence, but
    /// needs no call: whoever reads it without a race comes after it, and so after everything that the
    /// sequence releases.
    pub(crate) fn perform(&mut self, word: Word, message: &Message, writes: bool) {
        let workgroup = self.workgroup(message.wave);
        let sequence = self.sequences.entry(word.local).or_default().entry(word.index).or_default();
        if sequence.raced {
            return;
        }
        let reader = self.waves.entry(message.wave).or_default();
        if let Some(seen) = sequence.workgroups.get(&workgroup) {
            reader.seen.workgroup.join(seen);
            // An atomic without a result may be performed after the fence behind it.
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

    /// Called when a race was found on a word.
    pub(crate) fn distrust(&mut self, word: Word) {
        let raced = Sequence { raced: true, ..Sequence::default() };
        self.sequences.entry(word.local).or_default().insert(word.index, raced);
    }

    /// Forgets the local memory of a workgroup that has ended, and the clocks of its waves.
    pub(crate) fn forget(&mut self, workgroup: u32) {
        self.sequences.remove(&Some(workgroup));
        let first = workgroup * self.waves_per_workgroup;
        for id in first..first + self.waves_per_workgroup {
            if let Some(wave) = self.waves.get_mut(&id) {
                (wave.clock, wave.seen) = (Clock::default(), Released::default());
            }
        }
    }

    /// Which halves of an order between an access of `earlier` and the current access of `wave` exist, if
    /// fences of workgroup scope (or of device scope) suffice: released, and passed on to `wave` by an
    /// atomic.
    pub(crate) fn halves(
        &self,
        earlier: WaveId,
        epoch: u32,
        wave: WaveId,
        workgroup_scope: bool,
    ) -> (bool, bool) {
        let at =
            |of: &Released| if workgroup_scope { of.workgroup.of(earlier) } else { of.device.of(earlier) };
        let has =
            |id: WaveId, of: fn(&Wave) -> &Released| self.waves.get(&id).is_some_and(|w| at(of(w)) >= epoch);
        (has(earlier, |w| &w.released), has(wave, |w| &w.seen))
    }
}

/// Everything that happens before an access.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Past<'a> {
    wave: WaveId,
    waves_per_workgroup: u32,
    clock: Option<&'a Clock>,
}

impl Past<'_> {
    /// True if it includes the accesses of a wave in an epoch.
    pub(crate) fn has(&self, wave: WaveId, epoch: u32) -> bool {
        wave == self.wave || self.clock.is_some_and(|clock| clock.of(wave) >= epoch)
    }

    /// True if a wave is in the workgroup of the accessing wave.
    pub(crate) fn is_of_workgroup(&self, wave: WaveId) -> bool {
        wave / self.waves_per_workgroup == self.wave / self.waves_per_workgroup
    }

    /// The waves with accesses in it. The accessing wave may come twice.
    pub(crate) fn waves(&self) -> impl Iterator<Item = WaveId> {
        std::iter::once(self.wave).chain(self.clock.into_iter().flat_map(Clock::waves))
    }

    /// Length of [`waves`](Self::waves).
    pub(crate) fn wave_count(&self) -> usize {
        1 + self.clock.map_or(0, Clock::len)
    }
}

impl Wave {
    /// Everything that happened before, own accesses included. What follows is in a new epoch.
    fn leave(&mut self, id: WaveId) -> Clock {
        self.epoch += 1;
        let mut past = self.clock.clone();
        past.advance(id, self.epoch);
        past
    }
}
