//! Operand collectors and register banks of one scheduler.
//!
//! A collector takes an issued instruction and reads its source rows from the banks, one row a bank and
//! cycle, the oldest collector first. The values are needed when the instruction leaves its collector. Until
//! the cycle after the last read nothing can have written a source: the wave's next instruction issues
//! with that read at the earliest. So an instruction that leaves at once takes its values straight from
//! the register file; only one that has to wait keeps them in its collector ([`OperandStore`]).

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
    /// The wave's slot within its scheduler.
    pub swizzle: u8,
    /// Banks of the rows still to be read; the first `rows` entries.
    banks: [u8; MAX_SOURCE_ROWS],
    rows: u8,
    /// The same as bits, if no two are in one bank.
    distinct_banks: Option<u32>,
    /// What it waits for.
    pub waiting: Waiting,
    /// Where its operands are kept, if it had to wait with them.
    kept: Option<u8>,
}

impl Collector {
    /// A collector for an instruction that issues now. `swizzle` is the wave's slot within its scheduler:
    /// register r of the wave lies in bank (r + swizzle) mod banks.
    pub fn new(
        op: &MicroOp,
        slot: Slot,
        sequence: u64,
        word: u32,
        swizzle: u8,
        bank_mask: usize,
    ) -> Collector {
        let banks =
            op.reads.map(|register| ((usize::from(register) + usize::from(swizzle)) & bank_mask) as u8);
        let used = banks[..usize::from(op.read_rows)].iter().fold(0u32, |used, bank| used | 1 << bank);
        Collector {
            distinct_banks: (used.count_ones() == u32::from(op.read_rows)).then_some(used),
            slot,
            sequence,
            word,
            mask: 0,
            condition: 0,
            swizzle,
            banks,
            rows: op.read_rows,
            waiting: Waiting::Banks,
            kept: None,
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
        if let Some(banks) = self.distinct_banks
            && banks & *banks_used == 0
        {
            // Nearly always.
            *banks_used |= banks;
            self.rows = 0;
            return 0;
        }
        self.distinct_banks = None;
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

/// The operand rows that collectors of one scheduler keep.
#[derive(Debug, Clone)]
pub struct OperandStore {
    rows: Vec<u32>,
    free: Vec<u8>,
    width: usize,
}

/// The operand rows of one instruction, in operand order.
pub type OperandRows<'a> = [&'a [u32]; MAX_SOURCE_ROWS];

impl OperandStore {
    /// Room for every collector of a scheduler, with rows of `width` lanes.
    pub fn new(collectors: u32, width: usize) -> OperandStore {
        OperandStore {
            rows: vec![0; collectors as usize * MAX_SOURCE_ROWS * width],
            free: (0..collectors as u8).collect(),
            width,
        }
    }

    /// Keeps the operands of an instruction that cannot leave its collector yet.
    pub fn keep(&mut self, collector: &mut Collector, op: &MicroOp, registers: &[u32], base: usize) {
        if collector.kept.is_some() {
            return;
        }
        let place = self.free.pop().expect("there is a place for each collector");
        collector.kept = Some(place);
        let kept = &mut self.rows[usize::from(place) * MAX_SOURCE_ROWS * self.width..];
        let sources = &op.sources[..usize::from(op.source_rows)];
        for (row, &register) in kept.chunks_exact_mut(self.width).zip(sources) {
            row.copy_from_slice(&registers[(base + usize::from(register)) * self.width..][..self.width]);
        }
    }

    /// The operand rows of an instruction that leaves its collector: `base` is its wave's first row in
    /// `registers`.
    #[inline]
    pub fn rows<'a>(
        &'a self,
        collector: &Collector,
        op: &MicroOp,
        registers: &'a [u32],
        base: usize,
    ) -> OperandRows<'a> {
        let mut rows: OperandRows = [&[]; MAX_SOURCE_ROWS];
        let sources = &op.sources[..usize::from(op.source_rows)];
        for (i, (row, &register)) in rows.iter_mut().zip(sources).enumerate() {
            *row = match collector.kept {
                None => &registers[(base + usize::from(register)) * self.width..][..self.width],
                Some(place) => {
                    &self.rows[(usize::from(place) * MAX_SOURCE_ROWS + i) * self.width..][..self.width]
                }
            };
        }
        rows
    }

    /// Frees the place of an instruction that has left its collector.
    #[inline]
    pub fn release(&mut self, collector: &Collector) {
        self.free.extend(collector.kept);
    }
}
