//! Adds the sections to a module.

use super::layout::Layout;
use super::{NUMBER, Section};
use crate::wasm::module::Sections;
use crate::wasm::{Error, Fault, Features};
use wasmparser::{Parser, Payload};

/// Number of a custom section.
const CUSTOM: u8 = 0;

/// The module with the sections of NanoWasm at its end. Those that it has are replaced; nothing else changes.
///
/// # Errors
/// A module that is malformed, invalid, uses a feature that is not taken, or that would be larger than 4 GiB with them.
pub fn annotate(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    Sections::valid(bytes, Features::Taken)?;
    let layout = Layout::of(bytes)?;
    let mut result = without(bytes)?;
    for section in Section::ALL {
        let content = match section {
            Section::Labels => labels(&layout)?,
            other => layout.numbers(other).iter().flat_map(|number| number.to_le_bytes()).collect(),
        };
        append(&mut result, section, &content)?;
    }
    Ok(result)
}

/// The module without sections of NanoWasm.
fn without(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut copied = 0;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        let end = match &payload {
            Payload::Version { range, .. } => range.end,
            other => match other.as_section() {
                Some((_, range)) => range.end,
                None => continue,
            },
        };
        let is_table =
            matches!(&payload, Payload::CustomSection(section) if Section::named(section.name()).is_some());
        if !is_table {
            result.extend_from_slice(&bytes[copied..end as usize]);
        }
        copied = end as usize;
    }
    Ok(result)
}

/// The content of `nw_lo`.
fn labels(layout: &Layout) -> Result<Vec<u8>, Error> {
    let mut offsets = Vec::new();
    let mut entries = Vec::new();
    for labels in &layout.labels {
        let place = layout.labels.len() * NUMBER + entries.len();
        offsets.extend(u32::try_from(place).map_err(|_| too_large())?.to_le_bytes());
        entries.extend((labels.len() as u32).to_le_bytes());
        entries.extend(labels.iter().flatten().flat_map(|number| number.to_le_bytes()));
    }
    offsets.append(&mut entries);
    Ok(offsets)
}

fn append(module: &mut Vec<u8>, section: Section, content: &[u8]) -> Result<(), Error> {
    let name = section.name().as_bytes();
    module.push(CUSTOM);
    // One byte says how long the name is.
    number(module, u32::try_from(1 + name.len() + content.len()).map_err(|_| too_large())?);
    module.push(name.len() as u8);
    module.extend_from_slice(name);
    module.extend_from_slice(content);
    if u32::try_from(module.len()).is_err() {
        return Err(too_large());
    }
    Ok(())
}

fn too_large() -> Error {
    Error::new(Fault::Refused, "with the sections of NanoWasm this module has more than 4 GiB")
}

/// Appends a number in LEB128.
fn number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
