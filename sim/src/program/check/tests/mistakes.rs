//! A newcomer's mistakes, as they are rendered.

use super::{CheckOptions, check_text};
use crate::isa::{Inst, Op};
use crate::program::check::check;
use crate::program::{Kernel, Program};

fn rendered(instructions: &str) -> String {
    let report = check_text(instructions, &CheckOptions::default());
    report.diagnostics.iter().map(|d| d.render(false)).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn a_forgotten_endif() {
    insta::assert_snapshot!(rendered(
        "
    mov_sr r1, sr_lane_id
    icmp_lt p1, r1, r0
    loop
        if p1           ; only the first lanes
            iadd r1, r1, r1
        break !p1
    endloop
    halt"
    ));
}

#[test]
fn else_without_if() {
    insta::assert_snapshot!(rendered(
        "
    icmp_lt p1, r0, r1
    if p1
        mov r2, r0
    endif
    else
        mov r2, r1
    endif
    device_store_u32 r0, r2
    halt"
    ));
}

#[test]
fn a_barrier_in_a_divergent_if() {
    insta::assert_snapshot!(rendered(
        "
    mov_sr r1, sr_thread_id_x
    mov_imm r2, 40
    icmp_lt p1, r1, r2
    if p1
        local_store_u32 r1, r2
        barrier
    endif
    halt"
    ));
}

#[test]
fn a_barrier_that_may_be_in_a_divergent_if() {
    insta::assert_snapshot!(rendered(
        "
    mov_sr r2, sr_thread_id_x
    icmp_lt p1, r2, r0
    if p1
        local_store_u32 r2, r0
        barrier
    endif
    halt"
    ));
}

#[test]
fn break_outside_a_loop() {
    insta::assert_snapshot!(rendered(
        "
    icmp_ge p1, r0, r1
    break p1
    device_store_u32 r0, r1
    halt"
    ));
}

#[test]
fn a_register_past_the_count() {
    let options = CheckOptions { registers: Some(8), ..CheckOptions::default() };
    let report = check_text(
        "    mov r7, r0\n    device_load_u64 r7, r0\n    device_store_u32 r9, r7\n    halt",
        &options,
    );
    let text: Vec<String> = report.diagnostics.iter().map(|d| d.render(false)).collect();
    insta::assert_snapshot!(text.join("\n\n"));
}

#[test]
fn unreachable_code() {
    insta::assert_snapshot!(rendered(
        "
    loop
        iadd r0, r0, r1
    endloop
    device_store_u32 r0, r1
    halt"
    ));
}

#[test]
fn a_register_that_nothing_wrote() {
    insta::assert_snapshot!(rendered(
        "
    mov_sr r2, sr_thread_id_x
    icmp_lt p1, r2, r1
    if p1
        iadd r3, r0, r2
        device_load_u32 r4, r3
    endif
    fadd r4, r4, r7         ; r5 was meant
    device_store_u32 r3, r4
    halt"
    ));
}

#[test]
fn without_source() {
    let insts = [Inst { rs1: 1, ..Inst::new(Op::If) }, Inst::new(Op::Halt)];
    let code: Vec<u32> = insts.iter().map(|inst| inst.encode()[0]).collect();
    let kernel = Kernel {
        name: "k".into(),
        registers: 8,
        local_memory_bytes: 0,
        workgroup_size: [0; 3],
        code: 0..code.len() as u32,
    };
    let program = Program { code, kernels: vec![kernel], source: None };
    let report = check(&program, 0, &CheckOptions::default());
    insta::assert_snapshot!(report.diagnostics[0].render(false));
}
