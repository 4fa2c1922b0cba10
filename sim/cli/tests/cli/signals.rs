//! Signals that ask the program to end: what it says, and what it leaves behind.

use super::scratch::{ADD, Ran, Scratch};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const ENDLESS: &str = "\
.kernel e
.registers 4
.workgroup_size 8, 1, 1
    mov_imm r1, 0
    ucmp_eq p1, r0, r1
    @p1 halt
    loop
    iadd r1, r1, r0
    endloop
    halt
.end
";

/// Runs for ever if register 0 is not 0.
fn scratch() -> Scratch {
    let launches = "(source: \"e.wave\", buffers: (x: (type: u32, length: 16)),
        steps: [run(grid: 1, arguments: [0]), run(grid: 1, arguments: [0]), run(grid: 1, arguments: [1])])";
    Scratch::with(&[("e.wave", ENDLESS), ("add.wave", ADD), ("three.ron", launches)])
}

pub(crate) fn start(scratch: &Scratch, run: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wave-sim"));
    command.current_dir(scratch.path(".")).args(run.split_whitespace());
    command.env("TMPDIR", scratch.path("."));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// True once the process listens for signals. Where nobody can tell, some time has to do.
fn listens(child: &Child) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", child.id())) else {
        std::thread::sleep(Duration::from_secs(2));
        return true;
    };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("the signals caught");
    u64::from_str_radix(caught.trim(), 16).unwrap() >> 14 & 1 != 0
}

/// A run that is sent a signal when it has been under way for a while.
pub(crate) fn interrupted(scratch: &Scratch, run: &str, signal: &str) -> Ran {
    let child = start(scratch, run);
    while !listens(&child) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(700));
    signalled(child, run, signal)
}

/// What becomes of a run that is sent a signal now.
pub(crate) fn signalled(child: Child, run: &str, signal: &str) -> Ran {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success(), "{run} has ended by itself");
    let ended = child.wait_with_output().unwrap();
    let code = ended.status.code().unwrap_or_else(|| panic!("{run}: {}", ended.status));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code, out: text(ended.stdout), err: text(ended.stderr) }
}

/// The names of all files, in order.
fn files(scratch: &Scratch) -> Vec<String> {
    let files = std::fs::read_dir(scratch.path(".")).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_run_without_files_says_what_every_wave_does() {
    let scratch = scratch();
    for signal in ["INT", "TERM"] {
        for flags in ["", " --check-races", " --trace"] {
            let ran = interrupted(&scratch, &format!("e.wave --config tiny --set-reg 0:1{flags}"), signal);
            let err = ran.err.get(ran.err.find("error: ").unwrap_or(0)..).unwrap();
            assert_eq!(ran.code, 3, "{signal}{flags}: {err}");
            for part in
                ["kernel `e` was interrupted in cycle ", "on the machine: 1 wave", "waits for", "(line "]
            {
                assert!(err.contains(part), "{signal}{flags}: no {part} in {err}");
            }
            assert_eq!(ran.out.contains("races: none"), flags == " --check-races", "{}", ran.out);
        }
    }
}

#[test]
fn json_has_the_waves_and_the_launches_that_ended() {
    let scratch = scratch();
    let ran = interrupted(&scratch, "three.ron --config tiny --format json", "TERM");
    assert_eq!(ran.code, 3, "{}", ran.err);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let run = &document["runs"][0];
    assert_eq!(run["outcome"], "stopped");
    let message = run["message"].as_str().unwrap();
    assert!(message.starts_with("launch 3 of 3: kernel `e` was interrupted in cycle "), "{message}");
    assert!(message.contains("on the machine: 1 wave"), "{message}");
    assert_eq!(run["launches"].as_array().unwrap().len(), 2);
}

#[test]
fn kernels_that_ended_before_are_kept_and_the_others_do_not_run() {
    let scratch = scratch();
    let ran = interrupted(&scratch, "add.wave three.ron add.wave --config tiny", "TERM");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("launch 3 of 3: kernel `e` was interrupted"), "{}", ran.err);
    assert!(ran.err.contains("warning: 1 kernel did not run any more"), "{}", ran.err);
    assert_eq!(ran.out.lines().filter(|line| line.starts_with("add ")).count(), 1, "{}", ran.out);
}

#[test]
fn no_temporary_file_stays() {
    let scratch = scratch();
    let before = files(&scratch);
    let run = "e.wave --config tiny --set-reg 0:1 --to-cycle 1000 --wvfi e.wvfi --fst e.fst --report e.html";
    let ran = interrupted(&scratch, run, "TERM");
    assert_eq!(ran.code, 3, "{}", ran.err);
    let mut expected = [before, ["e.wvfi", "e.fst", "e.html"].map(str::to_owned).to_vec()].concat();
    expected.sort();
    assert_eq!(files(&scratch), expected);
}

/// What does not simulate does not wait for anything: it ends with the signal's code, and its files go.
#[test]
fn what_does_not_simulate_ends_at_once() {
    let scratch = scratch();
    let made = Command::new("mkfifo").arg(scratch.path("pipe.wave")).status().unwrap();
    assert!(made.success());
    let before = files(&scratch);
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let ran = interrupted(&scratch, "asm pipe.wave -o k.wbin", signal);
        assert_eq!((ran.code, files(&scratch)), (code, before.clone()), "{}", ran.err);
    }
}

/// The core on the other side says nothing, and is waited for.
#[test]
fn other_commands_stop_too() {
    let scratch = scratch();
    scratch.write("silent.sh", b"#!/bin/sh\nexec sleep 1000\n");
    let executable = Command::new("chmod").arg("+x").arg(scratch.path("silent.sh")).status().unwrap();
    assert!(executable.success());
    let before = files(&scratch);
    for (run, says) in [
        ("explain e.wave --config tiny --set-reg 0:1", "was interrupted in cycle "),
        ("litmus --runs 1000000", "interrupted"),
        ("measure --config gpu", "interrupted in cycle "),
        ("cosim saxpy --core ./silent.sh --timeout 900", "interrupted"),
        ("cosim --random 3 --core ./silent.sh --timeout 900", "interrupted in random program 1"),
    ] {
        let ran = interrupted(&scratch, run, "TERM");
        assert_eq!(ran.code, 3, "{run}: {}{}", ran.out, ran.err);
        assert!(format!("{}{}", ran.out, ran.err).contains(says), "{run}: {}{}", ran.out, ran.err);
        assert_eq!(files(&scratch), before, "{run}");
    }
}
