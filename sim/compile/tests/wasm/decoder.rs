//! What the decoder makes of single modules, and what it says of wrong ones.

use std::collections::HashSet;
use std::sync::Arc;
use wave_compile::encoding::{Error, Fault};
use wave_compile::ir::interpret::{Instance, Limits};
use wave_compile::ir::{Constant, Exported, Module, Operation, Terminator, Trap, verify};
use wave_compile::wasm::{Decoded, UnknownImports, c_header, decode, decode_with, encode, intrinsics};

/// A module in text.
fn wat(text: &str) -> Vec<u8> {
    encode("test.wat", text).unwrap_or_else(|error| panic!("{}", error.message))
}

fn decoded(text: &str) -> Decoded {
    let decoded = decode(&wat(text)).unwrap_or_else(|error| panic!("{error}"));
    verify::verify(&decoded.module).unwrap_or_else(|error| panic!("{error}"));
    decoded
}

fn error(text: &str) -> Error {
    decode(&wat(text)).expect_err("it is wrong")
}

/// Parameters of all blocks but the entries.
fn parameters(module: &Module) -> usize {
    let blocks = module.functions.values().flat_map(|function| function.blocks.values().skip(1));
    blocks.map(|block| block.parameters.len()).sum()
}

#[test]
fn a_loop_has_a_parameter_for_each_variable_that_it_changes_and_no_other() {
    let module = decoded(
        "(module (func (param $n i32) (param $k i32) (param $a i32) (result i32) (local $i i32) (local $sum i32)
            (loop $top
                (if (local.get $k) (then (local.set $sum (i32.add (local.get $sum) (local.get $a)))))
                (block $skip (br_if $skip (local.get $a)) (drop (local.get $n)))
                (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (br_if $top (i32.lt_u (local.get $i) (local.get $n))))
            (local.get $sum)))",
    );
    // `i` and `sum` at the loop, `sum` behind the `if`.
    assert_eq!(parameters(&module.module), 3);
}

#[test]
fn a_parameter_that_always_gets_the_same_value_is_removed() {
    let module = decoded(
        "(module (func (param $n i32) (param $x i32) (result i32)
            (loop $top
                (local.set $x (local.get $x))
                (br_if $top (local.get $n)))
            (block $out (result i32) (br $out (local.get $x)))))",
    );
    assert_eq!(parameters(&module.module), 0);
}

#[test]
fn a_comparison_stays_a_truth_value_where_it_is_a_condition() {
    let module = decoded(
        "(module (func (param i32 i32) (result i32)
            (if (result i32) (i32.and (i32.eqz (i32.lt_s (local.get 0) (local.get 1))) (f32.eq (f32.const 0) (f32.const 1)))
                (then (i32.const 1)) (else (i32.const 2)))))",
    );
    let function = module.module.functions.values().next().expect("one function");
    let operations = function.blocks.values().flat_map(|block| &block.instructions);
    assert!(!operations.into_iter().any(|one| matches!(one.operation, Operation::Convert(..))));
    let entry = &function.blocks[function.entry()];
    assert!(matches!(entry.terminator, Terminator::Branch(..)));
}

#[test]
fn every_function_of_wave_can_be_imported_called_and_exported() {
    let mut names = HashSet::new();
    let mut imports = String::new();
    let mut calls = String::new();
    for (number, intrinsic) in intrinsics().iter().enumerate() {
        assert!(names.insert(&intrinsic.name), "`{}` is there twice", intrinsic.name);
        let parameters: String = intrinsic.parameters.iter().map(|(_, ty)| format!("(param {ty})")).collect();
        let result = intrinsic.result.map_or(String::new(), |ty| format!("(result {ty})"));
        imports += &format!("(import \"wave\" \"{}\" (func {parameters} {result}))", intrinsic.name);
        let arguments: String =
            intrinsic.parameters.iter().map(|(_, ty)| format!("({ty}.const 0)")).collect();
        let drop = if intrinsic.result.is_some() { "drop" } else { "" };
        calls += &format!("(call {number} {arguments}) {drop} ");
    }
    let exports = format!("(export \"wrapped\" (func {}))", intrinsics().len() - 1);
    let decoded = decoded(&format!("(module {imports} (func (export \"kernel\") {calls}) {exports})"));
    assert!(decoded.is_kernel);
    let calls = |operation: &Operation| matches!(operation, Operation::Call(..));
    let functions = decoded.module.functions.values();
    let mut instructions =
        functions.flat_map(|function| function.blocks.values().flat_map(|b| &b.instructions));
    assert!(!instructions.any(|instruction| calls(&instruction.operation)), "they are operations");
    let header = c_header();
    assert!(intrinsics().iter().all(|intrinsic| header.contains(&format!(" wave_{}(", intrinsic.name))));
}

#[test]
fn names_and_lines_are_kept() {
    let text = "(module\n  (global $count (mut i32) (i32.const 0))\n  (func $twice (param i32) (result i32)\n    \
                local.get 0\n    local.get 0\n    i32.add)\n  (func (export \"shown\") nop))";
    let Decoded { module, source, is_kernel } = decoded(text);
    assert!(!is_kernel);
    let names: Vec<_> = module.functions.values().map(|function| function.name.as_deref()).collect();
    assert_eq!(names, [Some("twice"), Some("shown")]);
    assert_eq!(module.globals.values().next().and_then(|global| global.name.as_deref()), Some("count"));
    let function = module.functions.values().next().expect("two functions");
    let sum = function.blocks[function.entry()].instructions.last().expect("a sum");
    assert!(matches!(sum.operation, Operation::Binary(..)));
    let line = source.line(sum.at).expect("a line");
    assert_eq!((line.file.rsplit('/').next(), line.line), (Some("test.wat"), 6));
}

#[test]
fn an_invalid_module_is_located() {
    let error = error("(module (func $good) (func $bad (result i32) i64.const 1))");
    assert_eq!(error.fault, Fault::Invalid);
    assert_eq!(error.function.as_deref(), Some("1 (`bad`)"));
    assert!(error.offset.is_some_and(|offset| offset > 8));
    assert!(error.message.contains("type mismatch"), "{error}");
    let error = decode(b"\0asm\x01\0\0\0\x01\x05").expect_err("it ends too early");
    assert_eq!((error.fault, error.offset), (Fault::Invalid, Some(10)));
    assert_eq!(decode(b"nothing").expect_err("no module").fault, Fault::Invalid);
}

#[test]
fn what_is_not_taken_is_refused_by_name() {
    for (text, name) in [
        ("(module (func (drop (v128.const i32x4 0 0 0 0))))", "SIMD"),
        ("(module (func $f return_call $f))", "tail calls"),
        ("(module (memory 1) (memory 1))", "several memories"),
        ("(module (memory i64 1))", "64-bit memory"),
        ("(module (table 1 externref))", "tables of external references"),
        ("(module (func (param externref)))", "references"),
        ("(module (table 1 funcref) (func (result i32) table.size))", "table.size"),
        ("(module (func (drop (ref.null func))))", "ref.null"),
        ("(module (func $f (local externref)))", "references"),
        (
            "(module (memory 1 1 shared) (func (drop (memory.atomic.notify (i32.const 0) (i32.const 0)))))",
            "notify",
        ),
        ("(module (tag))", "exceptions"),
        ("(module (global i32 (i32.add (i32.const 1) (i32.const 2))))", "extended constant expressions"),
    ] {
        let error = error(text);
        assert_eq!(error.fault, Fault::Refused, "{text}: {error}");
        assert!(error.message.contains(name), "{text}: {error}");
        assert!(error.hint.is_some(), "{text}");
    }
}

#[test]
fn an_import_that_nobody_provides_is_refused_with_what_there_is() {
    let unknown = error("(module (import \"env\" \"printf\" (func (param i32))))");
    assert_eq!(unknown.fault, Fault::Unlinkable);
    assert!(unknown.message.contains("`env.printf`"), "{unknown}");
    assert_eq!(
        unknown.hint.as_deref(),
        Some("there is: wave; with --imports trap only a call of the function traps")
    );
    let near = error("(module (import \"wave\" \"thread_idx\" (func (result i32))))");
    assert!(near.hint.as_deref().is_some_and(|hint| hint.contains("`thread_id_x`")), "{near:?}");
    let other = error("(module (import \"wave\" \"lane_id\" (func (param i32))))");
    assert!(other.message.contains("(i32) -> ()") && other.message.contains("() -> (i32)"), "{other}");
}

/// A call of a function that nobody provides traps, and the place of the trap is in a function of that name; what does
/// not call it is as always.
#[test]
fn calls_of_unknown_imports_may_trap() {
    let text = "(module (import \"env\" \"abort\" (func $abort (param i32) (result i64))) \
        (import \"env\" \"log\" (func $log)) (table 2 funcref) (elem (i32.const 0) $log $right) \
        (func $right (export \"right\") (result i32) i32.const 7) \
        (func (export \"wrong\") (result i64) (call $abort (i32.const 1))) \
        (func (export \"through\") (param i32) (call_indirect (local.get 0))))";
    let bytes = encode("k.wat", text).expect("it is right");
    assert_eq!(decode(&bytes).expect_err("it is refused").fault, Fault::Unlinkable);
    let module = decode_with(&bytes, UnknownImports::Trap).unwrap_or_else(|error| panic!("{error}")).module;
    verify::verify(&module).unwrap_or_else(|error| panic!("{error}"));
    let instance = Instance::new(Arc::new(module)).expect("it has no start");
    let call = |name: &str, arguments: &[Constant]| {
        let found = instance.module().exports.iter().find(|(export, _)| export == name);
        let Some(&(_, Exported::Function(function))) = found else { panic!("{name}") };
        instance.call(function, arguments, &Limits::default())
    };
    assert_eq!(call("right", &[]), Ok(vec![Constant::I32(7)]));
    for (name, arguments, import) in
        [("wrong", &[][..], "env.abort"), ("through", &[Constant::I32(0)], "env.log")]
    {
        let trapped = call(name, arguments).expect_err("it traps");
        assert_eq!(trapped.trap, Trap::UnknownImport);
        let functions = instance.module().functions.values().filter(|function| function.at <= trapped.place);
        let last = functions.max_by_key(|function| function.at).expect("there is one");
        assert_eq!(last.name.as_deref(), Some(import));
    }
    let memory = encode("k.wat", "(module (import \"env\" \"memory\" (memory 1)))").expect("it is right");
    let error = decode_with(&memory, UnknownImports::Trap).expect_err("a memory does not trap");
    assert_eq!(error.hint.as_deref(), Some("there is: wave"));
}

#[test]
fn a_wrong_text_is_located() {
    let error = encode("k.wat", "(module\n  (func i32.bogus))").expect_err("it is wrong");
    let place = error.place.expect("a place");
    assert_eq!((place.file.as_str(), place.line, place.column), ("k.wat", 2, 9));
}
