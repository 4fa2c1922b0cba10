//! The 24-bit format, with exact numbers of as many bits as they need.
//!
//! Numbers come and go as the bits of the `f32` that is equal to them. Between, a number is a sign, a row of bits and
//! an exponent; no operation on floats is used.

/// The canonical NaN.
pub(super) const NAN: u32 = 0x7FC0_0000;
const INFINITY: u32 = 0x7F80_0000;
const SIGN: u32 = 0x8000_0000;

/// A number that is not a NaN and not infinite: the sum of `bits[i]` × 2^(i + `exponent`), with a sign.
#[derive(Debug, Clone)]
struct Exact {
    negative: bool,
    bits: Vec<bool>,
    exponent: i32,
}

/// What the bits of an `f32` stand for.
enum Kind {
    Nan,
    Infinite { negative: bool },
    Finite(Exact),
}

fn kind(bits: u32) -> Kind {
    let negative = bits & SIGN != 0;
    let (field, fraction) = (bits >> 23 & 0xFF, bits & 0x7F_FFFF);
    match (field, fraction) {
        (0xFF, 0) => Kind::Infinite { negative },
        (0xFF, _) => Kind::Nan,
        (0, _) => Kind::Finite(Exact::new(negative, fraction.into(), -149)),
        _ => Kind::Finite(Exact::new(negative, u128::from(fraction | 0x80_0000), field as i32 - 150)),
    }
}

fn infinity(negative: bool) -> u32 {
    INFINITY | if negative { SIGN } else { 0 }
}

fn zero(negative: bool) -> u32 {
    if negative { SIGN } else { 0 }
}

impl Exact {
    fn new(negative: bool, mut magnitude: u128, exponent: i32) -> Exact {
        let mut bits = Vec::new();
        while magnitude != 0 {
            bits.push(magnitude & 1 != 0);
            magnitude >>= 1;
        }
        Exact { negative, bits, exponent }
    }

    fn is_zero(&self) -> bool {
        !self.bits.contains(&true)
    }

    /// The whole magnitude, if `exponent` is left out. It must have fewer than 128 bits.
    fn magnitude(&self) -> u128 {
        self.bits.iter().rev().fold(0, |value, &bit| value << 1 | u128::from(bit))
    }

    /// The bit that weighs 2^`weight`.
    fn bit(&self, weight: i32) -> bool {
        usize::try_from(weight - self.exponent)
            .ok()
            .and_then(|place| self.bits.get(place))
            .copied()
            .unwrap_or(false)
    }

    /// One behind the weights of the bits.
    fn end(&self) -> i32 {
        self.exponent + self.bits.len() as i32
    }

    fn is_at_least(&self, other: &Exact) -> bool {
        let (first, end) = (self.exponent.min(other.exponent), self.end().max(other.end()));
        for weight in (first..end).rev() {
            if self.bit(weight) != other.bit(weight) {
                return self.bit(weight);
            }
        }
        true
    }

    /// Rounds once: to the nearest number of the format, of two the even one; 0 below the least normal one, infinity
    /// past the greatest.
    fn round(&self) -> u32 {
        let Some(top) = (self.exponent..self.end()).rev().find(|&weight| self.bit(weight)) else {
            return zero(self.negative);
        };
        // 17 bits stay: of the weights top - 16 to top.
        let last = top - 16;
        let mut kept: u32 = 0;
        for weight in (last..=top).rev() {
            kept = kept << 1 | u32::from(self.bit(weight));
        }
        let half = self.bit(last - 1);
        let below = (self.exponent..last - 1).any(|weight| self.bit(weight));
        let mut top = top;
        if half && (below || kept & 1 != 0) {
            kept += 1;
            if kept == 1 << 17 {
                (kept, top) = (1 << 16, top + 1);
            }
        }
        match top {
            ..-62 => zero(self.negative),
            64.. => infinity(self.negative),
            _ => zero(self.negative) | ((top + 127) as u32) << 23 | (kept & 0xFFFF) << 7,
        }
    }
}

/// The number of the format that is nearest to an `f32`.
pub(super) fn of_f32(bits: u32) -> u32 {
    match kind(bits) {
        Kind::Nan => NAN,
        Kind::Infinite { negative } => infinity(negative),
        Kind::Finite(exact) => exact.round(),
    }
}

pub(super) fn negate(a: u32) -> u32 {
    match kind(a) {
        Kind::Nan => NAN,
        _ => a ^ SIGN,
    }
}

pub(super) fn mul(a: u32, b: u32) -> u32 {
    let (a, b) = match (kind(a), kind(b)) {
        (Kind::Nan, _) | (_, Kind::Nan) => return NAN,
        (Kind::Infinite { negative: a }, Kind::Infinite { negative: b }) => return infinity(a != b),
        (Kind::Infinite { negative }, Kind::Finite(other))
        | (Kind::Finite(other), Kind::Infinite { negative }) => {
            return if other.is_zero() { zero(false) } else { infinity(negative != other.negative) };
        }
        (Kind::Finite(a), Kind::Finite(b)) => (a, b),
    };
    Exact::new(a.negative != b.negative, a.magnitude() * b.magnitude(), a.exponent + b.exponent).round()
}

pub(super) fn add(a: u32, b: u32) -> u32 {
    let (a, b) = match (kind(a), kind(b)) {
        (Kind::Nan, _) | (_, Kind::Nan) => return NAN,
        (Kind::Infinite { negative: a }, Kind::Infinite { negative: b }) => {
            return if a == b { infinity(a) } else { NAN };
        }
        (Kind::Infinite { negative }, _) | (_, Kind::Infinite { negative }) => return infinity(negative),
        (Kind::Finite(a), Kind::Finite(b)) => (a, b),
    };
    let (large, small) = if a.is_at_least(&b) { (a, b) } else { (b, a) };
    let subtracts = large.negative != small.negative;
    let first = large.exponent.min(small.exponent);
    let mut bits = Vec::new();
    let mut carry = false;
    for weight in first..=large.end().max(small.end()) {
        let (x, y) = (large.bit(weight), small.bit(weight));
        bits.push(x ^ y ^ carry);
        carry = match subtracts {
            false => u8::from(x) + u8::from(y) + u8::from(carry) > 1,
            true => u8::from(x) < u8::from(y) + u8::from(carry),
        };
    }
    let mut sum = Exact { negative: large.negative, bits, exponent: first };
    if sum.is_zero() {
        // Only two zeros below 0 have one for a sum.
        sum.negative = large.negative && small.negative;
    }
    sum.round()
}

pub(super) fn reciprocal(a: u32) -> u32 {
    match kind(a) {
        Kind::Nan => NAN,
        Kind::Infinite { negative } => zero(negative),
        Kind::Finite(a) if a.is_zero() => infinity(a.negative),
        Kind::Finite(a) => {
            // The quotient has more than 60 bits, and a last one that says whether there are more behind them.
            let one = 1u128 << 100;
            let quotient = one / a.magnitude();
            let more = u128::from(!one.is_multiple_of(a.magnitude()));
            Exact::new(a.negative, quotient << 1 | more, -100 - a.exponent - 1).round()
        }
    }
}

/// The square root, rounded.
pub(super) fn root(a: u32) -> u32 {
    match kind(a) {
        Kind::Nan => NAN,
        Kind::Finite(a) if a.is_zero() => zero(a.negative),
        Kind::Infinite { negative: true } => NAN,
        Kind::Finite(a) if a.negative => NAN,
        Kind::Infinite { .. } => INFINITY,
        Kind::Finite(a) => {
            let odd = a.exponent.rem_euclid(2);
            let square = a.magnitude() << (80 + odd);
            let mut root: u128 = 0;
            for place in (0..64).rev() {
                let larger = root | 1 << place;
                if larger * larger <= square {
                    root = larger;
                }
            }
            let more = u128::from(root * root != square);
            Exact::new(false, root << 1 | more, (a.exponent - odd - 80) / 2 - 1).round()
        }
    }
}

/// The greatest whole number that is no greater.
pub(super) fn floor(a: u32) -> u32 {
    let exact = match kind(a) {
        Kind::Nan => return NAN,
        Kind::Infinite { .. } => return a,
        Kind::Finite(exact) => exact,
    };
    let whole: Vec<bool> = (0..exact.end().max(0)).map(|weight| exact.bit(weight)).collect();
    let whole = Exact { negative: exact.negative, bits: whole, exponent: 0 };
    let has_fraction = (exact.exponent..exact.end().min(0)).any(|weight| exact.bit(weight));
    let whole = whole.round();
    if exact.negative && has_fraction { add(whole, 0xBF80_0000) } else { whole }
}

/// Truncated to an integer of 32 bits with a sign, the nearest there is; 0 for a NaN.
pub(super) fn truncate(a: u32) -> i32 {
    let exact = match kind(a) {
        Kind::Nan => return 0,
        Kind::Infinite { negative } => return if negative { i32::MIN } else { i32::MAX },
        Kind::Finite(exact) => exact,
    };
    let magnitude =
        (0..exact.end().max(0)).rev().fold(0u128, |value, weight| value << 1 | u128::from(exact.bit(weight)));
    let magnitude = magnitude.min(1 << 40) as i128;
    let value = if exact.negative { -magnitude } else { magnitude };
    value.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// How two numbers compare; `None` if one is a NaN. Both zeros are equal.
pub(super) fn compare(a: u32, b: u32) -> Option<std::cmp::Ordering> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if matches!(kind(a), Kind::Nan) || matches!(kind(b), Kind::Nan) {
        return None;
    }
    // The magnitudes are in the order of their bits.
    let key = |bits: u32| if bits & SIGN != 0 { -i64::from(bits & !SIGN) } else { i64::from(bits) };
    Some(match key(a) - key(b) {
        ..0 => Less,
        0 => Equal,
        _ => Greater,
    })
}
