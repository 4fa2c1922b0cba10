//! Operand collectors and register banks of one scheduler.
//!
//! A collector takes an issued instruction and reads its source rows from the banks, one row a bank and
//! cycle, the oldest collector first. Register values are taken from the register file when the
//! instruction leaves its collector: the wave issues nothing until its operands are read and nothing
//! that is pending can be a source (rules I4 and I5 of docs/pipeline.md), so the values are the same.

use super::uop::{MAX_SOURCE_ROWS, MicroOp};
use super::wave::Slot;
use crate::clock::Cycle;

/// Why the oldest collector has not let its instruction go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Rows are still to be read.
    Banks,
    /// The execution unit is busy until this cycle.
    Unit(Cycle),
    /// A write port at the result's cycle is taken; another try each cycle.
    WritePort,
    /// The load/store unit takes no more.
    Lsu,
}

/// One operand collector in use.
#[derive(Debug, Clone, Copy)]
pub struct Collector {
    /// Wave slot.
    pub slot: Slot,
    /// Sequence number of the instruction in its wave.
    pub sequence: u64,
    /// Word of the kernel.
    pub word: u32,
    /// Effective lanes.
    pub mask: u64,
    /// Lanes in which the predicate operand is true.
    pub condition: u64,
    /// Banks of the rows still to be read; the first `rows` entries.
    banks: [u8; MAX_SOURCE_ROWS],
    rows: u8,
    /// What it waits for.
    pub waiting: Waiting,
}

impl Collector {
    /// A collector for an instruction that issues now. `swizzle` is the wave's slot within its scheduler:
    /// register r of the wave lies in bank (r + swizzle) mod banks. A register that is named twice is
    /// read once.
    pub fn new(
        op: &MicroOp,
        slot: Slot,
        sequence: u64,
        word: u32,
        swizzle: usize,
        bank_mask: usize,
    ) -> Collector {
        let mut banks = [0; MAX_SOURCE_ROWS];
        let mut rows = 0;
        let sources = &op.sources[..usize::from(op.source_rows)];
        for (i, &register) in sources.iter().enumerate() {
            if !sources[..i].contains(&register) {
                banks[rows] = ((usize::from(register) + swizzle) & bank_mask) as u8;
                rows += 1;
            }
        }
        Collector {
            slot,
            sequence,
            word,
            mask: 0,
            condition: 0,
            banks,
            rows: rows as u8,
            waiting: Waiting::Banks,
        }
    }

    /// True if every operand is read.
    #[inline]
    pub fn complete(&self) -> bool {
        self.rows == 0
    }

    /// Reads what rows it can from the banks that no older collector uses in this cycle. Returns the
    /// number of rows that have to wait.
    #[inline]
    pub fn read(&mut self, banks_used: &mut u32) -> u8 {
        let mut left = 0;
        for i in 0..usize::from(self.rows) {
            let bank = self.banks[i];
            if *banks_used >> bank & 1 == 0 {
                *banks_used |= 1 << bank;
            } else {
                self.banks[usize::from(left)] = bank;
                left += 1;
            }
        }
        self.rows = left;
        left
    }
}
