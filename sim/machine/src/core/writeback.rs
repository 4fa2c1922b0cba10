//! The write-back stage, and the retirement of instructions.

use super::collector::bank_of;
use super::completions::Completions;
use super::latches::IssueToResolve;
use super::lsu::Lsu;
use super::probe::{Event, EventKind, Probe, Results, Stage, StageEvent};
use super::registers::RegisterFile;
use super::scheduler::Scheduler;
use super::shared::Shared;
use super::slot::InFlight;
use super::uop::{MicroOp, MicroOps};
use super::write_ports::WritePorts;
use crate::alu::{self, FRAGMENT_ROWS};
use crate::clock::Cycle;
use wave_isa::MMA_FRAGMENTS;

/// The write-back stage.
pub(super) struct WriteBack<'c> {
    pub retirement: Retirement<'c>,
    /// Whose write ports loads share with the units.
    pub schedulers: &'c [Scheduler],
    /// From dispatch.
    pub completions: &'c mut Completions,
    /// From the load/store unit: complete loads.
    pub lsu: &'c mut Lsu,
}

impl WriteBack<'_> {
    /// Retires instructions of the execution units, then writes one row of a load (W1, W2).
    pub(super) fn tick<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) {
        if let Some(due) = self.completions.due(now) {
            for &retired in &due {
                probe.tell(EventKind::Stage, || {
                    // The rows were written one a cycle, the last in this cycle.
                    let rows = ops.get(retired.word).rows.destination_rows.max(1);
                    let cycle = now + 1 - Cycle::from(rows);
                    Event::Stage(self.retirement.shared.step_of(cycle, retired, Stage::WriteBack))
                });
                self.retirement.retire(now, retired, ops, probe);
            }
            self.completions.recycle(now, due);
        }
        self.write_back_load(now, ops, probe);
    }

    /// Writes one row of the oldest complete load if its bank and a write port are free in this cycle (W2).
    fn write_back_load<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) {
        let Some((access, row)) = self.lsu.returning() else { return };
        let slot = access.slot;
        let op = ops.get(access.word);
        let register = op.rows.destination + row;
        let wave = &self.retirement.shared.waves.waves[slot];
        let bank = bank_of(register, wave.swizzle, self.retirement.shared.spec.bank_mask);
        let ports: &WritePorts = &self.schedulers[usize::from(wave.scheduler)].write_ports;
        self.retirement.shared.activity.progress = true;
        if !ports.free(now, bank) {
            self.retirement.shared.account.counters.write_port_conflicts += 1;
            return;
        }
        let at = (slot * self.retirement.shared.spec.rows_per_wave + usize::from(register))
            * self.retirement.shared.spec.width;
        let values = access.output_row(row, self.retirement.shared.spec.width);
        let mask = if access.forgotten { 0 } else { access.mask };
        alu::merge(
            self.retirement.shared.spec.host,
            mask,
            values,
            &mut self.retirement.file.registers[at..][..self.retirement.shared.spec.width],
        );
        if row == 0 {
            probe.tell(EventKind::Stage, || {
                Event::Stage(self.retirement.shared.step_of(now, access.in_flight(), Stage::WriteBack))
            });
        }
        if let Some(retired) = self.lsu.row_written(op.rows.destination_rows) {
            self.retirement.retire_access(now, retired, ops, probe);
        }
    }
}

/// What the retirement of an instruction changes.
pub(super) struct Retirement<'c> {
    pub shared: &'c mut Shared,
    pub file: &'c mut RegisterFile,
    /// To the first stage of the next cycle: ended waves of which nothing is in flight any more.
    pub to_resolve: &'c mut IssueToResolve,
}

impl Retirement<'_> {
    /// Retires an instruction that passed through a collector: its destinations are no longer outstanding
    /// (I5).
    pub(super) fn retire<P: Probe>(&mut self, now: Cycle, retired: InFlight, ops: &MicroOps, probe: &mut P) {
        let op = ops.get(retired.word);
        let slot = retired.slot;
        if self.file.journal.is_kept() {
            self.file.journal.retires(retired);
        }
        let wave = &mut self.shared.waves.waves[slot];
        wave.pending.remove_all(&op.writes);
        wave.pending_predicates &= !op.predicate_write;
        wave.pending_fragments &= !op.fragment_locks;
        wave.in_flight -= 1;
        let drained = wave.in_flight == 0;
        let event = self.shared.step_of(now, retired, Stage::Retire);
        probe.tell(EventKind::Results, || Event::Results(self.results(event, op)));
        probe.tell(EventKind::Stage, || Event::Stage(event));
        self.shared.activity.progress = true;
        if drained && self.shared.waves.ended >> slot & 1 != 0 {
            self.to_resolve.drained(slot);
        } else if self.shared.waves.waits(slot) {
            self.shared.waves.refresh(slot, ops);
            self.shared.touch(slot);
        }
    }

    /// What a retiring instruction has written. Its destinations were locked until now, so they still hold
    /// its result.
    fn results(&self, event: StageEvent, op: &MicroOp) -> Results<'_> {
        let width = self.shared.spec.width;
        let first = (self.shared.spec.slot_rows(event.slot) + usize::from(op.rows.destination)) * width;
        let fragment = match op.fragment_locks {
            0 => &[],
            locks => {
                let index = event.slot * 3 * MMA_FRAGMENTS + locks.trailing_zeros() as usize;
                &self.file.fragments[index * FRAGMENT_ROWS * width..][..FRAGMENT_ROWS * width]
            }
        };
        let predicate = match op.predicate_write {
            0 => 0,
            bit => self.shared.waves.waves[event.slot].predicates[bit.trailing_zeros() as usize],
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
        self.shared.waves.access_ends(retired.slot, returns);
        if returns {
            self.shared.waves.waves[retired.slot].pending_loads.remove_all(&op.writes);
        }
        self.retire(now, retired, ops, probe);
    }
}
