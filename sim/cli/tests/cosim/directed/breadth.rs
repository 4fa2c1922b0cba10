//! Kernels that reach much of the core in few cycles: every bit of comparators and adders, every row of its
//! memories, deep nesting, many fences. Most were written for mutants that no other program found
//! (rtl-tests/README.md).

use super::mixed::{accesses, fences, values};
use crate::bench::{Case, script};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wave_isa::program::Kernel;

/// Threads of the kernels, which fill all slots of the small core.
const THREADS: u32 = 32;

/// A kernel around `lines`, with this many registers and bytes of local memory.
fn text(registers: u32, local: u32, lines: &str) -> String {
    format!(".kernel k\n.registers {registers}\n.local_memory {local}\n{lines}\nhalt\n.end\n")
}

/// Values that differ in each thread of the grid: r2 its number, r3 a multiplier, r4 the state of [`STIR`].
pub(super) const HASH: &str = "
    mov_sr r2, sr_thread_id_x
    mov_sr r4, sr_workgroup_id_x
    mov_imm r3, 0x9e3779b1
    imad r4, r4, r3, r2
    imul r4, r4, r3
    mov_imm r5, 15
    shr r5, r4, r5
    xor r4, r4, r5
    imul r4, r4, r3
";

/// Next random number in r4. Overwrites r5 and needs the multiplier in r3.
pub(super) const STIR: &str = "
    mov_imm r5, 15
    imad r4, r4, r3, r0
    shr r5, r4, r5
    xor r4, r4, r5
";

/// All cases, by name.
pub(crate) fn cases() -> Vec<(String, Case)> {
    let mut all = Vec::new();
    let mut add = |name: &str, case: Case| all.push((name.to_owned(), case));
    let one = |lines: &str, threads| Case::of(&text(32, 2048, lines), threads);
    add(
        "atomics on each bit of local memory",
        one(&atomics("local_atomic_", "local_store_u32", "", 0, 32), 8),
    );
    add(
        "atomics on each bit of a line at hand",
        one(&atomics("atomic_", "device_store_u32", ", .workgroup", 0, 32), 8),
    );
    add(
        "atomics on each bit of a line that comes",
        one(&atomics("atomic_", "device_store_u32", ", .workgroup", 1, 32), 8),
    );
    add("atomics on each bit of the L2", one(&atomics("atomic_", "device_store_u32", ", .device", 1, 4), 8));
    add("every row of local memory", Case::of(&text(32, 16384, &rows(16384)), THREADS).grid([2, 1, 1]));
    add("every part of local memory", Case::of(&text(32, 1028, &rows(1024)), 8).grid([9, 1, 1]));
    for registers in [48, 63] {
        let mut case = Case::of(&text(registers, 0, &registers_in_part(registers)), 8).grid([7, 1, 1]);
        let arguments = (8..40).step_by(3).map(|r| (r, u32::from(r).wrapping_mul(0x9e37_79b1)));
        case.launch.initial_registers.extend(arguments);
        add(&format!("every one of {registers} registers in part"), case);
    }
    for (i, shape) in [[5, 3, 2], [2, 4, 4], [32, 1, 1], [1, 1, 31]].into_iter().enumerate() {
        let mut case = one(&special_registers(), 8).grid([2, 1, 2]);
        case.launch.workgroup = shape;
        add(&format!("every special register, shape {i}"), case);
    }
    for (i, grid) in [[0x02aa_aaaa, 5, 3], [3, 0x0155_5555, 5], [5, 3, 0x00cc_cccc]].into_iter().enumerate() {
        let lines = special_registers() + "\nendif";
        add(&format!("a huge grid that faults, shape {i}"), one(&lines, 16).grid(grid));
    }
    for grid in [[301, 1, 1], [1, 259, 1], [1, 2, 257]] {
        add(&format!("a grid of {grid:?}"), one("mov_sr r2, sr_workgroup_id_x", 8).grid(grid));
    }
    for seed in 0..2 {
        add(&format!("constructs 32 deep, {seed}"), one(&nest(seed, 32), THREADS));
    }
    add("a construct too many", one(&nest(0, 33), 8));
    add("constructs that no lane enters", one(&skipped(140), 8));
    add("calls 8 deep", one(&calls(8), THREADS));
    add("a call too many", one(&calls(9), 8));
    add("calls between 24 places", one(&far_calls(), THREADS));
    add("a kernel behind others", behind(0x1_5555, Case::of(&text(32, 2048, &calls(8)), THREADS)));
    add("an acquire behind lines of every set", one(ACQUIRE, 8));
    for (seed, latency) in [(1, (1, 2)), (2, (20, 60)), (3, (1, 100))] {
        let case =
            Case { script: script(seed, latency.0, latency.1), ..one(&fences(u64::from(seed), 30), THREADS) };
        add(&format!("fences of every wave, {seed}"), case);
    }
    for (seed, latency) in [(1, (1, 3)), (2, (2, 30))] {
        let case =
            Case { script: script(seed, latency.0, latency.1), ..one(&accesses(u64::from(seed)), THREADS) };
        add(&format!("accesses of every width, {seed}"), case);
    }
    for seed in 0..4 {
        add(&format!("values of every class, {seed}"), Case::of(&text(48, 64, &values(seed)), THREADS));
    }
    all
}

/// For each of `bits` bits: atomics on a word of the lane's own with operands that differ from memory in this
/// bit alone, then a load. With a `step` of 1, each access goes to a different line than those before it.
fn atomics(atomic: &str, store: &str, scope: &str, step: u32, bits: u32) -> String {
    let on = |op: &str, operands: &str| {
        let next = ["", "iadd r6, r6, r13\nand r6, r6, r14\n"][step as usize];
        let load = store.replace("store", "load");
        let (value, rest) = operands.split_once(' ').unwrap_or((operands, ""));
        format!("{next}{store} r6, {value}\n{atomic}{op} r11, r6, {rest}{scope}\n{load} r16, r6\n")
    };
    let each = [
        on("min", "r4 r10"),
        on("min", "r10 r4"),
        on("max", "r4 r10"),
        on("max", "r10 r4"),
        on("cas", "r4 r10, r9"),
        on("cas", "r4 r4, r9"),
    ];
    let others = ["add", "sub", "and", "or", "xor", "exchange"].map(|op| on(op, "r4 r9"));
    format!(
        "{HASH}
        mov_imm r5, 4
        imul r6, r2, r5
        mov_imm r7, 1
        mov_imm r8, 7
        mov_imm r12, 0
        mov_imm r13, 160
        mov_imm r14, 4092
        mov r15, r7
        mov_imm r17, {}
        loop
          {STIR}
          mov r9, r4
          {STIR}
          xor r10, r4, r7
          {}
          and r5, r12, r8
          icmp_eq p2, r5, r7
          iadd r12, r12, r15
          and r5, r12, r8
          icmp_eq p2, r5, r8
          if p2
            {}
          endif
          shl r7, r7, r17
          mov_imm r5, 0
          icmp_eq p1, r7, r5
          break p1
        endloop",
        32 / bits,
        each.concat(),
        others.concat()
    )
}

/// A delay that differs by workgroup, so that others begin and end meanwhile.
const LATE: &str = "
    mov_sr r8, sr_workgroup_id_x
    mov_imm r10, 5
    imul r8, r8, r10
    mov_imm r10, 7
    and r8, r8, r10
    mov_imm r10, 1
    mov_imm r11, 0
    loop
      icmp_le p1, r8, r11
      break p1
      isub r8, r8, r10
      idiv r12, r8, r10
      idiv r12, r12, r10
    endloop
";

/// Reads all rows of local memory, writes most of them completely and some partially, and reads them again.
fn rows(bytes: u32) -> String {
    let each = |lines: &str| {
        format!(
            "mov r8, r6
            loop
              {}
              ucmp_ge p1, r8, r9
              break p1
            endloop\n",
            format!("{lines}\niadd r8, r8, r7\n").repeat(4)
        )
    };
    let write = format!("{STIR}\nicmp_lt p2, r4, r0\n@p2 local_store_u64 r8, r4\n@!p2 local_store_u8 r8, r4");
    format!(
        "{HASH}
        mov_imm r0, 0x40000000
        mov_imm r5, 8
        imul r6, r2, r5
        mov_sr r7, sr_num_waves
        mov_imm r5, 64
        imul r7, r7, r5
        mov_imm r9, {bytes}
        {}barrier\n{}barrier\n{LATE}{}",
        each("local_load_u64 r10, r8"),
        each(&write),
        each("local_load_u64 r12, r8")
    )
}

/// Each register is read before it is written, written in some lanes, read, written in others, and read
/// again.
fn registers_in_part(registers: u32) -> String {
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    let mut lines = format!(
        "{HASH}
        icmp_lt p1, r4, r1
        mov_sr r6, sr_lane_id
        and r7, r6, r1
        imul r6, r6, r4
        icmp_gt p2, r6, r1
        xor r6, r4, r6\n"
    );
    let mut order: Vec<u32> = (8..registers).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    let guards = ["@p1", "@!p1", "@p2", "@!p2"];
    for n in order {
        let guard = guards[rng.random_range(0..guards.len())];
        lines += &format!("xor r7, r{n}, r7\n{guard} imad r{n}, r4, r{n}, r6\niadd r6, r{n}, r7\n");
    }
    for n in 8..registers {
        lines += &format!("@p2 xor r{n}, r{n}, r6\nmov r7, r{n}\n");
    }
    lines
}

fn special_registers() -> String {
    let each: String =
        (0..20).map(|code| format!("mov_sr r{}, {}\n", 3 + code, SPECIAL[code as usize])).collect();
    format!("{each}iadd r2, r3, r4")
}

const SPECIAL: [&str; 20] = [
    "sr_thread_id_x",
    "sr_thread_id_y",
    "sr_thread_id_z",
    "sr_wave_id",
    "sr_lane_id",
    "sr_workgroup_id_x",
    "sr_workgroup_id_y",
    "sr_workgroup_id_z",
    "sr_workgroup_size_x",
    "sr_workgroup_size_y",
    "sr_workgroup_size_z",
    "sr_grid_size_x",
    "sr_grid_size_y",
    "sr_grid_size_z",
    "sr_wave_width",
    "sr_num_waves",
    "sr_mma_supported",
    "sr_mma_m",
    "sr_mma_n",
    "sr_mma_k",
];

/// Nested constructs, `depth` deep. Random lanes enter each of them, and random loops iterate again in some
/// lanes.
fn nest(seed: u64, depth: u32) -> String {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let (mut open, mut close) = (String::new(), String::new());
    for _ in 0..depth {
        // One bit of a random number decides. At most levels, most lanes continue.
        let bit = rng.random_range(0..31);
        let decide = format!(
            "{STIR}\nmov_imm r5, {}\nand r5, r4, r5\nicmp_ne p1, r5, r0\n",
            0x1000_0003u32 << (bit % 4)
        );
        if rng.random_range(0..3) == 0 {
            open += &format!("{decide}loop\niadd r6, r6, r1\n");
            // r7 counts down the iterations of each lane.
            close = format!(
                "isub r7, r7, r1
                icmp_gt p2, r7, r0
                {STIR}
                icmp_gt p3, r4, r0
                @p2 continue p3
                icmp_le p3, r7, r6
                break p3
                mov r8, r6
                break !p3
                endloop\niadd r6, r6, r4\n{close}"
            );
        } else {
            open += &format!("{decide}if p1\niadd r6, r6, r4\n");
            let other = ["", "else\nxor r6, r6, r4\n", "else\n"][rng.random_range(0..3)];
            close = format!("iadd r6, r6, r1\n{other}endif\nmov r8, r6\n{close}");
        }
    }
    format!("mov_imm r0, 0\nmov_imm r1, 1\nmov_imm r7, 2\n{HASH}{open}iadd r9, r6, r7\n{close}")
}

/// Nested constructs behind a predicate that is false in all lanes. The core only counts them.
fn skipped(count: usize) -> String {
    let open = "if p1\nloop\n".repeat(count / 2);
    let close = "endloop\nelse\nendif\n".repeat(count / 2);
    format!("if p1\n{open}iadd r2, r2, r1\n{close}else\niadd r3, r3, r1\nendif\niadd r4, r4, r1")
}

/// A chain of calls, `depth` deep. Each function calls at a different nesting depth, twice, and the functions
/// are far apart.
fn calls(depth: usize) -> String {
    let mut functions = String::new();
    for level in 1..=depth {
        let inner = if level < depth { format!("call f{}\n", level + 1) } else { String::new() };
        let body = match level % 3 {
            0 => format!("if p1\n{inner}else\nxor r6, r6, r4\nendif\n"),
            1 => format!("loop\niadd r6, r6, r4\n{inner}break !p3\nendloop\n"),
            _ => inner,
        };
        let far = "nop\n".repeat(37 * level);
        functions += &format!("{far}f{level}:\niadd r6, r6, r2\n{body}iadd r6, r6, r1\nreturn\n");
    }
    format!(
        "{HASH}mov_imm r1, 1\nicmp_gt p1, r4, r1\ncall f1\niadd r7, r6, r4\ncall f{depth}\niadd r7, r7, r6\nreturn\n{functions}"
    )
}

/// Waves that jump between 24 places of a code larger than the instruction cache, each in its own order and
/// at its own pace.
fn far_calls() -> String {
    let mut rng = Pcg64Mcg::seed_from_u64(9);
    let mut main = format!("{HASH}mov_sr r6, sr_wave_id\n");
    for wave in 0..4 {
        main += &format!("mov_imm r7, {wave}\nicmp_eq p1, r6, r7\nif p1\n");
        for _ in 0..60 {
            main += &format!("call f{}\n", rng.random_range(0..24));
        }
        main += "endif\n";
    }
    let mut functions = String::new();
    for n in 0..24 {
        let words = rng.random_range(0..7);
        let far = "nop\n".repeat(rng.random_range(20..150));
        functions += &format!("f{n}:\niadd r8, r8, r4\n{}return\n{far}", "nop\n".repeat(words));
    }
    format!("{main}halt\n{functions}")
}

/// The case with this many words of other kernels before its own.
fn behind(words: u32, mut case: Case) -> Case {
    let program = &mut case.program;
    let kernel = program.kernels[0].clone();
    let nop = wave_isa::Inst::new(wave_isa::Op::Nop).encode()[0];
    let mut code = vec![nop; words as usize];
    code.append(&mut program.code);
    program.code = code;
    program.kernels[0] = Kernel { code: kernel.code.start + words..kernel.code.end + words, ..kernel };
    program.source = None;
    // A call holds the word index of its target in the code section.
    let mut at = words as usize;
    while at < program.code.len() {
        let two = wave_isa::program::structure::instruction_words(program.code[at]) == 2;
        if program.code[at] >> 24 == 0x3f && program.code[at] >> 4 & 15 == 7 {
            program.code[at + 1] += 4 * words;
        }
        at += if two { 2 } else { 1 };
    }
    case
}

/// Fills both ways of all L1 sets, then invalidates them.
const ACQUIRE: &str = "
    mov_sr r2, sr_lane_id
    mov_imm r3, 32
    imul r2, r2, r3
    mov_imm r3, 256
    mov_imm r5, 1
    mov_imm r6, 3
    mov_imm r7, 2048
    loop
      mov r4, r2
      loop
        device_load_u32 r8, r4
        iadd r4, r4, r3
        icmp_ge p1, r4, r7
        break p1
      endloop
      isub r6, r6, r5
      ucmp_eq p2, r6, r5
      @p2 fence_acquire .device
      icmp_lt p1, r6, r5
      break p1
    endloop";

#[test]
fn kernels_that_reach_much_of_the_core_agree() {
    for (name, case) in cases() {
        println!("{name}: {} cycles", case.agrees().cycles);
    }
}
