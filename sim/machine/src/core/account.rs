//! Slot accounting: every issue slot of every cycle is charged to one use (rule I7), for observers to the instruction that
//! holds it up, too.

use super::collector::Waiting;
use super::mix::MIXES;
use super::probe::Charge;
use super::scheduler::Scheduler;
use super::slot::{Slot, SlotMask};
use super::spec::Spec;
use super::straight::Straight;
use super::wait::Wait;
use super::wave::Waves;
use crate::clock::Cycle;
use crate::memory::state::{Signal, signals_of_core};
use crate::stats::{CoreCounters, MOST, SlotUse};
use wave_capture::{Capture, Misfit};

/// What a core counts.
#[derive(Debug, Capture)]
#[sound]
pub(crate) struct Account {
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

    /// Charges the cycles before `now` that are not charged yet. Nothing has changed since the scheduler last looked, so
    /// each of their slots, `width` a cycle, has the same use as then.
    #[inline]
    pub(super) fn settle(&mut self, scheduler: &mut Scheduler, now: Cycle, width: usize) {
        let cycles = now - scheduler.charged_until;
        self.slots[scheduler.waits_for as usize] += cycles * width as u64;
        scheduler.charged_until = now;
    }

    /// Settles a scheduler at `end`, the cycle after the kernel's last one. The core must be idle. Later cycles belong to
    /// the release.
    pub(super) fn finish(&mut self, scheduler: &mut Scheduler, end: Cycle, width: usize) {
        // The core may have looked for work in a cycle after the run and charged it as empty: take that back.
        let over = scheduler.charged_until.saturating_sub(end);
        self.slots[SlotUse::Empty as usize] -= over * width as u64;
        self.settle(scheduler, end + over, width);
        (scheduler.charged_until, scheduler.waits_for) = (end, SlotUse::Release);
    }

    /// Counts resident waves, which are so many, up to and including `now`. A wave that arrives or leaves in `now` counts
    /// from the next cycle on.
    pub(super) fn settle_residents(&mut self, now: Cycle, resident: SlotMask) {
        let cycles = (now + 1).saturating_sub(self.residents_until);
        self.counters.resident_wave_cycles += cycles * u64::from(resident.count_ones());
        self.residents_until = now + 1;
    }
}

/// What decides to which use an issue slot is charged.
pub(super) struct SlotAccount<'c> {
    pub spec: &'c Spec,
    pub waves: &'c Waves,
    pub schedulers: &'c [Scheduler],
    /// Instructions that are settled at issue and occupy a collector.
    pub straight: &'c Straight,
}

/// Names of the values that [`CoreView::look`](super::view::CoreView::look) appends for the core named `core`: instructions in the load/store
/// queue, outstanding loads, then those of its L1 and its port.
pub fn signals(core: &str) -> Vec<Signal> {
    let of_lsu = |name: &str| Signal { path: [core, "lsu", name].map(str::to_owned).to_vec(), bits: 16 };
    let mut signals = ["queue", "outstanding"].map(of_lsu).to_vec();
    signals.extend(signals_of_core(core));
    signals
}

impl SlotAccount<'_> {
    /// True if all collectors of a scheduler are in use.
    #[inline]
    pub(super) fn collectors_full(&self, scheduler: usize) -> bool {
        let straight = self.straight.collectors(scheduler);
        self.schedulers[scheduler].collectors.in_use() + straight == self.spec.collectors_per_scheduler
    }

    /// Why an issue slot of this scheduler stays empty (rule I7). `issued`: waves that have issued in this
    /// cycle.
    pub(super) fn why_not(&self, now: Cycle, scheduler: usize, issued: SlotMask) -> SlotUse {
        let waves = self.waves;
        let sched = &self.schedulers[scheduler];
        let here = sched.slots & waves.resident & !waves.ended;
        if here == 0 {
            return SlotUse::Empty;
        }
        let here = here & !issued;
        if here == 0 {
            return SlotUse::WaveLimit;
        }
        let ready = here & waves.ready();
        if ready & waves.needs_collector != 0 && self.collectors_full(scheduler)
            || here & waves.collecting != 0
        {
            return match sched.oldest_waits(self.straight.collectors(scheduler), now) {
                Some(Waiting::Unit(_) | Waiting::WritePort(_)) => SlotUse::Unit,
                Some(Waiting::Lsu) => SlotUse::Lsu,
                Some(Waiting::Banks(_)) | None => SlotUse::Operand,
            };
        }
        // Under `two_level`, a ready wave outside the active set does not issue.
        if ready != 0 {
            return SlotUse::WaveLimit;
        }
        let shadow = here & waves.shadow;
        let here = here & !waves.at_barrier & !waves.shadow;
        let buffered = here & waves.buffered;
        let hazard = buffered & !waves.hazard_free;
        if hazard & !waves.memory_hazard != 0 {
            SlotUse::Scoreboard
        } else if hazard != 0 {
            SlotUse::Memory
        } else if buffered & waves.draining | shadow & waves.faulting != 0 {
            SlotUse::Fence
        } else if shadow != 0 {
            SlotUse::Branch
        } else if here & !buffered != 0 {
            SlotUse::Fetch
        } else {
            SlotUse::Barrier
        }
    }

    /// Why a wave has not issued, if it has lanes that have not halted.
    pub(super) fn wait_of(&self, slot: Slot) -> Option<Wait> {
        let place = self.stalled(0).iter().position(|those| those >> slot & 1 != 0)?;
        Wait::ALL.get(place).copied()
    }

    /// Waves that have not issued in this cycle, by the first reason that applies, indexed by [`Wait::index`].
    pub(super) fn stalled(&self, issued: SlotMask) -> [SlotMask; Wait::AT_ISSUE] {
        let waves = self.waves;
        let full = (0..self.schedulers.len()).filter(|&s| self.collectors_full(s));
        let no_collector = full.fold(0, |slots, s| slots | self.schedulers[s].slots) & waves.needs_collector;
        // A wave whose fault waits (I8) drains, and does nothing else.
        let mut left = waves.resident & !waves.ended & !issued & !waves.faulting;
        let hazard = !waves.hazard_free;
        let mut stalled = [
            waves.at_barrier,
            waves.shadow,
            !waves.buffered,
            waves.collecting,
            hazard & waves.memory_hazard,
            hazard,
            waves.draining,
            no_collector,
            !0,
        ]
        .map(|those| {
            let here = left & those;
            left &= !those;
            here
        });
        stalled[Wait::Fence.index()] |= waves.faulting & !issued;
        stalled
    }

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
        let (waves, sched) = (self.waves, &self.schedulers[scheduler]);
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
}
