//! What the run loop tells observers of the memory side, which records it while there is someone to tell.

use crate::core::probe::{AtomicEvent, Event, EventKind, Probe};
use crate::memory::MemorySystem;

/// The memory side records what is wanted, and nothing else, from here on.
pub(super) fn begin_telling<P: Probe>(memory: &mut MemorySystem, probe: &P) {
    memory.record_atomics(probe.wants(EventKind::Atomic));
    memory.record_hops(probe.wants(EventKind::Hop));
    memory.record_accesses(probe.wants(EventKind::SliceAccess));
    memory.record_bursts(probe.wants(EventKind::Burst));
}

/// Tells what was recorded since the last call.
pub(super) fn tell_memory_side<P: Probe>(memory: &mut MemorySystem, probe: &mut P) {
    if probe.wants(EventKind::Atomic) {
        for atomic in memory.take_atomics() {
            let (core, line) = (u32::from(atomic.core), atomic.line as u32);
            let (cycle, bytes, written) = (atomic.cycle, atomic.bytes, atomic.written);
            let performed = AtomicEvent { cycle, core, line, bytes, written };
            probe.tell(EventKind::Atomic, || Event::Atomic(performed));
        }
    }
    if probe.wants(EventKind::Hop) {
        memory.take_hops().for_each(|hop| probe.tell(EventKind::Hop, || Event::Hop(hop)));
    }
    tell_traffic(memory, probe);
}

/// Tells what has happened up to where the run stands, the release included.
pub(super) fn tell_rest<P: Probe>(memory: &mut MemorySystem, probe: &mut P) {
    if probe.wants(EventKind::SliceAccess) || probe.wants(EventKind::Burst) {
        // Channels that are behind catch up, so that what is told is what the counters have.
        memory.counters();
        tell_traffic(memory, probe);
    }
}

/// Tells what the slices were asked and what the channels moved.
fn tell_traffic<P: Probe>(memory: &mut MemorySystem, probe: &mut P) {
    if probe.wants(EventKind::SliceAccess) {
        let accesses = memory.take_accesses();
        accesses.for_each(|access| probe.tell(EventKind::SliceAccess, || Event::SliceAccess(access)));
    }
    if probe.wants(EventKind::Burst) {
        memory.take_bursts().for_each(|burst| probe.tell(EventKind::Burst, || Event::Burst(burst)));
    }
}
