//! Modules in other encodings than WAVE and WebAssembly, as a user runs them.

use super::golden;
use super::scratch::Scratch;

/// The examples of the book, under their names.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    for name in ["saxpy.wasm2015", "gcd.wasm2015", "collatz.rwasm", "knot.v.pica"] {
        let path = golden::root().join("sim/kernels/examples").join(name);
        scratch.write(name, &std::fs::read(path).unwrap());
    }
    scratch
}

const SAXPY: &str = "--grid 2 --workgroup 8 --param 2 --param 0x10000 --param 0x20000 --param 14 \
     --fill-iota 0x10000:f32:14:1 --dump-f32 0x20000:15";
/// Eight vertices. The uniforms are 0, 0.03, 0.06 and so on.
const KNOT: &str = "--workgroup 8 --param 8 --param 0x10000 --param 0x20000 --param 0x30000 --param 0x40000 \
     --param 0x50000 --fill-iota 0x10000:f32:40:0.03 --fill-iota 0x20000:f32:32:0.5 --fill-iota 0x30000:f32:32:1 \
     --dump-f32 0x40000:32 --dump-f32 0x50000:32";

#[test]
fn contents_tell_the_format_whatever_the_name_is() {
    let scratch = scratch();
    let results = [
        ("saxpy.wasm2015", SAXPY, "0.0\n2.0\n4.0\n"),
        (
            "gcd.wasm2015",
            "--function gcd --param 1071 --param 462 --workgroup 1 --config tiny",
            "     0  21\n",
        ),
        (
            "collatz.rwasm",
            "--function 0 --param 27 --result-types i32 --workgroup 1 --config tiny",
            "     0  111\n",
        ),
    ];
    for (name, flags, wanted) in results {
        let out = scratch.out(&format!("{name} {flags}"));
        assert!(out.contains(wanted), "{name}: {out}");
        scratch.write("a.wasm", &scratch.read(name));
        let renamed = scratch.out(&format!("a.wasm {flags}"));
        assert_eq!(out.lines().last(), renamed.lines().last(), "{name}");
    }
    // A flag goes before contents, and then they are wrong.
    for (format, message) in [
        (
            "rwasm",
            "error: gcd.wasm2015, read as rWasm: the file does not begin with the bytes EF 52, at byte 0x0",
        ),
        (
            "shbin",
            "error: gcd.wasm2015, read as PICA200: the block here does not begin with DVLB, at byte 0x0",
        ),
        ("wasm", "error: `gcd.wasm2015` is not WebAssembly"),
    ] {
        let ran = scratch.run(&format!("gcd.wasm2015 --function gcd --source-format {format}"));
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.starts_with(message), "{}", ran.err);
    }
    let ran = scratch.run("dis gcd.wasm2015 --source-format rwsm");
    assert!(ran.code == 2 && ran.err.contains("did you mean `rwasm`?"), "{}", ran.err);
}

#[test]
fn every_file_that_is_cut_off_is_one_error_with_its_byte() {
    let scratch = scratch();
    scratch.out("asm knot.v.pica");
    for (name, format) in
        [("saxpy.wasm2015", "wasm2015"), ("collatz.rwasm", "rwasm"), ("knot.v.shbin", "shbin")]
    {
        let bytes = scratch.read(name);
        // Descriptors and names lie behind the code, so that a long enough file may do.
        for length in (0..bytes.len() / 2).step_by(7) {
            scratch.write("cut", &bytes[..length]);
            let ran = scratch.run(&format!("check cut --source-format {format}"));
            assert_eq!(ran.code, 2, "{name} of {length} bytes: {}", ran.out);
            assert!(
                ran.err.starts_with("error: cut, read as ") && ran.err.contains("at byte 0x"),
                "{}",
                ran.err
            );
            assert_eq!(ran.err.matches("error: ").count(), 1, "{}", ran.err);
        }
    }
}

#[test]
fn a_shader_runs_as_text_as_a_container_and_as_bare_words() {
    let scratch = scratch();
    let text = scratch.out(&format!("knot.v.pica {KNOT}"));
    assert_eq!(text.lines().count(), 64);
    assert!(text.lines().any(|line| line != "0.0"), "{text}");
    scratch.out("asm knot.v.pica");
    assert_eq!(scratch.out(&format!("knot.v.shbin {KNOT}")), text);
    // Code and descriptors where the header says that they are; constants are not in them.
    let bytes = scratch.read("knot.v.shbin");
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let program = 8 + 4 * word(4);
    assert_eq!(&bytes[program..program + 4], b"DVLP");
    let [code, words, descriptors, count] = [8, 12, 16, 20].map(|at| word(program + at));
    scratch.write("code", &bytes[program + code..][..4 * words]);
    let all: Vec<u8> = bytes[program + descriptors..][..8 * count]
        .chunks(8)
        .flat_map(|entry| &entry[..4])
        .copied()
        .collect();
    scratch.write("descriptors", &all);
    // The assembler has put the constants (0, 1, 0, 1) into c95.
    let constants = "--fill-iota 0x105f0:f32:2:1 --fill-iota 0x105f8:f32:2:1";
    let bare = scratch.out(&format!("code --pica-descriptors descriptors {constants} {KNOT}"));
    assert_eq!(bare, text);
    let ran = scratch.run("knot.v.pica --param 64");
    assert!(
        ran.code == 2 && ran.err.contains("(i32 count, i32 uniforms, i32 v0, i32 v1, i32 o0, i32 o1)"),
        "{}",
        ran.err
    );
    let f32 = scratch.out(&format!("knot.v.pica --pica-float f32 {KNOT}"));
    assert_ne!(f32, text);
}

#[test]
fn a_module_is_shown_in_its_own_assembly() {
    let scratch = scratch();
    for (words, line) in [
        ("saxpy.wasm2015", "f32.store"),
        ("gcd.wasm2015 --function gcd", "i64.rem_u"),
        ("collatz.rwasm --function 0", "i64_mul"),
        ("knot.v.pica", "    mad r3.xyz, r4, r2, r3"),
    ] {
        let out = scratch.out(&format!("dis {words}"));
        let shown = out.lines().any(|shown| shown.starts_with("; ") && shown.contains(line));
        assert!(shown, "{words}: {out}");
    }
    scratch.out(&format!("saxpy.wasm2015 {SAXPY} --report r.html"));
    let page = String::from_utf8(scratch.read("r.html")).unwrap();
    assert!(page.contains("f32.mul"), "the report has the module's own lines");
}

#[test]
fn fuel_is_counted_and_enforced() {
    let scratch = scratch();
    let call = "collatz.rwasm --function 0 --param 27 --result-types i32 --workgroup 1 --config tiny";
    let left = |fuel: u64| -> u64 {
        let out = scratch.out(&format!("{call} --fuel {fuel}"));
        let (_, left) = out.trim_end().rsplit_once("111  fuel left: ").unwrap_or_else(|| panic!("{out}"));
        left.parse().unwrap()
    };
    let used = 10_000 - left(10_000);
    assert!(used > 100, "{used}");
    assert_eq!(left(used), 0);
    let ran = scratch.run(&format!("{call} --fuel {}", used - 1));
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.out.contains("trap: out of fuel, in `function 0`, collatz.rwasm:"), "{}", ran.out);
}

#[test]
fn a_launch_file_names_a_shader_and_its_floats() {
    let scratch = scratch();
    let file = |float: &str| {
        format!(
            "(source: \"knot.v.pica\", pica_float: {float}, buffers: (
                uniforms: (type: f32, length: 401, contents: each(\"i / 7.0\")),
                v0: (type: f32, length: 32, contents: each(\"i / 3.0\")),
                v1: (type: f32, length: 32, contents: each(\"i / 5.0 + 1.0\")),
                o0: (type: f32, length: 32), o1: (type: f32, length: 32)),
             steps: [run(grid: 1, workgroup: 8, arguments: [8, \"uniforms\", \"v0\", \"v1\", \"o0\", \"o1\"])],
             expect: (o0: (equals: values([{}]), tolerance: relative(0.0001))))",
            (0..32).map(expected).collect::<Vec<_>>().join(", ")
        )
    };
    for float in ["f24", "f32"] {
        scratch.write("knot.ron", file(float).as_bytes());
        let out = scratch.out("knot.ron");
        assert!(out.contains("verified: 32 values"), "{out}");
    }
    scratch.write("knot.ron", file("f16").as_bytes());
    let ran = scratch.run("knot.ron");
    assert!(ran.code == 2 && ran.err.contains("f16"), "{}", ran.err);
}

/// A component of a transformed position.
fn expected(number: usize) -> String {
    let (vertex, row) = (number / 4, number % 4);
    let sum: f64 = (0..4)
        .map(|column| {
            let position = if column == 3 { 1.0 } else { (4 * vertex + column) as f64 / 3.0 };
            (4 * row + column) as f64 / 7.0 * position
        })
        .sum();
    format!("{sum:?}")
}
