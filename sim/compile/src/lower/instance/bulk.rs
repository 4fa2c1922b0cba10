//! Operations on many bytes or places: checks, and calls of two routines.

use super::super::edit::Editor;
use super::access;
use super::body::Bodies;
use super::layout::Segment;
use crate::ir::{Binary, Compare, Function, FunctionId, Operation, Terminator, Trap, Type, Value, text};
use cranelift_entity::EntityRef;

/// Fills and copies bytes of private memory: (address, byte, count) and (to, from, count); fills words of it: (address,
/// word, count of bytes). A copy goes backwards where
/// that is the way not to overwrite what is still to be read. Words are taken as a whole where both addresses allow it;
/// the mask says there that they are aligned.
const ROUTINES: &str = r#"
memory mem0 private 1
function f0 "fill" (i32, i32, i32) -> () {
b0(v0: i32, v1: i32, v2: i32):
    v3: i32 = const.i32 255
    v4: i32 = and v1, v3
    v5: i32 = const.i32 16843009
    v6: i32 = mul v4, v5
    v7: i32 = add v0, v2
    v8: i32 = const.i32 3
    v9: i32 = const.i32 4
    v10: i32 = const.i32 1
    v11: i32 = const.i32 -4
    v12: i32 = const.i32 0
    jump b1(v0)
b1(v13: i32):
    v14: bool = lt_u v13, v7
    branch v14, b2, b5
b2:
    v15: i32 = and v13, v8
    v16: bool = eq v15, v12
    v17: i32 = sub v7, v13
    v18: bool = ge_u v17, v9
    v19: bool = and v16, v18
    branch v19, b3, b4
b3:
    v20: i32 = and v13, v11
    store.i32 mem0[v20], v6
    v21: i32 = add v20, v9
    jump b1(v21)
b4:
    store.i32.u8 mem0[v13], v4
    v22: i32 = add v13, v10
    jump b1(v22)
b5:
    return
}
function f1 "copy" (i32, i32, i32) -> () {
b0(v0: i32, v1: i32, v2: i32):
    v3: i32 = const.i32 3
    v4: i32 = const.i32 4
    v5: i32 = const.i32 1
    v6: i32 = const.i32 -4
    v7: i32 = const.i32 0
    v8: bool = gt_u v0, v1
    branch v8, b5(v2), b1(v7)
b1(v9: i32):
    v10: bool = lt_u v9, v2
    branch v10, b2, b9
b2:
    v11: i32 = add v0, v9
    v12: i32 = add v1, v9
    v13: i32 = or v11, v12
    v14: i32 = and v13, v3
    v15: bool = eq v14, v7
    v16: i32 = sub v2, v9
    v17: bool = ge_u v16, v4
    v18: bool = and v15, v17
    branch v18, b3, b4
b3:
    v19: i32 = and v12, v6
    v20: i32 = load.i32 mem0[v19]
    v21: i32 = and v11, v6
    store.i32 mem0[v21], v20
    v22: i32 = add v9, v4
    jump b1(v22)
b4:
    v23: i32 = load.i32.u8 mem0[v12]
    store.i32.u8 mem0[v11], v23
    v24: i32 = add v9, v5
    jump b1(v24)
b5(v25: i32):
    v26: bool = ne v25, v7
    branch v26, b6, b9
b6:
    v27: i32 = add v0, v25
    v28: i32 = add v1, v25
    v29: i32 = or v27, v28
    v30: i32 = and v29, v3
    v31: bool = eq v30, v7
    v32: bool = ge_u v25, v4
    v33: bool = and v31, v32
    branch v33, b7, b8
b7:
    v34: i32 = sub v25, v4
    v35: i32 = add v1, v34
    v36: i32 = and v35, v6
    v37: i32 = load.i32 mem0[v36]
    v38: i32 = add v0, v34
    v39: i32 = and v38, v6
    store.i32 mem0[v39], v37
    jump b5(v34)
b8:
    v40: i32 = sub v25, v5
    v41: i32 = add v1, v40
    v42: i32 = load.i32.u8 mem0[v41]
    v43: i32 = add v0, v40
    store.i32.u8 mem0[v43], v42
    jump b5(v40)
b9:
    return
}
function f2 "fill words" (i32, i32, i32) -> () {
b0(v0: i32, v1: i32, v2: i32):
    v3: i32 = add v0, v2
    v4: i32 = const.i32 4
    v5: i32 = const.i32 -4
    jump b1(v0)
b1(v6: i32):
    v7: bool = lt_u v6, v3
    branch v7, b2, b3
b2:
    v8: i32 = and v6, v5
    store.i32 mem0[v8], v1
    v9: i32 = add v6, v4
    jump b1(v9)
b3:
    return
}
"#;

/// The routines, in the order of their numbers.
pub(super) fn routines() -> Vec<Function> {
    let module = text::parse(ROUTINES, "routines").expect("the text is right");
    module.functions.values().cloned().collect()
}

/// What a range is checked against.
pub(super) enum Length {
    /// A value.
    Value(Value),
    /// A word of the context.
    At(u32),
}

impl Bodies<'_> {
    /// Does an operation on many bytes or places.
    pub(super) fn bulk(&self, editor: &mut Editor, operation: &Operation) {
        let [memory_trap, table_trap] = [Trap::MemoryOutOfBounds, Trap::TableOutOfBounds];
        match operation {
            Operation::MemoryFill(memory, [address, byte, count]) => {
                let size = self.size(editor, *memory);
                range(editor, *address, *count, Length::Value(size), memory_trap);
                let to = editor.with(Binary::Add, *address, self.layout.memories[memory].base.into());
                self.routine(editor, 0, [to, *byte, *count]);
            }
            Operation::MemoryCopy([to, from], [address, source, count]) => {
                // The source first, as everywhere in the representation.
                let size = self.size(editor, *from);
                range(editor, *source, *count, Length::Value(size), memory_trap);
                let size = self.size(editor, *to);
                range(editor, *address, *count, Length::Value(size), memory_trap);
                let bases = [to, from].map(|memory| self.layout.memories[memory].base);
                self.copy(editor, bases, [*address, *source, *count], 0);
            }
            Operation::MemoryInit(memory, data, [address, source, count]) => {
                let Segment { length_at, base } = self.layout.data[data];
                range(editor, *source, *count, Length::At(length_at), memory_trap);
                let size = self.size(editor, *memory);
                range(editor, *address, *count, Length::Value(size), memory_trap);
                let bases = [self.layout.memories[memory].base, base];
                self.copy(editor, bases, [*address, *source, *count], 0);
            }
            Operation::TableCopy([to, from], [place, source, count]) => {
                let length = self.length(editor, *from);
                range(editor, *source, *count, length, table_trap);
                let length = self.length(editor, *to);
                range(editor, *place, *count, length, table_trap);
                let bases = [to, from].map(|table| self.layout.tables[table].base);
                self.copy(editor, bases, [*place, *source, *count], 2);
            }
            Operation::TableInit(table, elements, [place, source, count]) => {
                let Segment { length_at, base } = self.layout.elements[elements];
                range(editor, *source, *count, Length::At(length_at), table_trap);
                let length = self.length(editor, *table);
                range(editor, *place, *count, length, table_trap);
                self.copy(editor, [self.layout.tables[table].base, base], [*place, *source, *count], 2);
            }
            Operation::DataDrop(data) => drop_segment(editor, self.layout.data[data]),
            Operation::ElementsDrop(elements) => drop_segment(editor, self.layout.elements[elements]),
            _ => unreachable!("the caller passes operations on many bytes or places"),
        }
    }

    /// Copies units of `1 << shift` bytes between parts of the context.
    fn copy(&self, editor: &mut Editor, bases: [u32; 2], [to, from, count]: [Value; 3], shift: u64) {
        let mut place = |value: Value, base: u32| {
            let bytes = if shift == 0 { value } else { editor.with(Binary::Shl, value, shift) };
            if base == 0 { bytes } else { editor.with(Binary::Add, bytes, base.into()) }
        };
        let values = [place(to, bases[0]), place(from, bases[1]), place(count, 0)];
        self.routine(editor, 1, values);
    }

    pub(super) fn routine(&self, editor: &mut Editor, number: usize, values: [Value; 3]) {
        let routine = FunctionId::new(self.routines.index() + number);
        editor.put(Operation::Call(routine, values.to_vec()));
    }
}

/// Traps where a range is not all below a length.
pub(super) fn range(editor: &mut Editor, start: Value, count: Value, length: Length, trap: Trap) {
    let length = match length {
        Length::Value(value) => value,
        Length::At(place) => {
            let zero = editor.i32(0);
            editor.emit(Operation::Load(access(Type::I32, place), zero), Type::I32)
        }
    };
    let past = editor.compare(Compare::GtU, start, length);
    let left = editor.binary(Binary::Sub, length, start);
    let more = editor.compare(Compare::GtU, count, left);
    let outside = editor.binary(Binary::Or, past, more);
    editor.leave_if(outside, Terminator::Trap(trap));
}

/// Leaves nothing of a segment.
fn drop_segment(editor: &mut Editor, segment: Segment) {
    let zero = editor.i32(0);
    editor.put(Operation::Store(access(Type::I32, segment.length_at), [zero, zero]));
}
