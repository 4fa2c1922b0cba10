//! Detection of launches that never end: a proof that nothing can change any more.
//!
//! The next step of a wave depends on its own state and on the values that its loads and atomics return. If
//! every wave repeats a loop, or waits for a wave that does, and no write changes a value, then all waves
//! continue like this for ever.
//!
//! A long run is checked after [`RunOptions::looks_after`](super::RunOptions::looks_after) cycles, and again each time it has run twice as
//! long. A check observes a stretch of the run in three parts. In the first part, stores in flight must
//! arrive. In the second, loads that may have been served earlier must return; then all L1s must agree with
//! the memory behind them, so that no eviction or late fill can change a value. In the third, each wave must
//! repeat its loop three times with the same instructions, lanes and results. A store, or an atomic that
//! changes its word, ends the check, and the run continues.

use super::run::{Reached, Run};
use super::team::Team;
use super::{NoProgress, Progress, RunError};
use crate::clock::{Cycle, NEVER, may_plan};
use crate::core::Core;
use crate::core::probe::{
    Event, EventKind, Going, Issued, MemoryEvent, Observer, Off, Results, Stage, StageEvent, Wants, Watched,
};
use crate::core::report::{WaitsFor, WaveReport};
use crate::core::uop::Kind;
use crate::core::view::CoreView;
use crate::memory::MemorySystem;
use crate::stats::MOST;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;
use wave_capture::{Capture, Misfit};
use wave_isa::Op;
use wave_isa::table::{AccessKind, AtomicOp};

/// Instructions stored per wave. A loop can have a third of them.
const KEPT: usize = 1024;
/// Required number of equal loop iterations.
const ROUNDS: usize = 3;
/// Each part of a check lasts the start cycle divided by this number.
const PART: Cycle = 64;
/// Minimum length of a part in cycles: a few round trips to memory.
const SHORTEST: Cycle = 4096;

/// When a run without an observer is checked, and the check that is under way.
#[derive(Debug, Capture)]
pub(super) struct Looks {
    /// Cycles of the launch before the next check.
    next: Cycle,
    /// Workgroups that had ended at the last one.
    finished: Option<u64>,
    current: Option<Look>,
}

/// A check under way.
#[derive(Debug, Capture)]
struct Look {
    watch: Repetition,
    /// The part that is observed, from 0 on.
    part: usize,
    /// The cycles in which the parts end.
    ends: [Cycle; 3],
}

impl Looks {
    /// Refuses a check that cannot be under way in a cycle.
    pub(super) fn check(&self, now: Cycle) -> Result<(), Misfit> {
        let Some(Look { watch, part, ends }) = &self.current else { return Ok(()) };
        Misfit::in_range(*part < ends.len(), "part")?;
        Misfit::in_range(ends.iter().all(|&end| may_plan(now, end)), "ends")?;
        let kept = |seen: &Seen| seen.kept.len() <= KEPT && seen.first <= MOST;
        Misfit::in_range(watch.waves.values().all(kept), "kept")
    }

    /// Looks after this many cycles, and each time the launch has run twice as long.
    pub(super) fn new(after: Option<Cycle>) -> Looks {
        Looks { next: after.unwrap_or(NEVER), finished: None, current: None }
    }
}

impl Run {
    /// Simulates the running phase without an observer. Stops with [`RunError::NoProgress`] if the launch can never
    /// end.
    pub(super) fn run_looking(
        &mut self,
        memory: &mut MemorySystem,
        until: Cycle,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Reached, RunError> {
        let (bound, contexts, threads) = (self.bound(), Arc::clone(&self.spec.contexts), self.threads());
        loop {
            if let Some(mut look) = self.looks.current.take()
                && let Some(ended) = self.observe(memory, &mut look, (bound, until), progress)
            {
                if matches!(ended, Ok(Reached::Until) | Err(RunError::Interrupted(_))) {
                    // The run may go on, and the check with it.
                    self.looks.current = Some(look);
                }
                return ended;
            }
            let look_at = self.start.saturating_add(self.looks.next).min(bound);
            let reached = Team::with(threads, &contexts, |team| {
                self.run_part(memory, (look_at, until), team, &mut Off, progress)
            })?;
            if reached != Reached::Bound || look_at >= bound {
                return Ok(reached);
            }
            self.begin_look(bound);
        }
    }

    /// Begins a check, unless workgroups still start and end.
    fn begin_look(&mut self, bound: Cycle) {
        let after = self.looks.next;
        let part = (after / PART).max(SHORTEST);
        let finished = self.dispatcher.finished();
        let is_steady = self.looks.finished.replace(finished) == Some(finished) || finished == 0;
        if is_steady && self.dispatcher.next_event(self.now) == NEVER {
            let mut watch = Repetition::default();
            watch.begin(self.cores.iter());
            let ends = [1, 2, 3].map(|number| (self.start + after + number * part).min(bound));
            self.looks.current = Some(Look { watch, part: 0, ends });
        }
        // Not before this one has ended.
        self.looks.next = after.saturating_mul(2).max(after.saturating_add(4 * part));
    }

    /// Goes on with a check. Returns how far the run came; `None` if the check ended without a proof.
    fn observe(
        &mut self,
        memory: &mut MemorySystem,
        look: &mut Look,
        (bound, until): (Cycle, Cycle),
        progress: &mut dyn FnMut(Progress),
    ) -> Option<Result<Reached, RunError>> {
        let contexts = Arc::clone(&self.spec.contexts);
        loop {
            let end = look.ends[look.part];
            let reached = Team::with(1, &contexts, |team| {
                self.run_part(memory, (end, until), team, &mut Watched::by(&mut look.watch), progress)
            });
            match reached {
                Ok(Reached::Observer) => return None,
                Ok(Reached::Bound) if end < bound => {}
                ended => return Some(ended),
            }
            look.part += 1;
            if look.part == look.ends.len() {
                let stuck = self.no_progress(self.now);
                return look.watch.repeats(&stuck).then_some(Err(RunError::NoProgress(stuck)));
            }
            if !look.watch.is_settled() || !self.is_settled(memory) {
                return None;
            }
            look.watch.begin(self.cores.iter());
        }
    }

    /// True if no workgroup and no store is in flight, and all copies of memory agree.
    fn is_settled(&self, memory: &mut MemorySystem) -> bool {
        memory.run(self.now, self.now);
        self.dispatcher.next_event(self.now) == NEVER
            && self.cores.iter().all(|core| CoreView::of(core).agrees_with(memory))
    }
}

/// Activity of each wave, as long as it may continue for ever.
#[derive(Debug, Default, Capture)]
struct Repetition {
    waves: BTreeMap<(u32, usize), Seen>,
    /// All waves are known. A further one is new.
    has_begun: bool,
    /// An event occurred that does not repeat.
    is_over: bool,
}

/// Activity of a wave.
#[derive(Debug, Default, Capture)]
struct Seen {
    /// First instruction of this part, as position in the wave's issue order.
    first: u64,
    /// Earlier instructions that have not retired.
    before: u32,
    /// This instruction and the later ones.
    kept: Vec<Instruction>,
    /// Atomics without a response so far.
    atomics: BTreeMap<u64, Atomic>,
    /// The repeated instructions, once known.
    round: Option<Vec<Instruction>>,
}

/// An instruction with its results.
#[derive(Debug, Clone, Capture)]
struct Instruction {
    /// Hash of the instruction and its results.
    did: u64,
    op: Op,
    is_done: bool,
}

#[derive(Debug, Capture)]
struct Atomic {
    op: AtomicOp,
    mask: u64,
    /// One row, or two for a compare-and-swap.
    operands: Vec<u32>,
}

impl Instruction {
    fn does(&mut self, what: impl Hash) {
        let mut hasher = DefaultHasher::new();
        (self.did, what).hash(&mut hasher);
        self.did = hasher.finish();
    }
}

impl Seen {
    /// Determines the loop that the wave repeats from its retired instructions in order.
    fn find_round(&mut self) {
        let done = self.kept.iter().position(|one| !one.is_done).unwrap_or(self.kept.len());
        let kept = &self.kept[..done];
        let repeats = |&length: &usize| {
            let mut again = kept[done - (ROUNDS - 1) * length..].iter().zip(&kept[done - ROUNDS * length..]);
            again.all(|(one, before)| one.did == before.did)
        };
        let length = (1..=done / ROUNDS).find(repeats);
        let round = length.map(|length| kept[done - length..].to_vec());
        // An iteration with unreturned calls cannot repeat: the call depth is bounded.
        let count = |round: &[Instruction], op| round.iter().filter(|one| one.op == op).count();
        self.round = round.filter(|round| count(round, Op::Call) == count(round, Op::Return));
    }
}

impl Repetition {
    /// Starts a part.
    fn begin<'c>(&mut self, cores: impl Iterator<Item = &'c Core>) {
        for core in cores {
            for (slot, first, before) in CoreView::of(core).under_way() {
                let known = self.waves.entry((core.index(), slot));
                // A wave that started since has no earlier instructions.
                self.is_over |= self.has_begun && matches!(known, Entry::Vacant(_));
                let wave = known.or_default();
                (wave.first, wave.before, wave.round) = (first, before, None);
                wave.kept.clear();
            }
        }
        self.has_begun = true;
    }

    /// True if all instructions issued before this part have retired.
    fn is_settled(&self) -> bool {
        self.waves.values().all(|wave| wave.before == 0)
    }

    /// True if no wave can ever do anything else.
    fn repeats(&mut self, stuck: &NoProgress) -> bool {
        for wave in self.waves.values_mut().filter(|wave| wave.round.is_none()) {
            wave.find_round();
        }
        let seen = |wave: &WaveReport| self.waves.get(&(wave.core, wave.slot));
        let goes_round = |wave: &WaveReport| seen(wave).is_some_and(|seen| seen.round.is_some());
        let passes_barriers = |wave: &WaveReport| {
            let round = seen(wave).and_then(|seen| seen.round.as_ref());
            round.is_none_or(|round| round.iter().any(|one| one.op == Op::Barrier))
        };
        // The wave waits at a barrier that another wave of its workgroup never reaches.
        let waits = |wave: &WaveReport| {
            matches!(wave.waits_for, WaitsFor::Barrier(_))
                && seen(wave).is_some_and(|seen| seen.kept.is_empty())
                && stuck.waves.iter().any(|other| {
                    (other.core, other.workgroup) == (wave.core, wave.workgroup) && !passes_barriers(other)
                })
        };
        !self.is_over && stuck.waves.iter().all(|wave| goes_round(wave) || waits(wave))
    }

    /// The instruction, if stored.
    fn kept(&mut self, event: &StageEvent) -> Option<&mut Instruction> {
        let wave = self.waves.get_mut(&(event.core, event.slot))?;
        let place = event.sequence.checked_sub(wave.first)?;
        wave.kept.get_mut(usize::try_from(place).ok()?)
    }
}

impl Observer for Repetition {
    fn wants(&self) -> Wants {
        Wants::of(&[
            EventKind::Stage,
            EventKind::Issued,
            EventKind::Going,
            EventKind::Access,
            EventKind::Results,
        ])
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Stage(event) => self.reaches(event),
            Event::Issued(issued) => self.issued(issued),
            Event::Going(going) => self.goes_on(going),
            Event::Access(access) => self.accesses(access),
            Event::Results(results) => self.results(results),
            _ => {}
        }
    }

    fn advanced(&mut self, _: Cycle) -> ControlFlow<()> {
        if self.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Repetition {
    fn issued(&mut self, issued: &Issued<'_>) {
        let &Issued { event, op, active, mask, .. } = issued;
        let wave = self.waves.get_mut(&(event.core, event.slot));
        let Some(wave) = wave.filter(|_| op.kind != Kind::End) else {
            self.is_over = true;
            return;
        };
        if wave.round.is_some() {
            return;
        }
        if wave.kept.len() == KEPT {
            wave.find_round();
            // It does not repeat so far; waiting longer would take too long.
            self.is_over |= wave.round.is_none();
            return;
        }
        let mut one = Instruction { did: 0, op: op.inst.op, is_done: false };
        one.does((event.word, active, mask));
        wave.kept.push(one);
    }

    fn goes_on(&mut self, going: &Going) {
        self.is_over |= going.next.is_none();
        if let Some(one) = self.kept(&going.event) {
            one.does(going.next);
            one.is_done |= going.done;
        }
    }

    fn accesses(&mut self, event: &MemoryEvent<'_>) {
        match event.memory.kind {
            AccessKind::Atomic(op) => {
                let atomic = Atomic { op, mask: event.mask, operands: event.sent.to_vec() };
                if let Some(wave) = self.waves.get_mut(&(event.core, event.slot)) {
                    wave.atomics.insert(event.sequence, atomic);
                }
            }
            _ => self.is_over |= event.writes,
        }
    }

    fn results(&mut self, results: &Results<'_>) {
        let &Results { event, registers, predicate, fragment } = results;
        if let Some(one) = self.kept(&event) {
            one.does((registers, predicate, fragment));
        }
        let wave = self.waves.get_mut(&(event.core, event.slot));
        let Some(Atomic { op, mask, operands }) = wave.and_then(|wave| wave.atomics.remove(&event.sequence))
        else {
            return;
        };
        let width = if op == AtomicOp::Cas { operands.len() / 2 } else { operands.len() };
        let changes = |lane: usize| {
            let swap = if op == AtomicOp::Cas { operands[width + lane] } else { 0 };
            registers.get(lane).is_none_or(|&old| op.apply(old, operands[lane], swap) != old)
        };
        // What returns nothing may change its word.
        self.is_over |= (0..width).any(|lane| mask >> lane & 1 != 0 && changes(lane));
    }

    fn reaches(&mut self, event: &StageEvent) {
        // Once it is over, another wave may have the slot, and its instructions count from 0.
        if event.stage != Stage::Retire || self.is_over {
            return;
        }
        if let Some(one) = self.kept(event) {
            one.is_done = true;
        }
        if let Some(wave) = self.waves.get_mut(&(event.core, event.slot))
            && event.sequence < wave.first
        {
            wave.before -= 1;
        }
    }
}
