//! The sections of NanoWasm that a module has, as bytes.

use super::{NUMBER, Section};
use crate::wasm::{Error, Fault};

/// A section: its content, and the byte of the module where that begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) place: u64,
}

impl Table<'_> {
    /// Numbers that it has room for.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / NUMBER
    }

    /// The number at a byte of the content, if it is inside.
    pub(super) fn number_at(&self, byte: usize) -> Option<u32> {
        let bytes = self.bytes.get(byte..byte.checked_add(NUMBER)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// The number of an entry, if it is inside.
    pub(super) fn number(&self, entry: usize) -> Option<u32> {
        self.number_at(entry.checked_mul(NUMBER)?)
    }

    /// All numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        (0..self.len()).filter_map(|entry| self.number(entry))
    }
}

/// The sections of NanoWasm of a module.
#[derive(Debug, Default)]
pub(in crate::wasm) struct Tables<'a> {
    found: [Option<Table<'a>>; Section::ALL.len()],
    /// The first section that is there a second time, and its byte.
    twice: Option<(Section, u64)>,
}

impl<'a> Tables<'a> {
    /// Adds a custom section if it is one of them.
    pub(in crate::wasm) fn add(&mut self, name: &str, bytes: &'a [u8], place: u64) {
        let Some(section) = Section::named(name) else { return };
        let found = &mut self.found[section as usize];
        if found.is_some() {
            self.twice.get_or_insert((section, place));
        } else {
            *found = Some(Table { bytes, place });
        }
    }

    /// True if the module has none.
    pub(in crate::wasm) fn is_empty(&self) -> bool {
        self.found.iter().all(Option::is_none)
    }

    pub(super) fn get(&self, section: Section) -> Option<&Table<'a>> {
        self.found[section as usize].as_ref()
    }

    /// Checks that none is there twice.
    pub(super) fn check_once(&self) -> Result<(), Error> {
        match self.twice {
            Some((section, place)) => {
                let message = format!("the section `{}` is there a second time", section.name());
                Err(Error::new(Fault::Invalid, message).at(place))
            }
            None => Ok(()),
        }
    }

    /// The labels of a function: the operators that open them, and their ends.
    pub(super) fn labels(&self, function: usize) -> Option<impl Iterator<Item = [u32; 2]>> {
        let table = self.get(Section::Labels)?;
        let entry = table.number(function)? as usize;
        let count = table.number_at(entry)? as usize;
        let pair = move |label: usize| {
            let byte = entry + NUMBER + label * 2 * NUMBER;
            Some([table.number_at(byte)?, table.number_at(byte + NUMBER)?])
        };
        Some((0..count).map_while(pair))
    }
}
