//! What the memory channels hold: device memory and the program's code.

use super::geometry::{LineGeometry, LineNumber, copy_bytes};
use super::message::{CODE_SPACE, LineData, MAX_LINE_BYTES};
use super::pages::{Pages, Shared};
use wave_capture::Capture;

/// Contents of memory. A line that leaves an L2 slice for its channel is here from that cycle on. Only that
/// slice can ask for it, so it does not matter when the channel moves the bytes.
#[derive(Debug, Clone, Capture)]
pub(crate) struct Image {
    #[spec]
    geometry: LineGeometry,
    #[fixed]
    memory: Vec<u8>,
    /// What snapshots share of it.
    #[scratch]
    shared: Shared,
    #[spec]
    code: Vec<u8>,
}

impl Image {
    /// Memory with these contents. The `code` words lie as little-endian bytes from address 0 of the code
    /// space on.
    pub(super) fn new(geometry: LineGeometry, memory: Vec<u8>, code: &[u32]) -> Image {
        let shared = Shared::new(memory.len());
        Image { geometry, memory, shared, code: code_bytes(code) }
    }

    /// Replaces the code.
    pub(super) fn put_code(&mut self, code: &[u32]) {
        self.code = code_bytes(code);
    }

    /// Device memory.
    pub(super) fn memory(&self) -> &[u8] {
        &self.memory
    }

    /// Takes device memory out.
    pub(super) fn into_memory(self) -> Vec<u8> {
        self.memory
    }

    /// The pages of device memory now.
    pub(crate) fn pages(&mut self) -> Pages {
        self.shared.take(&self.memory)
    }

    /// Puts pages back that came from here, or from an image with as much memory.
    pub(crate) fn put_pages(&mut self, pages: &Pages) {
        self.shared.put(pages, &mut self.memory);
    }

    /// Device memory was replaced, not written line by line.
    pub(crate) fn replaced(&mut self) {
        self.shared.write_all();
    }

    /// Exchanges device memory for other bytes: for a snapshot without it.
    pub(crate) fn swap_memory(&mut self, memory: &mut Vec<u8>) {
        std::mem::swap(&mut self.memory, memory);
    }

    /// The bytes of a space from a line on.
    #[inline]
    fn from(&self, line: LineNumber) -> Option<&[u8]> {
        let address = self.geometry.address(line);
        let space = if address & CODE_SPACE == 0 { &self.memory } else { &self.code };
        space.get((address & (CODE_SPACE - 1)) as usize..)
    }

    /// The bytes of a line, in place; `None` if it lies past the end of its space, even in part.
    #[inline]
    pub(super) fn whole(&self, line: LineNumber) -> Option<&[u8]> {
        self.from(line)?.get(..self.geometry.line_bytes())
    }

    /// The bytes of a line; 0 past the end of its space (M3).
    pub(super) fn read(&self, line: LineNumber) -> LineData {
        let mut data = [0; MAX_LINE_BYTES];
        if let Some(rest) = self.from(line) {
            let bytes = rest.len().min(self.geometry.line_bytes());
            data[..bytes].copy_from_slice(&rest[..bytes]);
        }
        data
    }

    /// Writes the masked bytes of a line. They lie inside device memory.
    pub(super) fn write(&mut self, line: LineNumber, data: &[u8], byte_mask: u128) {
        let start = self.geometry.address(line) as usize;
        debug_assert!(self.geometry.address(line) & CODE_SPACE == 0, "the code space is read-only");
        self.shared.write(start);
        copy_bytes(&mut self.memory[start..], data, byte_mask);
    }
}

fn code_bytes(code: &[u32]) -> Vec<u8> {
    code.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_apart_and_the_last_line_may_be_short() {
        let geometry = LineGeometry::of(64, 32);
        let mut image = Image::new(geometry, vec![7; 100], &[0x0403_0201]);
        let last = geometry.number(64);
        assert_eq!((image.read(last)[35], image.read(last)[36]), (7, 0));
        image.write(last, &[9; 64], 0b11 << 34);
        assert_eq!(image.memory()[97..100], [7, 9, 9]);
        assert_eq!(image.read(geometry.number(CODE_SPACE))[..5], [1, 2, 3, 4, 0]);
        assert_eq!(image.read(geometry.number(CODE_SPACE + 4096)), [0; MAX_LINE_BYTES]);
    }
}
