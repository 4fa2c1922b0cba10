//! What the parser makes of a text.

use super::lexer::Span;
use super::parse::parse;
use super::tree::{OperandKind, RegisterId, StateSpace, Tree};
use super::types::PtxType;
use super::{Wrong, decode};

fn tree(items: &str) -> Tree {
    let text = format!(".version 7.8\n.target sm_80, debug\n.address_size 64\n{items}\n");
    parse(&text).unwrap_or_else(|Wrong { at, message, .. }| panic!("{message}, at {at:?}\n{text}"))
}

#[test]
fn registers_of_ranges_and_of_nested_blocks() {
    let tree = tree(
        ".entry k() { .reg .b32 %r<3>; .reg .f64 %a1, x; { .reg .u16 %r1; mov.u16 %r1, 1; } mov.b32 %r1, %r2; mov.f64 x, %a1; }",
    );
    let function = &tree.functions[0];
    let types: Vec<&str> = function.registers.iter().map(|(_, ty)| ty.name()).collect();
    assert_eq!(types, ["b32", "b32", "b32", "f64", "f64", "u16"]);
    let statements = &function.body.as_ref().expect("a body").statements;
    let results: Vec<&OperandKind> = statements.iter().map(|one| &one.operands[0].kind).collect();
    let registers = [5, 1, 4].map(|number| OperandKind::Register(RegisterId(number)));
    assert_eq!(results, registers.iter().collect::<Vec<_>>());
}

#[test]
fn directives_that_have_no_semicolon_and_sections_are_skipped() {
    let tree = tree(
        "\t.file 1 \"a b.cu\"\n.visible .entry k(\n.param .u64 .ptr .global .align 4 p,\n.param .align 8 .b8 s[12]\n)\n\
         .maxntid 128, 1, 1\n.reqntid 64\n{\n.pragma \"nounroll\";\n\t.loc\t1 7 0\n$L: ret; // a comment ; {\n\
         \t.loc\t1 8 3, function_name $inlined, inlined_at 1 9 2\n/* } */ bra.uni $L;\n}\n@@DWARF .byte 1\n\
         .section .debug_str { .b8 1, 2\n L: .b32 $L }\n",
    );
    assert_eq!(tree.files, [(1, "a b.cu".to_owned())]);
    let function = &tree.functions[0];
    assert_eq!(function.required_threads, Some([64, 1, 1]));
    let sizes: Vec<u64> = function.variables.iter().map(|variable| variable.size()).collect();
    assert_eq!(sizes, [8, 12]);
    let body = function.body.as_ref().expect("a body");
    let lines: Vec<_> = body.lines.iter().map(|row| (row.place, row.call)).collect();
    assert_eq!(lines, [((1, 7, 0), None), ((1, 8, 3), Some((1, 9, 2)))]);
    assert_eq!((body.statements.len(), body.labels.as_slice()), (2, [0].as_slice()));
}

#[test]
fn variables_have_sizes_alignments_and_values() {
    let tree = tree(
        ".const .align 16 .f32 f[3] = {1.0, -0f40000000, 3};\n.extern .shared .align 16 .b8 more[];\n\
         .shared .v4 .f32 tile[2][8];\n.global .u64 p = generic(f)+4;\n.visible .global .s16 h = -2;",
    );
    let found: Vec<(StateSpace, Option<u64>, u32)> =
        tree.variables.iter().map(|one| (one.space, one.bytes, one.alignment)).collect();
    let expected = [
        (StateSpace::Const, Some(12), 16),
        (StateSpace::Shared, None, 16),
        (StateSpace::Shared, Some(256), 16),
        (StateSpace::Global, Some(8), 8),
        (StateSpace::Global, Some(2), 2),
    ];
    assert_eq!(found, expected);
    let layout = super::layout::DeviceLayout::new(&tree, 1024).expect("they fit");
    let words = |place: usize| {
        let (address, bytes) = &layout.data[place];
        (*address, bytes.clone())
    };
    assert_eq!(words(0), (1024, [1.0f32, -2.0, 3.0].into_iter().flat_map(f32::to_le_bytes).collect()));
    assert_eq!(words(1), (1040, 1028u64.to_le_bytes().to_vec()));
    assert_eq!(words(2), (1048, (-2i16).to_le_bytes().to_vec()));
    assert_eq!(layout.end, 1050);
}

#[test]
fn places_of_messages_are_bytes_of_the_text() {
    let text = ".version 7.8\n.target sm_80\n.entry k() {\n  .reg .b32 %r<2>;\n  mov.b32 %r0, %r9;\n}";
    let decoded = decode(text, "k.ptx", super::PtxOptions::default()).expect("the text is PTX");
    let (name, error) = &decoded.refused[0];
    let place = error.place.as_ref().expect("a place");
    assert_eq!((name.as_str(), place.line, place.column, place.length), ("k", 5, 16, 3));
    let wrong: Span = parse(".version 7.8\n.target sm_80\n%").map(|_| 0..0).unwrap_or_else(|wrong| wrong.at);
    assert_eq!(wrong, 27..28);
}

#[test]
fn types_have_the_registers_that_hold_them() {
    use crate::ir::Type;
    let held = ["b8", "f16", "f16x2", "f32", "u64", "f64", "pred"].map(|name| {
        let ty = PtxType::from_name(name).expect(name);
        assert_eq!(ty.name(), name);
        ty.ir()
    });
    assert_eq!(held, [Type::I32, Type::I32, Type::I32, Type::F32, Type::I64, Type::F64, Type::Bool]);
    assert_eq!(PtxType::from_name("b33"), None);
}
