//! One memory channel: its queue, the scheduler that turns requests into commands, banks and refresh.
//!
//! The channel moves time, not data: a line's bytes are in the image from the moment its slice lets go of it
//! until the slice has it again. No other block can see them in between.

pub mod check;
mod mapping;
mod plausible;
mod queue;
mod ratio;
mod spec;
mod state;
pub mod timing;

#[cfg(test)]
mod tests;

use super::agenda::Agenda;
use super::geometry::LineNumber;
use super::hops::Burst;
use super::transfer::InFront;
use crate::clock::Cycle;
use crate::config::{Config, DramPolicy};
use crate::stats::counters;
use queue::{COLUMNS, Entry, Key, Queue, WantedRows};
use spec::Spec;
pub(super) use state::{BURSTS, FIELDS, ROW_BITS};
use timing::{Clock, Command, Timing};
use wave_capture::Capture;

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
pub struct IssuedCommand {
    /// Memory clock.
    pub clock: Clock,
    /// Command.
    pub command: Command,
    /// Bank; 0 for commands to all banks.
    pub bank: u16,
    /// Row of an activate, 0 otherwise.
    pub row: u32,
}

/// A memory channel.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(super) struct Channel {
    #[spec]
    spec: Spec,
    /// Its block in the agenda.
    #[spec]
    block: usize,
    timing: Timing,
    queue: Queue,
    /// Column commands for other requests since the oldest request became the oldest.
    overtaken: u32,
    /// Writes go before reads (M27a).
    drains: bool,
    next_refresh: Clock,
    /// First clock not yet simulated in which a command could be issued. It may lead or lag the core cycle;
    /// no other block can observe the difference.
    next_try: Clock,
    /// First cycle in which the queue has room for others, even if a channel that ran ahead has some already.
    room_from: Cycle,
    /// Lower bound of the clock of the next row command. It holds, whatever column commands are issued, until
    /// a request comes or goes or a row opens or closes.
    rows_from: Clock,
    /// The next slice in turn, of those of this channel.
    turn: usize,
    counters: DramCounters,
    /// Commands issued, if they are recorded.
    #[scratch]
    commands: Option<Vec<IssuedCommand>>,
    /// Bursts that are not reported, if they are recorded.
    #[scratch]
    bursts: Option<Vec<Burst>>,
}

impl Channel {
    /// A channel that is this block of the agenda.
    pub(super) fn new(config: &Config, block: usize) -> Channel {
        let dram = config.dram;
        Channel {
            spec: Spec::new(config),
            block,
            timing: Timing::new(&dram),
            queue: Queue::new(dram.queue_entries as usize, dram.banks as usize, dram.bank_groups as usize),
            overtaken: 0,
            drains: false,
            next_refresh: if dram.t_refi == 0 { Clock::MAX } else { Clock::from(dram.t_refi) },
            next_try: 0,
            room_from: 0,
            rows_from: 0,
            turn: 0,
            counters: DramCounters::default(),
            commands: None,
            bursts: None,
        }
    }

    pub(super) fn counters(&self) -> &DramCounters {
        &self.counters
    }

    pub(super) fn record_commands(&mut self) {
        self.commands = Some(Vec::new());
    }

    /// Turns the recording of bursts on or off.
    pub(super) fn record_bursts(&mut self, record: bool) {
        self.bursts = record.then(Vec::new);
    }

    /// The bursts since the last call; empty if they are not recorded.
    pub(super) fn take_bursts(&mut self) -> impl Iterator<Item = Burst> {
        self.bursts.iter_mut().flat_map(|bursts| bursts.drain(..))
    }

    pub(super) fn commands(&self) -> &[IssuedCommand] {
        self.commands.as_deref().unwrap_or(&[])
    }

    /// The bank in which a read of a line waits, and how many requests of it are before.
    pub(super) fn place_of(&self, line: LineNumber) -> Option<(usize, usize)> {
        self.queue.place_of(line)
    }

    /// Requests in the queue.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// Takes a transfer, and simulates memory clocks as far as other blocks can observe them. They observe
    /// two things: room in the queue, and the end of a transfer, which comes some clocks after its last
    /// command. So an idle channel catches up when it is next used. A channel that waits only for its own
    /// commands is visited when the first of them could end a transfer, or by [`settle`](Self::settle). No
    /// cycle from `to` on is simulated.
    pub(super) fn tick(
        &mut self,
        (now, to): (Cycle, Cycle),
        me: usize,
        in_front: &mut InFront<'_>,
        agenda: &mut Agenda,
    ) {
        let after = self.spec.ratio.first_clock(now + 1);
        // If there is room already, the clocks before this cycle cannot change that.
        if !self.has_room(now) {
            self.advance(self.spec.ratio.first_clock(now), in_front, agenda);
        }
        let arrival = self.pull(now, me, in_front, agenda);
        self.advance(after, in_front, agenda);
        // The clocks of the next cycle are the first to see the transfer (M25).
        if let Some(entry) = arrival {
            let bank = usize::from(entry.bank);
            self.queue.push(entry);
            self.turn();
            self.note_row(bank);
            self.next_try = self.next_try.min(after);
        }
        if self.spec.slices_of(me).any(|slice| in_front.has_transfer(me, slice)) {
            if !self.queue.has_room() {
                // No transfer can enter before there is room, so the channel may run ahead of the other
                // blocks.
                let end = self.spec.ratio.first_clock(to);
                while !self.queue.has_room() && self.next_try < end {
                    self.next_try = self.try_issue(self.next_try, in_front, agenda);
                }
            }
            agenda.at(self.block, if self.queue.has_room() { self.room_from } else { to });
        }
        if !self.queue.is_empty() {
            let latency = if self.queue.has_writes() {
                self.spec.dram.t_cl.min(self.spec.dram.t_cwl)
            } else {
                self.spec.dram.t_cl
            };
            let end = self.next_try + Clock::from(latency) + self.spec.burst_clocks;
            agenda.at(self.block, self.spec.ratio.cycle_after(end) - 1);
        }
    }

    /// True if a transfer can enter the queue in this cycle.
    #[inline]
    fn has_room(&self, now: Cycle) -> bool {
        self.queue.has_room() && self.room_from <= now
    }

    /// Simulates the clocks before core cycle `now`, which is at most the cycle after the last one simulated.
    pub(super) fn settle(&mut self, now: Cycle, in_front: &mut InFront<'_>, agenda: &mut Agenda) {
        self.advance(self.spec.ratio.first_clock(now), in_front, agenda);
    }

    /// Takes one transfer from the channel's slices in turn, if there is room for it.
    fn pull(
        &mut self,
        now: Cycle,
        me: usize,
        in_front: &mut InFront<'_>,
        agenda: &mut Agenda,
    ) -> Option<Entry> {
        if !self.has_room(now) {
            return None;
        }
        for i in 0..self.spec.slices {
            let turn = if self.turn + i < self.spec.slices {
                self.turn + i
            } else {
                self.turn + i - self.spec.slices
            };
            let slice = me + turn * self.spec.dram.channels as usize;
            let Some(transfer) = in_front.take_transfer(me, slice, agenda) else { continue };
            self.turn = if turn + 1 < self.spec.slices { turn + 1 } else { 0 };
            self.counters.requests += 1;
            let place = self.spec.mapping.place(usize::from(transfer.slice), transfer.index);
            return Some(Entry {
                line: transfer.line,
                row: place.row,
                bank: place.bank,
                slice: transfer.slice,
                bursts: self.spec.bursts_of(transfer.sectors),
                sectors: transfer.sectors,
                classified: false,
                fetch: transfer.fetch,
                epoch: transfer.epoch,
            });
        }
        None
    }

    /// Issues every command before clock `until`.
    fn advance(&mut self, until: Clock, in_front: &mut InFront<'_>, agenda: &mut Agenda) {
        while self.next_try < until {
            self.next_try = self.try_issue(self.next_try, in_front, agenda);
        }
    }

    /// Issues at most one command in clock `now`. Returns the next clock to try.
    fn try_issue(&mut self, now: Clock, in_front: &mut InFront<'_>, agenda: &mut Agenda) -> Clock {
        if now >= self.next_refresh {
            return self.try_refresh(now);
        }
        self.queue.finish_opening(now);
        if self.spec.dram.policy == DramPolicy::Fcfs || self.is_overtaken() {
            let Some((key, command)) = self.queue.oldest_needs() else { return self.next_refresh };
            let earliest = self.timing.earliest(command, key.bank());
            if earliest > now {
                return earliest.min(self.next_refresh);
            }
            match command {
                Command::Activate | Command::Precharge => self.issue_row(now, key, command),
                _ => self.issue_column(now, key, in_front, agenda),
            }
            self.rows_from = 0;
            return now + 1;
        }
        // A column command goes before all row commands.
        let mut again = Clock::MAX;
        let column = self.choose_column(now, &mut again);
        if column != Key::NONE {
            self.issue_column(now, column, in_front, agenda);
            again = self.columns_from();
        } else if self.rows_from <= now {
            let (row, command) = self.choose_row(now);
            if row != Key::NONE {
                self.issue_row(now, row, command);
            }
        }
        let rows = self.rows_from.min(self.queue.opening_until());
        again.min(rows).min(self.next_refresh).max(now + 1)
    }

    /// A request has come or gone. Writes have their turn once there are `drain_high` of them, and reads again once
    /// `drain_low` are left (M27a).
    #[inline]
    fn turn(&mut self) {
        let (high, low) = (self.spec.dram.drain_high as usize, self.spec.dram.drain_low as usize);
        if high != 0 {
            let writes = self.queue.writes();
            self.drains = if self.drains { writes > low } else { writes >= high };
        }
        self.look_again();
    }

    /// Another direction may have its turn now, and wants other rows.
    #[inline]
    fn look_again(&mut self) {
        if self.spec.dram.drain_high != 0 {
            self.rows_from = 0;
        }
    }

    /// The direction that has its turn, if directions take turns (M27a). Where no request of it can be served, the other
    /// one has it.
    #[inline]
    fn has_turn(&self) -> Option<usize> {
        if self.spec.dram.drain_high == 0 {
            return None;
        }
        let first = usize::from(self.drains);
        Some(if self.queue.wants_any(first) { first } else { 1 - first })
    }

    /// True if requests of a direction may be served.
    #[inline]
    fn may_serve(&self, direction: usize) -> bool {
        self.has_turn().is_none_or(|its| its == direction)
    }

    /// True if the oldest request is served alone (M27).
    #[inline]
    fn is_overtaken(&self) -> bool {
        self.overtaken >= self.spec.dram.overtake_limit
    }

    /// Lower bound of the clock of the next column command, from the constraints of the whole channel.
    #[inline]
    fn columns_from(&self) -> Clock {
        if self.is_overtaken() {
            return 0;
        }
        let from = |direction| match self.queue.wants_column(direction) && self.may_serve(direction) {
            true => self.timing.columns(direction).0,
            false => Clock::MAX,
        };
        from(0).min(from(1))
    }

    /// The oldest request that a column command can serve in clock `now`. If there is none, lowers `again` to
    /// the first clock in which one that waits could be served.
    #[inline]
    fn choose_column(&self, now: Clock, again: &mut Clock) -> Key {
        let mut oldest = Key::NONE;
        for direction in 0..COLUMNS.len() {
            if !self.queue.wants_column(direction) || !self.may_serve(direction) {
                continue;
            }
            let (channel, groups) = self.timing.columns(direction);
            if channel > now {
                *again = channel.min(*again);
                continue;
            }
            for (&key, &from) in self.queue.of_groups(direction).iter().zip(groups) {
                if from <= now {
                    oldest = oldest.or_older(key);
                } else if key != Key::NONE {
                    *again = from.min(*again);
                }
            }
        }
        oldest
    }

    /// The oldest request that a row command can serve in clock `now`, and the command. Records in
    /// `rows_from` when the others could be served.
    #[inline]
    fn choose_row(&mut self, now: Clock) -> (Key, Command) {
        let mut again = Clock::MAX;
        let either = |[read, write]: [Key; 2]| read.or_older(write);
        let chosen = match self.has_turn() {
            None => self.oldest_row(now, self.queue.wanted_rows(), either, &mut again),
            Some(its) => {
                let of = |direction: usize| move |keys: [Key; 2]| keys[direction];
                let first = self.oldest_row(now, self.queue.wanted_rows_of(its), of(its), &mut again);
                let other = 1 - its;
                if first.0 != Key::NONE {
                    again = now + 1;
                    first
                } else {
                    self.oldest_row(now, self.queue.wanted_rows_beside(other), of(other), &mut again)
                }
            }
        };
        self.rows_from = again;
        chosen
    }

    /// The oldest of the requests that a row command to one of these banks can serve in clock `now`, and the command.
    /// Lowers `again` to the first clock in which another could be served.
    #[inline]
    fn oldest_row(
        &self,
        now: Clock,
        wanted: WantedRows,
        key_of: impl Fn([Key; 2]) -> Key,
        again: &mut Clock,
    ) -> (Key, Command) {
        let activates = self.timing.activates(wanted.activates, now, again);
        let mut rest = activates | self.timing.precharges(wanted.precharges, now, again);
        let mut oldest = Key::NONE;
        if rest & rest.wrapping_sub(1) != 0 {
            *again = now + 1;
        }
        while rest != 0 {
            oldest = oldest.or_older(key_of(self.queue.misses(rest.trailing_zeros() as usize)));
            rest &= rest - 1;
        }
        let activated = activates >> oldest.bank() & 1 == 1;
        (oldest, if activated { Command::Activate } else { Command::Precharge })
    }

    /// A bank's requests or its open row have changed: it may want a row command that it did not want before.
    #[inline]
    fn note_row(&mut self, bank: usize) {
        if let Some(command) = self.queue.wants_row(bank) {
            self.rows_from = self.rows_from.min(self.timing.earliest(command, bank));
        }
    }

    /// Opens the row that a request needs, or closes the row in its way.
    fn issue_row(&mut self, now: Clock, key: Key, command: Command) {
        let bank = key.bank();
        let Some((_, entry)) = self.queue.find(key) else { return };
        let (row, first) = (entry.row, !std::mem::replace(&mut entry.classified, true));
        if command == Command::Activate {
            self.counters.row_empties += u64::from(first);
            self.counters.activates += 1;
            self.issue(now, command, bank, row);
            // tRCD is the same for reads and writes.
            self.queue.open(bank, row, self.timing.open_from(bank));
        } else {
            self.counters.row_conflicts += u64::from(first);
            self.counters.precharges += 1;
            self.issue(now, command, bank, 0);
            self.queue.close(bank);
        }
        self.note_row(bank);
        self.look_again();
    }

    /// A refresh is due: closes all banks, then refreshes (M28).
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
            self.next_refresh += Clock::from(self.spec.dram.t_refi);
        }
        now + 1
    }

    /// Issues one burst of a request. With its last burst the request leaves the queue; a read's sectors are
    /// at their slice when the data is through.
    fn issue_column(&mut self, now: Clock, key: Key, in_front: &mut InFront<'_>, agenda: &mut Agenda) {
        let (bank, oldest) = (key.bank(), key == self.queue.oldest());
        let Some((place, entry)) = self.queue.find(key) else { return };
        let bursts_left = entry.bursts;
        entry.bursts &= entry.bursts - 1;
        self.counters.row_hits += u64::from(!std::mem::replace(&mut entry.classified, true));
        let entry = *entry;
        let burst_clocks = self.spec.burst_clocks;
        let bytes = u64::from(self.spec.dram.burst_bytes);
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
        if self.bursts.is_some() {
            self.note_burst(now, Entry { bursts: bursts_left, ..entry });
        }
        if !oldest {
            self.overtaken += 1;
        }
        if entry.bursts != 0 {
            return;
        }
        if !self.queue.has_room() {
            self.room_from = self.spec.ratio.cycle_of(now) + 1;
        }
        self.queue.remove(bank, place);
        self.turn();
        self.note_row(bank);
        if oldest {
            self.overtaken = 0;
        }
        let latency = if entry.fetch.is_some() { self.spec.dram.t_cl } else { self.spec.dram.t_cwl };
        let at =
            self.spec.ratio.cycle_after(now + Clock::from(latency) + burst_clocks) + self.spec.round_trip;
        match entry.fetch {
            Some(mshr) => in_front.expect_fill(entry.slice, (at, mshr, entry.sectors), agenda),
            None => in_front.expect_written(entry.slice, (at, entry.epoch), agenda),
        }
    }

    /// Notes the first burst of a request for observers. Out of line, so that a run without observers does not carry it.
    #[cold]
    #[inline(never)]
    fn note_burst(&mut self, now: Clock, entry: Entry) {
        let burst = Burst {
            cycle: self.spec.ratio.cycle_of(now),
            address: self.spec.address_of(entry.line, entry.bursts.trailing_zeros()),
            bytes: self.spec.dram.burst_bytes,
            writes: entry.fetch.is_none(),
        };
        self.bursts.iter_mut().for_each(|bursts| bursts.push(burst));
    }

    #[inline]
    fn issue(&mut self, now: Clock, command: Command, bank: usize, row: u32) {
        self.timing.issue(command, bank, now);
        if let Some(commands) = &mut self.commands {
            commands.push(IssuedCommand { clock: now, command, bank: bank as u16, row });
        }
    }
}

/// Places of lines, for tests that need lines of a certain bank and row.
#[cfg(test)]
pub(super) fn place_of(config: &Config) -> impl Fn(usize, u32) -> mapping::Place + use<> {
    let mapping = mapping::Mapping::new(config);
    move |slice, index| mapping.place(slice, index)
}
