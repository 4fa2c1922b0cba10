//! Local memory of a core: the data of its resident workgroups, and its banks.

use super::banks::Banks;
use crate::config::Config;
use wave_capture::Capture;

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
    #[scratch]
    banks: Banks,
}

impl LocalMemory {
    /// Memory for `workgroups` parts of `part` bytes.
    pub(crate) fn new(config: &Config, workgroups: usize, part: u32) -> LocalMemory {
        let local = &config.core.local;
        LocalMemory {
            bytes: vec![0; workgroups * part as usize],
            part: part as usize,
            poison: config.core.local_poison,
            banks: Banks::new(local.banks, local.bank_bytes),
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

    /// Its banks.
    pub(crate) fn banks(&mut self) -> &mut Banks {
        &mut self.banks
    }
}
