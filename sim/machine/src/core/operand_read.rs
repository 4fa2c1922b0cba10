//! The operand read stage: instructions read their rows, and those for an execution unit are computed.

use super::collector::{NO_PLACE, Waiting};
use super::completions::Completions;
use super::context::Contexts;
use super::execute::Execute;
use super::latches::{IssueLatches, ReadLatches};
use super::probe::{Event, EventKind, Probe, Stage};
use super::registers::RegisterFile;
use super::scheduler::Scheduler;
use super::shared::Shared;
use super::slot::SlotMask;
use crate::clock::{Cycle, NEVER};

/// The operand read stage.
pub(super) struct OperandRead<'c> {
    pub shared: &'c mut Shared,
    pub schedulers: &'c mut [Scheduler],
    pub file: &'c mut RegisterFile,
    /// From issue.
    pub issued: &'c mut IssueLatches,
    /// To dispatch.
    pub read: &'c mut ReadLatches,
    /// To write-back, for instructions about which this stage decides ahead of dispatch.
    pub completions: &'c mut Completions,
}

impl OperandRead<'_> {
    /// Handles instructions whose last row is read in this cycle, and those that a unit or a write port has kept back.
    pub(super) fn tick<P: Probe>(&mut self, now: Cycle, contexts: &Contexts, probe: &mut P) {
        let (straight, mut slots) = self.issued.to_dispatch.read(now);
        let looks = self.issued.to_operands.due(now);
        let mut due = looks;
        while due != 0 {
            let scheduler = due.trailing_zeros() as usize;
            due &= due - 1;
            slots |= self.look_at(now, scheduler, contexts, probe);
        }
        self.shared.waves.have_read(slots, straight | looks);
    }

    /// Those of one scheduler, oldest instruction first. Returns the waves that have read, as bits.
    fn look_at<P: Probe>(
        &mut self,
        now: Cycle,
        scheduler: usize,
        contexts: &Contexts,
        probe: &mut P,
    ) -> SlotMask {
        let early = self.shared.spec.settles_early(probe);
        let (mut next, mut have_read) = (NEVER, 0);
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
            let op = self.shared.waves.op(it.slot, it.word, contexts);
            let mut waiting = collector.waiting;
            if reads {
                have_read |= 1 << it.slot;
                probe.tell(EventKind::Stage, || Event::Stage(self.shared.step_of(now, it, Stage::Operands)));
                waiting = Waiting::Unit(now + 1);
                if op.computes() {
                    Execute { shared: self.shared, file: self.file, contexts }
                        .compute(it, mask, condition, op);
                }
            }
            let mut settled = false;
            if !op.computes() {
                self.read.to_lsu.add(scheduler, now + 1);
            } else if !early {
                self.read.to_dispatch.by(scheduler, now + 1);
            } else {
                let OperandRead { shared, schedulers, file, completions, .. } = self;
                let one = &mut schedulers[scheduler];
                match one.start_unit(now + 1, (it, op), shared, &mut file.journal, completions) {
                    None => {
                        settled = true;
                        self.read.settled |= 1 << scheduler;
                        if op.fragment_reads != 0 {
                            self.read.fragments |= 1 << it.slot;
                        }
                        let event = self.shared.step_of(now + 1, it, Stage::Execute);
                        probe.tell(EventKind::Stage, || Event::Stage(event));
                    }
                    Some(again) => {
                        let step = self.shared.step_of(now + 1, it, Stage::Operands);
                        next = next.min(self.shared.keep_back(step, (waiting, again), probe).0 - 1);
                        waiting = again;
                    }
                }
            }
            let collector = &mut self.schedulers[scheduler].collectors[here];
            (collector.waiting, collector.settled) = (waiting, settled);
        }
        self.issued.to_operands.looked(scheduler, next);
        have_read
    }
}
