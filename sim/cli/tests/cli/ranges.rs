//! Ranges of device memory that flags name: what they must not meet, and buffers by name.

use super::scratch::{ADD, Scratch};

/// A kernel that keeps a number on the stack of its thread, and one that copies a word, over a module with data.
const MODULE: &str = r#"(module
  (import "wave" "thread_id_x" (func $thread (result i32)))
  (memory 1)
  (global $sp (mut i32) (i32.const 65536))
  (export "__stack_pointer" (global $sp))
  (data (i32.const 1024) "\07\00\00\00\08\00\00\00\09\00\00\00\0a\00\00\00")
  (func $at (param i32) (result i32)
    (i32.add (local.get 0) (i32.shl (call $thread) (i32.const 2))))
  (func (export "stacked") (param $out i32) (local $frame i32)
    (local.set $frame (i32.sub (global.get $sp) (i32.const 256)))
    (i32.store (call $at (local.get $frame)) (i32.add (call $thread) (i32.const 100)))
    (i32.store (call $at (local.get $out)) (i32.load (call $at (local.get $frame)))))
  (func (export "copy") (param $from i32) (param $to i32)
    (i32.store (call $at (local.get $to)) (i32.load (call $at (local.get $from)))))
)
"#;

/// 64 threads of 2 KiB: two waves, whose stacks have 256 KiB of the 1 MiB, and what else they need.
const STACKED: &str =
    "m.wat --kernel stacked --workgroup 64 --device-memory 1MiB --stack-bytes 2048 --functional";

fn scratch() -> Scratch {
    let scratch = Scratch::with(&[("m.wat", MODULE), ("add.wave", ADD)]);
    scratch.write("64", &[1; 64]);
    scratch
}

/// A command that is refused, with these parts in its message and nothing on standard output.
fn refused(scratch: &Scratch, words: &str, parts: &[&str]) {
    let ran = scratch.run(words);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{words}: {}", ran.err);
    for part in parts {
        assert!(ran.err.contains(part), "{words}: no {part:?} in:\n{}", ran.err);
    }
}

#[test]
fn nothing_that_a_flag_names_meets_the_stacks() {
    let scratch = scratch();
    let out = scratch.out(&format!("{STACKED} --param 0x10000 --dump-u32 0x10000:64"));
    let values: Vec<u32> = out.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(values, (100..164).collect::<Vec<u32>>());
    let stacks = "the private memory of the threads (their stacks), 0xc0000 to 0x100000";
    refused(
        &scratch,
        &format!("{STACKED} --param 0xd0000"),
        &["argument 1 of kernel `stacked` is the address 0xd0000", stacks, "stay below 0xc0000"],
    );
    for (flag, name) in [
        ("--dump-u32 0xbfff8:4", "--dump-u32 covers 0xbfff8 to 0xc0008"),
        ("--dump-memory 0xc0000:0xc0001", "--dump-memory covers 0xc0000 to 0xc0001"),
        ("--save 0xfffff:1:x", "--save covers 0xfffff to 0x100000"),
        ("--save 0:0x100000:x", "--save covers 0x0 to 0x100000"),
        ("--fill-zero 0xd0000:u8:1", "--fill-zero covers 0xd0000 to 0xd0001"),
        ("--fill-iota 0xbfffc:u64:1", "--fill-iota covers 0xbfffc to 0xc0004"),
        ("--arg 0xbffff:64", "--arg 64 covers 0xbffff to 0xc003f"),
    ] {
        refused(&scratch, &format!("{STACKED} --param 0x10000 {flag}"), &[name, stacks]);
    }
    assert!(!scratch.path("x").exists());
    // Up to the stacks everything is free.
    scratch.out(&format!("{STACKED} --param 0xbff00 --fill-zero 0xbff00:u32:64 --dump-u32 0xbff00:64"));
    // A launch file says it as well.
    scratch.write(
        "m.ron",
        b"(source: \"m.wat\", stack_bytes: 2048, steps: [run(kernel: \"stacked\", grid: 1, workgroup: 64, arguments: [0xFFF00])])",
    );
    let words = "m.ron --device-memory 1MiB";
    refused(&scratch, words, &["argument 1 of kernel `stacked` is the address 0xfff00", stacks]);
}

#[test]
fn data_of_a_program_are_read_but_not_overwritten() {
    let scratch = scratch();
    let copy = "m.wat --kernel copy --workgroup 4 --functional";
    let data = "the data of `m.wat`, 0x400 to 0x410";
    // The kernel may read them through a pointer, and a dump may show them.
    let out =
        scratch.out(&format!("{copy} --param 1024 --param 0x10000 --dump-u32 0x10000:4 --dump-u32 1028:2"));
    assert_eq!(out, "7\n8\n9\n10\n8\n9\n");
    refused(
        &scratch,
        &format!("{copy} --param 0x10000 --param 1036"),
        &["argument 2 of kernel `copy` is the address 0x40c", data, "from 0x500 on"],
    );
    for flag in [
        "--fill-iota 1020:u32:2",
        "--arg 1000:64",
        "--fill-zero 0:u8:2048",
        "--dump-u32 1020:2",
        "--save 0:2KiB:x",
    ] {
        refused(&scratch, &format!("{copy} --param 1024 --param 0x10000 {flag}"), &[data]);
    }
    // A number that is no address may be any.
    scratch.out(&format!("{copy} --param 0x10000 --param 0x20000 --fill-iota 0x10000:u32:4"));
}

#[test]
fn contents_lie_beside_or_inside_one_another() {
    let scratch = scratch();
    scratch.write("8", &[2; 8]);
    let add = "add.wave --param 0 --param 4096 --param 1 --functional";
    let out =
        scratch.out(&format!("{add} --fill-zero 0:u8:256 --fill-iota 0:u8:64 --arg 56:8 --dump-u8 54:4"));
    assert_eq!(out, "54\n55\n2\n2\n");
    scratch.out(&format!("{add} --fill-zero 0:u8:64 --arg 0:64"));
    let iota = "--fill-iota covers 0x0 to 0x40";
    let half = "but not half over them";
    for (fills, parts) in [
        (
            "--fill-iota 0:u8:64 --arg 60:8",
            ["--arg 8 covers 0x3c to 0x44, and meets --fill-iota, 0x0 to 0x40", half],
        ),
        (
            "--arg 60:8 --fill-iota 0:u8:64",
            ["--arg 8 covers 0x3c to 0x44, and meets --fill-iota, 0x0 to 0x40", half],
        ),
        ("--arg 0:64 --arg 32:64", ["--arg 64 covers 0x20 to 0x60, and meets --arg 64, 0x0 to 0x40", half]),
        (
            "--fill-iota 0:u8:64 --arg 0:64",
            ["--arg 64 covers 0x0 to 0x40", "would leave nothing of the earlier one"],
        ),
        ("--fill-iota 8:u8:8 --fill-iota 0:u8:64", [iota, "would leave nothing of the earlier one"]),
    ] {
        refused(&scratch, &format!("{add} {fills}"), &parts);
    }
}

#[test]
fn buffers_are_named_by_launch_files_and_bindings() {
    let scratch = Scratch::with(&[(
        "squares.wgsl",
        "@group(0) @binding(1) var<storage, read_write> squares: array<u32>;
         @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { squares[i] = i * i; }",
    )]);
    let words = "squares.wgsl --bind 0.1=bytes:32 --functional";
    let four = "0\n1\n4\n9\n";
    for place in ["0.1:4", "squares:4", "squares+0:4"] {
        assert_eq!(scratch.out(&format!("{words} --dump-u32 {place}")), four, "{place}");
    }
    assert_eq!(scratch.out(&format!("{words} --dump-u32 squares")), format!("{four}16\n25\n36\n49\n"));
    assert_eq!(scratch.out(&format!("{words} --dump-u32 squares+24")), "36\n49\n");
    assert_eq!(scratch.out(&format!("{words} --dump-u8 0.1+8:1 --dump-u64 squares+8:1")), "4\n38654705668\n");
    let hex = scratch.out(&format!("{words} --dump-memory squares+4:squares+8"));
    assert!(hex.contains("01 00 00 00") && hex.lines().count() == 2, "{hex}");
    scratch.out(&format!("{words} --save squares:all --save 0.1+4:4:some"));
    assert_eq!((scratch.read("all").len(), scratch.read("some")), (32, vec![1, 0, 0, 0]));
    for (flag, parts) in [
        ("--dump-u32 square:4", ["--dump-u32: there is no buffer `square`", "did you mean `squares`?"]),
        ("--save 0.2:x", ["--save: there is no buffer `0.2`", "did you mean `0.1`?"]),
        ("--dump-u32 squares:9", ["goes past the end of `squares`", "has 32 bytes from"]),
        ("--dump-memory squares+33", ["goes past the end of `squares`", "has 0 bytes from"]),
    ] {
        refused(&scratch, &format!("{words} {flag}"), &parts);
    }
    let scratch = Scratch::new();
    let out = scratch.out("saxpy --size small --functional --dump-f32 x:2 --save y:y");
    assert_eq!((out.lines().count(), scratch.read("y").len() % 4), (2, 0));
    refused(&scratch, "saxpy --size small --functional --dump-f32 xx:2", &["there is no buffer `xx`", "x"]);
    let scratch = Scratch::with(&[("add.wave", ADD)]);
    refused(
        &scratch,
        "add.wave --dump-f32 out:4",
        &["there is no buffer `out`", "has no buffers with names"],
    );
}

/// Every type and every form of a number, as the bits that a kernel finds in its registers.
#[test]
fn arguments_reach_a_kernel_as_the_bits_of_their_types() {
    let scratch = Scratch::with(&[(
        "k.wat",
        "(module (memory 1) (func (export \"k\") (param i32 i32 i64 f32 f64)
           (i32.store offset=0 (local.get 0) (local.get 1)) (i64.store offset=8 (local.get 0) (local.get 2))
           (f32.store offset=16 (local.get 0) (local.get 3)) (f64.store offset=24 (local.get 0) (local.get 4))))",
    )]);
    let words = "k.wat --kernel k --workgroup 1 --functional --param 0x10000";
    let dumps = "--dump-u32 0x10000:1 --dump-u64 0x10008:1 --dump-u32 0x10010:1 --dump-u64 0x10018:1";
    let bits = |values: [&str; 4]| {
        let given: Vec<String> = values.iter().map(|value| format!("--param {value}")).collect();
        let out = scratch.out(&format!("{words} {} {dumps}", given.join(" ")));
        let found: Vec<u64> = out.lines().map(|line| line.parse().unwrap()).collect();
        <[u64; 4]>::try_from(found).unwrap()
    };
    let of = |single: f32, double: f64| (u64::from(single.to_bits()), double.to_bits());
    for (values, low, long, (single, double)) in [
        (["u8:255", "u64:18446744073709551615", "f32:-0", "f64:1e300"], 255, u64::MAX, of(-0.0, 1e300)),
        (["i8:-1", "i64:-9223372036854775808", "-0", "-0"], u32::MAX, 1 << 63, of(-0.0, -0.0)),
        (
            ["i16:-2", "hex:fedcba9876543210", "inf", "-inf"],
            0xFFFF_FFFE,
            0xFEDC_BA98_7654_3210,
            of(f32::INFINITY, f64::NEG_INFINITY),
        ),
        (["u16:65535", "0xFFFF_FFFF_FFFF", "1e-45", "5e-324"], 65535, 0xFFFF_FFFF_FFFF, (1, 1)),
        (["f16:-1.5", "0", "0x1.8p-1", "0x1.fffffffffffffp1023"], 0xBE00, 0, of(0.75, f64::MAX)),
        (
            ["bf16:1", "1", "hex:7fc00001", "hex:7ff0000000000001"],
            0x3F80,
            1,
            (0x7FC0_0001, 0x7FF0_0000_0000_0001),
        ),
        (["hex:80000001", "-1", "0.1", "0.1"], 0x8000_0001, u64::MAX, of(0.1, 0.1)),
    ] {
        assert_eq!(bits(values), [low.into(), long, single, double], "{values:?}");
    }
    for (value, part) in [
        ("u8:256", "`256` does not fit u8: 0 to 255"),
        ("i16:-32769", "does not fit i16: -32768 to 32767"),
        ("u64:1", "is stated as u64, and the parameter is i32"),
        ("hex:100000000", "does not fit i32"),
        ("4294967296", "does not fit i32: -2147483648 to 4294967295"),
        ("f32:1", "is stated as f32, and the parameter is i32"),
        ("1.5", "is no integer, and the parameter is i32"),
    ] {
        let ran = scratch.run(&format!("{words} --param {value} --param 0 --param 0 --param 0"));
        assert!(ran.code == 2 && ran.err.contains(part), "{value}: {}", ran.err);
    }
    // The same in a launch file, and as contents of a buffer.
    scratch.write(
        "k.ron",
        b"(source: \"k.wat\", buffers: (out: (type: u64, length: 4), in: (type: i64, contents: values([-1, \"hex:8000000000000000\", \"i64:7\"])), \
          one: (type: bf16, contents: values([\"bf16:-0\", 1.5]))), \
          steps: [run(grid: 1, workgroup: 1, arguments: [\"out\", \"i8:-1\", 18446744073709551615, \"f32:-0\", \"hex:7ff0000000000001\"])])",
    );
    let out = scratch.out("k.ron --functional --dump-u64 out --dump-i64 in --dump-bf16 one:2");
    assert_eq!(
        out.split_whitespace().collect::<Vec<_>>(),
        [
            "4294967295",
            "18446744073709551615",
            "2147483648",
            "9218868437227405313",
            "-1",
            "-9223372036854775808",
            "7",
            "-0.0",
            "1.5"
        ]
    );
}
