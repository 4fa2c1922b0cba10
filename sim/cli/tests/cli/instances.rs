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
        ("m.wat --function load --param 1.5", "error: argument 1 of --param: `1.5` is no integer"),
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
    scratch.write("step.txt", b"step 200\n");
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

/// A module whose state stays between calls: a word of memory, and a global variable.
const STATE: &str = r#"(module
  (memory (export "memory") 1 3)
  (global $steps (mut i64) (i64.const 0))
  (func (export "init") (param i32) (i32.store (i32.const 8) (local.get 0)))
  (func (export "step") (param i32) (result i32 i64)
    (global.set $steps (i64.add (global.get $steps) (i64.const 1)))
    (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (local.get 0)))
    (if (i32.gt_s (local.get 0) (i32.const 100)) (then (unreachable)))
    (i32.load (i32.const 8)) (global.get $steps))
  (func (export "grow") (result i32) (memory.grow (i32.const 1))))
"#;

#[test]
fn calls_of_an_instance_follow_one_another_and_keep_its_state() {
    let scratch = Scratch::with(&[("s.wat", STATE)]);
    let run = "s.wat --config tiny --workgroup 2 --call init=10 --call step=3 --call step=i32:-4";
    for words in [run.to_owned(), format!("{run} --functional")] {
        let out = scratch.out(&words);
        assert!(out.starts_with("init, step, step: 2 instances, "), "{out}");
        let rows: Vec<&str> = out.lines().skip(3).collect();
        let wanted = [
            "     0  init",
            "     0  step  13  1",
            "     0  step  9  2",
            "     1  init",
            "     1  step  13  1",
            "     1  step  9  2",
        ];
        assert_eq!(rows, wanted);
    }
    let read: serde_json::Value =
        serde_json::from_str(&scratch.out(&format!("{run} --format json"))).unwrap();
    assert_eq!(read["functions"], serde_json::json!(["init", "step", "step"]));
    assert_eq!(read["instances"][1]["calls"][2]["results"][0]["value"], 9);
    // A trap ends the instance, and calls before it have their results.
    let ran = scratch.run("s.wat --config tiny --workgroup 1 --call step=5 --call step=101 --call init=1");
    assert_eq!(ran.code, 3, "{}", ran.err);
    let rows: Vec<&str> = ran.out.lines().skip(3).collect();
    assert_eq!(rows[0], "     0  step  5  1");
    assert!(rows[1].starts_with("     0  step  trap: unreachable, in `step`"), "{}", ran.out);
    assert!(ran.out.ends_with("1 of 1 trapped\n"), "{}", ran.out);
}

#[test]
fn the_memory_of_an_instance_is_saved_and_loaded() {
    let scratch = Scratch::with(&[("s.wat", STATE)]);
    scratch.out(
        "s.wat --config tiny --workgroup 1 --call grow --call init=7 --call step=1 --instance-save m.bin",
    );
    let saved = scratch.read("m.bin");
    assert_eq!((saved.len(), &saved[8..12]), (2 << 16, &8u32.to_le_bytes()[..]));
    let out = scratch.out("s.wat --config tiny --workgroup 3 --call step=2 --call grow --instance-load m.bin --instance-save n{thread}.bin");
    let rows: Vec<&str> = out.lines().skip(3).take(2).collect();
    assert_eq!(rows, ["     0  step  10  1", "     0  grow  2"]);
    for thread in 0..3 {
        let saved = scratch.read(&format!("n{thread}.bin"));
        assert_eq!((saved.len(), &saved[8..12]), (3 << 16, &10u32.to_le_bytes()[..]));
    }
    // A file that is shorter than the memory is its beginning.
    scratch.write("short.bin", &[0, 0, 0, 0, 0, 0, 0, 0, 50]);
    let out =
        scratch.out("s.wat --config tiny --workgroup 1 --function step --param 1 --instance-load short.bin");
    assert!(out.ends_with("0  51  1\n"), "{out}");
    scratch.write("long.bin", &vec![1; (3 << 16) + 1]);
    for (words, message) in [
        ("--call step", "error: `step` takes 1 argument (i32), and 0 are given"),
        ("--call stp=1", "error: `s.wat` exports no function `stp`"),
        ("--call step=1 --param 1", "error: the argument '--call"),
        ("--call step=1.5", "error: argument 1 of --call: `1.5` is no integer"),
        ("--call step=1 --instance-load none.bin", "error: --instance-load: cannot read `none.bin`"),
        (
            "--call grow --call step=1 --instance-load long.bin",
            "error: --instance-load: `long.bin` has more bytes",
        ),
        (
            "--call step=1 --workgroup 2 --instance-save m.bin",
            "error: --instance-save: 2 instances have a memory",
        ),
        ("--call step=1 --workgroup 1 --instance-save no/m.bin", "error: --instance-save: "),
    ] {
        let ran = scratch.run(&format!("s.wat --config tiny {words}"));
        assert_eq!(ran.code, 2, "{words}: {}{}", ran.out, ran.err);
        assert!(ran.err.starts_with(message), "{words}: {}", ran.err);
    }
}

/// A function that nobody provides is refused, and the message names the flag; with it, only a call of the function traps.
#[test]
fn unknown_imports_trap_where_the_user_says_so() {
    let text = r#"(module (import "env" "abort" (func $abort (param i32)))
      (func (export "f") (param i32) (result i32)
        (if (local.get 0) (then (call $abort (local.get 0)))) (i32.const 5)))"#;
    let scratch = Scratch::with(&[("i.wat", text)]);
    let ran = scratch.run("i.wat --config tiny --instances --param 0 --workgroup 1");
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("`env.abort`") && ran.err.contains("--imports trap"), "{}", ran.err);
    let ran = scratch.run("i.wat --config tiny --imports trap --param 0 --workgroup 1");
    assert!(ran.code == 0 && ran.out.ends_with("0  5\n"), "{}{}", ran.out, ran.err);
    let ran = scratch.run("i.wat --config tiny --imports trap --param 1 --workgroup 1");
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("trap: call of an unknown import, in `env.abort`"), "{}", ran.out);
}

/// 17 pages for each of 64 lanes are more than device memory; for the threads of the launch they are not.
#[test]
fn memory_is_reserved_for_the_threads_that_exist() {
    let text = r#"(module (memory (export "m") 17)
      (func (export "f") (param i32) (result i32) (i32.store8 (local.get 0) (i32.const 9)) (i32.load8_u (local.get 0))))"#;
    let scratch = Scratch::with(&[("m.wat", text)]);
    for workgroup in [1, 3, 32] {
        let ran = scratch.run(&format!("m.wat --param 0x10FFFF --workgroup {workgroup}"));
        assert!(ran.code == 0 && ran.out.ends_with("  9\n"), "{workgroup}: {}{}", ran.out, ran.err);
    }
    let ran = scratch.run("m.wat --param 0 --workgroup 64");
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("bytes of private memory"), "{}", ran.err);
}
