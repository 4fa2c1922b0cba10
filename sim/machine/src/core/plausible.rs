//! What a state that is put back into a core has to satisfy.

use super::collector::{Collector, Waiting};
use super::context::{Context, Contexts};
use super::cycle::Core;
use super::fetch::ICACHE_TAG;
use super::grid::Workgroup;
use super::lsu::Around;
use super::scheduler::Scheduler;
use super::shared::Shared;
use super::slot::{InFlight, Slot, SlotMask, lanes_of};
use super::uop::Kind;
use super::wave::Wave;
use crate::clock::{Cycle, END_OF_TIME, may_plan};
use crate::memory::Packets;
use crate::memory::bounds::Bounds;
use wave_capture::Misfit;

impl Core {
    pub(super) fn sound(&self) -> Result<(), Misfit> {
        let schedulers = u32::MAX.checked_shr(32 - self.schedulers.len() as u32).unwrap_or(0);
        Misfit::in_range(self.shared.waves.stale() & !schedulers == 0, "stale")?;
        let latches = &self.latches;
        let slots = self.shared.slots();
        Misfit::in_range(latches.read.settled & !schedulers == 0, "settled_to_dispatch")?;
        Misfit::in_range(latches.read.fragments & !slots == 0, "fragments_to_dispatch")?;
        Misfit::in_range(latches.issued.to_dispatch.is_within(schedulers, slots), "issue_to_dispatch")?;
        Misfit::in_range(latches.issued.shadows.iter().all(|(_, slot)| is_in(slots, slot)), "shadows")?;
        Misfit::in_range(self.schedulers.iter().all(|one| one.last_issued < 64), "last_issued")?;
        Misfit::in_range(self.shared.waves.resident & !slots == 0, "resident")?;
        // Every resident wave is one of one workgroup.
        let mut taken: SlotMask = 0;
        for (index, Workgroup { slots, resident, .. }) in self.shared.workgroups.iter().enumerate() {
            let is_new = slots & taken == 0 && (*slots != 0) == *resident;
            taken |= slots;
            let mut waves = self.shared.waves.waves.iter().enumerate();
            let owns = waves.all(|(slot, wave)| slots >> slot & 1 == 0 || wave.workgroup == index);
            Misfit::agrees(is_new && owns, "workgroups")?;
        }
        Misfit::agrees(taken == self.shared.waves.resident, "workgroups")?;
        Misfit::in_range(
            self.shared.waves.waves.iter().all(|wave| wave.workgroup < self.shared.workgroups.len().max(1)),
            "waves",
        )
    }

    /// Refuses what this core cannot hold in a cycle. `packets` are those of its port that are on their way.
    pub(crate) fn check(
        &self,
        contexts: &Contexts,
        bounds: &Bounds,
        packets: &Packets<'_>,
    ) -> Result<(), Misfit> {
        packets.check(&self.l1, bounds, ICACHE_TAG)?;
        let (now, lanes) = (bounds.now, u64::MAX >> (64 - self.shared.spec.width));
        let waves = &self.shared.waves.waves;
        Misfit::in_range(waves.iter().all(|wave| contexts.has(wave.context)), "context")?;
        let slots = self.shared.slots() & contexts.usable_slots();
        Misfit::in_range(self.shared.waves.resident & !slots == 0, "resident")?;
        self.shared.check_workgroups(contexts)?;
        let most = contexts.alone().occupancy.workgroups as usize;
        Misfit::in_range(waves.iter().all(|wave| wave.workgroup < most), "workgroup")?;
        let end = |slot: Slot| contexts.of(waves[slot].context).ops.end();
        let resident = |slot: usize| self.shared.waves.resident >> slot & 1 != 0;
        for (slot, wave) in self.shared.waves.waves.iter().enumerate().filter(|(slot, _)| resident(*slot)) {
            self.check_wave(wave, contexts, lanes)
                .map_err(|misfit| misfit.within(&format!("waves.{slot}")))?;
        }
        let acts = self.latches.issued.to_resolve.is_within(slots, end);
        Misfit::in_range(acts, "issue_to_resolve")?;
        let straddling = self
            .shared
            .waves
            .waves
            .iter()
            .rev()
            .fold(0, |all, wave| all << 1 | SlotMask::from(wave.straddling));
        self.latches.fetch_to_decode.check(now, (slots, straddling), end)?;
        self.fetch.check(slots).map_err(|misfit| misfit.within("fetch"))?;
        let due = |it: &InFlight| is_in(slots, it.slot) && it.word < end(it.slot);
        Misfit::in_range(self.latches.execute_to_write_back.all().all(due), "execute_to_write_back")?;
        for (number, scheduler) in self.schedulers.iter().enumerate() {
            self.check_scheduler(scheduler, number, contexts, bounds)
                .map_err(|misfit| misfit.within(&format!("schedulers.{number}")))?;
        }
        let around = Around { now, slots: slots.count_ones() as usize, waves: &self.shared.waves, contexts };
        self.lsu.check(&around).map_err(|misfit| misfit.within("lsu"))?;
        let awaited = self.l1.awaited().chain(packets.awaited(&self.l1));
        let epochs = self.lsu.check_awaited(awaited).map_err(|misfit| misfit.within("lsu"))?;
        let releases = self.shared.waves.releases.check(
            u64::MAX >> (64 - self.shared.waves.waves.len()),
            packets.releases(),
            epochs,
        );
        releases.map_err(|misfit| misfit.within("releases"))?;
        self.check_counts(contexts)?;
        let rows = |slot: Slot| contexts.of(waves[slot].context).rows_per_wave();
        let width = self.shared.spec.width;
        let journal = self.file.journal.check((around.slots, width), rows, self.file.fragments.len());
        journal.map_err(|misfit| misfit.within("journal"))?;
        self.check_cycles(now)
    }

    /// Instructions in flight of each wave are those that are somewhere.
    fn check_counts(&self, contexts: &Contexts) -> Result<(), Misfit> {
        let mut counted = [(0u32, 0u32, 0u32); 64];
        for it in self.latches.execute_to_write_back.all() {
            counted[it.slot].0 += 1;
        }
        for collector in self.schedulers.iter().flat_map(|one| one.collectors.iter()) {
            let op = self.shared.waves.op(collector.slot(), collector.word, contexts);
            let (in_flight, accesses, loads) = &mut counted[collector.slot()];
            if let Kind::Memory(_) = op.kind {
                (*accesses, *loads) = (*accesses + 1, *loads + u32::from(op.rows.destination_rows > 0));
            }
            *in_flight += u32::from(!collector.settled);
        }
        for (slot, returns) in self.lsu.accesses() {
            let (in_flight, accesses, loads) = &mut counted[slot];
            (*in_flight, *accesses, *loads) = (*in_flight + 1, *accesses + 1, *loads + u32::from(returns));
        }
        let mut waves = self.shared.waves.waves.iter().zip(counted);
        let agrees = waves.all(|(wave, counted)| (wave.in_flight, wave.accesses, wave.loads) == counted);
        Misfit::agrees(agrees, "in_flight")
    }

    fn check_wave(&self, wave: &Wave, contexts: &Contexts, lanes: u64) -> Result<(), Misfit> {
        let Context { shape, ops, .. } = contexts.of(wave.context);
        let end = ops.end();
        Misfit::in_range(wave.wave_id < shape.waves, "wave_id")?;
        Misfit::in_range(wave.control.is_within(lanes, end), "control")?;
        let words = [wave.fetch_word, wave.last_word].iter().all(|&word| word <= end);
        Misfit::in_range(words && (wave.fetch_word > 0 || !wave.straddling), "fetch_word")?;
        let mut word = wave.buffer.next();
        for _ in 0..wave.buffer.len() {
            Misfit::in_range(word <= end, "buffer")?;
            word += ops.get(word).words;
        }
        Misfit::in_range(word <= end + 2, "buffer")
    }

    fn check_scheduler(
        &self,
        scheduler: &Scheduler,
        number: usize,
        contexts: &Contexts,
        bounds: &Bounds,
    ) -> Result<(), Misfit> {
        let (now, lanes) = (bounds.now, u64::MAX >> (64 - self.shared.spec.width));
        let holds = |collector: &Collector| {
            let is_mine = is_in(contexts.usable_slots() & scheduler.slots, collector.slot());
            let waits = match collector.waiting {
                Waiting::Banks(at) | Waiting::Unit(at) | Waiting::WritePort(at) => may_plan(now, at),
                Waiting::Lsu => true,
            };
            let ops = |slot: Slot| &contexts.of(self.shared.waves.waves[slot].context).ops;
            is_mine
                && waits
                && collector.word < ops(collector.slot()).end()
                && collector.mask & !lanes == 0
                && match ops(collector.slot()).get(collector.word).kind {
                    Kind::Memory(_) => collector.mask != 0 && !collector.settled,
                    Kind::Compute => collector.waiting != Waiting::Lsu,
                    _ => false,
                }
        };
        Misfit::in_range(scheduler.collectors.iter().all(holds), "collectors")?;
        let straight = self.latches.issued.to_dispatch.collectors(number);
        let taken = scheduler.collectors.in_use() + straight;
        Misfit::in_range(taken <= self.shared.spec.collectors_per_scheduler, "collectors")?;
        Misfit::in_range(scheduler.banks.are_planned(now), "banks")?;
        Misfit::in_range(scheduler.recent.iter().all(|&(_, read)| read <= END_OF_TIME), "recent")?;
        Misfit::in_range(scheduler.charged_until <= now, "charged_until")?;
        Misfit::in_range(scheduler.unit_free_at.iter().all(|&at| may_plan(now, at)), "unit_free_at")
    }

    fn check_cycles(&self, now: Cycle) -> Result<(), Misfit> {
        let schedulers = u32::MAX.checked_shr(32 - self.schedulers.len() as u32).unwrap_or(0);
        Misfit::in_range(may_plan(now, self.wake), "wake")?;
        Misfit::in_range(self.last_activity <= now, "last_activity")?;
        Misfit::in_range(self.shared.account.residents_until <= now, "residents_until")?;
        Misfit::in_range(self.shared.workgroups.iter().all(|one| one.since <= now), "since")?;
        let latches = &self.latches;
        Misfit::in_range(latches.issued.shadows.iter().all(|(ends, _)| may_plan(now, ends)), "shadows")?;
        Misfit::in_range(latches.issued.to_operands.are_planned(now), "issue_to_operands")?;
        Misfit::in_range(latches.read.to_dispatch.are_planned(now), "operands_to_dispatch")?;
        Misfit::in_range(latches.read.to_lsu.is_within(schedulers, now), "operands_to_lsu")
    }
}

impl Shared {
    /// The wave slots, as bits.
    fn slots(&self) -> SlotMask {
        u64::MAX >> (64 - self.waves.waves.len())
    }

    /// Refuses workgroups of contexts that are not there, in slots that their contexts do not have, and waves of other
    /// contexts in them.
    fn check_workgroups(&self, contexts: &Contexts) -> Result<(), Misfit> {
        for (index, workgroup) in self.workgroups.iter().enumerate().filter(|(_, one)| one.resident) {
            Misfit::in_range(contexts.has(workgroup.context), "context")?;
            let most = contexts.of(workgroup.context).occupancy.workgroups as usize;
            let of_waves = |slot: Slot| self.waves.waves[slot].context;
            let agrees = lanes_of(workgroup.slots).all(|slot| of_waves(slot) == workgroup.context);
            Misfit::agrees(index < most && agrees, "workgroups")?;
        }
        Ok(())
    }
}

fn is_in(slots: SlotMask, slot: Slot) -> bool {
    slot < 64 && slots >> slot & 1 != 0
}
