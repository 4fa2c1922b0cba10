//! What commands written for the reference emulator meet: files that state more than the flags, device memory of any
//! size, flags without a use, launches with too few arguments.

use super::scratch::{ADD, Scratch, without_host};

/// Each thread of 16 stores the number of its thread and 7 into local memory and device memory.
const LOCAL: &str = "\
.kernel local
.registers 8
.workgroup_size 16, 1, 1
    mov_sr  r1, sr_thread_id_x
    mov_imm r2, 2
    shl     r2, r1, r2
    local_store_u32 r2, r1
    local_load_u32 r3, r2
    device_store_u32 r2, r3
.end
";

const ADD_FLAGS: &str = "--config tiny --set-reg 0:0 --set-reg 1:64 --set-reg 2:1";

/// Lines of standard error that begin a message.
fn warnings(err: &str) -> Vec<String> {
    err.lines().filter(|line| line.starts_with("warning: ")).map(str::to_owned).collect()
}

#[test]
fn what_the_file_states_wins_over_flags_that_say_less_or_contradict_it_with_one_line() {
    let scratch = Scratch::with(&[
        ("add.wave", ADD),
        ("local.wave", &LOCAL.replace("16, 1, 1", "16, 1, 1\n.local_memory 64")),
    ]);
    scratch.out("asm add.wave");
    for file in ["add.wave", "add.wbin"] {
        let plain = scratch.run(&format!("{file} {ADD_FLAGS} --dump-u32 64:16"));
        assert_eq!(without_host(&plain.err).matches("warning").count(), 0, "{}", plain.err);
        let ran = scratch.run(&format!("{file} {ADD_FLAGS} --registers 2 --workgroup 8 --dump-u32 64:16"));
        assert_eq!((ran.code, &ran.out), (0, &plain.out));
        assert_eq!(
            warnings(&ran.err),
            [
                "warning: kernel `add` states 8 registers and a workgroup of 16,1,1 threads, so these are ignored: \
              --registers 2 and --workgroup 8,1,1"
            ]
        );
        assert!(ran.err.contains("workgroup 16,1,1  registers 8  local memory 0 bytes"), "{}", ran.err);
        let same = scratch.run(&format!("{file} {ADD_FLAGS} --registers 8 --workgroup 16 --dump-u32 64:16"));
        assert_eq!(warnings(&same.err), Vec::<String>::new());
    }
    let ran = scratch.run("local.wave --config tiny --local-memory 32");
    assert_eq!(ran.code, 0);
    let expected =
        "warning: kernel `local` states 64 bytes of local memory, so these are ignored: --local-memory 32";
    assert_eq!(warnings(&ran.err), [expected]);
    assert!(ran.out.contains("local memory 64 bytes"), "{}", ran.out);
    let ran = scratch.run("local.wave --config tiny --local-memory 128 --registers 9");
    assert!(
        ran.out.contains("registers 9  local memory 128 bytes") && warnings(&ran.err).is_empty(),
        "{}",
        ran.out
    );
}

#[test]
fn local_memory_that_a_kernel_uses_and_does_not_state_is_there() {
    let scratch = Scratch::with(&[("local.wave", LOCAL), ("add.wave", ADD)]);
    let ran = scratch.run("local.wave --config tiny --dump-u32 0:16");
    assert_eq!(ran.out, (0..16).map(|i| format!("{i}\n")).collect::<String>());
    assert_eq!(
        warnings(&ran.err),
        ["warning: kernel `local` uses local memory and states none: it gets 16384 bytes"]
    );
    assert!(ran.err.contains("local memory 16384 bytes"), "{}", ran.err);
    let ran = scratch.run("local.wave --config tiny --local-memory 64");
    assert!(ran.out.contains("local memory 64 bytes") && warnings(&ran.err).is_empty(), "{}", ran.out);
    assert!(scratch.out("add.wave --config tiny").contains("local memory 0 bytes"));
    // A launch file has no flags that could say it.
    let launch = "(source: \"local.wave\", buffers: (x: (type: u32, length: 16)), steps: [run(grid: 1)],
        expect: (x: (equals: each(\"i\"))))";
    scratch.write("launch.ron", launch.as_bytes());
    let ran = scratch.run("launch.ron --config tiny");
    assert!(ran.out.contains("local memory 16384 bytes"), "{}{}", ran.out, ran.err);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

#[test]
fn device_memory_of_any_size_has_its_bound_at_that_byte() {
    let scratch = Scratch::with(&[("add.wave", ADD)]);
    let flags = "add.wave --config tiny --set-reg 0:0 --set-reg 2:3";
    for size in [128, 132, 260, 4092, 5000, 2_408_096] {
        let last = size - 64;
        let ran =
            scratch.run(&format!("{flags} --device-memory {size} --set-reg 1:{last} --dump-u32 {last}:16"));
        assert_eq!((ran.code, ran.out), (0, "3\n".repeat(16)), "{size}: {}", ran.err);
        let ran = scratch.run(&format!("{flags} --device-memory {size} --set-reg 1:{}", last + 4));
        assert_eq!(ran.code, 3, "{size}");
        assert!(
            ran.err.contains(&format!("device address {size:#x} is outside its memory of {size} bytes")),
            "{}",
            ran.err
        );
        let ran = scratch.run(&format!("{flags} --device-memory {size} --dump-u8 {size}:1"));
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(&format!("device memory, which has {size} bytes")), "{}", ran.err);
        // Files fill it to its last byte.
        scratch.write("all", &vec![1; size]);
        let ran = scratch.run(&format!("{flags} --device-memory {size} --arg 0:all --save 0:{size}:saved"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(scratch.read("saved").len(), size);
        assert_eq!(scratch.read("saved")[size - 1], 1);
        scratch.write("more", &vec![1; size + 1]);
        assert_eq!(scratch.run(&format!("{flags} --device-memory {size} --arg 0:more")).code, 2);
    }
}

#[test]
fn a_start_value_of_a_register_that_is_not_there_is_ignored_with_a_warning() {
    let scratch = Scratch::with(&[("add.wave", ADD)]);
    let plain = scratch.out(&format!("add.wave {ADD_FLAGS}"));
    let ran = scratch.run(&format!("add.wave {ADD_FLAGS} --set-reg 8:1 --set-reg r200:7"));
    assert_eq!((ran.code, ran.out), (0, plain));
    assert_eq!(
        warnings(&ran.err),
        ["warning: --set-reg of r8 and r200 is ignored: kernel `add` has r0 to r7"]
    );
    let ran = scratch.run(&format!("add.wave {ADD_FLAGS} --set-reg 8:1 --registers 9"));
    assert_eq!(warnings(&ran.err), Vec::<String>::new());
}

#[test]
fn of_several_kernels_the_first_runs_with_a_note() {
    let scratch = Scratch::with(&[("both.wave", &format!("{ADD}{LOCAL}"))]);
    let ran = scratch.run(&format!("both.wave {ADD_FLAGS}"));
    assert!(ran.out.contains("launch       add grid"), "{}", ran.out);
    assert_eq!(warnings(&ran.err), ["warning: `both.wave` has 2 kernels: the first, `add`, runs"]);
    assert!(ran.err.contains("choose one with --kernel NAME: add, local"), "{}", ran.err);
}

#[test]
fn arguments_that_are_missing_are_named_in_one_warning() {
    let scratch = Scratch::with(&[("add.wave", ADD)]);
    let missing = |flags: &str| {
        let ran = scratch.run(&format!("add.wave --config tiny {flags}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        warnings(&ran.err)
    };
    let text = |setter: &str, names: &str| {
        format!(
            "warning: kernel `add` reads registers that no instruction has written and {setter} has set, so they are 0: \
             {names}"
        )
    };
    assert_eq!(missing(""), [text("no --set-reg", "r0, r1, r2")]);
    assert_eq!(missing("--set-reg 1:64"), [text("no --set-reg", "r0, r2")]);
    assert_eq!(missing("--set-reg 0:0 --set-reg 1:64 --set-reg 2:1"), Vec::<String>::new());
    let launch = "(source: \"add.wave\", buffers: (x: (type: u32, length: 32)),
        steps: [run(grid: 1, arguments: [\"x\"])])";
    scratch.write("launch.ron", launch.as_bytes());
    let ran = scratch.run("launch.ron --config tiny");
    assert_eq!(warnings(&ran.err), [text("no argument of the launch", "r1, r2")]);
}

#[test]
fn flags_of_the_emulator_without_a_use_are_accepted() {
    let scratch = Scratch::with(&[("add.wave", ADD)]);
    let plain = scratch.out(&format!("add.wave {ADD_FLAGS}"));
    let ran = scratch.run(&format!("add.wave {ADD_FLAGS} --dump-regs"));
    assert_eq!((ran.code, &ran.out), (0, &plain));
    assert_eq!(warnings(&ran.err), ["warning: --dump-regs prints nothing, as in the reference emulator"]);
    let ran = scratch.run(&format!("add.wave {ADD_FLAGS} --threads 0"));
    assert_eq!((ran.code, &ran.out), (0, &plain), "0 threads are one for each processor");
}

#[test]
fn stats_has_loads_and_stores_where_scripts_look_for_them() {
    let scratch = Scratch::with(&[("add.wave", ADD)]);
    let out = scratch.out(&format!("add.wave {ADD_FLAGS} --stats"));
    let count =
        |name: &str| out.lines().find_map(|l| l.trim_start().strip_prefix(name)?.split_whitespace().next());
    // Two waves of 8 lanes with one of each.
    assert_eq!((count("Loads:"), count("Stores:")), (Some("2"), Some("2")), "{out}");
}
