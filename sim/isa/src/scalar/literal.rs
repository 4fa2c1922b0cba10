//! Numbers as users write them.

use super::{ScalarType, decimal, rounding};
use std::fmt;
use std::str::FromStr;

/// A number as a user writes it: `5`, `-0x10`, `0b1010`, `-1.5e300`, `0x1.8p-3`, `inf`, `nan`, `hex:7fc00001`.
#[derive(Debug, Clone, PartialEq)]
pub struct Literal {
    /// As it was written, for messages.
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// An integer that has no fraction in its text. `None` if it does not fit; then a decimal one may be a float.
    Integer(Option<i128>),
    /// A number with a point or an exponent, or one of too many digits. Its text is one that Rust reads.
    Decimal,
    /// `significand * 2^exponent`; `sticky` if it is a little larger.
    Hexadecimal {
        significand: u128,
        sticky: bool,
        exponent: i64,
    },
    /// A number that is known already.
    Known(f64),
    Infinity,
    Nan,
    /// Bits of any type.
    Bits {
        bits: u64,
        digits: usize,
    },
}

/// The prefix of a literal that gives bits.
const BITS_PREFIX: &str = "hex:";

impl Literal {
    /// An integer.
    pub fn integer(value: i128) -> Literal {
        Literal { text: value.to_string(), kind: Kind::Integer(Some(value)) }
    }

    /// A floating-point number.
    pub fn float(value: f64) -> Literal {
        Literal { text: format!("{value:?}"), kind: Kind::Known(value) }
    }

    /// True for an integer without a point or an exponent.
    pub fn is_integer(&self) -> bool {
        matches!(self.kind, Kind::Integer(_))
    }

    /// The integer, if it is one of 128 bits.
    pub fn as_integer(&self) -> Option<i128> {
        match self.kind {
            Kind::Integer(value) => value,
            _ => None,
        }
    }

    /// For a literal that gives bits: whether they are those of a 64-bit type, by its digits.
    pub fn wide_bits(&self) -> Option<bool> {
        match self.kind {
            Kind::Bits { bits, digits } => Some(digits > 8 || bits > u64::from(u32::MAX)),
            _ => None,
        }
    }

    /// Its bits as a number of a type, in the low end. A float is rounded once, to nearest even.
    ///
    /// # Errors
    /// A sentence with the range of the type, if that has no such number.
    pub fn bits(&self, ty: ScalarType) -> Result<u64, String> {
        if let Kind::Bits { bits, .. } = self.kind {
            let most = 8 * ty.bytes();
            return if most == 64 || bits >> most == 0 {
                Ok(bits)
            } else {
                Err(format!("`{self}` has more than the {most} bits of {ty}"))
            };
        }
        match ty.format() {
            None => self.integer_bits(ty),
            Some(format) => self.float_bits(ty, format),
        }
    }

    fn integer_bits(&self, ty: ScalarType) -> Result<u64, String> {
        let Kind::Integer(value) = self.kind else {
            return Err(format!("`{self}` is no integer, and {ty} is a type of integers"));
        };
        let fits = value.and_then(|value| ty.integer_bits(value));
        fits.ok_or_else(|| format!("`{self}` does not fit {ty}: {}", ty.range()))
    }

    fn float_bits(&self, ty: ScalarType, format: rounding::Format) -> Result<u64, String> {
        let negative = self.text.starts_with('-');
        let plain = || plain(&self.text);
        let rounded = match self.kind {
            Kind::Nan => return Ok(format.nan()),
            Kind::Infinity => return Ok(format.signed(negative, format.infinity())),
            Kind::Known(value) => {
                let bits = ty.float_bits(value);
                let is_too_large = value.is_finite() && ty.to_f64(bits).is_infinite();
                (!is_too_large).then_some(bits)
            }
            Kind::Hexadecimal { significand, sticky, exponent } => {
                format.round(negative, significand, sticky, exponent)
            }
            // Zero as an integer may have a sign, and few integers have more bits than this.
            Kind::Integer(Some(value)) if value.unsigned_abs() < 1 << 126 => {
                format.round(negative, value.unsigned_abs(), false, 0)
            }
            Kind::Integer(_) if !plain().bytes().all(|c| c.is_ascii_digit() || b"+-".contains(&c)) => None,
            Kind::Integer(_) | Kind::Decimal => round_decimal(&plain(), ty, format),
            Kind::Bits { .. } => unreachable!("bits are no number"),
        };
        rounded.ok_or_else(|| format!("`{self}` is too large for {ty}: {}", ty.range()))
    }
}

/// A decimal number, rounded once.
fn round_decimal(plain: &str, ty: ScalarType, format: rounding::Format) -> Option<u64> {
    let negative = plain.starts_with('-');
    match ty {
        ScalarType::F64 => Some(plain.parse::<f64>().ok()?).filter(|v| v.is_finite()).map(f64::to_bits),
        ScalarType::F32 => {
            Some(plain.parse::<f32>().ok()?).filter(|v| v.is_finite()).map(|v| v.to_bits().into())
        }
        _ => {
            let value = plain.parse::<f64>().ok().filter(|value| value.is_finite())?;
            if value == 0.0 {
                return Some(format.signed(negative, 0));
            }
            // The nearest f64 may lie where two numbers of the type meet, and the text beside it.
            let (significand, exponent) = rounding::parts(value);
            match decimal::compare(plain, value) {
                std::cmp::Ordering::Equal => format.round(negative, significand, false, exponent),
                std::cmp::Ordering::Greater => format.round(negative, significand, true, exponent),
                std::cmp::Ordering::Less => format.round(negative, 4 * significand - 1, true, exponent - 2),
            }
        }
    }
}

/// Text as Rust reads numbers: in lower case, without separators.
fn plain(text: &str) -> String {
    text.chars().filter(|&c| c != '_').collect::<String>().to_ascii_lowercase()
}

impl FromStr for Literal {
    type Err = String;

    fn from_str(text: &str) -> Result<Literal, String> {
        let kind = kind(text).ok_or_else(|| {
            if text.is_empty() {
                "a number is missing".to_owned()
            } else {
                format!("`{text}` is not a number")
            }
        })?;
        Ok(Literal { text: text.to_owned(), kind })
    }
}

fn kind(text: &str) -> Option<Kind> {
    if let Some(bits) = text.strip_prefix(BITS_PREFIX) {
        let bits = plain(bits);
        let digits = bits.strip_prefix("0x").unwrap_or(&bits);
        if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        return Some(Kind::Bits { bits: u64::from_str_radix(digits, 16).ok()?, digits: digits.len() });
    }
    let plain = plain(text);
    let negative = plain.starts_with('-');
    let digits = plain.strip_prefix(['-', '+']).unwrap_or(&plain);
    let integer = |digits: &str, radix: u32| {
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return None;
        }
        let value = i128::from_str_radix(digits, radix).ok();
        Some(Kind::Integer(value.map(|value| if negative { -value } else { value })))
    };
    if let Some(digits) = digits.strip_prefix("0x") {
        return integer(digits, 16).or_else(|| hexadecimal(digits));
    }
    if let Some(digits) = digits.strip_prefix("0b") {
        return integer(digits, 2);
    }
    match digits {
        "inf" | "infinity" => Some(Kind::Infinity),
        "nan" => Some(Kind::Nan),
        _ => integer(digits, 10).or_else(|| {
            let begins = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
            (begins && digits.parse::<f64>().is_ok()).then_some(Kind::Decimal)
        }),
    }
}

/// A floating-point number in hexadecimal, as C writes it, without `0x`: `1.8p-3`.
fn hexadecimal(text: &str) -> Option<Kind> {
    let (mantissa, power) = text.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (mut significand, mut sticky, mut exponent, mut count) = (0u128, false, 0i64, 0);
    for (digits, below) in [(whole, 0), (fraction, 4)] {
        for digit in digits.chars() {
            let digit = digit.to_digit(16)?;
            count += 1;
            // 120 bits are more than any type holds; of the rest it matters only whether it is 0.
            if significand >> 116 == 0 {
                significand = significand << 4 | u128::from(digit);
                exponent -= below;
            } else {
                sticky |= digit != 0;
                exponent += 4 - below;
            }
        }
    }
    let power = power.strip_prefix('+').unwrap_or(power);
    let digits = power.strip_prefix('-').unwrap_or(power);
    if count == 0 || digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    // A power that does not fit is far outside of every type.
    let far = if power.starts_with('-') { -(1 << 40) } else { 1 << 40 };
    let power = power.parse::<i64>().map_or(far, |power| power.clamp(-(1 << 40), 1 << 40));
    Some(Kind::Hexadecimal { significand, sticky, exponent: exponent + power })
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
