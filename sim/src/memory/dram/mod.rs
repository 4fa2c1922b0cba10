//! One memory channel: its queue, the scheduler that turns requests into commands, banks and refresh.
//!
//! The channel moves time, not data: the bytes of a line are in the image from the moment its slice lets go
//! of it until the slice has it again, and no other block can see them in between.

mod mapping;
mod ratio;
pub mod timing;

#[cfg(test)]
mod tests;

use super::agenda::Agenda;
use super::geometry::{LineGeometry, LineNumber};
use super::l2::{MshrId, Slice};
use crate::clock::Cycle;
use crate::config::{Config, Dram, DramPolicy};
use crate::stats::counters;
use mapping::Mapping;
use ratio::ClockRatio;
use timing::{Clock, Command, Timing};

counters! {
    /// What the memory channels did.
    "dram" DramCounters {
        reads: "bursts", "Read bursts.";
        writes: "bursts", "Write bursts.";
        read_bytes: "bytes", "Bytes read.";
        written_bytes: "bytes", "Bytes written, masked ones included.";
        row_hits: "requests", "Requests whose row was open when their first command was issued.";
        row_empties: "requests", "Requests whose bank was closed.";
        row_conflicts: "requests", "Requests whose bank had another row open.";
        activates: "commands", "Activate commands.";
        precharges: "commands", "Precharge commands, for one bank or all.";
        refreshes: "commands", "Refresh commands.";
        data_bus_busy_clocks: "memory clocks", "Memory clocks that bursts held the data bus, summed over channels.";
        requests: "requests", "Requests that entered a channel's queue.";
    }
}

/// A command as it appeared on a channel's command bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issued {
    /// Memory clock.
    pub clock: Clock,
    /// Command.
    pub command: Command,
    /// Bank; 0 for commands to all banks.
    pub bank: u16,
    /// Row of an activate, 0 otherwise.
    pub row: u32,
}

/// With `fr_fcfs`, younger bursts that may overtake the oldest request before it gets its way.
pub const OVERTAKE_LIMIT: u32 = 64;

const CLOSED: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Entry {
    line: LineNumber,
    row: u32,
    bank: u16,
    slice: u16,
    /// Bursts that are still to be issued.
    bursts: u16,
    sectors: u8,
    /// Counted as row hit, empty or conflict.
    classified: bool,
    fetch: Option<MshrId>,
    /// The first memory clock that sees it.
    from: Clock,
}

/// A memory channel.
#[derive(Debug, Clone)]
pub(super) struct Channel {
    config: Dram,
    geometry: LineGeometry,
    mapping: Mapping,
    ratio: ClockRatio,
    timing: Timing,
    open_rows: Vec<u32>,
    /// Oldest first.
    queue: Vec<Entry>,
    /// Column commands for others since the oldest became the oldest.
    overtaken: u32,
    next_refresh: Clock,
    /// The next clock in which a command could be issued.
    next_try: Clock,
    /// Slice of this channel whose turn it is.
    turn: usize,
    counters: DramCounters,
    /// Commands issued, if they are recorded.
    commands: Option<Vec<Issued>>,
}

impl Channel {
    pub(super) fn new(config: &Config) -> Channel {
        let dram = config.dram;
        Channel {
            config: dram,
            geometry: LineGeometry::new(config),
            mapping: Mapping::new(config),
            ratio: ClockRatio::new(config),
            timing: Timing::new(&dram),
            open_rows: vec![CLOSED; dram.banks as usize],
            queue: Vec::with_capacity(dram.queue_entries as usize),
            overtaken: 0,
            next_refresh: if dram.t_refi == 0 { Clock::MAX } else { Clock::from(dram.t_refi) },
            next_try: 0,
            turn: 0,
            counters: DramCounters::default(),
            commands: None,
        }
    }

    pub(super) fn counters(&self) -> &DramCounters {
        &self.counters
    }

    pub(super) fn record_commands(&mut self) {
        self.commands = Some(Vec::new());
    }

    pub(super) fn commands(&self) -> &[Issued] {
        self.commands.as_deref().unwrap_or(&[])
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// Simulates the memory clocks of a core cycle. An idle channel catches up on refreshes when it is next
    /// used, or by [`settle`](Self::settle).
    pub(super) fn tick(
        &mut self,
        now: Cycle,
        me: usize,
        slices: &mut [Slice],
        slice_agenda: &mut Agenda,
        agenda: &mut Agenda,
    ) {
        let (first, after) = (self.ratio.first_clock(now), self.ratio.first_clock(now + 1));
        self.advance(first, slices, slice_agenda);
        self.pull(me, after, slices, slice_agenda);
        self.advance(after, slices, slice_agenda);
        let mut waiting = slices.iter().skip(me).step_by(self.config.channels as usize);
        if self.has_room() && waiting.any(Slice::has_transfer) {
            agenda.soon(me);
        }
        if !self.queue.is_empty() {
            agenda.at(me, self.ratio.cycle_of(self.next_try));
        }
    }

    /// Issues the refreshes that an idle channel has had before core cycle `now`.
    pub(super) fn settle(&mut self, now: Cycle, slices: &mut [Slice], slice_agenda: &mut Agenda) {
        if self.is_idle() {
            self.advance(self.ratio.first_clock(now), slices, slice_agenda);
        }
    }

    fn has_room(&self) -> bool {
        self.queue.len() < self.config.queue_entries as usize
    }

    /// Takes one transfer from the channel's slices in turn; the clocks from `from` on see it.
    fn pull(&mut self, me: usize, from: Clock, slices: &mut [Slice], slice_agenda: &mut Agenda) {
        if !self.has_room() {
            return;
        }
        let channels = self.config.channels as usize;
        let count = slices.len() / channels;
        for i in 0..count {
            let slice = me + (self.turn + i) % count * channels;
            let Some(transfer) = slices[slice].take_transfer() else { continue };
            slice_agenda.soon(slice);
            self.turn = (self.turn + i + 1) % count;
            let place = self.mapping.place(slice, transfer.index);
            self.queue.push(Entry {
                line: transfer.line,
                row: place.row,
                bank: place.bank,
                slice: slice as u16,
                bursts: self.bursts_of(transfer.sectors),
                sectors: transfer.sectors,
                classified: false,
                fetch: transfer.fetch,
                from,
            });
            self.counters.requests += 1;
            self.next_try = self.next_try.min(from);
            return;
        }
    }

    /// Bursts that cover some sectors of a line.
    fn bursts_of(&self, sectors: u8) -> u16 {
        let (burst, sector) = (self.config.burst_bytes, self.geometry.sector_bytes());
        let mut bursts = 0;
        for i in 0..self.geometry.sectors() {
            if sectors >> i & 1 == 1 {
                for byte in (i * sector..(i + 1) * sector).step_by(burst.min(sector) as usize) {
                    bursts |= 1 << (byte / burst);
                }
            }
        }
        bursts
    }

    /// Issues every command before clock `until`.
    fn advance(&mut self, until: Clock, slices: &mut [Slice], slice_agenda: &mut Agenda) {
        while self.next_try < until {
            self.next_try = self.try_issue(self.next_try, slices, slice_agenda);
        }
    }

    /// Issues at most one command in clock `now`, and says when to try again.
    fn try_issue(&mut self, now: Clock, slices: &mut [Slice], slice_agenda: &mut Agenda) -> Clock {
        if now >= self.next_refresh {
            return self.try_refresh(now);
        }
        let mut again = self.next_refresh;
        let oldest_only = self.config.policy == DramPolicy::Fcfs || self.overtaken >= OVERTAKE_LIMIT;
        let visible = if oldest_only { self.queue.len().min(1) } else { self.queue.len() };
        // Banks with a request for their open row, which nothing but the oldest request's right may close.
        let mut wanted = 0u64;
        // Oldest request of each bank that needs another row.
        let mut misses = 0u64;
        let mut column = None;
        for i in 0..visible {
            let entry = &self.queue[i];
            if entry.from > now {
                again = again.min(entry.from);
                break;
            }
            let bank = usize::from(entry.bank);
            if self.open_rows[bank] != entry.row {
                misses |= 1 << bank;
                continue;
            }
            wanted |= 1 << bank;
            let command = if entry.fetch.is_some() { Command::Read } else { Command::Write };
            let earliest = self.timing.earliest(command, bank);
            if earliest > now {
                again = again.min(earliest);
                continue;
            }
            // The accesses to a line keep their order.
            if self.queue[..i].iter().all(|older| older.line != entry.line) {
                column = Some(i);
                break;
            }
        }
        if let Some(i) = column {
            self.issue_column(now, i, slices, slice_agenda);
            return now + 1;
        }
        for i in 0..visible {
            let entry = &self.queue[i];
            let bank = usize::from(entry.bank);
            if entry.from > now || misses == 0 {
                break;
            }
            let open = self.open_rows[bank];
            if open == entry.row || misses >> bank & 1 == 0 {
                continue;
            }
            misses &= !(1 << bank);
            if open != CLOSED && wanted >> bank & 1 == 1 {
                continue;
            }
            let command = if open == CLOSED { Command::Activate } else { Command::Precharge };
            let earliest = self.timing.earliest(command, bank);
            if earliest > now {
                again = again.min(earliest);
                continue;
            }
            let row = entry.row;
            self.classify(i, if open == CLOSED { Outcome::Empty } else { Outcome::Conflict });
            if command == Command::Activate {
                self.counters.activates += 1;
                self.open_rows[bank] = row;
                self.issue(now, command, bank, row);
            } else {
                self.counters.precharges += 1;
                self.open_rows[bank] = CLOSED;
                self.issue(now, command, bank, 0);
            }
            return now + 1;
        }
        again.max(now + 1)
    }

    /// A refresh is due: close every bank, then refresh.
    fn try_refresh(&mut self, now: Clock) -> Clock {
        let open = self.open_rows.iter().any(|&row| row != CLOSED);
        let command = if open { Command::PrechargeAll } else { Command::Refresh };
        let earliest = self.timing.earliest(command, 0);
        if earliest > now {
            return earliest;
        }
        self.issue(now, command, 0, 0);
        if open {
            self.counters.precharges += 1;
            self.open_rows.fill(CLOSED);
        } else {
            self.counters.refreshes += 1;
            self.next_refresh += Clock::from(self.config.t_refi);
        }
        now + 1
    }

    /// Issues a burst of a request; with its last one the request leaves the queue, and a read's sectors are
    /// at their slice when the data is through.
    fn issue_column(&mut self, now: Clock, i: usize, slices: &mut [Slice], slice_agenda: &mut Agenda) {
        self.classify(i, Outcome::Hit);
        let entry = &mut self.queue[i];
        entry.bursts &= entry.bursts - 1;
        let entry = *entry;
        let burst_clocks = Clock::from(self.config.burst_clocks());
        let bytes = u64::from(self.config.burst_bytes);
        self.counters.data_bus_busy_clocks += burst_clocks;
        if entry.fetch.is_some() {
            self.counters.reads += 1;
            self.counters.read_bytes += bytes;
            self.issue(now, Command::Read, usize::from(entry.bank), 0);
        } else {
            self.counters.writes += 1;
            self.counters.written_bytes += bytes;
            self.issue(now, Command::Write, usize::from(entry.bank), 0);
        }
        if i > 0 {
            self.overtaken += 1;
        }
        if entry.bursts != 0 {
            return;
        }
        self.queue.remove(i);
        if i == 0 {
            self.overtaken = 0;
        }
        if let Some(mshr) = entry.fetch {
            let at = self.ratio.cycle_after(now + Clock::from(self.config.t_cl) + burst_clocks);
            let slice = usize::from(entry.slice);
            slices[slice].expect_fill(at, mshr, entry.sectors);
            slice_agenda.at(slice, at);
        }
    }

    fn issue(&mut self, now: Clock, command: Command, bank: usize, row: u32) {
        self.timing.issue(command, bank, now);
        if let Some(commands) = &mut self.commands {
            commands.push(Issued { clock: now, command, bank: bank as u16, row });
        }
    }

    fn classify(&mut self, i: usize, outcome: Outcome) {
        if !std::mem::replace(&mut self.queue[i].classified, true) {
            match outcome {
                Outcome::Hit => self.counters.row_hits += 1,
                Outcome::Empty => self.counters.row_empties += 1,
                Outcome::Conflict => self.counters.row_conflicts += 1,
            }
        }
    }
}

/// How a request found its bank.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Hit,
    Empty,
    Conflict,
}

/// Places of lines, for tests that need lines of a certain bank and row.
#[cfg(test)]
pub(super) fn place_of(config: &Config) -> impl Fn(usize, u32) -> mapping::Place + use<> {
    let mapping = Mapping::new(config);
    move |slice, index| mapping.place(slice, index)
}
