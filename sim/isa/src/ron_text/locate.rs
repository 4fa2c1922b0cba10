//! Positions of the parameters in a RON text.
//!
//! ron reports positions as line and column, and none for values that it accepts. This scanner walks the text
//! once and records the byte ranges of every key and value with its path, such as `core.units[0].lanes`. It
//! accepts a superset of RON. It never fails: it stops at the first text that it cannot follow, and the
//! entries found so far remain useful for messages.

use std::ops::Range;

/// Syntactic form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `( … )`, with or without a name before it.
    Parentheses,
    /// `[ … ]`
    List,
    /// `{ … }`
    Map,
    /// A string.
    Text,
    /// A number, integer or not.
    Number,
    /// A bare word: `true`, `gto`, …
    Word,
    /// A character or another value that no parameter takes.
    Other,
}

/// A value in the text.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Path, with list items as `[0]`; empty for the whole file.
    pub path: String,
    /// Bytes of the key, if it has one.
    pub key: Option<Range<usize>>,
    /// Bytes of the value, from a struct's name to its closing parenthesis.
    pub value: Range<usize>,
    /// Its syntactic form.
    pub shape: Shape,
    /// Bytes of the name before the parenthesis, if there is one.
    pub name: Option<Range<usize>>,
    /// Index of the entry that contains it.
    pub parent: Option<usize>,
}

/// All values of a text, in text order.
#[derive(Debug, Default)]
pub struct Located {
    /// The entries. Parents precede their children.
    pub entries: Vec<Entry>,
    /// True if the scanner reached the end of the text.
    pub complete: bool,
    /// Byte of the innermost open bracket where the scan stopped.
    pub open: Option<usize>,
}

impl Located {
    /// The entry with this path. If a key is repeated, the last one.
    pub fn find(&self, path: &str) -> Option<&Entry> {
        self.entries.iter().rfind(|e| e.path == path)
    }
}

/// The path of `key` in the value at `path`.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Deepest nesting that the scanner follows. ron itself stops at 128.
const MAX_DEPTH: usize = 130;

/// Scans a text.
pub fn locate(text: &str) -> Located {
    let mut scanner = Scanner { text, at: 0, brackets: Vec::new(), found: Located::default() };
    scanner.found.complete = scanner.file().is_some();
    scanner.found.open = scanner.brackets.last().copied();
    scanner.found
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    brackets: Vec<usize>,
    found: Located,
}

/// All methods return `None` where the text cannot be followed.
impl Scanner<'_> {
    fn file(&mut self) -> Option<()> {
        self.blanks()?;
        while self.take("#!") {
            self.at += self.rest().find(']')? + 1;
            self.blanks()?;
        }
        self.value(String::new(), None, None)?;
        self.blanks()?;
        self.rest().is_empty().then_some(())
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> Range<usize> {
        let start = self.at;
        self.at += self.rest().find(|c| !accept(c)).unwrap_or(self.rest().len());
        start..self.at
    }

    /// Skips white space and comments.
    fn blanks(&mut self) -> Option<()> {
        loop {
            self.take_while(|c| c.is_whitespace() || matches!(c, '\u{200E}' | '\u{200F}'));
            if self.take("//") {
                self.take_while(|c| c != '\n');
            } else if self.take("/*") {
                let mut depth = 1;
                while depth > 0 {
                    if self.take("*/") {
                        depth -= 1;
                    } else if self.take("/*") {
                        depth += 1;
                    } else {
                        self.at += self.rest().chars().next()?.len_utf8();
                    }
                }
            } else {
                return Some(());
            }
        }
    }

    fn value(&mut self, path: String, key: Option<Range<usize>>, parent: Option<usize>) -> Option<()> {
        if self.brackets.len() > MAX_DEPTH {
            return None;
        }
        let start = self.at;
        let index = self.found.entries.len();
        let entry = Entry { path, key, value: start..start, shape: Shape::Other, name: None, parent };
        self.found.entries.push(entry);
        let shape = match self.rest().chars().next()? {
            '(' => self.fields(index)?,
            '[' => self.items(index, ']')?,
            '{' => self.items(index, '}')?,
            '"' => self.string()?,
            '\'' => self.character()?,
            c if c.is_ascii_digit() || matches!(c, '+' | '-' | '.') => {
                self.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '+' | '-'));
                Shape::Number
            }
            c if c.is_alphabetic() || c == '_' => return self.word(index),
            _ => return None,
        };
        self.close(index, shape)
    }

    fn close(&mut self, index: usize, shape: Shape) -> Option<()> {
        let entry = &mut self.found.entries[index];
        entry.value.end = self.at;
        entry.shape = shape;
        Some(())
    }

    /// A value that starts with letters: a byte, a raw string, `Some(…)`, a named struct or a word.
    fn word(&mut self, index: usize) -> Option<()> {
        if self.rest().starts_with("b'") {
            self.at += 1;
            let shape = self.character()?;
            return self.close(index, shape);
        }
        if let Some(after) = self.rest().strip_prefix('r') {
            let hashes = after.len() - after.trim_start_matches('#').len();
            if after[hashes..].starts_with('"') {
                self.at += 1 + hashes;
                let shape = self.raw_string(hashes)?;
                return self.close(index, shape);
            }
        }
        let name = self.identifier()?;
        let end = self.at;
        self.blanks()?;
        if !self.rest().starts_with('(') {
            self.at = end;
            return self.close(index, Shape::Word);
        }
        // `Some(x)` and `x` mean the same where a value is optional; `Some(key: x)` is `(key: x)`.
        if self.text[name.clone()] == *"Some" && !self.begins_fields() {
            let Entry { path, key, parent, .. } = self.found.entries.pop()?;
            self.brackets.push(self.at);
            self.at += 1;
            self.blanks()?;
            self.value(path, key, parent)?;
            self.blanks()?;
            if self.take(",") {
                self.blanks()?;
            }
            return self.end(')');
        }
        self.found.entries[index].name = Some(name);
        let shape = self.fields(index)?;
        self.close(index, shape)
    }

    /// True if a key follows the parenthesis here.
    fn begins_fields(&mut self) -> bool {
        let start = self.at;
        self.at += 1;
        let key = self.blanks().and_then(|()| self.identifier()).and_then(|_| self.blanks());
        let found = key.is_some() && self.take(":");
        self.at = start;
        found
    }

    fn identifier(&mut self) -> Option<Range<usize>> {
        let name = if self.take("r#") {
            self.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '+' | '-'))
        } else {
            self.take_while(|c| c.is_alphanumeric() || c == '_')
        };
        (!name.is_empty()).then_some(name)
    }

    /// `( key: value, … )`. A value without a key gets the path of a list item.
    fn fields(&mut self, index: usize) -> Option<Shape> {
        self.brackets.push(self.at);
        self.at += 1;
        let parent = self.found.entries[index].path.clone();
        for position in 0.. {
            self.blanks()?;
            if self.rest().starts_with(')') {
                break;
            }
            let start = self.at;
            let key = self.identifier();
            self.blanks()?;
            match key {
                Some(key) if self.take(":") => {
                    self.blanks()?;
                    self.value(join(&parent, &self.text[key.clone()]), Some(key), Some(index))?;
                }
                _ => {
                    self.at = start;
                    self.value(format!("{parent}[{position}]"), None, Some(index))?;
                }
            }
            self.blanks()?;
            if !self.take(",") {
                break;
            }
        }
        self.end(')')?;
        Some(Shape::Parentheses)
    }

    /// `[ value, … ]` or `{ value: value, … }`. Keys and values of a map both count as items.
    fn items(&mut self, index: usize, closing: char) -> Option<Shape> {
        self.brackets.push(self.at);
        self.at += 1;
        let parent = self.found.entries[index].path.clone();
        for position in 0.. {
            self.blanks()?;
            if self.rest().starts_with(closing) {
                break;
            }
            self.value(format!("{parent}[{position}]"), None, Some(index))?;
            self.blanks()?;
            let goes_on = self.take(",") || (closing == '}' && self.take(":"));
            if !goes_on {
                break;
            }
        }
        self.end(closing)?;
        Some(if closing == ']' { Shape::List } else { Shape::Map })
    }

    fn end(&mut self, closing: char) -> Option<()> {
        self.take(closing.encode_utf8(&mut [0; 4])).then(|| {
            self.brackets.pop();
        })
    }

    fn string(&mut self) -> Option<Shape> {
        self.quoted('"')?;
        Some(Shape::Text)
    }

    fn character(&mut self) -> Option<Shape> {
        self.quoted('\'')?;
        Some(Shape::Other)
    }

    fn quoted(&mut self, quote: char) -> Option<()> {
        let mut escaped = false;
        let end = self.rest().char_indices().skip(1).find(|&(_, c)| {
            let closes = c == quote && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        })?;
        self.at += end.0 + 1;
        Some(())
    }

    fn raw_string(&mut self, hashes: usize) -> Option<Shape> {
        let closing = format!("\"{}", "#".repeat(hashes));
        self.at += 1;
        self.at += self.rest().find(&closing)? + closing.len();
        Some(Shape::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value<'a>(text: &'a str, path: &str) -> &'a str {
        let located = locate(text);
        assert!(located.complete, "{text}");
        &text[located.find(path).unwrap_or_else(|| panic!("{path} in {text}")).value.clone()]
    }

    #[test]
    fn finds_values_behind_everything_that_ron_allows() {
        let text = "#![enable(implicit_some)]\n// cores: 1\n/* cores: 2 /* nested */ */\nConfig(name: \"a)\\\"(\", \
                    description: r#\"cores: 3 \"\"#, core: Core(issue: (width: Some(4),),), cores: 0x1_0, local_poison: b')', \
                    units: [(lanes: 8), (lanes: 16, classes: [])],)";
        assert_eq!(value(text, "name"), "\"a)\\\"(\"");
        assert_eq!(value(text, "description"), "r#\"cores: 3 \"\"#");
        assert_eq!(value(text, "core.issue.width"), "4");
        assert_eq!(value(text, "cores"), "0x1_0");
        assert_eq!(value(text, "units[1].lanes"), "16");
        assert_eq!(value(text, "core"), "Core(issue: (width: Some(4),),)");
        assert_eq!(value("(core: Some( /* x */ issue: Some((width: 4))))", "core.issue.width"), "4");
        assert_eq!(value("(cores:\u{200E}4\u{200F})", "cores"), "4");
    }

    #[test]
    fn names_the_bracket_that_is_never_closed() {
        let located = locate("(a: 1, b: (c: [1, 2, d: 3)");
        assert!(!located.complete);
        assert_eq!(located.open, Some("(a: 1, b: (c: ".len()));
        assert_eq!(located.find("a").map(|e| e.value.clone()), Some(4..5));
    }

    #[test]
    fn stops_at_nesting_that_would_exhaust_the_stack() {
        assert!(!locate(&"(a: ".repeat(100_000)).complete);
        assert!(!locate(&"[".repeat(100_000)).complete);
        assert!(!locate(&"Some(".repeat(100_000)).complete);
    }
}
