//! From text to the tree: the pieces of the text, and the directives of a module.

use super::Wrong;
use super::lexer::{Number, Span, Token, number, tokens};
use super::scope::Scopes;
use super::tree::{Function, RegisterId, Tree};
use super::types::{Kind, PtxType};
use wave_isa::suggest::did_you_mean;

/// Most registers that a function declares.
const MOST_REGISTERS: usize = 1 << 18;

/// A result of the parser.
pub(super) type Parsed<T = ()> = Result<T, Wrong>;

/// Reads a module.
pub(super) fn parse(text: &str) -> Parsed<Tree> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, tree: Tree::default(), lines: Vec::new() };
    parser.lines = text.match_indices('\n').map(|(newline, _)| newline).collect();
    parser.module()?;
    Ok(parser.tree)
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<(Token, Span)>,
    pub(super) at: usize,
    pub(super) tree: Tree,
    /// Bytes of the line ends.
    lines: Vec<usize>,
}

/// A function under way.
pub(super) struct Making {
    pub(super) function: Function,
    pub(super) scopes: Scopes,
}

impl Making {
    /// A new register.
    pub(super) fn register(&mut self, name: &str, ty: PtxType, at: &Span) -> Parsed<RegisterId> {
        let registers = &mut self.function.registers;
        if registers.len() >= MOST_REGISTERS {
            return Err(Wrong::new(at.clone(), format!("a function has at most {MOST_REGISTERS} registers")));
        }
        registers.push((name.to_owned(), ty));
        Ok(RegisterId(registers.len() as u32 - 1))
    }
}

impl<'a> Parser<'a> {
    pub(super) fn peek(&self) -> Option<(Token, &'a str)> {
        let (token, span) = self.tokens.get(self.at)?;
        Some((*token, &self.text[span.clone()]))
    }

    /// The piece after the next one.
    pub(super) fn peek_second(&self) -> Option<&'a str> {
        self.tokens.get(self.at + 1).map(|(_, span)| &self.text[span.clone()])
    }

    /// Where the next piece is.
    pub(super) fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.text.len()..self.text.len(), |(_, span)| span.clone())
    }

    /// Where the last piece was.
    pub(super) fn last(&self) -> Span {
        self.at.checked_sub(1).map_or(0..0, |before| self.tokens[before].1.clone())
    }

    pub(super) fn next(&mut self) -> Option<(Token, &'a str)> {
        let piece = self.peek()?;
        self.at += 1;
        Some(piece)
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.peek().is_some_and(|(_, piece)| piece == text)
    }

    /// Takes the next piece if it is this text.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let is = self.is(text);
        self.at += usize::from(is);
        is
    }

    pub(super) fn wrong<T>(&self, expected: &str) -> Parsed<T> {
        let found = match self.peek() {
            Some((_, text)) => format!("`{text}`"),
            None => "the end of the file".to_owned(),
        };
        Err(Wrong::new(self.span(), format!("expected {expected}, found {found}")))
    }

    pub(super) fn expect(&mut self, text: &str, what: &str) -> Parsed {
        if self.take(text) { Ok(()) } else { self.wrong(&format!("`{text}` {what}")) }
    }

    pub(super) fn word(&mut self, what: &str) -> Parsed<&'a str> {
        match self.peek() {
            Some((Token::Word, text)) => {
                self.at += 1;
                Ok(text)
            }
            _ => self.wrong(what),
        }
    }

    /// The next dotted name, without its dot.
    pub(super) fn dotted(&mut self) -> Option<&'a str> {
        match self.peek() {
            Some((Token::Dotted, text)) => {
                self.at += 1;
                Some(&text[1..])
            }
            _ => None,
        }
    }

    pub(super) fn integer(&mut self, what: &str) -> Parsed<u64> {
        if let Some((Token::Number, text)) = self.peek()
            && let Some(Number::Integer(value)) = number(text)
        {
            self.at += 1;
            return Ok(value);
        }
        self.wrong(what)
    }

    /// The byte that ends the line of the last piece.
    pub(super) fn end_of_line(&self) -> usize {
        let from = self.last().end;
        let end = self.lines.partition_point(|&newline| newline < from);
        self.lines.get(end).copied().unwrap_or(self.text.len())
    }

    /// Skips the pieces that begin on the line of the last one.
    fn skip_line(&mut self) {
        let end = self.end_of_line();
        while self.tokens.get(self.at).is_some_and(|(_, span)| span.start < end) {
            // A line may have its own end, as those of a translator do.
            if self.take(";") {
                return;
            }
            self.at += 1;
        }
    }

    /// Skips a block in braces, whose first brace is next.
    fn skip_block(&mut self) -> Parsed {
        let mut depth = 0u32;
        loop {
            match self.next() {
                Some((_, "{")) => depth += 1,
                Some((_, "}")) if depth <= 1 => return Ok(()),
                Some((_, "}")) => depth -= 1,
                Some(_) => {}
                None => return self.wrong("`}` after the block"),
            }
        }
    }

    pub(super) fn skip_to_semicolon(&mut self) -> Parsed {
        while let Some((_, text)) = self.next() {
            if text == ";" {
                return Ok(());
            }
        }
        self.wrong("`;`")
    }

    fn module(&mut self) -> Parsed {
        if !self.take(".version") {
            return self.wrong("`.version`, which every PTX file begins with");
        }
        let at = self.span();
        let version = match self.next() {
            Some((Token::Number, text)) => text,
            _ => return Err(Wrong::new(at, "expected the version, such as 7.8")),
        };
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        match major {
            Some(6..=9) => {}
            Some(1..=5) => {
                let message = format!("PTX {version} is too old: versions 6.0 to 9.x are read");
                return Err(Wrong::new(at, message).hint("compile for sm_60 or newer"));
            }
            _ => {
                return Err(Wrong::new(
                    at,
                    format!("`{version}` is no version of PTX that is read: 6.0 to 9.x are"),
                ));
            }
        }
        while let Some((token, text)) = self.peek() {
            let is_linkage = |text: &str| matches!(text, ".visible" | ".extern" | ".weak" | ".common");
            match text {
                ".target" => {
                    self.at += 1;
                    self.target()?;
                }
                ".address_size" => {
                    self.at += 1;
                    let at = self.span();
                    if self.integer("the size of an address")? != 64 {
                        return Err(Wrong::new(
                            at,
                            "addresses of 32 bits are not taken: `.address_size 64` is",
                        )
                        .hint("compile for 64 bits (nvptx64)"));
                    }
                }
                ".file" => {
                    self.at += 1;
                    self.file()?;
                }
                ".loc" | ".alias" => {
                    self.at += 1;
                    self.skip_line();
                }
                ".pragma" => self.skip_to_semicolon()?,
                ".section" => {
                    self.at += 1;
                    while self.peek().is_some() && !self.is("{") {
                        self.at += 1;
                    }
                    self.skip_block()?;
                }
                ";" => self.at += 1,
                _ if is_linkage(text)
                    || matches!(text, ".entry" | ".func" | ".global" | ".const" | ".shared" | ".local") =>
                {
                    self.item()?;
                }
                _ if token == Token::Dotted && is_linkage(text) => self.item()?,
                _ => {
                    return self
                        .wrong("a directive of a module, such as `.entry`, `.func`, `.global` or `.const`");
                }
            }
        }
        Ok(())
    }

    fn target(&mut self) -> Parsed {
        loop {
            self.word("a target, such as sm_75")?;
            if !self.take(",") {
                return Ok(());
            }
        }
    }

    fn file(&mut self) -> Parsed {
        let number = self.integer("the number of a file")?;
        match self.next() {
            Some((Token::String, text)) => {
                let mut path = text.trim_matches('"').to_owned();
                // A folder may stand before the name.
                if let Some((Token::String, name)) = self.peek() {
                    self.at += 1;
                    path = format!("{path}/{}", name.trim_matches('"'));
                }
                let path = path.strip_prefix("./").map(str::to_owned).unwrap_or(path);
                self.tree.files.push((u32::try_from(number).unwrap_or(u32::MAX), path));
            }
            _ => return self.wrong("the path of a file in quotation marks"),
        }
        // A size and a time may follow.
        while self.take(",") {
            self.integer("a number")?;
        }
        self.take(";");
        Ok(())
    }

    /// A variable or a function, with its linkage.
    fn item(&mut self) -> Parsed {
        let mut is_extern = false;
        loop {
            match self.peek() {
                Some((_, ".extern")) => is_extern = true,
                Some((_, ".visible" | ".weak" | ".common" | ".attribute")) => {}
                _ => break,
            }
            self.at += 1;
            if self.is("(") {
                while !self.take(")") {
                    if self.next().is_none() {
                        return self.wrong("`)`");
                    }
                }
            }
        }
        match self.peek() {
            Some((_, ".entry")) => self.function(true),
            Some((_, ".func")) => self.function(false),
            _ => {
                let variables = self.variables(is_extern)?;
                for variable in variables {
                    if self.tree.variables.iter().any(|other| other.name == variable.name && !other.is_extern)
                    {
                        if variable.is_extern {
                            continue;
                        }
                        return Err(Wrong::new(
                            variable.at,
                            format!("`{}` is declared twice", variable.name),
                        ));
                    }
                    self.tree.variables.push(variable);
                }
                Ok(())
            }
        }
    }
}

/// A constant as bits of a type.
pub(super) fn constant(value: Number, is_negative: bool, ty: PtxType) -> u64 {
    let is_single = ty.kind == Kind::Float && ty.bits == 32;
    match value {
        Number::Integer(value) if ty.is_float() => {
            let value = if is_negative { -(value as f64) } else { value as f64 };
            if is_single { u64::from((value as f32).to_bits()) } else { value.to_bits() }
        }
        Number::Integer(value) => {
            if is_negative {
                value.wrapping_neg()
            } else {
                value
            }
        }
        Number::Single(bits) => {
            let bits = if is_negative { bits ^ 1 << 31 } else { bits };
            if ty.is_float() && !is_single {
                f64::from(f32::from_bits(bits)).to_bits()
            } else {
                u64::from(bits)
            }
        }
        Number::Double(value) => {
            let value = if is_negative { -value } else { value };
            if is_single { u64::from((value as f32).to_bits()) } else { value.to_bits() }
        }
    }
}

/// The hint for a name that is not known.
pub(super) fn near<'b>(name: &str, known: impl Iterator<Item = &'b str>) -> Option<String> {
    did_you_mean(name, known)
}
