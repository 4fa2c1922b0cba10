//! Shaders as text: the assembler and the listing.
//!
//! The syntax is that of picasso, with a few additions: places of words (`@12`) wherever a name of a procedure or a
//! label may stand, which the listing uses, and `.dvle NAME`, which begins another shader of the file.

mod directives;
mod encode;
mod instructions;
mod lexer;
mod operands;
mod write;

pub(super) use write::listing;

use super::instruction::{Instruction, Region};
use super::{Decoded, PicaOptions, container, make};
use crate::encoding::Listing;
use crate::ir;
use lexer::{Kind, Line, Problem};
use operands::Names;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use wave_isa::diagnostic::{Diagnostic, Place};
use wave_isa::suggest::did_you_mean;

/// Most words of a file.
const MOST_WORDS: usize = 4096;
/// Errors that are listed at most.
const MOST_ERRORS: usize = 50;

/// Makes a container of the text of shaders. `file` is its path for messages.
///
/// # Errors
/// What is wrong with the text, in its order.
pub fn assemble(text: &str, file: &str) -> Result<Vec<u8>, Vec<Diagnostic>> {
    assembled(text, file).map(|made| made.bytes)
}

/// Assembles and decodes the text of shaders: the listing is this text. `file` is its path for messages.
///
/// # Errors
/// What is wrong with the text, in its order.
pub fn decode_text(text: &str, file: &str, options: &PicaOptions) -> Result<Decoded, Vec<Diagnostic>> {
    let Assembled { bytes, spans } = assembled(text, file)?;
    let container = container::read(&bytes).expect("the assembler writes what the decoder reads");
    let start = container.code_offset;
    let decoded = make(container, options).map_err(|error| {
        let word = error.offset.map(|offset| offset.saturating_sub(start) as usize / 4);
        let span = word.and_then(|word| spans.get(word)).cloned().unwrap_or_default();
        let place = Place::at_offset(file, text, span.start, span.len());
        vec![Diagnostic::error(error.message).at(place)]
    })?;
    let place = |word: usize| ir::Place(start as u32 + 4 * word as u32);
    let places = spans.iter().enumerate().map(|(word, span)| (place(word), span.start));
    Ok(Decoded { listing: Listing::of_text(text, places), ..decoded })
}

/// A container of the text of shaders.
struct Assembled {
    bytes: Vec<u8>,
    /// The bytes of the text that each word of the code comes from.
    spans: Vec<Range<usize>>,
}

/// As [`assemble`], with the places of the words.
fn assembled(text: &str, file: &str) -> Result<Assembled, Vec<Diagnostic>> {
    let mut assembler = Assembler::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end_matches('\n').len();
        let mut parsed = Line::new(text, start..end);
        start += line.len();
        if let Err(problem) = assembler.line(&mut parsed) {
            assembler.problems.push(problem);
        }
        if assembler.problems.len() >= MOST_ERRORS {
            break;
        }
    }
    let made = if assembler.problems.is_empty() { assembler.finish(text.len()) } else { None };
    let spans = std::mem::take(&mut assembler.spans);
    made.map(|bytes| Assembled { bytes, spans }).ok_or_else(|| {
        let located = |problem: &Problem| {
            let place = Place::at_offset(file, text, problem.span.start, problem.span.len());
            let diagnostic = Diagnostic::error(problem.message.clone()).at(place);
            match &problem.hint {
                Some(hint) => diagnostic.hint(hint.clone()),
                None => diagnostic,
            }
        };
        assembler.problems.iter().map(located).collect()
    })
}

/// A shader of the file, without its code.
#[derive(Debug, Clone, Default)]
struct ShaderText {
    name: String,
    entry: Option<(Where, Range<usize>)>,
    /// By kind (0 boolean, 1 integer, 2 float) and register: words.
    constants: BTreeMap<(u16, u16), [u32; 4]>,
    /// Kind, register, components.
    outputs: Vec<(u16, u16, u16)>,
    /// Names of registers: the first and the last of each.
    names: Vec<(String, u16, u16)>,
}

/// The first word of a shader, and the one behind its procedure.
#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u16,
    end: u16,
}

/// A word of the code.
#[derive(Debug, Clone)]
enum Where {
    Word(u16),
    /// A procedure or a label.
    Name(String),
}

/// What is open until its `.end`.
#[derive(Debug)]
enum Open {
    Procedure {
        name: String,
        start: usize,
    },
    If {
        at: usize,
        other: Option<usize>,
    },
    Loop {
        at: usize,
    },
    /// Constants in a row.
    Array {
        name: String,
        values: Vec<[u32; 4]>,
    },
}

/// What is known so far.
#[derive(Debug, Default)]
struct Assembler {
    instructions: Vec<Instruction>,
    /// Where each instruction stands in the text.
    spans: Vec<Range<usize>>,
    /// Names that instructions go to.
    targets: Vec<(usize, String, Range<usize>)>,
    procedures: HashMap<String, (usize, usize)>,
    labels: HashMap<String, usize>,
    names: Names,
    /// Uniforms that are taken: from below, and constants from above.
    uniforms: u8,
    constants: u8,
    integers: u8,
    constant_integers: u8,
    booleans: u8,
    constant_booleans: u8,
    inputs: u8,
    outputs: u8,
    open: Vec<(Open, Range<usize>)>,
    /// The word at which something ended last.
    ended: Option<usize>,
    shaders: Vec<ShaderText>,
    no_shader: bool,
    problems: Vec<Problem>,
}

impl Assembler {
    fn line(&mut self, line: &mut Line<'_>) -> Result<(), Problem> {
        while line.kind(0) == Some(Kind::Word) && line.kind(1) == Some(Kind::Colon) {
            let (name, span) = line.expect(Kind::Word, "a label")?;
            line.take(Kind::Colon);
            let word = self.instructions.len();
            if self.labels.insert(name.to_owned(), word).is_some() {
                return Err(Problem::new(span, format!("label `{name}` is there already")));
            }
        }
        if line.is_at_end() {
            return Ok(());
        }
        if line.take(Kind::Dot).is_some() {
            self.directive(line)?;
        } else {
            let span = line.span();
            self.instruction(line, span)?;
        }
        line.finish()
    }

    /// Adds an instruction.
    fn push(&mut self, instruction: Instruction, span: &Range<usize>) -> Result<usize, Problem> {
        if self.instructions.len() == MOST_WORDS {
            return Err(Problem::new(span.clone(), format!("a file has at most {MOST_WORDS} instructions")));
        }
        self.instructions.push(instruction);
        self.spans.push(span.clone());
        Ok(self.instructions.len() - 1)
    }

    /// The shader that is being described.
    fn shader(&mut self) -> &mut ShaderText {
        if self.shaders.is_empty() {
            self.shaders.push(ShaderText { name: "main".to_owned(), ..ShaderText::default() });
        }
        self.shaders.last_mut().expect("there is one")
    }

    /// The end of what was opened last. Where two would end at one word, an instruction that does nothing comes between:
    /// so does picasso.
    fn end(&mut self, span: &Range<usize>) -> Result<(), Problem> {
        let Some((open, _)) = self.open.pop() else {
            return Err(Problem::new(span.clone(), "nothing is open here that `.end` could end"));
        };
        if let Open::Array { name, values } = open {
            return self.end_array(name, values, span);
        }
        if self.ended == Some(self.instructions.len()) {
            self.push(Instruction::Nop, span)?;
        }
        let end = self.instructions.len();
        self.ended = Some(end);
        match open {
            Open::Procedure { name, start } => {
                self.procedures.insert(name, (start, end));
            }
            Open::If { at, other } => {
                let start = other.unwrap_or(end);
                let count = u8::try_from(end - start).map_err(|_| {
                    Problem::new(span.clone(), "the part behind `.else` has more than 255 words")
                })?;
                if let Instruction::If(_, region) = &mut self.instructions[at] {
                    *region = Region { start: start as u16, count };
                }
            }
            Open::Loop { at } => {
                if end == at + 1 {
                    return Err(Problem::new(span.clone(), "the loop has no instruction")
                        .hint("put a `nop` into it".to_owned()));
                }
                if let Instruction::Loop(_, last) = &mut self.instructions[at] {
                    *last = end as u16 - 1;
                }
            }
            Open::Array { .. } => {}
        }
        Ok(())
    }

    /// The word that a name stands for, and the number of words if it is a procedure.
    fn word(&self, name: &str, span: &Range<usize>) -> Result<(usize, Option<usize>), Problem> {
        if let Some(&(start, end)) = self.procedures.get(name) {
            return Ok((start, Some(end - start)));
        }
        self.labels.get(name).map(|&word| (word, None)).ok_or_else(|| {
            let all = self.procedures.keys().chain(self.labels.keys());
            Problem::new(span.clone(), format!("there is no procedure and no label `{name}`"))
                .hint(did_you_mean(name, all.map(String::as_str)))
        })
    }

    /// Puts the words that names stand for into an instruction.
    fn resolve(&mut self, at: usize, name: &str, span: &Range<usize>) -> Result<(), Problem> {
        let (start, count) = self.word(name, span)?;
        let start = u16::try_from(start).ok().filter(|&start| start < 4096);
        let start =
            start.ok_or_else(|| Problem::new(span.clone(), "the last word that can be named is 4095"))?;
        match &mut self.instructions[at] {
            Instruction::Call(_, region) => {
                let Some(count) = count else {
                    return Err(Problem::new(span.clone(), format!("`{name}` is a label, and no procedure")));
                };
                let count = u8::try_from(count).map_err(|_| {
                    Problem::new(span.clone(), "a procedure that is called has at most 255 words")
                })?;
                *region = Region { start, count };
            }
            Instruction::Jump(_, target) => *target = start,
            _ => {}
        }
        Ok(())
    }

    fn entry(&self, shader: &ShaderText, end: usize) -> Result<Entry, Problem> {
        let (name, span) = match &shader.entry {
            Some((Where::Word(word), span)) => {
                if usize::from(*word) >= self.instructions.len() {
                    return Err(Problem::new(span.clone(), "the entry is behind the last instruction"));
                }
                return Ok(Entry { start: *word, end: self.instructions.len() as u16 });
            }
            Some((Where::Name(name), span)) => (name.as_str(), span.clone()),
            None => ("main", end..end),
        };
        let (start, count) = self.word(name, &span).map_err(|problem| {
            problem
                .hint("a shader begins at the procedure `main`, or at the one that `.entry` names".to_owned())
        })?;
        let end = count.map_or(self.instructions.len(), |count| start + count);
        if start >= self.instructions.len() {
            return Err(Problem::new(span, "the entry is behind the last instruction"));
        }
        Ok(Entry { start: start as u16, end: end as u16 })
    }

    /// The file, if nothing is wrong.
    fn finish(&mut self, end: usize) -> Option<Vec<u8>> {
        if let Some((_, span)) = self.open.last() {
            let problem = Problem::new(span.clone(), "this has no `.end`");
            self.problems.push(problem);
            return None;
        }
        for (at, name, span) in std::mem::take(&mut self.targets) {
            if let Err(problem) = self.resolve(at, &name, &span) {
                self.problems.push(problem);
            }
        }
        if !self.no_shader {
            self.shader();
        }
        let mut shaders = Vec::new();
        for shader in std::mem::take(&mut self.shaders) {
            match self.entry(&shader, end) {
                Ok(entry) => {
                    let mut shader = shader;
                    if let (true, Some((Where::Name(name), _))) = (shader.name == "main", &shader.entry) {
                        shader.name.clone_from(name);
                    }
                    shaders.push((shader, entry));
                }
                Err(problem) => self.problems.push(problem),
            }
        }
        match encode::words(&self.instructions) {
            Ok((code, descriptors)) if self.problems.is_empty() => {
                Some(encode::container(&code, &descriptors, &shaders))
            }
            Ok(_) => None,
            Err(full) => {
                let message = format!(
                    "the shaders need more than {} different descriptors: masks, swizzles and signs of operands",
                    full.most
                );
                self.problems.push(Problem::new(self.spans[full.instruction].clone(), message));
                None
            }
        }
    }
}
