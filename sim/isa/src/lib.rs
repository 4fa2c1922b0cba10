//! The WAVE v0.4 instruction set: one declarative opcode table and everything derived from it.
//!
//! [`table`] lists every legal (opcode, modifier) key once, with its mnemonic, operands, execution
//! class and meaning. The decoder and encoder ([`inst`]), the assembler, the disassembler, hazard
//! detection, the ISA manual and the random-program generator read that table and nothing else.

pub mod diagnostic;
pub mod guard;
pub mod inst;
pub mod manual;
pub mod number;
pub mod operand;
pub mod package;
pub mod program;
pub mod ron_text;
mod rows;
pub mod scalar;
pub mod special;
pub mod special_functions;
pub mod suggest;
pub mod table;
pub mod terms;
pub mod visible;

pub use inst::{DecodeError, Guard, Inst};
pub use operand::{Field, Operand, Role};
pub use special::{Scope, Special};
pub use table::{ExecClass, Op, OpInfo};

/// Bytes in an instruction word.
pub const WORD_BYTES: u32 = 4;
/// General registers that the encoding can name.
pub const MAX_REGISTERS: usize = 256;
/// Predicate registers of a lane.
pub const PREDICATES: usize = 4;
/// The widest wave: lane masks are 64 bits.
pub const MAX_WAVE_WIDTH: usize = 64;
/// Matrix fragment size: A is 4×4 (M×K), B is 4×4 (K×N), C is 4×4 (M×N), each lane its own.
pub const MMA_DIM: usize = 4;
/// Fragments of each kind (A, B, C) that a lane holds; a larger index is an illegal instruction.
pub const MMA_FRAGMENTS: usize = 8;
