//! Independent checks of the simulator.
//!
//! [`mod@reference`] executes programs from the text of the instruction set alone: its own decoder, one lane
//! at a time, no clock. [`generate`] makes random structured programs without races, and shrinks those that
//! show a difference. [`compare`] runs one program on both machines. [`mod@replay`] checks a retirement trace
//! against the interpreter, instruction by instruction. [`mod@dram`] checks the commands of a memory channel
//! against the meaning of its timing parameters. [`mod@pica`] runs PICA200 vertex shaders from their documentation, and
//! [`mod@ptx`] the PTX that kernels become.

pub mod compare;
pub mod generate;
pub mod pica;
pub mod ptx;
pub mod reference;
pub mod replay;
pub mod rtl;
