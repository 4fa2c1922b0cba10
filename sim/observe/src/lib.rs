//! Observers of a simulated machine: traces and files for viewers, the race detector, accesses by buffer and launch, and the
//! account of what limits a kernel; events as arrays for programs that observe runs themselves.

pub mod attribution;
pub mod batches;
pub mod energy;
pub mod figures;
pub mod issue_trace;
pub mod limits;
pub mod numbers;
mod per_core;
pub mod races;
pub mod trace;
