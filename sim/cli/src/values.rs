//! Values of launch flags: `OFFSET:TYPE:COUNT:SCALE` and the like, read from text.

use half::{bf16, f16};
use std::path::PathBuf;
use wave_isa::number;
use wave_isa::program::{Argument, ParameterType};
use wave_machine::config;
use wave_study::launch::ElementType;

/// An element as text that reads back to the same value: integers in decimal, floats with the fewest
/// digits that tell their value, which for the 16-bit types is that of an f32.
///
/// # Panics
/// If `bytes` is shorter than an element.
pub(crate) fn element_text(element: ElementType, bytes: &[u8]) -> String {
    let value = element.read(bytes);
    match element {
        ElementType::F64 => format!("{value:?}"),
        _ if element.is_float() => format!("{:?}", value as f32),
        _ => format!("{value:.0}"),
    }
}

fn element_type(text: &str) -> Result<ElementType, String> {
    ElementType::ALL.into_iter().find(|e| e.name() == text).ok_or_else(|| {
        let names = ElementType::ALL.map(ElementType::name).join(", ");
        format!("`{text}` is no type; types: {names}")
    })
}

/// `X,Y,Z`, each at least 1; what is left out is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dimensions(pub [u32; 3]);

/// Reads `X,Y,Z`, `X,Y` or `X`. The product has to fit 32 bits.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn dimensions(text: &str) -> Result<Dimensions, String> {
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err(format!("{} sizes, and there are at most three: X,Y,Z", parts.len()));
    }
    for (size, part) in sizes.iter_mut().zip(&parts) {
        *size = match integer(part.trim())? {
            0 => return Err("each size is at least 1".into()),
            n => u32::try_from(n).map_err(|_| format!("{n} does not fit 32 bits"))?,
        };
    }
    let product: u128 = sizes.iter().map(|&n| u128::from(n)).product();
    if product > u128::from(u32::MAX) {
        return Err(format!("{product} in all; at most {}", u32::MAX));
    }
    Ok(Dimensions(sizes))
}

/// Reads a percentage, with or without its sign.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let value: f64 = number.parse().map_err(|_| format!("`{text}` is no percentage, such as 2%"))?;
    let is_one = value.is_finite() && value >= 0.0;
    is_one.then_some(value).ok_or_else(|| format!("`{text}` is no percentage of at least 0"))
}

/// Reads a time in seconds.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.trim().parse().map_err(|_| format!("`{text}` is no number of seconds"))?;
    let is_one = value > 0.0 && value <= 86_400.0;
    is_one.then_some(value).ok_or_else(|| format!("`{text}` is no time between 0 and a day, in seconds"))
}

/// Reads an offset, size or count: decimal, `0x` or `0b`; `_` may separate digits.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn integer(text: &str) -> Result<u64, String> {
    match number::parse(text) {
        Ok(number::Number::Integer(value)) if value < 0 => Err(format!("`{text}` is negative")),
        Ok(number::Number::Integer(value)) => {
            u64::try_from(value).map_err(|_| format!("`{text}` does not fit 64 bits"))
        }
        Ok(number::Number::Float(_)) => Err(format!("`{text}` is not an integer")),
        Err(_) if text.is_empty() => Err("a number is missing".into()),
        Err(why) => Err(why),
    }
}

/// Reads an offset or a number of bytes, as [`integer`], or with a unit: `64KiB`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    match config::size::unit(text) {
        Some(_) => config::size::bytes(text),
        None => integer(text),
    }
}

/// Reads a number of bytes of 32 bits, as [`size`].
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn size32(text: &str) -> Result<u32, String> {
    u32::try_from(size(text)?).map_err(|_| format!("`{text}` does not fit 32 bits"))
}

/// Reads an argument of a kernel: `[TYPE:]VALUE`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn argument(text: &str) -> Result<Argument, String> {
    text.parse()
}

/// Reads a type of a value: i32, i64, f32 or f64.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn value_type(text: &str) -> Result<ParameterType, String> {
    ParameterType::ALL.into_iter().find(|ty| ty.to_string() == text).ok_or_else(|| {
        let names = ParameterType::ALL.map(|ty| ty.to_string()).join(", ");
        format!("`{text}` is no type; types: {names}")
    })
}

/// Reads an integer of 32 bits, as [`integer`].
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn integer32(text: &str) -> Result<u32, String> {
    let value = integer(text)?;
    u32::try_from(value).map_err(|_| format!("`{text}` does not fit 32 bits"))
}

/// Threads of a workgroup on an NVIDIA GPU: 1 to 1024.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn threads_of_block(text: &str) -> Result<u32, String> {
    match integer32(text)? {
        threads @ 1..=wave_ptx::MOST_THREADS => Ok(threads),
        _ => Err(format!("a workgroup has 1 to {} threads there", wave_ptx::MOST_THREADS)),
    }
}

/// The number of a launch, from 1 on.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn launch_number(text: &str) -> Result<u32, String> {
    match integer32(text)? {
        0 => Err("the first launch is number 1".to_owned()),
        number => Ok(number),
    }
}

/// `OFFSET:FILE`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryFile {
    /// First byte in device memory.
    pub offset: u64,
    /// What goes there.
    pub file: PathBuf,
}

/// Reads `OFFSET:FILE`; the file may have colons in its name.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn memory_file(text: &str) -> Result<MemoryFile, String> {
    let [offset, file] = parts(text, "OFFSET:FILE")?;
    Ok(MemoryFile { offset: size(offset)?, file: file_name(file)? })
}

/// `OFFSET:BYTES:FILE`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Save {
    /// First byte in device memory.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
    /// Where they go.
    pub file: PathBuf,
}

/// Reads `OFFSET:BYTES:FILE`; the file may have colons in its name.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn save(text: &str) -> Result<Save, String> {
    let [offset, bytes, file] = parts(text, "OFFSET:BYTES:FILE")?;
    Ok(Save { offset: size(offset)?, bytes: size(bytes)?, file: file_name(file)? })
}

/// `GROUP.BINDING=FILE` or `GROUP.BINDING=bytes:N`: a buffer of a shader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bind {
    /// The group.
    pub group: u32,
    /// The number in the group.
    pub number: u32,
    /// What it holds at the start.
    pub contents: Contents,
}

/// What a buffer holds at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Contents {
    /// The bytes of a file.
    File(PathBuf),
    /// So many zeros.
    Zeros(u64),
}

/// Reads `GROUP.BINDING=FILE` or `GROUP.BINDING=bytes:N`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn bind(text: &str) -> Result<Bind, String> {
    let (place, contents) =
        text.split_once('=').ok_or("it is written GROUP.BINDING=FILE, or GROUP.BINDING=bytes:N")?;
    let (group, number) = group_and_number(place)?;
    let contents = match contents.strip_prefix("bytes:") {
        Some(bytes) => Contents::Zeros(size(bytes)?),
        None => Contents::File(file_name(contents)?),
    };
    Ok(Bind { group, number, contents })
}

fn group_and_number(text: &str) -> Result<(u32, u32), String> {
    let (group, number) =
        text.split_once('.').ok_or_else(|| format!("`{text}` is no binding: it is written GROUP.BINDING"))?;
    Ok((integer32(group)?, integer32(number)?))
}

/// `GROUP.BINDING:FILE`: where a buffer of a shader goes after the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SaveBinding {
    /// The group.
    pub group: u32,
    /// The number in the group.
    pub number: u32,
    /// Where it goes.
    pub file: PathBuf,
}

/// Reads `GROUP.BINDING:FILE`; the file may have colons in its name.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn save_binding(text: &str) -> Result<SaveBinding, String> {
    let [place, file] = parts(text, "GROUP.BINDING:FILE")?;
    let (group, number) = group_and_number(place)?;
    Ok(SaveBinding { group, number, file: file_name(file)? })
}

/// Reads `NAME=VALUE`: a pipeline constant and its value, a number, `true` or `false`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn pipeline_constant(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("it is written NAME=VALUE")?;
    let value = match value {
        "true" => 1.0,
        "false" => 0.0,
        number => match number::parse(number)? {
            number::Number::Integer(value) => value as f64,
            number::Number::Float(_) => number
                .replace('_', "")
                .parse()
                .map_err(|_| format!("`{number}` is no number, `true` or `false`"))?,
        },
    };
    Ok((name.to_owned(), value))
}

fn file_name(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("a file name is missing".into()) } else { Ok(text.into()) }
}

/// `REG:VALUE`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegisterValue {
    /// Register.
    pub register: u8,
    /// The 32 bits that every lane starts with.
    pub value: u32,
}

/// Reads `REG:VALUE`: a register, `3` or `r3`, and a number as the assembler takes it: an integer of 32
/// bits, signed or not, or a float, which becomes the bits of an f32.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn register_value(text: &str) -> Result<RegisterValue, String> {
    let [register, value] = parts(text, "REG:VALUE")?;
    let name = register.strip_prefix('r').unwrap_or(register);
    let register = name
        .parse::<u8>()
        .map_err(|_| format!("`{register}` is no register; registers are 0 to 255, or r0 to r255"))?;
    Ok(RegisterValue { register, value: number::parse_bits(value)? })
}

/// `OFFSET:TYPE:COUNT[:SCALE]`: contents of device memory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fill {
    /// First byte in device memory.
    pub offset: u64,
    /// Type of the elements.
    pub element: ElementType,
    /// How many.
    pub count: u64,
    scale: Scale,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    Integer(i128),
    /// As in the reference emulator, elements are products in f32.
    Float(f32),
    /// Those of f64 are products in f64.
    Double(f64),
}

impl Fill {
    /// Bytes of the whole.
    pub(crate) fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.element.bytes() as u64)
    }

    /// Writes the elements: element i is i × scale.
    ///
    /// # Panics
    /// If `memory` is shorter than [`bytes`](Self::bytes).
    pub(crate) fn write(&self, memory: &mut [u8]) {
        let size = self.element.bytes();
        for (i, element) in memory.chunks_exact_mut(size).take(self.count as usize).enumerate() {
            match self.scale {
                Scale::Integer(scale) => {
                    element.copy_from_slice(&(i as i128 * scale).to_le_bytes()[..size]);
                }
                Scale::Float(scale) => self.write_float(i as f32 * scale, element),
                Scale::Double(scale) => element.copy_from_slice(&(i as f64 * scale).to_le_bytes()),
            }
        }
    }

    fn write_float(&self, value: f32, element: &mut [u8]) {
        match self.element {
            ElementType::F16 => element.copy_from_slice(&f16::from_f32(value).to_le_bytes()),
            ElementType::Bf16 => element.copy_from_slice(&bf16::from_f32(value).to_le_bytes()),
            _ => element.copy_from_slice(&value.to_le_bytes()),
        }
    }

    /// Refuses elements that the type does not have. The last one is the largest.
    fn check(&self) -> Result<(), String> {
        let Some(last) = self.count.checked_sub(1) else { return Ok(()) };
        let name = self.element.name();
        match self.scale {
            Scale::Integer(scale) => {
                let (least, most) = self.element.integer_range().unwrap_or_default();
                let (least, most) = (i128::from(least), i128::from(most));
                let value = i128::from(last).saturating_mul(scale);
                if !(least..=most).contains(&value) {
                    return Err(format!("element {last} would be {value}, and {name} has {least} to {most}"));
                }
            }
            Scale::Float(scale) => {
                let mut bytes = vec![0; self.element.bytes()];
                self.write_float(last as f32 * scale, &mut bytes);
                if scale.is_finite() && self.element.read(&bytes).is_infinite() {
                    let text = element_text(self.element, &bytes);
                    return Err(format!("element {last} would be {text} as {name}"));
                }
            }
            Scale::Double(_) => {}
        }
        Ok(())
    }
}

/// Reads `OFFSET:TYPE:COUNT`, all zeros.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn fill_zero(text: &str) -> Result<Fill, String> {
    let [offset, element, count] = parts(text, "OFFSET:TYPE:COUNT")?;
    Ok(Fill {
        offset: size(offset)?,
        element: element_type(element)?,
        count: integer(count)?,
        scale: Scale::Integer(0),
    })
}

/// Reads `OFFSET:TYPE:COUNT:SCALE` or `OFFSET:TYPE:COUNT`, whose scale is 1. Every element has to be a
/// value of the type; those of float types are rounded.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn fill_iota(text: &str) -> Result<Fill, String> {
    const FORM: &str = "OFFSET:TYPE:COUNT:SCALE";
    let (offset, element, count, scale) = match text.split(':').count() {
        3 => {
            let [offset, element, count] = parts(text, FORM)?;
            (offset, element, count, "1")
        }
        _ => {
            let [offset, element, count, scale] = parts(text, FORM)?;
            (offset, element, count, scale)
        }
    };
    let element = element_type(element)?;
    let scale = match (number::parse(scale)?, element.integer_range()) {
        (number::Number::Integer(scale), Some(_)) => Scale::Integer(scale),
        (number::Number::Float(_), Some(_)) => {
            let name = element.name();
            return Err(format!("the scale `{scale}` is not an integer, and {name} is a type of integers"));
        }
        (number::Number::Integer(scale), None) if element == ElementType::F64 => Scale::Double(scale as f64),
        // What is an f32 is an f64 too; read anew, for the digits that an f32 does not hold.
        (number::Number::Float(rounded), None) if element == ElementType::F64 => {
            Scale::Double(scale.replace('_', "").parse().unwrap_or(f64::from(rounded)))
        }
        (number::Number::Integer(scale), None) => Scale::Float(scale as f32),
        (number::Number::Float(scale), None) => Scale::Float(scale),
    };
    let fill = Fill { offset: size(offset)?, element, count: integer(count)?, scale };
    fill.check()?;
    Ok(fill)
}

/// Bytes `START` to `END`, without `END`, of device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryRange {
    /// First byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

/// Reads `START:END`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn memory_range(text: &str) -> Result<MemoryRange, String> {
    let [start, end] = parts(text, "START:END")?;
    let range = MemoryRange { start: size(start)?, end: size(end)? };
    if range.end <= range.start {
        return Err("END has to be greater than START".into());
    }
    Ok(range)
}

/// `OFFSET:COUNT`: elements of device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Elements {
    /// First byte.
    pub offset: u64,
    /// How many elements.
    pub count: u64,
}

/// Reads `OFFSET:COUNT`.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn elements(text: &str) -> Result<Elements, String> {
    let [offset, count] = parts(text, "OFFSET:COUNT")?;
    Ok(Elements { offset: size(offset)?, count: integer(count)? })
}

/// The parts of `text` between colons, the last one with all that follows.
fn parts<'a, const N: usize>(text: &'a str, form: &str) -> Result<[&'a str; N], String> {
    let parts: Vec<&str> = text.splitn(N, ':').collect();
    parts.try_into().map_err(|_| format!("expected {form}"))
}
