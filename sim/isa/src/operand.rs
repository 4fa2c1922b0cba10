//! Operands: their field in the instruction words and their role.

/// A field of the instruction words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// word0\[23:16\]
    Rd,
    /// word0\[15:8\]
    Rs1,
    /// word1\[31:24\]
    Rs2,
    /// word1\[23:16\]
    Rs3,
    /// word1\[15:8\]
    Rs4,
    /// word1, all of it
    Imm,
    /// word1\[1:0\]
    Scope,
}

impl Field {
    /// True if the field is in word1, so that its use makes the instruction two words long.
    pub(crate) const fn in_word1(self) -> bool {
        !matches!(self, Field::Rd | Field::Rs1)
    }
}

/// Role of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// General register(s) written: `n` consecutive rows from rN.
    Dst(u8),
    /// Register written unless the field is 0 (an atomic that returns nothing).
    DstOptional,
    /// Lane mask written: one row for waves of up to 32 lanes, two for 64.
    DstBallot,
    /// General register(s) read: `n` consecutive rows from rN.
    Src(u8),
    /// Predicate written.
    PredDst,
    /// Predicate read.
    PredSrc,
    /// Predicate read, negated when bit 2 of the field is set.
    PredSrcNeg,
    /// Special register.
    Special,
    /// 32-bit literal.
    Imm,
    /// Byte offset of a label from the start of the code section.
    Label,
    /// Memory scope.
    Scope,
    /// A fragment read or written.
    FragA,
    /// B fragment read or written.
    FragB,
    /// C fragment read or written.
    FragC,
}

/// One operand of an instruction, in the order of the assembly text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Where it is encoded.
    pub field: Field,
    /// Its role.
    pub role: Role,
}

const fn op(field: Field, role: Role) -> Operand {
    Operand { field, role }
}

impl Operand {
    /// How a usage line writes it: `rd`, `ra`, `ps`, `.scope`, `fA`; the letter is that of the field.
    pub const fn placeholder(self) -> &'static str {
        match (self.role, self.field) {
            (Role::Dst(_) | Role::DstBallot | Role::Src(_), Field::Rd) => "rd",
            (Role::DstOptional, _) => "[rd]",
            (Role::Dst(_) | Role::DstBallot | Role::Src(_), Field::Rs1) => "ra",
            (Role::Dst(_) | Role::DstBallot | Role::Src(_), Field::Rs2) => "rb",
            (Role::Dst(_) | Role::DstBallot | Role::Src(_), Field::Rs3) => "rc",
            (Role::Dst(_) | Role::DstBallot | Role::Src(_), _) => "re",
            (Role::PredDst, _) => "pd",
            (Role::PredSrc, _) => "ps",
            (Role::PredSrcNeg, _) => "[!]ps",
            (Role::Special, _) => "sr_name",
            (Role::Imm, _) => "value",
            (Role::Label, _) => "label",
            (Role::Scope, _) => ".scope",
            (Role::FragA, _) => "fA",
            (Role::FragB, _) => "fB",
            (Role::FragC, _) => "fC",
        }
    }

    /// Rows of general registers that it names; 0 for anything else. The second row of a ballot exists only
    /// in waves of 64 lanes and does not count.
    pub const fn rows(self) -> u8 {
        match self.role {
            Role::Dst(rows) | Role::Src(rows) => rows,
            Role::DstOptional | Role::DstBallot => 1,
            _ => 0,
        }
    }
}

/// The operand abbreviations of the opcode table: the field letter of the ISA manual (d = rd, a = rs1,
/// b = rs2, c = rs3, e = rs4), then the number of rows where it is not one.
#[allow(missing_docs)]
pub(crate) mod abbrev {
    use super::{Field::*, Operand, Role::*, op};

    pub(crate) const D: Operand = op(Rd, Dst(1));
    pub(crate) const D2: Operand = op(Rd, Dst(2));
    pub(crate) const D4: Operand = op(Rd, Dst(4));
    /// Destination of an atomic: nothing is returned when the field is 0.
    pub(crate) const DX: Operand = op(Rd, DstOptional);
    /// Destination of a ballot.
    pub(crate) const DW: Operand = op(Rd, DstBallot);
    /// An address *read* from the register that the rd field names (`mma_store_c`).
    pub(crate) const DA: Operand = op(Rd, Src(1));
    pub(crate) const A: Operand = op(Rs1, Src(1));
    pub(crate) const A2: Operand = op(Rs1, Src(2));
    pub(crate) const B: Operand = op(Rs2, Src(1));
    pub(crate) const B2: Operand = op(Rs2, Src(2));
    pub(crate) const B4: Operand = op(Rs2, Src(4));
    pub(crate) const C: Operand = op(Rs3, Src(1));
    pub(crate) const C2: Operand = op(Rs3, Src(2));
    pub(crate) const E: Operand = op(Rs4, Src(1));
    pub(crate) const PD: Operand = op(Rd, PredDst);
    pub(crate) const PS: Operand = op(Rs1, PredSrc);
    pub(crate) const PN: Operand = op(Rs1, PredSrcNeg);
    pub(crate) const SR: Operand = op(Rs1, Special);
    pub(crate) const IMM: Operand = op(super::Field::Imm, super::Role::Imm);
    pub(crate) const LAB: Operand = op(super::Field::Imm, Label);
    pub(crate) const SC: Operand = op(super::Field::Scope, super::Role::Scope);
    pub(crate) const FDA: Operand = op(Rd, FragA);
    pub(crate) const FDB: Operand = op(Rd, FragB);
    /// B fragment in rs1 (`mma_compute`).
    pub(crate) const FB: Operand = op(Rs1, FragB);
    /// C fragment in rs2 (`mma_compute`, `mma_store_c`).
    pub(crate) const FC: Operand = op(Rs2, FragC);
}
