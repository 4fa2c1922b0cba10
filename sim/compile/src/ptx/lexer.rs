//! Words, numbers, strings and marks of PTX.

use super::Wrong;
use logos::Logos;
use std::ops::Range;

/// Bytes of the text.
pub(super) type Span = Range<usize>;

/// A piece of text.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub(super) enum Token {
    /// A directive, a modifier or a type: a name with a dot in front, such as `.reg` or `.L1::no_allocate`.
    #[regex(r"\.[A-Za-z0-9_]+(::[A-Za-z0-9_]+)*")]
    Dotted,
    /// A name: of an opcode, a register, a variable, a label.
    #[regex(r"[A-Za-z_$%][A-Za-z0-9_$%]*")]
    Word,
    /// A number.
    #[regex(r"[0-9][0-9A-Za-z_]*(\.[0-9]*([eE][+-]?[0-9]+)?)?")]
    Number,
    /// A string with its quotation marks.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    String,
    /// The start of a line of debugging information, which goes to its end.
    #[regex(r"@@[^\n]*", allow_greedy = true)]
    Debug,
    /// Any of the other marks.
    #[regex(r"[(){}\[\],;:=+\-@!|<>~*/&^?]")]
    Mark,
}

/// The pieces of a text, each with its bytes.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Wrong> {
    let tokens = Token::lexer(text).spanned().map(|(token, bytes)| match token {
        Ok(token) => Ok((token, bytes)),
        Err(()) => {
            let message = match text[bytes.start..].chars().next() {
                Some('"') => "this string has no end on its line".to_owned(),
                Some('/') => "this comment has no end".to_owned(),
                first => format!("nothing in PTX begins with `{}`", first.unwrap_or(' ').escape_debug()),
            };
            Err(Wrong::new(bytes.start..bytes.start + 1, message))
        }
    });
    tokens.filter(|token| !matches!(token, Ok((Token::Debug, _)))).collect()
}

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    /// An integer.
    Integer(u64),
    /// The bits of a binary32.
    Single(u32),
    /// A binary64.
    Double(f64),
}

/// The number that a text of [`Token::Number`] stands for.
pub(super) fn number(text: &str) -> Option<Number> {
    let lower = text.to_ascii_lowercase();
    let plain = lower.strip_suffix('u').unwrap_or(&lower);
    if let Some(digits) = lower.strip_prefix("0f").filter(|digits| digits.len() == 8) {
        return u32::from_str_radix(digits, 16).ok().map(Number::Single);
    }
    if let Some(digits) = lower.strip_prefix("0d").filter(|digits| digits.len() == 16) {
        return u64::from_str_radix(digits, 16).ok().map(|bits| Number::Double(f64::from_bits(bits)));
    }
    if let Some(digits) = plain.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(Number::Integer);
    }
    if let Some(digits) = plain.strip_prefix("0b") {
        return u64::from_str_radix(digits, 2).ok().map(Number::Integer);
    }
    if lower.contains('.') || lower.contains('e') {
        return lower.parse().ok().map(Number::Double);
    }
    match plain.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => u64::from_str_radix(octal, 8).ok().map(Number::Integer),
        _ => plain.parse().ok().map(Number::Integer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_every_notation() {
        let integers = [
            ("0", 0),
            ("17", 17),
            ("0x1F", 31),
            ("0xffU", 255),
            ("010", 8),
            ("0b101", 5),
            ("4294967295U", 4294967295),
        ];
        for (text, value) in integers {
            assert_eq!(number(text), Some(Number::Integer(value)), "{text}");
        }
        assert_eq!(number("0f3F800000"), Some(Number::Single(0x3F80_0000)));
        assert_eq!(number("0dBFF0000000000000"), Some(Number::Double(-1.0)));
        assert_eq!(number("1.5e2"), Some(Number::Double(150.0)));
        for wrong in ["0xg", "0f3F8", "18446744073709551616", "09", "1_0"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }
}
