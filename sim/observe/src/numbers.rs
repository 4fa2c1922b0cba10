//! Numbers and sentences for readers.

/// An integer with thousands separated: `12,345`.
pub fn integer(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as `12.3 %`. A positive share that would round to 0 is `< 0.1 %`.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 0.05 { "< 0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

/// A number with three significant digits.
pub fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 1e6 => integer(value.round() as u64),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// A coordinate of a drawing: one decimal at most.
pub fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A count in words: `1 wave`, `2 waves`.
pub fn counted(n: u64, thing: &str) -> String {
    match n {
        1 => format!("1 {thing}"),
        _ if thing.ends_with("ch") => format!("{n} {thing}es"),
        _ => format!("{n} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_say_what_they_are() {
        assert_eq!(
            ["0", "999", "1,000", "12,345,678"],
            [0, 999, 1000, 12_345_678].map(integer).each_ref().map(String::as_str)
        );
        assert_eq!(
            ["0.0 %", "< 0.1 %", "0.1 %", "100.0 %"],
            [0.0, 1e-6, 0.001, 1.0].map(percent).each_ref().map(String::as_str)
        );
        assert_eq!(
            ["0.00", "0.0012", "0.12", "12.3", "123"],
            [0.0, 0.0012, 0.123, 12.34, 123.4].map(short).each_ref().map(String::as_str)
        );
        assert_eq!([at(1.0), at(1.26)], ["1", "1.3"]);
    }
}
