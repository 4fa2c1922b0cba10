//! Instruction words: opcodes, operands, and which words belong to which.

use crate::encoding::{Error, Fault};
use crate::ir::{Place, Type};
use crate::wasm::operators::{Simple, simple};
use wasmparser::{MemArg, MemArgTarget, Operator};

/// Bytes of an instruction word.
pub(super) const WORD_BYTES: usize = 9;

/// What is in the eight bytes behind an opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    /// Zeros.
    None,
    /// 32 bits, then zeros.
    Word,
    /// 32 bits, then zeros or, of a negative number, ones: compilers extend the constants of `i32` by their sign.
    Signed,
    /// A distance in instructions with a sign, then zeros.
    Branch,
    /// Two numbers of 32 bits: cells to drop, and cells on top of them to keep.
    DropKeep,
    /// 64 bits.
    Wide,
}

/// Declares the opcodes in the order of their numbers, from 0 on. Those of the second and the last list are operators
/// of WebAssembly under the same name: accesses to memory, and arithmetic.
macro_rules! opcodes {
    ($($first:ident $first_operand:ident)*; $($access:ident)*; $($second:ident $second_operand:ident)*;
     $($numeric:ident)*) => {
        /// What an instruction does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Opcode { $($first,)* $($access,)* $($second,)* $($numeric,)* }

        impl Opcode {
            const ALL: &'static [Opcode] =
                &[$(Opcode::$first,)* $(Opcode::$access,)* $(Opcode::$second,)* $(Opcode::$numeric,)*];

            /// Its name in the reference text.
            fn camel(self) -> &'static str {
                match self {
                    $(Opcode::$first => stringify!($first),)*
                    $(Opcode::$access => stringify!($access),)*
                    $(Opcode::$second => stringify!($second),)*
                    $(Opcode::$numeric => stringify!($numeric),)*
                }
            }

            /// What is behind it.
            pub(super) fn operand(self) -> Operand {
                match self {
                    $(Opcode::$first => Operand::$first_operand,)*
                    $(Opcode::$access => Operand::Word,)*
                    $(Opcode::$second => Operand::$second_operand,)*
                    $(Opcode::$numeric => Operand::None,)*
                }
            }

            /// The operator of WebAssembly that does the same.
            fn operator(self, offset: u32) -> Option<Operator<'static>> {
                let target = MemArgTarget::Memory(0);
                let memarg = MemArg { align: 0, max_align: 0, offset: offset.into(), target, ordering: None };
                match self {
                    $(Opcode::$access => Some(Operator::$access { memarg }),)*
                    $(Opcode::$numeric => Some(Operator::$numeric),)*
                    _ => None,
                }
            }
        }
    };
}

opcodes! {
    Unreachable None LocalGet Word LocalSet Word LocalTee Word Br Branch BrIfEqz Branch BrIfNez Branch
    BrAdjust Branch BrAdjustIfNez Branch BrTable Word ConsumeFuel Word Return DropKeep ReturnIfNez DropKeep
    ReturnCallInternal Word ReturnCall Word ReturnCallIndirect Word CallInternal Word Call Word
    CallIndirect Word SignatureCheck Word Drop None Select None GlobalGet Word GlobalSet Word;
    I32Load I64Load F32Load F64Load I32Load8S I32Load8U I32Load16S I32Load16U I64Load8S I64Load8U
    I64Load16S I64Load16U I64Load32S I64Load32U I32Store I64Store F32Store F64Store I32Store8 I32Store16
    I64Store8 I64Store16 I64Store32;
    MemorySize None MemoryGrow None MemoryFill None MemoryCopy None MemoryInit Word DataDrop Word
    TableSize Word TableGrow Word TableFill Word TableGet Word TableSet Word TableCopy Word TableInit Word
    ElemDrop Word RefFunc Word I32Const Signed I64Const Wide F32Const Word F64Const Wide;
    I32Eqz I32Eq I32Ne I32LtS I32LtU I32GtS I32GtU I32LeS I32LeU I32GeS I32GeU
    I64Eqz I64Eq I64Ne I64LtS I64LtU I64GtS I64GtU I64LeS I64LeU I64GeS I64GeU
    F32Eq F32Ne F32Lt F32Gt F32Le F32Ge F64Eq F64Ne F64Lt F64Gt F64Le F64Ge
    I32Clz I32Ctz I32Popcnt I32Add I32Sub I32Mul I32DivS I32DivU I32RemS I32RemU I32And I32Or I32Xor
    I32Shl I32ShrS I32ShrU I32Rotl I32Rotr
    I64Clz I64Ctz I64Popcnt I64Add I64Sub I64Mul I64DivS I64DivU I64RemS I64RemU I64And I64Or I64Xor
    I64Shl I64ShrS I64ShrU I64Rotl I64Rotr
    F32Abs F32Neg F32Ceil F32Floor F32Trunc F32Nearest F32Sqrt F32Add F32Sub F32Mul F32Div F32Min F32Max
    F32Copysign
    F64Abs F64Neg F64Ceil F64Floor F64Trunc F64Nearest F64Sqrt F64Add F64Sub F64Mul F64Div F64Min F64Max
    F64Copysign
    I32WrapI64 I32TruncF32S I32TruncF32U I32TruncF64S I32TruncF64U I64ExtendI32S I64ExtendI32U I64TruncF32S
    I64TruncF32U I64TruncF64S I64TruncF64U F32ConvertI32S F32ConvertI32U F32ConvertI64S F32ConvertI64U
    F32DemoteF64 F64ConvertI32S F64ConvertI32U F64ConvertI64S F64ConvertI64U F64PromoteF32
    I32Extend8S I32Extend16S I64Extend8S I64Extend16S I64Extend32S I32TruncSatF32S I32TruncSatF32U
    I32TruncSatF64S I32TruncSatF64U I64TruncSatF32S I64TruncSatF32U I64TruncSatF64S I64TruncSatF64U
}

impl Opcode {
    /// The opcode of a number.
    pub(super) fn of(number: u8) -> Option<Opcode> {
        Opcode::ALL.get(usize::from(number)).copied()
    }

    /// Its name in a listing: lower case, with `_` between words.
    pub(super) fn name(self) -> String {
        let mut name = String::new();
        for letter in self.camel().chars() {
            if letter.is_ascii_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }

    /// The type of the operands of an arithmetic instruction: the last one in its name. That of a result comes first.
    pub(super) fn operand_type(self) -> Type {
        let types = [("i32", Type::I32), ("i64", Type::I64), ("f32", Type::F32), ("f64", Type::F64)];
        let name = self.name();
        let last =
            name.split('_').filter_map(|word| types.iter().find(|(prefix, _)| *prefix == word)).next_back();
        last.map_or(Type::I64, |&(_, ty)| ty)
    }

    /// The opcodes of the words behind this one that belong to it. Those of a branch table are not among them.
    pub(super) fn owned(self) -> &'static [Opcode] {
        match self {
            Opcode::BrAdjust | Opcode::BrAdjustIfNez | Opcode::ReturnCallInternal | Opcode::ReturnCall => {
                &[Opcode::Return]
            }
            Opcode::CallIndirect | Opcode::TableInit | Opcode::TableCopy => &[Opcode::TableGet],
            Opcode::ReturnCallIndirect => &[Opcode::Return, Opcode::TableGet],
            _ => &[],
        }
    }
}

/// An instruction word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) opcode: Opcode,
    /// The eight bytes behind the opcode.
    bits: u64,
    /// The byte of the file where it begins.
    pub(super) offset: usize,
}

impl Word {
    /// Reads a word of nine bytes.
    pub(super) fn read(bytes: &[u8; WORD_BYTES], offset: usize) -> Result<Word, Error> {
        let [number, rest @ ..] = *bytes;
        let Some(opcode) = Opcode::of(number) else {
            let last = Opcode::ALL.len() - 1;
            let message = format!("there is no opcode {number:#04x}: they go up to {last:#04x}");
            return Err(invalid(message, offset));
        };
        let bits = u64::from_le_bytes(rest);
        let (used, filled) = match opcode.operand() {
            Operand::None => (0, "zero"),
            Operand::Word | Operand::Branch => (u64::from(u32::MAX), "zero"),
            Operand::Signed if bits as i64 == i64::from(bits as i32) => (u64::MAX, ""),
            Operand::Signed => (u64::from(u32::MAX), "zero, nor its sign"),
            Operand::DropKeep | Operand::Wide => (u64::MAX, ""),
        };
        if bits & !used != 0 {
            let message = format!("bytes after the operand of {} are not {filled}", opcode.name());
            return Err(invalid(message, offset + 1 + used.count_ones() as usize / 8));
        }
        Ok(Word { opcode, bits, offset })
    }

    /// The operand of 32 bits.
    pub(super) fn word(&self) -> u32 {
        self.bits as u32
    }

    /// The operand of 64 bits.
    pub(super) fn wide(&self) -> u64 {
        self.bits
    }

    /// The distance of a branch.
    pub(super) fn branch(&self) -> i32 {
        self.bits as i32
    }

    /// Cells to drop, and cells to keep on top of them.
    pub(super) fn drop_keep(&self) -> (u32, u32) {
        (self.bits as u32, (self.bits >> 32) as u32)
    }

    /// The place of what becomes of it. A stream without a container begins with byte 0, which is no place: its first
    /// instruction has that of its operand.
    pub(super) fn place(&self) -> Place {
        Place(self.offset.max(1) as u32)
    }

    /// What it does, where that is one operation on operands of the stack.
    pub(super) fn simple(&self) -> Option<Simple> {
        self.opcode.operator(self.word()).and_then(|operator| simple(&operator))
    }
}

/// An error at a byte of the file.
pub(super) fn invalid(message: impl Into<String>, offset: usize) -> Error {
    Error::new(Fault::Invalid, message).at(offset as u64)
}
