//! Places of buffers in device memory.

use super::buffer::{ALIGNMENT_BYTES, Buffer, GAP_BYTES};
use super::contents::Structures;
use super::expression::Failure;
use super::file::{Buffer as FileBuffer, Contents, Named};
use super::messages::Problem;
use super::scope::Names;
use std::ops::Range;

/// Most bytes of all buffers: what a host can hold easily. Addresses would reach 2^32.
pub(crate) const MAX_IMAGE_BYTES: u64 = 1 << 30;

/// Places of all buffers.
#[derive(Debug)]
pub(super) struct Layout {
    /// Buffers, in the order of the file.
    pub buffers: Vec<Buffer>,
    /// Per buffer: the bytes of the file that fills it, if there is one.
    pub data: Vec<Option<Vec<u8>>>,
    /// Bytes that belong to no buffer.
    pub gaps: Vec<Range<usize>>,
    /// Total bytes.
    pub bytes: usize,
}

/// Assigns a length and an address to every buffer. The first lies behind `data_end`, where the data of the kernels'
/// module end.
pub(super) fn layout(
    stated: &Named<FileBuffer>,
    data_end: u64,
    names: &Names,
    structures: &Structures,
    read: &dyn Fn(&str) -> Result<Vec<u8>, Failure>,
) -> Result<Layout, Vec<Problem>> {
    let mut problems = Vec::new();
    let (mut buffers, mut data) = (Vec::new(), Vec::new());
    let mut next = data_end.next_multiple_of(ALIGNMENT_BYTES);
    for (name, buffer) in &stated.0 {
        match place(name, buffer, next, names, structures, read) {
            Ok((placed, bytes)) => {
                next = (placed.range().end as u64 + GAP_BYTES).next_multiple_of(ALIGNMENT_BYTES);
                buffers.push(placed);
                data.push(bytes);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut in_order: Vec<&Buffer> = buffers.iter().filter(|b| b.length > 0).collect();
    in_order.sort_by_key(|b| b.address);
    let mut gaps = Vec::new();
    let mut end = data_end.min(MAX_IMAGE_BYTES) as usize;
    for (i, buffer) in in_order.iter().enumerate() {
        let range = buffer.range();
        if range.start < end {
            let other = match i {
                0 => "the data of the kernels' module".to_owned(),
                _ => format!("`{}`", in_order[i - 1].name),
            };
            let message = format!("`{}` overlaps {other}", buffer.name);
            return Err(vec![Problem::new(&format!("buffers.{}", buffer.name), message)]);
        }
        gaps.push(end..range.start);
        end = range.end;
    }
    let bytes = (end as u64 + GAP_BYTES).next_multiple_of(ALIGNMENT_BYTES).min(MAX_IMAGE_BYTES) as usize;
    gaps.push(end..bytes);
    gaps.retain(|gap| !gap.is_empty());
    Ok(Layout { buffers, data, gaps, bytes })
}

fn place(
    name: &str,
    stated: &FileBuffer,
    next: u64,
    names: &Names,
    structures: &Structures,
    read: &dyn Fn(&str) -> Result<Vec<u8>, Failure>,
) -> Result<(Buffer, Option<Vec<u8>>), Problem> {
    let at = |key: &str| format!("buffers.{name}{key}");
    let in_contents = |failure| Problem::of(at(".contents"), failure);
    let element = stated.element;
    let mut data = None;
    // The length of the contents, if they determine it.
    let own = match &stated.contents {
        Contents::Values(values) => Some(values.len()),
        Contents::File(path) => {
            let bytes = read(path).map_err(in_contents)?;
            if bytes.len() % element.bytes() != 0 {
                let message = format!("`{path}` has {} bytes, no whole number of elements", bytes.len());
                return Err(Problem::new(&at(".contents"), message));
            }
            Some(data.insert(bytes).len() / element.bytes())
        }
        Contents::Offsets(of) => Some(structures.find(of).map_err(in_contents)?.offsets.len()),
        Contents::Columns(of) => Some(structures.find(of).map_err(in_contents)?.columns.len()),
        _ => None,
    };
    let length = match &stated.length {
        Some(length) => Some(names.size(length, "length").map_err(|f| Problem::of(at(".length"), f))?),
        None => None,
    };
    let length = match (length, own) {
        (Some(length), Some(own)) if length != own => {
            let message = format!("`{name}` has a length of {length}, but its contents have {own}");
            return Err(Problem::new(&at(".length"), message));
        }
        (Some(length), _) | (None, Some(length)) => length,
        (None, None) => {
            let message = format!("`{name}` lacks its `length`");
            return Err(Problem::new(&at(""), message));
        }
    };
    let address = match &stated.address {
        Some(address) => {
            let value = names.integer(address, "address").map_err(|f| Problem::of(at(".address"), f))?;
            u64::try_from(value).map_err(|_| Problem::new(&at(".address"), "an address is at least 0"))?
        }
        None => next,
    };
    let end = address.saturating_add(length as u64 * element.bytes() as u64);
    match u32::try_from(address) {
        Ok(address) if end <= MAX_IMAGE_BYTES => {
            Ok((Buffer { name: name.to_owned(), element, address, length }, data))
        }
        _ => {
            let message =
                format!("`{name}` ends at byte {end}, past the {MAX_IMAGE_BYTES} that buffers may have");
            Err(Problem::new(&at(""), message))
        }
    }
}
