//! The opcode table and its index. Every other view of the instruction set is derived from it.

use super::operand::{Field, Operand, Role, abbrev::*};
use super::rows::opcode_rows;
use wave_capture::Capture;

macro_rules! define_classes {
    ($($(#[doc = $doc:literal])+ $class:ident $name:literal,)*) => {
        /// The kind of execution resource that an instruction needs; a configuration maps each kind to a
        /// unit with a latency and an initiation interval.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Deserialize)]
        #[repr(u8)]
        pub enum ExecClass {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $class,)*
        }

        impl ExecClass {
            /// Every class, in declaration order; `class as usize` indexes it.
            pub const ALL: &[ExecClass] = &[$(ExecClass::$class),*];
            /// Names in configurations and reports, in the order of `ALL`.
            pub const NAMES: &[&str] = &[$($name),*];
            /// What each class executes, in the order of `ALL`.
            pub const MEANINGS: &[&str] = &[$(concat!($($doc),+)),*];

            /// Name in configurations and reports.
            pub const fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
    };
}

define_classes! {
    /// Integer add, logic, shift, compare, select, moves.
    Int "int",
    /// Integer multiply and multiply-add.
    IntMul "int_mul",
    /// Integer divide and remainder.
    IntDiv "int_div",
    /// f32 add, multiply, fma, min, max, rounding, compare.
    Fp32 "fp32",
    /// f32 divide, square root and their reciprocals.
    Fp32Div "fp32_div",
    /// f16 and bf16, single and packed.
    Fp16 "fp16",
    /// f64 add, multiply, fma and conversions.
    Fp64 "fp64",
    /// f64 divide and square root.
    Fp64Div "fp64_div",
    /// Conversions that do not involve f64.
    Convert "convert",
    /// Special functions: sine, cosine, exponential, logarithm.
    Sfu "sfu",
    /// Operations across the lanes of a wave.
    Wave "wave",
    /// Matrix multiply-accumulate.
    Mma "mma",
    /// Local memory, through the load/store unit.
    LocalMemory "local_memory",
    /// Device memory, through the load/store unit.
    DeviceMemory "device_memory",
    /// Structured control flow, resolved at issue.
    Control "control",
    /// Barrier, fences and wait, resolved at issue.
    Sync "sync",
}

/// One row of the opcode table.
#[derive(Debug)]
pub struct OpInfo {
    /// The operation.
    pub op: Op,
    /// Assembly mnemonic, with its cache hint where it has one.
    pub mnemonic: &'static str,
    /// word0\[31:24\]
    pub opcode: u8,
    /// word0\[7:4\]
    pub modifier: u8,
    /// Operands in the order of the assembly text.
    pub operands: &'static [Operand],
    /// Execution resource.
    pub class: ExecClass,
    /// What it computes, for the manual.
    pub meaning: &'static str,
}

impl OpInfo {
    /// Words of the encoding: 2 exactly when an operand lives in word1.
    pub const fn words(&self) -> u32 {
        let mut i = 0;
        while i < self.operands.len() {
            if self.operands[i].field.in_word1() {
                return 2;
            }
            i += 1;
        }
        1
    }

    /// True if word1 is a whole 32-bit immediate.
    pub const fn has_imm(&self) -> bool {
        let mut i = 0;
        while i < self.operands.len() {
            if matches!(self.operands[i].field, Field::Imm) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The usage line: mnemonic and operands as assembly text has them, such as `iadd rd, ra, rb`.
    pub fn syntax(&self) -> String {
        let operands: Vec<&str> = self.operands.iter().map(|o| o.placeholder()).collect();
        let line = format!("{} {}", self.mnemonic, operands.join(", "));
        line.replace("[rd],", "[rd,]").trim_end().to_owned()
    }

    /// The operand that lives in `field`, if the instruction uses it.
    pub fn operand_in(&self, field: Field) -> Option<&'static Operand> {
        self.operands.iter().find(|o| o.field == field)
    }
}

macro_rules! define_table {
    ($($op:ident $mnemonic:literal $opcode:literal $modifier:literal [$($operand:ident),*] $class:ident $meaning:literal;)*) => {
        /// An operation: one per legal (opcode, modifier) key.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Capture)]
        #[repr(u8)]
        pub enum Op { $(#[doc = $meaning] $op,)* }

        /// The opcode table; `op as usize` indexes it.
        pub static TABLE: &[OpInfo] = &[$(OpInfo {
            op: Op::$op,
            mnemonic: $mnemonic,
            opcode: $opcode,
            modifier: $modifier,
            operands: &[$($operand),*],
            class: ExecClass::$class,
            meaning: $meaning,
        },)*];

        /// Row of each (opcode << 4 | modifier) key, `NO_ROW` where none is assigned. Two rows with one
        /// key fail to compile here.
        static KEY_TO_ROW: [u8; 4096] = {
            let keys: &[usize] = &[$($opcode * 16 + $modifier),*];
            let mut index = [NO_ROW; 4096];
            let mut row = 0;
            while row < keys.len() {
                assert!(row < NO_ROW as usize, "more rows than the index can name");
                assert!(index[keys[row]] == NO_ROW, "two rows of the opcode table share one encoding");
                index[keys[row]] = row as u8;
                row += 1;
            }
            index
        };
    };
}

const NO_ROW: u8 = u8::MAX;
opcode_rows!(define_table);

impl Op {
    /// The operation with this key, if the key is assigned. `modifier` is 4 bits.
    #[inline]
    pub fn from_key(opcode: u8, modifier: u8) -> Option<Op> {
        let row = KEY_TO_ROW[(usize::from(opcode) << 4) | usize::from(modifier & 15)];
        (row != NO_ROW).then(|| TABLE[usize::from(row)].op)
    }

    /// The operation with this mnemonic; aliases of the assembler are not mnemonics.
    pub fn from_mnemonic(mnemonic: &str) -> Option<Op> {
        TABLE.iter().find(|i| i.mnemonic == mnemonic).map(|i| i.op)
    }

    /// Its row of the table.
    #[inline]
    pub fn info(self) -> &'static OpInfo {
        &TABLE[self as usize]
    }

    /// True if a guard makes it an illegal instruction (isa section 3): structured control flow except
    /// `break`, `continue` and `halt`.
    pub fn rejects_guard(self) -> bool {
        use Op::*;
        matches!(self, If | Else | EndIf | Loop | EndLoop | Call | Return)
    }

    /// Its memory access, if it makes one.
    pub fn memory(self) -> Option<MemoryOp> {
        MemoryOp::of(self)
    }

    /// True if it needs CAP_F64: it belongs to the f64 classes.
    pub fn needs_f64(self) -> bool {
        matches!(self.info().class, ExecClass::Fp64 | ExecClass::Fp64Div)
    }

    /// True if it needs CAP_MMA.
    pub fn needs_mma(self) -> bool {
        self.info().operands.iter().any(|o| matches!(o.role, Role::FragA | Role::FragB | Role::FragC))
    }
}

/// Which memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Capture)]
pub enum Space {
    /// Per workgroup.
    Local,
    /// Global.
    Device,
}

/// Cache hint of a device access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Capture)]
pub enum CacheHint {
    /// Keep it in every level.
    Cached,
    /// Bypass the L1.
    Uncached,
    /// It will not be used again: first to be replaced.
    Streaming,
}

/// What an atomic does to the word in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Capture)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    Sub,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    Cas,
}

impl AtomicOp {
    /// The order of modifiers 0 to 8.
    pub const ALL: [AtomicOp; 9] = [
        AtomicOp::Add,
        AtomicOp::Sub,
        AtomicOp::Min,
        AtomicOp::Max,
        AtomicOp::And,
        AtomicOp::Or,
        AtomicOp::Xor,
        AtomicOp::Exchange,
        AtomicOp::Cas,
    ];

    /// The new value of the word. `operand` is r\[b\], `swap` is r\[c\] of a compare-and-swap.
    #[inline]
    pub fn apply(self, memory: u32, operand: u32, swap: u32) -> u32 {
        match self {
            AtomicOp::Add => memory.wrapping_add(operand),
            AtomicOp::Sub => memory.wrapping_sub(operand),
            AtomicOp::Min => memory.min(operand),
            AtomicOp::Max => memory.max(operand),
            AtomicOp::And => memory & operand,
            AtomicOp::Or => memory | operand,
            AtomicOp::Xor => memory ^ operand,
            AtomicOp::Exchange => operand,
            AtomicOp::Cas if memory == operand => swap,
            AtomicOp::Cas => memory,
        }
    }
}

/// Kind of a memory access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Capture)]
pub enum AccessKind {
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Read-modify-write of an aligned word.
    Atomic(AtomicOp),
    /// A 4×4 f32 tile of local memory to or from a fragment.
    Tile,
}

/// The memory access of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Capture)]
pub struct MemoryOp {
    /// Which memory.
    pub space: Space,
    /// Load, store, atomic or matrix tile.
    pub kind: AccessKind,
    /// Bytes per lane: 1, 2, 4, 8 or 16; for a tile 16, one row.
    pub bytes: u8,
    /// Cache hint of a device load or store.
    pub hint: CacheHint,
}

impl MemoryOp {
    fn of(op: Op) -> Option<MemoryOp> {
        let info = op.info();
        let m = info.modifier;
        let hint = match m / 5 {
            0 => CacheHint::Cached,
            1 => CacheHint::Uncached,
            _ => CacheHint::Streaming,
        };
        let (space, kind, bytes, hint) = match info.opcode {
            0x30 => (Space::Local, AccessKind::Load, 1 << m, CacheHint::Cached),
            0x31 => (Space::Local, AccessKind::Store, 1 << m, CacheHint::Cached),
            0x38 => (Space::Device, AccessKind::Load, 1 << (m % 5), hint),
            0x39 => (Space::Device, AccessKind::Store, 1 << (m % 5), hint),
            0x3C | 0x3D => {
                let kind = AccessKind::Atomic(AtomicOp::ALL[usize::from(m)]);
                let space = if info.opcode == 0x3C { Space::Local } else { Space::Device };
                (space, kind, 4, CacheHint::Cached)
            }
            0x40 if m < 3 => (Space::Local, AccessKind::Tile, 16, CacheHint::Cached),
            _ => return None,
        };
        Some(MemoryOp { space, kind, bytes, hint })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The legal modifiers of each opcode, copied from the encoding page.
    const LEGAL: &[(u8, u8)] = &[
        (0x00, 1),
        (0x01, 1),
        (0x02, 1),
        (0x03, 1),
        (0x04, 1),
        (0x05, 1),
        (0x06, 1),
        (0x07, 1),
        (0x08, 1),
        (0x09, 1),
        (0x0A, 1),
        (0x0B, 1),
        (0x0C, 1),
        (0x0D, 1),
        (0x10, 1),
        (0x11, 1),
        (0x12, 1),
        (0x13, 1),
        (0x14, 1),
        (0x15, 1),
        (0x16, 1),
        (0x17, 1),
        (0x18, 1),
        (0x19, 1),
        (0x1A, 1),
        (0x1B, 12),
        (0x1C, 4),
        (0x1D, 3),
        (0x1E, 4),
        (0x1F, 2),
        (0x20, 1),
        (0x21, 1),
        (0x22, 1),
        (0x23, 1),
        (0x24, 1),
        (0x25, 1),
        (0x26, 1),
        (0x27, 5),
        (0x28, 6),
        (0x29, 6),
        (0x2A, 8),
        (0x2B, 1),
        (0x2C, 10),
        (0x2D, 4),
        (0x2E, 3),
        (0x30, 4),
        (0x31, 4),
        (0x38, 15),
        (0x39, 15),
        (0x3C, 9),
        (0x3D, 9),
        (0x3E, 15),
        (0x3F, 16),
        (0x40, 4),
        (0x41, 3),
    ];

    #[test]
    fn every_key_is_legal_or_illegal_as_the_encoding_page_says() {
        for key in 0..4096u32 {
            let (opcode, modifier) = ((key >> 4) as u8, (key & 15) as u8);
            let legal = LEGAL.iter().any(|&(o, n)| o == opcode && modifier < n);
            let op = Op::from_key(opcode, modifier);
            assert_eq!(op.is_some(), legal, "key {opcode:02X}.{modifier}");
            if let Some(op) = op {
                assert_eq!((op.info().opcode, op.info().modifier), (opcode, modifier));
                assert_eq!(op.info().op, op);
            }
        }
        assert_eq!(TABLE.len(), LEGAL.iter().map(|&(_, n)| usize::from(n)).sum::<usize>());
    }

    #[test]
    fn mnemonics_are_unique() {
        for info in TABLE {
            assert_eq!(Op::from_mnemonic(info.mnemonic), Some(info.op));
        }
    }
}
