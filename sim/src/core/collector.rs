//! Operand collectors and register banks of one scheduler.
//!
//! A collector takes an issued instruction and reads its source rows from the banks, one row a bank and
//! cycle, the oldest collector first. So an instruction that issues knows at once when its last row is read: each bank
//! serves rows in the order of issue, and nothing that comes later goes before them. The values are needed when the
//! instruction leaves its collector. Until the cycle after the last read nothing can have written a source: the wave's
//! next instruction issues with that read at the earliest. So an instruction that leaves at once takes its values
//! straight from the register file; only one that has to wait keeps them in its collector ([`OperandStore`]).

use super::uop::{MAX_SOURCE_ROWS, MicroOp};
use super::wave::Slot;
use crate::clock::{Cycle, NEVER};

/// Why the oldest collector has not let its instruction go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Rows are still to be read, the last of them in this cycle.
    Banks(Cycle),
    /// The execution unit is busy until this cycle.
    Unit(Cycle),
    /// A write port at the result's cycle is taken; another try each cycle.
    WritePort,
    /// The load/store unit takes no more.
    Lsu,
}

/// The register banks of a scheduler, as far as they are read.
#[derive(Debug, Clone)]
pub struct Banks {
    /// Of each bank, the last cycle in which it reads a row that a collector wants; a power of two of them.
    busy_until: Vec<Cycle>,
}

impl Banks {
    /// So many banks, a power of two, that nobody reads.
    pub fn new(banks: u32) -> Banks {
        Banks { busy_until: vec![0; banks as usize] }
    }

    /// Reads the rows of an instruction that issues now, from the next cycle on. Register r lies in bank (r + `swizzle`) mod
    /// banks. Returns the cycle of the last row, and how many cycles rows wait for their banks, added up.
    #[inline]
    pub fn read(&mut self, now: Cycle, registers: &[u8], swizzle: u8) -> (Cycle, u64) {
        let (mut last, mut waits) = (now + 1, 0);
        for &register in registers {
            let bank = (usize::from(register) + usize::from(swizzle)) & (self.busy_until.len() - 1);
            let at = self.busy_until[bank].max(now) + 1;
            self.busy_until[bank] = at;
            last = last.max(at);
            waits += at - (now + 1);
        }
        (last, waits)
    }
}

/// One operand collector in use.
#[derive(Debug, Clone, Copy)]
pub struct Collector {
    /// Instructions that its core issued before it.
    pub age: u64,
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
    /// Wave slot.
    pub slot: u8,
    /// Everything of its way through its unit is settled; it leaves in the next dispatch stage.
    pub settled: bool,
    /// Where its operands are kept, if it had to wait with them.
    pub kept: Option<u8>,
}

impl Collector {
    /// The wave slot, as an index.
    #[inline]
    pub fn slot(&self) -> Slot {
        usize::from(self.slot)
    }
}

/// When the collectors of each scheduler are to be looked at by a stage: nothing would have changed before.
#[derive(Debug, Clone)]
pub struct Looks {
    at: Vec<Cycle>,
    /// None of them is before this cycle.
    first: Cycle,
}

impl Looks {
    /// None, at so many schedulers.
    pub fn new(schedulers: usize) -> Looks {
        Looks { at: vec![NEVER; schedulers], first: NEVER }
    }

    /// None is due before this cycle.
    #[inline]
    pub fn first(&self) -> Cycle {
        self.first
    }

    /// Schedulers that are to be looked at in this cycle, as bits. It is to be said of each when it is to be looked at
    /// [again](Looks::looked).
    #[inline]
    pub fn due(&mut self, now: Cycle) -> u32 {
        if self.first > now {
            return 0;
        }
        let (mut due, mut first) = (0, NEVER);
        for (scheduler, &at) in self.at.iter().enumerate() {
            due |= u32::from(at <= now) << scheduler;
            first = if at <= now { first } else { first.min(at) };
        }
        self.first = first;
        due
    }

    /// When a scheduler is to be looked at.
    #[inline]
    pub fn at(&self, scheduler: usize) -> Cycle {
        self.at[scheduler]
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
        self.first = self.first.min(again);
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
