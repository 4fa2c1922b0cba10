//! Numbers of the types of PTX: reading, cutting, rounding, and functions of bits.

use half::{bf16, f16};

/// The bits of a word.
pub(super) const WORD: u64 = 0xFFFF_FFFF;

/// A type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    pub name: &'static str,
    pub bits: u32,
    pub is_signed: bool,
    pub is_float: bool,
}

const TYPES: [(&str, u32); 19] = [
    ("b8", 8),
    ("b16", 16),
    ("b32", 32),
    ("b64", 64),
    ("u8", 8),
    ("u16", 16),
    ("u32", 32),
    ("u64", 64),
    ("s8", 8),
    ("s16", 16),
    ("s32", 32),
    ("s64", 64),
    ("f16", 16),
    ("bf16", 16),
    ("f32", 32),
    ("f64", 64),
    ("f16x2", 32),
    ("bf16x2", 32),
    ("pred", 1),
];

impl Number {
    /// The type with this name.
    pub(super) fn named(name: &str) -> Option<Number> {
        let &(name, bits) = TYPES.iter().find(|(known, _)| *known == name)?;
        let is_float = name.starts_with('f') || name.starts_with("bf");
        Some(Number { name, bits, is_signed: name.starts_with('s'), is_float })
    }

    /// The low bits.
    pub(super) fn mask(self, value: u64) -> u64 {
        value & (u64::MAX >> (64 - self.bits))
    }

    /// The number that the low bits are.
    pub(super) fn read(self, value: u64) -> i128 {
        let value = i128::from(self.mask(value));
        let is_negative = self.is_signed && value >> (self.bits - 1) & 1 == 1;
        if is_negative { value - (1 << self.bits) } else { value }
    }

    /// The low bits of a number.
    pub(super) fn cut(self, value: i128) -> u64 {
        self.mask(value as u64)
    }

    /// The nearest number of the type.
    pub(super) fn clamp(self, value: i128) -> i128 {
        if self.is_signed {
            value.clamp(-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1)
        } else {
            value.clamp(0, (1 << self.bits) - 1)
        }
    }

    /// The bit of the sign of a float.
    pub(super) fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    /// Bits of the fraction of a float, and of its exponent with it.
    fn fraction_and_exponent(self) -> (u64, u64) {
        let fraction = match self.name {
            "f16" => 10,
            "bf16" => 7,
            "f32" => 23,
            _ => 52,
        };
        ((1 << fraction) - 1, self.sign() - 1)
    }
}

/// The bits of a float; a subnormal number as a zero of its sign, if that is asked for.
pub(super) fn flushed(ty: Number, value: u64, flushes: bool) -> u64 {
    let value = ty.mask(value);
    let (fraction, magnitude) = ty.fraction_and_exponent();
    if flushes && value & magnitude & !fraction == 0 { value & ty.sign() } else { value }
}

/// A float.
pub(super) fn take(ty: Number, value: u64, flushes: bool) -> f64 {
    let value = flushed(ty, value, flushes);
    match ty.name {
        "f16" => f16::from_bits(value as u16).to_f64(),
        "bf16" => bf16::from_bits(value as u16).to_f64(),
        "f32" => f64::from(f32::from_bits(value as u32)),
        _ => f64::from_bits(value),
    }
}

/// The bits of a result that the type has. A NaN is one that WAVE does not give.
pub(super) fn finish(ty: Number, value: f64, flushes: bool, is_saturated: bool) -> u64 {
    let value = match is_saturated {
        true if value.is_nan() => 0.0,
        // A negative zero becomes a positive one.
        true if value <= 0.0 => 0.0,
        true => value.min(1.0),
        false => value,
    };
    let bits = match ty.name {
        _ if value.is_nan() => return ty.sign() - 1,
        "f16" => u64::from(f16::from_f64(value).to_bits()),
        "bf16" => u64::from(bf16::from_f64(value).to_bits()),
        "f32" => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    };
    flushed(ty, bits, flushes)
}

/// A number of f64 as one that the type has.
pub(super) fn narrow(ty: Number, value: f64) -> f64 {
    match ty.name {
        "f16" => f16::from_f64(value).to_f64(),
        "f32" => f64::from(value as f32),
        _ => value,
    }
}

/// A product and a sum, rounded once.
pub(super) fn fused(ty: Number, a: f64, b: f64, c: f64) -> f64 {
    match ty.name {
        "f32" => f64::from((a as f32).mul_add(b as f32, c as f32)),
        "f16" if a.is_finite() && b.is_finite() && c.is_finite() => {
            // Multiples of 2^-48, all of them: the sum is exact. Then a number of f64 whose last bit says if more follow.
            let scaled = |x: f64, by: i32| (x * 2f64.powi(by)) as i128;
            let exact = scaled(a, 24) * scaled(b, 24) + scaled(c, 48);
            if exact == 0 {
                return narrow(ty, a * b + c);
            }
            let drop = (128 - exact.unsigned_abs().leading_zeros()).saturating_sub(50);
            let lost = exact.unsigned_abs() & ((1 << drop) - 1) != 0;
            let kept = (exact.unsigned_abs() >> drop | u128::from(lost)) as f64 * 2f64.powi(drop as i32 - 48);
            narrow(ty, if exact < 0 { -kept } else { kept })
        }
        "f16" => narrow(ty, a * b + c),
        _ => a.mul_add(b, c),
    }
}

/// Minimum or maximum: a number before a NaN, unless NaNs are kept; -0 before +0.
pub(super) fn extreme(a: f64, b: f64, is_max: bool, keeps_nan: bool) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) | (_, true) if keeps_nan => f64::NAN,
        (true, _) => b,
        (_, true) => a,
        _ if (a.total_cmp(&b) == std::cmp::Ordering::Less) == is_max => b,
        _ => a,
    }
}

/// An integral number.
pub(super) fn rounded(value: f64, rounding: Option<&str>) -> f64 {
    match rounding {
        Some("rni") => value.round_ties_even(),
        Some("rzi") => value.trunc(),
        Some("rmi") => value.floor(),
        Some("rpi") => value.ceil(),
        _ => value,
    }
}

/// A property of a float.
pub(super) fn has(ty: Number, value: u64, property: &str) -> bool {
    let (fraction, magnitude) = ty.fraction_and_exponent();
    let value = value & magnitude;
    let exponents = magnitude & !fraction;
    match property {
        "finite" => value & exponents != exponents,
        "infinite" => value == exponents,
        "number" => value <= exponents,
        "notanumber" => value > exponents,
        "normal" => value & exponents != exponents && value & exponents != 0,
        _ => value & exponents == 0 && value != 0,
    }
}

/// The amount of a shift.
pub(super) fn amount(value: u64) -> u32 {
    value as u32
}

/// Sums of products of four bytes, or of two halves with the two upper or lower bytes.
pub(super) fn dot(a: u64, b: u64, c: u64, of_a: Number, of_b: Number, upper: Option<bool>) -> u64 {
    let byte = |of: Number| Number { bits: 8, ..of };
    let mut sum = i128::from(c & WORD);
    match upper {
        None => {
            for at in [0, 8, 16, 24] {
                sum += byte(of_a).read(a >> at) * byte(of_b).read(b >> at);
            }
        }
        Some(upper) => {
            let start = if upper { 16 } else { 0 };
            for at in [0, 1] {
                let half = Number { bits: 16, ..of_a };
                sum += half.read(a >> (16 * at)) * byte(of_b).read(b >> (start + 8 * at));
            }
        }
    }
    sum as u64 & WORD
}

/// Each bit by a table with eight.
pub(super) fn lookup(a: u64, b: u64, c: u64, table: u64) -> u64 {
    (0..32).fold(0, |all, bit| {
        let index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1;
        all | (table >> index & 1) << bit
    })
}

/// Four of eight bytes.
pub(super) fn permute(a: u64, b: u64, selector: u64, mode: Option<&str>) -> u64 {
    let both = (b & WORD) << 32 | a & WORD;
    let byte = |number: u64| both >> (8 * (number & 7)) & 0xFF;
    let low = selector & 3;
    (0..4).fold(0, |all, place| {
        let value = match mode {
            None => {
                let nibble = selector >> (4 * place) & 15;
                let value = byte(nibble);
                match nibble & 8 {
                    0 => value,
                    _ if value & 0x80 != 0 => 0xFF,
                    _ => 0,
                }
            }
            Some("f4e") => byte(low + place),
            Some("b4e") => byte(low.wrapping_sub(place)),
            Some("rc8") => byte(low),
            Some("ecl") => byte(low.max(place)),
            Some("ecr") => byte(low.min(place)),
            _ => byte((selector & 1) * 2 + (place & 1)),
        };
        all | value << (8 * place)
    })
}

/// A field of bits.
pub(super) fn extract(ty: Number, a: u64, start: u64, length: u64) -> u64 {
    let (start, length) = (start & 0xFF, length & 0xFF);
    let last = u64::from(ty.bits) - 1;
    let sign_at = (start + length).wrapping_sub(1).min(last);
    let sign = ty.is_signed && length > 0 && a >> sign_at & 1 == 1;
    (0..=last).fold(0, |all, bit| {
        let from = start + bit;
        let is_set = if bit < length && from <= last { a >> from & 1 == 1 } else { sign };
        all | u64::from(is_set) << bit
    })
}

/// The bits of one number with a field of another.
pub(super) fn insert(ty: Number, field: u64, into: u64, start: u64, length: u64) -> u64 {
    let (start, length) = (start & 0xFF, length & 0xFF);
    (0..u64::from(ty.bits)).fold(0, |all, bit| {
        let is_inside = bit >= start && bit - start < length;
        let from = if is_inside { field >> (bit - start) } else { into >> bit };
        all | (from & 1) << bit
    })
}

/// The place of the first bit that differs from the sign, from above.
pub(super) fn find(ty: Number, a: u64, gives_shift: bool) -> u64 {
    let value = ty.read(a);
    let value = if value < 0 { ty.mask(!a) } else { ty.mask(a) };
    match value.checked_ilog2() {
        None => WORD,
        Some(place) if gives_shift => u64::from(ty.bits - 1 - place),
        Some(place) => place.into(),
    }
}
