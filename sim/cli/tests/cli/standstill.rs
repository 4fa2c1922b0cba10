//! Kernels that do not end: the report shows which wave waits for which.

use super::scratch::Scratch;

/// The second wave loops for ever. The first waits for it at the barrier.
const NEVER_REACHED: &str = "\
.kernel k
.registers 4
.workgroup_size 16, 1, 1
    mov_sr r0, sr_wave_id
    mov_imm r1, 1
    ucmp_eq p1, r0, r1
    if p1
    loop
    nop
    endloop
    endif
    barrier
    halt
.end
";

/// The second wave waits for a flag that the first sets after the barrier.
const BEHIND: &str = "\
.kernel k
.registers 8
.workgroup_size 16, 1, 1
    mov_sr r0, sr_wave_id
    mov_imm r1, 1
    mov_imm r2, 0x100
    mov_imm r3, 0
    ucmp_eq p1, r0, r1
    if p1
    loop
    device_load_u32.uncached r4, r2
    ucmp_ne p2, r4, r3
    break p2
    endloop
    endif
    barrier
    device_store_u32 r2, r1
    halt
.end
";

/// All workgroups wait for the last one.
const NOT_STARTED: &str = "\
.kernel k
.registers 8
.workgroup_size 8, 1, 1
    mov_sr r0, sr_workgroup_id_x
    mov_imm r1, 2
    mov_imm r2, 0x100
    mov_imm r3, 0
    ucmp_eq p1, r0, r1
    @p1 device_store_u32 r2, r1
    ucmp_ne p1, r0, r1
    if p1
    loop
    device_load_u32.uncached r4, r2
    ucmp_ne p2, r4, r3
    break p2
    endloop
    endif
    halt
.end
";

/// The report on a kernel that is stopped at a cycle limit.
fn report(kernel: &str, flags: &str) -> String {
    let scratch = Scratch::with(&[("k.wave", kernel)]);
    let ran = scratch.run(&format!("k.wave --config tiny --max-cycles 3000 {flags}"));
    assert_eq!(ran.code, 3, "{}", ran.err);
    ran.err
}

fn assert_parts(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?}, in this order, in\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn a_barrier_that_a_wave_never_reaches_ends_at_its_loop() {
    let text = report(NEVER_REACHED, "");
    assert_parts(
        &text,
        &[
            "who waits for whom:",
            "wave 0 of workgroup 0,0,0, at 0x28: barrier (line 12), waits at the barrier of workgroup 0,0,0",
            "the barrier of workgroup 0,0,0 which has not been reached by wave 1 of workgroup 0,0,0",
            "end: wave 1 of workgroup 0,0,0, in a loop from 0x",
            "(lines 9 to 10): its loop reads no memory, so nothing that others do can end it",
        ],
    );
    assert!(!text.contains("cycle:"), "{text}");
}

#[test]
fn a_flag_behind_a_barrier_is_a_cycle_and_is_marked() {
    let text = report(BEHIND, "");
    assert_parts(
        &text,
        &[
            "reads again and again device memory at 0x100",
            "device memory at 0x100 which may still be written by wave 0 of workgroup 0,0,0",
            "cycle:",
            "↻ wave 0 of workgroup 0,0,0, at 0x",
            "barrier (line 16)",
            "↻ the barrier of workgroup 0,0,0",
            "↻ wave 1 of workgroup 0,0,0, in a loop from 0x",
            "(lines 11 to 14)",
            "↻ device memory at 0x100",
            "↻ wave 0 of workgroup 0,0,0, where it began",
        ],
    );
    assert!(!text.contains("end: "), "{text}");
}

#[test]
fn a_flag_that_nobody_sets_is_where_waiting_ends() {
    let text = report(&BEHIND.replace("    device_store_u32 r2, r1\n", ""), "");
    assert_parts(&text, &["end: device memory at 0x100: no wave that is left can still write it"]);
    assert!(!text.contains("cycle:"), "{text}");
}

#[test]
fn a_flag_of_a_workgroup_that_finds_no_place_is_a_cycle() {
    let text = report(NOT_STARTED, "--grid 3 --set core.max_workgroups=1");
    assert_parts(
        &text,
        &[
            "cycle:",
            "↻ wave 0 of workgroup 0,0,0, in a loop from 0x",
            "↻ device memory at 0x100",
            "↻ 1 workgroup that has not started",
            "↻ places for workgroups in the cores",
            "↻ wave 0 of workgroup 0,0,0, where it began",
        ],
    );
    // It ends if all three workgroups are resident.
    let scratch = Scratch::with(&[("k.wave", NOT_STARTED)]);
    scratch.out("k.wave --config tiny --max-cycles 3000 --grid 3");
}

/// Wave 1 of each workgroup waits for a word that nobody writes: the other one goes round in a loop.
const FOR_EVER: &str = "\
.kernel k
.registers 8
.workgroup_size 16, 1, 1
    mov_sr r0, sr_wave_id
    mov_imm r1, 1
    mov_imm r2, 0x100
    mov_imm r3, 0
    ucmp_eq p1, r0, r1
    if p1
    loop
    POLL
    ucmp_ne p2, r4, r3
    break p2
    endloop
    else
    loop
    nop
    endloop
    endif
    halt
.end
";

/// Ways to wait for a word at 0x100, which is 0.
const POLLS: [&str; 4] = [
    "device_load_u32.uncached r4, r2",
    "device_load_u32 r4, r2",
    "device_load_u32 r4, r2\n fence_acquire .device",
    "atomic_or r4, r2, r3, .device",
];

/// Runs without a bound, and gives the message and the cycle in which it was known that nothing changes.
fn proven(scratch: &Scratch, flags: &str) -> (String, u64) {
    let ran = scratch.run(&format!("k.wave {flags}"));
    assert_eq!(ran.code, 3, "{}", ran.err);
    let cycle = ran.err.split("known in cycle ").nth(1).unwrap_or_else(|| panic!("{}", ran.err));
    let cycle = cycle.split_whitespace().next().unwrap().parse().unwrap();
    (ran.err[..ran.err.find("host: ").unwrap_or(ran.err.len())].to_owned(), cycle)
}

#[test]
fn waves_that_wait_for_what_nobody_writes_stop_by_themselves() {
    for poll in POLLS {
        let scratch = Scratch::with(&[("k.wave", &FOR_EVER.replace("POLL", poll))]);
        let (text, cycle) = proven(&scratch, "--config tiny --grid 2");
        assert!(text.contains("stands still: every wave repeats what it does"), "{poll}: {text}");
        assert!(text.contains("again and again device memory at 0x100"), "{poll}: {text}");
        // The first look says it.
        assert!(cycle < 1 << 19, "{poll}: {cycle}");
    }
    for poll in [POLLS[0], POLLS[3]] {
        let scratch = Scratch::with(&[("k.wave", &FOR_EVER.replace("POLL", poll))]);
        assert_eq!(
            proven(&scratch, "--config gpu --grid 40 --threads 1"),
            proven(&scratch, "--config gpu --grid 40 --threads 4")
        );
    }
}

#[test]
fn a_wave_at_a_barrier_that_is_never_passed_stands_still() {
    for kernel in [NEVER_REACHED, BEHIND] {
        let scratch = Scratch::with(&[("k.wave", kernel)]);
        let (text, _) = proven(&scratch, "--config tiny");
        assert!(text.contains("waits at the barrier of workgroup 0,0,0"), "{text}");
    }
    let scratch = Scratch::with(&[("k.wave", NOT_STARTED)]);
    let (text, _) = proven(&scratch, "--config tiny --grid 3 --set core.max_workgroups=1");
    assert!(text.contains("1 workgroup that has not started"), "{text}");
}

/// Kernels that go round for long, and of which nobody can tell so soon that they will for ever.
#[test]
fn what_may_still_change_is_not_said_to_stand_still() {
    let count = "device_load_u32.uncached r4, r2\n iadd r5, r5, r1";
    let store = "device_load_u32.uncached r4, r2\n device_store_u32 r2, r3";
    let add = "mov_imm r6, 0x200\n atomic_add r5, r6, r1, .device\n device_load_u32.uncached r4, r2";
    for poll in [count, store, add] {
        let scratch = Scratch::with(&[("k.wave", &FOR_EVER.replace("POLL", poll))]);
        let ran = scratch.run("k.wave --config tiny --max-cycles 1200000");
        assert_eq!(ran.code, 3);
        assert!(ran.err.contains("has not ended after 1200000 cycles"), "{poll}: {}", ran.err);
    }
}

/// The wave that does not poll writes the word in the end, after more cycles than the first looks take.
#[test]
fn a_partner_that_writes_late_is_waited_for() {
    let late = "loop\n isub r6, r6, r1\n ucmp_eq p2, r6, r3\n break p2\n endloop\n device_store_u32 r2, r1\n fence_release .device";
    let late = FOR_EVER.replace("loop\n    nop\n    endloop", late);
    let late = late.replace("    ucmp_eq p1, r0, r1\n", "    mov_imm r6, 100000\n    ucmp_eq p1, r0, r1\n");
    for poll in [POLLS[0], POLLS[2], POLLS[3]] {
        let scratch = Scratch::with(&[("k.wave", &late.replace("POLL", poll))]);
        let out = scratch.out("k.wave --config tiny --dump-u32 256:1");
        assert_eq!(out, "1\n", "{poll}");
        let json = scratch.out("k.wave --config tiny --format json");
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let cycles = json["runs"][0]["total"]["statistics"]["kernel.cycles"].as_u64().unwrap();
        assert!(cycles > 1 << 19, "{poll}: {cycles} cycles: there were looks");
    }
}
