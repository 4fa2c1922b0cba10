//! Tokens of assembly text.

use logos::Logos;
use std::ops::Range;

/// Kinds of tokens. A token's text is its span in the source.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
// Some editors put byte-order marks and no-break spaces into files and clippings.
#[logos(skip r"[ \t\r\x0B\x0C\u{feff}\u{a0}]+")]
#[logos(skip(r"[;#][^\n]*", allow_greedy = true))]
pub(super) enum Token {
    /// End of a line; lines are statements.
    #[token("\n")]
    Newline,
    /// Mnemonic, register, name of a kernel or label.
    #[regex(r"[\p{Alphabetic}_][\p{Alphabetic}\p{M}\p{Nd}_]*")]
    Word,
    /// Directive, cache hint, scope, register half: a dot and a word.
    #[regex(r"\.[\p{Alphabetic}_][\p{Alphabetic}\p{M}\p{Nd}_]*")]
    Dotted,
    /// Anything that begins like a number. Whether it is one is decided where its value is needed.
    #[regex(r"[+-]?\.?[0-9][0-9A-Za-z_]*(\.[0-9A-Za-z_]*)?")]
    #[regex(r"[+-]?\.?[0-9][0-9_]*(\.[0-9_]*)?[eE][+-][0-9A-Za-z_]*")]
    #[regex(r"[+-](inf|nan)")]
    Number,
    /// Quoted name.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Quoted,
    /// Separates operands.
    #[token(",")]
    Comma,
    /// Ends a label.
    #[token(":")]
    Colon,
    /// Begins a guard.
    #[token("@")]
    At,
    /// Negates a predicate.
    #[token("!")]
    Bang,
    /// Characters that belong to no token.
    Unknown,
}

/// A token and the bytes of the source that it covers.
pub(super) type Spanned = (Token, Range<usize>);

/// Splits text into tokens; neighbouring unknown characters make one token.
pub(super) fn tokenize(text: &str) -> Vec<Spanned> {
    let mut tokens: Vec<Spanned> = Vec::new();
    for (token, span) in Token::lexer(text).spanned() {
        match (token, tokens.last_mut()) {
            (Ok(token), _) => tokens.push((token, span)),
            (Err(()), Some((Token::Unknown, last))) if last.end == span.start => last.end = span.end,
            (Err(()), _) => tokens.push((Token::Unknown, span)),
        }
    }
    tokens
}
