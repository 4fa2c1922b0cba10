//! Parses one line of assembly text, without looking up any name.

use super::lexer::{Spanned, Token};
use super::{Problem, quote};
use crate::Scope;
use std::ops::Range;

/// A piece of the source and its span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its bytes in the source.
    pub span: Range<usize>,
}

/// An operand as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument<'a> {
    /// The kind that it looks like.
    pub kind: ArgumentKind,
    /// Its text without `!`, without the dot of a scope and without a register half.
    pub text: &'a str,
    /// All of its bytes in the source.
    pub span: Range<usize>,
}

/// What an operand looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentKind {
    /// `r3`, `p1`, `sr_lane_id`, `device`, a label.
    Word,
    /// `r3.lo`, `r3.hi`: true for `hi`.
    Half(bool),
    /// `!p1`
    NotWord,
    /// `.device`
    Dotted,
    /// `-5`, `0x10`, `1.5`
    Number,
}

/// `@p1` or `@!p1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GuardText<'a> {
    /// `p1`
    pub predicate: Piece<'a>,
    /// With `!`.
    pub negated: bool,
    /// From the `@` on.
    pub span: Range<usize>,
}

/// What a line contains after its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Statement<'a> {
    /// `.registers 8`; the name is without its dot.
    Directive { name: Piece<'a>, arguments: Vec<Spanned> },
    /// An instruction; the hint is without its dot.
    Instruction {
        guard: Option<GuardText<'a>>,
        mnemonic: Piece<'a>,
        hint: Option<Piece<'a>>,
        arguments: Vec<Argument<'a>>,
    },
}

/// A line: labels, then at most one statement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Line<'a> {
    /// Labels in front of the statement.
    pub labels: Vec<Piece<'a>>,
    /// The statement.
    pub statement: Option<Statement<'a>>,
}

/// Parses the tokens of one line, which has no newline token. `source` is the whole text.
///
/// Labels found before an error are returned with it, so that calls to them are not reported as well.
pub(super) fn parse_line<'a>(source: &'a str, tokens: &[Spanned]) -> (Line<'a>, Option<Problem>) {
    let mut cursor = Cursor { source, tokens, at: 0 };
    let mut line = Line::default();
    let error = cursor.line(&mut line).err();
    (line, error)
}

struct Cursor<'a, 't> {
    source: &'a str,
    tokens: &'t [Spanned],
    at: usize,
}

impl<'a> Cursor<'a, '_> {
    fn line(&mut self, line: &mut Line<'a>) -> Result<(), Problem> {
        while self.peek(0) == Some(Token::Word) && self.peek(1) == Some(Token::Colon) {
            line.labels.push(self.piece());
            self.at += 1;
        }
        line.statement = match self.peek(0) {
            None => None,
            Some(Token::Dotted) => {
                let name = self.piece();
                let name = Piece { text: &name.text[1..], span: name.span };
                let arguments = self.tokens[self.at..].to_vec();
                self.at = self.tokens.len();
                Some(Statement::Directive { name, arguments })
            }
            Some(_) => Some(self.instruction()?),
        };
        Ok(())
    }

    fn instruction(&mut self) -> Result<Statement<'a>, Problem> {
        let guard = if self.peek(0) == Some(Token::At) { Some(self.guard()?) } else { None };
        if self.peek(0) != Some(Token::Word) {
            return Err(self.unexpected("an instruction"));
        }
        let mnemonic = self.piece();
        let hint = match self.peek(0) {
            Some(Token::Dotted) if self.is_hint(mnemonic.span.end) => {
                let hint = self.piece();
                Some(Piece { text: &hint.text[1..], span: hint.span })
            }
            _ => None,
        };
        // A scope that is glued to the mnemonic is the last operand.
        let scope = match self.tokens.get(self.at) {
            Some((Token::Dotted, span)) if span.start == mnemonic.span.end => Some(self.argument()?),
            _ => None,
        };
        let mut arguments = self.arguments()?;
        arguments.extend(scope);
        Ok(Statement::Instruction { guard, mnemonic, hint, arguments })
    }

    /// A dotted word after a mnemonic is a cache hint if it is the name of one, or if it follows without a
    /// blank and is no scope (`fence_release.device`).
    fn is_hint(&self, mnemonic_end: usize) -> bool {
        let glued = self.tokens[self.at].1.start == mnemonic_end;
        matches!(self.dotted(), "cached" | "uncached" | "streaming") || glued && !self.is_scope()
    }

    fn is_scope(&self) -> bool {
        Scope::from_name(self.dotted()).is_some()
    }

    /// The next token, a dotted word, without its dot.
    fn dotted(&self) -> &'a str {
        let span = &self.tokens[self.at].1;
        &self.source[span.start + 1..span.end]
    }

    fn guard(&mut self) -> Result<GuardText<'a>, Problem> {
        let start = self.piece().span.start;
        let negated = self.peek(0) == Some(Token::Bang);
        if negated {
            self.at += 1;
        }
        if self.peek(0) != Some(Token::Word) {
            let mut error = self.unexpected("a predicate after `@`");
            error.hint = Some("a guard is `@p1` to `@p3` or `@!p0` to `@!p3`, before the mnemonic".into());
            return Err(error);
        }
        let predicate = self.piece();
        let span = start..predicate.span.end;
        Ok(GuardText { predicate, negated, span })
    }

    fn arguments(&mut self) -> Result<Vec<Argument<'a>>, Problem> {
        let mut arguments = Vec::new();
        while self.peek(0).is_some() {
            arguments.push(self.argument()?);
            match self.peek(0) {
                Some(Token::Comma) => {
                    self.at += 1;
                    if self.peek(0).is_none() {
                        return Err(self.unexpected("an operand after the comma"));
                    }
                }
                // A scope may follow without a comma.
                Some(Token::Dotted) if self.is_scope() => {}
                None => {}
                Some(Token::Word | Token::Number | Token::Bang) => {
                    let mut error = self.unexpected("a comma");
                    error.hint = Some("operands are separated by commas; a line has one instruction".into());
                    return Err(error);
                }
                Some(_) => return Err(self.unexpected("a comma or the end of the line")),
            }
        }
        Ok(arguments)
    }

    fn argument(&mut self) -> Result<Argument<'a>, Problem> {
        let argument = |kind, piece: Piece<'a>| Argument { kind, text: piece.text, span: piece.span };
        match self.peek(0) {
            Some(Token::Word) => {
                let mut word = argument(ArgumentKind::Word, self.piece());
                // A register half belongs to the word that it follows without a blank.
                if let Some((Token::Dotted, span)) = self.tokens.get(self.at)
                    && span.start == word.span.end
                    && !self.is_scope()
                {
                    word.kind = match self.dotted() {
                        "lo" => ArgumentKind::Half(false),
                        "hi" => ArgumentKind::Half(true),
                        _ => return Err(self.unexpected("`.lo` or `.hi`")),
                    };
                    word.span.end = span.end;
                    self.at += 1;
                }
                Ok(word)
            }
            Some(Token::Number) => Ok(argument(ArgumentKind::Number, self.piece())),
            Some(Token::Dotted) => {
                let mut dotted = argument(ArgumentKind::Dotted, self.piece());
                dotted.text = &dotted.text[1..];
                Ok(dotted)
            }
            Some(Token::Bang) if self.peek(1) == Some(Token::Word) => {
                let start = self.piece().span.start;
                let mut word = argument(ArgumentKind::NotWord, self.piece());
                word.span.start = start;
                Ok(word)
            }
            _ => Err(self.unexpected("an operand")),
        }
    }

    fn peek(&self, ahead: usize) -> Option<Token> {
        self.tokens.get(self.at + ahead).map(|(token, _)| *token)
    }

    /// Takes the next token, which must exist, as text. The caller takes the colon of a label.
    fn piece(&mut self) -> Piece<'a> {
        let span = self.tokens[self.at].1.clone();
        self.at += 1;
        Piece { text: &self.source[span.clone()], span }
    }

    fn unexpected(&self, expected: &str) -> Problem {
        let Some((token, span)) = self.tokens.get(self.at) else {
            let end = self.tokens.last().map_or(0, |(_, span)| span.end);
            let message = format!("expected {expected}, but the line ends");
            return Problem { message, hint: None, span: end..end };
        };
        let text = &self.source[span.clone()];
        let message = format!("expected {expected}, found {}", quote(text));
        let hint = match token {
            Token::Unknown if text.starts_with('/') => Some("comments begin with `;` or `#`".to_owned()),
            Token::Unknown if text.starts_with(['[', ']', '(', ')']) => {
                Some("an address is a plain register: `device_load_u32 r1, r2`".to_owned())
            }
            Token::Unknown if text.starts_with('$') || text.starts_with('%') => {
                Some("registers are written r0 to r255, predicates p0 to p3".to_owned())
            }
            Token::At => Some("a guard stands before its mnemonic: `@p1 iadd r1, r2, r3`".to_owned()),
            _ => None,
        };
        Problem { message, hint, span: span.clone() }
    }
}
