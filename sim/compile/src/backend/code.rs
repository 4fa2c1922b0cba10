//! Machine instructions on virtual registers.

use crate::ir::{FunctionId, Place, Trap};
use cranelift_entity::SecondaryMap;
use wave_isa::{Field, Guard, Op, Role, Scope};

/// A virtual register, or one row of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Register {
    /// Its number.
    pub(super) number: u32,
    /// The row, counted from its first.
    pub(super) row: u8,
}

/// What an operand field has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Slot {
    /// Nothing: the field is 0.
    #[default]
    None,
    /// A register.
    Register(Register),
    /// A number: a predicate, a special register.
    Number(u8),
}

/// The fields that hold registers, in the order of [`Code::fields`].
pub(super) const FIELDS: [Field; 5] = [Field::Rd, Field::Rs1, Field::Rs2, Field::Rs3, Field::Rs4];

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    /// What it does.
    pub(super) op: Op,
    /// Lanes that take part.
    pub(super) guard: Guard,
    /// Operand fields.
    pub(super) fields: [Slot; 5],
    /// Literal.
    pub(super) imm: u32,
    /// Scope.
    pub(super) scope: Scope,
    /// Where it comes from.
    pub(super) at: Place,
    /// It faults, and that means this trap.
    pub(super) trap: Option<Trap>,
    /// It does not write all of its destination: it is guarded, and the value from before is still wanted where the
    /// guard is false, or it writes one row of several, and not the first of them.
    pub(super) keeps: bool,
    /// What a call or a return does beside.
    pub(super) transfer: Option<Box<Transfer>>,
    /// What its literal will be, if that is known at the end only.
    pub(super) literal: Option<Literal>,
}

/// What a call or a return does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transfer {
    /// The function called; `None` for a return.
    pub(super) callee: Option<FunctionId>,
    /// Registers read: arguments, or results.
    pub(super) read: Vec<Register>,
    /// Registers written: results of a call.
    pub(super) written: Vec<Register>,
    /// Machine registers that have other values behind a call.
    pub(super) clobbered: RegisterSet,
}

/// A literal that is known when all functions are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Literal {
    /// Bytes of private memory of a wave.
    BytesPerWave,
    /// Bytes of the spills of a wave.
    SpillBytesPerWave,
}

/// Machine registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RegisterSet([u64; 4]);

impl RegisterSet {
    pub(super) fn insert(&mut self, register: u8) {
        self.0[usize::from(register / 64)] |= 1 << (register % 64);
    }

    pub(super) fn contains(&self, register: u32) -> bool {
        register < 256 && self.0[register as usize / 64] >> (register % 64) & 1 != 0
    }

    pub(super) fn extend(&mut self, other: RegisterSet) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }
}

/// How a function that is compiled is called.
#[derive(Debug, Clone, Default)]
pub(super) struct Convention {
    /// Machine register of each parameter; `None` for those that it does not read.
    pub(super) parameters: Vec<Option<u8>>,
    /// Machine register of each result.
    pub(super) results: Vec<u8>,
    /// Machine registers that it and what it calls write.
    pub(super) written: RegisterSet,
    /// Deepest nesting of ifs and loops in it and what it calls.
    pub(super) nesting: u32,
    /// Words of private memory that spills in it and what it calls take.
    pub(super) spill_words: u32,
}

/// Conventions of the functions that are compiled.
pub(super) type Conventions = SecondaryMap<FunctionId, Option<Convention>>;

/// Place of a field in [`FIELDS`].
fn index(field: Field) -> Option<usize> {
    FIELDS.iter().position(|&other| other == field)
}

impl Code {
    /// An instruction without operands.
    pub(super) fn new(op: Op, at: Place) -> Code {
        Code {
            op,
            guard: Guard::NONE,
            fields: [Slot::None; 5],
            imm: 0,
            scope: Scope::Wave,
            at,
            trap: None,
            keeps: false,
            transfer: None,
            literal: None,
        }
    }

    /// With operands in the order of the assembly text; literals and scopes are left out of that.
    pub(super) fn with(op: Op, operands: &[Slot], at: Place) -> Code {
        let mut code = Code::new(op, at);
        let fields = op.info().operands.iter().filter_map(|operand| index(operand.field));
        for (field, &slot) in fields.zip(operands) {
            code.fields[field] = slot;
        }
        code
    }

    /// The register written.
    pub(super) fn written(&self) -> Option<Register> {
        self.op.info().operands.iter().find_map(|operand| match operand.role {
            Role::Dst(_) | Role::DstBallot | Role::DstOptional => self.register(operand.field),
            _ => None,
        })
    }

    /// The registers read.
    pub(super) fn read(&self) -> impl Iterator<Item = Register> + '_ {
        self.op.info().operands.iter().filter_map(|operand| match operand.role {
            Role::Src(_) => self.register(operand.field),
            _ => None,
        })
    }

    /// Rows that it writes, counted from its destination.
    pub(super) fn rows_written(&self) -> u8 {
        let roles = self.op.info().operands.iter().map(|operand| operand.role);
        roles
            .filter_map(|role| match role {
                Role::Dst(rows) => Some(rows),
                Role::DstBallot => Some(2),
                Role::DstOptional => Some(1),
                _ => None,
            })
            .next()
            .unwrap_or(0)
    }

    fn register(&self, field: Field) -> Option<Register> {
        match self.fields[index(field)?] {
            Slot::Register(register) => Some(register),
            _ => None,
        }
    }

    /// Fields that hold registers which are read, with the rows that are.
    pub(super) fn fields_read(&self) -> impl Iterator<Item = (usize, u8)> + use<> {
        self.op.info().operands.iter().filter_map(|operand| match operand.role {
            Role::Src(rows) => Some((index(operand.field)?, rows)),
            _ => None,
        })
    }

    /// The predicate written.
    pub(super) fn written_predicate(&self) -> Option<u8> {
        let writes = self.op.info().operands.iter().any(|operand| operand.role == Role::PredDst);
        match self.fields[0] {
            Slot::Number(predicate) if writes => Some(predicate),
            _ => None,
        }
    }

    /// True for a copy of a register.
    pub(super) fn is_copy(&self) -> bool {
        self.op == Op::Mov
    }

    /// True for `if`, `else`, `endif`, `loop`, `endloop`, and what waits for others.
    pub(super) fn is_structure(&self) -> bool {
        use Op::*;
        matches!(
            self.op,
            If | Else
                | EndIf
                | Loop
                | EndLoop
                | Call
                | Return
                | Barrier
                | FenceAcquire
                | FenceRelease
                | FenceAcqRel
        )
    }

    /// True if lanes that come here never go on: an unconditional `break` or `continue`, or a `halt`.
    pub(super) fn leaves(&self) -> bool {
        match self.op {
            Op::Break | Op::Continue => self.fields[1] == ALWAYS,
            Op::Halt => !self.guard.is_some(),
            _ => false,
        }
    }
}

/// Operand of a `break` that always leaves: p0 is never written, so `!p0` is true.
pub(super) const ALWAYS: Slot = Slot::Number(4);

/// A virtual register's properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Virtual {
    /// Rows, in a row.
    pub(super) rows: u8,
    /// The register that it has to be.
    pub(super) fixed: Option<u8>,
    /// It must not be r0, which means that an atomic returns nothing.
    pub(super) not_zero: bool,
    /// It is written in several places.
    pub(super) is_variable: bool,
    /// It must not go to memory: it is there for a moment only, or where the machine needs it.
    pub(super) stays: bool,
}

/// A function as instructions.
#[derive(Debug, Clone, Default)]
pub(super) struct Selected {
    /// Instructions.
    pub(super) code: Vec<Code>,
    /// Virtual registers.
    pub(super) registers: Vec<Virtual>,
    /// Deepest nesting of ifs and loops, that of called functions included.
    pub(super) nesting: u32,
    /// It is the function that a thread runs; the others are called.
    pub(super) is_kernel: bool,
    /// Where parameters come.
    pub(super) parameters: Vec<Register>,
    /// Where results are at the end.
    pub(super) results: Vec<Register>,
    /// The machine register that has the private base in all functions, if the program has one.
    pub(super) base_register: Option<u8>,
    /// The register that stands for it, if it is used.
    pub(super) private_base: Option<Register>,
    /// Words of private memory that spills take, those of called functions included.
    pub(super) spill_words: u32,
    /// Lanes of a wave whose words of private memory lie side by side.
    pub(super) lanes: u32,
}

impl Selected {
    /// A new register.
    pub(super) fn rows(&mut self, rows: u8) -> Register {
        self.registers.push(Virtual { rows, ..Virtual::default() });
        Register { number: self.registers.len() as u32 - 1, row: 0 }
    }
}
