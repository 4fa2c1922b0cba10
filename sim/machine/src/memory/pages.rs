//! Device memory in pages that snapshots of one machine share as long as nothing writes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a page. The last one of a memory may be shorter.
const PAGE_BYTES: usize = 16 << 10;

/// The bytes of a page at some time.
#[derive(Debug)]
struct Page {
    bytes: Box<[u8]>,
    is_zeros: bool,
    /// Bytes of all pages that are alive.
    total: Arc<AtomicUsize>,
}

impl Drop for Page {
    fn drop(&mut self) {
        self.total.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

/// Device memory at some time. Copies share their pages, and so do those of one machine at other times.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pages {
    all: Vec<Arc<Page>>,
    total: Arc<AtomicUsize>,
}

impl Pages {
    /// Bytes that this list takes by itself, without its pages.
    pub(crate) fn list_bytes(&self) -> usize {
        self.all.len() * size_of::<Arc<Page>>()
    }

    /// Bytes of all pages that this memory at any time still has, however many share them.
    pub(crate) fn bytes(&self) -> usize {
        self.total.load(Ordering::Relaxed)
    }

    /// Their bytes as a memory. Where pages are zeros it is not touched: much of a large memory is never used.
    pub(crate) fn memory(&self) -> Vec<u8> {
        let mut memory = vec![0; self.all.iter().map(|page| page.bytes.len()).sum()];
        for (bytes, page) in memory.chunks_mut(PAGE_BYTES).zip(&self.all) {
            if !page.is_zeros {
                bytes.copy_from_slice(&page.bytes);
            }
        }
        memory
    }

    fn page(&self, bytes: &[u8], is_zeros: bool) -> Arc<Page> {
        self.total.fetch_add(bytes.len(), Ordering::Relaxed);
        Arc::new(Page { bytes: bytes.into(), is_zeros, total: Arc::clone(&self.total) })
    }
}

/// True if all bytes are 0. It looks at many at once, because whole memories are searched.
fn are_zeros(bytes: &[u8]) -> bool {
    let (chunks, rest) = bytes.as_chunks::<128>();
    let is_zero = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all | byte) == 0;
    chunks.iter().all(|chunk| is_zero(chunk)) && is_zero(rest)
}

/// What is known of a memory: its pages when they were last taken or put back, and which may have changed since.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    /// None before the first time.
    pages: Pages,
    /// A bit for each page.
    changed: Vec<u64>,
}

impl Shared {
    /// For a memory of so many bytes, of which all may have changed.
    pub(super) fn new(bytes: usize) -> Shared {
        Shared {
            pages: Pages::default(),
            changed: vec![u64::MAX; bytes.div_ceil(PAGE_BYTES).div_ceil(u64::BITS as usize)],
        }
    }

    /// A write at this byte, and on to the end of its line.
    #[inline]
    pub(super) fn write(&mut self, start: usize) {
        let page = start / PAGE_BYTES;
        self.changed[page / 64] |= 1 << (page % 64);
    }

    /// All may have changed.
    pub(super) fn write_all(&mut self) {
        self.changed.fill(u64::MAX);
    }

    fn has_changed(&self, page: usize) -> bool {
        self.changed[page / 64] >> (page % 64) & 1 != 0
    }

    /// The pages of `memory` now. Copies those that have changed, but only one of those that are all zeros.
    pub(super) fn take(&mut self, memory: &[u8]) -> Pages {
        let mut zeros: Option<Arc<Page>> = None;
        let is_first = self.pages.all.is_empty();
        for (place, bytes) in memory.chunks(PAGE_BYTES).enumerate() {
            if !is_first && (!self.has_changed(place) || *bytes == *self.pages.all[place].bytes) {
                continue;
            }
            let is_zeros = are_zeros(bytes);
            let page = if bytes.len() == PAGE_BYTES && is_zeros {
                Arc::clone(zeros.get_or_insert_with(|| self.pages.page(bytes, true)))
            } else {
                self.pages.page(bytes, is_zeros)
            };
            if is_first { self.pages.all.push(page) } else { self.pages.all[place] = page }
        }
        self.changed.fill(0);
        self.pages.clone()
    }

    /// Puts pages back into `memory`, which has as many bytes.
    pub(super) fn put(&mut self, pages: &Pages, memory: &mut [u8]) {
        for (place, bytes) in memory.chunks_mut(PAGE_BYTES).enumerate() {
            let page = &pages.all[place];
            let is_there = self.pages.all.get(place).is_some_and(|other| Arc::ptr_eq(other, page));
            if !is_there || self.has_changed(place) {
                bytes.copy_from_slice(&page.bytes);
            }
        }
        self.pages = pages.clone();
        self.changed.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_nothing_has_written_are_shared() {
        let mut memory = vec![7; 100 * PAGE_BYTES + 5];
        memory[3 * PAGE_BYTES..90 * PAGE_BYTES].fill(0);
        let mut shared = Shared::new(memory.len());
        let (first, memory_at_first) = (shared.take(&memory), memory.clone());
        // One page is for all that are zeros.
        assert_eq!(first.bytes(), 14 * PAGE_BYTES + 5);
        memory[70 * PAGE_BYTES] = 9;
        shared.write(70 * PAGE_BYTES);
        memory[100 * PAGE_BYTES + 4] = 1;
        shared.write(100 * PAGE_BYTES);
        // Written, but with what was there.
        shared.write(0);
        let second = shared.take(&memory);
        assert_eq!(second.bytes(), 15 * PAGE_BYTES + 10);
        shared.put(&first, &mut memory);
        assert_eq!((memory[70 * PAGE_BYTES], memory[100 * PAGE_BYTES + 4]), (0, 7));
        // What is written after they were put back is put back the next time.
        memory[0] = 1;
        shared.write(0);
        shared.put(&first, &mut memory);
        assert_eq!(memory[0], 7);
        shared.put(&second, &mut memory);
        assert_eq!((memory[70 * PAGE_BYTES], memory[100 * PAGE_BYTES + 4]), (9, 1));
        drop(shared);
        drop(second);
        assert_eq!(first.bytes(), 14 * PAGE_BYTES + 5);
        assert_eq!(first.memory(), memory_at_first);
        // Into another memory.
        let (mut other, mut blank) = (vec![1; memory.len()], Shared::new(memory.len()));
        blank.put(&first, &mut other);
        assert_eq!((other[0], other[70 * PAGE_BYTES], other[100 * PAGE_BYTES + 4]), (7, 0, 7));
        assert_eq!(blank.take(&other).bytes(), first.bytes());
    }
}
