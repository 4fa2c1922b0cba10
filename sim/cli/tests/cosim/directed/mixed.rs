//! Kernels of many random instructions of one kind: fences, accesses, arithmetic.

use super::breadth::{HASH, STIR};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Each wave runs its own sequence of stores, atomics without a result, fences of all scopes and waits.
pub(super) fn fences(seed: u64, steps: u32) -> String {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut lines = format!("{HASH}mov_imm r6, 4\nimul r6, r2, r6\nmov_sr r9, sr_wave_id\n");
    for wave in 0..4 {
        lines += &format!("mov_imm r7, {wave}\nicmp_eq p1, r9, r7\nif p1\n");
        for _ in 0..steps {
            let offset = 128 * rng.random_range(0..8);
            lines += &match rng.random_range(0..16) {
                0..5 => format!("mov_imm r7, {offset}\niadd r8, r6, r7\ndevice_store_u32 r8, r7\n"),
                5 => "atomic_add r0, r6, r7, .device\n".to_owned(),
                6 => "atomic_xor r0, r6, r9, .workgroup\n".to_owned(),
                7 => "device_load_u32 r10, r8\n".to_owned(),
                8 => "iadd r11, r10, r10\n".to_owned(),
                9 => "wait\n".to_owned(),
                10 => "nop\n".repeat(rng.random_range(1..9)),
                n => {
                    let scope = ["device", "system", "system", "device", "workgroup"][rng.random_range(0..5)];
                    let kind = ["release", "release", "acq_rel", "acq_rel", "acquire"][n as usize - 11];
                    format!("fence_{kind} .{scope}\n")
                }
            };
        }
        lines += "endif\n";
    }
    lines
}

/// Loads, stores and atomics of every width, hint and alignment across both memories, some of them in part of
/// the lanes.
pub(super) fn accesses(seed: u64) -> String {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut lines = format!(
        "{HASH}mov_imm r6, 0xfff\nmov_imm r7, 0x7ff\nmov_imm r8, 16\nicmp_gt p1, r4, r1\nicmp_ne p2, r2, r1\n"
    );
    for _ in 0..60 {
        lines += STIR;
        let width = rng.random_range(0..5);
        let name = ["u8", "u16", "u32", "u64", "u128"][width];
        let guard = ["", "", "@p1 ", "@!p1 ", "@p2 "][rng.random_range(0..5)];
        let data = 12 + 4 * rng.random_range(0..4);
        let from = 12 + rng.random_range(0..14);
        let hint = ["", "", ".uncached", ".streaming"][rng.random_range(0..4)];
        // The last bytes are left out, so that no access ends past the memory.
        let device = "and r9, r4, r6\nimin r9, r9, r30\n";
        let local = "and r9, r4, r7\nimin r9, r9, r31\n";
        let word = "shr r9, r9, r28\nshl r9, r9, r28\n";
        let near = if rng.random_range(0..3) == 0 { "mov_imm r10, 0x7f\nand r9, r9, r10\n" } else { "" };
        lines += &match rng.random_range(0..9) {
            0..3 => format!("{device}{near}{guard}device_load_{name}{hint} r{data}, r9\n"),
            3..5 => format!("{device}{near}{guard}device_store_{name}{hint} r9, r{data}\n"),
            5 => format!(
                "{local}{near}{guard}local_load_{} r{data}, r9\n",
                ["u8", "u16", "u32", "u64", "u64"][width]
            ),
            6 => format!(
                "{local}{near}{guard}local_store_{} r9, r{data}\n",
                ["u8", "u16", "u32", "u64", "u64"][width]
            ),
            7 => {
                let op = ["add", "sub", "min", "max", "and", "or", "xor", "exchange"][rng.random_range(0..8)];
                format!("{local}{near}{word}{guard}local_atomic_{op} r{data}, r9, r{from}\n")
            }
            _ => {
                let op = ["add", "sub", "min", "max", "and", "or", "xor", "exchange"][rng.random_range(0..8)];
                let scope = ["workgroup", "device", "wave"][rng.random_range(0..3)];
                format!("{device}{near}{word}{guard}atomic_{op} r{data}, r9, r{from}, .{scope}\n")
            }
        };
        if rng.random_range(0..3) == 0 {
            lines += &format!("{guard}imad r{}, r{from}, r3, r4\n", 12 + rng.random_range(0..14));
        }
    }
    format!("mov_imm r30, 4080\nmov_imm r31, 2040\nmov_imm r28, 2\n{lines}")
}

/// Operations of every class on random values, in all registers and with guards.
pub(super) fn values(seed: u64) -> String {
    const BINARY: [&str; 26] = [
        "iadd",
        "isub",
        "imul",
        "imul_hi",
        "imin",
        "umax",
        "and",
        "or",
        "xor",
        "shl",
        "shr",
        "sar",
        "fadd",
        "fsub",
        "fmul",
        "fmin",
        "hadd",
        "hmul2",
        "badd",
        "bmul2",
        "wave_shuffle",
        "wave_shuffle_up",
        "wave_broadcast",
        "idiv",
        "fdiv",
        "imod",
    ];
    const UNARY: [&str; 18] = [
        "ineg",
        "iabs",
        "not",
        "bitcount",
        "bitrev",
        "fneg",
        "ffloor",
        "ffract",
        "fsin",
        "fexp2",
        "flog2",
        "cvt_f32_i32",
        "cvt_u32_f32",
        "cvt_f16_f32",
        "wave_prefix_sum",
        "wave_reduce_max",
        "mov",
        "frsqrt",
    ];
    let mut rng = Pcg64Mcg::seed_from_u64(seed + 100);
    let mut lines = HASH.to_owned();
    for n in 6..48 {
        lines += &format!("{STIR}\nmov r{n}, r4\n");
    }
    for _ in 0..160 {
        let mut r = || rng.random_range(2..48u32);
        let (d, a, b, c, e) = (r(), r(), r(), r(), r());
        let p = rng.random_range(0..4);
        let guard = ["", "", "", "@p1 ", "@!p2 ", "@p3 ", "@!p0 "][rng.random_range(0..7)];
        let line = match rng.random_range(0..12) {
            0..4 => format!("{} r{d}, r{a}, r{b}", BINARY[rng.random_range(0..BINARY.len())]),
            4..6 => format!("{} r{d}, r{a}", UNARY[rng.random_range(0..UNARY.len())]),
            6 => {
                let op = ["imad", "fma", "iclamp", "fclamp", "bfe", "hma2", "bma"][rng.random_range(0..7)];
                format!("{op} r{d}, r{a}, r{b}, r{c}")
            }
            7 => format!("bfi r{d}, r{a}, r{b}, r{c}, r{e}"),
            8 => {
                let op = ["icmp_lt", "ucmp_gt", "fcmp_le", "icmp_ge", "fcmp_unord", "ucmp_le"]
                    [rng.random_range(0..6)];
                format!("{op} p{p}, r{a}, r{b}")
            }
            9 => format!("select r{d}, p{p}, r{a}, r{b}"),
            10 => format!(
                "{} p{p}, p{}",
                ["wave_any", "wave_all"][rng.random_range(0..2)],
                rng.random_range(0..4)
            ),
            _ => format!("wave_ballot r{d}, p{p}"),
        };
        lines += &format!("{guard}{line}\n");
    }
    lines
}
