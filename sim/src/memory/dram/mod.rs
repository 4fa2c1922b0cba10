//! One memory channel: its queue, the scheduler that turns requests into commands, banks and refresh.
//!
//! The channel moves time, not data: the bytes of a line are in the image from the moment its slice lets go
//! of it until the slice has it again, and no other block can see them in between.

mod mapping;
mod queue;
mod ratio;
mod state;
pub mod timing;

#[cfg(test)]
mod tests;

use super::agenda::Agenda;
use super::geometry::LineGeometry;
use super::l2::Slice;
use crate::clock::Cycle;
use crate::config::{Config, Dram, DramPolicy};
use crate::stats::counters;
use mapping::Mapping;
use queue::{Age, Entry, NONE, Queue};
use ratio::ClockRatio;
pub(super) use state::{BURSTS, FIELDS, ROW_BITS};
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

/// A memory channel.
#[derive(Debug, Clone)]
pub(super) struct Channel {
    config: Dram,
    geometry: LineGeometry,
    mapping: Mapping,
    ratio: ClockRatio,
    timing: Timing,
    burst_clocks: Clock,
    queue: Queue,
    /// Column commands for others since the oldest became the oldest.
    overtaken: u32,
    next_refresh: Clock,
    /// The next clock in which a command could be issued.
    next_try: Clock,
    /// No row command can be issued before this clock, whatever column commands are, unless a request comes or
    /// goes or a row opens or closes.
    rows_from: Clock,
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
            burst_clocks: Clock::from(dram.burst_clocks()),
            queue: Queue::new(dram.queue_entries as usize, dram.banks as usize),
            overtaken: 0,
            next_refresh: if dram.t_refi == 0 { Clock::MAX } else { Clock::from(dram.t_refi) },
            next_try: 0,
            rows_from: 0,
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

    /// Requests in the queue.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
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
        let arrival = self.pull(me, slices, slice_agenda);
        self.advance(after, slices, slice_agenda);
        // The clocks of the next cycle are the first to see it.
        if let Some(entry) = arrival {
            self.queue.push(entry);
            self.rows_from = 0;
            self.next_try = self.next_try.min(after);
        }
        let mut waiting = slices.iter().skip(me).step_by(self.config.channels as usize);
        if self.queue.has_room() && waiting.any(Slice::has_transfer) {
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

    /// Takes one transfer from the channel's slices in turn, if there is room for it.
    fn pull(&mut self, me: usize, slices: &mut [Slice], slice_agenda: &mut Agenda) -> Option<Entry> {
        if !self.queue.has_room() {
            return None;
        }
        let channels = self.config.channels as usize;
        let count = slices.len() / channels;
        for i in 0..count {
            let slice = me + (self.turn + i) % count * channels;
            let Some(transfer) = slices[slice].take_transfer() else { continue };
            slice_agenda.soon(slice);
            self.turn = (self.turn + i + 1) % count;
            self.counters.requests += 1;
            let place = self.mapping.place(slice, transfer.index);
            return Some(Entry {
                line: transfer.line,
                row: place.row,
                bank: place.bank,
                slice: slice as u16,
                bursts: self.bursts_of(transfer.sectors),
                sectors: transfer.sectors,
                classified: false,
                fetch: transfer.fetch,
                epoch: transfer.epoch,
            });
        }
        None
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
        let choice = if self.config.policy == DramPolicy::Fcfs || self.overtaken >= OVERTAKE_LIMIT {
            self.queue.oldest().and_then(|(age, bank, command)| {
                let earliest = self.timing.earliest(command, bank);
                again = again.min(earliest);
                (earliest <= now).then_some((age, bank, command))
            })
        } else {
            // A column command goes before all that opens and closes rows.
            match self.choose([Command::Read, Command::Write], now, &mut again) {
                None if self.rows_from <= now => {
                    let mut rows_from = Clock::MAX;
                    let choice = self.choose([Command::Activate, Command::Precharge], now, &mut rows_from);
                    self.rows_from = rows_from;
                    again = again.min(rows_from);
                    choice
                }
                None => {
                    again = again.min(self.rows_from);
                    None
                }
                column => column,
            }
        };
        let Some((age, bank, command)) = choice else { return again.max(now + 1) };
        match command {
            Command::Activate | Command::Precharge => self.issue_row(now, age, bank, command),
            _ => self.issue_column(now, age, bank, slices, slice_agenda),
        }
        now + 1
    }

    /// Of the requests that one of these commands would serve in clock `now`, the oldest: its age, its bank and
    /// the command. `again` becomes at most the clock in which a command that has to wait could be issued.
    #[inline]
    fn choose(&self, commands: [Command; 2], now: Clock, again: &mut Clock) -> Option<(Age, usize, Command)> {
        let mut best = (NONE, 0, commands[0]);
        for command in commands {
            let wanting = self.queue.wanting(command);
            if wanting == 0 {
                continue;
            }
            self.timing.each_possible(command, wanting, now, again, |bank| {
                let age = self.queue.wants(bank, command);
                if age < best.0 {
                    best = (age, bank, command);
                }
            });
        }
        (best.0 != NONE).then_some(best)
    }

    /// Opens the row that a request needs, or closes the one that is in its way.
    fn issue_row(&mut self, now: Clock, age: Age, bank: usize, command: Command) {
        self.rows_from = 0;
        let Some((_, entry)) = self.queue.find(age, bank) else { return };
        let (row, first) = (entry.row, !std::mem::replace(&mut entry.classified, true));
        if command == Command::Activate {
            self.counters.row_empties += u64::from(first);
            self.counters.activates += 1;
            self.queue.open(bank, row);
            self.issue(now, command, bank, row);
        } else {
            self.counters.row_conflicts += u64::from(first);
            self.counters.precharges += 1;
            self.queue.close(bank);
            self.issue(now, command, bank, 0);
        }
    }

    /// A refresh is due: close every bank, then refresh.
    fn try_refresh(&mut self, now: Clock) -> Clock {
        let open = self.queue.any_open();
        let command = if open { Command::PrechargeAll } else { Command::Refresh };
        let earliest = self.timing.earliest(command, 0);
        if earliest > now {
            return earliest;
        }
        self.issue(now, command, 0, 0);
        if open {
            self.counters.precharges += 1;
            self.queue.close_all();
            self.rows_from = 0;
        } else {
            self.counters.refreshes += 1;
            self.next_refresh += Clock::from(self.config.t_refi);
        }
        now + 1
    }

    /// Issues a burst of a request; with its last one the request leaves the queue, and a read's sectors are
    /// at their slice when the data is through.
    fn issue_column(
        &mut self,
        now: Clock,
        age: Age,
        bank: usize,
        slices: &mut [Slice],
        slice_agenda: &mut Agenda,
    ) {
        let oldest = age == self.queue.oldest_age();
        let Some((place, entry)) = self.queue.find(age, bank) else { return };
        entry.bursts &= entry.bursts - 1;
        self.counters.row_hits += u64::from(!std::mem::replace(&mut entry.classified, true));
        let entry = *entry;
        let burst_clocks = self.burst_clocks;
        let bytes = u64::from(self.config.burst_bytes);
        self.counters.data_bus_busy_clocks += burst_clocks;
        if entry.fetch.is_some() {
            self.counters.reads += 1;
            self.counters.read_bytes += bytes;
            self.issue(now, Command::Read, bank, 0);
        } else {
            self.counters.writes += 1;
            self.counters.written_bytes += bytes;
            self.issue(now, Command::Write, bank, 0);
        }
        if !oldest {
            self.overtaken += 1;
        }
        if entry.bursts != 0 {
            return;
        }
        self.queue.remove(bank, place);
        self.rows_from = 0;
        if oldest {
            self.overtaken = 0;
        }
        let slice = usize::from(entry.slice);
        let latency = if entry.fetch.is_some() { self.config.t_cl } else { self.config.t_cwl };
        let at = self.ratio.cycle_after(now + Clock::from(latency) + burst_clocks);
        match entry.fetch {
            Some(mshr) => slices[slice].expect_fill(at, mshr, entry.sectors),
            None => slices[slice].expect_written(at, entry.epoch),
        }
        slice_agenda.at(slice, at);
    }

    fn issue(&mut self, now: Clock, command: Command, bank: usize, row: u32) {
        self.timing.issue(command, bank, now);
        if let Some(commands) = &mut self.commands {
            commands.push(Issued { clock: now, command, bank: bank as u16, row });
        }
    }
}

/// Places of lines, for tests that need lines of a certain bank and row.
#[cfg(test)]
pub(super) fn place_of(config: &Config) -> impl Fn(usize, u32) -> mapping::Place + use<> {
    let mapping = Mapping::new(config);
    move |slice, index| mapping.place(slice, index)
}
