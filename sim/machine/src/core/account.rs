//! The account of issue slots for observers: the instruction that each slot is charged to, and totals in
//! mid-run.

use super::Core;
use super::mix::{MIXES, add_lanes};
use super::probe::{Charge, Level};
use super::wave::{Slot, SlotMask};
use crate::clock::Cycle;
use crate::memory::L1Counters;
use crate::memory::state::{Signal, look_at_core, signals_of_core};
use crate::stats::{CoreCounters, MOST, SlotUse};
use wave_capture::{Capture, Misfit};

/// What a core counts.
#[derive(Debug, Capture)]
#[sound]
pub(super) struct Account {
    /// Event counters, without those that are calculated from `lanes`.
    pub counters: CoreCounters,
    /// Lanes that took part, by the mix of their instruction. It lies elsewhere, since a core is moved about when it is made.
    pub lanes: Box<[u64; MIXES]>,
    /// Issue slots by use, over all schedulers.
    pub slots: [u64; SlotUse::COUNT],
    /// Instructions that have left an instruction buffer, squashed ones included.
    pub instructions: u64,
    /// The first cycle of the run.
    pub start: Cycle,
    /// First cycle not yet counted in `resident_wave_cycles`.
    pub residents_until: Cycle,
}

impl Account {
    fn sound(&self) -> Result<(), Misfit> {
        let mut all = self.lanes.iter().chain(&self.slots).chain([&self.instructions]);
        Misfit::in_range(all.all(|&count| count <= MOST), "slots")?;
        Misfit::in_range(self.start <= self.residents_until, "residents_until")
    }

    /// Nothing counted yet, of a run that begins in cycle `start`.
    pub(super) fn new(start: Cycle) -> Account {
        let (counters, slots) = (CoreCounters::default(), [0; SlotUse::COUNT]);
        Account {
            counters,
            lanes: Box::new([0; MIXES]),
            slots,
            instructions: 0,
            start,
            residents_until: start,
        }
    }
}

/// Names of the values that [`Core::look`] appends for the core named `core`: instructions in the load/store
/// queue, outstanding loads, then those of its L1 and its port.
pub fn signals(core: &str) -> Vec<Signal> {
    let of_lsu = |name: &str| Signal { path: [core, "lsu", name].map(str::to_owned).to_vec(), bits: 16 };
    let mut signals = ["queue", "outstanding"].map(of_lsu).to_vec();
    signals.extend(signals_of_core(core));
    signals
}

impl Core {
    /// The charge of a slot in which a wave issued or was squashed.
    pub(super) fn charge_issue(
        &self,
        cycle: Cycle,
        scheduler: usize,
        slot_use: SlotUse,
        slot: Slot,
    ) -> Charge {
        let word = Some(self.waves.waves[slot].last_word);
        Charge { cycle, core: self.spec.index, scheduler, slot_use, slot: Some(slot), word }
    }

    /// The charge of a slot in which nothing issues. It names the oldest wave to which `slot_use` applies,
    /// and its instruction. `issued`: waves that have issued in this cycle.
    pub(super) fn charge(
        &self,
        cycle: Cycle,
        scheduler: usize,
        slot_use: SlotUse,
        issued: SlotMask,
    ) -> Charge {
        let (waves, sched) = (&self.waves, &self.schedulers[scheduler]);
        let charge = Charge { cycle, core: self.spec.index, scheduler, slot_use, slot: None, word: None };
        let here = sched.slots & waves.resident & !waves.ended & !issued;
        let next = here & !waves.at_barrier & !waves.shadow;
        let hazard = next & waves.buffered & !waves.hazard_free;
        let those = match slot_use {
            SlotUse::Operand | SlotUse::Unit | SlotUse::Lsu => {
                let oldest = sched.collectors.oldest();
                return Charge { slot: oldest.map(|c| c.slot()), word: oldest.map(|c| c.word), ..charge };
            }
            SlotUse::Scoreboard => hazard & !waves.memory_hazard,
            SlotUse::Memory => hazard,
            SlotUse::Fence => next & waves.buffered & waves.draining | here & waves.faulting,
            SlotUse::Branch => here & waves.shadow,
            SlotUse::Fetch => next & !waves.buffered,
            SlotUse::Barrier => here & waves.at_barrier,
            SlotUse::Issued | SlotUse::Squashed | SlotUse::WaveLimit | SlotUse::Empty | SlotUse::Release => 0,
        };
        if those == 0 {
            return charge;
        }
        let slot = waves.oldest(those);
        let held_up =
            matches!(slot_use, SlotUse::Branch | SlotUse::Barrier) || waves.faulting >> slot & 1 != 0;
        let word = held_up.then_some(waves.waves[slot].last_word);
        Charge { slot: Some(slot), word, ..charge }
    }

    /// Event counters, and issue slots by use over all schedulers.
    pub fn counted(&self) -> (CoreCounters, &[u64; SlotUse::COUNT]) {
        let mut counters = self.account.counters;
        add_lanes(&self.account.lanes, &mut counters);
        (counters, &self.account.slots)
    }

    /// Totals of the cycles before `cycle`, up to which the core has run: its counters, its issue slots by
    /// use, the counters of its L1.
    pub fn account(&self, cycle: Cycle) -> (CoreCounters, [u64; SlotUse::COUNT], &L1Counters) {
        let (mut counters, mut slots) = (self.account.counters, self.account.slots);
        add_lanes(&self.account.lanes, &mut counters);
        counters.cycles = cycle - self.account.start;
        let waves = u64::from(self.waves.resident.count_ones());
        counters.resident_wave_cycles += cycle.saturating_sub(self.account.residents_until) * waves;
        for scheduler in &self.schedulers {
            let cycles = cycle - scheduler.charged_until;
            slots[scheduler.waits_for as usize] += cycles * self.spec.issue_width as u64;
        }
        (counters, slots, self.l1.counters())
    }

    /// Appends to `values` what the load/store unit, the L1 and the port hold at the end of a cycle, in the
    /// order of [`signals`].
    pub fn look(&self, cycle: Cycle, values: &mut Vec<u64>) {
        values.extend([self.lsu.queued() as u64, self.lsu.pending().into()]);
        look_at_core(cycle, &self.l1, &self.links.port, values);
    }

    /// Adds the used entries of the core's queues and tables to `levels`.
    pub(crate) fn add_levels(&self, levels: &mut [u64; Level::COUNT]) {
        levels[Level::L1Mshrs as usize] += self.l1.mshrs_in_use() as u64;
        levels[Level::LsuQueue as usize] += self.lsu.queued() as u64;
    }
}
