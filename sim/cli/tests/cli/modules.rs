//! Kernels from modules in other formats, as a user runs them.

use super::scratch::Scratch;

/// Two kernels over an array of words: each word twice, and its quotient by a thread's number minus `by`; and a table
/// of squares in the module's own data.
const MODULE: &str = r#"(module
  (import "wave" "thread_id_x" (func $thread (result i32)))
  (memory 1)
  (data (i32.const 1024) "\00\00\00\00\01\00\00\00\04\00\00\00\09\00\00\00")
  (func $at (param $words i32) (result i32)
    (i32.add (local.get $words) (i32.shl (call $thread) (i32.const 2))))
  (func (export "twice") (param $words i32)
    (i32.store (call $at (local.get $words))
               (i32.shl (i32.load (call $at (local.get $words))) (i32.const 1))))
  (func (export "divide") (param $words i32) (param $by i32)
    (i32.store (call $at (local.get $words))
      (i32.div_u (i32.load (call $at (local.get $words)))
        (i32.sub (call $thread) (local.get $by)))))
  (func (export "square") (param $words i32) (param $scale f32)
    (f32.store (call $at (local.get $words))
      (f32.mul (local.get $scale)
        (f32.convert_i32_u (i32.load offset=1024 (i32.shl (call $thread) (i32.const 2)))))))
)
"#;

fn scratch() -> Scratch {
    Scratch::with(&[("m.wat", MODULE)])
}

#[test]
fn a_kernel_of_a_module_runs_with_typed_arguments() {
    let scratch = scratch();
    let words = "--workgroup 4 --fill-iota 0x10000:u32:4:1 --dump-u32 0x10000:4";
    let ran = scratch.run(&format!("m.wat --kernel twice --param 0x10000 {words}"));
    assert_eq!((ran.code, &ran.out[..8]), (0, "0\n2\n4\n6\n"), "{}{}", ran.out, ran.err);
    // Its data are in memory, and a float may be written as an integer.
    for scale in ["2.5", "f32:2.5"] {
        let out = scratch.out(&format!(
            "m.wat --kernel square --param 0x10000 --param {scale} --workgroup 4 --dump-f32 0x10000:4"
        ));
        assert!(out.starts_with("0.0\n2.5\n10.0\n22.5\n"), "{out}");
    }
}

/// Arguments in order also start a kernel in assembly, whose parameters nothing states.
#[test]
fn arguments_in_order_are_those_of_registers() {
    let scratch = Scratch::with(&[("add.wave", super::scratch::ADD)]);
    let words = "--fill-iota 0:u32:16:1 --dump-u32 64:16";
    let out = scratch.out(&format!("add.wave --param 0 --param 64 --param -5 {words}"));
    assert_eq!(out, scratch.out(&format!("add.wave --set-reg 0:0 --set-reg 1:64 --set-reg 2:-5 {words}")));
    assert!(out.starts_with("4294967291\n"), "{out}");
}

#[test]
fn a_trap_is_a_fault_with_function_line_and_lane() {
    let ran = scratch().run("m.wat --kernel divide --param 0x10000 --param 3 --workgroup 4");
    assert_eq!(ran.code, 3, "{}", ran.err);
    for part in [
        "kernel `divide`: trap: integer divide by zero (workgroup 0,0,0, wave 0, lane 3, pc 0x",
        ", cycle ",
        "in function `divide`\n",
        "m.wat:11:5",
        "(i32.store (call $at",
    ] {
        assert!(ran.err.contains(part), "no {part:?} in:\n{}", ran.err);
    }
}

#[test]
fn a_launch_file_names_a_module_and_its_entry() {
    let launch = |text: &str| {
        format!(
            "(source: \"m.wat\", entry: \"twice\", buffers: (words: (type: u32, length: 64, contents: iota)), \
             steps: [run(grid: 1, workgroup: 32, arguments: [{text}])], expect: (words: (equals: each(\"{}\"))))",
            "select(i < 32, 2 * i, i)"
        )
    };
    let scratch = scratch();
    scratch.write("right.ron", launch("\"words\"").as_bytes());
    let ran = scratch.run("right.ron");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("verified"), "{}", ran.out);
    scratch.write("wrong.ron", launch("\"words + 4\"").as_bytes());
    assert_eq!(scratch.run("wrong.ron").code, 1);
    scratch.write("few.ron", launch("").as_bytes());
    let ran = scratch.run("few.ron");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("kernel `twice` takes one argument (i32), and none is given"), "{}", ran.err);
}

/// A container holds the code, and no more.
#[test]
fn asm_makes_a_container_and_says_what_it_does_not_hold() {
    let scratch = scratch();
    let ran = scratch.run("asm m.wat -o m.wbin");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("the 16 bytes of data of `m.wat` are not in the container"), "{}", ran.err);
    let words = "--workgroup 4 --fill-iota 0x10000:u32:4:1 --dump-u32 0x10000:4";
    let out = scratch.out(&format!("m.wbin --kernel twice --set-reg 0:0x10000 {words}"));
    assert!(out.starts_with("0\n2\n4\n6\n"), "{out}");
    assert_eq!(
        scratch.out("dis m.wbin --raw --no-directives"),
        scratch.out("dis m.wat --raw --no-directives --no-source")
    );
}

#[test]
fn check_says_what_the_module_and_its_kernels_are() {
    let out = scratch().out("check m.wat --kernel twice");
    for part in [
        "module m.wat: ",
        "exports    twice, divide, square",
        "kernel twice: nothing to remark",
        "registers ",
    ] {
        assert!(out.contains(part), "no {part:?} in:\n{out}");
    }
    assert!(!out.contains("kernel divide"), "{out}");
}
