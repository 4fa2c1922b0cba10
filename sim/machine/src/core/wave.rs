//! The wave slots of a core: the state of each resident wave and what its next instruction waits for.

use super::context::{Context, Contexts};
use super::divergence::Divergence;
use super::grid::ContextId;
use super::release::Releases;
use super::slot::{Slot, SlotMask, lanes_of};
use super::uop::{Kind, MicroOp, RegisterSet};
use crate::config::Config;
use crate::stats::MOST;
use wave_capture::{Capture, Misfit};
use wave_isa::{PREDICATES, Scope};

/// The decoded instructions of a wave. They are consecutive in the kernel, so the first word and the count
/// identify them.
#[derive(Debug, Clone, Copy, Default, Capture)]
pub(crate) struct InstructionBuffer {
    first: u32,
    entries: u32,
}

impl InstructionBuffer {
    /// Adds the instruction behind the last; `word` is its first word.
    #[inline]
    pub(crate) fn push(&mut self, word: u32) {
        if self.entries == 0 {
            self.first = word;
        }
        self.entries += 1;
    }

    /// The word of the oldest instruction.
    #[inline]
    pub(crate) fn front(&self) -> Option<u32> {
        (self.entries > 0).then_some(self.first)
    }

    /// Takes the oldest instruction. The one behind it starts at the word `next`.
    #[inline]
    pub(crate) fn pop(&mut self, next: u32) {
        debug_assert!(self.entries > 0, "pop of an empty instruction buffer");
        self.entries -= 1;
        self.first = next;
    }

    /// Number of instructions.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries as usize
    }

    /// True if there is none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Drops all entries. The next instruction starts at the word `next`.
    #[inline]
    pub(crate) fn clear(&mut self, next: u32) {
        self.entries = 0;
        self.first = next;
    }

    /// Word of the instruction that the wave issues next, whether or not it has been fetched.
    #[inline]
    pub(crate) fn next(&self) -> u32 {
        self.first
    }
}

/// One wave slot.
#[derive(Debug, Clone, Capture)]
pub(crate) struct Wave {
    /// Active mask, divergence stack and call stack.
    pub control: Divergence,
    /// Lanes in which each predicate is true.
    pub predicates: [u64; PREDICATES],
    /// Decoded instructions.
    pub buffer: InstructionBuffer,
    /// Next word to fetch.
    pub(crate) fetch_word: u32,
    /// The last fetched word is the first of a two-word instruction whose second word is still to come (D2).
    pub(crate) straddling: bool,
    /// Registers with a write outstanding.
    pub pending: RegisterSet,
    /// Those of `pending` that a load or atomic writes.
    pub(crate) pending_loads: RegisterSet,
    /// Predicates with a write outstanding, as bits.
    pub(crate) pending_predicates: u8,
    /// Fragments with a write outstanding, as bits.
    pub(crate) pending_fragments: u32,
    /// Fragments that a multiplication in a collector has yet to read, as bits.
    pub(crate) reading_fragments: u32,
    /// Memory instructions issued and not yet performed (isa section 6). A store counts until the L1 or local
    /// memory takes it, a load until its write-back.
    pub accesses: u32,
    /// Those of `accesses` that are loads or returning atomics.
    pub loads: u32,
    /// Instructions issued and not yet retired.
    pub in_flight: u32,
    /// Instructions issued so far: the sequence number of the next.
    pub issued: u64,
    /// Whose wave it is.
    pub context: ContextId,
    /// Workgroup slot.
    pub workgroup: usize,
    /// Index of the wave in its workgroup.
    pub wave_id: u32,
    /// The slot's scheduler, slot mod schedulers.
    #[spec]
    pub scheduler: u8,
    /// Offset of the wave's registers over the banks: its position within the scheduler (O1).
    #[spec]
    pub(crate) swizzle: u8,
    /// First row of the wave's registers in the core's register file. The context that has the core says which.
    #[spec]
    pub(crate) first_row: usize,
    /// Word of the last issued instruction.
    pub(crate) last_word: u32,
}

impl Wave {
    /// A slot without a wave, which has these stacks.
    fn empty(control: Divergence) -> Wave {
        Wave {
            control,
            predicates: [0; PREDICATES],
            buffer: InstructionBuffer::default(),
            fetch_word: 0,
            straddling: false,
            pending: RegisterSet::default(),
            pending_loads: RegisterSet::default(),
            pending_predicates: 0,
            pending_fragments: 0,
            reading_fragments: 0,
            accesses: 0,
            loads: 0,
            in_flight: 0,
            issued: 0,
            context: 0,
            workgroup: 0,
            wave_id: 0,
            scheduler: 0,
            swizzle: 0,
            first_row: 0,
            last_word: 0,
        }
    }

    /// The slot holds another wave.
    pub(super) fn belongs_to(&mut self, member: Member) {
        Member { context: self.context, workgroup: self.workgroup, wave_id: self.wave_id } = member;
    }
}

/// Which wave of which workgroup a slot holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub context: ContextId,
    /// Workgroup slot.
    pub workgroup: usize,
    /// Index of the wave in its workgroup.
    pub wave_id: u32,
}

/// All wave slots of a core. The masks have a bit per slot; most say what the wave's next instruction waits
/// for.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(crate) struct Waves {
    /// Per slot.
    pub waves: Vec<Wave>,
    /// Per slot, the slots whose waves arrived before its own.
    #[fixed]
    older: Vec<SlotMask>,
    /// Slots that hold a wave.
    pub resident: SlotMask,
    /// The instruction buffer is not empty.
    pub buffered: SlotMask,
    /// No register, predicate or fragment that the next instruction uses has a write outstanding.
    pub(crate) hazard_free: SlotMask,
    /// The next instruction uses a register that a load will write.
    pub(crate) memory_hazard: SlotMask,
    /// The next instruction is a fence, wait or barrier that has to wait for the wave's own accesses, or for stores.
    pub(crate) draining: SlotMask,
    /// The next instruction is a fence that releases at device or system scope.
    pub(crate) release_fences: SlotMask,
    /// Those of `release_fences` of system scope.
    pub(crate) system_fences: SlotMask,
    /// Accesses of these waves were performed in this cycle. Their barriers and fences see it in the next (B5).
    performed: SlotMask,
    /// Loads and returning atomics of these waves were written back in this cycle.
    loaded: SlotMask,
    /// The next instruction passes through a collector.
    pub needs_collector: SlotMask,
    /// An earlier instruction of the wave still reads operands (I4).
    pub collecting: SlotMask,
    /// In the shadow of a control or synchronisation instruction (B1).
    pub shadow: SlotMask,
    /// The last instruction faults, once the older accesses of the wave are performed (I8). The wave is in a shadow that
    /// does not end.
    pub(crate) faulting: SlotMask,
    /// Waits at a barrier.
    pub at_barrier: SlotMask,
    /// Has a fetch outstanding or waits for an instruction cache line.
    pub fetching: SlotMask,
    /// Has fetched the end of the kernel.
    pub(crate) fetched_end: SlotMask,
    /// All lanes have halted; instructions may still be in flight.
    pub ended: SlotMask,
    /// Stores that the L2 has not acknowledged, and the fences that wait for them.
    pub releases: Releases,
    /// The instruction buffer has room for one more fetch: as at the end of the cycle before, less what is decoded in
    /// this one (F1).
    pub(crate) has_room: SlotMask,
    /// The instruction buffers of these waves have changed in this cycle.
    changed_buffers: SlotMask,
    /// Bit s: scheduler s has to look for a wave to issue. Nothing has changed for the others since they last looked, so
    /// they would find none again, for the same reason. What changes a wave's state here sets its scheduler's bit.
    stale: u32,
    #[spec]
    buffer_entries: usize,
    #[spec]
    fetch_words: usize,
}

impl Waves {
    /// Empty slots.
    pub(crate) fn new(config: &Config) -> Waves {
        let core = &config.core;
        // Each slot allocates stacks of its own.
        let stacks = || Divergence::new(core.divergence_depth as usize, core.call_depth as usize);
        let wave = |slot| Wave {
            scheduler: (slot % core.schedulers as usize) as u8,
            swizzle: (slot / core.schedulers as usize) as u8,
            ..Wave::empty(stacks())
        };
        Waves { waves: (0..core.max_waves as usize).map(wave).collect(), ..Waves::without_slots(config) }
    }

    /// Nothing of any wave.
    fn without_slots(config: &Config) -> Waves {
        let core = &config.core;
        Waves {
            waves: Vec::new(),
            older: vec![0; core.max_waves as usize],
            resident: 0,
            buffered: 0,
            hazard_free: 0,
            memory_hazard: 0,
            draining: 0,
            release_fences: 0,
            system_fences: 0,
            performed: 0,
            loaded: 0,
            needs_collector: 0,
            collecting: 0,
            shadow: 0,
            faulting: 0,
            at_barrier: 0,
            fetching: 0,
            fetched_end: 0,
            ended: 0,
            releases: Releases::new(config.l2.slices),
            has_room: 0,
            changed_buffers: 0,
            stale: 0,
            buffer_entries: core.fetch.buffer_entries as usize,
            fetch_words: core.fetch.words as usize,
        }
    }

    /// Empties all slots, as when they were made. From now on they belong to a context.
    pub(super) fn clear(&mut self, config: &Config, context: &Context) {
        let mut waves = std::mem::take(&mut self.waves);
        for (slot, wave) in waves.iter_mut().enumerate() {
            let mut stacks = std::mem::take(&mut wave.control);
            stacks.start(0);
            let Wave { scheduler, swizzle, .. } = *wave;
            let first_row = slot * context.rows_per_wave();
            *wave = Wave { scheduler, swizzle, first_row, ..Wave::empty(stacks) };
        }
        *self = Waves { waves, ..Waves::without_slots(config) };
    }

    fn sound(&self) -> Result<(), Misfit> {
        let slots = u64::MAX.checked_shr(64 - self.waves.len() as u32).unwrap_or(0);
        let masks = [
            self.resident,
            self.buffered,
            self.hazard_free,
            self.memory_hazard,
            self.draining,
            self.release_fences,
            self.system_fences,
            self.performed,
            self.loaded,
            self.needs_collector,
            self.collecting,
            self.shadow,
            self.at_barrier,
            self.fetching,
            self.fetched_end,
            self.ended,
            self.has_room,
            self.changed_buffers,
        ];
        Misfit::in_range(masks.iter().all(|mask| mask & !slots == 0), "resident")?;
        // The residents have one order.
        let resident = || (0..self.waves.len()).filter(|slot| self.resident >> slot & 1 != 0);
        let older = |slot: Slot| self.older[slot] & self.resident;
        let mut order: Vec<Slot> = resident().collect();
        order.sort_by_key(|&slot| older(slot).count_ones());
        let mut before = 0;
        for slot in order {
            Misfit::agrees(older(slot) == before, "older")?;
            before |= 1 << slot;
        }
        Misfit::in_range(self.waves.iter().all(|wave| wave.issued <= MOST), "issued")?;
        let full = |wave: &Wave| wave.buffer.len() > self.buffer_entries;
        Misfit::in_range(!self.waves.iter().any(full), "buffer")
    }

    /// Starts a wave in a free slot, at the kernel's first word.
    pub(crate) fn start(&mut self, slot: Slot, lanes: u64, member: Member) {
        let wave = &mut self.waves[slot];
        wave.control.start(lanes);
        wave.predicates = [0; PREDICATES];
        wave.buffer.clear(0);
        wave.fetch_word = 0;
        wave.straddling = false;
        wave.issued = 0;
        wave.belongs_to(member);
        wave.last_word = 0;
        debug_assert!(wave.in_flight == 0 && wave.accesses == 0 && wave.pending_predicates == 0);
        self.arrive(slot);
        let bit = 1 << slot;
        self.has_room |= bit;
        for mask in [
            &mut self.buffered,
            &mut self.collecting,
            &mut self.shadow,
            &mut self.faulting,
            &mut self.at_barrier,
            &mut self.fetching,
            &mut self.fetched_end,
            &mut self.ended,
        ] {
            *mask &= !bit;
        }
    }

    /// The wave of a slot is resident from now on, and younger than all others.
    pub(super) fn arrive(&mut self, slot: Slot) {
        let bit = 1 << slot;
        self.older.iter_mut().for_each(|older| *older &= !bit);
        self.older[slot] = self.resident & !bit;
        self.resident |= bit;
        self.touch(slot);
    }

    /// The state of a wave has changed: its scheduler looks again.
    #[inline]
    fn touch(&mut self, slot: Slot) {
        self.stale |= 1 << self.waves[slot].scheduler;
    }

    /// The collectors of these schedulers (bits) have changed, or what their policies know: they look again.
    #[inline]
    pub(super) fn look_again(&mut self, schedulers: u32) {
        self.stale |= schedulers;
    }

    /// The next scheduler from `first` on that has to look. It need not look again until something changes.
    #[inline]
    pub(super) fn take_stale(&mut self, first: usize) -> Option<usize> {
        let rest = self.stale >> first;
        if rest == 0 {
            return None;
        }
        let scheduler = first + rest.trailing_zeros() as usize;
        self.stale &= !(1 << scheduler);
        Some(scheduler)
    }

    /// Schedulers that have to look, as bits.
    #[inline]
    pub(super) fn stale(&self) -> u32 {
        self.stale
    }

    /// True if this cycle has changed what the next one begins with: buffers and accesses of waves, or the end of what
    /// release fences wait for.
    #[inline]
    pub(super) fn has_changed(&self) -> bool {
        self.changed_buffers | self.performed | self.loaded != 0
            || self.waiting_releases() != 0 && self.releases.is_over()
    }

    /// A wave is in a shadow from now on (B1).
    #[inline]
    pub(super) fn begin_shadow(&mut self, slot: Slot) {
        self.shadow |= 1 << slot;
        self.touch(slot);
    }

    /// The shadow of a wave is over.
    #[inline]
    pub(super) fn end_shadow(&mut self, slot: Slot) {
        self.shadow &= !(1 << slot);
        self.touch(slot);
    }

    /// These waves have read their operands. The collectors of these schedulers (bits) have changed.
    #[inline]
    pub(super) fn have_read(&mut self, slots: SlotMask, schedulers: u32) {
        self.collecting &= !slots;
        self.stale |= schedulers;
    }

    /// Waves whose next instruction is a fence that releases.
    #[inline]
    fn waiting_releases(&self) -> SlotMask {
        self.release_fences & self.buffered & self.resident
    }

    /// Decides which release fences may issue in this cycle (B6).
    #[inline]
    pub(super) fn look_at_releases(&mut self) {
        let fences = self.waiting_releases();
        if fences == 0 {
            return;
        }
        let here = fences & !(self.ended | self.at_barrier | self.shadow);
        let performed = |&slot: &Slot| self.waves[slot].accesses == 0;
        let reached = lanes_of(here).filter(performed).fold(0, |reached, slot| reached | 1 << slot);
        let passing = self.releases.look(reached, self.system_fences);
        let draining = self.draining & !fences | fences & !passing;
        lanes_of(draining ^ self.draining).for_each(|slot| self.touch(slot));
        self.draining = draining;
    }

    /// Per slot, the slots whose waves arrived before its own; meaningful for resident ones.
    pub(super) fn older(&self) -> &[SlotMask] {
        &self.older
    }

    /// The slots whose waves arrived before that of this one.
    pub(super) fn older_than(&self, slot: Slot) -> SlotMask {
        self.older[slot]
    }

    /// The slot in `slots`, which is not empty, whose wave arrived first.
    #[inline]
    pub(crate) fn oldest(&self, slots: SlotMask) -> Slot {
        let mut oldest = slots.trailing_zeros() as Slot;
        loop {
            let older = slots & self.older[oldest];
            if older == 0 {
                return oldest;
            }
            oldest = older.trailing_zeros() as Slot;
        }
    }

    /// Frees a slot.
    pub(crate) fn release(&mut self, slot: Slot) {
        let bit = 1 << slot;
        self.resident &= !bit;
        self.ended &= !bit;
        self.buffered &= !bit;
        self.touch(slot);
    }

    /// Called at the begin of a cycle. What the cycle before has changed in the instruction buffers counts for fetch
    /// from now on, and what it has performed for the waves whose next instruction waits for that.
    #[inline]
    pub(super) fn begin_cycle(&mut self, contexts: &Contexts) {
        let mut changed = std::mem::take(&mut self.changed_buffers);
        while changed != 0 {
            let slot = changed.trailing_zeros() as Slot;
            changed &= changed - 1;
            self.put_room(slot, self.waves[slot].buffer.len());
        }
        let performed = std::mem::take(&mut self.performed) | std::mem::take(&mut self.loaded);
        lanes_of(performed & self.draining).for_each(|slot| self.refresh(slot, contexts));
    }

    #[inline]
    fn put_room(&mut self, slot: Slot, in_use: usize) {
        let room = in_use + self.fetch_words <= self.buffer_entries;
        self.has_room = self.has_room & !(1 << slot) | SlotMask::from(room) << slot;
    }

    /// An instruction leaves the buffer of a wave, or it is emptied. Fetch sees it in the next cycle (F1).
    #[inline]
    pub(crate) fn buffer_shrinks(&mut self, slot: Slot) {
        self.changed_buffers |= 1 << slot;
    }

    /// Instructions have entered the buffer of a wave. One that has left it in this cycle makes room in the next.
    #[inline]
    pub(crate) fn buffer_grows(&mut self, slot: Slot) {
        let left = (self.changed_buffers >> slot & 1) as usize;
        self.put_room(slot, self.waves[slot].buffer.len() + left);
        self.changed_buffers |= 1 << slot;
    }

    /// An access of a wave is performed, or its result written.
    #[inline]
    pub(crate) fn access_ends(&mut self, slot: Slot, returns: bool) {
        let wave = &mut self.waves[slot];
        wave.accesses -= 1;
        wave.loads -= u32::from(returns);
        self.performed |= 1 << slot;
        self.loaded |= SlotMask::from(returns) << slot;
    }

    /// The micro-operation at the head of the wave's buffer.
    #[inline]
    pub(crate) fn head<'a>(&self, slot: Slot, contexts: &'a Contexts) -> Option<&'a MicroOp> {
        self.waves[slot].buffer.front().map(|word| self.op(slot, word, contexts))
    }

    /// The micro-operation at a word of a wave's kernel.
    #[inline]
    pub(super) fn op<'a>(&self, slot: Slot, word: u32, contexts: &'a Contexts) -> &'a MicroOp {
        contexts.op(self.waves[slot].context, word)
    }

    /// Recomputes what a wave's next instruction waits for. Call it whenever the head of its buffer, its
    /// pending writes or its outstanding accesses change.
    pub(crate) fn refresh(&mut self, slot: Slot, contexts: &Contexts) {
        self.touch(slot);
        let bit: SlotMask = 1 << slot;
        let wave = &self.waves[slot];
        let Some(word) = wave.buffer.front() else {
            self.buffered &= !bit;
            return;
        };
        let op = contexts.op(wave.context, word);
        self.buffered |= bit;
        let hazard = wave.pending.intersects(&op.hazards);
        // `pending` contains `pending_loads`.
        let memory_hazard = hazard && wave.pending_loads.intersects(&op.hazards);
        let free = !hazard
            && wave.pending_predicates & op.predicate_hazards == 0
            && wave.pending_fragments & op.fragment_hazards == 0
            && wave.reading_fragments & op.fragment_locks == 0;
        let put = |mask: &mut SlotMask, on: bool| *mask = *mask & !bit | SlotMask::from(on) << slot;
        put(&mut self.memory_hazard, memory_hazard);
        put(&mut self.hazard_free, free);
        let collects = op.needs_collector();
        if collects && self.needs_collector & bit != 0 {
            // What follows is about instructions that are done at issue.
            return;
        }
        let drains = self.drains(slot, op);
        let releases = op.releases();
        put(&mut self.needs_collector, collects);
        put(&mut self.draining, drains);
        put(&mut self.release_fences, releases);
        put(&mut self.system_fences, releases && op.inst.scope == Scope::System);
    }

    /// True if the wave had an access outstanding at the end of the cycle before.
    #[inline]
    pub(crate) fn is_accessing(&self, slot: Slot) -> bool {
        self.waves[slot].accesses > 0 || self.performed >> slot & 1 != 0
    }

    /// True if the wave's next instruction is one that is done at issue and has to wait for accesses of its wave as they
    /// were at the end of the cycle before (B4, B5), or for stores of its core (B6).
    fn drains(&self, slot: Slot, op: &MicroOp) -> bool {
        let wave = &self.waves[slot];
        let accesses = self.is_accessing(slot);
        match op.kind {
            Kind::Barrier => accesses,
            Kind::Wait => wave.loads > 0 || self.loaded >> slot & 1 != 0,
            Kind::Fence { .. } if op.inst.scope == Scope::Wave => false,
            Kind::Fence { .. } if op.releases() => !self.releases.passes(slot),
            Kind::Fence { .. } => accesses,
            _ => false,
        }
    }

    /// True if the next instruction waits for earlier ones, so that a retirement may make it ready.
    #[inline]
    pub(crate) fn waits(&self, slot: Slot) -> bool {
        (!self.hazard_free | self.draining) >> slot & 1 != 0
    }

    /// Waves whose next instruction could issue, given a free collector if it needs one.
    #[inline]
    pub(crate) fn ready(&self) -> SlotMask {
        self.resident
            & self.buffered
            & self.hazard_free
            & !(self.collecting | self.shadow | self.at_barrier | self.draining | self.ended)
    }
}
