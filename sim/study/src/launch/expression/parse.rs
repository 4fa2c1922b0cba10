//! Parses an expression into a tree.

use super::{Binary, Function, Node, Unary, Value};
use wave_isa::suggest::did_you_mean;

/// Operators by precedence, lowest first. Within a level, an operator comes before its prefixes.
const LEVELS: &[&[(&str, Binary)]] = &[
    &[
        ("==", Binary::Equal),
        ("!=", Binary::NotEqual),
        ("<=", Binary::LessOrEqual),
        (">=", Binary::GreaterOrEqual),
        ("<", Binary::Less),
        (">", Binary::Greater),
    ],
    &[("|", Binary::Or)],
    &[("^", Binary::Xor)],
    &[("&", Binary::And)],
    &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("%", Binary::Remainder)],
];

/// Deepest nesting of parentheses, signs and calls.
const MAX_DEPTH: usize = 64;

/// Longest text in bytes, which bounds the depth of the tree.
const MAX_TEXT_BYTES: usize = 4096;

pub(super) fn parse(text: &str) -> Result<Node, String> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(format!("more than {MAX_TEXT_BYTES} bytes of text"));
    }
    let mut parser = Parser { text, at: 0, depth: 0 };
    let node = parser.binary(0)?;
    match parser.rest() {
        "" => Ok(node),
        rest => Err(format!("`{}` does not belong here", first_word(rest))),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// The remaining text, from the next token on.
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("`{token}` is missing")) }
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let taken = &rest[..rest.find(|c| !accept(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn operator(&mut self, level: usize) -> Option<Binary> {
        let rest = self.rest();
        let (token, operator) = LEVELS[level].iter().find(|(token, _)| rest.starts_with(token))?;
        // A `<` comparison must not match the start of `<<`.
        if matches!(*token, "<" | ">") && rest[1..].starts_with(token) {
            return None;
        }
        self.at += token.len();
        Some(*operator)
    }

    fn binary(&mut self, level: usize) -> Result<Node, String> {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(level) {
            let right = self.binary(level + 1)?;
            left = Node::Binary(operator, Box::new([left, right]));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} levels of nesting"));
        }
        let node = if self.take("-") {
            Node::Unary(Unary::Negate, Box::new(self.unary()?))
        } else if self.take("~") {
            Node::Unary(Unary::Not, Box::new(self.unary()?))
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(node)
    }

    fn primary(&mut self) -> Result<Node, String> {
        let rest = self.rest();
        match rest.chars().next() {
            Some('(') => {
                self.at += 1;
                let node = self.binary(0)?;
                self.expect(")")?;
                Ok(node)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => {
                let name = self.name();
                if self.take("(") {
                    self.call(name)
                } else if self.take("[") {
                    let index = self.binary(0)?;
                    self.expect("]")?;
                    Ok(Node::Element(name.to_owned(), Box::new(index)))
                } else {
                    Ok(Node::Name(name.to_owned()))
                }
            }
            None | Some(')' | ',' | ']') => Err("an operand is missing".to_owned()),
            Some(_) => Err(format!("`{}` is no operand", first_word(rest))),
        }
    }

    /// A name, whose parts are joined by dots: `core.l1.bytes`.
    fn name(&mut self) -> &'a str {
        let start = self.at;
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        self.take_while(is_word);
        while self.text[self.at..].strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphabetic))
        {
            self.at += 1;
            self.take_while(is_word);
        }
        &self.text[start..self.at]
    }

    fn call(&mut self, name: &str) -> Result<Node, String> {
        let Some(function) = Function::from_name(name) else {
            let hint = did_you_mean(name, Function::NAMES.iter().copied());
            return Err(match hint {
                Some(hint) => format!("there is no function `{name}`, {hint}"),
                None => format!("there is no function `{name}`"),
            });
        };
        let mut arguments = vec![self.binary(0)?];
        while self.take(",") {
            arguments.push(self.binary(0)?);
        }
        self.expect(")")?;
        let wanted = function.arguments();
        if arguments.len() != wanted {
            let s = if wanted == 1 { "" } else { "s" };
            return Err(format!("`{name}` takes {wanted} argument{s}, here are {}", arguments.len()));
        }
        Ok(Node::Call(function, arguments))
    }

    fn number(&mut self) -> Result<Node, String> {
        let start = self.at;
        for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2)] {
            if self.take(prefix) {
                let digits = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_').replace('_', "");
                return i64::from_str_radix(&digits, radix)
                    .map(|v| Node::Value(Value::Int(v)))
                    .map_err(|_| format!("`{}` is not a number of 63 bits", &self.text[start..self.at]));
            }
        }
        let is_digit = |c: char| c.is_ascii_digit() || c == '_';
        self.take_while(is_digit);
        let mut float = false;
        if self.text[self.at..].starts_with('.') {
            self.at += 1;
            float = true;
            self.take_while(is_digit);
        }
        if self.text[self.at..].starts_with(['e', 'E']) {
            self.at += 1;
            float = true;
            if self.text[self.at..].starts_with(['+', '-']) {
                self.at += 1;
            }
            self.take_while(is_digit);
        }
        let text = &self.text[start..self.at];
        let digits = text.replace('_', "");
        let value =
            if float { digits.parse().ok().map(Value::Float) } else { digits.parse().ok().map(Value::Int) };
        value.map(Node::Value).ok_or_else(|| format!("`{text}` is not a number, or too large a one"))
    }
}

/// The first word of `text`, for a message.
fn first_word(text: &str) -> &str {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    match end {
        0 => &text[..text.chars().next().map_or(0, char::len_utf8)],
        _ => &text[..end],
    }
}
