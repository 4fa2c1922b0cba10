//! Branches, loops, calls, guards, barriers, the end of waves.

use super::{agrees, kernel};
use crate::bench::Case;

/// The kernels, by name.
pub(super) const KERNELS: &[(&str, &str)] = &[
    ("branches loops and calls", BRANCHES_LOOPS_AND_CALLS),
    ("barriers and waves that end early", BARRIERS_AND_WAVES_THAT_END_EARLY),
    ("guards that leave no lane", GUARDS_THAT_LEAVE_NO_LANE),
    ("waves that end before their results", WAVES_THAT_END_BEFORE_THEIR_RESULTS),
    ("loops that end at either half of a group", LOOPS_THAT_END_AT_EITHER_HALF_OF_A_GROUP),
];

/// Kernels that fault.
pub(crate) const FAULTS: &[(&str, &str)] = &[
    ("a load outside memory", "mov_imm r2, 0x7fffffff\ndevice_load_u32 r3, r2"),
    ("a misaligned atomic", "mov_imm r2, 2\natomic_add r3, r2, r2, .device"),
    ("a barrier in divergence", "mov_sr r2, sr_lane_id\nicmp_eq p1, r2, r1\nif p1\nbarrier\nendif"),
    ("endif without if", "endif"),
    ("endif of a loop", "loop\nendif"),
    ("a store across the end of local memory", "mov_imm r2, 2046\nlocal_store_u32 r2, r2"),
    ("calls without end", "call 0"),
    (
        "return from an if",
        "call inner\nnop\ninner:\nmov_sr r2, sr_lane_id\nicmp_lt p1, r2, r1\nif p1\nreturn\nendif",
    ),
    ("an illegal word behind a load", "mov_imm r2, 64\ndevice_load_u32 r3, r2\n.word 0xffffffff"),
    (
        "endif without if behind a load outside memory",
        "mov_imm r2, 0x7fffffff\ndevice_load_u32 r3, r2\nendif",
    ),
];

const BRANCHES_LOOPS_AND_CALLS: &str = "
    mov_sr r2, sr_lane_id
    mov_sr r3, sr_wave_id
    mov_imm r4, 0
    mov_imm r5, 1
    mov_imm r6, 3
    icmp_lt p1, r2, r6
    if p1
      iadd r4, r4, r5
      icmp_eq p2, r2, r5
      if !p2
        iadd r4, r4, r6
      else
        isub r4, r4, r6
      endif
    else
      iadd r4, r4, r2
    endif
    mov r7, r2
    loop
      iadd r4, r4, r5
      icmp_ge p2, r7, r6
      icmp_eq p3, r7, r5
      iadd r7, r7, r5
      if p3
        iadd r4, r4, r4
        continue p3
        iadd r4, r4, r5
      endif
      break p2
    endloop
    icmp_gt p0, r2, r0
    if p0
      loop
        iadd r4, r4, r5
        break p0
      endloop
      call 0
    endif
    icmp_gt p1, r2, r6
    @p1 halt
    iadd r8, r4, r5
    @!p0 break p1
    icmp_eq p2, r3, r5
    if p2
      halt
    endif
    iadd r9, r8, r5";

const BARRIERS_AND_WAVES_THAT_END_EARLY: &str = "
    mov_sr r2, sr_wave_id
    mov_sr r3, sr_thread_id_x
    mov_imm r4, 4
    mov_imm r5, 1
    imul r6, r3, r4
    and r7, r2, r5
    local_store_u32 r6, r3
    barrier
    local_load_u32 r8, r6
    icmp_eq p1, r2, r4
    @p1 halt
    barrier
    mov r9, r2
    loop
      icmp_eq p2, r9, r7
      iadd r8, r8, r9
      break p2
      isub r9, r9, r5
      icmp_lt p3, r9, r7
      break p3
    endloop
    nop
    wait
    barrier
    local_load_u32 r10, r6";

const GUARDS_THAT_LEAVE_NO_LANE: &str = "
    mov_sr r2, sr_lane_id
    mov_imm r3, 8
    mov_imm r4, 1
    icmp_ge p1, r2, r3
    icmp_lt p2, r2, r1
    loop
      @p1 break p2
      iadd r5, r5, r4
      @p1 continue p2
      @p1 halt
      iadd r5, r5, r5
      @p2 break p2
      @p2 continue p2
      iadd r6, r6, r4
      break !p1
    endloop
    @p1 wait
    @p1 barrier
    @p1 fence_acq_rel .device
    @p1 wave_reduce_add r7, r2
    iadd r8, r7, r6";

const WAVES_THAT_END_BEFORE_THEIR_RESULTS: &str = "
    mov_sr r2, sr_wave_id
    mov_imm r3, 1
    icmp_lt p1, r2, r3
    @p1 idiv r4, r0, r1
    @p1 halt
    barrier
    iadd r5, r2, r3
    icmp_eq p2, r2, r3
    @p2 device_load_u32 r6, r1
    @p2 halt
    barrier
    iadd r6, r5, r3";

const LOOPS_THAT_END_AT_EITHER_HALF_OF_A_GROUP: &str = "
    mov_imm r2, 3
    mov_imm r3, 1
    mov r4, r2
    loop
      isub r4, r4, r3
      icmp_lt p1, r4, r3
      break p1
    endloop
    iadd r5, r4, r2
    mov r4, r2
    loop
      isub r4, r4, r3
      icmp_lt p1, r4, r3
      break p1
      nop
    endloop
    iadd r6, r4, r2
    mov r4, r2
    loop
      isub r4, r4, r3
      icmp_lt p1, r4, r3
      break p1
    endloop
    mov_imm r7, 5
    iadd r8, r7, r6";

/// Code longer than the instruction cache, whose parts run in turn. A later run of a part shows which line
/// was replaced.
pub(crate) fn calls_across_the_instruction_cache() -> String {
    let far = "nop\n".repeat(253);
    kernel(&format!(
        "mov_imm r2, 2
        mov_imm r3, 1
        loop
          call first
          call second
          call first
          call third
          call first
          call second
          isub r2, r2, r3
          icmp_lt p1, r2, r3
          break p1
        endloop
        halt
        first:\niadd r4, r4, r3\nreturn\n{far}
        second:\niadd r5, r5, r3\nreturn\n{far}
        third:\niadd r6, r6, r3\nreturn"
    ))
}

#[test]
fn branches_loops_and_calls() {
    agrees(BRANCHES_LOOPS_AND_CALLS);
}

#[test]
fn barriers_and_waves_that_end_early() {
    agrees(BARRIERS_AND_WAVES_THAT_END_EARLY);
}

#[test]
fn guards_that_leave_no_lane() {
    agrees(GUARDS_THAT_LEAVE_NO_LANE);
}

#[test]
fn waves_that_end_before_their_results() {
    agrees(WAVES_THAT_END_BEFORE_THEIR_RESULTS);
}

#[test]
fn loops_that_end_at_either_half_of_a_group() {
    agrees(LOOPS_THAT_END_AT_EITHER_HALF_OF_A_GROUP);
}

#[test]
fn calls_that_fill_the_instruction_cache() {
    Case::of(&calls_across_the_instruction_cache(), 29).agrees();
}

#[test]
fn faults_come_in_the_same_cycle() {
    for (name, lines) in FAULTS {
        let agreement = Case::of(&kernel(lines), 61).agrees();
        assert!(agreement.fault || wave_verify::rtl::skipped(), "{name}");
    }
}
