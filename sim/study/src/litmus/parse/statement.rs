//! The lines of a thread.

use super::{Parser, Token, Wrong};
use crate::litmus::test::{Action, Expression, Guard, MAX_REGISTERS, Operator, Statement, Term};
use wave_isa::special::Scope;
use wave_isa::table::{AtomicOp, CacheHint};

/// The first words of a thread's lines, except assignments to a register.
pub(super) const STATEMENTS: [&str; 15] = [
    "store", "fence", "barrier", "when", "end", "load", "add", "sub", "min", "max", "and", "or", "xor",
    "exchange", "cas",
];

/// Atomics by their words.
const ATOMICS: [(&str, AtomicOp); 9] = [
    ("add", AtomicOp::Add),
    ("sub", AtomicOp::Sub),
    ("min", AtomicOp::Min),
    ("max", AtomicOp::Max),
    ("and", AtomicOp::And),
    ("or", AtomicOp::Or),
    ("xor", AtomicOp::Xor),
    ("exchange", AtomicOp::Exchange),
    ("cas", AtomicOp::Cas),
];

/// The word of an atomic, which is the last part of its mnemonics.
pub(crate) fn atomic_name(op: AtomicOp) -> &'static str {
    ATOMICS.iter().find(|(_, o)| *o == op).map_or("", |(name, _)| name)
}

impl<'a> Parser<'a> {
    /// Parses a line of a thread.
    pub(super) fn statement(&mut self, first: Token<'a>) -> Result<(), Wrong> {
        let assigned = match self.line.get(1) {
            Some(sign) if sign.text == "=" => {
                let name = self.new_name("a register")?;
                self.sign("=")?;
                Some(name)
            }
            _ => None,
        };
        let verb = self.next("a statement")?;
        let (word, suffix) = verb.text.split_once('.').unwrap_or((verb.text, ""));
        if !STATEMENTS.contains(&word) {
            return self.unknown(Token { text: word, ..verb }, "statement", &STATEMENTS);
        }
        let register = match assigned {
            None => None,
            Some(name) if !matches!(word, "store" | "fence" | "barrier" | "when" | "end") => {
                Some(self.assign(name)?)
            }
            Some(name) => {
                return self.wrong(
                    name,
                    format!("`{word}` has no result"),
                    format!("leave `{} =` out", name.text),
                );
            }
        };
        if !suffix.is_empty() && matches!(word, "when" | "end" | "barrier") {
            return self.wrong(
                verb,
                format!("`{word}` has neither hint nor scope"),
                format!("write `{word}`"),
            );
        }
        let suffix = Token { text: suffix, offset: verb.offset + word.len() + 1 };
        let action = match word {
            "when" => return self.when(first),
            "end" => {
                return match self.guard.take() {
                    Some(_) => Ok(()),
                    None => self.wrong(first, "there is no `when` to close", "leave it out"),
                };
            }
            "barrier" if self.guard.is_some() => {
                return self.wrong(first, "a barrier is for all lanes of a wave", "put it outside of `when`");
            }
            "barrier" => Action::Barrier,
            "load" => {
                let Some(register) = register else {
                    return self.wrong(first, "a load has a result", "write `r0 = load …`");
                };
                let (hint, location) = (self.hint(suffix)?, self.location()?);
                Action::Load { register, location, hint, dependency: self.dependency()? }
            }
            "store" => {
                let (hint, location) = (self.hint(suffix)?, self.location()?);
                self.sign(",")?;
                Action::Store { location, value: self.expression()?, hint, dependency: self.dependency()? }
            }
            "fence" => {
                let kinds = ["release", "acquire", "acq_rel"];
                let kind = self.next("the kind of fence")?;
                if !kinds.contains(&kind.text) {
                    return self.unknown(kind, "fence", &kinds);
                }
                let (release, acquire) = (kind.text != "acquire", kind.text != "release");
                Action::Fence { release, acquire, scope: self.scope(suffix)? }
            }
            _ => self.atomic(word, suffix, register)?,
        };
        let local = match action {
            Action::Load { location, hint, .. } | Action::Store { location, hint, .. } => {
                self.test.locations[location].local && hint != CacheHint::Cached
            }
            Action::Atomic { location, scope, .. } => self.test.locations[location].local && scope.is_some(),
            _ => false,
        };
        if local {
            return self.wrong(
                verb,
                "accesses to local memory have neither hint nor scope",
                format!("write `{word}`"),
            );
        }
        let guard = self.guard.map(|(guard, _)| guard);
        if let Some(thread) = self.test.threads.last_mut() {
            thread.body.push(Statement { guard, action });
        }
        Ok(())
    }

    fn assign(&mut self, name: Token<'a>) -> Result<usize, Wrong> {
        let Some(thread) = self.test.threads.last_mut() else {
            return self.wrong(name, "there is no thread yet", "write `thread A` first");
        };
        if thread.registers.iter().any(|r| r == name.text) {
            let hint = "every register is assigned once; take another name";
            return self.wrong(name, format!("`{}` has a value already", name.text), hint);
        }
        if thread.registers.len() == MAX_REGISTERS {
            return self.wrong(
                name,
                format!("a thread has at most {MAX_REGISTERS} registers"),
                "leave one out",
            );
        }
        thread.registers.push(name.text.to_owned());
        Ok(thread.registers.len() - 1)
    }

    fn when(&mut self, first: Token<'a>) -> Result<(), Wrong> {
        if self.guard.is_some() {
            return self.wrong(
                first,
                "`when` stands in no other `when`",
                "close the one above with `end` first",
            );
        }
        let register = self.register()?;
        let sign = self.next("`=` or `!=`")?;
        if !["=", "!="].contains(&sign.text) {
            return self.wrong(sign, "`=` or `!=` is expected here", "when REGISTER = NUMBER");
        }
        let value = self.number()?;
        self.guard = Some((Guard { register, equal: sign.text == "=", value }, first.offset));
        Ok(())
    }

    fn atomic(&mut self, word: &str, suffix: Token<'_>, register: Option<usize>) -> Result<Action, Wrong> {
        let op = ATOMICS.iter().find(|(name, _)| *name == word).map_or(AtomicOp::Exchange, |&(_, op)| op);
        let scope = self.scope(suffix)?;
        let location = self.location()?;
        self.sign(",")?;
        let value = self.expression()?;
        let mut swap = Expression::default();
        if op == AtomicOp::Cas {
            self.sign(",")?;
            swap = self.expression()?;
        }
        Ok(Action::Atomic { register, op, location, value, swap, scope })
    }

    fn expression(&mut self) -> Result<Expression, Wrong> {
        let first = self.term()?;
        let mut rest = Vec::new();
        loop {
            let operator = match self.peek().map(|token| token.text) {
                Some("+") => Operator::Add,
                Some("^") => Operator::Xor,
                _ => return Ok(Expression { first, rest }),
            };
            self.at += 1;
            rest.push((operator, self.term()?));
        }
    }

    fn term(&mut self) -> Result<Term, Wrong> {
        match self.peek() {
            Some(token) if !token.text.starts_with(|c: char| c.is_ascii_digit()) => {
                self.register().map(Term::Register)
            }
            _ => self.number().map(Term::Number),
        }
    }

    fn dependency(&mut self) -> Result<Option<usize>, Wrong> {
        if self.takes("dep") { self.register().map(Some) } else { Ok(None) }
    }

    fn hint(&self, suffix: Token<'_>) -> Result<CacheHint, Wrong> {
        match suffix.text {
            "" | "cached" => Ok(CacheHint::Cached),
            "uncached" => Ok(CacheHint::Uncached),
            "streaming" => Ok(CacheHint::Streaming),
            _ => self.unknown(suffix, "hint", &["cached", "uncached", "streaming"]),
        }
    }

    fn scope(&self, suffix: Token<'_>) -> Result<Option<Scope>, Wrong> {
        if suffix.text.is_empty() {
            return Ok(None);
        }
        match Scope::from_name(suffix.text) {
            Some(scope) => Ok(Some(scope)),
            None => self.unknown(suffix, "scope", &["wave", "workgroup", "device", "system"]),
        }
    }
}
