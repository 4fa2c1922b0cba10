//! The requests that wait in a channel, and what each bank's requests want next. This is kept up to date as
//! requests come and go and rows open and close, so the scheduler looks at banks and bank groups, not at
//! requests.

use super::timing::{Clock, Command};
use crate::memory::cache::MshrId;
use crate::memory::geometry::LineNumber;
use crate::stats::MOST;
use wave_capture::{Capture, Misfit};

/// Key of a request: its order of arrival, and in the low bits its bank and its direction. The least of
/// several keys is the oldest request; the key tells its bank and its column command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Capture)]
pub(super) struct Key(u64);

impl Key {
    /// No request; later than every request.
    pub(super) const NONE: Key = Key(u64::MAX);

    /// Bits of the bank number and the direction.
    const BITS: u32 = 7;

    fn new(age: u64, bank: usize, direction: usize) -> Key {
        Key(age << Key::BITS | (bank << 1 | direction) as u64)
    }

    #[inline]
    pub(super) fn bank(self) -> usize {
        (self.0 >> 1) as usize & 63
    }

    /// The column command that serves it.
    #[inline]
    pub(super) fn column(self) -> Command {
        COLUMNS[self.0 as usize & 1]
    }

    /// The older of two requests.
    #[inline]
    pub(super) fn or_older(self, other: Key) -> Key {
        if other.0 < self.0 { other } else { self }
    }
}

/// The column commands, indexed by direction.
pub(super) const COLUMNS: [Command; 2] = [Command::Read, Command::Write];

const CLOSED: u32 = u32::MAX;

/// A request that waits.
#[derive(Debug, Clone, Copy, Capture)]
pub(super) struct Entry {
    pub(super) line: LineNumber,
    pub(super) row: u32,
    pub(super) bank: u16,
    pub(super) slice: u16,
    /// Bursts that are still to be issued.
    pub(super) bursts: u16,
    pub(super) sectors: u8,
    /// Already counted as row hit, row empty or row conflict.
    pub(super) classified: bool,
    /// The miss that it fills; `None` for a write.
    pub(super) fetch: Option<MshrId>,
    /// For a write: its epoch in the slice.
    pub(super) epoch: u8,
}

impl Entry {
    fn direction(&self) -> usize {
        usize::from(self.fetch.is_none())
    }
}

/// A bank and the requests for it.
#[derive(Debug, Clone, Capture)]
struct Bank {
    /// In order of arrival.
    requests: Vec<(Key, Entry)>,
    open_row: u32,
    /// By direction: the oldest request for the open row without an older access to its line in front of it.
    columns: [Key; 2],
    /// By direction: the same for another row, or for any if the bank is closed.
    misses: [Key; 2],
    /// First clock in which the open row can be read and written.
    open_from: Clock,
}

/// Banks, as bits, that want a row command.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedRows {
    pub(super) activates: u64,
    pub(super) precharges: u64,
}

/// The requests of a channel by bank, and the state of the banks.
#[derive(Debug, Clone, Capture)]
#[sound]
pub(super) struct Queue {
    #[fixed]
    banks: Vec<Bank>,
    #[spec]
    group_shift: u32,
    len: usize,
    /// Writes among them.
    writes: usize,
    #[spec]
    capacity: usize,
    next_age: u64,
    /// Per bank: the oldest request.
    #[fixed]
    firsts: Vec<Key>,
    /// The oldest request of all.
    oldest: Key,
    /// By direction, per group: the oldest of its banks' `columns`, without banks in `opening`.
    #[fixed]
    groups: [Vec<Key>; 2],
    /// Banks, as bits, whose row is still being opened.
    opening: u64,
    /// Lower bound of the first clock in which one of these rows can be read and written.
    opening_until: Clock,
    /// By direction: banks, as bits, with a request in `columns`.
    columns: [u64; 2],
    /// By direction: closed banks, as bits, with a request.
    activates: [u64; 2],
    /// By direction: banks, as bits, with requests but none for the open row.
    precharges: [u64; 2],
}

impl Queue {
    /// An empty queue of `capacity` entries for `banks` closed banks, at most 64, in `groups` groups.
    pub(super) fn new(capacity: usize, banks: usize, groups: usize) -> Queue {
        let closed = || Bank {
            requests: Vec::new(),
            open_row: CLOSED,
            columns: [Key::NONE; 2],
            misses: [Key::NONE; 2],
            open_from: 0,
        };
        Queue {
            banks: (0..banks).map(|_| closed()).collect(),
            group_shift: (banks / groups).trailing_zeros(),
            len: 0,
            writes: 0,
            capacity,
            next_age: 0,
            firsts: vec![Key::NONE; banks],
            oldest: Key::NONE,
            groups: [vec![Key::NONE; groups], vec![Key::NONE; groups]],
            opening: 0,
            opening_until: Clock::MAX,
            columns: [0; 2],
            activates: [0; 2],
            precharges: [0; 2],
        }
    }

    /// What is kept of the requests for speed is what follows from them.
    fn sound(&self) -> Result<(), Misfit> {
        Misfit::in_range(self.len <= self.capacity && self.next_age <= MOST, "next_age")?;
        let banks = 1u128 << self.banks.len();
        Misfit::in_range(u128::from(self.opening) < banks, "opening")?;
        for (index, bank) in self.banks.iter().enumerate() {
            let mut requests = bank.requests.iter();
            Misfit::in_range(requests.all(|(key, entry)| self.may_hold(index, *key, entry)), "requests")?;
            Misfit::agrees(bank.requests.is_sorted_by(|(a, _), (b, _)| a < b), "requests")?;
        }
        let mut again = self.clone();
        for index in 0..self.banks.len() {
            let bank = &mut again.banks[index];
            bank.columns = [Key::NONE; 2];
            again.firsts[index] = bank.requests.first().map_or(Key::NONE, |&(key, _)| key);
            again.look_at(index);
            again.compare_group(index);
        }
        let kept = |queue: &Queue| {
            let of_banks: Vec<_> = queue.banks.iter().map(|bank| (bank.columns, bank.misses)).collect();
            let masks = (queue.columns, queue.activates, queue.precharges);
            (of_banks, queue.firsts.clone(), queue.groups.clone(), masks)
        };
        Misfit::agrees(kept(&again) == kept(self), "banks")?;
        let all = || self.banks.iter().flat_map(|bank| &bank.requests);
        let writes = all().filter(|(_, entry)| entry.fetch.is_none()).count();
        Misfit::agrees((self.len, self.writes) == (all().count(), writes), "len")?;
        let oldest = self.firsts.iter().fold(Key::NONE, |oldest, &key| oldest.or_older(key));
        Misfit::agrees(self.oldest == oldest, "oldest")
    }

    fn may_hold(&self, bank: usize, key: Key, entry: &Entry) -> bool {
        let named = (key.bank(), key.0 as usize & 1) == (bank, entry.direction());
        named && usize::from(entry.bank) == bank && key.0 >> Key::BITS < self.next_age && entry.epoch <= 1
    }

    /// All requests.
    pub(super) fn all(&self) -> impl Iterator<Item = &Entry> {
        self.banks.iter().flat_map(|bank| bank.requests.iter().map(|(_, entry)| entry))
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes in the queue.
    pub(super) fn writes(&self) -> usize {
        self.writes
    }

    /// True if a write waits.
    pub(super) fn has_writes(&self) -> bool {
        self.writes != 0
    }

    /// True if a command could serve a request of a direction, once it breaks no constraint: all that wait for older
    /// accesses to their lines are of no use.
    #[inline]
    pub(super) fn wants_any(&self, direction: usize) -> bool {
        self.columns[direction] | self.activates[direction] | self.precharges[direction] != 0
    }

    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.len < self.capacity
    }

    /// Entries, oldest first.
    #[cfg(test)]
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let mut all: Vec<_> = self.banks.iter().flat_map(|bank| bank.requests.iter().copied()).collect();
        all.sort_unstable_by_key(|&(key, _)| key);
        all.into_iter().map(|(_, entry)| entry)
    }

    pub(super) fn push(&mut self, entry: Entry) {
        debug_assert!(self.has_room(), "push into a full channel");
        let (index, direction) = (usize::from(entry.bank), entry.direction());
        let key = Key::new(self.next_age, index, direction);
        self.next_age += 1;
        self.len += 1;
        self.writes += direction;
        self.oldest = self.oldest.or_older(key);
        self.firsts[index] = self.firsts[index].or_older(key);
        let bank = &mut self.banks[index];
        let blocked = bank.requests.iter().any(|(_, older)| older.line == entry.line);
        bank.requests.push((key, entry));
        let is_miss = entry.row != bank.open_row;
        let first = if is_miss { &mut bank.misses[direction] } else { &mut bank.columns[direction] };
        if *first == Key::NONE && !blocked {
            *first = key;
            self.note_wants(index);
            if !is_miss {
                self.compare_group(index);
            }
        }
    }

    /// A request and its index in its bank.
    #[inline]
    pub(super) fn find(&mut self, key: Key) -> Option<(usize, &mut Entry)> {
        let mut requests = self.banks[key.bank()].requests.iter_mut().enumerate();
        requests.find(|(_, (its, _))| *its == key).map(|(place, (_, entry))| (place, entry))
    }

    /// The bank in which a read of a line waits, and how many requests of it are before.
    pub(super) fn place_of(&self, line: LineNumber) -> Option<(usize, usize)> {
        let is_it = |(_, entry): &(Key, Entry)| entry.line == line && entry.fetch.is_some();
        let places = self.banks.iter().map(|bank| bank.requests.iter().position(is_it));
        places.enumerate().find_map(|(bank, place)| Some((bank, place?)))
    }

    /// Removes the request at an index of a bank.
    pub(super) fn remove(&mut self, bank: usize, place: usize) {
        let requests = &mut self.banks[bank].requests;
        let (key, entry) = requests.remove(place);
        self.len -= 1;
        self.writes -= entry.direction();
        if key == self.firsts[bank] {
            self.firsts[bank] = requests.first().map_or(Key::NONE, |&(first, _)| first);
        }
        if key == self.oldest {
            self.oldest = self.firsts.iter().fold(Key::NONE, |oldest, &key| oldest.or_older(key));
        }
        self.look_at(bank);
    }

    /// The oldest request, [`Key::NONE`] if there is none.
    #[inline]
    pub(super) fn oldest(&self) -> Key {
        self.oldest
    }

    /// The oldest request, and the command that it needs next.
    pub(super) fn oldest_needs(&self) -> Option<(Key, Command)> {
        let bank = self.banks.get(self.oldest.bank())?;
        let (_, entry) = bank.requests.first().filter(|_| self.oldest != Key::NONE)?;
        let command = match bank.open_row {
            CLOSED => Command::Activate,
            row if row == entry.row => self.oldest.column(),
            _ => Command::Precharge,
        };
        Some((self.oldest, command))
    }

    /// True if some request for an open row waits for a column command of this direction.
    #[inline]
    pub(super) fn wants_column(&self, direction: usize) -> bool {
        self.columns[direction] != 0
    }

    /// Per group: the oldest request for an open row that a column command of this direction serves.
    #[inline]
    pub(super) fn of_groups(&self, direction: usize) -> &[Key] {
        &self.groups[direction]
    }

    /// Banks in which a row command would serve a waiting request and no request wants the open row.
    #[inline]
    pub(super) fn wanted_rows(&self) -> WantedRows {
        let wanted = self.columns[0] | self.columns[1];
        WantedRows {
            activates: self.activates[0] | self.activates[1],
            precharges: (self.precharges[0] | self.precharges[1]) & !wanted,
        }
    }

    /// The same for the requests of one direction alone, as if the others were not there.
    #[inline]
    pub(super) fn wanted_rows_of(&self, direction: usize) -> WantedRows {
        WantedRows { activates: self.activates[direction], precharges: self.precharges[direction] }
    }

    /// The same for the requests of one direction, in banks without requests of the other one.
    #[inline]
    pub(super) fn wanted_rows_beside(&self, direction: usize) -> WantedRows {
        let others = 1 - direction;
        let free = !(self.columns[others] | self.activates[others] | self.precharges[others]);
        let WantedRows { activates, precharges } = self.wanted_rows_of(direction);
        WantedRows { activates: activates & free, precharges: precharges & free }
    }

    /// The row command that serves a request of a bank, if one does.
    #[inline]
    pub(super) fn wants_row(&self, bank: usize) -> Option<Command> {
        let is_among = |banks: [u64; 2]| (banks[0] | banks[1]) >> bank & 1 == 1;
        if is_among(self.activates) {
            return Some(Command::Activate);
        }
        is_among(self.precharges).then_some(Command::Precharge)
    }

    /// By direction: the oldest request of a bank that needs a row command.
    #[inline]
    pub(super) fn misses(&self, bank: usize) -> [Key; 2] {
        self.banks[bank].misses
    }

    /// The open row of each bank.
    pub(super) fn rows(&self) -> impl Iterator<Item = Option<u32>> {
        self.banks.iter().map(|bank| (bank.open_row != CLOSED).then_some(bank.open_row))
    }

    /// True if some bank has a row open.
    pub(super) fn any_open(&self) -> bool {
        self.banks.iter().any(|bank| bank.open_row != CLOSED)
    }

    /// Opens a bank's row, which can be read and written from clock `from` on.
    pub(super) fn open(&mut self, bank: usize, row: u32, from: Clock) {
        self.banks[bank].open_row = row;
        self.banks[bank].open_from = from;
        self.opening |= 1 << bank;
        self.opening_until = self.opening_until.min(from);
        self.look_at(bank);
    }

    /// Closes a bank's row.
    pub(super) fn close(&mut self, bank: usize) {
        self.banks[bank].open_row = CLOSED;
        self.opening &= !(1 << bank);
        self.look_at(bank);
    }

    /// Closes the rows of all banks.
    pub(super) fn close_all(&mut self) {
        (0..self.banks.len()).for_each(|bank| self.close(bank));
    }

    /// Lower bound of the clock in which a row that is being opened can be read and written.
    #[inline]
    pub(super) fn opening_until(&self) -> Clock {
        self.opening_until
    }

    /// Admits requests for rows that can be read and written from clock `now` on.
    #[inline]
    pub(super) fn finish_opening(&mut self, now: Clock) {
        if self.opening_until <= now {
            self.opening_until = Clock::MAX;
            let mut rest = self.opening;
            while rest != 0 {
                let bank = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let from = self.banks[bank].open_from;
                if from <= now {
                    self.opening &= !(1 << bank);
                    self.compare_group(bank);
                } else {
                    self.opening_until = self.opening_until.min(from);
                }
            }
        }
    }

    /// Recomputes what the requests of a bank want.
    fn look_at(&mut self, index: usize) {
        let bank = &mut self.banks[index];
        let before = std::mem::replace(&mut bank.columns, [Key::NONE; 2]);
        bank.misses = [Key::NONE; 2];
        for (i, (key, entry)) in bank.requests.iter().enumerate() {
            let kinds = if entry.row == bank.open_row { &mut bank.columns } else { &mut bank.misses };
            let first = &mut kinds[entry.direction()];
            // The accesses to a line keep their order.
            if *first == Key::NONE && bank.requests[..i].iter().all(|(_, older)| older.line != entry.line) {
                *first = *key;
            }
        }
        let changed = bank.columns != before;
        self.note_wants(index);
        if changed {
            self.compare_group(index);
        }
    }

    /// A bank's wants may have changed: updates the masks.
    #[inline]
    fn note_wants(&mut self, index: usize) {
        let bank = &self.banks[index];
        let set = |mask: &mut u64, wants: bool| *mask = *mask & !(1 << index) | u64::from(wants) << index;
        let closed = bank.open_row == CLOSED;
        for direction in 0..COLUMNS.len() {
            let column = bank.columns[direction] != Key::NONE;
            let miss = bank.misses[direction] != Key::NONE;
            set(&mut self.columns[direction], column);
            set(&mut self.activates[direction], closed && miss);
            set(&mut self.precharges[direction], !closed && miss && !column);
        }
    }

    /// Recomputes the oldest requests of a bank's group.
    #[inline]
    fn compare_group(&mut self, bank: usize) {
        let group = bank >> self.group_shift;
        let first = group << self.group_shift;
        let (mut read, mut write) = (Key::NONE, Key::NONE);
        for (i, bank) in self.banks[first..][..1 << self.group_shift].iter().enumerate() {
            if self.opening >> (first + i) & 1 == 0 {
                read = read.or_older(bank.columns[0]);
                write = write.or_older(bank.columns[1]);
            }
        }
        self.groups[0][group] = read;
        self.groups[1][group] = write;
    }
}

#[cfg(test)]
mod tests;
