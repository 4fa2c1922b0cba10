use super::Bench;

/// Runs `text` with r1 to r4 as given and returns r10.
fn one(text: &str, operands: [u32; 4]) -> u32 {
    let values: Vec<(u8, u32)> = (1..).zip(operands).collect();
    Bench::new(text).registers(&values).run().r(3, 10)
}

fn check(cases: &[(&str, [u32; 4], u32)]) {
    for &(text, operands, expected) in cases {
        let result = one(text, operands);
        assert_eq!(result, expected, "{text} of {operands:x?}: {result:#x}, not {expected:#x}");
    }
}

const NAN: u32 = 0x7FC0_0000;
const INF: u32 = 0x7F80_0000;
const MINUS: u32 = 0x8000_0000;

fn f(value: f32) -> u32 {
    value.to_bits()
}

/// Minus `n`, as bits.
fn neg(n: u32) -> u32 {
    n.wrapping_neg()
}

#[test]
fn integers() {
    let min = 0x8000_0000;
    check(&[
        ("iadd r10, r1, r2", [0xFFFF_FFFF, 2, 0, 0], 1),
        ("isub r10, r1, r2", [1, 2, 0, 0], 0xFFFF_FFFF),
        ("imul r10, r1, r2", [0x1_0001, 0x1_0001, 0, 0], 0x2_0001),
        ("imul_hi r10, r1, r2", [0xFFFF_FFFF, 0xFFFF_FFFF, 0, 0], 0xFFFF_FFFE),
        ("imad r10, r1, r2, r3", [neg(3), 5, 7, 0], neg(8)),
        ("idiv r10, r1, r2", [neg(7), 2, 0, 0], neg(3)),
        ("idiv r10, r1, r2", [7, 0, 0, 0], 0),
        ("idiv r10, r1, r2", [min, neg(1), 0, 0], min),
        ("imod r10, r1, r2", [neg(7), 2, 0, 0], neg(1)),
        ("imod r10, r1, r2", [7, neg(4), 0, 0], 3),
        ("imod r10, r1, r2", [7, 0, 0, 0], 0),
        ("imod r10, r1, r2", [min, neg(1), 0, 0], 0),
        ("ineg r10, r1", [min, 0, 0, 0], min),
        ("ineg r10, r1", [5, 0, 0, 0], neg(5)),
        ("iabs r10, r1", [min, 0, 0, 0], min),
        ("iabs r10, r1", [neg(9), 0, 0, 0], 9),
        ("imin r10, r1, r2", [neg(1), 1, 0, 0], neg(1)),
        ("imax r10, r1, r2", [neg(1), 1, 0, 0], 1),
        ("umin r10, r1, r2", [neg(1), 1, 0, 0], 1),
        ("umax r10, r1, r2", [neg(1), 1, 0, 0], neg(1)),
        ("iclamp r10, r1, r2, r3", [neg(9), neg(5), 5, 0], neg(5)),
        ("iclamp r10, r1, r2, r3", [9, neg(5), 5, 0], 5),
        // A lower limit above the upper one: min(max(0, 5), 2).
        ("iclamp r10, r1, r2, r3", [0, 5, 2, 0], 2),
    ]);
}

#[test]
fn bits() {
    check(&[
        ("and r10, r1, r2", [0b1100, 0b1010, 0, 0], 0b1000),
        ("or r10, r1, r2", [0b1100, 0b1010, 0, 0], 0b1110),
        ("xor r10, r1, r2", [0b1100, 0b1010, 0, 0], 0b0110),
        ("not r10, r1", [0xFFFF_0000, 0, 0, 0], 0xFFFF),
        ("shl r10, r1, r2", [3, 33, 0, 0], 6),
        ("shr r10, r1, r2", [0x8000_0000, 35, 0, 0], 0x1000_0000),
        ("sar r10, r1, r2", [0x8000_0000, 31, 0, 0], 0xFFFF_FFFF),
        ("bitcount r10, r1", [0xF0F0_0001, 0, 0, 0], 9),
        ("bitfind r10, r1", [0x0001_0000, 0, 0, 0], 15),
        ("bitfind r10, r1", [0, 0, 0, 0], 0xFFFF_FFFF),
        ("bitrev r10, r1", [0x0000_0013, 0, 0, 0], 0xC800_0000),
        ("bfe r10, r1, r2, r3", [0xABCD_1234, 8, 8, 0], 0x12),
        ("bfe r10, r1, r2, r3", [0xABCD_1234, 28, 8, 0], 0xA),
        ("bfe r10, r1, r2, r3", [0xABCD_1234, 4, 32, 0], 0),
        ("bfe r10, r1, r2, r3", [0xFFFF_FFFF, 32, 31, 0], 0x7FFF_FFFF),
        ("bfi r10, r1, r2, r3, r4", [0xFFFF_FFFF, 0, 8, 4], 0xFFFF_F0FF),
        ("bfi r10, r1, r2, r3, r4", [0, 0xFFFF_FFFF, 28, 8], 0xF000_0000),
        ("bfi r10, r1, r2, r3, r4", [0x1234, 0xFFFF_FFFF, 0, 32], 0x1234),
        ("bfi r10, r1, r2, r3, r4", [0x1234, 0xAB, 32, 8], 0x12AB),
    ]);
}

#[test]
fn floats() {
    check(&[
        ("fadd r10, r1, r2", [f(1.5), f(-0.25), 0, 0], f(1.25)),
        // To nearest even, subnormals kept, and any NaN becomes the one NaN.
        ("fadd r10, r1, r2", [f(1.0), f(0.5 * f32::EPSILON), 0, 0], f(1.0)),
        ("fadd r10, r1, r2", [0x0000_0001, 0x0000_0002, 0, 0], 0x0000_0003),
        ("fadd r10, r1, r2", [INF, INF | MINUS, 0, 0], NAN),
        ("fadd r10, r1, r2", [0xFFC1_2345, 0, 0, 0], NAN),
        ("fadd r10, r1, r2", [0x7F80_0001, f(1.0), 0, 0], NAN),
        ("fadd r10, r1, r2", [MINUS, MINUS, 0, 0], MINUS),
        ("fsub r10, r1, r2", [f(1.0), f(1.0), 0, 0], 0),
        ("fmul r10, r1, r2", [f(-3.0), f(2.5), 0, 0], f(-7.5)),
        ("fmul r10, r1, r2", [INF, 0, 0, 0], NAN),
        ("fdiv r10, r1, r2", [f(1.0), f(3.0), 0, 0], 0x3EAA_AAAB),
        ("fdiv r10, r1, r2", [f(-1.0), 0, 0, 0], INF | MINUS),
        ("fdiv r10, r1, r2", [0, 0, 0, 0], NAN),
        // (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 when rounded once.
        ("fma r10, r1, r2, r3", [0x3F80_0800, 0x3F80_0800, 0xBF80_1000, 0], f(1.0 / 16_777_216.0)),
        // Sign only, also of a NaN with a payload.
        ("fneg r10, r1", [0x7FC1_2345, 0, 0, 0], 0xFFC1_2345),
        ("fabs r10, r1", [0xFF80_0001, 0, 0, 0], 0x7F80_0001),
        ("fmin r10, r1, r2", [0, MINUS, 0, 0], MINUS),
        ("fmax r10, r1, r2", [MINUS, 0, 0, 0], 0),
        ("fmin r10, r1, r2", [0x7F80_0001, f(4.0), 0, 0], f(4.0)),
        ("fmax r10, r1, r2", [f(-4.0), 0xFFFF_FFFF, 0, 0], f(-4.0)),
        ("fmin r10, r1, r2", [0xFFC0_0001, 0x7F80_0001, 0, 0], NAN),
        ("fclamp r10, r1, r2, r3", [f(9.0), f(-1.0), f(1.0), 0], f(1.0)),
        ("fclamp r10, r1, r2, r3", [NAN, f(-1.0), f(1.0), 0], f(-1.0)),
        ("fclamp r10, r1, r2, r3", [f(0.0), f(3.0), f(2.0), 0], f(2.0)),
        ("fsqrt r10, r1", [f(2.0), 0, 0, 0], 0x3FB5_04F3),
        ("fsqrt r10, r1", [MINUS, 0, 0, 0], MINUS),
        ("fsqrt r10, r1", [f(-1.0), 0, 0, 0], NAN),
        ("frsqrt r10, r1", [f(16.0), 0, 0, 0], f(0.25)),
        ("frsqrt r10, r1", [MINUS, 0, 0, 0], INF | MINUS),
        // 1/sqrt(3) is 0x3F13CD3A when rounded once; sqrt(3) first rounds down to 0x3FDDB3D7.
        ("frsqrt r10, r1", [f(3.0), 0, 0, 0], f(1.0 / f32::from_bits(0x3FDD_B3D7))),
        ("frcp r10, r1", [f(-4.0), 0, 0, 0], f(-0.25)),
        ("frcp r10, r1", [0x0000_0001, 0, 0, 0], INF),
        ("ffloor r10, r1", [f(-1.5), 0, 0, 0], f(-2.0)),
        ("ffloor r10, r1", [MINUS, 0, 0, 0], MINUS),
        ("fceil r10, r1", [f(-0.5), 0, 0, 0], MINUS),
        ("fround r10, r1", [f(2.5), 0, 0, 0], f(2.0)),
        ("fround r10, r1", [f(3.5), 0, 0, 0], f(4.0)),
        ("fround r10, r1", [f(-0.5), 0, 0, 0], MINUS),
        ("ftrunc r10, r1", [f(-1.75), 0, 0, 0], f(-1.0)),
        ("ftrunc r10, r1", [0xFFC0_0001, 0, 0, 0], NAN),
        ("ffract r10, r1", [f(-1.25), 0, 0, 0], f(0.75)),
        ("ffract r10, r1", [f(-1.0e-9), 0, 0, 0], 0x3F7F_FFFF),
        ("ffract r10, r1", [INF, 0, 0, 0], NAN),
        ("fsat r10, r1", [f(1.5), 0, 0, 0], f(1.0)),
        ("fsat r10, r1", [NAN, 0, 0, 0], 0),
        ("fsat r10, r1", [MINUS, 0, 0, 0], 0),
        ("fsat r10, r1", [f(0.25), 0, 0, 0], f(0.25)),
        ("fexp2 r10, r1", [f(10.0), 0, 0, 0], f(1024.0)),
        ("flog2 r10, r1", [f(0.125), 0, 0, 0], f(-3.0)),
        ("fcos r10, r1", [0, 0, 0, 0], f(1.0)),
        ("fsin r10, r1", [MINUS, 0, 0, 0], MINUS),
    ]);
}

#[test]
fn halves() {
    check(&[
        // 1 + 2^-11 is half way between two f16; the even one is 1.
        ("hadd r10, r1, r2", [0xFFFF_3C00, 0xFFFF_1000, 0, 0], 0x3C00),
        ("hadd r10, r1, r2", [0x7BFF, 0x7BFF, 0, 0], 0x7C00),
        ("hsub r10, r1, r2", [0x3C00, 0x4000, 0, 0], 0xBC00),
        ("hmul r10, r1, r2", [0x7C00, 0x0000, 0, 0], 0x7E00),
        ("hmul r10, r1, r2", [0x0001, 0x3800, 0, 0], 0x0000),
        ("hma r10, r1, r2, r3", [0x4000, 0x4200, 0xC500, 0], 0x3C00),
        ("hadd2 r10, r1, r2", [0x3C00_4000, 0x3C00_C000, 0, 0], 0x4000_0000),
        ("hmul2 r10, r1, r2", [0x7C00_3C00, 0x0000_4200, 0, 0], 0x7E00_4200),
        ("hma2 r10, r1, r2, r3", [0x4000_3C00, 0x4000_3C00, 0x3C00_BC00, 0], 0x4500_0000),
        // bf16: 1 + 2^-8 is half way; 3 * (1/3 as bf16, 0x3EAB) = 1.00195… rounds to 1.
        ("badd r10, r1, r2", [0xFFFF_3F80, 0xFFFF_3B80, 0, 0], 0x3F80),
        ("bsub r10, r1, r2", [0x3F80, 0x4000, 0, 0], 0xBF80),
        ("bmul r10, r1, r2", [0x4040, 0x3EAB, 0, 0], 0x3F80),
        ("bma r10, r1, r2, r3", [0x4000, 0x4040, 0xC0A0, 0], 0x3F80),
        ("badd r10, r1, r2", [0x7F80, 0xFF80, 0, 0], 0x7FC0),
        ("badd2 r10, r1, r2", [0x3F80_4000, 0x3F80_C000, 0, 0], 0x4000_0000),
        ("bmul2 r10, r1, r2", [0x7F80_3F80, 0x0000_4040, 0, 0], 0x7FC0_4040),
        ("bma2 r10, r1, r2, r3", [0x4000_3F80, 0x4000_3F80, 0x3F80_BF80, 0], 0x40A0_0000),
    ]);
}

#[test]
fn doubles_use_register_pairs() {
    let run = |text: &str, a: f64, b: f64, c: f64| {
        let mut values = Vec::new();
        for (n, value) in [(2, a), (4, b), (6, c)] {
            values.push((n, value.to_bits() as u32));
            values.push((n + 1, (value.to_bits() >> 32) as u32));
        }
        let ran = Bench::new(text).registers(&values).run();
        u64::from(ran.r(0, 11)) << 32 | u64::from(ran.r(0, 10))
    };
    let nan = 0x7FF8_0000_0000_0000;
    assert_eq!(run("dadd r10, r2, r4", 0.1, 0.2, 0.0), 0.300_000_000_000_000_04f64.to_bits());
    assert_eq!(run("dsub r10, r2, r4", 1.0, 3.0, 0.0), (-2.0f64).to_bits());
    assert_eq!(run("dmul r10, r2, r4", f64::INFINITY, 0.0, 0.0), nan);
    assert_eq!(run("dma r10, r2, r4, r6", 3.0, 4.0, -5.0), 7.0f64.to_bits());
    assert_eq!(run("ddiv r10, r2, r4", 1.0, -8.0, 0.0), (-0.125f64).to_bits());
    assert_eq!(run("dsqrt r10, r2", 2.25, 0.0, 0.0), 1.5f64.to_bits());
    assert_eq!(run("dsqrt r10, r2", -1.0, 0.0, 0.0), nan);
    // A destination that overlaps the sources is written after they are read.
    assert_eq!(run("dadd r3, r2, r4\nmov r10, r3\nmov r11, r4", 1.0, 0.5, 0.0), 1.5f64.to_bits());
}

#[test]
fn conversions() {
    check(&[
        ("cvt_f32_i32 r10, r1", [neg(5), 0, 0, 0], f(-5.0)),
        ("cvt_f32_i32 r10, r1", [0x0100_0001, 0, 0, 0], f(16_777_216.0)),
        ("cvt_f32_u32 r10, r1", [0xFFFF_FFFF, 0, 0, 0], f(4_294_967_296.0)),
        ("cvt_i32_f32 r10, r1", [f(-1.9), 0, 0, 0], neg(1)),
        ("cvt_i32_f32 r10, r1", [f(3.0e9), 0, 0, 0], 0x7FFF_FFFF),
        ("cvt_i32_f32 r10, r1", [INF | MINUS, 0, 0, 0], 0x8000_0000),
        ("cvt_i32_f32 r10, r1", [NAN, 0, 0, 0], 0),
        ("cvt_u32_f32 r10, r1", [f(-1.0), 0, 0, 0], 0),
        ("cvt_u32_f32 r10, r1", [f(3.0e9), 0, 0, 0], 3_000_000_000),
        ("cvt_u32_f32 r10, r1", [INF, 0, 0, 0], 0xFFFF_FFFF),
        ("cvt_f32_f16 r10, r1", [0xFFFF_0001, 0, 0, 0], f(1.0 / 16_777_216.0)),
        ("cvt_f32_f16 r10, r1", [0x7C01, 0, 0, 0], NAN),
        ("cvt_f16_f32 r10, r1", [f(65_520.0), 0, 0, 0], 0x7C00),
        ("cvt_f16_f32 r10, r1", [f(-0.1), 0, 0, 0], 0xAE66),
        ("cvt_f16_f32 r10, r1", [0xFFC0_0000, 0, 0, 0], 0x7E00),
        ("cvt_f32_bf16 r10, r1", [0x1234_C0A0, 0, 0, 0], f(-5.0)),
        ("cvt_bf16_f32 r10, r1", [0x3F81_8000, 0, 0, 0], 0x3F82),
        ("cvt_bf16_f32 r10, r1", [0x7F80_0001, 0, 0, 0], 0x7FC0),
        // 1 + 2^-40 as f64, low word r1, high word r2.
        ("cvt_f32_f64 r10, r1", [0x0000_1000, 0x3FF0_0000, 0, 0], f(1.0)),
        ("cvt_f32_f64 r10, r1", [1, 0xFFF0_0000, 0, 0], NAN),
        ("cvt_f64_f32 r10, r1", [f(1.5), 0, 0, 0], 0),
        ("cvt_f64_f32 r9, r1", [f(1.5), 0, 0, 0], 0x3FF8_0000),
    ]);
}

#[test]
fn compares_and_select() {
    let compare = |text: &str, a: u32, b: u32| Bench::new(text).registers(&[(1, a), (2, b)]).run().mask(3);
    let cases: &[(&str, u32, u32, &str)] = &[
        // Which of eq ne lt le gt ge hold.
        ("icmp", neg(1), 1, "ne lt le"),
        ("icmp", 4, 4, "eq le ge"),
        ("ucmp", neg(1), 1, "ne gt ge"),
        ("ucmp", 4, 4, "eq le ge"),
        ("fcmp", f(1.0), f(2.0), "ne lt le ord"),
        ("fcmp", MINUS, 0, "eq le ge ord"),
        ("fcmp", NAN, f(1.0), "ne unord"),
        ("fcmp", NAN, NAN, "ne unord"),
    ];
    for &(kind, a, b, holds) in cases {
        let names: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge", "ord", "unord"];
        for name in if kind == "fcmp" { names } else { &names[..6] } {
            let expected = if holds.split(' ').any(|h| h == *name) { 0xFF } else { 0 };
            assert_eq!(
                compare(&format!("{kind}_{name} p3, r1, r2"), a, b),
                expected,
                "{kind}_{name} {a:x} {b:x}"
            );
        }
    }
    let select = Bench::with_lanes(0b1010_0101, 0, "select r10, p1, r60, r61").run();
    assert_eq!(select.row(10), [0, 1, 2, 1, 1, 5, 1, 7]);
}

#[test]
fn moves_and_special_registers() {
    check(&[
        ("mov r10, r1", [0x7F80_0001, 0, 0, 0], 0x7F80_0001),
        ("mov_imm r10, 0xDEADBEEF", [0; 4], 0xDEAD_BEEF),
        ("mov_imm r10, -1.5", [0; 4], f(-1.5)),
    ]);
    // 2 × 3 × 4 threads in waves of 8: thread 13 is lane 5 of wave 1, at x 1, y 0, z 2.
    let mut body = String::new();
    for sr in 0..20 {
        body += &format!("mov_sr r{}, {}\n", 20 + sr, wave_isa::Special::ALL[sr].name());
    }
    let mut bench = Bench::new(&body);
    bench.launch.workgroup = [2, 3, 4];
    bench.launch.grid = [5, 6, 7];
    let ran = bench.run();
    let wave = ran.waves.iter().find(|w| w.workgroup == [3, 1, 4] && w.wave == 1).expect("the wave");
    let expected = [1, 0, 2, 1, 5, 3, 1, 4, 2, 3, 4, 5, 6, 7, 8, 3, 1, 4, 4, 4];
    assert_eq!(wave.lanes[5].registers[20..40], expected);
    assert_eq!(ran.waves.len(), 5 * 6 * 7 * 3);
}
