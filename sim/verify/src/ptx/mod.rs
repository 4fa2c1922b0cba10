//! An interpreter of the PTX that `wave-ptx` writes and that compilers write, from the description of PTX alone, and random
//! kernels for it ([`random`]).
//!
//! Threads are independent: each has its own place in the code, and a random one goes on for a random number of
//! instructions. Where PTX asks that threads do something together (`.sync`), each waits for the others of its mask at
//! that instruction. So lanes of a wave that PTX does not keep together are not together here either. Results that PTX
//! leaves to the hardware (bits of a NaN) are those that WAVE does not have.

mod code;
mod lanes;
mod matrix;
mod numbers;
mod operations;
mod parse;
pub mod random;
mod run;
mod scope;
mod typed;

pub use code::{Clock, Module};
pub use parse::parse;
pub use run::{Call, Clocks, Outcome, Region, call, run};
