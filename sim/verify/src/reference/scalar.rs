//! Results that one lane computes from its own registers: sections "Integer", "Floating point" and "Compare,
//! select, convert" of section 4, and the moves.

use super::decode::Decoded;
use super::float::{
    bf16_bits, bf16_value, f16_bits, f16_value, f32_result, f64_result, fraction, maximum_number,
    minimum_number, saturate,
};
use super::wave::Lane;
use wave_machine::alu::sfu;

/// What an instruction writes to rd.
pub(super) enum Value {
    Word(u32),
    Pair(u64),
    Predicate(bool),
}
use Value::{Pair, Predicate, Word};

/// The result of one lane; `None` if the operation involves other lanes. `special` reads a special register.
pub(super) fn compute(i: &Decoded, lane: &Lane, special: impl Fn(u8) -> u32) -> Option<Value> {
    let r = |n: u8| lane.registers[usize::from(n)];
    // The decoder has checked the registers that the operation uses. Others read as 0.
    let r_or_0 = |n: u8| lane.registers.get(usize::from(n)).copied().unwrap_or(0);
    let (a, b, c, e) = (r_or_0(i.rs1), r_or_0(i.rs2), r_or_0(i.rs3), r_or_0(i.rs4));
    let (sa, sb, sc) = (a as i32, b as i32, c as i32);
    let f = f32::from_bits;
    let (fa, fb, fc) = (f(a), f(b), f(c));
    let pair = |n: u8| f64::from_bits(u64::from(r(n)) | u64::from(r(n + 1)) << 32);
    let float = |value: f32| Word(f32_result(value));
    let double = |value: f64| Pair(f64_result(value));

    Some(match i.key() {
        // Integer
        (0x00, _) => Word(a.wrapping_add(b)),
        (0x01, _) => Word(a.wrapping_sub(b)),
        (0x02, _) => Word(a.wrapping_mul(b)),
        (0x03, _) => Word(((u64::from(a) * u64::from(b)) >> 32) as u32),
        (0x04, _) => Word(a.wrapping_mul(b).wrapping_add(c)),
        (0x05, _) => Word(if b == 0 { 0 } else { sa.wrapping_div(sb) as u32 }),
        (0x06, _) => Word(if b == 0 { 0 } else { sa.wrapping_rem(sb) as u32 }),
        (0x07, _) => Word(0u32.wrapping_sub(a)),
        (0x08, _) => Word(sa.unsigned_abs()),
        (0x09, _) => Word(sa.min(sb) as u32),
        (0x0A, _) => Word(sa.max(sb) as u32),
        (0x0B, _) => Word(sa.max(sb).min(sc) as u32),
        (0x0C, _) => Word(a.min(b)),
        (0x0D, _) => Word(a.max(b)),

        // f32
        (0x10, _) => float(fa + fb),
        (0x11, _) => float(fa - fb),
        (0x12, _) => float(fa * fb),
        (0x13, _) => float(fa.mul_add(fb, fc)),
        (0x14, _) => float(fa / fb),
        (0x15, _) => Word(a ^ 0x8000_0000),
        (0x16, _) => Word(a & 0x7FFF_FFFF),
        (0x17, _) => float(minimum_number(fa, fb)),
        (0x18, _) => float(maximum_number(fa, fb)),
        (0x19, _) => float(minimum_number(maximum_number(fa, fb), fc)),
        (0x1A, _) => float(fa.sqrt()),
        (0x1B, 0) => float(1.0 / fa.sqrt()),
        (0x1B, 1) => float(1.0 / fa),
        (0x1B, 2) => float(fa.floor()),
        (0x1B, 3) => float(fa.ceil()),
        (0x1B, 4) => float(fa.round_ties_even()),
        (0x1B, 5) => float(fa.trunc()),
        (0x1B, 6) => float(fraction(fa)),
        (0x1B, 7) => float(saturate(fa)),
        (0x1B, 8) => Word(sfu::fsin(a)),
        (0x1B, 9) => Word(sfu::fcos(a)),
        (0x1B, 10) => Word(sfu::fexp2(a)),
        (0x1B, 11) => Word(sfu::flog2(a)),

        // f16 and bf16: the low half, or both
        (0x1C, m) => Word(u32::from(half_operation(m, a, b, c))),
        (0x1D, m) => Word(both_halves(a, b, c, |a, b, c| half_operation([0, 2, 3][usize::from(m)], a, b, c))),
        (0x2D, m) => Word(u32::from(bfloat_operation(m, a, b, c))),
        (0x2E, m) => {
            Word(both_halves(a, b, c, |a, b, c| bfloat_operation([0, 2, 3][usize::from(m)], a, b, c)))
        }

        // f64 on pairs
        (0x1E, 0) => double(pair(i.rs1) + pair(i.rs2)),
        (0x1E, 1) => double(pair(i.rs1) - pair(i.rs2)),
        (0x1E, 2) => double(pair(i.rs1) * pair(i.rs2)),
        (0x1E, 3) => double(pair(i.rs1).mul_add(pair(i.rs2), pair(i.rs3))),
        (0x1F, 0) => double(pair(i.rs1) / pair(i.rs2)),
        (0x1F, 1) => double(pair(i.rs1).sqrt()),

        // Bits
        (0x20, _) => Word(a & b),
        (0x21, _) => Word(a | b),
        (0x22, _) => Word(a ^ b),
        (0x23, _) => Word(!a),
        (0x24, _) => Word(a << (b & 31)),
        (0x25, _) => Word(a >> (b & 31)),
        (0x26, _) => Word((sa >> (b & 31)) as u32),
        (0x27, 0) => Word(a.count_ones()),
        (0x27, 1) => Word(if a == 0 { u32::MAX } else { a.leading_zeros() }),
        (0x27, 2) => Word(a.reverse_bits()),
        (0x27, 3) => Word(extract(a, b & 31, c & 31)),
        (0x27, 4) => Word(insert(a, b, c & 31, e & 31)),

        // Compare and select
        (0x28, m) => Predicate([sa == sb, sa != sb, sa < sb, sa <= sb, sa > sb, sa >= sb][usize::from(m)]),
        (0x29, m) => Predicate([a == b, a != b, a < b, a <= b, a > b, a >= b][usize::from(m)]),
        (0x2A, 6) => Predicate(!fa.is_nan() && !fb.is_nan()),
        (0x2A, 7) => Predicate(fa.is_nan() || fb.is_nan()),
        (0x2A, m) => Predicate([fa == fb, fa != fb, fa < fb, fa <= fb, fa > fb, fa >= fb][usize::from(m)]),
        (0x2B, _) => Word(if lane.predicates[usize::from(i.rs1)] { b } else { c }),

        // Convert
        (0x2C, 0) => float(sa as f32),
        (0x2C, 1) => float(a as f32),
        (0x2C, 2) => Word(fa as i32 as u32),
        (0x2C, 3) => Word(fa as u32),
        (0x2C, 4) => float(f16_value(a as u16)),
        (0x2C, 5) => Word(u32::from(f16_bits(fa))),
        (0x2C, 6) => float(pair(i.rs1) as f32),
        (0x2C, 7) => double(f64::from(fa)),
        (0x2C, 8) => float(bf16_value(a as u16)),
        (0x2C, 9) => Word(u32::from(bf16_bits(fa))),

        // Moves
        (0x41, 0) => Word(a),
        (0x41, 1) => Word(i.word1),
        (0x41, 2) => Word(special(i.rs1)),
        _ => return None,
    })
}

/// hadd, hsub, hmul, hma (0 to 3) on the low halves.
fn half_operation(operation: u8, a: u32, b: u32, c: u32) -> u16 {
    let value = |word: u32| f16_value(word as u16);
    f16_bits(arithmetic(operation, value(a), value(b), value(c)))
}

/// badd, bsub, bmul, bma (0 to 3) on the low halves.
fn bfloat_operation(operation: u8, a: u32, b: u32, c: u32) -> u16 {
    let value = |word: u32| bf16_value(word as u16);
    bf16_bits(arithmetic(operation, value(a), value(b), value(c)))
}

fn arithmetic(operation: u8, a: f32, b: f32, c: f32) -> f32 {
    match operation {
        0 => a + b,
        1 => a - b,
        2 => a * b,
        _ => a.mul_add(b, c),
    }
}

fn both_halves(a: u32, b: u32, c: u32, operation: impl Fn(u32, u32, u32) -> u16) -> u32 {
    let low = operation(a, b, c);
    let high = operation(a >> 16, b >> 16, c >> 16);
    u32::from(low) | u32::from(high) << 16
}

fn extract(a: u32, position: u32, width: u32) -> u32 {
    (a >> position) & ((1 << width) - 1)
}

fn insert(a: u32, b: u32, position: u32, width: u32) -> u32 {
    let mut result = a;
    for bit in 0..width {
        // Bits above 31 are dropped.
        if position + bit < 32 {
            let mask = 1 << (position + bit);
            result = if b >> bit & 1 == 1 { result | mask } else { result & !mask };
        }
    }
    result
}
