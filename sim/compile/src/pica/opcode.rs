//! The opcodes and the shapes of their words.

/// What an instruction does; forms that differ in the widths of their sources only are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Op {
    Add,
    Dp3,
    Dp4,
    Dph,
    Dst,
    Ex2,
    Lg2,
    Litp,
    Mul,
    Sge,
    Slt,
    Flr,
    Max,
    Min,
    Rcp,
    Rsq,
    Mova,
    Mov,
    Mad,
    Cmp,
    Nop,
    End,
    Break,
    Call,
    If,
    Loop,
    Jump,
    Geometry,
}

/// Where a word has its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Destination, wide first source, narrow second source.
    Two,
    /// Destination, narrow first source, wide second source.
    TwoInverted,
    /// Destination, wide source.
    One,
    /// Destination, narrow first source, wide second source, narrow third source.
    Three,
    /// Destination, two narrow sources, wide third source.
    ThreeInverted,
    /// Two relations, wide first source, narrow second source.
    Compare,
    /// Nothing.
    Plain,
    /// A region of words.
    Region,
    /// A region or a word, and a test of the flags.
    RegionFlags,
    /// A region or a word, and a boolean uniform.
    RegionBoolean,
    /// An integer uniform, and the last word of the body.
    Loop,
    /// A test of the flags.
    Flags,
}

/// An opcode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Bits 26 to 31 of the word. `cmp`, `madi` and `mad` take part of these bits for operands: this is the first.
    pub(super) code: u8,
    pub(super) name: &'static str,
    pub(super) op: Op,
    pub(super) shape: Shape,
}

const fn row(code: u8, name: &'static str, op: Op, shape: Shape) -> Row {
    Row { code, name, op, shape }
}

/// Every opcode.
pub(super) const ROWS: &[Row] = &[
    row(0x00, "add", Op::Add, Shape::Two),
    row(0x01, "dp3", Op::Dp3, Shape::Two),
    row(0x02, "dp4", Op::Dp4, Shape::Two),
    row(0x03, "dph", Op::Dph, Shape::Two),
    row(0x04, "dst", Op::Dst, Shape::Two),
    row(0x05, "ex2", Op::Ex2, Shape::One),
    row(0x06, "lg2", Op::Lg2, Shape::One),
    row(0x07, "litp", Op::Litp, Shape::One),
    row(0x08, "mul", Op::Mul, Shape::Two),
    row(0x09, "sge", Op::Sge, Shape::Two),
    row(0x0A, "slt", Op::Slt, Shape::Two),
    row(0x0B, "flr", Op::Flr, Shape::One),
    row(0x0C, "max", Op::Max, Shape::Two),
    row(0x0D, "min", Op::Min, Shape::Two),
    row(0x0E, "rcp", Op::Rcp, Shape::One),
    row(0x0F, "rsq", Op::Rsq, Shape::One),
    row(0x12, "mova", Op::Mova, Shape::One),
    row(0x13, "mov", Op::Mov, Shape::One),
    row(0x18, "dphi", Op::Dph, Shape::TwoInverted),
    row(0x19, "dsti", Op::Dst, Shape::TwoInverted),
    row(0x1A, "sgei", Op::Sge, Shape::TwoInverted),
    row(0x1B, "slti", Op::Slt, Shape::TwoInverted),
    row(0x20, "break", Op::Break, Shape::Plain),
    row(0x21, "nop", Op::Nop, Shape::Plain),
    row(0x22, "end", Op::End, Shape::Plain),
    row(0x23, "breakc", Op::Break, Shape::Flags),
    row(0x24, "call", Op::Call, Shape::Region),
    row(0x25, "callc", Op::Call, Shape::RegionFlags),
    row(0x26, "callu", Op::Call, Shape::RegionBoolean),
    row(0x27, "ifu", Op::If, Shape::RegionBoolean),
    row(0x28, "ifc", Op::If, Shape::RegionFlags),
    row(0x29, "for", Op::Loop, Shape::Loop),
    row(0x2A, "emit", Op::Geometry, Shape::Plain),
    row(0x2B, "setemit", Op::Geometry, Shape::Plain),
    row(0x2C, "jmpc", Op::Jump, Shape::RegionFlags),
    row(0x2D, "jmpu", Op::Jump, Shape::RegionBoolean),
    row(0x2E, "cmp", Op::Cmp, Shape::Compare),
    row(0x30, "madi", Op::Mad, Shape::ThreeInverted),
    row(0x38, "mad", Op::Mad, Shape::Three),
];

/// The opcodes of the early text.
const EARLY: &[u8] =
    &[0x00, 0x01, 0x02, 0x08, 0x0C, 0x0D, 0x0E, 0x0F, 0x13, 0x21, 0x22, 0x24, 0x26, 0x27, 0x28, 0x2E, 0x2F];

impl Row {
    /// The opcode of a word; of the early text, if that is asked for, in which 0x21 ends the shader.
    pub(super) fn of(word: u32, early: bool) -> Option<Row> {
        let code = (word >> 26) as u8;
        if early && !EARLY.contains(&code) {
            return None;
        }
        let first = match code {
            0x2F => 0x2E,
            0x30..0x40 => code & 0x38,
            _ => code,
        };
        let mut found = *ROWS.iter().find(|row| row.code == first)?;
        if early && found.op == Op::Nop {
            found.op = Op::End;
        }
        Some(found)
    }
}
