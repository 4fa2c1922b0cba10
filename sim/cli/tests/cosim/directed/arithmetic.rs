//! Arithmetic of every class, and registers.

use super::{agrees, kernel};
use crate::bench::Case;

/// The kernels, by name.
pub(super) const KERNELS: &[(&str, &str)] = &[
    ("straight integer code", STRAIGHT_INTEGER_CODE),
    ("floating point", FLOATING_POINT),
    ("registers written in part", REGISTERS_WRITTEN_IN_PART),
];

/// Writes all registers of a lane but one with values that differ by wave, and reads them all after the last
/// write. The register file is full of waves.
pub(crate) fn every_register() -> String {
    let writes: String = (3..63).map(|n| format!("iadd r{n}, r{}, r2\n", n - 1)).collect();
    let reads: String = (3..63).map(|n| format!("iadd r2, r2, r{n}\n")).collect();
    let lines = format!(
        "mov_sr r2, sr_workgroup_id_x\nmov_sr r3, sr_thread_id_x\nimad r2, r2, r0, r3\n{writes}barrier\n{reads}"
    );
    kernel(&lines).replace(".registers 32", ".registers 63")
}

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

#[test]
fn straight_integer_code() {
    agrees(STRAIGHT_INTEGER_CODE);
}

#[test]
fn floating_point() {
    agrees(FLOATING_POINT);
}

#[test]
fn registers_written_in_part() {
    agrees(REGISTERS_WRITTEN_IN_PART);
}

#[test]
fn registers_that_fill_the_register_file() {
    Case::of(&every_register(), 61).grid([7, 1, 1]).agrees();
}
