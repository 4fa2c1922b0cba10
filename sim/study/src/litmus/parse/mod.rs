//! Parses litmus files. docs/litmus.md describes the form.

mod statement;

pub(crate) use statement::atomic_name;

use super::test::{Guard, Location, MAX_LOCATIONS, MAX_THREADS, Observable, Test, Thread};
use super::variant;
use statement::STATEMENTS;
use wave_isa::diagnostic::{Diagnostic, Place};
use wave_isa::suggest::did_you_mean;

/// A word, number, string or symbol of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Token<'a> {
    text: &'a str,
    /// Byte offset in the file.
    offset: usize,
}

/// An error and its place.
type Wrong = Box<Diagnostic>;

/// The words that begin a line outside of threads.
const HEADINGS: [&str; 7] = ["test", "about", "location", "thread", "observe", "weak", "seen"];

/// Words that cannot name a register, thread or location.
fn is_reserved(word: &str) -> bool {
    STATEMENTS.contains(&word) || HEADINGS.contains(&word)
}

/// Parses a test. `file` is its path, for messages.
///
/// # Errors
/// The first error, with its place.
pub fn parse(text: &str, file: &str) -> Result<Test, Wrong> {
    let mut parser = Parser {
        file,
        text,
        test: Test {
            name: String::new(),
            about: String::new(),
            locations: Vec::new(),
            threads: Vec::new(),
            observed: Vec::new(),
            weak: Vec::new(),
            seen: Vec::new(),
        },
        guard: None,
        line: Vec::new(),
        at: 0,
        end: 0,
    };
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        parser.line(line, offset)?;
        offset += line.len();
    }
    parser.finish()
}

struct Parser<'a> {
    file: &'a str,
    text: &'a str,
    test: Test,
    /// The open `when` and its offset.
    guard: Option<(Guard, usize)>,
    /// Tokens of the line.
    line: Vec<Token<'a>>,
    /// Index of the next token.
    at: usize,
    /// Offset of the end of the line.
    end: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, offset: usize, length: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message).at(Place::at_offset(self.file, self.text, offset, length))
    }

    fn wrong<T>(
        &self,
        token: Token<'_>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Result<T, Wrong> {
        Err(Box::new(self.error(token.offset, token.text.chars().count(), message).hint(hint)))
    }

    /// The error about an unknown word, with similar known ones.
    fn unknown<T>(&self, token: Token<'_>, what: &str, known: &[&str]) -> Result<T, Wrong> {
        let near = did_you_mean(token.text, known.iter().copied());
        let hint = near.unwrap_or_else(|| match known {
            [] => format!("there is no {what} yet"),
            known => format!("one of {}", known.join(", ")),
        });
        self.wrong(token, format!("there is no {what} `{}`", token.text), hint)
    }

    fn peek(&self) -> Option<Token<'a>> {
        self.line.get(self.at).copied()
    }

    fn next(&mut self, what: &str) -> Result<Token<'a>, Wrong> {
        let Some(token) = self.peek() else {
            return Err(Box::new(self.error(self.end, 1, format!("{what} is missing here"))));
        };
        self.at += 1;
        Ok(token)
    }

    fn takes(&mut self, text: &str) -> bool {
        let is_next = self.peek().is_some_and(|token| token.text == text);
        self.at += usize::from(is_next);
        is_next
    }

    fn sign(&mut self, text: &str) -> Result<(), Wrong> {
        let token = self.next(&format!("`{text}`"))?;
        if token.text == text {
            Ok(())
        } else {
            self.wrong(token, format!("`{text}` is expected here"), "see docs/litmus.md")
        }
    }

    fn number(&mut self) -> Result<u32, Wrong> {
        let token = self.next("a number")?;
        match token.text.parse() {
            Ok(number) => Ok(number),
            Err(_) => {
                self.wrong(token, format!("`{}` is no number", token.text), "an integer from 0 to 4294967295")
            }
        }
    }

    /// Takes a name that is not in use.
    fn new_name(&mut self, what: &str) -> Result<Token<'a>, Wrong> {
        let token = self.next(what)?;
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let fits =
            token.text.chars().all(letters) && token.text.starts_with(|c: char| c.is_ascii_alphabetic());
        if !fits || is_reserved(token.text) {
            let hint = "letters, digits and `_`, a letter first, and no word of the language";
            return self.wrong(token, format!("`{}` cannot be {what}", token.text), hint);
        }
        Ok(token)
    }

    fn location(&mut self) -> Result<usize, Wrong> {
        let token = self.next("a location")?;
        match self.test.locations.iter().position(|l| l.name == token.text) {
            Some(location) => Ok(location),
            None => {
                let known: Vec<&str> = self.test.locations.iter().map(|l| l.name.as_str()).collect();
                self.unknown(token, "location", &known)
            }
        }
    }

    /// Takes a register of the open thread that has a value.
    fn register(&mut self) -> Result<usize, Wrong> {
        let token = self.next("a register")?;
        self.register_of(token, self.test.threads.len() - 1)
    }

    fn register_of(&self, token: Token<'_>, thread: usize) -> Result<usize, Wrong> {
        let registers = &self.test.threads[thread].registers;
        match registers.iter().position(|r| r == token.text) {
            Some(register) => Ok(register),
            None => {
                let known: Vec<&str> = registers.iter().map(String::as_str).collect();
                self.unknown(token, "register", &known)
            }
        }
    }

    fn line(&mut self, line: &'a str, offset: usize) -> Result<(), Wrong> {
        let code = line.split('#').next().unwrap_or("");
        self.line = tokens(code, offset);
        self.at = 0;
        self.end = offset + code.trim_end().len();
        let Some(first) = self.peek() else { return Ok(()) };
        if let Some(open) = first.text.strip_prefix('"')
            && !open.ends_with('"')
        {
            return self.wrong(first, "this text is never closed", "put `\"` at its end");
        }
        if self.test.name.is_empty() && first.text != "test" {
            return self.wrong(first, "a test begins with its name", "write `test NAME` first");
        }
        match first.text {
            heading if HEADINGS.contains(&heading) => {
                self.at += 1;
                self.heading(first)?;
            }
            _ if self.test.threads.is_empty() => return self.unknown(first, "heading", &HEADINGS),
            _ => self.statement(first)?,
        }
        match self.peek() {
            Some(token) => self.wrong(token, "nothing more is expected on this line", "one statement a line"),
            None => Ok(()),
        }
    }

    fn heading(&mut self, heading: Token<'a>) -> Result<(), Wrong> {
        if let Some((_, offset)) = self.guard {
            return Err(Box::new(
                self.error(offset, 4, "this `when` is never closed").hint("close it with `end`"),
            ));
        }
        match heading.text {
            "test" => {
                let name = self.next("a name")?;
                if !self.test.name.is_empty() {
                    return self.wrong(heading, "a file has one test", "put this one into a file of its own");
                }
                // Names such as `2+2W` are several tokens: take all up to the next blank.
                let length = self.text[name.offset..self.end].find(char::is_whitespace);
                let end = length.map_or(self.end, |length| name.offset + length);
                self.test.name = self.text[name.offset..end].to_owned();
                while self.peek().is_some_and(|token| token.offset < end) {
                    self.at += 1;
                }
            }
            "about" => {
                let text = self.next("a text in quotes")?;
                let Some(about) = text.text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) else {
                    return self.wrong(text, "a text in quotes is expected here", "about \"…\"");
                };
                let blank = if self.test.about.is_empty() { "" } else { " " };
                self.test.about += blank;
                self.test.about += about;
            }
            "location" => self.new_location()?,
            "thread" => self.new_thread()?,
            "observe" => loop {
                let token = self.peek();
                let location = self.location()?;
                if let Some(token) = token.filter(|_| self.test.locations[location].local) {
                    let hint = "load it into a register of a thread";
                    return self.wrong(token, "nobody sees local memory after the kernel", hint);
                }
                self.test.observed.push(location);
                if !self.takes(",") {
                    break;
                }
            },
            "weak" => loop {
                let observable = self.observable()?;
                self.sign("=")?;
                let value = self.number()?;
                self.test.weak.push((observable, value));
                if !self.takes(",") {
                    break;
                }
            },
            _ => {
                let mut words = Vec::new();
                while let Some(token) = self.peek() {
                    self.at += 1;
                    if !variant::is_word(token.text) {
                        return self.unknown(token, "word for a variant", &variant::WORDS);
                    }
                    words.push(token.text.to_owned());
                }
                self.test.seen.push(words);
            }
        }
        Ok(())
    }

    fn new_location(&mut self) -> Result<(), Wrong> {
        let name = self.new_name("a location")?;
        if self.test.locations.iter().any(|l| l.name == name.text) {
            return self.wrong(
                name,
                format!("there is a location `{}` already", name.text),
                "take another name",
            );
        }
        if let Some(thread) = self.test.threads.first() {
            let hint = format!("put it before `thread {}`", thread.name);
            return self.wrong(name, "locations are declared before the threads", hint);
        }
        if self.test.locations.len() == MAX_LOCATIONS {
            return self.wrong(
                name,
                format!("a test has at most {MAX_LOCATIONS} locations"),
                "leave one out",
            );
        }
        let mut location = Location { name: name.text.to_owned(), initial: 0, flag: false, local: false };
        if self.takes("=") {
            location.initial = self.number()?;
        }
        while let Some(token) = self.peek() {
            self.at += 1;
            match token.text {
                "flag" => location.flag = true,
                "local" => location.local = true,
                _ => return self.unknown(token, "kind of location", &["flag", "local"]),
            }
        }
        self.test.locations.push(location);
        Ok(())
    }

    fn new_thread(&mut self) -> Result<(), Wrong> {
        let token = self.next("a thread's name")?;
        let expected = (b'A' + self.test.threads.len() as u8) as char;
        if self.test.threads.len() == MAX_THREADS {
            return self.wrong(token, format!("a test has at most {MAX_THREADS} threads"), "leave one out");
        }
        if token.text != expected.to_string() {
            let hint = "threads are A, B, C and D, in this order";
            return self.wrong(token, format!("this thread is `{expected}`"), hint);
        }
        self.test.threads.push(Thread { name: expected, registers: Vec::new(), body: Vec::new() });
        Ok(())
    }

    /// `A.r0` or `x`.
    fn observable(&mut self) -> Result<Observable, Wrong> {
        let token = self.next("a register or location")?;
        let Some((thread, register)) = token.text.split_once('.') else {
            self.at -= 1;
            let location = self.location()?;
            if !self.test.observed.contains(&location) {
                return self.wrong(
                    token,
                    format!("`{}` is not observed", token.text),
                    "name it with `observe` above",
                );
            }
            return Ok(Observable::Location(location));
        };
        let names: Vec<String> = self.test.threads.iter().map(|t| t.name.to_string()).collect();
        let Some(index) = names.iter().position(|name| name == thread) else {
            let known: Vec<&str> = names.iter().map(String::as_str).collect();
            return self.unknown(Token { text: thread, offset: token.offset }, "thread", &known);
        };
        let place = Token { text: register, offset: token.offset + thread.len() + 1 };
        Ok(Observable::Register { thread: index, register: self.register_of(place, index)? })
    }

    /// Checks what can be checked only at the end of the file.
    fn finish(self) -> Result<Test, Wrong> {
        let end = self.text.trim_end().len();
        let lacks = |message: &str, hint: &str| Err(Box::new(self.error(end, 1, message).hint(hint)));
        if let Some((_, offset)) = self.guard {
            return Err(Box::new(
                self.error(offset, 4, "this `when` is never closed").hint("close it with `end`"),
            ));
        }
        if self.test.name.is_empty() {
            return lacks("there is no test here", "write `test NAME` first");
        }
        if self.test.threads.is_empty() {
            return lacks("the test has no thread", "write `thread A` and its statements");
        }
        let barriers = self.test.barriers(0);
        if (1..self.test.threads.len()).any(|t| self.test.barriers(t) != barriers) {
            return lacks("the threads have different numbers of barriers", "a barrier is for all of them");
        }
        if !self.test.seen.is_empty() && self.test.weak.is_empty() {
            return lacks("`seen` without `weak`", "say with `weak` which outcome has to be seen");
        }
        Ok(self.test)
    }
}

/// Splits a line into words (with dots in them), numbers, quoted texts and symbols.
fn tokens(line: &str, offset: usize) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let length = if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |i| i + 2)
        } else if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("!=") {
            2
        } else {
            first.len_utf8()
        };
        found.push(Token { text: &rest[..length], offset: offset + (line.len() - rest.len()) });
        rest = rest[length..].trim_start();
    }
    found
}
