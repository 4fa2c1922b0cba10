//! Initial contents of buffers.

use super::buffer::{Buffer, Buffers};
use super::element::Element;
use super::expression::{Expression, Failure, Value};
use super::file::{Buffer as FileBuffer, Contents, Named, Structure};
use super::given::Given;
use super::messages::Problem;
use super::random::{Csr, Random};
use super::scope::Names;

/// The random structures of a launch file.
#[derive(Debug)]
pub(crate) struct Structures(Vec<(String, Csr)>);

impl Structures {
    /// The structure with this name.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn find(&self, name: &str) -> Result<&Csr, Failure> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, csr)| csr).ok_or_else(|| {
            let names = self.0.iter().map(|(n, _)| n.as_str());
            Failure::unknown(format!("there is no structure `{name}`"), name, names)
        })
    }
}

/// Generates the structures.
pub(super) fn structures(
    stated: &Named<Structure>,
    names: &Names,
    seed: u64,
) -> Result<Structures, Vec<Problem>> {
    let generate = |name: &str, structure: &Structure| {
        let Structure::Csr { rows, columns, entries } = structure;
        let rows = names.size(rows, "rows")?;
        let columns = columns.as_ref().map_or(Ok(rows), |c| names.size(c, "columns"))?;
        let entries = names.size(entries, "entries")?;
        if entries > 0 && (rows == 0 || columns == 0) {
            return Err(Failure::new(format!("{entries} entries need at least a row and a column")));
        }
        Ok(Random::new(seed, name).csr(rows, columns, entries))
    };
    let mut generated = Vec::new();
    for (name, structure) in &stated.0 {
        match generate(name, structure) {
            Ok(csr) => generated.push((name.clone(), csr)),
            Err(failure) => return Err(vec![Problem::of(format!("structures.{name}"), failure)]),
        }
    }
    Ok(Structures(generated))
}

/// Writes the contents of all buffers into device memory, in the order of the file. `data` has the bytes of
/// buffers that are filled from files.
pub(super) fn fill(
    stated: &Named<FileBuffer>,
    buffers: &[Buffer],
    data: Vec<Option<Vec<u8>>>,
    names: &Names,
    structures: &Structures,
    seed: u64,
    memory: &mut [u8],
) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    for (i, ((name, stated), data)) in stated.0.iter().zip(data).enumerate() {
        let buffer = &buffers[i];
        let bytes = match data {
            Some(bytes) => Ok(bytes),
            None => {
                // An expression may use elements of the buffers in front of this one.
                let before = Buffers { scope: names, buffers: &buffers[..i], memory };
                bytes(&stated.contents, buffer, before, structures, &mut Random::new(seed, name))
            }
        };
        match bytes {
            Ok(bytes) => memory[buffer.range()].copy_from_slice(&bytes),
            Err(failure) => problems.push(Problem::of(format!("buffers.{name}.contents"), failure)),
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn bytes(
    contents: &Contents,
    buffer: &Buffer,
    before: Buffers<'_>,
    structures: &Structures,
    random: &mut Random,
) -> Result<Vec<u8>, Failure> {
    let &Buffer { element, length, .. } = buffer;
    let mut bytes = Vec::with_capacity(length * element.bytes());
    let mut put = |value: Value| element.write(value, &mut bytes).map_err(Failure::new);
    let int = |v: u32| Value::Int(i64::from(v));
    let mut put_all = |values: &mut dyn Iterator<Item = Value>| {
        for value in values {
            put(value)?;
        }
        Ok(())
    };
    match contents {
        // The bytes of a file were copied unchanged.
        Contents::Zero | Contents::File(_) => put_all(&mut std::iter::repeat_n(Value::Int(0), length))?,
        Contents::Iota => put_all(&mut (0..length as i64).map(Value::Int))?,
        Contents::Uniform(low, high) if element.is_float() => {
            let (low, high) = (before.scope.number(low)?.as_f64(), before.scope.number(high)?.as_f64());
            if !(low <= high && (high - low).is_finite()) {
                return Err(Failure::new(format!("{low} to {high} is no range")));
            }
            put_all(&mut (0..length).map(|_| Value::Float(random.float(low, high))))?;
        }
        Contents::Uniform(low, high) | Contents::Integers(low, high) => {
            let bound = |e: &Expression| before.scope.integer(e, "the end of a range of integers");
            let (low, high) = (bound(low)?, bound(high)?);
            if low > high || high.checked_sub(low).is_none_or(|d| d >= 1 << 32) {
                return Err(Failure::new(format!("{low} to {high} is no range of at most 2^32 integers")));
            }
            put_all(&mut (0..length).map(|_| Value::Int(random.integer(low, high))))?;
        }
        Contents::Each(expression) => before.each(expression, length)?.try_for_each(|value| put(value?))?,
        Contents::Values(values) => {
            for value in values {
                match value {
                    Given::Computed(expression) => {
                        element.write(before.scope.number(expression)?, &mut bytes).map_err(Failure::new)?;
                    }
                    Given::Written(number) => {
                        let bits = number.element_bits(element).map_err(Failure::new)?;
                        bytes.extend(&bits.to_le_bytes()[..element.bytes()]);
                    }
                }
            }
        }
        Contents::Cycle => put_all(&mut random.cycle(length).into_iter().map(int))?,
        Contents::Offsets(of) => put_all(&mut structures.find(of)?.offsets.iter().copied().map(int))?,
        Contents::Lz4 { of, block_bytes } => {
            if element.bytes() != 1 {
                return Err(Failure::new("compressed data are bytes: the buffer needs the type u8"));
            }
            let block_bytes = before.scope.size(block_bytes, "block_bytes")?.max(1);
            bytes = packed(before.bytes(of)?, block_bytes, length)?;
        }
        Contents::Columns(of) => put_all(&mut structures.find(of)?.columns.iter().copied().map(int))?,
    }
    Ok(bytes)
}

/// Blocks of bytes, each compressed into a slot of its own; the slots have `length` bytes together.
fn packed(plain: &[u8], block_bytes: usize, length: usize) -> Result<Vec<u8>, Failure> {
    let blocks = plain.len().div_ceil(block_bytes);
    let slot_bytes = length.checked_div(blocks).unwrap_or(0);
    let mut bytes = vec![0; length];
    for (block, slot) in plain.chunks(block_bytes).zip(bytes.chunks_exact_mut(slot_bytes.max(1))) {
        let compressed = lz4_flex::block::compress(block);
        let end = 4 + compressed.len();
        if end > slot.len() {
            let message =
                format!("a block needs {end} bytes, and a slot has {slot_bytes}: give the buffer more");
            return Err(Failure::new(message));
        }
        slot[..4].copy_from_slice(&(compressed.len() as u32).to_le_bytes());
        slot[4..end].copy_from_slice(&compressed);
    }
    Ok(bytes)
}
