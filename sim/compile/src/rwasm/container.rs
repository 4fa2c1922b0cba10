//! The container: a head with the sizes of four sections, then the sections.

use super::opcode::{WORD_BYTES, Word, invalid};
use crate::encoding::{Error, Reader};

/// The first bytes of a container.
pub(super) const MAGIC: [u8; 2] = [0xEF, 0x52];
/// The version that is taken.
const VERSION: u8 = 1;
/// The sections, in the order of their numbers from 1 on.
const SECTIONS: [&str; 4] = ["code", "memory", "functions", "elements"];
/// What the section of elements has for no function.
const NO_FUNCTION: u32 = u32::MAX;

/// What a file holds.
#[derive(Debug)]
pub(super) struct Container {
    /// The instruction words of all functions.
    pub(super) words: Vec<Word>,
    /// Instructions of each function.
    pub(super) functions: Vec<usize>,
    /// Bytes of the data segments, one after the other.
    pub(super) memory: Vec<u8>,
    /// Functions of the element segments, one after the other.
    pub(super) elements: Vec<Option<u32>>,
    /// True if it is a stream of instructions without a head.
    pub(super) is_bare: bool,
}

/// Reads a file with a head.
pub(super) fn read(bytes: &[u8]) -> Result<Container, Error> {
    let mut reader = Reader::new(bytes);
    if reader.take(2, "the bytes EF 52")? != MAGIC {
        return Err(invalid("the file does not begin with the bytes EF 52", 0));
    }
    let version = reader.u8("a version")?;
    if version != VERSION {
        return Err(invalid(format!("version {version} is not taken, only version {VERSION}"), 2));
    }
    let mut lengths = [0; 4];
    for (number, (length, name)) in (1u8..).zip(lengths.iter_mut().zip(SECTIONS)) {
        let at = reader.at();
        let id = reader.u8("the number of a section")?;
        if id != number {
            return Err(invalid(format!("the section of {name} has the number {number}, not {id}"), at));
        }
        *length = reader.u32("the length of a section")? as usize;
    }
    let at = reader.at();
    if reader.u8("the zero behind the sizes of sections")? != 0 {
        return Err(invalid("a zero ends the sizes of sections", at));
    }
    let mut sections = [(0, &[][..]); 4];
    for ((section, length), name) in sections.iter_mut().zip(lengths).zip(SECTIONS) {
        let at = reader.at();
        *section = (at, reader.take(length, &format!("the section of {name}"))?);
    }
    if !reader.is_at_end() {
        return Err(invalid("the file goes on behind its last section", reader.at()));
    }
    let [code, memory, functions, elements] = sections;
    let words = words(code.1, code.0)?;
    let counts = numbers(functions, "functions")?;
    let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if all != words.len() as u64 {
        let message = format!("the functions have {all} instructions, and the code {}", words.len());
        return Err(invalid(message, functions.0));
    }
    let functions: Vec<usize> = counts.into_iter().map(|count| count as usize).collect();
    let mut entries = Vec::new();
    for (number, function) in numbers(elements, "elements")?.into_iter().enumerate() {
        if function != NO_FUNCTION && function as usize >= functions.len() {
            let message = format!("there is no function {function}: there are {}", functions.len());
            return Err(invalid(message, elements.0 + 4 * number));
        }
        entries.push(Some(function).filter(|&function| function != NO_FUNCTION));
    }
    Ok(Container { words, functions, memory: memory.1.to_vec(), elements: entries, is_bare: false })
}

/// Reads a stream of instructions without a head: one function.
pub(super) fn read_bare(bytes: &[u8]) -> Result<Container, Error> {
    let words = words(bytes, 0)?;
    let functions = vec![words.len()];
    Ok(Container { words, functions, memory: Vec::new(), elements: Vec::new(), is_bare: true })
}

/// The instruction words of bytes that begin at this byte of the file.
pub(super) fn words(bytes: &[u8], at: usize) -> Result<Vec<Word>, Error> {
    let (whole, rest) = bytes.as_chunks::<WORD_BYTES>();
    if !rest.is_empty() {
        let message = format!("the code ends within an instruction: each has {WORD_BYTES} bytes");
        return Err(invalid(message, at + WORD_BYTES * whole.len()));
    }
    whole.iter().enumerate().map(|(number, word)| Word::read(word, at + WORD_BYTES * number)).collect()
}

/// The numbers of 32 bits in a section.
fn numbers((at, bytes): (usize, &[u8]), name: &str) -> Result<Vec<u32>, Error> {
    let (whole, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        let message = format!("the section of {name} ends within a number of 4 bytes");
        return Err(invalid(message, at + 4 * whole.len()));
    }
    Ok(whole.iter().map(|&number| u32::from_le_bytes(number)).collect())
}
