//! Kernels in C on the command line: flags of clang, what threads print, their heaps.

use super::scratch::{Scratch, without_host};
use serde_json::Value;
use std::collections::BTreeSet;
use wave_testing::clang::clang;

/// A kernel that does not compile without `-D` and `-I`.
const FLAGS: &str = "\
#include <wave.h>
#include \"number.h\"
KERNEL_WORKGROUP(k, 8, 1, 1);
KERNEL void k(unsigned *out) { out[thread_id_x()] = NUMBER + N; }
";

const FLAGS_RON: &str = r#"(
    source: "../x.c",
    clang: ["-DN=4", "-I../include", "-include", "../include/number.h"],
    buffers: (out: (type: u32, length: 8)),
    steps: [run(grid: 1, arguments: ["out"])],
    expect: (out: (equals: each("44"))),
)"#;

const LINES: &str = "\
#include <stdio.h>
#include <wave.h>
KERNEL void lines(unsigned n)
{
    if (thread_id_x() < n) printf(\"%u: %u of %.2f\\n\", workgroup_id_x(), thread_id_x(), 0.5 * n);
}
";

/// Two launches, whose order is that of the text.
const LINES_RON: &str = r#"(
    source: "lines.c",
    steps: [run(grid: 2, workgroup: 32, arguments: [2]), run(grid: 1, workgroup: 32, arguments: [1])],
)"#;

const TEXT: &str = "0: 0 of 1.00\n0: 1 of 1.00\n1: 0 of 1.00\n1: 1 of 1.00\n0: 0 of 0.50\n";

fn flags() -> Scratch {
    let scratch = Scratch::with(&[("x.c", FLAGS)]);
    for folder in ["include", "launches"] {
        std::fs::create_dir(scratch.path(folder)).unwrap();
    }
    scratch.write("include/number.h", b"#define NUMBER 40\n");
    scratch.write("launches/x.ron", FLAGS_RON.as_bytes());
    scratch
}

#[test]
fn flags_of_clang_stand_behind_the_dashes_of_every_command() {
    if !clang() {
        return;
    }
    let scratch = flags();
    let after = "-- -DN=4 -Iinclude";
    let dump = scratch.out(&format!("x.c --config tiny --param 4096 --functional --dump-u32 4096:8 {after}"));
    assert!(dump.contains("44"), "{dump}");
    for command in [
        "check x.c",
        "asm x.c -o x.wbin",
        "dis x.c",
        "dis --ir x.c",
        "ptx x.c",
        "explain x.c --config tiny --param 4096 --no-check",
        "compare x.c --config tiny --config gpu --param 4096",
        "debug x.c --config tiny --param 4096 -x continue",
    ] {
        scratch.out(&format!("{command} {after}"));
        let ran = scratch.run(&format!("{command} -- -Iinclude"));
        assert_eq!(ran.code, 2, "{command}: {}", ran.err);
        // The message of clang, with its place.
        assert!(ran.err.contains("x.c:4:") && ran.err.contains("undeclared identifier 'N'"), "{}", ran.err);
    }
    // Folders are those of the launch file, wherever the command runs.
    let out = scratch.out("launches/x.ron --config tiny");
    assert!(
        out.contains("8 values are as expected") || out.contains("verified") || out.contains("8"),
        "{out}"
    );
    let ran = scratch.run("launches/x.ron --config tiny -- -DN=4");
    assert_eq!(ran.code, 2);
    assert!(ran.err.starts_with("error: -- CLANG FLAGS is for a kernel file"), "{}", ran.err);
    scratch.write("k.wave", b".kernel k\n.registers 1\n    halt\n.end\n");
    let ran = scratch.run("k.wave --config tiny -- -DN=4");
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.starts_with("error: `-DN=4` is for kernels in C, CUDA and OpenCL, and `k.wave` is WAVE"),
        "{}",
        ran.err
    );
}

#[test]
fn flags_and_headers_are_part_of_what_a_store_knows_a_result_by() {
    if !clang() {
        return;
    }
    let scratch = flags();
    let names = || -> BTreeSet<String> {
        let folders = std::fs::read_dir(scratch.path("sweep-results")).unwrap();
        let folders = folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
        let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
        files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let sweep = |flags: &str| {
        let words = format!("sweep x.c --config tiny --set core.l1.bytes=4KiB --param 4096 --yes -- {flags}");
        scratch.out(&words);
        names().len()
    };
    let first = sweep("-DN=4 -Iinclude");
    assert!(first > 0);
    assert_eq!(sweep("-Iinclude -DN=4"), first, "the same code");
    assert_eq!(sweep("-DN=5 -Iinclude"), 2 * first);
    scratch.write("include/number.h", b"#define NUMBER 41\n");
    assert_eq!(sweep("-DN=5 -Iinclude"), 3 * first);
    // A checkpoint is one of the code that the flags make.
    scratch
        .out("x.c --config tiny --param 4096 --checkpoint c.ckpt --checkpoint-every 20 -- -DN=4 -Iinclude");
    scratch.out("x.c --config tiny --param 4096 --resume c.ckpt -- -DN=4 -Iinclude");
    let ran = scratch.run("x.c --config tiny --param 4096 --resume c.ckpt -- -DN=9 -Iinclude");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("is a checkpoint of another kernel"), "{}", ran.err);
}

#[test]
fn what_threads_print_is_the_same_on_every_machine_and_comes_before_the_report() {
    if !clang() {
        return;
    }
    let scratch = Scratch::with(&[("lines.c", LINES), ("lines.ron", LINES_RON)]);
    for words in ["--functional", "--threads 1", "--threads 2", "--config gpu", "--detail-from launch:2"] {
        let config = if words.contains("--config") { "" } else { "--config tiny" };
        let out = scratch.out(&format!("lines.ron {config} {words}"));
        assert!(out.starts_with(&format!("{TEXT}lines on ")), "{words}: {out}");
    }
    for words in ["--functional", "--threads 2"] {
        let json = scratch.out(&format!("lines.ron --config tiny {words} --format json"));
        let document: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(document["runs"][0]["printed"]["text"], TEXT, "{words}");
    }
    let several = scratch.out("lines.ron lines.ron --config tiny");
    assert_eq!(several.matches(&format!("\nlines printed\n{TEXT}")).count(), 2, "{several}");
    // The debugger shows it as far as it is, and at the end.
    scratch.write("commands.txt", b"info output\ncontinue\ninfo output\n");
    let debug = scratch.out("debug lines.ron --config tiny --commands commands.txt");
    assert!(debug.starts_with("(wave) info output\nnothing so far\n"), "{debug}");
    assert_eq!(debug.matches(TEXT).count(), 2, "{debug}");
    // A checkpoint in the second launch knows where the first one ended.
    scratch.out("lines.ron --config tiny --checkpoint c.ckpt --checkpoint-every 60000");
    let out = scratch.out("lines.ron --config tiny --resume c.ckpt");
    assert!(out.starts_with(&format!("{TEXT}lines on ")), "{out}");
}

#[test]
fn lines_that_are_lost_and_heaps_that_are_full_are_warnings() {
    if !clang() {
        return;
    }
    // The compiler leaves out allocations that nobody looks at.
    let heap = "#include <stdlib.h>\n#include <wave.h>\nvoid *volatile kept;\n\
                KERNEL void heap(void)\n{\n    void *p = malloc(100);\n    kept = p;\n    free(p);\n}\n";
    let scratch = Scratch::with(&[("lines.c", LINES), ("heap.c", heap)]);
    let ran =
        scratch.run("lines.c --config tiny --grid 4 --param 32 --functional -- -DWAVE_OUTPUT_BYTES=320");
    assert_eq!(ran.code, 0);
    let wanted =
        "warning: `lines`: the text of 118 calls is missing: the buffer of what threads print has 320 bytes";
    assert!(ran.err.starts_with(wanted), "{}", ran.err);
    assert_eq!(ran.out.lines().filter(|line| line.contains(" of 16.00")).count(), 10, "{}", ran.out);
    let ran = scratch.run("heap.c --config tiny --workgroup 5 --heap-bytes 112 --functional");
    assert!(ran.code == 0 && without_host(&ran.err).contains("5 allocations found the heap"), "{}", ran.err);
    let ran = scratch.run("heap.c --config tiny --workgroup 5 --heap-bytes 128 --functional");
    assert_eq!((ran.code, without_host(&ran.err).as_str()), (0, ""));
}

#[test]
fn text_before_a_fault_is_shown() {
    if !clang() {
        return;
    }
    let text = "#include <assert.h>\n#include <stdio.h>\n#include <wave.h>\nKERNEL void k(int n)\n{\n    \
                printf(\"before\\n\");\n    assert(n > 1);\n}\n";
    let scratch = Scratch::with(&[("k.c", text)]);
    for words in ["--functional", ""] {
        let ran = scratch.run(&format!("k.c --config tiny --workgroup 1 --param 1 {words}"));
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.out.starts_with("before\nk.c:7: k: assertion `n > 1` failed\n"), "{}", ran.out);
        assert!(
            scratch
                .out(&format!("k.c --config tiny --workgroup 1 --param 2 {words}"))
                .starts_with("before\nk on")
        );
    }
}
