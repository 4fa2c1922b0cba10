//! The release at the end of a kernel (M32): makes its writes visible.
//!
//! The dispatcher tells the cores to write back the dirty lines of their L1s, and they reply; each direction takes
//! `dispatcher.latency_cycles`. At system scope, the L2 then writes its dirty lines to memory.

use super::run::Run;
use crate::clock::Cycle;
use crate::config::ReleaseScope;
use crate::core::Core;
use crate::core::probe::{Event, EventKind, Probe};
use crate::memory::MemorySystem;
use wave_capture::Capture;

/// Where a run is. The kernel ended before cycle `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub(super) enum Phase {
    /// Workgroups run, or their stores are on their way.
    Running,
    /// The kernel has just ended.
    Telling { end: Cycle },
    /// The cores hear of it in cycle `told`.
    Told { end: Cycle, told: Cycle },
    /// The L1s write back their dirty lines.
    WritingBack { end: Cycle, told: Cycle },
    /// The last reply of a core reaches the dispatcher before cycle `until`.
    Answering { end: Cycle, until: Cycle },
    /// The L2 writes its dirty lines.
    Memory { end: Cycle },
}

impl Run {
    /// Goes on with the release up to cycle `until`. Returns the cycle in which the kernel ended, once the next
    /// launch can start.
    pub(super) fn release<P: Probe>(
        &mut self,
        memory: &mut MemorySystem,
        until: Cycle,
        probe: &mut P,
    ) -> Option<Cycle> {
        let latency = self.spec.dispatcher_latency;
        loop {
            match self.phase {
                Phase::Running => return None,
                Phase::Telling { end } => {
                    self.cores.iter_mut().for_each(|core| core.finish(end));
                    probe.tell(EventKind::Release, || Event::Release(end));
                    // Blocks may have been simulated past `end`, by less than one quantum, which is at most this
                    // latency.
                    self.phase = Phase::Told { end, told: end + latency };
                }
                Phase::Told { end, told } => {
                    self.pass_until(memory, (told, until), probe)?;
                    if probe.wants(EventKind::Sample) {
                        let sample = self.sample(memory, true);
                        probe.tell(EventKind::Sample, || Event::Sample(&sample, memory));
                    }
                    self.quantum_ends = self.now;
                    self.phase = match self.cores.iter().all(Core::is_released) {
                        true => self.releasing_memory(memory, end),
                        false => Phase::WritingBack { end, told },
                    };
                }
                Phase::WritingBack { end, told } => {
                    self.write_back(memory, until, probe)?;
                    let last = self.cores.iter().map(Core::last_activity).max().unwrap_or(told).max(told);
                    self.phase = Phase::Answering { end, until: last + 1 + latency };
                }
                Phase::Answering { end, until: answered } => {
                    self.pass_until(memory, (answered, until), probe)?;
                    self.phase = self.releasing_memory(memory, end);
                }
                Phase::Memory { end } => {
                    while !memory.is_released() {
                        let next = memory.next_event(self.now);
                        self.pass_until(memory, (next + 1, until), probe)?;
                    }
                    return Some(end);
                }
            }
        }
    }

    fn releasing_memory(&self, memory: &mut MemorySystem, end: Cycle) -> Phase {
        if self.spec.release_scope == ReleaseScope::System {
            memory.begin_release();
        }
        Phase::Memory { end }
    }

    /// Runs the cores until the L2 has acknowledged all their lines. `None` if `until` comes first.
    fn write_back<P: Probe>(&mut self, memory: &mut MemorySystem, until: Cycle, probe: &mut P) -> Option<()> {
        let contexts = std::sync::Arc::clone(&self.spec.contexts);
        loop {
            let now = self.now;
            if now >= self.quantum_ends {
                if self.cores.iter().all(Core::is_released) {
                    return Some(());
                }
                self.quantum_ends = now + self.quantum();
            }
            if now >= until {
                return None;
            }
            let to = self.next_stop(memory, self.quantum_ends, probe).min(until);
            for (index, core) in self.cores.iter_mut().enumerate() {
                core.run_release(now, to, &contexts, probe);
                self.senders.insert(index);
            }
            memory.run(now, to);
            self.exchange(memory, to);
            self.now = to;
        }
    }

    /// Runs the memory side up to a cycle, taking samples that are due. Its messages to the cores are not
    /// delivered. `None` if `until` comes first.
    fn pass_until<P: Probe>(
        &mut self,
        memory: &mut MemorySystem,
        (to, until): (Cycle, Cycle),
        probe: &mut P,
    ) -> Option<()> {
        while self.now < to {
            if self.now >= until {
                return None;
            }
            let stop = self.next_stop(memory, to, probe).min(until);
            memory.run(self.now, stop);
            self.now = stop;
        }
        Some(())
    }
}
