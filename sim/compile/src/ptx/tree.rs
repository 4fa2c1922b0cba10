//! A module of PTX as a tree, in which names of registers are resolved.

use super::Wrong;
use super::lexer::Span;
use super::table::Row;
use super::types::PtxType;

/// A state space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StateSpace {
    /// Device memory.
    Global,
    /// Device memory that kernels only read.
    Const,
    /// Memory of the workgroup.
    Shared,
    /// Memory of the thread.
    Local,
    /// Parameters of functions.
    Param,
}

impl StateSpace {
    /// The space that a directive or a modifier names.
    pub(super) fn from_name(name: &str) -> Option<StateSpace> {
        Some(match name {
            "global" => StateSpace::Global,
            "const" => StateSpace::Const,
            "shared" | "shared::cta" => StateSpace::Shared,
            "local" => StateSpace::Local,
            "param" | "param::entry" | "param::func" => StateSpace::Param,
            _ => return None,
        })
    }
}

/// A value of an initialiser.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Initial {
    /// A number, as bits of the type of the variable.
    Bits(u64),
    /// The address of a variable, and what is added to it. The flag says that it is a generic address.
    Address { name: String, offset: i64, is_generic: bool, at: Span },
}

/// The memory that a parameter points to: `.ptr .shared .align 4`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pointee {
    pub(super) space: Option<StateSpace>,
    /// 0 if the text does not say.
    pub(super) alignment: u32,
}

/// A variable.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variable {
    pub(super) space: StateSpace,
    pub(super) name: String,
    /// Type of an element.
    pub(super) ty: PtxType,
    /// Bytes of all elements; `None` for an array whose length the launch says.
    pub(super) bytes: Option<u64>,
    pub(super) alignment: u32,
    pub(super) initial: Vec<Initial>,
    /// The memory that a parameter points to, where the text says so.
    pub(super) pointee: Option<Pointee>,
    /// Another module defines it.
    pub(super) is_extern: bool,
    pub(super) at: Span,
}

impl Variable {
    /// Bytes of all elements; 0 where the launch says.
    pub(super) fn size(&self) -> u64 {
        self.bytes.unwrap_or(0)
    }
}

/// What a parameter is passed in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Formal {
    /// A register of the function.
    Register(RegisterId),
    /// Memory of the space `.param`: a variable of the body.
    Memory(usize),
}

/// A register of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RegisterId(pub(super) u32);

/// A function or an entry.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) is_entry: bool,
    pub(super) results: Vec<Formal>,
    pub(super) parameters: Vec<Formal>,
    /// Threads of a workgroup, if it requires a number of them.
    pub(super) required_threads: Option<[u32; 3]>,
    /// `None` for a declaration.
    pub(super) body: Option<Body>,
    /// The first instruction that is not taken.
    pub(super) wrong: Option<Wrong>,
    pub(super) at: Span,
    /// Types of its registers, with their names.
    pub(super) registers: Vec<(String, PtxType)>,
    /// Variables of its own, parameters among them.
    pub(super) variables: Vec<Variable>,
    /// True for a function of the device library: its code has the line of the call.
    pub(super) is_library: bool,
}

/// The statements of a function.
#[derive(Debug, Clone, Default)]
pub(super) struct Body {
    pub(super) statements: Vec<Statement>,
    /// The statement that each label is in front of.
    pub(super) labels: Vec<usize>,
    /// Labels of the tables of `brx.idx`.
    pub(super) tables: Vec<Vec<usize>>,
    /// Rows of `.loc`.
    pub(super) lines: Vec<LocRow>,
    /// Where the brace after the statements is.
    pub(super) end: usize,
}

/// A place in a source: the number of a file, a line and a column.
pub(super) type SourcePlace = (u32, u32, u32);

/// A row of `.loc`, which holds up to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocRow {
    /// Its byte of the text.
    pub(super) at: usize,
    pub(super) place: SourcePlace,
    /// The call that the code was inlined for.
    pub(super) call: Option<SourcePlace>,
}

/// An instruction.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    /// The predicate that guards it, and whether that is negated.
    pub(super) guard: Option<(RegisterId, bool)>,
    pub(super) row: &'static Row,
    /// Modifiers without types, without their dots.
    pub(super) modifiers: Vec<String>,
    pub(super) types: Vec<PtxType>,
    pub(super) operands: Vec<Operand>,
    pub(super) at: Span,
}

impl Statement {
    /// True if it has a modifier.
    pub(super) fn has(&self, modifier: &str) -> bool {
        self.modifiers.iter().any(|other| other == modifier)
    }

    /// The first of some modifiers that it has.
    pub(super) fn one_of(&self, some: &[&'static str]) -> Option<&'static str> {
        some.iter().copied().find(|modifier| self.has(modifier))
    }
}

/// A variable that an operand names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum VariableId {
    /// One of the module.
    Module(usize),
    /// One of the function.
    Own(usize),
}

/// What an operand is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OperandKind {
    Register(RegisterId),
    /// A special register, without `%`, with its component.
    Special(String),
    Integer(u64),
    Single(u32),
    Double(f64),
    /// The address of a variable, and what is added to it.
    Variable(VariableId, i64),
    /// A name that is none of a register or a variable: a function, a label, a table.
    Name(String),
    /// The statement of a label, by the number of the label.
    Label(usize),
    /// A table of labels.
    Table(usize),
    Vector(Vec<Operand>),
    /// Arguments in parentheses.
    List(Vec<Operand>),
    /// `_`: a result that nobody takes.
    Sink,
    /// `[base+offset]`.
    Address(Box<Operand>, i64),
    /// `a|b`: two results.
    Both(Box<Operand>, Box<Operand>),
    /// `!a`.
    Not(Box<Operand>),
}

/// An operand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Operand {
    pub(super) kind: OperandKind,
    pub(super) at: Span,
}

/// A module.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    pub(super) variables: Vec<Variable>,
    pub(super) functions: Vec<Function>,
    /// Files of `.file`: number and path.
    pub(super) files: Vec<(u32, String)>,
}
