//! Numbers as assembly text and the command line write them.

/// A literal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(f32),
}

/// The runs of ones of a mask, from bit 0 on: the first and the last bit of each.
pub fn runs(mask: u128) -> impl Iterator<Item = (u32, u32)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = mask.checked_shr(from).filter(|&rest| rest != 0)?;
        let first = from + rest.trailing_zeros();
        let last = first + (mask >> first).trailing_ones() - 1;
        from = last + 1;
        Some((first, last))
    })
}

/// The [runs](runs) of a mask as `0-3` and, of one bit, `7`.
pub fn ranges(mask: u64) -> Vec<String> {
    let range = |(first, last)| if first == last { format!("{first}") } else { format!("{first}-{last}") };
    runs(mask.into()).map(range).collect()
}

/// Reads a literal: decimal, `0x` and `0b` integers with an optional sign, decimal floating point; `_`
/// may separate digits.
///
/// # Errors
/// A sentence on what is wrong with it.
pub fn parse(text: &str) -> Result<Number, String> {
    let plain: String = text.chars().filter(|&c| c != '_').collect();
    let (negative, digits) = match plain.as_bytes().first() {
        Some(b'-') => (true, &plain[1..]),
        Some(b'+') => (false, &plain[1..]),
        _ => (false, &plain[..]),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ => (10, &lower[..]),
    };
    let is_integer = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    if is_integer {
        return match i128::from_str_radix(digits, radix) {
            Ok(value) => Ok(Number::Integer(if negative { -value } else { value })),
            Err(_) => Err(format!("`{text}` does not fit 32 bits")),
        };
    }
    // Parse as f32 directly: going through f64 could round twice.
    match lower.parse::<f32>() {
        Ok(value) if value.is_infinite() && lower != "inf" => {
            Err(format!("`{text}` is too large for an f32; infinity is written `inf`"))
        }
        Ok(value) if radix == 10 => Ok(Number::Float(if negative { -value } else { value })),
        _ => Err(format!("`{text}` is not a number")),
    }
}

/// An integer literal as an unsigned 32-bit value, such as a count or a size.
pub(super) fn parse_u32(text: &str) -> Result<u32, String> {
    match parse(text)? {
        Number::Integer(value) => {
            u32::try_from(value).map_err(|_| format!("`{text}` is out of range 0 to {}", u32::MAX))
        }
        Number::Float(_) => Err(format!("`{text}` is not an integer")),
    }
}

/// A literal as the 32 bits of a register.
pub fn parse_bits(text: &str) -> Result<u32, String> {
    match parse(text)? {
        Number::Float(value) if value.is_nan() => Ok(0x7FC0_0000),
        Number::Float(value) => Ok(value.to_bits()),
        Number::Integer(value) => match (u32::try_from(value), i32::try_from(value)) {
            (Ok(bits), _) => Ok(bits),
            (_, Ok(signed)) => Ok(signed as u32),
            _ => Err(format!("`{text}` does not fit 32 bits ({} to {})", i32::MIN, u32::MAX)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals() {
        for (text, bits) in [
            ("0", 0),
            ("-1", u32::MAX),
            ("4294967295", u32::MAX),
            ("-2147483648", 1 << 31),
            ("0xFFFF_FFFF", u32::MAX),
            ("-0x10", 0xFFFF_FFF0),
            ("0b1010", 10),
            ("+7", 7),
            ("1.0", 0x3F80_0000),
            ("1e0", 0x3F80_0000),
            ("-2.5", 0xC020_0000),
            (".5", 0x3F00_0000),
            ("-0.0", 0x8000_0000),
            ("1.", 0x3F80_0000),
            ("inf", 0x7F80_0000),
            ("-inf", 0xFF80_0000),
            ("nan", 0x7FC0_0000),
            ("-nan", 0x7FC0_0000),
            ("1e-50", 0),
            // A little above the midpoint of two f32; an f64 cannot hold it.
            ("1.00000005960464477540", 0x3F80_0001),
        ] {
            assert_eq!(parse_bits(text), Ok(bits), "{text}");
        }
        for text in ["4294967296", "-2147483649", "1e39", "0x", "0b12", "12ab", "1.5f", "1e", "1.2.3", ""] {
            assert!(parse_bits(text).is_err(), "{text}");
        }
        assert!(parse_bits(&"9".repeat(100)).is_err());
    }
}
