//! Arithmetic on a grid of operands. Results are equal bit by bit, except for the listed deviations.

use super::{Bench, word};

/// Zeros, ones, limits and special values of f32, f16 and the high words of f64.
const VALUES: &[u32] = &[
    0,
    1,
    2,
    7,
    31,
    32,
    0x80,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0001,
    0xFFFF_FFFF,
    0xFFFF_FFF9,
    0x3F80_0000,
    0xBF80_0000,
    0x3F00_0000,
    0x4020_0000,
    0xC060_0000,
    0x4049_0FDB,
    0x0080_0000,
    0x007F_FFFF,
    0x7F7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC1_2345,
    0x7F80_0001,
    0x4F00_0000,
    0x3C00_C000,
    0x7C01_FC00,
    0x03FF_8001,
    0x7FF0_0000,
    0x3FF0_0000,
    0x477F_F000,
    0xB000_0000,
];

/// A case: values of r4 to r9, and the results in r10, r11 and p1 on both sides.
struct Case {
    operands: [u32; 6],
    peer: [u32; 3],
    ours: [u32; 3],
}

/// Runs `text` on operand pairs (r4, r5), (r6, r7), (r8, r9) from the grid; p2 is bit 3 of r4. Returns the
/// cases that differ. `shift` is added to the numbers of registers 4 to 11.
fn differing(text: &str, shift: u32) -> Vec<Case> {
    let mut body = format!(
        "mov_sr r0, sr_workgroup_id_x
         mov_sr r1, sr_thread_id_x
         mov_imm r2, 64
         imad r0, r0, r2, r1
         imul r0, r0, r2
         mov_imm r3, 8
         device_load_u64 r4, r0
         iadd r1, r0, r3
         device_load_u128 r6, r1
         mov_imm r12, 16
         iadd r1, r1, r12
         and r12, r4, r3
         icmp_eq p2, r12, r3
         {text}
         device_store_u64 r1, r10
         iadd r1, r1, r3
         mov_imm r12, 1
         select r12, p1, r12, r13
         device_store_u32 r1, r12
         halt"
    );
    for n in (4..12).rev() {
        body = body.replace(&format!("r{n},"), &format!("r{},", n + shift));
        body = body.replace(&format!("r{n}\n"), &format!("r{}\n", n + shift));
    }
    let mut bench = Bench::new(&body);
    let pick = |n: usize| VALUES[n % VALUES.len()];
    let mut cases = Vec::new();
    for i in 0..VALUES.len() {
        for j in 0..VALUES.len() {
            let (a, b, c) = (pick(i), pick(j), pick(7 * i + 3 * j));
            // Single operands are in r4, r6 and r8. For pairs, the same words are in the high halves.
            cases.push([a, pick(i + j), b, pick(i + 5 * j), c, 3]);
            cases.push([pick(i + j), a, pick(i + 5 * j), b, 3, c]);
        }
    }
    bench.memory.clear();
    for case in &cases {
        bench.memory.extend(case.iter().flat_map(|w| w.to_le_bytes()));
        bench.memory.resize(bench.memory.len() + 40, 0);
    }
    (bench.threads, bench.wave_width) = (64, 32);
    bench.groups = (cases.len() as u32).div_ceil(64);
    bench.memory.resize(bench.groups as usize * 64 * 64, 0);
    let ((peer, peer_memory), (ours, our_memory)) = (bench.peer(), bench.ours());
    assert_eq!((peer, ours), (Ok(()), Ok(())), "{text}");
    let result = |memory: &[u8], n: usize| [24, 28, 32].map(|at| word(memory, 64 * n + at));
    let both = cases.into_iter().enumerate().map(|(n, operands)| Case {
        operands,
        peer: result(&peer_memory, n),
        ours: result(&our_memory, n),
    });
    both.filter(|case| case.peer != case.ours).collect()
}

/// Asserts that some cases differ, and that all of them are instances of the deviation `known`.
fn only(text: &str, known: impl Fn(&Case) -> bool) {
    let cases = differing(text, 16);
    assert!(!cases.is_empty(), "{text} does not deviate");
    for case in cases {
        let Case { operands, peer, ours } = case;
        assert!(known(&case), "{text} of {operands:08x?}: {peer:08x?}, ours {ours:08x?}");
    }
}

/// Both are NaN, and ours is the canonical one.
fn nan_f32(case: &Case) -> bool {
    f32::from_bits(case.peer[0]).is_nan() && case.ours[0] == 0x7FC0_0000
}

fn nan_f64(case: &Case) -> bool {
    let peer = f64::from_bits(u64::from(case.peer[1]) << 32 | u64::from(case.peer[0]));
    peer.is_nan() && case.ours[..2] == [0, 0x7FF8_0000]
}

fn nan_f16(case: &Case) -> bool {
    [0, 16].into_iter().all(|shift| {
        let (peer, ours) = (case.peer[0] >> shift & 0xFFFF, case.ours[0] >> shift & 0xFFFF);
        peer == ours || (peer & 0x7FFF > 0x7C00 && ours == 0x7E00)
    })
}

#[test]
fn integers_bits_compares_moves_agree() {
    for text in [
        "iadd r10, r4, r6",
        "isub r10, r4, r6",
        "imul r10, r4, r6",
        "imul_hi r10, r4, r6",
        "imad r10, r4, r6, r8",
        "idiv r10, r4, r6",
        "imod r10, r4, r6",
        "iabs r10, r4",
        "imin r10, r4, r6",
        "imax r10, r4, r6",
        "and r10, r4, r6",
        "or r10, r4, r6",
        "xor r10, r4, r6",
        "not r10, r4",
        "shl r10, r4, r6",
        "shr r10, r4, r6",
        "sar r10, r4, r6",
        "bitcount r10, r4",
        "bitfind r10, r4",
        "bitrev r10, r4",
        "bfe r10, r4, r6, r8",
        "bfi r10, r4, r6, r8, r9",
        "icmp_eq p1, r4, r6",
        "icmp_ne p1, r4, r6",
        "icmp_lt p1, r4, r6",
        "icmp_le p1, r4, r6",
        "icmp_gt p1, r4, r6",
        "icmp_ge p1, r4, r6",
        "ucmp_lt p1, r4, r6",
        "ucmp_le p1, r4, r6",
        "fcmp_eq p1, r4, r6",
        "fcmp_ne p1, r4, r6",
        "fcmp_lt p1, r4, r6",
        "fcmp_le p1, r4, r6",
        "fcmp_gt p1, r4, r6",
        "fcmp_ord p1, r4, r6",
        "fcmp_unord p1, r4, r6",
        "fneg r10, r4",
        "fabs r10, r4",
        "mov r10, r4",
        "mov_imm r10, 0x80000001",
        "@p2 mov r10, r4",
        "@!p2 isub r10, r4, r6",
    ] {
        for shift in [0, 16] {
            assert_eq!(differing(text, shift).len(), 0, "{text} with registers from r{}", 4 + shift);
        }
    }
}

#[test]
fn nan_bits_are_the_hosts() {
    for text in [
        "fadd r10, r4, r6",
        "fsub r10, r4, r6",
        "fmul r10, r4, r6",
        "fma r10, r4, r6, r8",
        "fsqrt r10, r4",
        "frsqrt r10, r4",
        "frcp r10, r4",
        "ffloor r10, r4",
        "fceil r10, r4",
        "ftrunc r10, r4",
        "cvt_f32_f16 r10, r4",
        "cvt_f32_f64 r10, r4",
    ] {
        only(text, nan_f32);
    }
    for text in [
        "hadd r10, r4, r6",
        "hsub r10, r4, r6",
        "hmul r10, r4, r6",
        "hma r10, r4, r6, r8",
        "hadd2 r10, r4, r6",
        "hmul2 r10, r4, r6",
        "hma2 r10, r4, r6, r8",
        "cvt_f16_f32 r10, r4",
    ] {
        only(text, nan_f16);
    }
    for text in [
        "dadd r10, r4, r6",
        "dsub r10, r4, r6",
        "dmul r10, r4, r6",
        "dma r10, r4, r6, r8",
        "ddiv r10, r4, r6",
        "dsqrt r10, r4",
        "cvt_f64_f32 r10, r4",
    ] {
        only(text, nan_f64);
    }
}

#[test]
fn division_by_zero_is_plus_infinity() {
    only("fdiv r10, r4, r6", |case| {
        nan_f32(case) || (case.operands[2] & 0x7FFF_FFFF == 0 && case.peer[0] == 0x7F80_0000)
    });
}

#[test]
fn minimum_and_maximum_do_not_know_signed_zero() {
    let zeros = |case: &Case| case.operands[0] & 0x7FFF_FFFF == 0 && case.operands[2] & 0x7FFF_FFFF == 0;
    only("fmin r10, r4, r6", |case| nan_f32(case) || (zeros(case) && case.ours[0] == 0x8000_0000));
    only("fmax r10, r4, r6", |case| nan_f32(case) || (zeros(case) && case.ours[0] == 0));
}

#[test]
fn rounding_takes_ties_away_from_zero() {
    only("fround r10, r4", |case| {
        let value = f32::from_bits(case.operands[0]);
        nan_f32(case)
            || (value.fract().abs() == 0.5 && f32::from_bits(case.ours[0]) == value.round_ties_even())
    });
}

#[test]
fn the_fraction_of_a_negative_number_is_negative() {
    only("ffract r10, r4", |case| {
        let (value, peer) = (f32::from_bits(case.operands[0]), f32::from_bits(case.peer[0]));
        nan_f32(case) || (value.is_sign_negative() && peer.is_sign_negative())
    });
}

#[test]
fn saturation_keeps_nan_and_minus_zero() {
    only("fsat r10, r4", |case| {
        case.ours[0] == 0 && (f32::from_bits(case.peer[0]).is_nan() || case.peer[0] == 0x8000_0000)
    });
}

#[test]
fn special_functions_are_the_hosts() {
    let close = |case: &Case| case.peer[0].abs_diff(case.ours[0]) <= 2;
    for text in ["fsin r10, r4", "fcos r10, r4", "fexp2 r10, r4", "flog2 r10, r4"] {
        only(text, |case| {
            // Above |1024| sine and cosine have no error bound.
            let large = (text.starts_with("fs") || text.starts_with("fc"))
                && f32::from_bits(case.operands[0]).abs() > 1024.0;
            nan_f32(case) || close(case) || large
        });
    }
}

#[test]
fn conversions_between_integers_and_floats_have_each_others_names() {
    // Instruction set, section 4: in cvt_A_B, B is the source type.
    for (published, ours) in [("f32_i32", "i32_f32"), ("f32_u32", "u32_f32")] {
        for (a, b) in [(published, ours), (ours, published)] {
            let mut bench =
                Bench::per_lane(&format!("mov_imm r4, 0x40300000\niadd r4, r4, r1\ncvt_{a} r10, r4"));
            let theirs = bench.words().0;
            bench = Bench::per_lane(&format!("mov_imm r4, 0x40300000\niadd r4, r4, r1\ncvt_{b} r10, r4"));
            assert_eq!(theirs, bench.words().1, "their cvt_{a} is our cvt_{b}");
            assert_ne!(theirs, bench.words().0);
        }
    }
}

#[test]
fn select_cannot_name_registers_above_r15_last() {
    Bench::per_lane("mov_imm r20, 7\nselect r10, p1, r20, r3").agree();
    Bench::per_lane("mov_imm r15, 7\nselect r10, p1, r2, r15").agree();
    // Bit 4 of the last register falls into the field of the other source: r20 is read as r4, and r2 as r3.
    Bench::per_lane("mov_imm r20, 7\nselect r10, p1, r2, r20")
        .deviate([4, 4, 4, 4, 0, 0, 0, 0], [1, 1, 1, 1, 7, 7, 7, 7]);
}

#[test]
fn float_literals_become_the_low_half_of_a_double() {
    Bench::per_lane("mov_imm r10, 2.75").deviate([0; 8], [0x4030_0000; 8]);
    Bench::per_lane("mov_imm r10, 0.1").deviate([0x9999_999A; 8], [0x3DCC_CCCD; 8]);
}

#[test]
fn overflows_and_swapped_limits_stop_it() {
    let cases = [
        ("mov_imm r4, 0x80000000\nineg r10, r4", 0x8000_0000),
        ("mov_imm r4, 5\nmov_imm r5, 2\niclamp r10, r2, r4, r5", 2),
        ("mov_imm r4, 0x40A00000\nmov_imm r5, 0x40000000\nfclamp r10, r2, r4, r5", 0x4000_0000),
    ];
    for (body, expected) in cases {
        let bench = Bench::per_lane(body);
        let (ours, memory) = bench.ours();
        assert_eq!((ours, word(&memory, 0)), (Ok(()), expected));
        let (peer, _) = bench.peer();
        // A negation overflows only in builds with overflow checks.
        assert!(peer == Err("panic".into()) || body.contains("ineg"), "{body}: {peer:?}");
    }
}

#[test]
fn newer_instructions_are_unknown() {
    for text in [
        "umin r10, r4, r6",
        "umax r10, r4, r6",
        "ucmp_eq p2, r4, r6",
        "ucmp_ne p2, r4, r6",
        "ucmp_gt p2, r4, r6",
        "ucmp_ge p2, r4, r6",
        "fcmp_ge p2, r4, r6",
        "cvt_f32_bf16 r10, r4",
        "cvt_bf16_f32 r10, r4",
        "badd r10, r4, r6",
        "bma2 r10, r4, r6, r8",
        "wave_reduce_and r10, r4",
        "wave_reduce_or r10, r4",
        "wave_reduce_xor r10, r4",
        "mma_compute f0, f0, f0",
        "wave_shuffle_idx r10, r4, r6",
    ] {
        let bench = Bench::per_lane(text);
        assert!(bench.peer().0.is_err_and(|e| e.contains("unknown")), "{text}");
        // Ours accepts it. The machine of these tests has no matrix unit.
        assert!(bench.ours().0.is_ok() || text.starts_with("mma"), "{text}");
    }
}
