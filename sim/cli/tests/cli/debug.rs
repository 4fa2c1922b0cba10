//! `wave-sim debug` with commands line by line.

use super::golden;
use super::scratch::{ADD, Scratch};

const FLAGS: &str = "--config tiny --device-memory 1MiB --set-reg 0:0 --set-reg 1:64 --set-reg 2:1";

/// Runs commands, and gives the exit code, what they print and the errors.
fn debug(scratch: &Scratch, input: &str, commands: &[&str]) -> (i32, String, String) {
    scratch.write("commands.txt", (commands.join("\n") + "\n").as_bytes());
    let ran = scratch.run(&format!("debug {input} --commands commands.txt"));
    (ran.code, ran.out, ran.err)
}

fn add(commands: &[&str]) -> (i32, String, String) {
    let scratch = Scratch::with(&[("add.wave", ADD)]);
    debug(&scratch, &format!("add.wave {FLAGS}"), commands)
}

#[test]
fn a_wrong_command_is_told_and_those_behind_it_go_on() {
    let wrong = [
        ("frobnicate", "there is no command `frobnicate`"),
        ("reverse", "begins 4 commands"),
        ("break 99", "there is no instruction at line 99"),
        ("break other.wave:3", "no code comes from `other.wave`"),
        ("break *2", "no instruction begins at pc 0x2"),
        ("break launch 2", "there is no launch 2"),
        ("break nowhere", "is no line and no kernel"),
        ("watch 0x100000", "past the end of memory"),
        ("watch local 0", "no wave is chosen"),
        ("watch 0 0", "one byte at least"),
        ("watch 0 4 lane 64", "a wave has no lane 64"),
        ("wave 9:9", "there is no wave in 9:9"),
        ("wave x", "there is no wave `x`"),
        ("x/4 0xfffff", "past the end of memory"),
        ("x/9999 0", "9999 words"),
        ("x/4q 0", "there is no format `q`"),
        ("x out", "is no address"),
        ("info", "info about what?"),
        ("info frobs", "there is no topic"),
        ("info registers", "no wave is on the machine"),
        ("info queues frob", "no queue has `frob`"),
        ("print r1", "no wave is on the machine"),
        ("why", "no wave is on the machine"),
        ("delete 7", "there is no breakpoint `7`"),
        ("step x", "x"),
        ("list 99", "the source has no line 99"),
        ("finish", "there is no command `finish`"),
        ("set r1 = 2", "flags such as --set-reg say what a run begins with"),
        ("disas", "`list` shows the source"),
        ("print r1 + 1", "expressions are not evaluated"),
        ("watch r1", "a register has none"),
        ("x/2i 0", "`list` shows instructions"),
        ("info locals", "a kernel has registers"),
        ("p/q r1", "there is no format `q`"),
    ];
    let commands: Vec<&str> = wrong.iter().map(|(command, _)| *command).chain(["step 20"]).collect();
    let (code, out, err) = add(&commands);
    assert_eq!(code, 2);
    assert_eq!(err.matches("error: ").count(), wrong.len(), "{err}");
    for (command, message) in wrong {
        assert!(err.contains(message), "no {message:?} of {command:?} in:\n{err}");
    }
    assert!(out.ends_with("(wave) step 20\ncycle 20, wave 0:0 (workgroup 0,0,0 wave 0) at\n  add.wave:4 pc 0x0: mov_sr r3, sr_thread_id_x\n"), "{out}");
}

#[test]
fn every_command_prints_what_it_is_asked_for() {
    let (code, out, err) = add(&[
        "break 8",
        "run",
        "info waves",
        "info registers",
        "info stack",
        "info pipeline",
        "info launch",
        "info history",
        "info breakpoints",
        "info queues",
        "info caches 0",
        "why",
        "list",
        "x/4x 0",
        "/4",
        "p r3",
        "p r3[2]",
        "p p0",
        "p/x $r3[2]",
        "p pc",
        "bt",
        "disable 1",
        "enable 1",
        "next",
        "reverse-next",
        "help",
        "help step",
        "stepi",
        "reverse-stepi",
        "delete 1",
        "watch 64",
        "continue",
        "reverse-continue",
        "goto end",
        "reverse-launch",
        "goto 10",
        "quit",
        "frob",
    ]
    .into_iter()
    .filter(|command| *command != "/4")
    .collect::<Vec<_>>());
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for part in [
        "breakpoint 1: add.wave:8 pc 0x1c: device_load_u32 r5, r4",
        "breakpoint 1: wave 0:1 is about to issue",
        "1: add.wave:8 pc 0x1c: device_load_u32 r5, r4, reached once",
        "no if and no loop is open",
        "launch 1 of 1: kernel `add`",
        "snapshot",
        "reverse-continue (rc)",
        "is about to write 0x40 with 0x1 in lane 0",
        "all launches have ended",
        "the beginning of the run",
        "cycle 10",
    ] {
        assert!(out.contains(part), "no {part:?} in:\n{out}");
    }
    assert!(!out.contains("frob"));
}

const CASES: &str = "sim/cli/tests/golden/debug";

/// What `why` says in each situation. A kernel begins with comments: what it shows, flags, and commands after `>`.
#[test]
fn why_says_what_is_so() {
    for case in golden::cases(CASES, &[]) {
        let source = std::fs::read_to_string(golden::root().join(format!("{CASES}/{case}.wave"))).unwrap();
        let after = |mark: &str| -> Vec<String> {
            source.lines().filter_map(|line| line.strip_prefix(mark)).map(str::to_owned).collect()
        };
        let (flags, commands) = (after("; flags: "), after("; > "));
        let scratch = Scratch::with(&[(&format!("{case}.wave"), &source)]);
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let (code, out, err) = debug(&scratch, &format!("{case}.wave {}", flags.join(" ")), &commands);
        let expected = if err.is_empty() { 0 } else { 2 };
        assert_eq!(code, expected, "{case}: {err}");
        golden::check(&format!("{CASES}/{case}.txt"), &(out + &err));
    }
}

/// A barrier that one wave reaches late: the other says who holds it.
#[test]
fn why_names_the_wave_that_has_not_reached_the_barrier() {
    let kernel = "\
.kernel k
.registers 4
.workgroup_size 64, 1, 1
    mov_sr  r0, sr_wave_id
    mov_imm r1, 0
    icmp_eq p0, r0, r1
    if p0
        fdiv r1, r1, r1
        fdiv r1, r1, r1
        fdiv r1, r1, r1
    endif
    barrier
    halt
.end
";
    let scratch = Scratch::with(&[("k.wave", kernel)]);
    let flags = "--config gpu --device-memory 1MiB";
    let (code, out, err) = debug(
        &scratch,
        &format!("k.wave {flags}"),
        &["break 12", "run", "wave 0:1", "step 4", "why", "wave 0:0", "why"],
    );
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("it waits for a barrier that wave 0 of its workgroup has not reached"), "{out}");
    assert!(out.contains("  wave 0:0 (workgroup 0,0,0 wave 0) is at k.wave:9"), "{out}");
    assert!(out.contains("  held by #") && out.contains("fdiv r1, r1, r1"), "{out}");
}

#[test]
fn a_fault_stops_the_run_before_it_happens_and_is_exit_code_3() {
    let fault =
        ADD.replace("    device_store_u32 r4, r5\n", "    mov_imm r4, -8\n    device_store_u32 r4, r5\n");
    let scratch = Scratch::with(&[("add.wave", &fault)]);
    let (code, out, err) =
        debug(&scratch, &format!("add.wave {FLAGS}"), &["continue", "print r5", "continue"]);
    assert_eq!((code, err.as_str()), (3, ""));
    assert_eq!(
        out.matches("error: kernel `add`: an access of 4 bytes at device address").count(),
        2,
        "{out}"
    );
    let (code, ..) = debug(&scratch, &format!("add.wave {FLAGS}"), &["continue", "reverse-stepi"]);
    assert_eq!(code, 0);
}

#[test]
fn commands_come_from_flags_and_from_standard_input() {
    let scratch = Scratch::with(&[("add.wave", ADD)]);
    let ran = scratch.run(&format!("debug add.wave {FLAGS} -x step -x step"));
    assert_eq!((ran.code, ran.out.as_str()), (0, "(wave) step\ncycle 1\n(wave) step\ncycle 2\n"));
    // Standard input of a test is empty.
    let ran = scratch.run(&format!("debug add.wave {FLAGS}"));
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    let ran = scratch.run(&format!("debug add.wave {FLAGS} --commands nothing.txt"));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--commands: cannot read `nothing.txt`"), "{}", ran.err);
    let ran = scratch.run("debug saxpy --grid 4");
    assert_eq!(ran.code, 2);
}
