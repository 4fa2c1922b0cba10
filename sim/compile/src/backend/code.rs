//! Machine instructions on virtual registers.

use crate::ir::{Place, Trap};
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
    /// It is guarded, and the value that its destination had before is still wanted where the guard is false.
    pub(super) keeps: bool,
}

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

    fn register(&self, field: Field) -> Option<Register> {
        match self.fields[index(field)?] {
            Slot::Register(register) => Some(register),
            _ => None,
        }
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
            If | Else | EndIf | Loop | EndLoop | Barrier | FenceAcquire | FenceRelease | FenceAcqRel
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Virtual {
    /// Rows, in a row.
    pub(super) rows: u8,
    /// The register that it has to be.
    pub(super) fixed: Option<u8>,
    /// It must not be r0, which means that an atomic returns nothing.
    pub(super) not_zero: bool,
    /// It is written in several places.
    pub(super) is_variable: bool,
}

/// A function as instructions.
#[derive(Debug, Clone, Default)]
pub(super) struct Selected {
    /// Instructions.
    pub(super) code: Vec<Code>,
    /// Virtual registers.
    pub(super) registers: Vec<Virtual>,
    /// Deepest nesting of ifs and loops.
    pub(super) nesting: u32,
}
