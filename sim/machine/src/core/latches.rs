//! What one stage of the core leaves for a later one. The instruction buffers are in the waves, the operand collectors
//! in the schedulers, and the queues of the load/store unit in [`Lsu`](super::lsu::Lsu).

use super::collector::Looks;
use super::completions::Completions;
use super::slot::{Slot, SlotMask};
use super::straight::Straight;
use super::timing::UnitTiming;
use super::wave::Waves;
use crate::clock::{Cycle, NEVER, may_plan};
use std::collections::VecDeque;
use wave_capture::{Capture, Misfit};
use wave_isa::ExecClass;

/// The latches between the stages of a core, by the stage that fills them.
#[derive(Debug, Capture)]
pub(crate) struct Latches {
    /// Fetch to decode: groups of words.
    pub fetch_to_decode: Groups,
    /// Those that issue fills.
    pub issued: IssueLatches,
    /// Those that operand read fills.
    pub read: ReadLatches,
    /// Dispatch to write-back: instructions in the execution units.
    pub execute_to_write_back: Completions,
}

/// From issue to the stages after it.
#[derive(Debug, Capture)]
pub(crate) struct IssueLatches {
    /// To fetch and issue: the running shadows.
    pub shadows: Shadows,
    /// To the first stage of the next cycle. Retirement fills it, too.
    pub to_resolve: IssueToResolve,
    /// To operand read: when that stage next completes the reads of an instruction or decides about one that was kept
    /// back.
    pub to_operands: Looks,
    /// To dispatch: instructions that are settled at issue and only occupy a collector.
    pub to_dispatch: Straight,
}

/// From operand read to dispatch.
#[derive(Debug, Capture)]
pub(crate) struct ReadLatches {
    /// When dispatch next has to look at the collectors that are not settled.
    pub to_dispatch: Looks,
    /// What waits for the load/store unit.
    pub to_lsu: Accesses,
    /// Bit s: scheduler s frees a settled collector in the next dispatch stage.
    pub settled: u32,
    /// Wave slots of which a matrix multiplication is settled and leaves in the next dispatch stage.
    pub fragments: SlotMask,
}

impl IssueLatches {
    /// The word that a wave issues next.
    pub(super) fn next_word(&self, slot: Slot, waves: &Waves) -> u32 {
        match self.to_resolve.of(slot) {
            Some(Act::Redirect(target)) => target,
            _ => waves.waves[slot].buffer.next(),
        }
    }
}

impl Latches {
    /// Empty latches of a core with so many schedulers and wave slots.
    pub(super) fn new(
        schedulers: usize,
        slots: usize,
        units: &[UnitTiming; ExecClass::ALL.len()],
    ) -> Latches {
        Latches {
            fetch_to_decode: Groups { on_the_way: VecDeque::with_capacity(64) },
            issued: IssueLatches::new(schedulers, slots),
            read: ReadLatches::new(schedulers),
            execute_to_write_back: Completions::new(UnitTiming::horizon(units)),
        }
    }

    /// Empties the latches of an idle core, as when they were made. Nothing is in its execution units.
    pub(super) fn clear(&mut self, schedulers: usize, slots: usize) {
        self.fetch_to_decode.on_the_way.clear();
        self.issued = IssueLatches::new(schedulers, slots);
        self.read = ReadLatches::new(schedulers);
        debug_assert!(self.execute_to_write_back.all().next().is_none(), "an idle core executes nothing");
    }
}

impl IssueLatches {
    fn new(schedulers: usize, slots: usize) -> IssueLatches {
        IssueLatches {
            shadows: Shadows { running: VecDeque::with_capacity(slots) },
            to_resolve: IssueToResolve::default(),
            to_operands: Looks::new(schedulers),
            to_dispatch: Straight::default(),
        }
    }
}

impl ReadLatches {
    fn new(schedulers: usize) -> ReadLatches {
        let to_dispatch = Looks::new(schedulers);
        ReadLatches { to_dispatch, to_lsu: Accesses::new(), settled: 0, fragments: 0 }
    }
}

/// A fetch on its way from the instruction cache to the decoder.
#[derive(Debug, Clone, Copy, Capture)]
pub(crate) struct Group {
    pub arrives: Cycle,
    pub slot: Slot,
    /// First word of the kernel in the group.
    pub first: u32,
    pub words: u32,
    /// The wave was redirected meanwhile: the words are dropped on arrival.
    pub discarded: bool,
}

/// Groups on their way, in order of arrival: all have the same latency.
#[derive(Debug, Clone, Capture)]
pub(crate) struct Groups {
    on_the_way: VecDeque<Group>,
}

impl Groups {
    /// A group leaves the instruction cache. It arrives not before those on their way.
    #[inline]
    pub(super) fn send(&mut self, group: Group) {
        self.on_the_way.push_back(group);
    }

    /// Takes a group that arrives now.
    #[inline]
    pub(super) fn take(&mut self, now: Cycle) -> Option<Group> {
        let group = *self.on_the_way.front()?;
        if group.arrives > now {
            return None;
        }
        self.on_the_way.pop_front();
        Some(group)
    }

    /// Drops what is on its way for a wave that was redirected or has ended.
    pub(super) fn discard(&mut self, slot: Slot) {
        for group in self.on_the_way.iter_mut().filter(|group| group.slot == slot) {
            group.discarded = true;
        }
    }

    /// Cycle in which the next group reaches the decoder.
    #[inline]
    pub(super) fn next_arrival(&self) -> Cycle {
        self.on_the_way.front().map_or(NEVER, |group| group.arrives)
    }

    /// Refuses words from the `end` of a wave's kernel on, other slots than these (bits), and cycles that a run does not come to.
    /// The waves of `straddling` have the first word of an instruction whose second comes with the next group.
    pub(super) fn check(
        &self,
        now: Cycle,
        (slots, straddling): (SlotMask, SlotMask),
        end: impl Fn(Slot) -> u32,
    ) -> Result<(), Misfit> {
        let group = |group: &Group| {
            let after = group.first.checked_add(group.words);
            let goes_on = group.first > 0 || group.discarded || straddling >> (group.slot % 64) & 1 == 0;
            goes_on
                && group.slot < 64
                && slots >> group.slot & 1 != 0
                && after.is_some_and(|after| after <= end(group.slot))
                && may_plan(now, group.arrives)
        };
        Misfit::in_range(self.on_the_way.iter().all(group), "groups")
    }
}

/// The running shadows (B1).
#[derive(Debug, Clone, Capture)]
pub(crate) struct Shadows {
    /// (End, slot), in order of their end.
    running: VecDeque<(Cycle, Slot)>,
}

impl Shadows {
    /// A shadow over a wave begins; it ends not before those that run.
    #[inline]
    pub(super) fn begin(&mut self, slot: Slot, end: Cycle) {
        self.running.push_back((end, slot));
    }

    /// Takes a wave whose shadow ends now.
    #[inline]
    pub(super) fn take_ended(&mut self, now: Cycle) -> Option<Slot> {
        let &(end, slot) = self.running.front()?;
        if end > now {
            return None;
        }
        self.running.pop_front();
        Some(slot)
    }

    /// The cycle in which the next one ends.
    #[inline]
    pub(super) fn next_end(&self) -> Cycle {
        self.running.front().map_or(NEVER, |&(end, _)| end)
    }

    /// Drops the shadow of a wave.
    pub(super) fn forget(&mut self, slot: Slot) {
        self.running.retain(|&(_, other)| other != slot);
    }

    /// Ends and slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Cycle, Slot)> {
        self.running.iter().copied()
    }
}

/// What an instruction does in the cycle after its issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Capture)]
pub(crate) enum Act {
    /// Its wave goes on at this word of the kernel.
    Redirect(u32),
    /// Its wave has no live lane any more.
    End,
    /// Its wave is at a barrier, perhaps as the last one.
    Barrier,
    /// It is an acquire that invalidates the L1.
    Invalidate,
}

/// From issue and retirement to the stage of the next cycle.
#[derive(Debug, Clone, Default, Capture)]
pub(crate) struct IssueToResolve {
    /// Wave slots and what their instructions do, in the order of issue.
    acts: Vec<(Slot, Act)>,
    /// Ended waves of which nothing is in flight any more.
    drained: SlotMask,
}

impl IssueToResolve {
    /// True if it acts on no other slots than these (bits), and sends no wave past the end of its kernel.
    pub(super) fn is_within(&self, slots: SlotMask, end: impl Fn(Slot) -> u32) -> bool {
        let within = |&(slot, act): &(Slot, Act)| {
            slot < 64 && slots >> slot & 1 != 0 && !matches!(act, Act::Redirect(word) if word > end(slot))
        };
        self.drained & !slots == 0 && self.acts.iter().all(within)
    }

    /// The instruction of a wave that issues now acts in the next cycle.
    pub(super) fn act(&mut self, slot: Slot, act: Act) {
        self.acts.push((slot, act));
    }

    /// The last instruction in flight of an ended wave retires now.
    pub(super) fn drained(&mut self, slot: Slot) {
        self.drained |= 1 << slot;
    }

    /// True if nothing acts in the next cycle.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.acts.is_empty() && self.drained == 0
    }

    /// Neither the last instruction of a wave nor its end acts.
    pub(super) fn forget(&mut self, slot: Slot) {
        self.acts.retain(|&(other, _)| other != slot);
        self.drained &= !(1 << slot);
    }

    /// Takes what the instructions do that issued in the cycle before. The list goes back with
    /// [`recycle`](IssueToResolve::recycle).
    #[inline]
    pub(super) fn take_acts(&mut self) -> Vec<(Slot, Act)> {
        std::mem::take(&mut self.acts)
    }

    /// Gives back the storage of a list from [`take_acts`](IssueToResolve::take_acts).
    #[inline]
    pub(super) fn recycle(&mut self, mut acts: Vec<(Slot, Act)>) {
        acts.clear();
        self.acts = acts;
    }

    /// Takes the ended waves of which nothing is in flight any more.
    #[inline]
    pub(super) fn take_drained(&mut self) -> SlotMask {
        std::mem::take(&mut self.drained)
    }

    /// What the last instruction of a wave will do in the next cycle.
    pub(super) fn of(&self, slot: Slot) -> Option<Act> {
        self.acts.iter().find(|(other, _)| *other == slot).map(|&(_, act)| act)
    }
}

/// The memory instructions of a core that have read their operands and wait in their collectors for the load/store unit.
#[derive(Debug, Clone, Capture)]
pub(crate) struct Accesses {
    /// Bit s: scheduler s has some.
    schedulers: u32,
    /// Bit s: scheduler s has some that no dispatch stage has looked at yet.
    fresh: u32,
    /// First cycle in which the dispatch stage can do something about them.
    at: Cycle,
    /// The scheduler that is asked first (X4).
    turn: usize,
}

impl Accesses {
    /// None.
    pub(super) fn new() -> Accesses {
        Accesses { schedulers: 0, fresh: 0, at: NEVER, turn: 0 }
    }

    /// An instruction of a scheduler can leave from this cycle on.
    #[inline]
    pub(super) fn add(&mut self, scheduler: usize, cycle: Cycle) {
        self.schedulers |= 1 << scheduler;
        self.fresh |= 1 << scheduler;
        self.at = self.at.min(cycle);
    }

    /// True if it has no other schedulers than these (bits), and waits for no cycle that a run does not come to.
    pub(super) fn is_within(&self, schedulers: u32, now: Cycle) -> bool {
        let known = schedulers.checked_shr(self.turn as u32).is_some_and(|rest| rest & 1 != 0);
        known && (self.schedulers | self.fresh) & !schedulers == 0 && may_plan(now, self.at)
    }

    /// The load/store unit has room from this cycle on.
    #[inline]
    pub(super) fn have_room(&mut self, cycle: Cycle) {
        if self.schedulers != 0 {
            self.at = self.at.min(cycle);
        }
    }

    /// First cycle in which the dispatch stage can do something about them.
    #[inline]
    pub(super) fn at(&self) -> Cycle {
        self.at
    }

    /// The scheduler that sends an instruction now; `None` if none has one. The scheduler after it, of so many, is asked first
    /// the next time.
    #[inline]
    pub(super) fn take_turn(&mut self, schedulers: usize) -> Option<usize> {
        if self.schedulers == 0 {
            return None;
        }
        let later = self.schedulers & u32::MAX << self.turn;
        let scheduler = (if later != 0 { later } else { self.schedulers }).trailing_zeros() as usize;
        self.turn = if scheduler + 1 < schedulers { scheduler + 1 } else { 0 };
        Some(scheduler)
    }

    /// A scheduler sends its last instruction.
    #[inline]
    pub(super) fn empties(&mut self, scheduler: usize) {
        self.schedulers &= !(1 << scheduler);
    }

    /// Takes the schedulers, as bits, with instructions that no dispatch stage has looked at.
    #[inline]
    pub(super) fn take_fresh(&mut self) -> u32 {
        std::mem::take(&mut self.fresh)
    }

    /// The dispatch stage has looked at all of them. It tries again in the next cycle, if that may help.
    #[inline]
    pub(super) fn looked(&mut self, now: Cycle, helps: bool) {
        self.at = if self.schedulers != 0 && helps { now + 1 } else { NEVER };
    }

    /// True if there are none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.schedulers == 0
    }
}
