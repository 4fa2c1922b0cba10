//! Sizes in bytes with a unit, such as `64KiB`.

/// Units and their powers of two. Case does not matter.
const UNITS: [(&str, u32); 6] = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("K", 10), ("M", 20), ("G", 30)];

/// The unit after the digits of a text. None for a plain number, and for a text that does not begin with a
/// decimal digit.
pub fn unit(text: &str) -> Option<&str> {
    let start = text.find(|c: char| !c.is_ascii_digit() && c != '_')?;
    let (number, unit) = text.split_at(start);
    let radix = number == "0" && matches!(unit.as_bytes(), [b'x' | b'b' | b'o', ..]);
    let unit = unit.trim_start();
    (!number.is_empty() && !radix && unit.starts_with(|c: char| c.is_alphabetic())).then_some(unit)
}

/// Number of bytes of a size with a unit, such as `64KiB` or `1 GiB`.
///
/// # Errors
/// Describes what is wrong with the text.
pub fn bytes(text: &str) -> Result<u64, String> {
    let Some(unit) = unit(text) else { return Err(format!("`{text}` is no size such as 64KiB")) };
    let Some((_, shift)) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) else {
        let thousands = matches!(unit.to_ascii_uppercase().as_str(), "KB" | "MB" | "GB");
        return Err(match thousands {
            true => format!(
                "`{unit}` may be powers of 1000 or of 1024: write `{}iB`, powers of 1024",
                unit[..1].to_ascii_uppercase()
            ),
            false => {
                format!("`{unit}` is no unit of a size; units are KiB, MiB and GiB, or K, M and G for short")
            }
        });
    };
    let digits = text[..text.len() - unit.len()].trim().replace('_', "");
    let number: u64 = digits.parse().map_err(|_| format!("`{text}` does not fit 64 bits"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("`{text}` does not fit 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024() {
        for (text, expected) in [
            ("64KiB", 65_536),
            ("64K", 65_536),
            ("64k", 65_536),
            ("1_024 kib", 1 << 20),
            ("16MiB", 16 << 20),
            ("2GiB", 2 << 30),
            ("3G", 3 << 30),
            ("0M", 0),
            ("17179869183G", u64::MAX >> 30 << 30),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn wrong_units_are_named_and_large_sizes_refused() {
        for (text, message) in [
            ("64KB", "`KB` may be powers of 1000 or of 1024: write `KiB`, powers of 1024"),
            ("64mb", "`mb` may be powers of 1000 or of 1024: write `MiB`, powers of 1024"),
            ("64Q", "`Q` is no unit of a size; units are KiB, MiB and GiB, or K, M and G for short"),
            ("64KiBs", "`KiBs` is no unit of a size; units are KiB, MiB and GiB, or K, M and G for short"),
            ("17179869184G", "`17179869184G` does not fit 64 bits"),
            ("99999999999999999999K", "`99999999999999999999K` does not fit 64 bits"),
            ("64", "`64` is no size such as 64KiB"),
        ] {
            assert_eq!(bytes(text), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn plain_numbers_and_words_have_no_unit() {
        for text in ["64", "6_4", "0x10", "0xK", "0b1", "0o7", "", "KiB", "-3K", "1.5", "1.5K", "1 << 26"] {
            assert_eq!(unit(text), None, "{text}");
        }
        assert_eq!((unit("64KiB"), unit("0K"), unit("8 cores")), (Some("KiB"), Some("K"), Some("cores")));
    }
}
