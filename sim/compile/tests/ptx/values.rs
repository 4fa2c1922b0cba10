//! Instructions on values of every kind, against the arithmetic of the host.

use crate::machine::{BUFFERS, Run, run};

/// What the host computes of the three operands of a thread.
pub(crate) type Expected = fn(u64, u64, u64) -> u64;

/// Threads of a case: each has its own operands.
const THREADS: usize = 64;

/// A kernel in which each thread has three numbers of 64 bits in `%rd1` to `%rd3`, with their low halves in `%r1` to `%r3` and
/// `%f1` to `%f3`, all of them in `%d1` to `%d3`, and leaves `%rd0`.
fn kernel(code: &str) -> String {
    let result = if code.contains("%rd0") {
        ""
    } else if code.contains("%d0") {
        "mov.b64 %rd0, %d0;"
    } else if code.contains("%f0") {
        "mov.b32 %r0, %f0; cvt.u64.u32 %rd0, %r0;"
    } else if code.contains("%p0") {
        "selp.u32 %r0, 1, 0, %p0; cvt.u64.u32 %rd0, %r0;"
    } else if code.contains("%h0") {
        "cvt.u32.u16 %r0, %h0; cvt.u64.u32 %rd0, %r0;"
    } else {
        "cvt.u64.u32 %rd0, %r0;"
    };
    format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n.reg .b64 %rd<10>;\n\
         .reg .b32 %r<10>;\n.reg .f32 %f<10>;\n.reg .f64 %d<10>;\n.reg .b16 %h<10>;\n.reg .pred %p<4>;\n\
         ld.param.u64 %rd9, [p];\nmov.u32 %r9, %tid.x;\nmul.wide.u32 %rd8, %r9, 32;\nadd.s64 %rd9, %rd9, %rd8;\n\
         ld.global.u64 %rd1, [%rd9];\nld.global.u64 %rd2, [%rd9+8];\nld.global.u64 %rd3, [%rd9+16];\n\
         cvt.u32.u64 %r1, %rd1;\ncvt.u32.u64 %r2, %rd2;\ncvt.u32.u64 %r3, %rd3;\n\
         cvt.u16.u64 %h1, %rd1;\ncvt.u16.u64 %h2, %rd2;\ncvt.u16.u64 %h3, %rd3;\n\
         mov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\nmov.b32 %f3, %r3;\n\
         mov.b64 %d1, %rd1;\nmov.b64 %d2, %rd2;\nmov.b64 %d3, %rd3;\n{code}\n{result}\n\
         st.global.u64 [%rd9+24], %rd0;\nret;\n}}\n"
    )
}

/// A number that follows from another one, as random ones go.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state >> 11 ^ *state << 23
}

/// Operands: some at the ends of ranges, others anywhere.
fn operands(edges: &[u64], seed: u64) -> Vec<[u64; 3]> {
    let mut state = seed;
    let mut pick = || {
        let number = next(&mut state);
        if number.is_multiple_of(2) { edges[(number / 2) as usize % edges.len()] } else { next(&mut state) }
    };
    (0..THREADS).map(|_| [pick(), pick(), pick()]).collect()
}

/// Runs a case and compares. `same` says which bits are equal to those expected.
pub(crate) fn check(code: &str, edges: &[u64], same: fn(u64, u64) -> bool, expected: Expected) {
    let operands = operands(edges, code.len() as u64 + 17);
    let mut contents = Vec::new();
    for [a, b, c] in &operands {
        contents.extend([*a, *b, *c, 0].into_iter().flat_map(u64::to_le_bytes));
    }
    let launch =
        Run { kernel: "k", grid: 1, threads: THREADS as u32, dynamic: 0, arguments: vec![BUFFERS, 0] };
    let after = run(&kernel(code), &launch, &contents).unwrap_or_else(|error| panic!("{code}\n{error}"));
    for (record, [a, b, c]) in after.chunks_exact(32).zip(operands) {
        let got = u64::from_le_bytes(record[24..].try_into().expect("8 bytes"));
        let wanted = expected(a, b, c);
        assert!(same(got, wanted), "{code}\n{a:#x}, {b:#x}, {c:#x}: {got:#x}, expected {wanted:#x}");
    }
}

const INTEGERS: [u64; 16] = [
    0,
    1,
    2,
    31,
    32,
    33,
    63,
    64,
    0x7F,
    0x80,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x8000_0000_0000_0000,
    u64::MAX,
];

fn integers(cases: &[(&str, Expected)]) {
    for (code, expected) in cases {
        check(code, &INTEGERS, |got, wanted| got == wanted, *expected);
    }
}

fn signed(value: u64) -> i32 {
    value as u32 as i32
}

fn word(value: i64) -> u64 {
    u64::from(value as u32)
}

#[test]
fn arithmetic_of_32_bits() {
    integers(&[
        ("add.s32 %r0, %r1, %r2;", |a, b, _| word(a.wrapping_add(b) as i64)),
        ("sub.u32 %r0, %r1, %r2;", |a, b, _| word(a.wrapping_sub(b) as i64)),
        ("add.sat.s32 %r0, %r1, %r2;", |a, b, _| word(signed(a).saturating_add(signed(b)).into())),
        ("sub.sat.s32 %r0, %r1, %r2;", |a, b, _| word(signed(a).saturating_sub(signed(b)).into())),
        ("mul.lo.s32 %r0, %r1, %r2;", |a, b, _| word(a.wrapping_mul(b) as i64)),
        ("mul.hi.s32 %r0, %r1, %r2;", |a, b, _| word((i64::from(signed(a)) * i64::from(signed(b))) >> 32)),
        ("mul.hi.u32 %r0, %r1, %r2;", |a, b, _| ((a & 0xFFFF_FFFF) * (b & 0xFFFF_FFFF)) >> 32),
        ("mul.wide.s32 %rd0, %r1, %r2;", |a, b, _| (i64::from(signed(a)) * i64::from(signed(b))) as u64),
        ("mul.wide.u32 %rd0, %r1, %r2;", |a, b, _| (a & 0xFFFF_FFFF) * (b & 0xFFFF_FFFF)),
        ("mad.lo.s32 %r0, %r1, %r2, %r3;", |a, b, c| word(a.wrapping_mul(b).wrapping_add(c) as i64)),
        ("mad.wide.s32 %rd0, %r1, %r2, %rd3;", |a, b, c| {
            (i64::from(signed(a)) * i64::from(signed(b))).wrapping_add(c as i64) as u64
        }),
        ("mul24.lo.s32 %r0, %r1, %r2;", |a, b, _| {
            word(i64::from(signed(a) << 8 >> 8) * i64::from(signed(b) << 8 >> 8))
        }),
        ("mul24.hi.u32 %r0, %r1, %r2;", |a, b, _| (((a & 0xFF_FFFF) * (b & 0xFF_FFFF)) >> 16) & 0xFFFF_FFFF),
        ("setp.eq.u32 %p1, %r2, 0; selp.u32 %r2, 3, %r2, %p1; div.s32 %r0, %r1, %r2;", |a, b, _| {
            word(signed(a).wrapping_div(if signed(b) == 0 { 3 } else { signed(b) }).into())
        }),
        ("setp.eq.u32 %p1, %r2, 0; selp.u32 %r2, 3, %r2, %p1; rem.u32 %r0, %r1, %r2;", |a, b, _| {
            u64::from(a as u32 % if b as u32 == 0 { 3 } else { b as u32 })
        }),
        ("abs.s32 %r0, %r1;", |a, _, _| word(signed(a).wrapping_abs().into())),
        ("neg.s32 %r0, %r1;", |a, _, _| word(signed(a).wrapping_neg().into())),
        ("min.s32 %r0, %r1, %r2;", |a, b, _| word(signed(a).min(signed(b)).into())),
        ("max.u32 %r0, %r1, %r2;", |a, b, _| u64::from((a as u32).max(b as u32))),
        ("sad.s32 %r0, %r1, %r2, %r3;", |a, b, c| {
            u64::from(signed(a).abs_diff(signed(b)).wrapping_add(c as u32))
        }),
        ("dp4a.s32.u32 %r0, %r1, %r2, %r3;", |a, b, c| {
            let products = (0..4).map(|n| i64::from((a >> (8 * n)) as i8) * i64::from((b >> (8 * n)) as u8));
            word(products.sum::<i64>().wrapping_add(c as i64))
        }),
        ("dp2a.hi.u32.u32 %r0, %r1, %r2, %r3;", |a, b, c| {
            let products = (0..2u64).map(|n| (a >> (16 * n) & 0xFFFF) * (b >> (16 + 8 * n) & 0xFF));
            word(products.sum::<u64>().wrapping_add(c) as i64)
        }),
    ]);
}

#[test]
fn arithmetic_of_64_and_16_bits() {
    integers(&[
        ("add.s64 %rd0, %rd1, %rd2;", |a, b, _| a.wrapping_add(b)),
        ("mul.lo.s64 %rd0, %rd1, %rd2;", |a, b, _| a.wrapping_mul(b)),
        ("mul.hi.u64 %rd0, %rd1, %rd2;", |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        ("mul.hi.s64 %rd0, %rd1, %rd2;", |a, b, _| {
            ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
        }),
        ("mad.lo.s64 %rd0, %rd1, %rd2, %rd3;", |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("setp.eq.u64 %p1, %rd2, 0; selp.b64 %rd2, 7, %rd2, %p1; div.s64 %rd0, %rd1, %rd2;", |a, b, _| {
            (a as i64).wrapping_div(if b == 0 { 7 } else { b as i64 }) as u64
        }),
        ("setp.eq.u64 %p1, %rd2, 0; selp.b64 %rd2, 7, %rd2, %p1; rem.s64 %rd0, %rd1, %rd2;", |a, b, _| {
            (a as i64).wrapping_rem(if b == 0 { 7 } else { b as i64 }) as u64
        }),
        ("setp.eq.u64 %p1, %rd2, 0; selp.b64 %rd2, 7, %rd2, %p1; div.u64 %rd0, %rd1, %rd2;", |a, b, _| {
            a / if b == 0 { 7 } else { b }
        }),
        ("min.s64 %rd0, %rd1, %rd2;", |a, b, _| (a as i64).min(b as i64) as u64),
        ("max.u64 %rd0, %rd1, %rd2;", |a, b, _| a.max(b)),
        ("abs.s64 %rd0, %rd1;", |a, _, _| (a as i64).wrapping_abs() as u64),
        ("add.cc.u32 %r0, %r1, %r2; addc.u32 %r4, %r3, 0; mov.b64 %rd0, {%r0, %r4};", |a, b, c| {
            let low = (a & 0xFFFF_FFFF) + (b & 0xFFFF_FFFF);
            (low & 0xFFFF_FFFF) | (c.wrapping_add(low >> 32) << 32)
        }),
        ("sub.cc.u32 %r0, %r1, %r2; subc.u32 %r4, %r3, 0; mov.b64 %rd0, {%r0, %r4};", |a, b, c| {
            let borrow = u64::from((a as u32) < b as u32);
            u64::from((a as u32).wrapping_sub(b as u32)) | (c.wrapping_sub(borrow) << 32)
        }),
        (
            "mad.lo.cc.u32 %r0, %r1, %r2, %r3; madc.hi.u32 %r4, %r1, %r2, 0; mov.b64 %rd0, {%r0, %r4};",
            |a, b, c| (a & 0xFFFF_FFFF) * (b & 0xFFFF_FFFF) + (c & 0xFFFF_FFFF),
        ),
        ("add.s16 %h0, %h1, %h2;", |a, b, _| a.wrapping_add(b) & 0xFFFF),
        ("mul.hi.s16 %h0, %h1, %h2;", |a, b, _| {
            ((i32::from(a as i16) * i32::from(b as i16)) >> 16) as u64 & 0xFFFF
        }),
        ("mul.wide.u16 %r0, %h1, %h2;", |a, b, _| (a & 0xFFFF) * (b & 0xFFFF)),
        ("max.s16 %h0, %h1, %h2;", |a, b, _| u64::from((a as i16).max(b as i16) as u16)),
        ("shr.s16 %h0, %h1, %r2;", |a, b, _| u64::from(((a as i16) >> (b as u32).min(15)) as u16)),
        ("setp.lt.s16 %p0, %h1, %h2;", |a, b, _| u64::from((a as i16) < b as i16)),
    ]);
}

#[test]
fn operations_on_bits() {
    integers(&[
        ("and.b32 %r0, %r1, %r2;", |a, b, _| a & b & 0xFFFF_FFFF),
        ("xor.b64 %rd0, %rd1, %rd2;", |a, b, _| a ^ b),
        ("not.b64 %rd0, %rd1;", |a, _, _| !a),
        ("cnot.b32 %r0, %r1;", |a, _, _| u64::from(a as u32 == 0)),
        ("shl.b32 %r0, %r1, %r2;", |a, b, _| u64::from((a as u32).checked_shl(b as u32).unwrap_or(0))),
        ("shr.u32 %r0, %r1, %r2;", |a, b, _| u64::from((a as u32).checked_shr(b as u32).unwrap_or(0))),
        ("shr.s32 %r0, %r1, %r2;", |a, b, _| word((signed(a) >> (b as u32).min(31)).into())),
        ("shl.b64 %rd0, %rd1, %r2;", |a, b, _| a.checked_shl(b as u32).unwrap_or(0)),
        ("shr.u64 %rd0, %rd1, %r2;", |a, b, _| a.checked_shr(b as u32).unwrap_or(0)),
        ("shr.s64 %rd0, %rd1, %r2;", |a, b, _| ((a as i64) >> (b as u32).min(63)) as u64),
        ("shl.b32 %r0, %r1, 40;", |_, _, _| 0),
        ("shf.l.wrap.b32 %r0, %r1, %r2, %r3;", |a, b, c| {
            u64::from(((u64::from(b as u32) << 32 | u64::from(a as u32)) << (c & 31) >> 32) as u32)
        }),
        ("shf.r.clamp.b32 %r0, %r1, %r2, %r3;", |a, b, c| {
            u64::from(((u64::from(b as u32) << 32 | u64::from(a as u32)) >> (c as u32).min(32)) as u32)
        }),
        ("lop3.b32 %r0, %r1, %r2, %r3, 0x96;", |a, b, c| (a ^ b ^ c) & 0xFFFF_FFFF),
        ("lop3.b32 %r0, %r1, %r2, %r3, 0xCA;", |a, b, c| (a & b | !a & c) & 0xFFFF_FFFF),
        ("lop3.b32 %r0, %r1, %r2, %r3, 0xE8;", |a, b, c| (a & b | a & c | b & c) & 0xFFFF_FFFF),
        ("lop3.b32 %r0, %r1, %r2, %r3, 0x2D;", |a, b, c| {
            (0..32).fold(0, |all, bit| {
                let place = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1;
                all | (0x2D >> place & 1) << bit
            })
        }),
        ("prmt.b32 %r0, %r1, %r2, 0x7140;", |a, b, _| permuted(a, b, 0x7140)),
        ("prmt.b32 %r0, %r1, %r2, %r3;", permuted),
        ("prmt.b32.f4e %r0, %r1, %r2, %r3;", |a, b, c| {
            ((b << 32 | a & 0xFFFF_FFFF) >> (8 * (c & 3))) & 0xFFFF_FFFF
        }),
        ("bfe.u32 %r0, %r1, %r2, %r3;", |a, b, c| field(a & 0xFFFF_FFFF, b & 255, c & 255, 32, false)),
        ("bfe.s32 %r0, %r1, %r2, %r3;", |a, b, c| {
            field(a & 0xFFFF_FFFF, b & 255, c & 255, 32, true) & 0xFFFF_FFFF
        }),
        ("bfe.s64 %rd0, %rd1, %r2, %r3;", |a, b, c| field(a, b & 255, c & 255, 64, true)),
        ("bfe.u64 %rd0, %rd1, %r2, %r3;", |a, b, c| field(a, b & 255, c & 255, 64, false)),
        ("bfi.b32 %r0, %r1, %r2, %r3, 7;", |a, b, c| {
            let place = (c & 255) as u32;
            let mask = 0x7Fu32.checked_shl(place).unwrap_or(0);
            u64::from(b as u32 & !mask | (a as u32).checked_shl(place).unwrap_or(0) & mask)
        }),
        ("bfind.u32 %r0, %r1;", |a, _, _| word(31 - i64::from((a as u32).leading_zeros()))),
        ("bfind.s32 %r0, %r1;", |a, _, _| {
            let bits = if signed(a) < 0 { !signed(a) } else { signed(a) };
            word(31 - i64::from(bits.leading_zeros()))
        }),
        (
            "bfind.shiftamt.u64 %r0, %rd1;",
            |a, _, _| if a == 0 { 0xFFFF_FFFF } else { a.leading_zeros().into() },
        ),
        ("brev.b32 %r0, %r1;", |a, _, _| u64::from((a as u32).reverse_bits())),
        ("brev.b64 %rd0, %rd1;", |a, _, _| a.reverse_bits()),
        ("clz.b64 %r0, %rd1;", |a, _, _| a.leading_zeros().into()),
        ("popc.b32 %r0, %r1;", |a, _, _| u64::from((a as u32).count_ones())),
        ("bmsk.clamp.b32 %r0, %r1, %r2;", |a, b, _| {
            let ones = ((1u64 << (b as u32).min(32)) - 1) as u32;
            u64::from(ones.checked_shl((a as u32).min(32)).unwrap_or(0))
        }),
    ]);
}

fn permuted(a: u64, b: u64, c: u64) -> u64 {
    let bytes = (b << 32 | a & 0xFFFF_FFFF).to_le_bytes();
    (0..4).fold(0, |all, place| {
        let nibble = c >> (4 * place) & 15;
        let byte = bytes[(nibble & 7) as usize];
        let byte = if nibble & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 };
        all | u64::from(byte) << (8 * place)
    })
}

/// A field, bit by bit as the manual has it.
fn field(a: u64, place: u64, length: u64, bits: u64, is_signed: bool) -> u64 {
    let last = bits - 1;
    let sign = if !is_signed || length == 0 { 0 } else { a >> (place + length - 1).min(last) & 1 };
    (0..bits).fold(0, |all, bit| {
        let value = if bit < length && place + bit <= last { a >> (place + bit) & 1 } else { sign };
        all | value << bit
    })
}

#[test]
fn comparisons_choices_and_conversions_of_integers() {
    integers(&[
        ("setp.lt.s32 %p0, %r1, %r2;", |a, b, _| u64::from(signed(a) < signed(b))),
        ("setp.hi.u32 %p0, %r1, %r2;", |a, b, _| u64::from(a as u32 > b as u32)),
        ("setp.ge.s64 %p0, %rd1, %rd2;", |a, b, _| u64::from(a as i64 >= b as i64)),
        ("setp.ls.u64 %p0, %rd1, %rd2;", |a, b, _| u64::from(a <= b)),
        ("setp.eq.u32 %p1, %r3, 0; setp.lt.and.u32 %p0|%p2, %r1, %r2, !%p1;", |a, b, c| {
            u64::from((a as u32) < b as u32 && c as u32 != 0)
        }),
        ("setp.eq.u32 %p1, %r3, 0; setp.lt.or.u32 %p2|%p0, %r1, %r2, %p1;", |a, b, c| {
            u64::from(a as u32 >= b as u32 || c as u32 == 0)
        }),
        ("set.le.u32.s32 %r0, %r1, %r2;", |a, b, _| if signed(a) <= signed(b) { 0xFFFF_FFFF } else { 0 }),
        ("set.ne.f32.u32 %f0, %r1, %r2;", |a, b, _| if a as u32 == b as u32 { 0 } else { 0x3F80_0000 }),
        ("slct.b64.s32 %rd0, %rd1, %rd2, %r3;", |a, b, c| if signed(c) >= 0 { a } else { b }),
        ("cvt.s32.s8 %r0, %r1;", |a, _, _| word((a as i8).into())),
        ("cvt.u32.u8 %r0, %r1;", |a, _, _| a & 0xFF),
        ("cvt.s64.s16 %rd0, %h1;", |a, _, _| i64::from(a as i16) as u64),
        ("cvt.s64.s32 %rd0, %r1;", |a, _, _| i64::from(signed(a)) as u64),
        ("cvt.sat.u8.s32 %r0, %r1;", |a, _, _| u64::from(signed(a).clamp(0, 255) as u32)),
        ("cvt.sat.s16.s64 %h0, %rd1;", |a, _, _| (a as i64).clamp(-32768, 32767) as u64 & 0xFFFF),
        ("cvt.sat.s32.u32 %r0, %r1;", |a, _, _| u64::from((a as u32).min(i32::MAX as u32))),
        ("cvt.rn.f32.s32 %f0, %r1;", |a, _, _| u64::from((signed(a) as f32).to_bits())),
        ("cvt.rn.f32.u64 %f0, %rd1;", |a, _, _| u64::from((a as f32).to_bits())),
        ("cvt.rn.f64.s64 %d0, %rd1;", |a, _, _| (a as i64 as f64).to_bits()),
        ("mov.b64 {%r4, %r0}, %rd1;", |a, _, _| a >> 32),
        ("mov.b32 {%h4, %h0}, %r1;", |a, _, _| a >> 16 & 0xFFFF),
        ("mov.b32 %r0, {%h1, %h2};", |a, b, _| a & 0xFFFF | (b & 0xFFFF) << 16),
    ]);
}

pub(crate) const FLOATS: [u64; 16] = [
    0,
    0x8000_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0x0000_0001,
    0x8040_0000,
    0x0080_0000,
    0x4F00_0000,
    0xCF00_0000,
    0x3F00_0000,
    0x4020_0000,
    0x4B80_0001,
    0x7F7F_FFFF,
];

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn bits(value: f32) -> u64 {
    u64::from(value.to_bits())
}

/// The same bits, or a NaN each.
fn same_single(got: u64, wanted: u64) -> bool {
    got == wanted || single(got).is_nan() && single(wanted).is_nan()
}

fn flushed(value: f32) -> f32 {
    if value.is_subnormal() { 0f32.copysign(value) } else { value }
}

#[test]
fn floating_point_of_32_bits() {
    let cases: [(&str, Expected); 32] = [
        ("add.f32 %f0, %f1, %f2;", |a, b, _| bits(single(a) + single(b))),
        ("sub.rn.f32 %f0, %f1, %f2;", |a, b, _| bits(single(a) - single(b))),
        ("mul.f32 %f0, %f1, %f2;", |a, b, _| bits(single(a) * single(b))),
        ("fma.rn.f32 %f0, %f1, %f2, %f3;", |a, b, c| bits(single(a).mul_add(single(b), single(c)))),
        ("mul.rn.f32 %f4, %f1, %f2; add.rn.f32 %f0, %f4, %f3;", |a, b, c| {
            bits(single(a) * single(b) + single(c))
        }),
        ("mul.f32 %f4, %f1, %f2; add.f32 %f0, %f4, %f3;", |a, b, c| bits(single(a) * single(b) + single(c))),
        ("add.ftz.f32 %f0, %f1, %f2;", |a, b, _| bits(flushed(flushed(single(a)) + flushed(single(b))))),
        ("mul.ftz.sat.f32 %f0, %f1, %f2;", |a, b, _| {
            let product = flushed(flushed(single(a)) * flushed(single(b)));
            bits(if product.is_nan() { 0.0 } else { product.clamp(0.0, 1.0) + 0.0 })
        }),
        ("div.rn.f32 %f0, %f1, %f2;", |a, b, _| bits(single(a) / single(b))),
        ("rcp.rn.f32 %f0, %f1;", |a, _, _| bits(1.0 / single(a))),
        ("sqrt.rn.f32 %f0, %f1;", |a, _, _| bits(single(a).sqrt())),
        ("abs.f32 %f0, %f1;", |a, _, _| bits(single(a).abs())),
        ("neg.f32 %f0, %f1;", |a, _, _| bits(-single(a))),
        ("copysign.f32 %f0, %f1, %f2;", |a, b, _| bits(single(b).copysign(single(a)))),
        ("cvt.rni.f32.f32 %f0, %f1;", |a, _, _| bits(single(a).round_ties_even())),
        ("cvt.rmi.f32.f32 %f0, %f1;", |a, _, _| bits(single(a).floor())),
        ("cvt.rzi.s32.f32 %r0, %f1;", |a, _, _| word((single(a) as i32).into())),
        ("cvt.rni.s32.f32 %r0, %f1;", |a, _, _| word((single(a).round_ties_even() as i32).into())),
        ("cvt.rpi.u32.f32 %r0, %f1;", |a, _, _| u64::from(single(a).ceil() as u32)),
        ("cvt.rzi.u8.f32 %r0, %f1;", |a, _, _| u64::from(single(a) as u8)),
        ("cvt.rzi.s64.f32 %rd0, %f1;", |a, _, _| (single(a) as i64) as u64),
        ("cvt.f64.f32 %d4, %f1; cvt.rn.f32.f64 %f0, %d4;", |a, _, _| bits(single(a))),
        ("setp.lt.f32 %p0, %f1, %f2;", |a, b, _| u64::from(single(a) < single(b))),
        ("setp.ne.f32 %p0, %f1, %f2;", |a, b, _| u64::from(single(a) < single(b) || single(a) > single(b))),
        ("setp.neu.f32 %p0, %f1, %f2;", |a, b, _| u64::from(single(a) != single(b))),
        ("setp.equ.f32 %p0, %f1, %f2;", |a, b, _| {
            u64::from(!(single(a) < single(b) || single(a) > single(b)))
        }),
        ("setp.ltu.f32 %p0, %f1, %f2;", |a, b, _| {
            u64::from(single(a) < single(b) || single(a).is_nan() || single(b).is_nan())
        }),
        ("setp.nan.f32 %p0, %f1, %f2;", |a, b, _| u64::from(single(a).is_nan() || single(b).is_nan())),
        ("setp.ge.ftz.f32 %p0, %f1, %f2;", |a, b, _| u64::from(flushed(single(a)) >= flushed(single(b)))),
        ("testp.subnormal.f32 %p0, %f1;", |a, _, _| u64::from(single(a).is_subnormal())),
        ("testp.finite.f32 %p0, %f1;", |a, _, _| u64::from(single(a).is_finite())),
        ("testp.normal.f32 %p0, %f1;", |a, _, _| u64::from(single(a).is_normal())),
    ];
    for (code, expected) in cases {
        check(code, &FLOATS, same_single, expected);
    }
    check("min.f32 %f0, %f1, %f2;", &FLOATS, same_single, |a, b, _| bits(least(single(a), single(b))));
    check("max.NaN.f32 %f0, %f1, %f2;", &FLOATS, same_single, |a, b, _| {
        let (a, b) = (single(a), single(b));
        bits(if a.is_nan() || b.is_nan() { f32::NAN } else { -least(-a, -b) })
    });
}

/// The lesser number; -0 is below +0, and a NaN no number.
fn least(a: f32, b: f32) -> f32 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

const DOUBLES: [u64; 12] = [
    0,
    0x8000_0000_0000_0000,
    0x3FF0_0000_0000_0000,
    0xBFF0_0000_0000_0000,
    0x7FF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x0010_0000_0000_0000,
    0x41E0_0000_0000_0000,
    0x4004_0000_0000_0000,
    0x3FE0_0000_0000_0000,
    0x7FEF_FFFF_FFFF_FFFF,
];

fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

#[test]
fn floating_point_of_64_bits() {
    let cases: [(&str, Expected); 14] = [
        ("add.f64 %d0, %d1, %d2;", |a, b, _| (double(a) + double(b)).to_bits()),
        ("sub.f64 %d0, %d1, %d2;", |a, b, _| (double(a) - double(b)).to_bits()),
        ("mul.f64 %d0, %d1, %d2;", |a, b, _| (double(a) * double(b)).to_bits()),
        ("fma.rn.f64 %d0, %d1, %d2, %d3;", |a, b, c| double(a).mul_add(double(b), double(c)).to_bits()),
        ("div.rn.f64 %d0, %d1, %d2;", |a, b, _| (double(a) / double(b)).to_bits()),
        ("sqrt.rn.f64 %d0, %d1;", |a, _, _| double(a).sqrt().to_bits()),
        ("rcp.rn.f64 %d0, %d1;", |a, _, _| (1.0 / double(a)).to_bits()),
        ("neg.f64 %d0, %d1;", |a, _, _| (-double(a)).to_bits()),
        ("cvt.rzi.s32.f64 %r0, %d1;", |a, _, _| word((double(a) as i32).into())),
        ("cvt.rmi.f64.f64 %d0, %d1;", |a, _, _| double(a).floor().to_bits()),
        ("cvt.rzi.u64.f64 %rd0, %d1;", |a, _, _| double(a) as u64),
        ("setp.gtu.f64 %p0, %d1, %d2;", |a, b, _| {
            u64::from(double(a) > double(b) || double(a).is_nan() || double(b).is_nan())
        }),
        ("selp.f64 %d0, %d1, %d2, %p1;", |_, b, _| b),
        ("cvt.rn.f32.f64 %f4, %d1; cvt.f64.f32 %d0, %f4;", |a, _, _| f64::from(double(a) as f32).to_bits()),
    ];
    for (code, expected) in cases {
        let same = |got: u64, wanted: u64| got == wanted || double(got).is_nan() && double(wanted).is_nan();
        check(code, &DOUBLES, same, expected);
    }
}

#[test]
fn functions_are_close_to_those_of_the_host() {
    type Case = (&'static str, fn(f64) -> f64, f64);
    let cases: [Case; 7] = [
        ("ex2.approx.f32 %f0, %f4;", f64::exp2, 3e-7),
        ("sin.approx.f32 %f0, %f4;", f64::sin, 3e-7),
        ("cos.approx.ftz.f32 %f0, %f4;", f64::cos, 3e-7),
        ("tanh.approx.f32 %f0, %f4;", f64::tanh, 5e-7),
        ("abs.f32 %f4, %f4; lg2.approx.f32 %f0, %f4;", |x| x.abs().log2(), 3e-7),
        ("abs.f32 %f4, %f4; rsqrt.approx.f32 %f0, %f4;", |x| 1.0 / x.abs().sqrt(), 2e-7),
        ("div.full.f32 %f0, 0f40400000, %f4;", |x| 3.0 / x, 2e-7),
    ];
    for (code, function, bound) in cases {
        // The number of the thread, scaled: from -3.15 to 3.15.
        let code = format!(
            "cvt.rn.f32.u32 %f4, %r9; sub.f32 %f4, %f4, 0f41FC0000; mul.f32 %f4, %f4, 0f3DCCCCCD; {code}"
        );
        let launch =
            Run { kernel: "k", grid: 1, threads: THREADS as u32, dynamic: 0, arguments: vec![BUFFERS, 0] };
        let after =
            run(&kernel(&code), &launch, &vec![0; 32 * THREADS]).unwrap_or_else(|error| panic!("{error}"));
        for (thread, record) in after.chunks_exact(32).enumerate() {
            let got = f64::from(single(u64::from_le_bytes(record[24..].try_into().expect("8 bytes"))));
            let x = f64::from((thread as f32 - 31.5) * 0.1f32);
            let wanted = function(x);
            let off = (got - wanted).abs();
            assert!(off <= bound * wanted.abs().max(0.02), "{code}\nx = {x}: {got}, expected {wanted}");
        }
    }
}
