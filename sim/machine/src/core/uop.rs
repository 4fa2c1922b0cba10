//! Micro-operations: every word of a kernel, decoded once into what the pipeline needs.

use super::divergence::Step;
use super::mix::Mix;
use crate::alu::{MAX_SOURCE_ROWS, RowOp};
use crate::config::{Config, DivergenceMode};
use crate::stats::CoreCounters;
use wave_capture::Capture;
use wave_isa::operand::Role;
use wave_isa::program::structure::{instruction_words, skip_targets};
use wave_isa::program::{Kernel, Program};
use wave_isa::table::MemoryOp;
use wave_isa::{DecodeError, ExecClass, Inst, MMA_FRAGMENTS, Op, PREDICATES, Scope, WORD_BYTES};

/// A set of general registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Capture)]
pub struct RegisterSet([u64; 4]);

impl RegisterSet {
    /// Adds `rows` registers from `first` on.
    pub fn insert_rows(&mut self, first: u8, rows: u8) {
        for register in usize::from(first)..usize::from(first) + usize::from(rows) {
            self.0[register >> 6] |= 1 << (register & 63);
        }
    }

    /// Removes every register of `other`. This and the other set operations always access all words: the host
    /// is slow to load widely what it has just stored in narrower parts.
    #[inline]
    pub(crate) fn remove_all(&mut self, other: &RegisterSet) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine &= !theirs;
        }
    }

    /// Adds every register of `other`.
    #[inline]
    pub(crate) fn insert_all(&mut self, other: &RegisterSet) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    /// True if some register is in both.
    #[inline]
    pub fn intersects(&self, other: &RegisterSet) -> bool {
        (self.0[0] & other.0[0])
            | (self.0[1] & other.0[1])
            | (self.0[2] & other.0[2])
            | (self.0[3] & other.0[3])
            != 0
    }
}

/// How the issue stage treats a micro-operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)] // tested several times an instruction: keeps the tag apart from what `Illegal` carries
pub enum Kind {
    /// Through collectors to an execution unit.
    Compute,
    /// Through collectors to the load/store unit.
    Memory(MemoryOp),
    /// Structured control flow, done at issue.
    Control,
    /// Workgroup barrier.
    Barrier,
    /// A fence and the order that it imposes; its scope is in the instruction.
    Fence {
        /// Later loads see what was visible before the fence.
        acquire: bool,
        /// Earlier stores become visible before the fence ends.
        release: bool,
    },
    /// Waits for the wave's loads.
    Wait,
    /// Done at issue, without effect.
    Nop,
    /// Not a legal instruction: faults when it is reached with an active lane.
    Illegal(DecodeError),
    /// The word past the kernel's code: halts the wave.
    End,
}

/// One micro-operation.
#[derive(Debug, Clone)]
pub struct MicroOp {
    /// The instruction; `nop` where there is none.
    pub inst: Inst,
    /// How issue treats it.
    pub kind: Kind,
    /// Execution resource.
    pub class: ExecClass,
    /// Words that the instruction takes.
    pub words: u32,
    /// Rows read, in operand order, and rows written. Of lane arithmetic it is all that there is to do.
    pub rows: RowOp,
    /// Rows to read from the banks: the sources without repetitions (O1).
    pub reads: [u8; MAX_SOURCE_ROWS],
    /// How many of `reads` are used.
    pub read_rows: u8,
    /// The predicate operand (not the guard), and whether it is negated.
    pub predicate_source: Option<(u8, bool)>,
    /// Registers written, as a set.
    pub writes: RegisterSet,
    /// Registers read or written. None may have a write outstanding at issue (I2).
    pub hazards: RegisterSet,
    /// Predicate written, as a bit.
    pub predicate_write: u8,
    /// Predicates read (guard and operand) or written, as bits.
    pub predicate_hazards: u8,
    /// Fragments locked until this instruction retires, as bits: A in 0..8, B in 8..16, C in 16..24. They are
    /// the fragments that it writes and the one that a tile store reads.
    pub fragment_locks: u32,
    /// A and B fragments that a matrix multiplication reads when it enters its unit, as the same bits.
    pub(crate) fragment_reads: u32,
    /// Fragments read or written, as the same bits.
    pub fragment_hazards: u32,
    /// Word of the kernel at which a wave continues if its active mask becomes empty with this instruction:
    /// the next word in walk mode, the matching else, endif or endloop in jump mode (B3).
    pub(crate) skip_to: u32,
    /// What it does in each lane, as an index of counters.
    pub(crate) mix: u16,
}

/// The decoded kernel: `ops[word]` for each word of its code, and one [`Kind::End`] behind the last.
/// Word numbers in the core count from the kernel's first word.
#[derive(Debug, Clone)]
pub struct MicroOps {
    ops: Vec<MicroOp>,
    /// First word of the kernel in the code section.
    pub base: u32,
    /// True if some instruction uses matrix fragments.
    pub uses_mma: bool,
}

impl MicroOps {
    /// Decodes a kernel for a machine.
    pub fn decode(program: &Program, kernel: &Kernel, registers: u32, config: &Config) -> MicroOps {
        let code = &program.code[kernel.code.start as usize..kernel.code.end as usize];
        let skip = match config.core.divergence {
            DivergenceMode::Walk => None,
            DivergenceMode::Jump => Some(skip_targets(code)),
        };
        let mut ops = Vec::with_capacity(code.len() + 1);
        for word in 0..code.len() {
            let decoded = Inst::decode(&code[word..])
                .and_then(|inst| legal_here(inst, kernel, registers, config).map(|()| inst));
            let mut op = match decoded {
                Ok(inst) => MicroOp::new(inst, kernel, config),
                Err(error) => {
                    let words = instruction_words(code[word]).min((code.len() - word) as u32);
                    MicroOp { words, ..MicroOp::without_inst(Kind::Illegal(error)) }
                }
            };
            let next = word as u32 + op.words;
            op.skip_to = skip.as_ref().map_or(next, |targets| targets[next as usize]);
            ops.push(op);
        }
        ops.push(MicroOp::without_inst(Kind::End));
        let uses_mma = ops.iter().any(|op| op.fragment_hazards != 0);
        MicroOps { ops, base: kernel.code.start, uses_mma }
    }

    /// The micro-operation at a word of the kernel.
    #[inline]
    pub fn get(&self, word: u32) -> &MicroOp {
        &self.ops[word as usize]
    }

    /// True if both have the same instructions at the same place of the code section.
    pub fn is_same_code(&self, other: &MicroOps) -> bool {
        let same = |a: &MicroOp, b: &MicroOp| a.inst == b.inst && a.kind == b.kind;
        self.base == other.base
            && self.ops.len() == other.ops.len()
            && self.ops.iter().zip(&other.ops).all(|(a, b)| same(a, b))
    }

    /// The word behind the kernel's last: where [`Kind::End`] stands.
    #[inline]
    pub fn end(&self) -> u32 {
        self.ops.len() as u32 - 1
    }

    /// Byte offset in the code section of a word of the kernel, as the program counter shows it.
    pub fn pc(&self, word: u32) -> u32 {
        (self.base + word) * WORD_BYTES
    }

    /// The word of the kernel at this byte offset in the code section; some word behind its last if it is not in the
    /// kernel.
    pub(crate) fn word_at(&self, pc: u32) -> u32 {
        match (pc / WORD_BYTES).checked_sub(self.base) {
            Some(word) if pc.is_multiple_of(WORD_BYTES) => word,
            _ => u32::MAX,
        }
    }
}

/// Checks that a well-formed instruction is legal on this machine and in this kernel.
fn legal_here(inst: Inst, kernel: &Kernel, registers: u32, config: &Config) -> Result<(), DecodeError> {
    if inst.op.needs_f64() && !config.capabilities.f64 {
        return Err(DecodeError::Capability("CAP_F64"));
    }
    if inst.op.needs_mma() && !config.capabilities.mma {
        return Err(DecodeError::Capability("CAP_MMA"));
    }
    if inst.op == Op::Call {
        let words = kernel.code.start..kernel.code.end;
        if !inst.imm.is_multiple_of(WORD_BYTES) || !words.contains(&(inst.imm / WORD_BYTES)) {
            return Err(DecodeError::CallTarget(inst.imm));
        }
    }
    inst.check_registers(registers as u16, config.core.wave_width as usize)
}

impl MicroOp {
    fn without_inst(kind: Kind) -> MicroOp {
        MicroOp {
            inst: Inst::new(Op::Nop),
            kind,
            class: ExecClass::Control,
            words: 1,
            rows: RowOp {
                op: Op::Nop,
                sources: [0; MAX_SOURCE_ROWS],
                source_rows: 0,
                destination: 0,
                destination_rows: 0,
                imm: 0,
            },
            reads: [0; MAX_SOURCE_ROWS],
            read_rows: 0,
            predicate_source: None,
            writes: RegisterSet::default(),
            hazards: RegisterSet::default(),
            predicate_write: 0,
            predicate_hazards: 0,
            fragment_locks: 0,
            fragment_reads: 0,
            fragment_hazards: 0,
            skip_to: 0,
            mix: Mix::of(Op::Nop, 0, 0, 0).index(),
        }
    }

    fn new(mut inst: Inst, kernel: &Kernel, config: &Config) -> MicroOp {
        let width = config.core.wave_width as usize;
        let mut op = MicroOp::without_inst(Self::kind_of(&inst));
        op.class = inst.op.info().class;
        op.words = inst.words();
        for (first, rows) in inst.sources() {
            op.hazards.insert_rows(first, rows);
            for register in first..=first + (rows - 1) {
                if !op.rows.sources[..usize::from(op.rows.source_rows)].contains(&register) {
                    op.reads[usize::from(op.read_rows)] = register;
                    op.read_rows += 1;
                }
                op.rows.sources[usize::from(op.rows.source_rows)] = register;
                op.rows.source_rows += 1;
            }
        }
        if let Some((first, rows)) = inst.destination(width) {
            (op.rows.destination, op.rows.destination_rows) = (first, rows);
            op.writes.insert_rows(first, rows);
            op.hazards.insert_all(&op.writes.clone());
        }
        if let Some(predicate) = inst.predicate_destination() {
            op.predicate_write = 1 << predicate;
        }
        op.predicate_hazards = op.predicate_write;
        if inst.guard.is_some() {
            op.predicate_hazards |= 1 << inst.guard.predicate;
        }
        op.predicate_source = inst.predicate_source();
        if let Some((predicate, _)) = op.predicate_source {
            op.predicate_hazards |= 1 << predicate;
        }
        for operand in inst.op.info().operands {
            let kind = match operand.role {
                Role::FragA => 0,
                Role::FragB => 1,
                Role::FragC => 2,
                _ => continue,
            };
            op.fragment_hazards |= 1 << (kind * MMA_FRAGMENTS + usize::from(inst.field(operand.field)));
        }
        op.fragment_locks = match inst.op {
            Op::MmaLoadA | Op::MmaLoadB | Op::MmaStoreC => op.fragment_hazards,
            Op::MmaCompute => op.fragment_hazards & (0xFF << (2 * MMA_FRAGMENTS)),
            _ => 0,
        };
        if inst.op == Op::MmaCompute {
            op.fragment_reads = op.fragment_hazards & !op.fragment_locks;
        }
        if inst.op == Op::Call {
            // The core's targets are words of the kernel.
            inst.imm = inst.imm / WORD_BYTES - kernel.code.start;
        }
        (op.rows.op, op.rows.imm) = (inst.op, inst.imm);
        op.inst = inst;
        op.mix = Mix::of(inst.op, op.rows.source_rows, op.read_rows, op.rows.destination_rows).index();
        op
    }

    fn kind_of(inst: &Inst) -> Kind {
        if let Some(memory) = inst.op.memory() {
            return Kind::Memory(memory);
        }
        match inst.op {
            Op::Barrier => Kind::Barrier,
            Op::FenceAcquire => Kind::Fence { acquire: true, release: false },
            Op::FenceRelease => Kind::Fence { acquire: false, release: true },
            Op::FenceAcqRel => Kind::Fence { acquire: true, release: true },
            Op::Wait => Kind::Wait,
            Op::Nop => Kind::Nop,
            _ if inst.op.info().class == ExecClass::Control => Kind::Control,
            _ => Kind::Compute,
        }
    }

    /// Lanes that pass the guard, whether they are active or not. `predicates`: lanes in which each predicate is
    /// true.
    #[inline]
    pub(crate) fn guard_lanes(&self, predicates: &[u64; PREDICATES]) -> u64 {
        let guard = self.inst.guard;
        if !guard.is_some() {
            return !0;
        }
        let lanes = predicates[usize::from(guard.predicate)];
        if guard.negated { !lanes } else { lanes }
    }

    /// Lanes in which the predicate operand, after its optional negation, is true; all if it has none.
    #[inline]
    pub(crate) fn condition_lanes(&self, predicates: &[u64; PREDICATES]) -> u64 {
        match self.predicate_source {
            None => !0,
            Some((predicate, negated)) => {
                let lanes = predicates[usize::from(predicate)];
                if negated { !lanes } else { lanes }
            }
        }
    }

    /// A control instruction at `word`, with the values of its operands. `guard`: its
    /// [`guard_lanes`](MicroOp::guard_lanes).
    #[inline]
    pub(crate) fn control_step(&self, word: u32, guard: u64, predicates: &[u64; PREDICATES]) -> Step {
        Step {
            op: self.inst.op,
            guard,
            condition: self.condition_lanes(predicates),
            target: if self.inst.op == Op::Call { self.inst.imm } else { 0 },
            next: word + self.words,
            skip_to: self.skip_to,
        }
    }

    /// Rows to read from the banks.
    #[inline]
    pub fn reads(&self) -> &[u8] {
        &self.reads[..usize::from(self.read_rows)]
    }

    /// Adds to `counters` what is counted of `lanes` lanes that execute it.
    pub fn count_lanes(&self, lanes: u64, counters: &mut CoreCounters) {
        if let Some(mix) = Mix::at(usize::from(self.mix)) {
            mix.count(lanes, counters);
        }
    }

    /// True if it is a fence that releases at device or system scope.
    #[inline]
    pub(crate) fn releases(&self) -> bool {
        matches!(self.kind, Kind::Fence { release: true, .. }) && self.inst.scope >= Scope::Device
    }

    /// True if it takes its operands when it leaves its collector and not when they are read, and `later` overwrites one.
    #[inline]
    pub(crate) fn takes_rows_late(&self, later: &MicroOp) -> bool {
        matches!(self.kind, Kind::Memory(_)) && self.hazards.intersects(&later.writes)
    }

    /// True if it goes to an execution unit.
    #[inline]
    pub(crate) fn computes(&self) -> bool {
        matches!(self.kind, Kind::Compute)
    }

    /// True if it passes through an operand collector.
    #[inline]
    pub fn needs_collector(&self) -> bool {
        matches!(self.kind, Kind::Compute | Kind::Memory(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_in_common_are_found_in_every_word() {
        let set = |registers: &[u8]| {
            let mut set = RegisterSet::default();
            registers.iter().for_each(|&register| set.insert_rows(register, 1));
            set
        };
        for word in 0..4 {
            assert!(set(&[64 * word + 5]).intersects(&set(&[64 * word + 5])));
            assert!(!set(&[64 * word + 5]).intersects(&set(&[64 * word + 6])));
        }
        // The same bit of two words must not cancel out.
        assert!(set(&[5, 69]).intersects(&set(&[5, 69])));
        assert!(set(&[133, 197]).intersects(&set(&[133, 197])));
    }
}
