//! `wave-sim cosim` with broken cores, and errors in its arguments. No test here needs Verilator.

use super::scratch::{Ran, Scratch, add_of_any_size};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

fn executable(scratch: &Scratch, name: &str, lines: &str) {
    scratch.write(name, format!("#!/bin/sh\n{lines}\n").as_bytes());
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scratch.path(name), mode).unwrap();
}

/// Runs a kernel against a core with this behaviour, with this timeout in seconds.
fn beside(lines: &str, patience: u32) -> (Scratch, Ran) {
    let scratch = Scratch::new();
    executable(&scratch, "core.sh", lines);
    let since = Instant::now();
    let ran = scratch.run(&format!("cosim saxpy --core ./core.sh --timeout {patience}"));
    // A core that sleeps is killed, not waited for: it would take 900 s.
    assert!(since.elapsed() < Duration::from_secs(600), "it takes {:?}", since.elapsed());
    (scratch, ran)
}

/// A record, as words for the shell's printf.
fn record(kind: u32, words: &[u32], cycle: u32) -> String {
    let all = [kind | (words.len() as u32) << 16, cycle].into_iter().chain(words.iter().copied());
    let bytes: String = all.flat_map(u32::to_le_bytes).map(|byte| format!("\\{byte:03o}")).collect();
    format!("printf '{bytes}'")
}

#[test]
fn a_core_that_breaks_ends_with_a_report_and_never_with_a_standstill() {
    let group = record(0, &[0, 0], 1);
    let cases = [
        ("ends at once", "exit 0".to_owned(), "ended without an end of its trace (exit status: 0)"),
        ("fails", "echo no licence >&2; exit 3".to_owned(), "(exit status: 3); it said:\n  no licence"),
        ("crashes", "kill -SEGV $$".to_owned(), "signal: 11"),
        ("says nothing", "exec sleep 900".to_owned(), "has said nothing for 1 s"),
        ("leaves a child behind", "sleep 900".to_owned(), "has said nothing for 1 s"),
        ("closes its output", "exec >&-; exec sleep 900".to_owned(), "it has closed its output and goes on"),
        ("sends garbage", "head -c 100000 /dev/zero | tr '\\0' x".to_owned(), "makes no sense"),
        ("sends garbage for ever", "exec yes".to_owned(), "makes no sense"),
        ("sends half a record", "printf 'abc'".to_owned(), "a record is cut off"),
        ("floods its messages", "yes >&2".to_owned(), "has said nothing for 1 s; it said:"),
        ("repeats a cycle for ever", format!("while :; do {group}; done"), "records in cycle 1"),
        (
            "goes back in time",
            format!("{}; {group}", record(0, &[0, 0], 7)),
            "its cycles go back, from 7 to 1",
        ),
        ("runs away", record(0, &[0, 0], 4_000_000_000), "a record of cycle 4000000000, past the limit of"),
        ("claims all of memory", record(9, &[u32::MAX], 1), "4294967295 bytes of device memory"),
        ("retires what never issued", record(5, &[3, 0, 0, 0, 0], 1), "retired that was never issued"),
    ];
    // They mostly wait.
    std::thread::scope(|scope| {
        for (what, lines, message) in &cases {
            scope.spawn(move || breaks(what, lines, message));
        }
    });
}

fn breaks(what: &str, lines: &str, message: &str) {
    // A short timeout where it must expire, otherwise enough for a busy host.
    let runs_out = message.contains("for 1 s") || message.contains("goes on");
    let (scratch, ran) = beside(lines, if runs_out { 1 } else { 15 });
    assert_eq!(ran.code, 1, "{what}: {}{}", ran.out, ran.err);
    assert!(ran.out.contains(message), "{what}: {}", ran.out);
    assert_eq!(ran.err, "", "{what}");
    // In every case, the simulator's trace and the command to repeat the run are saved.
    let page = String::from_utf8(scratch.read("cosim-failure/README.md")).unwrap();
    assert!(page.contains("--core ./core.sh"), "{what}: {page}");
    assert!(scratch.path("cosim-failure/simulator.wvfi").is_file(), "{what}");
}

/// The first record that differs ends the comparison and is shown beside the simulator's record. Random
/// programs are shrunk.
#[test]
fn a_difference_names_the_stage_and_leaves_a_bundle_that_repeats_it() {
    // A fetch in cycle 0, then nothing.
    let lines = format!("{}; {}", record(0, &[0, 0], 0), record(10, &[], 1));
    let scratch = Scratch::new();
    executable(&scratch, "core.sh", &lines);
    let ran = scratch.run("cosim --random 3 --seed 11 --core ./core.sh --timeout 1 --jobs 2");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(
        ran.out.starts_with("random program 11: first difference in cycle 0, stage fetch"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("shrunk to "), "{}", ran.out);
    for file in
        ["program.wave", "original.wave", "stimulus.bin", "report.txt", "other.wvfi", "simulator.kanata"]
    {
        assert!(scratch.path("cosim-failure").join(file).is_file(), "{file}");
    }
    // The program assembles, the traces are valid, and the command on the page gives the same result.
    scratch.out("asm cosim-failure/program.wave -o k.wbin");
    assert_eq!(scratch.run("trace diff cosim-failure/simulator.wvfi cosim-failure/other.wvfi").code, 1);
    let page = String::from_utf8(scratch.read("cosim-failure/README.md")).unwrap();
    let command = page.lines().find_map(|line| line.strip_prefix("    wave-sim ")).unwrap();
    let again = scratch.run(command);
    assert_eq!(again.code, 1, "{command}: {}", again.err);
    assert!(again.out.contains("first difference in cycle 0, stage fetch"), "{command}: {}", again.out);
    // With another number of jobs, the text is the same. The new bundle replaces the old.
    let one = scratch.run("cosim --random 3 --seed 11 --core ./core.sh --timeout 1 --jobs 1");
    assert_eq!(one.out, ran.out);
}

#[test]
fn a_folder_with_something_else_is_left_alone() {
    let scratch = Scratch::new();
    executable(&scratch, "core.sh", "exit 1");
    std::fs::create_dir(scratch.path("mine")).unwrap();
    scratch.write("mine/thesis.txt", b"years");
    let ran = scratch.run("cosim saxpy --core ./core.sh --bundle mine");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--bundle: cannot write to `mine`: it holds something else"), "{}", ran.err);
    assert_eq!(scratch.read("mine/thesis.txt"), b"years");
    let ran = scratch.run("cosim saxpy --core ./core.sh --no-bundle");
    assert_eq!(ran.code, 1);
    assert!(!Path::new(&scratch.path("cosim-failure")).exists());
}

#[test]
fn what_is_wrong_with_the_arguments_is_said_before_anything_is_built() {
    let scratch = Scratch::new();
    executable(&scratch, "core.sh", "exit 1");
    scratch.write("short.bin", b"WSTM\x04\0\0\0");
    scratch.write("old.bin", b"WSTM\x01\0\0\0");
    scratch.write("other.bin", b"GIF89a..");
    for (folder, file, text) in [("mixed", "note.txt", "?"), ("damaged", "x.ron", "(tree:(")] {
        std::fs::create_dir(scratch.path(folder)).unwrap();
        scratch.write(&format!("{folder}/{file}"), text.as_bytes());
    }
    for (arguments, message) in [
        ("cosim", "there is nothing to run"),
        ("cosim saxpy --core absent", "--core: there is no file `absent`"),
        ("cosim saxpy --core short.bin", "--core: `short.bin` is not executable"),
        ("cosim --short saxpy", "--random"),
        ("cosim saxpy --config gpu.ron", "a co-simulation is one of a single core"),
        ("cosim saxpy --latency 0,3", "--latency 0,3: the bounds are 1 or more"),
        ("cosim saxpy --bug 9999", "--bug 9999: there is no such bug"),
        ("cosim --stimulus absent.bin --core ./core.sh", "cannot use `absent.bin`: no such file"),
        ("cosim --stimulus short.bin --core ./core.sh", "cannot use `short.bin`: it is cut off"),
        ("cosim --stimulus other.bin --core ./core.sh", "it does not begin with WSTM"),
        ("cosim --stimulus old.bin --core ./core.sh", "it has version 1, and this program reads 4"),
        ("cosim saxpy --guided", "--random"),
        ("cosim --random 3 --guided --core ./core.sh", "--core"),
        ("cosim --corpus absent", "--corpus: there is no program in `absent`"),
        ("cosim --corpus mixed", "--corpus: cannot use `mixed`: `note.txt` in it is no program"),
        ("cosim --corpus damaged", "--corpus: cannot use `damaged/x.ron`: 1:"),
        ("cosim saxpy --core ./core.sh --bundle core.sh/place", "`core.sh` is no folder"),
    ] {
        let ran = scratch.run(arguments);
        assert_eq!(ran.code, 2, "{arguments}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(message), "{arguments}: {}", ran.err);
    }
}

/// A slow `verilator` that records its calls.
const SLOW_VERILATOR: &str = r#"
if [ "$1" = --version ]; then echo 'Verilator 5.006 of the test'; exit 0; fi
while [ $# -gt 0 ]; do
    case "$1" in
        --Mdir) shift; directory="$1";;
        -o) shift; name="$1";;
    esac
    shift
done
echo built >>"$CALLS"
sleep 1
mkdir -p "$directory"
printf '#!/bin/sh\nexit 0\n' >"$directory/$name"
chmod +x "$directory/$name""#;

fn cosim(scratch: &Scratch, path: &str) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    command.args(["cosim", "saxpy", "--build-dir", "rtl", "--no-bundle"]);
    command.current_dir(scratch.path("")).env("PATH", path).env("CALLS", scratch.path("calls"));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command
}

#[test]
fn two_processes_at_once_build_the_core_once() {
    let scratch = Scratch::new();
    executable(&scratch, "verilator", SLOW_VERILATOR);
    let path = format!("{}:{}", scratch.path("").display(), std::env::var("PATH").unwrap());
    let both: Vec<_> = (0..2).map(|_| cosim(&scratch, &path).spawn().unwrap()).collect();
    for process in both {
        let output = process.wait_with_output().unwrap();
        // The core that was built does nothing, so the comparison ran.
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(scratch.read("calls"), b"built\n");
    // A build that is killed leaves nothing that a later run takes for an executable.
    executable(&scratch, "verilator", &SLOW_VERILATOR.replace("of the test", "of another day"));
    let mut killed = cosim(&scratch, &path).spawn().unwrap();
    let since = Instant::now();
    while scratch.read("calls") != b"built\nbuilt\n" {
        assert!(since.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(10));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let output = cosim(&scratch, &path).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(scratch.read("calls"), b"built\nbuilt\nbuilt\n");
}

#[test]
fn without_verilator_the_message_says_what_installs_it() {
    let scratch = Scratch::new();
    let output = cosim(&scratch, "/nowhere").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("sudo apt-get install -y verilator g++ make zlib1g-dev"), "{said}");
    assert!(said.contains("--core EXECUTABLE"), "{said}");
}

/// A kernel file is launched with the flags of a run, and both sides get what they say.
#[test]
fn a_kernel_file_takes_the_flags_of_its_launch() {
    let scratch = Scratch::with(&[("add.wave", &add_of_any_size())]);
    executable(&scratch, "core.sh", "exit 0");
    let flags = "--grid 2,3 --workgroup 24 --registers 9 --local-memory 1KiB --set-reg 1:0x100 --fill-iota 64:u32:3:7";
    scratch.out("asm add.wave");
    for file in ["add.wave", "add.wbin"] {
        let ran = scratch.run(&format!("cosim {file} {flags} --core ./core.sh --timeout 15"));
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        assert!(
            ran.out.starts_with("add: ") && ran.out.contains("ended without an end of its trace"),
            "{}",
            ran.out
        );
        let bytes = scratch.read("cosim-failure/stimulus.bin");
        let words: Vec<u32> =
            bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        // Registers, local memory, device memory, workgroup, grid, as rtl-tests/README.md lists them.
        // They are behind the latencies, the count of launches, cycles and place of the kernel.
        let launch = &words[9 + words[8] as usize..];
        assert_eq!(launch[0], 1);
        assert_eq!(launch[4..13], [9, 1024, 16 << 20, 24, 1, 1, 2, 3, 1]);
        assert!(launch[13..].contains(&0x100));
        let memory = &words[words.len() - (16 << 18)..];
        assert_eq!(memory[14..20], [0, 0, 0, 7, 14, 0]);
    }
}
