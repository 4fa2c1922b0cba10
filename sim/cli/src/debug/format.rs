//! Values as text.

use std::fmt::Write;
use wave_isa::diagnostic::Diagnostic;

/// How to write a 32-bit word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Format {
    /// Eight hexadecimal digits.
    #[default]
    Hex,
    /// Signed decimal.
    Signed,
    /// Unsigned decimal.
    Unsigned,
    /// The f32 with these bits.
    Float,
    /// Four bytes, the one at the lowest address first.
    Bytes,
}

impl Format {
    /// The format of a letter, as in gdb's `x`.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn of(letter: &str) -> Result<Format, Diagnostic> {
        match letter {
            "x" => Ok(Format::Hex),
            "d" => Ok(Format::Signed),
            "u" => Ok(Format::Unsigned),
            "f" => Ok(Format::Float),
            "b" => Ok(Format::Bytes),
            "i" => Err(Diagnostic::error("there is no format `i`").hint("`list` shows instructions")),
            _ => Err(Diagnostic::error(format!("there is no format `{letter}`"))
                .hint("formats: x hex, d signed, u unsigned, f f32, b bytes")),
        }
    }

    /// A word.
    pub(super) fn word(self, word: u32) -> String {
        match self {
            Format::Hex => format!("{word:08x}"),
            Format::Signed => word.cast_signed().to_string(),
            Format::Unsigned => word.to_string(),
            Format::Float => format!("{:?}", f32::from_bits(word)),
            Format::Bytes => word.to_le_bytes().map(|byte| format!("{byte:02x}")).join(" "),
        }
    }
}

/// Values of lanes, so many a line; short where a rule gives them all.
pub(super) fn lanes(name: &str, values: &[u32], format: Format) -> String {
    const PER_LINE: usize = 8;
    if let [first, rest @ ..] = values
        && !rest.is_empty()
    {
        if rest.iter().all(|value| value == first) {
            return format!("{name:<5} {} in all lanes\n", format.word(*first));
        }
        let step = rest[0].wrapping_sub(*first);
        let is_even = values.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step);
        if is_even && format != Format::Float {
            let sign = if step.cast_signed() < 0 { '-' } else { '+' };
            let step = step.cast_signed().unsigned_abs();
            return format!("{name:<5} {} {sign} {step} × lane\n", format.word(*first));
        }
    }
    let words: Vec<String> = values.iter().map(|&value| format.word(value)).collect();
    let width = words.iter().map(|word| word.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (line, chunk) in words.chunks(PER_LINE).enumerate() {
        let lane = line * PER_LINE;
        let label = if line == 0 { name } else { "" };
        _ = write!(text, "{label:<5} lane {lane:>2}:");
        chunk.iter().for_each(|word| _ = write!(text, " {word:>width$}"));
        text.push('\n');
    }
    text
}

/// Rows of cells with columns aligned to the left.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_that_a_rule_gives_are_short() {
        assert_eq!(lanes("r1", &[7; 4], Format::Hex), "r1    00000007 in all lanes\n");
        assert_eq!(lanes("r1", &[8, 12, 16], Format::Unsigned), "r1    8 + 4 × lane\n");
        assert_eq!(lanes("r1", &[2, 1, 0], Format::Signed), "r1    2 - 1 × lane\n");
        assert_eq!(lanes("r1", &[2, 1, 7], Format::Signed), "r1    lane  0: 2 1 7\n");
        let one = 1f32.to_bits();
        assert_eq!(lanes("r1", &[one, 0], Format::Float), "r1    lane  0: 1.0 0.0\n");
    }
}
