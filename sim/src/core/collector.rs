//! Operand collectors and register banks of one scheduler.
//!
//! A collector takes an issued instruction and reads its source rows from the banks, one row a bank and
//! cycle, the oldest collector first. The values are needed when the instruction leaves its collector. Until
//! the cycle after the last read nothing can have written a source: the wave's next instruction issues
//! with that read at the earliest. So an instruction that leaves at once takes its values straight from
//! the register file; only one that has to wait keeps them in its collector ([`OperandStore`]).

use super::uop::{MAX_SOURCE_ROWS, MicroOp};
use super::wave::Slot;
use crate::clock::{Cycle, NEVER};

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

/// How many rows of an instruction are still to be read from each bank.
///
/// In binary, all banks at once: bit b of digit k is digit k of the number for bank b. Nearly always the first digit
/// says all, and one operation on bits reads all that a cycle can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BankRows {
    /// [`MAX_SOURCE_ROWS`] has three.
    digits: [u32; 3],
    /// Rows of all banks.
    rows: u8,
}

impl BankRows {
    /// The rows of some registers, at most [`MAX_SOURCE_ROWS`]: register r lies in bank r mod `banks`.
    pub fn of(registers: &[u8], banks: u32) -> BankRows {
        let mut rows = BankRows { rows: registers.len() as u8, ..BankRows::default() };
        for &register in registers {
            let mut carry = 1 << (u32::from(register) & (banks - 1));
            for digit in &mut rows.digits {
                (*digit, carry) = (*digit ^ carry, *digit & carry);
            }
        }
        rows
    }

    /// The same rows `offset` banks further, of `banks`, a power of two.
    #[inline]
    fn rotated(self, offset: u32, banks: u32) -> BankRows {
        let all = u32::MAX >> (32 - banks);
        let offset = offset & (banks - 1);
        let digits = self.digits.map(|d| (d << offset | d >> ((banks - offset) & 31)) & all);
        BankRows { digits, ..self }
    }

    /// Takes one row from each bank that is not in `used`, which becomes used. Returns how many rows are left.
    #[inline]
    fn read(&mut self, used: &mut u32) -> u8 {
        let [ones, twos, fours] = self.digits;
        let readable = (ones | twos | fours) & !*used;
        *used |= readable;
        if readable == ones && twos | fours == 0 {
            // Nearly always.
            *self = BankRows::default();
            return 0;
        }
        self.rows -= readable.count_ones() as u8;
        let mut borrow = readable;
        for digit in &mut self.digits {
            (*digit, borrow) = (*digit ^ borrow, !*digit & borrow);
        }
        self.rows
    }
}

/// One operand collector in use.
#[derive(Debug, Clone, Copy)]
pub struct Collector {
    /// Position of the instruction in its wave's issue order.
    pub sequence: u64,
    /// Effective lanes.
    pub mask: u64,
    /// Lanes in which the predicate operand is true.
    pub condition: u64,
    /// What it waits for.
    pub waiting: Waiting,
    /// Word of the kernel.
    pub word: u32,
    rows: BankRows,
    /// Wave slot.
    pub slot: u8,
    /// The wave's slot within its scheduler.
    pub swizzle: u8,
    /// Where its operands are kept, if it had to wait with them.
    kept: Option<u8>,
}

impl Collector {
    /// A collector for an instruction that issues now, on a register file with `banks` banks. `swizzle` is the wave's
    /// slot within its scheduler: register r of the wave lies in bank (r + swizzle) mod banks.
    #[inline]
    pub fn new(op: &MicroOp, slot: Slot, sequence: u64, word: u32, swizzle: u8, banks: u32) -> Collector {
        Collector {
            sequence,
            mask: 0,
            condition: 0,
            waiting: Waiting::Banks,
            word,
            rows: op.read_banks.rotated(u32::from(swizzle), banks),
            slot: slot as u8,
            swizzle,
            kept: None,
        }
    }

    /// The wave slot, as an index.
    #[inline]
    pub fn slot(&self) -> Slot {
        usize::from(self.slot)
    }

    /// True if every operand is read.
    #[inline]
    pub fn complete(&self) -> bool {
        self.rows.rows == 0
    }

    /// Reads what rows it can from the banks that no older collector uses in this cycle. Returns the
    /// number of rows that have to wait.
    #[inline]
    pub fn read(&mut self, banks_used: &mut u32) -> u8 {
        self.rows.read(banks_used)
    }
}

/// When the collectors of each scheduler are to be looked at: no instruction could leave them before.
#[derive(Debug, Clone)]
pub struct Departures {
    at: Vec<Cycle>,
    /// The first of them.
    first: Cycle,
}

impl Departures {
    /// None, from so many schedulers.
    pub fn new(schedulers: usize) -> Departures {
        Departures { at: vec![NEVER; schedulers], first: NEVER }
    }

    /// The first of all.
    #[inline]
    pub fn first(&self) -> Cycle {
        self.first
    }

    /// Schedulers that are to be looked at in this cycle, as bits.
    #[inline]
    pub fn due(&self, now: Cycle) -> u32 {
        if self.first > now {
            return 0;
        }
        self.at.iter().rev().fold(0, |due, &at| due << 1 | u32::from(at <= now))
    }

    /// A scheduler is to be looked at in this cycle, or before.
    #[inline]
    pub fn by(&mut self, scheduler: usize, cycle: Cycle) {
        self.at[scheduler] = self.at[scheduler].min(cycle);
        self.first = self.first.min(cycle);
    }

    /// A scheduler was looked at, and is to be again in this cycle.
    #[inline]
    pub fn looked(&mut self, scheduler: usize, again: Cycle) {
        self.at[scheduler] = again;
        self.first = self.at.iter().fold(NEVER, |first, &at| first.min(at));
    }

    /// All are to be looked at.
    pub fn all(&mut self) {
        self.at.fill(0);
        self.first = 0;
    }
}

/// The operand rows that collectors of one scheduler keep.
#[derive(Debug, Clone)]
pub struct OperandStore {
    rows: Vec<u32>,
    free: Vec<u8>,
    width: usize,
}

const IN_ORDER: [u8; MAX_SOURCE_ROWS] = [0, 1, 2, 3, 4, 5];

/// The operand rows of one instruction.
#[derive(Debug, Clone, Copy)]
pub struct Operands<'a> {
    /// Rows of `width` lanes, and which of them are the operands, in operand order.
    from: &'a [u32],
    places: &'a [u8],
    width: usize,
}

impl<'a> Operands<'a> {
    /// The operands in their order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = &'a [u32]> {
        self.places.iter().map(move |&place| &self.from[usize::from(place) * self.width..][..self.width])
    }
}

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
        for (i, &register) in op.sources[..usize::from(op.source_rows)].iter().enumerate() {
            let row = &registers[(base + usize::from(register)) * self.width..][..self.width];
            kept[i * self.width..][..self.width].copy_from_slice(row);
        }
    }

    /// The operand rows of an instruction that leaves its collector: `base` is its wave's first row in
    /// `registers`.
    #[inline]
    pub fn operands<'a>(
        &'a self,
        collector: &Collector,
        op: &'a MicroOp,
        registers: &'a [u32],
        base: usize,
    ) -> Operands<'a> {
        // Where they are kept they lie in their order, else by register.
        let (places, from) = match collector.kept {
            None => (&op.sources, &registers[base * self.width..]),
            Some(place) => (&IN_ORDER, &self.rows[usize::from(place) * MAX_SOURCE_ROWS * self.width..]),
        };
        Operands { from, places: &places[..usize::from(op.source_rows)], width: self.width }
    }

    /// Frees the place of an instruction that has left its collector.
    #[inline]
    pub fn release(&mut self, collector: &Collector) {
        self.free.extend(collector.kept);
    }
}
