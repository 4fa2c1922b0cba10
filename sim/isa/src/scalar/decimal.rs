//! Decimal texts beside binary numbers: on which side of an f64 the text lies.

use std::cmp::Ordering;

/// Compares the magnitude of a decimal literal, digits with an optional point and exponent, with a finite f64 that is not
/// 0 and that the literal rounds to.
pub(super) fn compare(text: &str, value: f64) -> Ordering {
    // Every f64 is a decimal number of at most 1074 fractional digits.
    let exact = format!("{:.1074}", value.abs());
    let (stated, exact) = (Digits::of(text), Digits::of(&exact));
    // An exponent of the literal that does not fit would not round to a finite number.
    stated.exponent.cmp(&exact.exponent).then_with(|| stated.digits.cmp(&exact.digits))
}

/// A number as `0.DIGITS * 10^exponent`, without zeros at either end.
#[derive(Debug, PartialEq, Eq)]
struct Digits {
    digits: Vec<u8>,
    exponent: i64,
}

impl Digits {
    fn of(text: &str) -> Digits {
        let text = text.trim_start_matches(['+', '-']);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let zeros = all.iter().take_while(|&&digit| digit == b'0').count();
        let end = all.iter().rposition(|&digit| digit != b'0').map_or(zeros, |last| last + 1);
        let digits = all[zeros..end].to_vec();
        let exponent = exponent.parse::<i64>().unwrap_or(0);
        let exponent = exponent + whole.len() as i64 - zeros as i64;
        Digits { exponent: if digits.is_empty() { i64::MIN } else { exponent }, digits }
    }
}
