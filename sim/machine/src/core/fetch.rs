//! Fetch and decode: the arbiter, the instruction cache, and the decoder of one- and two-word instructions.

use super::Core;
use super::probe::{Event, EventKind, Probe, Stage, StageEvent, send};
use super::uop::MicroOps;
use super::wave::{Slot, SlotMask};
use crate::clock::{Cycle, NEVER, may_plan};
use crate::config::Config;
use crate::memory::MemoryPort;
use crate::memory::message::{CODE_SPACE, Request};
use std::collections::VecDeque;
use wave_capture::{Capture, Misfit};
use wave_isa::WORD_BYTES;
use wave_isa::table::CacheHint;

/// Tag bit of the memory requests that fill the instruction cache.
pub(crate) const ICACHE_TAG: u32 = 1 << 31;

/// A fetch on its way from the instruction cache to the decoder.
#[derive(Debug, Clone, Copy, Capture)]
struct Group {
    arrives: Cycle,
    slot: Slot,
    /// First word of the kernel in the group.
    first: u32,
    words: u32,
    /// The wave was redirected meanwhile: the words are dropped on arrival.
    discarded: bool,
}

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
    #[spec]
    max_misses: usize,
    #[spec]
    group_words: u32,
    /// Groups on their way, in order of arrival: all have the same latency.
    groups: VecDeque<Group>,
    /// Per scheduler, the wave that it last fetched for.
    #[fixed]
    last: Vec<Slot>,
    #[spec]
    l1_line_bytes: u64,
    /// Sector mask of a whole L1 line.
    #[spec]
    l1_sectors: u8,
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
            max_misses: fetch.icache_mshrs as usize,
            group_words: fetch.words,
            groups: VecDeque::with_capacity(64),
            last: vec![0; config.core.schedulers as usize],
            l1_line_bytes: u64::from(config.core.l1.line_bytes),
            l1_sectors: u8::MAX >> (8 - config.core.l1.line_bytes / config.core.l1.sector_bytes),
        }
    }

    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.misses.len() <= self.max_misses, "misses")?;
        Misfit::in_range(self.misses.iter().all(|miss| miss.line < ICACHE_TAG), "misses")?;
        Misfit::in_range(self.last.iter().all(|&slot| slot < 64), "last")
    }

    /// Refuses words from `end` on, other slots than these (bits), and cycles that a run does not come to.
    /// The waves of `straddling` have the first word of an instruction whose second comes with the next group.
    pub(super) fn check(
        &self,
        now: Cycle,
        (slots, straddling): (SlotMask, SlotMask),
        end: u32,
    ) -> Result<(), Misfit> {
        let group = |group: &Group| {
            let within = group.first.checked_add(group.words).is_some_and(|after| after <= end);
            let goes_on = group.first > 0 || group.discarded || straddling >> (group.slot % 64) & 1 == 0;
            within
                && goes_on
                && group.slot < 64
                && slots >> group.slot & 1 != 0
                && may_plan(now, group.arrives)
        };
        Misfit::in_range(self.groups.iter().all(group), "groups")?;
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

    /// Byte address, in the code space, of the line that is requested for a wave.
    pub(crate) fn missing(&self, slot: Slot) -> Option<u64> {
        let miss = self.misses.iter().find(|miss| miss.waves >> slot & 1 != 0)?;
        Some(CODE_SPACE + (u64::from(miss.line) << self.line_shift) * u64::from(WORD_BYTES))
    }

    /// Drops what is on its way for a wave that was redirected or has ended.
    pub(crate) fn discard(&mut self, slot: Slot) {
        for group in self.groups.iter_mut().filter(|g| g.slot == slot) {
            group.discarded = true;
        }
        for miss in &mut self.misses {
            miss.waves &= !(1 << slot);
        }
    }

    /// A line has arrived. Returns the waves that waited for it; they may request again, one of them in this cycle (F4).
    pub(crate) fn filled(&mut self, tag: u32) -> SlotMask {
        let line = tag & !ICACHE_TAG;
        self.fill(line);
        self.served = match self.misses.iter().position(|m| m.line == line) {
            Some(i) => self.misses.swap_remove(i).waves,
            None => 0,
        };
        self.served
    }

    /// Sends one miss of the cycles before to the memory side if there is one and the port is free. True if it did.
    pub(crate) fn send_miss<P: Probe>(&mut self, now: Cycle, port: &mut MemoryPort, probe: &mut P) -> bool {
        let Some(miss) = self.misses.iter_mut().find(|m| !m.sent) else { return false };
        if !port.ready(now) {
            return false;
        }
        miss.sent = true;
        let address = CODE_SPACE + (u64::from(miss.line) << self.line_shift) * u64::from(WORD_BYTES);
        let line = address & !(self.l1_line_bytes - 1);
        let request = Request::read(ICACHE_TAG | miss.line, line, self.l1_sectors, CacheHint::Cached);
        send(now, port, request, probe);
        true
    }

    /// True if a miss waits for the port.
    pub(crate) fn wants_port(&self) -> bool {
        self.misses.iter().any(|m| !m.sent)
    }

    /// Cycle in which the next group reaches the decoder.
    pub(crate) fn next_event(&self) -> Cycle {
        self.groups.front().map_or(NEVER, |g| g.arrives)
    }
}

impl Core {
    /// The decode stage: groups that arrive in this cycle enter the instruction buffers.
    pub(super) fn decode<P: Probe>(&mut self, now: Cycle, ops: &MicroOps, probe: &mut P) {
        while let Some(group) = self.fetch.groups.front().copied() {
            if group.arrives > now {
                break;
            }
            self.fetch.groups.pop_front();
            self.activity.progress = true;
            if group.discarded {
                self.account.counters.fetches_discarded += 1;
                continue;
            }
            let bit: SlotMask = 1 << group.slot;
            self.waves.fetching &= !bit;
            let wave = &mut self.waves.waves[group.slot];
            let was_empty = wave.buffer.is_empty();
            let mut push = |word| {
                wave.buffer.push(word);
                let (core, slot) = (self.spec.index, group.slot);
                let decoded = StageEvent { cycle: now, core, slot, sequence: 0, word, stage: Stage::Decode };
                probe.tell(EventKind::Stage, || Event::Stage(decoded));
            };
            if group.words == 0 {
                // The end mark takes a buffer entry, like an instruction (F5).
                push(group.first);
                self.waves.fetched_end |= bit;
            }
            let end = group.first + group.words;
            let mut word = group.first;
            if wave.straddling {
                push(word - 1);
                wave.straddling = false;
                word += 1;
            }
            while word < end {
                let next = word + ops.get(word).words;
                if next > end {
                    wave.straddling = true;
                    break;
                }
                push(word);
                word = next;
            }
            self.waves.buffer_grows(group.slot);
            if was_empty {
                self.waves.refresh(group.slot, ops);
                self.touch(group.slot);
            }
        }
    }

    /// The fetch stage: each scheduler requests one group, for the next wave in turn that has room and is not in a
    /// `shadow` (F1). Waves whose line has arrived in this cycle come first (F4).
    pub(super) fn fetch_groups<P: Probe>(
        &mut self,
        now: Cycle,
        shadow: SlotMask,
        ops: &MicroOps,
        probe: &mut P,
    ) {
        let served = std::mem::take(&mut self.fetch.served);
        let idle = self.waves.resident
            & self.waves.has_room
            & !(self.waves.fetching | self.waves.fetched_end | shadow | self.waves.ended);
        if idle == 0 {
            return;
        }
        let with_candidates = self.schedulers.iter().rev();
        let mut rest = with_candidates.fold(0u32, |found, s| found << 1 | u32::from(idle & s.slots != 0));
        while rest != 0 {
            let scheduler = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let candidates = idle & self.schedulers[scheduler].slots;
            let slot = match candidates & served {
                0 => next_in_turn(candidates, self.fetch.last[scheduler]),
                served => served.trailing_zeros() as Slot,
            };
            self.request_group(now, scheduler, slot, ops, probe);
        }
    }

    fn request_group<P: Probe>(
        &mut self,
        now: Cycle,
        scheduler: usize,
        slot: Slot,
        ops: &MicroOps,
        probe: &mut P,
    ) {
        let fetch = &mut self.fetch;
        let first = self.waves.waves[slot].fetch_word;
        // Groups and lines are aligned in the code section, not in the kernel.
        let address = ops.base + first;
        let words = (fetch.group_words - (address & (fetch.group_words - 1))).min(ops.end() - first);
        let line = address >> fetch.line_shift;
        if words > 0 && !fetch.lookup(line) {
            let miss = match fetch.misses.iter().position(|m| m.line == line) {
                Some(i) => i,
                None if fetch.misses.len() < fetch.max_misses => {
                    fetch.misses.push(Miss { line, waves: 0, sent: false });
                    fetch.misses.len() - 1
                }
                None => return,
            };
            fetch.misses[miss].waves |= 1 << slot;
            self.waves.fetching |= 1 << slot;
            fetch.last[scheduler] = slot;
            self.account.counters.icache_misses += 1;
            self.activity.progress = true;
            return;
        }
        fetch.last[scheduler] = slot;
        fetch.groups.push_back(Group { arrives: now + fetch.latency, slot, first, words, discarded: false });
        self.waves.fetching |= 1 << slot;
        self.waves.waves[slot].fetch_word = first + words;
        self.account.counters.fetches += 1;
        self.account.counters.icache_hits += 1;
        self.activity.progress = true;
        let core = self.spec.index;
        let fetched = StageEvent { cycle: now, core, slot, sequence: 0, word: first, stage: Stage::Fetch };
        probe.tell(EventKind::Stage, || Event::Stage(fetched));
    }
}

/// The lowest set bit above `last`, wrapping around. `candidates` is not 0.
#[inline]
pub(crate) fn next_in_turn(candidates: SlotMask, last: Slot) -> Slot {
    let later = if last == 63 { 0 } else { candidates & (!0 << (last + 1)) };
    (if later != 0 { later } else { candidates }).trailing_zeros() as Slot
}
