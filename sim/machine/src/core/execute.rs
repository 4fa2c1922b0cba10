//! Operand read, dispatch to the execution units, and write-back of their results.

use super::Core;
use super::collector::{NO_PLACE, Waiting, bank_of};
use super::probe::{Event, EventKind, Probe, Results, Stage, StageEvent, Waits};
use super::straight::READ_WITHIN;
use super::uop::{Kind, MicroOp, MicroOps};
use super::wave::InFlight;
use super::writeback::{MAX_RESULT_ROWS, WritePorts};
use crate::alu::{self, FRAGMENT_ROWS};
use crate::clock::{Cycle, NEVER};
use crate::config::Config;
use wave_isa::{ExecClass, MMA_FRAGMENTS, Op};

/// Timing of one execution class on this machine, derived from the configuration (X2).
#[derive(Debug, Clone, Copy, Default)]
pub struct UnitTiming {
    /// Index of the unit in its scheduler.
    pub unit: usize,
    /// Cycles from dispatch to the write of the result's first row.
    pub result: Cycle,
    /// Cycles for which the instruction holds the unit's entry.
    pub interval: Cycle,
}

impl UnitTiming {
    /// Timing of every class. A class that no unit serves has an interval of 0.
    pub fn table(config: &Config) -> [UnitTiming; ExecClass::ALL.len()] {
        let mut table = [UnitTiming::default(); ExecClass::ALL.len()];
        for (unit, u) in config.core.units.iter().enumerate() {
            for timing in &u.classes {
                let groups = config.core.wave_width.div_ceil(u.lanes);
                let interval = Cycle::from(timing.passes * groups);
                let result = Cycle::from(timing.latency_cycles) + interval - 1;
                table[timing.class as usize] = UnitTiming { unit, result, interval };
            }
        }
        table
    }

    /// Entries of a timing wheel, one a cycle, that holds the longest result. A power of two, at least 64.
    pub(crate) fn horizon(table: &[UnitTiming]) -> usize {
        let longest = table.iter().map(|t| t.result).max().unwrap_or(0);
        ((longest + READ_WITHIN + 1) as usize + MAX_RESULT_ROWS + 1).next_power_of_two().max(64)
    }
}

impl Core {
    /// The operand read stage: handles instructions whose last row is read in this cycle, oldest first.
    ///
    /// An instruction for an execution unit is settled here unless an older one is held up: its unit entry
    /// and write ports are booked for the next cycle. That is safe because an instruction that finishes its
    /// reads later also leaves later. Runs that visit every cycle, and those with an observer that needs it, leave
    /// the decision to the dispatch stage; tests compare the two.
    pub(super) fn read_operands<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) {
        let (straight, slots) = self.latches.issue_to_dispatch.read(now);
        self.waves.collecting &= !slots;
        self.activity.stale |= straight;
        self.activity.progress |= straight != 0;
        let mut due = self.latches.issue_to_operands.due(now);
        while due != 0 {
            let index = due.trailing_zeros() as usize;
            due &= due - 1;
            self.activity.progress = true;
            self.activity.stale |= 1 << index;
            let mut next = NEVER;
            let mut place = self.schedulers[index].collectors.first();
            while place != NO_PLACE {
                let collectors = &self.schedulers[index].collectors;
                let collector = &collectors[place];
                let here = place;
                place = collectors.after(place);
                let Waiting::Banks(read) = collector.waiting else { continue };
                if read > now {
                    next = next.min(read);
                    continue;
                }
                self.waves.collecting &= !(1 << collector.slot);
                let it = collector.in_flight();
                probe.tell(EventKind::Stage, || Event::Stage(self.step_of(now, it, Stage::Operands)));
                let op = ops.get(it.word);
                let computes = op.computes();
                let mut settled = false;
                if computes {
                    let (mask, condition) = (collector.mask, collector.condition);
                    self.compute(it, mask, condition, op);
                    settled = self.settles(now + 1, index, op, probe)
                        && self.start_unit(now + 1, index, it, op).is_none();
                    if settled {
                        let event = self.step_of(now + 1, it, Stage::Execute);
                        probe.tell(EventKind::Stage, || Event::Stage(event));
                    }
                }
                let sched = &mut self.schedulers[index];
                // The dispatch stage asks the unit in the next cycle.
                sched.collectors[here].waiting = Waiting::Unit(now + 1);
                sched.collectors[here].settled = settled;
                if settled {
                    self.latches.settled_to_dispatch |= 1 << index;
                } else {
                    if computes {
                        sched.held_until = sched.held_until.min(now + 1);
                    }
                    self.latches.operands_to_dispatch.by(index, now + 1);
                }
            }
            self.latches.issue_to_operands.looked(index, next);
        }
    }

    /// True if an instruction that leaves its collector in the cycle `leaves`, if its unit is free, may be settled before
    /// its dispatch stage: it goes to an execution unit, and no older one that waits for a unit leaves so early. Matrix
    /// multiplications may not, because they lock fragments until they leave their collector (I5).
    #[inline]
    pub(super) fn settles<P: Probe>(&self, leaves: Cycle, scheduler: usize, op: &MicroOp, probe: &P) -> bool {
        probe.settles_early()
            && self.spec.settles_early
            && op.computes()
            && leaves < self.schedulers[scheduler].held_until
            && op.fragment_reads == 0
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
        let due = self.latches.operands_to_dispatch.due(now);
        if due == 0 {
            return;
        }
        // The scheduler after the last user of the load/store unit is asked first (X4).
        let later = u32::MAX << self.lsu_turn;
        let mut lsu_taken = false;
        for mut rest in [due & later, due & !later] {
            while rest != 0 {
                let scheduler = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                self.dispatch_from(now, scheduler, &mut lsu_taken, ops, probe);
            }
        }
    }

    /// The dispatch stage of one scheduler. `lsu_taken`: another scheduler has used the load/store unit in
    /// this cycle.
    fn dispatch_from<P: Probe>(
        &mut self,
        now: Cycle,
        scheduler: usize,
        lsu_taken: &mut bool,
        ops: &MicroOps,
        probe: &mut P,
    ) {
        let (mut next, mut held_until) = (NEVER, NEVER);
        let (mut before, mut place) = (NO_PLACE, self.schedulers[scheduler].collectors.first());
        while place != NO_PLACE {
            let collectors = &self.schedulers[scheduler].collectors;
            let collector = &collectors[place];
            let (here, waiting) = (place, collector.waiting);
            place = collectors.after(place);
            if let Waiting::Banks(_) = waiting {
                before = here;
                continue;
            }
            let it = collector.in_flight();
            let op = ops.get(it.word);
            let base = self.slot_rows(it.slot);
            let still = match (waiting, op.kind) {
                (Waiting::Unit(free), _) if free > now => Some(waiting),
                (_, Kind::Memory(_)) if *lsu_taken || !self.lsu.has_room(now) => Some(Waiting::Lsu),
                (_, Kind::Memory(memory)) => {
                    *lsu_taken = true;
                    self.lsu_turn = if scheduler + 1 < self.schedulers.len() { scheduler + 1 } else { 0 };
                    let operands = collectors.operands(here, op, &self.file.registers, base);
                    self.lsu.accept(collector, op, memory, operands);
                    None
                }
                _ => self.start_unit(now, scheduler, it, op),
            };
            let step = self.step_of(now, it, Stage::Operands);
            let sched = &mut self.schedulers[scheduler];
            if let Some(reason) = still {
                let again = match reason {
                    Waiting::Unit(free) => free,
                    Waiting::Lsu if !*lsu_taken && !self.lsu.shrinks(now) => NEVER,
                    _ => now + 1,
                };
                next = next.min(again);
                if op.computes() {
                    held_until = held_until.min(again);
                }
                if reason != waiting {
                    probe.tell(EventKind::Waits, || Event::Waits(Waits { event: step, why: reason }));
                    self.activity.stale |= 1 << scheduler;
                    sched.collectors[here].waiting = reason;
                    if reason == Waiting::Lsu {
                        sched.collectors.keep(here, op, &self.file.registers, base);
                    }
                }
                if reason == Waiting::WritePort {
                    self.account.counters.write_port_conflicts += 1;
                    self.activity.progress = true;
                }
                before = here;
                continue;
            }
            self.activity.progress = true;
            self.activity.stale |= 1 << scheduler;
            sched.collectors.remove(before, here);
            if op.fragment_reads != 0 {
                self.finish_fragment_reads(scheduler, it.slot, ops);
            }
            probe.tell(EventKind::Stage, || Event::Stage(StageEvent { stage: Stage::Execute, ..step }));
        }
        self.latches.operands_to_dispatch.looked(scheduler, next);
        self.schedulers[scheduler].held_until = held_until;
    }

    /// Called when a matrix multiplication has left its collector: only fragments that others of its wave in
    /// collectors have yet to read stay locked.
    fn finish_fragment_reads(&mut self, scheduler: usize, slot: usize, ops: &MicroOps) {
        let left = self.schedulers[scheduler].collectors.iter().filter(|c| c.slot() == slot);
        self.waves.waves[slot].reading_fragments =
            left.fold(0, |reads, c| reads | ops.get(c.word).fragment_reads);
        self.waves.refresh(slot, ops);
    }

    /// First row of a wave's registers in the core's register file.
    #[inline]
    pub(super) fn slot_rows(&self, slot: usize) -> usize {
        slot * self.spec.rows_per_wave
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
            return Some(Waiting::WritePort);
        }
        sched.unit_free_at[timing.unit] = now + timing.interval;
        if self.file.journal.is_kept() {
            self.file.journal.is_written(it, result);
        }
        self.latches.execute_to_write_back.schedule(result + Cycle::from(rows.max(1) - 1), it);
        None
    }

    /// Computes an instruction for an execution unit and merges the result into the lanes `mask` of its
    /// destination. [`Completions`](super::writeback::Completions) says why this is not too early.
    /// `condition`: lanes in which the predicate operand is true.
    pub(super) fn compute(&mut self, it: InFlight, mask: u64, condition: u64, op: &MicroOp) {
        if self.file.journal.is_kept() {
            self.keep_overwritten(it, op);
        }
        let (slot, width) = (it.slot, self.spec.width);
        let rows = slot * self.spec.rows_per_wave * width..(slot + 1) * self.spec.rows_per_wave * width;
        if op.inst.op == Op::MovSr {
            self.special_row(slot, op.inst.rs1);
            let register =
                &mut self.file.registers[rows][usize::from(op.rows.destination) * width..][..width];
            alu::merge(self.spec.host, mask, &self.file.result[..width], register);
            return;
        }
        if op.inst.op == Op::MmaCompute {
            // Fragments stay in the matrix unit, which accumulates in place. The scoreboard blocks the wave's
            // other uses of them until the instruction retires.
            let size = FRAGMENT_ROWS * width;
            let fragment = |kind: usize, index: u8| self.fragment_at(slot, kind, index);
            let (a, b, c) = (fragment(0, op.inst.rd), fragment(1, op.inst.rs1), fragment(2, op.inst.rs2));
            let (inputs, sums) = self.file.fragments.split_at_mut(c);
            let (a, b) = (&inputs[a..][..size], &inputs[b..][..size]);
            alu::mma_compute(self.spec.host, mask, a, b, &mut sums[..size]);
            return;
        }
        let registers = &mut self.file.registers[rows];
        if op.class == ExecClass::IntDiv {
            let divisor = &registers[usize::from(op.rows.sources[1]) * width..][..width];
            let zeros = alu::zero_lanes(divisor) & mask;
            self.account.counters.divisions_by_zero += u64::from(zeros.count_ones());
        }
        let (lanes, result) = ((mask, condition), &mut self.file.result);
        let predicate = alu::update(self.spec.host, &op.rows, registers, width, lanes, result);
        if op.predicate_write != 0 {
            let lanes = &mut self.waves.waves[slot].predicates[op.predicate_write.trailing_zeros() as usize];
            *lanes = *lanes & !mask | predicate & mask;
        }
    }

    /// Notes in the journal what the result of an instruction for an execution unit is about to overwrite.
    fn keep_overwritten(&mut self, it: InFlight, op: &MicroOp) {
        let first = (self.slot_rows(it.slot) + usize::from(op.rows.destination)) * self.spec.width;
        let rows = &self.file.registers[first..][..usize::from(op.rows.destination_rows) * self.spec.width];
        let predicate = (op.predicate_write != 0).then(|| {
            let index = op.predicate_write.trailing_zeros() as u8;
            (index, self.waves.waves[it.slot].predicates[usize::from(index)])
        });
        self.file.journal.overwrites(it, (op.rows.destination, rows), predicate);
        if op.inst.op == Op::MmaCompute {
            let at = self.fragment_at(it.slot, 2, op.inst.rs2);
            self.file.journal.overwrites_fragment(
                it,
                at,
                &self.file.fragments[at..][..FRAGMENT_ROWS * self.spec.width],
            );
        }
    }

    /// First word of a fragment in `fragments`; kind 0 is A, 1 is B, 2 is C.
    fn fragment_at(&self, slot: usize, kind: usize, index: u8) -> usize {
        ((slot * 3 + kind) * MMA_FRAGMENTS + usize::from(index)) * FRAGMENT_ROWS * self.spec.width
    }

    /// The write-back stage: retires instructions of the execution units, then writes one row of a load (W1,
    /// W2).
    pub(super) fn write_back<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) {
        if let Some(due) = self.latches.execute_to_write_back.due(now) {
            for &retired in &due {
                probe.tell(EventKind::Stage, || {
                    // The rows were written one a cycle, the last in this cycle.
                    let rows = ops.get(retired.word).rows.destination_rows.max(1);
                    let cycle = now + 1 - Cycle::from(rows);
                    Event::Stage(self.step_of(cycle, retired, Stage::WriteBack))
                });
                self.retire(now, retired, ops, probe);
            }
            self.latches.execute_to_write_back.recycle(now, due);
        }
        self.write_back_load(now, ops, probe);
    }

    /// Writes one row of the oldest complete load if its bank and a write port are free in this cycle (W2).
    fn write_back_load<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) {
        let Some((access, row)) = self.lsu.returning() else { return };
        let slot = access.slot;
        let op = ops.get(access.word);
        let register = op.rows.destination + row;
        let wave = &self.waves.waves[slot];
        let bank = bank_of(register, wave.swizzle, self.spec.bank_mask);
        let ports: &WritePorts = &self.schedulers[usize::from(wave.scheduler)].write_ports;
        self.activity.progress = true;
        if !ports.free(now, bank) {
            self.account.counters.write_port_conflicts += 1;
            return;
        }
        let at = (slot * self.spec.rows_per_wave + usize::from(register)) * self.spec.width;
        let values = access.output_row(row, self.spec.width);
        let mask = if access.forgotten { 0 } else { access.mask };
        alu::merge(self.spec.host, mask, values, &mut self.file.registers[at..][..self.spec.width]);
        if row == 0 {
            probe.tell(EventKind::Stage, || {
                Event::Stage(self.step_of(now, access.in_flight(), Stage::WriteBack))
            });
        }
        if let Some(retired) = self.lsu.row_written(op.rows.destination_rows) {
            self.retire_access(now, retired, ops, probe);
        }
    }

    /// Retires an instruction that passed through a collector: its destinations are no longer outstanding
    /// (I5).
    pub(super) fn retire<P: Probe>(&mut self, now: Cycle, retired: InFlight, ops: &MicroOps, probe: &mut P) {
        let op = ops.get(retired.word);
        let slot = retired.slot;
        if self.file.journal.is_kept() {
            self.file.journal.retires(retired);
        }
        let wave = &mut self.waves.waves[slot];
        wave.pending.remove_all(&op.writes);
        wave.pending_predicates &= !op.predicate_write;
        wave.pending_fragments &= !op.fragment_locks;
        wave.in_flight -= 1;
        let drained = wave.in_flight == 0;
        let event = self.step_of(now, retired, Stage::Retire);
        probe.tell(EventKind::Results, || Event::Results(self.results(event, op)));
        probe.tell(EventKind::Stage, || Event::Stage(event));
        self.activity.progress = true;
        if drained && self.waves.ended >> slot & 1 != 0 {
            self.latches.issue_to_resolve.drained(slot);
        } else if self.waves.waits(slot) {
            self.waves.refresh(slot, ops);
            self.touch(slot);
        }
    }

    pub(super) fn step_of(&self, cycle: Cycle, retired: InFlight, stage: Stage) -> StageEvent {
        let InFlight { slot, sequence, word } = retired;
        StageEvent { cycle, core: self.spec.index, slot, sequence, word, stage }
    }

    /// What a retiring instruction has written. Its destinations were locked until now, so they still hold
    /// its result.
    fn results(&self, event: StageEvent, op: &MicroOp) -> Results<'_> {
        let width = self.spec.width;
        let first = (self.slot_rows(event.slot) + usize::from(op.rows.destination)) * width;
        let fragment = match op.fragment_locks {
            0 => &[],
            locks => {
                let index = event.slot * 3 * MMA_FRAGMENTS + locks.trailing_zeros() as usize;
                &self.file.fragments[index * FRAGMENT_ROWS * width..][..FRAGMENT_ROWS * width]
            }
        };
        let predicate = match op.predicate_write {
            0 => 0,
            bit => self.waves.waves[event.slot].predicates[bit.trailing_zeros() as usize],
        };
        let registers = &self.file.registers[first..][..usize::from(op.rows.destination_rows) * width];
        Results { event, registers, predicate, fragment }
    }

    /// Retires a memory instruction: its access is performed, or its last row is written.
    pub(super) fn retire_access<P: Probe>(
        &mut self,
        now: Cycle,
        retired: InFlight,
        ops: &MicroOps,
        probe: &mut P,
    ) {
        let op = ops.get(retired.word);
        let returns = op.rows.destination_rows > 0;
        self.waves.access_ends(retired.slot, returns);
        if returns {
            self.waves.waves[retired.slot].pending_loads.remove_all(&op.writes);
        }
        self.retire(now, retired, ops, probe);
    }
}
