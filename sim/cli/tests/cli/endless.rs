//! Inputs that do not end, or are far too long: every kind is read up to a limit. Inputs that are pipes: each kind of text
//! can be one.

use super::scratch::{ADD, Ran, Scratch};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

const SHADER: &str = "\
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = id.x; }
";

/// Commands in which `ZERO` is an input that does not end: every kind of input.
const INPUTS: &[&str] = &[
    // Kernels in every format, by every command.
    "ZERO.wave --config tiny",
    "ZERO.wbin --config tiny",
    "ZERO.wgsl --config tiny",
    "ZERO.spv --config tiny",
    "ZERO.c --config tiny",
    "ZERO.cpp --config tiny",
    "ZERO.wat --config tiny",
    "ZERO.wasm --config tiny",
    "ZERO.rwasm --config tiny",
    "ZERO.wasm2015 --config tiny",
    "ZERO.pica --config tiny",
    "ZERO.shbin --config tiny",
    "ZERO.ir --config tiny",
    "ZERO.wasm --instances --config tiny",
    "words.shbin --config tiny --source-format shbin --pica-descriptors ZERO",
    "asm ZERO.wave",
    "dis ZERO.wbin",
    "dis ZERO.wat --ir",
    "check ZERO.wave",
    "ptx ZERO.wave",
    "wasm annotate ZERO.wasm -o out.wasm",
    "wasm verify ZERO.wasm",
    "debug ZERO.wave -x help",
    "explain ZERO.wave",
    // Texts in RON.
    "ZERO.ron --config tiny",
    "source.ron --config tiny",
    "data.ron --config tiny",
    "k.wave --config ZERO.ron",
    "k.wave --config tiny --energy=ZERO",
    "sweep --plan ZERO.ron",
    "cosim --core ./core.sh --corpus corpus",
    // Data.
    "k.wave --config tiny --arg 0:ZERO",
    "s.wgsl --config tiny --bind 0.0=ZERO",
    "k.wave --config tiny --resume ZERO",
    "cosim --core ./core.sh --stimulus ZERO",
    // Documents that the program has written.
    "compare ZERO.json",
    "k.wave --config tiny --report r.html --baseline ZERO.json",
    "k.wave --config tiny --report r.html --sensitivity ZERO.json",
    "silicon fit --base ZERO.ron --from ZERO.json",
    "silicon fit --base gpu --from ZERO.json",
    "silicon correlate saxpy --from ZERO.json",
    "sweep --config tiny --set cores=1,2 saxpy --store store",
    "trace show ZERO",
    "trace stats ZERO",
    "trace convert ZERO out.txt",
    "trace diff ZERO ZERO",
    // Texts.
    "debug k.wave --config tiny --commands ZERO",
    "litmus ZERO",
];

/// Runs a command that may not take much memory.
fn bounded(scratch: &Scratch, run: &str, input: Stdio) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 4000000 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_wave-sim")]);
    command.current_dir(scratch.path(".")).args(run.split_whitespace()).stdin(input);
    let output = command.output().unwrap();
    let code = output.status.code().unwrap_or_else(|| panic!("{run}: {}", output.status));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code, out: text(output.stdout), err: text(output.stderr) }
}

fn scratch() -> Scratch {
    let scratch = Scratch::with(&[
        ("k.wave", ADD),
        ("s.wgsl", SHADER),
        ("words.shbin", "abcd"),
        ("core.sh", "#!/bin/sh\nexit 1\n"),
        ("source.ron", "(source: \"zero.wave\", steps: [run(grid: 1)])"),
        (
            "data.ron",
            "(source: \"k.wave\", buffers: (x: (type: u32, length: 16, contents: file(\"zero.wave\"))), \
             steps: [run(grid: 1)])",
        ),
    ]);
    assert!(Command::new("chmod").arg("+x").arg(scratch.path("core.sh")).status().unwrap().success());
    std::fs::create_dir(scratch.path("corpus")).unwrap();
    std::fs::create_dir(scratch.path("store")).unwrap();
    scratch
}

/// The names that the inputs have.
fn named(run: &str) -> impl Iterator<Item = &str> {
    run.split(|c: char| c.is_whitespace() || c == '=' || c == ':').filter(|word| word.starts_with("ZERO"))
}

#[test]
fn no_input_fills_the_memory_of_the_host() {
    let scratch = scratch();
    // A file of a terabyte without a single block, and a device without an end.
    std::fs::File::create(scratch.path("huge")).unwrap().set_len(1 << 40).unwrap();
    for (from, why) in [("/dev/zero", "it is a device, not a file"), ("huge", "longer than ")] {
        let target = if from == "huge" { scratch.path("huge") } else { from.into() };
        for name in ["zero.wave", "corpus/zero.ron", "store/sweep-store.json"] {
            _ = std::fs::remove_file(scratch.path(name));
            symlink(&target, scratch.path(name)).unwrap();
        }
        let mut said = 0;
        for run in INPUTS {
            for name in named(run) {
                let link = scratch.path(&name.replace("ZERO", "zero"));
                _ = std::fs::remove_file(&link);
                symlink(&target, link).unwrap();
            }
            let ran = bounded(&scratch, &run.replace("ZERO", "zero"), Stdio::null());
            assert_eq!(ran.code, 2, "{run} of {from}: {}{}", ran.out, ran.err);
            assert_eq!(ran.err.matches("error: ").count(), 1, "{run} of {from}: {}", ran.err);
            let is_named = ran.err.contains("zero") || ran.err.contains("sweep-store.json");
            assert!(is_named, "{run} of {from}: {}", ran.err);
            // A checkpoint and a trace are known by their first bytes.
            let is_known = ran.err.contains("is no checkpoint") || ran.err.contains("is no WVFI trace");
            said += usize::from(ran.err.contains(why));
            assert!(
                is_known || ran.err.contains(why) || ran.err.contains("regular"),
                "{run} of {from}: {}",
                ran.err
            );
        }
        assert!(said > INPUTS.len() / 2, "{said} of {} say `{why}`", INPUTS.len());
    }
}

#[test]
fn a_line_of_commands_without_an_end_is_an_error() {
    let scratch = scratch();
    let zero = std::fs::File::open("/dev/zero").unwrap();
    let ran = bounded(&scratch, "debug k.wave --config tiny", zero.into());
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("cannot read commands: a line is longer than 65536 bytes"), "{}", ran.err);
}

/// Runs a command with bytes in a pipe, `/dev/stdin`.
fn piped(scratch: &Scratch, run: &str, bytes: &[u8]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    command.current_dir(scratch.path(".")).args(run.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdin, bytes) = (child.stdin.take().unwrap(), bytes.to_vec());
    // An input that is refused is not read to its end.
    let writer = std::thread::spawn(move || _ = stdin.write_all(&bytes));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let code = output.status.code().unwrap_or_else(|| panic!("{run}: {}", output.status));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code, out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn an_input_can_be_a_pipe() {
    let scratch = scratch();
    let tiny = b"(base: \"tiny.ron\")";
    let litmus = wave_study::litmus::SUITE[0].text;
    let run = "k.wave --config tiny --device-memory 64KiB --set-reg 1:64";
    scratch.out(&format!("{run} --checkpoint c --checkpoint-every 40"));
    let checkpoint = scratch.read("c");
    for (run, bytes) in [
        ("/dev/stdin --config tiny --set-reg 1:64", ADD.as_bytes()),
        ("asm /dev/stdin -o k.wbin", ADD.as_bytes()),
        ("dis /dev/stdin", ADD.as_bytes()),
        ("check /dev/stdin", ADD.as_bytes()),
        ("ptx /dev/stdin", ADD.as_bytes()),
        ("/dev/stdin --source-format wgsl --config tiny --bind 0.0=bytes:4096", SHADER.as_bytes()),
        ("k.wave --set-reg 1:64 --config /dev/stdin", tiny),
        ("config show /dev/stdin", tiny),
        ("debug k.wave --config tiny --commands /dev/stdin", b"help\n"),
        ("litmus /dev/stdin --config tiny --runs 2", litmus.as_bytes()),
        ("k.wave --config tiny --set-reg 1:64 --arg 0:/dev/stdin --dump-u32 64:1", b"\x05\0\0\0"),
        ("k.wave --config tiny --device-memory 64KiB --set-reg 1:64 --resume /dev/stdin", &checkpoint),
    ] {
        let ran = piped(&scratch, run, bytes);
        assert_eq!(ran.code, 0, "{run}: {}{}", ran.out, ran.err);
        assert!(!run.contains("--dump") || ran.out == "5\n", "{run}: {}", ran.out);
    }
    // A pipe that does not end is cut off like a file.
    let long = vec![b'\n'; 2 << 20];
    let ran = piped(&scratch, "k.wave --config /dev/stdin", &long);
    assert!(ran.code == 2 && ran.err.contains("it is longer than 1 MiB"), "{}", ran.err);
}
