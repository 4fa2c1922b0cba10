//! Buffers that a shader names by group and number, as WebGPU and Vulkan do.

use std::fmt;

/// A buffer that a kernel accesses, by the group and the number in it that the shader states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The group.
    pub group: u32,
    /// The number in the group.
    pub number: u32,
    /// The name of the variable, if it has one.
    pub name: Option<String>,
    /// True if the kernel may write to it.
    pub is_written: bool,
    /// Bytes that it has at least.
    pub least_bytes: u64,
    /// If it ends with an array whose length the buffer says: bytes of an element.
    pub element_bytes: Option<u32>,
    /// The register that holds its address at the start.
    pub address: u8,
    /// The register that holds its length in bytes at the start, if the kernel asks for that.
    pub length: Option<u8>,
}

impl Binding {
    /// Start values of registers for a buffer of so many bytes at an address.
    ///
    /// # Errors
    /// A buffer that is too small: the message, with the binding and both sizes.
    pub fn registers(&self, address: u32, bytes: u64) -> Result<Vec<(u8, u32)>, String> {
        if bytes < self.least_bytes {
            return Err(format!(
                "{self} needs at least {} bytes, and its buffer has {bytes}",
                self.least_bytes
            ));
        }
        let length = self.length.map(|register| (register, u32::try_from(bytes).unwrap_or(u32::MAX)));
        Ok([(self.address, address)].into_iter().chain(length).collect())
    }
}

/// `binding 0.1 ("name")`.
impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "binding {}.{}", self.group, self.number)?;
        match &self.name {
            Some(name) => write!(f, " (`{name}`)"),
            None => Ok(()),
        }
    }
}
