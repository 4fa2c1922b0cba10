//! Operand read and dispatch: which instructions leave their collectors, and when.
//!
//! What leaves for an execution unit in a cycle depends only on the instructions whose operands are read before it. So
//! the operand read stage decides about the next cycle: it books units, write ports and retirements. Runs that visit
//! every cycle, and those with an observer that is told of stages in their cycles, leave the decision to the dispatch
//! stage; tests compare the two.

use super::Core;
use super::collector::{NO_PLACE, Waiting, bank_of};
use super::probe::{Event, EventKind, Probe, Stage, StageEvent, Waits};
use super::uop::{Kind, MicroOp, MicroOps};
use super::wave::{InFlight, Slot};
use crate::clock::{Cycle, NEVER, may_plan};
use wave_capture::Capture;

/// The memory instructions of a core that have read their operands and wait in their collectors for the load/store unit.
#[derive(Debug, Clone, Capture)]
pub(crate) struct Accesses {
    /// Bit s: scheduler s has some.
    schedulers: u32,
    /// Bit s: scheduler s has some that no dispatch stage has looked at yet.
    fresh: u32,
    /// First cycle in which the dispatch stage can do something about them.
    at: Cycle,
}

impl Accesses {
    /// None.
    pub(super) fn new() -> Accesses {
        Accesses { schedulers: 0, fresh: 0, at: NEVER }
    }

    /// An instruction of a scheduler can leave from this cycle on.
    #[inline]
    fn add(&mut self, scheduler: usize, cycle: Cycle) {
        self.schedulers |= 1 << scheduler;
        self.fresh |= 1 << scheduler;
        self.at = self.at.min(cycle);
    }

    /// True if it has no other schedulers than these (bits), and waits for no cycle that a run does not come to.
    pub(super) fn is_within(&self, schedulers: u32, now: Cycle) -> bool {
        (self.schedulers | self.fresh) & !schedulers == 0 && may_plan(now, self.at)
    }

    /// The load/store unit has room from this cycle on.
    #[inline]
    pub(super) fn have_room(&mut self, cycle: Cycle) {
        if self.schedulers != 0 {
            self.at = self.at.min(cycle);
        }
    }

    /// First cycle in which the dispatch stage can do something about them.
    #[inline]
    pub(super) fn at(&self) -> Cycle {
        self.at
    }
}

impl Core {
    /// The operand read stage: handles instructions whose last row is read in this cycle, and those that a unit or a write
    /// port has kept back.
    pub(super) fn read_operands<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) {
        let (straight, slots) = self.latches.issue_to_dispatch.read(now);
        self.waves.collecting &= !slots;
        self.activity.stale |= straight;
        self.activity.progress |= straight != 0;
        let mut due = self.latches.issue_to_operands.due(now);
        while due != 0 {
            let scheduler = due.trailing_zeros() as usize;
            due &= due - 1;
            self.read_operands_of(now, scheduler, ops, probe);
        }
    }

    /// The operand read stage of one scheduler, oldest instruction first.
    fn read_operands_of<P: Probe>(&mut self, now: Cycle, scheduler: usize, ops: &MicroOps, probe: &mut P) {
        self.activity.progress = true;
        self.activity.stale |= 1 << scheduler;
        let early = self.settles_early(probe);
        let mut next = NEVER;
        let mut place = self.schedulers[scheduler].collectors.first();
        while place != NO_PLACE {
            let collectors = &self.schedulers[scheduler].collectors;
            let collector = &collectors[place];
            let here = place;
            place = collectors.after(place);
            let reads = match collector.waiting {
                Waiting::Banks(read) if read > now => {
                    next = next.min(read);
                    continue;
                }
                Waiting::Unit(at) | Waiting::WritePort(at) if at > now + 1 => {
                    next = next.min(at - 1);
                    continue;
                }
                Waiting::Lsu => continue,
                Waiting::Banks(_) => true,
                Waiting::Unit(_) | Waiting::WritePort(_) => false,
            };
            let (it, mask, condition) = (collector.in_flight(), collector.mask, collector.condition);
            let op = ops.get(it.word);
            let mut waiting = collector.waiting;
            if reads {
                self.waves.collecting &= !(1 << it.slot);
                probe.tell(EventKind::Stage, || Event::Stage(self.step_of(now, it, Stage::Operands)));
                waiting = Waiting::Unit(now + 1);
                if op.computes() {
                    self.compute(it, mask, condition, op);
                }
            }
            let mut settled = false;
            if !op.computes() {
                self.latches.operands_to_lsu.add(scheduler, now + 1);
            } else if !early {
                self.latches.operands_to_dispatch.by(scheduler, now + 1);
            } else {
                match self.start_unit(now + 1, scheduler, it, op) {
                    None => {
                        settled = true;
                        self.latches.settled_to_dispatch |= 1 << scheduler;
                        if op.fragment_reads != 0 {
                            self.latches.fragments_to_dispatch |= 1 << it.slot;
                        }
                        let event = self.step_of(now + 1, it, Stage::Execute);
                        probe.tell(EventKind::Stage, || Event::Stage(event));
                    }
                    Some(again) => {
                        let step = self.step_of(now + 1, it, Stage::Operands);
                        next = next.min(self.keep_back(scheduler, step, (waiting, again), probe) - 1);
                        waiting = again;
                    }
                }
            }
            let collector = &mut self.schedulers[scheduler].collectors[here];
            (collector.waiting, collector.settled) = (waiting, settled);
        }
        self.latches.issue_to_operands.looked(scheduler, next);
    }

    /// True if instructions are settled before the stages that would decide about them.
    #[inline]
    pub(super) fn settles_early<P: Probe>(&self, probe: &P) -> bool {
        probe.settles_early() && self.spec.settles_early
    }

    /// An instruction for an execution unit cannot leave in the cycle of `step`; says what it has waited for and waits for
    /// from then on. Returns the cycle in which it tries again.
    fn keep_back<P: Probe>(
        &mut self,
        scheduler: usize,
        step: StageEvent,
        (before, again): (Waiting, Waiting),
        probe: &mut P,
    ) -> Cycle {
        if !matches!((before, again), (Waiting::WritePort(_), Waiting::WritePort(_))) {
            probe.tell(EventKind::Waits, || Event::Waits(Waits { event: step, why: again }));
            self.activity.stale |= 1 << scheduler;
        }
        match again {
            Waiting::Unit(at) => at,
            Waiting::WritePort(at) => {
                self.account.counters.write_port_conflicts += 1;
                at
            }
            Waiting::Banks(_) | Waiting::Lsu => NEVER,
        }
    }

    /// The dispatch stage: instructions whose operands are read leave their collectors, oldest first. Each
    /// unit of a scheduler takes one a cycle, the load/store unit one of all schedulers (X1, X4).
    pub(super) fn dispatch<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) {
        let mut leaving = std::mem::take(&mut self.latches.settled_to_dispatch);
        let gone = leaving | self.latches.issue_to_dispatch.leave();
        self.activity.progress |= gone != 0;
        self.activity.stale |= gone;
        while leaving != 0 {
            self.schedulers[leaving.trailing_zeros() as usize].collectors.remove_settled();
            leaving &= leaving - 1;
        }
        let mut fragments = std::mem::take(&mut self.latches.fragments_to_dispatch);
        while fragments != 0 {
            self.finish_fragment_reads(fragments.trailing_zeros() as Slot, ops);
            fragments &= fragments - 1;
        }
        let mut due = self.latches.operands_to_dispatch.due(now);
        while due != 0 {
            let scheduler = due.trailing_zeros() as usize;
            due &= due - 1;
            self.dispatch_from(now, scheduler, ops, probe);
        }
        if self.latches.operands_to_lsu.at <= now {
            self.dispatch_accesses(now, ops, probe);
        }
    }

    /// The dispatch stage of one scheduler, for execution units.
    fn dispatch_from<P: Probe>(&mut self, now: Cycle, scheduler: usize, ops: &MicroOps, probe: &mut P) {
        self.latches.operands_to_dispatch.looked(scheduler, NEVER);
        let (mut before, mut place) = (NO_PLACE, self.schedulers[scheduler].collectors.first());
        while place != NO_PLACE {
            let collectors = &self.schedulers[scheduler].collectors;
            let collector = &collectors[place];
            let (here, waiting, it) = (place, collector.waiting, collector.in_flight());
            place = collectors.after(place);
            let op = ops.get(it.word);
            let tries = matches!(waiting, Waiting::Unit(at) | Waiting::WritePort(at) if at <= now);
            if !tries || !op.computes() {
                before = here;
                continue;
            }
            let step = self.step_of(now, it, Stage::Operands);
            if let Some(again) = self.start_unit(now, scheduler, it, op) {
                // It tries again in the cycle `at`; the operand read stage of the cycle before looks at it.
                let at = self.keep_back(scheduler, step, (waiting, again), probe);
                self.latches.issue_to_operands.by(scheduler, at - 1);
                self.schedulers[scheduler].collectors[here].waiting = again;
                self.activity.progress = true;
                before = here;
                continue;
            }
            self.leave(scheduler, (before, here), step, probe);
            if op.fragment_reads != 0 {
                self.finish_fragment_reads(it.slot, ops);
            }
        }
    }

    /// The instruction in the collector `here` leaves it; `before` is the next older one.
    fn leave<P: Probe>(
        &mut self,
        scheduler: usize,
        (before, here): (u8, u8),
        step: StageEvent,
        probe: &mut P,
    ) {
        self.activity.progress = true;
        self.activity.stale |= 1 << scheduler;
        self.schedulers[scheduler].collectors.remove(before, here);
        probe.tell(EventKind::Stage, || Event::Stage(StageEvent { stage: Stage::Execute, ..step }));
    }

    /// The dispatch stage, for the load/store unit (X4). The scheduler after its last user is asked first.
    fn dispatch_accesses<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) {
        let waiting = self.latches.operands_to_lsu.schedulers;
        let has_room = waiting != 0 && self.lsu.has_room(now);
        if has_room {
            let later = waiting & u32::MAX << self.lsu_turn;
            let scheduler = (if later != 0 { later } else { waiting }).trailing_zeros() as usize;
            self.lsu_turn = if scheduler + 1 < self.schedulers.len() { scheduler + 1 } else { 0 };
            self.dispatch_access(now, scheduler, ops, probe);
        }
        let mut fresh = std::mem::take(&mut self.latches.operands_to_lsu.fresh);
        while fresh != 0 {
            let scheduler = fresh.trailing_zeros() as usize;
            fresh &= fresh - 1;
            self.keep_back_accesses(now, scheduler, ops, probe);
        }
        let accesses = &mut self.latches.operands_to_lsu;
        let tries_again = accesses.schedulers != 0 && (has_room || self.lsu.shrinks(now));
        accesses.at = if tries_again { now + 1 } else { NEVER };
    }

    /// Sends the oldest memory instruction of a scheduler that has read its operands to the load/store unit.
    fn dispatch_access<P: Probe>(&mut self, now: Cycle, scheduler: usize, ops: &MicroOps, probe: &mut P) {
        let collectors = &self.schedulers[scheduler].collectors;
        let mut found = None;
        let (mut before, mut place, mut others) = (NO_PLACE, collectors.first(), false);
        while place != NO_PLACE {
            let collector = &collectors[place];
            if let Kind::Memory(memory) = ops.get(collector.word).kind
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
            self.latches.operands_to_lsu.schedulers &= !(1 << scheduler);
        }
        let Some((before, here, memory)) = found else { return };
        let it = collectors[here].in_flight();
        let op = ops.get(it.word);
        let operands = collectors.operands(here, op, &self.file.registers, self.slot_rows(it.slot));
        self.lsu.accept(&collectors[here], op, memory, operands);
        self.leave(scheduler, (before, here), self.step_of(now, it, Stage::Operands), probe);
    }

    /// The memory instructions of a scheduler that have read their operands in the cycle before wait for the load/store
    /// unit. They copy their operands, because the wave may overwrite them from now on.
    fn keep_back_accesses<P: Probe>(&mut self, now: Cycle, scheduler: usize, ops: &MicroOps, probe: &mut P) {
        let mut place = self.schedulers[scheduler].collectors.first();
        while place != NO_PLACE {
            let collector = &self.schedulers[scheduler].collectors[place];
            let it = collector.in_flight();
            let op = ops.get(it.word);
            if let (Kind::Memory(_), Waiting::Unit(_)) = (op.kind, collector.waiting) {
                let event = self.step_of(now, it, Stage::Operands);
                probe.tell(EventKind::Waits, || Event::Waits(Waits { event, why: Waiting::Lsu }));
                self.activity.stale |= 1 << scheduler;
                let base = self.slot_rows(it.slot);
                let collectors = &mut self.schedulers[scheduler].collectors;
                collectors[place].waiting = Waiting::Lsu;
                collectors.keep(place, op, &self.file.registers, base);
            }
            place = self.schedulers[scheduler].collectors.after(place);
        }
    }

    /// Called when a matrix multiplication has left its collector: only fragments that others of its wave in
    /// collectors have yet to read stay locked.
    fn finish_fragment_reads(&mut self, slot: Slot, ops: &MicroOps) {
        let scheduler = &self.schedulers[usize::from(self.waves.waves[slot].scheduler)];
        let left = scheduler.collectors.iter().filter(|c| c.slot() == slot);
        self.waves.waves[slot].reading_fragments =
            left.fold(0, |reads, c| reads | ops.get(c.word).fragment_reads);
        self.waves.refresh(slot, ops);
    }

    /// Starts an instruction in its unit: books the unit's entry, the write ports and the retirement. `now`
    /// is the cycle in which it leaves its collector and may lie ahead. If something is taken, books nothing
    /// and returns what to wait for.
    pub(super) fn start_unit(
        &mut self,
        now: Cycle,
        scheduler: usize,
        it: InFlight,
        op: &MicroOp,
    ) -> Option<Waiting> {
        let timing = self.spec.units[op.class as usize];
        let sched = &mut self.schedulers[scheduler];
        if sched.unit_free_at[timing.unit] > now {
            return Some(Waiting::Unit(sched.unit_free_at[timing.unit]));
        }
        let swizzle = self.waves.waves[it.slot].swizzle;
        let bank = |row: u8| bank_of(op.rows.destination + row, swizzle, self.spec.bank_mask);
        let (result, rows) = (now + timing.result, op.rows.destination_rows);
        let booked = match rows {
            0 => true,
            1 => sched.write_ports.book([bank(0)], result),
            _ => sched.write_ports.book([bank(0), bank(1)], result),
        };
        if !booked {
            return Some(Waiting::WritePort(now + 1));
        }
        sched.unit_free_at[timing.unit] = now + timing.interval;
        if self.file.journal.is_kept() {
            self.file.journal.is_written(it, result);
        }
        self.latches.execute_to_write_back.schedule(result + Cycle::from(rows.max(1) - 1), it);
        None
    }
}
