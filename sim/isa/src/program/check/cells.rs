//! Cells: the parts of a lane's state that an instruction reads and writes, as sets.

use crate::{Guard, Inst, MAX_REGISTERS, MMA_FRAGMENTS, Op, PREDICATES};
use std::fmt;

/// A register, predicate or fragment of a lane: 0 to 255 are the general registers, then come the predicates,
/// the A fragments and the B fragments. C fragments are left out, because accumulating from their initial
/// zero is normal use.
pub(super) type Cell = usize;

/// The first predicate.
pub(crate) const FIRST_PREDICATE: Cell = MAX_REGISTERS;
const FIRST_A: Cell = FIRST_PREDICATE + PREDICATES;
const FIRST_B: Cell = FIRST_A + MMA_FRAGMENTS;
/// Number of general registers and predicates.
pub(super) const VALUES: usize = FIRST_A;

/// The cell of a predicate.
pub(super) fn predicate(index: u8) -> Cell {
    FIRST_PREDICATE + usize::from(index)
}

/// The name of a cell in assembly text.
pub(super) fn name(cell: Cell) -> String {
    match cell {
        FIRST_B.. => format!("B fragment f{}", cell - FIRST_B),
        FIRST_A.. => format!("A fragment f{}", cell - FIRST_A),
        FIRST_PREDICATE.. => format!("p{}", cell - FIRST_PREDICATE),
        _ => format!("r{cell}"),
    }
}

/// A set of cells.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cells([u64; 5]);

impl Cells {
    /// No cell.
    pub(super) const NONE: Cells = Cells([0; 5]);
    /// Every cell.
    pub(super) const ALL: Cells = Cells([u64::MAX; 5]);

    /// True if the cell is in the set.
    pub(super) fn contains(&self, cell: Cell) -> bool {
        self.0[cell / 64] >> (cell % 64) & 1 != 0
    }

    /// Adds a cell.
    pub(super) fn insert(&mut self, cell: Cell) {
        self.0[cell / 64] |= 1 << (cell % 64);
    }

    /// Adds the rows of a register operand; rows past r255 do not exist.
    fn insert_rows(&mut self, (first, rows): (u8, u8)) {
        for row in 0..usize::from(rows) {
            if usize::from(first) + row < MAX_REGISTERS {
                self.insert(usize::from(first) + row);
            }
        }
    }

    /// Cells of both sets.
    pub(super) fn union(self, other: Cells) -> Cells {
        Cells(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// Cells in both sets.
    pub(crate) fn intersection(self, other: Cells) -> Cells {
        Cells(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// Cells that are not in `other`.
    pub(super) fn minus(self, other: Cells) -> Cells {
        Cells(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// Cells in ascending order.
    pub(super) fn iter(self) -> impl Iterator<Item = Cell> {
        (0..5 * 64).filter(move |&cell| self.contains(cell))
    }

    /// Number of general registers in the set.
    pub(super) fn registers(self) -> u32 {
        self.0[..MAX_REGISTERS / 64].iter().map(|word| word.count_ones()).sum()
    }
}

impl FromIterator<Cell> for Cells {
    fn from_iter<T: IntoIterator<Item = Cell>>(cells: T) -> Cells {
        let mut set = Cells::NONE;
        cells.into_iter().for_each(|cell| set.insert(cell));
        set
    }
}

impl fmt::Debug for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(name)).finish()
    }
}

/// The predicate that guards an instruction.
pub(super) fn guard(inst: &Inst) -> Option<Guard> {
    inst.guard.is_some().then_some(inst.guard)
}

/// Cells that the operands read, without the guard's predicate.
pub(crate) fn operands_read(inst: &Inst) -> Cells {
    let mut cells = Cells::NONE;
    inst.sources().for_each(|rows| cells.insert_rows(rows));
    if let Some((index, _)) = inst.predicate_source() {
        cells.insert(predicate(index));
    }
    if inst.op == Op::MmaCompute {
        cells.insert(FIRST_A + usize::from(inst.rd));
        cells.insert(FIRST_B + usize::from(inst.rs1));
    }
    cells
}

/// Cells that the instruction reads, with the guard's predicate.
pub(super) fn read(inst: &Inst) -> Cells {
    let mut cells = operands_read(inst);
    if let Some(guard) = guard(inst) {
        cells.insert(predicate(guard.predicate));
    }
    cells
}

/// Cells that the instruction writes in participating lanes.
pub(super) fn written(inst: &Inst, wave_width: u32) -> Cells {
    let mut cells = Cells::NONE;
    if let Some(rows) = inst.destination(wave_width as usize) {
        cells.insert_rows(rows);
    }
    if let Some(index) = inst.predicate_destination() {
        cells.insert(predicate(index));
    }
    match inst.op {
        Op::MmaLoadA => cells.insert(FIRST_A + usize::from(inst.rd)),
        Op::MmaLoadB => cells.insert(FIRST_B + usize::from(inst.rd)),
        _ => {}
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Role, table::TABLE};

    #[test]
    fn rows_past_the_last_register_do_not_exist() {
        let load = Inst { rd: 254, ..Inst::new(Op::DeviceLoadU128) };
        assert_eq!(written(&load, 32), [254, 255].into_iter().collect());
        let ballot = Inst { rd: 3, ..Inst::new(Op::WaveBallot) };
        assert_eq!(written(&ballot, 64), [3, 4].into_iter().collect());
        assert_eq!(written(&ballot, 32), [3].into_iter().collect());
    }

    #[test]
    fn every_fragment_operand_is_read_or_written() {
        for info in TABLE {
            let inst = Inst::new(info.op);
            let fragments = |cells: Cells| cells.iter().filter(|&c| c >= FIRST_A).count();
            let touched = fragments(read(&inst)) + fragments(written(&inst, 32));
            let roles = info.operands.iter().filter(|o| matches!(o.role, Role::FragA | Role::FragB));
            assert_eq!(touched, roles.count(), "{}", info.mnemonic);
        }
    }
}
