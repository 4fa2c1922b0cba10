//! Values of launch flags: `OFFSET:TYPE:COUNT:SCALE` and the like, read from text.

use std::path::PathBuf;
use wave_isa::number;
use wave_isa::program::{Argument, ParameterType};
use wave_isa::scalar::Literal;
use wave_machine::config;
use wave_study::launch::ElementType;

/// An element as text that reads back to the same value: integers in decimal, floats with the fewest
/// digits that tell their value, which for the 16-bit types is that of an f32.
///
/// # Panics
/// If `bytes` is shorter than an element.
pub(crate) fn element_text(element: ElementType, bytes: &[u8]) -> String {
    match element.integer(element.load(bytes)) {
        Some(integer) => integer.to_string(),
        None if element == ElementType::F64 => format!("{:?}", element.read(bytes)),
        None => format!("{:?}", element.read(bytes) as f32),
    }
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

/// Reads an argument of a kernel: `[TYPE:]VALUE` or `hex:BITS`.
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
        number => {
            let literal = number.parse::<Literal>();
            let bits = literal.and_then(|literal| literal.bits(ElementType::F64));
            f64::from_bits(bits.map_err(|why| format!("{why}; it is a number, `true` or `false`"))?)
        }
    };
    Ok((name.to_owned(), value))
}

/// Reads the name of a file.
///
/// # Errors
/// If it is empty.
pub(crate) fn file_name(text: &str) -> Result<PathBuf, String> {
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

/// Reads `REG:[TYPE:]VALUE`: a register, `3` or `r3`, and a number of 32 bits as `--param` takes it. Without a type an
/// integer is one of 32 bits, signed or not, and a float becomes the bits of an f32.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn register_value(text: &str) -> Result<RegisterValue, String> {
    let [register, value] = parts(text, "REG:VALUE")?;
    let name = register.strip_prefix('r').unwrap_or(register);
    let register = name
        .parse::<u8>()
        .map_err(|_| format!("`{register}` is no register; registers are 0 to 255, or r0 to r255"))?;
    let argument: Argument = value.parse()?;
    let ty = argument.ty();
    if ty.registers() > 1 {
        return Err(format!("`{value}` has 64 bits, and a register has 32"));
    }
    Ok(RegisterValue { register, value: argument.bits(ty)? as u32 })
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
    /// Where they come from, for messages.
    pub source: String,
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
            element.copy_from_slice(&self.bits(i as u64).to_le_bytes()[..size]);
        }
    }

    /// The bits of an element.
    fn bits(&self, i: u64) -> u64 {
        match self.scale {
            Scale::Integer(scale) => i128::from(i).wrapping_mul(scale) as u64,
            Scale::Float(scale) => self.element.float_bits((i as f32 * scale).into()),
            Scale::Double(scale) => (i as f64 * scale).to_bits(),
        }
    }

    /// Refuses elements that the type does not have. The last one is the largest.
    fn check(&self) -> Result<(), String> {
        let Some(last) = self.count.checked_sub(1) else { return Ok(()) };
        let (name, range) = (self.element.name(), self.element.range());
        match self.scale {
            Scale::Integer(scale) => {
                let value = i128::from(last).saturating_mul(scale);
                if self.element.integer_range().is_some() && self.element.integer_bits(value).is_none() {
                    return Err(format!("element {last} would be {value}, and {name} has {range}"));
                }
            }
            Scale::Float(scale) => {
                let bits = self.bits(last);
                if scale.is_finite() && self.element.to_f64(bits).is_infinite() {
                    let text = element_text(self.element, &bits.to_le_bytes());
                    return Err(format!("element {last} would be {text} as {name}, which has {range}"));
                }
            }
            Scale::Double(scale) => {
                let value = last as f64 * scale;
                if scale.is_finite() && value.is_infinite() {
                    return Err(format!("element {last} would be {value:?} as {name}, which has {range}"));
                }
            }
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
        element: ElementType::of_name(element)?,
        count: integer(count)?,
        source: "--fill-zero".to_owned(),
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
    let element = ElementType::of_name(element)?;
    let literal: Literal = scale.parse()?;
    let scale = match element {
        ElementType::F64 => Scale::Double(f64::from_bits(literal.bits(element)?)),
        _ if element.is_float() => Scale::Float(f32::from_bits(literal.bits(ElementType::F32)? as u32)),
        _ => Scale::Integer(literal.as_integer().ok_or_else(|| {
            format!("the scale `{scale}` is not an integer, and {element} is a type of integers")
        })?),
    };
    let source = "--fill-iota".to_owned();
    let fill = Fill { offset: size(offset)?, element, count: integer(count)?, source, scale };
    fill.check()?;
    Ok(fill)
}

/// The parts of `text` between colons, the last one with all that follows.
fn parts<'a, const N: usize>(text: &'a str, form: &str) -> Result<[&'a str; N], String> {
    let parts: Vec<&str> = text.splitn(N, ':').collect();
    parts.try_into().map_err(|_| format!("expected {form}"))
}
