//! Launches that go on for ever: a proof that nothing can change any more.
//!
//! What a wave does next depends on its own state and on what its loads and atomics return. So if every wave repeats what it
//! did, or waits for one that does, and nothing writes a value that is not there already, then all of them go on like that
//! for ever. A run that takes long is looked at after [`RunOptions::looks_after`] cycles, and again whenever it has taken
//! twice as long. A look is a stretch of the run that is watched, in three parts. In the first, the stores that were on
//! their way have to arrive. In the second, the loads that may have been served before that have to return. Then all L1s
//! have to agree with what is behind them, so that no eviction or late fill brings another value. In the third, each wave has
//! to go round three times in the same way: the same instructions, lanes and results. A store, or an atomic that changes
//! its word, ends the look, and the run goes on.

use super::run::Run;
use super::team::Team;
use super::{NoProgress, Progress, RunError, RunOptions};
use crate::clock::{Cycle, NEVER};
use crate::core::Core;
use crate::core::probe::{Event, Going, Issued, MemoryEvent, Observer, Off, Results, Stage, Watched};
use crate::core::report::{WaitsFor, WaveReport};
use crate::core::uop::{Kind, MicroOps};
use crate::isa::Op;
use crate::isa::table::{AccessKind, AtomicOp};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;

/// Instructions of a wave that are kept; its loops may have a third of them.
const KEPT: usize = 1024;
/// How often a wave has to have gone round in the same way.
const ROUNDS: usize = 3;
/// Of a look that begins after so many cycles, each part takes one of this many parts of them.
const PART: Cycle = 16;
/// Cycles of a part, at least: some round trips to memory.
const SHORTEST: Cycle = 4096;

impl Run<'_> {
    /// Runs to the end as [`run_to_end`](Run::run_to_end) does, and stops with [`RunError::NoProgress`] where no end can come.
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
            // Where workgroups come and go, it would be too early.
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

    /// Watches the parts of a look, up to these cycles. Gives how the run ends, if it does.
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

    /// True if no workgroup and no store is on its way, and all copies of memory are the same.
    fn is_settled(&mut self) -> bool {
        self.memory.run(self.now, self.now);
        let memory = &*self.memory;
        self.dispatcher.next_event(self.now) == NEVER
            && self.cores.iter().all(|core| core.agrees_with(memory))
    }
}

/// What each wave does, for as long as it may be for ever.
#[derive(Default)]
struct Repetition {
    waves: BTreeMap<(u32, usize), Seen>,
    /// Waves are known: another one is new.
    has_begun: bool,
    /// Something happened that does not repeat.
    is_over: bool,
}

/// What a wave does.
#[derive(Default)]
struct Seen {
    /// The first instruction of this part, by its place in the wave's issue order.
    first: u64,
    /// Instructions before it that have not retired.
    before: u32,
    /// It and those behind it.
    kept: Vec<Instruction>,
    /// Atomics that have not returned.
    atomics: BTreeMap<u64, Atomic>,
    /// The instructions that it repeats, once that is known.
    round: Option<Vec<Instruction>>,
}

/// An instruction with what it did.
#[derive(Clone)]
struct Instruction {
    /// A hash of it.
    did: u64,
    op: Op,
    is_done: bool,
}

struct Atomic {
    op: AtomicOp,
    mask: u64,
    /// A row, or two for a compare-and-swap.
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
    /// Works out what the wave repeats, from what has retired in its order.
    fn find_round(&mut self) {
        let done = self.kept.iter().position(|one| !one.is_done).unwrap_or(self.kept.len());
        let kept = &self.kept[..done];
        let repeats = |&length: &usize| {
            let mut again = kept[done - (ROUNDS - 1) * length..].iter().zip(&kept[done - ROUNDS * length..]);
            again.all(|(one, before)| one.did == before.did)
        };
        let length = (1..=done / ROUNDS).find(repeats);
        let round = length.map(|length| kept[done - length..].to_vec());
        // A round that leaves calls open is not one: they would run out.
        let count = |round: &[Instruction], op| round.iter().filter(|one| one.op == op).count();
        self.round = round.filter(|round| count(round, Op::Call) == count(round, Op::Return));
    }
}

impl Repetition {
    /// A part begins.
    fn begin<'c>(&mut self, cores: impl Iterator<Item = &'c Core>) {
        for core in cores {
            for (slot, first, before) in core.under_way() {
                let known = self.waves.entry((core.index, slot));
                // One that has started since will not be known for what it did before.
                self.is_over |= self.has_begun && matches!(known, Entry::Vacant(_));
                let wave = known.or_default();
                (wave.first, wave.before, wave.round) = (first, before, None);
                wave.kept.clear();
            }
        }
        self.has_begun = true;
    }

    /// True if all has retired that had issued before this part.
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
        // Waits at a barrier that one of its workgroup never comes to.
        let waits = |wave: &WaveReport| {
            matches!(wave.waits_for, WaitsFor::Barrier(_))
                && seen(wave).is_some_and(|seen| seen.kept.is_empty())
                && stuck.waves.iter().any(|other| {
                    (other.core, other.workgroup) == (wave.core, wave.workgroup) && !passes_barriers(other)
                })
        };
        !self.is_over && stuck.waves.iter().all(|wave| goes_round(wave) || waits(wave))
    }

    /// The instruction, if it is kept.
    fn kept(&mut self, event: &Event) -> Option<&mut Instruction> {
        let wave = self.waves.get_mut(&(event.core, event.slot))?;
        let place = event.sequence.checked_sub(wave.first)?;
        wave.kept.get_mut(usize::try_from(place).ok()?)
    }
}

impl Observer for Repetition {
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
            // One that does not repeat by now: it would be too long a wait.
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

    fn step(&mut self, event: Event) {
        if event.stage != Stage::Retire {
            return;
        }
        if let Some(one) = self.kept(&event) {
            one.is_done = true;
        }
        if let Some(wave) = self.waves.get_mut(&(event.core, event.slot))
            && event.sequence < wave.first
        {
            wave.before -= 1;
        }
    }

    fn advanced(&mut self, _: Cycle) -> ControlFlow<()> {
        if self.is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
