//! Kernels for faults that show seldom: the end of the code, structure that does not match, hazards between operands,
//! few lines of one set, lanes that store to one byte. Each was written for mutants that nothing else found.

use super::breadth::{HASH, STIR};
use super::illegal::key;
use super::kernel;
use crate::bench::{Case, script};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wave_isa::Op;

/// Control flow that faults.
const STRUCTURE: &[(&str, &str)] = &[
    ("endloop without loop", "endloop"),
    ("endloop of an if", "icmp_eq p1, r2, r2\nif p1\nendloop"),
    ("endloop behind a loop", "icmp_eq p1, r2, r2\nloop\nbreak p1\nendloop\nendloop"),
    ("else without if", "else\nendif"),
    ("else of a loop", "loop\nelse\nendif"),
    ("else behind an if", "icmp_eq p1, r2, r2\nif p1\nendif\nelse\nendif"),
    ("endif behind a loop", "icmp_eq p1, r2, r2\nloop\nbreak p1\nendloop\nendif"),
    ("break without loop", "icmp_eq p1, r2, r2\nif p1\nbreak p1\nendif"),
    ("break behind a loop", "icmp_eq p1, r2, r2\nloop\nbreak p1\nendloop\nbreak p1"),
];

/// Lanes that are not like the others of their wave, or a wave that is not like the others of its workgroup.
const SINGLE: &[(&str, &str)] = &[
    (
        "an atomic of the first lane that is misaligned",
        "mov_sr r2, sr_lane_id\nmov_imm r3, 4\nimul r4, r2, r3\nmov_imm r5, 1\nmov_imm r6, 0\nicmp_eq p1, r2, r6\n\
         @p1 iadd r4, r4, r5\n@p1 atomic_add r7, r4, r5, .device",
    ),
    (
        "an access out of bounds of the third wave",
        "mov_sr r2, sr_wave_id\nmov_imm r3, 2\nicmp_eq p1, r2, r3\nmov_imm r4, 0x7ffffff0\n@p1 device_load_u32 r5, r4",
    ),
    (
        "lanes that halt in turns",
        "mov_sr r2, sr_lane_id\nmov_imm r3, 3\nicmp_lt p1, r2, r3\n@p1 halt\nhalt\nnop\nnop\nnop",
    ),
];

/// All cases, by name.
pub(crate) fn cases() -> Vec<(String, Case)> {
    let mut all: Vec<(String, Case)> = Vec::new();
    for (name, lines) in STRUCTURE.iter().chain(SINGLE) {
        all.push(((*name).to_owned(), Case::of(&kernel(lines), 29)));
    }
    all.push(("an illegal instruction that no lane executes".to_owned(), not_executed()));
    for nops in 0..4 {
        all.push((format!("half an instruction at the end, {nops}"), cut_off(nops, 1)));
        all.push((format!("half an instruction at the end behind a whole one, {nops}"), cut_off(nops, 2)));
    }
    all.push(("the same register twice".to_owned(), Case::of(&kernel(&same_register()), 8)));
    for (i, registers) in [4, 7, 19].into_iter().enumerate() {
        let lines = "mov_sr r2, sr_num_waves\nmov_sr r3, sr_mma_k\nicmp_eq p3, r3, r3\n@p3 mov r1, r2\nwave_any p3, p3";
        let text = format!(".kernel k\n.registers {registers}\n.local_memory 64\n{lines}\nhalt\n.end\n");
        all.push((format!("few registers, {i}"), Case::of(&text, 8)));
    }
    for seed in [0, 1, 2, 3, 7] {
        let (waves, latency) = [(8, (1, 2)), (32, (1, 2)), (32, (4, 40)), (8, (20, 30))][seed as usize % 4];
        let case = Case::of(&kernel(&lines_of_a_set(seed)), waves);
        all.push((
            format!("lines of a set, {seed}"),
            Case { script: script(seed as u32 + 3, latency.0, latency.1), ..case },
        ));
    }
    for (memory, name) in [("device", "device memory"), ("local", "local memory")] {
        all.push((
            format!("lanes that store to one byte of {name}"),
            Case::of(&kernel(&one_byte(memory)), 32),
        ));
    }
    for seed in 0..2 {
        let case = Case::of(&kernel(&both_memories(seed)), 32);
        all.push((
            format!("loads of both memories, {seed}"),
            Case { script: script(seed as u32 + 7, 1, 9), ..case },
        ));
    }
    let stores = "device_store_u32 r6, r4\nlocal_store_u32 r6, r4\n".repeat(8);
    let stores = kernel(&format!("{HASH}mov_imm r3, 4\nimul r6, r2, r3\n{stores}"));
    all.push(("stores to both memories by one wave".to_owned(), Case::of(&stores, 8)));
    for (seed, threads) in [(0, 16), (1, 29), (2, 32)] {
        let case = Case::of(&kernel(&results_at_once(seed)), threads);
        all.push((format!("results of two units at once, {seed}"), case));
    }
    all.push(("the last wave that a barrier waits for ends".to_owned(), Case::of(&kernel(ENDS_LAST), 29)));
    all.push(("votes of a wave".to_owned(), Case::of(&kernel(&votes()), 29)));
    all
}

/// A kernel in which an illegal instruction is reached, but by no lane.
fn not_executed() -> Case {
    let mut case =
        Case::of(&kernel("mov_imm r3, 0\nicmp_ne p1, r3, r3\nif p1\nnop\nendif\niadd r3, r3, r3"), 29);
    let nop = key(Op::Nop.info());
    let place = case.program.code.iter().position(|&word| word == nop).expect("a nop");
    case.program.code[place] = u32::MAX;
    case.program.source = None;
    case
}

/// A kernel of additions behind so many nops. Its last word is the first of two.
fn cut_off(nops: usize, additions: usize) -> Case {
    let (nops, additions) = ("nop\n".repeat(nops), "iadd r2, r3, r4\n".repeat(additions));
    let text = format!(".kernel k\n.registers 32\n{nops}{additions}.end\n");
    let mut case = Case::of(&text, 8);
    case.program.code.pop();
    case.program.kernels[0].code.end -= 1;
    case.program.source = None;
    case
}

/// Operations that name a register twice which comes late.
fn same_register() -> String {
    let mut lines = HASH.to_owned();
    for n in 8..24 {
        lines += &format!("{STIR}\nmov r{n}, r4\n");
    }
    for first in 0..4 {
        for second in 0..first {
            let mut operands = ["r9", "r10", "r11", "r12"];
            (operands[first], operands[second]) = ("r20", "r20");
            lines += &format!("fsqrt r20, r{}\nbfi r21, {}\n", 13 + first, operands.join(", "));
            if first < 3 {
                lines += &format!("fsqrt r20, r{}\nfma r22, {}\n", 13 + second, operands[..3].join(", "));
            }
        }
    }
    lines + "mov r23, r21"
}

/// Accesses of all kinds to four lines of one set of the L1 and to some of another, with pauses: lines leave, are
/// dropped, and come again.
fn lines_of_a_set(seed: u64) -> String {
    let mut rng = Pcg64Mcg::seed_from_u64(seed + 40);
    let mut lines =
        format!("{HASH}mov_sr r2, sr_lane_id\nmov_imm r3, 4\nimul r2, r2, r3\nmov_sr r8, sr_wave_id\n");
    for step in 0..150 {
        let address = 1024 * rng.random_range(0..4u32) + 32 * [5, 5, 5, 6][rng.random_range(0..4)];
        let hint = ["", "", ".streaming", ".streaming", ".uncached"][rng.random_range(0..5)];
        let register = 10 + step % 16;
        lines += &format!("mov_imm r3, {address}\niadd r5, r2, r3\n");
        lines += &match rng.random_range(0..12) {
            0..7 => format!("device_load_u32{hint} r{register}, r5\n"),
            7..9 => format!("device_store_u32{hint} r5, r4\n"),
            9 => format!("atomic_add r{register}, r5, r4, .workgroup\n"),
            10 => format!("atomic_xor r{register}, r5, r4, .device\n"),
            _ => "fence_acquire .device\n".to_owned(),
        };
        lines += ["", "wait\n", "nop\n", "wait\n"][rng.random_range(0..4)];
    }
    lines
}

/// Stores of every width whose bytes lie in those of other lanes.
fn one_byte(memory: &str) -> String {
    let mut lines = format!(
        "{HASH}{STIR}\nmov r6, r4\n{STIR}\nmov r7, r4\nmov_sr r8, sr_lane_id\nmov_sr r12, sr_wave_id\nmov_imm r9, 96\nimul r12, r12, r9\n"
    );
    for width in ["u8", "u16", "u32", "u64"] {
        for (shift, factor) in [(0, 1), (1, 1), (2, 1), (3, 1), (1, 3), (0, 2)] {
            lines += &format!(
                "mov_imm r9, {shift}\nshr r10, r8, r9\nmov_imm r9, {factor}\nimul r10, r10, r9\niadd r10, r10, r12\n\
                 {memory}_store_{width} r10, r6\n{memory}_load_u64 r14, r10\nxor r6, r6, r14\n"
            );
        }
    }
    lines
}

/// Loads of local and of device memory in turns, so that they are complete in the same cycle now and then.
fn both_memories(seed: u64) -> String {
    let mut rng = Pcg64Mcg::seed_from_u64(seed + 80);
    let mut lines = format!("{HASH}mov_imm r3, 4\nimul r6, r2, r3\nlocal_store_u32 r6, r4\n");
    for step in 0..120 {
        let register = 8 + 2 * (step % 10);
        lines += &match rng.random_range(0..8) {
            0..3 => format!("device_load_u32 r{register}, r6\n"),
            3..6 => format!("local_load_u32 r{register}, r6\n"),
            6 => "local_store_u32 r6, r4\n".to_owned(),
            _ => "device_store_u32 r6, r4\n".to_owned(),
        };
        lines += ["", "", "nop\n", "wait\n"][rng.random_range(0..4)];
    }
    lines
}

/// The first wave ends, without reaching the barrier, long after the others have reached it.
const ENDS_LAST: &str = "
    mov_sr r2, sr_wave_id
    mov_imm r3, 1
    icmp_lt p1, r2, r3
    @p1 idiv r4, r0, r1
    @p1 idiv r5, r4, r1
    @p1 iadd r6, r5, r4
    @p1 halt
    barrier
    iadd r7, r2, r3";

/// Operations of two units whose results take as long, those of the one with both operands in one bank. Every second wave is
/// late now and then: so an operation of each kind has all operands in one cycle.
fn results_at_once(seed: u64) -> String {
    let mut rng = Pcg64Mcg::seed_from_u64(seed + 120);
    let mut lines =
        format!("{HASH}mov_sr r6, sr_wave_id\nmov_imm r7, 1\nand r6, r6, r7\nicmp_eq p1, r6, r7\n");
    for n in 8..16 {
        lines += &format!("{STIR}\nmov r{n}, r4\n");
    }
    for step in 0..240 {
        if step % 12 == 0 {
            lines += "@p1 idiv r3, r8, r7\n@p1 iadd r5, r3, r3\n";
        }
        let result = 16 + step % 14;
        lines += &match rng.random_range(0..3) {
            0 => format!("fadd r{result}, r{}, r{}\n", 8 + step % 4, 12 + step % 4),
            1 => format!("wave_reduce_add r{result}, r{}\n", 8 + step * 3 % 7),
            _ => "nop\n".to_owned(),
        };
    }
    lines
}

/// Operations among the lanes of a wave, with guards and conditions that are true in the first lanes or the last ones.
fn votes() -> String {
    let mut lines = format!("{HASH}mov_sr r6, sr_lane_id\nmov_imm r7, 3\n");
    for step in 0..40 {
        let (first, second) = (step % 9, step * 5 % 9);
        lines += &format!(
            "mov_imm r8, {first}\nucmp_lt p1, r6, r8\nmov_imm r8, {second}\nucmp_ge p2, r6, r8\n{STIR}\n\
             wave_all p3, p1\n@p2 wave_all p3, p1\n@p1 wave_any p0, p2\n@!p1 wave_all p0, p2\n@p1 wave_ballot r9, p2\n"
        );
        for op in
            ["prefix_sum", "reduce_add", "reduce_min", "reduce_max", "reduce_and", "reduce_or", "reduce_xor"]
        {
            let guard = ["@p1 ", "@!p1 ", "@p2 ", ""][step % 4];
            lines += &format!("{guard}wave_{op} r{}, r4\n", 10 + step % 16);
        }
        for op in ["shuffle", "shuffle_up", "shuffle_down", "shuffle_xor", "broadcast"] {
            let guard = ["@p2 ", "", "@!p2 ", "@p1 "][step % 4];
            lines += &format!("{guard}wave_{op} r{}, r4, r8\n", 10 + step % 16);
        }
    }
    lines
}

#[test]
fn kernels_for_corners_agree() {
    for (name, case) in cases() {
        println!("{name}: {} cycles", case.agrees().cycles);
    }
}
