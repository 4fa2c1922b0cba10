//! Data that another program gives a kernel, and the parts of memory that have names.

use crate::args::RunArgs;
use crate::memory_map::{Kind, Part};
use crate::values;
use crate::work::Work;
use std::ops::Range;
use wave_isa::diagnostic::Diagnostic;
use wave_isa::suggest::did_you_mean;
use wave_study::launch::ElementType;

/// Where data goes.
#[derive(Debug, Clone)]
pub enum Target {
    /// A buffer: that of a launch file by its name, that of a shader by its binding, such as `0.1`.
    Buffer(String),
    /// Device memory from this byte on. It is for kernel files.
    Address(u64),
}

/// Data for a kernel.
#[derive(Debug, Clone)]
pub enum Contents {
    /// These bytes.
    Bytes(Vec<u8>),
    /// So many zeros.
    Zeros(u64),
}

impl Contents {
    fn len(&self) -> u64 {
        match self {
            Contents::Bytes(bytes) => bytes.len() as u64,
            Contents::Zeros(bytes) => *bytes,
        }
    }

    fn write(&self, memory: &mut [u8]) {
        match self {
            Contents::Bytes(bytes) => memory.copy_from_slice(bytes),
            Contents::Zeros(_) => memory.fill(0),
        }
    }
}

/// A named part of device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// Its name; the binding of a buffer of a shader.
    pub name: String,
    /// Its bytes.
    pub range: Range<usize>,
    /// The type of its elements, if a launch file says it.
    pub element: Option<ElementType>,
}

/// Adds the flags that make room for data of a kernel file.
///
/// # Errors
/// A place that a kernel file does not have.
pub(super) fn make_room(args: &mut RunArgs, given: &[(Target, Contents)]) -> Result<(), Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    for (target, contents) in given {
        let bytes = contents.len();
        let added = match target {
            Target::Address(address) => {
                values::fill_zero(&format!("{address}:u8:{bytes}")).map(|mut fill| {
                    fill.source = of_address(*address);
                    args.launch.fill_zero.push(fill);
                })
            }
            Target::Buffer(name) => {
                values::bind(&format!("{name}=bytes:{bytes}")).map(|bind| args.launch.bind.push(bind))
            }
        };
        if let Err(why) = added {
            let hint = "a buffer of a shader is named by its binding, such as \"0.1\"; other kernel files have \
                        device memory, by address";
            wrong.push(Diagnostic::error(format!("buffers: {why}")).hint(hint));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// How messages name the data at an address.
fn of_address(address: u64) -> String {
    format!("buffers: the data at 0x{address:x}")
}

/// The parts of device memory that flags and launch files name.
pub(super) fn buffers(work: &Work) -> Vec<Buffer> {
    let stated = work.expected.iter().flat_map(|job| &job.buffers).map(|buffer| Buffer {
        name: buffer.name.clone(),
        range: buffer.range(),
        element: Some(buffer.element),
    });
    let bound = work.bound.iter().map(|bound| {
        let region = bound.region();
        Buffer { name: region.name, range: region.start as usize..region.end as usize, element: None }
    });
    stated.chain(bound).collect()
}

/// Writes data into device memory, where there is room for it.
///
/// # Errors
/// A place that the kernel does not have, and data of another length.
pub(super) fn fill(
    work: &mut Work,
    buffers: &[Buffer],
    given: &[(Target, Contents)],
) -> Result<(), Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    for (target, contents) in given {
        let range = match target {
            Target::Address(start) if work.expected.is_none() => {
                let end = start + contents.len();
                let kind = Kind::Filled { is_zero: matches!(contents, Contents::Zeros(_)) };
                work.filled.push(Part::new(of_address(*start), kind, *start..end));
                Ok(*start as usize..end as usize)
            }
            Target::Address(_) => {
                let message = format!("buffers: `{}` is a launch file, whose buffers have names", work.name);
                Err(Diagnostic::error(message).hint(all_names(buffers)))
            }
            Target::Buffer(name) => named(buffers, name, contents.len()),
        };
        match range {
            Ok(range) => contents.write(&mut work.memory[range]),
            Err(error) => wrong.push(error),
        }
    }
    if let Some(job) = &mut work.expected
        && !given.is_empty()
    {
        job.checks.clear();
        work.data = None;
    }
    if wrong.is_empty() { work.map().check_filled() } else { Err(wrong) }
}

/// The bytes of the buffer of this name, which has so many.
fn named(buffers: &[Buffer], name: &str, bytes: u64) -> Result<Range<usize>, Diagnostic> {
    let names = || buffers.iter().map(|buffer| buffer.name.as_str());
    let Some(buffer) = buffers.iter().find(|buffer| buffer.name == name) else {
        let hint = did_you_mean(name, names()).unwrap_or_else(|| all_names(buffers));
        return Err(Diagnostic::error(format!("buffers: there is no buffer `{name}`")).hint(hint));
    };
    if buffer.range.len() as u64 != bytes {
        let has = buffer.range.len();
        let message = format!("buffers: `{name}` has {has} bytes, and {bytes} are given");
        return Err(Diagnostic::error(message));
    }
    Ok(buffer.range.clone())
}

fn all_names(buffers: &[Buffer]) -> String {
    let names: Vec<&str> = buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    format!("its buffers: {}", names.join(", "))
}
