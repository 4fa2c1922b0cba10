//! Operations on tables that read or write references, or change the size.
//!
//! A place of a table holds the number of its function among those that tables may hold, and 1. Two lists in the
//! context translate between that and references.

use super::super::edit::Editor;
use super::access;
use super::body::Bodies;
use super::bulk::{Length, range};
use super::layout::{NO_ENTRY, Size};
use crate::ir::{Binary, Compare, NULL_REFERENCE, Operation, TableId, Terminator, Trap, Type, Value};

/// The routine that fills words.
const FILL_WORDS: usize = 2;

impl Bodies<'_> {
    /// Does an operation on a table; gives its result if it has one.
    pub(super) fn table(&self, editor: &mut Editor, operation: &Operation) -> Option<Value> {
        match *operation {
            Operation::FunctionReference(function) => Some(editor.i32(function.as_u32())),
            Operation::TableSize(table) => Some(self.places(editor, table)),
            Operation::TableGet(table, place) => {
                let entry = self.entry_at(editor, table, place, Trap::TableOutOfBounds);
                let numbers = self.layout.references.expect("references are read").numbers;
                let address = editor.with(Binary::Shl, entry, 2);
                Some(editor.emit(Operation::Load(access(Type::I32, numbers), address), Type::I32))
            }
            Operation::TableSet(table, [place, reference]) => {
                let entry = self.entry(editor, reference);
                let address = self.address(editor, table, place, Trap::TableOutOfBounds);
                let base = self.layout.tables[&table].base;
                editor.put(Operation::Store(access(Type::I32, base), [address, entry]));
                None
            }
            Operation::TableGrow(table, [reference, count]) => {
                let entry = self.entry(editor, reference);
                Some(self.grow_table(editor, table, entry, count))
            }
            Operation::TableFill(table, [place, reference, count]) => {
                let entry = self.entry(editor, reference);
                let length = self.length(editor, table);
                range(editor, place, count, length, Trap::TableOutOfBounds);
                self.fill(editor, table, [place, entry, count]);
                None
            }
            _ => unreachable!("the caller passes operations on tables"),
        }
    }

    /// The number of places of a table.
    fn places(&self, editor: &mut Editor, table: TableId) -> Value {
        match self.new.places[table] {
            Some(global) => editor.emit(Operation::GlobalGet(global), Type::I32),
            None => editor.i32(self.layout.tables[&table].least),
        }
    }

    /// The number of places of a table, for a check.
    pub(super) fn length(&self, editor: &mut Editor, table: TableId) -> Length {
        Length::Value(self.places(editor, table))
    }

    /// The distance of a place from the begin of its table, after a check.
    fn address(&self, editor: &mut Editor, table: TableId, place: Value, trap: Trap) -> Value {
        let places = self.places(editor, table);
        let past = editor.compare(Compare::GeU, place, places);
        editor.leave_if(past, Terminator::Trap(trap));
        editor.with(Binary::Shl, place, 2)
    }

    /// What is at a place of a table; a place past the end traps.
    pub(super) fn entry_at(&self, editor: &mut Editor, table: TableId, place: Value, trap: Trap) -> Value {
        let address = self.address(editor, table, place, trap);
        let base = self.layout.tables[&table].base;
        editor.emit(Operation::Load(access(Type::I32, base), address), Type::I32)
    }

    /// What a table holds for a reference. What is no reference traps.
    fn entry(&self, editor: &mut Editor, reference: Value) -> Value {
        if editor.known_i32(reference) == Some(NULL_REFERENCE) {
            return editor.i32(0);
        }
        let references = self.layout.references.expect("references are written");
        let trap = || Terminator::Trap(Trap::UndefinedElement);
        // The null is 0 then.
        let number = editor.with(Binary::Add, reference, 1);
        let past = editor.compare_with(Compare::GeU, number, references.count.into());
        editor.leave_if(past, trap());
        let address = editor.with(Binary::Shl, number, 2);
        let load = Operation::Load(access(Type::I32, references.entries), address);
        let entry = editor.emit(load, Type::I32);
        let none = editor.compare_with(Compare::Eq, entry, NO_ENTRY.into());
        editor.leave_if(none, trap());
        entry
    }

    /// Puts an entry at many places: first place, entry, number of places.
    fn fill(&self, editor: &mut Editor, table: TableId, [place, entry, count]: [Value; 3]) {
        let distance = editor.with(Binary::Shl, place, 2);
        let address = editor.with(Binary::Add, distance, self.layout.tables[&table].base.into());
        let bytes = editor.with(Binary::Shl, count, 2);
        self.routine(editor, FILL_WORDS, [address, entry, bytes]);
    }

    /// Places before, or -1 where there is no room for so many more.
    fn grow_table(&self, editor: &mut Editor, table: TableId, entry: Value, count: Value) -> Value {
        let Size { size_at, most, .. } = self.layout.tables[&table];
        let before = self.places(editor, table);
        let most = editor.i32(most);
        let room = editor.binary(Binary::Sub, most, before);
        let fits = editor.compare(Compare::LeU, count, room);
        let zero = editor.i32(0);
        let added = editor.select(fits, count, zero);
        // A table that has all the places it may have is not larger afterwards.
        if let Some(global) = self.new.places[table] {
            let now = editor.binary(Binary::Add, before, added);
            editor.put(Operation::GlobalSet(global, now));
            editor.put(Operation::Store(access(Type::I32, size_at), [zero, now]));
            // Nobody has written behind the end, so there is no function.
            if editor.known_i32(entry) != Some(0) {
                self.fill(editor, table, [before, entry, added]);
            }
        }
        let none = editor.i32(u32::MAX);
        editor.select(fits, before, none)
    }
}
