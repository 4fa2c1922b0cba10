//! Control flow, memories, calls and operations of a warp.

use crate::machine::{BUFFERS, Run, run};

const HEAD: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// Runs a kernel on words; gives the words afterwards.
fn words(text: &str, threads: u32, given: &[u32]) -> Vec<u32> {
    let contents: Vec<u8> = given.iter().flat_map(|word| word.to_le_bytes()).collect();
    let launch = Run { kernel: "k", grid: 1, threads, dynamic: 256, arguments: vec![BUFFERS, 0] };
    let after =
        run(&format!("{HEAD}{text}"), &launch, &contents).unwrap_or_else(|error| panic!("{text}\n{error}"));
    after.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// A kernel with a word for each thread at `[%rd0]`, whose number is in `%r0`.
fn kernel(declared: &str, code: &str) -> String {
    format!(
        "{declared}\n.visible .entry k(.param .u64 p) {{\n.reg .b64 %rd<10>; .reg .b32 %r<10>; .reg .f32 %f<4>; .reg .pred %p<6>;\n\
         ld.param.u64 %rd0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; mov.u64 %rd2, %rd0;\n\
         add.s64 %rd0, %rd0, %rd1;\n{code}\nst.global.u32 [%rd0], %r9;\nret;\n}}\n"
    )
}

fn each(threads: u32, expected: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..threads).map(expected).collect()
}

#[test]
fn loops_and_branches_of_any_shape() {
    // The number of steps until a number is 1, by threes and halves.
    let code = "mov.u32 %r9, 0; add.u32 %r1, %r0, 1;\n$loop: setp.eq.u32 %p0, %r1, 1; @%p0 bra $done;\n\
        and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra $even;\nmad.lo.u32 %r1, %r1, 3, 1; bra $next;\n\
        $even: shr.u32 %r1, %r1, 1;\n$next: add.u32 %r9, %r9, 1; bra.uni $loop;\n$done:";
    let steps = |thread: u32| {
        let (mut n, mut steps) = (thread + 1, 0);
        while n != 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps
    };
    assert_eq!(words(&kernel("", code), 64, &[0; 64]), each(64, steps));
    // A loop with two entries.
    let code = "mov.u32 %r9, 0; mov.u32 %r1, 0; and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 1; @%p0 bra $b;\n\
        $a: add.u32 %r9, %r9, 1;\n$b: add.u32 %r9, %r9, 100; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra $a;";
    assert_eq!(
        words(&kernel("", code), 32, &[0; 32]),
        each(32, |thread| if thread % 2 == 1 { 302 } else { 303 })
    );
    // A table of labels.
    let code = "and.b32 %r1, %r0, 3; mov.u32 %r9, 7;\n$t: .branchtargets $x, $y, $z, $y;\nbrx.idx %r1, $t;\n\
        $x: mov.u32 %r9, 10; bra $e;\n$y: mov.u32 %r9, 20; bra $e;\n$z: mov.u32 %r9, 30;\n$e:";
    assert_eq!(
        words(&kernel("", code), 32, &[0; 32]),
        each(32, |thread| [10, 20, 30, 20][thread as usize % 4])
    );
}

#[test]
fn guarded_instructions_leave_the_other_threads_alone() {
    let code = "mov.u32 %r9, 5; setp.lt.u32 %p0, %r0, 10; @%p0 add.u32 %r9, %r9, 1; @!%p0 ld.global.u32 %r9, [%rd0];\n\
        @%p0 st.global.u32 [%rd0+128], %r0;";
    let mut expected = each(64, |thread| match thread {
        0..10 => 6,
        10..32 => 1000 + thread,
        32..42 => thread - 32,
        _ => 1000 + thread,
    });
    let given = each(64, |thread| 1000 + thread);
    let mut after = words(&kernel("", code), 32, &given);
    assert_eq!(after.split_off(32), expected.split_off(32));
    assert_eq!(after, expected);
}

#[test]
fn all_memories_and_their_generic_addresses() {
    // Static and dynamic shared memory, local memory, constants, and variables; each also by a generic address.
    let declared = ".const .align 4 .u32 table[4] = {11, 22, 33, 44};\n.global .align 8 .u64 where = generic(table)+8;\n\
        .global .align 4 .u32 counter;\n.shared .align 4 .b8 fixed[128];\n.extern .shared .align 16 .b8 more[];\n";
    let code = ".local .align 8 .b8 own[32];\n\
        mov.u32 %r1, fixed; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %r0;\n\
        mov.u64 %rd3, more; cvta.shared.u64 %rd3, %rd3; add.s64 %rd3, %rd3, %rd1; mul.lo.u32 %r3, %r0, 3; st.u32 [%rd3], %r3;\n\
        mov.u64 %rd4, own; cvta.local.u64 %rd4, %rd4; and.b32 %r4, %r0, 7; mul.wide.u32 %rd5, %r4, 4; add.s64 %rd5, %rd4, %rd5;\n\
        st.u32 [%rd5], 500; st.local.u32 [own+28], 7; bar.sync 0;\n\
        xor.b32 %r5, %r0, 31; shl.b32 %r5, %r5, 2; mov.u32 %r6, more; add.u32 %r6, %r6, %r5; ld.shared.u32 %r9, [%r6];\n\
        ld.u32 %r7, [%rd5]; add.u32 %r9, %r9, %r7; ld.const.u32 %r7, [table+4]; add.u32 %r9, %r9, %r7;\n\
        ld.global.u64 %rd6, [where]; ld.u32 %r7, [%rd6]; add.u32 %r9, %r9, %r7;\n\
        atom.global.add.u32 %r8, [counter], 1; setp.lt.u32 %p0, %r0, 16; selp.b64 %rd7, %rd3, %rd0, %p0; ld.u32 %r7, [%rd7];\n\
        add.u32 %r9, %r9, %r7;";
    let expected = |thread: u32| {
        let own = if thread % 8 == 7 { 7 } else { 500 };
        let chosen = if thread < 16 { 3 * thread } else { 9000 + thread };
        3 * (thread ^ 31) + own + 22 + 33 + chosen
    };
    let given = each(32, |thread| 9000 + thread);
    assert_eq!(words(&kernel(declared, code), 32, &given), each(32, expected));
}

#[test]
fn calls_pass_registers_words_and_structures() {
    let declared = ".func (.param .b32 result) sum(.param .align 8 .b8 pair[16], .param .b32 more) {\n.reg .b32 %r<4>; .reg .b64 %d<2>;\n\
        ld.param.u32 %r0, [pair]; ld.param.u64 %d0, [pair+8]; cvt.u32.u64 %r1, %d0; ld.param.u32 %r2, [more];\n\
        add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2; st.param.b32 [result], %r0; ret;\n}\n\
        .func (.reg .u32 %x) twice(.reg .u32 %y) { .reg .pred %p; setp.gt.u32 %p, %y, 20; mov.u32 %x, %y; @%p ret; shl.b32 %x, %y, 1; ret; }\n";
    let code = "cvt.u64.u32 %rd3, %r0;\n{ .param .align 8 .b8 a[16]; .param .b32 b; .param .b32 c;\n\
        st.param.u32 [a], 100; st.param.u64 [a+8], %rd3; st.param.b32 [b], 1000; call.uni (c), sum, (a, b); ld.param.b32 %r9, [c]; }\n\
        call (%r1), twice, (%r0); add.u32 %r9, %r9, %r1; setp.lt.u32 %p0, %r0, 4; @%p0 call (%r9), twice, (%r9);";
    let expected = |thread: u32| {
        let sum = 1100 + thread + if thread > 20 { thread } else { 2 * thread };
        if thread < 4 && sum <= 20 { 2 * sum } else { sum }
    };
    assert_eq!(words(&kernel(declared, code), 32, &[0; 32]), each(32, expected));
}

#[test]
fn operations_of_a_warp() {
    type Case = (&'static str, fn(u32) -> u32);
    let cases: [Case; 15] = [
        ("shfl.sync.up.b32 %r9, %r0, 3, 0, -1;", |t| if t < 3 { t } else { t - 3 }),
        ("shfl.sync.down.b32 %r9|%p0, %r0, 5, 31, -1; @!%p0 mov.u32 %r9, 77;", |t| {
            if t < 27 { t + 5 } else { 77 }
        }),
        // A lane that the mask does not name gives 0.
        ("shfl.sync.down.b32 %r9, %r0, 4, 31, 0x00ff00ff;", |t| {
            let source = if t + 4 < 32 { t + 4 } else { t };
            if 0x00ff_00ff_u32 >> source & 1 == 1 { source } else { 0 }
        }),
        ("shfl.sync.bfly.b32 %r9, %r0, 9, 31, -1;", |t| t ^ 9),
        ("shfl.sync.idx.b32 %r9, %r0, 13, 31, -1;", |_| 13),
        ("shfl.sync.idx.b32 %r9, %r0, 3, 0x181f, -1;", |t| t & 24 | 3),
        ("shfl.sync.down.b32 %r9, %r0, 2, 0x181f, -1;", |t| if t % 8 < 6 { t + 2 } else { t }),
        ("and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 1; vote.sync.ballot.b32 %r9, %p0, -1;", |_| 0xAAAA_AAAA),
        ("setp.lt.u32 %p0, %r0, 40; vote.sync.all.pred %p1, %p0, -1; selp.u32 %r9, 3, 4, %p1;", |_| 3),
        ("shr.u32 %r1, %r0, 3; match.any.sync.b32 %r9, %r1, -1;", |t| 0xFF << (t & 24)),
        ("match.all.sync.b32 %r9|%p0, %r0, -1; @%p0 mov.u32 %r9, 5;", |_| 0),
        ("redux.sync.add.u32 %r9, %r0, -1;", |_| 496),
        ("sub.s32 %r1, 10, %r0; redux.sync.min.s32 %r9, %r1, -1;", |_| -21i32 as u32),
        // Groups of lanes with masks of their own.
        ("and.b32 %r1, %r0, 3; match.any.sync.b32 %r2, %r1, -1; redux.sync.max.u32 %r9, %r0, %r2;", |t| {
            28 + t % 4
        }),
        ("mov.u32 %r9, %lanemask_lt; popc.b32 %r9, %r9;", |t| t),
    ];
    for (code, expected) in cases {
        assert_eq!(words(&kernel("", code), 32, &[0; 32]), each(32, expected), "{code}");
    }
}

#[test]
fn atomic_accesses_of_every_kind() {
    // All threads change one word of a shared variable and one of device memory; the first stores what is there at the end.
    let cases: [(&str, u32, u32); 12] = [
        ("add.u32", 0, 496),
        ("min.s32", 5, -31i32 as u32),
        ("max.s32", 5, 5),
        ("min.u32", 77, 0),
        ("max.u32", 5, u32::MAX),
        ("inc.u32", 100, 0),
        ("dec.u32", 5, 0),
        ("or.b32", 0, 31),
        ("and.b32", 0xFFFF, 0),
        ("xor.b32", 0, 0),
        ("exch.b32", 3, 9),
        ("add.f32", 0, 496f32.to_bits()),
    ];
    for (operation, start, expected) in cases {
        let operand = match operation {
            "min.s32" | "max.s32" | "max.u32" => "neg.s32 %r1, %r0;",
            "inc.u32" | "dec.u32" => "mov.u32 %r1, 200;",
            "exch.b32" => "mov.u32 %r1, 9;",
            "add.f32" => "cvt.rn.f32.u32 %f1, %r0; mov.b32 %r1, %f1;",
            _ => "mov.u32 %r1, %r0;",
        };
        let expected = match operation {
            "inc.u32" => start + 32,
            // 5 to 0, then 200 and on.
            "dec.u32" => 200 - 26,
            _ => expected,
        };
        let value = if operation == "add.f32" { "%f2" } else { "%r2" };
        let code = format!(
            "{operand} setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [s], {start}; @%p0 st.global.u32 [g], {start}; bar.sync 0;\n\
             mov.b32 %f2, %r1; mov.b32 %r2, %r1; red.shared.{operation} [s], {value}; mov.u64 %rd3, g; cvta.global.u64 %rd3, %rd3;\n\
             atom.{operation} {value}, [%rd3], {value}; bar.sync 0; mov.u32 %r9, 1;\n\
             @%p0 ld.shared.u32 %r9, [s]; setp.eq.u32 %p1, %r0, 1; @%p1 ld.global.u32 %r9, [g];"
        );
        let declared = ".shared .align 4 .u32 s;\n.global .align 4 .u32 g;\n";
        let mut wanted = vec![1; 32];
        wanted[..2].fill(expected);
        assert_eq!(words(&kernel(declared, &code), 32, &[0; 32]), wanted, "{operation}");
    }
}

#[test]
fn atomic_accesses_of_64_bits_are_atomic_for_one_another() {
    let declared = ".global .align 8 .u64 g;\n.shared .align 8 .f64 s;\n";
    // A sum whose carry goes into the upper word with nearly every addition, and one of f64.
    let code = ".reg .f64 %d<4>;\nsetp.eq.u32 %p0, %r0, 0; @%p0 st.shared.f64 [s], 0d0000000000000000; bar.sync 0;\n\
        mov.u64 %rd3, 0xC0000001; atom.global.add.u64 %rd4, [g], %rd3; mov.f64 %d0, 0d3FE0000000000000; red.shared.add.f64 [s], %d0;\n\
        bar.sync 0; ld.global.u64 %rd5, [g]; shr.u64 %rd6, %rd5, 32; cvt.u32.u64 %r1, %rd6; cvt.u32.u64 %r2, %rd5; add.u32 %r9, %r1, %r2;\n\
        ld.shared.f64 %d1, [s]; cvt.rzi.u32.f64 %r3, %d1; add.u32 %r9, %r9, %r3;";
    let sum = 64 * 0xC000_0001u64;
    let expected = (sum >> 32) as u32 + sum as u32 + 32;
    assert_eq!(words(&kernel(declared, code), 64, &[0; 64]), vec![expected; 64]);
}

#[test]
fn ordered_accesses_copies_and_numbers_of_16_bits() {
    let text = ".shared .align 16 .b8 s[512];\n\
        .entry k(.param .u64 p) {\n\
        .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .b16 %h<9>; .reg .f32 %f<4>; .reg .pred %p<4>;\n\
        ld.param.u64 %rd1, [p];\n\
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.s64 %rd3, %rd1, %rd2;\n\
        st.volatile.global.u32 [%rd3], %r1; st.release.gpu.global.u32 [%rd3+4], %r1; st.relaxed.gpu.global.u64 [%rd3+8], %rd2;\n\
        mov.u32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3;\n\
        cp.async.cg.shared.global [%r2], [%rd3], 16; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n\
        ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2];\n\
        add.u32 %r8, %r4, %r5; add.u32 %r8, %r8, %r6; add.u32 %r8, %r8, %r7;\n\
        ld.acquire.gpu.global.u32 %r9, [%rd3]; ld.volatile.global.u64 %rd4, [%rd3+8]; cvt.u32.u64 %r10, %rd4; add.u32 %r8, %r8, %r9; add.u32 %r8, %r8, %r10;\n\
        mov.u64 %rd5, s; cvta.shared.u64 %rd5, %rd5; isspacep.shared %p1, %rd5; isspacep.global %p2, %rd5; selp.u32 %r11, 1000, 0, %p1; selp.u32 %r12, 5000, 0, %p2;\n\
        add.u32 %r8, %r8, %r11; add.u32 %r8, %r8, %r12;\n\
        cvt.rn.f16.f32 %h1, 0f3FC00000; fma.rn.f16 %h2, %h1, %h1, %h1; cvt.f32.f16 %f1, %h2; cvt.rzi.u32.f32 %r13, %f1; add.u32 %r8, %r8, %r13;\n\
        mov.u16 %h3, 0; cvt.u16.u32 %h4, %r8; add.s64 %rd6, %rd1, 4096; mul.wide.u32 %rd7, %r1, 2; add.s64 %rd6, %rd6, %rd7;\n\
        atom.global.cas.b16 %h5, [%rd6], %h3, %h4;\n\
        ret;\n\
        }";
    let launch = Run { kernel: "k", grid: 1, threads: 32, dynamic: 0, arguments: vec![BUFFERS, 0] };
    let after =
        run(&format!("{HEAD}{text}"), &launch, &[0; 4096 + 64]).unwrap_or_else(|error| panic!("{error}"));
    // 18 of the copy, 17 of the ordered loads, 1000 of the space, and 1.5 * 1.5 + 1.5 in binary16.
    let expected: Vec<u8> = (0..32u16).flat_map(|thread| (1003 + 35 * thread).to_le_bytes()).collect();
    assert_eq!(after[4096..], expected);
}

/// A number of threads is taken where the entry states that it is all of them.
#[test]
fn a_barrier_may_name_all_threads() {
    let text = |threads: u32| {
        format!(
            ".visible .entry k(.param .u64 p)\n.reqntid 64\n{{\n\
             .reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd0, [p];\nmov.u32 %r0, %tid.x;\n\
             setp.gt.u32 %p0, %r0, 40;\nbar.sync 1, {threads};\nbar.red.popc.u32 %r1, 2, {threads}, %p0;\n\
             mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd1, %rd0;\nst.global.u32 [%rd1], %r1;\nret;\n}}\n"
        )
    };
    assert_eq!(words(&text(64), 64, &[0; 64]), vec![23; 64]);
    let errors =
        crate::machine::program(&format!("{HEAD}{}", text(32))).expect_err("a part of the workgroup");
    let text = crate::machine::rendered(&errors);
    assert!(text.contains("a barrier for a part of the workgroup is not taken"), "{text}");
}
