//! What a state that is put back into a machine has to satisfy.
//!
//! A checkpoint may be damaged although its check sum is right. Nothing that a run takes for granted is taken from it
//! unchecked: indices are in range, lists are lists, counts are those of what is counted, the two ends of a link agree,
//! and no cycle lies further ahead than a run plans.

use super::release::Phase;
use super::run::Run;
use crate::clock::{END_OF_TIME, NEVER, may_plan};
use crate::config::Config;
use crate::core::view::CoreView;
use crate::memory::MemorySystem;
use wave_capture::Misfit;

impl Run {
    /// Refuses what a run on a machine cannot hold.
    pub(super) fn check(&self, config: &Config, memory: &MemorySystem) -> Result<(), Misfit> {
        let now = self.now;
        Misfit::in_range(now <= END_OF_TIME && self.start <= now, "now")?;
        self.senders.check_below(self.cores.len(), "senders")?;
        let bounds = memory.bounds(config, now);
        let packets = memory.check(&bounds, self.cores.iter().map(|core| &core.links.port));
        let packets = packets.map_err(|misfit| misfit.within("memory"))?;
        for (number, (core, packets)) in self.cores.iter().zip(packets).enumerate() {
            let within = |misfit: Misfit| misfit.within(&format!("cores.{number}"));
            core.check(&self.spec.contexts, &bounds, &packets).map_err(within)?;
        }
        let dispatcher = self.dispatcher.check(self.cores.iter(), self.context().occupancy.workgroups, now);
        dispatcher.map_err(|misfit| misfit.within("dispatcher"))?;
        self.check_counters(memory)?;
        self.check_phase(memory)?;
        self.looks.check(now).map_err(|misfit| misfit.within("looks"))
    }

    fn check_counters(&self, memory: &MemorySystem) -> Result<(), Misfit> {
        let (memory_before, l1_before, links_before) = &self.before;
        let counted = memory.counted();
        let links = memory.links();
        let mut links = links.iter().zip(links_before);
        let agrees = counted.interconnect.is_after(&memory_before.interconnect)
            && counted.l2.is_after(&memory_before.l2)
            && counted.l3.is_after(&memory_before.l3)
            && counted.dram.is_after(&memory_before.dram)
            && self.l1_counters().is_after(l1_before)
            && links_before.len() == memory.links().len()
            && links.all(|(link, before)| link.is_after(before))
            && self.plug_ins_before.len() == crate::registry::statistics().len();
        Misfit::agrees(agrees, "before")
    }

    /// Refuses cycles that do not agree with the phase of the run.
    fn check_phase(&self, memory: &MemorySystem) -> Result<(), Misfit> {
        let (now, there) = (self.now, memory.now());
        // A run passes cycles in which nothing happens, and no others.
        let next = memory.next_event(there);
        Misfit::agrees(there == now || there < now && next >= now, "now")?;
        let may_idle =
            self.idle_until <= now || self.idle_until <= next && self.idle_until <= self.cores.next_wake();
        Misfit::agrees(may_idle && may_plan(now, self.idle_until) && self.idle_until != NEVER, "idle_until")?;
        Misfit::in_range(self.quantum_ends <= now + self.spec.memory_latency.max(1), "quantum_ends")?;
        let cycles = match self.phase {
            Phase::Running => [self.start; 2],
            Phase::Telling { end } | Phase::Memory { end } => [end; 2],
            Phase::Told { end, told } | Phase::WritingBack { end, told } => [end, told],
            Phase::Answering { end, until } => [end, until],
        };
        let ahead = now + self.spec.dispatcher_latency + self.quantum() + 1;
        Misfit::in_range(cycles.iter().all(|&at| self.start <= at && at <= ahead), "phase")?;
        if self.phase == Phase::Running {
            let slots = self
                .cores
                .iter()
                .map(|core| CoreView::of(core).account(now).1.iter().sum::<u64>())
                .sum::<u64>();
            let all = (now - self.start) * self.spec.slots_per_cycle;
            Misfit::agrees(slots == all, "slots")?;
        }
        Ok(())
    }
}
