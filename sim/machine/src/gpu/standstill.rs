//! Detection of launches that never end: a proof that nothing can change any more.
//!
//! The next step of a wave depends on its own state and on the values that its loads and atomics return. If
//! every wave repeats a loop, or waits for a wave that does, and no write changes a value, then all waves
//! continue like this for ever.
//!
//! A long run is checked after [`RunOptions::looks_after`] cycles, and again each time it has run twice as
//! long. A check observes a stretch of the run in three parts. In the first part, stores in flight must
//! arrive. In the second, loads that may have been served earlier must return; then all L1s must agree with
//! the memory behind them, so that no eviction or late fill can change a value. In the third, each wave must
//! repeat its loop three times with the same instructions, lanes and results. A store, or an atomic that
//! changes its word, ends the check, and the run continues.

use super::run::Run;
use super::team::Team;
use super::{NoProgress, Progress, RunError, RunOptions};
use crate::clock::{Cycle, NEVER};
use crate::core::Core;
use crate::core::probe::{
    Event, EventKind, Going, Issued, MemoryEvent, Observer, Off, Results, Stage, StageEvent, Wants, Watched,
};
use crate::core::report::{WaitsFor, WaveReport};
use crate::core::uop::{Kind, MicroOps};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use wave_isa::Op;
use wave_isa::table::{AccessKind, AtomicOp};

/// Instructions stored per wave. A loop can have a third of them.
const KEPT: usize = 1024;
/// Required number of equal loop iterations.
const ROUNDS: usize = 3;
/// Each part of a check lasts the start cycle divided by this number.
const PART: Cycle = 16;
/// Minimum length of a part in cycles: a few round trips to memory.
const SHORTEST: Cycle = 4096;

impl Run<'_> {
    /// As [`run_to_end`](Run::run_to_end), but stops with [`RunError::NoProgress`] if the launch can never
    /// end.
    pub(super) fn run_looking(
        &mut self,
        options: &RunOptions,
        team: &Team<'_>,
        ops: &MicroOps,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Cycle, RunError> {
        let last = options.max_cycles.unwrap_or(NEVER);
        let mut look = options.looks_after.unwrap_or(NEVER);
        let mut dispatched = None;
        loop {
            let bounds = RunOptions { max_cycles: Some(look.min(last)), ..*options };
            let ended = self.run_to_end(&bounds, team, ops, &mut Off, progress);
            if look >= last || !matches!(ended, Err(RunError::CycleLimit(_))) {
                return ended;
            }
            // Too early while workgroups start and end.
            let part = (look / PART).max(SHORTEST);
            let done = self.dispatcher.finished();
            if dispatched.replace(done) == Some(done) || done == 0 {
                let parts = [1, 2, 3].map(|number| (look + number * part).min(last));
                if let Some(ended) = self.look_at(options, parts, ops, progress) {
                    return ended;
                }
            }
            // Not before this one has ended.
            look = look.saturating_mul(2).max(look.saturating_add(4 * part));
        }
    }

    /// Observes the parts of a check up to these cycles. Returns how the run ends, if it does.
    fn look_at(
        &mut self,
        options: &RunOptions,
        parts: [Cycle; 3],
        ops: &MicroOps,
        progress: &mut dyn FnMut(Progress),
    ) -> Option<Result<Cycle, RunError>> {
        if self.dispatcher.next_event(self.now) != NEVER {
            return None;
        }
        let mut watch = Repetition::default();
        watch.begin(self.cores.iter());
        for (number, end) in parts.into_iter().enumerate() {
            let bounds = RunOptions { max_cycles: Some(end), ..*options };
            let ended = Team::with(1, ops, |team| {
                self.run_to_end(&bounds, team, ops, &mut Watched::by(&mut watch), progress)
            });
            match ended {
                Err(RunError::Interrupted(_)) if watch.is_over && !options.is_stopped() => return None,
                Err(RunError::CycleLimit(_)) if options.max_cycles != Some(end) => {}
                ended => return Some(ended),
            }
            if number < 2 {
                if !watch.is_settled() || !self.is_settled() {
                    return None;
                }
                watch.begin(self.cores.iter());
            }
        }
        let stuck = self.no_progress(self.now, ops);
        watch.repeats(&stuck).then_some(Err(RunError::NoProgress(stuck)))
    }

    /// True if no workgroup and no store is in flight, and all copies of memory agree.
    fn is_settled(&mut self) -> bool {
        self.memory.run(self.now, self.now);
        let memory = &*self.memory;
        self.dispatcher.next_event(self.now) == NEVER
            && self.cores.iter().all(|core| core.agrees_with(memory))
    }
}

/// Activity of each wave, as long as it may continue for ever.
#[derive(Default)]
struct Repetition {
    waves: BTreeMap<(u32, usize), Seen>,
    /// All waves are known. A further one is new.
    has_begun: bool,
    /// An event occurred that does not repeat.
    is_over: bool,
}

/// Activity of a wave.
#[derive(Default)]
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
#[derive(Clone)]
struct Instruction {
    /// Hash of the instruction and its results.
    did: u64,
    op: Op,
    is_done: bool,
}

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
            for (slot, first, before) in core.under_way() {
                let known = self.waves.entry((core.index, slot));
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
        if event.stage != Stage::Retire {
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
