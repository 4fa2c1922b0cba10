//! The dispatch stage: which instructions leave their collectors, and when.
//!
//! What leaves for an execution unit in a cycle depends only on the instructions whose operands are read before it. So
//! the operand read stage decides about the next cycle: it books units, write ports and retirements. Runs that visit
//! every cycle, and those with an observer that is told of stages in their cycles, leave the decision to the dispatch
//! stage; tests compare the two.

use super::collector::{NO_PLACE, Waiting, bank_of};
use super::completions::Completions;
use super::context::Contexts;
use super::journal::Journal;
use super::latches::{IssueLatches, ReadLatches};
use super::lsu::Lsu;
use super::probe::{Event, EventKind, Probe, Stage, StageEvent, Waits};
use super::registers::RegisterFile;
use super::scheduler::Scheduler;
use super::shared::Shared;
use super::slot::{InFlight, Slot};
use super::uop::{Kind, MicroOp};
use super::wait::Wait;
use crate::clock::{Cycle, NEVER};

/// The dispatch stage.
pub(super) struct Dispatch<'c> {
    pub shared: &'c mut Shared,
    pub schedulers: &'c mut [Scheduler],
    pub file: &'c mut RegisterFile,
    /// From issue, and back to operand read: an instruction that a unit or a write port keeps back.
    pub issued: &'c mut IssueLatches,
    /// From operand read.
    pub read: &'c mut ReadLatches,
    /// To write-back.
    pub completions: &'c mut Completions,
    /// To the load/store unit.
    pub lsu: &'c mut Lsu,
}

impl Dispatch<'_> {
    /// Instructions whose operands are read leave their collectors, oldest first. Each unit of a scheduler takes one a
    /// cycle, the load/store unit one of all schedulers (X1, X4).
    pub(super) fn tick<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) {
        let mut leaving = std::mem::take(&mut self.read.settled);
        let mut changed = leaving | self.issued.to_dispatch.leave();
        while leaving != 0 {
            self.schedulers[leaving.trailing_zeros() as usize].collectors.remove_settled();
            leaving &= leaving - 1;
        }
        let mut fragments = std::mem::take(&mut self.read.fragments);
        while fragments != 0 {
            self.finish_fragment_reads(fragments.trailing_zeros() as Slot, contexts);
            fragments &= fragments - 1;
        }
        let mut due = self.read.to_dispatch.due(now);
        while due != 0 {
            let scheduler = due.trailing_zeros() as usize;
            due &= due - 1;
            changed |= u32::from(self.dispatch_from(now, scheduler, contexts, probe)) << scheduler;
        }
        if self.read.to_lsu.at() <= now {
            changed |= self.dispatch_accesses(now, contexts, probe);
        }
        self.shared.waves.look_again(changed);
    }

    /// The dispatch stage of one scheduler, for execution units. True if it has changed a collector.
    fn dispatch_from<P: Probe>(
        &mut self,
        now: Cycle,
        scheduler: usize,
        contexts: &Contexts,
        probe: &mut P,
    ) -> bool {
        let mut changed = false;
        self.read.to_dispatch.looked(scheduler, NEVER);
        let (mut before, mut place) = (NO_PLACE, self.schedulers[scheduler].collectors.first());
        while place != NO_PLACE {
            let collectors = &self.schedulers[scheduler].collectors;
            let collector = &collectors[place];
            let (here, waiting, it) = (place, collector.waiting, collector.in_flight());
            place = collectors.after(place);
            let op = self.shared.waves.op(it.slot, it.word, contexts);
            let tries = matches!(waiting, Waiting::Unit(at) | Waiting::WritePort(at) if at <= now);
            if !tries || !op.computes() {
                before = here;
                continue;
            }
            let step = self.shared.step_of(now, it, Stage::Operands);
            let Dispatch { shared, schedulers, file, completions, .. } = self;
            let kept =
                schedulers[scheduler].start_unit(now, (it, op), shared, &mut file.journal, completions);
            if let Some(again) = kept {
                // It tries again in the cycle `at`; the operand read stage of the cycle before looks at it.
                let (at, is_new) = self.shared.keep_back(step, (waiting, again), probe);
                changed |= is_new;
                self.issued.to_operands.by(scheduler, at - 1);
                self.schedulers[scheduler].collectors[here].waiting = again;
                before = here;
                continue;
            }
            self.leave(scheduler, (before, here), step, probe);
            changed = true;
            if op.fragment_reads != 0 {
                self.finish_fragment_reads(it.slot, contexts);
            }
        }
        changed
    }

    /// The instruction in the collector `here` leaves it; `before` is the next older one.
    fn leave<P: Probe>(
        &mut self,
        scheduler: usize,
        (before, here): (u8, u8),
        step: StageEvent,
        probe: &mut P,
    ) {
        self.schedulers[scheduler].collectors.remove(before, here);
        probe.tell(EventKind::Stage, || Event::Stage(StageEvent { stage: Stage::Execute, ..step }));
    }

    /// The dispatch stage, for the load/store unit (X4). The scheduler after its last user is asked first. Returns the
    /// schedulers, as bits, of which it has changed a collector.
    fn dispatch_accesses<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) -> u32 {
        let mut changed = 0;
        let has_room = !self.read.to_lsu.is_empty() && self.lsu.has_room(now);
        if has_room && let Some(scheduler) = self.read.to_lsu.take_turn(self.schedulers.len()) {
            self.dispatch_access(now, scheduler, contexts, probe);
            changed |= 1 << scheduler;
        }
        let mut fresh = self.read.to_lsu.take_fresh();
        while fresh != 0 {
            let scheduler = fresh.trailing_zeros() as usize;
            fresh &= fresh - 1;
            changed |= u32::from(self.keep_back_accesses(now, scheduler, contexts, probe)) << scheduler;
        }
        let helps = has_room || self.lsu.shrinks(now);
        self.read.to_lsu.looked(now, helps);
        changed
    }

    /// Sends the oldest memory instruction of a scheduler that has read its operands to the load/store unit.
    fn dispatch_access<P: Probe>(
        &mut self,
        now: Cycle,
        scheduler: usize,
        contexts: &Contexts,
        probe: &mut P,
    ) {
        let collectors = &self.schedulers[scheduler].collectors;
        let mut found = None;
        let (mut before, mut place, mut others) = (NO_PLACE, collectors.first(), false);
        while place != NO_PLACE {
            let collector = &collectors[place];
            if let Kind::Memory(memory) =
                self.shared.waves.op(collector.slot(), collector.word, contexts).kind
                && !matches!(collector.waiting, Waiting::Banks(_))
            {
                others = found.is_some();
                if others {
                    break;
                }
                found = Some((before, place, memory));
            }
            before = place;
            place = collectors.after(place);
        }
        if !others {
            self.read.to_lsu.empties(scheduler);
        }
        let Some((before, here, memory)) = found else { return };
        let it = collectors[here].in_flight();
        let op = self.shared.waves.op(it.slot, it.word, contexts);
        let operands =
            collectors.operands(here, op, &self.file.registers, self.shared.waves.waves[it.slot].first_row);
        self.lsu.accept(&collectors[here], op, memory, operands);
        self.leave(scheduler, (before, here), self.shared.step_of(now, it, Stage::Operands), probe);
    }

    /// The memory instructions of a scheduler that have read their operands in the cycle before wait for the load/store
    /// unit. They copy their operands, because the wave may overwrite them from now on. True if there are any.
    fn keep_back_accesses<P: Probe>(
        &mut self,
        now: Cycle,
        scheduler: usize,
        contexts: &Contexts,
        probe: &mut P,
    ) -> bool {
        let mut changed = false;
        let mut place = self.schedulers[scheduler].collectors.first();
        while place != NO_PLACE {
            let collector = &self.schedulers[scheduler].collectors[place];
            let it = collector.in_flight();
            let op = self.shared.waves.op(it.slot, it.word, contexts);
            if let (Kind::Memory(_), Waiting::Unit(_)) = (op.kind, collector.waiting) {
                let event = self.shared.step_of(now, it, Stage::Operands);
                probe.tell(EventKind::Waits, || Event::Waits(Waits { event, why: Wait::Lsu }));
                changed = true;
                let base = self.shared.waves.waves[it.slot].first_row;
                let collectors = &mut self.schedulers[scheduler].collectors;
                collectors[place].waiting = Waiting::Lsu;
                collectors.keep(place, op, &self.file.registers, base);
            }
            place = self.schedulers[scheduler].collectors.after(place);
        }
        changed
    }

    /// Called when a matrix multiplication has left its collector: only fragments that others of its wave in
    /// collectors have yet to read stay locked.
    fn finish_fragment_reads(&mut self, slot: Slot, contexts: &Contexts) {
        let scheduler = &self.schedulers[usize::from(self.shared.waves.waves[slot].scheduler)];
        let context = self.shared.waves.waves[slot].context;
        let left = scheduler.collectors.iter().filter(|c| c.slot() == slot);
        self.shared.waves.waves[slot].reading_fragments =
            left.fold(0, |reads, c| reads | contexts.op(context, c.word).fragment_reads);
        self.shared.waves.refresh(slot, contexts);
    }
}

impl Scheduler {
    /// Starts an instruction in its unit: books the unit's entry, the write ports and the retirement. `now`
    /// is the cycle in which it leaves its collector and may lie ahead. If something is taken, books nothing
    /// and returns what to wait for.
    pub(super) fn start_unit(
        &mut self,
        now: Cycle,
        (it, op): (InFlight, &MicroOp),
        shared: &Shared,
        journal: &mut Journal,
        completions: &mut Completions,
    ) -> Option<Waiting> {
        let timing = shared.spec.units[op.class as usize];
        if self.unit_free_at[timing.unit] > now {
            return Some(Waiting::Unit(self.unit_free_at[timing.unit]));
        }
        let swizzle = shared.waves.waves[it.slot].swizzle;
        let bank = |row: u8| bank_of(op.rows.destination + row, swizzle, shared.spec.bank_mask);
        let (result, rows) = (now + timing.result, op.rows.destination_rows);
        let booked = match rows {
            0 => true,
            1 => self.write_ports.book([bank(0)], result),
            _ => self.write_ports.book([bank(0), bank(1)], result),
        };
        if !booked {
            return Some(Waiting::WritePort(now + 1));
        }
        self.unit_free_at[timing.unit] = now + timing.interval;
        if journal.is_kept() {
            journal.is_written(it, result);
        }
        completions.schedule(result + Cycle::from(rows.max(1) - 1), it);
        None
    }
}

impl Shared {
    /// An instruction for an execution unit cannot leave in the cycle of `step`; says what it has waited for and waits for
    /// from then on. Returns the cycle in which it tries again, and whether it waits for something else than before.
    pub(super) fn keep_back<P: Probe>(
        &mut self,
        step: StageEvent,
        (before, again): (Waiting, Waiting),
        probe: &mut P,
    ) -> (Cycle, bool) {
        let is_new = !matches!((before, again), (Waiting::WritePort(_), Waiting::WritePort(_)));
        if is_new {
            probe.tell(EventKind::Waits, || Event::Waits(Waits { event: step, why: again.why() }));
        }
        let at = match again {
            Waiting::Unit(at) => at,
            Waiting::WritePort(at) => {
                self.account.counters.write_port_conflicts += 1;
                at
            }
            Waiting::Banks(_) | Waiting::Lsu => NEVER,
        };
        (at, is_new)
    }
}
