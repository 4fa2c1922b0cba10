//! The write-back stage.

use super::collector::bank_of;
use super::completions::Completions;
use super::context::Contexts;
use super::lsu::Lsu;
use super::probe::{Event, EventKind, Probe, Stage};
use super::retire::Retirement;
use super::scheduler::Scheduler;
use super::write_ports::WritePorts;
use crate::alu;
use crate::clock::Cycle;

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
    pub(super) fn tick<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) {
        if let Some(due) = self.completions.due(now) {
            for &retired in &due {
                probe.tell(EventKind::Stage, || {
                    // The rows were written one a cycle, the last in this cycle.
                    let rows = self
                        .retirement
                        .shared
                        .waves
                        .op(retired.slot, retired.word, contexts)
                        .rows
                        .destination_rows
                        .max(1);
                    let cycle = now + 1 - Cycle::from(rows);
                    Event::Stage(self.retirement.shared.step_of(cycle, retired, Stage::WriteBack))
                });
                self.retirement.retire(now, retired, contexts, probe);
            }
            self.completions.recycle(now, due);
        }
        self.write_back_load(now, contexts, probe);
    }

    /// Writes one row of the oldest complete load if its bank and a write port are free in this cycle (W2).
    fn write_back_load<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) {
        let Some((access, row)) = self.lsu.returning() else { return };
        let slot = access.slot;
        let wave = &self.retirement.shared.waves.waves[slot];
        let op = contexts.op(wave.context, access.word);
        let register = op.rows.destination + row;
        let bank = bank_of(register, wave.swizzle, self.retirement.shared.spec.bank_mask);
        let ports: &WritePorts = &self.schedulers[usize::from(wave.scheduler)].write_ports;
        if !ports.free(now, bank) {
            self.retirement.shared.account.counters.write_port_conflicts += 1;
            return;
        }
        let at = (wave.first_row + usize::from(register)) * self.retirement.shared.spec.width;
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
            self.retirement.retire_access(now, retired, contexts, probe);
        }
    }
}
