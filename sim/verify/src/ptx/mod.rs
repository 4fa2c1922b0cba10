//! An interpreter of the PTX that `wave-ptx` writes, from the description of PTX alone.
//!
//! Threads are independent: each has its own place in the code, and a random one goes on for a random number of
//! instructions. Where PTX asks that threads do something together (`.sync`), each waits for the others of its mask at
//! that instruction. So lanes of a wave that PTX does not keep together are not together here either. Results that PTX
//! leaves to the hardware (bits of a NaN) are those that WAVE does not have.

mod operations;
mod parse;
mod run;

pub use parse::{Clock, Module, parse};
pub use run::{Call, Clocks, Outcome, Region, call, run};
