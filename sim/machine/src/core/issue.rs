//! The issue stage: picks a wave for each issue slot, executes control and synchronisation instructions at
//! once, sends all others to a collector, and charges every slot of every cycle to one use.

use super::Core;
use super::collector::{Collector, Waiting};
use super::divergence::Next;
use super::fetch::next_in_turn;
use super::mix::MIXES;
use super::probe::{Event, EventKind, Going, Issued, Probe, Stage, StageEvent, Stalls};
use super::resolve::Act;
use super::straight::{READ_WITHIN, oldest_waits};
use super::uop::{Kind, MicroOp, MicroOps};
use super::wait::Wait;
use super::wave::{InFlight, Slot, SlotMask};
use crate::clock::{Cycle, NEVER};
use crate::config::IssuePolicy;
use crate::stats::SlotUse;
use wave_isa::Scope;
use wave_isa::program::fault::{Fault, FaultKind};

impl Core {
    /// The issue stage of every scheduler.
    ///
    /// # Errors
    /// A fault of an instruction that issues, or that has waited for the accesses of its wave (I8).
    pub(super) fn issue<P: Probe>(
        &mut self,
        now: Cycle,
        ops: &MicroOps,
        probe: &mut P,
    ) -> Result<(), Box<Fault>> {
        if self.waves.faulting != 0 {
            self.look_at_faults(now, ops)?;
        }
        self.look_at_choices(now);
        let mut first = 0;
        let mut all_issued: SlotMask = 0;
        // A scheduler that issues may set the bit of a later one, which then looks again in this cycle.
        while self.activity.stale >> first != 0 {
            let scheduler = first + (self.activity.stale >> first).trailing_zeros() as usize;
            first = scheduler + 1;
            self.activity.stale &= !(1 << scheduler);
            self.settle(scheduler, now);
            self.schedulers[scheduler].charged_until = now + 1;
            if self.spec.policy == IssuePolicy::TwoLevel {
                self.update_active_set(scheduler);
            }
            let mut issued: SlotMask = 0;
            for _ in 0..self.spec.issue_width {
                let sched = &self.schedulers[scheduler];
                let mut ready = self.waves.ready() & sched.slots & !issued;
                if self.collectors_full(scheduler) {
                    ready &= !self.waves.needs_collector;
                }
                if self.spec.policy == IssuePolicy::TwoLevel {
                    ready &= sched.active_set;
                }
                self.schedulers[scheduler].changes_at = NEVER;
                let picked = if ready == 0 { None } else { self.pick(now, scheduler, ready, ops) };
                let Some(slot) = picked else {
                    let reason = self.why_not(now, scheduler, issued);
                    self.schedulers[scheduler].waits_for = reason;
                    self.account.slots[reason as usize] += 1;
                    probe.tell(EventKind::Charge, || {
                        Event::Charge(self.charge(now, scheduler, reason, issued))
                    });
                    continue;
                };
                self.tell_issue(now, scheduler, slot, ops);
                self.schedulers[scheduler].last_issued = slot;
                issued |= 1 << slot;
                self.activity.progress = true;
                self.activity.stale |= 1 << scheduler;
                let effective = self.issue_wave(now, scheduler, slot, ops, probe)?;
                let slot_use = if effective { SlotUse::Issued } else { SlotUse::Squashed };
                self.account.slots[slot_use as usize] += 1;
                probe.tell(EventKind::Charge, || {
                    Event::Charge(self.charge_issue(now, scheduler, slot_use, slot))
                });
            }
            all_issued |= issued;
        }
        if probe.wants(EventKind::Stalls) {
            let waves = &self.stalled(all_issued);
            probe.tell(EventKind::Stalls, || {
                Event::Stalls(Stalls { cycle: now, core: self.spec.index, waves })
            });
        }
        Ok(())
    }

    /// Charges the cycles before `now` that are not charged yet. Nothing has changed since the scheduler last
    /// looked, so each of their slots has the same use as then.
    fn settle(&mut self, scheduler: usize, now: Cycle) {
        let sched = &mut self.schedulers[scheduler];
        let cycles = now - sched.charged_until;
        self.account.slots[sched.waits_for as usize] += cycles * self.spec.issue_width as u64;
        sched.charged_until = now;
    }

    /// Settles the accounts at `end`, the cycle after the kernel's last one. The core must be idle. Later
    /// cycles belong to the release.
    pub fn finish(&mut self, end: Cycle) {
        for scheduler in 0..self.schedulers.len() {
            // The core may have looked for work in a cycle after the run and charged it as empty: take that
            // back.
            let over = self.schedulers[scheduler].charged_until.saturating_sub(end);
            self.account.slots[SlotUse::Empty as usize] -= over * self.spec.issue_width as u64;
            self.settle(scheduler, end + over);
            let scheduler = &mut self.schedulers[scheduler];
            (scheduler.charged_until, scheduler.waits_for) = (end, SlotUse::Release);
        }
    }

    /// Settles the accounts at the cycle in which the next launch can start.
    pub fn close(&mut self, next_start: Cycle) {
        self.account.counters.cycles = next_start - self.account.start;
        (0..self.schedulers.len()).for_each(|scheduler| self.settle(scheduler, next_start));
    }

    /// Counts resident waves up to and including `now`. A wave that arrives or leaves in `now` counts from
    /// the next cycle on.
    pub(super) fn settle_residents(&mut self, now: Cycle) {
        let cycles = (now + 1).saturating_sub(self.account.residents_until);
        self.account.counters.resident_wave_cycles += cycles * u64::from(self.waves.resident.count_ones());
        self.account.residents_until = now + 1;
    }

    /// Makes the wave's scheduler look again: something about the wave has changed.
    #[inline]
    pub(super) fn touch(&mut self, slot: Slot) {
        self.activity.stale |= 1 << self.waves.waves[slot].scheduler;
    }

    /// The wave that issues among ready ones. Only a registered policy lets none issue.
    fn pick(&mut self, now: Cycle, scheduler: usize, ready: SlotMask, ops: &MicroOps) -> Option<Slot> {
        let last = self.schedulers[scheduler].last_issued;
        Some(match self.spec.policy {
            IssuePolicy::Lrr | IssuePolicy::TwoLevel => next_in_turn(ready, last),
            IssuePolicy::Gto if ready >> last & 1 != 0 => last,
            IssuePolicy::Gto | IssuePolicy::Oldest => self.waves.oldest(ready),
            IssuePolicy::PlugIn(_) => return self.ask(now, scheduler, ready, ops),
        })
    }

    /// `two_level`: waves that wait for memory, drain or are at a barrier leave the active set, and the
    /// oldest other waves fill it (rule I3).
    fn update_active_set(&mut self, scheduler: usize) {
        let waves = &self.waves;
        let here = self.schedulers[scheduler].slots & waves.resident & !waves.ended;
        let long_wait = waves.at_barrier | waves.draining | (waves.memory_hazard & waves.buffered);
        let mut active = self.schedulers[scheduler].active_set & here & !long_wait;
        let mut candidates = here & !long_wait & !active;
        while active.count_ones() < self.spec.two_level_active && candidates != 0 {
            let slot = self.waves.oldest(candidates);
            active |= 1 << slot;
            candidates &= !(1 << slot);
        }
        self.schedulers[scheduler].active_set = active;
    }

    /// Why an issue slot of this scheduler stays empty (rule I7). `issued`: waves that have issued in this
    /// cycle.
    fn why_not(&self, now: Cycle, scheduler: usize, issued: SlotMask) -> SlotUse {
        let waves = &self.waves;
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
            return match oldest_waits(sched, self.latches.issue_to_dispatch.collectors(scheduler), now) {
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
    fn stalled(&self, issued: SlotMask) -> [SlotMask; Wait::AT_ISSUE] {
        let waves = &self.waves;
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

    /// Issues the next instruction of a wave. Returns false if it was squashed.
    fn issue_wave<P: Probe>(
        &mut self,
        now: Cycle,
        scheduler: usize,
        slot: Slot,
        ops: &MicroOps,
        probe: &mut P,
    ) -> Result<bool, Box<Fault>> {
        let wave = &mut self.waves.waves[slot];
        let word = wave.buffer.front().expect("a ready wave has a decoded instruction");
        let op = ops.get(word);
        wave.buffer.pop(word + op.words);
        let sequence = wave.issued;
        wave.issued += 1;
        wave.last_word = word;
        let guard = op.guard_lanes(&wave.predicates);
        let active = wave.control.active;
        let lanes = guard & active;
        self.account.instructions += 1;
        if self.file.journal.is_kept() {
            self.file.journal.issues(slot, now);
        }
        let effective = match op.kind {
            Kind::Control => active != 0,
            Kind::End => true,
            _ => lanes != 0,
        };
        let event =
            StageEvent { cycle: now, core: self.spec.index, slot, sequence, word, stage: Stage::Issue };
        let done = !op.needs_collector() || !effective;
        probe.tell(EventKind::Issued, || {
            let wave = &self.waves.waves[slot];
            let workgroup = self.workgroups[wave.workgroup].id;
            let mask = if effective { lanes } else { 0 };
            Event::Issued(Issued { event, workgroup, wave: wave.wave_id, op, active, mask })
        });
        let mut going = Going { event, next: Some(word + op.words), redirected: false, done };
        if let Kind::Illegal(error) = op.kind
            && active != 0
        {
            let kind = FaultKind::IllegalInstruction(error);
            return self.fault_at_issue(now, going, active, kind, ops, probe).map(|()| true);
        }
        if op.kind == Kind::End {
            self.latches.issue_to_resolve.act(slot, Act::End);
            self.waves.buffer_shrinks(slot);
            self.waves.refresh(slot, ops);
            going.next = None;
            tell_going(going, probe);
            return Ok(true);
        }
        if effective {
            self.account.counters.wave_instructions += 1;
            self.account.lanes[usize::from(op.mix) % MIXES] += self.count_lanes(lanes);
        } else {
            self.account.counters.squashed_instructions += 1;
        }
        if let Kind::Fence { .. } = op.kind {
            // A grant ends when its fence issues, squashed or not. The next fence of the slot waits anew
            // (B6).
            self.waves.releases.issue(slot);
        }
        match op.kind {
            Kind::Control => match self.issue_control(now, slot, word, guard, ops) {
                Ok(Next::Fall) => {}
                Ok(Next::Jump(target)) => (going.next, going.redirected) = (Some(target), true),
                Ok(Next::Ended) => going.next = None,
                Err(kind) => {
                    return self.fault_at_issue(now, going, active, kind, ops, probe).map(|()| effective);
                }
            },
            _ if !effective => {}
            Kind::Barrier => {
                if active != self.waves.waves[slot].control.live {
                    return Err(self.fault(now, slot, word, lanes, ops, FaultKind::BarrierInDivergence));
                }
                self.waves.at_barrier |= 1 << slot;
                self.latches.issue_to_resolve.act(slot, Act::Barrier);
            }
            Kind::Fence { acquire, .. } => {
                self.account.counters.fences += 1;
                if acquire && op.inst.scope >= Scope::Device {
                    self.latches.issue_to_resolve.act(slot, Act::Invalidate);
                }
                self.start_shadow(now, slot);
            }
            Kind::Wait => self.start_shadow(now, slot),
            Kind::Nop | Kind::Illegal(_) | Kind::End => {}
            Kind::Compute | Kind::Memory(_) => {
                self.collect(now, scheduler, InFlight { slot, sequence, word }, (lanes, op), ops, probe);
            }
        }
        self.waves.refresh(slot, ops);
        self.waves.buffer_shrinks(slot);
        tell_going(going, probe);
        Ok(effective)
    }

    /// Number of lanes in a mask. The full mask, by far the most frequent, takes no population count.
    #[inline]
    fn count_lanes(&self, lanes: u64) -> u64 {
        if lanes == u64::MAX >> (64 - self.spec.width) {
            self.spec.width as u64
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
        ops: &MicroOps,
        probe: &mut P,
    ) {
        let slot = it.slot;
        let wave = &mut self.waves.waves[slot];
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
        let condition = op.condition_lanes(&wave.predicates);
        let sched = &mut self.schedulers[scheduler];
        let (read, waits) = sched.banks.read(now, op.reads(), wave.swizzle);
        self.account.counters.bank_conflicts += waits;
        self.waves.collecting |= 1 << slot;
        let collectors = &self.schedulers[scheduler].collectors;
        let settled = self.settles_early(probe)
            && op.computes()
            // A matrix multiplication locks fragments until it leaves its collector (I5).
            && op.fragment_reads == 0
            && self.spec.issue_width == 1
            && read <= now + READ_WITHIN
            // Every older instruction in a collector must leave it later, so that it cannot take the unit or a write
            // port first. Of this wave there may be accesses, which have read their sources in this cycle at the
            // latest, but they are still in the registers.
            && read < self.latches.issue_to_operands.at(scheduler)
            && collectors.iter().all(|c| c.slot() != slot || !ops.get(c.word).takes_rows_late(op))
            && self.start_unit(read + 1, scheduler, it, op).is_none();
        let sched = &mut self.schedulers[scheduler];
        if settled {
            self.latches.issue_to_dispatch.issue(scheduler, slot, read);
            sched.recent = [(self.account.instructions, read), sched.recent[0], sched.recent[1]];
            self.compute(it, lanes, condition, op);
            for (cycle, stage) in [(read, Stage::Operands), (read + 1, Stage::Execute)] {
                probe.tell(EventKind::Stage, || Event::Stage(self.step_of(cycle, it, stage)));
            }
        } else {
            sched.collectors.push(Collector::new(self.account.instructions, it, lanes, condition, read));
            self.latches.issue_to_operands.by(scheduler, read);
        }
    }

    /// True if all collectors of a scheduler are in use.
    #[inline]
    fn collectors_full(&self, scheduler: usize) -> bool {
        let straight = self.latches.issue_to_dispatch.collectors(scheduler);
        self.schedulers[scheduler].collectors.in_use() + straight == self.spec.collectors_per_scheduler
    }

    fn issue_control(
        &mut self,
        now: Cycle,
        slot: Slot,
        word: u32,
        guard: u64,
        ops: &MicroOps,
    ) -> Result<Next, FaultKind> {
        let op = ops.get(word);
        let wave = &mut self.waves.waves[slot];
        let step = op.control_step(word, guard, &wave.predicates);
        let next = wave.control.step(&step)?;
        // Fetch goes on meanwhile: the issue stage does not know yet what becomes of the wave.
        self.start_shadow(now, slot);
        match next {
            Next::Fall => {}
            Next::Jump(target) => self.latches.issue_to_resolve.act(slot, Act::Redirect(target)),
            Next::Ended => self.latches.issue_to_resolve.act(slot, Act::End),
        }
        Ok(next)
    }

    /// Redirects a wave to another word (F6).
    pub(super) fn redirect(&mut self, slot: Slot, target: u32) {
        self.refetch(slot, target);
        self.account.counters.taken_redirects += 1;
    }

    /// Drops what a wave has fetched; it goes on at another word.
    pub(super) fn refetch(&mut self, slot: Slot, target: u32) {
        let bit: SlotMask = 1 << slot;
        let wave = &mut self.waves.waves[slot];
        wave.buffer.clear(target);
        self.waves.buffer_shrinks(slot);
        let wave = &mut self.waves.waves[slot];
        wave.straddling = false;
        wave.fetch_word = target;
        self.fetch.discard(slot);
        self.waves.fetching &= !bit;
        self.waves.fetched_end &= !bit;
        self.waves.buffered &= !bit;
    }

    /// Starts a shadow: the wave does not issue from now on, and does not fetch from the next cycle on, until the branch
    /// latency has passed (B1).
    pub(super) fn start_shadow(&mut self, now: Cycle, slot: Slot) {
        self.waves.shadow |= 1 << slot;
        self.touch(slot);
        self.latches.shadows.push_back((now + self.spec.branch_latency, slot));
    }

    /// Ends the shadows that are due.
    pub(super) fn end_shadows(&mut self, now: Cycle) {
        while let Some(&(ends, slot)) = self.latches.shadows.front()
            && ends <= now
        {
            self.latches.shadows.pop_front();
            self.waves.shadow &= !(1 << slot);
            self.touch(slot);
            self.activity.progress = true;
        }
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
