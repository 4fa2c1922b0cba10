//! The container: the blocks `DVLB`, `DVLP` and `DVLE`.

use super::float::from_f24;
use crate::encoding::{Error, Fault, Reader};
use std::collections::BTreeMap;

/// Most words of code, of descriptors, of entries of a table, and most shaders of a file.
const MOST_WORDS: u32 = 4096;
const MOST_DESCRIPTORS: u32 = 128;
const MOST_ENTRIES: u32 = 4096;
const MOST_SHADERS: u32 = 64;
/// Most bytes of a name.
const LONGEST_NAME: usize = 256;

/// Uniforms whose values a shader has itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Constants {
    /// Bits of `f32`.
    pub(super) floats: BTreeMap<u8, [u32; 4]>,
    /// x, y, z.
    pub(super) integers: [Option<[u8; 3]>; 4],
    pub(super) booleans: [Option<bool>; 16],
}

/// A `DVLE`: an entry, and what belongs to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Section {
    /// Its byte in the file.
    pub(super) offset: u64,
    /// The name of the label at the entry.
    pub(super) name: Option<String>,
    pub(super) entry: u16,
    pub(super) constants: Constants,
    /// Output registers, each with its meaning.
    pub(super) outputs: Vec<(u8, String)>,
    /// Names of registers: the first and the last of each.
    pub(super) names: Vec<(String, u16, u16)>,
}

/// What a file holds.
#[derive(Debug, Clone)]
pub(super) struct Container {
    /// Byte of the first word of code.
    pub(super) code_offset: u64,
    pub(super) code: Vec<u32>,
    pub(super) descriptors: Vec<u32>,
    pub(super) sections: Vec<Section>,
}

/// Kinds of output, in the order of their codes.
pub(super) const SEMANTICS: [&str; 10] = [
    "position",
    "normalquat",
    "color",
    "texcoord0",
    "texcoord0w",
    "texcoord1",
    "texcoord2",
    "7",
    "view",
    "dummy",
];

fn invalid(message: impl Into<String>, offset: u64) -> Error {
    Error::new(Fault::Invalid, message).at(offset)
}

/// A cursor over the part of the file that begins at a byte.
fn reader_at<'a>(bytes: &'a [u8], offset: u64, what: &str) -> Result<Reader<'a>, Error> {
    if offset > bytes.len() as u64 {
        let message = format!("{what} begins at byte {offset:#x} of a file of {}", bytes.len());
        return Err(invalid(message, offset));
    }
    let mut reader = Reader::new(bytes);
    reader.take(offset as usize, what)?;
    Ok(reader)
}

/// A block of the file with its four letters.
fn block<'a>(bytes: &'a [u8], offset: u64, letters: &str) -> Result<Reader<'a>, Error> {
    let mut reader = reader_at(bytes, offset, letters)?;
    match reader.take(4, letters)? {
        found if found == letters.as_bytes() => Ok(reader),
        _ => Err(invalid(format!("the block here does not begin with {letters}"), offset)),
    }
}

/// A number that has a limit.
fn counted(reader: &mut Reader<'_>, what: &str, most: u32) -> Result<u32, Error> {
    let at = reader.at() as u64;
    match reader.u32(what)? {
        count if count > most => Err(invalid(format!("{what} is {count}, and at most {most} are taken"), at)),
        count => Ok(count),
    }
}

/// Reads a file.
pub(super) fn read(bytes: &[u8]) -> Result<Container, Error> {
    let mut header = block(bytes, 0, "DVLB")?;
    let count = counted(&mut header, "the number of shaders", MOST_SHADERS)?;
    let offsets = (0..count).map(|_| header.u32("the offset of a shader")).collect::<Result<Vec<_>, _>>()?;
    let program = header.at() as u64;
    let mut header = block(bytes, program, "DVLP")?;
    header.u32("the version")?;
    let code_offset = program + u64::from(header.u32("the offset of the code")?);
    let words = counted(&mut header, "the number of words", MOST_WORDS)?;
    let descriptor_offset = program + u64::from(header.u32("the offset of the descriptors")?);
    let descriptor_count = counted(&mut header, "the number of descriptors", MOST_DESCRIPTORS)?;
    let mut reader = reader_at(bytes, code_offset, "the code")?;
    let code = (0..words).map(|_| reader.u32("an instruction")).collect::<Result<Vec<_>, _>>()?;
    let mut reader = reader_at(bytes, descriptor_offset, "the descriptors")?;
    let mut descriptors = Vec::new();
    for _ in 0..descriptor_count {
        descriptors.push(reader.u32("a descriptor")?);
        // Which bits count: it follows from the first word.
        reader.u32("the second word of a descriptor")?;
    }
    let sections = offsets.into_iter().map(|offset| section(bytes, offset.into(), words));
    Ok(Container { code_offset, code, descriptors, sections: sections.collect::<Result<_, _>>()? })
}

/// A table of a `DVLE`: a cursor at its beginning, and the number of its entries.
type Table<'a> = (Reader<'a>, u32);

fn section(bytes: &[u8], offset: u64, words: u32) -> Result<Section, Error> {
    let mut header = block(bytes, offset, "DVLE")?;
    header.u16("the version")?;
    match header.u8("the kind of shader")? {
        0 => {}
        1 => return Err(Error::refused("a geometry shader").at(offset)),
        kind => return Err(Error::refused(format!("a shader of kind {kind}")).at(offset)),
    }
    header.u8("a flag")?;
    let entry = header.u32("the entry")?;
    if entry >= words {
        return Err(invalid(format!("the entry is word {entry}, and there are {words}"), offset + 8));
    }
    header.take(12, "the registers of a shader")?;
    let mut table = |what: &str| -> Result<Table<'_>, Error> {
        let start = offset + u64::from(header.u32(what)?);
        let count = counted(&mut header, what, MOST_ENTRIES)?;
        // An empty table may lie anywhere.
        Ok((if count == 0 { Reader::new(bytes) } else { reader_at(bytes, start, what)? }, count))
    };
    let constants = constants(table("the table of constants")?)?;
    let (mut labels, label_count) = table("the table of labels")?;
    let outputs = outputs(table("the table of outputs")?)?;
    let (mut uniforms, name_count) = table("the table of names")?;
    let start = offset + u64::from(header.u32("the table of symbols")?);
    let length = header.u32("the table of symbols")?;
    let symbols = match length {
        0 => &[],
        _ => {
            reader_at(bytes, start, "the table of symbols")?.take(length as usize, "the table of symbols")?
        }
    };
    let symbol = |at: u32, place: usize| -> Result<String, Error> {
        let rest = symbols.get(at as usize..).unwrap_or_default();
        let name = rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end]);
        let name =
            name.filter(|name| name.len() <= LONGEST_NAME).and_then(|name| std::str::from_utf8(name).ok());
        name.map(str::to_owned)
            .ok_or_else(|| invalid(format!("no name begins at symbol {at:#x}"), place as u64))
    };
    let mut name = None;
    for _ in 0..label_count {
        labels.u32("the number of a label")?;
        let word = labels.u32("the word of a label")?;
        labels.u32("the end of a label")?;
        let place = labels.at();
        let label = symbol(labels.u32("the name of a label")?, place)?;
        if word == entry && !label.is_empty() {
            name.get_or_insert(label);
        }
    }
    let mut names = Vec::new();
    for _ in 0..name_count {
        let place = uniforms.at();
        let name = symbol(uniforms.u32("the name of a register")?, place)?;
        names.push((name, uniforms.u16("a register")?, uniforms.u16("a register")?));
    }
    Ok(Section { offset, name, entry: entry as u16, constants, outputs, names })
}

fn constants((mut table, count): Table<'_>) -> Result<Constants, Error> {
    let mut constants = Constants::default();
    for _ in 0..count {
        let at = table.at() as u64;
        let (kind, number) = (table.u16("the kind of a constant")?, table.u16("the register of a constant")?);
        let mut words = [0; 4];
        for word in &mut words {
            *word = table.u32("a constant")?;
        }
        let place = usize::from(number);
        let known = match kind {
            0 => constants.booleans.get_mut(place).map(|slot| *slot = Some(words[0] != 0)),
            1 => {
                let [x, y, z, _] = words[0].to_le_bytes();
                constants.integers.get_mut(place).map(|slot| *slot = Some([x, y, z]))
            }
            2 if number < 96 => {
                let bits = words.map(|word| from_f24(word).to_bits());
                constants.floats.insert(number as u8, bits);
                Some(())
            }
            2 => None,
            _ => return Err(invalid(format!("a constant of kind {kind}, which is none"), at)),
        };
        known.ok_or_else(|| {
            invalid(format!("a constant for register {number}, which is none of its kind"), at)
        })?;
    }
    Ok(constants)
}

fn outputs((mut table, count): Table<'_>) -> Result<Vec<(u8, String)>, Error> {
    let mut outputs = Vec::new();
    for _ in 0..count {
        let at = table.at() as u64;
        let (kind, register) = (table.u16("the kind of an output")?, table.u16("the register of an output")?);
        let mask = table.u16("the components of an output")?;
        table.u16("the end of an output")?;
        if register > 15 {
            return Err(invalid(format!("output register {register}, and the last is 15"), at));
        }
        let mut meaning = match SEMANTICS.get(usize::from(kind)) {
            Some(name) => (*name).to_owned(),
            None => kind.to_string(),
        };
        if mask & 15 != 15 {
            meaning.push('.');
            meaning
                .extend("xyzw".chars().enumerate().filter(|(bit, _)| mask >> bit & 1 != 0).map(|(_, c)| c));
        }
        outputs.push((register as u8, meaning));
    }
    Ok(outputs)
}
