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

/// A bank and the requests for it.
#[derive(Debug, Clone)]
struct Bank {
    /// In order of arrival.
    requests: Vec<(Age, Entry)>,
    open_row: u32,
    /// Oldest read of the open row with no older access to its line before it.
    read: Age,
    /// The same of the writes.
    write: Age,
    /// Oldest request for another row, or for any if the bank is closed.
    miss: Age,
}

/// The requests of a channel by bank, and the state of the banks.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    banks: Vec<Bank>,
    len: usize,
    capacity: usize,
    next_age: Age,
    /// The oldest request, and its bank; [`NONE`] if there is none.
    oldest: (Age, usize),
    /// Banks that have requests. Bit i is bank i.
    occupied: u64,
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
        let closed = || Bank { requests: Vec::new(), open_row: CLOSED, read: NONE, write: NONE, miss: NONE };
        Queue {
            banks: (0..banks).map(|_| closed()).collect(),
            len: 0,
            capacity,
            next_age: 0,
            oldest: (NONE, 0),
            occupied: 0,
            wanting: [0; 4],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn has_room(&self) -> bool {
        self.len < self.capacity
    }

    /// Entries, oldest first.
    #[cfg(test)]
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let mut all: Vec<_> = self.banks.iter().flat_map(|bank| bank.requests.iter().copied()).collect();
        all.sort_unstable_by_key(|&(age, _)| age);
        all.into_iter().map(|(_, entry)| entry)
    }

    pub(super) fn push(&mut self, entry: Entry) {
        debug_assert!(self.has_room(), "push into a full channel");
        let (age, bank) = (self.next_age, usize::from(entry.bank));
        self.next_age += 1;
        self.len += 1;
        self.occupied |= 1 << bank;
        if self.oldest.0 == NONE {
            self.oldest = (age, bank);
        }
        self.banks[bank].requests.push((age, entry));
        self.look_at(bank);
    }

    /// The request of an age in a bank, and its place there.
    #[inline]
    pub(super) fn find(&mut self, age: Age, bank: usize) -> Option<(usize, &mut Entry)> {
        let mut requests = self.banks[bank].requests.iter_mut().enumerate();
        requests.find(|(_, (its, _))| *its == age).map(|(place, (_, entry))| (place, entry))
    }

    /// Takes the request at a place of a bank out.
    pub(super) fn remove(&mut self, bank: usize, place: usize) {
        let requests = &mut self.banks[bank].requests;
        let (age, _) = requests.remove(place);
        if requests.is_empty() {
            self.occupied &= !(1 << bank);
        }
        self.len -= 1;
        if age == self.oldest.0 {
            self.oldest = (NONE, 0);
            let mut rest = self.occupied;
            while rest != 0 {
                let bank = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                self.oldest = self.oldest.min((self.banks[bank].requests[0].0, bank));
            }
        }
        self.look_at(bank);
    }

    /// Age of the oldest request, [`NONE`] if there is none.
    #[inline]
    pub(super) fn oldest_age(&self) -> Age {
        self.oldest.0
    }

    /// Age of the oldest request, its bank, and the command that it needs next.
    #[inline]
    pub(super) fn oldest(&self) -> Option<(Age, usize, Command)> {
        let (age, bank) = self.oldest;
        let (_, entry) = self.banks[bank].requests.first().filter(|_| age != NONE)?;
        let command = match self.banks[bank].open_row {
            CLOSED => Command::Activate,
            row if row == entry.row => entry.column(),
            _ => Command::Precharge,
        };
        Some((age, bank, command))
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

    /// The open row of each bank.
    pub(super) fn rows(&self) -> impl Iterator<Item = Option<u32>> {
        self.banks.iter().map(|bank| (bank.open_row != CLOSED).then_some(bank.open_row))
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
    fn look_at(&mut self, index: usize) {
        let bank = &mut self.banks[index];
        let open_row = bank.open_row;
        let (mut read, mut write, mut miss) = (NONE, NONE, NONE);
        for (i, (age, entry)) in bank.requests.iter().enumerate() {
            if entry.row != open_row {
                miss = miss.min(*age);
                continue;
            }
            let first = if entry.fetch.is_some() { &mut read } else { &mut write };
            // The accesses to a line keep their order.
            if *first == NONE && bank.requests[..i].iter().all(|(_, older)| older.line != entry.line) {
                *first = *age;
            }
        }
        (bank.read, bank.write, bank.miss) = (read, write, miss);
        let hit = read != NONE || write != NONE;
        let closed = open_row == CLOSED;
        let wants = [read != NONE, write != NONE, closed && miss != NONE, !closed && !hit && miss != NONE];
        for (mask, wants) in self.wanting.iter_mut().zip(wants) {
            *mask = *mask & !(1 << index) | u64::from(wants) << index;
        }
    }
}
