//! Kernels written for what they stress.

use crate::bench::{Case, script};

/// A kernel around some lines.
pub fn kernel(lines: &str) -> String {
    format!(".kernel k\n.registers 32\n.local_memory 2048\n{lines}\nhalt\n.end\n")
}

/// Both modes, on one wave, an odd number of threads, and a full core; then several workgroups.
fn agrees(lines: &str) {
    let text = kernel(lines);
    for threads in [8, 61, 256] {
        Case::of(&text, threads).agrees();
    }
    Case::of(&text, 24).grid([3, 2, 2]).agrees();
}

/// The kernels, by name.
pub const KERNELS: &[(&str, &str)] = &[
    ("straight integer code", STRAIGHT_INTEGER_CODE),
    ("branches loops and calls", BRANCHES_LOOPS_AND_CALLS),
    ("barriers and waves that end early", BARRIERS_AND_WAVES_THAT_END_EARLY),
    ("local memory widths conflicts and atomics", LOCAL_MEMORY_WIDTHS_CONFLICTS_AND_ATOMICS),
    ("device memory widths hints and misalignment", DEVICE_MEMORY_WIDTHS_HINTS_AND_MISALIGNMENT),
    ("atomics of every scope and fences", ATOMICS_OF_EVERY_SCOPE_AND_FENCES),
    ("floating point", FLOATING_POINT),
    ("guards that leave no lane", GUARDS_THAT_LEAVE_NO_LANE),
    ("waves that end before their results", WAVES_THAT_END_BEFORE_THEIR_RESULTS),
    ("registers written in part", REGISTERS_WRITTEN_IN_PART),
    ("local memory that nobody wrote", LOCAL_MEMORY_THAT_NOBODY_WROTE),
    ("lines of one set of the L1", LINES_OF_ONE_SET_OF_THE_L1),
    ("accesses behind an atomic of the L1", ACCESSES_BEHIND_AN_ATOMIC_OF_THE_L1),
    ("loops that end at either half of a group", LOOPS_THAT_END_AT_EITHER_HALF_OF_A_GROUP),
];

/// Kernels that fault.
pub const FAULTS: &[(&str, &str)] = &[
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
];

const STRAIGHT_INTEGER_CODE: &str = "
    mov_sr r2, sr_thread_id_x
    iadd r3, r2, r0
    iadd r4, r3, r1
    isub r5, r4, r2
    xor r6, r5, r3
    not r7, r6
    imul r8, r7, r3
    shl r9, r8, r1
    mov_imm r10, 0x12345678
    bfe r11, r10, r1, r2
    bfi r11, r10, r1, r2, r0
    iadd r12, r2, r6
    icmp_lt p1, r2, r11
    select r13, p1, r3, r4
    @p1 iadd r14, r13, r13
    @!p1 isub r14, r13, r2
    idiv r15, r14, r1
    imod r3, r15, r2
    iadd r4, r4, r8
    iadd r16, r4, r4
    imad r17, r4, r8, r12
    iadd r18, r0, r4";

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

const LOCAL_MEMORY_WIDTHS_CONFLICTS_AND_ATOMICS: &str = "
    mov_sr r2, sr_lane_id
    mov_imm r3, 4
    mov_imm r4, 32
    mov_imm r5, 3
    imul r6, r2, r3
    imul r7, r2, r4
    imul r8, r2, r5
    local_store_u32 r6, r2
    local_load_u32 r9, r6
    local_store_u32 r7, r0
    local_load_u32 r10, r7
    local_store_u8 r8, r7
    local_load_u16 r11, r8
    local_load_u64 r12, r8
    local_store_u64 r7, r12
    local_store_u16 r8, r12
    local_load_u8 r14, r8
    and r15, r6, r4
    local_atomic_add r16, r15, r2
    local_atomic_max r0, r15, r2
    local_atomic_cas r17, r15, r16, r7
    local_atomic_exchange r18, r6, r7
    local_atomic_min r19, r6, r7";

const DEVICE_MEMORY_WIDTHS_HINTS_AND_MISALIGNMENT: &str = "
    mov_sr r2, sr_thread_id_x
    mov_imm r3, 4
    mov_imm r4, 60
    mov_imm r5, 3
    imul r6, r2, r3
    imul r7, r2, r5
    and r8, r7, r4
    device_load_u32 r9, r6
    device_load_u32 r10, r6
    device_load_u8 r11, r7
    device_load_u16 r12, r7
    device_load_u64 r14, r7
    device_load_u128 r16, r7
    device_store_u32 r6, r9
    device_load_u32.uncached r20, r6
    device_load_u32.streaming r21, r8
    device_store_u64 r7, r14
    device_store_u128.uncached r7, r16
    device_load_u128.streaming r24, r6
    device_store_u8.streaming r8, r9
    device_store_u16 r7, r10
    wait
    device_load_u64 r28, r6";

const ATOMICS_OF_EVERY_SCOPE_AND_FENCES: &str = "
    mov_sr r2, sr_thread_id_x
    mov_imm r3, 28
    mov_imm r4, 4
    and r5, r2, r3
    imul r6, r2, r4
    atomic_add r7, r5, r2, .wave
    atomic_add r8, r5, r2, .workgroup
    atomic_max r0, r6, r2, .workgroup
    device_load_u32 r9, r5
    atomic_add r10, r5, r2, .device
    atomic_xor r0, r5, r6, .system
    fence_release .workgroup
    atomic_cas r11, r5, r10, r2, .workgroup
    atomic_cas r12, r5, r10, r2, .device
    device_store_u32 r6, r12
    fence_release .device
    device_store_u32 r5, r2
    fence_acquire .device
    device_load_u32 r13, r6
    fence_acq_rel .system
    device_store_u32 r6, r13
    icmp_eq p1, r2, r3
    @p1 fence_release .system
    fence_acquire .wave
    device_load_u32 r14, r5
    barrier
    atomic_exchange r15, r5, r2, .system";

const FLOATING_POINT: &str = "
    mov_sr r2, sr_thread_id_x
    cvt_f32_i32 r3, r2
    mov_imm r4, 0.37
    fmul r5, r3, r4
    fadd r6, r5, r3
    fma r7, r5, r6, r3
    fdiv r8, r7, r4
    fsqrt r9, r8
    frsqrt r10, r8
    frcp r11, r9
    fsin r12, r6
    fcos r13, r6
    fexp2 r14, r4
    flog2 r15, r6
    ffloor r16, r5
    fmin r17, r5, r6
    fcmp_lt p1, r5, r4
    cvt_f16_f32 r18, r5
    hadd r19, r18, r18
    hma2 r20, r18, r18, r19
    cvt_bf16_f32 r21, r5
    bmul r22, r21, r21
    cvt_i32_f32 r23, r8
    wave_reduce_add r24, r2
    wave_shuffle_xor r25, r24, r2
    wave_ballot r26, p1
    wave_any p2, p1
    @p2 wave_prefix_sum r27, r2
    imul r28, r2, r2
    idiv r29, r28, r2";

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

const REGISTERS_WRITTEN_IN_PART: &str = "
    mov_sr r2, sr_lane_id
    mov_imm r3, 3
    icmp_lt p1, r2, r3
    @p1 mov r4, r2
    @!p1 iadd r0, r0, r2
    iadd r5, r4, r4
    iadd r6, r0, r5
    @p1 device_load_u64 r8, r3
    iadd r7, r8, r9
    icmp_ne p0, r2, r3
    if p0
      local_atomic_add r10, r3, r2
    else
      wave_reduce_max r11, r2
    endif
    iadd r12, r10, r11";

const LOCAL_MEMORY_THAT_NOBODY_WROTE: &str = "
    mov_sr r2, sr_lane_id
    mov_imm r3, 12
    imul r4, r2, r3
    local_load_u64 r6, r4
    local_store_u32 r4, r0
    local_load_u64 r8, r4
    mov_imm r5, 1940
    iadd r5, r5, r4
    local_atomic_or r10, r5, r1
    local_load_u16 r11, r5";

// Two ways: sets repeat every 1024 bytes. Each line asked for again says which one had to go.
const LINES_OF_ONE_SET_OF_THE_L1: &str = "
    mov_imm r2, 64
    mov_imm r3, 1088
    mov_imm r4, 2112
    mov_imm r5, 3136
    device_load_u32 r6, r2
    device_load_u32 r7, r3
    wait
    device_load_u32 r8, r2
    wait
    device_load_u32 r9, r4
    wait
    device_load_u32 r10, r2
    device_load_u32 r11, r3
    wait
    device_load_u32.streaming r12, r5
    wait
    device_load_u32 r13, r4
    wait
    device_load_u32 r14, r3
    device_load_u32 r14, r2
    device_load_u32 r15, r5
    wait
    device_store_u32 r2, r0
    device_load_u32.streaming r16, r3
    wait
    device_load_u32 r17, r2
    device_load_u32.uncached r18, r4
    device_load_u32.streaming r19, r5
    wait
    atomic_add r20, r5, r1, .workgroup
    device_load_u32 r21, r4
    wait
    device_load_u32 r22, r5
    atomic_add r23, r5, r1, .device
    device_load_u32 r24, r5
    fence_acquire .device
    device_load_u32.streaming r25, r2
    device_load_u32.streaming r26, r3
    wait
    device_load_u32.streaming r27, r4
    wait
    device_load_u32 r28, r3
    device_load_u32 r29, r2";

// Each packet of an atomic is a whole line, one word a lane, so that what follows finds it waiting.
const ACCESSES_BEHIND_AN_ATOMIC_OF_THE_L1: &str = "
    mov_sr r28, sr_lane_id
    iadd r28, r28, r28
    iadd r28, r28, r28
    mov_imm r29, 32
    mov_imm r30, 128
    iadd r2, r28, r30
    iadd r3, r2, r29
    iadd r4, r3, r29
    iadd r5, r4, r29
    atomic_add r6, r2, r1, .workgroup
    device_load_u32 r7, r2
    atomic_add r8, r3, r1, .workgroup
    device_store_u32 r3, r0
    atomic_max r9, r4, r1, .workgroup
    atomic_add r10, r4, r1, .device
    atomic_cas r11, r5, r1, r0, .workgroup
    device_load_u32.uncached r12, r5
    iadd r2, r2, r30
    iadd r3, r3, r30
    iadd r4, r4, r30
    iadd r5, r5, r30
    atomic_add r13, r2, r1, .wave
    fence_acquire .device
    device_load_u32 r14, r2
    device_load_u32 r15, r3
    atomic_xor r16, r3, r1, .workgroup
    atomic_and r17, r3, r0, .workgroup
    device_load_u32 r18, r3
    device_load_u32 r19, r4
    device_store_u32 r4, r1
    device_load_u32 r20, r4
    device_load_u32.uncached r21, r5
    device_load_u32 r22, r5
    device_store_u32.uncached r5, r1
    device_load_u32 r23, r5";

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

/// Code longer than the instruction cache, whose parts take turns: which line had to go shows when its part comes again.
pub fn calls_across_the_instruction_cache() -> String {
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
fn straight_integer_code() {
    agrees(STRAIGHT_INTEGER_CODE);
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
fn local_memory_widths_conflicts_and_atomics() {
    agrees(LOCAL_MEMORY_WIDTHS_CONFLICTS_AND_ATOMICS);
}

#[test]
fn device_memory_widths_hints_and_misalignment() {
    agrees(DEVICE_MEMORY_WIDTHS_HINTS_AND_MISALIGNMENT);
}

#[test]
fn atomics_of_every_scope_and_fences() {
    agrees(ATOMICS_OF_EVERY_SCOPE_AND_FENCES);
}

#[test]
fn floating_point() {
    agrees(FLOATING_POINT);
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
fn registers_written_in_part() {
    agrees(REGISTERS_WRITTEN_IN_PART);
}

#[test]
fn local_memory_that_nobody_wrote() {
    agrees(LOCAL_MEMORY_THAT_NOBODY_WROTE);
}

#[test]
fn lines_of_one_set_of_the_l1() {
    agrees(LINES_OF_ONE_SET_OF_THE_L1);
}

#[test]
fn accesses_behind_an_atomic_of_the_l1() {
    agrees(ACCESSES_BEHIND_AN_ATOMIC_OF_THE_L1);
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
        assert!(agreement.fault || wave_sim::rtl::skipped(), "{name}");
    }
}

#[test]
fn the_memory_side_at_its_slowest() {
    let mut case = Case::of(
        &kernel(
            "mov_sr r2, sr_thread_id_x
            mov_imm r3, 36
            imul r4, r2, r3
            device_load_u32 r5, r4
            device_load_u32 r6, r2
            device_store_u32 r4, r5
            device_load_u64 r8, r4
            atomic_add r7, r1, r2, .workgroup",
        ),
        64,
    );
    case.launch.initial_registers = vec![(1, 128)];
    for (from, to) in [(1, 1), (100, 300)] {
        case.script = script(9, from, to);
        case.agrees();
    }
    case.script.in_service = 1;
    case.agrees();
}
