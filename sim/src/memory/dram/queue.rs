//! The requests that wait in a channel, and what each bank's requests want next: kept up to date as requests come
//! and go and rows open and close, so that the scheduler looks at banks, not at requests.

use super::timing::Command;
use crate::memory::geometry::LineNumber;
use crate::memory::l2::MshrId;

/// Order of arrival.
pub(super) type Age = u64;

/// Later than every request: there is none.
pub(super) const NONE: Age = Age::MAX;

const CLOSED: u32 = u32::MAX;

/// A request that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) line: LineNumber,
    pub(super) row: u32,
    pub(super) bank: u16,
    pub(super) slice: u16,
    /// Bursts that are still to be issued.
    pub(super) bursts: u16,
    pub(super) sectors: u8,
    /// Counted as row hit, empty or conflict.
    pub(super) classified: bool,
    /// The miss that it fills; none for a write.
    pub(super) fetch: Option<MshrId>,
    /// Of a write: the slice's epoch that it belongs to.
    pub(super) epoch: u8,
}

impl Entry {
    fn column(&self) -> Command {
        if self.fetch.is_some() { Command::Read } else { Command::Write }
    }
}

/// Requests of one bank that could be served next.
#[derive(Debug, Clone, Copy)]
struct Bank {
    open_row: u32,
    /// Oldest read of the open row with no older access to its line before it.
    read: Age,
    /// The same of the writes.
    write: Age,
    /// Oldest request for another row, or for any if the bank is closed.
    miss: Age,
}

/// Requests in order of arrival, and the state of the banks that they are for.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    entries: Vec<(Age, Entry)>,
    capacity: usize,
    next_age: Age,
    banks: Vec<Bank>,
    /// By command: banks with a request that it could serve next. Bit i is bank i.
    wanting: [u64; 4],
}

/// Place of a command in [`Queue::wanting`].
fn place(command: Command) -> usize {
    match command {
        Command::Read => 0,
        Command::Write => 1,
        Command::Activate => 2,
        Command::Precharge | Command::PrechargeAll | Command::Refresh => 3,
    }
}

impl Queue {
    /// An empty queue of `capacity` places for `banks` closed banks, at most 64.
    pub(super) fn new(capacity: usize, banks: usize) -> Queue {
        let closed = Bank { open_row: CLOSED, read: NONE, write: NONE, miss: NONE };
        Queue {
            entries: Vec::with_capacity(capacity),
            capacity,
            next_age: 0,
            banks: vec![closed; banks],
            wanting: [0; 4],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        self.entries.len() < self.capacity
    }

    /// Entries, oldest first.
    #[cfg(test)]
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().map(|(_, entry)| entry)
    }

    pub(super) fn push(&mut self, entry: Entry) {
        debug_assert!(self.has_room(), "push into a full channel");
        self.entries.push((self.next_age, entry));
        self.next_age += 1;
        self.look_at(usize::from(entry.bank));
    }

    /// The request of an age, and its place from the oldest.
    #[inline]
    pub(super) fn find(&mut self, age: Age) -> Option<(usize, &mut Entry)> {
        let place = self.entries.binary_search_by_key(&age, |&(age, _)| age).ok()?;
        Some((place, &mut self.entries[place].1))
    }

    pub(super) fn remove(&mut self, place: usize) {
        let (_, entry) = self.entries.remove(place);
        self.look_at(usize::from(entry.bank));
    }

    /// Age of the oldest request, its bank, and the command that it needs next.
    #[inline]
    pub(super) fn oldest(&self) -> Option<(Age, usize, Command)> {
        let (age, entry) = self.entries.first()?;
        let bank = usize::from(entry.bank);
        let command = match self.banks[bank].open_row {
            CLOSED => Command::Activate,
            row if row == entry.row => entry.column(),
            _ => Command::Precharge,
        };
        Some((*age, bank, command))
    }

    /// Banks, as bits, in which `command` would serve a waiting request: a column command one for the open row,
    /// an activate one of a closed bank, and a precharge one of a bank whose open row nobody wants.
    #[inline]
    pub(super) fn wanting(&self, command: Command) -> u64 {
        self.wanting[place(command)]
    }

    /// Age of the oldest request of a bank that `command` would serve.
    #[inline]
    pub(super) fn wants(&self, bank: usize, command: Command) -> Age {
        let bank = &self.banks[bank];
        match command {
            Command::Read => bank.read,
            Command::Write => bank.write,
            _ => bank.miss,
        }
    }

    /// True if some bank has a row open.
    pub(super) fn any_open(&self) -> bool {
        self.banks.iter().any(|bank| bank.open_row != CLOSED)
    }

    /// A bank's row is opened.
    pub(super) fn open(&mut self, bank: usize, row: u32) {
        self.banks[bank].open_row = row;
        self.look_at(bank);
    }

    /// A bank's row is closed.
    pub(super) fn close(&mut self, bank: usize) {
        self.open(bank, CLOSED);
    }

    /// The row of every bank is closed.
    pub(super) fn close_all(&mut self) {
        (0..self.banks.len()).for_each(|bank| self.close(bank));
    }

    /// Works out anew what the requests of a bank want.
    fn look_at(&mut self, bank: usize) {
        let open_row = self.banks[bank].open_row;
        let (mut read, mut write, mut miss) = (NONE, NONE, NONE);
        for (i, (age, entry)) in self.entries.iter().enumerate() {
            if usize::from(entry.bank) != bank {
                continue;
            }
            if entry.row != open_row {
                miss = miss.min(*age);
                continue;
            }
            let first = if entry.fetch.is_some() { &mut read } else { &mut write };
            // The accesses to a line keep their order.
            if *first == NONE && self.entries[..i].iter().all(|(_, older)| older.line != entry.line) {
                *first = *age;
            }
        }
        self.banks[bank] = Bank { open_row, read, write, miss };
        let hit = read != NONE || write != NONE;
        let closed = open_row == CLOSED;
        let wants = [read != NONE, write != NONE, closed && miss != NONE, !closed && !hit && miss != NONE];
        for (mask, wants) in self.wanting.iter_mut().zip(wants) {
            *mask = *mask & !(1 << bank) | u64::from(wants) << bank;
        }
    }
}
