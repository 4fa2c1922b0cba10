//! Memories, tables and global variables: cells that instances can share.

use super::super::{Constant, FunctionId, Memory, Table, Trap};
use super::instance::Parts;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::{Rc, Weak};

/// Most bytes up to which a memory grows here, whatever its module says. WebAssembly lets a memory fail to grow.
const MOST_GROWN_BYTES: u64 = 1 << 30;

/// Most places up to which a table grows here, whatever its module says.
const MOST_GROWN_PLACES: u64 = 1 << 20;

/// A linear memory.
#[derive(Debug)]
pub struct LinearMemory {
    bytes: RefCell<Vec<u8>>,
    page_bytes: u64,
    most_pages: u64,
}

impl LinearMemory {
    /// A memory as a module declares it, all zeros.
    pub fn new(memory: &Memory) -> Rc<LinearMemory> {
        let bytes = vec![0; usize::try_from(memory.bytes()).expect("the host has 64 bits")];
        let page_bytes = memory.page_bytes;
        let most_pages = memory.most_pages.unwrap_or(u64::MAX).min(MOST_GROWN_BYTES / page_bytes);
        Rc::new(LinearMemory { bytes: RefCell::new(bytes), page_bytes, most_pages })
    }

    /// Its size in pages of its own.
    pub fn pages(&self) -> u64 {
        self.bytes() / self.page_bytes
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.borrow().len() as u64
    }

    /// Adds pages, and gives how many there were; `None` where it does not grow by so many.
    pub fn grow(&self, pages: u64) -> Option<u64> {
        let before = self.pages();
        let after = before.checked_add(pages)?;
        if pages > 0 && after > self.most_pages {
            return None;
        }
        if pages > 0 {
            // Zeros from the allocator cost nothing until they are touched.
            let mut grown = vec![0; (after * self.page_bytes) as usize];
            let mut bytes = self.bytes.borrow_mut();
            grown[..bytes.len()].copy_from_slice(&bytes);
            *bytes = grown;
        }
        Some(before)
    }

    /// The bytes from `address` on, for a look at them.
    ///
    /// # Errors
    /// [`Trap::MemoryOutOfBounds`].
    pub fn read(&self, address: u64, length: u64) -> Result<Vec<u8>, Trap> {
        let bytes = self.bytes.borrow();
        Ok(bytes[range(address, length, bytes.len(), Trap::MemoryOutOfBounds)?].to_vec())
    }

    /// Writes bytes at an address.
    ///
    /// # Errors
    /// [`Trap::MemoryOutOfBounds`]; then nothing is written.
    pub fn write(&self, address: u64, written: &[u8]) -> Result<(), Trap> {
        let mut bytes = self.bytes.borrow_mut();
        let range = range(address, written.len() as u64, bytes.len(), Trap::MemoryOutOfBounds)?;
        bytes[range].copy_from_slice(written);
        Ok(())
    }

    /// An integer of up to 8 bytes, little-endian.
    pub(super) fn load(&self, address: u64, count: u32) -> Result<u64, Trap> {
        let bytes = self.bytes.borrow();
        let range = range(address, count.into(), bytes.len(), Trap::MemoryOutOfBounds)?;
        let mut word = [0; 8];
        word[..count as usize].copy_from_slice(&bytes[range]);
        Ok(u64::from_le_bytes(word))
    }

    /// Writes the low bytes of an integer.
    pub(super) fn store(&self, address: u64, count: u32, value: u64) -> Result<(), Trap> {
        self.write(address, &value.to_le_bytes()[..count as usize])
    }

    pub(super) fn fill(&self, address: u64, byte: u8, length: u64) -> Result<(), Trap> {
        let mut bytes = self.bytes.borrow_mut();
        let range = range(address, length, bytes.len(), Trap::MemoryOutOfBounds)?;
        bytes[range].fill(byte);
        Ok(())
    }
}

/// The items from `start` on, if there are so many.
pub(super) fn range(
    start: u64,
    count: u64,
    length: usize,
    trap: Trap,
) -> Result<std::ops::Range<usize>, Trap> {
    let end = start.checked_add(count).filter(|&end| end <= length as u64).ok_or(trap)?;
    Ok(start as usize..end as usize)
}

/// A function of an instance, in a table.
#[derive(Clone)]
pub(super) struct Entry {
    /// The instance. It does not live for the sake of tables that it is in.
    pub(super) instance: Weak<Parts>,
    pub(super) function: FunctionId,
}

/// A table of functions.
pub struct TableCell {
    places: Cell<u64>,
    most_places: u64,
    /// The places that are filled. A table may have billions of others.
    filled: RefCell<BTreeMap<u64, Entry>>,
}

impl fmt::Debug for TableCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filled = self.filled.borrow();
        let functions: Vec<_> = filled.iter().map(|(place, entry)| (place, entry.function)).collect();
        f.debug_struct("TableCell")
            .field("places", &self.places.get())
            .field("functions", &functions)
            .finish()
    }
}

impl TableCell {
    /// A table as a module declares it, empty.
    pub fn new(table: &Table) -> Rc<TableCell> {
        let most_places = table.most_places.unwrap_or(u64::MAX).min(MOST_GROWN_PLACES);
        Rc::new(TableCell { places: Cell::new(table.places), most_places, filled: RefCell::default() })
    }

    /// Its number of places.
    pub fn places(&self) -> u64 {
        self.places.get()
    }

    /// Adds places with an entry, and gives how many there were; `None` where it does not grow by so many.
    pub(super) fn grow(&self, count: u64, entry: Option<Entry>) -> Option<u64> {
        let before = self.places();
        let after = before.checked_add(count).filter(|&after| count == 0 || after <= self.most_places)?;
        self.places.set(after);
        if let Some(entry) = entry {
            self.filled.borrow_mut().extend((before..after).map(|at| (at, entry.clone())));
        }
        Some(before)
    }

    /// Puts an entry, or none, at `count` places from `place` on.
    pub(super) fn fill(&self, place: u64, count: u64, entry: Option<Entry>) -> Result<(), Trap> {
        self.check(place, count)?;
        let entries = entry.map_or(Vec::new(), |entry| (0..count).map(|at| (at, entry.clone())).collect());
        self.write(place, count, entries)
    }

    /// What is at a place.
    pub(super) fn get(&self, place: u64) -> Result<Option<Entry>, Trap> {
        if place >= self.places() {
            return Err(Trap::UndefinedElement);
        }
        Ok(self.filled.borrow().get(&place).cloned())
    }

    /// What is in `count` places from `place` on, each with its distance from there.
    pub(super) fn read(&self, place: u64, count: u64) -> Result<Vec<(u64, Entry)>, Trap> {
        self.check(place, count)?;
        let filled = self.filled.borrow();
        let range = filled.range(place..place + count);
        Ok(range.map(|(at, entry)| (at - place, entry.clone())).collect())
    }

    /// Empties `count` places from `place` on, and puts entries at these distances from there.
    pub(super) fn write(&self, place: u64, count: u64, entries: Vec<(u64, Entry)>) -> Result<(), Trap> {
        self.check(place, count)?;
        let mut filled = self.filled.borrow_mut();
        filled.retain(|at, _| !(place..place + count).contains(at));
        filled.extend(entries.into_iter().map(|(distance, entry)| (place + distance, entry)));
        Ok(())
    }

    fn check(&self, place: u64, count: u64) -> Result<(), Trap> {
        match place.checked_add(count) {
            Some(end) if end <= self.places() => Ok(()),
            _ => Err(Trap::TableOutOfBounds),
        }
    }
}

/// A global variable.
#[derive(Debug)]
pub struct GlobalCell(Cell<Constant>);

impl GlobalCell {
    /// A variable with a value, whose type it keeps.
    pub fn new(value: Constant) -> Rc<GlobalCell> {
        Rc::new(GlobalCell(Cell::new(value)))
    }

    /// Its value.
    pub fn get(&self) -> Constant {
        self.0.get()
    }

    /// Sets it.
    ///
    /// # Panics
    /// If the value is of another type.
    pub fn set(&self, value: Constant) {
        assert_eq!(value.ty(), self.0.get().ty(), "a global variable keeps its type");
        self.0.set(value);
    }
}

/// What an instance takes from another instance in place of its own: the first ones by their numbers.
#[derive(Debug, Clone, Default)]
pub struct Linked {
    /// Memories.
    pub memories: Vec<(super::super::MemoryId, Rc<LinearMemory>)>,
    /// Tables.
    pub tables: Vec<(super::super::TableId, Rc<TableCell>)>,
    /// Global variables.
    pub globals: Vec<(super::super::GlobalId, Rc<GlobalCell>)>,
    /// Functions, each of another instance, in place of those of this module. That instance must live as long as this
    /// one.
    pub functions: Vec<(FunctionId, super::Instance, FunctionId)>,
}
