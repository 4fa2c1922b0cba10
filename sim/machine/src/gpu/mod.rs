//! The whole machine: cores, dispatcher and memory side. It runs kernels one after the other.

mod blocks;
pub(crate) mod dispatcher;
mod footprint;
mod leap;
mod machine;
pub mod occupancy;
mod outcome;
mod plausible;
mod quantum;
mod release;
mod run;
mod skip;
pub mod spin;
mod standstill;
mod team;
mod telling;
mod view;

pub use footprint::Footprint;
pub use leap::{Companion, Leapt};
pub use machine::{Machine, SharedSnapshot, Snapshot, Stop};
pub use outcome::{KernelReport, NoProgress, Progress, RunError, RunOptions};
pub use skip::Skip;
