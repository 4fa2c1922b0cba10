//! Places in device memory as flags name them: `4096`, `0x10KiB`, `out`, `out+256`, `0.1`.

use super::memory_map::{MemoryMap, Part, shown};
use super::values::{self, size};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::suggest::did_you_mean;
use wave_study::launch::ElementType;

/// A byte of device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// By its number.
    Byte(u64),
    /// So many bytes behind the beginning of a buffer.
    In {
        /// The buffer: its name in the launch file, or the binding of a shader, `GROUP.BINDING`.
        buffer: String,
        /// The distance in bytes.
        offset: u64,
    },
}

impl Address {
    /// Reads an offset, or the name of a buffer with `+OFFSET` or without.
    ///
    /// # Errors
    /// A sentence on what is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Address, String> {
        let number = match size(text) {
            Ok(byte) => return Ok(Address::Byte(byte)),
            Err(why) => why,
        };
        let (name, offset) = match text.split_once('+') {
            Some((name, offset)) => (name.trim(), size(offset.trim())?),
            None => (text, 0),
        };
        let is_binding = name.split_once('.').is_some_and(|(group, binding)| {
            [group, binding].iter().all(|part| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit()))
        });
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_binding || is_name { Ok(Address::In { buffer: name.to_owned(), offset }) } else { Err(number) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Byte(byte) => write!(f, "{byte}"),
            Address::In { buffer, offset: 0 } => f.write_str(buffer),
            Address::In { buffer, offset } => write!(f, "{buffer}+{offset}"),
        }
    }
}

/// Bytes of device memory that a flag names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Span {
    /// From a place up to another one, not included.
    Between(Address, Address),
    /// So many elements of so many bytes from a place on.
    Elements(Address, u64, u64),
    /// From a place in a buffer to the end of the buffer.
    Rest(Address),
}

impl Span {
    /// The bytes, if no name is in it.
    pub(crate) fn known(&self) -> Option<Range<u64>> {
        match self {
            Span::Between(Address::Byte(start), Address::Byte(end)) => Some(*start..*end),
            Span::Elements(Address::Byte(start), count, bytes) => {
                Some(*start..start.saturating_add(count.saturating_mul(*bytes)))
            }
            _ => None,
        }
    }

    /// The bytes, in device memory of `size` bytes.
    ///
    /// # Errors
    /// A buffer that there is not, bytes behind the end of the buffer or of memory, and private memory.
    pub(crate) fn resolve(&self, flag: &str, map: &MemoryMap, size: u64) -> Result<Range<u64>, Diagnostic> {
        let (Span::Between(at, _) | Span::Elements(at, ..) | Span::Rest(at)) = self;
        let (start, buffer) = place(flag, at, map)?;
        let end = match self {
            Span::Between(_, end) => place(flag, end, map)?.0,
            Span::Elements(_, count, bytes) => start.saturating_add(count.saturating_mul(*bytes)),
            Span::Rest(_) => buffer.map_or(start, |part| part.range.end.max(start)),
        };
        let range = start..end;
        if end < start {
            return Err(Diagnostic::error(format!("{flag}: it ends at {end}, before its begin at {start}")));
        }
        if let (Some(Part { range: whole, .. }), Address::In { buffer: name, .. }) = (buffer, at)
            && end > whole.end
        {
            let message = format!(
                "{flag} covers {}, and goes past the end of `{name}`, {}",
                shown(&range),
                shown(whole)
            );
            let left = whole.end.saturating_sub(start);
            return Err(
                Diagnostic::error(message).hint(format!("`{name}` has {left} bytes from 0x{start:x} on"))
            );
        }
        super::work::region(flag, start, end - start, size)?;
        map.check_read(flag, &range).map_or(Ok(range), Err)
    }
}

/// The byte of an address, and the buffer that it names.
fn place<'a>(flag: &str, at: &Address, map: &'a MemoryMap) -> Result<(u64, Option<&'a Part>), Diagnostic> {
    let (name, offset) = match at {
        Address::Byte(byte) => return Ok((*byte, None)),
        Address::In { buffer, offset } => (buffer, *offset),
    };
    let is_it = |part: &&Part| part.name == *name || part.variable.as_ref() == Some(name);
    if let Some(part) = map.buffers().find(is_it) {
        return Ok((part.range.start.saturating_add(offset), Some(part)));
    }
    let names = map.buffers().flat_map(|part| [Some(&part.name), part.variable.as_ref()]);
    let names: Vec<&str> = names.flatten().map(String::as_str).collect();
    let near = did_you_mean(name, names.iter().copied());
    let hint = near.unwrap_or_else(|| match names.as_slice() {
        [] => "the kernel has no buffers with names: give an address".to_owned(),
        names => format!("there are {}", names.join(", ")),
    });
    Err(Diagnostic::error(format!("{flag}: there is no buffer `{name}`")).hint(hint))
}

/// Reads `ADDRESS:COUNT`, elements of a type, or the name of a buffer for all that is in it.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn elements(text: &str, element: ElementType) -> Result<Span, String> {
    match text.split_once(':') {
        Some((at, count)) => {
            Ok(Span::Elements(Address::read(at)?, values::integer(count)?, element.bytes() as u64))
        }
        None => rest(text, "OFFSET:COUNT, or the name of a buffer"),
    }
}

/// Reads `START:END`, or the name of a buffer.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn bytes(text: &str) -> Result<Span, String> {
    let Some((start, end)) = text.split_once(':') else {
        return rest(text, "START:END, or the name of a buffer");
    };
    let span = Span::Between(Address::read(start)?, Address::read(end)?);
    match span.known() {
        Some(range) if range.end <= range.start => Err("END has to be greater than START".into()),
        _ => Ok(span),
    }
}

fn rest(text: &str, form: &str) -> Result<Span, String> {
    match Address::read(text) {
        Ok(at @ Address::In { .. }) => Ok(Span::Rest(at)),
        _ => Err(format!("expected {form}")),
    }
}

/// `ADDRESS:BYTES:FILE`, or `BUFFER:FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Save {
    /// What is written.
    pub span: Span,
    /// Where it goes.
    pub file: PathBuf,
}

/// Reads `OFFSET:BYTES:FILE`, `BUFFER:BYTES:FILE` or `BUFFER:FILE`; the file may have colons in its name.
///
/// # Errors
/// A sentence on what is wrong with it.
pub(crate) fn save(text: &str) -> Result<Save, String> {
    const FORM: &str = "expected OFFSET:BYTES:FILE, or BUFFER:FILE";
    let (at, others) = text.split_once(':').ok_or(FORM)?;
    let at = Address::read(at)?;
    let file = |name| values::file_name(name);
    match (&at, others.split_once(':')) {
        (Address::In { .. }, Some((count, name))) if size(count).is_ok() => {
            Ok(Save { span: Span::Elements(at, size(count)?, 1), file: file(name)? })
        }
        (Address::In { .. }, _) => Ok(Save { span: Span::Rest(at), file: file(others)? }),
        (Address::Byte(_), Some((count, name))) => {
            Ok(Save { span: Span::Elements(at, size(count)?, 1), file: file(name)? })
        }
        (Address::Byte(_), None) => Err(FORM.to_owned()),
    }
}
