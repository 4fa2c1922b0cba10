//! The kernel being assembled.

use super::parser::Piece;
use super::{DEFAULT_REGISTERS, Problem};
use crate::diagnostic::Severity;
use crate::program::Kernel;
use crate::suggest::did_you_mean;
use crate::{MAX_REGISTERS, WORD_BYTES};
use std::collections::BTreeMap;
use std::ops::Range;

/// Target of a call: a label, or a byte offset and the span of the call.
type Target<'a> = Result<Piece<'a>, (u32, Range<usize>)>;

/// A kernel between its `.kernel` and its `.end`.
pub(super) struct KernelText<'a> {
    /// Its name.
    pub name: String,
    /// Span of the name in the source.
    pub span: Range<usize>,
    /// Byte offset of its first word in the code section.
    start: u32,
    /// A line of the kernel has an error, so words or directives are missing.
    pub broken: bool,
    registers: Option<u32>,
    local_memory_bytes: Option<u32>,
    workgroup_size: Option<[u32; 3]>,
    /// Per label: its byte offset in the code section, and the line that defines it.
    labels: BTreeMap<&'a str, (u32, u32)>,
    /// Per call: the index of its second word, and its target.
    pub calls: Vec<(usize, Target<'a>)>,
    /// Register operands, each the highest so far. The first of them that is not declared is the first such
    /// operand of the kernel.
    highest: Vec<(u16, Range<usize>)>,
}

impl<'a> KernelText<'a> {
    pub(super) fn new(name: String, span: Range<usize>, start: u32) -> KernelText<'a> {
        KernelText {
            name,
            span,
            start,
            broken: false,
            registers: None,
            local_memory_bytes: None,
            workgroup_size: None,
            labels: BTreeMap::new(),
            calls: Vec::new(),
            highest: Vec::new(),
        }
    }

    /// Defines a label of line `line` as `offset` bytes of the code section.
    pub(crate) fn define_label(&mut self, label: Piece<'a>, offset: u32, line: u32) -> Result<(), Problem> {
        if let Some((_, first)) = self.labels.get(label.text) {
            let message = format!("label `{}` is already defined in kernel `{}`", label.text, self.name);
            return Err(Problem::new(&label.span, message).hint(format!("the first one is on line {first}")));
        }
        self.labels.insert(label.text, (offset, line));
        Ok(())
    }

    /// Records a register operand that touches registers up to `last`.
    pub(crate) fn uses_register(&mut self, last: u16, span: Range<usize>) {
        if self.highest.last().is_none_or(|(highest, _)| last > *highest) {
            self.highest.push((last, span));
        }
    }

    /// Sets the value of a directive. A second one replaces the first, with a warning.
    pub(super) fn set(
        &mut self,
        directive: &Piece<'a>,
        values: &[u32],
        span: &Range<usize>,
    ) -> Result<Option<Problem>, Problem> {
        let again = match (directive.text, values) {
            ("registers", &[count]) => {
                if !(1..=MAX_REGISTERS as u32).contains(&count) {
                    let message = format!("a kernel has 1 to {MAX_REGISTERS} registers, found {count}");
                    return Err(Problem::new(span, message));
                }
                self.registers.replace(count).is_some()
            }
            ("local_memory", &[bytes]) => self.local_memory_bytes.replace(bytes).is_some(),
            (_, &[x, y, z]) => self.workgroup_size.replace([x, y, z]).is_some(),
            _ => false,
        };
        let message =
            || format!("a second `.{}` of kernel `{}` replaces the first", directive.text, self.name);
        Ok(again.then(|| Problem::new(&directive.span, message())))
    }

    /// The error for a kernel without `.end`.
    pub(super) fn unclosed(&self, when: &str) -> Problem {
        Problem::new(&self.span, format!("kernel `{}` has no `.end` {when}", self.name))
            .hint("put `.end` after its last instruction".to_owned())
    }

    /// Checks registers and patches calls in `code`, whose last kernel this is.
    pub(super) fn close(self, code: &mut [u32], problems: &mut Vec<(Severity, Problem)>) -> Kernel {
        let words = self.start / WORD_BYTES..code.len() as u32;
        if words.is_empty() && !self.broken {
            let empty = Problem::new(&self.span, format!("kernel `{}` has no instructions", self.name));
            problems.push((Severity::Warning, empty));
        }
        let registers = self.registers.unwrap_or(DEFAULT_REGISTERS);
        problems.extend(self.undeclared_register(registers).map(|p| (Severity::Error, p)));
        for (word, target) in &self.calls {
            let (offset, span) = match target {
                Err((offset, span)) => (*offset, span),
                Ok(label) => match self.labels.get(label.text) {
                    Some((offset, _)) => (*offset, &label.span),
                    None => {
                        problems.push((Severity::Error, self.undefined_label(label)));
                        continue;
                    }
                },
            };
            let inside = offset.is_multiple_of(WORD_BYTES) && words.contains(&(offset / WORD_BYTES));
            if !inside && !self.broken {
                let message =
                    format!("the call's target, byte {offset:#x}, is not in kernel `{}`", self.name);
                let note = "it is an illegal instruction when it is reached".to_owned();
                problems.push((Severity::Warning, Problem::new(span, message).hint(note)));
            }
            if let Some(word) = code.get_mut(*word) {
                *word = offset;
            }
        }
        Kernel {
            name: self.name,
            registers,
            local_memory_bytes: self.local_memory_bytes.unwrap_or(0),
            workgroup_size: self.workgroup_size.unwrap_or([0; 3]),
            code: words,
            parameters: None,
            private: None,
            bindings: Vec::new(),
        }
    }

    fn undeclared_register(&self, registers: u32) -> Option<Problem> {
        let (last, span) = self.highest.iter().find(|(last, _)| u32::from(*last) >= registers)?;
        let (most, _) = self.highest.last()?;
        let name = &self.name;
        let message = match self.registers {
            Some(_) => format!("r{last} is past the {registers} registers that kernel `{name}` declares"),
            // The missing `.registers` may be the line in error.
            None if self.broken => return None,
            None => format!("r{last} is past the {registers} registers of a kernel without `.registers`"),
        };
        let hint = match usize::from(*most) < MAX_REGISTERS {
            true => format!("`.registers {}` is enough for all of `{name}`", most + 1),
            false => "a register pair or quadruple has to end at r255 or below".to_owned(),
        };
        Some(Problem::new(span, message).hint(hint))
    }

    fn undefined_label(&self, label: &Piece) -> Problem {
        let near = did_you_mean(label.text, self.labels.keys().copied());
        let hint =
            near.unwrap_or("labels are written `name:` and are known in their own kernel only".to_owned());
        Problem::new(&label.span, format!("label `{}` is not defined in kernel `{}`", label.text, self.name))
            .hint(hint)
    }
}

/// The text of a quoted name: `\"`, `\\`, `\n`, `\t`, `\u{…}` are escapes.
pub(super) fn unquote(quoted: &str) -> Result<String, String> {
    let mut chars = quoted[1..quoted.len() - 1].chars();
    let mut name = String::new();
    while let Some(c) = chars.next() {
        if c != '\\' {
            name.push(c);
            continue;
        }
        let escaped = match chars.next() {
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('u') => {
                let digits: String = chars.by_ref().skip(1).take_while(|&c| c != '}').collect();
                u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
            }
            Some(c @ ('"' | '\\' | '\'')) => Some(c),
            _ => None,
        };
        name.push(
            escaped
                .ok_or("the name has an unknown escape sequence: there are \\\" \\\\ \\n \\r \\t \\u{...}")?,
        );
    }
    if name.contains('\0') { Err("a name cannot contain a null character".to_owned()) } else { Ok(name) }
}
