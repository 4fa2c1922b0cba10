//! Quanta: how long blocks are simulated alone, and what passes between them at the boundary.

use super::run::Run;
use crate::clock::Cycle;
use crate::memory::MemorySystem;

impl Run {
    /// Cycles, at least one, in which this number of wave instructions cannot be exceeded. So the cycle in which it
    /// is does not depend on quanta.
    pub(super) fn cycles_within(&self, limit: u64) -> Cycle {
        (limit.saturating_sub(self.instructions()) / self.spec.slots_per_cycle).max(1)
    }

    /// First cycle from `from` on in which any block has something to do.
    pub(super) fn next_event(&mut self, memory: &MemorySystem, from: Cycle) -> Cycle {
        let rest = self.dispatcher.next_event(from).min(memory.next_event(from));
        rest.min(self.cores.next_wake()).max(from)
    }

    /// Exchanges messages at the boundary of a quantum, where there are any. Cores that get some are asked again when
    /// they have something to do next.
    pub(super) fn exchange(&mut self, memory: &mut MemorySystem, now: Cycle) {
        while let Some(index) = self.senders.pop() {
            let (core, _) = self.cores.get_mut(index);
            self.dispatcher.exchange(index, &mut core.links.starts, &mut core.links.done);
            memory.exchange(&mut core.links.port);
        }
        while let Some(index) = memory.take_touched() {
            let (core, wake) = self.cores.get_mut(index);
            memory.exchange(&mut core.links.port);
            *wake = core.next_wake(now);
        }
    }

    /// Simulates the dispatcher in cycles `from..to`, and hands its messages to cores that go on in cycle `now`.
    pub(super) fn dispatch(&mut self, from: Cycle, to: Cycle, now: Cycle) {
        self.dispatcher.run(from, to);
        while let Some(index) = self.dispatcher.take_touched() {
            let (core, wake) = self.cores.get_mut(index);
            self.dispatcher.exchange(index, &mut core.links.starts, &mut core.links.done);
            *wake = core.next_wake(now);
        }
    }

    /// The length of a quantum: one cycle in a run that visits every cycle.
    ///
    /// The links between cores and memory bound it. The dispatcher is simulated in two parts, before the cores and
    /// behind them, so that twice its latency bounds it too. Once every workgroup has ended, the kernel may end in any
    /// cycle. Then no block may be simulated past the cycle in which a core hears of it, which is one such latency
    /// later. Before, the kernel ends at the earliest when the message of a workgroup arrives that has not ended.
    pub(super) fn quantum(&self) -> Cycle {
        if self.spec.options.every_cycle {
            return 1;
        }
        let latency = self.spec.dispatcher_latency;
        self.spec.memory_latency.min(if self.dispatcher.is_ending() { latency } else { 2 * latency })
    }
}
