//! Local memory of a core: the data of its resident workgroups, banks and conflict passes.

use crate::config::Config;
use wave_capture::Capture;
use wave_isa::table::{AccessKind, MemoryOp};

/// Most banks.
const MAX_BANKS: usize = 256;

/// Local memory of a core. Each resident workgroup has a part of its own.
#[derive(Debug, Clone, Capture)]
pub(crate) struct LocalMemory {
    #[fixed]
    bytes: Vec<u8>,
    /// Bytes of one workgroup's part.
    #[spec]
    part: usize,
    #[spec]
    poison: u8,
    #[spec]
    bank_mask: u32,
    /// log2 of the bytes of a bank's word.
    #[spec]
    word_shift: u32,
    /// Per bank, the word that the current pass serves. Only entries written in the current pass are read.
    #[scratch]
    served: [u32; MAX_BANKS],
    /// Words not served yet.
    #[scratch]
    waiting: Vec<u32>,
}

impl LocalMemory {
    /// Memory for `workgroups` parts of `part` bytes.
    pub(crate) fn new(config: &Config, workgroups: usize, part: u32) -> LocalMemory {
        let banks = config.core.local.banks;
        LocalMemory {
            bytes: vec![0; workgroups * part as usize],
            part: part as usize,
            poison: config.core.local_poison,
            bank_mask: banks - 1,
            word_shift: config.core.local.bank_bytes.trailing_zeros(),
            served: [0; MAX_BANKS],
            waiting: Vec::new(),
        }
    }

    /// Fills a workgroup's part with the poison that a new workgroup finds.
    pub(crate) fn poison(&mut self, workgroup: usize) {
        let poison = self.poison;
        self.part_mut(workgroup).fill(poison);
    }

    /// Puts bytes into a workgroup's part: as many as it has.
    pub(crate) fn fill(&mut self, workgroup: usize, bytes: &[u8]) {
        self.part_mut(workgroup).copy_from_slice(bytes);
    }

    /// A workgroup's part.
    pub(crate) fn part_of(&self, workgroup: usize) -> &[u8] {
        &self.bytes[workgroup * self.part..][..self.part]
    }

    pub(super) fn part_mut(&mut self, workgroup: usize) -> &mut [u8] {
        &mut self.bytes[workgroup * self.part..][..self.part]
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
        let bank = |word: u32| (word & self.bank_mask) as usize % MAX_BANKS;
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
        let banks = &mut self.served[..=self.bank_mask as usize];
        banks.fill(0);
        for &word in &self.waiting {
            banks[(word & self.bank_mask) as usize] += 1;
        }
        banks.iter().copied().fold(0, u32::max)
    }

    /// Bytes of a bank's word.
    pub(crate) fn bank_bytes(&self) -> u32 {
        1 << self.word_shift
    }
}
