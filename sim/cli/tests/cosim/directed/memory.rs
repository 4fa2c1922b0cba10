//! Local and device memory, atomics, fences, the L1.

use super::{agrees, kernel};
use crate::bench::{Case, script};

/// The kernels, by name.
pub(super) const KERNELS: &[(&str, &str)] = &[
    ("local memory widths conflicts and atomics", LOCAL_MEMORY_WIDTHS_CONFLICTS_AND_ATOMICS),
    ("local memory that nobody wrote", LOCAL_MEMORY_THAT_NOBODY_WROTE),
    ("device memory widths hints and misalignment", DEVICE_MEMORY_WIDTHS_HINTS_AND_MISALIGNMENT),
    ("atomics of every scope and fences", ATOMICS_OF_EVERY_SCOPE_AND_FENCES),
    ("lines of one set of the L1", LINES_OF_ONE_SET_OF_THE_L1),
    ("accesses behind an atomic of the L1", ACCESSES_BEHIND_AN_ATOMIC_OF_THE_L1),
];

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

// Two ways, and sets repeat every 1024 bytes. Loading a line again shows which one was replaced.
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

// Each packet of an atomic is a whole line with one word per lane, so the next access finds it waiting.
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

#[test]
fn local_memory_widths_conflicts_and_atomics() {
    agrees(LOCAL_MEMORY_WIDTHS_CONFLICTS_AND_ATOMICS);
}

#[test]
fn local_memory_that_nobody_wrote() {
    agrees(LOCAL_MEMORY_THAT_NOBODY_WROTE);
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
fn lines_of_one_set_of_the_l1() {
    agrees(LINES_OF_ONE_SET_OF_THE_L1);
}

#[test]
fn accesses_behind_an_atomic_of_the_l1() {
    agrees(ACCESSES_BEHIND_AN_ATOMIC_OF_THE_L1);
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
