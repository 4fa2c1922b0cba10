//! Tokens of a line, and a cursor over them.

use std::ops::Range;

/// Kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, also one that begins with a digit.
    Word,
    Dot,
    Comma,
    Colon,
    Open,
    Close,
    OpenIndex,
    CloseIndex,
    Minus,
    Plus,
    Not,
    At,
    And,
    Or,
    /// A character that belongs to none.
    Unknown,
}

/// What is wrong with a part of the text.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) hint: Option<String>,
    pub(super) span: Range<usize>,
}

impl Problem {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem { message: message.into(), hint: None, span }
    }

    pub(super) fn hint(mut self, hint: impl Into<Option<String>>) -> Problem {
        self.hint = hint.into();
        self
    }
}

/// A word and where it stands.
pub(super) type Word<'a> = (&'a str, Range<usize>);

/// A line, token by token.
pub(super) struct Line<'a> {
    text: &'a str,
    tokens: Vec<(Kind, Range<usize>)>,
    at: usize,
    /// Where the line ends.
    end: usize,
}

impl<'a> Line<'a> {
    /// The line at these bytes of the text, without its comment.
    pub(super) fn new(text: &'a str, bytes: Range<usize>) -> Line<'a> {
        let line = &text[bytes.clone()];
        let line = line.split(';').next().unwrap_or(line);
        let mut tokens = Vec::new();
        let mut rest = line.char_indices().peekable();
        while let Some((start, c)) = rest.next() {
            let next = rest.peek().map(|&(_, c)| c);
            let kind = match c {
                _ if c.is_whitespace() => continue,
                '.' => Kind::Dot,
                ',' => Kind::Comma,
                ':' => Kind::Colon,
                '(' => Kind::Open,
                ')' => Kind::Close,
                '[' => Kind::OpenIndex,
                ']' => Kind::CloseIndex,
                '-' => Kind::Minus,
                '+' => Kind::Plus,
                '!' => Kind::Not,
                '@' => Kind::At,
                '&' if next == Some('&') => Kind::And,
                '|' if next == Some('|') => Kind::Or,
                _ if c == '_' || c.is_alphanumeric() => Kind::Word,
                _ => Kind::Unknown,
            };
            match kind {
                Kind::And | Kind::Or => _ = rest.next(),
                Kind::Word => {
                    let is_number = c.is_ascii_digit();
                    let mut last = c;
                    while let Some(&(_, c)) = rest.peek() {
                        let more = match c {
                            '.' => is_number,
                            '+' | '-' => is_number && matches!(last, 'e' | 'E'),
                            _ => c == '_' || c.is_alphanumeric(),
                        };
                        if !more {
                            break;
                        }
                        last = c;
                        rest.next();
                    }
                }
                _ => {}
            }
            let end = rest.peek().map_or(line.len(), |&(end, _)| end);
            tokens.push((kind, bytes.start + start..bytes.start + end));
        }
        Line { text, tokens, at: 0, end: bytes.start + line.trim_end().len() }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.tokens.len()
    }

    /// The kind of a token that comes later.
    pub(super) fn kind(&self, ahead: usize) -> Option<Kind> {
        self.tokens.get(self.at + ahead).map(|&(kind, _)| kind)
    }

    /// A word that comes later.
    pub(super) fn peek_word(&self, ahead: usize) -> Option<&'a str> {
        let (kind, span) = self.tokens.get(self.at + ahead)?;
        (*kind == Kind::Word).then(|| &self.text[span.clone()])
    }

    /// Where the next token stands.
    pub(super) fn span(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end + 1, |(_, span)| span.clone())
    }

    /// The next token, if it is of this kind.
    pub(super) fn take(&mut self, kind: Kind) -> Option<Word<'a>> {
        let (found, span) = self.tokens.get(self.at)?;
        if *found != kind {
            return None;
        }
        self.at += 1;
        Some((&self.text[span.clone()], span.clone()))
    }

    /// The next token, which is of this kind: `what` says what it is.
    pub(super) fn expect(&mut self, kind: Kind, what: &str) -> Result<Word<'a>, Problem> {
        self.take(kind).ok_or_else(|| self.expected(what))
    }

    /// The message about a token that is none of what may stand there.
    pub(super) fn expected(&self, what: &str) -> Problem {
        let found = match self.tokens.get(self.at) {
            Some((_, span)) => format!("`{}`", self.text[span.clone()].escape_debug()),
            None => "the end of the line".to_owned(),
        };
        Problem::new(self.span(), format!("{what} is expected here, and {found} is found"))
    }

    /// The end of the line.
    pub(super) fn finish(&self) -> Result<(), Problem> {
        if self.is_at_end() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// A whole number up to `most`.
    pub(super) fn number(&mut self, what: &str, most: u32) -> Result<u32, Problem> {
        let before = self.at;
        let (word, span) = self.expect(Kind::Word, what)?;
        let number = match word.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        match number {
            Some(number) if number <= most => Ok(number),
            Some(_) => Err(Problem::new(span, format!("{what} is at most {most}"))),
            None => {
                self.at = before;
                Err(self.expected(what))
            }
        }
    }

    /// A number with a fraction.
    pub(super) fn float(&mut self) -> Result<f32, Problem> {
        let before = self.at;
        let negative = self.take(Kind::Minus).is_some();
        self.take(Kind::Plus);
        let (word, _) = self.expect(Kind::Word, "a number")?;
        match word.parse::<f32>() {
            Ok(value) => Ok(if negative { -value } else { value }),
            Err(_) => {
                self.at = before;
                Err(self.expected("a number"))
            }
        }
    }
}
