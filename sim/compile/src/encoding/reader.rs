//! A cursor over the bytes of a module.

use super::{Error, Fault};
use std::ops::Range;

/// A cursor over bytes. Whatever they are, it gives a value or an error with the byte where one was expected.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// What ends where the bytes do, for messages.
    whole: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0, whole: "the file" }
    }

    /// A cursor over a part of the bytes, which is `whole`. Offsets are those of the bytes. Where the range does not
    /// lie in them, nothing is left.
    pub(crate) fn part(bytes: &'a [u8], range: Range<usize>, whole: &'static str) -> Reader<'a> {
        let end = range.end.min(bytes.len());
        Reader { bytes: &bytes[..end], at: range.start.min(end), whole }
    }

    /// The byte that comes next, counted from the first of the file.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// True if no byte is left.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// The next `length` bytes, which are `what`.
    pub(crate) fn take(&mut self, length: usize, what: &str) -> Result<&'a [u8], Error> {
        let rest = &self.bytes[self.at..];
        let Some(taken) = rest.get(..length) else {
            let message = format!(
                "{} ends where {what} is expected: {length} bytes, and {} are left",
                self.whole,
                rest.len()
            );
            return Err(Error::new(Fault::Invalid, message).at(self.at as u64));
        };
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Error> {
        Ok(self.take(N, what)?.try_into().expect("as many bytes as asked for"))
    }

    pub(crate) fn u8(&mut self, what: &str) -> Result<u8, Error> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(crate) fn u16(&mut self, what: &str) -> Result<u16, Error> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, Error> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, Error> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// A number of 32 bits in LEB128: seven bits a byte, low ones first, bit 7 set in all bytes but the last.
    pub(crate) fn varuint32(&mut self, what: &str) -> Result<u32, Error> {
        let start = self.at;
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.u8(what)?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| too_long(what, start));
            }
        }
        Err(too_long(what, start))
    }
}

fn too_long(what: &str, start: usize) -> Error {
    Error::new(Fault::Invalid, format!("{what} is more than 32 bits")).at(start as u64)
}
