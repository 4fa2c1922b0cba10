//! Instances of modules, as a user runs them.

use super::scratch::Scratch;

/// A module that imports nothing: a counter of its own in each lane, divisions, and a memory that grows.
const MODULE: &str = r#"(module
  (memory 1)
  (global $calls (mut i32) (i32.const 40))
  (func $start (global.set $calls (i32.add (global.get $calls) (i32.const 1))))
  (start $start)
  (func (export "divide") (param i64 i64) (result i64 i32)
    (i64.div_s (local.get 0) (local.get 1))
    (global.get $calls))
  (func $inner (param i32) (result f32) (f32.load (local.get 0)))
  (func (export "load") (param i32) (result f32) (call $inner (local.get 0)))
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0))))
"#;

fn scratch() -> Scratch {
    Scratch::with(&[
        ("m.wat", MODULE),
        ("one.wat", "(module (func (export \"f\") (result i32) (i32.const 7)))"),
    ])
}

#[test]
fn every_lane_prints_its_results() {
    let scratch = scratch();
    let out = scratch
        .out("m.wat --config tiny --function divide --param i64:-7 --param 2 --grid 2,1,1 --workgroup 10");
    assert!(out.starts_with("divide: 20 instances, "), "{out}");
    let rows: Vec<&str> = out.lines().skip(3).collect();
    assert_eq!(rows.len(), 20);
    for (thread, row) in rows.iter().enumerate() {
        assert_eq!(*row, format!("{thread:>6}  -3  41"));
    }
    let bits = scratch.out("m.wat --config tiny --function load --param 8 --workgroup 1 --bits");
    assert!(bits.ends_with("0  0x00000000\n"), "{bits}");
    // The only function is called where none is named.
    assert!(scratch.out("one.wat --config tiny --workgroup 1").ends_with("0  7\n"));
}

#[test]
fn a_trap_ends_its_lane_with_exit_code_3() {
    let scratch = scratch();
    let ran = scratch.run("m.wat --config tiny --function load --param 65533 --workgroup 2");
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("trap: out of bounds memory access, in `inner`, m.wat:9"), "{}", ran.out);
    assert!(ran.out.ends_with("2 of 2 trapped\n"), "{}", ran.out);
    let words = "m.wat --config tiny --function divide --param 1 --param 0 --workgroup 1 --format json";
    let ran = scratch.run(words);
    let read: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &read["instances"][0]["trap"]["kind"]), (3, &"integer divide by zero".into()));
}

#[test]
fn a_memory_grows_as_far_as_the_host_lets_it() {
    let scratch = scratch();
    let grow = |flag: &str| {
        let out = scratch.out(&format!("m.wat --config tiny --function grow --param 1 --workgroup 1 {flag}"));
        out.split_whitespace().last().unwrap_or_default().to_owned()
    };
    assert_eq!([grow("--instance-memory 128KiB"), grow("--instance-memory 64KiB")], ["1", "-1"]);
}

#[test]
fn wrong_input_is_one_clear_error() {
    let scratch = scratch();
    for (words, message) in [
        ("m.wat", "error: `m.wat`: which function is to be called?"),
        ("m.wat --function lod", "error: `m.wat` exports no function `lod`"),
        ("m.wat --function load", "error: `load` takes 1 argument (i32), and 0 are given"),
        ("m.wat --function load --param 1.5", "error: argument 1 of --param: 1.5 is no integer"),
        ("m.wat --function load --param 1 --set-reg 1:2", "error: --set-reg: these are for kernels"),
        ("--instances", "error: --instances is for a kernel file, and none is named"),
        ("c/saxpy --function saxpy", "error: --function is for a kernel file, and `saxpy` states its own"),
    ] {
        let ran = scratch.run(&format!("{words} --config tiny"));
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.starts_with(message), "{words}: {}", ran.err);
    }
}

#[test]
fn instances_have_a_report_and_a_debugger_as_kernels_have() {
    let scratch = scratch();
    const CALL: &str = "m.wat --config tiny --function divide --param i64:-7 --param 2";
    let out = scratch.out(&format!("{CALL} --report r.html"));
    assert!(out.contains("     0  -3  41\n"), "{out}");
    let page = String::from_utf8(scratch.read("r.html")).unwrap();
    assert!(page.contains("(i64.div_s (local.get 0) (local.get 1))"), "the report has lines of the module");
    scratch.write("step.txt", b"step 300\n");
    let ran = scratch.run(&format!("debug {CALL} --commands step.txt"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("\n  m.wat:7 pc "), "{}", ran.out);
    // Several modules are called one after the other, as kernels are.
    let out = scratch.out("one.wat one.wat --config tiny --workgroup 1");
    assert!(out.contains("kernels=2"), "{out}");
    // The disassembler shows the same program, with the lines.
    let out = scratch.out("dis m.wat --function divide");
    assert!(out.contains(";    7      (i64.div_s (local.get 0) (local.get 1))\n"), "{out}");
}
