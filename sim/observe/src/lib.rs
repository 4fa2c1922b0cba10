//! Observers of a simulated machine: traces and files for viewers, the race detector, and the account of what
//! limits a kernel.

pub mod energy;
pub mod figures;
pub mod issue_trace;
pub mod limits;
pub mod numbers;
mod per_core;
pub mod races;
pub mod trace;
