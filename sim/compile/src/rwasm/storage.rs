//! Instructions on memory and tables as a whole, and references.

use super::module::{NOTHING, SECTION, memory};
use super::opcode::Opcode;
use super::translate::Translator;
use crate::ir::{Binary, Constant, DataId, ElementsId, GlobalId, Operation, TableId, Type, Value};

impl Translator<'_> {
    /// Translates an operation on memory or tables as a whole.
    pub(super) fn storage(&mut self, at: usize) {
        let code = self.code;
        let word = &code.words[at];
        let number = word.word();
        let table = || TableId::from_u32(number);
        let (operation, has_result) = match word.opcode {
            Opcode::MemorySize => (Operation::MemorySize(memory()), true),
            Opcode::MemoryGrow => (Operation::MemoryGrow(memory(), self.pop_as(Type::I32)), true),
            Opcode::MemoryFill => (Operation::MemoryFill(memory(), self.pop_all(Type::I32)), false),
            Opcode::MemoryCopy => (Operation::MemoryCopy([memory(); 2], self.pop_all(Type::I32)), false),
            Opcode::MemoryInit => {
                let values = self.pop_all(Type::I32);
                let init = |data| Operation::MemoryInit(memory(), data, values);
                let operations = [NOTHING, SECTION].map(|id| init(DataId::from_u32(id)));
                return self.init(self.names.data.dropped.get(&number).copied(), operations);
            }
            Opcode::TableInit => {
                let table = TableId::from_u32(code.words[at + 1].word());
                let values = self.pop_all(Type::I32);
                let init = |elements| Operation::TableInit(table, elements, values);
                let operations = [NOTHING, SECTION].map(|id| init(ElementsId::from_u32(id)));
                return self.init(self.names.elements.dropped.get(&number).copied(), operations);
            }
            Opcode::DataDrop if number == 0 => (Operation::DataDrop(DataId::from_u32(SECTION)), false),
            Opcode::ElemDrop if number == 0 => {
                (Operation::ElementsDrop(ElementsId::from_u32(SECTION)), false)
            }
            Opcode::DataDrop => return self.drop_segment(self.names.data.dropped.get(&number).copied()),
            Opcode::ElemDrop => return self.drop_segment(self.names.elements.dropped.get(&number).copied()),
            Opcode::TableSize => (Operation::TableSize(table()), true),
            Opcode::TableGrow => {
                let places = self.pop_as(Type::I32);
                let reference = self.pop_reference();
                (Operation::TableGrow(table(), [reference, places]), true)
            }
            Opcode::TableFill => {
                let places = self.pop_as(Type::I32);
                let reference = self.pop_reference();
                let place = self.pop_as(Type::I32);
                (Operation::TableFill(table(), [place, reference, places]), false)
            }
            Opcode::TableGet => {
                let place = self.pop_as(Type::I32);
                return self.push_reference(Operation::TableGet(table(), place));
            }
            Opcode::TableSet => {
                let reference = self.pop_reference();
                let place = self.pop_as(Type::I32);
                (Operation::TableSet(table(), [place, reference]), false)
            }
            Opcode::TableCopy => {
                let from = TableId::from_u32(code.words[at + 1].word());
                (Operation::TableCopy([table(), from], self.pop_all(Type::I32)), false)
            }
            Opcode::RefFunc => {
                return self.push_reference(Operation::FunctionReference(self.names.in_tables(number)));
            }
            _ => unreachable!("all others are translated before"),
        };
        let results: &[Type] = if has_result { &[Type::I32] } else { &[] };
        for value in self.builder.emit(operation, results) {
            self.push_value(Type::I32, value);
        }
    }

    /// Copies from a segment: does the first operation if the segment was dropped, else the second.
    fn init(&mut self, dropped: Option<GlobalId>, [none, all]: [Operation; 2]) {
        let Some(global) = dropped else {
            self.builder.emit(all, &[]);
            return;
        };
        let value = self.builder.one(Operation::GlobalGet(global), Type::I32);
        let condition = self.is_set(value);
        self.builder.either(condition, [none, all]);
    }

    /// Notes that a segment is dropped, if something asks for that.
    fn drop_segment(&mut self, dropped: Option<GlobalId>) {
        if let Some(global) = dropped {
            let one = self.builder.constant(Constant::I32(1));
            self.builder.emit(Operation::GlobalSet(global, one), &[]);
        }
    }

    /// Pops a reference: a cell has 0 for none, and 1 more than its number for a function.
    fn pop_reference(&mut self) -> Value {
        let cell = self.pop_as(Type::I32);
        match self.builder.known(cell) {
            Some(bits) => self.builder.constant(Constant::I32(bits.wrapping_sub(1))),
            None => {
                let one = self.builder.constant(Constant::I32(1));
                self.builder.one(Operation::Binary(Binary::Sub, [cell, one]), Type::I32)
            }
        }
    }

    fn push_reference(&mut self, operation: Operation) {
        let reference = self.builder.one(operation, Type::I32);
        let one = self.builder.constant(Constant::I32(1));
        let cell = self.builder.one(Operation::Binary(Binary::Add, [reference, one]), Type::I32);
        self.push_value(Type::I32, cell);
    }
}
