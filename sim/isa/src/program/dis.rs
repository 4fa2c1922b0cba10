//! The disassembler: assembly text of instructions and programs.

use super::structure::{NestingError, Structure};
use super::{Kernel, Program};
use crate::{Inst, Op, Operand, Role, Special, WORD_BYTES};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

/// Names of code offsets, in bytes from the start of the code section.
pub type Labels = BTreeMap<u32, String>;

/// One instruction, with its guard, in the syntax of the assembler. The target of a call is a label if
/// `labels` has one, else its byte offset.
pub fn disassemble_inst(inst: &Inst, labels: &Labels) -> String {
    let info = inst.op.info();
    let mut line = String::new();
    if inst.guard.is_some() {
        let not = if inst.guard.negated { "!" } else { "" };
        _ = write!(line, "@{not}p{} ", inst.guard.predicate);
    }
    line.push_str(info.mnemonic);
    let shown = info.operands.iter().filter(|o| o.role != Role::DstOptional || inst.rd != 0);
    for (i, operand) in shown.enumerate() {
        line.push_str(if i == 0 { " " } else { ", " });
        line.push_str(&operand_text(inst, operand, labels));
    }
    line
}

fn operand_text(inst: &Inst, operand: &Operand, labels: &Labels) -> String {
    let value = inst.field(operand.field);
    match operand.role {
        Role::Dst(_) | Role::DstOptional | Role::DstBallot | Role::Src(_) => format!("r{value}"),
        Role::PredDst | Role::PredSrc => format!("p{value}"),
        Role::PredSrcNeg => format!("{}p{}", if value & 4 != 0 { "!" } else { "" }, value & 3),
        Role::Special => Special::from_code(value).map_or(format!("sr_{value}"), |s| s.name().to_owned()),
        Role::Imm => literal(inst.imm),
        Role::Label => labels.get(&inst.imm).cloned().unwrap_or_else(|| format!("{:#x}", inst.imm)),
        Role::Scope => format!(".{}", inst.scope.name()),
        Role::FragA | Role::FragB | Role::FragC => format!("f{value}"),
    }
}

/// The instruction at a word of the code section, or the word itself if it is none; `None` behind the end of the code.
pub fn instruction_text(program: &Program, word: u32) -> Option<String> {
    let code = program.code.get(word as usize..)?;
    match Inst::decode(code) {
        Ok(inst) => Some(disassemble_inst(&inst, &Labels::new())),
        Err(_) => code.first().map(|word| format!(".word 0x{word:08x}")),
    }
}

/// Small numbers as signed decimals, others as hexadecimal bits.
fn literal(bits: u32) -> String {
    match bits.cast_signed() {
        small @ -65_536..=65_536 => small.to_string(),
        _ => format!("0x{bits:08x}"),
    }
}

/// What a listing has beside the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing {
    /// The place of each instruction before it, in bytes from the start of the code section.
    pub offsets: bool,
    /// The words of each instruction before it; of two words the second on a line of its own.
    pub raw: bool,
    /// Directives: where kernels begin and end, and what they state.
    pub directives: bool,
    /// In front of the code of each line of the source, that line, in a comment.
    pub source: bool,
}

impl Listing {
    /// Assembly: directives, and places and words behind the instructions, in comments.
    pub(crate) const ASSEMBLY: Listing =
        Listing { offsets: false, raw: false, directives: true, source: false };
}

/// A whole program as text that assembles to the same kernels and words. A comment on each line gives the
/// byte offset and the words.
///
/// Words that are no instruction, or an instruction that the assembler would encode differently (bits set in
/// unused fields), become `.word`. Kernel names are the program's own; labels are generated.
///
/// # Panics
/// If the kernels are not in the order of their code, or outside of it. Assembler and loader ensure both.
pub fn disassemble(program: &Program) -> String {
    listing(program, Listing::ASSEMBLY)
}

/// A whole program as text for reading. With [`Listing::ASSEMBLY`] it is that of [`disassemble`].
///
/// # Panics
/// As [`disassemble`].
pub fn listing(program: &Program, form: Listing) -> String {
    let mut text = String::new();
    let mut at = 0;
    for kernel in &program.kernels {
        data(&mut text, program, at..kernel.code.start, form);
        at = kernel.code.end;
        kernel_text(&mut text, program, kernel, form);
    }
    data(&mut text, program, at..program.code.len() as u32, form);
    text
}

/// Words outside every kernel.
fn data(text: &mut String, program: &Program, words: Range<u32>, form: Listing) {
    for at in words {
        line(text, &word_directive(&[program.code[at as usize]]), at, &[program.code[at as usize]], "", form);
    }
}

fn directives(text: &mut String, kernel: &Kernel) {
    if !text.is_empty() {
        text.push('\n');
    }
    _ = writeln!(text, ".kernel {}", quoted(&kernel.name));
    _ = writeln!(text, ".registers {}", kernel.registers);
    if kernel.local_memory_bytes != 0 {
        _ = writeln!(text, ".local_memory {}", kernel.local_memory_bytes);
    }
    if kernel.workgroup_size != [0; 3] {
        let [x, y, z] = kernel.workgroup_size;
        _ = writeln!(text, ".workgroup_size {x}, {y}, {z}");
    }
}

fn kernel_text(text: &mut String, program: &Program, kernel: &Kernel, form: Listing) {
    if form.directives {
        directives(text, kernel);
    }
    let pieces: Vec<Piece> = pieces(program, kernel);
    let labels = call_labels(&pieces);
    let source = program.source.as_ref().filter(|_| form.source);
    let source_lines: Vec<&str> = source.map_or(Vec::new(), |source| source.text.lines().collect());
    if let Some(source) = source {
        _ = writeln!(text, "; lines of {}", source.file);
    }
    let mut shown = 0;
    for piece in &pieces {
        let number = source.and_then(|source| source.lines.get(piece.at as usize)).copied().unwrap_or(0);
        if number != 0 && number != shown {
            shown = number;
            let line = source_lines.get(number as usize - 1).map_or("", |line| line.trim_end());
            _ = writeln!(text, "; {number:4}  {line}");
        }
        let words = &program.code[piece.at as usize..][..piece.words];
        if let Some(label) = labels.get(&(piece.at * WORD_BYTES)) {
            _ = writeln!(text, "{label}:");
        }
        match &piece.content {
            Content::Inst(inst) => {
                line(text, &disassemble_inst(inst, &labels), piece.at, words, &float_note(inst), form)
            }
            Content::Words(note) => line(text, &word_directive(words), piece.at, words, note, form),
        }
    }
    if form.directives {
        text.push_str(".end\n");
    }
}

/// Words of a kernel that make one line.
struct Piece {
    /// Word offset in the code section.
    at: u32,
    words: usize,
    content: Content,
}

enum Content {
    Inst(Inst),
    /// Words that the assembler would not produce from an instruction, with the reason.
    Words(String),
}

/// Splits a kernel into lines. What the assembler would reject, such as an undeclared register, becomes
/// words.
fn pieces(program: &Program, kernel: &Kernel) -> Vec<Piece> {
    let code = &program.code[kernel.code.start as usize..kernel.code.end as usize];
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let (words, content) = match Inst::decode(&code[at..]) {
            Err(error) => (1, Content::Words(error.to_string())),
            Ok(inst) => {
                let words = inst.words() as usize;
                let same = inst.encode()[..words] == code[at..at + words];
                let content = match (same, inst.check_registers(kernel.registers as u16, 1)) {
                    (true, Ok(())) => Content::Inst(inst),
                    (true, Err(error)) => {
                        Content::Words(format!("{}: {error}", disassemble_inst(&inst, &Labels::new())))
                    }
                    (false, _) => Content::Words(format!(
                        "{}, with bits in unused fields",
                        disassemble_inst(&inst, &Labels::new())
                    )),
                };
                (words, content)
            }
        };
        pieces.push(Piece { at: kernel.code.start + at as u32, words, content });
        at += words;
    }
    let structure = Structure::scan(code);
    for error in &structure.errors {
        let NestingError::Unclosed(slot, _) = *error else { continue };
        let at = kernel.code.start + structure.slots[slot].word;
        let Ok(piece) = pieces.binary_search_by_key(&at, |piece| piece.at) else { continue };
        if let Content::Inst(inst) = &pieces[piece].content {
            let note = format!("{}, which is never closed", disassemble_inst(inst, &Labels::new()));
            pieces[piece].content = Content::Words(note);
        }
    }
    pieces
}

/// A label for each line that is called.
fn call_labels(pieces: &[Piece]) -> Labels {
    let mut labels = Labels::new();
    for piece in pieces {
        if let Content::Inst(inst @ Inst { op: Op::Call, .. }) = &piece.content
            && inst.imm.is_multiple_of(WORD_BYTES)
            && pieces.binary_search_by_key(&(inst.imm / WORD_BYTES), |p| p.at).is_ok()
        {
            labels.insert(inst.imm, format!("at_{:04x}", inst.imm));
        }
    }
    labels
}

fn word_directive(words: &[u32]) -> String {
    let words: Vec<String> = words.iter().map(|w| format!("0x{w:08x}")).collect();
    format!(".word {}", words.join(", "))
}

/// The literal as a float, if it looks like one.
fn float_note(inst: &Inst) -> String {
    let value = f32::from_bits(inst.imm);
    let plausible = (1e-6..1e9).contains(&value.abs());
    if inst.op == Op::MovImm && plausible { format!("{value:?}") } else { String::new() }
}

fn line(text: &mut String, content: &str, at: u32, words: &[u32], note: &str, form: Listing) {
    let at = at * WORD_BYTES;
    if form.offsets || form.raw {
        let offset = if form.offsets { format!("0x{at:04X}: ") } else { String::new() };
        let word = |word: &u32| if form.raw { format!("{word:08X}  ") } else { String::new() };
        _ = writeln!(text, "{offset}{}{content}", words.first().map_or(String::new(), word));
        for second in words.iter().skip(1).filter(|_| form.raw) {
            _ = writeln!(text, "{:1$}{2}", "", offset.len(), word(second).trim_end());
        }
        return;
    }
    let hex: Vec<String> = words.iter().map(|w| format!("{w:08x}")).collect();
    let comment = format!("{at:04x}: {:17}  {note}", hex.join(" "));
    _ = writeln!(text, "    {content:<44} ; {}", comment.trim_end());
}

/// A kernel's name in the syntax of the assembler.
fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain { name.to_owned() } else { format!("{name:?}") }
}
