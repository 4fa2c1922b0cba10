//! What instructions for the execution units compute, the timing of the units, and the write-back of results.

use super::Core;
use super::collector::bank_of;
use super::probe::{Event, EventKind, Probe, Results, Stage, StageEvent};
use super::straight::READ_WITHIN;
use super::uop::{MicroOp, MicroOps};
use super::wave::InFlight;
use super::writeback::{MAX_RESULT_ROWS, WritePorts};
use crate::alu::{self, FRAGMENT_ROWS};
use crate::clock::Cycle;
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
    /// First row of a wave's registers in the core's register file.
    #[inline]
    pub(super) fn slot_rows(&self, slot: usize) -> usize {
        slot * self.spec.rows_per_wave
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
