//! The words of a SPIR-V module: debugging information is read and taken out, because naga does not take all of it.

use super::disassembly::disassembly;
use super::switches::{self, Switches};
use crate::encoding::{Listing, is_code};
use crate::ir::Place;
use std::collections::HashMap;
use std::path::Path;
use wave_files::read::{PROGRAM_BYTES, regular_text};

/// The first word of a module.
pub(super) const MAGIC: u32 = 0x0723_0203;
/// Words of the header.
const HEADER_WORDS: usize = 5;

/// Opcodes of the specification, version 1.6, section 3.
pub(super) mod op {
    pub(in super::super) const SOURCE_CONTINUED: u32 = 2;
    pub(in super::super) const SOURCE: u32 = 3;
    pub(in super::super) const STRING: u32 = 7;
    pub(in super::super) const LINE: u32 = 8;
    pub(in super::super) const ENTRY_POINT: u32 = 15;
    pub(in super::super) const EXECUTION_MODE: u32 = 16;
    pub(in super::super) const TYPE_FUNCTION: u32 = 33;
    pub(in super::super) const SELECTION_MERGE: u32 = 247;
    pub(in super::super) const LABEL: u32 = 248;
    pub(in super::super) const BRANCH: u32 = 249;
    pub(in super::super) const BRANCH_CONDITIONAL: u32 = 250;
    pub(in super::super) const SWITCH: u32 = 251;
    pub(in super::super) const NO_LINE: u32 = 317;
}

/// A module without lines, and the source that they name.
pub(super) struct Stripped {
    /// Its bytes, low ones first.
    pub(super) bytes: Vec<u8>,
    /// What users read: the text of the source, else the instructions.
    pub(super) listing: Option<Listing>,
    /// Bytes as naga counts them and in the file, where the difference changes.
    moved: Vec<(usize, usize)>,
}

impl Stripped {
    /// The byte of the file for one that naga counted.
    pub(super) fn in_file(&self, byte: usize) -> usize {
        let before = self.moved.partition_point(|&(here, _)| here <= byte);
        self.moved[..before].last().map_or(byte, |&(counted, there)| there + (byte - counted))
    }
}

/// Words that are no instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken {
    /// What is there instead.
    pub(super) what: &'static str,
    /// Where.
    pub(super) byte: usize,
}

/// Takes the lines out of a module.
///
/// # Errors
/// Instructions that do not fit into the file, and what naga would misunderstand.
pub(super) fn strip(bytes: &[u8], path: &Path) -> Result<Stripped, Broken> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() || chunks.len() < HEADER_WORDS {
        return Err(Broken { what: "the end of the file in a word or in the header", byte: bytes.len() });
    }
    let mut words: Vec<u32> = chunks.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect();
    if words.first() == Some(&MAGIC.swap_bytes()) {
        words.iter_mut().for_each(|word| *word = word.swap_bytes());
    }
    let mut kept: Vec<u32> = words.iter().take(HEADER_WORDS).copied().collect();
    let mut names: HashMap<u32, String> = HashMap::new();
    let mut source = Source::default();
    let mut line = None;
    let mut uncounted = 0;
    // Byte of the module that is left, as naga counts it, and the line of the instruction there.
    let mut lines: Vec<(usize, u32)> = Vec::new();
    let mut moved: Vec<(usize, usize)> = Vec::new();
    let mut starts = Vec::new();
    let mut switches = Switches::default();
    let mut at = HEADER_WORDS;
    while let Some(&first) = words.get(at) {
        let (length, opcode) = ((first >> 16) as usize, first & 0xFFFF);
        let Some(operands) = words.get(at + 1..at + length).filter(|_| length > 0) else {
            let what = if length == 0 {
                "an instruction of no words"
            } else {
                "an instruction that goes on behind the end"
            };
            return Err(Broken { what, byte: 4 * at });
        };
        match (opcode, operands) {
            (op::STRING, [id, text @ ..]) => {
                names.insert(*id, literal(text));
            }
            (op::SOURCE, [_, _, file, text @ ..]) if source.file.is_none() => {
                source = Source { file: Some(*file), text: literal(text) };
            }
            (op::SOURCE_CONTINUED, text) => source.text.push_str(&literal(text)),
            (op::LINE, &[file, number, _]) => {
                line = source.file.is_none_or(|main| main == file).then_some(number);
            }
            (op::NO_LINE, _) => line = None,
            _ => {}
        }
        if !matches!(opcode, op::LINE | op::NO_LINE) {
            let start = 4 * (kept.len() - uncounted);
            if let Some(line) = line.filter(|&line| lines.last().is_none_or(|&(_, last)| last != line)) {
                lines.push((start, line));
            }
            if moved.last().map_or(0, |&(counted, there)| there - counted) != 4 * at - start {
                moved.push((start, 4 * at));
            }
            starts.push(start);
            uncounted += uncounted_words(opcode, operands);
            match opcode {
                op::SWITCH => kept.extend(switches::without_default(operands)),
                _ => kept.extend(&words[at..at + length]),
            }
            switches.add(opcode, operands, 4 * at);
        }
        at += length;
    }
    switches.check()?;
    let bytes: Vec<u8> = kept.iter().flat_map(|word| word.to_le_bytes()).collect();
    let named = source.file.and_then(|file| names.get(&file));
    let text =
        if source.text.is_empty() { named.and_then(|name| beside(name, path)) } else { Some(source.text) };
    let listing = text.filter(|_| !lines.is_empty()).map(|text| listing(own_text(&text), &lines));
    let listing = listing.or_else(|| disassembly(&bytes, &starts));
    Ok(Stripped { bytes, listing, moved })
}

/// The words of an instruction that naga reads without counting them in the places that it states.
fn uncounted_words(opcode: u32, operands: &[u32]) -> usize {
    match opcode {
        op::ENTRY_POINT => {
            let ends = |word: &u32| word.to_le_bytes().contains(&0);
            let name = operands.iter().skip(2).position(ends).map_or(0, |last| last + 1);
            operands.len().saturating_sub(2 + name)
        }
        op::EXECUTION_MODE | op::TYPE_FUNCTION => operands.len().saturating_sub(2),
        _ => 0,
    }
}

/// What a module says of its source.
#[derive(Debug, Default)]
struct Source {
    /// The number of its name.
    file: Option<u32>,
    text: String,
}

/// The text that users wrote: glslang puts the options that it was called with before it.
fn own_text(text: &str) -> &str {
    const FIRST: &str = "#line 1\n";
    match text.split_once(FIRST) {
        Some((options, own)) if options.lines().all(|line| line.starts_with("//")) => own,
        _ => text,
    }
}

/// A text that ends with a zero.
fn literal(words: &[u32]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The text of a file, there or beside the module.
fn beside(name: &str, module: &Path) -> Option<String> {
    let name = Some(Path::new(name)).filter(|name| is_code(name))?;
    let near = module.parent()?.join(name.file_name()?);
    [name.to_owned(), near].iter().find_map(|path| regular_text(path, PROGRAM_BYTES).ok())
}

fn listing(text: &str, lines: &[(usize, u32)]) -> Listing {
    let starts: Vec<usize> =
        [0].into_iter().chain(text.match_indices('\n').map(|(newline, _)| newline + 1)).collect();
    let places = lines.iter().filter_map(|&(byte, line)| {
        Some((Place(byte as u32 + 1), *starts.get((line as usize).checked_sub(1)?)?))
    });
    Listing::of_text(text, places)
}
