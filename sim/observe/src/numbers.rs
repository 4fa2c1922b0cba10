//! Numbers and their units for readers: thousands are separated by commas, sizes have binary units (`64 KiB`), other
//! quantities the prefix of the SI that suits them (`2.50 mJ`). What programs read (JSON, CSV, `PERF:`) has none of
//! this.

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

/// Units of sizes, smallest first, each 1024 of the one before.
const SIZES: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

/// A size that somebody chose, in the largest unit of which it is whole quarters: `64 KiB`, `1.5 MiB`, `1,025 KiB`.
pub fn size(bytes: u64) -> String {
    let fits = |&power: &usize| {
        let unit = 1u64 << (10 * power);
        bytes >= unit && (4 * u128::from(bytes)).is_multiple_of(unit.into())
    };
    let power = (1..SIZES.len()).rev().find(fits).unwrap_or(0);
    let unit = 1u64 << (10 * power);
    let quarters = ["", ".25", ".5", ".75"][(bytes % unit * 4 / unit) as usize];
    format!("{}{quarters} {}", integer(bytes / unit), SIZES[power])
}

/// A number of bytes that was counted, with three significant digits: `1.50 KiB`, `1,023 B`.
pub fn bytes(n: u64) -> String {
    match (1..SIZES.len()).rev().find(|&power| n >= 1 << (10 * power)) {
        None => format!("{} B", integer(n)),
        Some(power) => format!("{} {}", short(n as f64 / (1u64 << (10 * power)) as f64), SIZES[power]),
    }
}

/// The prefix of the SI that suits a value, or the largest of a column, and its factor.
pub fn prefix(value: f64) -> (f64, &'static str) {
    const PREFIXES: [(f64, &str); 5] = [(1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p")];
    if value == 0.0 {
        return PREFIXES[0];
    }
    // What rounds to the next larger unit has that.
    PREFIXES.into_iter().find(|&(size, _)| value.abs() >= size * 0.9995).unwrap_or(PREFIXES[4])
}

/// A value with three digits and the prefix that suits it: `2.50 mJ`.
pub fn si(value: f64, unit: &str) -> String {
    let (size, prefix) = prefix(value);
    format!("{} {prefix}{unit}", short(value / size))
}

/// A unit as readers see it, where JSON and flags have letters alone: `µJ` for `uJ`, `mm²` for `mm2`.
pub fn unit(plain: &str) -> String {
    let written = |word: &str| match word {
        "mm2" => "mm²".to_owned(),
        "uJ" => "µJ".to_owned(),
        "us" => "µs".to_owned(),
        other => other.to_owned(),
    };
    plain.split(' ').map(written).collect::<Vec<_>>().join(" ")
}

/// A coordinate of a drawing: one decimal at most.
pub fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A count in words: `1 wave`, `2,000 waves`.
pub fn counted(n: u64, thing: &str) -> String {
    match n {
        1 => format!("1 {thing}"),
        _ if thing.ends_with("ch") => format!("{} {thing}es", integer(n)),
        _ => format!("{} {thing}s", integer(n)),
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
        assert_eq!(
            ["1 wave", "0 waves", "12,345 waves", "1,000 matches"],
            [(1, "wave"), (0, "wave"), (12_345, "wave"), (1000, "match")]
                .map(|(n, thing)| counted(n, thing))
                .each_ref()
                .map(String::as_str)
        );
    }

    #[test]
    fn sizes_have_binary_units() {
        let chosen = [0, 100, 1100, 1024, 1536, 65_536, 1_049_600, 1 << 20, 5 << 19, 24 << 30];
        assert_eq!(
            chosen.map(size).join(", "),
            "0 B, 100 B, 1,100 B, 1 KiB, 1.5 KiB, 64 KiB, 1,025 KiB, 1 MiB, 2.5 MiB, 24 GiB"
        );
        let counted = [0, 1023, 1024, 1536, 5 << 20, 3 << 40];
        assert_eq!(counted.map(bytes).join(", "), "0 B, 1,023 B, 1.00 KiB, 1.50 KiB, 5.00 MiB, 3.00 TiB");
        assert!(size(u64::MAX).ends_with(" B"));
    }

    #[test]
    fn values_have_the_prefix_that_suits_them() {
        let values = [1.5, 0.9999, 2.5e-3, 0.0009, 3.2e-7, 4e-10, 5e-12, 0.0];
        assert_eq!(
            values.map(|value| si(value, "J")).join(", "),
            "1.50 J, 1.00 J, 2.50 mJ, 900 µJ, 320 nJ, 400 pJ, 5.00 pJ, 0.00 J"
        );
        assert_eq!(prefix(0.0009), (1e-6, "µ"));
        assert_eq!(["uJ us", "mm2", "W", ""].map(unit), ["µJ µs", "mm²", "W", ""]);
    }
}
