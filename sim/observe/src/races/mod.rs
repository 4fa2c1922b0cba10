//! The race detector behind `--check-races`: happens-before of the memory model (docs/memory-model.md) over a
//! run of the simulator, with a vector clock per wave. docs/races.md describes the report.
//!
//! [`order`] keeps happens-before, [`shadow`] keeps who touched which byte, [`detector`] combines the two,
//! [`observer`] feeds it from a run, of which each core keeps a `log`, [`report`] presents the findings.

pub(crate) mod clock;
pub mod detector;
mod log;
pub(crate) mod observer;
pub(crate) mod order;
pub(crate) mod report;
pub mod shadow;

pub use observer::RaceCheck;
pub use report::{Found, RaceReport};
