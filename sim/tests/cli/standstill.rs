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
