//! One bank of the L3: a sectored, set-associative, write-back cache in front of a memory channel.
//!
//! The cache is on the side of the memory: what it holds is what memory holds, for every core and for the host. Like a
//! channel it moves time, not data: the bytes of its lines are in the image, and nothing else can see them in between.
//! The bank serves one transfer at a time, in order: the oldest waiter whose sectors have come, else the head of its
//! queue (M36).

mod check;
mod spec;
mod state;

use super::agenda::Agenda;
use super::cache::{Access, Cache, MshrId, Plan, Stall};
use super::geometry::LineNumber;
use super::hops::Holder;
use super::l2::Slice;
use super::replacement::CachePlace;
use super::tags::{Frame, Tags};
use super::trail::Touched;
use super::transfer::Transfer;
use crate::clock::{Cycle, NEVER};
use crate::config::Config;
use crate::registry::{PlugIn, Reference, ReferenceKind, Requester};
use crate::stats::counters;
use spec::Spec;
pub(super) use state::FIELDS;
use std::collections::VecDeque;
use wave_capture::Capture;

counters! {
    /// What the banks of the L3 did. An access is a line that a slice of the L2 fetches or writes back; each has one
    /// outcome.
    "l3" L3Counters {
        reads: "lines", "Lines fetched by slices.";
        writes: "lines", "Lines written back by slices.";
        hits: "accesses", "Outcome HIT: served without waiting for memory (or a write to a line that is present).";
        mshr_hits: "accesses", "Outcome MSHR_HIT: waited for a line that was already outstanding.";
        sector_misses: "accesses", "Outcome SECTOR_MISS: the line was present, but sectors had to be fetched.";
        misses: "accesses", "Outcome MISS: the line was not present.";
        reservation_fails: "accesses", "Outcome RESERVATION_FAIL: accesses that could not start at once, each counted once.";
        reservation_fail_cycles: "cycles", "Cycles in which such accesses blocked the bank's queue.";
        evictions: "lines", "Lines evicted to make room for another.";
        write_backs: "lines", "Part of evictions: lines with dirty sectors, written to memory.";
        fetched_sectors: "sectors", "Sectors fetched from memory.";
        read_sectors: "sectors", "Sectors that slices fetched.";
        written_sectors: "sectors", "Sectors that slices wrote back.";
        busy_cycles: "cycles", "Cycles in which the sectors of an access held a bank.";
    }
}

/// A bank of the L3.
#[derive(Debug, Capture)]
#[sound]
pub(super) struct Bank {
    #[spec]
    spec: Spec,
    /// Its block in the agenda.
    #[spec]
    block: usize,
    cache: Cache<Transfer>,
    /// Sectors of each frame with bytes that memory lacks.
    #[fixed]
    dirty: Vec<u8>,
    queue: VecDeque<Transfer>,
    to_channel: VecDeque<Transfer>,
    /// The next slice in turn, of those of this bank.
    turn: usize,
    /// First cycle in which it can serve another access.
    free_at: Cycle,
    stall: Stall,
    counters: L3Counters,
}

impl Access for Transfer {
    /// A write-back needs no sectors.
    #[inline]
    fn needed(&self) -> u8 {
        if self.fetch.is_some() { self.sectors } else { 0 }
    }

    #[inline]
    fn is_read(&self) -> bool {
        self.fetch.is_some()
    }
}

/// The reference that a plug-in sees at the L3. The core is not known.
fn reference(transfer: &Transfer, line: u64) -> Reference {
    let kind = if transfer.is_read() { ReferenceKind::Load } else { ReferenceKind::Store };
    Reference { line, by: Requester::core(0), kind, streaming: false }
}

impl Bank {
    /// The banks of a machine, which are these blocks of the agenda; none without an L3.
    pub(super) fn all(config: &Config, blocks: impl Iterator<Item = usize>) -> Vec<Bank> {
        blocks.zip(0..).map(|(block, index)| Bank::new(config, index, block)).collect()
    }

    /// The bank of channel `index`, which is this block of the agenda.
    fn new(config: &Config, index: u32, block: usize) -> Bank {
        let l3 = &config.l3;
        let line_bytes = config.core.l1.line_bytes;
        let place = CachePlace { plugins: &config.plugins, level: 3, index, line_bytes };
        let tags = Tags::new(l3.bank_bytes, l3.ways, l3.replacement, &place);
        Bank {
            dirty: vec![0; tags.frames()],
            cache: Cache::new(tags, l3.mshrs, l3.mshr_merges),
            queue: VecDeque::new(),
            to_channel: VecDeque::new(),
            turn: 0,
            free_at: 0,
            stall: Stall::default(),
            counters: L3Counters::default(),
            block,
            spec: Spec::new(config, index),
        }
    }

    /// Removes its lines, whose bytes device memory has.
    pub(super) fn empty(&mut self) {
        self.cache.empty(|frame| self.dirty[frame.index()] = 0);
    }

    pub(super) fn counters(&self) -> &L3Counters {
        &self.counters
    }

    /// Values of the counters of the plug-in that replaces lines here, if one does.
    pub(super) fn plug_in_counters(&self) -> Option<(&'static PlugIn, Vec<u64>)> {
        self.cache.tags.plug_in_counters()
    }

    /// MSHRs that hold an outstanding line.
    pub(super) fn mshrs_in_use(&self) -> usize {
        self.cache.misses.in_use()
    }

    /// True if nothing is queued, outstanding or about to be sent.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.to_channel.is_empty() && self.cache.misses.is_empty()
    }

    /// True if transfers wait for the channel.
    #[inline]
    pub(super) fn has_transfer(&self) -> bool {
        !self.to_channel.is_empty()
    }

    /// Takes the oldest transfer to the channel. A bank that may have waited for its place continues in the next cycle.
    #[inline]
    pub(super) fn take_transfer(&mut self, agenda: &mut Agenda) -> Option<Transfer> {
        let transfer = self.to_channel.pop_front()?;
        if self.stall.is_on() {
            agenda.soon(self.block);
        }
        Some(transfer)
    }

    /// Announces sectors that arrive from memory in cycle `at`. Calls come in ascending order of `at`.
    #[inline]
    pub(super) fn expect_fill(&mut self, at: Cycle, mshr: MshrId, sectors: u8, agenda: &mut Agenda) {
        self.cache.misses.expect((at, mshr, sectors), self.block, agenda);
    }

    fn room_to_channel(&self) -> usize {
        self.spec.to_channel_capacity - self.to_channel.len()
    }

    /// Simulates a cycle and plans the next one in which the bank has something to do without a push from outside. True
    /// if transfers wait for the channel, and there were none before.
    pub(super) fn tick(&mut self, now: Cycle, slices: &mut [Slice], agenda: &mut Agenda) -> bool {
        let sent = self.to_channel.len();
        while let Some((_, sectors)) = self.cache.arrive(now) {
            self.counters.fetched_sectors += u64::from(sectors.count_ones());
        }
        // A head that cannot begin waits for a fill, for room to the channel, or for a waiter's turn. Each of them brings
        // the bank here.
        let waits = self.free_at <= now && !self.serve_one(now, slices, agenda) && !self.queue.is_empty();
        self.pull(slices, agenda);
        if !waits && (self.cache.misses.first_ready().is_some() || !self.queue.is_empty()) {
            agenda.at(self.block, self.free_at.max(now + 1));
        }
        if self.queue.len() < self.spec.queue_capacity
            && self.spec.slices().any(|slice| slices[slice].has_transfer())
        {
            agenda.soon(self.block);
        }
        let fill = self.cache.misses.next_fill();
        if fill != NEVER {
            agenda.at(self.block, fill);
        }
        sent == 0 && self.has_transfer()
    }

    /// Serves the first waiter of the line that has been ready for longest, else the head of the queue if it can begin.
    /// True if it did.
    fn serve_one(&mut self, now: Cycle, slices: &mut [Slice], agenda: &mut Agenda) -> bool {
        if let Some(mshr) = self.cache.misses.first_ready() {
            let (frame, waiter) = self.cache.take_waiter(mshr);
            if let Some(transfer) = waiter {
                self.serve(now, transfer, frame, slices, agenda);
            }
            self.cache.performed(mshr);
            return true;
        }
        let Some(&transfer) = self.queue.front() else { return false };
        let is_dirty = |frame: Frame| self.dirty[frame.index()] != 0;
        let place = (transfer.line, self.spec.index_of(&transfer));
        let plan = self.cache.plan(place, &transfer, self.room_to_channel(), is_dirty);
        let L3Counters { reservation_fails, reservation_fail_cycles, .. } = &mut self.counters;
        self.stall.note(now, plan.is_none(), reservation_fails, reservation_fail_cycles);
        if let Some(plan) = plan {
            self.queue.pop_front();
            self.execute(now, transfer, plan, slices, agenda);
        }
        plan.is_some()
    }

    /// Takes one transfer from the bank's slices in turn, if there is room for it.
    fn pull(&mut self, slices: &mut [Slice], agenda: &mut Agenda) {
        if self.queue.len() == self.spec.queue_capacity {
            return;
        }
        let count = self.spec.slice_count();
        for turn in (self.turn..count).chain(0..self.turn) {
            if let Some(transfer) = slices[self.spec.slice(turn)].take_transfer(agenda) {
                self.turn = if turn + 1 < count { turn + 1 } else { 0 };
                self.queue.push_back(transfer);
                return;
            }
        }
    }

    fn execute(
        &mut self,
        now: Cycle,
        transfer: Transfer,
        plan: Plan,
        slices: &mut [Slice],
        agenda: &mut Agenda,
    ) {
        match plan {
            Plan::Serve(frame) => {
                self.counters.hits += 1;
                self.serve(now, transfer, frame, slices, agenda);
            }
            Plan::Join(id, fetch) => {
                if fetch == 0 {
                    self.counters.mshr_hits += 1;
                } else {
                    self.counters.sector_misses += 1;
                    self.fetch(id, &transfer, fetch);
                }
                self.cache.misses.wait(id, transfer);
            }
            Plan::Miss(frame, missing) => {
                let known = self.cache.valid[frame.index()] != 0 || self.dirty[frame.index()] != 0;
                *(if known { &mut self.counters.sector_misses } else { &mut self.counters.misses }) += 1;
                self.begin_miss(transfer, frame, missing);
            }
            Plan::Replace(frame) => {
                self.counters.misses += 1;
                self.evict(frame);
                let address = self.spec.geometry.address(transfer.line);
                self.cache.tags.install(frame, transfer.line, || reference(&transfer, address));
                match transfer.needed() {
                    0 => self.serve(now, transfer, frame, slices, agenda),
                    needed => self.begin_miss(transfer, frame, needed),
                }
            }
        }
    }

    /// Empties a frame; dirty sectors go to memory.
    fn evict(&mut self, frame: Frame) {
        let i = frame.index();
        self.cache.valid[i] = 0;
        let sectors = std::mem::take(&mut self.dirty[i]);
        if let Some(line) = self.cache.tags.line(frame) {
            self.counters.evictions += 1;
            if sectors != 0 {
                self.counters.write_backs += 1;
                self.to_channel.push_back(self.spec.transfer(line, sectors, None));
            }
        }
    }

    fn begin_miss(&mut self, transfer: Transfer, frame: Frame, missing: u8) {
        let Some(id) = self.cache.misses.begin(frame) else { return };
        self.fetch(id, &transfer, missing);
        self.cache.misses.wait(id, transfer);
    }

    /// Requests sectors of a line from memory.
    fn fetch(&mut self, id: MshrId, transfer: &Transfer, missing: u8) {
        let sectors = self.cache.request(id, missing, self.spec.geometry, self.spec.sectors_per_burst);
        self.to_channel.push_back(self.spec.transfer(transfer.line, sectors, Some(id)));
    }

    /// Performs an access on a frame that has all that it needs. Its sectors hold the bank.
    fn serve(
        &mut self,
        now: Cycle,
        transfer: Transfer,
        frame: Frame,
        slices: &mut [Slice],
        agenda: &mut Agenda,
    ) {
        let cycles = self.spec.cycles_of(transfer.sectors);
        self.free_at = now + cycles;
        self.counters.busy_cycles += cycles;
        let sectors = u64::from(transfer.sectors.count_ones());
        let address = self.spec.geometry.address(transfer.line);
        self.cache.tags.touch(frame, || reference(&transfer, address));
        let slice = &mut slices[usize::from(transfer.slice)];
        if let Some(mshr) = transfer.fetch {
            self.counters.reads += 1;
            self.counters.read_sectors += sectors;
            let at = now + cycles - 1 + self.spec.hit_latency;
            slice.expect_fill(at, mshr, transfer.sectors, agenda);
        } else {
            self.counters.writes += 1;
            self.counters.written_sectors += sectors;
            self.dirty[frame.index()] |= transfer.sectors;
            self.cache.valid[frame.index()] |= transfer.whole;
            slice.expect_written(now + cycles, transfer.epoch, agenda);
        }
    }

    /// Where a read of a line is, if it is here.
    pub(super) fn holder(&self, line: LineNumber) -> Option<Holder> {
        let bank = self.spec.channel;
        let is_read_of = |transfer: &Transfer| transfer.line == line && transfer.is_read();
        if let Some(before) = self.queue.iter().position(is_read_of) {
            return Some(Holder::BankQueue { bank, before });
        }
        if self.to_channel.iter().any(is_read_of) {
            return Some(Holder::BankMiss { bank });
        }
        let frame = self.cache.tags.find(self.spec.index(line), line)?;
        let is_outstanding =
            self.cache.misses.of(frame).is_some_and(|id| self.cache.misses.outstanding(id) != 0);
        (!is_outstanding).then_some(Holder::BankData { bank })
    }

    /// Holds a line as it would behind accesses that it has not had. Nothing is counted, and a line that has to leave
    /// for it takes no time to.
    pub(super) fn warm(&mut self, touched: &Touched) {
        let line = self.spec.geometry.number(touched.line);
        let index = self.spec.index(line);
        let frame = match self.cache.tags.find(index, line) {
            Some(frame) => frame,
            None => {
                let is_free = |frame: Frame| self.cache.misses.of(frame).is_none();
                let Some(frame) = self.cache.tags.victim(index, is_free) else { return };
                (self.cache.valid[frame.index()], self.dirty[frame.index()]) = (0, 0);
                self.cache.tags.install(frame, line, || touched.reference());
                frame
            }
        };
        if self.cache.misses.of(frame).is_none() {
            self.cache.valid[frame.index()] |= touched.read;
            self.cache.tags.touch(frame, || touched.reference());
        }
    }
}
