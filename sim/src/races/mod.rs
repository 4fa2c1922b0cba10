//! The race detector behind `--check-races`: happens-before of the memory model (docs/memory-model.md) over a run
//! of the simulator, with a vector clock for each wave. docs/races.md says what is reported.
//!
//! [`order`] keeps happens-before, [`shadow`] who has touched which byte, [`detector`] joins the two, [`observer`] feeds
//! it from a run, [`report`] says what was found.

pub mod clock;
pub mod detector;
pub mod observer;
pub mod order;
pub mod report;
pub mod shadow;

pub use observer::RaceCheck;
pub use report::{Found, RaceReport};
