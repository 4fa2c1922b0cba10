//! Literals against numbers that exact fractions have rounded, and the table of types against itself.

use super::*;

fn bits(ty: ScalarType, text: &str) -> Result<u64, String> {
    text.parse::<Literal>()?.bits(ty)
}

/// `scripts/scalars.py` has written the numbers.
#[test]
fn literals_are_rounded_once() {
    let mut counts = [0; ScalarType::ALL.len()];
    for line in include_str!("vectors.txt").lines() {
        let [ty, text, expected] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let ty = ScalarType::of_name(ty).unwrap();
        let found = bits(ty, text);
        match expected {
            "-" => assert!(found.is_err(), "{line}: {found:x?}"),
            _ => assert_eq!(found, Ok(u64::from_str_radix(expected, 16).unwrap()), "{line}"),
        }
        counts[ty as usize] += 1;
    }
    assert!(counts.iter().all(|&count| count > 80), "{counts:?}");
}

#[test]
fn every_number_of_16_bits_reads_back() {
    for ty in [ScalarType::F16, ScalarType::Bf16] {
        for expected in 0..=u64::from(u16::MAX) {
            let value = ty.to_f64(expected);
            if value.is_nan() {
                continue;
            }
            assert_eq!(ty.float_bits(value), expected, "{ty} {expected:x}");
            assert_eq!(bits(ty, &format!("{value:e}")), Ok(expected), "{ty} {expected:x}");
        }
    }
}

#[test]
fn values_are_those_of_the_types() {
    for (ty, bits, value) in [
        (ScalarType::U8, 200, 200.0),
        (ScalarType::I8, 200, -56.0),
        (ScalarType::I16, 0xFFFE, -2.0),
        (ScalarType::I64, u64::MAX, -1.0),
        (ScalarType::U64, 1 << 63, 2f64.powi(63)),
        (ScalarType::F16, 0x3E00, 1.5),
        (ScalarType::F16, 0x8001, -(2f64.powi(-24))),
        (ScalarType::Bf16, 0xC000, -2.0),
        (ScalarType::F32, 0x3F80_0000, 1.0),
        (ScalarType::F64, 0x4000_0000_0000_0000, 2.0),
    ] {
        assert_eq!(ty.to_f64(bits), value, "{ty} {bits:x}");
        assert_eq!(ty.read(&bits.to_le_bytes()), value, "{ty} {bits:x}");
        let back = if ty.is_float() { Some(ty.float_bits(value)) } else { ty.integer_bits(value as i128) };
        assert_eq!(back, Some(bits), "{ty} {bits:x}");
    }
    for ty in ScalarType::ALL {
        assert_eq!(ScalarType::of_name(ty.name()), Ok(ty));
        assert_eq!(ty.is_float(), ty.integer_range().is_none());
        if let Some((least, most)) = ty.integer_range() {
            for value in [least, most] {
                assert_eq!(ty.integer(ty.integer_bits(value).unwrap()), Some(value), "{ty}");
            }
            assert_eq!((ty.integer_bits(least - 1), ty.integer_bits(most + 1)), (None, None), "{ty}");
        }
    }
}

#[test]
fn special_values_and_bits() {
    for (ty, text, expected) in [
        (ScalarType::F32, "nan", 0x7FC0_0000),
        (ScalarType::F16, "-nan", 0x7E00),
        (ScalarType::Bf16, "-inf", 0xFF80),
        (ScalarType::F64, "inf", 0x7FF0_0000_0000_0000),
        (ScalarType::F32, "hex:7fc0_0001", 0x7FC0_0001),
        (ScalarType::F32, "hex:0xFFC00001", 0xFFC0_0001),
        (ScalarType::U8, "hex:ff", 0xFF),
        (ScalarType::I64, "hex:ffffffffffffffff", u64::MAX),
    ] {
        assert_eq!(bits(ty, text), Ok(expected), "{ty} {text}");
    }
    for text in [
        "", "-", "0x", "0b12", "0x1.8", "0x1p", "0x.p1", "1e", "1.2.3", "1.5f", "12ab", "hex:", "hex:g",
        "e5", "--1",
    ] {
        assert!(text.parse::<Literal>().is_err(), "{text}");
    }
    assert!("hex:10000000000000000".parse::<Literal>().is_err());
}

#[test]
fn messages_name_the_range() {
    for (ty, text, message) in [
        (ScalarType::U8, "300", "`300` does not fit u8: 0 to 255"),
        (ScalarType::I16, "-32769", "`-32769` does not fit i16: -32768 to 32767"),
        (ScalarType::F32, "1e300", "`1e300` is too large for f32: at most 3.4028235e38, or inf"),
        (ScalarType::F16, "65520", "`65520` is too large for f16: at most 6.5504e4, or inf"),
        (ScalarType::F64, "1e309", "`1e309` is too large for f64: at most 1.7976931348623157e308, or inf"),
        (ScalarType::U64, "1.5", "`1.5` is no integer, and u64 is a type of integers"),
        (ScalarType::U16, "hex:12345", "`hex:12345` has more than the 16 bits of u16"),
    ] {
        assert_eq!(bits(ty, text), Err(message.to_owned()));
    }
}
