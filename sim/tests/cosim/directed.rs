//! Kernels written for what they stress.

use crate::bench::Case;

#[test]
fn straight_integer_code_agrees() {
    let text = "
        .kernel k
        .registers 16
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
        iadd r12, r2, r6
        icmp_lt p1, r2, r11
        select r13, p1, r3, r4
        @p1 iadd r14, r13, r13
        @!p1 isub r14, r13, r2
        idiv r15, r14, r1
        imod r3, r15, r2
        halt
        .end";
    let agreement = Case::of(text, 8).agrees();
    println!("{agreement:?}");
    Case::of(text, 61).agrees();
    Case::of(text, 256).agrees();
}
