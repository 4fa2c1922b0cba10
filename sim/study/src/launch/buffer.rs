//! Buffers in device memory: their places and contents.

use super::element::{Element, ElementType};
use super::expression::{Expression, Failure, Scope, Value};
use super::scope::Names;

/// Buffers start at multiples of this many bytes.
pub(crate) const ALIGNMENT_BYTES: u64 = 256;

/// Least number of bytes behind a buffer that belong to no buffer. Writes to them are detected.
pub(crate) const GAP_BYTES: u64 = 256;

/// A buffer of device memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// Name.
    pub name: String,
    /// Type of its elements.
    pub element: ElementType,
    /// Address of its first byte in device memory.
    pub address: u32,
    /// Number of elements.
    pub length: usize,
}

impl Buffer {
    /// Its bytes in device memory.
    pub fn range(&self) -> std::ops::Range<usize> {
        let start = self.address as usize;
        start..start + self.length * self.element.bytes()
    }
}

/// Buffers and their contents, for expressions and references that use elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buffers<'a> {
    /// Values of the other names.
    pub scope: &'a Names,
    /// Buffers whose elements may be used.
    pub buffers: &'a [Buffer],
    /// Device memory.
    pub memory: &'a [u8],
}

impl Buffers<'_> {
    /// The elements of a buffer.
    ///
    /// # Errors
    /// No such buffer.
    pub(super) fn read(&self, name: &str) -> Result<Vec<f64>, Failure> {
        let buffer = self.find(name)?;
        let bytes = &self.memory[buffer.range()];
        Ok(bytes.chunks_exact(buffer.element.bytes()).map(|e| buffer.element.read(e)).collect())
    }

    /// The bytes of a buffer.
    ///
    /// # Errors
    /// No such buffer.
    pub(super) fn bytes(&self, name: &str) -> Result<&[u8], Failure> {
        Ok(&self.memory[self.find(name)?.range()])
    }

    /// The values of an expression for each index below `count`.
    ///
    /// # Errors
    /// Unknown names. Operations without a result are errors of the iterator's items.
    pub(super) fn each(
        &self,
        expression: &Expression,
        count: usize,
    ) -> Result<impl Iterator<Item = Result<Value, Failure>>, Failure> {
        let bound = expression.bind(self)?;
        let value = move |i| {
            bound
                .evaluate(i, &|buffer, index| self.element(buffer, index))
                .map_err(|e| Failure::new(format!("for i = {i}: {e}")))
        };
        Ok((0..count as i64).map(value))
    }

    /// An element of a buffer, which is given by its number.
    ///
    /// # Errors
    /// The buffer has no such element.
    pub(super) fn element(&self, buffer: usize, index: i64) -> Result<Value, String> {
        let Buffer { name, element, length, address } = &self.buffers[buffer];
        match usize::try_from(index) {
            Ok(index) if index < *length => {
                element.read_value(&self.memory[*address as usize + index * element.bytes()..])
            }
            _ => Err(format!("`{name}` has {length} elements, not one with index {index}")),
        }
    }

    fn find(&self, name: &str) -> Result<&Buffer, Failure> {
        self.buffers.iter().find(|b| b.name == name).ok_or_else(|| {
            let names = self.buffers.iter().map(|b| b.name.as_str());
            Failure::unknown(format!("there is no buffer `{name}`"), name, names)
        })
    }
}

impl Scope for Buffers<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        self.scope.value(name)
    }

    fn buffer(&self, name: &str) -> Option<usize> {
        self.buffers.iter().position(|b| b.name == name)
    }

    fn index_name(&self) -> Option<&str> {
        Some("i")
    }

    fn names(&self) -> Vec<&str> {
        self.scope.names()
    }
}
