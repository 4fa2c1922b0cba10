//! The assembler: WAVE assembly text to a [`Program`].
//!
//! A file is a list of kernels, each from `.kernel` to `.end`. A line has labels, then a directive or an
//! instruction. Operands, their number and their encoding follow the opcode table. Every line is checked on
//! its own, so one run reports the errors of the whole file.

mod kernel;
mod lexer;
mod operands;
mod parser;

use super::{Program, SourceMap};
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::{Guard, Op};
use crate::{number, suggest};
use kernel::KernelText;
use lexer::{Spanned, Token};
use parser::{Line, Piece, Statement};
use std::cmp::Reverse;
use std::ops::Range;

/// Registers of a kernel without `.registers`.
pub(crate) const DEFAULT_REGISTERS: u32 = 32;
/// Most diagnostics that one run lists. The rest is counted.
pub(crate) const MOST_DIAGNOSTICS: usize = 50;
/// After this many errors the rest of a file is not read: it is no assembly text.
const FLOOD: usize = 1000;

/// The directives and how they are used.
const DIRECTIVES: &[(&str, &str)] = &[
    ("kernel", ".kernel NAME"),
    ("registers", ".registers N"),
    ("local_memory", ".local_memory BYTES"),
    ("workgroup_size", ".workgroup_size X, Y, Z"),
    ("word", ".word VALUE, ..."),
    ("end", ".end"),
];

/// Directives of other assemblers that name a value or a text.
const NO_CONSTANTS: &[&str] = &["equ", "equiv", "set", "define", "def", "const", "eqv", "macro"];

const KERNEL_FORM: &str = "a kernel begins with `.kernel NAME` and ends with `.end`";

/// Assembles `text`; `file` is its path for messages.
///
/// Returns the program, with its source map, and warnings in the order of the text.
///
/// # Errors
/// Every error of the file, and the warnings, in the order of the text; at most [`MOST_DIAGNOSTICS`],
/// errors before warnings, and a last one that counts the rest.
pub fn assemble(text: &str, file: &str) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut assembler = Assembler {
        text,
        program: Program::default(),
        lines: Vec::new(),
        open: None,
        outside_reported: false,
        cut: false,
        errors: 0,
        problems: Vec::new(),
    };
    let tokens = lexer::tokenize(text);
    for (number, line) in tokens.split(|(token, _)| *token == Token::Newline).enumerate() {
        if assembler.errors >= FLOOD {
            // The rest of the text would only be reported as missing.
            assembler.open = None;
            assembler.cut = true;
            break;
        }
        if !line.is_empty() {
            assembler.line(number as u32 + 1, line);
        }
    }
    assembler.finish(file)
}

/// A message about a span of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Problem {
    message: String,
    hint: Option<String>,
    span: Range<usize>,
}

impl Problem {
    fn new(span: &Range<usize>, message: impl Into<String>) -> Problem {
        Problem { message: message.into(), hint: None, span: span.clone() }
    }

    fn hint(mut self, hint: impl Into<Option<String>>) -> Problem {
        self.hint = hint.into();
        self
    }
}

/// Source text in a message: in backquotes, with control characters escaped.
fn quote(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
    format!("`{}`", text.chars().map(escape).collect::<String>())
}

struct Assembler<'a> {
    text: &'a str,
    program: Program,
    /// Source line of each word.
    lines: Vec<u32>,
    /// The kernel being read.
    open: Option<KernelText<'a>>,
    /// A statement outside of kernels has been reported since the last `.end`.
    outside_reported: bool,
    /// The rest of the text has not been read.
    cut: bool,
    /// Errors among the problems, except those found at the end of a kernel.
    errors: usize,
    problems: Vec<(Severity, Problem)>,
}

impl<'a> Assembler<'a> {
    fn error(&mut self, problem: Problem) {
        if let Some(kernel) = &mut self.open {
            kernel.broken = true;
        }
        self.errors += 1;
        self.problems.push((Severity::Error, problem));
    }

    fn warn(&mut self, problem: Problem) {
        self.problems.push((Severity::Warning, problem));
    }

    fn offset(&self) -> u32 {
        self.program.code.len() as u32 * crate::WORD_BYTES
    }

    fn line(&mut self, number: u32, tokens: &[Spanned]) {
        let (Line { labels, statement }, error) = parser::parse_line(self.text, tokens);
        let offset = self.offset();
        for label in labels {
            let span = label.span.clone();
            match &mut self.open {
                Some(kernel) => {
                    if let Err(problem) = kernel.define_label(label, offset, number) {
                        self.error(problem);
                    }
                }
                None => self.warn(
                    Problem::new(
                        &span,
                        format!("label `{}` is outside every kernel and names nothing", label.text),
                    )
                    .hint("labels belong to a kernel: put it after `.kernel NAME`".to_owned()),
                ),
            }
        }
        if let Some(error) = error {
            self.error(error);
        }
        match statement {
            None => {}
            Some(Statement::Directive { name, arguments }) => self.directive(number, name, &arguments),
            Some(Statement::Instruction { guard, mnemonic, hint, arguments }) => {
                match instruction(guard, &mnemonic, hint.as_ref(), &arguments) {
                    Err(problems) => problems.into_iter().for_each(|p| self.error(p)),
                    Ok(encoded) => self.instruction(number, &mnemonic, encoded),
                }
            }
        }
    }

    fn instruction(&mut self, line: u32, mnemonic: &Piece<'a>, encoded: operands::Encoded<'a>) {
        encoded.warnings.into_iter().for_each(|w| self.warn(w));
        let words = encoded.inst.encode();
        let at = self.program.code.len();
        match &mut self.open {
            None => self.outside(&mnemonic.span, "instruction"),
            Some(kernel) => {
                encoded.registers.into_iter().for_each(|(last, span)| kernel.uses_register(last, span));
                if encoded.inst.op == Op::Call {
                    let target = encoded.target.ok_or((encoded.inst.imm, mnemonic.span.clone()));
                    kernel.calls.push((at + 1, target));
                }
                for &word in &words[..encoded.inst.words() as usize] {
                    self.program.code.push(word);
                    self.lines.push(line);
                }
            }
        }
    }

    fn outside(&mut self, span: &Range<usize>, what: &str) {
        if !self.outside_reported {
            self.outside_reported = true;
            self.error(Problem::new(span, format!("{what} outside a kernel")).hint(KERNEL_FORM.to_owned()));
        }
    }

    fn directive(&mut self, line: u32, name: Piece<'a>, arguments: &[Spanned]) {
        let Some((_, usage)) = DIRECTIVES.iter().find(|(n, _)| *n == name.text) else {
            let all = DIRECTIVES.iter().map(|(n, _)| format!(".{n}")).collect::<Vec<_>>();
            let near = suggest::did_you_mean(&format!(".{}", name.text), all.iter().map(String::as_str));
            let list = format!("the directives are {}", all.join(" "));
            let hint = match NO_CONSTANTS.contains(&name.text) {
                true => format!(
                    "there are no named constants and no macros: write the number where it is used; {list}"
                ),
                false => near.unwrap_or(list),
            };
            self.error(Problem::new(&name.span, format!("unknown directive `.{}`", name.text)).hint(hint));
            return;
        };
        let result = match name.text {
            "kernel" => self.begin_kernel(&name, arguments),
            "end" => self.no_arguments(&name, arguments).and_then(|()| self.end_kernel(&name)),
            "word" => self.words(line, &name, arguments),
            _ => self.property(&name, arguments),
        };
        if let Err(problem) = result {
            let usage = format!("its form is `{usage}`");
            let hint = problem.hint.clone().unwrap_or(usage);
            self.error(problem.hint(hint));
        }
    }

    fn begin_kernel(&mut self, directive: &Piece<'a>, arguments: &[Spanned]) -> Result<(), Problem> {
        if let Some(open) = self.open.take() {
            self.error(open.unclosed("before the next one begins"));
            self.close(open);
        }
        self.outside_reported = false;
        // Open the kernel even after an error, so that its lines are not reported as outside.
        let (name, error) = match self.kernel_name(directive, arguments) {
            Ok(name) => (name, None),
            Err(problem) => (String::new(), Some(problem)),
        };
        let span = arguments.first().map_or(&directive.span, |(_, span)| span).clone();
        self.open = Some(KernelText::new(name, span, self.offset()));
        error.map_or(Ok(()), Err)
    }

    fn kernel_name(&self, directive: &Piece<'a>, arguments: &[Spanned]) -> Result<String, Problem> {
        let (token, span) =
            arguments.first().ok_or_else(|| Problem::new(&directive.span, "`.kernel` needs a name"))?;
        let text = &self.text[span.clone()];
        let quoted = || {
            "a name with other characters than letters, digits and _ is quoted: `.kernel \"a b\"`".to_owned()
        };
        let name = match token {
            Token::Word => text.to_owned(),
            Token::Quoted => kernel::unquote(text).map_err(|m| Problem::new(span, m))?,
            _ => {
                return Err(
                    Problem::new(span, format!("expected a name, found {}", quote(text))).hint(quoted())
                );
            }
        };
        match arguments.get(1) {
            None => Ok(name),
            Some((_, surplus)) => {
                let found = quote(&self.text[surplus.clone()]);
                Err(Problem::new(surplus, format!("expected the end of the line, found {found}"))
                    .hint(quoted()))
            }
        }
    }

    fn end_kernel(&mut self, directive: &Piece<'a>) -> Result<(), Problem> {
        match self.open.take() {
            Some(kernel) => {
                self.close(kernel);
                Ok(())
            }
            None if std::mem::take(&mut self.outside_reported) => Ok(()),
            None => {
                Err(Problem::new(&directive.span, "`.end` without a `.kernel`").hint(KERNEL_FORM.to_owned()))
            }
        }
    }

    /// Resolves what is known only at the end of a kernel.
    fn close(&mut self, kernel: KernelText<'a>) {
        self.outside_reported = false;
        let duplicate = self.program.kernels.iter().any(|k| k.name == kernel.name && !k.name.is_empty());
        if duplicate {
            self.warn(
                Problem::new(&kernel.span, format!("a second kernel named `{}`", kernel.name))
                    .hint("a launch by name starts the first one".to_owned()),
            );
        }
        let mut problems = Vec::new();
        self.program.kernels.push(kernel.close(&mut self.program.code, &mut problems));
        self.problems.extend(problems);
    }

    fn words(&mut self, line: u32, directive: &Piece<'a>, arguments: &[Spanned]) -> Result<(), Problem> {
        for span in self.list(directive, arguments)? {
            let text = &self.text[span.clone()];
            let word = number::parse_bits(text).map_err(|m| Problem::new(&span, m))?;
            self.program.code.push(word);
            self.lines.push(line);
        }
        Ok(())
    }

    /// `.registers`, `.local_memory`, `.workgroup_size`.
    fn property(&mut self, directive: &Piece<'a>, arguments: &[Spanned]) -> Result<(), Problem> {
        let spans = self.list(directive, arguments)?;
        let mut values = Vec::new();
        for span in &spans {
            values.push(number::parse_u32(&self.text[span.clone()]).map_err(|m| Problem::new(span, m))?);
        }
        let count = if directive.text == "workgroup_size" { 3 } else { 1 };
        if values.len() != count {
            let message = format!(
                "`.{}` takes {count} value{}, found {}",
                directive.text,
                if count == 1 { "" } else { "s" },
                values.len()
            );
            return Err(Problem::new(&directive.span, message));
        }
        let Some(kernel) = &mut self.open else {
            self.outside(&directive.span, &format!("`.{}`", directive.text));
            return Ok(());
        };
        if let Some(warning) = kernel.set(directive, &values, &spans[0])? {
            self.warn(warning);
        }
        Ok(())
    }

    fn no_arguments(&self, directive: &Piece<'a>, arguments: &[Spanned]) -> Result<(), Problem> {
        match arguments.first() {
            None => Ok(()),
            Some((_, span)) => Err(Problem::new(span, format!("`.{}` takes no values", directive.text))),
        }
    }

    /// Numbers separated by commas, at least one.
    fn list(&self, directive: &Piece<'a>, arguments: &[Spanned]) -> Result<Vec<Range<usize>>, Problem> {
        let mut spans = Vec::new();
        let mut expect_number = true;
        for (token, span) in arguments {
            let wanted = if expect_number { Token::Number } else { Token::Comma };
            if *token != wanted {
                let what = if expect_number { "a number" } else { "a comma or the end of the line" };
                let found = quote(&self.text[span.clone()]);
                return Err(Problem::new(span, format!("expected {what}, found {found}")));
            }
            if expect_number {
                spans.push(span.clone());
            }
            expect_number = !expect_number;
        }
        if expect_number {
            let message = format!("`.{}` needs a value", directive.text);
            return Err(Problem::new(&directive.span, message));
        }
        Ok(spans)
    }

    fn finish(mut self, file: &str) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
        if let Some(open) = self.open.take() {
            self.error(open.unclosed("at the end of the file"));
            self.close(open);
        }
        let no_error = self.problems.iter().all(|(severity, _)| *severity == Severity::Warning);
        if no_error && self.program.kernels.is_empty() {
            self.error(Problem::new(&(0..0), "the file has no kernel").hint(KERNEL_FORM.to_owned()));
        }
        let failed = self.problems.iter().any(|(severity, _)| *severity == Severity::Error);
        let diagnostics = self.diagnostics(file);
        if failed {
            return Err(diagnostics);
        }
        let source = SourceMap { file: file.to_owned(), text: self.text.to_owned(), lines: self.lines };
        Ok((Program { source: Some(source), ..self.program }, diagnostics))
    }

    fn diagnostics(&mut self, file: &str) -> Vec<Diagnostic> {
        // If there are more than can be listed, errors are listed before warnings.
        self.problems.sort_by_key(|(severity, problem)| (Reverse(*severity), problem.span.start));
        let surplus = self.problems.split_off(self.problems.len().min(MOST_DIAGNOSTICS));
        self.problems.sort_by_key(|(_, problem)| problem.span.start);
        let listed = self.problems.drain(..);
        let mut diagnostics: Vec<Diagnostic> = listed
            .map(|(severity, problem)| {
                let length = self.text[problem.span.clone()].chars().count();
                let place = Place::at_offset(file, self.text, problem.span.start, length);
                Diagnostic { severity, message: problem.message, place: Some(place), hint: problem.hint }
            })
            .collect();
        if let Some((severity, _)) = surplus.first() {
            let rest = if self.cut { ", and the rest of the file was not read" } else { "" };
            let message = format!("{} more messages about `{file}` are not shown{rest}", surplus.len());
            diagnostics.push(Diagnostic { severity: *severity, ..Diagnostic::error(message) });
        }
        diagnostics
    }
}

fn instruction<'a>(
    guard: Option<parser::GuardText<'a>>,
    mnemonic: &Piece<'a>,
    hint: Option<&Piece<'a>>,
    arguments: &[parser::Argument<'a>],
) -> Result<operands::Encoded<'a>, Vec<Problem>> {
    let info = operands::lookup(mnemonic, hint, arguments).map_err(|p| vec![p])?;
    let guard = guard.map_or(Ok((Guard::NONE, None)), |g| operands::guard(&g, info));
    let bits = guard.as_ref().map_or(Guard::NONE, |(bits, _)| *bits);
    let encoded = operands::encode(info, bits, mnemonic, arguments);
    match (guard, encoded) {
        (Ok((_, warning)), Ok(mut encoded)) => {
            encoded.warnings.extend(warning);
            Ok(encoded)
        }
        (Ok(_), Err(problems)) => Err(problems),
        (Err(problem), Ok(_)) => Err(vec![problem]),
        (Err(problem), Err(mut problems)) => {
            problems.insert(0, problem);
            Err(problems)
        }
    }
}

#[cfg(test)]
mod tests;
