//! Reads of unwritten registers, and register pressure.

use super::{CheckOptions, default, expect};

/// The first `count` registers are launch arguments of unknown use; here all 0.
fn arguments(count: u8) -> CheckOptions {
    let initial_registers = Some((0..count).map(|r| (r, 0)).collect());
    CheckOptions { initial_registers, ..CheckOptions::default() }
}

#[test]
fn unwritten_registers() {
    // r0 and r1 are taken for arguments; r3 is written on one side only.
    let report = expect(
        "mov_sr r2, sr_workgroup_id_x
         icmp_lt p1, r2, r1
         if p1
         iadd r3, r2, r0
         endif
         device_store_u32 r2, r3   ;W r3 may be read before it is written: it is 0 on some path
         halt",
        &CheckOptions::default(),
    );
    assert_eq!(report.summary.assumed_arguments, [0, 1]);
    expect("iadd r2, r0, r1", &arguments(2));
    expect("iadd r2, r0, r1         ;W r1 is read, but nothing has written it: it is 0", &arguments(1));
    // An argument that a loop updates, next to one that is certain.
    let report = expect(
        "loop
         iadd r0, r0, r1
         icmp_lt p0, r0, r1
         break !p0
         endloop
         device_store_u32 r0, r1",
        &CheckOptions::default(),
    );
    assert_eq!(report.summary.assumed_arguments, [0, 1]);
    // An accumulator without initialisation.
    default(
        "mov_imm r1, 0
         loop
         iadd r2, r2, r0          ;W r2 may be read before it is written: it is 0 on some path
         iadd r1, r1, r0
         icmp_ge p1, r1, r0
         break p1
         endloop
         device_store_u32 r1, r2",
    );
    // Rows of a wide operand.
    expect(
        "mov_imm r1, 0
         device_load_u64 r2, r1
         device_store_u128 r1, r2  ;W r4 is read, but nothing has written it: it is 0;W r5 is read, but nothing has written it: it is 0",
        &arguments(0),
    );
    default("atomic_add r0, r1 .device");
    expect(
        "mov_imm r1, 64
         local_atomic_add r1, r1
         iadd r2, r0, r1          ;W r0 is read, but nothing has written it: it is 0",
        &arguments(0),
    );
    default(
        "mma_compute f0, f1, f2    ;W A fragment f0 is read, but nothing has written it: it is 0;W B fragment f1 is read, but nothing has written it: it is 0
         mma_store_c r0, r1, f2",
    );
}

#[test]
fn registers_written_under_a_predicate() {
    // Both values of p1 write r2.
    default(
        "icmp_lt p1, r0, r1
         @p1 mov r2, r0
         @!p1 mov r2, r1
         device_store_u32 r0, r2",
    );
    // The store executes where the load did.
    default(
        "icmp_lt p1, r0, r1
         @p1 device_load_u32 r2, r0
         @p1 device_store_u32 r1, r2",
    );
    default(
        "icmp_lt p1, r0, r1
         if p1
         device_load_u32 r2, r0
         endif
         nop
         if p1
         device_store_u32 r1, r2
         else
         device_store_u32 r1, r2  ;W r2 may be read before it is written: it is 0 on some path
         endif",
    );
    // A new value of p1 says nothing about the old one.
    default(
        "icmp_lt p1, r0, r1
         @p1 device_load_u32 r2, r0
         icmp_gt p1, r0, r1
         @p1 device_store_u32 r1, r2  ;W r2 may be read before it is written: it is 0 on some path",
    );
    default(
        "icmp_lt p1, r0, r1
         @p1 mov r2, r0
         @p1 icmp_gt p1, r0, r1
         @!p1 mov r2, r1
         device_store_u32 r0, r2     ;W r2 may be read before it is written: it is 0 on some path",
    );
    // Lanes that continue past a halt or a break have the other value.
    default(
        "icmp_ge p1, r0, r1
         @!p1 mov r2, r0
         @p1 halt
         device_store_u32 r0, r2",
    );
    default(
        "icmp_ge p1, r0, r1
         loop
         @p1 mov r2, r0
         break p1
         endloop
         device_store_u32 r0, r2",
    );
    // Lanes that stay in the loop lack r3 but never read it.
    default(
        "mov_imm r2, 0
         loop
         iadd r2, r2, r0
         icmp_ge p1, r2, r1
         @p1 mov r3, r2
         break p1
         endloop
         device_store_u32 r0, r3",
    );
    // Here lanes that stay read it.
    default(
        "mov_imm r2, 0
         loop
         iadd r2, r2, r0
         icmp_ge p1, r2, r1
         @p1 mov r3, r2
         break p1
         device_store_u32 r0, r3     ;W r3 may be read before it is written: it is 0 on some path
         endloop",
    );
    // The function gives p1 another value.
    default(
        "   icmp_lt p1, r0, r1
            @p1 mov r2, r0
            call f
            @!p1 mov r2, r1
            device_store_u32 r0, r2  ;W r2 may be read before it is written: it is 0 on some path
            halt
         f: icmp_gt p1, r0, r1
            return",
    );
    default(
        "@!p1 mov r2, r0     ;W p1 is read, but nothing has written it: it is 0
         device_store_u32 r0, r2    ;W r2 may be read before it is written: it is 0 on some path",
    );
}

#[test]
fn registers_written_by_functions() {
    default(
        "   call f
            device_store_u32 r0, r2
            halt
         f: mov r2, r0
            return",
    );
    // r3 is written only after the first call.
    default(
        "   call f
            mov_imm r3, 4
            call f
            device_store_u32 r0, r2
            device_store_u32 r0, r3
            halt
         f: mov r2, r0
            return",
    );
    default(
        "   icmp_lt p1, r0, r1
            call f
            device_store_u32 r0, r2  ;W r2 may be read before it is written: it is 0 on some path
            @p1 device_store_u32 r0, r3  ;W r3 may be read before it is written: it is 0 on some path
            halt
         f: if p1
            mov r2, r0
            endif
            @p1 mov r3, r0
            return",
    );
}

/// The most live registers, and the source line.
fn live(instructions: &str) -> (u32, String) {
    let report = expect(instructions, &CheckOptions::default());
    (report.summary.max_live_registers, report.summary.max_live_at.unwrap_or_default())
}

#[test]
fn register_pressure() {
    // r0 and r1 in, r2 and r3 live together with r1.
    let straight = "iadd r2, r0, r1
         iadd r3, r0, r1
         iadd r4, r2, r3
         iadd r4, r4, r1
         device_store_u32 r1, r4";
    assert_eq!(live(straight), (3, "line 4".to_owned()));
    // The else side waits for r2 and r3 while the other side needs r0, r1, r4.
    let sides = |condition: &str| {
        format!(
            "mov_imm r2, 2
             mov_imm r3, 3
             mov_sr r4, {condition}
             icmp_lt p1, r4, r0
             if p1
             mov r4, r0
             mov r5, r0
             mov r6, r0
             iadd r4, r5, r6
             device_store_u32 r0, r4
             else
             device_store_u32 r2, r3
             endif"
        )
    };
    assert_eq!(live(&sides("sr_workgroup_id_x")), (4, "line 6".to_owned()));
    assert_eq!(live(&sides("sr_lane_id")), (5, "line 11".to_owned()));
    // A guarded write does not free the register: the other lanes keep r2.
    let guarded = "mov_imm r2, 2
         mov_imm r3, 3
         icmp_lt p1, r0, r1
         @p1 mov r2, r0
         device_store_u32 r3, r2";
    assert_eq!(live(guarded), (4, "line 5".to_owned()));
    // A pair, read and written: r0, r2, r3, and temporarily r4, r5.
    let wide = "device_load_u64 r2, r0
         device_load_u64 r4, r0
         device_store_u64 r0, r2
         device_store_u64 r0, r4";
    assert_eq!(live(wide), (5, "line 5".to_owned()));
}

#[test]
fn register_pressure_across_calls() {
    // r4 is needed after the first call, r5 and r6 after the second: never all three in the function.
    let calls = "   mov_imm r4, 4
            call f
            device_store_u32 r0, r4
            mov_imm r5, 5
            mov_imm r6, 6
            call f
            device_store_u32 r5, r6
            halt
         f: mov r7, r0
            mov r8, r0
            device_store_u32 r7, r8
            return";
    // In the function: r0, r4, r5, r6, r7, r8, because the caller is not known there.
    assert_eq!(live(calls), (6, "line 13".to_owned()));
    // What the code after the second call needs is not needed before the first.
    let before = "   mov_imm r2, 2
            mov_imm r3, 3
            mov_imm r7, 7
            mov_imm r8, 8
            iadd r2, r2, r3
            iadd r7, r7, r8
            device_store_u32 r2, r7
            call f
            mov_imm r5, 5
            mov_imm r6, 6
            call f
            device_store_u32 r5, r6
            halt
         f: device_store_u32 r0, r0
            return";
    assert_eq!(live(before), (5, "line 7".to_owned()));
    // Lanes that wait in a caller need r2, r3 while the function needs r0, r7, r8.
    let waiting = "   mov_imm r2, 2
            mov_imm r3, 3
            mov_sr r4, sr_lane_id
            icmp_lt p1, r4, r0
            if p1
            call f
            else
            device_store_u32 r2, r3
            endif
            halt
         f: mov r7, r0
            mov r8, r0
            mov r9, r0
            iadd r7, r7, r9
            device_store_u32 r7, r8
            return";
    assert_eq!(live(waiting), (5, "line 15".to_owned()));
}
