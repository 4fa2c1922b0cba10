//! Words, numbers, strings and marks of the text form.

use logos::Logos;
use std::ops::Range;
use wave_isa::diagnostic::{Diagnostic, Place};

/// A piece of text.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n]+")]
#[logos(skip(r";[^\n]*", allow_greedy = true))]
pub(super) enum Token {
    /// A name or a keyword.
    #[regex(r"[A-Za-z_][A-Za-z0-9_.]*")]
    Word,
    /// A number.
    #[regex(r"-?[0-9][0-9A-Za-z_.]*(-[0-9]+)?|-inf")]
    Number,
    /// A string with its quotation marks.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    String,
    /// `->`.
    #[token("->")]
    Arrow,
    /// Any of the other marks.
    #[regex(r"[(){}\[\],:=+@]")]
    Mark,
}

/// The pieces of a text, each with its bytes.
pub(super) fn tokens(text: &str, file: &str) -> Result<Vec<(Token, Range<usize>)>, Diagnostic> {
    let tokens = Token::lexer(text).spanned().map(|(token, bytes)| match token {
        Ok(token) => Ok((token, bytes)),
        Err(()) => {
            let message = match text[bytes.start..].chars().next() {
                Some('"') => "this string has no end on its line".to_owned(),
                first => format!("nothing begins with `{}`", first.unwrap_or(' ').escape_debug()),
            };
            Err(Diagnostic::error(message).at(Place::at_offset(file, text, bytes.start, 1)))
        }
    });
    tokens.collect()
}

/// The bytes that a string stands for; `Err` with the place in `quoted` and what is wrong there.
pub(super) fn unquoted(quoted: &str) -> Result<Vec<u8>, (usize, String)> {
    let inside = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(c) = rest.chars().next() {
        if c != '\\' {
            bytes.extend_from_slice(&rest.as_bytes()[..c.len_utf8()]);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let wrong = |message: &str| (quoted.len() - 1 - rest.len(), message.to_owned());
        let escape = &rest[1..];
        if let Some(behind) = escape.strip_prefix("u{") {
            let end = behind.find('}').ok_or_else(|| wrong("`\\u{` without `}`"))?;
            let code = u32::from_str_radix(&behind[..end], 16).ok().and_then(char::from_u32);
            let c = code.ok_or_else(|| wrong("this is the number of no character"))?;
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            rest = &behind[end + 1..];
        } else if let Some(c @ ('"' | '\\')) = escape.chars().next() {
            bytes.push(c as u8);
            rest = &escape[1..];
        } else {
            let byte = escape.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
            let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            bytes.push(byte.ok_or_else(|| wrong("behind `\\` come `\"`, `\\`, `u{…}` or two hex digits"))?);
            rest = &escape[2..];
        }
    }
    Ok(bytes)
}
