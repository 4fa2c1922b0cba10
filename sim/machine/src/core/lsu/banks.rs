//! Banks of a memory inside the core, and the passes of an access over them.

use wave_isa::table::{AccessKind, MemoryOp};

/// Most banks.
const MAX_BANKS: usize = 256;

/// Banks of local memory or of the data of the L1. Each serves one word a pass.
#[derive(Debug, Clone)]
pub(crate) struct Banks {
    mask: u32,
    /// log2 of the bytes of a bank's word.
    word_shift: u32,
    /// Per bank, the word that the current pass serves. Only entries written in the current pass are read.
    served: [u32; MAX_BANKS],
    /// Words not served yet.
    waiting: Vec<u32>,
}

impl Banks {
    /// A power of two of `banks`, at most 256, with words of `bytes` bytes.
    pub(crate) fn new(banks: u32, bytes: u32) -> Banks {
        let (mask, word_shift) = (banks - 1, bytes.trailing_zeros());
        Banks { mask, word_shift, served: [0; MAX_BANKS], waiting: Vec::new() }
    }

    /// Bytes of a bank's word.
    pub(crate) fn word_bytes(&self) -> u32 {
        1 << self.word_shift
    }

    /// Passes over the banks that an access needs (L2). Each bank serves one word a pass. Lanes that touch
    /// one word share its pass; atomics take a pass each. `addresses` are those of the participating lanes.
    pub(crate) fn passes(&mut self, addresses: &[u32], memory: MemoryOp) -> u32 {
        let atomic = matches!(memory.kind, AccessKind::Atomic(_));
        let words = |&address: &u32| {
            (address >> self.word_shift, (address + u32::from(memory.bytes) - 1) >> self.word_shift)
        };
        self.waiting.clear();
        if u32::from(memory.bytes) == 1 << self.word_shift
            && addresses.iter().fold(0, |low, address| low | address).trailing_zeros() >= self.word_shift
        {
            self.waiting.extend(addresses.iter().map(|address| address >> self.word_shift));
        } else {
            self.waiting.extend(addresses.iter().map(words).flat_map(|(first, last)| first..=last));
        }
        if atomic { self.most_of_a_bank() } else { self.passes_of_waiting() }
    }

    /// Passes over the banks until all waiting words are served.
    fn passes_of_waiting(&mut self) -> u32 {
        let bank = |word: u32| (word & self.mask) as usize % MAX_BANKS;
        let mut passes = 0;
        while !self.waiting.is_empty() {
            passes += 1;
            // Branch-free: of several words in a bank the last in the list is served, for all lanes that want
            // it.
            for &word in &self.waiting {
                self.served[bank(word)] = word;
            }
            let mut left = 0;
            for i in 0..self.waiting.len() {
                let word = self.waiting[i];
                self.waiting[left] = word;
                left += usize::from(self.served[bank(word)] != word);
            }
            self.waiting.truncate(left);
        }
        passes
    }

    /// The largest number of waiting words in one bank.
    fn most_of_a_bank(&mut self) -> u32 {
        let banks = &mut self.served[..=self.mask as usize];
        banks.fill(0);
        for &word in &self.waiting {
            banks[(word & self.mask) as usize] += 1;
        }
        banks.iter().copied().fold(0, u32::max)
    }
}
