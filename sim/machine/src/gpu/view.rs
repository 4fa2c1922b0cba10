//! What the machine holds at the end of a cycle, for debuggers and tests.
//!
//! The state is that of the last cycle that was simulated: the one before [`Machine::now`]. Registers, predicates and
//! fragments are those of that cycle if the launch runs with [`RunOptions::inspect`](super::RunOptions::inspect);
//! otherwise some results stand there a few cycles before their time.

use super::machine::Machine;
use crate::core::uop::MicroOps;
use crate::core::view::{CoreView, WaveView};
use crate::core::{Core, account};
use crate::memory::state::{self, Signal};
use crate::memory::{CacheLine, Holder, LineData};
use std::sync::Arc;
use wave_isa::PREDICATES;

impl Machine {
    fn cores(&self) -> impl Iterator<Item = &Core> {
        self.running().into_iter().flat_map(|run| run.cores.iter())
    }

    fn core(&self, core: u32) -> Option<CoreView<'_>> {
        self.cores().nth(core as usize).map(CoreView::of)
    }

    /// The decoded kernel of the launch that runs.
    pub fn micro_ops(&self) -> Option<&Arc<MicroOps>> {
        self.running().map(|run| &run.context().ops)
    }

    /// Workgroups of the launch that runs: how many have ended, and how many there are.
    pub fn workgroups(&self) -> Option<(u64, u64)> {
        self.running().map(|run| (run.dispatcher.finished(), run.dispatcher.total()))
    }

    /// Workgroups of the launch that runs for which the machine has room at a time.
    pub fn places(&self) -> u64 {
        self.running().map_or(0, |run| run.cores.len() as u64 * u64::from(run.context().occupancy.workgroups))
    }

    /// All resident waves, by core and slot.
    pub fn waves(&self) -> Vec<WaveView> {
        let Some(run) = self.running() else { return Vec::new() };
        run.cores.iter().flat_map(|core| CoreView::of(core).wave_views(run.now, &run.spec.contexts)).collect()
    }

    /// The wave in a slot, if there is one.
    pub fn wave(&self, core: u32, slot: usize) -> Option<WaveView> {
        let run = self.running()?;
        self.core(core)?.wave_at(slot, run.now, &run.spec.contexts)
    }

    /// Of an instruction of a wave in device memory: the lines that the L1 has requested and that have not come, by
    /// byte address, with the L2 slice of each and who holds the request.
    pub fn missing_lines(&self, core: u32, slot: usize, sequence: u64) -> Vec<(u64, usize, Holder)> {
        let lines = self.core(core).map_or_else(Vec::new, |core| core.missing_lines(slot, sequence));
        let holder = |line| {
            let (slice, holder) = self.memory_side().holder(line);
            (line, slice, holder)
        };
        lines.into_iter().map(holder).collect()
    }

    /// Of the line of code that a wave waits for, if the instruction cache has requested it: its L2 slice, and who
    /// holds the request.
    pub fn missing_code(&self, core: u32, slot: usize) -> Option<(usize, Holder)> {
        let line = self.core(core)?.missing_code(slot)?;
        Some(self.memory_side().holder(line))
    }

    /// The registers of a wave slot: register r is row r, of as many words as a wave has lanes. Empty without a
    /// launch, or if there is no such core.
    pub fn registers(&self, core: u32, slot: usize) -> Vec<u32> {
        let (Some(run), Some(core)) = (self.running(), self.core(core)) else { return Vec::new() };
        core.registers(self.now(), slot, &run.spec.contexts)
    }

    /// Lanes in which each predicate of a wave slot is true.
    pub fn predicates(&self, core: u32, slot: usize) -> [u64; PREDICATES] {
        self.core(core).map_or([0; PREDICATES], |core| core.predicates(self.now(), slot))
    }

    /// Matrix fragments of a wave slot: kind (A, B, C), fragment, element, lane. Empty if the kernel uses none.
    pub fn fragments(&self, core: u32, slot: usize) -> Vec<u32> {
        self.core(core).map_or_else(Vec::new, |core| core.fragments(self.now(), slot))
    }

    /// Local memory of the workgroup of a wave slot.
    pub fn local_memory(&self, core: u32, slot: usize) -> &[u8] {
        self.core(core).map_or(&[], |core| core.local_memory(slot))
    }

    /// Lines in the L1 of a core, in the order of its frames.
    pub fn l1_lines(&self, core: u32) -> Vec<CacheLine> {
        self.cores().nth(core as usize).map_or_else(Vec::new, |core| core.l1().lines())
    }

    /// Lines in an L2 slice, in the order of its frames.
    pub fn l2_lines(&self, slice: usize) -> Vec<CacheLine> {
        self.memory_side().l2_lines(slice)
    }

    /// The line at an address of device memory as the L2 and memory have it.
    pub fn line(&self, address: u64) -> LineData {
        self.memory_side().line(address)
    }

    /// Names of the values that [`queues`](Self::queues) gives.
    pub fn queue_names(&self) -> Vec<Signal> {
        let cores = (0..self.config().cores).flat_map(|core| account::signals(&format!("core{core}")));
        cores.chain(state::signals(self.config())).collect()
    }

    /// What queues, ports, links and memory channels hold: levels, open rows, and what moved in the last cycle. Empty
    /// without a launch.
    pub fn queues(&mut self) -> Vec<u64> {
        self.look_at_queues()
    }
}
