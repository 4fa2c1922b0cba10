//! The issue stage: picks a wave for each issue slot, executes control and synchronisation instructions at
//! once, and sends all others to a collector.

use super::account::SlotAccount;
use super::collector::{Collector, Waiting};
use super::completions::Completions;
use super::context::Contexts;
use super::divergence::Next;
use super::execute::Execute;
use super::fetch::next_in_turn;
use super::latches::{Act, IssueLatches};
use super::mix::MIXES;
use super::probe::{Event, EventKind, Going, Issued, Probe, Stage, StageEvent, Stalls};
use super::registers::RegisterFile;
use super::scheduler::Scheduler;
use super::scheduling;
use super::shared::Shared;
use super::slot::{InFlight, Slot, SlotMask};
use super::straight::READ_WITHIN;
use super::uop::{Kind, MicroOp};
use crate::clock::{Cycle, NEVER};
use crate::config::IssuePolicy;
use crate::stats::SlotUse;
use wave_isa::Scope;
use wave_isa::program::fault::{Fault, FaultKind};

/// The issue stage.
pub(super) struct Issue<'c> {
    pub shared: &'c mut Shared,
    pub schedulers: &'c mut [Scheduler],
    pub file: &'c mut RegisterFile,
    /// To the stages after it.
    pub latches: &'c mut IssueLatches,
    /// To write-back, for instructions that are settled at issue.
    pub completions: &'c mut Completions,
}

impl Issue<'_> {
    /// The slots of every scheduler.
    ///
    /// # Errors
    /// A fault of an instruction that issues, or that has waited for the accesses of its wave (I8).
    pub(super) fn tick<P: Probe>(
        &mut self,
        now: Cycle,
        contexts: &Contexts,
        probe: &mut P,
    ) -> Result<(), Box<Fault>> {
        if self.shared.waves.faulting != 0 {
            self.shared.look_at_faults(now, contexts)?;
        }
        scheduling::look_at_choices(now, self.shared, self.schedulers);
        let mut first = 0;
        let mut all_issued: SlotMask = 0;
        // A scheduler that issues may set the bit of a later one, which then looks again in this cycle.
        while let Some(scheduler) = self.shared.waves.take_stale(first) {
            first = scheduler + 1;
            let Shared { spec, account, .. } = &mut *self.shared;
            account.settle(&mut self.schedulers[scheduler], now, spec.issue_width);
            self.schedulers[scheduler].charged_until = now + 1;
            if self.shared.spec.policy == IssuePolicy::TwoLevel {
                self.update_active_set(scheduler);
            }
            let mut issued: SlotMask = 0;
            for _ in 0..self.shared.spec.issue_width {
                let sched = &self.schedulers[scheduler];
                let mut ready = self.shared.waves.ready() & sched.slots & !issued;
                if self.slots().collectors_full(scheduler) {
                    ready &= !self.shared.waves.needs_collector;
                }
                if self.shared.spec.policy == IssuePolicy::TwoLevel {
                    ready &= sched.active_set;
                }
                self.schedulers[scheduler].changes_at = NEVER;
                let picked = if ready == 0 { None } else { self.pick(now, scheduler, ready, contexts) };
                let Some(slot) = picked else {
                    let reason = self.slots().why_not(now, scheduler, issued);
                    self.schedulers[scheduler].waits_for = reason;
                    self.shared.account.slots[reason as usize] += 1;
                    probe.tell(EventKind::Charge, || {
                        Event::Charge(self.slots().charge(now, scheduler, reason, issued))
                    });
                    continue;
                };
                if self.shared.spec.is_registered {
                    self.schedulers[scheduler].tell_issue(now, slot, &self.shared.waves, contexts);
                }
                self.schedulers[scheduler].last_issued = slot;
                issued |= 1 << slot;
                let effective = self.issue_wave(now, scheduler, slot, contexts, probe)?;
                let slot_use = if effective { SlotUse::Issued } else { SlotUse::Squashed };
                self.shared.account.slots[slot_use as usize] += 1;
                probe.tell(EventKind::Charge, || {
                    Event::Charge(self.slots().charge_issue(now, scheduler, slot_use, slot))
                });
            }
            all_issued |= issued;
        }
        if probe.wants(EventKind::Stalls) {
            let waves = &self.slots().stalled(all_issued);
            probe.tell(EventKind::Stalls, || {
                Event::Stalls(Stalls { cycle: now, core: self.shared.spec.index, waves })
            });
        }
        Ok(())
    }

    /// The wave that issues among ready ones. Only a registered policy lets none issue.
    fn pick(&mut self, now: Cycle, scheduler: usize, ready: SlotMask, contexts: &Contexts) -> Option<Slot> {
        let last = self.schedulers[scheduler].last_issued;
        Some(match self.shared.spec.policy {
            IssuePolicy::Lrr | IssuePolicy::TwoLevel => next_in_turn(ready, last),
            IssuePolicy::Gto if ready >> last & 1 != 0 => last,
            IssuePolicy::Gto | IssuePolicy::Oldest => self.shared.waves.oldest(ready),
            IssuePolicy::PlugIn(_) => {
                return self.schedulers[scheduler].ask(now, ready, &self.shared.waves, contexts);
            }
        })
    }

    /// `two_level`: waves that wait for memory, drain or are at a barrier leave the active set, and the
    /// oldest other waves fill it (rule I3).
    fn update_active_set(&mut self, scheduler: usize) {
        let waves = &self.shared.waves;
        let here = self.schedulers[scheduler].slots & waves.resident & !waves.ended;
        let long_wait = waves.at_barrier | waves.draining | (waves.memory_hazard & waves.buffered);
        let mut active = self.schedulers[scheduler].active_set & here & !long_wait;
        let mut candidates = here & !long_wait & !active;
        while active.count_ones() < self.shared.spec.two_level_active && candidates != 0 {
            let slot = self.shared.waves.oldest(candidates);
            active |= 1 << slot;
            candidates &= !(1 << slot);
        }
        self.schedulers[scheduler].active_set = active;
    }

    /// Issues the next instruction of a wave. Returns false if it was squashed.
    fn issue_wave<P: Probe>(
        &mut self,
        now: Cycle,
        scheduler: usize,
        slot: Slot,
        contexts: &Contexts,
        probe: &mut P,
    ) -> Result<bool, Box<Fault>> {
        let wave = &mut self.shared.waves.waves[slot];
        let word = wave.buffer.front().expect("a ready wave has a decoded instruction");
        let op = contexts.op(wave.context, word);
        wave.buffer.pop(word + op.words);
        let sequence = wave.issued;
        wave.issued += 1;
        wave.last_word = word;
        let guard = op.guard_lanes(&wave.predicates);
        let active = wave.control.active;
        let lanes = guard & active;
        self.shared.account.instructions += 1;
        if self.file.journal.is_kept() {
            self.file.journal.issues(slot, now);
        }
        let effective = match op.kind {
            Kind::Control => active != 0,
            Kind::End => true,
            _ => lanes != 0,
        };
        let event = StageEvent {
            cycle: now,
            core: self.shared.spec.index,
            slot,
            sequence,
            word,
            stage: Stage::Issue,
        };
        let done = !op.needs_collector() || !effective;
        probe.tell(EventKind::Issued, || {
            let wave = &self.shared.waves.waves[slot];
            let workgroup = self.shared.workgroups[wave.workgroup].id;
            let mask = if effective { lanes } else { 0 };
            Event::Issued(Issued { event, workgroup, wave: wave.wave_id, op, active, mask })
        });
        let mut going = Going { event, next: Some(word + op.words), redirected: false, done };
        if let Kind::Illegal(error) = op.kind
            && active != 0
        {
            let kind = FaultKind::IllegalInstruction(error);
            return self.shared.fault_at_issue(now, going, active, kind, contexts, probe).map(|()| true);
        }
        if op.kind == Kind::End {
            self.latches.to_resolve.act(slot, Act::End);
            self.shared.waves.buffer_shrinks(slot);
            self.shared.waves.refresh(slot, contexts);
            going.next = None;
            tell_going(going, probe);
            return Ok(true);
        }
        if effective {
            self.shared.account.counters.wave_instructions += 1;
            self.shared.account.lanes[usize::from(op.mix) % MIXES] += self.count_lanes(lanes);
        } else {
            self.shared.account.counters.squashed_instructions += 1;
        }
        if let Kind::Fence { .. } = op.kind {
            // A grant ends when its fence issues, squashed or not. The next fence of the slot waits anew
            // (B6).
            self.shared.waves.releases.issue(slot);
        }
        match op.kind {
            Kind::Control => match self.issue_control(now, slot, word, guard, contexts) {
                Ok(Next::Fall) => {}
                Ok(Next::Jump(target)) => (going.next, going.redirected) = (Some(target), true),
                Ok(Next::Ended) => going.next = None,
                Err(kind) => {
                    return self
                        .shared
                        .fault_at_issue(now, going, active, kind, contexts, probe)
                        .map(|()| effective);
                }
            },
            _ if !effective => {}
            Kind::Barrier => {
                if active != self.shared.waves.waves[slot].control.live {
                    return Err(self.shared.fault(
                        now,
                        slot,
                        word,
                        lanes,
                        contexts,
                        FaultKind::BarrierInDivergence,
                    ));
                }
                self.shared.waves.at_barrier |= 1 << slot;
                self.latches.to_resolve.act(slot, Act::Barrier);
            }
            Kind::Fence { acquire, .. } => {
                self.shared.account.counters.fences += 1;
                if acquire && op.inst.scope >= Scope::Device {
                    self.latches.to_resolve.act(slot, Act::Invalidate);
                }
                self.shared.start_shadow(now, slot, &mut self.latches.shadows);
            }
            Kind::Wait => self.shared.start_shadow(now, slot, &mut self.latches.shadows),
            Kind::Nop | Kind::Illegal(_) | Kind::End => {}
            Kind::Compute | Kind::Memory(_) => {
                self.collect(now, scheduler, InFlight { slot, sequence, word }, (lanes, op), contexts, probe);
            }
        }
        self.shared.waves.refresh(slot, contexts);
        self.shared.waves.buffer_shrinks(slot);
        tell_going(going, probe);
        Ok(effective)
    }

    /// Number of lanes in a mask. The full mask, by far the most frequent, takes no population count.
    #[inline]
    fn count_lanes(&self, lanes: u64) -> u64 {
        if lanes == u64::MAX >> (64 - self.shared.spec.width) {
            self.shared.spec.width as u64
        } else {
            u64::from(lanes.count_ones())
        }
    }

    /// Puts an issued instruction into a collector and marks its destinations as outstanding (I5).
    fn collect<P: Probe>(
        &mut self,
        now: Cycle,
        scheduler: usize,
        it: InFlight,
        (lanes, op): (u64, &MicroOp),
        contexts: &Contexts,
        probe: &mut P,
    ) {
        let slot = it.slot;
        let wave = &mut self.shared.waves.waves[slot];
        wave.in_flight += 1;
        wave.pending.insert_all(&op.writes);
        wave.pending_predicates |= op.predicate_write;
        wave.pending_fragments |= op.fragment_locks;
        wave.reading_fragments |= op.fragment_reads;
        if let Kind::Memory(_) = op.kind {
            wave.pending_loads.insert_all(&op.writes);
            wave.accesses += 1;
            wave.loads += u32::from(op.rows.destination_rows > 0);
        }
        let (condition, context) = (op.condition_lanes(&wave.predicates), wave.context);
        let sched = &mut self.schedulers[scheduler];
        let (read, waits) = sched.banks.read(now, op.reads(), wave.swizzle);
        self.shared.account.counters.bank_conflicts += waits;
        self.shared.waves.collecting |= 1 << slot;
        let collectors = &self.schedulers[scheduler].collectors;
        let settled = self.shared.spec.settles_early(probe)
            && op.computes()
            // A matrix multiplication locks fragments until it leaves its collector (I5).
            && op.fragment_reads == 0
            && self.shared.spec.issue_width == 1
            && read <= now + READ_WITHIN
            // Every older instruction in a collector must leave it later, so that it cannot take the unit or a write
            // port first. Of this wave there may be accesses, which have read their sources in this cycle at the
            // latest, but they are still in the registers.
            && read < self.latches.to_operands.at(scheduler)
            && collectors.iter().all(|c| c.slot() != slot || !contexts.op(context, c.word).takes_rows_late(op))
            && self.start_unit(read + 1, scheduler, it, op).is_none();
        let sched = &mut self.schedulers[scheduler];
        if settled {
            self.latches.to_dispatch.issue(scheduler, slot, read);
            sched.recent = [(self.shared.account.instructions, read), sched.recent[0], sched.recent[1]];
            Execute { shared: self.shared, file: self.file, contexts }.compute(it, lanes, condition, op);
            for (cycle, stage) in [(read, Stage::Operands), (read + 1, Stage::Execute)] {
                probe.tell(EventKind::Stage, || Event::Stage(self.shared.step_of(cycle, it, stage)));
            }
        } else {
            sched.collectors.push(Collector::new(
                self.shared.account.instructions,
                it,
                lanes,
                condition,
                read,
            ));
            self.latches.to_operands.by(scheduler, read);
        }
    }

    /// Books the unit of an instruction that nothing can delay.
    #[inline]
    fn start_unit(&mut self, at: Cycle, scheduler: usize, it: InFlight, op: &MicroOp) -> Option<Waiting> {
        let Issue { shared, schedulers, file, completions, .. } = self;
        schedulers[scheduler].start_unit(at, (it, op), shared, &mut file.journal, completions)
    }

    #[inline]
    fn slots(&self) -> SlotAccount<'_> {
        SlotAccount {
            spec: &self.shared.spec,
            waves: &self.shared.waves,
            schedulers: self.schedulers,
            straight: &self.latches.to_dispatch,
        }
    }

    fn issue_control(
        &mut self,
        now: Cycle,
        slot: Slot,
        word: u32,
        guard: u64,
        contexts: &Contexts,
    ) -> Result<Next, FaultKind> {
        let wave = &mut self.shared.waves.waves[slot];
        let op = contexts.op(wave.context, word);
        let step = op.control_step(word, guard, &wave.predicates);
        let next = wave.control.step(&step)?;
        // Fetch goes on meanwhile: the issue stage does not know yet what becomes of the wave.
        self.shared.start_shadow(now, slot, &mut self.latches.shadows);
        match next {
            Next::Fall => {}
            Next::Jump(target) => self.latches.to_resolve.act(slot, Act::Redirect(target)),
            Next::Ended => self.latches.to_resolve.act(slot, Act::End),
        }
        Ok(next)
    }
}

/// Tells that an instruction has acted on its wave, and that it retires if it is done. An instruction that faults does
/// not retire.
#[inline]
fn tell_going<P: Probe>(going: Going, probe: &mut P) {
    if going.done {
        probe.tell(EventKind::Stage, || Event::Stage(StageEvent { stage: Stage::Retire, ..going.event }));
    }
    probe.tell(EventKind::Going, || Event::Going(going));
}
