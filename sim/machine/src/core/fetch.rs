//! The fetch stage: the arbiter and the instruction cache.

use super::context::Contexts;
use super::latches::{Group, Groups};
use super::probe::{Event, EventKind, Probe, Stage, StageEvent, send};
use super::scheduler::Scheduler;
use super::shared::Shared;
use super::slot::{Slot, SlotMask};
use super::wave::Waves;
use crate::clock::Cycle;
use crate::config::Config;
use crate::memory::MemoryPort;
use crate::memory::message::{CODE_SPACE, Request};
use wave_capture::{Capture, Misfit};
use wave_isa::WORD_BYTES;
use wave_isa::table::CacheHint;

/// Tag bit of the memory requests that fill the instruction cache.
pub(crate) const ICACHE_TAG: u32 = 1 << 31;

/// A line that the instruction cache waits for.
#[derive(Debug, Clone, Copy, Capture)]
struct Miss {
    line: u32,
    waves: SlotMask,
    sent: bool,
}

/// Instruction cache and fetch state of a core. The cache holds tags only: code cannot be written, so the
/// words come from the decoded kernel.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(crate) struct Fetch {
    /// Line number + 1 of each way, 0 if empty. The ways of a set are adjacent, most recently used first.
    #[fixed]
    tags: Vec<u32>,
    #[spec]
    ways: usize,
    /// A power of two.
    #[spec]
    sets: usize,
    /// log2 of the words of a line.
    #[spec]
    line_shift: u32,
    #[spec]
    latency: Cycle,
    misses: Vec<Miss>,
    /// Waves whose line has arrived in this cycle.
    #[scratch]
    served: SlotMask,
    /// A line has arrived in this cycle.
    #[scratch]
    has_filled: bool,
    #[spec]
    max_misses: usize,
    /// Lines to request ahead of a fetch.
    #[spec]
    ahead: u32,
    #[spec]
    group_words: u32,
    /// Per scheduler, the wave that it last fetched for.
    #[fixed]
    last: Vec<Slot>,
    #[spec]
    l1_line_bytes: u64,
    /// Sector mask of a whole L1 line.
    #[spec]
    l1_sectors: u8,
}

/// What the fetch stage is given beside its own state.
pub(super) struct FetchStage<'c> {
    pub shared: &'c mut Shared,
    /// Whose waves it chooses among.
    pub schedulers: &'c [Scheduler],
    /// To decode.
    pub groups: &'c mut Groups,
}

impl Fetch {
    /// An empty cache.
    pub(crate) fn new(config: &Config) -> Fetch {
        let fetch = &config.core.fetch;
        let lines = (fetch.icache_bytes / fetch.icache_line_bytes) as usize;
        let ways = fetch.icache_ways as usize;
        Fetch {
            tags: vec![0; lines],
            ways,
            sets: lines / ways,
            line_shift: (fetch.icache_line_bytes / WORD_BYTES).trailing_zeros(),
            latency: Cycle::from(fetch.icache_latency_cycles),
            misses: Vec::with_capacity(fetch.icache_mshrs as usize),
            served: 0,
            has_filled: false,
            max_misses: fetch.icache_mshrs as usize,
            ahead: fetch.prefetch_lines,
            group_words: fetch.words,
            last: vec![0; config.core.schedulers as usize],
            l1_line_bytes: u64::from(config.core.l1.line_bytes),
            l1_sectors: u8::MAX >> (8 - config.core.l1.line_bytes / config.core.l1.sector_bytes),
        }
    }

    /// Empties the cache, as when it was made.
    pub(super) fn clear(&mut self) {
        self.tags.fill(0);
        self.misses.clear();
        self.last.fill(0);
        (self.served, self.has_filled) = (0, false);
    }

    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.misses.len() <= self.max_misses, "misses")?;
        Misfit::in_range(self.misses.iter().all(|miss| miss.line < ICACHE_TAG), "misses")?;
        Misfit::in_range(self.last.iter().all(|&slot| slot < 64), "last")
    }

    /// Refuses other slots than these (bits).
    pub(super) fn check(&self, slots: SlotMask) -> Result<(), Misfit> {
        Misfit::in_range(self.misses.iter().all(|miss| miss.waves & !slots == 0), "misses")
    }

    /// Looks a line up. A hit makes it the most recently used of its set.
    fn lookup(&mut self, line: u32) -> bool {
        let set = (line as usize & (self.sets - 1)) * self.ways;
        let ways = &mut self.tags[set..][..self.ways];
        match ways.iter().position(|&tag| tag == line + 1) {
            Some(0) => true,
            Some(way) => {
                ways[..=way].rotate_right(1);
                true
            }
            None => false,
        }
    }

    /// Replaces the least recently used line of the set (F4).
    fn fill(&mut self, line: u32) {
        let set = (line as usize & (self.sets - 1)) * self.ways;
        let ways = &mut self.tags[set..][..self.ways];
        ways.rotate_right(1);
        ways[0] = line + 1;
    }

    /// Takes entries for the lines behind one that is fetched, up to the last line of the kernel, if they are neither here
    /// nor on their way (F4a).
    #[inline]
    fn prefetch(&mut self, line: u32, last: u32) {
        for next in (line + 1..=last).take(self.ahead as usize) {
            let set = (next as usize & (self.sets - 1)) * self.ways;
            let is_here = self.tags[set..][..self.ways].contains(&(next + 1));
            if !is_here && self.misses.iter().all(|miss| miss.line != next) {
                if self.misses.len() == self.max_misses {
                    return;
                }
                self.misses.push(Miss { line: next, waves: 0, sent: false });
            }
        }
    }

    /// Byte address, in the code space, of the line that is requested for a wave.
    pub(crate) fn missing(&self, slot: Slot) -> Option<u64> {
        let miss = self.misses.iter().find(|miss| miss.waves >> slot & 1 != 0)?;
        Some(CODE_SPACE + (u64::from(miss.line) << self.line_shift) * u64::from(WORD_BYTES))
    }

    /// A wave that was redirected or has ended waits for no line.
    fn discard(&mut self, slot: Slot) {
        for miss in &mut self.misses {
            miss.waves &= !(1 << slot);
        }
    }

    /// A line has arrived. Returns the waves that waited for it; they may request again, one of them in this cycle (F4).
    pub(crate) fn filled(&mut self, tag: u32) -> SlotMask {
        let line = tag & !ICACHE_TAG;
        self.fill(line);
        self.has_filled = true;
        self.served = match self.misses.iter().position(|m| m.line == line) {
            Some(i) => self.misses.swap_remove(i).waves,
            None => 0,
        };
        self.served
    }

    /// True if a line has arrived in this cycle: its waves, or those without an entry for a miss, may be requested.
    #[inline]
    pub(super) fn has_filled(&self) -> bool {
        self.has_filled
    }

    /// Sends one miss of the cycles before to the memory side if there is one and the port is free.
    pub(super) fn send_miss<P: Probe>(&mut self, now: Cycle, port: &mut MemoryPort, probe: &mut P) {
        let Some(miss) = self.misses.iter_mut().find(|m| !m.sent) else { return };
        if !port.ready(now) {
            return;
        }
        miss.sent = true;
        let address = CODE_SPACE + (u64::from(miss.line) << self.line_shift) * u64::from(WORD_BYTES);
        let line = address & !(self.l1_line_bytes - 1);
        let request = Request::read(ICACHE_TAG | miss.line, line, self.l1_sectors, CacheHint::Cached);
        send(now, port, request, probe);
    }

    /// True if a miss waits for the port.
    pub(crate) fn wants_port(&self) -> bool {
        self.misses.iter().any(|m| !m.sent)
    }
}

impl Fetch {
    /// The fetch stage: each scheduler requests one group, for the next wave in turn that has room and is not in a
    /// `shadow` (F1). Waves whose line has arrived in this cycle come first (F4). True if it has requested one: others may
    /// be requested in the next cycle.
    pub(super) fn tick<P: Probe>(
        &mut self,
        now: Cycle,
        shadow: SlotMask,
        stage: &mut FetchStage<'_>,
        contexts: &Contexts,
        probe: &mut P,
    ) -> bool {
        self.has_filled = false;
        let served = std::mem::take(&mut self.served);
        let waves = &stage.shared.waves;
        let idle =
            waves.resident & waves.has_room & !(waves.fetching | waves.fetched_end | shadow | waves.ended);
        if idle == 0 {
            return false;
        }
        let mut requested = false;
        let with_candidates = stage.schedulers.iter().rev();
        let mut rest = with_candidates.fold(0u32, |found, s| found << 1 | u32::from(idle & s.slots != 0));
        while rest != 0 {
            let scheduler = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let candidates = idle & stage.schedulers[scheduler].slots;
            let slot = match candidates & served {
                0 => next_in_turn(candidates, self.last[scheduler]),
                served => served.trailing_zeros() as Slot,
            };
            if self.request_group(now, slot, stage, contexts, probe) {
                self.last[scheduler] = slot;
                requested = true;
            }
        }
        requested
    }

    /// Requests a group for a wave. False if no entry for a miss is free.
    fn request_group<P: Probe>(
        &mut self,
        now: Cycle,
        slot: Slot,
        stage: &mut FetchStage<'_>,
        contexts: &Contexts,
        probe: &mut P,
    ) -> bool {
        let Shared { spec, waves, account, .. } = &mut *stage.shared;
        let first = waves.waves[slot].fetch_word;
        // Groups and lines are aligned in the code section, not in the kernel.
        let ops = &contexts.of(waves.waves[slot].context).ops;
        let address = ops.base + first;
        let words = (self.group_words - (address & (self.group_words - 1))).min(ops.end() - first);
        let line = address >> self.line_shift;
        if words > 0 && !self.lookup(line) {
            let miss = match self.misses.iter().position(|m| m.line == line) {
                Some(i) => i,
                None if self.misses.len() < self.max_misses => {
                    self.misses.push(Miss { line, waves: 0, sent: false });
                    self.misses.len() - 1
                }
                None => return false,
            };
            self.misses[miss].waves |= 1 << slot;
            waves.fetching |= 1 << slot;
            account.counters.icache_misses += 1;
            self.prefetch(line, (ops.base + ops.end() - 1) >> self.line_shift);
            return true;
        }
        if words > 0 {
            self.prefetch(line, (ops.base + ops.end() - 1) >> self.line_shift);
        }
        stage.groups.send(Group { arrives: now + self.latency, slot, first, words, discarded: false });
        waves.fetching |= 1 << slot;
        waves.waves[slot].fetch_word = first + words;
        account.counters.fetches += 1;
        account.counters.icache_hits += 1;
        let core = spec.index;
        let fetched = StageEvent { cycle: now, core, slot, sequence: 0, word: first, stage: Stage::Fetch };
        probe.tell(EventKind::Stage, || Event::Stage(fetched));
        true
    }

    /// Drops what is fetched for a wave, and what is on its way for it. The wave goes on at another word (F6).
    pub(super) fn refetch(&mut self, slot: Slot, target: u32, waves: &mut Waves, groups: &mut Groups) {
        let bit: SlotMask = 1 << slot;
        let wave = &mut waves.waves[slot];
        wave.buffer.clear(target);
        wave.straddling = false;
        wave.fetch_word = target;
        waves.buffer_shrinks(slot);
        self.forget(slot, groups);
        waves.fetching &= !bit;
        waves.fetched_end &= !bit;
        waves.buffered &= !bit;
    }

    /// Drops what is on its way for a wave that was redirected or has ended.
    pub(super) fn forget(&mut self, slot: Slot, groups: &mut Groups) {
        groups.discard(slot);
        self.discard(slot);
    }
}

/// The lowest set bit above `last`, wrapping around. `candidates` is not 0.
#[inline]
pub(crate) fn next_in_turn(candidates: SlotMask, last: Slot) -> Slot {
    let later = if last == 63 { 0 } else { candidates & (!0 << (last + 1)) };
    (if later != 0 { later } else { candidates }).trailing_zeros() as Slot
}
